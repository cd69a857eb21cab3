//! The cells of what configures: ConfigMaps, Secrets, webhook configurations.

use serde_json::{Map, Value, json};

use super::cells::Parts;

/// ConfigMaps.
pub(super) fn config_map(parts: Parts<'_>) -> Vec<Value> {
    let Parts { object, name, age, .. } = parts;
    let many = ["data", "binaryData"].map(|part| object[part].as_object().map_or(0, Map::len));
    vec![name, json!(many.iter().sum::<usize>()), age]
}

/// Secrets.
pub(super) fn secret(parts: Parts<'_>) -> Vec<Value> {
    let Parts { object, name, age, .. } = parts;
    vec![name, object["type"].clone(), json!(object["data"].as_object().map_or(0, Map::len)), age]
}

/// Configurations of either kind of webhook.
pub(super) fn webhooks(parts: Parts<'_>) -> Vec<Value> {
    let many = parts.object["webhooks"].as_array().map_or(0, Vec::len);
    vec![parts.name, json!(many), parts.age]
}
