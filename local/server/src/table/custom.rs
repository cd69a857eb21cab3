//! The cells of custom resources: JSONPath, the part of it that columns use.

use serde_json::{Value, json};

use super::format::{age, time};

pub(super) fn custom_cell(column: &Value, object: &Value) -> Value {
    let found = json_path(object, column["jsonPath"].as_str().unwrap_or_default());
    let Some(found) = found else { return Value::Null };
    match column["type"].as_str() {
        Some("integer") => found.as_i64().map_or(Value::Null, |number| json!(number)),
        Some("number") => {
            if found.is_number() {
                found
            } else {
                Value::Null
            }
        }
        Some("boolean") => {
            if found.is_boolean() {
                found
            } else {
                Value::Null
            }
        }
        Some("date") => match (&found, time(&found)) {
            (_, Some(_)) => age(&found),
            (Value::Null, _) => Value::Null,
            _ => json!("<invalid>"),
        },
        _ => match found {
            Value::Null => Value::Null,
            Value::String(text) => json!(text),
            other => json!(other.to_string()),
        },
    }
}

/// The first match of kubectl's JSONPath subset.
fn json_path(object: &Value, path: &str) -> Option<Value> {
    let mut found: Vec<&Value> = vec![object];
    let mut rest = path;
    while !rest.is_empty() {
        if let Some(inner) = rest.strip_prefix('[') {
            let end = inner.find(']')?;
            let step = inner.get(..end)?;
            rest = inner.get(end + 1..)?;
            found = if step == "*" {
                found.into_iter().flat_map(|one| one.as_array().into_iter().flatten()).collect()
            } else if let Some(test) =
                step.strip_prefix("?(@.").and_then(|test| test.strip_suffix(')'))
            {
                let (field, wanted, equal) = match test.split_once("==") {
                    Some((field, wanted)) => (field, wanted, true),
                    None => test.split_once("!=").map(|(field, wanted)| (field, wanted, false))?,
                };
                let wanted = wanted.trim().trim_matches(['"', '\'']);
                let holds = |one: &&Value| (one[field.trim()].as_str() == Some(wanted)) == equal;
                found
                    .into_iter()
                    .flat_map(|one| one.as_array().into_iter().flatten())
                    .filter(holds)
                    .collect()
            } else if let Ok(index) = step.parse::<usize>() {
                found.into_iter().filter_map(|one| one.get(index)).collect()
            } else {
                let key = step.trim_matches(['"', '\'']);
                found.into_iter().filter_map(|one| one.get(key)).collect()
            };
            continue;
        }
        rest = rest.trim_start_matches('.');
        let mut key = String::new();
        let mut characters = rest.char_indices();
        let mut end = rest.len();
        while let Some((at, c)) = characters.next() {
            match c {
                '\\' => {
                    if let Some((_, next)) = characters.next() {
                        key.push(next);
                    }
                }
                '.' | '[' => {
                    end = at;
                    break;
                }
                other => key.push(other),
            }
        }
        rest = rest.get(end..)?;
        found = found.into_iter().filter_map(|one| one.get(&key)).collect();
    }
    found.into_iter().next().cloned()
}
