//! Writes and deletions over HTTP.

use std::sync::Arc;

use axum::response::Response;
use http::header::CONTENT_TYPE;
use serde_json::{Value, json};

use super::Asked;
use super::answer::{encode, json_reply, show, warn};
use super::options::{body, delete_options, form, list_options, write_options};
use local_merge::manage::Conflicts;

use crate::patch::{self, PatchKind};
use crate::plane::{Deleted, Encoding, Plane, Target, WriteOptions, parse};
use crate::status::{ApiError, FieldError, Result};
use crate::table::Answer;
use crate::{auth, kinds, posted, scale, table};

pub(super) fn create(plane: &Plane, asked: &Asked, target: &Target) -> Result<Response> {
    let form = form(asked, target, Answer::Object)?;
    let (body, mut options) = body(asked, target, "create")?;
    if target.resource.verbs == ["create"] {
        if target.resource.plural == "bindings" {
            let name = body["metadata"]["name"].as_str().unwrap_or_default().to_owned();
            let resource = plane.registry().get("", "v1", "pods").ok_or_else(ApiError::no_route)?;
            let pod = Target {
                resource,
                namespace: target.namespace.clone(),
                name,
                subresource: "binding".to_owned(),
            };
            return posted(plane, &pod, body, &mut options);
        }
        let by = (asked.tokens.as_deref(), &asked.user);
        let answer = auth::review(plane, by, target, body, &mut options)?;
        return show(target, 201, &Arc::new(answer.into()), &form, &options.warnings);
    }
    let object = plane.create(target, body, &mut options)?;
    show(target, 201, &object, &form, &options.warnings)
}

/// POST to a subresource.
pub(super) fn posted(
    plane: &Plane,
    target: &Target,
    body: Value,
    options: &mut WriteOptions,
) -> Result<Response> {
    let (code, value) = posted::post(plane, target, body, options)?;
    let mut response = json_reply(code, &value);
    warn(&mut response, &options.warnings);
    Ok(response)
}

pub(super) fn update(plane: &Plane, asked: &Asked, target: &Target) -> Result<Response> {
    let form = form(asked, target, Answer::Object)?;
    let (body, mut options) = body(asked, target, "update")?;
    if target.subresource == "scale" {
        scale::check_scale(target, &body)?;
        let scale = scale::write_scale(
            plane,
            target,
            &mut options,
            &scale::How::Change(&|_| Ok(body.clone())),
        )?;
        return show(target, 200, &Arc::new(scale.into()), &form, &options.warnings);
    }
    let created = plane.store().get(&target.key()).is_none();
    let object = plane.update(target, body, &mut options)?;
    show(target, if created { 201 } else { 200 }, &object, &form, &options.warnings)
}

