//! One pass over all steps: the plan says which is next, this runs it.

use cue_session::Session;
use serde_json::{Map, Value, json};

use super::actions::Host;
use super::ahead;
use super::condition;
use super::literal;
use super::plan::{Due, Order, Plan, Trials, input};
use super::step::{self, Outcome, Setting};
use super::variables::{Variables, put_input, set_at};
use crate::api::workflow::{ExecuteMode, WorkflowStatus, WorkflowStep};
use crate::world::{Error, ObjectRef};

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
    let mut ahead: Vec<String> = Vec::new();
    let mut prepared: Option<(String, Session)> = None;
    while let Some(due) = plan.next_step() {
        let in_order = Order::of(&round.mode.steps) == Order::StepByStep && due.group.is_none();
        if in_order && !ahead.contains(&due.step.name) && !plan.variables.has_tried(&due.step.name)
        {
            ahead = ahead::tell(round, setting, due.step).await;
        }
        let name = &due.step.name;
        let started = prepared.take().filter(|it| it.0 == *name).map(|it| it.1);
        let next = ahead.iter().skip_while(|it| *it != name).nth(1);
        let (outcome, next) = futures::join!(
            execute(round, setting, &due, started, plan.variables),
            ahead::prepare(round, setting, next),
        );
        prepared = next;
        plan.record(&due, outcome);
    }
    plan.end()
}

