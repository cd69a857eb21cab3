//! Parameters marked `+immutable` keep their value as long as type and name stay.

use cue_session::{Error as CueError, FieldSelection, Kind, Session};
use serde_json::Value;

use super::application::Refusal;
use crate::api::{Application, Definition, DefinitionKind};
use crate::render::{Request, Templates, definition};
use crate::revision::canonical;

/// Depth of parameters that is looked at.
const DEPTH: usize = 16;

/// Compare every component, trait, policy and step with the one it was.
pub(super) fn check(
    request: &Request<'_>,
    old: &Application,
    templates: Templates<'_>,
    refusals: &mut Vec<Refusal>,
) -> Result<(), cue_session::Fault> {
    let spec = &request.app.spec;
    let mut compare = |kind,
                       r#type: &str,
                       old: Option<&Value>,
                       new: Option<&Value>,
                       at: String|
     -> Result<(), cue_session::Fault> {
        let Ok(found) = definition(request.definitions, kind, r#type, &request.context) else {
            return Ok(());
        };
        for path in paths(templates, found)? {
            let value =
                |of: Option<&Value>| path.iter().try_fold(of?, |at, key| at.get(key)).cloned();
            let field = || format!("{at}.properties[{}]", path.join("."));
            match (value(old), value(new)) {
                (Some(was), None) => refusals.push(Refusal {
                    field: field(),
                    detail: format!(
                        "immutable field cannot be removed (current: {})",
                        canonical::text(&was)
                    ),
                }),
                (Some(was), Some(is)) if was != is => refusals.push(Refusal {
                    field: field(),
                    detail: format!(
                        "immutable field cannot be changed (current: {}, new: {})",
                        canonical::text(&was),
                        canonical::text(&is)
                    ),
                }),
                _ => {}
            }
        }
        Ok(())
    };
    for (index, new) in spec.components.iter().enumerate() {
        let Some(was) =
            old.spec.components.iter().find(|it| it.name == new.name && it.r#type == new.r#type)
        else {
            continue;
        };
        let at = format!("spec.components[{index}]");
        compare(
            DefinitionKind::Component,
            &new.r#type,
            was.properties.as_ref(),
            new.properties.as_ref(),
            at.clone(),
        )?;
        for (place, (new, was)) in new.traits.iter().zip(&was.traits).enumerate() {
            if new.r#type == was.r#type {
                compare(
                    DefinitionKind::Trait,
                    &new.r#type,
                    was.properties.as_ref(),
                    new.properties.as_ref(),
                    format!("{at}.traits[{place}]"),
                )?;
            }
        }
    }
    for (index, new) in spec.policies.iter().enumerate() {
        if let Some(was) =
            old.spec.policies.iter().find(|it| it.name == new.name && it.r#type == new.r#type)
        {
            compare(
                DefinitionKind::Policy,
                &new.r#type,
                was.properties.as_ref(),
                new.properties.as_ref(),
                format!("spec.policies[{index}]"),
            )?;
        }
    }
    let steps = |app: &Application| {
        app.spec.workflow.as_ref().map(|it| it.steps.clone()).unwrap_or_default()
    };
    let before = steps(old);
    for (index, new) in steps(request.app).iter().enumerate() {
        if let Some(was) = before.iter().find(|it| it.name == new.name && it.r#type == new.r#type) {
            compare(
                DefinitionKind::WorkflowStep,
                &new.r#type,
                was.properties.as_ref(),
                new.properties.as_ref(),
                format!("spec.workflow.steps[{index}]"),
            )?;
        }
    }
    Ok(())
}

/// Paths below `parameter` that are marked.
fn paths(
    templates: Templates<'_>,
    definition: &Definition,
) -> Result<Vec<Vec<String>>, cue_session::Fault> {
    let template = definition.template().unwrap_or_default();
    if !template.contains("+immutable") {
        return Ok(Vec::new());
    }
    let program = templates.template(&definition.metadata.name, template).program;
    let mut found = Vec::new();
    match templates.runtime.start(&program, Vec::new(), templates.budget) {
        Ok(mut session) => walk(&mut session, "parameter", &mut Vec::new(), &mut found)?,
        Err(CueError::Fault(fault)) => return Err(fault),
        Err(CueError::Diagnostics(_)) => {}
    }
    Ok(found)
}

fn walk(
    session: &mut Session,
    at: &str,
    path: &mut Vec<String>,
    found: &mut Vec<Vec<String>>,
) -> Result<(), cue_session::Fault> {
    let fields = match session.fields(at, FieldSelection::All) {
        Ok(fields) => fields.unwrap_or_default(),
        Err(CueError::Fault(fault)) => return Err(fault),
        Err(CueError::Diagnostics(_)) => return Ok(()),
    };
    for field in fields {
        path.push(field.label.clone());
        if field.doc.iter().any(|it| it.trim().starts_with("+immutable")) {
            found.push(path.clone());
        } else if field.kinds.any_of.contains(&Kind::Struct) && path.len() < DEPTH {
            walk(session, &field.path, path, found)?;
        }
        path.pop();
    }
    Ok(())
}
