//! Application: what a user asks for, and what became of it.

use indexmap::IndexMap;
use serde_json::Value;

use super::object::{Condition, ObjectMeta, ObjectReference, RevisionName};
use super::wire::wire;
use super::workflow::{InputItem, OutputItem, WorkflowSpec, WorkflowStatus};

wire! {
    /// An Application.
    Application {
        /// What became of it.
        status: ApplicationStatus,
        @always {
            /// `core.oam.dev/v1beta1`.
            api_version: String,
            /// `Application`.
            kind: String,
            /// Name, namespace, labels, annotations.
            metadata: ObjectMeta,
            /// What is asked for.
            spec: ApplicationSpec,
        }
    }
}

impl Application {
    /// Its namespace, `default` if it names none.
    pub fn namespace(&self) -> &str {
        if self.metadata.namespace.is_empty() { "default" } else { &self.metadata.namespace }
    }

    /// An annotation's value, empty if absent.
    pub fn annotation(&self, key: &str) -> &str {
        self.metadata.annotations.get(key).map_or("", String::as_str)
    }
}

wire! {
    /// What is asked for.
    ApplicationSpec {
        policies: Vec<AppPolicy>,
        workflow: Option<WorkflowSpec>,
        @always {
            /// Parts of the application.
            components: Vec<Component>,
        }
    }
}

wire! {
    /// A part of an application.
    Component {
        /// Revision of another component that is reused; only overrides merge it.
        external_revision: String,
        /// Parameters.
        properties: Option<Value>,
        /// Components that come first.
        depends_on: Vec<String>,
        /// Values taken from outputs of others.
        inputs: Vec<InputItem>,
        /// Values given to others.
        outputs: Vec<OutputItem>,
        /// What is added to or changed in its resources.
        traits: Vec<Trait>,
        /// No longer used.
        scopes: IndexMap<String, String>,
        /// Set by replication, never by users.
        replica_key: String,
        @always {
            /// Name, unique in the application.
            name: String,
            /// Component definition, with or without `@version`.
            r#type: String,
        }
    }
}

wire! {
    /// One trait of a component.
    Trait {
        /// Parameters.
        properties: Option<Value>,
        @always {
            /// Trait definition, with or without `@version`.
            r#type: String,
        }
    }
}

wire! {
    /// A policy of an application.
    AppPolicy {
        /// Parameters.
        properties: Option<Value>,
        @always {
            /// Name.
            name: String,
            /// Policy type.
            r#type: String,
        }
    }
}

wire! {
    /// What became of it.
    ApplicationStatus {
        conditions: Vec<Condition>,
        observed_generation: i64,
        /// Where it is (`names::phase`).
        #[serde(rename = "status")]
        phase: String,
        /// References to components.
        components: Vec<ObjectReference>,
        /// Health of every component at every place.
        services: Vec<ServiceStatus>,
        /// The run of the workflow.
        workflow: Option<WorkflowStatus>,
        /// When the workflow is to run again.
        workflow_restart_scheduled_at: String,
        latest_revision: Option<RevisionName>,
        /// What was applied, by whom.
        applied_resources: Vec<AppliedResource>,
        /// No longer used.
        policy: Vec<Value>,
        /// What application-scoped policies did.
        applied_application_policies: Vec<Value>,
        /// ConfigMap with their input and output.
        application_policies_config_map: String,
    }
}

wire! {
    /// Health of one component at one place.
    ServiceStatus {
        namespace: String,
        cluster: String,
        env: String,
        workload_definition: Option<GroupVersionKind>,
        workload_healthy: bool,
        details: IndexMap<String, String>,
        message: String,
        traits: Vec<TraitStatus>,
        scopes: Vec<ObjectReference>,
        @always {
            name: String,
            healthy: bool,
        }
    }
}

wire! {
    /// Group, version and kind.
    GroupVersionKind {
        @always {
            api_version: String,
            kind: String,
        }
    }
}

wire! {
    /// Health of one trait.
    TraitStatus {
        /// Not looked at yet.
        pending: bool,
        details: IndexMap<String, String>,
        message: String,
        @always {
            r#type: String,
            healthy: bool,
        }
    }
}

wire! {
    /// One applied resource.
    AppliedResource {
        cluster: String,
        /// `policy` or `workflow`.
        creator: String,
        api_version: String,
        kind: String,
        name: String,
        namespace: String,
        uid: String,
        resource_version: String,
        field_path: String,
    }
}
