//! What single kinds have of their own: defaults, generation, how they end, conversions between versions.

mod creation; // what a new object gets
mod defaults; // defaults
mod deletion; // how objects end
mod versions; // as stored, as shown

use serde_json::{Value, json};

use crate::reading::{Defaults, Path, read};
use crate::resource::Resource;
use crate::shape::Shape;
use crate::{custom, decode};

use defaults::{default, set_defaults};

pub use creation::{prepare_create, qos};
pub use deletion::{begin_deletion, deletion_shows_object, mark_deleted, may_go};
pub use versions::{present, shown, to_stored};

/// The finalizer of definitions whose instances still are to be deleted.
pub const CLEANUP: &str = "customresourcecleanup.apiextensions.k8s.io";

/// Where a DaemonSet counts the changes of its template, for clients of long ago.
const TEMPLATE_GENERATION: &str = "deprecated.daemonset.template.generation";

/// Types, unknown fields and defaults: what decoding does.
pub fn complete(
    resource: &Resource,
    object: &mut Value,
    findings: &mut Vec<String>,
) -> Result<(), String> {
    let mut unknown = Vec::new();
    if resource.custom.is_some() {
        let Some(node) = resource.schema() else { return Ok(()) };
        decode::typed_metadata(object)?;
        decode::prune_object(node, object, &mut unknown);
        decode::set_defaults(node, object);
    } else {
        if let Some(shape) = resource.schema.as_deref().and_then(Shape::of) {
            read(shape, &resource.kind, object, &Path::Root, Defaults::Set, &mut unknown)?;
        }
        set_defaults(resource, object);
    }
    findings.extend(unknown.iter().map(|path| format!("unknown field \"{path}\"")));
    Ok(())
}

/// What belongs to nobody: storage forgets whether a list that must be there is empty or was not given, and a claim
/// says in two fields where its content comes from.
pub fn even_out(resource: &Resource, object: &mut Value) {
    if resource.is("", "persistentvolumeclaims") {
        defaults::sources(&mut object["spec"]);
    }
    if resource.custom.is_some() || resource.group == "apiextensions.k8s.io" {
        return;
    }
    for value in object.as_object_mut().into_iter().flat_map(|fields| fields.values_mut()) {
        if value.as_array().is_some_and(Vec::is_empty) {
            *value = Value::Null;
        }
    }
}

/// Whether the kind counts changes in metadata.generation.
#[must_use]
pub fn has_generation(resource: &Resource) -> bool {
    resource.custom.is_some()
        || matches!(
            (resource.group.as_str(), resource.plural.as_str()),
            ("", "pods" | "podtemplates" | "replicationcontrollers")
                | ("apps", "deployments" | "replicasets" | "statefulsets" | "daemonsets")
                | ("batch", _)
                | ("networking.k8s.io", "ingresses" | "ingressclasses" | "networkpolicies")
                | ("policy", _)
                | ("discovery.k8s.io", _)
                | ("apiextensions.k8s.io", _)
                | ("admissionregistration.k8s.io", _)
                | ("scheduling.k8s.io", _)
        )
}

/// Whether a change is one that generation counts.
#[must_use]
pub fn content_differs(resource: &Resource, old: &Value, new: &Value) -> bool {
    if let Some(custom) = &resource.custom {
        let without = |object: &Value| {
            let mut object = object.clone();
            if let Some(fields) = object.as_object_mut() {
                fields.shift_remove("metadata");
                if custom.status {
                    fields.shift_remove("status");
                }
            }
            object
        };
        return without(old) != without(new);
    }
    let differ = |key: &str| {
        // Storage does not tell an empty list from none (`even_out`).
        let empty = |value: &Value| value.as_array().map_or(value.is_null(), Vec::is_empty);
        old[key] != new[key] && !(empty(&old[key]) && empty(&new[key]))
    };
    match resource.plural.as_str() {
        "deployments" => {
            old["spec"] != new["spec"]
                || old["metadata"]["annotations"] != new["metadata"]["annotations"]
        }
        "endpointslices" => {
            ["endpoints", "ports", "addressType"].into_iter().any(differ)
                || old["metadata"]["labels"] != new["metadata"]["labels"]
        }
        "mutatingwebhookconfigurations" | "validatingwebhookconfigurations" => differ("webhooks"),
        "podtemplates" => old["template"] != new["template"],
        _ => old["spec"] != new["spec"],
    }
}

