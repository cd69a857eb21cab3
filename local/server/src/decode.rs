//! From what a client sent to an object: unknown fields found and dropped, defaults of the schema set.
//!
//! Recursion follows the nesting of the value; the JSON reader bounds that to 128.

use serde_json::{Map, Value, json};

use crate::resource::Node;
use crate::{go, published, quantity};

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
                    if let (Some(schema), Some(metadata)) = (
                        published::schema("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"),
                        fields.get_mut("metadata"),
                    ) {
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
    let Some(schema) = published::schema("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta") else {
        return Ok(());
    };
    let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else {
        return Ok(());
    };
    for (name, child) in metadata.iter_mut() {
        let declared = schema["properties"].get(name);
        if let (Some(inner), Some(declared)) = (Node::new(schema).property(name), declared) {
            let owner = type_name(declared).unwrap_or("ObjectMeta".to_owned());
            typed(inner, &owner, child, name, &mut Vec::new())?;
        }
    }
    metadata.retain(|_, child| !child.is_null());
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

/// Reads a value as the Go struct of a built-in schema would: unknown fields and nulls go, types must fit.
pub fn typed(
    node: Node<'_>,
    owner: &str,
    value: &mut Value,
    path: &str,
    unknown: &mut Vec<String>,
) -> Result<(), String> {
    let wanted = node.at.get("type").and_then(Value::as_str).unwrap_or_default();
    let format = node.at.get("format").and_then(Value::as_str).unwrap_or_default();
    let refused = |value: &Value| {
        let found = match value {
            Value::String(_) => "string",
            Value::Number(number) if wanted == "integer" => {
                return format!(
                    "json: cannot unmarshal number {number} into Go struct field {owner}.{path} of type {}",
                    go_type(node)
                );
            }
            Value::Number(_) => "number",
            Value::Bool(_) => "bool",
            Value::Array(_) => "array",
            _ => "object",
        };
        format!(
            "json: cannot unmarshal {found} into Go struct field {owner}.{path} of type {}",
            go_type(node)
        )
    };
    if quantity(node) && matches!(value, Value::String(_) | Value::Number(_)) {
        let text = value.as_str().map_or(value.to_string(), str::to_owned);
        let text = quantity::canonical(&text).ok_or("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'")?;
        *value = json!(text);
        return Ok(());
    }
    match value {
        Value::Object(fields) => {
            if wanted != "object" && !wanted.is_empty() {
                return Err(refused(value));
            }
            // Looked up once: this is where reading an object spends its time.
            let open = node.open();
            let properties = node.at.get("properties").and_then(Value::as_object);
            let additional = node.at.get("additionalProperties").filter(|one| one.is_object());
            let required = node.at.get("required").and_then(Value::as_array);
            let names: Vec<String> = fields.keys().cloned().collect();
            for name in names {
                let schema = properties.and_then(|all| all.get(&name));
                let declared = schema.is_some();
                let inner = schema.or(additional).map(Node::new);
                if fields.get(&name) == Some(&Value::Null) {
                    let text = |inner: &Node<'_>| inner.at["type"] == json!("string");
                    match inner.filter(|inner| !declared && text(inner)) {
                        // A map of texts has no null.
                        Some(_) => fields.insert(name.clone(), json!("")),
                        None => fields.shift_remove(&name),
                    };
                    continue;
                }
                // Optional lists and maps that are empty are not written.
                let needed = || required.is_some_and(|all| all.iter().any(|one| *one == *name));
                if declared
                    && name != "managedFields"
                    && is_empty_collection(inner, fields.get(&name))
                    && !needed()
                {
                    fields.shift_remove(&name);
                    continue;
                }
                let at = join(path, &name);
                match (inner, fields.get_mut(&name)) {
                    (Some(inner), Some(child)) => {
                        // What is wrong in a map is said of the map.
                        let at = if declared { at } else { path.to_owned() };
                        let deeper = schema.and_then(type_name);
                        typed(inner, deeper.as_deref().unwrap_or(owner), child, &at, unknown)?;
                    }
                    (None, _) if !open => {
                        unknown.push(at);
                        fields.shift_remove(&name);
                    }
                    _ => {}
                }
            }
        }
        Value::Array(items) => {
            if wanted != "array" && !wanted.is_empty() {
                return Err(refused(value));
            }
            if let Some(inner) = node.items() {
                let deeper = node.at.get("items").and_then(type_name).unwrap_or(owner.to_owned());
                for (index, item) in items.iter_mut().enumerate() {
                    typed(inner, &deeper, item, &format!("{path}[{index}]"), unknown)?;
                }
            }
        }
        Value::Null => {}
        Value::String(text) => match wanted {
            "string" if micro(node) && !text.contains('.') && text.ends_with('Z') => {
                return Err(format!(
                    "parsing time \"{text}\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \"Z\" as \".000000\""
                ));
            }
            "string" if format == "date-time" && !text.is_empty() => {
                if chrono::DateTime::parse_from_rfc3339(text).is_err() {
                    return Err(format!(
                        "parsing time \"{text}\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"{text}\" as \"2006\""
                    ));
                }
            }
            "string" if format == "byte" => {
                use base64::Engine;
                if let Err(error) =
                    base64::engine::general_purpose::STANDARD.decode(text.as_bytes())
                {
                    let at = match error {
                        base64::DecodeError::InvalidByte(at, _)
                        | base64::DecodeError::InvalidLastSymbol(at, _) => at,
                        _ => text.len(),
                    };
                    return Err(format!("illegal base64 data at input byte {at}"));
                }
            }
            "string" | "" => {}
            _ => return Err(refused(value)),
        },
        Value::Number(number) => match wanted {
            "integer" if number.is_i64() || number.is_u64() => {}
            "number" | "" => {}
            "string" if format == "int-or-string" => {}
            _ => return Err(refused(value)),
        },
        Value::Bool(_) => {
            if wanted != "boolean" && !wanted.is_empty() {
                return Err(refused(value));
            }
        }
    }
    Ok(())
}

fn is_empty_collection(node: Option<Node<'_>>, value: Option<&Value>) -> bool {
    match (node, value) {
        (Some(node), Some(Value::Array(items))) => {
            items.is_empty() && node.at["type"] == json!("array")
        }
        (Some(node), Some(Value::Object(fields))) => {
            fields.is_empty() && node.at.get("additionalProperties").is_some_and(Value::is_object)
        }
        _ => false,
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

/// A name in it may be empty and is then not written.
const LOCAL_REFERENCE: &str = "io.k8s.api.core.v1.LocalObjectReference";

/// Times that Go writes as null when they are not set.
const WRITTEN_TIMES: [&str; 9] = [
    "lastTransitionTime",
    "lastUpdateTime",
    "lastProbeTime",
    "lastHeartbeatTime",
    "eventTime",
    "firstTimestamp",
    "lastTimestamp",
    "deprecatedFirstTimestamp",
    "deprecatedLastTimestamp",
];

fn is(node: Node<'_>, name: &str) -> bool {
    published::schema(name).is_some_and(|schema| std::ptr::eq(schema, node.at))
}

fn micro(node: Node<'_>) -> bool {
    is(node, "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime")
}

fn quantity(node: Node<'_>) -> bool {
    is(node, "io.k8s.apimachinery.pkg.api.resource.Quantity")
}

fn reference(schema: &Value) -> Option<&str> {
    let inside = |schema: &Value| schema.get("$ref").is_some();
    if inside(schema) {
        return schema["$ref"].as_str();
    }
    schema.get("allOf")?.as_array()?.first()?.get("$ref")?.as_str()
}

fn type_name(schema: &Value) -> Option<String> {
    reference(schema)?.rsplit('.').next().map(str::to_owned)
}

fn go_type(node: Node<'_>) -> String {
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

/// Sets the defaults that the published schemas tell, and what Go writes of an empty struct.
pub fn set_published_defaults(node: Node<'_>, value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, schema) in
                node.at.get("properties").and_then(Value::as_object).into_iter().flatten()
            {
                if fields.contains_key(name) {
                    continue;
                }
                match schema.get("default") {
                    Some(_) if name == "metadata" && fields.contains_key("apiVersion") => {}
                    Some(_) if name == "name" && is(node, LOCAL_REFERENCE) => {}
                    Some(default) => {
                        fields.insert(name.clone(), default.clone());
                    }
                    None if WRITTEN_TIMES.contains(&name.as_str()) => {
                        fields.insert(name.clone(), Value::Null);
                    }
                    None => {}
                }
            }
            for (name, child) in fields.iter_mut() {
                if let Some(inner) = node.property(name) {
                    set_published_defaults(inner, child);
                }
            }
        }
        Value::Array(items) => {
            if let Some(inner) = node.items() {
                items.iter_mut().for_each(|item| set_published_defaults(inner, item));
            }
        }
        _ => {}
    }
}

/// Finds keys that a JSON text has twice, by their paths; `None` if the text is not JSON.
#[must_use]
pub fn duplicates(text: &[u8]) -> Option<Vec<String>> {
    use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
    struct Seen<'a> {
        path: String,
        found: &'a mut Vec<String>,
    }
    impl<'de> serde::de::DeserializeSeed<'de> for Seen<'_> {
        type Value = ();
        fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
            from.deserialize_any(self)
        }
    }
    impl<'de> Visitor<'de> for Seen<'_> {
        type Value = ();
        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("JSON")
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
            let mut keys = Map::new();
            while let Some(key) = map.next_key::<String>()? {
                let path = join(&self.path, &key);
                if keys.insert(key, Value::Null).is_some() {
                    self.found.push(path.clone());
                }
                map.next_value_seed(Seen { path, found: self.found })?;
            }
            Ok(())
        }
        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
            let mut index = 0;
            while list
                .next_element_seed(Seen {
                    path: format!("{}[{index}]", self.path),
                    found: self.found,
                })?
                .is_some()
            {
                index += 1;
            }
            Ok(())
        }
        fn visit_bool<E>(self, _: bool) -> Result<(), E> {
            Ok(())
        }
        fn visit_i64<E>(self, _: i64) -> Result<(), E> {
            Ok(())
        }
        fn visit_u64<E>(self, _: u64) -> Result<(), E> {
            Ok(())
        }
        fn visit_f64<E>(self, _: f64) -> Result<(), E> {
            Ok(())
        }
        fn visit_str<E>(self, _: &str) -> Result<(), E> {
            Ok(())
        }
        fn visit_unit<E>(self) -> Result<(), E> {
            Ok(())
        }
    }
    let mut found = Vec::new();
    let mut reader = serde_json::Deserializer::from_slice(text);
    let seed = Seen { path: String::new(), found: &mut found };
    serde::de::DeserializeSeed::deserialize(seed, &mut reader).ok()?;
    Some(found)
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}
