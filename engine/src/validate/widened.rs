//! What guards of a template declare for the parameters that are given: `if parameter.kind == "x" {size: int}`.
//!
//! The schema of a definition says what is declared whatever is given. Here what is given, as far as that is declared,
//! is filled in, and the schema asked for again, until nothing more comes of it.

use cue_session::{Error, Fault, Session};
use serde_json::{Map, Value};

use crate::api::Definition;
use crate::render::Templates;

/// Where a schema has those of the elements that are given, if they are not all alike (JSON Schema 2020-12).
const ELEMENTS: &str = "prefixItems";

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
    match widened(templates, definition, declared, given) {
        Ok(()) | Err(Error::Diagnostics(_)) => Ok(()),
        Err(Error::Fault(fault)) => Err(fault),
    }
}

fn widened(
    templates: Templates<'_>,
    definition: &Definition,
    declared: &mut Value,
    given: &Value,
) -> Result<(), Error> {
    let Some(template) = definition.template() else { return Ok(()) };
    let program = templates.template(&definition.metadata.name, template).program;
    let mut session = templates.runtime.start(&program, Vec::new(), templates.budget)?;
    for _ in 0..ROUNDS {
        session.fill_value("parameter", &part_of(declared, given))?;
        if !below(&mut session, "parameter", declared, given)? {
            break;
        }
    }
    Ok(())
}

/// The schema of an element.
pub(super) fn element(declared: &Value, index: usize) -> Option<&Value> {
    let own = declared.get(ELEMENTS).and_then(|it| it.get(index));
    own.or_else(|| declared.get("items"))
}

/// What is given, without what is not declared.
fn part_of(declared: &Value, given: &Value) -> Value {
    match given {
        Value::Array(all) => {
            let part = |(index, it)| match element(declared, index) {
                Some(element) => part_of(element, it),
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

/// Adds what is declared at a path and below; whether that is anything.
fn below(
    session: &mut Session,
    path: &str,
    declared: &mut Value,
    given: &Value,
) -> Result<bool, Error> {
    let mut widened = false;
    match given {
        Value::Array(all) if declared.get("items").is_some() => {
            let known = (0..all.len()).filter_map(|it| element(declared, it));
            let mut elements: Vec<Value> = known.cloned().collect();
            for (index, (element, it)) in elements.iter_mut().zip(all).enumerate() {
                widened |= below(session, &format!("{path}[{index}]"), element, it)?;
            }
            if widened {
                declared[ELEMENTS] = elements.into();
            }
        }
        Value::Object(fields) if declared.get("properties").is_some() => {
            if let Some(now) = session.schema(path)? {
                widened |= add(declared, &now);
            }
            for (label, value) in fields {
                if let Some(property) = declared["properties"].get_mut(label) {
                    // A label in quotes is always one.
                    let path = format!("{path}.{}", Value::from(label.as_str()));
                    widened |= below(session, &path, property, value)?;
                }
            }
        }
        _ => {}
    }
    Ok(widened)
}

/// Adds properties of another schema that this one has not, and those that are required there; whether there are any.
fn add(declared: &mut Value, now: &Value) -> bool {
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
    !new.is_empty()
}
