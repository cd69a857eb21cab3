//! What is refused of Deployments and their kin.

use serde_json::{Value, json};

use super::check::{Field, Found};
use super::{at_least, empty, pod};
use crate::resource::Resource;
use crate::selector::object_selects;
use crate::status::FieldError;

/// Deployments, ReplicaSets, StatefulSets and DaemonSets.
pub(super) fn errors(
    resource: &Resource,
    object: &Value,
    old: Option<&Value>,
    found: &mut Vec<FieldError>,
) {
    let spec = &object["spec"];
    at_least(spec, "spec", "replicas", 0, found);
    at_least(spec, "spec", "minReadySeconds", 0, found);
    at_least(spec, "spec", "revisionHistoryLimit", 0, found);
    let selects = selector(resource, spec, found);
    if old.is_some_and(|old| old["spec"]["selector"] != spec["selector"]) {
        found.push(FieldError::invalid("spec.selector", &spec["selector"], "field is immutable"));
    }
    if resource.plural == "deployments" {
        deployment(spec, found);
    }
    if old.is_some() {
        status(resource, &object["status"], found);
    }
    let field = Field::new("spec", spec);
    match resource.plural.as_str() {
        "statefulsets" => {
            let name = Field::new("metadata.name", &object["metadata"]["name"]);
            if old.is_none() && name.text().contains('.') {
                name.refuse("must not contain dots", found);
            }
            stateful_set(&field, found);
        }
        "daemonsets" => daemon_set(&field, found),
        _ => {}
    }
    if let Some(old) = old.filter(|_| resource.plural == "statefulsets") {
        super::unchanged::stateful_set(&old["spec"], spec, found);
    }
    let with_claims = (resource.plural == "statefulsets").then(|| claimed(spec));
    let pods = Field::new("spec.template", with_claims.as_ref().unwrap_or(&spec["template"]));
    // Without a selection that can be read the reference looks no further, but for DaemonSets.
    if selects || resource.plural == "daemonsets" {
        template(&pods, found);
    }
    let pod = field.get("template").get("spec");
    pod.get("restartPolicy").one_of(&["Always"], found);
    let deadline = pod.get("activeDeadlineSeconds");
    if deadline.is_set() {
        match resource.plural.as_str() {
            "daemonsets" => deadline.refuse("must not be set", found),
            "statefulsets" => {
                deadline.forbid("activeDeadlineSeconds in StatefulSet is not Supported", found);
            }
            _ => deadline.forbid("activeDeadlineSeconds in ReplicaSet is not Supported", found),
        }
    }
}

/// What pods are made of.
pub(super) fn template(template: &Field<'_>, found: &mut Found) {
    // The reference leaves out the metadata on the way.
    let metadata = template.get("metadata");
    for (part, of) in
        [("labels", metadata.get("labels")), ("annotations", metadata.get("annotations"))]
    {
        let of = Field::new(format!("{}.{part}", template.at), of.value);
        match part {
            "labels" => of.labels(found),
            _ => of.annotations(found),
        }
    }
    let spec = template.get("spec");
    pod::spec(&spec, pod::Stands::InTemplate, found);
    if !spec.get("ephemeralContainers").is_empty() {
        let why = "ephemeral containers not allowed in pod template";
        spec.get("ephemeralContainers").forbid(why, found);
    }
}

fn stateful_set(spec: &Field<'_>, found: &mut Found) {
    let policy = spec.get("podManagementPolicy");
    if !["", "OrderedReady", "Parallel"].contains(&policy.text()) {
        policy.refuse("must be 'OrderedReady' or 'Parallel'", found);
    }
    let strategy = spec.get("updateStrategy");
    let (kind, rolling) = (strategy.get("type"), strategy.get("rollingUpdate"));
    match kind.text() {
        "" => {}
        "OnDelete" => {
            if rolling.is_set() {
                let shown = json!({
                    "Partition": rolling.get("partition").value,
                    "MaxUnavailable": rolling.get("maxUnavailable").value,
                });
                let why = "only allowed for updateStrategy 'RollingUpdate'";
                found.push(FieldError::invalid(rolling.at.as_str(), &shown, why));
            }
        }
        "RollingUpdate" => rolling.get("partition").not_negative(found),
        other => {
            let shown = json!({"Type": other, "RollingUpdate": rolling.value});
            let why = "must be 'RollingUpdate' or 'OnDelete'";
            found.push(FieldError::invalid(strategy.at.as_str(), &shown, why));
        }
    }
    let retention = spec.get("persistentVolumeClaimRetentionPolicy");
    for when in ["whenDeleted", "whenScaled"] {
        retention.get(when).one_of(&["Retain", "Delete"], found);
    }
    spec.get("ordinals").get("start").not_negative(found);
    if !spec.get("serviceName").is_empty() {
        spec.get("serviceName").label(found);
    }
    for claim in spec.get("volumeClaimTemplates").items() {
        super::storage::claim(&claim.get("spec"), found);
    }
}

// The template of a StatefulSet with the volumes that its claims will be.
fn claimed(spec: &Value) -> Value {
    let mut template = spec["template"].clone();
    let claims = spec["volumeClaimTemplates"].as_array().into_iter().flatten();
    let names: Vec<&Value> = claims.map(|claim| &claim["metadata"]["name"]).collect();
    if !names.is_empty() && template["spec"].is_object() {
        let volume =
            |name: &&Value| json!({"name": name, "persistentVolumeClaim": {"claimName": name}});
        let own = template["spec"]["volumes"].as_array().into_iter().flatten();
        let own = own.filter(|volume| !names.contains(&&volume["name"])).cloned();
        template["spec"]["volumes"] = names.iter().map(volume).chain(own).collect();
    }
    template
}

