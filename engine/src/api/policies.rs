//! Properties of the built-in policies, and the Policy object.

use indexmap::IndexMap;
use serde_json::Value;

use super::object::ObjectMeta;
use super::wire::wire;

/// Policy types that are not rendered from a definition.
pub const BUILT_IN: [&str; 11] = [
    "topology",
    "override",
    "replication",
    "garbage-collect",
    "apply-once",
    "shared-resource",
    "take-over",
    "read-only",
    "resource-update",
    "debug",
    "env-binding",
];

wire! {
    /// A Policy object; it has no spec.
    Policy {
        properties: Option<Value>,
        @always {
            api_version: String,
            kind: String,
            metadata: ObjectMeta,
            r#type: String,
        }
    }
}

wire! {
    /// `topology`: where.
    Topology {
        clusters: Option<Vec<String>>,
        cluster_label_selector: Option<IndexMap<String, String>>,
        /// Older name of `cluster_label_selector`.
        cluster_selector: Option<IndexMap<String, String>>,
        allow_empty: bool,
        namespace: String,
    }
}

wire! {
    /// `override`: what differs there.
    Override {
        components: Vec<OverrideComponent>,
        /// Names kept; empty keeps none, absent all.
        selector: Option<Vec<String>>,
    }
}

wire! {
    /// One changed or added component.
    OverrideComponent {
        name: String,
        r#type: String,
        external_revision: String,
        properties: Option<Value>,
        traits: Vec<OverrideTrait>,
    }
}

wire! {
    /// One changed, added or removed trait.
    OverrideTrait {
        r#type: String,
        properties: Option<Value>,
        disable: bool,
    }
}

wire! {
    /// `replication`: how often.
    Replication {
        keys: Vec<String>,
        selector: Vec<String>,
    }
}

wire! {
    /// Which resources a rule is about; given fields must all fit.
    ResourceSelector {
        component_names: Vec<String>,
        component_types: Vec<String>,
        oam_types: Vec<String>,
        trait_types: Vec<String>,
        resource_types: Vec<String>,
        resource_names: Vec<String>,
    }
}

wire! {
    /// `garbage-collect`.
    GarbageCollect {
        application_revision_limit: Option<i64>,
        keep_legacy_resource: bool,
        continue_on_failure: bool,
        order: String,
        rules: Vec<GarbageCollectRule>,
    }
}

wire! {
    /// One rule.
    GarbageCollectRule {
        selector: ResourceSelector,
        /// `never`, `onAppDelete`, `onAppUpdate`.
        strategy: String,
        /// `orphan`, `cascading`.
        propagation: Option<String>,
    }
}

wire! {
    /// `apply-once`.
    ApplyOnce {
        enable: bool,
        rules: Vec<ApplyOnceRule>,
    }
}

wire! {
    /// One rule.
    ApplyOnceRule {
        selector: ResourceSelector,
        strategy: Option<ApplyOnceStrategy>,
    }
}

wire! {
    /// Which fields, when.
    ApplyOnceStrategy {
        path: Vec<String>,
        /// `onUpdate`, `onStateKeep`, `always`.
        affect: String,
    }
}

wire! {
    /// `shared-resource`, `take-over`, `read-only`.
    Selecting {
        rules: Vec<SelectingRule>,
    }
}

wire! {
    /// One rule.
    SelectingRule {
        selector: ResourceSelector,
    }
}

wire! {
    /// `resource-update`.
    ResourceUpdate {
        rules: Vec<ResourceUpdateRule>,
    }
}

wire! {
    /// One rule.
    ResourceUpdateRule {
        selector: ResourceSelector,
        strategy: ResourceUpdateStrategy,
    }
}

wire! {
    /// How a resource is changed.
    ResourceUpdateStrategy {
        /// `patch`, `replace`.
        op: String,
        recreate_fields: Vec<String>,
    }
}
