//! The defaults of what leads to Pods: Services, endpoints, classes of Ingresses, policies.

use serde_json::{Value, json};

use super::{default, each};

/// Services.
pub(super) fn service(spec: &mut Value) {
    default(spec, "type", json!("ClusterIP"));
    default(spec, "sessionAffinity", json!("None"));
    let kind = spec["type"].as_str().unwrap_or_default().to_owned();
    if spec["sessionAffinity"] == json!("ClientIP") {
        default(spec, "sessionAffinityConfig", json!({"clientIP": {"timeoutSeconds": 10800}}));
    }
    for port in each(spec, "ports") {
        default(port, "protocol", json!("TCP"));
        let number = port["port"].clone();
        if port["targetPort"].is_null()
            || port["targetPort"] == json!(0)
            || port["targetPort"] == json!("")
        {
            port["targetPort"] = number;
        }
    }
    if kind != "ExternalName" {
        default(spec, "internalTrafficPolicy", json!("Cluster"));
    }
    if kind == "NodePort" || kind == "LoadBalancer" {
        default(spec, "externalTrafficPolicy", json!("Cluster"));
    }
    if kind == "LoadBalancer" {
        default(spec, "allocateLoadBalancerNodePorts", json!(true));
    }
}

/// Endpoints.
pub(super) fn endpoints(object: &mut Value) {
    for subset in each(object, "subsets") {
        each(subset, "ports").for_each(|port| default(port, "protocol", json!("TCP")));
    }
}

/// EndpointSlices.
pub(super) fn endpoint_slice(object: &mut Value) {
    for port in each(object, "ports") {
        default(port, "name", json!(""));
        default(port, "protocol", json!("TCP"));
    }
}

/// IngressClasses.
pub(super) fn ingress_class(spec: &mut Value) {
    if spec["parameters"].is_object() {
        default(&mut spec["parameters"], "scope", json!("Cluster"));
    } else if let Some(fields) = spec.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
    }
}

/// NetworkPolicies.
pub(super) fn policy(spec: &mut Value) {
    for side in ["ingress", "egress"] {
        for rule in each(spec, side) {
            each(rule, "ports").for_each(|port| default(port, "protocol", json!("TCP")));
        }
    }
    let mut types = vec!["Ingress"];
    if spec["egress"].as_array().is_some_and(|rules| !rules.is_empty()) {
        types.push("Egress");
    }
    default(spec, "policyTypes", json!(types));
}
