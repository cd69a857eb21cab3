//! Components of Terraform definitions: one `Configuration`; nothing is evaluated here. (kubevela.md 2.8)

use serde_json::{Map, Value, json};

use crate::api::{Component, Definition};

/// Properties that are settings of the Configuration; all others are variables of the module.
const SETTINGS: [&str; 8] = [
    "writeConnectionSecretToRef",
    "providerRef",
    "deleteResource",
    "customRegion",
    "forceDelete",
    "jobEnv",
    "inlineCredentials",
    "gitCredentialsSecretReference",
];

/// The Configuration of a component; `None` if its definition has no Terraform schematic.
pub(super) fn configuration(
    definition: &Definition,
    component: &Component,
    namespace: &str,
) -> Option<Value> {
    let schematic = definition.spec.schematic.as_ref()?.terraform.as_ref()?;
    let text = |key: &str| schematic.get(key).and_then(Value::as_str).unwrap_or_default();
    let mut spec = Map::new();
    spec.insert("gitRef".into(), json!({}));
    if text("type") == "remote" {
        spec.insert("remote".into(), text("configuration").into());
        if !text("path").is_empty() {
            spec.insert("path".into(), text("path").into());
        }
    } else {
        spec.insert("hcl".into(), text("configuration").into());
    }
    for key in SETTINGS {
        if let Some(value) = schematic.get(key).filter(|it| !it.is_null()) {
            spec.insert(key.into(), value.clone());
        }
    }
    let mut variables = Map::new();
    for (key, value) in component.properties.iter().filter_map(Value::as_object).flatten() {
        if SETTINGS.contains(&key.as_str()) {
            spec.insert(key.clone(), value.clone());
        } else {
            variables.insert(key.clone(), value.clone());
        }
    }
    if let Some(Value::Object(secret)) = spec.get_mut("writeConnectionSecretToRef") {
        let named = secret.get("namespace").and_then(Value::as_str).unwrap_or_default();
        if named.is_empty() {
            secret.insert("namespace".into(), namespace.into());
        }
    }
    spec.insert("variable".into(), Value::Object(variables));
    let mut annotations = Map::new();
    for (key, value) in &definition.metadata.annotations {
        annotations.insert(key.clone(), value.as_str().into());
    }
    Some(json!({
        "apiVersion": "terraform.core.oam.dev/v1beta2",
        "kind": "Configuration",
        "metadata": {
            "annotations": annotations,
            "creationTimestamp": null,
            "name": component.name,
            "namespace": namespace,
        },
        "spec": spec,
        "status": { "apply": {}, "destroy": {} },
    }))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::configuration;

    #[test]
    fn settings_and_variables_are_told_apart() {
        let definition = serde_json::from_value(json!({
            "kind": "ComponentDefinition",
            "metadata": { "name": "bucket", "annotations": { "type": "terraform" } },
            "spec": { "schematic": { "terraform": {
                "type": "remote", "configuration": "https://example.org/bucket.git", "path": "a",
                "providerRef": { "name": "p" },
            } } },
        }))
        .unwrap();
        let component = serde_json::from_value(json!({
            "name": "b", "type": "bucket",
            "properties": { "acl": "private", "writeConnectionSecretToRef": { "name": "s" } },
        }))
        .unwrap();
        let made = configuration(&definition, &component, "ns").unwrap();
        assert_eq!(
            made["spec"],
            json!({
                "gitRef": {}, "remote": "https://example.org/bucket.git", "path": "a",
                "providerRef": { "name": "p" },
                "writeConnectionSecretToRef": { "name": "s", "namespace": "ns" },
                "variable": { "acl": "private" },
            })
        );
    }
}
