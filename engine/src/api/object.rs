//! Metadata, references and conditions; readers of plain objects.

use indexmap::IndexMap;
use serde_json::{Map, Value};

use super::wire::wire;

/// Labels or annotations.
pub type StringMap = IndexMap<String, String>;

wire! {
    /// `metadata`.
    ObjectMeta {
        /// Name.
        name: String,
        /// Prefix of a name the API server completes.
        generate_name: String,
        /// Namespace.
        namespace: String,
        /// Uid.
        uid: String,
        /// Version for optimistic locking.
        resource_version: String,
        /// Counts changes of spec.
        generation: i64,
        /// RFC 3339.
        creation_timestamp: String,
        /// RFC 3339; set while it is being deleted.
        deletion_timestamp: String,
        /// Labels.
        labels: StringMap,
        /// Annotations.
        annotations: StringMap,
        /// Owners.
        owner_references: Vec<Value>,
        /// Finalizers.
        finalizers: Vec<String>,
    }
}

wire! {
    /// Reference to an object, as Kubernetes writes it.
    ObjectReference {
        /// Group and version.
        api_version: String,
        /// Kind.
        kind: String,
        /// Name.
        name: String,
        /// Namespace.
        namespace: String,
        /// Uid.
        uid: String,
        /// Version.
        resource_version: String,
        /// Path inside it.
        field_path: String,
    }
}

wire! {
    /// One condition of a status.
    Condition {
        /// Reason, one word.
        reason: String,
        /// Text for people.
        message: String,
        @always {
            /// Which condition.
            r#type: String,
            /// `True`, `False`, `Unknown`.
            status: String,
            /// RFC 3339.
            last_transition_time: String,
        }
    }
}

wire! {
    /// Latest revision of an Application or definition.
    RevisionName {
        /// Hash of its content.
        revision_hash: String,
        @always {
            /// Name of the revision object.
            name: String,
            /// Its number.
            revision: i64,
        }
    }
}

/// Text at `/a/b`, empty if there is none: names of fields, which need no escapes.
pub fn text<'a>(object: &'a Value, path: &str) -> &'a str {
    let mut fields = path.split('/').skip(1);
    let found = fields.try_fold(object, |it, field| it.get(field));
    found.and_then(Value::as_str).unwrap_or_default()
}

/// `metadata.name`.
pub fn name(object: &Value) -> &str {
    text(object, "/metadata/name")
}

/// `metadata.namespace`.
pub fn namespace(object: &Value) -> &str {
    text(object, "/metadata/namespace")
}

/// A label's value.
pub fn label<'a>(object: &'a Value, key: &str) -> Option<&'a str> {
    object.get("metadata")?.get("labels")?.get(key)?.as_str()
}

/// An annotation's value.
pub fn annotation<'a>(object: &'a Value, key: &str) -> Option<&'a str> {
    object.get("metadata")?.get("annotations")?.get(key)?.as_str()
}

/// The struct at a chain of keys, made where it is missing or no struct.
pub fn map_mut<'a>(object: &'a mut Value, keys: &[&str]) -> &'a mut Map<String, Value> {
    let mut at = object;
    for key in keys {
        at = into_map(at).entry(*key).or_insert_with(|| Value::Object(Map::new()));
    }
    into_map(at)
}

fn into_map(value: &mut Value) -> &mut Map<String, Value> {
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    match value {
        Value::Object(map) => map,
        _ => unreachable!("was just made one"),
    }
}

/// Set a label.
pub fn set_label(object: &mut Value, key: &str, value: &str) {
    set_labels(object, [(key, value)]);
}

/// Set several labels, in their order.
pub fn set_labels<'a>(object: &mut Value, all: impl IntoIterator<Item = (&'a str, &'a str)>) {
    let all = all.into_iter().map(|(key, value)| (key.into(), value.into()));
    map_mut(object, &["metadata", "labels"]).extend(all);
}

/// Set an annotation.
pub fn set_annotation(object: &mut Value, key: &str, value: &str) {
    map_mut(object, &["metadata", "annotations"]).insert(key.into(), value.into());
}

/// Set `metadata.name`.
pub fn set_name(object: &mut Value, name: &str) {
    map_mut(object, &["metadata"]).insert("name".into(), name.into());
}

/// Set `metadata.namespace`.
pub fn set_namespace(object: &mut Value, namespace: &str) {
    map_mut(object, &["metadata"]).insert("namespace".into(), namespace.into());
}

/// Numbers without a fraction become integers, as Kubernetes' clients write them: CUE's `2 * 1.5` is
/// `3.0`, which no integer field of an API takes.
pub fn whole_numbers(value: &mut Value) {
    // Beyond it not every integer is a float.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match value {
        Value::Number(number) if number.is_f64() => {
            let whole = number.as_f64().filter(|it| it.fract() == 0.0 && it.abs() <= EXACT);
            if let Some(whole) = whole {
                *value = Value::from(whole as i64);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(whole_numbers),
        Value::Object(map) => map.values_mut().for_each(whole_numbers),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_without_a_fraction_are_integers() {
        let mut object: Value =
            serde_json::from_str(r#"{"a": [1000.0, 1.5, -0.0, 3, 1e21, 9007199254740993]}"#)
                .expect("reads");
        whole_numbers(&mut object);
        assert_eq!(object.to_string(), r#"{"a":[1000,1.5,0,3,1e+21,9007199254740993]}"#);
    }

    #[test]
    fn the_unknown_survives_and_null_is_absence() {
        let text = r#"{"name":"a","labels":null,"managedFields":[{"x":1}]}"#;
        let meta: ObjectMeta = serde_json::from_str(text).expect("reads");
        assert!(meta.labels.is_empty());
        assert_eq!(
            serde_json::to_string(&meta).expect("writes"),
            r#"{"name":"a","managedFields":[{"x":1}]}"#
        );
    }
}
