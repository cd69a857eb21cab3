//! What requests do not decide: identity, times, generation, what belongs to another subresource.

use serde_json::{Value, json};

use super::{Target, now};
use crate::kinds;
use crate::resource::Resource;

/// What every object gets when it is made.
pub(super) fn born(resource: &Resource, object: &mut Value) {
    let metadata = &mut object["metadata"];
    metadata["uid"] = json!(uuid::Uuid::new_v4().to_string());
    metadata["creationTimestamp"] = json!(now());
    if kinds::has_generation(resource) {
        metadata["generation"] = json!(1);
    }
}

/// What may not change by way of this target is put back; what counts as a change is counted.
pub(super) fn restore(target: &Target, current: &Value, next: &mut Value) {
    let resource = &target.resource;
    match target.subresource.as_str() {
        "" => kinds::keep_status(resource, current, next),
        "status" => kinds::keep_all_but_status(resource, current, next),
        _ => {}
    }
    let had = &current["metadata"];
    if let Some(metadata) = next["metadata"].as_object_mut() {
        for key in ["creationTimestamp", "generation", "selfLink", "namespace"] {
            match had.get(key) {
                Some(value) => {
                    metadata.insert(key.to_owned(), value.clone());
                }
                None => {
                    metadata.shift_remove(key);
                }
            }
        }
        for key in ["uid", "deletionTimestamp", "deletionGracePeriodSeconds"] {
            if metadata.get(key).is_none_or(Value::is_null) {
                if let Some(value) = had.get(key) {
                    metadata.insert(key.to_owned(), value.clone());
                }
            }
        }
    }
    if kinds::has_generation(resource)
        && !["status", "binding"].contains(&target.subresource.as_str())
        && kinds::content_differs(resource, current, next)
    {
        let generation = had["generation"].as_i64().unwrap_or(0) + 1;
        next["metadata"]["generation"] = json!(generation);
    }
}
