//! Queries, headers and bodies: what a request says besides its path.

use http::header::{ACCEPT, CONTENT_TYPE, USER_AGENT};
use serde_json::{Value, json};

use super::Asked;
use crate::list::ListOptions;
use crate::plane::{DeleteOptions, Encoding, FieldValidation, Target, WriteOptions, parse};
use crate::protobuf::{self, Refused};
use crate::status::{ApiError, FieldError, Result};
use crate::table::{Answer, Form, Messages};

pub(super) fn form(asked: &Asked, target: &Target, answer: Answer) -> Result<Form> {
    let accept = asked.header(ACCEPT);
    let resource = &target.resource;
    // Looked up only for those who ask: most want JSON.
    let known = accept.contains(protobuf::MEDIA_TYPE)
        && resource.custom.is_none()
        && protobuf::known(&resource.api_version(), &resource.kind);
    let messages = if known { Messages::Known } else { Messages::Unknown };
    Form::accepted(accept, answer, asked.get("includeObject"), messages)
}

pub(super) fn manager(asked: &Asked) -> String {
    let given = asked.get("fieldManager");
    if !given.is_empty() {
        return given.to_owned();
    }
    let agent = asked.header(USER_AGENT);
    let agent = agent.split('/').next().unwrap_or_default();
    if agent.is_empty() { "unknown".to_owned() } else { agent.to_owned() }
}

pub(super) fn write_options(asked: &Asked, verb: &str) -> Result<WriteOptions> {
    let kind = match verb {
        "create" => "CreateOptions",
        "update" => "UpdateOptions",
        _ => "PatchOptions",
    };
    let mut errors = Vec::new();
    dry_run_errors(asked, &mut errors);
    let validation = match asked.get("fieldValidation") {
        "" | "Warn" => FieldValidation::Warn,
        "Strict" => FieldValidation::Strict,
        "Ignore" => FieldValidation::Ignore,
        other => {
            let known = ["\"\"", "\"Ignore\"", "\"Strict\"", "\"Warn\""].map(str::to_owned);
            errors.push(FieldError::unsupported("fieldValidation", &json!(other), &known));
            FieldValidation::Warn
        }
    };
    let given = asked.get("fieldManager");
    if given.len() > 128 {
        errors.push(FieldError::too_long("fieldManager", 128));
    }
    if let Some((at, bad)) = given.char_indices().find(|(_, c)| c.is_control()) {
        errors.push(FieldError::invalid(
            "fieldManager",
            &json!(given),
            &format!("invalid character U+{:04X} (at position {at})", u32::from(bad)),
        ));
    }
    if !errors.is_empty() {
        return Err(ApiError::options(kind, &errors));
    }
    Ok(WriteOptions {
        manager: manager(asked),
        dry_run: !asked.get("dryRun").is_empty(),
        validation,
        user: Some(asked.user.clone()),
        ..WriteOptions::default()
    })
}

pub(super) fn dry_run_errors(asked: &Asked, errors: &mut Vec<FieldError>) {
    let dry = asked.get("dryRun");
    if asked.query.contains_key("dryRun") && dry != "All" {
        errors.push(FieldError::unsupported("dryRun", &json!([dry]), &["\"All\"".to_owned()]));
    }
}

pub(super) fn body(asked: &Asked, target: &Target, verb: &str) -> Result<(Value, WriteOptions)> {
    let kind = asked.header(CONTENT_TYPE).split(';').next().unwrap_or_default().trim().to_owned();
    let encoding = match kind.as_str() {
        "application/yaml" => Encoding::Yaml,
        "application/json" | "" => Encoding::Json,
        protobuf::MEDIA_TYPE if target.resource.custom.is_none() => {
            let options = write_options(asked, verb)?;
            if !protobuf::known(&target.resource.api_version(), &target.resource.kind) {
                return Err(ApiError::unsupported_media());
            }
            return Ok((from_protobuf(&asked.body)?, options));
        }
        _ => return Err(ApiError::unsupported_media()),
    };
    let mut options = write_options(asked, verb)?;
    let (value, findings) = parse(&asked.body, encoding).map_err(|text| {
        let said = String::from_utf8_lossy(&asked.body).into_owned();
        let cut: String = said.chars().take(30).collect();
        let dots = if said.chars().count() > 30 { " ..." } else { "" };
        let shown = if said.is_empty() { "<empty>".to_owned() } else { format!("{cut}{dots}") };
        let why = if text.contains("EOF") { "unexpected end of JSON input".to_owned() } else { text };
        ApiError::bad_request(format!("the object provided is unrecognized (must be of type {}): couldn't get version/kind; json parse error: {why} ({shown})", target.resource.kind))
    })?;
    options.findings = findings;
    let kindless =
        target.resource.custom.is_some() && value["kind"].as_str().unwrap_or_default().is_empty();
    if !value.is_object() || kindless {
        return Err(unrecognized(asked, target, &value));
    }
    Ok((value, options))
}

fn from_protobuf(body: &[u8]) -> Result<Value> {
    protobuf::decode(body).map_err(|why| match why {
        Refused::Unknown(api, kind) => ApiError::bad_request(format!(
            "no kind \"{kind}\" is registered for version \"{api}\" in scheme \"k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30\""
        )),
        Refused::NoEnvelope => ApiError::bad_request(
            "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]",
        ),
        Refused::Damaged => ApiError::bad_request("unexpected EOF"),
    })
}

