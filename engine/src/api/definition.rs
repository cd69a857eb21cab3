//! Component, trait, policy and step definitions, and their revisions.

use indexmap::IndexMap;
use serde_json::Value;

use super::application::GroupVersionKind;
use super::object::{Condition, ObjectMeta, RevisionName};
use super::wire::wire;

/// Which kind of definition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DefinitionKind {
    /// `ComponentDefinition`
    #[default]
    Component,
    /// `TraitDefinition`
    Trait,
    /// `PolicyDefinition`
    Policy,
    /// `WorkflowStepDefinition`
    WorkflowStep,
    /// `WorkloadDefinition`, the older form of a component definition.
    Workload,
}

impl DefinitionKind {
    /// The kinds a user writes today.
    pub const CURRENT: [Self; 4] = [Self::Component, Self::Trait, Self::Policy, Self::WorkflowStep];

    /// The object's `kind`.
    pub const fn kind(self) -> &'static str {
        match self {
            Self::Component => "ComponentDefinition",
            Self::Trait => "TraitDefinition",
            Self::Policy => "PolicyDefinition",
            Self::WorkflowStep => "WorkflowStepDefinition",
            Self::Workload => "WorkloadDefinition",
        }
    }

    /// From the object's `kind`.
    pub fn from_kind(kind: &str) -> Option<Self> {
        [Self::Component, Self::Trait, Self::Policy, Self::WorkflowStep, Self::Workload]
            .into_iter()
            .find(|it| it.kind() == kind)
    }

    /// `definitionType` of a DefinitionRevision.
    pub const fn revision_type(self) -> &'static str {
        match self {
            Self::Component | Self::Workload => "Component",
            Self::Trait => "Trait",
            Self::Policy => "Policy",
            Self::WorkflowStep => "WorkflowStep",
        }
    }

    /// `type` in `vela def` source.
    pub const fn source_type(self) -> &'static str {
        match self {
            Self::Component => "component",
            Self::Trait => "trait",
            Self::Policy => "policy",
            Self::WorkflowStep => "workflow-step",
            Self::Workload => "workload",
        }
    }

    /// Resource name in the API.
    pub const fn plural(self) -> &'static str {
        match self {
            Self::Component => "componentdefinitions",
            Self::Trait => "traitdefinitions",
            Self::Policy => "policydefinitions",
            Self::WorkflowStep => "workflowstepdefinitions",
            Self::Workload => "workloaddefinitions",
        }
    }
}

/// When a trait's resources are applied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// Before the workload.
    PreDispatch,
    /// With it.
    #[default]
    DefaultDispatch,
    /// Once it is healthy.
    PostDispatch,
}

impl Stage {
    /// From the definition's `stage`; anything unknown is the default.
    pub fn parse(text: &str) -> Self {
        match text {
            "PreDispatch" => Self::PreDispatch,
            "PostDispatch" => Self::PostDispatch,
            _ => Self::DefaultDispatch,
        }
    }
}

wire! {
    /// A definition of any kind; `kind` tells which.
    Definition {
        status: DefinitionStatus,
        @always {
            api_version: String,
            kind: String,
            metadata: ObjectMeta,
            spec: DefinitionSpec,
        }
    }
}

impl Definition {
    /// Which kind it is.
    pub fn definition_kind(&self) -> Option<DefinitionKind> {
        DefinitionKind::from_kind(&self.kind)
    }

    /// The CUE text: `schematic.cue.template`, else `extension.template`.
    pub fn template(&self) -> Option<&str> {
        let schematic = self
            .spec
            .schematic
            .as_ref()
            .and_then(|it| it.cue.as_ref())
            .map(|it| it.template.as_str());
        schematic
            .filter(|it| !it.is_empty())
            .or_else(|| self.spec.extension.as_ref()?.get("template")?.as_str())
    }

    /// Whether it is Terraform configuration.
    pub fn is_terraform(&self) -> bool {
        self.spec.schematic.as_ref().is_some_and(|it| it.terraform.is_some())
            || self.metadata.annotations.get("type").is_some_and(|it| it == "terraform")
    }

    /// When the trait's resources are applied.
    pub fn stage(&self) -> Stage {
        Stage::parse(&self.spec.stage)
    }
}

