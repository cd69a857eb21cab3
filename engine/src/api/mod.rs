//! The kinds of `core.oam.dev` as they stand in a cluster: wire types, names, schemas.
//!
//! Every record keeps what it does not know in `rest`, so reading and writing back loses nothing.

mod wire; // the macro that declares records

pub mod application; // Application: spec and status
pub mod crds; // CustomResourceDefinitions of all kinds
pub mod definition; // component, trait, policy and step definitions, their revisions
pub mod names; // every label, annotation, finalizer and condition
pub mod object; // metadata, references, conditions; readers of plain objects
pub mod policies; // built-in policies' properties; Policy
pub mod revision; // ApplicationRevision
pub mod tracker; // ResourceTracker
pub mod workflow; // Workflow, steps, workflow status

pub use self::application::{
    AppPolicy, Application, ApplicationSpec, ApplicationStatus, AppliedResource, Component,
    ServiceStatus, Trait, TraitStatus,
};
pub use self::crds::crds;
pub use self::definition::{Definition, DefinitionKind, DefinitionRevision, DefinitionSpec, Stage};
pub use self::object::{Condition, ObjectMeta, ObjectReference};
pub use self::policies::Policy;
pub use self::revision::ApplicationRevision;
pub use self::tracker::{ManagedResource, ResourceTracker, TrackerKind};
pub use self::workflow::{
    InputItem, OutputItem, StepStatus, Workflow, WorkflowRun, WorkflowSpec, WorkflowStatus,
    WorkflowStep,
};
pub use lateen_charts::yaml;

/// Group and version of Application, its definitions, revisions and trackers.
pub const V1BETA1: &str = "core.oam.dev/v1beta1";
/// Group and version of Policy and Workflow.
pub const V1ALPHA1: &str = "core.oam.dev/v1alpha1";
/// Where definitions for every namespace live.
pub const SYSTEM_NAMESPACE: &str = "vela-system";