// A body of which it is not known what it is.
pub(super) fn unrecognized(asked: &Asked, target: &Target, value: &Value) -> ApiError {
    let said = String::from_utf8_lossy(&asked.body);
    let start = asked.body.get(..asked.body.len().min(30)).unwrap_or_default();
    let dots = if asked.body.len() > 30 { " ..." } else { "" };
    let shown = if said.starts_with('{') {
        String::from_utf8_lossy(start).into_owned()
    } else {
        start.iter().map(|byte| format!("{byte:02x}")).collect()
    };
    let found = match value {
        Value::Object(_) => None,
        Value::Array(_) => Some("array"),
        Value::String(_) => Some("string"),
        Value::Number(_) => Some("number"),
        Value::Bool(_) | Value::Null => Some("bool"),
    };
    let why = match found {
        None => format!("Object 'Kind' is missing in '{said}'"),
        Some(found) => format!(
            "couldn't get version/kind; json parse error: json: cannot unmarshal {found} into Go value of type struct {{ APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }}"
        ),
    };
    ApiError::bad_request(format!(
        "the object provided is unrecognized (must be of type {}): {why} ({shown}{dots})",
        target.resource.kind
    ))
}

pub(super) fn list_options(asked: &Asked) -> Result<ListOptions> {
    let number = |key: &str| -> Result<Option<i64>> {
        let text = asked.get(key);
        if text.is_empty() {
            return Ok(None);
        }
        text.parse().map(Some).map_err(|_| {
            ApiError::bad_request(format!("strconv.ParseInt: parsing \"{text}\": invalid syntax"))
        })
    };
    Ok(ListOptions {
        labels: asked.get("labelSelector").to_owned(),
        fields: asked.get("fieldSelector").to_owned(),
        limit: number("limit")?.unwrap_or(0).max(0),
        next: asked.get("continue").to_owned(),
        version: asked.query.get("resourceVersion").cloned(),
        matching: asked.get("resourceVersionMatch").to_owned(),
        bookmarks: asked.flag("allowWatchBookmarks"),
        initial: asked
            .query
            .contains_key("sendInitialEvents")
            .then(|| asked.flag("sendInitialEvents")),
        timeout: number("timeoutSeconds")?.and_then(|seconds| u64::try_from(seconds).ok()),
    })
}

pub(super) fn delete_options(asked: &Asked) -> Result<DeleteOptions> {
    let mut given = json!({});
    if !asked.body.is_empty() && asked.header(CONTENT_TYPE).starts_with(protobuf::MEDIA_TYPE) {
        given = from_protobuf(&asked.body)?;
    } else if !asked.body.is_empty() {
        let encoding = match asked.header(CONTENT_TYPE).starts_with("application/yaml") {
            true => Encoding::Yaml,
            false => Encoding::Json,
        };
        let (value, _) = parse(&asked.body, encoding).map_err(|text| {
            ApiError::bad_request(format!("couldn't get version/kind; json parse error: {text}"))
        })?;
        let kind = value["kind"].as_str().unwrap_or_default();
        if !kind.is_empty() && kind != "DeleteOptions" {
            let version = value["apiVersion"].as_str().unwrap_or("v1");
            return Err(ApiError::bad_request(format!(
                "no kind \"{kind}\" is registered for version \"{version}\" in scheme \"k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27\""
            )));
        }
        given = value;
    } else {
        for key in ["propagationPolicy", "dryRun"] {
            if asked.query.contains_key(key) {
                given[key] = json!(asked.get(key));
            }
        }
        if let Ok(seconds) = asked.get("gracePeriodSeconds").parse::<i64>() {
            given["gracePeriodSeconds"] = json!(seconds);
        }
        if asked.query.contains_key("orphanDependents") {
            given["orphanDependents"] = json!(asked.flag("orphanDependents"));
        }
    }
    let mut errors = Vec::new();
    let policy =
        given["propagationPolicy"].as_str().filter(|policy| !policy.is_empty()).map(str::to_owned);
    if let Some(policy) = &policy {
        if given["orphanDependents"].is_boolean() {
            errors.push(FieldError::invalid(
                "propagationPolicy",
                &json!(policy),
                "orphanDependents and deletionPropagation cannot be both set",
            ));
        }
        if !["Foreground", "Background", "Orphan"].contains(&policy.as_str()) {
            let known =
                ["\"Foreground\"", "\"Background\"", "\"Orphan\"", "\"nil\""].map(str::to_owned);
            errors.push(FieldError::unsupported("propagationPolicy", &json!(policy), &known));
        }
    }
    let dry: Vec<&str> = match &given["dryRun"] {
        Value::Array(all) => all.iter().filter_map(Value::as_str).collect(),
        Value::String(one) => vec![one],
        _ => Vec::new(),
    };
    if dry.iter().any(|one| *one != "All") {
        errors.push(FieldError::unsupported("dryRun", &json!(dry), &["\"All\"".to_owned()]));
    }
    if !errors.is_empty() {
        return Err(ApiError::options("DeleteOptions", &errors));
    }
    let orphan = given["orphanDependents"]
        .as_bool()
        .map(|orphan| if orphan { "Orphan" } else { "Background" });
    let text = |key: &str| given["preconditions"][key].as_str().map(str::to_owned);
    Ok(DeleteOptions {
        grace: given["gracePeriodSeconds"].as_i64(),
        propagation: policy.or(orphan.map(str::to_owned)),
        uid: text("uid"),
        version: text("resourceVersion"),
        dry_run: !dry.is_empty(),
        user: Some(asked.user.clone()),
    })
}
