//! The cells of what leads to Pods: Services, Ingresses and their classes, endpoints.

use serde_json::{Value, json};

use super::cells::Parts;
use super::format::{first_of, or_none, pairs, text};

/// Services.
pub(super) fn service(parts: Parts<'_>) -> Vec<Value> {
    let Parts { spec, status, name, age, .. } = parts;
    let mut external: Vec<String> = Vec::new();
    let kind = spec["type"].as_str().unwrap_or_default();
    if kind == "LoadBalancer" && !addresses(status).is_empty() {
        external.push(addresses(status));
    }
    external.extend(
        spec["externalIPs"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .map(str::to_owned),
    );
    let external = match (kind, external.is_empty()) {
        ("ExternalName", _) => spec["externalName"].clone(),
        ("LoadBalancer", true) => json!("<pending>"),
        (_, true) => json!("<none>"),
        _ => json!(external.join(",")),
    };
    let ports: Vec<String> = spec["ports"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|port| {
            let protocol = port["protocol"].as_str().unwrap_or("TCP");
            match port["nodePort"].as_i64().filter(|number| *number > 0) {
                Some(node) => format!("{}:{node}/{protocol}", port["port"]),
                None => format!("{}/{protocol}", port["port"]),
            }
        })
        .collect();
    let address = spec["clusterIPs"].get(0).cloned().unwrap_or_default();
    vec![
        name,
        json!(kind),
        text(&address, "<none>"),
        external,
        or_none(ports.join(",")),
        age,
        pairs(&spec["selector"]),
    ]
}

/// Ingresses.
pub(super) fn ingress(parts: Parts<'_>) -> Vec<Value> {
    let Parts { spec, status, name, age, .. } = parts;
    let hosts: Vec<&str> = spec["rules"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|rule| rule["host"].as_str())
        .collect();
    let shown = if hosts.is_empty() { "*".to_owned() } else { first_of(&hosts, 3, ",") };
    let ports =
        if spec["tls"].as_array().is_some_and(|tls| !tls.is_empty()) { "80, 443" } else { "80" };
    vec![
        name,
        text(&spec["ingressClassName"], "<none>"),
        json!(shown),
        json!(addresses(status)),
        json!(ports),
        age,
    ]
}

/// IngressClasses.
pub(super) fn ingress_class(parts: Parts<'_>) -> Vec<Value> {
    let Parts { spec, name, age, .. } = parts;
    let to = &spec["parameters"];
    let kind = to["kind"].as_str().unwrap_or_default();
    let shown = match (to["apiGroup"].as_str(), to["name"].as_str()) {
        (Some(group), Some(to)) => format!("{kind}.{group}/{to}"),
        (None, Some(to)) => format!("{kind}/{to}"),
        (_, None) => String::new(),
    };
    vec![name, spec["controller"].clone(), or_none(shown), age]
}

/// Endpoints.
pub(super) fn endpoints(parts: Parts<'_>) -> Vec<Value> {
    let Parts { object, name, age, .. } = parts;
    let mut all = Vec::new();
    for subset in object["subsets"].as_array().into_iter().flatten() {
        for address in subset["addresses"].as_array().into_iter().flatten() {
            for port in subset["ports"].as_array().into_iter().flatten() {
                all.push(format!(
                    "{}:{}",
                    address["ip"].as_str().unwrap_or_default(),
                    port["port"]
                ));
            }
        }
    }
    vec![name, or_none(all.join(",")), age]
}

/// EndpointSlices.
pub(super) fn endpoint_slice(parts: Parts<'_>) -> Vec<Value> {
    let Parts { object, name, age, .. } = parts;
    let ports = object["ports"].as_array().into_iter().flatten();
    let ports: Vec<String> = ports
        .map(|port| match (&port["port"], port["name"].as_str().unwrap_or_default()) {
            (Value::Null, "") => "*".to_owned(),
            (Value::Null, name) => name.to_owned(),
            (number, _) => number.to_string(),
        })
        .collect();
    let endpoints = object["endpoints"].as_array().into_iter().flatten();
    let addresses: Vec<String> = endpoints
        .flat_map(|endpoint| endpoint["addresses"].as_array().into_iter().flatten())
        .filter_map(|one| one.as_str().map(str::to_owned))
        .collect();
    vec![name, object["addressType"].clone(), some_of(&ports), some_of(&addresses), age]
}

fn some_of(all: &[String]) -> Value {
    json!(if all.is_empty() { "<unset>".to_owned() } else { first_of(all, 3, ",") })
}

fn addresses(status: &Value) -> String {
    let all = status["loadBalancer"]["ingress"].as_array().into_iter().flatten();
    let all: Vec<&str> =
        all.filter_map(|one| one["ip"].as_str().or(one["hostname"].as_str())).collect();
    all.join(",")
}
