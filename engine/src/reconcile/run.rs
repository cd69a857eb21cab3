//! One pass of an Application's workflow (E-3).

use chrono::{DateTime, SecondsFormat, Utc};
use serde_json::{Map, Value, json};

use super::adoption::Adoption;
use super::early::{self, Prepared};
use super::ending::{self, Ended, Ending};
use super::outcome::{self, UNHEALTHY, Wake};
use super::transform::Transformed;
use super::{
    Engine, Next, Stop, definitions, inputs, referred, restart, revision, status, stop, transform,
};
use crate::api::application::ApplicationStatus;
use crate::api::names::{annotation, condition, phase};
use crate::api::policies::BUILT_IN;
use crate::api::revision::ApplicationRevisionSpec;
use crate::api::workflow::WorkflowStatus;
use crate::api::{AppPolicy, Application, DefinitionKind, Workflow};
use crate::delivery::{Before, Delivery, Rules, Trackers};
use crate::policy::generator::{self, Steps};
use crate::records::{self, Making};
use crate::render::{Context, Definitions, NoActor, Templates, render_policy};
use crate::revision::Captured;
use crate::validate::structure;
use crate::workflow::round::{Passed, State};
use crate::workflow::step::Setting;
use crate::workflow::variables::{Early, Variables};
use crate::workflow::{Round, round};
use crate::world::{Error, EventKind};

pub(super) const SYNCED: &str = "Synced";

/// Everything an Application was found to be.
struct Found {
    steps: Steps,
    definitions: Definitions,
    rules: Rules,
    trackers: Trackers,
    revision: String,
    /// The revision became the latest in this pass.
    is_new: bool,
    /// What the run is known by: the published version, or the revision.
    run: String,
    /// What is to be written of the revision.
    unwritten: Vec<Value>,
}

/// What a pass has come to.
pub(super) struct Delivered {
    pub(super) next: Next,
    /// What is to be written after the status.
    pub(super) ending: Option<Ending>,
}

/// Brings an Application closer to what it asks for; its status is changed in place.
pub(super) async fn deliver(
    engine: &Engine<'_>,
    app: &mut Application,
    live: &Value,
    adoption: &Adoption<'_>,
) -> Result<Delivered, Stop> {
    let starting = stop(SYNCED, phase::STARTING, "Failed");
    let scheduled = restart::schedule(engine, app, adoption).await.map_err(starting)?;
    let before = app.status.clone();
    let (early, workflow) = match early::prepare(engine, app, live, adoption).await {
        Ok(Prepared::Ready(early, workflow)) => (early, workflow),
        Ok(Prepared::Waits(next)) => return Ok(Delivered { next, ending: None }),
        Err(stop) => {
            take_back(app, before, &stop.error);
            return Err(stop);
        }
    };
    let heard = transform::transform(engine, app, live, adoption).await.map_err(stop(
        SYNCED,
        phase::STARTING,
        "FailedParse",
    ))?;
    let before = app.status.clone();
    let mut found = find(engine, app, &heard, workflow).await?;
    let revision = records::make_all(engine.world, std::mem::take(&mut found.unwritten));
    let about = About { live, adoption, custom: heard.custom, scheduled };
    let done = go_through(engine, app, found, early, about, &revision).await;
    // Until all of it is there, the status does not name it.
    if let Err(error) = revision.await {
        app.status = before;
        return Err(stop(condition::REVISION, phase::RENDERING, "FailedRevision")(error));
    }
    if let Err(stop) = &done {
        take_back(app, before, &stop.error);
    }
    done
}

/// A pass that stopped has not come as far as its steps: what they gave to others is written last, and
/// what it was about to say of objects it did not. The next one goes through them again, as after a death;
/// unless what stopped it stays: nothing is sent to others over and over.
fn take_back(app: &mut Application, before: ApplicationStatus, error: &Error) {
    if !matches!(error, Error::Unavailable(_) | Error::Conflict(_)) {
        return;
    }
    let ApplicationStatus { workflow, services, applied_resources, .. } = before;
    app.status = ApplicationStatus {
        workflow,
        services,
        applied_resources,
        ..std::mem::take(&mut app.status)
    };
}

