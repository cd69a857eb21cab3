//! JSON patch (RFC 6902) and JSON merge patch (RFC 7386) over data.

use json_patch::PatchOperation;
use serde_json::Value;

use crate::Error;
use crate::tree::Tree;

pub(crate) fn json_patch(base: &Tree, patch: &Tree) -> Result<Tree, Error> {
    let Some(operations) = patch.at("operations") else {
        return Err(Error::NotData("field not found: operations".into()));
    };
    let operations = data(operations)?;
    let mut value = data(base)?;
    for operation in operations.as_array().into_iter().flatten() {
        let parsed: PatchOperation =
            serde_json::from_value(operation.clone()).map_err(|error| {
                match operation["op"].as_str() {
                    Some(op) if !KNOWN.contains(&op) => {
                        Error::Operation(format!("Unexpected kind: {op}"))
                    }
                    _ => Error::Operation(error.to_string()),
                }
            })?;
        json_patch::patch(&mut value, &[parsed])
            .map_err(|error| Error::Operation(explain(operation, &error)))?;
    }
    Ok(Tree::from_json(&value))
}

const KNOWN: [&str; 6] = ["add", "remove", "replace", "move", "copy", "test"];

/// KubeVela's words for the failures that have fixed ones there.
fn explain(operation: &Value, error: &json_patch::PatchError) -> String {
    let op = operation["op"].as_str().unwrap_or_default();
    let path = operation["path"].as_str().unwrap_or_default();
    let last = path.rsplit('/').next().unwrap_or_default();
    if last.parse::<u64>().is_ok() {
        return format!(
            "error in {op} for path: '{path}': Unable to access invalid index: {last}: invalid index referenced"
        );
    }
    format!("error in {op} for path: '{path}': {}", error.kind)
}

pub(crate) fn merge_patch(base: &Tree, patch: &Tree) -> Result<Tree, Error> {
    let mut value = data(base)?;
    json_patch::merge(&mut value, &data(patch)?);
    Ok(Tree::from_json(&value))
}

fn data(tree: &Tree) -> Result<Value, Error> {
    tree.to_json().map_err(|(path, text)| {
        let path = path.join(".");
        let colon = if path.is_empty() { "" } else { ": " };
        Error::NotData(format!("{path}{colon}cannot convert incomplete value \"{text}\" to JSON"))
    })
}
