//! What a run leaves when it has ended: its variables, and in the revision what became of it (E-10).
//!
//! Nobody waits for that: it is written after the status, which says that the run has ended.
//! A process that dies in between leaves it to whoever comes next: who does not know how the last reconcile
//! ended looks at the revision once.

use serde_json::{Map, Value, json};

use super::{Engine, revision};
use crate::api::names::annotation;
use crate::api::workflow::WorkflowStatus;
use crate::api::{Application, object};
use crate::records::{self, Thought};
use crate::workflow::variables::Variables;
use crate::world::{Error, ObjectRef};

/// What is to be written once a run has ended.
pub(super) struct Ending {
    /// Name of the revision that was run.
    revision: String,
    succeeded: bool,
    /// The variables as the revision tells them.
    told: Map<String, Value>,
    /// Their ConfigMap, if it can be made from the status alone.
    variables: Option<(Value, Thought)>,
}

/// How a run has ended.
pub(super) struct Ended<'a> {
    /// Name of the ApplicationRevision.
    pub(super) revision: &'a str,
    pub(super) succeeded: bool,
    /// In its first round.
    pub(super) at_once: bool,
}

/// Writes the variables of a round, before the status says that it was. Those of a run that has ended in
/// its first round may follow it, if there are none: whoever finds them missing knows what they were.
pub(super) async fn remember(
    engine: &Engine<'_>,
    app: &mut Application,
    variables: &mut Variables,
    ended: Option<Ended<'_>>,
) -> Result<Option<Ending>, Error> {
    let told = variables.told();
    let mut later = None;
    if variables.is_changed() {
        let nothing = variables.is_empty();
        let (object, thought) = stored(app, variables);
        if nothing && ended.as_ref().is_some_and(|it| it.at_once) {
            later = Some((object, thought));
        } else {
            records::write(engine.world, &object, thought).await?;
        }
    }
    Ok(ended.map(|it| Ending {
        revision: it.revision.to_owned(),
        succeeded: it.succeeded,
        told,
        variables: later,
    }))
}

/// Writes the variables.
pub(super) async fn store(
    engine: &Engine<'_>,
    app: &mut Application,
    variables: &mut Variables,
) -> Result<(), Error> {
    let (object, thought) = stored(app, variables);
    records::write(engine.world, &object, thought).await
}

/// The variables' ConfigMap, and whether the status says that there is one; afterwards it does.
fn stored(app: &mut Application, variables: &mut Variables) -> (Value, Thought) {
    let start = app.status.workflow.as_ref().and_then(|it| it.start_time.clone());
    let object = variables.config_map(app, &start.unwrap_or_default());
    let at = place(app);
    let reference = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "name": at.name, "namespace": at.namespace,
    });
    let mut thought = Thought::Absent;
    if let Some(workflow) = &mut app.status.workflow {
        let before = std::mem::replace(
            &mut workflow.context_backend,
            serde_json::from_value(reference).ok(),
        );
        if before.is_some() {
            thought = Thought::There;
        }
    }
    (object, thought)
}

/// Where the variables of an Application are.
pub(super) fn place(app: &Application) -> ObjectRef {
    let name = Variables::config_map_name(&app.metadata.name);
    ObjectRef::local("v1", "ConfigMap", app.namespace(), &name)
}

impl Ending {
    /// Writes what was left until now: the variables, and what became of the run.
    ///
    /// # Errors
    /// As a request failed.
    pub(super) async fn leave(self, engine: &Engine<'_>, app: &Application) -> Result<(), Error> {
        if let Some((object, thought)) = &self.variables {
            records::write(engine.world, object, *thought).await?;
        }
        self.conclude(engine, app).await
    }

    /// Writes what became of the run; after everything else, for it says that there is nothing left.
    ///
    /// # Errors
    /// As the request failed.
    async fn conclude(self, engine: &Engine<'_>, app: &Application) -> Result<(), Error> {
        let body = json!({"status": {
            "succeeded": self.succeeded,
            "workflow": app.status.workflow,
            "workflowContext": self.told,
        }});
        match engine.world.patch_status(&revision::at(app, &self.revision), &body).await {
            Ok(()) | Err(Error::NotFound(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

/// Writes what a reconcile may have left out after it wrote the status.
///
/// # Errors
/// As a request failed.
pub(super) async fn make_good(engine: &Engine<'_>, app: &Application) -> Result<(), Error> {
    let ended = app.status.workflow.as_ref().filter(|it| it.finished);
    let (Some(run), Some(latest)) = (ended, &app.status.latest_revision) else { return Ok(()) };
    let Some(live) = engine.world.get(&revision::at(app, &latest.name)).await? else {
        return Ok(());
    };
    let version = object::annotation(&live, annotation::PUBLISH_VERSION).unwrap_or_default();
    let is_its = [latest.name.as_str(), version].contains(&run.app_revision.as_str());
    if !is_its || is_of(&live["status"]["workflow"], run) {
        return Ok(());
    }
    let start = run.start_time.as_deref().unwrap_or_default();
    let found = engine.world.get(&place(app)).await?;
    let of_this_run = found
        .as_ref()
        .filter(|it| it["metadata"]["annotations"]["vela.io/startTime"].as_str() == Some(start));
    let variables = match of_this_run {
        Some(found) => Variables::read(Some(found)),
        None => {
            // It was nothing, or it would have been written before.
            let mut nothing = Variables::fresh();
            let object = nothing.config_map(app, start);
            let thought = if found.is_some() { Thought::There } else { Thought::Absent };
            records::write(engine.world, &object, thought).await?;
            nothing
        }
    };
    let ending = Ending {
        revision: latest.name.clone(),
        succeeded: run.phase == "succeeded",
        told: variables.told(),
        variables: None,
    };
    ending.conclude(engine, app).await
}

/// Whether `told` is what became of `run`.
fn is_of(told: &Value, run: &WorkflowStatus) -> bool {
    let same = |key: &str, time: &Option<String>| told[key].as_str() == time.as_deref();
    same("startTime", &run.start_time) && same("endTime", &run.end_time)
}
