//! What is refused of Deployments and their kin, Jobs and CronJobs.

use serde_json::{Map, Value, json};

use super::{at_least, empty, one_of};
use crate::meta::{label_value_errors, qualified_name_errors};
use crate::resource::Resource;
use crate::selector::object_selects;
use crate::status::{FieldError, FieldErrorKind};

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
    selector(resource, spec, found);
    if old.is_some_and(|old| old["spec"]["selector"] != spec["selector"]) {
        found.push(FieldError::invalid("spec.selector", &spec["selector"], "field is immutable"));
    }
    if resource.plural == "deployments" {
        deployment(spec, found);
    }
    if old.is_some() {
        status(resource, &object["status"], found);
    }
    if let Some(old) = old.filter(|_| resource.plural == "statefulsets") {
        super::unchanged::stateful_set(&old["spec"], spec, found);
    }
    containers(&spec["template"]["spec"], "spec.template.spec", found);
    pod_volumes(&spec["template"]["spec"], "spec.template.spec", found);
    one_of(&spec["template"]["spec"], "spec.template.spec", "restartPolicy", &["Always"], found);
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
    const PERCENT: &str = "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";
    let at = "spec.strategy.rollingUpdate";
    for field in ["maxUnavailable", "maxSurge"] {
        let Some(text) = rolling[field].as_str() else {
            at_least(rolling, at, field, 0, found);
            continue;
        };
        let digits = text.strip_suffix('%').unwrap_or_default();
        if digits.is_empty() || !digits.bytes().all(|it| it.is_ascii_digit()) {
            found.push(FieldError::invalid(format!("{at}.{field}"), &rolling[field], PERCENT));
        }
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

fn selector(resource: &Resource, spec: &Value, found: &mut Vec<FieldError>) {
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
        return;
    }
    if empty(&selector["matchLabels"]) && empty(&selector["matchExpressions"]) {
        let why = format!("empty selector is invalid for {}", resource.singular);
        found.push(FieldError::invalid("spec.selector", selector, &why));
        return;
    }
    let before = found.len();
    selector_errors(selector, found);
    if found.len() > before {
        found.push(FieldError::invalid("spec.selector", selector, "invalid label selector"));
    } else if !object_selects(selector, labels) {
        found.push(mismatch);
    }
}

fn selector_errors(selector: &Value, found: &mut Vec<FieldError>) {
    for (key, value) in selector["matchLabels"].as_object().into_iter().flat_map(Map::iter) {
        for why in qualified_name_errors(key) {
            found.push(FieldError::invalid("spec.selector.matchLabels", &json!(key), &why));
        }
        for why in label_value_errors(value.as_str().unwrap_or_default()) {
            found.push(FieldError::invalid("spec.selector.matchLabels", value, &why));
        }
    }
    for (index, one) in selector["matchExpressions"].as_array().into_iter().flatten().enumerate() {
        let at = format!("spec.selector.matchExpressions[{index}]");
        match one["operator"].as_str().unwrap_or_default() {
            "In" | "NotIn" if empty(&one["values"]) => found.push(FieldError::required(
                format!("{at}.values"),
                "must be specified when `operator` is 'In' or 'NotIn'",
            )),
            "Exists" | "DoesNotExist" if !empty(&one["values"]) => {
                found.push(FieldError::forbidden(
                    format!("{at}.values"),
                    "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
                ));
            }
            "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
            _ => found.push(FieldError::invalid(
                format!("{at}.operator"),
                &one["operator"],
                "not a valid selector operator",
            )),
        }
        for why in qualified_name_errors(one["key"].as_str().unwrap_or_default()) {
            found.push(FieldError::invalid(format!("{at}.key"), &one["key"], &why));
        }
    }
}

