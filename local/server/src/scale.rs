//! Subresources that are other kinds: Scale, Binding, Eviction, tokens.

use serde_json::{Value, json};

use crate::plane::{DeleteOptions, Deleted, Plane, Target, WriteOptions, now};
use crate::status::{ApiError, FieldError, Result};

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

/// Writes a Scale made from the one there is.
pub fn write_scale(
    plane: &Plane,
    target: &Target,
    options: &mut WriteOptions,
    mut change: impl FnMut(&Value) -> Result<Value>,
) -> Result<Value> {
    let paths = paths(target);
    let written = plane.modify(target, options, |current, _| {
        let scale = change(&scale_of(target, current)?)?;
        let given = scale["metadata"]["resourceVersion"].as_str().unwrap_or_default();
        if !given.is_empty() && json!(given) != current["metadata"]["resourceVersion"] {
            return Err(ApiError::conflict(
                &target.resource.group,
                &target.resource.plural,
                &target.name,
            ));
        }
        let replicas = scale["spec"]["replicas"].as_i64().unwrap_or(0);
        if replicas < 0 {
            let error = FieldError::invalid(
                "spec.replicas",
                &json!(replicas),
                "must be greater than or equal to 0",
            );
            return Err(ApiError::invalid("autoscaling", "Scale", &target.name, &[error]));
        }
        let mut next = current.clone();
        write(&mut next, &paths.spec, json!(replicas));
        Ok(next)
    })?;
    scale_of(target, &written)
}

/// POST to a subresource.
pub fn post(
    plane: &Plane,
    target: &Target,
    body: Value,
    options: &mut WriteOptions,
) -> Result<(u16, Value)> {
    let name = &target.name;
    let whole = Target { subresource: String::new(), ..target.clone() };
    match (target.resource.plural.as_str(), target.subresource.as_str()) {
        ("pods", "binding") => {
            let node = body["target"]["name"].as_str().unwrap_or_default().to_owned();
            if node.is_empty() {
                let error = FieldError::required("target.name", "");
                return Err(ApiError::invalid("", "Binding", name, &[error]));
            }
            let bound = Target { subresource: "binding".to_owned(), ..target.clone() };
            plane.modify(&bound, options, |current, _| {
                if let Some(taken) =
                    current["spec"]["nodeName"].as_str().filter(|taken| !taken.is_empty())
                {
                    let why = format!("pod {name} is already assigned to node \"{taken}\"");
                    let mut error = ApiError::conflict_because("", "pods/binding", name, &why);
                    error.details = Some(json!({"name": name, "kind": "pods/binding"}));
                    return Err(error);
                }
                let mut next = current.clone();
                next["spec"]["nodeName"] = json!(node);
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
            let deleted = plane.delete(
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
            let token = format!("local.{}", uuid::Uuid::new_v4());
            Ok((
                201,
                json!({
                    "kind": "TokenRequest", "apiVersion": "authentication.k8s.io/v1",
                    "metadata": {"name": name, "namespace": target.namespace, "creationTimestamp": now(), "uid": account["metadata"]["uid"]},
                    "spec": {"audiences": ["https://kubernetes.default.svc"], "expirationSeconds": seconds, "boundObjectRef": null},
                    "status": {"token": token, "expirationTimestamp": ends.format("%Y-%m-%dT%H:%M:%SZ").to_string()},
                }),
            ))
        }
        _ => Err(ApiError::no_method()),
    }
}

/// Kinds that are only asked: access reviews and the like. One user may do everything.
pub fn review(target: &Target, mut body: Value) -> Value {
    let api = target.resource.api_version();
    body["kind"] = json!(target.resource.kind);
    body["apiVersion"] = json!(api);
    if !body["metadata"].is_object() {
        body["metadata"] = json!({});
    }
    body["status"] = match target.resource.kind.as_str() {
        "SelfSubjectReview" => {
            json!({"userInfo": {"username": "admin", "uid": "admin-uid", "groups": ["system:masters", "system:authenticated"]}})
        }
        "TokenReview" => {
            json!({"authenticated": true, "user": {"username": "admin", "groups": ["system:masters"]}})
        }
        "SelfSubjectRulesReview" => json!({
            "resourceRules": [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}],
            "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}], "incomplete": false,
        }),
        _ => json!({"allowed": true}),
    };
    body
}
