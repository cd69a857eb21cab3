//! What components take from others, and what the steps that apply them wait for because of it.

use std::borrow::Cow;

use crate::api::workflow::InputItem;
use crate::api::{Component, WorkflowStep};
use crate::policy::generator::Steps;
use crate::workflow::plan::Order;
use crate::workflow::variables::{Variables, put_input};

/// Components as their steps got them: with inputs from the run's variables.
pub(super) fn with_inputs(components: &[Component], variables: &Variables) -> Vec<Component> {
    let filled = |component: &Component| {
        let mut raw = serde_json::to_value(component).ok()?;
        for input in &component.inputs {
            if let Some(value) = variables.get(&input.from) {
                put_input(&mut raw, &input.parameter_key, value);
            }
        }
        serde_json::from_value(raw).ok()
    };
    components
        .iter()
        .map(|it| {
            if it.inputs.is_empty() { None } else { filled(it) }.unwrap_or_else(|| it.clone())
        })
        .collect()
}

/// Steps that wait for what their components wait for: for inputs, and in a DAG for the steps of the
/// components they depend on (E-100).
pub(super) fn with_needs<'a>(
    steps: &'a Steps,
    components: &[Component],
) -> Cow<'a, [WorkflowStep]> {
    if components.iter().all(|it| it.inputs.is_empty() && it.depends_on.is_empty()) {
        return Cow::Borrowed(&steps.steps);
    }
    let mut all = steps.steps.clone();
    for step in &mut all {
        if step.sub_steps.is_empty() {
            need(step, steps, components, Order::of(&steps.mode.steps));
        }
        for sub in &mut step.sub_steps {
            need(sub, steps, components, Order::StepByStep);
        }
    }
    Cow::Owned(all)
}

fn need(step: &mut WorkflowStep, steps: &Steps, components: &[Component], order: Order) {
    let Some(own) = step.component().and_then(|it| components.iter().find(|own| own.name == it))
    else {
        return;
    };
    for input in &own.inputs {
        if !step.inputs.iter().any(|it| it.from == input.from) {
            // Where it goes is looked up when the component is rendered.
            step.inputs.push(InputItem { from: input.from.clone(), ..InputItem::default() });
        }
    }
    for needed in own.depends_on.iter().filter(|_| order == Order::Dag) {
        let mut every = steps.steps.iter().flat_map(WorkflowStep::with_sub_steps);
        let by = every.find(|it| it.component() == Some(needed)).map(|it| &it.name);
        if let Some(by) = by.filter(|it| **it != step.name && !step.depends_on.contains(it)) {
            step.depends_on.push(by.clone());
        }
    }
}
