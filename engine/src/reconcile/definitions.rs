//! Reading what an Application refers to: definitions, an external workflow, external policies.

use crate::api::names::{annotation, label};
use crate::api::policies::BUILT_IN;
use crate::api::{
    Application, Component, Definition, DefinitionKind, DefinitionRevision, Policy, V1ALPHA1,
    V1BETA1, Workflow, WorkflowStep,
};
use crate::policy::overriding;
use crate::render::{Definitions, Lookup, Versions, candidates};
use crate::revision::Captured;
use crate::world::{Error, ObjectRef};

use super::Engine;

/// The Workflow that `spec.workflow.ref` names.
pub(super) async fn workflow(
    engine: &Engine<'_>,
    app: &Application,
) -> Result<Option<Workflow>, Error> {
    let name = app.spec.workflow.as_ref().map_or("", |it| it.r#ref.as_str());
    if name.is_empty() {
        return Ok(None);
    }
    let at = ObjectRef::local(V1ALPHA1, "Workflow", app.namespace(), name);
    let found = engine.world.get(&at).await?.ok_or_else(|| {
        Error::Invalid(format!(
            "failed to parseWorkflowSteps: Workflow.core.oam.dev {name:?} not found"
        ))
    })?;
    serde_json::from_value(found)
        .map(Some)
        .map_err(|error| Error::Invalid(format!("Workflow {name}: {error}")))
}

/// Policies that top-level `deploy` steps name and that are not in the Application itself (E-60).
pub(super) async fn policies(
    engine: &Engine<'_>,
    app: &Application,
    steps: &[WorkflowStep],
) -> Result<Vec<Policy>, Error> {
    let mut found: Vec<Policy> = Vec::new();
    let named = steps.iter().filter(|it| it.r#type == "deploy").flat_map(|it| {
        let names = it.properties.as_ref().and_then(|it| it["policies"].as_array());
        names.into_iter().flatten().filter_map(|it| it.as_str().map(str::to_owned))
    });
    let named: Vec<String> = named.collect();
    for name in named {
        let own = app.spec.policies.iter().any(|it| it.name == name);
        if own || found.iter().any(|it| it.metadata.name == name) {
            continue;
        }
        let at = ObjectRef::local(V1ALPHA1, "Policy", app.namespace(), &name);
        let policy = engine.world.get(&at).await?.and_then(|it| serde_json::from_value(it).ok());
        found.push(policy.ok_or_else(|| {
            Error::Invalid(format!("failed to parsePolicies: external policy {name} not found"))
        })?);
    }
    Ok(found)
}

/// A definition that is needed, and by whom.
struct Wanted {
    kind: DefinitionKind,
    r#type: String,
    whose: String,
}

