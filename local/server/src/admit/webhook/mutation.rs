//! MutatingAdmissionPolicies: what they make of an object, as an apply configuration or as a JSON patch.

use std::sync::Arc;

use kube_cel::cel::Context;
use local_merge::{json as plain, typed};
use serde_json::{Value, json};

use super::bound::{self, Bound};
use super::expression::{self, Expression, Literals};
use super::{Request, Seen};
use crate::plane::Plane;
use crate::resource::Resource;
use crate::status::{ApiError, Result};
use crate::{kinds, ownership};

/// Makes the mutations of a policy that is bound; whether the object is another now, or none if the policy does not
/// want the request.
pub(super) fn mutate(
    plane: &Plane,
    bound: &Bound,
    request: &Request<'_>,
    object: &mut Value,
) -> Result<Option<bool>> {
    let Some(mut seen) = bound::wanted(plane, bound, request, object) else { return Ok(None) };
    let before = seen.object.clone();
    if before.is_null() {
        return Ok(None);
    }
    match mutated(plane, bound, request, &mut seen) {
        Ok(()) => {}
        Err(Wrong::Object(why)) => return Err(ApiError::internal(&why)),
        Err(Wrong::Mutation(_)) if bound.ignores_failure() => {}
        Err(Wrong::Mutation(why)) => return Err(denied(request, &seen, bound, &why)),
    }
    if seen.object == before {
        return Ok(Some(false));
    }
    let own = &request.target.resource;
    let same = own.version == seen.resource.version && own.group == seen.resource.group;
    *object = match same {
        true => seen.object,
        false => kinds::present(own, &kinds::to_stored(&seen.resource, seen.object)),
    };
    Ok(Some(true))
}

/// Why an object is not mutated.
enum Wrong {
    /// The mutation cannot be made.
    Mutation(String),
    /// What it makes cannot be read as the kind.
    Object(String),
}

impl From<String> for Wrong {
    fn from(why: String) -> Wrong {
        Wrong::Mutation(why)
    }
}

// What could be done stays done: a mutation that fails is passed over, or the request is refused.
fn mutated(
    plane: &Plane,
    bound: &Bound,
    request: &Request<'_>,
    seen: &mut Seen,
) -> Result<(), Wrong> {
    let rounds = bound::contexts(plane, bound, request, seen)
        .map_err(|why| format!("failed to configure binding: {why}"))?
        .len();
    let mutations = bound.spec()["mutations"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut first = Ok(());
    for round in 0..rounds {
        for (index, mutation) in mutations.iter().enumerate() {
            // Each sees what the one before made.
            let contexts = bound::contexts(plane, bound, request, seen)?;
            let Some(context) = contexts.get(round) else { continue };
            if index == 0 {
                match bound::holds(bound, context) {
                    Ok(true) => {}
                    Ok(false) => break,
                    Err(why) => {
                        first = first.and(Err(why.into()));
                        break;
                    }
                }
            }
            match one(mutation, &seen.resource, &seen.object, context) {
                Ok(next) => seen.object = next,
                Err(Wrong::Object(why)) => return Err(Wrong::Object(why)),
                Err(why) => first = first.and(Err(why)),
            }
        }
    }
    first
}

fn one(
    mutation: &Value,
    resource: &Arc<Resource>,
    object: &Value,
    context: &Context<'_>,
) -> Result<Value, Wrong> {
    let (part, patches) = match mutation["patchType"].as_str() {
        Some("JSONPatch") => ("jsonPatch", true),
        _ => ("applyConfiguration", false),
    };
    let text = mutation[part]["expression"].as_str().unwrap_or_default();
    let compiled = Expression::compile(text, Literals::Mutation)
        .map_err(|why| format!("compilation failed: {why}"))?;
    if let Some(why) = &compiled.misfit {
        return Err(format!("type mismatch: {why}").into());
    }
    let made = compiled.run(context);
    let made = made.map_err(|why| format!("expression '{text}' resulted in error: {why}"))?;
    let made = expression::json(&made)
        .ok_or_else(|| format!("expression '{text}' evaluated to a type that is not JSON"))?;
    let mut next = if patches {
        patched(object, &made)?
    } else {
        applied(resource, object, made).map_err(|why| format!("error applying patch: {why}"))?
    };
    kinds::complete(resource, &mut next, &mut Vec::new()).map_err(Wrong::Object)?;
    Ok(next)
}

// A test that fails leaves the object as it is.
fn patched(object: &Value, patch: &Value) -> Result<Value, String> {
    let Some(operations) = patch.as_array() else {
        return Err("type mismatch: JSONPatchType.expression should evaluate to array".to_owned());
    };
    let mut next = object.clone();
    for operation in operations {
        match plain::json_patch(&next, &json!([operation])) {
            Ok(made) => next = made,
            Err(_) if operation["op"] == "test" => return Ok(object.clone()),
            Err(_) => {
                return Err(format!(
                    "JSON Patch: {}",
                    super::not_applied(&next, &json!([operation]))
                ));
            }
        }
    }
    Ok(next)
}

fn applied(resource: &Resource, object: &Value, mut patch: Value) -> Result<Value, String> {
    if !patch.is_object() {
        return Err("it is no object".to_owned());
    }
    for key in ["apiVersion", "kind"] {
        patch[key] = object[key].clone();
    }
    let schema = ownership::schema(resource);
    let wrong = typed::validate(&schema, &patch);
    match wrong.as_slice() {
        [] => {}
        [one] => return Err(format!("failed to convert patch object to typed object: {one}")),
        many => {
            let all = many.join("\n  ");
            return Err(format!(
                "failed to convert patch object to typed object: errors:\n  {all}"
            ));
        }
    }
    let atomic = typed::atomics(&schema, &patch);
    if !atomic.is_empty() {
        return Err(format!(
            "invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: {}",
            atomic.join(", ")
        ));
    }
    Ok(typed::merge(&schema, object, &patch))
}

fn denied(request: &Request<'_>, seen: &Seen, bound: &Bound, why: &str) -> ApiError {
    let message = format!(
        "policy '{}' with binding '{}' denied request: {why}",
        bound.name(),
        bound.binding_name()
    );
    let mut error = super::forbidden(request, &seen.object, "");
    error.reason = "Invalid".into();
    if let Some(details) = &mut error.details {
        details["causes"] = json!([{"message": message}]);
    }
    error.message = message;
    error
}
