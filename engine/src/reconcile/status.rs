//! Conditions and phases as KubeVela writes them (E-4, E-9, E-11).

use chrono::{DateTime, SecondsFormat, Utc};

use crate::api::names::condition;
use crate::api::workflow::WorkflowStatus;
use crate::api::{Application, Condition};
use crate::workflow::round::State;

/// Sets a condition; its time changes only when its status does.
pub(super) fn set(app: &mut Application, kind: &str, result: Result<(), &str>, now: DateTime<Utc>) {
    let (status, reason, message) = match result {
        Ok(()) if kind == condition::READY => ("True", "ReconcileSuccess", ""),
        Ok(()) => ("True", "Available", ""),
        Err(message) => ("False", "ReconcileError", message),
    };
    put(app, kind, [status, reason, message], now);
}

/// Not ready: objects are still going.
pub(super) fn deleting(app: &mut Application, message: &str, now: DateTime<Utc>) {
    put(app, condition::READY, ["False", "Deleting", message], now);
}

fn put(
    app: &mut Application,
    kind: &str,
    [status, reason, message]: [&str; 3],
    now: DateTime<Utc>,
) {
    let new = Condition {
        r#type: kind.to_owned(),
        status: status.to_owned(),
        reason: reason.to_owned(),
        message: message.to_owned(),
        last_transition_time: now.to_rfc3339_opts(SecondsFormat::Secs, true),
        ..Condition::default()
    };
    match app.status.conditions.iter_mut().find(|it| it.r#type == kind) {
        Some(old) => {
            let since = (old.status == new.status).then(|| old.last_transition_time.clone());
            *old = new;
            if let Some(since) = since {
                old.last_transition_time = since;
            }
        }
        None => app.status.conditions.push(new),
    }
}

/// A condition that is no longer about anything goes.
pub(super) fn forget(app: &mut Application, kind: &str) {
    app.status.conditions.retain(|it| it.r#type != kind);
}

/// Nothing stands in the way any more.
pub(super) fn recovered(app: &mut Application) {
    app.status.conditions.retain(|it| it.status != "False");
}

/// `status.workflow.status`
pub(super) fn workflow_phase(state: State, workflow: &WorkflowStatus) -> &'static str {
    match state {
        State::Suspended => "suspending",
        State::Executing if workflow.suspend => "suspending",
        State::Executing => "executing",
        State::Succeeded => "succeeded",
        State::Failed => "failed",
        State::Terminated => "terminated",
    }
}
