//! The cells of what runs Pods: Deployments and their like, Jobs, CronJobs, templates.

use chrono::Utc;
use serde_json::{Value, json};

use super::cells::Parts;
use super::format::{age, count, duration, joined, or_none, pairs, selector, text, time};

/// Deployments.
pub(super) fn deployment(parts: Parts<'_>) -> Vec<Value> {
    let Parts { spec, status, pod, name, age, .. } = parts;
    vec![
        name,
        json!(format!("{}/{}", count(&status["readyReplicas"]), count(&spec["replicas"]))),
        json!(count(&status["updatedReplicas"])),
        json!(count(&status["availableReplicas"])),
        age,
        joined(pod, "name"),
        joined(pod, "image"),
        selector(&spec["selector"]),
    ]
}

/// ReplicaSets.
pub(super) fn replica_set(parts: Parts<'_>) -> Vec<Value> {
    let chosen = selector(&parts.spec["selector"]);
    replicas(parts, chosen)
}

/// ReplicationControllers.
pub(super) fn replication_controller(parts: Parts<'_>) -> Vec<Value> {
    // A controller's selector is labels alone.
    let chosen = pairs(&parts.spec["selector"]);
    replicas(parts, chosen)
}

fn replicas(parts: Parts<'_>, chosen: Value) -> Vec<Value> {
    let Parts { spec, status, pod, name, age, .. } = parts;
    vec![
        name,
        json!(count(&spec["replicas"])),
        json!(count(&status["replicas"])),
        json!(count(&status["readyReplicas"])),
        age,
        joined(pod, "name"),
        joined(pod, "image"),
        chosen,
    ]
}

/// StatefulSets.
pub(super) fn stateful_set(parts: Parts<'_>) -> Vec<Value> {
    let Parts { spec, status, pod, name, age, .. } = parts;
    vec![
        name,
        json!(format!("{}/{}", count(&status["readyReplicas"]), count(&spec["replicas"]))),
        age,
        joined(pod, "name"),
        joined(pod, "image"),
    ]
}

/// DaemonSets.
pub(super) fn daemon_set(parts: Parts<'_>) -> Vec<Value> {
    let Parts { spec, status, pod, name, age, .. } = parts;
    vec![
        name,
        json!(count(&status["desiredNumberScheduled"])),
        json!(count(&status["currentNumberScheduled"])),
        json!(count(&status["numberReady"])),
        json!(count(&status["updatedNumberScheduled"])),
        json!(count(&status["numberAvailable"])),
        pairs(&pod["nodeSelector"]),
        age,
        joined(pod, "name"),
        joined(pod, "image"),
        selector(&spec["selector"]),
    ]
}

/// Jobs.
pub(super) fn job(parts: Parts<'_>) -> Vec<Value> {
    let Parts { metadata, spec, status, pod, name, age, .. } = parts;
    let done = count(&status["succeeded"]);
    let completions = match (&spec["completions"], count(&spec["parallelism"])) {
        (Value::Null, many) if many > 1 => format!("{done}/1 of {many}"),
        (Value::Null, _) => format!("{done}/1"),
        (wanted, _) => format!("{done}/{wanted}"),
    };
    let took = match (time(&status["startTime"]), time(&status["completionTime"])) {
        (Some(start), Some(end)) => duration((end - start).num_seconds()),
        (Some(start), None) => duration((Utc::now() - start).num_seconds()),
        _ => String::new(),
    };
    vec![
        name,
        json!(job_state(metadata, status)),
        json!(completions),
        json!(took),
        age,
        joined(pod, "name"),
        joined(pod, "image"),
        selector(&spec["selector"]),
    ]
}

fn job_state(metadata: &Value, status: &Value) -> &'static str {
    let holds = |kind: &str| crate::custom::is_true(status, kind);
    if holds("Complete") {
        "Complete"
    } else if holds("Failed") {
        "Failed"
    } else if !metadata["deletionTimestamp"].is_null() {
        "Terminating"
    } else if holds("Suspended") {
        "Suspended"
    } else if holds("FailureTarget") {
        "FailureTarget"
    } else if holds("SuccessCriteriaMet") {
        "SuccessCriteriaMet"
    } else {
        "Running"
    }
}

/// CronJobs.
pub(super) fn cron_job(parts: Parts<'_>) -> Vec<Value> {
    let Parts { spec, status, .. } = parts;
    let pod = &spec["jobTemplate"]["spec"]["template"]["spec"];
    let last = time(&status["lastScheduleTime"]).map(|_| age(&status["lastScheduleTime"]));
    vec![
        parts.name,
        spec["schedule"].clone(),
        text(&spec["timeZone"], "<none>"),
        json!(if spec["suspend"] == json!(true) { "True" } else { "False" }),
        json!(status["active"].as_array().map_or(0, Vec::len)),
        last.unwrap_or(json!("<none>")),
        parts.age,
        joined(pod, "name"),
        joined(pod, "image"),
        selector(&spec["jobTemplate"]["spec"]["selector"]),
    ]
}

/// ControllerRevisions.
pub(super) fn controller_revision(parts: Parts<'_>) -> Vec<Value> {
    let Parts { object, metadata, name, age, .. } = parts;
    let owners = metadata["ownerReferences"].as_array().into_iter().flatten();
    let mut owners = owners.filter(|one| one["controller"] == json!(true));
    let owner = owners.next().map(|owner| {
        let kind = owner["kind"].as_str().unwrap_or_default().to_lowercase();
        let api = owner["apiVersion"].as_str().unwrap_or_default();
        let group = api.split_once('/').map_or(String::new(), |(group, _)| format!(".{group}"));
        format!("{kind}{group}/{}", owner["name"].as_str().unwrap_or_default())
    });
    vec![
        name,
        or_none(owner.unwrap_or_default()),
        json!(count(&object["revision"]).to_string()),
        age,
    ]
}

/// PodTemplates.
pub(super) fn pod_template(parts: Parts<'_>) -> Vec<Value> {
    let Parts { object, name, .. } = parts;
    let template = &object["template"];
    let pod = &template["spec"];
    vec![name, joined(pod, "name"), joined(pod, "image"), pairs(&template["metadata"]["labels"])]
}
