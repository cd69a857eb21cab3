//! Answers: objects in the form asked for, errors, warnings.

use axum::body::Body;
use axum::response::Response;
use http::header::{CONTENT_TYPE, RETRY_AFTER, WARNING};
use http_body_util::BodyExt;
use serde_json::Value;

use crate::plane::{Shown, Target};
use crate::protobuf;
use crate::status::{ApiError, Result};
use crate::table::{self, Columns, Form, Written};

static JSON: http::HeaderValue = http::HeaderValue::from_static("application/json");

/// An answer that goes on until something ends it.
#[derive(Clone, Copy)]
pub(super) struct Streaming;

/// An answer that is long, though its length is not known when it begins.
#[derive(Clone, Copy)]
pub(super) struct Long;

/// A JSON answer.
pub(crate) fn reply(code: u16, content_type: &str, body: Vec<u8>) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = http::StatusCode::from_u16(code).unwrap_or_default();
    if let (false, Ok(value)) = (content_type.is_empty(), content_type.parse()) {
        response.headers_mut().insert(CONTENT_TYPE, value);
    }
    response
}

pub(super) fn json_reply(code: u16, value: &Value) -> Response {
    let mut body = serde_json::to_vec(value).unwrap_or_default();
    body.push(b'\n');
    reply(code, "application/json", body)
}

pub(super) fn failed(error: &ApiError) -> Response {
    let mut response = json_reply(error.code, &error.status());
    if let Some(seconds) =
        error.details.as_ref().and_then(|details| details["retryAfterSeconds"].as_u64())
    {
        if let Ok(value) = seconds.to_string().parse() {
            response.headers_mut().insert(RETRY_AFTER, value);
        }
    }
    response
}

pub(super) fn warn(response: &mut Response, warnings: &[String]) {
    for text in warnings {
        let quoted = text.replace('\\', "\\\\").replace('"', "\\\"");
        if let Ok(value) = format!("299 - \"{quoted}\"").parse() {
            response.headers_mut().append(WARNING, value);
        }
    }
}

pub(super) fn show(
    target: &Target,
    code: u16,
    object: &Shown,
    form: &Form,
    warnings: &[String],
) -> Result<Response> {
    if form.is_plain() {
        let mut body = Vec::with_capacity(object.text().len() + 1);
        body.extend_from_slice(object.text());
        body.push(b'\n');
        let mut response = reply(code, "application/json", body);
        warn(&mut response, warnings);
        return Ok(response);
    }
    let value = table::render(&target.resource, object, form, Columns::Shown)?;
    let mut response = encode(code, &value, form);
    warn(&mut response, warnings);
    Ok(response)
}

pub(super) fn encode(code: u16, value: &Value, form: &Form) -> Response {
    match form.written {
        Written::Json => json_reply(code, value),
        Written::Yaml => reply(code, "application/yaml", yaml_text(value).into_bytes()),
        Written::Protobuf => match protobuf::encode(value) {
            Some(bytes) => reply(code, protobuf::MEDIA_TYPE, bytes),
            None => json_reply(code, value),
        },
    }
}

/// A JSON answer in protobuf, if what it holds can be that: errors, and what else is no object of a kind.
pub(super) async fn in_protobuf(response: Response) -> Response {
    let json = |response: &Response| response.headers().get(CONTENT_TYPE) == Some(&JSON);
    if !json(&response) || response.extensions().get::<Streaming>().is_some() {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let Ok(bytes) = body.collect().await.map(http_body_util::Collected::to_bytes) else {
        return Response::from_parts(parts, Body::empty());
    };
    let value: Option<Value> = serde_json::from_slice(&bytes).ok();
    match value.as_ref().and_then(protobuf::encode) {
        Some(bytes) => {
            let kind = http::HeaderValue::from_static(protobuf::MEDIA_TYPE);
            parts.headers.insert(CONTENT_TYPE, kind);
            Response::from_parts(parts, Body::from(bytes))
        }
        None => Response::from_parts(parts, Body::from(bytes)),
    }
}

// Keys sorted, times quoted: as Go writes YAML.
pub(super) fn yaml_text(value: &Value) -> String {
    fn sorted(value: &Value) -> Value {
        match value {
            Value::Object(fields) => {
                let mut fields: Vec<(&String, &Value)> = fields.iter().collect();
                fields.sort_by_key(|(key, _)| *key);
                fields.into_iter().map(|(key, value)| (key.clone(), sorted(value))).collect()
            }
            Value::Array(items) => items.iter().map(sorted).collect(),
            other => other.clone(),
        }
    }
    let text = serde_yaml::to_string(&sorted(value)).unwrap_or_default();
    let lines = text.lines().map(|line| match line.split_once(": ") {
        Some((key, time)) if chrono::DateTime::parse_from_rfc3339(time).is_ok() => {
            format!("{key}: \"{time}\"\n")
        }
        // A text that would be read as something else.
        Some((key, quoted)) if is_plain_scalar(quoted) => {
            format!("{key}: \"{}\"\n", quoted.trim_matches('\''))
        }
        _ => format!("{line}\n"),
    });
    lines.collect()
}

fn is_plain_scalar(quoted: &str) -> bool {
    let Some(text) = quoted.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) else {
        return false;
    };
    let plain = text.chars().all(|c| c.is_ascii_alphanumeric() || "+-._~".contains(c));
    plain && !text.is_empty()
}
