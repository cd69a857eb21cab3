//! The defaults of built-in kinds, beyond those the published schemas tell.

mod access; // roles and bindings
mod admission; // webhooks, policies
mod cluster; // namespaces, nodes
mod limits; // ranges
mod network; // services, endpoints, policies
mod pod; // Pods and their templates
mod scaling; // autoscalers
mod secret; // Secrets
mod storage; // volumes, claims, classes
mod workload; // what has pods

use serde_json::{Value, json};

use crate::custom;
use crate::resource::Resource;

pub(super) use storage::sources;

pub(super) fn default(object: &mut Value, key: &str, value: Value) {
    if let Some(fields) = object.as_object_mut() {
        let entry = fields.entry(key).or_insert(Value::Null);
        // An empty text may be what Go writes of none.
        if entry.is_null() || (*entry == json!("") && value != json!("")) {
            *entry = value;
        }
    }
}

fn each<'v>(value: &'v mut Value, key: &str) -> impl Iterator<Item = &'v mut Value> {
    value.get_mut(key).and_then(Value::as_array_mut).into_iter().flatten()
}

/// Sets the defaults of a kind.
pub(super) fn set_defaults(resource: &Resource, object: &mut Value) {
    if resource.group == "admissionregistration.k8s.io" {
        admission::admission(resource, object);
    }
    of_spec(resource, object);
    of_object(resource, object);
}

// What is set where there is a spec.
fn of_spec(resource: &Resource, object: &mut Value) {
    let Some(spec) = object.get_mut("spec").filter(|spec| spec.is_object()) else { return };
    match (resource.group.as_str(), resource.plural.as_str()) {
        ("", "pods") => pod::pod(spec),
        ("", "replicationcontrollers") => workload::replication_controller(object),
        ("apps", "replicasets") => workload::replica_set(spec),
        ("apps", "deployments") => workload::deployment(spec),
        ("apps", "statefulsets") => workload::stateful_set(spec),
        ("apps", "daemonsets") => workload::daemon_set(object),
        ("batch", "jobs") => workload::job(object),
        ("batch", "cronjobs") => workload::cron_job(spec),
        ("autoscaling", _) => scaling::autoscaler(resource, spec),
        ("", "services") => network::service(spec),
        ("networking.k8s.io", "ingressclasses") => network::ingress_class(spec),
        ("networking.k8s.io", "networkpolicies") => network::policy(spec),
        ("", "persistentvolumeclaims") => default(spec, "volumeMode", json!("Filesystem")),
        ("", "persistentvolumes") => storage::volume(object),
        ("storage.k8s.io", "csidrivers") => storage::driver(spec),
        _ => {}
    }
}

// What is set in any case.
fn of_object(resource: &Resource, object: &mut Value) {
    match (resource.group.as_str(), resource.plural.as_str()) {
        ("", "podtemplates") => pod::template(object),
        ("", "limitranges") => limits::range(object),
        ("", "endpoints") => network::endpoints(object),
        ("discovery.k8s.io", "endpointslices") => network::endpoint_slice(object),
        ("storage.k8s.io", "storageclasses") => storage::class(object),
        ("", "namespaces") => cluster::namespace(object),
        ("", "nodes") => cluster::node(object),
        ("", "secrets") => secret::secret(object),
        ("scheduling.k8s.io", "priorityclasses") => {
            default(object, "preemptionPolicy", json!("PreemptLowerPriority"));
        }
        ("rbac.authorization.k8s.io", "roles" | "clusterroles") => access::role(object),
        ("rbac.authorization.k8s.io", "rolebindings" | "clusterrolebindings") => {
            access::binding(object);
        }
        ("apiextensions.k8s.io", "customresourcedefinitions") => {
            custom::set_defaults(object);
            custom::set_stored_versions(object);
        }
        _ => {}
    }
}
