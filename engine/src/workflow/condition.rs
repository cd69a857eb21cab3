//! `if` expressions of steps: what they see and what they give.

use cue_session::{
    Budget, Error as CueError, Input, Profile, Program, ProgramSpec, Runtime, Source,
};
use serde_json::{Map, Value, json};

use crate::api::workflow::{StepStatus, WorkflowStatus};

/// Whether a step runs though an earlier one failed.
pub fn is_always(condition: &str) -> bool {
    condition.trim() == "always"
}

/// What `status.<step>` says.
pub fn statuses(status: &WorkflowStatus) -> Value {
    let mut all = Map::new();
    let mut add = |row: &StepStatus| {
        let reason = |it: &str| row.reason == it;
        let entry = json!({
            "phase": row.phase,
            "message": row.message,
            "reason": row.reason,
            "succeeded": row.phase == "succeeded",
            "failed": row.phase == "failed",
            "skipped": row.phase == "skipped",
            "timeout": row.phase == "failed" && reason("Timeout"),
            "failedAfterRetries": row.phase == "failed" && reason("FailedAfterRetries"),
            "terminate": row.phase == "failed" && reason("Terminate"),
        });
        // A name with dashes is no identifier: KubeVela lets `_` stand for them.
        all.insert(row.name.replace('-', "_"), entry.clone());
        all.insert(row.name.clone(), entry);
    };
    for row in &status.steps {
        add(row);
        row.sub_steps.iter().for_each(&mut add);
    }
    Value::Object(all)
}

/// Evaluates a condition; `scope` has the step's `inputs` and its `parameter` (E-116).
///
/// # Errors
/// Why it is no bool, in KubeVela's words.
pub fn evaluate(
    runtime: &dyn Runtime,
    condition: &str,
    status: &Value,
    scope: &Value,
    context: &Value,
) -> Result<bool, String> {
    // `status.a-b.succeeded` is read as the step a-b.
    let mut text = condition.to_owned();
    for name in status.as_object().into_iter().flat_map(Map::keys).filter(|it| it.contains('-')) {
        text = text
            .replace(&format!("status.{name}."), &format!("status.{}.", name.replace('-', "_")));
    }
    let program = Program::new(ProgramSpec {
        sources: vec![Source::new(
            "if",
            format!("\"if\": ({text})\nstatus: _\ninputs: _\nparameter: _\ncontext: _\n"),
        )],
        packages: Vec::new(),
        profile: Profile::KubeVela,
    });
    let inputs = vec![
        Input::new("status", status.to_string()),
        Input::new("inputs", scope["inputs"].to_string()),
        Input::new("parameter", scope["parameter"].to_string()),
        Input::new("context", context.to_string()),
    ];
    let value = runtime
        .start(&program, inputs, Budget::DEFINITION)
        .and_then(|mut session| session.value("\"if\""));
    match value {
        Ok(Some(Value::Bool(it))) => Ok(it),
        Ok(other) => {
            let other = other.unwrap_or_default();
            let kind = if other.is_string() { "string" } else { "value" };
            Err(format!("if: cannot use value {other} (type {kind}) as bool"))
        }
        Err(error) => Err(format!("invalid if value: {}", first(&error))),
    }
}

fn first(error: &CueError) -> String {
    match error.diagnostics().first() {
        Some(wrong) => {
            let path = wrong.path.trim_matches('"');
            let colon = if path.is_empty() { "" } else { ": " };
            format!("{path}{colon}{}", wrong.message)
        }
        None => error.to_string(),
    }
}
