//! The order of everything for one Application, and the statuses, conditions, events it leaves.
//!
//! ~~~text
//! read ─ finalizer (beside what the Application owns) ─ steps before rendering ─ trackers ─ definitions ─ revision ─ policies ─ workflow round ─ health, drift, collecting ─ status (once) ─ what became of the run
//! ~~~
//! 1. The process may die between any two World calls; the next reconcile converges to the same end.
//!    (tests/crash.rs)
//! 2. What the user got wrong is in the status; an error is what kept the status from being written.

mod adoption; // our finalizer
mod definition; // one definition, recorded
mod definitions; // what the Application refers to
mod early; // steps before rendering
mod ending; // what a run leaves when it has ended
mod inputs; // what components take from others
mod outcome; // what follows from how a pass ended
mod referred; // objects that are in a cluster already
mod removal; // the Application goes
mod restart; // the workflow is to run again
mod revision; // which revision this is
mod run; // one pass of the workflow
mod stand_alone; // a WorkflowRun, without an Application
mod status; // conditions and phases
mod transform; // policies that change the Application itself

use self::adoption::Adoption;
pub use self::definition::reconcile_definition;
use self::run::Delivered;
pub use self::stand_alone::reconcile_run;

use chrono::{DateTime, Duration, Utc};
use cue_session::Runtime;
use serde_json::{Value, json};

use crate::api::names::{annotation, condition, label};
use crate::api::{Application, V1BETA1};
use crate::delivery::remove_strays;
use crate::render::Library;
use crate::settings::Settings;
use crate::world::{Error, EventKind, Identity, ObjectRef, World};

/// What reconciles are done with.
#[derive(Clone)]
pub struct Engine<'a> {
    /// Effects.
    pub world: &'a dyn World,
    /// Effects on what Applications name: of `world`, perhaps for somebody else.
    pub objects: &'a dyn World,
    /// The interpreter.
    pub runtime: &'a dyn Runtime,
    /// Packages of components and traits.
    pub render_library: &'a Library,
    /// Packages of workflow steps.
    pub step_library: &'a Library,
    /// Limits and gates.
    pub settings: &'a Settings,
    /// Version of the cluster, for templates.
    pub cluster_version: crate::render::ClusterVersion,
    /// The last reconcile of this Application was another process's, or failed: what is written after the
    /// status may be missing. To say so without need costs a read.
    pub doubts: bool,
}

/// What is to be done next.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Next {
    /// When to look again; `None`: only a change matters.
    pub wake: Option<DateTime<Utc>>,
}

/// Written to Applications as `oam.dev/kubevela-version`, and asked for by
/// `app.oam.dev/controller-version-require`.
pub const VERSION: &str = concat!("v", env!("CARGO_PKG_VERSION"));

/// Before what stopped a reconcile is tried again.
const PATIENCE: Duration = Duration::seconds(10);

/// Before a reconcile that lost a race is tried again.
const RACE: Duration = Duration::milliseconds(20);

/// Where and why a reconcile stopped (E-4).
struct Stop {
    condition: &'static str,
    phase: &'static str,
    /// Reason of the event.
    reason: &'static str,
    error: Error,
}

fn stop(
    condition: &'static str,
    phase: &'static str,
    reason: &'static str,
) -> impl Fn(Error) -> Stop + Copy {
    move |error| Stop { condition, phase, reason, error }
}

/// Where an Application is.
fn place(app: &Application) -> ObjectRef {
    ObjectRef::local(V1BETA1, "Application", app.namespace(), &app.metadata.name)
}

/// `now + by`, or as late as there is.
fn after(now: DateTime<Utc>, by: Duration) -> DateTime<Utc> {
    now.checked_add_signed(by).unwrap_or(DateTime::<Utc>::MAX_UTC)
}

