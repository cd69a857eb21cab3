//! A WorkflowRun: a workflow by itself, without components and without an inventory (kubevela.md 4.12).

use chrono::{DateTime, Duration, SecondsFormat, Utc};
use serde_json::{Map, Value, json};

use super::definitions::load;
use super::{Engine, Next, nulls, status};
use crate::api::object::{self, Condition};
use crate::api::workflow::{RunStatus, WorkflowRun, WorkflowStatus};
use crate::api::{Application, DefinitionKind, V1ALPHA1, Workflow, WorkflowSpec};
use crate::policy::generator;
use crate::records::{self, Thought};
use crate::workflow::actions::{Applied, Host};
use crate::workflow::round::State;
use crate::workflow::step::Setting;
use crate::workflow::variables::Variables;
use crate::workflow::{Round, round};
use crate::world::{Apply, Call, Error, EventKind, ObjectRef};

/// Name and namespace of the run that applied an object.
const NAME: &str = "workflowrun.oam.dev/name";
const NAMESPACE: &str = "workflowrun.oam.dev/namespace";
/// The final values of its steps are kept, to look at.
const DEBUG: &str = "workflowrun.oam.dev/debug";
/// Only a controller of this version reconciles it.
const REQUIREMENT: &str = "workflowrun.oam.dev/controller-version-require";
/// How long a run stays after its end.
const KEPT: Duration = Duration::days(30);

fn at(namespace: &str, name: &str) -> ObjectRef {
    ObjectRef::local(V1ALPHA1, "WorkflowRun", namespace, name)
}

/// Brings one WorkflowRun closer to its end.
///
/// # Errors
/// What kept it from being read or written; what the user got wrong is in the status instead.
pub async fn reconcile_run(
    engine: &Engine<'_>,
    namespace: &str,
    name: &str,
) -> Result<Next, Error> {
    let (world, now) = (engine.world, engine.world.now());
    let Some(live) = world.get(&at(namespace, name)).await? else { return Ok(Next::default()) };
    let mut run: WorkflowRun = serde_json::from_value(live.clone())
        .map_err(|error| Error::Invalid(format!("WorkflowRun {name}: {error}")))?;
    let meta = &live["metadata"];
    if meta["deletionTimestamp"].is_string() || meta["annotations"][REQUIREMENT].is_string() {
        return Ok(Next::default());
    }
    if run.status.finished {
        let end = time(run.status.end_time.as_deref()).unwrap_or(now) + KEPT;
        if end <= now {
            world.delete(&at(namespace, name)).await?;
            return Ok(Next::default());
        }
        return Ok(Next { wake: Some(end) });
    }
    let before = serde_json::to_value(&run.status).unwrap_or_default();
    let result = advance(engine, &mut run).await;
    let mut next = Next::default();
    let mut failure = None;
    match result {
        Ok(wake) => next.wake = wake,
        Err(error @ (Error::Unavailable(_) | Error::Conflict(_))) => failure = Some(error),
        Err(error) => {
            run.status.message = error.to_string();
            condition(&mut run.status, "False", &error.to_string(), now);
            world.event(&live, EventKind::Warning, "FailedExecute", &error.to_string()).await?;
            next.wake = Some(now + Duration::seconds(30));
        }
    }
    let mut change = serde_json::to_value(&run.status).unwrap_or_default();
    if change != before {
        nulls(&before, &mut change);
        let body =
            json!({"metadata": {"resourceVersion": meta["resourceVersion"]}, "status": change});
        match world.patch_status(&at(namespace, name), &body).await {
            Ok(()) | Err(Error::NotFound(_)) => {}
            // Somebody wrote meanwhile, a suspend perhaps: nothing of it may be lost.
            Err(Error::Conflict(_)) => next.wake = Some(now + Duration::milliseconds(20)),
            Err(error) => return Err(error),
        }
    }
    failure.map_or(Ok(next), Err)
}

fn time(text: Option<&str>) -> Option<DateTime<Utc>> {
    Some(DateTime::parse_from_rfc3339(text?).ok()?.with_timezone(&Utc))
}

