//! The defaults of volumes, claims, their classes and drivers.

use serde_json::{Value, json};

use super::default;

/// PersistentVolumes.
pub(super) fn volume(object: &mut Value) {
    let spec = &mut object["spec"];
    if spec["hostPath"].is_object() {
        default(&mut spec["hostPath"], "type", json!(""));
    }
    default(spec, "persistentVolumeReclaimPolicy", json!("Retain"));
    default(spec, "volumeMode", json!("Filesystem"));
    default(object, "status", json!({}));
    default(&mut object["status"], "phase", json!("Pending"));
}

/// StorageClasses.
pub(super) fn class(object: &mut Value) {
    default(object, "reclaimPolicy", json!("Delete"));
    default(object, "volumeBindingMode", json!("Immediate"));
}

/// CSIDrivers.
pub(super) fn driver(spec: &mut Value) {
    for (key, value) in [
        ("attachRequired", json!(true)),
        ("podInfoOnMount", json!(false)),
        ("storageCapacity", json!(false)),
        ("fsGroupPolicy", json!("ReadWriteOnceWithFSType")),
        ("volumeLifecycleModes", json!(["Persistent"])),
        ("requiresRepublish", json!(false)),
        ("seLinuxMount", json!(false)),
    ] {
        default(spec, key, value);
    }
}

/// Where a claim's content comes from is said in two fields.
pub(in crate::kinds) fn sources(spec: &mut Value) {
    let older = spec.get("dataSource").filter(|it| it.is_object()).cloned();
    let newer = spec.get("dataSourceRef").filter(|it| it.is_object()).cloned();
    match (older, newer) {
        (Some(source), None) => spec["dataSourceRef"] = source,
        (None, Some(source)) if source["namespace"].as_str().unwrap_or_default().is_empty() => {
            spec["dataSource"] = source;
            if let Some(fields) = spec["dataSource"].as_object_mut() {
                fields.shift_remove("namespace");
            }
        }
        _ => {}
    }
}
