//! Applications: annotations, step names and timeouts, known definitions, parameters that fit, immutable ones.

use std::collections::HashSet;

use super::immutable;
use super::structure::wrong_stage;
use crate::api::names::annotation;
use crate::api::{Application, Component, DefinitionKind, Stage, WorkflowStep};
use crate::render::{Actor, Error, Process, Request, Templates, check, definition};

/// One reason to refuse.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Path of the field.
    pub field: String,
    /// What is wrong with it.
    pub detail: String,
}

impl Refusal {
    fn new(field: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { field: field.into(), detail: detail.into() }
    }
}

/// The text of an answer that refuses.
pub fn message(refusals: &[Refusal]) -> String {
    refusals
        .iter()
        .enumerate()
        .map(|(index, it)| format!("\n  {}) \"{}\": {}.", index + 1, it.field, it.detail))
        .collect()
}

/// Everything that is wrong with an Application, given what it was before.
pub fn application(
    request: &Request<'_>,
    old: Option<&Application>,
    templates: Templates<'_>,
    actor: &mut dyn Actor,
) -> Result<Vec<Refusal>, cue_session::Fault> {
    let app = request.app;
    let mut refusals = Vec::new();
    if app.annotation(annotation::AUTO_UPDATE) == "true"
        && !app.annotation(annotation::PUBLISH_VERSION).is_empty()
    {
        refusals.push(Refusal::new(
            "metadata.annotations",
            "Application has both autoUpdate and publishVersion annotations. Only one can be present",
        ));
    }
    steps(app.spec.workflow.as_ref().map_or(&[], |it| it.steps.as_slice()), &mut refusals);
    match check(request) {
        Err(Error::Fault(fault)) => return Err(fault),
        Err(error) => {
            refusals.push(Refusal::new("spec", error.to_string()));
            return Ok(refusals);
        }
        Ok(()) => {}
    }
    let mut names = HashSet::new();
    if let Some((index, twice)) =
        app.spec.components.iter().enumerate().find(|(_, it)| !names.insert(&it.name))
    {
        refusals.push(Refusal::new(
            format!("components[{index}].name"),
            format!("duplicated component name {}", twice.name),
        ));
    }
    for component in app.spec.components.iter().filter(|it| it.r#type != "ref-objects") {
        match evaluate(request, component, templates, actor) {
            Ok(()) => {}
            Err(Error::Fault(fault)) => return Err(fault),
            Err(error) => {
                refusals.push(Refusal::new("schematic", error.to_string()));
                break;
            }
        }
    }
    if let Some(old) = old {
        if app.annotation(annotation::FORCE_PARAMETERS) != "true" {
            immutable::check(request, old, templates, &mut refusals)?;
        }
    }
    Ok(refusals)
}

fn steps(steps: &[WorkflowStep], refusals: &mut Vec<Refusal>) {
    let mut names = HashSet::new();
    for step in steps {
        if !names.insert(step.name.as_str()) {
            refusals.push(Refusal::new("spec.workflow.steps", "duplicated step name"));
        }
        if let Some(wrong) = wrong_stage(step) {
            refusals.push(Refusal::new("spec.workflow.steps.stage", wrong));
        }
        if !step.timeout.is_empty() && !is_duration(&step.timeout) {
            refusals.push(Refusal::new(
                "spec.workflow.steps.timeout",
                "invalid timeout, please use the format of timeout like 1s, 1m, 1h or 1d",
            ));
        }
        for sub in &step.sub_steps {
            if !names.insert(sub.name.as_str()) {
                refusals.push(Refusal::new("spec.workflow.steps.subSteps", "duplicated step name"));
            }
        }
    }
}

/// A Go duration: `1h30m`, `-5s`, `0`.
fn is_duration(text: &str) -> bool {
    let mut rest = text.strip_prefix(['-', '+']).unwrap_or(text);
    if rest == "0" {
        return true;
    }
    if rest.is_empty() {
        return false;
    }
    while !rest.is_empty() {
        let number = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        let digits = &rest[..rest.len() - number.len()];
        if !digits.bytes().any(|it| it.is_ascii_digit()) || digits.matches('.').count() > 1 {
            return false;
        }
        let Some(unit) = ["ns", "us", "µs", "μs", "ms", "s", "m", "h"].iter().find(|unit| {
            number.strip_prefix(**unit).is_some_and(|after| {
                after.chars().next().is_none_or(|c| c.is_ascii_digit() || c == '.')
            })
        }) else {
            return false;
        };
        rest = &number[unit.len()..];
    }
    true
}

/// Template and traits accept the parameters; what is missing yet may still come.
fn evaluate(
    request: &Request<'_>,
    component: &Component,
    templates: Templates<'_>,
    actor: &mut dyn Actor,
) -> Result<(), Error> {
    let context = &request.context;
    let known = |kind, r#type: &str| {
        definition(request.definitions, kind, r#type, context).map_err(Error::Definition)
    };
    let own = known(DefinitionKind::Component, &component.r#type)?;
    let (app, namespace) = (&context.app_name, &context.namespace);
    let mut process = Process::new(templates, context.shown(component));
    process
        .workload(&component.name, &component.r#type, own.template().unwrap_or_default(), component.properties.as_ref(), actor)
        .and_then(|()| process.unique())
        .map_err(|error| {
            error
                .within(format!("evaluate base template app={app} in namespace={namespace}"))
                .within(format!("cannot create the validation process context of app={app} in namespace={namespace}"))
        })?;
    for it in &component.traits {
        let definition = known(DefinitionKind::Trait, &it.r#type)?;
        if definition.stage() == Stage::PostDispatch {
            continue;
        }
        process
            .apply_trait(
                &it.r#type,
                definition.template().unwrap_or_default(),
                it.properties.as_ref(),
                actor,
            )
            .and_then(|()| process.unique())
            .map_err(|error| error.within(format!("cannot evaluate trait {:?}", it.r#type)))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::is_duration;

    #[test]
    fn durations_as_in_go() {
        for good in ["1s", "1h30m", "-5s", "0", "1.5h", "1ms"] {
            assert!(is_duration(good), "{good}");
        }
        for bad in ["1d", "abc", "5 s", "", "1", "s", "1.2.3s"] {
            assert!(!is_duration(bad), "{bad}");
        }
    }
}