/// What a pass is told besides.
struct About<'a, 'b> {
    live: &'a Value,
    adoption: &'a Adoption<'b>,
    /// What policies say to templates.
    custom: Option<Value>,
    /// When the workflow is to run again.
    scheduled: Option<DateTime<Utc>>,
}

/// The pass itself; what is written of the revision is written beside it.
async fn go_through(
    engine: &Engine<'_>,
    app: &mut Application,
    mut found: Found,
    early: Option<Early>,
    About { live, adoption, custom, scheduled }: About<'_, '_>,
    revision: &Making<'_>,
) -> Result<Delivered, Stop> {
    let world = engine.world;
    let starting = stop(SYNCED, phase::STARTING, "Failed");
    let ready = adoption.with(revision);
    records::give_way(&ready).await;
    let now = world.now();
    for kind in [condition::PARSED, condition::REVISION] {
        status::set(app, kind, Ok(()), now);
    }
    let mut context = Context::of(app, &found.revision);
    context.cluster_version = engine.cluster_version.clone();
    context.custom = custom;
    let templates = Templates::new(engine.runtime, engine.render_library);
    // What the status tells of this revision is over if another one was delivered after it was written.
    let start = app.status.workflow.as_ref().and_then(|it| it.start_time.as_deref());
    let over = found.trackers.went_on(app.status.observed_generation, start, &found.revision);
    let fresh = over || app.status.workflow.as_ref().is_none_or(|it| it.app_revision != found.run);
    let last_run = fresh.then(|| app.status.workflow.clone());
    if fresh {
        begin(app, &found, early.as_ref(), now);
    }
    let start = app.status.workflow.as_ref().and_then(|it| it.start_time.as_deref());
    found.trackers.run_since(start);

    let trackers = std::mem::replace(&mut found.trackers, Trackers::empty(app));
    let rules = std::mem::take(&mut found.rules);
    let snapshot = app.clone();
    let mut delivery = Delivery::new(
        (world, engine.objects),
        &snapshot,
        &found.definitions,
        &context,
        templates,
        (rules, trackers),
    );
    delivery.admission = engine.settings.admission.clone();
    delivery.ready = records::clone(&ready);
    if fresh {
        let objects = custom_policies(&snapshot, &found.definitions, &context, templates);
        if let Err(error) = send_policies(&delivery, objects).await {
            // The run has not begun: the next pass is as fresh as this one.
            app.status.workflow = last_run.flatten();
            return Err(stop(condition::POLICY, phase::GENERATING_POLICY, "FailedApply")(error));
        }
    }
    for kind in [condition::POLICY, condition::RENDER] {
        status::set(app, kind, Ok(()), now);
    }
    if found.is_new {
        announce(engine, live).await.map_err(stop(SYNCED, phase::RENDERING, "Failed"))?;
    }

    let running = stop(condition::WORKFLOW, phase::RUNNING_WORKFLOW, "FailedWorkflow");
    let finished_before = app.status.workflow.as_ref().is_some_and(|it| it.finished);
    let reached = match (fresh, finished_before) {
        (true, _) => Reached::Nothing,
        (false, true) => Reached::End,
        (false, false) => Reached::Middle,
    };
    let early = early.filter(|_| fresh);
    let mut variables = variables(engine, app, early, reached).await.map_err(running)?;
    let parted = stop(condition::REVISION, phase::RENDERING, "FailedRevision");
    let passed = pass(engine, app, &found, &delivery, &context, &mut variables).await;
    let before = if engine.doubts { Before::Doubtful } else { Before::Known };
    delivery.forget_foreseen(passed.state, before).await.map_err(running)?;
    if engine.doubts {
        delivery.forget_shown(app.status.workflow.as_ref()).await.map_err(running)?;
    }
    let just_finished =
        !finished_before && app.status.workflow.as_ref().is_some_and(|it| it.finished);
    adoption.end(app).await.map_err(starting)?;
    revision.clone().await.map_err(parted)?;
    let ended = just_finished.then_some(Ended {
        revision: &found.revision,
        succeeded: passed.state == State::Succeeded,
        at_once: fresh,
    });
    let ending = ending::remember(engine, app, &mut variables, ended).await.map_err(running)?;
    let mut wake = Wake::new(passed.wake, now);

    let stands = finished_before && passed.state == State::Succeeded;
    let rests = passed.state == State::Suspended && passed.wake.is_none();
    if stands || rests {
        outcome::keep(engine, app, &delivery, live, &mut wake).await.map_err(running)?;
    }
    let mut stage = outcome::phase(passed.state);
    if stands {
        let components = inputs::with_inputs(&snapshot.spec.components, &variables);
        if !delivery.observe(&components).await.map_err(running)? {
            stage = phase::UNHEALTHY;
            wake.within(UNHEALTHY);
        }
    }
    app.status.phase = stage.into();
    outcome::conclude(app, passed.state, now);
    outcome::collect(app, &delivery, passed.state, &mut wake).await;
    let limit = delivery.rules.revision_limit().unwrap_or(engine.settings.revision_limit);
    let (services, applied) = delivery.finish();
    app.status.services = services;
    app.status.applied_resources = applied;
    if just_finished {
        outcome::announce(engine, app, passed.state, live).await.map_err(running)?;
        if passed.state == State::Succeeded {
            revision::limit(engine, app, &found.revision, limit).await.map_err(running)?;
        }
    }
    if let Some(at) = scheduled {
        wake.at(at);
    }
    Ok(Delivered { next: wake.into(), ending })
}

