//! From a body to an object: what it says it is, what it may be, what is unknown in it.

use serde_json::{Value, json};

use super::{FieldValidation, Patched, Plane, Target, Undone, WriteOptions};
use crate::resource::Resource;
use crate::status::{ApiError, Result};
use crate::{builtin, go, json, kinds, meta};

impl Plane {
    // Checks apiVersion and kind, finds unknown fields, sets defaults.
    pub(crate) fn read_body(
        &self,
        resource: &Resource,
        body: &mut Value,
        options: &mut WriteOptions,
    ) -> Result<()> {
        let Some(fields) = body.as_object_mut() else {
            return Err(ApiError::bad_request("the body of the request is no object"));
        };
        let api = resource.api_version();
        if resource.custom.is_none() {
            for (key, value) in [("apiVersion", &api), ("kind", &resource.kind)] {
                if fields.get(key).and_then(Value::as_str).unwrap_or_default().is_empty() {
                    fields.insert(key.to_owned(), json!(value));
                }
            }
        }
        let given = fields.get("apiVersion").and_then(Value::as_str).unwrap_or_default().to_owned();
        let kind = fields.get("kind").and_then(Value::as_str).unwrap_or_default().to_owned();
        if resource.custom.is_some() && kind.is_empty() {
            let text = body.to_string();
            let cut: String = text.chars().take(30).collect();
            let dots = if text.len() > 30 { " ..." } else { "" };
            return Err(ApiError::bad_request(format!(
                "the object provided is unrecognized (must be of type {}): Object 'Kind' is missing in '{text}' ({cut}{dots})",
                resource.kind
            )));
        }
        if given != api {
            return Err(ApiError::bad_request(format!(
                "the API version in the data ({given}) does not match the expected API version ({api})"
            )));
        }
        if kind != resource.kind {
            if resource.custom.is_some() {
                let name = body["metadata"]["name"].as_str().unwrap_or_default();
                return Err(ApiError::invalid(
                    &resource.group,
                    &kind,
                    name,
                    &[crate::status::FieldError::invalid(
                        "kind",
                        &json!(kind),
                        &format!("must be {}", resource.kind),
                    )],
                ));
            }
            return Err(ApiError::bad_request(format!(
                "{kind} in version \"{}\" cannot be handled as a {}: converting (v1.{kind}) to (v1.{}): unknown conversion",
                resource.version, resource.kind, resource.kind
            )));
        }
        if !body["metadata"].is_object() {
            if body.get("metadata").is_some_and(|metadata| !metadata.is_null()) {
                let found = match &body["metadata"] {
                    Value::String(_) => "string",
                    Value::Number(_) => "number",
                    Value::Bool(_) => "bool",
                    Value::Null | Value::Array(_) | Value::Object(_) => "array",
                };
                let text =
                    format!("json: cannot unmarshal {found} into Go value of type v1.ObjectMeta");
                return Err(mistyped(resource, &text));
            }
            body["metadata"] = json!({});
        }
        let mut findings = Vec::new();
        kinds::complete(resource, body, &mut findings).map_err(|text| mistyped(resource, &text))?;
        findings.extend(std::mem::take(&mut options.findings));
        if let Some(warning) = resource.custom.as_ref().and_then(|custom| custom.deprecated.clone())
        {
            options.warnings.push(warning);
        }
        report(resource, findings, options).map_err(|undone| undone.of(resource))
    }

    pub(super) fn place(&self, target: &Target, body: &mut Value) -> Result<()> {
        let metadata = &mut body["metadata"];
        let given = metadata["namespace"].as_str().unwrap_or_default().to_owned();
        if !target.resource.namespaced {
            if !given.is_empty() {
                if let Some(fields) = metadata.as_object_mut() {
                    fields.shift_remove("namespace");
                }
            }
            return Ok(());
        }
        if !given.is_empty() && given != target.namespace {
            return Err(ApiError::bad_request(
                "the namespace of the provided object does not match the namespace sent on the request",
            ));
        }
        metadata["namespace"] = json!(target.namespace);
        Ok(())
    }

