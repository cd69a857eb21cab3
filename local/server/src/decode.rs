//! From what a client sent to an object: unknown fields found and dropped, defaults of the schema set.
//!
//! Recursion follows the nesting of the value; the JSON reader bounds that to 128.

use serde_json::{Value, json};

use crate::reading::{Defaults, Path, read};
use crate::resource::Node;
use crate::shape::{Shape, reference};
use crate::{go, published};

const OBJECT_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

/// Drops what a custom resource's schema does not declare; paths of dropped fields go to `unknown`.
pub fn prune(node: Node<'_>, value: &mut Value, path: &str, unknown: &mut Vec<String>) {
    if node.flag("x-kubernetes-embedded-resource") {
        prune_fields(node, value, Level::Object, path, unknown);
    } else {
        prune_fields(node, value, Level::Part, path, unknown);
    }
}

/// [`prune`] for a whole object: it has a kind and metadata, whatever the schema says.
pub fn prune_object(node: Node<'_>, object: &mut Value, unknown: &mut Vec<String>) {
    prune_fields(node, object, Level::Object, "", unknown);
}

#[derive(Clone, Copy, PartialEq)]
enum Level {
    Object,
    Part,
}

fn prune_fields(
    node: Node<'_>,
    value: &mut Value,
    level: Level,
    path: &str,
    unknown: &mut Vec<String>,
) {
    let root = level == Level::Object;
    match value {
        Value::Object(fields) => {
            let keep_all = node.flag("x-kubernetes-preserve-unknown-fields")
                || node.at.get("additionalProperties").is_some_and(|more| more != &json!(false));
            let names: Vec<String> = fields.keys().cloned().collect();
            for name in names {
                let at = join(path, &name);
                if root && matches!(name.as_str(), "apiVersion" | "kind") || name == "fieldsV1" {
                    continue;
                }
                if root && name == "metadata" {
                    if let (Some(schema), Some(metadata)) =
                        (published::schema(OBJECT_META), fields.get_mut("metadata"))
                    {
                        prune(Node::new(schema), metadata, &at, unknown);
                    }
                    continue;
                }
                match (node.property(&name), fields.get_mut(&name)) {
                    (Some(inner), Some(child)) => prune(inner, child, &at, unknown),
                    (None, _) if !keep_all => {
                        unknown.push(at);
                        fields.shift_remove(&name);
                    }
                    _ => {}
                }
            }
        }
        Value::Array(items) => {
            if let Some(inner) = node.items() {
                for (index, item) in items.iter_mut().enumerate() {
                    prune(inner, item, &format!("{path}[{index}]"), unknown);
                }
            }
        }
        _ => {}
    }
}

/// Reads the metadata of a custom resource as its Go struct would; what it does not know is found later.
pub fn typed_metadata(object: &mut Value) -> Result<(), String> {
    let Some(shape) = Shape::of(OBJECT_META) else { return Ok(()) };
    let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else {
        return Ok(());
    };
    for (name, child) in metadata.iter_mut() {
        if let Some(field) = shape.field(name) {
            let owner = field.owner.unwrap_or("ObjectMeta");
            let path = Path::Field(&Path::Root, name);
            read(field.shape(), owner, child, &path, Defaults::Left, &mut Vec::new())?;
        }
    }
    // What is empty is not there, as for every kind.
    metadata.retain(|_, child| match child {
        Value::Null => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        Value::Bool(_) | Value::Number(_) => true,
    });
    Ok(())
}

/// Sets the defaults of a custom resource's schema; nulls count as absent where they are not allowed.
pub fn set_defaults(node: Node<'_>, value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, schema) in
                node.at.get("properties").and_then(Value::as_object).into_iter().flatten()
            {
                let inner = Node::new(schema);
                let nullable = inner.flag("nullable");
                if fields.get(name) == Some(&Value::Null) && !nullable {
                    fields.shift_remove(name);
                }
                if !fields.contains_key(name) {
                    if let Some(default) = inner.at.get("default") {
                        fields.insert(name.clone(), default.clone());
                    }
                }
            }
            for (name, child) in fields.iter_mut() {
                if let Some(inner) = node.property(name) {
                    set_defaults(inner, child);
                }
            }
        }
        Value::Array(items) => {
            if let Some(inner) = node.items() {
                items.iter_mut().for_each(|item| set_defaults(inner, item));
            }
        }
        _ => {}
    }
}

/// What Go says when it cannot put a plain value into the struct of a schema.
#[must_use]
pub fn unrestorable(node: Node<'_>, value: &Value) -> Option<String> {
    let wanted = node.at.get("type").and_then(Value::as_str).unwrap_or_default();
    let special =
        node.at.get("format").is_some_and(|format| *format != json!("byte")) && wanted == "string";
    if value.is_null() || wanted.is_empty() || special || quantity(node) {
        return None;
    }
    match (wanted, value) {
        ("object", Value::Object(fields)) => {
            fields.iter().find_map(|(name, child)| unrestorable(node.property(name)?, child))
        }
        ("array", Value::Array(items)) => {
            let inner = node.items()?;
            items.iter().find_map(|item| unrestorable(inner, item))
        }
        ("object", _) if node.at.get("additionalProperties").is_some() => {
            Some(format!("cannot restore map from {}", go::kind(value)))
        }
        ("object", _) if node.at.get("properties").is_some() => {
            Some(format!("cannot restore struct from: {}", go::kind(value)))
        }
        ("array", _) => Some(format!("cannot restore slice from {}", go::kind(value))),
        ("string", Value::String(_))
        | ("boolean", Value::Bool(_))
        | ("integer" | "number", Value::Number(_))
        | ("object", _) => None,
        _ => Some(format!("unrecognized type: {}", go_type(node))),
    }
}

fn is(node: Node<'_>, name: &str) -> bool {
    published::schema(name).is_some_and(|schema| std::ptr::eq(schema, node.at))
}

fn quantity(node: Node<'_>) -> bool {
    is(node, "io.k8s.apimachinery.pkg.api.resource.Quantity")
}

/// How Go calls the type of a schema.
#[must_use]
pub fn go_type(node: Node<'_>) -> String {
    let format = node.at.get("format").and_then(Value::as_str);
    match node.at.get("type").and_then(Value::as_str) {
        Some("integer") => format.unwrap_or("int64").to_owned(),
        Some("number") => "float64".to_owned(),
        Some("boolean") => "bool".to_owned(),
        Some("array") => {
            let items = node.at.get("items");
            let name = items.and_then(reference).map(go_name);
            format!("[]{}", name.or(node.items().map(go_type)).unwrap_or("string".to_owned()))
        }
        Some("object") => match node.at.get("additionalProperties") {
            Some(inner) => {
                let name = reference(inner).map(go_name);
                format!("map[string]{}", name.unwrap_or_else(|| go_type(Node::new(inner))))
            }
            None => published::schemas()
                .iter()
                .find(|(_, schema)| std::ptr::eq(*schema, node.at))
                .map_or("object".to_owned(), |(name, _)| go_name(name)),
        },
        _ => "string".to_owned(),
    }
}

fn go_name(schema: &str) -> String {
    let mut parts = schema.rsplit('.');
    let kind = parts.next().unwrap_or_default();
    let version = parts.next().unwrap_or_default();
    format!("{version}.{kind}")
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}
