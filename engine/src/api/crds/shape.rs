//! What schemas are built of.

use serde_json::{Map, Value, json};

/// A property: name, schema, what it is for.
pub(super) type Property = (&'static str, Value, &'static str);

pub(super) fn string() -> Value {
    json!({ "type": "string" })
}

pub(super) fn boolean() -> Value {
    json!({ "type": "boolean" })
}

pub(super) fn integer() -> Value {
    json!({ "type": "integer", "format": "int64" })
}

pub(super) fn time() -> Value {
    json!({ "type": "string", "format": "date-time" })
}

pub(super) fn list(items: Value) -> Value {
    json!({ "type": "array", "items": items })
}

pub(super) fn texts() -> Value {
    json!({ "type": "object", "additionalProperties": { "type": "string" } })
}

/// A struct of any content.
pub(super) fn open() -> Value {
    json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true })
}

/// A struct of named entries, each of any content.
pub(super) fn entries() -> Value {
    json!({ "type": "object", "additionalProperties": open() })
}

pub(super) fn object(properties: Vec<Property>) -> Value {
    json!({ "type": "object", "properties": described(properties) })
}

/// A struct that one writer keeps: who owns which part of it is not kept, which costs an API server more
/// than a quarter of what it takes to write one.
pub(super) fn whole(mut schema: Value) -> Value {
    if let Value::Object(map) = &mut schema {
        map.insert("x-kubernetes-map-type".into(), "atomic".into());
    }
    schema
}

pub(super) fn requiring(required: &[&str], mut schema: Value) -> Value {
    if let Value::Object(map) = &mut schema {
        map.insert("required".into(), json!(required));
    }
    schema
}

/// Declared properties, and whatever else is written.
pub(super) fn extensible(properties: Vec<Property>) -> Value {
    let mut schema = object(properties);
    if let Value::Object(map) = &mut schema {
        map.insert("x-kubernetes-preserve-unknown-fields".into(), true.into());
    }
    schema
}

pub(super) fn described(properties: Vec<Property>) -> Map<String, Value> {
    properties
        .into_iter()
        .map(|(name, mut schema, description)| {
            if let (Value::Object(map), false) = (&mut schema, description.is_empty()) {
                map.insert("description".into(), description.into());
            }
            (name.to_owned(), schema)
        })
        .collect()
}

/// The root of a kind.
pub(super) fn root(description: &str, properties: Vec<Property>) -> Value {
    let mut all = vec![
        ("apiVersion", string(), "Group and version of this object."),
        ("kind", string(), "Kind of this object."),
        ("metadata", json!({ "type": "object" }), ""),
    ];
    all.extend(properties);
    let mut schema = object(all);
    if let Value::Object(map) = &mut schema {
        map.insert("description".into(), description.into());
    }
    schema
}

pub(super) fn reference() -> Value {
    object(reference_properties())
}

pub(super) fn reference_properties() -> Vec<Property> {
    vec![
        ("apiVersion", string(), "Group and version."),
        ("fieldPath", string(), "Path inside the object."),
        ("kind", string(), "Kind."),
        ("name", string(), "Name."),
        ("namespace", string(), "Namespace."),
        ("resourceVersion", string(), "Version that was seen."),
        ("uid", string(), "Uid."),
    ]
}

pub(super) fn group_version_kind() -> Value {
    object(vec![("apiVersion", string(), "Group and version."), ("kind", string(), "Kind.")])
}

pub(super) fn conditions() -> Value {
    list(object(vec![
        ("lastTransitionTime", time(), "When it last changed."),
        ("message", string(), "For people."),
        ("reason", string(), "In one word."),
        ("status", string(), "True, False or Unknown."),
        ("type", string(), "What it is about."),
    ]))
}

pub(super) fn latest_revision() -> Value {
    object(vec![
        ("name", string(), "Name of the revision object."),
        ("revision", integer(), "Number."),
        ("revisionHash", string(), "Hash of its content."),
    ])
}

pub(super) fn compression() -> Value {
    object(vec![("data", string(), "Base64."), ("type", string(), "gzip, zstd or empty.")])
}
