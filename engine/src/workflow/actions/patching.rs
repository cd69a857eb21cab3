//! Laying patches over objects with the strategies in their comments, and what then differs.

use serde_json::{Map, Value, json};

use super::{Acting, Asked, Done, Trouble};

/// `base` with the action's `patch`, read where it stands in the template: its comments count.
pub(super) fn lay_over(
    asked: &Asked<'_>,
    with: &mut Acting<'_>,
    base: &Value,
) -> Result<Value, Trouble> {
    match with.session.patch(&asked.path_of("patch"), base) {
        Ok(Some(patched)) => Ok(patched),
        Ok(None) => Ok(base.clone()),
        Err(error) => Err(error.to_string()),
    }
}

/// `#PatchK8sObject`: the cluster is not touched.
pub(super) fn patch_object(asked: &Asked<'_>, with: &mut Acting<'_>) -> Done {
    match lay_over(asked, with, &asked.params["value"]) {
        Ok(result) => Done::Returns(json!({"result": result})),
        Err(err) => Done::Returns(json!({"err": err})),
    }
}

/// The merge patch (RFC 7386) that makes `from` into `to`; nothing if they are the same.
pub(super) fn difference(from: &Value, to: &Value) -> Option<Value> {
    match (from, to) {
        (Value::Object(from), Value::Object(to)) => {
            let mut all = Map::new();
            for (key, value) in to {
                match from.get(key) {
                    Some(old) => all.extend(difference(old, value).map(|it| (key.clone(), it))),
                    None => {
                        all.insert(key.clone(), value.clone());
                    }
                }
            }
            for key in from.keys().filter(|key| !to.contains_key(*key)) {
                all.insert(key.clone(), Value::Null);
            }
            (!all.is_empty()).then_some(Value::Object(all))
        }
        (from, to) if from == to => None,
        (_, to) => Some(to.clone()),
    }
}
