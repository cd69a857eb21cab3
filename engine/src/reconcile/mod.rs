//! The order of everything for one Application, and the statuses, conditions, events it leaves.
//!
//! ~~~text
//! read ─ finalizer ─ definitions ─ revision ─ workflow round ─ health ─ collect ─ status (once)
//! ~~~
//! The process may die between any two World calls; the next reconcile converges to the same end.

mod status; // conditions and phases

use chrono::{DateTime, SecondsFormat, Utc};
use cue_session::{Package, Runtime};
use serde_json::{Value, json};

use crate::api::names::{annotation, condition, finalizer, phase};
use crate::api::object::RevisionName;
use crate::api::workflow::WorkflowStatus;
use crate::api::{Application, Definition, DefinitionKind, V1BETA1};
use crate::delivery::{Delivery, Inventory, collect_old, remove_all};
use crate::policy::generator;
use crate::render::{Context, Definitions, Lookup, Templates, candidates};
use crate::revision::build::{Captured, build, next_name};
use crate::revision::resources::{self, Entry};
use crate::workflow::round::State;
use crate::workflow::step::Setting;
use crate::workflow::variables::Variables;
use crate::workflow::{Round, backoff, round};
use crate::world::{Apply, Error, ObjectRef, PatchKind, World};

/// What reconciles are done with.
pub struct Engine<'a> {
    /// Effects.
    pub world: &'a dyn World,
    /// The interpreter.
    pub runtime: &'a dyn Runtime,
    /// Packages of components and traits.
    pub render_packages: &'a [Package],
    /// Packages of workflow steps.
    pub step_packages: &'a [Package],
    /// Failures in a row before a step fails for good.
    pub retries: u32,
    /// Longest waits between attempts of a step.
    pub caps: backoff::Caps,
    /// Revisions kept besides the current one.
    pub revision_limit: usize,
    /// Version of the cluster, for templates.
    pub cluster_version: crate::render::ClusterVersion,
}

/// What is to be done next.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Next {
    /// When to look again; `None`: only a change matters.
    pub wake: Option<DateTime<Utc>>,
}

/// Bytes of rendered resources in one ConfigMap.
const RESOURCES_LIMIT: usize = 800_000;

fn at(namespace: &str, name: &str) -> ObjectRef {
    ObjectRef::local(V1BETA1, "Application", namespace, name)
}

/// Brings one Application closer to what it asks for.
///
/// # Errors
/// What kept it from being read or written; what the user got wrong is in the status instead.
pub async fn reconcile(engine: &Engine<'_>, namespace: &str, name: &str) -> Result<Next, Error> {
    let Some(live) = engine.world.get(&at(namespace, name)).await? else {
        return Ok(Next::default());
    };
    let mut app: Application = serde_json::from_value(live.clone())
        .map_err(|error| Error::Invalid(format!("Application {name}: {error}")))?;
    if live["metadata"]["deletionTimestamp"].is_string() {
        return remove(engine, &app, &live).await;
    }
    let mut version = live["metadata"]["resourceVersion"].clone();
    let finalizers = live["metadata"]["finalizers"].as_array().cloned().unwrap_or_default();
    if !finalizers.iter().any(|it| it == finalizer::APPLICATION) {
        let mut all = finalizers;
        all.push(finalizer::APPLICATION.into());
        let body = json!({"metadata": {"finalizers": all}});
        let patched = engine.world.patch(&at(namespace, name), PatchKind::Merge, &body).await?;
        version = patched["metadata"]["resourceVersion"].clone();
    }
    let before = serde_json::to_value(&app.status).unwrap_or_default();
    let result = deliver(engine, &mut app, &live).await;
    let next = match result {
        Ok(next) => next,
        Err(Stop { condition, reason, error }) => {
            let now = engine.world.now();
            status::set(&mut app, condition, Err(&error.to_string()), now);
            status::set(&mut app, condition::READY, Err(&error.to_string()), now);
            engine.world.event(&live, true, reason, &error.to_string()).await?;
            if let Error::Unavailable(_) = error {
                write(engine, &app, &before, &version).await?;
                return Err(error);
            }
            Next { wake: Some(now + chrono::Duration::seconds(30)) }
        }
    };
    match write(engine, &app, &before, &version).await {
        Ok(()) => Ok(next),
        // Somebody wrote meanwhile, a suspend perhaps: nothing of it may be lost.
        Err(Error::Conflict(_)) => {
            Ok(Next { wake: Some(engine.world.now() + chrono::Duration::milliseconds(20)) })
        }
        Err(error) => Err(error),
    }
}

