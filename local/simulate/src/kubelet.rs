//! The simulated scheduler and kubelet: one node, pods that seem to run.
//!
//! Scripts: images containing `/slow` are late, `/never` never become ready, `/fail` end with code 1 (in a Job)
//! or never become ready. Annotations on the pod say it exactly: `simulate.lateen.dev/ready-after` and
//! `simulate.lateen.dev/exit-after` (`300ms`, `8s`), `simulate.lateen.dev/exit-code`.

use std::time::Duration;

use chrono::{DateTime, SecondsFormat, Utc};
use serde_json::{Value, json};

use crate::cluster::{Cluster, Deletion, Id, Part};
use crate::object::{controller_of, deleting, ended, now, set, text, time, uid};
use crate::{Cx, Options};

const READY_AFTER: &str = "simulate.lateen.dev/ready-after";
const EXIT_AFTER: &str = "simulate.lateen.dev/exit-after";
const EXIT_CODE: &str = "simulate.lateen.dev/exit-code";
/// Exact start of the pod; Kubernetes' times have seconds only.
const STARTED: &str = "simulate.lateen.dev/started";
const SAID: &str = "simulated: no container runs";

/// What will become of a pod.
struct Script {
    ready_after: Option<Duration>,
    exit: Option<(Duration, i64)>,
}

fn script(pod: &Value, options: &Options) -> Script {
    let images: Vec<&str> = pod["spec"]["containers"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|it| text(it, "/image"))
        .collect();
    let contains = |marker: &str| images.iter().any(|image| image.contains(marker));
    let job = controller_of(pod).is_some_and(|it| it["kind"] == "Job");
    let restarts = matches!(text(pod, "/spec/restartPolicy"), "" | "Always");
    let fails = contains("/fail");
    let mut script = Script {
        ready_after: Some(if contains("/slow") && !job {
            options.slow_after
        } else {
            options.ready_after
        }),
        exit: None,
    };
    if contains("/never") || (fails && !job) {
        script.ready_after = None;
    }
    if (job || !restarts) && !contains("/never") && (job || fails) {
        let after = if contains("/slow") { options.slow_after } else { options.ready_after * 2 };
        script.exit = Some((after, i64::from(fails)));
    }
    let annotation = |key: &str| pod["metadata"]["annotations"][key].as_str();
    if let Some(after) = annotation(READY_AFTER) {
        script.ready_after = duration(after);
    }
    if let Some(after) = annotation(EXIT_AFTER) {
        let code = annotation(EXIT_CODE).and_then(|it| it.parse().ok()).unwrap_or(i64::from(fails));
        script.exit = duration(after).map(|after| (after, code));
    }
    script
}

// `300ms`, `8s`, `2m`; anything else (`never`) is none.
fn duration(text: &str) -> Option<Duration> {
    let (digits, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit())?);
    let count: u64 = digits.parse().ok()?;
    match unit {
        "ms" => Some(Duration::from_millis(count)),
        "s" => Some(Duration::from_secs(count)),
        "m" => Some(Duration::from_secs(count.checked_mul(60)?)),
        _ => None,
    }
}

pub(crate) fn ensure_node(cluster: &dyn Cluster, options: &Options) {
    let id = Id::cluster("", "nodes", &options.node);
    if cluster.get(&id).is_none() {
        let body = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": options.node, "labels": {
            "kubernetes.io/hostname": options.node, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"},
            "annotations": {"simulate.lateen.dev/simulated": "true"}}});
        let _exists = cluster.create(&id, body);
    }
    let resources =
        json!({"cpu": "64", "memory": "256Gi", "pods": "5000", "ephemeral-storage": "1Ti"});
    let _gone = cluster.modify(&id, Part::Status, &mut |node| {
        set(node, &["status", "capacity"], resources.clone());
        set(node, &["status", "allocatable"], resources.clone());
        set(node, &["status", "addresses"], json!([{"type": "InternalIP", "address": "127.0.0.1"}, {"type": "Hostname", "address": options.node}]));
        if crate::object::condition(node, "Ready").is_none() {
            set(node, &["status", "conditions"], json!([{"type": "Ready", "status": "True", "reason": "KubeletReady",
                "message": SAID, "lastHeartbeatTime": now(), "lastTransitionTime": now()}]));
        }
    });
}

