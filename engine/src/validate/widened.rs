//! What guards of a template declare for the parameters that are given: `if parameter.kind == "x" {size: int}`.
//!
//! The schema of a definition says what is declared whatever is given. Here what is given, as far as that is declared,
//! is filled in, and the schema asked for again, until nothing more comes of it.

use cue_session::{Error, Fault, Session};
use serde_json::{Map, Value};

use crate::api::Definition;
use crate::render::Templates;

/// Where a schema has those of the elements that are given, if they are not all alike (JSON Schema 2020-12).
pub(super) const ELEMENTS: &str = "prefixItems";

/// Guards that depend on what guards declare, one within the other.
const ROUNDS: u32 = 8;

/// Adds to the schema of `parameter` what is declared only for these parameters. What they have wrong is not said here.
///
/// # Errors
/// When the sandbox broke.
pub(super) fn widen(
    templates: Templates<'_>,
    definition: &Definition,
    declared: &mut Value,
    given: &Value,
) -> Result<(), Fault> {
    for _ in 0..ROUNDS {
        let before = declared.clone();
        match widened_once(templates, definition, declared, given) {
            Ok(()) if *declared != before => {}
            Ok(()) | Err(Error::Diagnostics(_)) => break,
            Err(Error::Fault(fault)) => return Err(fault),
        }
    }
    Ok(())
}

fn widened_once(
    templates: Templates<'_>,
    definition: &Definition,
    declared: &mut Value,
    given: &Value,
) -> Result<(), Error> {
    let Some(template) = definition.template() else { return Ok(()) };
    let program = templates.template(&definition.metadata.name, template).program;
    let mut session = templates.runtime.start(&program, Vec::new(), templates.budget)?;
    session.fill_value("parameter", &part_of(declared, given))?;
    below(&mut session, "parameter", declared, given)
}

/// What is given, without what is not declared.
fn part_of(declared: &Value, given: &Value) -> Value {
    match given {
        Value::Array(all) => {
            let element = |index| declared.get(ELEMENTS).and_then(|it| it.get(index));
            let items = |index| element(index).or_else(|| declared.get("items"));
            let part = |(index, it): (usize, &Value)| match items(index) {
                Some(items) => part_of(items, it),
                None => it.clone(),
            };
            all.iter().enumerate().map(part).collect()
        }
        Value::Object(fields) => {
            let Some(properties) = declared.get("properties") else { return given.clone() };
            let open = declared.get("additionalProperties").is_some();
            let mut part = Map::new();
            for (label, value) in fields {
                match properties.get(label) {
                    Some(property) => part.insert(label.clone(), part_of(property, value)),
                    None if open => part.insert(label.clone(), value.clone()),
                    None => None,
                };
            }
            Value::Object(part)
        }
        _ => given.clone(),
    }
}

/// Adds what is declared at a path and below.
fn below(
    session: &mut Session,
    path: &str,
    declared: &mut Value,
    given: &Value,
) -> Result<(), Error> {
    match given {
        Value::Array(all) if declared.get("items").is_some() => {
            let items = declared["items"].clone();
            let known = declared.get(ELEMENTS).and_then(Value::as_array).cloned();
            let mut elements = known.unwrap_or_else(|| vec![items; all.len()]);
            for (index, (element, it)) in elements.iter_mut().zip(all).enumerate() {
                below(session, &format!("{path}[{index}]"), element, it)?;
            }
            declared[ELEMENTS] = elements.into();
        }
        Value::Object(fields) if declared.get("properties").is_some() => {
            if let Some(now) = session.schema(path)? {
                add(declared, &now);
            }
            for (label, value) in fields {
                if let Some(property) = declared["properties"].get_mut(label) {
                    // A label in quotes is always one.
                    let path = format!("{path}.{}", Value::from(label.as_str()));
                    below(session, &path, property, value)?;
                }
            }
        }
        _ => {}
    }
    Ok(())
}

/// Adds properties of another schema that this one has not, and those that are required there.
fn add(declared: &mut Value, now: &Value) {
    let fields = now.get("properties").and_then(Value::as_object).into_iter().flatten();
    let mut new = Vec::new();
    for (label, property) in fields {
        if declared["properties"].get(label).is_none() {
            declared["properties"][label] = property.clone();
            new.push(label);
        }
    }
    let required = now.get("required").and_then(Value::as_array).into_iter().flatten();
    for label in required.filter(|it| new.iter().any(|new| it.as_str() == Some(new))) {
        match declared.get_mut("required").and_then(Value::as_array_mut) {
            Some(known) => known.push(label.clone()),
            None => declared["required"] = Value::Array(vec![label.clone()]),
        }
    }
}
