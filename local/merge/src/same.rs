//! When two values, or two states of an object, are the same.

use serde_json::{Map, Value};

use crate::fieldset::Atom;

/// Equality where 1 and 1.0 are the same.
#[must_use]
pub fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(_), Value::Number(_)) => Atom(a.clone()) == Atom(b.clone()),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && paired(a, b).all(|(a, b)| b.is_some_and(|b| equal(a, b)))
        }
        _ => a == b,
    }
}

/// The fields of one map with those of the other; most often both have them in the same order.
pub(crate) fn paired<'v>(
    a: &'v Map<String, Value>,
    b: &'v Map<String, Value>,
) -> impl Iterator<Item = (&'v Value, Option<&'v Value>)> {
    let mut beside = b.iter();
    a.iter().map(move |(key, value)| match beside.next() {
        Some((same, other)) if same == key => (value, Some(other)),
        _ => (value, b.get(key)),
    })
}

/// Whether two states differ in nothing but the times of managedFields.
#[must_use]
pub fn same_but_times(a: &Value, b: &Value) -> bool {
    if !same_but_managed(a, b, &identical) {
        return false;
    }
    let (a, b) = (managed(a), managed(b));
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_entry(a, b))
}

pub(crate) fn managed(object: &Value) -> &[Value] {
    let all = object.pointer("/metadata/managedFields").and_then(Value::as_array);
    all.map(Vec::as_slice).unwrap_or_default()
}

pub(crate) fn same_but_managed(
    a: &Value,
    b: &Value,
    same: &dyn Fn(&Value, &Value) -> bool,
) -> bool {
    let (Value::Object(a), Value::Object(b)) = (a, b) else { return same(a, b) };
    let without =
        |all: &Map<String, Value>, key: &str| all.len() - usize::from(all.contains_key(key));
    let fields = |a: &Map<String, Value>, b: &Map<String, Value>| {
        without(a, "managedFields") == without(b, "managedFields")
            && a.iter()
                .filter(|(key, _)| *key != "managedFields")
                .all(|(key, one)| b.get(key).is_some_and(|other| same(one, other)))
    };
    a.len() == b.len()
        && a.iter().all(|(key, one)| match (one, b.get(key)) {
            (Value::Object(one), Some(Value::Object(other))) if key == "metadata" => {
                fields(one, other)
            }
            (one, other) => other.is_some_and(|other| same(one, other)),
        })
}

pub(crate) fn same_entry(a: &Value, b: &Value) -> bool {
    let (Value::Object(a), Value::Object(b)) = (a, b) else { return a == b };
    let rest = |all: &Map<String, Value>| all.len() - usize::from(all.contains_key("time"));
    rest(a) == rest(b)
        && a.iter()
            .filter(|(key, _)| *key != "time")
            .all(|(key, one)| b.get(key).is_some_and(|other| identical(one, other)))
}

// Equality that does not look up what stands at the same place.
fn identical(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && paired(a, b).all(|(a, b)| b.is_some_and(|b| identical(a, b)))
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| identical(a, b))
        }
        _ => a == b,
    }
}
