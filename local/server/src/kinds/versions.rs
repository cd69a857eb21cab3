//! One object in several versions: as it is stored, as it is shown.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::decode;
use crate::plane::Shown;
use crate::resource::Resource;

/// The same without a copy where it is shown as it is stored.
#[must_use]
pub fn shown(resource: &Resource, stored: &Shown) -> Shown {
    if resource.shows_stored() {
        stored.clone()
    } else {
        Arc::new(present(resource, &stored.glance()).into())
    }
}

/// A stored object in the version of the resource.
#[must_use]
pub fn present(resource: &Resource, stored: &Value) -> Value {
    let mut object = stored.clone();
    let api = resource.api_version();
    let same = object["apiVersion"] == json!(api);
    if resource.custom.is_some() {
        object["apiVersion"] = json!(api);
        if let Some(node) = resource.schema() {
            if !same {
                decode::prune_object(node, &mut object, &mut Vec::new());
            }
            decode::set_defaults(node, &mut object);
        }
        return object;
    }
    if !same {
        if resource.is("events.k8s.io", "events") {
            rename(&mut object, EVENT_FIELDS);
        }
        if resource.group == "autoscaling" && resource.version == "v1" {
            autoscaler_to_v1(&mut object);
        }
        object["apiVersion"] = json!(api);
    }
    object
}

/// Fields of an event in core/v1 and in events.k8s.io/v1.
const EVENT_FIELDS: [(&str, &str); 7] = [
    ("involvedObject", "regarding"),
    ("message", "note"),
    ("source", "deprecatedSource"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("count", "deprecatedCount"),
    ("reportingComponent", "reportingController"),
];

fn rename(object: &mut Value, names: [(&str, &str); 7]) {
    let Some(fields) = object.as_object_mut() else { return };
    for (from, to) in names {
        if let Some(value) = fields.shift_remove(from) {
            fields.insert(to.to_owned(), value);
        }
    }
}

/// An object as it is stored.
#[must_use]
pub fn to_stored(resource: &Resource, mut object: Value) -> Value {
    // What lists leave out comes first.
    if let Some(fields) = object.as_object_mut() {
        for (place, key) in ["apiVersion", "kind"].into_iter().enumerate() {
            if fields.keys().nth(place).is_some_and(|at| at != key) {
                if let Some(value) = fields.shift_remove(key) {
                    fields.shift_insert(place, key.to_owned(), value);
                }
            }
        }
    }
    if resource.is("events.k8s.io", "events") {
        rename(&mut object, EVENT_FIELDS.map(|(core, events)| (events, core)));
    }
    if resource.group == "autoscaling" && resource.version == "v1" {
        autoscaler_from_v1(&mut object);
    }
    object["apiVersion"] = json!(resource.stored);
    object
}

// autoscaling/v1 knows one metric: the utilisation of the processor.
fn autoscaler_to_v1(object: &mut Value) {
    let metrics = object["spec"]["metrics"].as_array().cloned().unwrap_or_default();
    let usage = metrics.iter().map(|metric| &metric["resource"]).find(|resource| {
        resource["name"] == json!("cpu") && resource["target"]["type"] == json!("Utilization")
    });
    let percent = usage.map(|resource| resource["target"]["averageUtilization"].clone());
    if let Some(spec) = object["spec"].as_object_mut() {
        spec.shift_remove("metrics");
        spec.shift_remove("behavior");
        if let Some(percent) = percent {
            spec.insert("targetCPUUtilizationPercentage".to_owned(), percent);
        }
    }
    if let Some(status) = object["status"].as_object_mut() {
        status.shift_remove("currentMetrics");
        status.shift_remove("conditions");
        status.entry("currentReplicas").or_insert(json!(0));
    }
}

fn autoscaler_from_v1(object: &mut Value) {
    if let Some(spec) = object["spec"].as_object_mut() {
        if let Some(percent) = spec.shift_remove("targetCPUUtilizationPercentage") {
            let target = json!({"type": "Utilization", "averageUtilization": percent});
            let metric = json!({"type": "Resource", "resource": {"name": "cpu", "target": target}});
            spec.insert("metrics".to_owned(), json!([metric]));
        }
    }
    if let Some(status) = object["status"].as_object_mut() {
        status.shift_remove("currentCPUUtilizationPercentage");
        status.entry("currentMetrics").or_insert(Value::Null);
    }
}