async fn advance(
    engine: &Engine<'_>,
    run: &mut WorkflowRun,
) -> Result<Option<DateTime<Utc>>, Error> {
    let (world, now) = (engine.world, engine.world.now());
    let (name, namespace) = (run.metadata.name.clone(), run.metadata.namespace.clone());
    // Its steps are found, and its definitions read, as those of an Application are.
    let app = stand_in(run);
    let workflows = referenced(engine, &run.spec.workflow_ref, &namespace).await?;
    let steps = generator::steps(&app, &workflows)
        .map_err(|error| Error::Invalid(error.to_string()))?
        .named();
    let (definitions, _) = load(engine, &app, &steps.steps).await?;
    let fresh = run.status.start_time.is_none();
    if fresh {
        run.status = RunStatus {
            mode: Some(steps.mode.clone()),
            start_time: Some(now.to_rfc3339_opts(SecondsFormat::Secs, true)),
            ..RunStatus::default()
        };
    }
    let store = Variables::config_map_name(&name);
    let mut variables = if fresh {
        Variables::fresh()
    } else {
        let place = ObjectRef::local("v1", "ConfigMap", &namespace, &store);
        Variables::read(world.get(&place).await?.as_ref())
    };
    let template = |r#type: &str| {
        definitions
            .get(DefinitionKind::WorkflowStep, r#type, &namespace, false)
            .and_then(|it| it.template().map(str::to_owned))
            .ok_or_else(|| format!("no step type {type}"))
    };
    let mut context = Map::new();
    context
        .extend(run.spec.context.as_ref().and_then(Value::as_object).cloned().unwrap_or_default());
    context.insert("name".into(), name.as_str().into());
    context.insert("namespace".into(), namespace.as_str().into());
    let debug = run.metadata.annotations.get(DEBUG).is_some_and(|it| it == "true");
    let owner = Owner { engine, name: &name, namespace: &namespace, owner: owner(run), debug };
    let setting =
        Setting { runtime: engine.runtime, library: engine.step_library, world, host: &owner };
    let pass = Round {
        steps: &steps.steps,
        mode: &steps.mode,
        template: &template,
        context: &context,
        trials: engine.settings.trials(),
    };
    let mut workflow = run.status.to_workflow();
    let passed = round(&pass, &setting, &mut workflow, &mut variables).await;
    if variables.is_changed() {
        let start = workflow.start_time.clone().unwrap_or_default();
        let object = variables.config_map_of(&name, &namespace, self::owner(run), &start);
        let known = workflow.context_backend.is_some();
        let thought = if known { Thought::There } else { Thought::Absent };
        records::write(world, &object, thought).await?;
        workflow.context_backend = serde_json::from_value(json!({
            "apiVersion": "v1", "kind": "ConfigMap", "name": store, "namespace": namespace,
        }))
        .ok();
    }
    run.status.phase = status::workflow_phase(passed.state, &workflow).into();
    run.status.take(workflow);
    match passed.state {
        State::Succeeded => condition(&mut run.status, "True", "", now),
        State::Failed | State::Terminated => {
            let failed = run.status.steps.iter().find(|it| it.phase == "failed");
            let text = failed.map(|it| format!("step {} failed: {}", it.name, it.message));
            condition(&mut run.status, "False", &text.unwrap_or_default(), now);
        }
        State::Executing | State::Suspended => {}
    }
    if run.status.finished {
        return Ok(Some(now + KEPT));
    }
    Ok(passed.wake)
}

/// An Application with nothing but the run's workflow.
fn stand_in(run: &WorkflowRun) -> Application {
    let spec = run.spec.workflow_spec.clone().unwrap_or_default();
    let mut app = Application { metadata: run.metadata.clone(), ..Application::default() };
    app.spec.workflow = Some(WorkflowSpec {
        r#ref: run.spec.workflow_ref.clone(),
        mode: run.spec.mode.clone().or(spec.mode),
        steps: spec.steps,
        ..WorkflowSpec::default()
    });
    app
}

