//! ApplicationRevision: an Application with everything it was rendered from.

use indexmap::IndexMap;
use serde_json::Value;

use super::application::Application;
use super::definition::DefinitionMap;
use super::object::ObjectMeta;
use super::policies::Policy;
use super::wire::wire;
use super::workflow::{Workflow, WorkflowStatus};

wire! {
    /// A revision.
    ApplicationRevision {
        status: Option<ApplicationRevisionStatus>,
        @always {
            api_version: String,
            kind: String,
            metadata: ObjectMeta,
            spec: ApplicationRevisionSpec,
        }
    }
}

wire! {
    /// What it was rendered from.
    ApplicationRevisionSpec {
        component_definitions: DefinitionMap,
        workload_definitions: DefinitionMap,
        trait_definitions: DefinitionMap,
        policy_definitions: DefinitionMap,
        workflow_step_definitions: DefinitionMap,
        /// External policies.
        policies: IndexMap<String, Policy>,
        policy_versions: IndexMap<String, String>,
        /// External workflow.
        workflow: Option<Workflow>,
        referred_objects: Vec<Value>,
        /// When set, all of the above is inside it.
        compression: Option<Compression>,
        /// ConfigMap of the rendered resources.
        resources_config_map: Option<ConfigMapName>,
        @always {
            application: Application,
        }
    }
}

wire! {
    /// Name of a ConfigMap.
    ConfigMapName {
        @always {
            name: String,
        }
    }
}

wire! {
    /// Compressed content.
    Compression {
        /// `gzip`, `zstd` or empty.
        r#type: String,
        /// Base64.
        data: String,
    }
}

wire! {
    /// What became of it.
    ApplicationRevisionStatus {
        workflow: Option<WorkflowStatus>,
        workflow_context: IndexMap<String, String>,
        @always {
            succeeded: bool,
        }
    }
}
