//! The built-in policies as pure functions: what differs where, how often, and which resources a rule is about.

pub mod generator; // steps of an application that lists none
pub mod overriding; // `override`: components patched by name or type
pub mod placement; // `topology` and `replication`: where and how often
pub mod scoped; // policies that change the Application itself
pub mod selector; // which resources a rule is about

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::api::object::ObjectMeta;

/// Why a policy could not be used.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum Error {
    /// Properties have a field the policy does not.
    #[error("json: unknown field {0:?}")]
    UnknownField(String),
    /// Properties have the wrong shape.
    #[error("{0}")]
    Malformed(String),
    /// A step names a policy that is not there.
    #[error("policy {0} not found")]
    NotFound(String),
    /// A placement names a cluster that is not joined.
    #[error("failed to get cluster {0}: cluster not found")]
    NoCluster(String),
    /// No cluster has the labels.
    #[error("failed to find any cluster matches given labels")]
    NoClusterMatches,
    /// Other namespaces are not allowed.
    #[error("cannot cross namespace")]
    CrossNamespace,
    /// Replication of nothing.
    #[error("no component selected to replicate")]
    NothingToReplicate,
    /// Both a reference and steps.
    #[error(
        "generate step failed in WorkflowStepGenerator : cannot set steps and ref in workflow at the same time"
    )]
    StepsAndReference,
    /// The referenced Workflow is not there.
    #[error(
        "generate step failed in WorkflowStepGenerator : workflows.core.oam.dev {0:?} not found"
    )]
    NoWorkflow(String),
    /// An env-binding could not be read.
    #[error("generate step failed in WorkflowStepGenerator : {0}")]
    EnvBinding(String),
}

/// Read properties of a built-in policy; absent ones are all zero.
pub fn read<T: DeserializeOwned + Default>(properties: Option<&Value>) -> Result<T, Error> {
    match properties {
        None | Some(Value::Null) => Ok(T::default()),
        Some(value) => T::deserialize(value).map_err(|error| Error::Malformed(error.to_string())),
    }
}

/// Refuse what a record did not know.
fn strict(rest: &serde_json::Map<String, Value>) -> Result<(), Error> {
    match rest.keys().next() {
        Some(key) => Err(Error::UnknownField(key.clone())),
        None => Ok(()),
    }
}

/// Namespace of an object that may name none.
fn namespace_or<'a>(meta: &'a ObjectMeta, default: &'a str) -> &'a str {
    if meta.namespace.is_empty() { default } else { &meta.namespace }
}
