//! JSON patch and merge patch with the quirks of the reference server.

use serde_json::{Map, Value};

use crate::Refused;
use crate::same::equal;

/// Most operations of one JSON patch.
const MOST_OPERATIONS: usize = 10_000;

/// Applies a JSON patch.
///
/// # Errors
/// 400 if it is no list, 413 if it is too long, the generic 422 if an operation fails.
pub fn json_patch(live: &Value, patch: &Value) -> Result<Value, Refused> {
    let Value::Array(operations) = patch else {
        return Err(Refused::new(
            400,
            "json: cannot unmarshal object into Go value of type jsonpatch.Patch",
        ));
    };
    if operations.len() > MOST_OPERATIONS {
        return Err(Refused::new(
            413,
            format!(
                "The allowed maximum operations in a JSON patch is {MOST_OPERATIONS}, got {}",
                operations.len()
            ),
        ));
    }
    let mut value = live.clone();
    for operation in operations {
        operate(&mut value, operation).ok_or_else(Refused::generic)?;
    }
    Ok(value)
}

// None: the operation failed.
fn operate(root: &mut Value, operation: &Value) -> Option<()> {
    let path = tokens(operation.get("path")?.as_str()?)?;
    match operation.get("op")?.as_str()? {
        "add" => add(root, &path, operation.get("value")?.clone()),
        "remove" => remove(root, &path).map(|_| ()),
        "replace" => {
            let value = operation.get("value")?.clone();
            let Some((last, parent)) = path.split_last() else {
                *root = value;
                return Some(());
            };
            match walk_mut(root, parent)? {
                Value::Object(fields) => {
                    fields.insert(last.clone(), value);
                }
                Value::Array(items) => {
                    let at = index(last, items.len())?;
                    *items.get_mut(at)? = value;
                }
                _ => return None,
            }
            Some(())
        }
        "move" => {
            let value = remove(root, &tokens(operation.get("from")?.as_str()?)?)?;
            add(root, &path, value)
        }
        "copy" => {
            let value = walk(root, &tokens(operation.get("from")?.as_str()?)?)?.clone();
            add(root, &path, value)
        }
        "test" => {
            let wanted = operation.get("value").unwrap_or(&Value::Null);
            let found = match walk(root, &path) {
                Some(found) => found,
                None if wanted.is_null()
                    && path
                        .split_last()
                        .is_some_and(|(_, parent)| walk(root, parent).is_some()) =>
                {
                    &Value::Null
                }
                None => return None,
            };
            equal(found, wanted).then_some(())
        }
        _ => None,
    }
}

fn tokens(path: &str) -> Option<Vec<String>> {
    if path.is_empty() {
        return Some(Vec::new());
    }
    Some(
        path.strip_prefix('/')?
            .split('/')
            .map(|it| it.replace("~1", "/").replace("~0", "~"))
            .collect(),
    )
}

// Negative indices count from the end.
fn index(token: &str, length: usize) -> Option<usize> {
    let at: i64 = token.parse().ok()?;
    let at = if at < 0 { at + i64::try_from(length).ok()? } else { at };
    usize::try_from(at).ok().filter(|at| *at < length)
}

fn walk<'a>(mut value: &'a Value, path: &[String]) -> Option<&'a Value> {
    for token in path {
        value = match value {
            Value::Object(fields) => fields.get(token)?,
            Value::Array(items) => items.get(index(token, items.len())?)?,
            _ => return None,
        };
    }
    Some(value)
}

fn walk_mut<'a>(mut value: &'a mut Value, path: &[String]) -> Option<&'a mut Value> {
    for token in path {
        value = match value {
            Value::Object(fields) => fields.get_mut(token)?,
            Value::Array(items) => {
                let at = index(token, items.len())?;
                items.get_mut(at)?
            }
            _ => return None,
        };
    }
    Some(value)
}

fn add(root: &mut Value, path: &[String], value: Value) -> Option<()> {
    let (last, parent) = path.split_last()?;
    match walk_mut(root, parent)? {
        Value::Object(fields) => {
            fields.insert(last.clone(), value);
        }
        Value::Array(items) if last == "-" => items.push(value),
        Value::Array(items) => {
            let at = index(last, items.len() + 1)?;
            items.insert(at, value);
        }
        _ => return None,
    }
    Some(())
}

fn remove(root: &mut Value, path: &[String]) -> Option<Value> {
    let (last, parent) = path.split_last()?;
    match walk_mut(root, parent)? {
        Value::Object(fields) => fields.shift_remove(last),
        Value::Array(items) => {
            let at = index(last, items.len())?;
            Some(items.remove(at))
        }
        _ => None,
    }
}

/// Applies a merge patch.
///
/// # Errors
/// 400 if it is no object.
pub fn merge_patch(live: &Value, patch: &Value) -> Result<Value, Refused> {
    if !patch.is_object() {
        let what = match patch {
            Value::Array(_) => "array",
            Value::String(_) => "string",
            Value::Number(_) => "number",
            Value::Bool(_) => "bool",
            Value::Null | Value::Object(_) => "null",
        };
        return Err(Refused::new(
            400,
            format!(
                "error decoding patch: json: cannot unmarshal {what} into Go value of type map[string]interface {{}}"
            ),
        ));
    }
    Ok(merged(live, patch))
}

fn merged(live: &Value, patch: &Value) -> Value {
    match (live, patch) {
        (Value::Object(live), Value::Object(patch)) => {
            let mut out = live.clone();
            for (key, value) in patch {
                match (value, live.get(key)) {
                    (Value::Null, _) => {
                        out.shift_remove(key);
                    }
                    (Value::Object(_), Some(there @ Value::Object(_))) => {
                        out.insert(key.clone(), merged(there, value));
                    }
                    (Value::Array(_), Some(Value::Object(_))) => {
                        out.insert(key.clone(), value.clone());
                    }
                    _ => {
                        out.insert(key.clone(), without_nulls(value));
                    }
                }
            }
            Value::Object(out)
        }
        _ => without_nulls(patch),
    }
}

/// Without null members, also below lists; null elements of lists stay.
pub(crate) fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let kept: Map<String, Value> = fields
                .iter()
                .filter(|(_, it)| !it.is_null())
                .map(|(key, it)| (key.clone(), without_nulls(it)))
                .collect();
            Value::Object(kept)
        }
        Value::Array(items) => Value::Array(items.iter().map(without_nulls).collect()),
        scalar => scalar.clone(),
    }
}
