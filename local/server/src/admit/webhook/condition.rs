//! Conditions in CEL over a request: `object`, `oldObject`, `request`.

use std::collections::HashMap;
use std::sync::Arc;

use kube_cel::KubeCelExt;
use kube_cel::cel::objects::{Key, Map};
use kube_cel::cel::{Context, Program, Value as Cel};
use serde_json::Value;

/// Whether all conditions hold. One that is false decides, even if others cannot be answered.
pub(super) fn all_hold(
    conditions: &[Value],
    object: &Value,
    old: &Value,
    request: &Value,
) -> Result<bool, String> {
    let mut context = Context::default().with_all();
    for (name, value) in [("object", object), ("oldObject", old), ("request", request)] {
        context.add_variable_from_value(name, cel(value));
    }
    let mut broken = None;
    for condition in conditions {
        let expression = condition["expression"].as_str().unwrap_or_default();
        let why = match Program::compile(expression).map(|program| program.execute(&context)) {
            Ok(Ok(Cel::Bool(true))) => continue,
            Ok(Ok(Cel::Bool(false))) => return Ok(false),
            Ok(Ok(_)) => "it is neither true nor false".to_owned(),
            Ok(Err(error)) => said(&error.to_string()),
            Err(error) => error.to_string(),
        };
        broken.get_or_insert(format!("expression '{expression}' resulted in error: {why}"));
    }
    broken.map_or(Ok(true), Err)
}

// As the reference's library says it.
fn said(why: &str) -> String {
    why.strip_prefix("No such key").map_or(why.to_owned(), |rest| format!("no such key{rest}"))
}

// Whole numbers are ints, as in Kubernetes; serde would make them unsigned.
pub(super) fn cel(value: &Value) -> Cel {
    match value {
        Value::Null => Cel::Null,
        Value::Bool(it) => Cel::Bool(*it),
        Value::Number(it) => {
            it.as_i64().map_or_else(|| Cel::Float(it.as_f64().unwrap_or_default()), Cel::Int)
        }
        Value::String(it) => Cel::String(Arc::new(it.clone())),
        Value::Array(all) => Cel::List(Arc::new(all.iter().map(cel).collect())),
        Value::Object(fields) => {
            let map: HashMap<Key, Cel> = fields
                .iter()
                .map(|(key, value)| (Key::String(Arc::new(key.clone())), cel(value)))
                .collect();
            Cel::Map(Map { map: Arc::new(map) })
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::all_hold;

    #[test]
    fn a_false_condition_decides() {
        let object = json!({"spec": {"replicas": 3}, "metadata": {"name": "a"}});
        let request = json!({"userInfo": {"username": "eva"}});
        for (expressions, wanted) in [
            (vec!["object.spec.replicas > 2"], Some(true)),
            (vec!["object.spec.replicas > 2", "request.userInfo.username == 'eva'"], Some(true)),
            (vec!["object.spec.missing", "object.spec.replicas > 5"], Some(false)),
            (vec!["object.spec.missing"], None),
            (vec!["object.metadata.name"], None),
            (vec!["object."], None),
            (vec!["oldObject == null"], Some(true)),
        ] {
            let conditions: Vec<_> =
                expressions.iter().map(|it| json!({"name": "c", "expression": it})).collect();
            let held = all_hold(&conditions, &object, &json!(null), &request);
            assert_eq!(held.ok(), wanted, "{expressions:?}");
        }
    }
}