    pub(super) fn namespace_open(&self, target: &Target, body: &Value) -> Result<()> {
        if !target.resource.namespaced {
            return Ok(());
        }
        let namespace = &target.namespace;
        let found = self.store().get(&format!("/namespaces/{namespace}"));
        let Some(found) = found else {
            return Err(ApiError::not_found("", "namespaces", namespace));
        };
        if found.value["metadata"]["deletionTimestamp"].is_null() {
            return Ok(());
        }
        let name = body["metadata"]["name"].as_str().unwrap_or_default();
        let why = format!(
            "unable to create new content in namespace {namespace} because it is being terminated"
        );
        let mut error =
            ApiError::forbidden(&target.resource.group, &target.resource.plural, name, &why);
        if let Some(details) = &mut error.details {
            details["causes"] = json!([{
                "reason": "NamespaceTerminating", "field": "metadata.namespace",
                "message": format!("namespace {namespace} is being terminated"),
            }]);
        }
        Err(error)
    }

    pub(super) fn validate(
        &self,
        target: &Target,
        object: &Value,
        old: Option<&Value>,
    ) -> Result<()> {
        let resource = &*target.resource;
        let name = object["metadata"]["name"].as_str().unwrap_or_default();
        // Events are one kind in two groups.
        let group = if resource.is("events.k8s.io", "events") { "" } else { &resource.group };
        let fail = |errors: &[_]| Err(ApiError::invalid(group, &resource.kind, name, errors));
        if let Some(custom) = &resource.custom {
            let mut errors = meta::check(resource, object, old);
            custom.check(object, old, &mut errors);
            if !errors.is_empty() {
                return fail(&errors);
            }
            return Ok(());
        }
        let mut errors = meta::check(resource, object, old);
        errors.extend(builtin::errors(resource, &target.subresource, object, old));
        if errors.is_empty() { Ok(()) } else { fail(&errors) }
    }

    pub(super) fn validate_update(
        &self,
        target: &Target,
        next: &Value,
        current: &Value,
    ) -> Result<()> {
        self.validate(target, next, Some(current))
    }
}

pub(super) fn report(
    resource: &Resource,
    findings: Vec<String>,
    options: &mut WriteOptions,
) -> Result<(), Undone> {
    if findings.is_empty() {
        return Ok(());
    }
    match options.validation {
        FieldValidation::Ignore => {}
        FieldValidation::Warn => {
            for one in findings {
                if !options.warnings.contains(&one) {
                    options.warnings.push(one);
                }
            }
        }
        FieldValidation::Strict => {
            let text = format!("strict decoding error: {}", findings.join(", "));
            return Err(unreadable(resource, text, options));
        }
    }
    Ok(())
}

pub(super) fn unreadable(resource: &Resource, why: String, options: &WriteOptions) -> Undone {
    match &options.patched {
        Patched::Shown(patched) => Undone::Refused(crate::patch::undecodable(patched, &why)),
        Patched::Unseen => Undone::Unread(why),
        Patched::Not => Undone::Refused(mistyped(resource, &why)),
    }
}

pub(super) fn mistyped(resource: &Resource, text: &str) -> ApiError {
    let (kind, version) = (&resource.kind, &resource.version);
    ApiError::bad_request(format!(
        "{kind} in version \"{version}\" cannot be handled as a {kind}: {text}"
    ))
}

/// What a body is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// JSON.
    Json,
    /// YAML, which JSON is too.
    Yaml,
}

/// Reads a body, with the duplicate keys of JSON as strict findings.
pub fn parse(bytes: &[u8], encoding: Encoding) -> Result<(Value, Vec<String>), String> {
    if encoding == Encoding::Yaml {
        // JSON is YAML too, and read much faster; what is odd in it is said as YAML says it.
        if bytes.first() == Some(&b'{') {
            if let Ok((value, twice)) = json::read(bytes) {
                if twice.is_empty() {
                    return Ok((value, Vec::new()));
                }
            }
        }
        let value: Value = serde_yaml::from_slice(bytes).map_err(|error| {
            format!("error converting YAML to JSON: yaml: {}", yaml_error(&error))
        })?;
        return Ok((value, Vec::new()));
    }
    let (value, twice) = json::read(bytes)
        .map_err(|error| go::json_error(bytes).unwrap_or_else(|| error.to_string()))?;
    Ok((value, twice.iter().map(|path| format!("duplicate field \"{path}\"")).collect()))
}

// Go's reader names the line only, counted from the one before.
fn yaml_error(error: &serde_yaml::Error) -> String {
    let text = error.to_string();
    let said = text.split(" at line ").next().unwrap_or_default();
    match error.location().map(|at| at.line()) {
        Some(line) if line > 1 => format!("line {}: {said}", line - 1),
        _ => said.to_owned(),
    }
}
