//! What is refused of Leases, PriorityClasses, Nodes, namespaces and Events.

use serde_json::{Value, json};

use super::check::{Field, Found};
use super::{at_least, one_of};
use crate::status::FieldError;

/// Leases.
pub(super) fn lease(spec: &Value, found: &mut Vec<FieldError>) {
    at_least(spec, "spec", "leaseDurationSeconds", 1, found);
    at_least(spec, "spec", "leaseTransitions", 0, found);
}

/// PriorityClasses.
pub(super) fn priority_class(object: &Value, old: Option<&Value>, found: &mut Vec<FieldError>) {
    const MOST: i64 = 1_000_000_000;
    const SYSTEM: [&str; 2] = ["system-cluster-critical", "system-node-critical"];
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    if name.starts_with("system-") && !SYSTEM.contains(&name) {
        let why = format!(
            "priority class names with 'system-' prefix are reserved for system use only. error: {name} is not a known system priority class"
        );
        found.push(FieldError::forbidden("metadata.name", &why));
    }
    one_of(object, "", "preemptionPolicy", &["PreemptLowerPriority", "Never"], found);
    if old.is_some_and(|old| old["preemptionPolicy"] != object["preemptionPolicy"]) {
        let why = "field is immutable";
        found.push(FieldError::invalid("preemptionPolicy", &object["preemptionPolicy"], why));
    }
    match old {
        Some(old) if old["value"] != object["value"] => {
            found.push(FieldError::forbidden("value", "may not be changed in an update."));
        }
        None if !name.starts_with("system-")
            && object["value"].as_i64().is_some_and(|it| it > MOST) =>
        {
            let why = format!("maximum allowed value of a user defined priority is {MOST}");
            found.push(FieldError::forbidden("value", &why));
        }
        Some(_) | None => {}
    }
}

/// The taints of a Node.
pub(super) fn taints(spec: &Value, found: &mut Vec<FieldError>) {
    let known = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
    for (index, taint) in spec["taints"].as_array().into_iter().flatten().enumerate() {
        one_of(taint, &format!("metadata.taints[{index}]"), "effect", &known, found);
    }
}

/// Events in events.k8s.io; messages name fields as core/v1 does where something may not change.
pub(super) fn event(object: &Value, old: Option<&Value>, found: &mut Vec<FieldError>) {
    if let Some(old) = old {
        for (field, core) in [
            ("regarding", "involvedObject"),
            ("reason", "reason"),
            ("note", "message"),
            ("deprecatedSource", "source"),
            ("deprecatedFirstTimestamp", "firstTimestamp"),
            ("deprecatedLastTimestamp", "lastTimestamp"),
            ("deprecatedCount", "count"),
            ("type", "type"),
            ("eventTime", "eventTime"),
            ("action", "action"),
            ("related", "related"),
            ("reportingController", "reportingController"),
            ("reportingInstance", "reportingInstance"),
        ] {
            if old[field] != object[field] {
                found.push(FieldError::invalid(core, &object[field], "field is immutable"));
            }
        }
        return;
    }
    let text = |field: &str| object[field].as_str().unwrap_or_default();
    if text("eventTime").is_empty() {
        found.push(FieldError::required("eventTime", ""));
    }
    let controller = text("reportingController");
    if controller.is_empty() {
        found.push(FieldError::required("reportingController", ""));
    }
    for wrong in crate::meta::qualified_name_errors(controller) {
        found.push(FieldError::invalid("reportingController", &json!(controller), &wrong));
    }
    for (field, most) in [("reportingInstance", 128), ("action", 128), ("reason", 128)] {
        if text(field).is_empty() {
            found.push(FieldError::required(field, ""));
        } else if text(field).len() > most {
            let why = format!("can have at most {most} characters");
            found.push(FieldError::invalid(field, &json!(""), &why));
        }
    }
    if text("note").len() > 1024 {
        found.push(FieldError::invalid("message", &json!(""), "can have at most 1024 characters"));
    }
    if !["Normal", "Warning"].contains(&text("type")) {
        let why = format!("has invalid value: {}", text("type"));
        found.push(FieldError::invalid("type", &json!(""), &why));
    }
}

/// Events in core/v1.
pub(super) fn core_event(object: &Value, old: Option<&Value>, found: &mut Vec<FieldError>) {
    if old.is_some() {
        return;
    }
    let at = object["involvedObject"]["namespace"].as_str().unwrap_or_default();
    let own = object["metadata"]["namespace"].as_str().unwrap_or_default();
    let fits = if at.is_empty() { own == "default" } else { own == at };
    if !fits {
        let why = "does not match event.namespace";
        found.push(FieldError::invalid("involvedObject.namespace", &json!(at), why));
    }
}

/// The finalizers of a namespace, which the subresource `part` brings.
pub(super) fn finalizers(part: &str, spec: &Field<'_>, found: &mut Found) {
    for (index, name) in spec.get("finalizers").items().enumerate() {
        let at = match part {
            "finalize" => format!("spec.finalizers[{index}]"),
            _ => "spec.finalizers".to_owned(),
        };
        let (name, at) = (name.text(), Field::new(at, name.value));
        for wrong in crate::meta::qualified_name_errors(name) {
            at.refuse(&wrong, found);
        }
        if name != "kubernetes" && !name.contains('/') {
            let why = "name is neither a standard finalizer name nor is it fully qualified";
            at.refuse(why, found);
        }
    }
}
