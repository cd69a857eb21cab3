//! Values laid over values, and which subcharts they switch on.

use serde_json::{Map, Value, json};

/// Lays `over` over `under`: members of dicts by their names, `null` takes one away, everything else wins.
pub(crate) fn lay(under: &mut Value, over: &Value) {
    match (under, over) {
        (Value::Object(under), Value::Object(over)) => {
            for (key, value) in over {
                if value.is_null() {
                    under.shift_remove(key);
                    continue;
                }
                match under.get_mut(key) {
                    Some(own @ Value::Object(_)) if value.is_object() => lay(own, value),
                    Some(own) => *own = value.clone(),
                    None => {
                        under.insert(key.clone(), without_nulls(value));
                    }
                }
            }
        }
        (under, over) => *under = over.clone(),
    }
}

/// What takes away has nothing to take here.
fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let kept = map.iter().filter(|it| !it.1.is_null());
            Value::Object(kept.map(|(key, it)| (key.clone(), without_nulls(it))).collect())
        }
        other => other.clone(),
    }
}

/// A value at a dotted path.
pub(crate) fn at<'a>(values: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').filter(|it| !it.is_empty()).try_fold(values, |at, part| at.get(part))
}

/// What a subchart gets of its parent's values: its own part, with `global` over it.
pub(crate) fn of_subchart(values: &Value, name: &str) -> Value {
    let mut own = match values.get(name) {
        Some(own @ Value::Object(_)) => own.clone(),
        _ => json!({}),
    };
    let global = values.get("global").cloned().unwrap_or_else(|| json!({}));
    if let (Value::Object(own), Value::Object(global)) = (&mut own, &global) {
        let mut merged = own.get("global").cloned().unwrap_or_else(|| json!({}));
        lay(&mut merged, &Value::Object(global.clone()));
        own.insert("global".into(), merged);
    }
    own
}

/// Whether a dependency is on: the first of its conditions that is there says so, or else its tags.
pub(crate) fn is_on(dependency: &Value, values: &Value) -> bool {
    let condition = dependency["condition"].as_str().unwrap_or_default();
    let said = condition.split(',').find_map(|path| at(values, path.trim())?.as_bool());
    if let Some(said) = said {
        return said;
    }
    let tags = dependency["tags"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let said: Vec<bool> = tags.filter_map(|tag| values.get("tags")?.get(tag)?.as_bool()).collect();
    said.is_empty() || said.contains(&true)
}

/// Takes over what `import-values` names from a subchart's values.
pub(crate) fn import(dependency: &Value, subchart: &Value, parent: &mut Value) {
    for import in dependency["import-values"].as_array().into_iter().flatten() {
        let (from, to) = match import {
            Value::String(name) => (format!("exports.{name}"), String::new()),
            other => (
                other["child"].as_str().unwrap_or_default().to_owned(),
                other["parent"].as_str().unwrap_or_default().to_owned(),
            ),
        };
        let Some(found) = at(subchart, &from).filter(|it| it.is_object()) else { continue };
        let mut whole = found.clone();
        for part in to.rsplit('.').filter(|it| !it.is_empty() && *it != "parent") {
            whole = json!({ part: whole });
        }
        // What the parent says itself wins.
        lay(&mut whole, &std::mem::take(parent));
        *parent = whole;
    }
}

/// `a.b=c` and the like are not read here: values are data.
pub(crate) fn empty() -> Value {
    Value::Object(Map::new())
}
