//! JSON patch (RFC 6902) and JSON merge patch (RFC 7386) over data.

use json_patch::jsonptr::PointerBuf;
use json_patch::{
    AddOperation, CopyOperation, MoveOperation, PatchOperation, RemoveOperation, ReplaceOperation,
    TestOperation,
};
use serde_json::Value;

use crate::Error;
use crate::tree::{Field, Tree};

pub(crate) fn json_patch(base: &Tree, patch: &Tree) -> Result<Tree, Error> {
    let Some(operations) = patch.at("operations") else {
        return Err(Error::NotData("field not found: operations".into()));
    };
    let operations = data(operations)?;
    let mut value = data(base)?;
    for operation in operations.as_array().into_iter().flatten() {
        let parsed = parsed(operation)?;
        json_patch::patch(&mut value, &[parsed])
            .map_err(|error| Error::Operation(explain(operation, &error)))?;
        for key in ["path", "from"] {
            sort_along(&mut value, operation[key].as_str().unwrap_or_default());
        }
    }
    Ok(Tree::from_json(&value))
}

/// By hand: what serde makes of it is 30 KB of the guest.
fn parsed(operation: &Value) -> Result<PatchOperation, Error> {
    let missing = |key: &str| Error::Operation(format!("missing field `{key}`"));
    let pointer = |key: &str| {
        let text = operation[key].as_str().ok_or_else(|| missing(key))?;
        PointerBuf::parse(text)
            .map_err(|error| Error::Operation(format!("{key} {text:?}: {error}")))
    };
    let value = || operation.get("value").cloned().ok_or_else(|| missing("value"));
    let op = operation["op"].as_str().ok_or_else(|| missing("op"))?;
    let path = pointer("path");
    Ok(match op {
        "add" => PatchOperation::Add(AddOperation { path: path?, value: value()? }),
        "remove" => PatchOperation::Remove(RemoveOperation { path: path? }),
        "replace" => PatchOperation::Replace(ReplaceOperation { path: path?, value: value()? }),
        "move" => PatchOperation::Move(MoveOperation { from: pointer("from")?, path: path? }),
        "copy" => PatchOperation::Copy(CopyOperation { from: pointer("from")?, path: path? }),
        "test" => PatchOperation::Test(TestOperation { path: path?, value: value()? }),
        _ => return Err(Error::Operation(format!("Unexpected kind: {op}"))),
    })
}

/// KubeVela's words for the failures that have fixed ones there.
fn explain(operation: &Value, error: &json_patch::PatchError) -> String {
    let op = operation["op"].as_str().unwrap_or_default();
    let path = operation["path"].as_str().unwrap_or_default();
    let last = path.rsplit('/').next().unwrap_or_default();
    if matches!(error.kind, json_patch::PatchErrorKind::TestFailed) {
        return format!("testing value {path} failed: test failed");
    }
    if last.parse::<u64>().is_ok() {
        return format!(
            "error in {op} for path: '{path}': Unable to access invalid index: {last}: invalid index referenced"
        );
    }
    if op == "remove" {
        return format!(
            "error in remove for path: '{path}': Unable to remove nonexistent key: {last}: missing value"
        );
    }
    format!("error in {op} for path: '{path}': {}", error.kind)
}

pub(crate) fn merge_patch(mut base: Tree, mut patch: Tree) -> Result<Tree, Error> {
    for side in [&mut base, &mut patch] {
        side.strip().map_err(not_data)?;
    }
    merge(&mut base, patch);
    Ok(base)
}

/// RFC 7386; structs that are touched are sorted by name, the others stay as they are.
fn merge(target: &mut Tree, patch: Tree) {
    let Tree::Struct(changes) = patch else {
        *target = patch;
        target.sort();
        return;
    };
    if !matches!(target, Tree::Struct(_)) {
        *target = Tree::Struct(Vec::new());
    }
    let Tree::Struct(fields) = target else { return };
    for Field { label, value, .. } in changes {
        let at = fields.iter().position(|it| it.label == label);
        match (at, value) {
            (Some(at), Tree::Null) => {
                fields.remove(at);
            }
            (None, Tree::Null) => {}
            (Some(at), change) => merge(&mut fields[at].value, change),
            (None, change) => {
                let mut value = Tree::Null;
                merge(&mut value, change);
                fields.push(Field::new(label, value));
            }
        }
    }
    cue_sort::by(fields, |one, other| one.label.cmp(&other.label));
}

/// Structs on the way to what an operation touches are sorted by name.
fn sort_along(value: &mut Value, pointer: &str) {
    let mut at = value;
    for part in pointer.split('/').skip(1) {
        let part = part.replace("~1", "/").replace("~0", "~");
        let next = match at {
            Value::Object(map) => {
                map.sort_keys();
                map.get_mut(&part)
            }
            Value::Array(items) => part.parse::<usize>().ok().and_then(|it| items.get_mut(it)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
        };
        let Some(next) = next else { return };
        at = next;
    }
}

fn data(tree: &Tree) -> Result<Value, Error> {
    tree.to_json().map_err(not_data)
}

fn not_data((path, text): (Vec<String>, String)) -> Error {
    let path = path.join(".");
    let colon = if path.is_empty() { "" } else { ": " };
    Error::NotData(format!("{path}{colon}cannot convert incomplete value \"{text}\" to JSON"))
}
