//! The cells of built-in kinds: which kind is printed where.

use serde_json::Value;

use super::custom::custom_cell;
use super::format::{age, selector, text};
use super::{access, cluster, config, limits, network, pod, scaling, storage, workload};
use crate::resource::Resource;

/// What cells are made of.
pub(super) struct Parts<'o> {
    pub(super) object: &'o Value,
    pub(super) metadata: &'o Value,
    pub(super) spec: &'o Value,
    pub(super) status: &'o Value,
    /// What Pods of the object's template are to be.
    pub(super) pod: &'o Value,
    /// The cells that almost all kinds have.
    pub(super) name: Value,
    pub(super) age: Value,
}

impl<'o> Parts<'o> {
    fn of(object: &'o Value) -> Parts<'o> {
        let (metadata, spec) = (&object["metadata"], &object["spec"]);
        Parts {
            object,
            metadata,
            spec,
            status: &object["status"],
            pod: &spec["template"]["spec"],
            name: metadata["name"].clone(),
            age: age(&metadata["creationTimestamp"]),
        }
    }
}

/// The cells of one object.
pub(super) fn cells(resource: &Resource, object: &Value) -> Vec<Value> {
    let parts = Parts::of(object);
    if let Some(custom) = &resource.custom {
        let mut cells = vec![parts.name];
        if custom.columns.is_empty() {
            cells.push(parts.age);
        }
        cells.extend(custom.columns.iter().map(|column| custom_cell(column, object)));
        return cells;
    }
    match (resource.group.as_str(), resource.plural.as_str()) {
        ("", "pods") => pod::pod(parts),
        ("", "podtemplates") => workload::pod_template(parts),
        ("", "replicationcontrollers") => workload::replication_controller(parts),
        ("apps", "replicasets") => workload::replica_set(parts),
        ("apps", "deployments") => workload::deployment(parts),
        ("apps", "statefulsets") => workload::stateful_set(parts),
        ("apps", "daemonsets") => workload::daemon_set(parts),
        ("apps", "controllerrevisions") => workload::controller_revision(parts),
        ("batch", "jobs") => workload::job(parts),
        ("batch", "cronjobs") => workload::cron_job(parts),

        ("autoscaling", _) => scaling::autoscaler(parts),
        ("policy", _) => scaling::disruption_budget(parts),
        ("", "resourcequotas") => limits::quota(parts),

        ("", "services") => network::service(parts),
        ("", "endpoints") => network::endpoints(parts),
        ("discovery.k8s.io", "endpointslices") => network::endpoint_slice(parts),
        ("networking.k8s.io", "ingresses") => network::ingress(parts),
        ("networking.k8s.io", "ingressclasses") => network::ingress_class(parts),
        ("networking.k8s.io", "networkpolicies") => {
            vec![parts.name, selector(&parts.spec["podSelector"]), parts.age]
        }

        ("", "persistentvolumeclaims") => storage::claim(parts),
        ("", "persistentvolumes") => storage::volume(parts),
        ("storage.k8s.io", "storageclasses") => storage::class(parts),

        ("", "configmaps") => config::config_map(parts),
        ("", "secrets") => config::secret(parts),
        (
            "admissionregistration.k8s.io",
            "validatingwebhookconfigurations" | "mutatingwebhookconfigurations",
        ) => config::webhooks(parts),

        ("", "serviceaccounts") => vec![parts.name, parts.age],
        ("rbac.authorization.k8s.io", "rolebindings" | "clusterrolebindings") => {
            access::binding(parts)
        }

        ("", "nodes") => cluster::node(parts),
        ("", "namespaces") => vec![parts.name, parts.status["phase"].clone(), parts.age],
        (_, "events") => cluster::event(object),
        ("scheduling.k8s.io", "priorityclasses") => cluster::priority_class(parts),
        ("coordination.k8s.io", _) => {
            vec![parts.name, text(&parts.spec["holderIdentity"], ""), parts.age]
        }

        _ => vec![parts.name, parts.metadata["creationTimestamp"].clone()],
    }
}
