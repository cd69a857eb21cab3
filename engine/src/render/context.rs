//! What templates see as `context`.

use serde_json::{Map, Value, json};

use crate::api::names::annotation;
use crate::api::object::StringMap;
use crate::api::{Application, Component};
use crate::revision::component_hash;

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
        let value = |key: &str| match key {
            "revision" => Some(revision.into()),
            key => self.value(component, key),
        };
        KEYS.iter().filter_map(|key| Some(((*key).to_owned(), value(key)?))).collect()
    }

    /// The same key by key, for templates of a component.
    pub fn shown<'a>(&'a self, component: &'a Component) -> Shown<'a> {
        Shown { context: self, component, revised: None }
    }

    /// One of [`KEYS`], but the revision of the component.
    fn value(&self, component: Option<&Component>, key: &str) -> Option<Value> {
        Some(match key {
            "name" => component.map_or("", |it| &it.name).into(),
            "namespace" => self.namespace.as_str().into(),
            "workflowName" => self.workflow_name.as_str().into(),
            "publishVersion" => self.publish_version.as_str().into(),
            "appName" => self.app_name.as_str().into(),
            "appRevision" => self.app_revision.as_str().into(),
            "appRevisionNum" => {
                let number = self.app_revision.rsplit_once("-v").map(|it| it.1.parse::<i64>());
                number.and_then(Result::ok).unwrap_or_default().into()
            }
            "revision" => "".into(),
            "components" => self.components.clone(),
            "appLabels" => json!(self.labels),
            "appAnnotations" => json!(self.annotations),
            "replicaKey" => component.map_or("", |it| &it.replica_key).into(),
            "cluster" => self.cluster.as_str().into(),
            "clusterVersion" => self.cluster_version.to_json(),
            "parameter" => component?.properties.clone()?,
            "custom" => self.custom.clone()?,
            _ => return None,
        })
    }
}

/// What there may be, in the order in which it is shown.
const KEYS: [&str; 16] = [
    "name",
    "namespace",
    "workflowName",
    "publishVersion",
    "appName",
    "appRevision",
    "appRevisionNum",
    "revision",
    "components",
    "appLabels",
    "appAnnotations",
    "replicaKey",
    "cluster",
    "clusterVersion",
    "parameter",
    "custom",
];

/// Where what templates see as `context` comes from: a key that none of them reads is not made.
pub trait Scope {
    /// The keys, in order.
    fn keys(&self) -> Vec<String>;
    /// The value of one; none if it is not there.
    fn value(&self, key: &str) -> Option<Value>;
}

impl Scope for Map<String, Value> {
    fn keys(&self) -> Vec<String> {
        self.keys().cloned().collect()
    }

    fn value(&self, key: &str) -> Option<Value> {
        self.get(key).cloned()
    }
}

/// The context of an application for one component.
#[derive(Clone, Copy)]
pub struct Shown<'a> {
    context: &'a Context,
    component: &'a Component,
    /// Whose hash the revision is.
    revised: Option<&'a Component>,
}

impl Shown<'_> {
    /// With the revision of the component.
    pub fn revised(self) -> Self {
        Self { revised: Some(self.component), ..self }
    }
}

impl Scope for Shown<'_> {
    fn keys(&self) -> Vec<String> {
        let there = KEYS.iter().filter(|key| match **key {
            "parameter" => self.component.properties.is_some(),
            "custom" => self.context.custom.is_some(),
            _ => true,
        });
        there.map(|key| (*key).to_owned()).collect()
    }

    fn value(&self, key: &str) -> Option<Value> {
        match (key, self.revised) {
            ("revision", Some(component)) => Some(component_hash(component).into()),
            _ => self.context.value(Some(self.component), key),
        }
    }
}
