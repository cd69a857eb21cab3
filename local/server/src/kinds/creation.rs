//! What a new object of a kind gets besides defaults.

use serde_json::{Value, json};

use super::defaults::default;
use super::{CLEANUP, TEMPLATE_GENERATION};
use crate::custom;
use crate::plane::now;
use crate::resource::Resource;

/// What creating does to a kind beyond defaults.
pub fn prepare_create(resource: &Resource, object: &mut Value) {
    let drop_status = resource.has("status");
    if drop_status
        && !resource.is("", "nodes")
        && !resource.is("apiextensions.k8s.io", "customresourcedefinitions")
    {
        if let Some(fields) = object.as_object_mut() {
            fields.shift_remove("status");
        }
    }
    let uid = object["metadata"]["uid"].clone();
    let name = object["metadata"]["name"].clone();
    let key = if resource.custom.is_some() {
        ("-", "-")
    } else {
        (resource.group.as_str(), resource.plural.as_str())
    };
    match key {
        ("", "namespaces") => {
            default(&mut object["metadata"], "labels", json!({}));
            object["metadata"]["labels"]["kubernetes.io/metadata.name"] = name;
            default(object, "spec", json!({}));
            default(&mut object["spec"], "finalizers", json!([]));
            if let Some(all) = object["spec"]["finalizers"].as_array_mut() {
                if !all.contains(&json!("kubernetes")) {
                    all.push(json!("kubernetes"));
                }
            }
            object["status"] = json!({"phase": "Active"});
        }
        ("", "pods") => {
            object["status"] = json!({"phase": "Pending", "qosClass": qos(&object["spec"])})
        }
        ("", "persistentvolumeclaims") => object["status"] = json!({"phase": "Pending"}),
        ("", "persistentvolumes") => {
            object["status"] = json!({"phase": "Pending", "lastPhaseTransitionTime": now()});
        }
        ("apps", "deployments" | "statefulsets" | "replicasets" | "daemonsets")
        | ("batch", "cronjobs" | "jobs")
        | ("autoscaling", _)
        | ("", "resourcequotas" | "replicationcontrollers")
        | ("policy", _) => {
            object["status"] = match key.1 {
                "statefulsets" => json!({"replicas": 0, "availableReplicas": 0}),
                "replicasets" | "replicationcontrollers" => json!({"replicas": 0}),
                "daemonsets" => {
                    json!({"currentNumberScheduled": 0, "desiredNumberScheduled": 0, "numberMisscheduled": 0, "numberReady": 0})
                }
                "poddisruptionbudgets" => {
                    json!({"currentHealthy": 0, "desiredHealthy": 0, "disruptionsAllowed": 0, "expectedPods": 0})
                }
                "horizontalpodautoscalers" => json!({"currentMetrics": null, "desiredReplicas": 0}),
                _ => json!({}),
            };
            if key.1 == "daemonsets" {
                default(&mut object["metadata"], "annotations", json!({}));
                object["metadata"]["annotations"][TEMPLATE_GENERATION] = json!("1");
            }
            if key.1 == "jobs" && object["spec"]["manualSelector"] != json!(true) {
                let labels = json!({
                    "batch.kubernetes.io/controller-uid": uid, "batch.kubernetes.io/job-name": name,
                    "controller-uid": uid, "job-name": name,
                });
                default(&mut object["spec"], "selector", json!({}));
                default(&mut object["spec"]["selector"], "matchLabels", json!({}));
                let own = "batch.kubernetes.io/controller-uid";
                object["spec"]["selector"]["matchLabels"][own] = uid.clone();
                default(&mut object["spec"], "template", json!({}));
                default(&mut object["spec"]["template"], "metadata", json!({}));
                let metadata = &mut object["spec"]["template"]["metadata"];
                default(metadata, "labels", json!({}));
                let before = metadata["labels"].clone();
                for (label, value) in labels.as_object().into_iter().flatten() {
                    metadata["labels"][label] = value.clone();
                }
                let all = metadata["labels"].clone();
                // Labels taken from the template are the same map.
                let own = &mut object["metadata"]["labels"];
                if own.is_null() || *own == before {
                    *own = all;
                }
            }
        }
        ("admissionregistration.k8s.io", "validatingadmissionpolicies") => {
            object["status"] = json!({});
        }
        ("", "services") => object["status"] = json!({"loadBalancer": {}}),
        ("networking.k8s.io", "ingresses") => object["status"] = json!({"loadBalancer": {}}),
        ("apiextensions.k8s.io", _) => {
            if let Some(fields) = object.as_object_mut() {
                fields.shift_remove("status");
            }
            custom::set_stored_versions(object);
            default(&mut object["metadata"], "finalizers", json!([]));
            if let Some(all) = object["metadata"]["finalizers"].as_array_mut() {
                if !all.contains(&json!(CLEANUP)) {
                    all.push(json!(CLEANUP));
                }
            }
        }
        _ => {}
    }
}

/// How sure a Pod may be of what it asks for.
#[must_use]
pub fn qos(spec: &Value) -> &'static str {
    let containers = spec["containers"].as_array().into_iter().flatten();
    let containers: Vec<&Value> =
        containers.chain(spec["initContainers"].as_array().into_iter().flatten()).collect();
    let amount = |container: &Value, part: &str, name: &str| {
        container["resources"][part][name].as_str().map(str::to_owned)
    };
    let asks = |container: &&Value| {
        ["cpu", "memory"].into_iter().any(|name| {
            amount(container, "requests", name).is_some()
                || amount(container, "limits", name).is_some()
        })
    };
    if !containers.iter().any(asks) {
        return "BestEffort";
    }
    let sure = containers.iter().all(|container| {
        ["cpu", "memory"].into_iter().all(|name| {
            let limit = amount(container, "limits", name);
            limit.is_some() && limit == amount(container, "requests", name)
        })
    });
    if sure { "Guaranteed" } else { "Burstable" }
}
