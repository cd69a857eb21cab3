//! Package `encoding/openapi`.

use crate::Kinds;
use crate::call::{self, Constant, Package, Parameter, Special};

/// One function of the evaluator, and what describes its argument.
/// What is described are definitions, and so closed (C-1).
pub(super) const PACKAGE: Package = Package {
    path: "encoding/openapi",
    members: &[
        call::special(
            "MarshalSchema",
            &[Parameter::SCHEMA, Parameter::SCHEMA],
            Kinds::STRING,
            Special::OpenApi,
        ),
        call::constant(
            "#Config",
            Constant::Cue(
                r#"{#Config: {version!: "3.0.0", info?: {title!: string, version!: string, summary?: string, description?: string, termsOfService?: string, contact?: {name?: string, url?: string, email?: string}, license?: {name!: string, url?: string}}, selfContained: bool | *false, expandReferences: bool | *false}}.#Config"#,
            ),
        ),
        call::constant(
            "#Info",
            Constant::Cue(
                "{#Info: {title!: string, version!: string, summary?: string, description?: string, termsOfService?: string, contact?: {name?: string, url?: string, email?: string}, license?: {name!: string, url?: string}}}.#Info",
            ),
        ),
        call::constant(
            "#Contact",
            Constant::Cue("{#Contact: {name?: string, url?: string, email?: string}}.#Contact"),
        ),
        call::constant(
            "#License",
            Constant::Cue("{#License: {name!: string, url?: string}}.#License"),
        ),
    ],
};
