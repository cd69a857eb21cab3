//! Reading objects, making children.

use chrono::{DateTime, SecondsFormat, Utc};
use rand::Rng;
use serde_json::{Map, Value, json};

use crate::cluster::Id;

/// Characters of generated names.
pub(crate) const SAFE: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";

pub(crate) fn now() -> String {
    Utc::now().to_rfc3339_opts(SecondsFormat::Secs, true)
}

pub(crate) fn time(value: &Value) -> Option<DateTime<Utc>> {
    Some(DateTime::parse_from_rfc3339(value.as_str()?).ok()?.to_utc())
}

pub(crate) fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

pub(crate) fn number(object: &Value, pointer: &str) -> i64 {
    object.pointer(pointer).and_then(Value::as_i64).unwrap_or_default()
}

pub(crate) fn name(object: &Value) -> &str {
    text(object, "/metadata/name")
}

pub(crate) fn uid(object: &Value) -> &str {
    text(object, "/metadata/uid")
}

pub(crate) fn deleting(object: &Value) -> bool {
    !text(object, "/metadata/deletionTimestamp").is_empty()
}

/// Sets a field, making the maps on the way.
pub(crate) fn set(object: &mut Value, path: &[&str], value: Value) {
    let mut at = object;
    for key in path {
        if !at.is_object() {
            *at = json!({});
        }
        let Some(fields) = at.as_object_mut() else { return };
        at = fields.entry((*key).to_owned()).or_insert(Value::Null);
    }
    *at = value;
}

pub(crate) fn unset(object: &mut Value, parent: &str, key: &str) {
    if let Some(Value::Object(fields)) = object.pointer_mut(parent) {
        fields.shift_remove(key);
    }
}

pub(crate) fn controller_of(object: &Value) -> Option<&Value> {
    let owners = object.pointer("/metadata/ownerReferences")?.as_array()?;
    owners.iter().find(|it| it["controller"] == json!(true))
}

pub(crate) fn controlled_by(object: &Value, owner: &Value) -> bool {
    controller_of(object).is_some_and(|it| it["uid"] == owner["metadata"]["uid"])
}

pub(crate) fn reference(api_version: &str, kind: &str, owner: &Value) -> Value {
    json!({"apiVersion": api_version, "kind": kind, "name": name(owner), "uid": uid(owner),
        "controller": true, "blockOwnerDeletion": true})
}

/// Whether labels match a selector with matchLabels and matchExpressions.
pub(crate) fn selects(selector: &Value, object: &Value) -> bool {
    let nothing = Map::new();
    let labels = object.pointer("/metadata/labels").and_then(Value::as_object).unwrap_or(&nothing);
    let equal = selector["matchLabels"]
        .as_object()
        .is_none_or(|all| all.iter().all(|(k, v)| labels.get(k) == Some(v)));
    let met = |it: &Value| {
        let value = it["key"].as_str().and_then(|key| labels.get(key));
        let among = || {
            it["values"]
                .as_array()
                .is_some_and(|all| value.is_some_and(|value| all.contains(value)))
        };
        match it["operator"].as_str().unwrap_or_default() {
            "In" => among(),
            "NotIn" => !among(),
            "Exists" => value.is_some(),
            "DoesNotExist" => value.is_none(),
            _ => false,
        }
    };
    equal && selector["matchExpressions"].as_array().is_none_or(|all| all.iter().all(met))
}

pub(crate) fn condition<'a>(object: &'a Value, kind: &str) -> Option<&'a Value> {
    object.pointer("/status/conditions")?.as_array()?.iter().find(|it| it["type"] == kind)
}

pub(crate) fn is_true(object: &Value, kind: &str) -> bool {
    condition(object, kind).is_some_and(|it| it["status"] == "True")
}

/// Not ended, not going.
pub(crate) fn active(pod: &Value) -> bool {
    !deleting(pod) && !ended(pod)
}

pub(crate) fn ended(pod: &Value) -> bool {
    matches!(text(pod, "/status/phase"), "Succeeded" | "Failed")
}