async fn execute(
    round: &Round<'_>,
    setting: &Setting<'_>,
    due: &Due<'_>,
    started: Option<Session>,
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
        return component(setting, round.context, due, &properties, &given, variables).await;
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
    if template.contains("context.workload") {
        match workload(setting, &properties).await {
            Ok(Some(workload)) => context.insert("workload".into(), workload),
            Ok(None) => None,
            Err(error) => return Outcome::Troubled(error.to_string()),
        };
    }
    let context = Value::Object(context);
    let file = format!("{}.cue", it.r#type);
    let outputs = &it.outputs;
    step::run(
        setting,
        &it.name,
        started,
        (&file, &template),
        &properties,
        &context,
        outputs,
        &due.resumed,
        variables,
    )
    .await
}

/// The rendered workload of the component that a step is about: the one its properties name, or the
/// only one there is (W-30).
async fn workload(setting: &Setting<'_>, properties: &Value) -> Result<Option<Value>, Error> {
    let components = setting.host.components();
    let named = |key: &str| {
        let name = properties[key].as_str()?;
        components.iter().find(|it| it.0 == name)
    };
    let only = || components.first().filter(|_| components.len() == 1);
    let Some((_, component)) = named("component").or_else(|| named("name")).or_else(only) else {
        return Ok(None);
    };
    setting.host.render_component(component, "", "").await.map(|it| Some(it.output))
}

/// What `patch: {to: field, valueFrom}` of `apply-component` changes of the workload, as a merge patch; `None`
/// while the value is not there (W-111). `valueFrom.field` is a path in the object it names; what an
/// input has put there, and is no path in it, is the value itself.
async fn patched(
    setting: &Setting<'_>,
    component: &Value,
    patch: &Value,
    (cluster, namespace): (&str, &str),
) -> Result<Option<Value>, Error> {
    let from = &patch["valueFrom"];
    let mut at = ObjectRef::of(
        &json!({"apiVersion": from["apiVersion"], "kind": from["kind"], "metadata": {"name": from["name"], "namespace": from["namespace"]}}),
        cluster,
    );
    if at.namespace.is_empty() {
        at.namespace =
            if namespace.is_empty() { setting.host.namespace() } else { namespace }.into();
    }
    let Some(live) = setting.world.get(&at).await? else { return Ok(None) };
    let value = match &from["field"] {
        Value::String(field) => {
            let (pointer, path) = (pointer(field), field.contains('.'));
            match live.pointer(&pointer) {
                Some(value) => value.clone(),
                None if path => return Ok(None),
                None => from["field"].clone(),
            }
        }
        Value::Null => return Ok(None),
        other => other.clone(),
    };
    let mut workload = setting.host.render_component(component, cluster, namespace).await?.output;
    let field = patch["to"]["field"].as_str().unwrap_or_default();
    let pods = "spec.containers";
    let nested = field.starts_with(pods)
        && workload.pointer("/spec/containers").is_none()
        && workload.pointer("/spec/template/spec").is_some();
    let field = if nested { format!("spec.template.{field}") } else { field.to_owned() };
    let first = field.split(['.', '[']).next().unwrap_or_default().to_owned();
    if first.is_empty() {
        return Err(Error::Invalid("patch.to.field names no field".into()));
    }
    set_at(&mut workload, &field, value);
    Ok(Some(json!({ first.clone(): workload[&first].take() })))
}

/// `status.items[0].name` as a JSON pointer.
fn pointer(path: &str) -> String {
    let path = path.replace('[', ".").replace(']', "");
    let parts = path.split('.').filter(|it| !it.is_empty());
    parts
        .map(|it| format!("/{}", it.trim_matches('"').replace('~', "~0").replace('/', "~1")))
        .collect()
}

/// `apply-component`: the one step that is no template.
async fn component(
    setting: &Setting<'_>,
    context: &Map<String, Value>,
    due: &Due<'_>,
    properties: &Value,
    given: &[(String, Value)],
    variables: &mut Variables,
) -> Outcome {
    let it = due.step;
    let name = it.component().unwrap_or_default().to_owned();
    let host: &dyn Host = setting.host;
    let Some((_, mut component)) = host.components().into_iter().find(|it| it.0 == name) else {
        let known: Vec<String> = host.components().into_iter().map(|it| it.0).collect();
        let message = format!("component {name} not found (there are: {})", known.join(", "));
        return Outcome::Failed { reason: "Execute", message };
    };
    let mut patch = properties["patch"].clone();
    for (key, value) in given.iter().filter(|it| !it.0.is_empty()) {
        match key.strip_prefix("patch.").filter(|_| patch.is_object()) {
            Some(key) => set_at(&mut patch, key, value.clone()),
            None => put_input(&mut component, key, value.clone()),
        }
    }
    let own_inputs = component["inputs"].as_array().cloned().unwrap_or_default();
    for own in own_inputs {
        let from = own["from"].as_str().unwrap_or_default();
        let key = own["parameterKey"].as_str().unwrap_or_default().to_owned();
        let Some(value) = input(variables, context, from) else {
            return Outcome::Waiting(format!("Pending on Input: {from}"));
        };
        put_input(&mut component, &key, value);
    }
    let text = |key: &str| properties[key].as_str().unwrap_or_default().to_owned();
    let (cluster, namespace) = (text("cluster"), text("namespace"));
    let applied = if patch.is_object() {
        let at = (cluster.as_str(), namespace.as_str());
        match patched(setting, &component, &patch, at).await {
            Ok(Some(change)) => host.apply_changed(&component, &cluster, &namespace, &change).await,
            Ok(None) => {
                return Outcome::Waiting(format!(
                    "waits for the value of {}",
                    patch["to"]["field"]
                ));
            }
            Err(error) => Err(error),
        }
    } else {
        host.apply_component(&component, &cluster, &namespace).await
    };
    let applied = match applied {
        Ok(applied) => applied,
        Err(error) => return Outcome::Troubled(format!("run step({}): {error}", it.name)),
    };
    if let Some(config_map) = host.debug_object(&due.id) {
        let shown = json!({
            "output": applied.output,
            "outputs": applied.outputs,
            "parameter": {"value": component, "cluster": cluster, "namespace": namespace},
        });
        let text = shown.as_object().map(literal::write).unwrap_or_default();
        step::show(setting, config_map, text).await;
    }
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
