//! Services: their ports, types and addresses.

use serde_json::{Value, json};

use super::check::{Field, Found};
use super::{empty, network};
use crate::status::FieldError;

/// What is wrong with a Service, whose spec is `field`, in place of an `old` one if there is one.
pub(super) fn service(object: &Value, field: &Field<'_>, old: Option<&Value>, found: &mut Found) {
    let spec = &object["spec"];
    let many = spec["ports"].as_array().map_or(0, Vec::len);
    if many == 0 && spec["type"] != json!("ExternalName") && spec["clusterIP"] != json!("None") {
        found.push(FieldError::required("spec.ports", ""));
    }
    ports(spec, found);
    let address =
        |object: &Value| object["spec"]["clusterIP"].as_str().unwrap_or_default().to_owned();
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
    words(field, found);
    network::service(field, found);
    for (index, port) in spec["ports"].as_array().into_iter().flatten().enumerate() {
        if many > 1 && port["name"].as_str().unwrap_or_default().is_empty() {
            found.push(FieldError::required(format!("spec.ports[{index}].name"), ""));
        }
    }
}

// Words and numbers out of a few.
fn words(spec: &Field<'_>, found: &mut Found) {
    spec.get("sessionAffinity").one_of(&["ClientIP", "None"], found);
    let types = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
    spec.get("type").one_of(&types, found);
    for port in spec.get("ports").items() {
        port.get("port").between(1, 65535, found);
        port.get("protocol").one_of(&["SCTP", "TCP", "UDP"], found);
        port.get("targetPort").port(found);
    }
}

// Two ports may not be the same.
fn ports(spec: &Value, found: &mut Found) {
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