/// Reads every definition that the components, policies and `steps` name.
pub(super) async fn load(
    engine: &Engine<'_>,
    app: &Application,
    steps: &[WorkflowStep],
) -> Result<(Definitions, Captured), Error> {
    let mut definitions = Definitions::default();
    let mut captured = Captured::default();
    for wanted in wanted(app, steps) {
        let definition = read(engine, app, &wanted).await?;
        let map = match wanted.kind {
            DefinitionKind::Component => &mut captured.components,
            DefinitionKind::Workload => &mut captured.workloads,
            DefinitionKind::Trait => &mut captured.traits,
            DefinitionKind::Policy => &mut captured.policies,
            DefinitionKind::WorkflowStep => &mut captured.steps,
        };
        // By the definition's name; a second version of it by what the Application calls that.
        let name = &definition.metadata.name;
        let taken = map.get(name).is_some_and(|it| it.spec != definition.spec);
        let key = if taken { &wanted.r#type } else { name };
        map.insert(key.clone(), definition.clone());
        definitions.capture(wanted.kind, &wanted.r#type, definition);
    }
    Ok((definitions, captured))
}

fn wanted(app: &Application, steps: &[WorkflowStep]) -> Vec<Wanted> {
    let mut all: Vec<Wanted> = Vec::new();
    let mut want = |kind: DefinitionKind, r#type: &str, whose: String| {
        if !r#type.is_empty() && !all.iter().any(|it| it.kind == kind && it.r#type == r#type) {
            all.push(Wanted { kind, r#type: r#type.to_owned(), whose });
        }
    };
    for component in &app.spec.components {
        let whose = format!("component {}", component.name);
        want(DefinitionKind::Component, &component.r#type, whose);
        for it in &component.traits {
            let whose = format!("component {}, trait {}", component.name, it.r#type);
            want(DefinitionKind::Trait, &it.r#type, whose);
        }
    }
    for policy in &app.spec.policies {
        let whose = format!("policy {}", policy.name);
        if policy.r#type == "override" {
            let change = overriding::parse(policy.properties.as_ref()).unwrap_or_default();
            for it in &change.components {
                want(DefinitionKind::Component, &it.r#type, whose.clone());
                for it in it.traits.iter().filter(|it| !it.disable) {
                    want(DefinitionKind::Trait, &it.r#type, whose.clone());
                }
            }
        } else if !BUILT_IN.contains(&policy.r#type.as_str()) {
            want(DefinitionKind::Policy, &policy.r#type, whose);
        }
    }
    for step in steps.iter().flat_map(WorkflowStep::with_sub_steps) {
        if !step.is_built_in() {
            want(DefinitionKind::WorkflowStep, &step.r#type, format!("step {}", step.name));
        }
    }
    all
}

async fn read(
    engine: &Engine<'_>,
    app: &Application,
    wanted: &Wanted,
) -> Result<Definition, Error> {
    look_up(engine, app, wanted.kind, &wanted.r#type).await?.ok_or_else(|| {
        Error::Invalid(format!(
            "{}: there is no {} named {} in namespace {} or vela-system",
            wanted.whose,
            wanted.kind.kind(),
            wanted.r#type,
            app.namespace(),
        ))
    })
}

/// The definition that a type means, if there is one.
pub(super) async fn look_up(
    engine: &Engine<'_>,
    app: &Application,
    kind: DefinitionKind,
    r#type: &str,
) -> Result<Option<Definition>, Error> {
    let auto = app.annotation(annotation::AUTO_UPDATE) == "true";
    for lookup in candidates(kind, r#type, app.namespace(), auto) {
        let found = match &lookup {
            Lookup::Definition(kind, namespace, name) => {
                let at = ObjectRef::local(V1BETA1, kind.kind(), namespace, name);
                let live = engine.world.get(&at).await?;
                live.and_then(|it| serde_json::from_value::<Definition>(it).ok())
            }
            Lookup::Revision(kind, namespace, name) => {
                let at = ObjectRef::local(V1BETA1, "DefinitionRevision", namespace, name);
                let live = engine.world.get(&at).await?;
                live.and_then(|it| serde_json::from_value::<DefinitionRevision>(it).ok())
                    .and_then(|it| it.definition(*kind).cloned())
            }
            Lookup::Newest(kind, namespace, name, _) => {
                newest(engine, *kind, namespace, name, r#type).await?
            }
        };
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

/// The newest revision of a definition that fits `type@version`.
async fn newest(
    engine: &Engine<'_>,
    kind: DefinitionKind,
    namespace: &str,
    name: &str,
    r#type: &str,
) -> Result<Option<Definition>, Error> {
    let label = match kind {
        DefinitionKind::Component | DefinitionKind::Workload => label::COMPONENT_DEFINITION,
        DefinitionKind::Trait => label::TRAIT_DEFINITION,
        DefinitionKind::Policy => label::POLICY_DEFINITION,
        DefinitionKind::WorkflowStep => label::STEP_DEFINITION,
    };
    let of = ObjectRef::local(V1BETA1, "DefinitionRevision", namespace, "");
    let mut all = Definitions::default();
    for live in engine.world.list(&of, &format!("{label}={name}")).await? {
        if let Ok(revision) = serde_json::from_value::<DefinitionRevision>(live) {
            all.insert_revision(revision);
        }
    }
    Ok(all.get(kind, r#type, namespace, Versions::Newest).cloned())
}

/// Inputs that a component gets only while the workflow runs.
pub(super) fn waits_for(component: &Component, steps: &[WorkflowStep]) -> Vec<String> {
    let mut waits: Vec<String> = component.inputs.iter().map(|it| it.from.clone()).collect();
    for step in steps.iter().flat_map(WorkflowStep::with_sub_steps) {
        let names = step.properties.as_ref().and_then(|it| it["component"].as_str());
        if names == Some(component.name.as_str()) {
            waits.extend(step.inputs.iter().map(|it| it.from.clone()));
        }
    }
    waits.dedup();
    waits
}
