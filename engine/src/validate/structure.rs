//! What must fit together in an Application before anything of it is looked at.

use std::collections::HashSet;

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
}
