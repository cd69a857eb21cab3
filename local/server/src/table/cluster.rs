//! The cells of Nodes, PriorityClasses and Events.

use serde_json::{Value, json};

use super::cells::Parts;
use super::format::{age, count, or_none, text};

/// Nodes.
pub(super) fn node(parts: Parts<'_>) -> Vec<Value> {
    let Parts { metadata, spec, status, name, age, .. } = parts;
    let ready = status["conditions"]
        .as_array()
        .into_iter()
        .flatten()
        .find(|one| one["type"] == json!("Ready"));
    let mut state = match ready.map(|one| one["status"] == json!("True")) {
        Some(true) => "Ready",
        Some(false) => "NotReady",
        None => "Unknown",
    }
    .to_owned();
    if spec["unschedulable"] == json!(true) {
        state.push_str(",SchedulingDisabled");
    }
    let mut roles: Vec<&str> = metadata["labels"]
        .as_object()
        .into_iter()
        .flatten()
        .filter_map(|(key, _)| key.strip_prefix("node-role.kubernetes.io/"))
        .collect();
    roles.sort_unstable();
    let address = |kind: &str| {
        let found = status["addresses"]
            .as_array()
            .into_iter()
            .flatten()
            .find(|one| one["type"] == json!(kind));
        text(&found.map(|one| one["address"].clone()).unwrap_or_default(), "<none>")
    };
    let info = &status["nodeInfo"];
    vec![
        name,
        json!(state),
        or_none(roles.join(",")),
        age,
        info["kubeletVersion"].as_str().unwrap_or_default().into(),
        address("InternalIP"),
        address("ExternalIP"),
        text(&info["osImage"], "<unknown>"),
        text(&info["kernelVersion"], "<unknown>"),
        text(&info["containerRuntimeVersion"], "<unknown>"),
    ]
}

/// PriorityClasses.
pub(super) fn priority_class(parts: Parts<'_>) -> Vec<Value> {
    let Parts { object, name, age, .. } = parts;
    vec![
        name,
        json!(count(&object["value"])),
        json!(object["globalDefault"] == json!(true)),
        age,
        text(&object["preemptionPolicy"], ""),
    ]
}

/// Events.
pub(super) fn event(object: &Value) -> Vec<Value> {
    let either = |left: &str, right: &str| {
        if object[left].is_null() { object[right].clone() } else { object[left].clone() }
    };
    let about = either("involvedObject", "regarding");
    let source = either("source", "deprecatedSource");
    let first = either("firstTimestamp", "deprecatedFirstTimestamp");
    let last = either("lastTimestamp", "deprecatedLastTimestamp");
    let first = if first.is_null() { object["eventTime"].clone() } else { first };
    let seen = if !object["series"]["lastObservedTime"].is_null() {
        object["series"]["lastObservedTime"].clone()
    } else if last.is_null() {
        first.clone()
    } else {
        last
    };
    let what = format!(
        "{}/{}",
        about["kind"].as_str().unwrap_or_default().to_lowercase(),
        about["name"].as_str().unwrap_or_default()
    );
    let parts = [
        source["component"]
            .as_str()
            .or(object["reportingComponent"].as_str())
            .or(object["reportingController"].as_str()),
        source["host"].as_str().or(object["reportingInstance"].as_str()),
    ];
    let from: Vec<&str> = parts.into_iter().flatten().filter(|part| !part.is_empty()).collect();
    let times = object["series"]["count"]
        .as_i64()
        .or(either("count", "deprecatedCount").as_i64())
        .unwrap_or(1);
    vec![
        age(&seen),
        object["type"].clone(),
        object["reason"].clone(),
        json!(what),
        text(&about["fieldPath"], ""),
        json!(from.join(", ")),
        json!(either("message", "note").as_str().unwrap_or_default().trim()),
        age(&first),
        json!(times.max(1)),
        object["metadata"]["name"].clone(),
    ]
}