/// Reads all that the Application refers to, and which revision it is.
async fn find(
    engine: &Engine<'_>,
    app: &mut Application,
    heard: &Transformed,
    workflow: Option<Workflow>,
) -> Result<Found, Stop> {
    let world = engine.world;
    let parse = stop(condition::PARSED, phase::RENDERING, "FailedParse");
    let revise = stop(condition::REVISION, phase::RENDERING, "FailedRevision");
    let load = stop(SYNCED, phase::STARTING, "FailedParse");
    let invalid = |text: String| Error::Invalid(text);

    let rules = Rules::of(app).map_err(|error| parse(invalid(error.to_string())))?;
    let mut trackers = Trackers::load(world, app).await.map_err(|error| {
        let text =
            format!("failed to create resourceKeeper: failed to load resourcetrackers: {error}");
        load(match error {
            Error::Unavailable(_) => Error::Unavailable(text),
            _ => Error::Invalid(text),
        })
    })?;
    status::forget(app, SYNCED);
    let recorded = revision::published(engine, app).await.map_err(revise)?;
    let workflow = match &recorded {
        Some(recorded) => recorded.workflow.clone(),
        None if workflow.is_some() => workflow,
        None => definitions::workflow(engine, app).await.map_err(parse)?,
    };
    let workflows: Vec<_> = workflow.iter().cloned().collect();
    let steps = generator::steps(app, &workflows)
        .map_err(|error| parse(invalid(error.to_string())))?
        .named();
    structure(app, &steps.steps).map_err(|text| parse(invalid(text)))?;
    let external = match &recorded {
        Some(recorded) => recorded.policies.values().cloned().collect(),
        None => definitions::policies(engine, app, &steps.steps).await.map_err(parse)?,
    };
    let snapshot = recorded.is_some();
    let (definitions, mut captured) = match recorded {
        Some(recorded) => of_revision(recorded),
        None => definitions::load(engine, app, &steps.steps).await.map_err(parse)?,
    };
    heard.check(app, &definitions).map_err(parse)?;
    let referred = if snapshot {
        referred::of_revision(app, &captured.referred)
    } else {
        let read = referred::read(engine, app).await.map_err(|error| {
            let text = format!("failed to parseReferredObjects: {error}");
            parse(match error {
                Error::Unavailable(_) => Error::Unavailable(text),
                _ => Error::Invalid(text),
            })
        })?;
        captured.referred = referred::kept(&read);
        read
    };
    captured.external_policies.clone_from(&external);
    captured.workflow = workflow;
    captured.hear(&heard.heard);
    let mut whole = app.clone();
    referred::give(&mut whole, referred);
    let revised = revision::revise(
        engine,
        (app, &whole, heard.custom.as_ref()),
        captured,
        &definitions,
        (&steps.steps, &trackers),
    )
    .await
    .map_err(revise)?;
    app.spec.components = whole.spec.components;
    if !revised.is_new {
        trackers.go_on(&revised.name);
    }
    trackers.deliver_as(&revised.name);
    app.spec.policies.extend(external.into_iter().map(|it| AppPolicy {
        name: it.metadata.name,
        r#type: it.r#type,
        properties: it.properties,
        ..AppPolicy::default()
    }));
    let version = app.annotation(annotation::PUBLISH_VERSION);
    let run = if version.is_empty() { revised.name.clone() } else { version.to_owned() };
    let (revision, is_new, unwritten) = (revised.name, revised.is_new, revised.unwritten);
    Ok(Found { steps, definitions, rules, trackers, revision, is_new, run, unwritten })
}

