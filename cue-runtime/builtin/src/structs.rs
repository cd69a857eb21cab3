//! Package `struct`: both functions count fields of a struct that may still grow.

use super::call::{Kinds, Member, Package, Parameter, Special, special};

/// The package.
pub(super) const PACKAGE: Package = Package { path: "struct", members: MEMBERS, text: "" };

const MEMBERS: &[Member] = &[
    special("MinFields", &[Parameter::STRUCT, Parameter::INT], Kinds::BOOL, Special::MinFields),
    special("MaxFields", &[Parameter::STRUCT, Parameter::INT], Kinds::BOOL, Special::MaxFields),
];
