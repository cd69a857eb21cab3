//! Policies of scope `Application`: they change the Application before anything else looks at it
//! (E-90, E-91).

use cue_session::{Budget, Concreteness, Input, Session};
use serde_json::{Map, Value, json};

use crate::api::application::AppPolicy;
use crate::api::object::RevisionName;
use crate::api::{Application, Definition};
use crate::render::{Context, Templates};

/// What an `output` may hold.
const OUTPUT: [&str; 6] = ["components", "workflow", "policies", "labels", "annotations", "ctx"];

/// A policy and what it means.
#[derive(Clone, Debug)]
pub struct Scoped {
    /// The policy; of a global one, its definition's name.
    pub policy: AppPolicy,
    /// Its definition.
    pub definition: Definition,
    /// Nobody named it.
    pub global: bool,
}

/// What a policy says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Said {
    /// It is to be applied.
    pub enabled: bool,
    /// What it gives.
    pub output: Map<String, Value>,
}

impl Said {
    /// One member of the output, if it is a map with something in it.
    pub fn map(&self, key: &str) -> Option<&Map<String, Value>> {
        self.output.get(key)?.as_object().filter(|it| !it.is_empty())
    }

    /// Whether it changes what the Application asks for.
    pub fn changes_spec(&self) -> bool {
        ["components", "policies"]
            .iter()
            .any(|key| self.output.get(*key).is_some_and(|it| !is_empty(it)))
            || self.map("workflow").is_some()
    }
}

fn is_empty(value: &Value) -> bool {
    value.as_array().is_none_or(Vec::is_empty)
}

/// The order in which policies speak: by priority, those nobody named first, then by name, or as
/// the Application lists them.
pub fn sort(all: &mut [Scoped]) {
    all.sort_by(|a, b| {
        let priority = |it: &Scoped| if it.global { it.definition.spec.priority } else { 0 };
        let name = |it: &Scoped| it.global.then(|| it.definition.metadata.name.clone());
        priority(a)
            .cmp(&priority(b))
            .then(b.global.cmp(&a.global))
            .then_with(|| name(a).cmp(&name(b)))
    });
}

/// Asks a policy what it says of an Application as it has become.
///
/// # Errors
/// Why it says nothing, in KubeVela's words.
pub fn ask(
    templates: Templates<'_>,
    scoped: &Scoped,
    app: &Application,
    custom: &Map<String, Value>,
) -> Result<Said, String> {
    let latest: RevisionName = scoped.definition.status.latest_revision.clone().unwrap_or_default();
    let json = |value: Result<Value, serde_json::Error>| value.unwrap_or_default();
    let mut context = Context::of(app, "");
    if !custom.is_empty() {
        context.custom = Some(Value::Object(custom.clone()));
    }
    let mut context = context.to_json(None, "");
    for (key, value) in [
        ("name", app.metadata.name.as_str().into()),
        ("appComponents", json(serde_json::to_value(&app.spec.components))),
        ("appWorkflow", json(serde_json::to_value(&app.spec.workflow))),
        ("appPolicies", json(serde_json::to_value(&app.spec.policies))),
        ("policyName", scoped.policy.name.as_str().into()),
        ("policyType", scoped.policy.r#type.as_str().into()),
        ("policyRevisionName", latest.name.as_str().into()),
        ("policyRevision", latest.revision.into()),
        ("policyRevisionHash", latest.revision_hash.as_str().into()),
    ] {
        context.insert(key.to_owned(), value);
    }
    let text = scoped.definition.template().unwrap_or_default();
    let program = templates.template(&scoped.policy.r#type, text).program;
    let parameter = scoped.policy.properties.clone().unwrap_or_else(|| json!({}));
    let inputs = vec![
        Input::new("parameter", parameter.to_string()),
        Input::new("context", Value::Object(context).to_string()),
    ];
    let wrong = |text: String| format!("failed to render CUE template: {text}");
    let mut session = templates
        .runtime
        .start(&program, inputs, Budget::DEFINITION)
        .map_err(|error| wrong(error.to_string()))?;
    let found =
        session.validate("", Concreteness::Optional).map_err(|error| wrong(error.to_string()))?;
    if let Some(first) = found.first() {
        return Err(wrong(format!("CUE validation failed: {first}")));
    }
    let enabled = truth(&mut session, "config.enabled")
        .or_else(|| truth(&mut session, "enabled"))
        .unwrap_or(true);
    if !enabled {
        return Ok(Said::default());
    }
    let output = session
        .value("output")
        .map_err(|error| format!("failed to extract output: failed to decode output: {error}"))?
        .ok_or("failed to extract output: policy must specify 'output' field")?;
    let output = match output {
        Value::Object(map) => map,
        other => {
            return Err(format!("failed to extract output: output must be a struct, not {other}"));
        }
    };
    if let Some(field) = output.keys().find(|it| !OUTPUT.contains(&it.as_str())) {
        return Err(format!(
            "failed to extract output: output.{field} is not allowed; permitted fields: {}",
            OUTPUT.join(", ")
        ));
    }
    Ok(Said { enabled, output })
}

fn truth(session: &mut Session, path: &str) -> Option<bool> {
    session.value(path).ok()??.as_bool()
}

/// Lays what a policy gives into the Application.
///
/// # Errors
/// What it gives is no component, policy or workflow.
pub fn lay(
    said: &Said,
    app: &mut Application,
    custom: &mut Map<String, Value>,
) -> Result<(), String> {
    let wrong = |field: &str, error: serde_json::Error| {
        format!("failed to extract output: output.{field}: {error}")
    };
    let list = |key: &str| said.output.get(key).filter(|it| !is_empty(it)).cloned();
    if let Some(it) = list("components") {
        app.spec.components =
            serde_json::from_value(it).map_err(|error| wrong("components", error))?;
    }
    if let Some(it) = list("policies") {
        app.spec.policies = serde_json::from_value(it).map_err(|error| wrong("policies", error))?;
    }
    if let Some(it) = said.map("workflow") {
        let workflow = serde_json::from_value(Value::Object(it.clone()));
        app.spec.workflow = Some(workflow.map_err(|error| wrong("workflow", error))?);
    }
    for (key, own) in
        [("labels", &mut app.metadata.labels), ("annotations", &mut app.metadata.annotations)]
    {
        for (name, value) in said.map(key).into_iter().flatten() {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            own.insert(name.clone(), text);
        }
    }
    for (name, value) in said.map("ctx").into_iter().flatten() {
        custom.insert(name.clone(), value.clone());
    }
    Ok(())
}
