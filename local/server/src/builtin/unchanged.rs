//! What may not change of a spec once it is there.

use serde_json::Value;

use super::structs;
use crate::kinds::qos;
use crate::quantity;
use crate::status::FieldError;

fn without(spec: &Value, fields: &[&str]) -> Value {
    let mut spec = spec.clone();
    if let Some(all) = spec.as_object_mut() {
        all.retain(|name, value| !fields.contains(&name.as_str()) && !value.is_null());
    }
    spec
}

/// A Pod: images, deadline and more tolerations may change; what it needs and who debugs it by subresources of
/// their own.
pub(super) fn pod(part: &str, old: &Value, new: &Value, found: &mut Vec<FieldError>) {
    if part == "resize" && qos(old) != qos(new) {
        let why = "Pod QOS Class may not change as a result of resizing";
        found.push(FieldError::invalid("spec", &Value::from(qos(old)), why));
    }
    let had: Vec<&Value> = old["tolerations"].as_array().into_iter().flatten().collect();
    let has: Vec<&Value> = new["tolerations"].as_array().into_iter().flatten().collect();
    let timeless = |toleration: &Value| without(toleration, &["tolerationSeconds"]);
    if had.iter().any(|old| !has.iter().any(|new| timeless(new) == timeless(old))) {
        let why = "existing toleration can not be modified except its tolerationSeconds";
        found.push(FieldError::forbidden("spec.tolerations", why));
    }
    let gates = |spec: &'_ Value| spec["schedulingGates"].as_array().cloned().unwrap_or_default();
    let known = gates(old);
    for (index, gate) in gates(new).iter().enumerate().filter(|(_, gate)| !known.contains(gate)) {
        let name = gate["name"].as_str().unwrap_or_default();
        let why = format!("only deletion is allowed, but found new scheduling gate '{name}'");
        found.push(FieldError::forbidden(format!("spec.schedulingGates[{index}].name"), &why));
    }
    for list in ["containers", "initContainers"] {
        let count = |spec: &Value| spec[list].as_array().map_or(0, Vec::len);
        if part != "resize" && count(old) != count(new) {
            let why = "pod updates may not add or remove containers";
            return found.push(FieldError::forbidden(format!("spec.{list}"), why));
        }
    }
    let plain = |spec: &Value| {
        let mut free = vec![
            "tolerations",
            "activeDeadlineSeconds",
            "terminationGracePeriodSeconds",
            "schedulingGates",
        ];
        if part == "binding" {
            free.push("nodeName");
        }
        let mut spec = without(spec, &free);
        for list in ["containers", "initContainers"] {
            let mut free = vec!["image", "imagePullPolicy"];
            if part == "resize" {
                free.push("resources");
            }
            for container in spec[list].as_array_mut().into_iter().flatten() {
                *container = without(container, &free);
            }
        }
        let debugging = match part {
            "ephemeralcontainers" => Value::Null,
            _ => spec["ephemeralContainers"].clone(),
        };
        (
            without(&spec, &["ephemeralContainers", "containers", "initContainers"]),
            spec["containers"].clone(),
            spec["initContainers"].clone(),
            debugging,
        )
    };
    let (before, after) = (plain(old), plain(new));
    if before != after {
        // What may change is not shown.
        let mut kept = new.clone();
        for name in ["tolerations", "activeDeadlineSeconds", "terminationGracePeriodSeconds"] {
            kept[name] = old[name].clone();
        }
        for list in ["containers", "initContainers"] {
            let had = old[list].as_array().into_iter().flatten();
            for (now, had) in kept[list].as_array_mut().into_iter().flatten().zip(had) {
                now["image"] = had["image"].clone();
            }
        }
        let why = "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";
        let shown = format!("{why}\n{}", structs::pods(old, &kept));
        found.push(FieldError::forbidden("spec", &shown));
    }
}

/// A PersistentVolumeClaim: it may be bound once, and then ask for more room.
pub(super) fn claim(claim: &Value, old: &Value, new: &Value, found: &mut Vec<FieldError>) {
    let bound = claim["status"]["phase"] == "Bound";
    let mut free = if bound { vec!["resources", "volumeAttributesClassName"] } else { Vec::new() };
    if old["volumeName"].as_str().unwrap_or_default().is_empty() {
        free.push("volumeName");
    }
    if old["storageClassName"].is_null() {
        free.push("storageClassName");
    }
    if without(old, &free) != without(new, &free) {
        let why = "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims";
        let shown = format!("{why}\n{}", structs::claims(old, new));
        found.push(FieldError::forbidden("spec", &shown));
    }
    let size = |claim: &Value| {
        quantity::nanos(claim["resources"]["requests"]["storage"].as_str().unwrap_or_default())
    };
    if bound && size(old).zip(size(new)).is_some_and(|(old, new)| new < old) {
        let why = "field can not be less than status.capacity";
        found.push(FieldError::forbidden("spec.resources.requests.storage", why));
    }
    if old["volumeMode"] != new["volumeMode"] {
        let why = "field is immutable";
        found.push(FieldError::invalid("volumeMode", &new["volumeMode"], why));
    }
}

/// A StatefulSet.
pub(super) fn stateful_set(old: &Value, new: &Value, found: &mut Vec<FieldError>) {
    let free = [
        "replicas",
        "ordinals",
        "template",
        "updateStrategy",
        "revisionHistoryLimit",
        "persistentVolumeClaimRetentionPolicy",
        "minReadySeconds",
        "selector",
    ];
    if without(old, &free) != without(new, &free) {
        found.push(FieldError::forbidden("spec", "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"));
    }
}
