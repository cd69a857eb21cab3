//! The four kinds of patches, done by local-merge.

use local_merge::{Refused, json as plain, strategic};
use serde_json::{Value, json};

use crate::ownership;
use crate::plane::{Plane, Target, WriteOptions};
use crate::scale;
use crate::status::{ApiError, Result};

/// The kind of a patch.
#[derive(Clone, Copy, Debug)]
pub enum PatchKind {
    /// RFC 6902.
    Json,
    /// RFC 7386.
    Merge,
    /// Strategic merge.
    Strategic,
    /// Server-side apply.
    Apply {
        /// Take fields from other managers.
        force: bool,
    },
}

pub(crate) fn refused(target: &Target, error: &Refused) -> ApiError {
    match error.code {
        409 => {
            let causes: Vec<Value> = error.conflicts.iter().map(|(with, field)| {
                json!({"reason": "FieldManagerConflict", "message": with, "field": field})
            }).collect();
            let mut answer = ApiError::new(409, "Conflict", error.message.clone());
            answer.details = Some(json!({"causes": causes}));
            answer
        }
        422 if error.message == local_merge::GENERIC => {
            let mut answer = ApiError::new(422, "Invalid", error.message.clone());
            answer.details = Some(json!({}));
            answer
        }
        400 => ApiError::bad_request(error.message.clone()),
        413 => ApiError::new(413, "RequestEntityTooLarge", error.message.clone()),
        code => {
            let _ = target;
            ApiError::new(code, "", error.message.clone())
        }
    }
}

/// Applies a patch.
pub fn patch(
    plane: &Plane,
    target: &Target,
    kind: PatchKind,
    patch: &Value,
    options: &mut WriteOptions,
) -> Result<Value> {
    if target.subresource == "scale" {
        return scale::write_scale(plane, target, options, |scale| match kind {
            PatchKind::Json => {
                plain::json_patch(scale, patch).map_err(|error| refused(target, &error))
            }
            _ => plain::merge_patch(scale, patch).map_err(|error| refused(target, &error)),
        });
    }
    if let PatchKind::Apply { force } = kind {
        return apply(plane, target, patch, force, options);
    }
    let schema = ownership::schema(&target.resource);
    plane.modify(target, options, |current, _| {
        let next = match kind {
            PatchKind::Json => plain::json_patch(current, patch),
            PatchKind::Merge => plain::merge_patch(current, patch),
            _ => strategic::patch(&schema, current, patch),
        };
        let next = next.map_err(|error| refused(target, &error))?;
        for (key, want) in [("name", &target.name), ("namespace", &target.namespace)] {
            let given = next["metadata"][key].as_str().unwrap_or_default();
            if given != want {
                return Err(ApiError::bad_request(format!(
                    "the {key} of the object ({given}) does not match the {key} on the URL ({want})"
                )));
            }
        }
        Ok(next)
    })
}

fn apply(
    plane: &Plane,
    target: &Target,
    patch: &Value,
    force: bool,
    options: &mut WriteOptions,
) -> Result<Value> {
    let resource = &target.resource;
    let mut patch = patch.clone();
    if !patch.is_object() {
        return Err(ApiError::bad_request("the patch is no object"));
    }
    let api = resource.api_version();
    let given = patch["apiVersion"].as_str().unwrap_or_default().to_owned();
    if given.is_empty() || patch["kind"].as_str().unwrap_or_default().is_empty() {
        return Err(ApiError::bad_request("couldn't get version/kind; Object 'Kind' is missing"));
    }
    if given != api {
        return Err(ApiError::bad_request(format!(
            "Incorrect version specified in apply patch. Specified patch version: {given}, expected: {api}"
        )));
    }
    if patch["metadata"]["managedFields"].as_array().is_some_and(|all| !all.is_empty()) {
        return Err(ApiError::bad_request("metadata.managedFields must be nil"));
    }
    let name = patch["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    if !name.is_empty() && name != target.name {
        return Err(ApiError::bad_request(format!(
            "the name of the object ({name}) does not match the name on the URL ({})",
            target.name
        )));
    }
    patch["metadata"]["name"] = json!(target.name);
    if resource.namespaced {
        patch["metadata"]["namespace"] = json!(target.namespace);
    }
    if plane.store().get(&target.key()).is_none() {
        if !target.subresource.is_empty() {
            return Err(target.not_found());
        }
        if patch["metadata"]["uid"].as_str().is_some_and(|uid| !uid.is_empty()) {
            let why = format!(
                "uid mismatch: the provided object specified uid {}, and no existing object was found",
                patch["metadata"]["uid"].as_str().unwrap_or_default()
            );
            return Err(ApiError::conflict_because(
                &resource.group,
                &resource.plural,
                &target.name,
                &why,
            ));
        }
        let mut object = ownership::apply(resource, "", None, &patch, &options.manager, force)
            .map_err(|error| refused(target, &error))?;
        ownership::mark_applied(&mut object);
        match plane.create(target, object, options) {
            Err(error) if error.reason == "AlreadyExists" => {}
            other => return other,
        }
    }
    plane.modify(target, options, |current, options| {
        let mut next = ownership::apply(
            resource,
            &target.subresource,
            Some(current),
            &patch,
            &options.manager,
            force,
        )
        .map_err(|error| refused(target, &error))?;
        ownership::mark_applied(&mut next);
        Ok(next)
    })
}
