//! Cluster addresses and node ports of Services: given out, asked for, given back.

use std::net::Ipv4Addr;

use serde_json::{Value, json};

use crate::plane::{Plane, Target};
use crate::status::{ApiError, FieldError, Result};

/// Addresses of Services; the first is the API's own.
const RANGE: (Ipv4Addr, u32) = (Ipv4Addr::new(10, 0, 0, 0), 24);
/// The lowest addresses are left to those who ask for one.
const STATIC: u32 = 17;
/// Further addresses, given out when the range is used up.
const MORE: u32 = 16;
const PORTS: std::ops::Range<u64> = 30_000..32_768;

/// What an update to another type gives back.
pub(super) fn release(old: &Value, object: &mut Value) {
    let kind = |object: &Value| object["spec"]["type"].as_str().unwrap_or_default().to_owned();
    let (before, now) = (kind(old), kind(object));
    if before == now {
        return;
    }
    let old = &old["spec"];
    let Some(spec) = object.get_mut("spec") else { return };
    let mut same = |fields: &[&str]| {
        for field in fields {
            if spec.get(*field) == old.get(*field) {
                if let Some(spec) = spec.as_object_mut() {
                    spec.shift_remove(*field);
                }
            }
        }
    };
    if now == "ExternalName" {
        same(&[
            "clusterIP",
            "clusterIPs",
            "ipFamilies",
            "ipFamilyPolicy",
            "internalTrafficPolicy",
            "externalTrafficPolicy",
            "healthCheckNodePort",
        ]);
    }
    if now == "ClusterIP" {
        same(&["externalTrafficPolicy", "healthCheckNodePort"]);
    }
    if before == "LoadBalancer" {
        same(&["allocateLoadBalancerNodePorts", "loadBalancerClass"]);
    }
    if now == "ClusterIP" || now == "ExternalName" {
        let had: Vec<&Value> = old["ports"].as_array().into_iter().flatten().collect();
        for port in spec["ports"].as_array_mut().into_iter().flatten() {
            if had.iter().any(|one| one["nodePort"] == port["nodePort"]) {
                if let Some(port) = port.as_object_mut() {
                    port.shift_remove("nodePort");
                }
            }
        }
    }
}

/// Gives a Service what its type needs.
pub(super) fn allocate(
    plane: &Plane,
    target: &Target,
    old: &Value,
    object: &mut Value,
) -> Result<()> {
    let name = object["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    let uid = object["metadata"]["uid"].clone();
    let spec = &mut object["spec"];
    if spec["type"] == json!("ExternalName") || !spec.is_object() {
        return Ok(());
    }
    let all = plane.store().list(&target.resource.prefix).1;
    let others: Vec<&Value> = all
        .iter()
        .filter(|one| one.value["metadata"]["uid"] != uid)
        .map(|one| &one.value["spec"])
        .collect();
    let refuse = |error: FieldError| ApiError::invalid("", "Service", &name, &[error]);
    address(spec, &old["spec"], &others).map_err(refuse)?;
    node_ports(spec, &old["spec"], &others).map_err(refuse)
}

fn address(spec: &mut Value, old: &Value, others: &[&Value]) -> Result<(), FieldError> {
    let text = |spec: &Value| spec["clusterIP"].as_str().unwrap_or_default().to_owned();
    let (asked, before) = (text(spec), text(old));
    let used = |wanted: &str| others.iter().any(|one| one["clusterIP"] == json!(wanted));
    let start = u32::from(RANGE.0);
    let address = if !asked.is_empty() && asked != "None" && asked != before {
        let refuse = |why: &str| {
            let why = format!("failed to allocate IP {asked}: {why}");
            FieldError::invalid("spec.clusterIPs", &json!([asked]), &why)
        };
        let given: Ipv4Addr = asked.parse().map_err(|_| {
            FieldError::invalid(
                "spec.clusterIPs[0]",
                &json!(asked),
                "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)",
            )
        })?;
        if u32::from(given) >> (32 - MORE) != start >> (32 - MORE) {
            return Err(refuse("the provided network does not match the current range"));
        }
        if used(&asked) {
            return Err(refuse("provided IP is already allocated"));
        }
        asked
    } else if !asked.is_empty() {
        asked
    } else if !before.is_empty() {
        before
    } else {
        let end = 1 << (32 - RANGE.1);
        let far = end..(1 << (32 - MORE)) - 1;
        let mut free = (STATIC..end - 1)
            .chain(2..STATIC)
            .chain(far)
            .map(|place| Ipv4Addr::from(start + place).to_string());
        free.find(|one| !used(one)).unwrap_or_default()
    };
    spec["clusterIP"] = json!(address);
    if spec["clusterIPs"].as_array().is_none_or(Vec::is_empty) {
        spec["clusterIPs"] = json!([address]);
    }
    for (key, value) in [("ipFamilies", json!(["IPv4"])), ("ipFamilyPolicy", json!("SingleStack"))]
    {
        if spec[key].is_null() {
            spec[key] = value;
        }
    }
    Ok(())
}

fn node_ports(spec: &mut Value, old: &Value, others: &[&Value]) -> Result<(), FieldError> {
    let kind = spec["type"].as_str().unwrap_or_default();
    let balanced = kind == "LoadBalancer" && spec["allocateLoadBalancerNodePorts"] != json!(false);
    if kind != "NodePort" && !balanced {
        return Ok(());
    }
    let ports = others.iter().flat_map(|one| one["ports"].as_array().into_iter().flatten());
    let mut used: Vec<u64> = ports.filter_map(|port| port["nodePort"].as_u64()).collect();
    let before: Vec<&Value> = old["ports"].as_array().into_iter().flatten().collect();
    let had: Vec<u64> = before.iter().filter_map(|port| port["nodePort"].as_u64()).collect();
    for (index, port) in spec["ports"].as_array_mut().into_iter().flatten().enumerate() {
        if let Some(asked) = port["nodePort"].as_u64().filter(|asked| *asked != 0) {
            let refuse = |why: &str| {
                let at = format!("spec.ports[{index}].nodePort");
                FieldError::invalid(at, &json!(asked), why)
            };
            if had.contains(&asked) {
                continue;
            }
            if !PORTS.contains(&asked) {
                return Err(refuse(
                    "provided port is not in the valid range. The range of valid ports is 30000-32767",
                ));
            }
            if used.contains(&asked) {
                return Err(refuse("provided port is already allocated"));
            }
            used.push(asked);
            continue;
        }
        let same = before
            .iter()
            .find(|one| one["port"] == port["port"] && one["protocol"] == port["protocol"]);
        let kept = same.and_then(|one| one["nodePort"].as_u64()).filter(|number| *number != 0);
        let free = || PORTS.clone().find(|number| !used.contains(number) && !had.contains(number));
        if let Some(number) = kept.or_else(free) {
            used.push(number);
            port["nodePort"] = json!(number);
        }
    }
    Ok(())
}