/// Moves a pod on.
pub(crate) fn reconcile(cx: &mut Cx<'_>, id: &Id, pod: &Value) {
    if deleting(pod) {
        // What it ends with is counted by its Job before it goes.
        let how = Deletion { now: true, uid: Some(uid(pod).to_owned()), ..Deletion::default() };
        if let Err(error) = cx.cluster.delete(id, &how) {
            tracing::debug!(?id, %error, "ending a pod");
        }
        return;
    }
    if ended(pod) || pod["spec"]["schedulingGates"].as_array().is_some_and(|it| !it.is_empty()) {
        return;
    }
    let present = Utc::now();
    let node = cx.options.node.clone();
    let started = match pod["metadata"]["annotations"].get(STARTED).and_then(time) {
        Some(at) if text(pod, "/spec/nodeName") == node => at,
        _ => {
            let stamp = present.to_rfc3339_opts(SecondsFormat::Millis, true);
            let bound = cx.cluster.modify(id, Part::Binding, &mut |it| {
                set(it, &["spec", "nodeName"], json!(node));
                set(it, &["metadata", "annotations", STARTED], json!(stamp));
            });
            if let Err(error) = bound {
                tracing::debug!(?id, %error, "scheduling a pod");
            }
            present
        }
    };
    let script = script(pod, cx.options);
    let passed = (present - started).to_std().unwrap_or_default();
    let life = match script.exit {
        Some((after, code)) if passed >= after => Life::Over(code),
        _ if script.ready_after.is_some_and(|after| passed >= after) => Life::Ready,
        _ => Life::Starting,
    };
    for due in [script.ready_after, script.exit.map(|(after, _)| after)].into_iter().flatten() {
        if due > passed {
            cx.queue.after(due - passed + Duration::from_millis(1), id);
        }
    }
    let ip = address(uid(pod));
    let written = cx.cluster.modify(id, Part::Status, &mut |it| {
        let status = status(it, started, life, &ip);
        set(it, &["status"], status);
    });
    if let Err(error) = written {
        tracing::debug!(?id, %error, "status of a pod");
    }
}

// An address that stays with the pod.
fn address(uid: &str) -> String {
    let sum =
        uid.bytes().fold(17u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(u32::from(byte)));
    format!("10.88.{}.{}", (sum >> 8) % 250, sum % 250 + 1)
}

/// Where a pod is in its script.
#[derive(Clone, Copy)]
enum Life {
    Starting,
    Ready,
    /// With this exit code.
    Over(i64),
}

fn status(pod: &Value, started: DateTime<Utc>, life: Life, ip: &str) -> Value {
    let (is_ready, exit) = match life {
        Life::Starting => (false, None),
        Life::Ready => (true, None),
        Life::Over(code) => (false, Some(code)),
    };
    let start = started.to_rfc3339_opts(SecondsFormat::Secs, true);
    let mut status = pod["status"].clone();
    let phase = match exit {
        None => "Running",
        Some(0) => "Succeeded",
        Some(_) => "Failed",
    };
    set(&mut status, &["phase"], json!(phase));
    set(&mut status, &["message"], json!(SAID));
    set(&mut status, &["hostIP"], json!("127.0.0.1"));
    set(&mut status, &["hostIPs"], json!([{"ip": "127.0.0.1"}]));
    set(&mut status, &["podIP"], json!(ip));
    set(&mut status, &["podIPs"], json!([{"ip": ip}]));
    set(&mut status, &["startTime"], json!(start));
    for (kind, value) in [
        ("PodReadyToStartContainers", exit.is_none()),
        ("Initialized", true),
        ("Ready", is_ready),
        ("ContainersReady", is_ready),
        ("PodScheduled", true),
    ] {
        let (reason, message) = match (value, exit) {
            (true, _) => ("", ""),
            (false, Some(0)) => ("PodCompleted", ""),
            (false, Some(_)) => ("PodFailed", ""),
            (false, None) => ("ContainersNotReady", "containers with unready status"),
        };
        let value = if value { "True" } else { "False" };
        condition(&mut status, kind, value, reason, message);
    }
    let containers = pod["spec"]["containers"].as_array().cloned().unwrap_or_default();
    let all: Vec<Value> = containers.iter().map(|container| {
        let named = text(container, "/name");
        let old = status["containerStatuses"].as_array().into_iter().flatten().find(|it| it["name"] == json!(named)).cloned().unwrap_or_default();
        let state = match exit {
            None => json!({"running": {"startedAt": start}}),
            Some(_) if old["state"].get("terminated").is_some() => old["state"].clone(),
            Some(code) => json!({"terminated": {"exitCode": code, "reason": if code == 0 { "Completed" } else { "Error" },
                "startedAt": start, "finishedAt": now()}}),
        };
        json!({"name": named, "image": container["image"], "imageID": "", "containerID": format!("simulated://{named}"),
            "ready": is_ready, "started": exit.is_none(), "restartCount": 0, "lastState": {}, "state": state})
    }).collect();
    set(&mut status, &["containerStatuses"], Value::Array(all));
    status
}

fn condition(status: &mut Value, kind: &str, value: &str, reason: &str, message: &str) {
    let mut all = status["conditions"].as_array().cloned().unwrap_or_default();
    let at = all.iter().position(|it| it["type"] == kind);
    if at.and_then(|at| all.get(at)).is_some_and(|it| it["status"] == value) {
        return;
    }
    let mut fresh =
        json!({"type": kind, "status": value, "lastProbeTime": null, "lastTransitionTime": now()});
    if !reason.is_empty() {
        set(&mut fresh, &["reason"], json!(reason));
    }
    if !message.is_empty() {
        set(&mut fresh, &["message"], json!(message));
    }
    match at.and_then(|at| all.get_mut(at)) {
        Some(place) => *place = fresh,
        None => all.push(fresh),
    }
    set(status, &["conditions"], Value::Array(all));
}
