//! Reading recorded cases, comparing and counting.

use std::fs;
use std::path::Path;

use lateen_engine::api::Definition;
use lateen_engine::render::Definitions;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::score::Scores;

/// Counts under one name.
pub(super) struct Score<'a> {
    pub(super) name: &'a str,
    pub(super) scores: &'a mut Scores,
}

impl Score<'_> {
    pub(super) fn count(&mut self, id: &str, want: &Value, got: &Value) {
        self.scores
            .check(self.name, id, same(want, got), || format!("\n  want {want}\n  got  {got}"));
    }
}

/// Key order and `3` against `3.0` do not matter.
pub(super) fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter().all(|(key, value)| b.get(key).is_some_and(|other| same(value, other)))
        }
        _ => a == b,
    }
}

/// `required` and `enum` are sets: order and repetition mean nothing.
pub(super) fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(map) => map
            .iter()
            .map(|(key, value)| {
                let mut value = sorted(value);
                if let (Value::Array(all), true) = (&mut value, key == "required" || key == "enum")
                {
                    all.sort_by_key(Value::to_string);
                    all.dedup();
                }
                (key.clone(), value)
            })
            .collect::<Map<String, Value>>()
            .into(),
        Value::Array(all) => all.iter().map(sorted).collect::<Vec<_>>().into(),
        other => other.clone(),
    }
}

pub(super) fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).expect("cases are there");
    text.lines()
        .filter(|it| !it.is_empty())
        .map(|it| serde_json::from_str(it).expect("a case"))
        .collect()
}

pub(super) fn from<T: DeserializeOwned>(value: &Value) -> T {
    serde_json::from_value(value.clone()).expect("a wire type")
}

pub(super) fn id(case: &Value) -> &str {
    case["id"].as_str().unwrap_or_default()
}

pub(super) fn definition(root: &Path, name: &str) -> Option<Definition> {
    let text =
        fs::read_to_string(root.join("definitions/objects").join(format!("{name}.json"))).ok()?;
    serde_json::from_str(&text).ok()
}

pub(super) fn definitions(root: &Path) -> Definitions {
    let mut set = Definitions::default();
    for entry in fs::read_dir(root.join("definitions/objects")).expect("definitions").flatten() {
        let text = fs::read_to_string(entry.path()).unwrap_or_default();
        if let Ok(it) = serde_json::from_str(&text) {
            set.insert(it);
        }
    }
    set
}