/// Where and why a reconcile stopped.
struct Stop {
    condition: &'static str,
    reason: &'static str,
    error: Error,
}

fn stop(condition: &'static str, reason: &'static str) -> impl Fn(Error) -> Stop {
    move |error| Stop { condition, reason, error }
}

async fn remove(engine: &Engine<'_>, app: &Application, live: &Value) -> Result<Next, Error> {
    let place = at(app.namespace(), &app.metadata.name);
    if app.status.phase != phase::DELETING {
        let body = json!({"status": {"status": phase::DELETING}});
        engine.world.patch_status(&place, &body).await?;
    }
    let orphan = live["metadata"]["finalizers"]
        .as_array()
        .is_some_and(|all| all.iter().any(|it| it == finalizer::ORPHAN));
    let gone = orphan || remove_all(engine.world, app).await?;
    if !gone {
        return Ok(Next { wake: Some(engine.world.now() + chrono::Duration::milliseconds(500)) });
    }
    let all = live["metadata"]["finalizers"].as_array().cloned().unwrap_or_default();
    let left: Vec<Value> = all
        .into_iter()
        .filter(|it| it != finalizer::APPLICATION && it != finalizer::ORPHAN)
        .collect();
    let body = json!({"metadata": {"finalizers": left}});
    match engine.world.patch(&place, PatchKind::Merge, &body).await {
        Ok(_) | Err(Error::NotFound(_)) => Ok(Next::default()),
        Err(error) => Err(error),
    }
}