async fn referenced(
    engine: &Engine<'_>,
    name: &str,
    namespace: &str,
) -> Result<Vec<Workflow>, Error> {
    if name.is_empty() {
        return Ok(Vec::new());
    }
    let place = ObjectRef::local(V1ALPHA1, "Workflow", namespace, name);
    let live = engine.world.get(&place).await?;
    Ok(live.and_then(|it| serde_json::from_value(it).ok()).into_iter().collect())
}

fn owner(run: &WorkflowRun) -> Value {
    json!({
        "apiVersion": V1ALPHA1,
        "kind": "WorkflowRun",
        "name": run.metadata.name,
        "uid": run.metadata.uid,
        "controller": true,
    })
}

/// The one condition of a run.
fn condition(status: &mut RunStatus, value: &str, message: &str, now: DateTime<Utc>) {
    let reason = if value == "True" { "Available" } else { "ReconcileError" };
    let new = json!({
        "type": "WorkflowRun", "status": value, "reason": reason, "message": message,
        "lastTransitionTime": now.to_rfc3339_opts(SecondsFormat::Secs, true),
    });
    let Ok(new) = serde_json::from_value::<Condition>(new) else { return };
    match status.conditions.iter_mut().find(|it| it.r#type == "WorkflowRun") {
        Some(old) if old.status == new.status && old.message == new.message => {}
        Some(old) => *old = new,
        None => status.conditions.push(new),
    }
}

/// What steps of a run get from its owner: objects are applied with its labels, nothing is recorded.
struct Owner<'a> {
    engine: &'a Engine<'a>,
    name: &'a str,
    namespace: &'a str,
    owner: Value,
    debug: bool,
}

fn no_components<T>() -> Result<T, Error> {
    Err(Error::Invalid("a WorkflowRun has no components and no policies".into()))
}

impl Host for Owner<'_> {
    fn namespace(&self) -> &str {
        self.namespace
    }

    fn name(&self) -> &str {
        self.name
    }

    fn debug_object(&self, step_id: &str) -> Option<Value> {
        let uid = self.owner["uid"].as_str().unwrap_or_default();
        let tail = uid.get(uid.len().saturating_sub(5)..).unwrap_or_default();
        self.debug.then(|| {
            json!({
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {
                    "name": format!("{}-{step_id}-debug-{tail}", self.name),
                    "namespace": self.namespace,
                    "ownerReferences": [self.owner],
                },
            })
        })
    }

    fn dispatch<'a>(&'a self, objects: Vec<Value>, cluster: &'a str) -> Call<'a, Vec<Value>> {
        Box::pin(async move {
            let mut live = Vec::with_capacity(objects.len());
            for mut it in objects {
                object::set_label(&mut it, NAME, self.name);
                object::set_label(&mut it, NAMESPACE, self.namespace);
                live.push(self.engine.world.apply(&it, cluster, Apply::FORCED).await?);
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
        Box::pin(async { no_components() })
    }

    fn deploy<'a>(
        &'a self,
        _policies: Vec<String>,
        _inline: Value,
        _parallelism: usize,
    ) -> Call<'a, Option<String>> {
        Box::pin(async { no_components() })
    }
}

impl RunStatus {
    /// As steps see it.
    fn to_workflow(&self) -> WorkflowStatus {
        WorkflowStatus {
            phase: self.phase.clone(),
            message: self.message.clone(),
            suspend: self.suspend,
            suspend_state: self.suspend_state.clone(),
            terminated: self.terminated,
            finished: self.finished,
            context_backend: self.context_backend.clone(),
            steps: self.steps.clone(),
            start_time: self.start_time.clone(),
            end_time: self.end_time.clone(),
            ..WorkflowStatus::default()
        }
    }

    fn take(&mut self, workflow: WorkflowStatus) {
        self.message = workflow.message;
        self.suspend = workflow.suspend;
        self.suspend_state = workflow.suspend_state;
        self.terminated = workflow.terminated;
        self.finished = workflow.finished;
        self.context_backend = workflow.context_backend;
        self.steps = workflow.steps;
        self.start_time = workflow.start_time;
        self.end_time = workflow.end_time;
    }
}
