//! A whole Application without a cluster: what each of its deploy steps would deliver where.

use serde_json::{Map, Value, json};

use super::component::{Rendered, definition, render_component, render_policy};
use super::context::Context;
use super::definitions::Definitions;
use super::error::Error;
use super::process::{Actor, Templates};
use crate::api::policies::BUILT_IN;
use crate::api::{
    AppPolicy, Application, Component, DefinitionKind, Policy, Workflow, WorkflowStep,
};
use crate::policy::{self, generator, overriding, placement};

/// What is rendered, with everything it refers to.
pub struct Request<'a> {
    /// The Application.
    pub app: &'a Application,
    /// Definitions.
    pub definitions: &'a Definitions,
    /// External policies.
    pub policies: &'a [Policy],
    /// External workflows.
    pub workflows: &'a [Workflow],
    /// What templates see.
    pub context: Context,
}

/// What goes to one place.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Target {
    /// As the command line shows it.
    pub title: String,
    /// Components.
    pub components: Vec<Rendered>,
    /// Custom policies' objects.
    pub policies: Vec<Value>,
}

/// All targets, one per topology of each `deploy` step; one if there is none. On an error, those finished before it.
pub fn render(
    request: &Request<'_>,
    templates: Templates<'_>,
    actor: &mut dyn Actor,
) -> (Vec<Target>, Option<Error>) {
    let mut targets = Vec::new();
    let error = render_into(request, templates, actor, &mut targets).err();
    (targets, error)
}

/// What an Application comes down to before anything is evaluated.
struct Parsed {
    steps: Vec<WorkflowStep>,
    policies: Vec<AppPolicy>,
}

/// Everything an Application names is there.
pub fn check(request: &Request<'_>) -> Result<(), Error> {
    resolve(request).map(|_| ())
}

