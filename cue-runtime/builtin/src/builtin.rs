//! Functions of packages as the evaluator keeps them: each call of one has its place only.

use crate::call::{Function, Item, Member};
use crate::packages;

/// A function of a package by its place among them: in few bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Builtin {
    package: u8,
    member: u8,
}

impl Builtin {
    /// The function of a name in the package of an import path, if there is one.
    pub fn named(path: &str, name: &str) -> Option<Self> {
        let package = packages().iter().position(|it| it.path == path)?;
        let members = packages()[package].members;
        let is = |it: &Member| it.name == name && matches!(it.item, Item::Function(_));
        let member = members.iter().position(is)?;
        Some(Self { package: package.try_into().ok()?, member: member.try_into().ok()? })
    }

    /// The import path of its package.
    pub fn package(self) -> &'static str {
        packages()[usize::from(self.package)].path
    }

    /// What it is.
    pub fn function(self) -> &'static Function {
        match &packages()[usize::from(self.package)].members[usize::from(self.member)].item {
            Item::Function(function) => function,
            Item::Constant(_) => unreachable!("only functions are named so"),
        }
    }
}
