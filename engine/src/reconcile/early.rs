//! Steps of stage `pre-render`: they run before the Application is looked at, and what they give as
//! `application` is laid over what is written (W-14, W-115 to W-119).
//!
//! ~~~text
//! written spec ─ steps before rendering ─ parts ─▶ spec that is rendered and recorded ─ the other steps
//! ~~~
//! 1. They are run once for what is written, and again when the workflow is: the run is known by a key until it
//!    has a revision. What they gave stays in the context ConfigMap, so that every pass renders the same.
//! 2. The ConfigMap is written before the status: who dies in between runs them again, to the same end.

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::adoption::Adoption;
use super::{Engine, Next, Stop, definitions, ending, outcome, run, status, stop};
use crate::api::names::{LOCAL_CLUSTER, annotation, condition, label, phase};
use crate::api::object;
use crate::api::workflow::{ExecuteMode, StepStatus, WorkflowStatus};
use crate::api::{Application, DefinitionKind, V1BETA1, Workflow, WorkflowStep};
use crate::policy::generator;
use crate::render::Context;
use crate::validate::structure;
use crate::workflow::actions::{Applied, Host};
use crate::workflow::round::{Passed, State};
use crate::workflow::step::Setting;
use crate::workflow::variables::{Early, Variables};
use crate::workflow::{Round, partial};
use crate::world::{Apply, Call, Error, EventKind, ObjectRef};

/// How a run is called that has no revision yet.
const UNNAMED: &str = "pre-render-";

/// How far it is.
pub(super) enum Prepared {
    /// The rest may begin: what steps have come to, if there are any, and the Workflow that was read.
    Ready(Option<Early>, Option<Workflow>),
    /// Not yet, or not at all.
    Waits(Next),
}

/// Runs the steps before rendering, and lays what they give over `app`.
pub(super) async fn prepare(
    engine: &Engine<'_>,
    app: &mut Application,
    live: &Value,
    adoption: &Adoption<'_>,
) -> Result<Prepared, Stop> {
    let parse = stop(condition::PARSED, phase::RENDERING, "FailedParse");
    let running = stop(condition::WORKFLOW, phase::RUNNING_WORKFLOW, "FailedWorkflow");
    let wrong = |text: String| parse(Error::Invalid(text));
    let Some(own) = &app.spec.workflow else { return Ok(Prepared::Ready(None, None)) };
    if own.r#ref.is_empty() && !own.steps.iter().any(WorkflowStep::is_early) {
        return Ok(Prepared::Ready(None, None));
    }
    // That it is not there may not matter: a published version has its own.
    let Ok(workflow) = definitions::workflow(engine, app).await else {
        return Ok(Prepared::Ready(None, None));
    };
    let workflows: Vec<_> = workflow.iter().cloned().collect();
    let all = generator::steps(app, &workflows).map_err(|error| wrong(error.to_string()))?.named();
    let steps: Vec<WorkflowStep> = all.steps.iter().filter(|it| it.is_early()).cloned().collect();
    if steps.is_empty() {
        return Ok(Prepared::Ready(None, workflow));
    }
    structure(app, &all.steps).map_err(wrong)?;

    adoption.end(app).await.map_err(running)?;
    let key = key(app, &steps);
    let mut variables = begin(engine, app, &steps, &key, &all.mode).await.map_err(running)?;
    if let Some(early) = variables.before_rendering().filter(|it| it.done).cloned() {
        let laid = lay(app, &steps, Some(early)).map_err(wrong)?;
        return Ok(Prepared::Ready(laid, workflow));
    }
    let finished_before = app.status.workflow.as_ref().is_some_and(|it| it.finished);
    let passed = pass(engine, app, (&steps, &all.mode), &mut variables).await?;
    let rows = app.status.workflow.as_ref().map_or(&[][..], |it| &it.steps);
    if passed.state == State::Succeeded {
        variables.end_early(rows);
    }
    if variables.is_changed() {
        ending::store(engine, app, &mut variables).await.map_err(running)?;
    }
    if passed.state == State::Succeeded {
        let early = variables.before_rendering().cloned();
        return Ok(Prepared::Ready(lay(app, &steps, early).map_err(wrong)?, workflow));
    }
    app.status.phase = match passed.state {
        State::Suspended => phase::SUSPENDING,
        State::Failed => phase::FAILED,
        State::Terminated => phase::TERMINATED,
        State::Executing | State::Succeeded => phase::RUNNING_WORKFLOW,
    }
    .into();
    status::set(app, condition::PARSED, Ok(()), engine.world.now());
    status::forget(app, run::SYNCED);
    outcome::conclude(app, passed.state, engine.world.now());
    if !finished_before && app.status.workflow.as_ref().is_some_and(|it| it.finished) {
        let text = format!("workflow ended before rendering: {}", app.status.phase);
        engine
            .world
            .event(live, EventKind::Warning, "WorkflowFailed", &text)
            .await
            .map_err(running)?;
    }
    Ok(Prepared::Waits(Next { wake: passed.wake }))
}

/// What the steps are run for: another one is another run.
fn key(app: &Application, steps: &[WorkflowStep]) -> String {
    let mut all = json!({
        "spec": app.spec,
        "steps": steps,
        "version": app.annotation(annotation::PUBLISH_VERSION),
    });
    all.sort_all_objects();
    let digest = Sha256::digest(all.to_string().as_bytes());
    digest.iter().take(8).map(|it| format!("{it:02x}")).collect()
}

