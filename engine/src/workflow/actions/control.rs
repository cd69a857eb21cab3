//! Waiting, suspending, variables, logs: what concerns only the run itself.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::{Acting, Asked, Done, Trouble};
use crate::workflow::backoff::parse_duration;
use crate::workflow::variables::Variables;

pub(super) fn wait(asked: &Asked<'_>) -> Done {
    if asked.params["continue"] == true {
        return Done::Nothing;
    }
    Done::Wait(asked.text("message").into())
}

pub(super) fn suspend(asked: &Asked<'_>) -> Result<Done, Trouble> {
    let duration = match asked.text("duration") {
        "" => None,
        given => {
            Some(parse_duration(given).ok_or_else(|| format!("failed to parse duration {given}"))?)
        }
    };
    Ok(Done::Suspend(duration, asked.text("message").into()))
}

/// `#DoVar`.
pub(super) fn variable(asked: &Asked<'_>, variables: &mut Variables) -> Result<Done, Trouble> {
    let path = asked.text("path");
    if asked.text("method").eq_ignore_ascii_case("put") {
        variables.set_below(path, asked.params["value"].clone());
        return Ok(Done::Nothing);
    }
    match variables.get(path) {
        Some(value) => Ok(Done::Returns(json!({"value": value}))),
        None => Err(format!("var {path} not found")),
    }
}

/// What `#Export` knows by itself; every other field is a variable of its name (W-33).
const OF_EXPORT: [&str; 7] = ["#do", "#provider", "type", "path", "name", "value", "component"];

/// `#Export`: a variable, several variables, or a patch for a component (W-33, W-73 to W-77).
pub(super) fn export(asked: &Asked<'_>, variables: &mut Variables) -> Result<Done, Trouble> {
    let value = &asked.params["value"];
    if asked.text("type") == "patch" {
        let component = asked.text("component");
        if component.is_empty() {
            return Err("a patch needs the component it is for".into());
        }
        variables.set(&patch_variable(component), value.clone());
        return Ok(Done::Nothing);
    }
    let name = [asked.text("name"), asked.text("path")].into_iter().find(|it| !it.is_empty());
    if let Some(name) = name {
        variables.set(name, value.clone());
        return Ok(Done::Nothing);
    }
    for (key, value) in asked.params.as_object().into_iter().flatten() {
        if !OF_EXPORT.contains(&key.as_str()) {
            variables.set(key, value.clone());
        }
    }
    if let Some(value) = value.as_object() {
        value.iter().for_each(|(key, value)| variables.set(key, value.clone()));
    }
    Ok(Done::Nothing)
}

/// Where the patch for a component waits until the component is applied.
pub fn patch_variable(component: &str) -> String {
    format!("patch:{component}")
}

/// `#Log`: writes the data, and remembers where a step's logs are found for those who ask later.
pub(super) fn log(asked: &Asked<'_>, with: &mut Acting<'_>) -> Done {
    let (data, source) = (&asked.params["data"], &asked.params["source"]);
    if !data.is_null() {
        tracing::info!(step = %with.step, %data, "workflow log");
    }
    let mut config = json!({"data": !data.is_null()});
    if !source.is_null() {
        config["source"] = source.clone();
    }
    with.variables.set_log(with.step, config);
    Done::Nothing
}

/// `#ConvertString`: bytes travel as base64.
pub(super) fn text_of_bytes(asked: &Asked<'_>) -> Result<Done, Trouble> {
    let given = match &asked.params["bt"] {
        Value::String(text) => text,
        other => return Err(format!("bt must be bytes, not {other}")),
    };
    let bytes = STANDARD.decode(given).map_err(|error| format!("bt must be bytes: {error}"))?;
    Ok(Done::Returns(json!({"str": String::from_utf8_lossy(&bytes)})))
}