fn daemon_set(spec: &Field<'_>, found: &mut Found) {
    let strategy = spec.get("updateStrategy");
    let rolling = strategy.get("rollingUpdate");
    match strategy.get("type").text() {
        "" | "OnDelete" => {}
        "RollingUpdate" => {
            let (gone, more) = (rolling.get("maxUnavailable"), rolling.get("maxSurge"));
            for one in [&gone, &more] {
                one.number_or_percent(found);
            }
            let none = |one: &Field<'_>| amount(one.value) == 0;
            if rolling.is_set() && none(&gone) && none(&more) {
                gone.miss("cannot be 0 when maxSurge is 0", found);
            }
            if !none(&gone) && !none(&more) {
                more.refuse("may not be set when maxUnavailable is non-zero", found);
            }
            gone.at_most_all(found);
            more.at_most_all(found);
        }
        other => {
            let shown = json!({"Type": other, "RollingUpdate": rolling.value});
            let known = ["\"RollingUpdate\"".to_owned(), "\"OnDelete\"".to_owned()];
            found.push(FieldError::unsupported(strategy.at.as_str(), &shown, &known));
        }
    }
}

fn deployment(spec: &Value, found: &mut Vec<FieldError>) {
    let strategy = &spec["strategy"];
    let rolling = &strategy["rollingUpdate"];
    match strategy["type"].as_str() {
        Some("Recreate") if !rolling.is_null() => found.push(FieldError::forbidden(
            "spec.strategy.rollingUpdate",
            "may not be specified when strategy `type` is 'Recreate'",
        )),
        Some("RollingUpdate") => rolling_update(rolling, found),
        Some("Recreate") | None => {}
        Some(other) => {
            let shown = json!({"Type": other, "RollingUpdate": rolling});
            let known = ["\"Recreate\"".to_owned(), "\"RollingUpdate\"".to_owned()];
            found.push(FieldError::unsupported("spec.strategy", &shown, &known));
        }
    }
    at_least(spec, "spec", "progressDeadlineSeconds", 0, found);
    let deadline = &spec["progressDeadlineSeconds"];
    let ready = spec["minReadySeconds"].as_i64().unwrap_or(0);
    if deadline.as_i64().is_some_and(|it| it <= ready) {
        let why = "must be greater than minReadySeconds";
        found.push(FieldError::invalid("spec.progressDeadlineSeconds", deadline, why));
    }
}

// The number of `25%` or `3`; nothing that is neither counts as zero.
fn amount(value: &Value) -> i64 {
    let percent = || value.as_str()?.strip_suffix('%')?.parse().ok();
    value.as_i64().or_else(percent).unwrap_or(0)
}

fn rolling_update(rolling: &Value, found: &mut Vec<FieldError>) {
    let at = "spec.strategy.rollingUpdate";
    for field in ["maxUnavailable", "maxSurge"] {
        Field::new(format!("{at}.{field}"), &rolling[field]).number_or_percent(found);
    }
    let unavailable = &rolling["maxUnavailable"];
    if amount(unavailable) == 0 && amount(&rolling["maxSurge"]) == 0 {
        let why = "may not be 0 when `maxSurge` is 0";
        found.push(FieldError::invalid(format!("{at}.maxUnavailable"), unavailable, why));
    }
    if unavailable.is_string() && amount(unavailable) > 100 {
        let why = "must not be greater than 100%";
        found.push(FieldError::invalid(format!("{at}.maxUnavailable"), unavailable, why));
    }
}

fn status(resource: &Resource, status: &Value, found: &mut Vec<FieldError>) {
    if !matches!(resource.plural.as_str(), "deployments" | "replicasets") {
        return;
    }
    at_least(status, "status", "replicas", 0, found);
    let all = status["replicas"].as_i64().unwrap_or(0);
    let why = "cannot be greater than status.replicas";
    let parts = ["updatedReplicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas"];
    for field in parts {
        at_least(status, "status", field, 0, found);
        if status[field].as_i64().is_some_and(|it| it > all) {
            found.push(FieldError::invalid(format!("status.{field}"), &status[field], why));
        }
    }
    let ready = status["readyReplicas"].as_i64().unwrap_or(0);
    let available = &status["availableReplicas"];
    if available.as_i64().is_some_and(|it| it > ready) {
        let why = "cannot be greater than readyReplicas";
        found.push(FieldError::invalid("status.availableReplicas", available, why));
    }
}

fn selector(resource: &Resource, spec: &Value, found: &mut Found) -> bool {
    let selector = &spec["selector"];
    let labels = &spec["template"]["metadata"]["labels"];
    let mismatch = FieldError::invalid(
        "spec.template.metadata.labels",
        labels,
        "`selector` does not match template `labels`",
    );
    if selector.is_null() {
        found.push(FieldError::required("spec.selector", ""));
        found.push(mismatch);
        return true;
    }
    if empty(&selector["matchLabels"]) && empty(&selector["matchExpressions"]) {
        let why = format!("empty selector is invalid for {}", resource.singular);
        found.push(FieldError::invalid("spec.selector", selector, &why));
        return true;
    }
    let before = found.len();
    Field::new("spec.selector", selector).selector(found);
    if found.len() > before {
        found.push(FieldError::invalid("spec.selector", selector, "invalid label selector"));
        return false;
    } else if !object_selects(selector, labels) {
        found.push(mismatch);
    }
    true
}
