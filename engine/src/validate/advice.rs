//! What a user should hear besides refusals: types nobody defines, parameters nobody declares, parameters that are missing. (kubevela-observed.md 18)

use serde_json::{Map, Value};

use super::suggestion::nearest;
use super::widened::{element, widen};
use crate::api::{Component, DefinitionKind};
use crate::render::{Request, Templates, definition};
use crate::schema;

/// Deepest parameter that is looked at.
const DEPTH: u32 = 20;

/// One remark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    /// Path of the field in the Application.
    pub field: String,
    /// What is odd about it.
    pub detail: String,
}

impl std::fmt::Display for Advice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.field, self.detail)
    }
}

/// Remarks on every component and trait of an Application.
///
/// # Errors
/// When the sandbox broke; what a definition has wrong is not said here.
pub fn advice(
    request: &Request<'_>,
    templates: Templates<'_>,
) -> Result<Vec<Advice>, cue_session::Fault> {
    let mut said = Vec::new();
    for (index, component) in request.app.spec.components.iter().enumerate() {
        let at = format!("spec.components[{index}]");
        let supplied = supplied(component);
        part(
            request,
            templates,
            (DefinitionKind::Component, &component.r#type),
            component.properties.as_ref(),
            &at,
            &supplied,
            &mut said,
        )?;
        for (index, it) in component.traits.iter().enumerate() {
            let at = format!("{at}.traits[{index}]");
            let named = (DefinitionKind::Trait, it.r#type.as_str());
            part(request, templates, named, it.properties.as_ref(), &at, &[], &mut said)?;
        }
    }
    Ok(said)
}

/// Parameters that workflow inputs bring.
fn supplied(component: &Component) -> Vec<&str> {
    let keys = component.inputs.iter().map(|it| it.parameter_key.as_str());
    keys.map(|it| it.split(['.', '[']).next().unwrap_or(it)).collect()
}

fn part(
    request: &Request<'_>,
    templates: Templates<'_>,
    (kind, r#type): (DefinitionKind, &str),
    properties: Option<&Value>,
    at: &str,
    supplied: &[&str],
    said: &mut Vec<Advice>,
) -> Result<(), cue_session::Fault> {
    let Ok(found) = definition(request.definitions, kind, r#type, &request.context) else {
        let names = request.definitions.names(kind);
        said.push(Advice {
            field: format!("{at}.type"),
            detail: format!(
                "there is no {} {type}{}",
                kind.kind(),
                nearest(r#type, names.iter().map(String::as_str)),
                type = r#type
            ),
        });
        return Ok(());
    };
    let mut declared = match schema::parameters(templates, found) {
        Ok(Some(declared)) => declared,
        Ok(None) | Err(cue_session::Error::Diagnostics(_)) => return Ok(()),
        Err(cue_session::Error::Fault(fault)) => return Err(fault),
    };
    let empty = Value::Object(Map::new());
    let given = properties.filter(|it| !it.is_null()).unwrap_or(&empty);
    widen(templates, found, &mut declared, given)?;
    compare(&declared, given, &format!("{at}.properties"), supplied, said, 0);
    Ok(())
}

/// What of `given` is not declared, and what is declared and missing.
fn compare(
    declared: &Value,
    given: &Value,
    at: &str,
    supplied: &[&str],
    said: &mut Vec<Advice>,
    depth: u32,
) {
    if depth > DEPTH {
        return;
    }
    if let Value::Array(all) = given {
        for (index, it) in all.iter().enumerate() {
            if let Some(element) = element(declared, index) {
                compare(element, it, &format!("{at}[{index}]"), &[], said, depth + 1);
            }
        }
        return;
    }
    let (Some(properties), Value::Object(given)) =
        (declared.get("properties").and_then(Value::as_object), given)
    else {
        return;
    };
    for (label, value) in given {
        match properties.get(label) {
            Some(property) => {
                compare(property, value, &format!("{at}.{label}"), &[], said, depth + 1);
            }
            None if declared.get("additionalProperties").is_some() => {}
            None => said.push(Advice {
                field: format!("{at}.{label}"),
                detail: format!(
                    "undeclared parameter{}",
                    nearest(label, properties.keys().map(String::as_str))
                ),
            }),
        }
    }
    let required = declared.get("required").and_then(Value::as_array).into_iter().flatten();
    for label in required.filter_map(Value::as_str) {
        let property = properties.get(label);
        let has_own = given.contains_key(label) || supplied.contains(&label);
        if has_own || property.is_some_and(|it| can_be_left_out(it, DEPTH)) {
            continue;
        }
        let kind = property.and_then(|it| it.get("type")).and_then(Value::as_str);
        said.push(Advice {
            field: format!("{at}.{label}"),
            detail: match kind {
                Some(kind) => format!("missing required parameter of type {kind}"),
                None => "missing required parameter".to_owned(),
            },
        });
    }
}

/// It has a value by itself: a default, an empty list or map, a struct of such, one literal.
fn can_be_left_out(property: &Value, depth: u32) -> bool {
    if property.get("default").is_some() || depth == 0 {
        return true;
    }
    if property.get("enum").and_then(Value::as_array).is_some_and(|it| it.len() == 1) {
        return true;
    }
    match property.get("type").and_then(Value::as_str) {
        Some("array") => true,
        Some("object") => {
            let inner = property.get("properties").and_then(Value::as_object);
            let required = property.get("required").and_then(Value::as_array);
            property.get("oneOf").is_none()
                && required.into_iter().flatten().filter_map(Value::as_str).all(|label| {
                    inner
                        .and_then(|it| it.get(label))
                        .is_none_or(|it| can_be_left_out(it, depth - 1))
                })
        }
        // A choice between types may have a default that is no data.
        Some(_) => false,
        None => true,
    }
}
