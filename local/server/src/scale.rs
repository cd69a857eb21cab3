//! Subresources that are other kinds: Scale, Binding, Eviction, tokens.

use serde_json::{Value, json};

use local_merge::manage::Conflicts;

use crate::ownership::{self, ScaleOwners};
use crate::plane::{DeleteOptions, Deleted, Plane, Target, WriteOptions, now};
use crate::status::{ApiError, FieldError, Result};
use crate::{auth, go, patch};

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

/// POST to a subresource.
pub fn post(
    plane: &Plane,
    target: &Target,
    mut body: Value,
    options: &mut WriteOptions,
) -> Result<(u16, Value)> {
    let name = &target.name;
    let kind = match (target.resource.plural.as_str(), target.subresource.as_str()) {
        ("pods", "binding") => Some(("v1", "Binding")),
        ("pods", "eviction") => Some(("policy/v1", "Eviction")),
        ("serviceaccounts", "token") => Some(("authentication.k8s.io/v1", "TokenRequest")),
        _ => None,
    };
    if let Some(kind) = kind {
        plane.ask_webhooks_of_part(target, kind, &mut body, options)?;
    }
    let whole = Target { subresource: String::new(), ..target.clone() };
    match (target.resource.plural.as_str(), target.subresource.as_str()) {
        ("pods", "binding") => {
            let given = body["metadata"]["name"].as_str().unwrap_or_default();
            if !given.is_empty() && given != name {
                return Err(ApiError::bad_request(
                    "name in URL does not match name in Binding object",
                ));
            }
            let node = body["target"]["name"].as_str().unwrap_or_default().to_owned();
            let mut wrong = Vec::new();
            match body["target"]["kind"].as_str() {
                None | Some("" | "Node") => {}
                Some(kind) => wrong.push(format!(
                    "target.kind: Unsupported value: \"{kind}\": supported values: \"Node\", \"<empty>\""
                )),
            }
            if node.is_empty() {
                wrong.push("target.name: Required value".to_owned());
            }
            match wrong.as_slice() {
                [] => {}
                [one] => return Err(ApiError::plain(one.clone())),
                many => return Err(ApiError::plain(format!("[{}]", many.join(", ")))),
            }
            let annotations = body["metadata"]["annotations"].clone();
            let uid = body["metadata"]["uid"].as_str().unwrap_or_default().to_owned();
            let bound = Target { subresource: "binding".to_owned(), ..target.clone() };
            plane.modify(&bound, options, |current, _| {
                let have = current["metadata"]["uid"].as_str().unwrap_or_default();
                if !uid.is_empty() && uid != have {
                    let why = format!("StorageError: invalid object, Code: 4, Key: /registry/pods/{}/{name}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: {uid}, UID in object meta: {have}", target.namespace);
                    return Err(ApiError::conflict_because("", "pods", name, &why));
                }
                if !current["metadata"]["deletionTimestamp"].is_null() {
                    let why = format!("pod {name} is being deleted, cannot be assigned to a host");
                    let mut error = ApiError::conflict_because("", "pods/binding", name, &why);
                    error.details = Some(Box::new(json!({"name": name, "kind": "pods/binding"})));
                    return Err(error);
                }
                if let Some(taken) =
                    current["spec"]["nodeName"].as_str().filter(|taken| !taken.is_empty())
                {
                    let why = format!("pod {name} is already assigned to node \"{taken}\"");
                    let mut error = ApiError::conflict_because("", "pods/binding", name, &why);
                    error.details = Some(Box::new(json!({"name": name, "kind": "pods/binding"})));
                    return Err(error);
                }
                let mut next = current.clone();
                next["spec"]["nodeName"] = json!(node);
                for (key, value) in annotations.as_object().into_iter().flatten() {
                    next["metadata"]["annotations"][key] = value.clone();
                }
                if !next["status"].is_object() {
                    next["status"] = json!({});
                }
                let condition = crate::custom::condition("PodScheduled", "True", "", "", &now());
                let mut condition = condition;
                if let Some(fields) = condition.as_object_mut() {
                    fields.retain(|_, value| *value != json!(""));
                    fields.insert("lastProbeTime".to_owned(), Value::Null);
                }
                crate::custom::set_condition(&mut next["status"], condition);
                Ok(next)
            })?;
            Ok((
                201,
                json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}),
            ))
        }
        ("pods", "eviction") => {
            let grace = body["deleteOptions"]["gracePeriodSeconds"].as_i64();
            let deleted = plane.remove(
                &whole,
                &DeleteOptions { grace, dry_run: options.dry_run, ..DeleteOptions::default() },
            )?;
            let _: Deleted = deleted;
            Ok((
                201,
                json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}),
            ))
        }
        ("serviceaccounts", "token") => {
            let account = plane.get(&whole)?;
            let seconds = body["spec"]["expirationSeconds"].as_i64().unwrap_or(3600);
            let ends = chrono::Utc::now() + chrono::Duration::seconds(seconds);
            let audiences: Vec<String> = body["spec"]["audiences"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(|one| one.as_str().map(str::to_owned))
                .collect();
            let audiences = if audiences.is_empty() {
                vec!["https://kubernetes.default.svc".to_owned()]
            } else {
                audiences
            };
            let bound = body["spec"]["boundObjectRef"].clone();
            let token = auth::issue(plane, &account, &audiences, seconds, &bound);
            Ok((
                201,
                json!({
                    "kind": "TokenRequest", "apiVersion": "authentication.k8s.io/v1",
                    "metadata": {"name": name, "namespace": target.namespace, "creationTimestamp": now(), "uid": account["metadata"]["uid"]},
                    "spec": {"audiences": audiences, "expirationSeconds": seconds, "boundObjectRef": bound},
                    "status": {"token": token, "expirationTimestamp": ends.format("%Y-%m-%dT%H:%M:%SZ").to_string()},
                }),
            ))
        }
        _ => Err(ApiError::no_method()),
    }
}