pub(crate) fn ready(pod: &Value) -> bool {
    is_true(pod, "Ready")
}

/// When the pod is available; none if it is not even ready.
pub(crate) fn available_at(pod: &Value, min_ready: i64) -> Option<DateTime<Utc>> {
    let condition = condition(pod, "Ready").filter(|it| it["status"] == "True")?;
    let since = time(&condition["lastTransitionTime"])?;
    Some(since + chrono::Duration::seconds(min_ready))
}

pub(crate) fn available(pod: &Value, min_ready: i64) -> bool {
    ready(pod)
        && (min_ready == 0 || available_at(pod, min_ready).is_some_and(|at| at <= Utc::now()))
}

pub(crate) fn suffix() -> String {
    let mut random = rand::rng();
    (0..5)
        .filter_map(|_| SAFE.get(random.random_range(0..SAFE.len())).map(|it| char::from(*it)))
        .collect()
}

/// The pod of a template.
pub(crate) fn pod(template: &Value, namespace: &str, owner: Value) -> Value {
    let mut pod =
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {}, "spec": template["spec"]});
    for key in ["labels", "annotations", "finalizers"] {
        if let Some(value) = template.pointer(&format!("/metadata/{key}")) {
            set(&mut pod, &["metadata", key], value.clone());
        }
    }
    set(&mut pod, &["metadata", "namespace"], json!(namespace));
    set(&mut pod, &["metadata", "ownerReferences"], json!([owner]));
    pod
}

/// Names an object after a prefix, as generateName does.
pub(crate) fn generate(object: &mut Value, prefix: &str) -> String {
    let name = format!("{prefix}{}", suffix());
    set(object, &["metadata", "generateName"], json!(prefix));
    set(object, &["metadata", "name"], json!(name));
    name
}

/// Which times a condition bears.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Times {
    /// That of its last change of status.
    Transitions,
    /// Also that of its last change of anything.
    Updates,
}

/// Sets a condition; transition times move only with the status. Returns whether anything changed.
pub(crate) fn put_condition(
    status: &mut Value,
    kind: &str,
    value: &str,
    reason: &str,
    message: &str,
    times: Times,
) {
    let updates = times == Times::Updates;
    let now = now();
    let mut all = status["conditions"].as_array().cloned().unwrap_or_default();
    let old = all.iter().position(|it| it["type"] == kind);
    let mut fresh = json!({"type": kind, "status": value});
    let old_value = old.and_then(|at| all.get(at)).cloned().unwrap_or_default();
    let same = old_value["status"] == value;
    if same && old_value["reason"] == reason && (old_value["message"] == message || !updates) {
        return;
    }
    if updates {
        set(&mut fresh, &["lastUpdateTime"], json!(now));
    }
    let since = if same { old_value["lastTransitionTime"].clone() } else { json!(now) };
    set(&mut fresh, &["lastTransitionTime"], since);
    set(&mut fresh, &["reason"], json!(reason));
    set(&mut fresh, &["message"], json!(message));
    match old.and_then(|at| all.get_mut(at)) {
        Some(place) => *place = fresh,
        None => all.push(fresh),
    }
    set(status, &["conditions"], Value::Array(all));
}

/// Puts a count, leaving zero out.
pub(crate) fn count(status: &mut Value, key: &str, value: usize) {
    if value == 0 {
        if let Some(fields) = status.as_object_mut() {
            fields.shift_remove(key);
        }
    } else {
        set(status, &[key], json!(value));
    }
}

pub(crate) fn pods_of(cluster: &dyn crate::cluster::Cluster, id: &Id, owner: &Value) -> Vec<Value> {
    let mut pods = cluster.list("", "pods", &id.namespace);
    pods.retain(|pod| controlled_by(pod, owner));
    pods
}

pub(crate) fn pod_id(id: &Id, pod: &Value) -> Id {
    id.beside("", "pods", name(pod))
}