async fn deliver(engine: &Engine<'_>, app: &mut Application, live: &Value) -> Result<Next, Stop> {
    let world = engine.world;
    let now = world.now();
    let parse = stop(condition::PARSED, "FailedParse");
    let steps =
        generator::steps(app, &[]).map_err(|error| parse(Error::Invalid(error.to_string())))?;
    check(app, &steps.steps).map_err(|error| parse(error))?;
    let (definitions, captured) = load(engine, app, &steps.steps).await.map_err(&parse)?;
    status::set(app, condition::PARSED, Ok(()), now);

    let revise = stop(condition::REVISION, "FailedRevision");
    let revision = revise_app(engine, app, captured, &definitions).await.map_err(revise)?;
    status::set(app, condition::REVISION, Ok(()), now);
    status::set(app, condition::POLICY, Ok(()), now);
    status::set(app, condition::RENDER, Ok(()), now);

    let run = stop(condition::WORKFLOW, "FailedWorkflow");
    let fresh = app.status.workflow.as_ref().is_none_or(|it| it.app_revision != revision);
    if fresh {
        app.status.workflow = Some(WorkflowStatus {
            app_revision: revision.clone(),
            mode: format!("{}-{}", steps.mode.steps, steps.mode.sub_steps),
            start_time: Some(now.to_rfc3339_opts(SecondsFormat::Secs, true)),
            ..WorkflowStatus::default()
        });
        app.status.services.clear();
        app.status.applied_resources.clear();
    }
    let store = Variables::config_map_name(&app.metadata.name);
    let mut variables = if fresh {
        Variables::fresh()
    } else {
        let place = ObjectRef::local("v1", "ConfigMap", app.namespace(), &store);
        Variables::read(world.get(&place).await.map_err(&run)?.as_ref())
    };
    let tracker = world.get(&Inventory::at(app)).await.map_err(&run)?;
    let inventory = Inventory::read(app, tracker);
    let mut context = Context::of(app, &revision);
    context.cluster_version = engine.cluster_version.clone();
    let templates = Templates::new(engine.runtime, engine.render_packages);
    let snapshot = app.clone();
    let delivery = Delivery::new(world, &snapshot, &definitions, &context, templates, inventory);
    let mut workflow = app.status.workflow.clone().unwrap_or_default();
    let finished_before = workflow.finished;
    let namespace = snapshot.namespace().to_owned();
    let template = |r#type: &str| {
        definitions
            .get(DefinitionKind::WorkflowStep, r#type, &namespace, false)
            .and_then(|it| it.template().map(str::to_owned))
            .ok_or_else(|| format!("no step type {type}"))
    };
    let mut seen = context.to_json(None, "");
    seen.insert("name".into(), app.metadata.name.as_str().into());
    let setting =
        Setting { runtime: engine.runtime, packages: engine.step_packages, world, host: &delivery };
    let pass = Round {
        steps: &steps.steps,
        mode: &steps.mode,
        template: &template,
        context: &seen,
        retries: engine.retries,
        caps: engine.caps,
    };
    let passed = round(&pass, &setting, &mut workflow, &mut variables).await;
    if variables.is_changed() {
        let start = workflow.start_time.clone().unwrap_or_default();
        let object = variables.config_map(app, &start);
        world.apply(&object, "", Apply { force: true }).await.map_err(&run)?;
        workflow.context_backend = serde_json::from_value(json!({
            "apiVersion": "v1", "kind": "ConfigMap", "name": store, "namespace": namespace,
        }))
        .ok();
    }
    let mut wake = passed.wake;
    let mut healthy = true;
    if finished_before && passed.state == State::Succeeded {
        healthy = delivery.observe().await.map_err(&run)?;
    }
    let (services, applied, inventory) = delivery.finish();
    app.status.services = services;
    app.status.applied_resources = applied;
    workflow.phase = status::workflow_phase(passed.state, workflow.suspend).into();
    app.status.phase = match passed.state {
        State::Executing => phase::RUNNING_WORKFLOW,
        State::Suspended => phase::SUSPENDING,
        State::Failed => phase::FAILED,
        State::Terminated => phase::TERMINATED,
        State::Succeeded if healthy => phase::RUNNING,
        State::Succeeded => phase::UNHEALTHY,
    }
    .into();
    let just_finished = workflow.finished && !finished_before;
    let failure = workflow.steps.iter().find(|it| it.phase == "failed");
    match (passed.state, failure) {
        (State::Failed, Some(step)) => {
            let text = format!("step {} failed: {} {}", step.name, step.reason, step.message);
            status::set(app, condition::WORKFLOW, Err(&text), now);
            status::set(app, condition::READY, Err(&text), now);
        }
        (State::Succeeded, _) => {
            status::set(app, condition::WORKFLOW, Ok(()), now);
            status::set(app, condition::READY, Ok(()), now);
        }
        _ => {}
    }
    app.status.workflow = Some(workflow);
    if just_finished {
        let collect = stop(condition::READY, "FailedGC");
        if passed.state == State::Succeeded {
            collect_old(world, app, &inventory).await.map_err(collect)?;
            limit_revisions(engine, app, &revision).await.map_err(&run)?;
            let text = "Workflow finished";
            world.event(live, false, "WorkflowFinished", text).await.map_err(&run)?;
        } else {
            let text = format!("workflow ended: {}", app.status.phase);
            world.event(live, true, "WorkflowFailed", &text).await.map_err(&run)?;
        }
    }
    app.status.observed_generation = app.metadata.generation;
    if passed.state == State::Succeeded && !healthy {
        wake = Some(now + chrono::Duration::seconds(5));
    }
    Ok(Next { wake })
}

/// Names must be there once.
fn check(app: &Application, steps: &[crate::api::WorkflowStep]) -> Result<(), Error> {
    let mut seen = std::collections::HashSet::new();
    for (index, component) in app.spec.components.iter().enumerate() {
        if component.name.is_empty() {
            return Err(Error::Invalid(format!(
                "spec.components[{index}]: a component needs a name"
            )));
        }
        if !seen.insert(component.name.as_str()) {
            return Err(Error::Invalid(format!(
                "spec.components[{index}]: there are two components named {}",
                component.name
            )));
        }
    }
    let mut names = std::collections::HashSet::new();
    for step in steps.iter().flat_map(|it| std::iter::once(it).chain(&it.sub_steps)) {
        if !names.insert(step.name.as_str()) {
            return Err(Error::Invalid(format!(
                "there are two workflow steps named {}",
                step.name
            )));
        }
    }
    for step in steps.iter().flat_map(|it| std::iter::once(it).chain(&it.sub_steps)) {
        if let Some(unknown) = step.depends_on.iter().find(|it| !names.contains(it.as_str())) {
            return Err(Error::Invalid(format!(
                "step {} depends on {unknown}, which is no step",
                step.name
            )));
        }
        if !step.timeout.is_empty() && backoff::parse_duration(&step.timeout).is_none() {
            return Err(Error::Invalid(format!(
                "step {}: timeout {:?} is no duration such as 30s or 5m",
                step.name, step.timeout
            )));
        }
    }
    Ok(())
}

