//! The one task: events in, reconciles out.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::Receiver;
use tokio_util::sync::CancellationToken;

use crate::cluster::{Cluster, Event, Id};
use crate::garbage::Graph;
use crate::queue::Queue;
use crate::{
    Cx, Options, daemonset, deployment, garbage, job, kubelet, namespace, network, object, quota,
    replicaset, role, statefulset, volume,
};

/// How long a change of a pod is on its way to the owner. In Kubernetes watches and writes of three controllers lie
/// between a pod that is ready and the removal of the one it replaces: who makes several ready one after the other
/// finds them all.
const ON_ITS_WAY: Duration = Duration::from_millis(40);

/// Runs until stopped, or until there are no more events.
pub async fn run(
    cluster: Arc<dyn Cluster>,
    mut events: Receiver<Event>,
    options: Options,
    stop: CancellationToken,
) {
    let mut queue = Queue::default();
    let mut graph = Graph::default();
    if options.pods {
        kubelet::ensure_node(cluster.as_ref(), &options);
    }
    loop {
        let wake = queue.wake();
        tokio::select! {
            () = stop.cancelled() => return,
            event = events.recv() => match event {
                Some(event) => observe(event, &mut graph, &mut queue),
                None => return,
            },
            () = tokio::time::sleep_until(wake), if queue.waits() => {}
        }
        while let Ok(event) = events.try_recv() {
            observe(event, &mut graph, &mut queue);
        }
        let mut done = 0;
        while let Some(id) = queue.pop() {
            let mut cx = Cx {
                cluster: cluster.as_ref(),
                options: &options,
                queue: &mut queue,
                graph: &graph,
            };
            reconcile(&mut cx, &id);
            done += 1;
            // Events must not pile up behind the work they cause.
            if done >= 32 {
                break;
            }
        }
        tokio::task::yield_now().await;
    }
}

fn reconcile(cx: &mut Cx<'_>, id: &Id) {
    if id.name == "*" {
        for object in cx.cluster.list(&id.group, &id.plural, &id.namespace) {
            // An id without a namespace stands for those of all namespaces.
            let namespace = object::text(&object, "/metadata/namespace");
            cx.queue.push(Id::new(&id.group, &id.plural, namespace, object::name(&object)));
        }
        return;
    }
    if let Some(object) = cx.cluster.get(id) {
        garbage::collect(cx, id, &object);
    }
    let Some(object) = cx.cluster.get(id) else { return };
    match (id.group.as_str(), id.plural.as_str()) {
        ("", "namespaces") => namespace::reconcile(cx, id, &object),
        ("apps", "deployments") => deployment::reconcile(cx, id, &object),
        ("apps", "replicasets") => replicaset::reconcile(cx, id, &object),
        ("apps", "statefulsets") => statefulset::reconcile(cx, id, &object),
        ("apps", "daemonsets") => daemonset::reconcile(cx, id, &object),
        ("batch", "jobs") => job::reconcile(cx, id, &object),
        ("batch", "cronjobs") => job::schedule(cx, id, &object),
        ("", "services") => network::service(cx, id, &object),
        ("networking.k8s.io", "ingresses") => network::ingress(cx, id, &object),
        ("", "persistentvolumeclaims") => volume::bind(cx, id, &object),
        ("", "resourcequotas") => quota::reconcile(cx, id, &object),
        ("rbac.authorization.k8s.io", "clusterroles") => role::aggregate(cx, id, &object),
        ("", "pods") if cx.options.pods => kubelet::reconcile(cx, id, &object),
        _ => {}
    }
}

// Who has to look because of this event?
fn observe(event: Event, graph: &mut Graph, queue: &mut Queue) {
    let Event { id, old, new } = event;
    let pods = id.group.is_empty() && id.plural == "pods";
    let changed = pods && old.is_some() && new.is_some();
    for affected in graph.observe(&id, old.as_ref(), new.as_ref()) {
        match changed {
            true => queue.gather(ON_ITS_WAY, affected),
            false => queue.push(affected),
        }
    }
    if new.is_none() && !id.namespace.is_empty() {
        queue.push(Id::cluster("", "namespaces", &id.namespace));
    }
    if pods {
        queue.push(Id::new("", "services", &id.namespace, "*"));
    }
    // What is counted changes with what is there, and with pods that end.
    let counted = old.is_none() || new.is_none() || pods;
    if counted && !id.namespace.is_empty() {
        queue.push(Id::new("", "resourcequotas", &id.namespace, "*"));
    }
    if id.plural == "clusterroles" {
        queue.push(Id::new("rbac.authorization.k8s.io", "clusterroles", "", "*"));
    }
    if id.group.is_empty() && id.plural == "nodes" {
        queue.push(Id::new("apps", "daemonsets", "", "*"));
    }
    if new.is_some() {
        queue.push(id);
    }
}
