//! Conditions over a request: `object`, `oldObject`, `request`, `authorizer`.

use kube_cel::KubeCelExt;
use kube_cel::cel::{Context, Value as Cel};
use serde_json::Value;

use super::expression::{self, Literals, cel};
use super::{Request, Seen, authorizer};
use crate::plane::Plane;

/// What expressions about a request may name.
pub(super) fn context(
    plane: &Plane,
    request: &Request<'_>,
    seen: &Seen,
    about: &Value,
) -> Context<'static> {
    let mut context = of_objects(&seen.object, &seen.old, about);
    authorizer::add(&mut context, plane, request);
    context
}

fn of_objects(object: &Value, old: &Value, about: &Value) -> Context<'static> {
    let mut context = Context::default().with_all();
    for (name, value) in [("object", object), ("oldObject", old), ("request", about)] {
        context.add_variable_from_value(name, cel(value));
    }
    context
}

/// Whether all conditions hold. One that is false decides, even if others cannot be answered.
pub(super) fn all_hold(conditions: &[Value], context: &Context<'_>) -> Result<bool, String> {
    let mut broken = None;
    for condition in conditions {
        let expression = condition["expression"].as_str().unwrap_or_default();
        let why = match expression::run(expression, Literals::None, context) {
            Ok(Cel::Bool(true)) => continue,
            Ok(Cel::Bool(false)) => return Ok(false),
            Ok(_) => "it is neither true nor false".to_owned(),
            Err(why) => why,
        };
        broken.get_or_insert(format!("expression '{expression}' resulted in error: {why}"));
    }
    broken.map_or(Ok(true), Err)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{all_hold, of_objects};

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
            let held = all_hold(&conditions, &of_objects(&object, &json!(null), &request));
            assert_eq!(held.ok(), wanted, "{expressions:?}");
        }
    }
}