fn resolve(request: &Request<'_>) -> Result<Parsed, Error> {
    let app = request.app;
    parse(request, &app.spec.components)?;
    let mut named = app.clone();
    name_policies(&mut named.spec.policies);
    let steps = generator::steps(&named, request.workflows)
        .map_err(|error| {
            let text = error.to_string();
            let text = text
                .strip_prefix("generate step failed in WorkflowStepGenerator : ")
                .unwrap_or(&text);
            Error::Definition(format!("failed to parseWorkflowSteps: {text}"))
        })?
        .named()
        .steps;
    refer(&app.spec.components)?;
    check_steps(request, &steps)?;
    let policies = all_policies(request, &steps)?;
    for policy in policies.iter().filter(|it| !BUILT_IN.contains(&it.r#type.as_str())) {
        definition(request.definitions, DefinitionKind::Policy, &policy.r#type, &request.context)
            .map_err(|error| {
            Error::Definition(format!(
                "failed to parsePolicies: fetch component/policy type of {}: {}{error}",
                policy.name,
                request.context.dry_run_prefix(&policy.r#type)
            ))
        })?;
    }
    for policy in policies.iter().filter(|it| it.r#type == "override") {
        let change = overriding::parse(policy.properties.as_ref()).unwrap_or_default();
        for it in change.components.iter().flat_map(|it| &it.traits).filter(|it| !it.disable) {
            definition(request.definitions, DefinitionKind::Trait, &it.r#type, &request.context).map_err(|_| {
                Error::Definition(format!(
                    "failed to parsePolicies: failed to get trait definition {type} for override policy {}: traitdefinitions.core.oam.dev {type:?} not found",
                    policy.name,
                    type = it.r#type
                ))
            })?;
        }
    }
    Ok(Parsed { steps, policies })
}

fn render_into(
    request: &Request<'_>,
    templates: Templates<'_>,
    actor: &mut dyn Actor,
    targets: &mut Vec<Target>,
) -> Result<(), Error> {
    let app = request.app;
    let Parsed { steps, policies } = resolve(request)?;
    let custom: Vec<&AppPolicy> =
        policies.iter().filter(|it| !BUILT_IN.contains(&it.r#type.as_str())).collect();
    let deploys: Vec<&WorkflowStep> = steps.iter().filter(|it| it.r#type == "deploy").collect();
    if deploys.is_empty() {
        targets.push(target(
            request,
            templates,
            actor,
            app.metadata.name.clone(),
            &app.spec.components,
            &custom,
        )?);
        return Ok(());
    }
    for step in deploys {
        let named = step_policies(step);
        let picked = placement::pick(&policies, &named, &[]).map_err(refuse)?;
        let mut components = app.spec.components.clone();
        for it in picked.iter().filter(|it| it.r#type == "override") {
            let change = overriding::parse(it.properties.as_ref()).map_err(|error| {
                Error::Definition(format!("failed to parse override policy {}: {error}", it.name))
            })?;
            components = overriding::apply(&components, &change);
        }
        let topologies: Vec<&AppPolicy> =
            picked.iter().filter(|it| it.r#type == "topology").collect();
        let name = &app.metadata.name;
        if topologies.is_empty() {
            let overridden = picked.iter().any(|it| it.r#type == "override");
            let title = if overridden {
                format!("{name} only with override policies")
            } else {
                name.clone()
            };
            targets.push(target(request, templates, actor, title, &components, &custom)?);
        }
        for topology in topologies {
            let title = format!("{name} with topology {}", topology.name);
            targets.push(target(request, templates, actor, title, &components, &custom)?);
        }
    }
    Ok(())
}

fn refuse(error: policy::Error) -> Error {
    Error::Definition(error.to_string())
}

fn target(
    request: &Request<'_>,
    templates: Templates<'_>,
    actor: &mut dyn Actor,
    title: String,
    components: &[Component],
    custom: &[&AppPolicy],
) -> Result<Target, Error> {
    let mut target = Target { title, ..Target::default() };
    for component in components {
        target.components.push(render_component(
            templates,
            request.definitions,
            &request.context,
            component,
            &|_| false,
            actor,
        )?);
    }
    let artifacts = artifacts(&target.components);
    for policy in custom {
        target.policies.extend(render_policy(
            templates,
            request.definitions,
            &request.context,
            policy,
            &artifacts,
            actor,
        )?);
    }
    Ok(target)
}

/// Policies without a name get one from their type and place.
pub(crate) fn name_policies(policies: &mut [AppPolicy]) {
    for (index, policy) in policies.iter_mut().enumerate() {
        if policy.name.is_empty() {
            policy.name = format!("{}-auto-gen-{index}", policy.r#type);
        }
    }
}

/// `context.artifacts` of custom policies.
fn artifacts(components: &[Rendered]) -> Value {
    let mut all = Map::new();
    for component in components {
        let mut traits: Map<String, Value> = Map::new();
        for it in &component.auxiliaries {
            if let Value::Object(of_type) =
                traits.entry(it.trait_type.clone()).or_insert_with(|| json!({}))
            {
                of_type.insert(it.resource.clone(), it.object.clone());
            }
        }
        all.insert(
            component.name.clone(),
            json!({ "workload": component.workload, "traits": traits }),
        );
    }
    Value::Object(all)
}

/// Objects that are referred to are read before; one that is still named by its resource is of a kind that
/// nobody knows here.
fn refer(components: &[Component]) -> Result<(), Error> {
    for component in components.iter().filter(|it| it.r#type == "ref-objects") {
        let objects = component.properties.as_ref().and_then(|it| it["objects"].as_array());
        for it in objects.into_iter().flatten() {
            let text = |key: &str| it[key].as_str().unwrap_or_default();
            if text("kind").is_empty() && !text("resource").is_empty() {
                return Err(Error::Definition(format!(
                    "failed to parseReferredObjects: no matches for {}/, Resource={}",
                    text("group"),
                    text("resource")
                )));
            }
        }
    }
    Ok(())
}

/// Every type of every component is known, before anything is evaluated.
fn parse(request: &Request<'_>, components: &[Component]) -> Result<(), Error> {
    for component in components {
        definition(
            request.definitions,
            DefinitionKind::Component,
            &component.r#type,
            &request.context,
        )
        .map_err(|error| {
            Error::Definition(format!(
                "failed to parseComponents: fetch component/policy type of {}: {}{error}",
                component.name,
                request.context.dry_run_prefix(&component.r#type)
            ))
        })?;
        for it in &component.traits {
            definition(request.definitions, DefinitionKind::Trait, &it.r#type, &request.context).map_err(|_| {
                Error::Definition(format!(
                    "failed to parseComponents: component({}) parse trait({type}): trait definition of {type} not found",
                    component.name,
                    type = it.r#type
                ))
            })?;
        }
    }
    Ok(())
}

fn check_steps(request: &Request<'_>, steps: &[WorkflowStep]) -> Result<(), Error> {
    for step in steps.iter().flat_map(|it| std::iter::once(it).chain(&it.sub_steps)) {
        if ["deploy", "suspend", "step-group", "apply-component", "builtin-apply-component"]
            .contains(&step.r#type.as_str())
        {
            continue;
        }
        definition(request.definitions, DefinitionKind::WorkflowStep, &step.r#type, &request.context).map_err(|_| {
            Error::Definition(format!(
                "failed to parseWorkflowSteps: failed to get workflow step definition {type}: workflowstepdefinitions.core.oam.dev {type:?} not found",
                type = step.r#type
            ))
        })?;
    }
    Ok(())
}

/// Policies a `deploy` step names.
pub(super) fn step_policies(step: &WorkflowStep) -> Vec<String> {
    let named =
        step.properties.as_ref().and_then(|it| it.get("policies")).and_then(Value::as_array);
    named.into_iter().flatten().filter_map(|it| it.as_str().map(str::to_owned)).collect()
}

/// The Application's own policies, and external ones that top-level `deploy` steps name.
fn all_policies(request: &Request<'_>, steps: &[WorkflowStep]) -> Result<Vec<AppPolicy>, Error> {
    let mut policies = request.app.spec.policies.clone();
    name_policies(&mut policies);
    for name in steps.iter().filter(|it| it.r#type == "deploy").flat_map(step_policies) {
        if policies.iter().any(|it| it.name == name) {
            continue;
        }
        let external = request
            .policies
            .iter()
            .find(|it| {
                it.metadata.name == name
                    && (it.metadata.namespace.is_empty()
                        || it.metadata.namespace == request.context.namespace)
            })
            .ok_or_else(|| {
                Error::Definition(format!(
                    "failed to parsePolicies: external policy {name} not found"
                ))
            })?;
        policies.push(AppPolicy {
            name,
            r#type: external.r#type.clone(),
            properties: external.properties.clone(),
            ..Default::default()
        });
    }
    for policy in &policies {
        if policy.properties.is_none()
            && policy.r#type != "debug"
            && BUILT_IN.contains(&policy.r#type.as_str())
        {
            return Err(Error::Definition(format!(
                "failed to parsePolicies: policy {} named {} must not have empty properties",
                policy.r#type, policy.name
            )));
        }
    }
    Ok(policies)
}
