//! Rows of a run's status: finding them, making them, ending them.

use crate::api::workflow::{StepStatus, WorkflowStatus, WorkflowStep};

const DONE: [&str; 3] = ["succeeded", "failed", "skipped"];

/// Whether a step is over.
pub(super) fn is_done(row: Option<&StepStatus>) -> bool {
    row.is_some_and(|it| DONE.contains(&it.phase.as_str()))
}

/// Whether a step of the list failed.
pub(super) fn any_failed(status: &WorkflowStatus) -> bool {
    status.steps.iter().any(|it| it.phase == "failed")
}

/// Rows of the list, or of the group.
fn rows<'a>(status: &'a WorkflowStatus, group: Option<&str>) -> &'a [StepStatus] {
    match group {
        None => &status.steps,
        Some(group) => match status.steps.iter().find(|it| it.name == group) {
            Some(own) => &own.sub_steps,
            None => &[],
        },
    }
}

/// The row of a step, if there is one.
pub(super) fn row<'a>(
    status: &'a WorkflowStatus,
    group: Option<&str>,
    name: &str,
) -> Option<&'a StepStatus> {
    rows(status, group).iter().find(|it| it.name == name)
}

/// The row of a step, made with an id of `new_id` if there is none yet.
pub(super) fn row_mut<'a>(
    status: &'a mut WorkflowStatus,
    group: Option<&str>,
    it: &WorkflowStep,
    new_id: &dyn Fn() -> String,
) -> &'a mut StepStatus {
    let rows = match group {
        None => &mut status.steps,
        Some(group) => &mut made(&mut status.steps, group, "step-group", new_id).sub_steps,
    };
    made(rows, &it.name, &it.r#type, new_id)
}

fn made<'a>(
    rows: &'a mut Vec<StepStatus>,
    name: &str,
    r#type: &str,
    new_id: &dyn Fn() -> String,
) -> &'a mut StepStatus {
    let at = rows.iter().position(|row| row.name == name).unwrap_or_else(|| {
        rows.push(StepStatus {
            name: name.into(),
            r#type: r#type.into(),
            id: new_id(),
            ..StepStatus::default()
        });
        rows.len() - 1
    });
    &mut rows[at]
}

/// All rows, those of groups too.
pub(super) fn each(status: &mut WorkflowStatus, mut visit: impl FnMut(&mut StepStatus)) {
    for row in &mut status.steps {
        row.sub_steps.iter_mut().for_each(&mut visit);
        visit(row);
    }
}

/// Puts a row where a step leaves it.
pub(super) fn put(row: &mut StepStatus, phase: &str, reason: &str, message: String) {
    row.phase = phase.into();
    row.reason = reason.into();
    row.message = message;
}

/// Steps of the list that are over.
pub(super) fn count_done(status: &WorkflowStatus) -> usize {
    status.steps.iter().filter(|it| is_done(Some(it))).count()
}
