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
        call::constant("#Config", Constant::Cue),
        call::constant("#Info", Constant::Cue),
        call::constant("#Contact", Constant::Cue),
        call::constant("#License", Constant::Cue),
    ],
    text: TEXT,
};

const TEXT: &str = r#"{
	#Config: {
		version!:         "3.0.0"
		info?:            #Info
		selfContained:    bool | *false
		expandReferences: bool | *false
	}
	#Info: {
		title!:          string
		version!:        string
		summary?:        string
		description?:    string
		termsOfService?: string
		contact?:        #Contact
		license?:        #License
	}
	#Contact: {
		name?:  string
		url?:   string
		email?: string
	}
	#License: {
		name!: string
		url?:  string
	}
}"#;
