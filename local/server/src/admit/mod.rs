//! What the admission plugins and allocators of a cluster do to objects.

mod class; // PriorityClasses, default classes of storage and ingress
mod limits; // LimitRanges
mod service; // cluster addresses, node ports
pub mod webhook; // who else is asked

use serde_json::{Value, json};

use crate::plane::{Plane, Target};
use crate::status::{ApiError, Result};

/// Before webhooks see an object that is to be created.
pub fn on_create(plane: &Plane, target: &Target, object: &mut Value) -> Result<()> {
    let resource = &target.resource;
    if resource.custom.is_some() {
        return Ok(());
    }
    match (resource.group.as_str(), resource.plural.as_str()) {
        ("", "pods") => {
            limits::fill(plane, target, object);
            class::priority(plane, target, object)?;
            tolerate(object);
            Ok(())
        }
        ("scheduling.k8s.io", "priorityclasses") => class::only_default(plane, target, object),
        ("networking.k8s.io", "ingresses") => {
            class::ingress(plane, object);
            Ok(())
        }
        ("", "persistentvolumeclaims") => {
            class::storage(plane, object);
            finalizer(object, "kubernetes.io/pvc-protection");
            Ok(())
        }
        ("", "persistentvolumes") => {
            finalizer(object, "kubernetes.io/pv-protection");
            Ok(())
        }
        ("", "nodes") => {
            let taint = json!({"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"});
            if !object["spec"].is_object() {
                object["spec"] = json!({});
            }
            let mut taints = object["spec"]["taints"].as_array().cloned().unwrap_or_default();
            if !taints.contains(&taint) {
                taints.push(taint);
            }
            object["spec"]["taints"] = Value::Array(taints);
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Before a created object is checked: what it is given out of the cluster's stock.
pub fn allocate(plane: &Plane, target: &Target, object: &mut Value) -> Result<()> {
    if target.resource.is("", "services") {
        service::allocate(plane, target, &Value::Null, object)?;
    }
    Ok(())
}

/// Before an object is stored, after webhooks saw it: whether it keeps within the limits of its namespace.
pub fn within_limits(plane: &Plane, target: &Target, object: &Value) -> Result<()> {
    let resource = &target.resource;
    if resource.is("", "pods") || resource.is("", "persistentvolumeclaims") {
        limits::check(plane, target, object)?;
    }
    Ok(())
}

/// Before a change is stored.
pub fn on_update(plane: &Plane, target: &Target, old: &Value, object: &mut Value) -> Result<()> {
    if target.resource.is("", "persistentvolumeclaims") && target.subresource.is_empty() {
        limits::check(plane, target, object)?;
    }
    if target.resource.is("scheduling.k8s.io", "priorityclasses") {
        class::only_default(plane, target, object)?;
    }
    if target.resource.is("", "services") && target.subresource.is_empty() {
        service::release(old, object);
        service::allocate(plane, target, old, object)?;
    }
    Ok(())
}

/// Before an object is deleted.
pub fn on_delete(target: &Target) -> Result<()> {
    let fixed = ["default", "kube-system", "kube-public"];
    if target.resource.is("", "namespaces") && fixed.contains(&target.name.as_str()) {
        return Err(ApiError::forbidden(
            "",
            "namespaces",
            &target.name,
            "this namespace may not be deleted",
        ));
    }
    Ok(())
}

fn finalizer(object: &mut Value, name: &str) {
    let mut all = object["metadata"]["finalizers"].as_array().cloned().unwrap_or_default();
    if !all.contains(&json!(name)) {
        all.push(json!(name));
    }
    object["metadata"]["finalizers"] = Value::Array(all);
}

// For a while a Pod bears that its node is not there.
fn tolerate(object: &mut Value) {
    let spec = &mut object["spec"];
    if !spec.is_object() {
        return;
    }
    let mut tolerations = spec["tolerations"].as_array().cloned().unwrap_or_default();
    for key in ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"] {
        let covered = tolerations.iter().any(|one| {
            let same_key =
                one["key"] == json!(key) || one["key"].as_str().unwrap_or_default().is_empty();
            let effect = one["effect"].as_str().unwrap_or_default();
            same_key && (effect.is_empty() || effect == "NoExecute")
        });
        if !covered {
            tolerations.push(json!({"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}));
        }
    }
    spec["tolerations"] = Value::Array(tolerations);
}
