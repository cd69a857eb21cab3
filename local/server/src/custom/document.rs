//! The OpenAPI document of custom resources.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::published;
use crate::resource::Resource;

/// The OpenAPI document of the custom resources of one group version.
#[must_use]
pub fn document(resources: &[Arc<Resource>]) -> Value {
    let mut schemas = serde_json::Map::new();
    let mut paths = serde_json::Map::new();
    let meta = "io.k8s.apimachinery.pkg.apis.meta.v1.";
    let mut wanted: Vec<String> = vec![
        format!("{meta}ObjectMeta"),
        format!("{meta}ListMeta"),
        format!("{meta}Status"),
        format!("{meta}DeleteOptions"),
        format!("{meta}Patch"),
    ];
    while let Some(name) = wanted.pop() {
        if schemas.contains_key(&name) {
            continue;
        }
        if let Some(schema) = published::described(&name) {
            let said = schema.to_string();
            for part in said.split("#/components/schemas/").skip(1) {
                wanted.push(part.split('"').next().unwrap_or_default().to_owned());
            }
            schemas.insert(name, schema.clone());
        }
    }
    for resource in resources {
        let Some(custom) = &resource.custom else { continue };
        let reversed: Vec<&str> = resource.group.rsplit('.').collect();
        let base = format!("{}.{}", reversed.join("."), resource.version);
        let gvk = |kind: &str| json!([{"group": resource.group, "version": resource.version, "kind": kind}]);
        let about = |key: &str| {
            published::described(&format!("{meta}Status"))
                .map(|schema| schema["properties"][key].clone())
        };
        let mut schema = custom.schema.clone();
        published_form(&mut schema);
        if !schema["properties"].is_object() {
            schema["properties"] = json!({});
        }
        schema["properties"]["apiVersion"] = about("apiVersion").unwrap_or_default();
        schema["properties"]["kind"] = about("kind").unwrap_or_default();
        schema["properties"]["metadata"] = json!({
            "allOf": [{"$ref": format!("#/components/schemas/{meta}ObjectMeta")}],
            "description": "Standard object's metadata. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata",
        });
        schema["x-kubernetes-group-version-kind"] = gvk(&resource.kind);
        if !custom.selectable.is_empty() {
            let fields: Vec<Value> =
                custom.selectable.iter().map(|one| json!({"fieldPath": one})).collect();
            schema["x-kubernetes-selectable-fields"] = json!(fields);
        }
        let name = format!("{base}.{}", resource.kind);
        let mut list = json!({
            "description": format!("{} is a list of {}", resource.list_kind, resource.kind),
            "type": "object", "required": ["items"],
            "properties": {
                "apiVersion": about("apiVersion"), "kind": about("kind"),
                "items": {
                    "description": format!("List of {}. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md", resource.plural),
                    "type": "array", "items": {"$ref": format!("#/components/schemas/{name}")},
                },
                "metadata": {
                    "allOf": [{"$ref": format!("#/components/schemas/{meta}ListMeta")}],
                    "description": "Standard list metadata. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds",
                },
            },
            "x-kubernetes-group-version-kind": gvk(&resource.list_kind),
        });
        if let Some(fields) = schema.get("x-kubernetes-selectable-fields") {
            list["x-kubernetes-selectable-fields"] = fields.clone();
        }
        schemas.insert(name.clone(), schema);
        schemas.insert(format!("{base}.{}", resource.list_kind), list);
        let scope = if resource.namespaced { "/namespaces/{namespace}" } else { "" };
        let path =
            format!("/apis/{}/{}{scope}/{}", resource.group, resource.version, resource.plural);
        let gvk =
            json!({"group": resource.group, "version": resource.version, "kind": resource.kind});
        let operation = |action: &str, types: &[&str]| {
            let body: serde_json::Map<String, Value> = types
                .iter()
                .map(|one| {
                    (
                        (*one).to_owned(),
                        json!({"schema": {"$ref": format!("#/components/schemas/{name}")}}),
                    )
                })
                .collect();
            let flags = ["dryRun", "fieldManager", "fieldValidation"];
            let parameters: Vec<Value> = flags
                .iter()
                .map(|flag| json!({"name": flag, "in": "query", "schema": {"type": "string", "uniqueItems": true}}))
                .collect();
            json!({
                "x-kubernetes-action": action, "x-kubernetes-group-version-kind": gvk,
                "parameters": parameters, "requestBody": {"content": body},
                "responses": {"200": {"description": "OK"}},
            })
        };
        let plain = ["application/json", "application/yaml"];
        let patches = [
            "application/apply-patch+yaml",
            "application/json-patch+json",
            "application/merge-patch+json",
        ];
        paths.insert(
            path.clone(),
            json!({"get": operation("list", &[]), "post": operation("post", &plain)}),
        );
        paths.insert(
            format!("{path}/{{name}}"),
            json!({
                "get": operation("get", &[]), "put": operation("put", &plain),
                "patch": operation("patch", &patches), "delete": operation("delete", &[]),
            }),
        );
    }
    json!({
        "openapi": "3.0.0", "info": {"title": "Kubernetes CRD Swagger", "version": "v0.1.0"},
        "paths": paths, "components": {"schemas": schemas},
    })
}