/// Definitions as a revision recorded them.
fn of_revision(recorded: ApplicationRevisionSpec) -> (Definitions, Captured) {
    let captured = Captured {
        components: recorded.component_definitions,
        workloads: recorded.workload_definitions,
        traits: recorded.trait_definitions,
        policies: recorded.policy_definitions,
        steps: recorded.workflow_step_definitions,
        referred: recorded.referred_objects,
        ..Captured::default()
    };
    let mut definitions = Definitions::default();
    for (kind, map) in [
        (DefinitionKind::Component, &captured.components),
        (DefinitionKind::Workload, &captured.workloads),
        (DefinitionKind::Trait, &captured.traits),
        (DefinitionKind::Policy, &captured.policies),
        (DefinitionKind::WorkflowStep, &captured.steps),
    ] {
        for (r#type, definition) in map {
            definitions.capture(kind, r#type, definition.clone());
        }
    }
    (definitions, captured)
}

/// A run starts.
fn begin(app: &mut Application, found: &Found, early: Option<&Early>, now: DateTime<Utc>) {
    // Steps before rendering are over, and part of it.
    let steps = early.map(|it| it.rows.clone()).unwrap_or_default();
    let began = steps.iter().filter_map(|it| it.first_execute_time.clone()).min();
    let start = began.as_deref().and_then(|it| DateTime::parse_from_rfc3339(it).ok());
    let start = found.trackers.start(start.map_or(now, |it| it.to_utc()), &found.revision);
    let last = app.status.workflow.take();
    app.status.workflow = Some(WorkflowStatus {
        app_revision: found.run.clone(),
        // Of the Application, whatever runs: it is there.
        context_backend: last.and_then(|it| it.context_backend),
        mode: format!("{}-{}", found.steps.mode.steps, found.steps.mode.sub_steps),
        start_time: Some(start.to_rfc3339_opts(SecondsFormat::Secs, true)),
        steps,
        ..WorkflowStatus::default()
    });
    app.status.services.clear();
    app.status.applied_resources.clear();
    for kind in [condition::WORKFLOW, condition::READY, condition::STATE_KEEP] {
        status::forget(app, kind);
    }
}

/// Objects of the policies that are rendered from definitions (E-88).
fn custom_policies(
    app: &Application,
    definitions: &Definitions,
    context: &Context,
    templates: Templates<'_>,
) -> Result<Vec<Value>, Error> {
    let scope = |r#type: &str| {
        let found = definitions.get(DefinitionKind::Policy, r#type, app.namespace(), false);
        found.map_or("", |it| it.spec.scope.as_str())
    };
    let custom = app.spec.policies.iter().filter(|it| {
        // Those of the Application have spoken already.
        !BUILT_IN.contains(&it.r#type.as_str()) && scope(&it.r#type) != "Application"
    });
    let mut objects = Vec::new();
    for policy in custom {
        let made = render_policy(templates, definitions, context, policy, &json!({}), &mut NoActor)
            .map_err(|error| {
                Error::Invalid(format!("ApplyPolices: failed to render policy manifests: {error}"))
            })?;
        objects.extend(made);
    }
    Ok(objects)
}

async fn send_policies(
    delivery: &Delivery<'_>,
    objects: Result<Vec<Value>, Error>,
) -> Result<(), Error> {
    match objects? {
        none if none.is_empty() => Ok(()),
        objects => delivery.dispatch_policies(objects).await,
    }
}

/// Tells once what upstream tells at every pass.
async fn announce(engine: &Engine<'_>, live: &Value) -> Result<(), Error> {
    for (reason, message) in [
        ("Parsed", "Parsed successfully"),
        ("Revisioned", "Revisioned successfully"),
        ("PolicyGenerated", "Policy generated successfully"),
        ("Rendered", "Rendered successfully"),
    ] {
        engine.world.event(live, EventKind::Normal, reason, message).await?;
    }
    Ok(())
}

/// How far a run was before this pass.
enum Reached {
    Nothing,
    Middle,
    End,
}

/// Variables of the run. A finished one needs them only for inputs of components.
async fn variables(
    engine: &Engine<'_>,
    app: &Application,
    early: Option<Early>,
    reached: Reached,
) -> Result<Variables, Error> {
    if let Some(early) = early {
        return Ok(Variables::after(early));
    }
    match reached {
        Reached::Nothing => return Ok(Variables::fresh()),
        Reached::End if app.spec.components.iter().all(|it| it.inputs.is_empty()) => {
            return Ok(Variables::default());
        }
        Reached::End | Reached::Middle => {}
    }
    Ok(Variables::read(engine.world.get(&ending::place(app)).await?.as_ref()))
}

/// One round over the steps.
async fn pass(
    engine: &Engine<'_>,
    app: &mut Application,
    found: &Found,
    delivery: &Delivery<'_>,
    context: &Context,
    variables: &mut Variables,
) -> Passed {
    let namespace = app.namespace().to_owned();
    let template = |r#type: &str| {
        found
            .definitions
            .get(DefinitionKind::WorkflowStep, r#type, &namespace, false)
            .and_then(|it| it.template().map(str::to_owned))
            .ok_or_else(|| format!("no step type {type}"))
    };
    let mut seen: Map<String, Value> = context.to_json(None, "");
    seen.insert("name".into(), app.metadata.name.as_str().into());
    let setting = Setting {
        runtime: engine.runtime,
        library: engine.step_library,
        world: engine.objects,
        host: delivery,
    };
    let steps = inputs::with_needs(&found.steps, &app.spec.components);
    let wanted = Round {
        steps: &steps,
        mode: &found.steps.mode,
        template: &template,
        context: &seen,
        trials: engine.settings.trials(),
    };
    turn(app, &wanted, &setting, variables).await
}

/// One round, noted in the status.
pub(super) async fn turn(
    app: &mut Application,
    wanted: &Round<'_>,
    setting: &Setting<'_>,
    variables: &mut Variables,
) -> Passed {
    let mut workflow = app.status.workflow.take().unwrap_or_default();
    let passed = round(wanted, setting, &mut workflow, variables).await;
    workflow.phase = status::workflow_phase(passed.state, &workflow).into();
    app.status.workflow = Some(workflow);
    passed
}