pub(super) fn change(plane: &Plane, asked: &Asked, target: &Target) -> Result<Response> {
    let form = form(asked, target, Answer::Object)?;
    let content =
        asked.header(CONTENT_TYPE).split(';').next().unwrap_or_default().trim().to_owned();
    let kind = match content.as_str() {
        "application/json-patch+json" => PatchKind::Json,
        "application/merge-patch+json" => PatchKind::Merge,
        "application/strategic-merge-patch+json" if target.resource.custom.is_none() => {
            PatchKind::Strategic
        }
        "application/apply-patch+yaml" => PatchKind::Apply {
            conflicts: if asked.flag("force") { Conflicts::Forced } else { Conflicts::Refused },
        },
        other => {
            // A patch that others know is refused by the kind, what is no patch by the server.
            let text = if other == "application/strategic-merge-patch+json" {
                "the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml"
            } else {
                "415: Unsupported Media Type"
            };
            let mut error = ApiError::new(415, "UnsupportedMediaType", text);
            if other != "application/strategic-merge-patch+json" {
                error.details = Some(Box::new(json!({})));
            }
            return Err(error);
        }
    };
    let mut options = write_options(asked, "patch")?;
    let mut errors = Vec::new();
    if matches!(kind, PatchKind::Apply { .. }) {
        if asked.get("fieldManager").is_empty() {
            errors.push(FieldError::required("fieldManager", "is required for apply patch"));
        }
    } else if asked.query.contains_key("force") {
        errors.push(FieldError::forbidden("force", "may not be specified for non-apply patch"));
    }
    if !errors.is_empty() {
        return Err(ApiError::options("PatchOptions", &errors));
    }
    let encoding = match kind {
        PatchKind::Apply { .. } => Encoding::Yaml,
        PatchKind::Strategic | PatchKind::Json | PatchKind::Merge => Encoding::Json,
    };
    let before = match kind {
        PatchKind::Apply { .. } => "error decoding YAML: ",
        PatchKind::Strategic => "",
        PatchKind::Json | PatchKind::Merge => "error decoding patch: ",
    };
    let refuse = |text: String| ApiError::bad_request(format!("{before}{text}"));
    let (mut value, findings) = parse(&asked.body, encoding).map_err(refuse)?;
    if encoding == Encoding::Yaml && value.is_null() {
        value = json!({});
    }
    let wanted = if matches!(kind, PatchKind::Json) { value.is_array() } else { value.is_object() };
    if !wanted {
        let context = if encoding == Encoding::Yaml {
            "error unmarshaling JSON: while decoding JSON: "
        } else {
            ""
        };
        let found = match &value {
            Value::Array(_) => "array",
            Value::Object(_) => "object",
            Value::String(_) => "string",
            Value::Number(_) => "number",
            Value::Bool(_) | Value::Null => "bool",
        };
        let go = match kind {
            PatchKind::Json => "jsonpatch.Patch",
            _ => "map[string]interface {}",
        };
        return Err(refuse(format!(
            "{context}json: cannot unmarshal {found} into Go value of type {go}"
        )));
    }
    options.findings = findings;
    let created = plane.store().get(&target.key()).is_none();
    let object = patch::patch(plane, target, kind, &value, &mut options)?;
    show(target, if created { 201 } else { 200 }, &object, &form, &options.warnings)
}

pub(super) fn delete(plane: &Plane, asked: &Asked, target: &Target) -> Result<Response> {
    let form = form(asked, target, Answer::Object)?;
    let options = delete_options(asked)?;
    let mut warnings = Vec::new();
    if target.resource.is("batch", "jobs") && options.propagation.is_none() {
        warnings.push("child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning".to_owned());
    }
    match plane.delete_warned(target, &options, &mut warnings)? {
        Deleted::Waiting(object) => show(target, 200, &object, &form, &warnings),
        Deleted::Gone(object) if kinds::deletion_shows_object(&target.resource) => {
            show(target, 200, &object, &form, &warnings)
        }
        Deleted::Gone(object) => {
            let mut details = json!({"name": target.name});
            if !target.resource.group.is_empty() {
                details["group"] = json!(target.resource.group);
            }
            details["kind"] = json!(target.resource.plural);
            details["uid"] = object["metadata"]["uid"].clone();
            let status = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details});
            let mut response = json_reply(200, &status);
            warn(&mut response, &warnings);
            Ok(response)
        }
    }
}

pub(super) async fn delete_all(plane: &Plane, asked: &Asked, target: &Target) -> Result<Response> {
    let form = form(asked, target, Answer::List)?;
    let options = delete_options(asked)?;
    let mut page = plane.list(target, &list_options(asked)?).await?;
    for object in &page.items {
        let text = |key: &str| object["metadata"][key].as_str().unwrap_or_default().to_owned();
        let one = Target { namespace: text("namespace"), name: text("name"), ..target.clone() };
        match plane.delete(&one, &options) {
            Err(error) if error.code != 404 => return Err(error),
            _ => {}
        }
    }
    page.continued = false;
    let value = table::render_list(&target.resource, &page, &form)?;
    Ok(encode(200, &value, &form))
}
