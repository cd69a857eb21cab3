//! Conditions and phases as KubeVela writes them.

use chrono::{DateTime, SecondsFormat, Utc};
use serde_json::json;

use crate::api::Application;
use crate::workflow::round::State;

/// Sets a condition; its time changes only when its status does.
pub(super) fn set(app: &mut Application, kind: &str, result: Result<(), &str>, now: DateTime<Utc>) {
    let (status, reason, message) = match result {
        Ok(()) => ("True", "Available", ""),
        Err(message) => ("False", "ReconcileError", message),
    };
    let time = now.to_rfc3339_opts(SecondsFormat::Secs, true);
    let mut value = json!({
        "type": kind, "status": status, "reason": reason, "lastTransitionTime": time,
    });
    if !message.is_empty() {
        value["message"] = message.into();
    }
    let Ok(new) = serde_json::from_value::<crate::api::Condition>(value) else { return };
    match app.status.conditions.iter_mut().find(|it| it.r#type == kind) {
        Some(old) if old.status == new.status && old.message == new.message => {}
        Some(old) => {
            let time = old.last_transition_time.clone();
            let same = old.status == new.status;
            *old = new;
            if same {
                old.last_transition_time = time;
            }
        }
        None => app.status.conditions.push(new),
    }
}

/// `status.workflow.status`
pub(super) fn workflow_phase(state: State, suspend: bool) -> &'static str {
    match state {
        State::Suspended => "suspending",
        State::Executing if suspend => "suspending",
        State::Executing => "executing",
        State::Succeeded => "succeeded",
        State::Failed => "failed",
        State::Terminated => "terminated",
    }
}