// What structural schemas say in a word of their own is said in full. The depth is that of a definition.
fn published_form(schema: &mut Value) {
    let flag = |schema: &Value, name: &str| schema.get(name) == Some(&Value::Bool(true));
    if flag(schema, "x-kubernetes-int-or-string") && schema.get("anyOf").is_none() {
        schema["anyOf"] = json!([{"type": "integer"}, {"type": "string"}]);
    }
    if flag(schema, "x-kubernetes-embedded-resource") {
        let conventions =
            "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md";
        if !schema["properties"].is_object() {
            schema["properties"] = json!({});
        }
        let own = &mut schema["properties"];
        own["apiVersion"] = json!({"type": "string", "description": format!("apiVersion defines the versioned schema of this representation of an object. More info: {conventions}#resources")});
        own["kind"] = json!({"type": "string", "description": format!("kind is a string value representing the type of this object. In CamelCase. More info: {conventions}#types-kinds")});
        own["metadata"] = json!({
            "description": format!("Standard object's metadata. More info: {conventions}#metadata"),
            "allOf": [{"$ref": "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}],
        });
        let mut required = vec![json!("kind"), json!("apiVersion")];
        let more = schema["required"].as_array().into_iter().flatten();
        let more: Vec<Value> = more.filter(|one| !required.contains(one)).cloned().collect();
        required.extend(more);
        schema["required"] = Value::Array(required);
    }
    below(schema, &mut published_form);
}

fn below(schema: &mut Value, visit: &mut dyn FnMut(&mut Value)) {
    if let Some(all) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        all.values_mut().for_each(&mut *visit);
    }
    for key in ["items", "additionalProperties"] {
        if let Some(inner) = schema.get_mut(key).filter(|inner| inner.is_object()) {
            visit(inner);
        }
    }
}

/// The schemas of custom resources as version 2 of OpenAPI can say them: what it has no word for may be anything.
#[must_use]
pub fn older(resources: &[Arc<Resource>]) -> serde_json::Map<String, Value> {
    let mut document = document(resources);
    let own = |name: &str| !name.starts_with("io.k8s.apimachinery.");
    let mut schemas = serde_json::Map::new();
    let all = document["components"]["schemas"].as_object_mut().map(std::mem::take);
    for (name, mut schema) in all.unwrap_or_default() {
        if own(&name) {
            restrict(&mut schema);
            schemas.insert(name, schema);
        }
    }
    schemas
}

fn restrict(schema: &mut Value) {
    let flag = |schema: &Value, name: &str| schema.get(name) == Some(&Value::Bool(true));
    let anything =
        ["nullable", "x-kubernetes-preserve-unknown-fields", "x-kubernetes-int-or-string"];
    let open = anything.iter().any(|name| flag(schema, name));
    if let Some(fields) = schema.as_object_mut() {
        for key in ["default", "nullable", "oneOf", "anyOf", "not"] {
            fields.shift_remove(key);
        }
        if open {
            for key in ["type", "items", "properties", "additionalProperties", "required"] {
                fields.shift_remove(key);
            }
        }
    }
    below(schema, &mut restrict);
}
