//! What templates see as `context`.

use serde_json::{Map, Value, json};

use crate::api::names::annotation;
use crate::api::object::StringMap;
use crate::api::{Application, Component};

/// Version of the cluster something is rendered for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClusterVersion {
    /// `1`
    pub major: String,
    /// `31+`
    pub minor: String,
    /// `v1.31.0`
    pub git_version: String,
    /// `linux/amd64`
    pub platform: String,
}

impl ClusterVersion {
    fn to_json(&self) -> Value {
        let minor: i64 =
            self.minor.trim_end_matches(['.', '+', '-', '/', '?', '!']).parse().unwrap_or_default();
        json!({ "major": self.major, "minor": minor, "gitVersion": self.git_version, "platform": self.platform })
    }
}

/// Everything about an application that its templates may see.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Context {
    /// Application.
    pub app_name: String,
    /// Namespace things go to.
    pub namespace: String,
    /// Name of the revision, empty in a dry run.
    pub app_revision: String,
    /// From the annotation.
    pub workflow_name: String,
    /// From the annotation.
    pub publish_version: String,
    /// Of the Application.
    pub labels: StringMap,
    /// Of the Application.
    pub annotations: StringMap,
    /// Specs of all components; `null` in steps.
    pub components: Value,
    /// Cluster, empty in a dry run.
    pub cluster: String,
    /// Its version.
    pub cluster_version: ClusterVersion,
    /// What application-scoped policies add.
    pub custom: Option<Value>,
    /// Status of the live workload, for traits that are rendered once it is healthy.
    pub live_status: Option<Value>,
    /// Nothing is applied; messages say where definitions came from.
    pub dry_run: bool,
}

impl Context {
    /// Of an Application that is rendered as `revision`.
    pub fn of(app: &Application, revision: &str) -> Self {
        let mut annotations = app.metadata.annotations.clone();
        annotations.shift_remove(annotation::KUBECTL_LAST_APPLIED);
        Self {
            app_name: app.metadata.name.clone(),
            namespace: app.namespace().into(),
            app_revision: revision.into(),
            workflow_name: app.annotation(annotation::WORKFLOW_NAME).into(),
            publish_version: app.annotation(annotation::PUBLISH_VERSION).into(),
            labels: app.metadata.labels.clone(),
            annotations,
            components: serde_json::to_value(&app.spec.components).unwrap_or_default(),
            ..Self::default()
        }
    }

    /// What a dry run says before the reason why a definition cannot be loaded.
    pub(crate) fn dry_run_prefix(&self, r#type: &str) -> String {
        if self.dry_run {
            format!("cannot load template {type:?} from cluster and provided ones: ")
        } else {
            String::new()
        }
    }

    /// `context` for a component, or for anything without one.
    pub fn to_json(&self, component: Option<&Component>, revision: &str) -> Map<String, Value> {
        let number: i64 = self
            .app_revision
            .rsplit_once("-v")
            .and_then(|(_, number)| number.parse().ok())
            .unwrap_or_default();
        let mut map = Map::new();
        let mut put = |key: &str, value: Value| map.insert(key.to_owned(), value);
        put("name", component.map_or("", |it| &it.name).into());
        put("namespace", self.namespace.as_str().into());
        put("workflowName", self.workflow_name.as_str().into());
        put("publishVersion", self.publish_version.as_str().into());
        put("appName", self.app_name.as_str().into());
        put("appRevision", self.app_revision.as_str().into());
        put("appRevisionNum", number.into());
        put("revision", revision.into());
        put("components", self.components.clone());
        put("appLabels", json!(self.labels));
        put("appAnnotations", json!(self.annotations));
        put("replicaKey", component.map_or("", |it| &it.replica_key).into());
        put("cluster", self.cluster.as_str().into());
        put("clusterVersion", self.cluster_version.to_json());
        if let Some(properties) = component.and_then(|it| it.properties.as_ref()) {
            put("parameter", properties.clone());
        }
        if let Some(custom) = &self.custom {
            put("custom", custom.clone());
        }
        map
    }
}
