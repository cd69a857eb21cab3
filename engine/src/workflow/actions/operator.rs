//! A step that an operator carries out: its template only names an object. It is applied with the
//! context of the workflow, and its condition says when it is done (W-12, W-25, W-91 to W-94).

use serde_json::{Map, Value, json};

use super::object::{agreeing, at_home};
use super::{Acting, Done, Host, Trouble, explain};
use crate::api::object::set_annotation;

/// The context of the workflow, as JSON (W-91, W-92).
const CONTEXT: &str = "app.oam.dev/workflow-context";
/// Type of the condition that reports progress (W-93).
const PROGRESS: &str = "workflow-progress";

/// The object that a template gives as `output`, if it is one of Kubernetes.
pub(in crate::workflow) fn object_of(output: Option<Value>) -> Option<Value> {
    output.filter(|it| {
        ["apiVersion", "kind"].iter().all(|key| it[*key].as_str().is_some_and(|it| !it.is_empty()))
    })
}

/// Applies the object and looks how far its operator is; `Returns` holds what is live.
pub(in crate::workflow) async fn carry_out(
    given: Value,
    with: &mut Acting<'_>,
) -> Result<Done, Trouble> {
    let mut object = given.clone();
    at_home(&mut object, "", with).await?;
    let context = json!({"components": components(with.host).await, "vars": with.variables.all()});
    set_annotation(&mut object, CONTEXT, &context.to_string());
    let live = with.host.dispatch(vec![object], "").await.map_err(explain)?;
    let live = live.into_iter().next().unwrap_or_default();
    Ok(match progress(&live) {
        Progress::Succeeded => Done::Returns(agreeing(&given, live)),
        Progress::Failed(message) => Done::Fail(message),
        Progress::Waiting(message) => Done::Wait(message),
    })
}

/// Manifests of the components by name; one that cannot be rendered yet is left out.
async fn components(host: &dyn Host) -> Value {
    let mut all = Map::new();
    for (name, component) in host.components() {
        if let Ok(rendered) = host.render_component(&component, "", "").await {
            all.insert(name, rendered.output);
        }
    }
    Value::Object(all)
}

#[derive(Debug, PartialEq)]
enum Progress {
    Succeeded,
    Failed(String),
    Waiting(String),
}

/// What the condition says; of an older generation it says nothing (W-94).
fn progress(live: &Value) -> Progress {
    let what = format!(
        "{} {}",
        live["kind"].as_str().unwrap_or_default(),
        live["metadata"]["name"].as_str().unwrap_or_default()
    );
    let status = &live["status"];
    let seen = status["observedGeneration"].as_i64();
    let conditions = status["conditions"].as_array().map_or(&[][..], Vec::as_slice);
    let Some(condition) = conditions.iter().find(|it| it["type"] == PROGRESS) else {
        return Progress::Waiting(format!("{what} has no condition {PROGRESS} yet"));
    };
    if seen != live["metadata"]["generation"].as_i64() {
        return Progress::Waiting(format!("{what} has not been looked at since it changed"));
    }
    let text = |key: &str| condition[key].as_str().unwrap_or_default();
    let said = match text("message") {
        "" => text("reason"),
        message => message,
    };
    match (text("status"), text("reason")) {
        ("True", "Succeeded") => Progress::Succeeded,
        ("False", "Failed") => Progress::Failed(format!("{what}: {said}")),
        _ => Progress::Waiting(format!("{what}: {said}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_success_of_this_generation_counts() {
        let told = |status: Value| {
            progress(
                &json!({"kind": "Job", "metadata": {"name": "j", "generation": 5}, "status": status}),
            )
        };
        let condition = |status: &str, reason: &str| json!([{"type": "Ready"}, {"type": PROGRESS, "status": status, "reason": reason, "message": "m"}]);
        let waiting = |it: &str| Progress::Waiting(it.into());
        for (status, want) in [
            (
                json!({"observedGeneration": 5, "conditions": condition("True", "Succeeded")}),
                Progress::Succeeded,
            ),
            (
                json!({"observedGeneration": 4, "conditions": condition("True", "Succeeded")}),
                waiting("Job j has not been looked at since it changed"),
            ),
            (
                json!({"observedGeneration": 5, "conditions": condition("False", "Running")}),
                waiting("Job j: m"),
            ),
            (
                json!({"observedGeneration": 5, "conditions": condition("False", "Failed")}),
                Progress::Failed("Job j: m".into()),
            ),
            (json!({}), waiting("Job j has no condition workflow-progress yet")),
        ] {
            assert_eq!(told(status.clone()), want, "{status}");
        }
    }
}
