//! The defaults of Namespaces and Nodes.

use serde_json::{Value, json};

use super::default;

/// Namespaces.
pub(super) fn namespace(object: &mut Value) {
    let name = object["metadata"]["name"].clone();
    if name.as_str().is_some_and(|name| !name.is_empty()) {
        default(&mut object["metadata"], "labels", json!({}));
        object["metadata"]["labels"]["kubernetes.io/metadata.name"] = name;
    }
}

/// Nodes.
pub(super) fn node(object: &mut Value) {
    let capacity = object["status"]["capacity"].clone();
    if capacity.is_object() {
        default(&mut object["status"], "allocatable", capacity);
    }
}