/// The run that is to go on, or a fresh one; its variables.
async fn begin(
    engine: &Engine<'_>,
    app: &mut Application,
    steps: &[WorkflowStep],
    key: &str,
    mode: &ExecuteMode,
) -> Result<Variables, Error> {
    let name = format!("{UNNAMED}{key}");
    let mut variables = Variables::early(key);
    let mut rows = Vec::new();
    if let Some(workflow) = &app.status.workflow {
        let read = Variables::read(engine.world.get(&ending::place(app)).await?.as_ref());
        let early = read.before_rendering().filter(|it| it.key == key);
        let unnamed = workflow.app_revision.starts_with(UNNAMED);
        if early.is_some_and(|it| workflow.app_revision == name || !unnamed && it.done) {
            variables = read;
            let over = |it: &&StepStatus| {
                ["succeeded", "failed", "skipped"].contains(&it.phase.as_str())
                    && steps.iter().any(|step| step.name == it.name)
            };
            rows = workflow.steps.iter().filter(over).cloned().collect();
            if unnamed || rows.len() == steps.len() {
                return Ok(variables);
            }
            // Somebody wants one of them to run again.
            variables.reopen_early(&rows);
        }
    }
    let now = engine.world.now();
    app.status.workflow = Some(WorkflowStatus {
        app_revision: name,
        mode: format!("{}-{}", mode.steps, mode.sub_steps),
        start_time: Some(now.to_rfc3339_opts(chrono::SecondsFormat::Secs, true)),
        steps: rows,
        ..WorkflowStatus::default()
    });
    for kind in [condition::WORKFLOW, condition::READY] {
        status::forget(app, kind);
    }
    Ok(variables)
}

/// One round over the steps.
async fn pass(
    engine: &Engine<'_>,
    app: &mut Application,
    (steps, mode): (&[WorkflowStep], &ExecuteMode),
    variables: &mut Variables,
) -> Result<Passed, Stop> {
    let parse = stop(condition::PARSED, phase::RENDERING, "FailedParse");
    let mut bare = app.clone();
    (bare.spec.components, bare.spec.policies) = (Vec::new(), Vec::new());
    let (definitions, _) = definitions::load(engine, &bare, steps).await.map_err(parse)?;
    let namespace = app.namespace().to_owned();
    let template = |r#type: &str| {
        definitions
            .get(DefinitionKind::WorkflowStep, r#type, &namespace, false)
            .and_then(|it| it.template().map(str::to_owned))
            .ok_or_else(|| format!("no step type {type}"))
    };
    let mut context = Context::of(app, "");
    context.cluster_version = engine.cluster_version.clone();
    let mut seen: Map<String, Value> = context.to_json(None, "");
    seen.insert("name".into(), app.metadata.name.as_str().into());
    let host = Owner { engine, app: &bare };
    let setting = Setting {
        runtime: engine.runtime,
        library: engine.step_library,
        world: engine.objects,
        host: &host,
    };
    let wanted = Round {
        steps,
        mode,
        template: &template,
        context: &seen,
        trials: engine.settings.trials(),
    };
    Ok(run::turn(app, &wanted, &setting, variables).await)
}

/// Lays what the steps gave over what is written, in their order.
fn lay(
    app: &mut Application,
    steps: &[WorkflowStep],
    early: Option<Early>,
) -> Result<Option<Early>, String> {
    let parts = early.as_ref().map(|it| &it.parts);
    for step in steps.iter().flat_map(WorkflowStep::with_sub_steps) {
        let Some(part) = parts.and_then(|it| it.get(&step.name)) else { continue };
        partial::lay(&mut app.spec, part)
            .map_err(|error| format!("step {}: {error}", step.name))?;
    }
    Ok(early)
}

/// What steps before rendering get from their Application: nothing of it is rendered, so nothing is in an
/// inventory. What they apply is owned by the Application itself, and goes with it.
struct Owner<'a> {
    engine: &'a Engine<'a>,
    app: &'a Application,
}

fn not_rendered<T>() -> Result<T, Error> {
    Err(Error::Invalid("nothing is rendered yet in a step of stage pre-render".into()))
}

impl Host for Owner<'_> {
    fn namespace(&self) -> &str {
        self.app.namespace()
    }

    fn name(&self) -> &str {
        &self.app.metadata.name
    }

    fn takes_parts(&self) -> bool {
        true
    }

    fn dispatch<'a>(&'a self, objects: Vec<Value>, cluster: &'a str) -> Call<'a, Vec<Value>> {
        let owner = json!([{
            "apiVersion": V1BETA1,
            "kind": "Application",
            "name": self.app.metadata.name,
            "uid": self.app.metadata.uid,
            "controller": true,
        }]);
        Box::pin(async move {
            let mut live = Vec::with_capacity(objects.len());
            for mut it in objects {
                let at = ObjectRef::of(&it, cluster);
                let home = at.namespace.is_empty() || at.namespace == self.app.namespace();
                if !home || !["", LOCAL_CLUSTER].contains(&cluster) {
                    return Err(Error::Invalid(format!(
                        "{} {}: before rendering only objects in the Application's namespace are applied",
                        at.kind, at.name
                    )));
                }
                it["metadata"]["namespace"] = self.app.namespace().into();
                it["metadata"]["ownerReferences"] = owner.clone();
                object::set_label(&mut it, label::APP_NAME, &self.app.metadata.name);
                object::set_label(&mut it, label::APP_NAMESPACE, self.app.namespace());
                live.push(self.engine.objects.apply(&it, "", Apply::FORCED).await?);
            }
            Ok(live)
        })
    }

    fn apply_component<'a>(
        &'a self,
        _component: &'a Value,
        _cluster: &'a str,
        _namespace: &'a str,
    ) -> Call<'a, Applied> {
        Box::pin(async { not_rendered() })
    }

    fn deploy<'a>(
        &'a self,
        _policies: Vec<String>,
        _inline: Value,
        _parallelism: usize,
    ) -> Call<'a, Option<String>> {
        Box::pin(async { not_rendered() })
    }
}
