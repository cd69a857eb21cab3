//! The schema of WorkflowRun.

use serde_json::Value;

use super::application::{mode, step_status_properties, steps};
use super::shape::{boolean, conditions, list, object, open, reference, root, string, time, whole};

pub(super) fn schema() -> Value {
    let workflow = object(vec![
        ("mode", mode(), "How steps follow each other."),
        ("steps", steps(), "Steps."),
    ]);
    let spec = object(vec![
        ("context", open(), "What templates see in context."),
        ("mode", mode(), "How steps follow each other."),
        ("workflowRef", string(), "Workflow object to run."),
        ("workflowSpec", workflow, "Steps to run."),
    ]);
    let mut step = step_status_properties();
    step.push(("subSteps", list(object(step_status_properties())), "Steps of the group."));
    let status = whole(object(vec![
        ("conditions", conditions(), "What was reached."),
        ("contextBackend", reference(), "Where values between steps are kept."),
        ("endTime", time(), "When it ended."),
        ("finished", boolean(), "Nothing is left to run."),
        ("message", string(), "For people."),
        ("mode", mode(), "How steps follow each other."),
        ("startTime", time(), "When it started."),
        ("status", string(), "Where it is."),
        ("steps", list(object(step)), "Every step that was reached."),
        ("suspend", boolean(), "It waits for someone; set it to make it wait."),
        ("suspendState", string(), "What it waits for."),
        ("terminated", boolean(), "It was ended; set it to end it."),
    ]));
    root("A run of a workflow by itself.", vec![("spec", spec, ""), ("status", status, "")])
}
