//! The controllers of a cluster, and pods that only seem to run.
//!
//! ~~~text
//! events of the plane -> work queue -> one controller per kind -> writes to the plane -> events …
//! ~~~
//! One task, driven by events: nothing is polled, an idle plane costs nothing.
//!
//! Invariants
//! 1. A controller reads the present state and moves it one step nearer; doing it twice is harmless.
//! 2. Nothing is created for an owner that is being deleted.
//! 3. Simulated pods say so in their status.
#![forbid(unsafe_code)]

pub mod cluster; // what the controllers need of a plane
mod daemonset; // DaemonSets
mod deployment; // Deployments: rollout, revisions, conditions
mod garbage; // owner references and their three deletion policies
mod job; // Jobs and CronJobs
mod kubelet; // the simulated scheduler and kubelet
mod namespace; // namespaces: what is in a new one, emptying an old one
mod network; // EndpointSlices, load balancers
mod object; // reading objects, making children
pub mod plane; // the controllers on a plane in this process
mod queue; // what to look at next, now or later
mod quota; // ResourceQuotas
mod replicaset; // ReplicaSets
mod role; // ClusterRoles made of others
mod statefulset; // StatefulSets
mod volume; // claims

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::Receiver;
use tokio_util::sync::CancellationToken;

use crate::cluster::{Cluster, Event, Id};
use crate::garbage::Graph;
use crate::queue::Queue;

/// What is simulated, and how fast.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whether pods are scheduled and seem to run.
    pub pods: bool,
    /// How long a pod takes to become ready, or a pod of a Job to end.
    pub ready_after: Duration,
    /// The same for images containing `/slow`.
    pub slow_after: Duration,
    /// The address load balancers and Ingresses get.
    pub balancer: String,
    /// The name of the node.
    pub node: String,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            pods: true,
            ready_after: Duration::from_millis(150),
            slow_after: Duration::from_secs(8),
            balancer: "127.0.0.10".to_owned(),
            node: "simulated-0".to_owned(),
        }
    }
}

/// What a controller works with.
pub(crate) struct Cx<'a> {
    pub(crate) cluster: &'a dyn Cluster,
    pub(crate) options: &'a Options,
    pub(crate) queue: &'a mut Queue,
    pub(crate) graph: &'a Graph,
}

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
            () = tokio::time::sleep_until(wake.into()), if queue.waits() => {}
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
    for affected in graph.observe(&id, old.as_ref(), new.as_ref()) {
        queue.push(affected);
    }
    if new.is_none() && !id.namespace.is_empty() {
        queue.push(Id::cluster("", "namespaces", &id.namespace));
    }
    if id.group.is_empty() && id.plural == "pods" {
        queue.push(Id::new("", "services", &id.namespace, "*"));
    }
    // What is counted changes with what is there, and with pods that end.
    let counted = old.is_none() || new.is_none() || id.plural == "pods";
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
