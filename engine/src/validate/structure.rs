//! What must fit together in an Application before anything of it is looked at.

use std::collections::HashSet;

use crate::api::workflow::{POST_RENDER, PRE_RENDER};
use crate::api::{Application, WorkflowStep};
use crate::workflow::backoff::parse_duration;

/// Names are there, and once; steps depend on steps, not on themselves; timeouts are durations.
///
/// # Errors
/// What does not fit, with its path.
pub fn structure(app: &Application, steps: &[WorkflowStep]) -> Result<(), String> {
    let mut seen = HashSet::new();
    for (index, component) in app.spec.components.iter().enumerate() {
        if component.name.is_empty() {
            return Err(format!("spec.components[{index}]: a component needs a name"));
        }
        if !seen.insert(component.name.as_str()) {
            return Err(format!(
                "spec.components[{index}]: there are two components named {}",
                component.name
            ));
        }
    }
    let all: Vec<&WorkflowStep> = steps.iter().flat_map(WorkflowStep::with_sub_steps).collect();
    let mut names = HashSet::new();
    for step in &all {
        if !names.insert(step.name.as_str()) {
            return Err(format!("there are two workflow steps named {}", step.name));
        }
    }
    stages(steps)?;
    for step in &all {
        if let Some(unknown) = step.depends_on.iter().find(|it| !names.contains(it.as_str())) {
            return Err(format!("step {} depends on {unknown}, which is no step", step.name));
        }
        if let Some(round) = cycle(step, &all) {
            return Err(format!("steps depend on each other: {round}"));
        }
        if !step.timeout.is_empty() && parse_duration(&step.timeout).is_none() {
            return Err(format!(
                "step {}: timeout {:?} is no duration such as 30s or 5m",
                step.name, step.timeout
            ));
        }
    }
    Ok(())
}

/// Stages are known ones, those of a group are the group's, and what runs before rendering waits for nothing
/// that runs after it (W-14).
fn stages(steps: &[WorkflowStep]) -> Result<(), String> {
    for step in steps {
        wrong_stage(step).map_or(Ok(()), Err)?;
    }
    let late: Vec<&WorkflowStep> = steps.iter().filter(|it| !it.is_early()).collect();
    let early = steps.iter().filter(|it| it.is_early()).flat_map(WorkflowStep::with_sub_steps);
    for step in early {
        let waited = late.iter().flat_map(|it| it.with_sub_steps()).find(|it| {
            let given = |name: &str| it.outputs.iter().any(|it| it.name == name);
            step.depends_on.contains(&it.name) || step.inputs.iter().any(|it| given(&it.from))
        });
        if let Some(waited) = waited {
            return Err(format!(
                "step {} runs before rendering and waits for {}, which runs after it",
                step.name, waited.name
            ));
        }
    }
    Ok(())
}

/// What is wrong with the stage of a step, or of one in its group.
pub(super) fn wrong_stage(step: &WorkflowStep) -> Option<String> {
    let known = ["", PRE_RENDER, POST_RENDER];
    let unknown = step.with_sub_steps().find(|it| !known.contains(&it.stage.as_str()));
    if let Some(it) = unknown {
        return Some(format!(
            "step {}: stage {:?} is neither {PRE_RENDER} nor {POST_RENDER}",
            it.name, it.stage
        ));
    }
    let other = step.sub_steps.iter().find(|it| !it.stage.is_empty() && it.stage != step.stage);
    other.map(|it| format!("step {}: its stage is not that of its group {}", it.name, step.name))
}

/// A way from a step back to itself.
fn cycle(start: &WorkflowStep, all: &[&WorkflowStep]) -> Option<String> {
    let mut open: Vec<(&str, Vec<&str>)> = vec![(start.name.as_str(), vec![start.name.as_str()])];
    let mut visited = HashSet::new();
    while let Some((name, path)) = open.pop() {
        let Some(step) = all.iter().find(|it| it.name == name) else { continue };
        for next in &step.depends_on {
            let mut path = path.clone();
            path.push(next);
            if *next == start.name {
                return Some(path.join(" -> "));
            }
            if visited.insert(next.as_str()) {
                open.push((next, path));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(steps: serde_json::Value) -> Result<(), String> {
        let steps: Vec<WorkflowStep> = serde_json::from_value(steps).unwrap();
        structure(&Application::default(), &steps)
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let a = |depends_on| json!({"name": "a", "type": "suspend", "dependsOn": depends_on});
        let b = json!({"name": "b", "type": "suspend", "dependsOn": ["a"]});
        assert_eq!(check(json!([a(json!([])), b])), Ok(()));
        assert_eq!(
            check(json!([a(json!(["b"])), b])),
            Err("steps depend on each other: a -> b -> a".into())
        );
        assert_eq!(check(json!([b])), Err("step b depends on a, which is no step".into()));
        assert!(check(json!([{"name": "a", "type": "x", "timeout": "soon"}])).is_err());
        assert!(check(json!([a(json!([])), a(json!([]))])).is_err());
    }

    #[test]
    fn stages_of_steps_fit_together() {
        let at = |name: &str, stage: &str, depends_on| json!({"name": name, "type": "suspend", "stage": stage, "dependsOn": depends_on});
        let (early, late) = ("pre-render", "post-render");
        assert_eq!(check(json!([at("a", early, json!([])), at("b", late, json!(["a"]))])), Ok(()));
        assert_eq!(
            check(json!([at("a", early, json!(["b"])), at("b", "", json!([]))])),
            Err("step a runs before rendering and waits for b, which runs after it".into())
        );
        assert_eq!(
            check(json!([at("a", "PreDispatch", json!([]))])),
            Err("step a: stage \"PreDispatch\" is neither pre-render nor post-render".into())
        );
        let group =
            json!({"name": "g", "type": "step-group", "subSteps": [at("a", early, json!([]))]});
        assert_eq!(
            check(json!([group])),
            Err("step a: its stage is not that of its group g".into())
        );
    }
}
