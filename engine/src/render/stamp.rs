//! Labels, annotations, names and namespaces every object of an application carries.

use serde_json::Value;

use super::context::Context;
use crate::api::names::{RESOURCE_TRAIT, RESOURCE_WORKLOAD, annotation, label};
use crate::api::object::{self, map_mut, set_labels, set_name, set_namespace};

/// Where an object ends up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Placed {
    /// Cluster, empty or `local` for the engine's own.
    pub cluster: String,
    /// Overriding namespace, empty to leave it.
    pub namespace: String,
}

/// What an object is to its component.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Workload,
    Auxiliary,
}

/// First: who made it.
pub(super) fn origin(object: &mut Value, context: &Context, component: &str) {
    set_labels(
        object,
        [(label::APP_NAME, context.app_name.as_str()), (label::APP_COMPONENT, component)],
    );
}

/// Then: kind of resource, application labels and annotations, name and namespace.
pub(super) fn contract(object: &mut Value, context: &Context, component: &str, role: Role) {
    if role == Role::Workload && object::name(object).is_empty() {
        set_name(object, component);
    }
    let cluster_scoped =
        object::text(object, "/kind") == "Namespace" && object::text(object, "/apiVersion") == "v1";
    if object::namespace(object).is_empty() && !cluster_scoped {
        set_namespace(object, &context.namespace);
    }
    let hidden = |key: &str| -> Vec<&str> {
        context
            .annotations
            .get(key)
            .map(|it| it.split(',').map(str::trim).collect())
            .unwrap_or_default()
    };
    let labels = map_mut(object, &["metadata", "labels"]);
    let resource = if role == Role::Workload { RESOURCE_WORKLOAD } else { RESOURCE_TRAIT };
    labels.insert(label::RESOURCE_TYPE.into(), resource.into());
    for (key, value) in &context.labels {
        labels.insert(key.clone(), value.as_str().into());
    }
    for (key, value) in [
        (label::APP_NAME, context.app_name.as_str()),
        (label::APP_NAMESPACE, &context.namespace),
        (label::APP_REVISION, &context.app_revision),
        (label::APP_COMPONENT, component),
    ] {
        labels.insert(key.into(), value.into());
    }
    for key in hidden(annotation::FILTER_LABELS) {
        labels.shift_remove(key);
    }
    let annotations = map_mut(object, &["metadata", "annotations"]);
    for (key, value) in &context.annotations {
        annotations.insert(key.clone(), value.as_str().into());
    }
    for key in [
        annotation::INPLACE_UPGRADE,
        annotation::FILTER_LABELS,
        annotation::FILTER_ANNOTATIONS,
        annotation::KUBECTL_LAST_APPLIED,
    ] {
        annotations.shift_remove(key);
    }
    for key in hidden(annotation::FILTER_ANNOTATIONS) {
        annotations.shift_remove(key);
    }
}

/// `{apiVersion, kind, name}` of the workload at a dotted path of a trait's object.
pub(super) fn workload_reference(object: &mut Value, path: &str, workload: &Value) {
    let keys: Vec<&str> = path.split('.').collect();
    let at = map_mut(object, &keys);
    at.insert("apiVersion".into(), object::text(workload, "/apiVersion").into());
    at.insert("kind".into(), object::text(workload, "/kind").into());
    at.insert("name".into(), object::name(workload).into());
}