/// The main resource does not write the status where there is a subresource for it.
pub fn keep_status(resource: &Resource, old: &Value, new: &mut Value) {
    if !resource.has("status") {
        return;
    }
    if let Some(fields) = new.as_object_mut() {
        match old.get("status") {
            Some(status) => {
                fields.insert("status".to_owned(), status.clone());
            }
            None => {
                fields.shift_remove("status");
            }
        }
    }
    if resource.is("apiextensions.k8s.io", "customresourcedefinitions") {
        custom::set_stored_versions(new);
    }
    if resource.is("", "namespaces") {
        new["spec"]["finalizers"] = old["spec"]["finalizers"].clone();
        if new["spec"]["finalizers"].is_null() {
            if let Some(fields) = new["spec"].as_object_mut() {
                fields.shift_remove("finalizers");
            }
        }
    }
    if resource.is("apps", "daemonsets") {
        let count = old["metadata"]["annotations"][TEMPLATE_GENERATION].as_str();
        let count: i64 = count.and_then(|text| text.parse().ok()).unwrap_or(0);
        let more = i64::from(old["spec"]["template"] != new["spec"]["template"]);
        default(&mut new["metadata"], "annotations", json!({}));
        new["metadata"]["annotations"][TEMPLATE_GENERATION] = json!((count + more).to_string());
    }
}

/// The status subresource writes the status; of built-in kinds also most of the metadata.
pub fn keep_all_but_status(resource: &Resource, old: &Value, new: &mut Value) {
    let mut whole = if resource.custom.is_some() { old.clone() } else { new.clone() };
    let from: &[(&str, &Value)] =
        if resource.custom.is_some() { &[("status", new)] } else { &[("spec", old)] };
    for (key, source) in from {
        put(&mut whole, key, source.get(*key));
    }
    if resource.custom.is_some() {
        put(&mut whole["metadata"], "managedFields", new["metadata"].get("managedFields"));
    }
    let kept: &[&str] = match (resource.group.as_str(), resource.plural.as_str()) {
        ("apps", "deployments") if resource.custom.is_none() => &["labels"],
        ("", "pods") => &["ownerReferences", "deletionTimestamp"],
        _ => &[],
    };
    for key in kept {
        put(&mut whole["metadata"], key, old["metadata"].get(*key));
    }
    // What is neither spec nor status nor metadata is not the status's business.
    if resource.custom.is_none() {
        for (key, value) in old.as_object().into_iter().flatten() {
            if !["metadata", "spec", "status"].contains(&key.as_str()) {
                put(&mut whole, key, Some(value));
            }
        }
    }
    *new = whole;
}

fn put(object: &mut Value, key: &str, value: Option<&Value>) {
    let Some(fields) = object.as_object_mut() else { return };
    match value {
        Some(value) => {
            fields.insert(key.to_owned(), value.clone());
        }
        None => {
            fields.shift_remove(key);
        }
    }
}

/// Whether PUT may create the kind.
#[must_use]
pub fn created_by_update(resource: &Resource) -> bool {
    resource.custom.is_none()
        && matches!(
            resource.plural.as_str(),
            "services"
                | "endpoints"
                | "events"
                | "limitranges"
                | "roles"
                | "clusterroles"
                | "rolebindings"
                | "clusterrolebindings"
                | "leases"
                | "runtimeclasses"
        )
}

/// Whether PUT must name the version it replaces.
#[must_use]
pub fn needs_version(resource: &Resource) -> bool {
    resource.custom.is_some()
        || matches!(
            resource.plural.as_str(),
            "poddisruptionbudgets"
                | "leases"
                | "customresourcedefinitions"
                | "runtimeclasses"
                | "mutatingwebhookconfigurations"
                | "validatingwebhookconfigurations"
                | "csidrivers"
                | "csinodes"
        )
}
