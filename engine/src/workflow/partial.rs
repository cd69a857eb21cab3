//! What steps before rendering give: parts of an Application, laid over what is written (W-14, W-115, W-116).

use serde_json::{Map, Value, json};

use crate::api::ApplicationSpec;

/// Checks what a step gives as `application`, and takes its spec out of it: a whole Application, or a part.
///
/// # Errors
/// What is wrong with it, with its path.
pub fn spec_of(application: &Value) -> Result<Value, String> {
    let Some(given) = application.as_object() else {
        return Err("application: it is no Application".into());
    };
    let known = ["apiVersion", "kind", "metadata", "spec", "status"];
    if let Some(unknown) = given.keys().find(|it| !known.contains(&it.as_str())) {
        return Err(format!("application.{unknown}: an Application has no such field"));
    }
    if given.get("kind").is_some_and(|it| it != "Application") {
        return Err(format!("application.kind: it is {}, not Application", application["kind"]));
    }
    let spec = application.get("spec").cloned().unwrap_or_else(|| json!({}));
    let read: ApplicationSpec = serde_json::from_value(spec.clone())
        .map_err(|error| format!("application.spec: {error}"))?;
    if let Some(unknown) = read.rest.keys().next() {
        return Err(format!("application.spec.{unknown}: an Application has no such field"));
    }
    if let Some(index) = read.components.iter().position(|it| it.name.is_empty()) {
        return Err(format!("application.spec.components[{index}]: a component needs a name"));
    }
    Ok(spec)
}

/// Lays a part over a whole: components, policies and steps by their names, traits by their types,
/// everything else as a merge patch does.
///
/// # Errors
/// It is no part of an Application's spec.
pub fn lay(spec: &mut ApplicationSpec, part: &Value) -> Result<(), String> {
    let mut whole = serde_json::to_value(&*spec).unwrap_or_else(|_| json!({}));
    for (key, value) in part.as_object().into_iter().flatten() {
        let own = &mut whole[key.as_str()];
        match (key.as_str(), value) {
            ("components" | "policies", Value::Array(items)) => by(own, items, "name"),
            ("workflow", Value::Object(workflow)) => {
                let mut rest = workflow.clone();
                let steps = rest.shift_remove("steps");
                merge(own, &Value::Object(rest));
                if let Some(Value::Array(items)) = steps {
                    by(&mut own["steps"], &items, "name");
                }
            }
            (_, value) => merge(own, value),
        }
    }
    *spec = serde_json::from_value(whole).map_err(|error| error.to_string())?;
    Ok(())
}

/// Lays items over those with the same `key`; those without one, or with a new one, are added.
fn by(own: &mut Value, items: &[Value], key: &str) {
    if !own.is_array() {
        *own = json!([]);
    }
    let Some(all) = own.as_array_mut() else { return };
    for item in items {
        let named = item[key].as_str().filter(|it| !it.is_empty());
        match all.iter_mut().find(|it| named.is_some() && it[key].as_str() == named) {
            Some(same) => {
                let mut rest = item.clone();
                let traits = rest.as_object_mut().and_then(|it| it.shift_remove("traits"));
                merge(same, &rest);
                if let Some(Value::Array(traits)) = traits {
                    by(&mut same["traits"], &traits, "type");
                }
            }
            None => all.push(item.clone()),
        }
    }
}

fn merge(own: &mut Value, patch: &Value) {
    if own.is_null() {
        *own = Value::Object(Map::new());
    }
    json_patch::merge(own, patch);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn laid(part: Value) -> Value {
        let whole = json!({
            "components": [{
                "name": "web", "type": "webservice",
                "properties": {"image": "a", "env": [1]},
                "traits": [{"type": "scaler", "properties": {"replicas": 1}}],
            }],
            "workflow": {"steps": [{"name": "early", "type": "helm-template", "stage": "pre-render"}]},
        });
        let mut spec = serde_json::from_value(whole).unwrap();
        lay(&mut spec, &part).unwrap();
        serde_json::to_value(spec).unwrap()
    }

    #[test]
    fn components_policies_and_steps_are_found_by_name() {
        let got = laid(json!({
            "components": [
                {"name": "web", "properties": {"image": "b"}, "traits": [{"type": "scaler", "properties": {"replicas": 2}}, {"type": "labels"}]},
                {"name": "new", "type": "worker"},
            ],
            "policies": [{"name": "here", "type": "topology"}],
            "workflow": {"mode": {"steps": "DAG"}, "steps": [{"name": "then", "type": "deploy"}]},
        }));
        assert_eq!(
            got,
            json!({
                "components": [
                    {
                        "name": "web", "type": "webservice",
                        "properties": {"image": "b", "env": [1]},
                        "traits": [{"type": "scaler", "properties": {"replicas": 2}}, {"type": "labels"}],
                    },
                    {"name": "new", "type": "worker"},
                ],
                "policies": [{"name": "here", "type": "topology"}],
                "workflow": {
                    "mode": {"steps": "DAG"},
                    "steps": [
                        {"name": "early", "type": "helm-template", "stage": "pre-render"},
                        {"name": "then", "type": "deploy"},
                    ],
                },
            })
        );
    }

    #[test]
    fn what_is_no_application_is_named() {
        for (given, wanted) in [
            (json!([]), "application: it is no Application"),
            (json!({"components": []}), "application.components: an Application has no such field"),
            (json!({"kind": "Pod"}), "application.kind: it is \"Pod\", not Application"),
            (
                json!({"spec": {"parts": 1}}),
                "application.spec.parts: an Application has no such field",
            ),
            (
                json!({"spec": {"components": [{"type": "x"}]}}),
                "application.spec.components[0]: a component needs a name",
            ),
        ] {
            assert_eq!(spec_of(&given), Err(wanted.to_owned()));
        }
        assert!(spec_of(&json!({"spec": {"components": 5}})).is_err());
    }
}