wire! {
    /// Fields of all kinds of definition.
    DefinitionSpec {
        /// Kind of workload a component makes.
        workload: Option<Workload>,
        /// Traits, policies, steps: legacy reference.
        definition_ref: Option<DefinitionReference>,
        /// Template.
        schematic: Option<Schematic>,
        /// Health, message, details.
        status: Option<StatusTemplates>,
        /// Older place of the template.
        extension: Option<Value>,
        /// Version by name.
        version: String,
        /// Component: kinds below the workload.
        child_resource_kinds: Vec<Value>,
        /// Component: where the pod spec is.
        pod_spec_path: String,
        /// Component: label with the revision.
        revision_label: String,
        /// Trait: workloads it suits.
        applies_to_workloads: Vec<String>,
        /// Trait: traits it does not go with.
        conflicts_with: Vec<String>,
        /// Trait: pods restart.
        pod_disruptive: bool,
        /// Trait: no longer used.
        revision_enabled: bool,
        /// Trait: path its objects get a reference to the workload at.
        workload_ref_path: String,
        /// Trait: its object is the workload.
        manage_workload: bool,
        /// Trait: applied where the engine runs.
        control_plane_only: bool,
        /// Trait: see [`Stage`].
        stage: String,
        /// Policy: decides about health itself.
        manage_health_check: bool,
        /// Policy: `Application` or empty.
        scope: String,
        /// Policy: for every application.
        global: bool,
        /// Policy: lower comes first.
        priority: i32,
    }
}

wire! {
    /// Kind of workload.
    Workload {
        /// Name of a WorkloadDefinition, or `autodetects.core.oam.dev`.
        r#type: String,
        /// Kind itself.
        definition: Option<GroupVersionKind>,
    }
}

wire! {
    /// Legacy reference.
    DefinitionReference {
        version: String,
        @always {
            name: String,
        }
    }
}

wire! {
    /// Template.
    Schematic {
        /// CUE.
        cue: Option<CueSchematic>,
        /// Terraform.
        terraform: Option<Value>,
    }
}

wire! {
    /// CUE template.
    CueSchematic {
        @always {
            template: String,
        }
    }
}

wire! {
    /// CUE texts about a live workload or trait.
    StatusTemplates {
        /// Gives `message`.
        custom_status: String,
        /// Gives `isHealth`.
        health_policy: String,
        /// Every field is a detail.
        details: String,
    }
}

impl StatusTemplates {
    /// There is no text.
    pub fn say_nothing(&self) -> bool {
        [&self.custom_status, &self.health_policy, &self.details]
            .iter()
            .all(|it| it.trim().is_empty())
    }
}

wire! {
    /// Status of a definition.
    DefinitionStatus {
        conditions: Vec<Condition>,
        /// ConfigMap with the parameter schema.
        config_map_ref: String,
        latest_revision: Option<RevisionName>,
    }
}

wire! {
    /// A captured version of a definition.
    DefinitionRevision {
        @always {
            api_version: String,
            kind: String,
            metadata: ObjectMeta,
            spec: DefinitionRevisionSpec,
        }
    }
}

wire! {
    /// Content of a captured version.
    DefinitionRevisionSpec {
        component_definition: Option<Definition>,
        trait_definition: Option<Definition>,
        policy_definition: Option<Definition>,
        workflow_step_definition: Option<Definition>,
        @always {
            revision: i64,
            revision_hash: String,
            definition_type: String,
        }
    }
}

impl DefinitionRevision {
    /// The captured definition, if it is of that kind.
    pub fn definition(&self, kind: DefinitionKind) -> Option<&Definition> {
        match kind {
            DefinitionKind::Component | DefinitionKind::Workload => {
                self.spec.component_definition.as_ref()
            }
            DefinitionKind::Trait => self.spec.trait_definition.as_ref(),
            DefinitionKind::Policy => self.spec.policy_definition.as_ref(),
            DefinitionKind::WorkflowStep => self.spec.workflow_step_definition.as_ref(),
        }
    }
}

/// Definitions by name.
pub type DefinitionMap = IndexMap<String, Definition>;
