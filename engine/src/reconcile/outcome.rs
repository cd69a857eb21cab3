//! What follows from how a pass ended: drift, what goes, conditions, and when the Application is looked at again (E-8).

use chrono::{DateTime, Duration, Utc};
use serde_json::Value;

use super::{Engine, Next, after, status};
use crate::api::Application;
use crate::api::names::{condition, phase};
use crate::delivery::{Collected, Delivery, Extent};
use crate::workflow::round::State;
use crate::world::{Error, EventKind};

/// Before objects that are not healthy are looked at again.
pub(super) const UNHEALTHY: Duration = Duration::seconds(5);

/// Before objects that are going are looked at again.
const GOING: Duration = Duration::seconds(1);

/// When an Application is looked at again though nothing changes: as soon as anything asks for it.
pub(super) struct Wake {
    now: DateTime<Utc>,
    at: Option<DateTime<Utc>>,
}

impl Wake {
    /// When the steps ask for it.
    pub(super) fn new(at: Option<DateTime<Utc>>, now: DateTime<Utc>) -> Self {
        Self { now, at }
    }

    /// Then at the latest.
    pub(super) fn at(&mut self, at: DateTime<Utc>) {
        self.at = Some(self.at.map_or(at, |it| it.min(at)));
    }

    /// After that time at the latest.
    pub(super) fn within(&mut self, by: Duration) {
        self.at(after(self.now, by));
    }
}

impl From<Wake> for Next {
    fn from(wake: Wake) -> Self {
        Next { wake: wake.at }
    }
}

/// Corrects drift; that it could not be corrected is told and ends nothing.
pub(super) async fn keep(
    engine: &Engine<'_>,
    app: &mut Application,
    delivery: &Delivery<'_>,
    live: &Value,
    wake: &mut Wake,
) -> Result<(), Error> {
    let Err(error) = delivery.keep_state().await else {
        if app.status.conditions.iter().any(|it| it.r#type == condition::STATE_KEEP) {
            status::set(app, condition::STATE_KEEP, Ok(()), wake.now);
        }
        return Ok(());
    };
    // What stands in the way passes.
    if matches!(error, Error::Unavailable(_) | Error::Conflict(_)) {
        wake.within(UNHEALTHY);
    }
    let text = error.to_string();
    let known =
        app.status.conditions.iter().any(|it| {
            it.r#type == condition::STATE_KEEP && it.status == "False" && it.message == text
        });
    status::set(app, condition::STATE_KEEP, Err(&text), wake.now);
    if !known {
        engine.world.event(live, EventKind::Warning, "FailedStateKeep", &text).await?;
    }
    Ok(())
}

/// Collects what is not delivered any more: history too, once the run has come to where nothing needs it.
pub(super) async fn collect(
    app: &mut Application,
    delivery: &Delivery<'_>,
    state: State,
    wake: &mut Wake,
) {
    let past = match state {
        State::Succeeded => true,
        State::Failed => delivery.rules.continues_on_failure(),
        _ => false,
    };
    let extent = if past { Extent::History } else { Extent::Marked };
    match delivery.collect(extent).await {
        Ok(Collected::All | Collected::Abandoned(_)) => {}
        Ok(Collected::Waiting(text)) => {
            status::deleting(app, &text, wake.now);
            wake.within(GOING);
        }
        // Told, and tried again; what was delivered stands.
        Err(error) => {
            status::deleting(app, &error.to_string(), wake.now);
            wake.within(UNHEALTHY);
        }
    }
}

/// The phase of an Application by how its run stands, if all it delivered is healthy.
pub(super) fn phase(state: State) -> &'static str {
    match state {
        State::Executing => phase::RUNNING_WORKFLOW,
        State::Suspended => phase::SUSPENDING,
        State::Failed => phase::FAILED,
        State::Terminated => phase::TERMINATED,
        State::Succeeded => phase::RUNNING,
    }
}

/// Conditions by how the run stands.
pub(super) fn conclude(app: &mut Application, state: State, now: DateTime<Utc>) {
    match state {
        State::Succeeded => {
            status::set(app, condition::WORKFLOW, Ok(()), now);
            status::set(app, condition::READY, Ok(()), now);
        }
        State::Failed => {
            let rows = app.status.workflow.iter().flat_map(|it| &it.steps);
            let mut failure = rows.flat_map(|it| std::iter::once(it).chain(&it.sub_steps));
            let Some(step) = failure.rfind(|it| it.phase == "failed") else { return };
            let text = format!("step {} failed: {} {}", step.name, step.reason, step.message);
            status::set(app, condition::WORKFLOW, Err(text.trim_end()), now);
            status::set(app, condition::READY, Err(text.trim_end()), now);
        }
        // What stopped a pass before this one is over.
        State::Executing | State::Suspended | State::Terminated => status::recovered(app),
    }
}

/// Tells that the run has ended.
pub(super) async fn announce(
    engine: &Engine<'_>,
    app: &Application,
    state: State,
    live: &Value,
) -> Result<(), Error> {
    let world = engine.world;
    if state == State::Succeeded {
        world.event(live, EventKind::Normal, "Applied", "Workflow finished").await?;
        world.event(live, EventKind::Normal, "Deployed", "Deployed successfully").await
    } else {
        let text = format!("workflow ended: {}", app.status.phase);
        world.event(live, EventKind::Warning, "WorkflowFailed", &text).await
    }
}
