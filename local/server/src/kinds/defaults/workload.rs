//! The defaults of what runs Pods: Deployments and their like, Jobs, CronJobs.

use serde_json::{Map, Value, json};

use super::pod::template;
use super::{default, each};
use crate::kinds::TEMPLATE_GENERATION;

/// Deployments.
pub(super) fn deployment(spec: &mut Value) {
    default(spec, "replicas", json!(1));
    default(spec, "strategy", json!({}));
    default(&mut spec["strategy"], "type", json!("RollingUpdate"));
    if spec["strategy"]["type"] == json!("RollingUpdate") {
        default(&mut spec["strategy"], "rollingUpdate", json!({}));
        let rolling = &mut spec["strategy"]["rollingUpdate"];
        default(rolling, "maxUnavailable", json!("25%"));
        default(rolling, "maxSurge", json!("25%"));
    }
    default(spec, "revisionHistoryLimit", json!(10));
    default(spec, "progressDeadlineSeconds", json!(600));
    template(spec);
}

/// ReplicaSets.
pub(super) fn replica_set(spec: &mut Value) {
    default(spec, "replicas", json!(1));
    template(spec);
}

/// StatefulSets.
pub(super) fn stateful_set(spec: &mut Value) {
    default(spec, "replicas", json!(1));
    default(spec, "podManagementPolicy", json!("OrderedReady"));
    default(spec, "updateStrategy", json!({}));
    if spec["updateStrategy"]["type"].is_null() {
        spec["updateStrategy"]["type"] = json!("RollingUpdate");
        default(&mut spec["updateStrategy"], "rollingUpdate", json!({}));
    }
    if spec["updateStrategy"]["rollingUpdate"].is_object() {
        default(&mut spec["updateStrategy"]["rollingUpdate"], "partition", json!(0));
    }
    default(spec, "revisionHistoryLimit", json!(10));
    default(spec, "persistentVolumeClaimRetentionPolicy", json!({}));
    let policy = &mut spec["persistentVolumeClaimRetentionPolicy"];
    default(policy, "whenDeleted", json!("Retain"));
    default(policy, "whenScaled", json!("Retain"));
    for claim in each(spec, "volumeClaimTemplates") {
        default(claim, "apiVersion", json!("v1"));
        default(claim, "kind", json!("PersistentVolumeClaim"));
        default(&mut claim["spec"], "volumeMode", json!("Filesystem"));
        default(claim, "status", json!({}));
        default(&mut claim["status"], "phase", json!("Pending"));
    }
    template(spec);
}

/// DaemonSets.
pub(super) fn daemon_set(object: &mut Value) {
    // Part of what is read, so whoever writes the object owns it.
    default(&mut object["metadata"], "annotations", json!({}));
    default(&mut object["metadata"]["annotations"], TEMPLATE_GENERATION, json!("0"));
    let spec = &mut object["spec"];
    default(spec, "updateStrategy", json!({}));
    default(&mut spec["updateStrategy"], "type", json!("RollingUpdate"));
    if spec["updateStrategy"]["type"] == json!("RollingUpdate") {
        default(&mut spec["updateStrategy"], "rollingUpdate", json!({}));
        let rolling = &mut spec["updateStrategy"]["rollingUpdate"];
        default(rolling, "maxUnavailable", json!(1));
        default(rolling, "maxSurge", json!(0));
    }
    default(spec, "revisionHistoryLimit", json!(10));
    template(spec);
}

/// ReplicationControllers.
pub(super) fn replication_controller(object: &mut Value) {
    let spec = &mut object["spec"];
    default(spec, "replicas", json!(1));
    template(spec);
    let labels = spec["template"]["metadata"]["labels"].clone();
    inherit(spec, "selector", &labels);
    inherit(&mut object["metadata"], "labels", &labels);
}

/// Jobs.
pub(super) fn job(object: &mut Value) {
    let spec = &mut object["spec"];
    default(spec, "manualSelector", json!(false));
    job_spec(spec);
    let labels = spec["template"]["metadata"]["labels"].clone();
    inherit(&mut object["metadata"], "labels", &labels);
}

fn job_spec(spec: &mut Value) {
    if spec["completions"].is_null() && spec["parallelism"].is_null() {
        spec["completions"] = json!(1);
    }
    if spec["completions"].is_null() {
        if let Some(fields) = spec.as_object_mut() {
            fields.shift_remove("completions");
        }
    }
    default(spec, "parallelism", json!(1));
    let limit = if spec["backoffLimitPerIndex"].is_null() { 6 } else { i64::from(i32::MAX) };
    default(spec, "backoffLimit", json!(limit));
    if let Some(fields) = spec.as_object_mut() {
        fields.retain(|key, value| !(value.is_null() && key == "backoffLimitPerIndex"));
    }
    default(spec, "completionMode", json!("NonIndexed"));
    default(spec, "suspend", json!(false));
    let replace =
        if spec["podFailurePolicy"].is_object() { "Failed" } else { "TerminatingOrFailed" };
    default(spec, "podReplacementPolicy", json!(replace));
    if let Some(fields) = spec.as_object_mut() {
        fields.retain(|key, value| !(value.is_null() && key == "podFailurePolicy"));
    }
    template(spec);
}

/// CronJobs.
pub(super) fn cron_job(spec: &mut Value) {
    default(spec, "concurrencyPolicy", json!("Allow"));
    default(spec, "suspend", json!(false));
    default(spec, "successfulJobsHistoryLimit", json!(3));
    default(spec, "failedJobsHistoryLimit", json!(1));
    if spec["jobTemplate"]["spec"].is_object() {
        default(&mut spec["jobTemplate"], "metadata", json!({}));
        template(&mut spec["jobTemplate"]["spec"]);
    }
}

// Labels that are not given are those of the template.
fn inherit(parent: &mut Value, key: &str, labels: &Value) {
    let none = |labels: &Value| labels.as_object().is_none_or(Map::is_empty);
    if !none(labels) && none(&parent[key]) {
        parent[key] = labels.clone();
    }
}
