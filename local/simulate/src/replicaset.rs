//! ReplicaSets: as many pods as asked for.

use std::time::Duration;

use serde_json::{Value, json};

use crate::Cx;
use crate::cluster::{Deletion, Id, Part};
use crate::object::{
    Times, active, available, controller_of, count, deleting, generate, name, number, pod, pod_id,
    pods_of, put_condition, ready, reference, selects, set, text, uid,
};

pub(crate) fn reconcile(cx: &mut Cx<'_>, id: &Id, object: &Value) {
    adopt(cx, id, object);
    let mut pods = pods_of(cx.cluster, id, object);
    let leaving = pods.iter().filter(|pod| deleting(pod)).count();
    pods.retain(active);
    let wanted =
        usize::try_from(object.pointer("/spec/replicas").and_then(Value::as_i64).unwrap_or(1))
            .unwrap_or(0);
    let mut failure = None;
    if !deleting(object) && pods.len() < wanted {
        for _ in pods.len()..wanted {
            let owner = reference("apps/v1", "ReplicaSet", object);
            let mut child = pod(&object["spec"]["template"], &id.namespace, owner);
            let named = generate(&mut child, &format!("{}-", id.name));
            match cx.cluster.create(&id.beside("", "pods", &named), child) {
                Ok(pod) => pods.push(pod),
                Err(error) => {
                    failure = Some(error.message);
                    cx.queue.after(Duration::from_secs(1), id);
                    break;
                }
            }
        }
    } else if !deleting(object) && pods.len() > wanted {
        // Those that do least go first.
        pods.sort_by_key(|pod| {
            let cost: i64 =
                pod["metadata"]["annotations"]["controller.kubernetes.io/pod-deletion-cost"]
                    .as_str()
                    .and_then(|it| it.parse().ok())
                    .unwrap_or(0);
            (
                !text(pod, "/spec/nodeName").is_empty(),
                text(pod, "/status/phase") == "Running",
                ready(pod),
                cost,
                std::cmp::Reverse(text(pod, "/metadata/creationTimestamp").to_owned()),
            )
        });
        for gone in pods.drain(..pods.len() - wanted).collect::<Vec<_>>() {
            let how = Deletion { uid: Some(uid(&gone).to_owned()), ..Deletion::default() };
            let _gone = cx.cluster.delete(&pod_id(id, &gone), &how);
        }
    }
    let min_ready = number(object, "/spec/minReadySeconds");
    let are_ready = pods.iter().filter(|pod| ready(pod)).count();
    let are_available = pods.iter().filter(|pod| available(pod, min_ready)).count();
    if are_available < are_ready {
        cx.queue.after(Duration::from_secs(1), id);
    }
    let template = &object["spec"]["template"]["metadata"]["labels"];
    let labeled = pods.iter().filter(|pod| selects(&json!({"matchLabels": template}), pod)).count();
    let _gone = cx.cluster.modify(id, Part::Status, &mut |now| {
        let mut status = now["status"].clone();
        set(&mut status, &["replicas"], json!(pods.len()));
        count(&mut status, "fullyLabeledReplicas", labeled);
        count(&mut status, "readyReplicas", are_ready);
        count(&mut status, "availableReplicas", are_available);
        set(&mut status, &["terminatingReplicas"], json!(leaving));
        set(&mut status, &["observedGeneration"], object["metadata"]["generation"].clone());
        match &failure {
            Some(message) => put_condition(
                &mut status,
                "ReplicaFailure",
                "True",
                "FailedCreate",
                message,
                Times::Transitions,
            ),
            None => {
                if let Some(Value::Array(all)) = status.get_mut("conditions") {
                    all.retain(|it| it["type"] != "ReplicaFailure");
                }
                if status["conditions"].as_array().is_some_and(Vec::is_empty) {
                    if let Some(fields) = status.as_object_mut() {
                        fields.shift_remove("conditions");
                    }
                }
            }
        }
        set(now, &["status"], status);
    });
}

// Orphans that match are taken, own pods that no longer match are let go.
fn adopt(cx: &Cx<'_>, id: &Id, object: &Value) {
    let selector = &object["spec"]["selector"];
    for pod in cx.cluster.list("", "pods", &id.namespace) {
        let matches = selects(selector, &pod);
        let owner = controller_of(&pod);
        let mine = owner.is_some_and(|it| it["uid"] == object["metadata"]["uid"]);
        if matches && owner.is_none() && !deleting(object) && active(&pod) {
            let _gone =
                cx.cluster.modify(&id.beside("", "pods", name(&pod)), Part::Main, &mut |pod| {
                    let mut all =
                        pod["metadata"]["ownerReferences"].as_array().cloned().unwrap_or_default();
                    all.push(reference("apps/v1", "ReplicaSet", object));
                    set(pod, &["metadata", "ownerReferences"], Value::Array(all));
                });
        } else if mine && !matches {
            let _gone =
                cx.cluster.modify(&id.beside("", "pods", name(&pod)), Part::Main, &mut |pod| {
                    if let Some(Value::Array(all)) = pod.pointer_mut("/metadata/ownerReferences") {
                        all.retain(|it| it["uid"] != object["metadata"]["uid"]);
                    }
                });
        }
    }
}
