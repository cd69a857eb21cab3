//! What is refused of the kinds around workloads.

use serde_json::{Value, json};

use super::{at_least, empty, one_of};
use crate::resource::Resource;
use crate::status::FieldError;

/// HorizontalPodAutoscalers.
pub(super) fn autoscaler(spec: &Value, found: &mut Vec<FieldError>) {
    at_least(spec, "spec", "maxReplicas", 1, found);
    let least = spec["minReplicas"].as_i64().unwrap_or(1);
    if spec["maxReplicas"].as_i64().is_some_and(|it| it < least) {
        let why = "must be greater than or equal to `minReplicas`";
        found.push(FieldError::invalid("spec.maxReplicas", &spec["maxReplicas"], why));
    }
    let target = &spec["scaleTargetRef"];
    for field in ["kind", "name"] {
        if empty(&target[field]) {
            found.push(FieldError::required(format!("spec.scaleTargetRef.{field}"), ""));
        }
    }
    let api = target["apiVersion"].as_str().unwrap_or_default();
    if api.is_empty()
        && !["ReplicationController", ""].contains(&target["kind"].as_str().unwrap_or_default())
    {
        let why = "apiVersion must specify API group";
        found.push(FieldError::invalid("spec.scaleTargetRef.apiVersion", &json!(api), why));
    }
}

/// PodDisruptionBudgets.
pub(super) fn disruption_budget(spec: &Value, found: &mut Vec<FieldError>) {
    if !spec["minAvailable"].is_null() && !spec["maxUnavailable"].is_null() {
        let shown = json!({
            "MinAvailable": spec["minAvailable"],
            "Selector": spec["selector"],
            "MaxUnavailable": spec["maxUnavailable"],
            "UnhealthyPodEvictionPolicy": spec["unhealthyPodEvictionPolicy"],
        });
        let why = "minAvailable and maxUnavailable cannot be both set";
        found.push(FieldError::invalid("spec", &shown, why));
    }
}

/// Ingresses.
pub(super) fn ingress(spec: &Value, found: &mut Vec<FieldError>) {
    if empty(&spec["rules"]) && empty(&spec["defaultBackend"]) {
        let why = "either `defaultBackend` or `rules` must be specified";
        found.push(FieldError::invalid("spec", &Value::Null, why));
    }
    for (index, rule) in spec["rules"].as_array().into_iter().flatten().enumerate() {
        for (nth, path) in rule["http"]["paths"].as_array().into_iter().flatten().enumerate() {
            let at = format!("spec.rules[{index}].http.paths[{nth}]");
            if path["pathType"].is_null() {
                let at = format!("{at}.pathType");
                found.push(FieldError::required(at, "pathType must be specified"));
            }
            let known = ["Exact", "ImplementationSpecific", "Prefix"];
            one_of(path, &at, "pathType", &known, found);
        }
    }
}

/// Leases.
pub(super) fn lease(spec: &Value, found: &mut Vec<FieldError>) {
    at_least(spec, "spec", "leaseDurationSeconds", 1, found);
    at_least(spec, "spec", "leaseTransitions", 0, found);
}

/// PriorityClasses.
pub(super) fn priority_class(object: &Value, old: Option<&Value>, found: &mut Vec<FieldError>) {
    const MOST: i64 = 1_000_000_000;
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
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

/// StorageClasses.
pub(super) fn storage_class(object: &Value, old: Option<&Value>, found: &mut Vec<FieldError>) {
    let Some(old) = old else { return };
    if old["parameters"] != object["parameters"] {
        let why = "updates to parameters are forbidden.";
        found.push(FieldError::forbidden("parameters", why));
    }
    for field in ["provisioner", "reclaimPolicy", "volumeBindingMode"] {
        if old[field] != object[field] {
            found.push(FieldError::invalid(field, &object[field], "field is immutable"));
        }
    }
}

/// PersistentVolumeClaims.
pub(super) fn claim(spec: &Value, found: &mut Vec<FieldError>) {
    if empty(&spec["accessModes"]) {
        let why = "at least 1 access mode is required";
        found.push(FieldError::required("spec.accessModes", why));
    }
    if spec["resources"]["requests"]["storage"].is_null() {
        found.push(FieldError::required("spec.resources[storage]", ""));
    }
}

/// The taints of a Node.
pub(super) fn taints(spec: &Value, found: &mut Vec<FieldError>) {
    let known = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
    for (index, taint) in spec["taints"].as_array().into_iter().flatten().enumerate() {
        one_of(taint, &format!("metadata.taints[{index}]"), "effect", &known, found);
    }
}

/// Roles and ClusterRoles.
pub(super) fn rules(resource: &Resource, object: &Value, found: &mut Vec<FieldError>) {
    for (index, rule) in object["rules"].as_array().into_iter().flatten().enumerate() {
        let at = format!("rules[{index}]");
        if empty(&rule["verbs"]) {
            let why = "verbs must contain at least one value";
            found.push(FieldError::required(format!("{at}.verbs"), why));
        }
        let urls = &rule["nonResourceURLs"];
        if resource.namespaced && !empty(urls) {
            let why = "namespaced rules cannot apply to non-resource URLs";
            found.push(FieldError::invalid(format!("{at}.nonResourceURLs"), urls, why));
        }
    }
}

/// RoleBindings and ClusterRoleBindings.
pub(super) fn binding(object: &Value, old: Option<&Value>, found: &mut Vec<FieldError>) {
    let role = &object["roleRef"];
    one_of(role, "roleRef", "kind", &["Role", "ClusterRole"], found);
    if empty(&role["name"]) {
        found.push(FieldError::required("roleRef.name", ""));
    }
    if old.is_some_and(|old| old["roleRef"] != *role) {
        let shown =
            json!({"APIGroup": role["apiGroup"], "Kind": role["kind"], "Name": role["name"]});
        found.push(FieldError::invalid("roleRef", &shown, "cannot change roleRef"));
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

/// PersistentVolumes.
pub(super) fn volume(spec: &Value, found: &mut Vec<FieldError>) {
    if empty(&spec["accessModes"]) {
        found.push(FieldError::required("spec.accessModes", ""));
    }
    if empty(&spec["capacity"]) {
        found.push(FieldError::required("spec.capacity", ""));
    }
    let known: Vec<&String> =
        spec["capacity"].as_object().into_iter().flatten().map(|(name, _)| name).collect();
    if known.len() != 1 || known.first().is_some_and(|name| *name != "storage") {
        let known = ["\"storage\"".to_owned()];
        found.push(FieldError::unsupported("spec.capacity", &spec["capacity"], &known));
    }
    let plain = [
        "accessModes",
        "capacity",
        "claimRef",
        "mountOptions",
        "nodeAffinity",
        "persistentVolumeReclaimPolicy",
        "storageClassName",
        "volumeAttributesClassName",
        "volumeMode",
    ];
    let fields = spec.as_object().into_iter().flatten();
    let sources: Vec<&String> =
        fields.map(|(name, _)| name).filter(|name| !plain.contains(&name.as_str())).collect();
    if sources.is_empty() {
        found.push(FieldError::required("spec", "must specify a volume type"));
    }
    for source in sources.iter().skip(1) {
        let why = "may not specify more than 1 volume type";
        found.push(FieldError::forbidden(format!("spec.{source}"), why));
    }
}