/// Jobs.
pub(super) fn job(object: &Value, old: Option<&Value>, found: &mut Vec<FieldError>) {
    let spec = &object["spec"];
    job_spec(spec, "spec", found);
    let Some(old) = old else {
        if spec["manualSelector"] != json!(true) {
            own_selector(object, found);
        }
        return;
    };
    for field in ["completions", "selector", "completionMode"] {
        if old["spec"][field] != spec[field] {
            found.push(FieldError::invalid(
                format!("spec.{field}"),
                &spec[field],
                "field is immutable",
            ));
        }
    }
    let is = |object: &Value, kind: &str| {
        let all = object["status"]["conditions"].as_array();
        all.into_iter()
            .flatten()
            .any(|one| one["type"] == json!(kind) && one["status"] == json!("True"))
    };
    if is(object, "Complete") && !is(old, "Complete") && !is(object, "SuccessCriteriaMet") {
        found.push(FieldError {
            field: "status.conditions".to_owned(),
            kind: FieldErrorKind::Invalid,
            text: "Invalid value: cannot set Complete=True condition without the SuccessCriteriaMet=true condition".to_owned(),
        });
    }
    // A suspended Job may still be moved elsewhere.
    let suspended = old["spec"]["suspend"] == json!(true);
    if !suspended && old["spec"]["template"] != spec["template"] {
        found.push(FieldError::invalid("spec.template", &spec["template"], "field is immutable"));
    }
}

// Without a word to the contrary a Job selects its Pods by its own uid.
fn own_selector(object: &Value, found: &mut Vec<FieldError>) {
    let (spec, uid) = (&object["spec"], &object["metadata"]["uid"]);
    let own = json!({"matchLabels": {"batch.kubernetes.io/controller-uid": uid}});
    if spec["selector"] != own {
        found.push(FieldError::invalid(
            "spec.selector",
            &spec["selector"],
            "`selector` not auto-generated",
        ));
    }
    let labels = &spec["template"]["metadata"]["labels"];
    if !object_selects(&spec["selector"], labels) {
        let why = "`selector` does not match template `labels`";
        found.push(FieldError::invalid("spec.template.metadata.labels", labels, why));
    }
}

fn job_spec(spec: &Value, at: &str, found: &mut Vec<FieldError>) {
    let limits = [
        "parallelism",
        "completions",
        "activeDeadlineSeconds",
        "backoffLimit",
        "ttlSecondsAfterFinished",
    ];
    for field in limits {
        at_least(spec, at, field, 0, found);
    }
    let pod = &spec["template"]["spec"];
    containers(pod, &format!("{at}.template.spec"), found);
    if pod["restartPolicy"] == json!("Always") {
        found.push(FieldError::required(
            format!("{at}.template.spec.restartPolicy"),
            "valid values: \"OnFailure\", \"Never\"",
        ));
    }
}

/// CronJobs.
pub(super) fn cron_job(spec: &Value, found: &mut Vec<FieldError>) {
    let schedule = spec["schedule"].as_str().unwrap_or_default();
    let mut refuse =
        |why: &str| found.push(FieldError::invalid("spec.schedule", &spec["schedule"], why));
    let fields: Vec<&str> = schedule.split_whitespace().collect();
    if schedule.contains("TZ=") {
        refuse("cannot use TZ or CRON_TZ in schedule, use timeZone field instead");
    } else if !schedule.is_empty() && !schedule.starts_with('@') && fields.len() != 5 {
        refuse(&format!(
            "expected exactly 5 fields, found {}: [{}]",
            fields.len(),
            fields.join(" ")
        ));
    } else if schedule.is_empty() {
        found.push(FieldError::required("spec.schedule", ""));
    }
    for field in ["startingDeadlineSeconds", "successfulJobsHistoryLimit", "failedJobsHistoryLimit"]
    {
        at_least(spec, "spec", field, 0, found);
    }
    one_of(spec, "spec", "concurrencyPolicy", &["Allow", "Forbid", "Replace"], found);
    if let Some(zone) = spec["timeZone"].as_str() {
        if zone.is_empty() || zone.eq_ignore_ascii_case("local") || !known_zone(zone) {
            let why = format!("unknown time zone {zone}");
            found.push(FieldError::invalid("spec.timeZone", &spec["timeZone"], &why));
        }
    }
    job_spec(&spec["jobTemplate"]["spec"], "spec.jobTemplate.spec", found);
}

