//! What the API server refuses of its own kinds, in its words.

mod check; // a value at its place, and rules that many kinds share
mod access; // roles and bindings
mod batch; // Jobs, CronJobs
mod cluster; // leases, priorities, nodes, namespaces, events
mod config; // ConfigMaps, Secrets
mod limits; // quotas, ranges
mod network; // ingresses, policies, endpoints, addresses of services
mod pod; // pods
mod scaling; // autoscalers, budgets
mod schedule; // when CronJobs run
mod service; // Services
mod structs; // specs as the reference prints them
mod storage; // claims, volumes, classes
mod unchanged; // what may not change of a spec
mod volume; // volumes of pods
mod webhook; // who is asked about writes
mod workload; // what has pods

use serde_json::Value;

use check::Field;

use crate::custom;
use crate::resource::Resource;
use crate::status::FieldError;

/// What is wrong with an object of a built-in kind, as it is stored; `old` is what it replaces, by way of the
/// subresource `part`.
#[must_use]
pub fn errors(
    resource: &Resource,
    part: &str,
    object: &Value,
    old: Option<&Value>,
) -> Vec<FieldError> {
    let mut found = Vec::new();
    let spec = &object["spec"];
    let (whole, field) = (Field::new("", object), Field::new("spec", spec));
    let key = (resource.group.as_str(), resource.plural.as_str());
    match key {
        ("apps", "deployments" | "replicasets" | "statefulsets" | "daemonsets") => {
            workload::errors(resource, object, old, &mut found);
        }
        ("batch", "jobs") => batch::job(object, old, &mut found),
        ("batch", "cronjobs") => batch::cron_job(&field, &mut found),
        ("", "pods") => {
            pod::spec(&field, pod::Stands::Alone, &mut found);
            match old {
                Some(old) => unchanged::pod(part, &old["spec"], spec, &mut found),
                None if !empty(&spec["ephemeralContainers"]) => {
                    field.get("ephemeralContainers").forbid("cannot be set on create", &mut found);
                }
                None => {}
            }
        }
        ("autoscaling", "horizontalpodautoscalers") => scaling::autoscaler(&field, &mut found),
        ("policy", "poddisruptionbudgets") => scaling::disruption_budget(&field, &mut found),
        ("networking.k8s.io", "ingresses") => network::ingress(&field, &mut found),
        ("networking.k8s.io", "ingressclasses") => {
            network::ingress_class(&field, &mut found);
            if old.is_some_and(|old| old["spec"]["controller"] != spec["controller"]) {
                field.get("controller").refuse("field is immutable", &mut found);
            }
        }
        ("networking.k8s.io", "networkpolicies") => network::policy(&field, &mut found),
        ("discovery.k8s.io", "endpointslices") => network::slice(&whole, &mut found),
        ("coordination.k8s.io", "leases") => cluster::lease(spec, &mut found),
        ("scheduling.k8s.io", "priorityclasses") => {
            cluster::priority_class(object, old, &mut found);
        }
        ("storage.k8s.io", "storageclasses") => {
            let old = old.map(|old| Field::new("", old));
            storage::class(&whole, old.as_ref(), &mut found);
        }
        ("", "persistentvolumeclaims") => {
            storage::claim(&field, &mut found);
            if let Some(old) = old {
                unchanged::claim(old, &old["spec"], spec, &mut found);
            }
        }
        ("", "resourcequotas") => limits::quota(&field, &mut found),
        ("", "limitranges") => limits::range(&field, &mut found),
        ("", "namespaces") => cluster::finalizers(part, &field, &mut found),
        ("events.k8s.io", "events") => cluster::event(object, old, &mut found),
        ("", "events") => cluster::core_event(object, old, &mut found),
        ("", "persistentvolumes") => storage::volume(&field, &mut found),
        ("", "nodes") => cluster::taints(spec, &mut found),
        ("rbac.authorization.k8s.io", "roles" | "clusterroles") => {
            access::rules(resource, &whole, &mut found);
        }
        (
            "admissionregistration.k8s.io",
            "mutatingwebhookconfigurations" | "validatingwebhookconfigurations",
        ) => webhook::configuration(object, &mut found),
        ("admissionregistration.k8s.io", "validatingadmissionpolicies") => {
            webhook::policy(object, &mut found);
        }
        ("admissionregistration.k8s.io", "mutatingadmissionpolicies") => {
            webhook::mutating_policy(spec, &mut found);
        }
        ("admissionregistration.k8s.io", "mutatingadmissionpolicybindings") => {
            webhook::mutating_binding(spec, &mut found);
        }
        ("admissionregistration.k8s.io", "validatingadmissionpolicybindings") => {
            webhook::binding(spec, &mut found);
        }
        ("", "endpoints") => network::endpoints(&whole, &mut found),
        ("", "configmaps") => config::config_map(object, old, &mut found),
        ("", "secrets") => config::secret(object, old, &mut found),
        ("", "services") => service::service(object, &field, old, &mut found),
        ("rbac.authorization.k8s.io", "rolebindings" | "clusterrolebindings") => {
            let old = old.map(|old| Field::new("", old));
            access::binding(resource, &whole, old.as_ref(), &mut found);
        }
        ("apiextensions.k8s.io", "customresourcedefinitions") => {
            found.extend(custom::errors(object, old))
        }
        _ => {}
    }
    found
}

// A number that must not be below a bound; absent is fine.
fn at_least(parent: &Value, path: &str, field: &str, least: i64, found: &mut Vec<FieldError>) {
    let value = &parent[field];
    if value.as_i64().is_some_and(|it| it < least) {
        let why = match least {
            1 => "must be greater than 0".to_owned(),
            _ => format!("must be greater than or equal to {least}"),
        };
        found.push(FieldError::invalid(format!("{path}.{field}"), value, &why));
    }
}

// One of a few words; absent is fine.
fn one_of(parent: &Value, path: &str, field: &str, known: &[&str], found: &mut Vec<FieldError>) {
    let value = &parent[field];
    if value.as_str().is_some_and(|it| !known.contains(&it)) {
        let at = if path.is_empty() { field.to_owned() } else { format!("{path}.{field}") };
        let known: Vec<String> = known.iter().map(|it| format!("\"{it}\"")).collect();
        found.push(FieldError::unsupported(at, value, &known));
    }
}

fn empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(it) => it.is_empty(),
        Value::Array(it) => it.is_empty(),
        Value::Object(it) => it.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}
