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
mod job_policy; // which failures of a Job count, when enough has succeeded
mod kubelet; // the simulated scheduler and kubelet
mod namespace; // namespaces: what is in a new one, emptying an old one
mod network; // EndpointSlices, load balancers
mod object; // reading objects, making children
pub mod plane; // the controllers on a plane in this process
mod queue; // what to look at next, now or later
mod quota; // ResourceQuotas
mod replicaset; // ReplicaSets
mod revision; // names of revisions, ControllerRevisions
mod role; // ClusterRoles made of others
mod run; // events in, reconciles out
mod statefulset; // StatefulSets
mod volume; // claims

use std::time::Duration;

use crate::cluster::Cluster;
use crate::garbage::Graph;
use crate::queue::Queue;

pub use run::run;

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
