//! The subresource `scale`, which is a kind of its own.

use serde_json::{Value, json};

use local_merge::manage::Conflicts;

use crate::ownership::{self, ScaleOwners};
use crate::plane::{Plane, Target, WriteOptions};
use crate::status::{ApiError, FieldError, Result};
use crate::{go, patch};

fn read<'v>(object: &'v Value, path: &str) -> Option<&'v Value> {
    let mut at = object;
    for step in path.split('.').filter(|step| !step.is_empty()) {
        at = at.get(step)?;
    }
    Some(at)
}

fn write(object: &mut Value, path: &str, value: Value) {
    let mut at = object;
    for step in path.split('.').filter(|step| !step.is_empty()) {
        if !at.is_object() {
            *at = json!({});
        }
        at = &mut at[step];
    }
    *at = value;
}

struct Paths {
    spec: String,
    status: String,
    selector: Option<String>,
}

fn paths(target: &Target) -> Paths {
    let scale = target.resource.custom.as_ref().and_then(|custom| custom.scale.as_ref());
    match scale {
        Some(scale) => Paths {
            spec: scale["specReplicasPath"].as_str().unwrap_or_default().to_owned(),
            status: scale["statusReplicasPath"].as_str().unwrap_or_default().to_owned(),
            selector: scale["labelSelectorPath"].as_str().map(str::to_owned),
        },
        None => Paths {
            spec: ".spec.replicas".to_owned(),
            status: ".status.replicas".to_owned(),
            selector: None,
        },
    }
}

