//! The four kinds of patches, done by local-merge.

use std::sync::Arc;

use local_merge::manage::Conflicts;
use local_merge::{Refused, json as plain, strategic};
use serde_json::{Value, json};

use crate::plane::{Patched, Plane, Shown, Target, Undone, WriteOptions};
use crate::status::{ApiError, FieldError, Result};
use crate::{decode, go, kinds, ownership, scale};

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
        /// What becomes of fields that other managers own.
        conflicts: Conflicts,
    },
}

pub(crate) fn refused(target: &Target, error: &Refused) -> ApiError {
    match error.code {
        409 => {
            let causes: Vec<Value> = error.conflicts.iter().map(|(with, field)| {
                json!({"reason": "FieldManagerConflict", "message": with, "field": field})
            }).collect();
            let mut answer = ApiError::new(409, "Conflict", error.message.clone());
            answer.details = Some(Box::new(json!({"causes": causes})));
            answer
        }
        422 if error.message == local_merge::GENERIC => {
            let mut answer = ApiError::new(422, "Invalid", error.message.clone());
            answer.details = Some(Box::new(json!({})));
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
) -> Result<Shown> {
    if target.subresource == "scale" {
        let change = |scale: &Value| {
            let made = match kind {
                PatchKind::Json => plain::json_patch(scale, patch),
                _ => plain::merge_patch(scale, patch),
            };
            made.map_err(|error| refused(target, &error))
        };
        let how = match kind {
            PatchKind::Apply { conflicts } => scale::How::Apply { patch, conflicts },
            PatchKind::Json | PatchKind::Merge | PatchKind::Strategic => {
                scale::How::Change(&change)
            }
        };
        return Ok(Arc::new(scale::write_scale(plane, target, options, &how)?.into()));
    }
    if let PatchKind::Apply { conflicts } = kind {
        return apply(plane, target, patch, conflicts, options);
    }
    let schema = ownership::schema(&target.resource);
    let patched = |current: &Value| {
        let next = match kind {
            PatchKind::Json => plain::json_patch(current, patch),
            PatchKind::Merge => plain::merge_patch(current, patch),
            _ => strategic::patch(&schema, current, patch),
        };
        next.map_err(|error| refused(target, &error))
    };
    let done = plane.rewrite(target, options, |current, options| {
        let mut next = patched(current)?;
        if target.resource.custom.is_none() {
            if matches!(kind, PatchKind::Strategic) {
                for key in ["apiVersion", "kind"] {
                    next[key] = current[key].clone();
                }
                let text = go::printed(patch).0;
                if let Some(node) = target.resource.schema() {
                    if let Some(why) = decode::unrestorable(node, &next) {
                        return Err(undecodable(&text, &why).into());
                    }
                }
                options.patched = Patched::Shown(text);
            } else {
                still_known(plane, target, &next).map_err(Undone::Unread)?;
                options.patched = Patched::Unseen;
            }
        }
        named(target, &mut next)?;
        Ok(next)
    });
    match done {
        Ok(shown) => Ok(shown),
        Err(Undone::Refused(error)) => Err(error),
        // It is seldom that the whole text is needed.
        Err(Undone::Unread(why)) => {
            let entry = plane.store().get(&target.key()).ok_or_else(|| target.not_found())?;
            let next = patched(&kinds::shown(&target.resource, &entry.value))?;
            Err(undecodable(&go::patched_text(&next), &why))
        }
    }
}

/// 422 for a result of a patch that cannot be read as the kind.
pub(crate) fn undecodable(text: &str, why: &str) -> ApiError {
    ApiError::invalid("", "", "", &[FieldError::invalid("patch", &json!(text), why)])
}

// A patch may name another kind; the result is then read as that.
fn still_known(plane: &Plane, target: &Target, next: &Value) -> Result<(), String> {
    let text = |key: &str| next[key].as_str().unwrap_or_default();
    let (api, kind) = (text("apiVersion"), text("kind"));
    let own = &target.resource;
    if api.is_empty() || kind.is_empty() || (api == own.api_version() && kind == own.kind) {
        return Ok(());
    }
    let registry = plane.registry();
    let other = registry.iter().find(|one| one.api_version() == api && one.kind == kind);
    let Some(other) = other else {
        return Err(format!(
            "no kind \"{kind}\" is registered for version \"{api}\" in scheme \"pkg/api/legacyscheme/scheme.go:30\""
        ));
    };
    kinds::complete(other, &mut next.clone(), &mut Vec::new())
}

// The result must still be the object of the URL.
fn named(target: &Target, next: &mut Value) -> Result<()> {
    of_url(target, next)?;
    if target.resource.namespaced && next["metadata"]["namespace"] != json!(target.namespace) {
        next["metadata"]["namespace"] = json!(target.namespace);
    }
    Ok(())
}

fn of_url(target: &Target, next: &Value) -> Result<()> {
    let given = next["metadata"]["name"].as_str().unwrap_or_default();
    if given.is_empty() || next["apiVersion"].is_null() {
        return Err(ApiError::bad_request(format!(
            "the name of the object ({} based on URL) was undeterminable: name must be provided",
            target.name
        )));
    }
    let namespace = next["metadata"]["namespace"].as_str().unwrap_or_default();
    if !namespace.is_empty() && namespace != target.namespace {
        return Err(ApiError::bad_request(
            "the namespace of the provided object does not match the namespace sent on the request",
        ));
    }
    if given != target.name {
        return Err(ApiError::bad_request(format!(
            "the name of the object ({given}) does not match the name on the URL ({})",
            target.name
        )));
    }
    Ok(())
}

fn apply(
    plane: &Plane,
    target: &Target,
    patch: &Value,
    conflicts: Conflicts,
    options: &mut WriteOptions,
) -> Result<Shown> {
    let resource = &target.resource;
    let text = |key: &str| patch[key].as_str().unwrap_or_default();
    let (api, kind) = (text("apiVersion"), text("kind"));
    if api != resource.api_version() || kind != resource.kind {
        return Err(ApiError::bad_request(format!(
            "invalid object type: {}, Kind={kind}",
            if api.contains('/') { api.to_owned() } else { format!("/{api}") }
        )));
    }
    if !patch["metadata"]["managedFields"].is_null() {
        return Err(ApiError::bad_request("metadata.managedFields must be nil"));
    }
    if plane.store().get(&target.key()).is_none() {
        if !target.subresource.is_empty() {
            return Err(target.not_found());
        }
        of_url(target, patch)?;
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
        let mut object = ownership::apply(resource, "", None, patch, &options.manager, conflicts)
            .map_err(|error| refused(target, &error))?;
        if let Some(metadata) = object["metadata"].as_object_mut() {
            metadata.shift_remove("resourceVersion");
        }
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
            patch,
            &options.manager,
            conflicts,
        )
        .map_err(|error| refused(target, &error))?;
        named(target, &mut next)?;
        ownership::mark_applied(&mut next);
        Ok(next)
    })
}
