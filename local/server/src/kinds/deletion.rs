//! How objects of a kind end.

use serde_json::{Value, json};

use crate::custom;
use crate::plane::{DeleteOptions, now};
use crate::resource::Resource;

/// Whether a deleting object may be removed for good.
#[must_use]
pub fn may_go(resource: &Resource, object: &Value) -> bool {
    let held = |value: &Value| value.as_array().is_some_and(|all| !all.is_empty());
    let graceful = resource.is("", "pods")
        && object["metadata"]["deletionGracePeriodSeconds"].as_i64().unwrap_or(0) > 0;
    let filled = resource.is("", "namespaces") && held(&object["spec"]["finalizers"]);
    !(held(&object["metadata"]["finalizers"]) || graceful || filled)
}

/// Marks an object as deleting; whether it is gone at once.
pub fn begin_deletion(resource: &Resource, object: &mut Value, options: &DeleteOptions) -> bool {
    let fresh = object["metadata"]["deletionTimestamp"].is_null();
    let mut grace = 0;
    if resource.is("", "pods") {
        let wanted =
            options.grace.or(object["spec"]["terminationGracePeriodSeconds"].as_i64()).unwrap_or(0);
        let wanted = if wanted < 0 { 1 } else { wanted };
        let phase = object["status"]["phase"].as_str().unwrap_or_default();
        let placed = object["spec"]["nodeName"].as_str().is_some_and(|node| !node.is_empty());
        grace = if !placed || phase == "Succeeded" || phase == "Failed" { 0 } else { wanted };
    }
    // Jobs keep their pods unless told otherwise.
    let usual = (resource.is("batch", "jobs") && fresh).then_some("Orphan");
    if let Some(policy) = options.propagation.as_deref().or(usual) {
        let mut all = object["metadata"]["finalizers"].as_array().cloned().unwrap_or_default();
        all.retain(|one| *one != json!("orphan") && *one != json!("foregroundDeletion"));
        match policy {
            "Orphan" => all.push(json!("orphan")),
            "Foreground" => all.push(json!("foregroundDeletion")),
            _ => {}
        }
        if let Some(metadata) = object["metadata"].as_object_mut() {
            if all.is_empty() {
                metadata.shift_remove("finalizers");
            } else {
                metadata.insert("finalizers".to_owned(), json!(all));
            }
        }
    }
    let had = object["metadata"]["deletionGracePeriodSeconds"].as_i64();
    if fresh {
        if grace == 0 && may_go(resource, object) {
            return true;
        }
        let when = chrono::Utc::now() + chrono::Duration::seconds(grace);
        object["metadata"]["deletionTimestamp"] =
            json!(when.format("%Y-%m-%dT%H:%M:%SZ").to_string());
        object["metadata"]["deletionGracePeriodSeconds"] = json!(grace);
        if let Some(generation) = object["metadata"]["generation"].as_i64() {
            object["metadata"]["generation"] = json!(generation + 1);
        }
    } else if resource.is("", "pods")
        && options.grace.is_some_and(|grace| had.is_some_and(|had| grace < had))
    {
        object["metadata"]["deletionGracePeriodSeconds"] = json!(grace);
        let when = chrono::Utc::now() + chrono::Duration::seconds(grace);
        object["metadata"]["deletionTimestamp"] =
            json!(when.format("%Y-%m-%dT%H:%M:%SZ").to_string());
    }
    if resource.is("", "namespaces") {
        object["status"]["phase"] = json!("Terminating");
    }
    if resource.is("apiextensions.k8s.io", "customresourcedefinitions") && fresh {
        let condition = custom::condition(
            "Terminating",
            "True",
            "InstanceDeletionInProgress",
            "CustomResource deletion is in progress",
            &now(),
        );
        custom::set_condition(&mut object["status"], condition);
    }
    may_go(resource, object)
}

/// Marks an object as deleting without grace.
pub fn mark_deleted(object: &mut Value) {
    object["metadata"]["deletionTimestamp"] = json!(now());
    object["metadata"]["deletionGracePeriodSeconds"] = json!(0);
    if let Some(generation) = object["metadata"]["generation"].as_i64() {
        object["metadata"]["generation"] = json!(generation + 1);
    }
}

/// Kinds whose DELETE answers with the object.
#[must_use]
pub fn deletion_shows_object(resource: &Resource) -> bool {
    resource.custom.is_none()
        && matches!(
            resource.plural.as_str(),
            "pods"
                | "services"
                | "serviceaccounts"
                | "persistentvolumeclaims"
                | "persistentvolumes"
                | "podtemplates"
                | "resourcequotas"
                | "namespaces"
                | "storageclasses"
                | "csidrivers"
                | "csinodes"
                | "volumeattachments"
        )
}