fn selector_text(selector: &Value) -> String {
    let mut parts: Vec<String> = Vec::new();
    let Some(fields) = selector.as_object() else { return String::new() };
    let plain = !fields.contains_key("matchLabels") && !fields.contains_key("matchExpressions");
    let equal = if plain { Some(fields) } else { selector["matchLabels"].as_object() };
    for (key, value) in equal.into_iter().flatten() {
        parts.push(format!("{key}={}", value.as_str().unwrap_or_default()));
    }
    for one in selector["matchExpressions"].as_array().into_iter().flatten() {
        let key = one["key"].as_str().unwrap_or_default();
        let values: Vec<&str> =
            one["values"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        parts.push(match one["operator"].as_str() {
            Some("In") => format!("{key} in ({})", values.join(",")),
            Some("NotIn") => format!("{key} notin ({})", values.join(",")),
            Some("Exists") => key.to_owned(),
            _ => format!("!{key}"),
        });
    }
    parts.sort();
    parts.join(",")
}

/// The Scale of an object.
pub fn scale_of(target: &Target, object: &Value) -> Result<Value> {
    let paths = paths(target);
    let Some(replicas) = read(object, &paths.spec).and_then(Value::as_i64) else {
        return Err(ApiError::internal(&format!(
            "the spec replicas field \"{}\" does not exist",
            paths.spec
        )));
    };
    let mut metadata = json!({"name": object["metadata"]["name"]});
    for key in ["namespace", "uid", "resourceVersion", "creationTimestamp"] {
        if let Some(value) = object["metadata"].get(key) {
            metadata[key] = value.clone();
        }
    }
    let mut spec = json!({});
    if replicas != 0 {
        spec["replicas"] = json!(replicas);
    }
    let mut status =
        json!({"replicas": read(object, &paths.status).and_then(Value::as_i64).unwrap_or(0)});
    let selector = match (&target.resource.custom, &paths.selector) {
        (Some(_), Some(path)) => {
            read(object, path).and_then(Value::as_str).unwrap_or_default().to_owned()
        }
        (Some(_), None) => String::new(),
        _ => selector_text(&object["spec"]["selector"]),
    };
    if !selector.is_empty() {
        status["selector"] = json!(selector);
    }
    Ok(
        json!({"kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": metadata, "spec": spec, "status": status}),
    )
}

/// Writes the number of replicas into the object itself.
pub fn set_replicas(target: &Target, object: &mut Value, replicas: i64) {
    write(object, &paths(target).spec, json!(replicas));
}

/// How a Scale is written.
pub enum How<'h> {
    /// As this makes it.
    Change(&'h dyn Fn(&Value) -> Result<Value>),
    /// By a server-side apply.
    Apply {
        /// What is applied.
        patch: &'h Value,
        /// Take it from others.
        conflicts: Conflicts,
    },
}

/// Writes a Scale made from the one there is.
pub fn write_scale(
    plane: &Plane,
    target: &Target,
    options: &mut WriteOptions,
    how: &How<'_>,
) -> Result<Value> {
    let paths = paths(target);
    let api = target.resource.api_version();
    let owners = ScaleOwners { path: paths.spec.trim_start_matches('.'), api_version: &api };
    let manager = options.manager.clone();
    let written = plane.modify(target, options, |current, _| {
        let mut before = scale_of(target, current)?;
        before["metadata"]["managedFields"] = Value::Array(owners.of(current));
        let scale = match how {
            How::Change(change) => change(&before)?,
            How::Apply { patch, conflicts } => owners
                .apply(&before, patch, &manager, *conflicts)
                .map_err(|error| patch::refused(target, &error))?,
        };
        let number = &scale["spec"]["replicas"];
        if !number.is_null() && !number.is_i64() {
            let why = format!(
                "json: cannot unmarshal {} into Go struct field ScaleSpec.spec.replicas of type int32",
                match number {
                    Value::String(_) => "string".to_owned(),
                    Value::Bool(_) => "bool".to_owned(),
                    Value::Array(_) => "array".to_owned(),
                    Value::Object(_) => "object".to_owned(),
                    Value::Number(number) => format!("number {number}"),
                    Value::Null => "null".to_owned(),
                }
            );
            let mut shown = scale;
            if let Some(metadata) = shown["metadata"].as_object_mut() {
                metadata.shift_remove("managedFields");
            }
            return Err(patch::undecodable(&go::patched_text(&shown), &why));
        }
        let given = scale["metadata"]["resourceVersion"].as_str().unwrap_or_default();
        if !given.is_empty() && json!(given) != current["metadata"]["resourceVersion"] {
            return Err(ApiError::conflict(
                &target.resource.group,
                &target.resource.plural,
                &target.name,
            ));
        }
        let replicas = scale["spec"]["replicas"].as_i64().unwrap_or(0);
        if replicas < 0 && target.resource.custom.is_none() {
            let error = FieldError::invalid(
                "spec.replicas",
                &json!(replicas),
                "must be greater than or equal to 0",
            );
            return Err(ApiError::invalid("autoscaling", "Scale", &target.name, &[error]));
        }
        let mut next = current.clone();
        if read(current, &paths.spec).and_then(Value::as_i64) != Some(replicas) {
            write(&mut next, &paths.spec, json!(replicas));
        }
        let owned = match how {
            How::Change(_) => {
                let mut plain = scale;
                plain["metadata"]["managedFields"] = before["metadata"]["managedFields"].clone();
                owners.update(&before, &plain, &manager)
            }
            How::Apply { .. } => scale,
        };
        owners.put(&mut next, &owned);
        ownership::mark_applied(&mut next);
        Ok(next)
    })?;
    scale_of(target, &written)
}

/// Refuses a body of a PUT that is no Scale of this object.
pub fn check_scale(target: &Target, body: &Value) -> Result<()> {
    let text = |key: &str| body[key].as_str().unwrap_or_default();
    let (api, kind) = (text("apiVersion"), text("kind"));
    let version = api.rsplit('/').next().unwrap_or_default();
    if kind == "Scale"
        && !["autoscaling/v1", "extensions/v1beta1", "apps/v1beta1", "apps/v1beta2", ""]
            .contains(&api)
    {
        return Err(ApiError::bad_request(format!(
            "Scale in version \"{version}\" cannot be handled as a Scale: no kind \"Scale\" is registered for version \"{api}\" in scheme \"pkg/api/legacyscheme/scheme.go:30\""
        )));
    }
    if !kind.is_empty() && kind != "Scale" {
        return Err(ApiError::bad_request(format!(
            "{kind} in version \"{version}\" cannot be handled as a Scale: converting ({version}.{kind}) to (autoscaling.Scale): unknown conversion"
        )));
    }
    let given = body["metadata"]["name"].as_str().unwrap_or_default();
    if given != target.name {
        return Err(ApiError::bad_request(format!(
            "the name of the object ({given}) does not match the name on the URL ({})",
            target.name
        )));
    }
    Ok(())
}
