//! Health, message and details of a live workload or trait, by the texts of its definition.
//!
//! The component's template is no part of it: only the text, `context` and `parameter`. An error never fails the
//! whole; it reads as not healthy, no message, `_|_`.

use cue_session::{Concreteness, Error as CueError, FieldSelection, Input, Session, SyntaxStyle};
use indexmap::IndexMap;
use serde_json::{Map, Value};

use super::library::{OPEN, Template};
use super::process::{Templates, as_json};
use crate::api::definition::StatusTemplates;

/// Labels of details are shorter than this.
const LABEL_LIMIT: usize = 32;

/// What the texts say.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Health {
    /// Healthy; also without any text.
    pub healthy: bool,
    /// For people.
    pub message: String,
    /// For people, by label; `None` if the text could not be read.
    pub details: Option<IndexMap<String, String>>,
    /// `context.status` as the last text saw it.
    pub seen: Map<String, Value>,
    /// What went wrong meanwhile.
    pub warnings: Vec<String>,
}

/// Evaluate `texts` over the live objects in `context`.
pub fn evaluate(
    templates: Templates<'_>,
    texts: &StatusTemplates,
    context: &Map<String, Value>,
    parameter: Option<&Value>,
) -> Result<Health, cue_session::Fault> {
    let mut health = Health { details: Some(IndexMap::new()), ..Health::default() };
    let mut context = context.clone();
    context.values_mut().for_each(whole_numbers);
    if let Some(Value::Object(given)) = context.get("status") {
        health.seen.clone_from(given);
    }
    context.insert("status".into(), Value::Object(health.seen.clone()));
    if !texts.details.trim().is_empty() {
        match details(templates, &texts.details, &context, parameter) {
            Ok((published, seen)) => {
                health.details = Some(published);
                health.seen.insert("details".into(), Value::Object(seen));
            }
            Err(CueError::Fault(fault)) => return Err(fault),
            Err(error) => {
                health.details = None;
                health.warnings.push(format!(
                    "failed to get status map: compile status fields template: {error}"
                ));
            }
        }
    }
    context.insert("status".into(), Value::Object(health.seen.clone()));
    health.healthy = if texts.health_policy.trim().is_empty() {
        true
    } else {
        match text(templates, "health.cue", &texts.health_policy, &context, parameter)
            .and_then(|mut it| it.value("isHealth"))
        {
            Ok(Some(Value::Bool(it))) => it,
            Ok(_) => {
                health.warnings.push("failed to check health: isHealth is not a bool".into());
                false
            }
            Err(CueError::Fault(fault)) => return Err(fault),
            Err(error) => {
                health
                    .warnings
                    .push(format!("failed to check health: evaluate health status: {error}"));
                false
            }
        }
    };
    health.seen.insert("healthy".into(), health.healthy.into());
    context.insert("status".into(), Value::Object(health.seen.clone()));
    if !texts.custom_status.trim().is_empty() {
        match text(templates, "status.cue", &texts.custom_status, &context, parameter)
            .and_then(|mut it| sound(&mut it).and_then(|()| it.value("message")))
        {
            Ok(Some(Value::String(it))) => health.message = it,
            Ok(_) => health.warnings.push("failed to get message: message is not a string".into()),
            Err(CueError::Fault(fault)) => return Err(fault),
            Err(error) => health.warnings.push(format!("failed to get message: {error}")),
        }
    }
    Ok(health)
}

/// What is wrong with the whole text (a condition that cannot be decided, say) leaves no message at all.
fn sound(session: &mut Session) -> Result<(), CueError> {
    let mut wrong = Vec::new();
    for it in session.validate("", Concreteness::Required)? {
        // What a `let` of the text lacks is told by its name, which is no field's.
        let near = !it.path.contains(['.', '[', '"']);
        if it.path.is_empty() || near && !session.exists(&it.path)? {
            wrong.push(it);
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(CueError::Diagnostics(wrong)) }
}

/// `3.0` is `3`, as in everything that has been through a cluster's JSON.
fn whole_numbers(value: &mut Value) {
    match value {
        Value::Number(number) => {
            let whole = number.as_f64().filter(|it| {
                number.is_f64() && it.fract() == 0.0 && it.abs() < 9_007_199_254_740_992.0
            });
            if let Some(whole) = whole {
                // Within 53 bits, so nothing is cut off.
                *value = Value::from(whole as i64);
            }
        }
        Value::Array(all) => all.iter_mut().for_each(whole_numbers),
        Value::Object(map) => map.values_mut().for_each(whole_numbers),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

fn text(
    templates: Templates<'_>,
    name: &str,
    text: &str,
    context: &Map<String, Value>,
    parameter: Option<&Value>,
) -> Result<Session, CueError> {
    let Template { program, reads, .. } = templates.library.plain(&[(name, text), OPEN]);
    let parameter = match parameter {
        None | Some(Value::Null) => "{}".to_owned(),
        Some(value) => as_json(value),
    };
    let seen = context.iter().filter(|it| reads.may_be(it.0));
    let seen = seen.map(|(key, value)| (key.clone(), value.clone()));
    let inputs = vec![
        Input::new("context", as_json(&Value::Object(seen.collect()))),
        Input::new("parameter", parameter),
    ];
    templates.runtime.start(&program, inputs, templates.budget)
}

fn details(
    templates: Templates<'_>,
    source: &str,
    context: &Map<String, Value>,
    parameter: Option<&Value>,
) -> Result<(IndexMap<String, String>, Map<String, Value>), CueError> {
    let mut session = text(templates, "details.cue", source, context, parameter)?;
    let wrong: Vec<_> = session
        .validate("", Concreteness::Optional)?
        .into_iter()
        .filter(|it| !it.incomplete && it.message.starts_with("conflicting values"))
        .collect();
    if !wrong.is_empty() {
        return Err(CueError::Diagnostics(wrong));
    }
    let mut published = IndexMap::new();
    let mut seen = Map::new();
    for field in session.fields("", FieldSelection::Regular)?.unwrap_or_default() {
        let label = field.label.as_str();
        if matches!(label, "context" | "parameter")
            || label.len() >= LABEL_LIMIT
            || label.starts_with('_')
            || label.starts_with('#')
        {
            continue;
        }
        if field.attributes.iter().any(|(name, _)| name == "local" || name == "private") {
            continue;
        }
        let value = match session.value(&field.path) {
            Ok(Some(value)) => value,
            Err(CueError::Fault(fault)) => return Err(CueError::Fault(fault)),
            Ok(None) | Err(CueError::Diagnostics(_)) => {
                if !label.starts_with('$') {
                    published.insert(label.to_owned(), "_|_".to_owned());
                }
                continue;
            }
        };
        if !label.starts_with('$') {
            let bytes = field.kinds.is(cue_session::Kind::Bytes);
            let shown = match &value {
                Value::String(it) if !bytes => it.clone(),
                other => {
                    let text = session
                        .syntax(&field.path, SyntaxStyle::Final)?
                        .map_or_else(|| other.to_string(), |it| it.trim_end().to_owned());
                    if other.is_object() && !text.starts_with('{') { braced(&text) } else { text }
                }
            };
            published.insert(label.to_owned(), shown);
        }
        seen.insert(label.to_owned(), value);
    }
    Ok((published, seen))
}

/// A struct's fields in braces, one level deeper.
fn braced(fields: &str) -> String {
    let lines: Vec<String> = fields
        .lines()
        .map(|it| if it.is_empty() { String::new() } else { format!("\t{it}") })
        .collect();
    format!("{{\n{}\n}}", lines.join("\n"))
}