/// Brings one Application closer to what it asks for.
///
/// # Errors
/// What kept it from being read or written; what the user got wrong is in the status instead.
pub async fn reconcile(engine: &Engine<'_>, namespace: &str, name: &str) -> Result<Next, Error> {
    let at = ObjectRef::local(V1BETA1, "Application", namespace, name);
    let Some(live) = engine.world.get(&at).await? else {
        remove_strays(engine.world, namespace, name, None).await?;
        return Ok(Next::default());
    };
    let mut app: Application = serde_json::from_value(live.clone())
        .map_err(|error| Error::Invalid(format!("Application {name}: {error}")))?;
    if is_left_alone(&app) {
        return Ok(Next::default());
    }
    let who = identity(&app, engine.settings);
    let acting = who.map(|it| engine.world.acting_as(&it)).transpose()?;
    let engine = &match &acting {
        Some(acting) => Engine { objects: &**acting, ..engine.clone() },
        None => engine.clone(),
    };
    if !app.metadata.deletion_timestamp.is_empty() {
        return removal::remove(engine, &app, &live).await;
    }
    if engine.doubts {
        remove_strays(engine.world, namespace, name, Some(&app.metadata.uid)).await?;
        ending::make_good(engine, &app).await?;
    }
    let adoption = Adoption::of(engine, &mut app);
    let before = serde_json::to_value(&app.status).unwrap_or_default();
    let mut again = None;
    let delivered = run::deliver(engine, &mut app, &live, &adoption).await;
    adoption.end(&mut app).await?;
    let Delivered { next, ending } = match delivered {
        Ok(delivered) => delivered,
        Err(it) => {
            let now = engine.world.now();
            let text = it.error.to_string();
            status::set(&mut app, it.condition, Err(&text), now);
            status::set(&mut app, condition::READY, Err(&text), now);
            app.status.phase = it.phase.into();
            engine.world.event(&live, EventKind::Warning, it.reason, &text).await?;
            if let Error::Unavailable(_) = it.error {
                again = Some(it.error);
            }
            Delivered { next: Next { wake: Some(after(now, PATIENCE)) }, ending: None }
        }
    };
    app.status.observed_generation = app.metadata.generation;
    match write(engine, &app, &before).await {
        Ok(()) => {}
        // Somebody wrote meanwhile, a suspend perhaps: nothing of it may be lost.
        Err(Error::Conflict(_)) => {
            return Ok(Next { wake: Some(after(engine.world.now(), RACE)) });
        }
        Err(error) => return Err(error),
    }
    if let Some(ending) = ending {
        ending.leave(engine, &app).await?;
    }
    again.map_or(Ok(next), Err)
}

/// Whom the Application's objects are delivered for, if not for the engine itself: its user, its service
/// account, or whoever the gate says; a user may act for less than the engine, never for more.
fn identity(app: &Application, settings: &Settings) -> Option<Identity> {
    let user =
        match (app.annotation(annotation::USERNAME), app.annotation(annotation::SERVICE_ACCOUNT)) {
            ("", "") if settings.gates.authenticate => settings.default_user.clone(),
            ("", "") => return None,
            ("", account) => format!("system:serviceaccount:{}:{account}", app.namespace()),
            (user, _) => user.to_owned(),
        };
    let groups = app.annotation(annotation::GROUP).split(',').map(str::trim);
    let groups = groups.filter(|it| !it.is_empty()).map(str::to_owned).collect();
    Some(Identity { user, groups })
}

/// Paused, or another version's (E-3, 2).
fn is_left_alone(app: &Application) -> bool {
    let wanted = app.annotation(annotation::CONTROLLER_REQUIREMENT);
    app.metadata.labels.get(label::PAUSE).is_some_and(|it| it == "true")
        || !wanted.is_empty() && wanted != VERSION
}

/// Writes the status if it changed; what disappeared is removed.
async fn write(engine: &Engine<'_>, app: &Application, before: &Value) -> Result<(), Error> {
    let mut after = serde_json::to_value(&app.status).unwrap_or_default();
    if engine.settings.mirror_phase && after["status"].is_string() {
        after["phase"] = after["status"].clone();
    }
    if after == *before {
        return Ok(());
    }
    let mut change = after;
    nulls(before, &mut change);
    let version = app.metadata.resource_version.as_str();
    let body = json!({"metadata": {"resourceVersion": version}, "status": change});
    match engine.world.patch_status(&place(app), &body).await {
        Ok(()) | Err(Error::NotFound(_)) => Ok(()),
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
