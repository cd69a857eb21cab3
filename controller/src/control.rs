//! Suspend, resume, terminate and restart a workflow by writing its Application's status.
//!
//! The forms are those `vela workflow …` writes (kubevela-engine.md E-108 to E-112), so that both
//! tools work on both controllers; the status is written with its resourceVersion, so that a
//! concurrent write by the controller means reading again, never a lost step.

use crate::connection::Client;
use chrono::{SecondsFormat, Utc};
use http::Method;
use serde_json::{Value, json};

use crate::kinds::Resource;
use crate::rest::{self, ActAs, Body, Error};

/// What to do with a workflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Stop before the next step.
    Suspend,
    /// Go on.
    Resume,
    /// End it as failed.
    Terminate,
    /// Run it again from the start.
    Restart,
}

/// Why the workflow was left as it is.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// The API said no.
    #[error(transparent)]
    Api(#[from] Error),
    /// No such Application.
    #[error("there is no Application {0} in namespace {1}")]
    NoApplication(String, String),
    /// It has not started yet.
    #[error("the workflow of {0} has not started")]
    NotStarted(String),
    /// Not in a state for this.
    #[error("the workflow of {0} is {1}")]
    NotNow(String, &'static str),
    /// `--step` names none.
    #[error("the workflow of {app} has no step {step}{hint}")]
    NoStep {
        /// Application.
        app: String,
        /// As asked.
        step: String,
        /// The nearest name, or nothing.
        hint: String,
    },
    /// Somebody else kept writing.
    #[error("the status of {0} kept changing; try again")]
    Busy(String),
}

/// Tries before giving up on a status that keeps changing.
const ATTEMPTS: u32 = 10;

/// Carries out `control` on the workflow of Application `name`; `step` limits it to one step.
///
/// # Errors
/// As [`Refused`] says; nothing was changed then.
pub async fn control(
    client: &Client,
    namespace: &str,
    name: &str,
    control: Control,
    step: Option<&str>,
) -> Result<(), Refused> {
    let resource = Resource::namespaced("core.oam.dev/v1beta1", "Application", "applications");
    let path = rest::path(&resource, namespace, Some(name));
    for _ in 0..ATTEMPTS {
        let Some(app) = rest::get(client, &path, &ActAs::default()).await? else {
            return Err(Refused::NoApplication(name.into(), namespace.into()));
        };
        let patch = patch(&app, name, control, step)?;
        let status = format!("{path}/status");
        let body = Some((Body::MergePatch, &patch));
        match rest::send(client, Method::PATCH, &status, body, &ActAs::default()).await {
            Ok(_) => return Ok(()),
            Err(error) if error.code() == 409 => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(Refused::Busy(name.into()))
}

fn patch(app: &Value, name: &str, control: Control, step: Option<&str>) -> Result<Value, Refused> {
    let version = app["metadata"]["resourceVersion"].clone();
    let workflow = &app["status"]["workflow"];
    if !workflow.is_object() {
        return Err(Refused::NotStarted(name.into()));
    }
    let is = |flag: &str| workflow[flag].as_bool().unwrap_or(false);
    let mut steps = workflow["steps"].clone();
    if let Some(step) = step {
        known(&steps, step).map_err(|hint| Refused::NoStep {
            app: name.into(),
            step: step.into(),
            hint,
        })?;
    }
    let changed = match control {
        Control::Suspend => {
            if is("finished") || is("terminated") {
                return Err(Refused::NotNow(name.into(), "finished already"));
            }
            set(&mut steps, step, &["running"], "suspending", None);
            json!({"suspend": true, "steps": steps})
        }
        Control::Resume => {
            if is("terminated") {
                return Err(Refused::NotNow(name.into(), "terminated; restart it instead"));
            }
            if !is("suspend") && !any(&steps, &["suspending"]) {
                return Err(Refused::NotNow(name.into(), "not suspended"));
            }
            set(&mut steps, step, &["suspending"], "running", None);
            // One step resumed leaves the flag to the others that still wait.
            json!({"suspend": step.is_some() && any(&steps, &["suspending"]), "steps": steps})
        }
        Control::Terminate => {
            if is("finished") || is("terminated") {
                return Err(Refused::NotNow(name.into(), "finished already"));
            }
            set(&mut steps, step, &["running", "suspending"], "failed", Some("Terminate"));
            json!({"terminated": true, "suspend": false, "steps": steps})
        }
        Control::Restart => {
            return Ok(json!({
                "metadata": {"resourceVersion": version},
                "status": {"workflow": null},
            }));
        }
    };
    Ok(json!({"metadata": {"resourceVersion": version}, "status": {"workflow": changed}}))
}

fn set(steps: &mut Value, only: Option<&str>, from: &[&str], to: &str, reason: Option<&str>) {
    let now = Utc::now().to_rfc3339_opts(SecondsFormat::Secs, true);
    let change = |row: &mut Value| {
        let named = only.is_none_or(|name| row["name"] == name);
        let phase = row["phase"].as_str().unwrap_or_default();
        if named && from.contains(&phase) {
            row["phase"] = json!(to);
            if let Some(reason) = reason {
                row["reason"] = json!(reason);
                row["lastExecuteTime"] = json!(now);
            }
        }
    };
    for row in steps.as_array_mut().into_iter().flatten() {
        let subs = row.get_mut("subSteps").and_then(Value::as_array_mut);
        subs.into_iter().flatten().for_each(change);
        change(row);
    }
}

fn any(steps: &Value, phases: &[&str]) -> bool {
    let at = |row: &Value| phases.contains(&row["phase"].as_str().unwrap_or_default());
    steps
        .as_array()
        .into_iter()
        .flatten()
        .any(|row| at(row) || row["subSteps"].as_array().into_iter().flatten().any(at))
}

fn known(steps: &Value, step: &str) -> Result<(), String> {
    let mut names = Vec::new();
    for row in steps.as_array().into_iter().flatten() {
        names.extend(row["name"].as_str());
        for sub in row["subSteps"].as_array().into_iter().flatten() {
            names.extend(sub["name"].as_str());
        }
    }
    if names.contains(&step) {
        return Ok(());
    }
    Err(format!("; it has {}", names.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn app(workflow: Value) -> Value {
        json!({"metadata": {"resourceVersion": "7"}, "status": {"workflow": workflow}})
    }

    #[test]
    fn resume_moves_suspending_steps_to_running() {
        let app = app(json!({"suspend": true, "steps": [
            {"name": "a", "phase": "succeeded"},
            {"name": "g", "phase": "running", "subSteps": [{"name": "b", "phase": "suspending"}]}
        ]}));
        let patch = patch(&app, "shop", Control::Resume, None).unwrap();
        assert_eq!(patch["metadata"]["resourceVersion"], "7");
        assert_eq!(
            patch["status"]["workflow"],
            json!({"suspend": false, "steps": [
                {"name": "a", "phase": "succeeded"},
                {"name": "g", "phase": "running", "subSteps": [{"name": "b", "phase": "running"}]}
            ]})
        );
    }

    #[test]
    fn terminate_marks_what_runs() {
        let app = app(json!({"steps": [{"name": "a", "phase": "running"}]}));
        let patch = patch(&app, "shop", Control::Terminate, None).unwrap();
        let step = &patch["status"]["workflow"]["steps"][0];
        assert_eq!((&step["phase"], &step["reason"]), (&json!("failed"), &json!("Terminate")));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let done = app(json!({"finished": true, "steps": []}));
        let text = |it: Result<Value, Refused>| it.unwrap_err().to_string();
        assert_eq!(
            text(patch(&done, "shop", Control::Suspend, None)),
            "the workflow of shop is finished already"
        );
        assert_eq!(
            text(patch(&done, "shop", Control::Resume, None)),
            "the workflow of shop is not suspended"
        );
        let one = app(json!({"suspend": true, "steps": [{"name": "hold", "phase": "suspending"}]}));
        assert_eq!(
            text(patch(&one, "shop", Control::Resume, Some("hodl"))),
            "the workflow of shop has no step hodl; it has hold"
        );
    }
}