/// Reads every definition the Application names.
async fn load(
    engine: &Engine<'_>,
    app: &Application,
    steps: &[crate::api::WorkflowStep],
) -> Result<(Definitions, Captured), Error> {
    let mut definitions = Definitions::default();
    let mut captured = Captured::default();
    let auto = app.annotation(annotation::AUTO_UPDATE) == "true";
    let mut wanted: Vec<(DefinitionKind, String, String)> = Vec::new();
    let mut want = |kind: DefinitionKind, r#type: &str, whose: String| {
        if !wanted.iter().any(|it| it.0 == kind && it.1 == r#type) {
            wanted.push((kind, r#type.to_owned(), whose));
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
        if !crate::api::policies::BUILT_IN.contains(&policy.r#type.as_str()) {
            want(DefinitionKind::Policy, &policy.r#type, format!("policy {}", policy.name));
        }
    }
    for step in steps.iter().flat_map(|it| std::iter::once(it).chain(&it.sub_steps)) {
        let built_in = matches!(
            step.r#type.as_str(),
            "step-group" | "apply-component" | "builtin-apply-component"
        );
        if !built_in {
            want(DefinitionKind::WorkflowStep, &step.r#type, format!("step {}", step.name));
        }
    }
    for (kind, r#type, whose) in wanted {
        let mut found = None;
        for lookup in candidates(kind, &r#type, app.namespace(), auto) {
            let place = match &lookup {
                Lookup::Definition(kind, namespace, name) => {
                    ObjectRef::local(V1BETA1, kind.kind(), namespace, name)
                }
                Lookup::Revision(_, namespace, name) | Lookup::Newest(_, namespace, name, _) => {
                    ObjectRef::local(V1BETA1, "DefinitionRevision", namespace, name)
                }
            };
            if let Some(live) = engine.world.get(&place).await? {
                found = match lookup {
                    Lookup::Definition(..) => serde_json::from_value::<Definition>(live).ok(),
                    Lookup::Revision(kind, ..) | Lookup::Newest(kind, ..) => {
                        serde_json::from_value::<crate::api::DefinitionRevision>(live)
                            .ok()
                            .and_then(|it| it.definition(kind).cloned())
                    }
                };
                if found.is_some() {
                    break;
                }
            }
        }
        let Some(definition) = found else {
            return Err(Error::Invalid(format!(
                "{whose}: there is no {} named {type} in namespace {} or vela-system",
                kind.kind(),
                app.namespace(),
                type = r#type,
            )));
        };
        let map = match kind {
            DefinitionKind::Component => &mut captured.components,
            DefinitionKind::Workload => &mut captured.workloads,
            DefinitionKind::Trait => &mut captured.traits,
            DefinitionKind::Policy => &mut captured.policies,
            DefinitionKind::WorkflowStep => &mut captured.steps,
        };
        map.insert(r#type.clone(), definition.clone());
        definitions.capture(kind, &r#type, definition);
    }
    Ok((definitions, captured))
}

/// The revision of what is asked for now; a new one is recorded with its rendered resources.
async fn revise_app(
    engine: &Engine<'_>,
    app: &mut Application,
    captured: Captured,
    definitions: &Definitions,
) -> Result<String, Error> {
    let publish = app.annotation(annotation::PUBLISH_VERSION).to_owned();
    let (name, number) = next_name(app);
    let mut revision = build(app, captured, &name);
    let hash = revision
        .metadata
        .labels
        .get(crate::api::names::label::APP_REVISION_HASH)
        .cloned()
        .unwrap_or_default();
    if let Some(latest) = &app.status.latest_revision {
        let recorded = latest.revision_hash == hash;
        if recorded {
            return Ok(latest.name.clone());
        }
        if !publish.is_empty() && latest.name.ends_with(&publish) {
            return Ok(latest.name.clone());
        }
    }
    let mut context = Context::of(app, &name);
    context.cluster_version = engine.cluster_version.clone();
    let templates = Templates::new(engine.runtime, engine.render_packages);
    let mut entries = Vec::new();
    for component in &app.spec.components {
        let waits = waits_for(app, component);
        if !waits.is_empty() {
            entries.push((component.name.clone(), Entry::Waiting(waits)));
            continue;
        }
        let skip = |_: crate::api::Stage| false;
        let mut actor = crate::render::NoActor;
        let rendered = crate::render::render_component(
            templates,
            definitions,
            &context,
            component,
            &skip,
            &mut actor,
        )
        .map_err(|error| Error::Invalid(error.to_string()))?;
        entries.push((component.name.clone(), Entry::Rendered(rendered)));
    }
    let maps = resources::config_maps(
        &app.metadata.name,
        app.namespace(),
        &name,
        &entries,
        RESOURCES_LIMIT,
    );
    let mut object = {
        revision.metadata.name.clone_from(&name);
        serde_json::to_value(&revision).unwrap_or_default()
    };
    if let Some(first) = maps.first() {
        object["spec"]["resourcesConfigMap"] = json!({"name": first["metadata"]["name"]});
    }
    let owner = json!([{
        "apiVersion": V1BETA1,
        "kind": "Application",
        "name": app.metadata.name,
        "uid": app.metadata.uid,
        "controller": true,
    }]);
    object["metadata"]["ownerReferences"] = owner.clone();
    if let Some(map) = object.as_object_mut() {
        map.remove("status");
    }
    engine.world.apply(&object, "", Apply { force: true }).await?;
    for mut map in maps {
        map["metadata"]["ownerReferences"] = owner.clone();
        engine.world.apply(&map, "", Apply { force: true }).await?;
    }
    app.status.latest_revision = Some(RevisionName {
        name: name.clone(),
        revision: number,
        revision_hash: hash,
        ..Default::default()
    });
    Ok(name)
}

/// Inputs that a component gets only while the workflow runs.
fn waits_for(app: &Application, component: &crate::api::Component) -> Vec<String> {
    let mut waits: Vec<String> = component.inputs.iter().map(|it| it.from.clone()).collect();
    let steps = app.spec.workflow.iter().flat_map(|it| &it.steps);
    for step in steps.flat_map(|it| std::iter::once(it).chain(&it.sub_steps)) {
        let names = step.properties.as_ref().and_then(|it| it["component"].as_str());
        if names == Some(component.name.as_str()) {
            waits.extend(step.inputs.iter().map(|it| it.from.clone()));
        }
    }
    waits
}

async fn limit_revisions(
    engine: &Engine<'_>,
    app: &Application,
    current: &str,
) -> Result<(), Error> {
    let number = app.status.latest_revision.as_ref().map_or(0, |it| it.revision);
    if usize::try_from(number).unwrap_or(0) <= engine.revision_limit {
        return Ok(());
    }
    let of = ObjectRef::local(V1BETA1, "ApplicationRevision", app.namespace(), "");
    let labels = format!("{}={}", crate::api::names::label::APP_NAME, app.metadata.name);
    let mut all: Vec<(i64, String)> = engine
        .world
        .list(&of, &labels)
        .await?
        .iter()
        .filter_map(|it| it["metadata"]["name"].as_str())
        .filter(|it| *it != current)
        .map(|it| {
            let number = it.rsplit_once("-v").and_then(|it| it.1.parse().ok()).unwrap_or(0);
            (number, it.to_owned())
        })
        .collect();
    all.sort_unstable();
    let extra = all.len().saturating_sub(engine.revision_limit);
    for (_, name) in all.into_iter().take(extra) {
        let place = ObjectRef::local(V1BETA1, "ApplicationRevision", app.namespace(), &name);
        engine.world.delete(&place).await?;
        let map = format!("{name}-resources");
        let place = ObjectRef::local("v1", "ConfigMap", app.namespace(), &map);
        engine.world.delete(&place).await?;
    }
    Ok(())
}

/// Writes the status if it changed; what disappeared is removed.
async fn write(
    engine: &Engine<'_>,
    app: &Application,
    before: &Value,
    version: &Value,
) -> Result<(), Error> {
    let after = serde_json::to_value(&app.status).unwrap_or_default();
    if after == *before {
        return Ok(());
    }
    let mut change = after;
    nulls(before, &mut change);
    let body = json!({"metadata": {"resourceVersion": version}, "status": change});
    let place = at(app.namespace(), &app.metadata.name);
    match engine.world.patch_status(&place, &body).await {
        Ok(_) | Err(Error::NotFound(_)) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Marks members that are gone, so that a merge patch removes them.
fn nulls(before: &Value, after: &mut Value) {
    let (Some(before), Some(after)) = (before.as_object(), after.as_object_mut()) else { return };
    for (key, old) in before {
        match after.get_mut(key) {
            None => {
                after.insert(key.clone(), Value::Null);
            }
            Some(new) => nulls(old, new),
        }
    }
}
