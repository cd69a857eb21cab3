//! ResourceTracker: the inventory of what was applied.

use serde_json::Value;

use super::application::Application;
use super::object::ObjectMeta;
use super::revision::Compression;
use super::wire::wire;

/// What a tracker holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TrackerKind {
    /// Resources that stay as long as the Application does.
    Root,
    /// Resources of one version of the Application.
    Versioned,
    /// Component revisions; not written by this engine.
    ComponentRevision,
}

impl TrackerKind {
    /// `spec.type`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Root => "root",
            Self::Versioned => "versioned",
            Self::ComponentRevision => "component-revision",
        }
    }

    /// Name of the tracker of `app`.
    pub fn tracker_name(self, app: &Application) -> String {
        let (name, namespace) = (&app.metadata.name, app.namespace());
        match self {
            Self::Root => format!("{name}-{namespace}"),
            Self::ComponentRevision => format!("{name}-comp-rev-{namespace}"),
            Self::Versioned => {
                let publish = app.annotation(super::names::annotation::PUBLISH_VERSION);
                if publish.is_empty() {
                    format!("{name}-v{}-{namespace}", app.metadata.generation)
                } else {
                    format!("{name}-{publish}-{namespace}")
                }
            }
        }
    }
}

wire! {
    /// A tracker; cluster scoped.
    ResourceTracker {
        @always {
            api_version: String,
            kind: String,
            metadata: ObjectMeta,
            spec: ResourceTrackerSpec,
        }
    }
}

wire! {
    /// Content of a tracker.
    ResourceTrackerSpec {
        /// `root`, `versioned`, `component-revision`.
        r#type: String,
        managed_resources: Vec<ManagedResource>,
        /// When set, the resources are inside it.
        compression: Option<Compression>,
        @always {
            application_generation: i64,
        }
    }
}

wire! {
    /// One resource that was, or is about to be, applied.
    ManagedResource {
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
        component: String,
        r#trait: String,
        /// The manifest.
        raw: Option<Value>,
        /// Seen to be gone.
        deleted: bool,
        /// Never collected.
        #[serde(rename = "skipGC")]
        skip_gc: bool,
    }
}

impl ManagedResource {
    /// What makes two entries the same resource: group, kind, cluster, namespace, name.
    pub fn key(&self) -> (String, String, String, String, String) {
        let group = self.api_version.split_once('/').map_or("", |(group, _)| group);
        let cluster = super::names::cluster_name(&self.cluster);
        (group.into(), self.kind.clone(), cluster.into(), self.namespace.clone(), self.name.clone())
    }
}
