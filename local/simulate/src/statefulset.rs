//! StatefulSets: pods with ordinals, one after the other.

use serde_json::{Value, json};

use crate::Cx;
use crate::cluster::{Deletion, Id, Part};
use crate::object::{
    active, available, count, deleting, ended, name, number, pod, pod_id, pods_of, ready,
    reference, set, text, uid,
};

use crate::revision::{self, LABEL as REVISION};

fn ordinal(id: &Id, pod: &Value) -> Option<i64> {
    name(pod).strip_prefix(&format!("{}-", id.name))?.parse().ok()
}

pub(crate) fn reconcile(cx: &mut Cx<'_>, id: &Id, object: &Value) {
    let recorded = revision::record(cx, id, "StatefulSet", object);
    let revision = recorded.name;
    let wanted = object.pointer("/spec/replicas").and_then(Value::as_i64).unwrap_or(1);
    let start = number(object, "/spec/ordinals/start");
    if !deleting(object) {
        advance(cx, id, object, &revision, start, wanted);
    }
    let pods = pods_of(cx.cluster, id, object);
    let min_ready = number(object, "/spec/minReadySeconds");
    let live = || pods.iter().filter(|pod| active(pod));
    let are_available = live().filter(|pod| available(pod, min_ready)).count();
    let are_ready = live().filter(|pod| ready(pod)).count();
    if are_available < are_ready {
        cx.queue.after(std::time::Duration::from_secs(1), id);
    }
    let updated =
        live().filter(|pod| pod["metadata"]["labels"][REVISION] == json!(revision)).count();
    let all = live().count();
    let _gone = cx.cluster.modify(id, Part::Status, &mut |it| {
        let mut status = it["status"].clone();
        let complete = i64::try_from(updated).is_ok_and(|it| it == wanted)
            && are_ready == updated
            && all == updated;
        let old = status["currentRevision"].as_str().unwrap_or_default().to_owned();
        let current = if complete || old.is_empty() { revision.clone() } else { old };
        let of_current =
            live().filter(|pod| pod["metadata"]["labels"][REVISION] == json!(current)).count();
        set(&mut status, &["observedGeneration"], object["metadata"]["generation"].clone());
        set(&mut status, &["replicas"], json!(all));
        count(&mut status, "readyReplicas", are_ready);
        set(&mut status, &["availableReplicas"], json!(are_available));
        count(&mut status, "currentReplicas", of_current);
        count(&mut status, "updatedReplicas", updated);
        set(&mut status, &["currentRevision"], json!(current));
        set(&mut status, &["updateRevision"], json!(revision));
        set(&mut status, &["collisionCount"], json!(recorded.collisions));
        set(it, &["status"], status);
    });
    if !deleting(object) {
        let current = text(object, "/status/currentRevision");
        revision::forget(cx, id, object, &|it| {
            let named = name(it);
            named == current
                || named == revision
                || pods.iter().any(|pod| pod["metadata"]["labels"][REVISION] == json!(named))
        });
    }
}

fn advance(cx: &Cx<'_>, id: &Id, object: &Value, revision: &str, start: i64, wanted: i64) {
    let pods = pods_of(cx.cluster, id, object);
    let parallel = text(object, "/spec/podManagementPolicy") == "Parallel";
    let delete = |pod: &Value| {
        let how = Deletion { uid: Some(uid(pod).to_owned()), ..Deletion::default() };
        let _gone = cx.cluster.delete(&pod_id(id, pod), &how);
    };
    let range = start..start.saturating_add(wanted);
    for at in range.clone() {
        let present = pods.iter().find(|pod| ordinal(id, pod) == Some(at));
        match present {
            None => {
                create(cx, id, object, revision, at);
                if !parallel {
                    return;
                }
            }
            Some(pod) if ended(pod) && !deleting(pod) => {
                delete(pod);
                if !parallel {
                    return;
                }
            }
            Some(pod) if !parallel && (!ready(pod) || deleting(pod)) => {
                // A pod of an old template that never became ready may be replaced all the same.
                if !deleting(pod) && outdated(pod, revision) && rolling(object) {
                    delete(pod);
                }
                return;
            }
            Some(_) => {}
        }
    }
    let mut extra: Vec<&Value> =
        pods.iter().filter(|pod| ordinal(id, pod).is_some_and(|at| !range.contains(&at))).collect();
    extra.sort_by_key(|pod| std::cmp::Reverse(ordinal(id, pod)));
    for pod in extra {
        if !deleting(pod) {
            delete(pod);
        }
        if !parallel {
            return;
        }
    }
    if !rolling(object) {
        return;
    }
    let partition = number(object, "/spec/updateStrategy/rollingUpdate/partition");
    for at in range.rev().filter(|at| *at >= partition) {
        let Some(pod) = pods.iter().find(|pod| ordinal(id, pod) == Some(at)) else { return };
        if deleting(pod) {
            return;
        }
        if outdated(pod, revision) {
            delete(pod);
            return;
        }
        if !ready(pod) {
            return;
        }
    }
}

fn outdated(pod: &Value, revision: &str) -> bool {
    pod["metadata"]["labels"][REVISION] != json!(revision)
}

fn rolling(object: &Value) -> bool {
    text(object, "/spec/updateStrategy/type") != "OnDelete"
}

fn create(cx: &Cx<'_>, id: &Id, object: &Value, revision: &str, at: i64) {
    let named = format!("{}-{at}", id.name);
    let mut child = pod(
        &object["spec"]["template"],
        &id.namespace,
        reference("apps/v1", "StatefulSet", object),
    );
    set(&mut child, &["metadata", "name"], json!(named));
    set(&mut child, &["metadata", "labels", REVISION], json!(revision));
    set(&mut child, &["metadata", "labels", "statefulset.kubernetes.io/pod-name"], json!(named));
    set(&mut child, &["metadata", "labels", "apps.kubernetes.io/pod-index"], json!(at.to_string()));
    set(&mut child, &["spec", "hostname"], json!(named));
    let service = text(object, "/spec/serviceName");
    if !service.is_empty() {
        set(&mut child, &["spec", "subdomain"], json!(service));
    }
    let mut volumes = child["spec"]["volumes"].as_array().cloned().unwrap_or_default();
    for claim in object["spec"]["volumeClaimTemplates"].as_array().into_iter().flatten() {
        let claim_name = format!("{}-{named}", name(claim));
        volumes.retain(|it| it["name"] != claim["metadata"]["name"]);
        volumes
            .push(json!({"name": name(claim), "persistentVolumeClaim": {"claimName": claim_name}}));
        let place = id.beside("", "persistentvolumeclaims", &claim_name);
        if cx.cluster.get(&place).is_none() {
            let mut body = json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": claim["metadata"], "spec": claim["spec"]});
            set(&mut body, &["metadata", "name"], json!(claim_name));
            set(&mut body, &["metadata", "namespace"], json!(id.namespace));
            for (key, value) in
                object["spec"]["selector"]["matchLabels"].as_object().into_iter().flatten()
            {
                set(&mut body, &["metadata", "labels", key], value.clone());
            }
            let _exists = cx.cluster.create(&place, body);
        }
    }
    if !volumes.is_empty() {
        set(&mut child, &["spec", "volumes"], Value::Array(volumes));
    }
    if let Err(error) = cx.cluster.create(&id.beside("", "pods", &named), child) {
        tracing::debug!(?id, %error, "creating a pod");
    }
}