// As this machine knows them; one that knows none believes what it is told.
fn known_zone(zone: &str) -> bool {
    let folder = std::path::Path::new("/usr/share/zoneinfo");
    let plain = zone.split('/').all(|part| {
        !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || "_+-".contains(c))
    });
    zone == "UTC" || (plain && (!folder.is_dir() || folder.join(zone).is_file()))
}

/// The containers of a pod.
pub(super) fn containers(spec: &Value, path: &str, found: &mut Vec<FieldError>) {
    let all = spec["containers"].as_array();
    if all.is_none_or(Vec::is_empty) {
        found.push(FieldError::required(format!("{path}.containers"), ""));
    }
    let mut names: Vec<&Value> = Vec::new();
    for (index, container) in all.into_iter().flatten().enumerate() {
        let at = format!("{path}.containers[{index}]");
        if empty(&container["name"]) {
            found.push(FieldError::required(format!("{at}.name"), ""));
        } else if names.contains(&&container["name"]) {
            found.push(FieldError::duplicate(format!("{at}.name"), &container["name"]));
        }
        names.push(&container["name"]);
        if empty(&container["image"]) {
            found.push(FieldError::required(format!("{at}.image"), ""));
        }
    }
}

/// The volumes of a pod and who mounts them.
pub(super) fn pod_volumes(spec: &Value, path: &str, found: &mut Vec<FieldError>) {
    let mut names: Vec<&str> = Vec::new();
    for (index, volume) in spec["volumes"].as_array().into_iter().flatten().enumerate() {
        let at = format!("{path}.volumes[{index}]");
        let name = volume["name"].as_str().unwrap_or_default();
        if name.is_empty() {
            found.push(FieldError::required(format!("{at}.name"), ""));
        } else if names.contains(&name) {
            found.push(FieldError::duplicate(format!("{at}.name"), &volume["name"]));
        }
        names.push(name);
        let sources = volume.as_object().into_iter().flatten().filter(|(key, _)| *key != "name");
        let mut sources: Vec<&String> = sources.map(|(key, _)| key).collect();
        sources.sort_by_key(|source| SOURCES.iter().position(|one| one == source));
        for source in sources.iter().skip(1) {
            let why = "may not specify more than 1 volume type";
            found.push(FieldError::forbidden(format!("{at}.{source}"), why));
        }
        let projected = volume["projected"]["sources"].as_array().into_iter().flatten();
        for (nth, source) in projected.enumerate() {
            if source["serviceAccountToken"].is_object() && empty(&spec["serviceAccountName"]) {
                let at = format!("{at}.projected.sources[{nth}].serviceAccountToken");
                let why = "must not be specified when serviceAccountName is not set";
                found.push(FieldError::forbidden(at, why));
            }
        }
    }
    for list in ["containers", "initContainers"] {
        for (index, container) in spec[list].as_array().into_iter().flatten().enumerate() {
            let mounts = container["volumeMounts"].as_array().into_iter().flatten();
            for (nth, mount) in mounts.enumerate() {
                let at = format!("{path}.{list}[{index}].volumeMounts[{nth}]");
                let name = mount["name"].as_str().unwrap_or_default();
                if name.is_empty() {
                    found.push(FieldError::required(format!("{at}.name"), ""));
                } else if !names.contains(&name) {
                    found.push(FieldError::not_found(format!("{at}.name"), &mount["name"]));
                }
                if empty(&mount["mountPath"]) {
                    found.push(FieldError::required(format!("{at}.mountPath"), ""));
                }
            }
        }
    }
}

/// The order in which the reference looks at sources.
const SOURCES: [&str; 8] = [
    "emptyDir",
    "hostPath",
    "gitRepo",
    "secret",
    "persistentVolumeClaim",
    "downwardAPI",
    "configMap",
    "projected",
];
