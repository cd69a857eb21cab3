//! What the API server refuses of its own kinds, in its words.

mod check; // a value at its place, and rules that many kinds share
mod access; // roles and bindings
mod batch; // Jobs, CronJobs
mod cluster; // leases, priorities, nodes, events
mod limits; // quotas, ranges
mod network; // ingresses, policies, services, endpoints
mod pod; // pods
mod scaling; // autoscalers, budgets
mod schedule; // when CronJobs run
mod structs; // specs as the reference prints them
mod storage; // claims, volumes, classes
mod unchanged; // what may not change of a spec
mod volume; // volumes of pods
mod webhook; // who is asked about writes
mod workload; // what has pods

use serde_json::{Map, Value, json};

use check::{Field, Found};

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
        ("", "namespaces") => {
            for (index, name) in field.get("finalizers").items().enumerate() {
                let at = match part {
                    "finalize" => format!("spec.finalizers[{index}]"),
                    _ => "spec.finalizers".to_owned(),
                };
                let (name, at) = (name.text(), Field::new(at, name.value));
                for wrong in crate::meta::qualified_name_errors(name) {
                    at.refuse(&wrong, &mut found);
                }
                if name != "kubernetes" && !name.contains('/') {
                    let why = "name is neither a standard finalizer name nor is it fully qualified";
                    at.refuse(why, &mut found);
                }
            }
        }
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
        ("", "configmaps") => {
            for part in ["data", "binaryData"] {
                for name in object[part].as_object().into_iter().flat_map(Map::keys) {
                    config_key(&Field::new(format!("{part}[{name}]"), &json!(name)), &mut found);
                    let hidden = match name.as_str() {
                        "." => Some("must not be '.'"),
                        ".." => Some("must not be '..'"),
                        other if other.starts_with("..") => Some("must not start with '..'"),
                        _ => None,
                    };
                    if let Some(why) = hidden {
                        let at = format!("{part}[{name}]");
                        found.push(FieldError::invalid(at, &json!(name), why));
                    }
                    if part == "data" && object["binaryData"].get(name).is_some() {
                        found.push(FieldError::invalid(
                            format!("data[{name}]"),
                            &json!(name),
                            "duplicate of key present in binaryData",
                        ));
                    }
                }
            }
            if let Some(old) = old.filter(|old| old["immutable"] == json!(true)) {
                if object["immutable"] != json!(true) {
                    found.push(FieldError::forbidden(
                        "immutable",
                        "field is immutable when `immutable` is set",
                    ));
                }
                for part in ["data", "binaryData"] {
                    if old[part] != object[part] {
                        found.push(FieldError::forbidden(
                            part,
                            "field is immutable when `immutable` is set",
                        ));
                    }
                }
            }
        }
        ("", "secrets") => {
            for name in object["data"].as_object().into_iter().flat_map(Map::keys) {
                config_key(&Field::new(format!("data[{name}]"), &json!(name)), &mut found);
            }
            secret(object, &mut found);
            if let Some(old) = old {
                if old["type"] != object["type"] {
                    found.push(FieldError::invalid("type", &object["type"], "field is immutable"));
                }
                if old["immutable"] == json!(true) && old["data"] != object["data"] {
                    found.push(FieldError::forbidden(
                        "data",
                        "field is immutable when `immutable` is set",
                    ));
                }
            }
        }
        ("", "services") => {
            let many = spec["ports"].as_array().map_or(0, Vec::len);
            if many == 0
                && spec["type"] != json!("ExternalName")
                && spec["clusterIP"] != json!("None")
            {
                found.push(FieldError::required("spec.ports", ""));
            }
            service_ports(spec, &mut found);
            let address = |object: &Value| {
                object["spec"]["clusterIP"].as_str().unwrap_or_default().to_owned()
            };
            if let Some(old) =
                old.filter(|old| !address(old).is_empty() && spec["type"] != json!("ExternalName"))
            {
                if address(old) != address(object) {
                    found.push(FieldError::invalid(
                        "spec.clusterIPs[0]",
                        &json!([address(object)]),
                        "may not change once set",
                    ));
                }
            }
            service(spec, &mut found);
            network::service(&field, &mut found);
            for (index, port) in spec["ports"].as_array().into_iter().flatten().enumerate() {
                if many > 1 && port["name"].as_str().unwrap_or_default().is_empty() {
                    found.push(FieldError::required(format!("spec.ports[{index}].name"), ""));
                }
            }
        }
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

