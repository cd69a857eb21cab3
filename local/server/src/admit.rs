//! What the admission plugins and allocators of a cluster do to objects.

use serde_json::{Value, json};

use crate::plane::{Plane, Target};
use crate::resource::Resource;
use crate::status::{ApiError, Result};

/// Before an object is created.
pub fn on_create(plane: &Plane, target: &Target, object: &mut Value) -> Result<()> {
    let resource = &target.resource;
    if resource.custom.is_some() {
        return Ok(());
    }
    match (resource.group.as_str(), resource.plural.as_str()) {
        ("", "pods") => pod(plane, target, object),
        ("", "services") => {
            service(plane, resource, &Value::Null, object);
            Ok(())
        }
        ("", "persistentvolumeclaims") => {
            finalizer(object, "kubernetes.io/pvc-protection");
            Ok(())
        }
        ("", "persistentvolumes") => {
            finalizer(object, "kubernetes.io/pv-protection");
            Ok(())
        }
        ("", "nodes") => {
            let taint = json!({"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"});
            if !object["spec"].is_object() {
                object["spec"] = json!({});
            }
            let mut taints = object["spec"]["taints"].as_array().cloned().unwrap_or_default();
            if !taints.contains(&taint) {
                taints.push(taint);
            }
            object["spec"]["taints"] = Value::Array(taints);
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Before a change is stored.
pub fn on_update(plane: &Plane, target: &Target, old: &Value, object: &mut Value) -> Result<()> {
    if target.resource.is("", "services") && target.subresource.is_empty() {
        service(plane, &target.resource, old, object);
    }
    Ok(())
}

/// Before an object is deleted.
pub fn on_delete(target: &Target) -> Result<()> {
    let fixed = ["default", "kube-system", "kube-public"];
    if target.resource.is("", "namespaces") && fixed.contains(&target.name.as_str()) {
        return Err(ApiError::forbidden(
            "",
            "namespaces",
            &target.name,
            "this namespace may not be deleted",
        ));
    }
    Ok(())
}

fn finalizer(object: &mut Value, name: &str) {
    let mut all = object["metadata"]["finalizers"].as_array().cloned().unwrap_or_default();
    if !all.contains(&json!(name)) {
        all.push(json!(name));
    }
    object["metadata"]["finalizers"] = Value::Array(all);
}

fn pod(plane: &Plane, target: &Target, object: &mut Value) -> Result<()> {
    let class = object["spec"]["priorityClassName"].as_str().unwrap_or_default().to_owned();
    let mut priority = json!(0);
    let mut preemption = json!("PreemptLowerPriority");
    if !class.is_empty() {
        let Some(found) = plane.store().get(&format!("scheduling.k8s.io/priorityclasses/{class}"))
        else {
            let name = object["metadata"]["name"].as_str().unwrap_or_default();
            let why = format!("no PriorityClass with name {class} was found");
            return Err(ApiError::forbidden("", &target.resource.plural, name, &why));
        };
        priority = found.value["value"].clone();
        preemption = found.value["preemptionPolicy"].clone();
    }
    let spec = &mut object["spec"];
    if !spec.is_object() {
        return Ok(());
    }
    spec["priority"] = priority;
    if spec["preemptionPolicy"].is_null() {
        spec["preemptionPolicy"] = preemption;
    }
    let mut tolerations = spec["tolerations"].as_array().cloned().unwrap_or_default();
    for key in ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"] {
        let covered = tolerations.iter().any(|one| {
            let same_key =
                one["key"] == json!(key) || one["key"].as_str().unwrap_or_default().is_empty();
            let effect = one["effect"].as_str().unwrap_or_default();
            same_key && (effect.is_empty() || effect == "NoExecute")
        });
        if !covered {
            tolerations.push(json!({"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}));
        }
    }
    spec["tolerations"] = Value::Array(tolerations);
    Ok(())
}

/// Cluster addresses and node ports.
fn service(plane: &Plane, resource: &Resource, old: &Value, object: &mut Value) {
    let spec = &mut object["spec"];
    if spec["type"] == json!("ExternalName") || !spec.is_object() {
        return;
    }
    let taken = plane.store().list(&resource.prefix).1;
    let address = spec["clusterIP"].as_str().unwrap_or_default().to_owned();
    let before = old["spec"]["clusterIP"].as_str().unwrap_or_default().to_owned();
    let address = match (address.is_empty(), before.is_empty()) {
        (false, _) => address,
        (true, false) => before,
        (true, true) => {
            let used: Vec<&str> =
                taken.iter().filter_map(|one| one.value["spec"]["clusterIP"].as_str()).collect();
            let free = (2..255).map(|last| format!("10.0.0.{last}"));
            let mut free = free.chain(
                (1..255).flat_map(|third| (0..255).map(move |last| format!("10.0.{third}.{last}"))),
            );
            free.find(|one| !used.contains(&one.as_str())).unwrap_or_default()
        }
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
    let kind = spec["type"].as_str().unwrap_or_default();
    if kind != "NodePort"
        && !(kind == "LoadBalancer" && spec["allocateLoadBalancerNodePorts"] != json!(false))
    {
        return;
    }
    let ports =
        taken.iter().flat_map(|one| one.value["spec"]["ports"].as_array().into_iter().flatten());
    let mut used: Vec<u64> = ports.filter_map(|port| port["nodePort"].as_u64()).collect();
    let before = old["spec"]["ports"].as_array().cloned().unwrap_or_default();
    for port in spec["ports"].as_array_mut().into_iter().flatten() {
        if port["nodePort"].as_u64().unwrap_or(0) != 0 {
            continue;
        }
        let same = before
            .iter()
            .find(|one| one["port"] == port["port"] && one["protocol"] == port["protocol"]);
        let kept = same.and_then(|one| one["nodePort"].as_u64()).filter(|number| *number != 0);
        let number = kept.or_else(|| (30_000..32_768).find(|number| !used.contains(number)));
        if let Some(number) = number {
            used.push(number);
            port["nodePort"] = json!(number);
        }
    }
}
