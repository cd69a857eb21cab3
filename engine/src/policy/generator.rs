//! The steps of an application: its own, those of a referenced Workflow, or generated ones.

use serde_json::{Value, json};

use super::{Error, namespace_or};
use crate::api::workflow::ExecuteMode;
use crate::api::{Application, Workflow, WorkflowStep};

/// The steps that are run, and how.
#[derive(Clone, Debug, PartialEq)]
pub struct Steps {
    /// Steps in order.
    pub steps: Vec<WorkflowStep>,
    /// Both fields are set.
    pub mode: ExecuteMode,
}

/// Steps of `app`; `workflows` holds the Workflow it refers to, if it is there.
pub fn steps(app: &Application, workflows: &[Workflow]) -> Result<Steps, Error> {
    let own = app.spec.workflow.as_ref();
    let mut mode =
        ExecuteMode { steps: "DAG".into(), sub_steps: "DAG".into(), ..Default::default() };
    let mut chosen = Vec::new();
    let mut authored = None;
    if let Some(workflow) = own {
        mode.steps = "StepByStep".into();
        authored = workflow.mode.clone();
        if workflow.r#ref.is_empty() {
            chosen = workflow.steps.clone();
        } else {
            if !workflow.steps.is_empty() {
                return Err(Error::StepsAndReference);
            }
            let named = workflows
                .iter()
                .find(|it| {
                    it.metadata.name == workflow.r#ref
                        && namespace_or(&it.metadata, app.namespace()) == app.namespace()
                })
                .ok_or_else(|| Error::NoWorkflow(workflow.r#ref.clone()))?;
            chosen = named.steps.clone();
            authored = authored.or_else(|| named.mode.clone());
        }
    }
    let unordered = authored.as_ref().is_none_or(|it| it.steps.is_empty());
    if let Some(authored) = authored {
        for (to, from) in
            [(&mut mode.steps, authored.steps), (&mut mode.sub_steps, authored.sub_steps)]
        {
            if !from.is_empty() {
                *to = from;
            }
        }
    }
    // Steps before rendering bring nothing out (W-117).
    if chosen.iter().all(WorkflowStep::is_early) {
        if !chosen.is_empty() && unordered {
            mode.steps = "DAG".into();
        }
        chosen.extend(generated(app)?);
    }
    Ok(Steps { steps: chosen, mode })
}

impl Steps {
    /// Steps without a name get one, as admission would have named them (E-140).
    pub fn named(mut self) -> Self {
        for (index, it) in self.steps.iter_mut().enumerate() {
            if it.name.is_empty() {
                it.name = format!("step-{index}");
            }
            for (sub_index, it) in it.sub_steps.iter_mut().enumerate() {
                if it.name.is_empty() {
                    it.name = format!("step-{index}-{sub_index}");
                }
            }
        }
        self
    }
}

fn step(name: String, r#type: &str, properties: Value) -> WorkflowStep {
    WorkflowStep { name, r#type: r#type.into(), properties: Some(properties), ..Default::default() }
}

fn generated(app: &Application) -> Result<Vec<WorkflowStep>, Error> {
    let of_type =
        |r#type: &'static str| app.spec.policies.iter().filter(move |it| it.r#type == r#type);
    let overrides: Vec<&str> = of_type("override").map(|it| it.name.as_str()).collect();
    let deploys: Vec<WorkflowStep> = of_type("topology")
        .map(|topology| {
            let mut policies = overrides.clone();
            policies.push(&topology.name);
            step(format!("deploy-{}", topology.name), "deploy", json!({ "policies": policies }))
        })
        .collect();
    if !deploys.is_empty() {
        return Ok(deploys);
    }
    if !overrides.is_empty() || app.spec.components.iter().any(|it| it.r#type == "ref-objects") {
        return Ok(vec![step("deploy".into(), "deploy", json!({ "policies": overrides }))]);
    }
    let mut steps = Vec::new();
    for policy in of_type("env-binding") {
        let Some(envs) = policy.properties.as_ref().and_then(|it| it.get("envs")) else { continue };
        let Value::Array(envs) = envs else {
            let got = match envs {
                Value::String(_) => "string",
                Value::Number(_) => "number",
                Value::Bool(_) => "bool",
                Value::Object(_) => "object",
                Value::Null | Value::Array(_) => continue,
            };
            return Err(Error::EnvBinding(format!(
                "json: cannot unmarshal {got} into Go struct field EnvBindingSpec.envs of type []v1alpha1.EnvConfig"
            )));
        };
        for env in envs {
            let name = env.get("name").and_then(Value::as_str).unwrap_or_default();
            let properties = json!({ "policy": policy.name, "env": name });
            steps.push(step(format!("deploy-{}-{name}", policy.name), "deploy2env", properties));
        }
    }
    if !steps.is_empty() {
        return Ok(steps);
    }
    Ok(app
        .spec
        .components
        .iter()
        .map(|component| WorkflowStep {
            depends_on: component.depends_on.clone(),
            ..step(
                component.name.clone(),
                "apply-component",
                json!({ "component": component.name }),
            )
        })
        .collect())
}
