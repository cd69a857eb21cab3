//! The cells of claims, volumes and their classes.

use serde_json::{Value, json};

use super::cells::Parts;
use super::format::text;

/// PersistentVolumeClaims.
pub(super) fn claim(parts: Parts<'_>) -> Vec<Value> {
    let Parts { metadata, spec, status, name, age, .. } = parts;
    let phase = if metadata["deletionTimestamp"].is_null() {
        status["phase"].clone()
    } else {
        json!("Terminating")
    };
    let bound = spec["volumeName"].as_str().is_some_and(|name| !name.is_empty());
    vec![
        name,
        phase,
        text(&spec["volumeName"], ""),
        if bound { text(&status["capacity"]["storage"], "") } else { json!("") },
        if bound { json!(access_modes(&status["accessModes"])) } else { json!("") },
        text(&spec["storageClassName"], ""),
        text(&spec["volumeAttributesClassName"], "<unset>"),
        age,
        text(&spec["volumeMode"], "<unset>"),
    ]
}

/// PersistentVolumes.
pub(super) fn volume(parts: Parts<'_>) -> Vec<Value> {
    let Parts { metadata, spec, status, name, age, .. } = parts;
    let claim = &spec["claimRef"];
    let claim = claim["name"].as_str().map_or(String::new(), |name| {
        format!("{}/{name}", claim["namespace"].as_str().unwrap_or_default())
    });
    let phase = if metadata["deletionTimestamp"].is_null() {
        text(&status["phase"], "")
    } else {
        json!("Terminating")
    };
    vec![
        name,
        text(&spec["capacity"]["storage"], ""),
        json!(access_modes(&spec["accessModes"])),
        text(&spec["persistentVolumeReclaimPolicy"], ""),
        phase,
        json!(claim),
        text(&spec["storageClassName"], ""),
        text(&spec["volumeAttributesClassName"], "<unset>"),
        text(&status["reason"], ""),
        age,
        text(&spec["volumeMode"], "<unset>"),
    ]
}

/// StorageClasses.
pub(super) fn class(parts: Parts<'_>) -> Vec<Value> {
    let Parts { object, metadata, name, age, .. } = parts;
    let annotations = &metadata["annotations"];
    let usual = annotations["storageclass.kubernetes.io/is-default-class"] == json!("true");
    let name = name.as_str().unwrap_or_default();
    vec![
        json!(if usual { format!("{name} (default)") } else { name.to_owned() }),
        object["provisioner"].clone(),
        text(&object["reclaimPolicy"], "<unset>"),
        text(&object["volumeBindingMode"], "<unset>"),
        json!(object["allowVolumeExpansion"] == json!(true)),
        age,
    ]
}

fn access_modes(modes: &Value) -> String {
    let modes = modes.as_array().into_iter().flatten().filter_map(Value::as_str);
    let short: Vec<&str> = modes
        .map(|mode| match mode {
            "ReadWriteOnce" => "RWO",
            "ReadOnlyMany" => "ROX",
            "ReadWriteMany" => "RWX",
            _ => "RWOP",
        })
        .collect();
    short.join(",")
}
