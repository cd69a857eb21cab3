//! DaemonSets: a pod on every node.

use std::time::Duration;

use serde_json::{Value, json};

use crate::Cx;
use crate::cluster::{Deletion, Id, Part};
use crate::object::{
    active, available, count, deleting, generate, name, number, pod, pod_id, pods_of, ready,
    reference, set, text, uid,
};

use crate::revision::{self, LABEL as REVISION};

pub(crate) fn reconcile(cx: &mut Cx<'_>, id: &Id, object: &Value) {
    let recorded = revision::record(cx, id, "DaemonSet", object);
    let revision = recorded.hash;
    let nodes: Vec<Value> = cx
        .cluster
        .list("", "nodes", "")
        .into_iter()
        .filter(|node| {
            let wanted =
                object.pointer("/spec/template/spec/nodeSelector").and_then(Value::as_object);
            wanted.is_none_or(|all| {
                all.iter().all(|(key, value)| node["metadata"]["labels"][key] == *value)
            })
        })
        .collect();
    let mut pods = pods_of(cx.cluster, id, object);
    let mut updating =
        pods.iter().any(|pod| active(pod) && !ready(pod)) || pods.iter().any(deleting);
    pods.retain(active);
    if !deleting(object) {
        for node in &nodes {
            let here = pods.iter().find(|pod| placed(pod) == name(node));
            match here {
                None => {
                    if let Some(pod) = create(cx, id, object, &revision, name(node)) {
                        pods.push(pod);
                    }
                }
                Some(pod) if pod["metadata"]["labels"][REVISION] != json!(revision) => {
                    let rolling = text(object, "/spec/updateStrategy/type") != "OnDelete";
                    if rolling && (!updating || !ready(pod)) {
                        updating = true;
                        let how =
                            Deletion { uid: Some(uid(pod).to_owned()), ..Deletion::default() };
                        let _gone = cx.cluster.delete(&pod_id(id, pod), &how);
                    }
                }
                Some(_) => {}
            }
        }
    }
    let min_ready = number(object, "/spec/minReadySeconds");
    let are_ready = pods.iter().filter(|pod| ready(pod)).count();
    let are_available = pods.iter().filter(|pod| available(pod, min_ready)).count();
    if are_available < are_ready {
        cx.queue.after(Duration::from_secs(1), id);
    }
    let updated =
        pods.iter().filter(|pod| pod["metadata"]["labels"][REVISION] == json!(revision)).count();
    let _gone = cx.cluster.modify(id, Part::Status, &mut |it| {
        let mut status = it["status"].clone();
        set(&mut status, &["observedGeneration"], object["metadata"]["generation"].clone());
        set(&mut status, &["currentNumberScheduled"], json!(pods.len()));
        set(&mut status, &["numberMisscheduled"], json!(0));
        set(&mut status, &["desiredNumberScheduled"], json!(nodes.len()));
        set(&mut status, &["numberReady"], json!(are_ready));
        count(&mut status, "updatedNumberScheduled", updated);
        count(&mut status, "numberAvailable", are_available);
        count(&mut status, "numberUnavailable", nodes.len().saturating_sub(are_available));
        if recorded.collisions > 0 {
            set(&mut status, &["collisionCount"], json!(recorded.collisions));
        }
        set(it, &["status"], status);
    });
    if !deleting(object) {
        let labelled = |it: &Value| it["metadata"]["labels"][REVISION].clone();
        revision::forget(cx, id, object, &|it| {
            labelled(it) == json!(revision) || pods.iter().any(|pod| labelled(pod) == labelled(it))
        });
    }
}

const TERMS: &str = "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/0/matchFields/0/values/0";

fn placed(pod: &Value) -> &str {
    let node = text(pod, "/spec/nodeName");
    if node.is_empty() { text(pod, TERMS) } else { node }
}

fn create(cx: &mut Cx<'_>, id: &Id, object: &Value, revision: &str, node: &str) -> Option<Value> {
    let mut child =
        pod(&object["spec"]["template"], &id.namespace, reference("apps/v1", "DaemonSet", object));
    let named = generate(&mut child, &format!("{}-", id.name));
    set(&mut child, &["metadata", "labels", REVISION], json!(revision));
    let generation = number(object, "/metadata/generation").to_string();
    set(&mut child, &["metadata", "labels", "pod-template-generation"], json!(generation));
    let required = json!({"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}]});
    set(
        &mut child,
        &["spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"],
        required,
    );
    let mut tolerations = child["spec"]["tolerations"].as_array().cloned().unwrap_or_default();
    for (key, effect) in [
        ("not-ready", "NoExecute"),
        ("unreachable", "NoExecute"),
        ("disk-pressure", "NoSchedule"),
        ("memory-pressure", "NoSchedule"),
        ("pid-pressure", "NoSchedule"),
        ("unschedulable", "NoSchedule"),
    ] {
        tolerations.push(json!({"key": format!("node.kubernetes.io/{key}"), "operator": "Exists", "effect": effect}));
    }
    set(&mut child, &["spec", "tolerations"], Value::Array(tolerations));
    let made = cx.cluster.create(&id.beside("", "pods", &named), child);
    if made.is_err() {
        cx.queue.after(Duration::from_secs(1), id);
    }
    made.ok()
}