/// A key of a ConfigMap or Secret.
fn config_key(key: &Field<'_>, found: &mut Found) {
    const WHY: &str = "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
    let good = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if key.is_empty() || !key.text().chars().all(good) {
        key.refuse(WHY, found);
    }
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

// Keys that a type of Secret needs.
fn secret(object: &Value, found: &mut Vec<FieldError>) {
    let has = |key: &str| object["data"].get(key).is_some();
    let wanted: &[&str] = match object["type"].as_str().unwrap_or_default() {
        "kubernetes.io/dockerconfigjson" => &[".dockerconfigjson"],
        "kubernetes.io/dockercfg" => &[".dockercfg"],
        "kubernetes.io/ssh-auth" => &["ssh-privatekey"],
        "kubernetes.io/tls" => &["tls.crt", "tls.key"],
        "kubernetes.io/basic-auth" if !has("username") && !has("password") => {
            &["username", "password"]
        }
        "kubernetes.io/service-account-token" => {
            if empty(&object["metadata"]["annotations"]["kubernetes.io/service-account.name"]) {
                let at = "metadata.annotations[kubernetes.io/service-account.name]";
                found.push(FieldError::required(at, ""));
            }
            &[]
        }
        _ => &[],
    };
    for key in [".dockerconfigjson", ".dockercfg"].iter().filter(|key| wanted.contains(key)) {
        use base64::Engine;
        let coded = object["data"][key].as_str().unwrap_or_default();
        let text = base64::engine::general_purpose::STANDARD.decode(coded).unwrap_or_default();
        if let Some(why) = crate::go::json_error(&text).filter(|_| has(key)) {
            let at = format!("data[{key}]");
            found.push(FieldError::invalid(at, &json!("<secret contents redacted>"), &why));
        }
    }
    for key in wanted.iter().filter(|key| !has(key)) {
        found.push(FieldError::required(format!("data[{key}]"), ""));
    }
}

fn service(spec: &Value, found: &mut Vec<FieldError>) {
    const RANGE: &str = "must be between 1 and 65535, inclusive";
    one_of(spec, "spec", "sessionAffinity", &["ClientIP", "None"], found);
    one_of(spec, "spec", "type", &["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"], found);
    let in_range = |value: &Value| value.as_i64().is_none_or(|it| (1..=65535).contains(&it));
    for (index, port) in spec["ports"].as_array().into_iter().flatten().enumerate() {
        let at = format!("spec.ports[{index}]");
        if !in_range(&port["port"]) {
            found.push(FieldError::invalid(format!("{at}.port"), &port["port"], RANGE));
        }
        one_of(port, &at, "protocol", &["SCTP", "TCP", "UDP"], found);
        let target = &port["targetPort"];
        let wrong = match target.as_str() {
            Some(name) => port_name_errors(name),
            None if in_range(target) => Vec::new(),
            None => vec![RANGE],
        };
        for why in wrong {
            found.push(FieldError::invalid(format!("{at}.targetPort"), target, why));
        }
    }
}

// Two ports may not be the same.
fn service_ports(spec: &Value, found: &mut Vec<FieldError>) {
    let all: Vec<&Value> = spec["ports"].as_array().into_iter().flatten().collect();
    for (index, port) in all.iter().enumerate() {
        let same = |other: &&&Value| {
            other["port"] == port["port"] && other["protocol"] == port["protocol"]
        };
        if all.iter().take(index).find(same).is_some() {
            let shown = json!({
                "Name": "", "Protocol": port["protocol"], "AppProtocol": null,
                "Port": port["port"], "TargetPort": 0, "NodePort": 0,
            });
            found.push(FieldError::duplicate(format!("spec.ports[{index}]"), &shown));
        }
        let name = |port: &Value| port["name"].as_str().unwrap_or_default().to_owned();
        if !name(port).is_empty() && all.iter().take(index).any(|one| name(one) == name(port)) {
            found.push(FieldError::duplicate(format!("spec.ports[{index}].name"), &port["name"]));
        }
    }
    if spec["type"] == json!("ExternalName") && empty(&spec["externalName"]) {
        found.push(FieldError::required("spec.externalName", ""));
    }
}

// The rules of IANA's service names.
fn port_name_errors(name: &str) -> Vec<&'static str> {
    let mut wrong = Vec::new();
    if name.len() > 15 {
        wrong.push("must be no more than 15 characters");
    }
    if !name.chars().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '-') {
        wrong.push("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
    }
    if !name.chars().any(|it| it.is_ascii_lowercase()) {
        wrong.push("must contain at least one letter (a-z)");
    }
    if name.contains("--") {
        wrong.push("must not contain consecutive hyphens");
    }
    if name.starts_with('-') || name.ends_with('-') {
        wrong.push("must not begin or end with a hyphen");
    }
    wrong
}
