//! What is refused of claims, volumes and their classes.

use serde_json::{Value, json};

use super::check::{Field, Found};
use crate::status::FieldError;

/// PersistentVolumeClaims.
pub(super) fn claim(spec: &Field<'_>, found: &mut Found) {
    let modes = spec.get("accessModes");
    if modes.is_empty() {
        modes.miss("at least 1 access mode is required", found);
    }
    if spec.get("selector").is_set() {
        spec.get("selector").selector(found);
    }
    access(&modes, found);
    let wanted = spec.get("resources").get("requests").get("storage");
    let at = format!("{}.resources[storage]", spec.at);
    match wanted.amount() {
        None => found.push(FieldError::required(at, "")),
        Some(amount) if amount <= 0 => {
            found.push(FieldError::invalid(at, wanted.value, "must be greater than zero"));
        }
        Some(_) => {}
    }
    for class in ["storageClassName", "volumeAttributesClassName"] {
        if !spec.get(class).is_empty() {
            spec.get(class).subdomain(found);
        }
    }
    spec.get("volumeMode").one_of(&["Block", "Filesystem"], found);
    let (source, reference) = (spec.get("dataSource"), spec.get("dataSourceRef"));
    let same = ["apiGroup", "kind", "name"]
        .iter()
        .all(|part| source.get(part).text() == reference.get(part).text());
    if source.is_set() && reference.is_set() && !same {
        found.push(FieldError::invalid(spec.at.as_str(), &json!({}), "must match dataSourceRef"));
    }
}

fn access(modes: &Field<'_>, found: &mut Found) {
    let known = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];
    for mode in modes.items() {
        // The reference names the list, not its item.
        Field::new(modes.at.as_str(), mode.value).one_of(&known, found);
    }
    let all: Vec<&str> =
        modes.items().map(|mode| mode.value.as_str().unwrap_or_default()).collect();
    if all.contains(&"ReadWriteOncePod") && all.iter().any(|one| *one != "ReadWriteOncePod") {
        modes.forbid("may not use ReadWriteOncePod with other access modes", found);
    }
}

/// StorageClasses.
pub(super) fn class(object: &Field<'_>, old: Option<&Field<'_>>, found: &mut Found) {
    let provisioner = object.get("provisioner");
    if provisioner.require(found) {
        let lower = json!(provisioner.text().to_lowercase());
        Field::new("provisioner", &lower).qualified(found);
    }
    for (key, _) in object.get("parameters").entries() {
        if key.is_empty() {
            let why = "field can not be empty.";
            found.push(FieldError::invalid("parameters", &json!(""), why));
        }
    }
    object.get("reclaimPolicy").one_of(&["Delete", "Retain"], found);
    object.get("volumeBindingMode").one_of(&["Immediate", "WaitForFirstConsumer"], found);
    for term in object.get("allowedTopologies").items() {
        for one in term.get("matchLabelExpressions").items() {
            let values = one.get("values");
            values.require(found);
            let mut seen: Vec<&Value> = Vec::new();
            for value in values.items() {
                if seen.contains(&value.value) {
                    value.repeat(found);
                }
                seen.push(value.value);
            }
            one.get("key").qualified(found);
        }
    }
    let Some(old) = old else { return };
    if old.get("parameters").value != object.get("parameters").value {
        object.get("parameters").forbid("updates to parameters are forbidden.", found);
    }
    for field in ["provisioner", "reclaimPolicy", "volumeBindingMode"] {
        if old.get(field).value != object.get(field).value {
            object.get(field).refuse("field is immutable", found);
        }
    }
}

/// PersistentVolumes.
pub(super) fn volume(spec: &Field<'_>, found: &mut Found) {
    for part in ["accessModes", "capacity"] {
        spec.get(part).require(found);
    }
    access(&spec.get("accessModes"), found);
    let capacity = spec.get("capacity");
    let known: Vec<&str> = capacity.entries().map(|(name, _)| name).collect();
    if known != ["storage"] {
        let known = ["\"storage\"".to_owned()];
        found.push(FieldError::unsupported(capacity.at.as_str(), capacity.value, &known));
    }
    let reclaim = ["Delete", "Recycle", "Retain"];
    spec.get("persistentVolumeReclaimPolicy").one_of(&reclaim, found);
    spec.get("volumeMode").one_of(&["Block", "Filesystem"], found);
    let plain = [
        "accessModes",
        "capacity",
        "claimRef",
        "mountOptions",
        "nodeAffinity",
        "persistentVolumeReclaimPolicy",
        "storageClassName",
        "volumeAttributesClassName",
        "volumeMode",
    ];
    let fields = spec.value.as_object().into_iter().flatten();
    let sources: Vec<&String> =
        fields.map(|(name, _)| name).filter(|name| !plain.contains(&name.as_str())).collect();
    if sources.is_empty() {
        spec.miss("must specify a volume type", found);
    }
    for source in sources.iter().skip(1) {
        spec.get(source).forbid("may not specify more than 1 volume type", found);
    }
}
