//! One pass over all steps: the plan says which is next, this runs it.

use serde_json::{Map, Value, json};

use super::actions::Host;
use super::condition;
use super::plan::{Due, Plan, Trials, input};
use super::step::{self, Outcome, Setting};
use super::variables::{Variables, set_at};
use crate::api::workflow::{ExecuteMode, WorkflowStatus, WorkflowStep};

pub use super::plan::{Passed, State};

/// What a pass needs besides effects.
pub struct Round<'a> {
    /// Steps in order.
    pub steps: &'a [WorkflowStep],
    /// Both fields set.
    pub mode: &'a ExecuteMode,
    /// Template of a step type; an error if there is none.
    pub template: &'a (dyn Fn(&str) -> Result<String, String> + Send + Sync),
    /// What templates see as `context`, without the step's own fields.
    pub context: &'a Map<String, Value>,
    /// How often steps are tried.
    pub trials: Trials,
}

/// Makes one pass. `status` and `variables` are changed in place.
pub async fn round(
    round: &Round<'_>,
    setting: &Setting<'_>,
    status: &mut WorkflowStatus,
    variables: &mut Variables,
) -> Passed {
    let context = Value::Object(round.context.clone());
    let new_id = || setting.world.random_id();
    let judge = |text: &str, statuses: &Value, scope: &Value| {
        condition::evaluate(setting.runtime, text, statuses, scope, &context)
    };
    let mut plan = Plan::new(
        (round.steps, round.mode),
        round.trials,
        setting.world.now(),
        &new_id,
        &judge,
        round.context,
        status,
        variables,
    );
    if let Some(passed) = plan.begin() {
        return passed;
    }
    while let Some(due) = plan.next() {
        let outcome = execute(round, setting, &due, plan.variables).await;
        plan.record(&due, outcome);
    }
    plan.end()
}

async fn execute(
    round: &Round<'_>,
    setting: &Setting<'_>,
    due: &Due<'_>,
    variables: &mut Variables,
) -> Outcome {
    let it = due.step;
    let mut properties = it.properties.clone().unwrap_or_else(|| json!({}));
    let mut given = Vec::new();
    for input in &it.inputs {
        let value = self::input(variables, round.context, &input.from).unwrap_or_default();
        given.push((input.parameter_key.clone(), value));
    }
    if it.r#type == "apply-component" || it.r#type == "builtin-apply-component" {
        return component(setting, round.context, it, &properties, &given, variables).await;
    }
    for (key, value) in given.into_iter().filter(|it| !it.0.is_empty()) {
        set_at(&mut properties, &key, value);
    }
    let known = step::embedded(&it.r#type).map(|it| Ok(it.to_owned()));
    let template = match known.unwrap_or_else(|| (round.template)(&it.r#type)) {
        Ok(template) => template,
        Err(message) => return Outcome::Failed { reason: "Rendering", message },
    };
    let mut context = round.context.clone();
    context.insert("stepName".into(), it.name.as_str().into());
    context.insert("stepSessionID".into(), due.id.as_str().into());
    context.insert("stepGroupName".into(), due.group.unwrap_or_default().into());
    context.insert("spanID".into(), due.id.as_str().into());
    let context = Value::Object(context);
    let file = format!("{}.cue", it.r#type);
    let outputs = &it.outputs;
    step::run(
        setting,
        &it.name,
        (&file, &template),
        &properties,
        &context,
        outputs,
        &due.resumed,
        variables,
    )
    .await
}

/// `apply-component`: the one step that is no template.
async fn component(
    setting: &Setting<'_>,
    context: &Map<String, Value>,
    it: &WorkflowStep,
    properties: &Value,
    inputs: &[(String, Value)],
    variables: &mut Variables,
) -> Outcome {
    let name = properties["component"].as_str().unwrap_or(&it.name).to_owned();
    let host: &dyn Host = setting.host;
    let Some((_, mut component)) = host.components().into_iter().find(|it| it.0 == name) else {
        let known: Vec<String> = host.components().into_iter().map(|it| it.0).collect();
        let message = format!("component {name} not found (there are: {})", known.join(", "));
        return Outcome::Failed { reason: "Execute", message };
    };
    for (key, value) in inputs.iter().filter(|it| !it.0.is_empty()) {
        let key = key.strip_prefix("properties.").unwrap_or(key);
        set_at(&mut component["properties"], key, value.clone());
    }
    let own_inputs = component["inputs"].as_array().cloned().unwrap_or_default();
    for own in own_inputs {
        let from = own["from"].as_str().unwrap_or_default();
        let key = own["parameterKey"].as_str().unwrap_or_default().to_owned();
        let Some(value) = input(variables, context, from) else {
            return Outcome::Waiting(format!("Pending on Input: {from}"));
        };
        set_at(&mut component["properties"], &key, value);
    }
    let text = |key: &str| properties[key].as_str().unwrap_or_default().to_owned();
    let applied = host.apply_component(&component, &text("cluster"), &text("namespace")).await;
    let applied = match applied {
        Ok(applied) => applied,
        Err(error) => return Outcome::Troubled(format!("run step({}): {error}", it.name)),
    };
    if let Some(message) = applied.waiting {
        return Outcome::Waiting(message);
    }
    let values = [("output", &applied.output), ("outputs", &applied.outputs)];
    let mut wanted = it.outputs.clone();
    for output in component["outputs"].as_array().into_iter().flatten() {
        wanted.extend(serde_json::from_value(output.clone()));
    }
    match step::export_plain(setting.runtime, &values, &wanted, variables) {
        Ok(()) => Outcome::Succeeded(String::new()),
        Err(message) => Outcome::Waiting(message),
    }
}
