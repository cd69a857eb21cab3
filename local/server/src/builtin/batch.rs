//! What is refused of Jobs and CronJobs.

use serde_json::{Value, json};

use super::check::{Field, Found};
use super::{schedule, structs, workload};
use crate::selector::object_selects;
use crate::status::{FieldError, FieldErrorKind};

/// Jobs.
pub(super) fn job(object: &Value, old: Option<&Value>, found: &mut Found) {
    let spec = &object["spec"];
    job_spec(&Field::new("spec", spec), found);
    let Some(old) = old else {
        if spec["manualSelector"] != json!(true) {
            own_selector(object, found);
        } else if spec["selector"].is_null() {
            found.push(FieldError::required("spec.selector", ""));
            let labels = &spec["template"]["metadata"]["labels"];
            let why = "`selector` does not match template `labels`";
            found.push(FieldError::invalid("spec.template.metadata.labels", labels, why));
        }
        return;
    };
    for field in
        ["completions", "selector", "completionMode", "podFailurePolicy", "backoffLimitPerIndex"]
    {
        if old["spec"][field] != spec[field] {
            let at = format!("spec.{field}");
            found.push(FieldError::invalid(at, &spec[field], "field is immutable"));
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
        let shown = structs::template(&spec["template"]);
        found.push(FieldError::invalid("spec.template", &shown, "field is immutable"));
    }
}

// Without a word to the contrary a Job selects its Pods by its own uid.
fn own_selector(object: &Value, found: &mut Found) {
    let (spec, uid) = (&object["spec"], &object["metadata"]["uid"]);
    let own = json!({"matchLabels": {"batch.kubernetes.io/controller-uid": uid}});
    if spec["selector"] != own {
        let why = "`selector` not auto-generated";
        found.push(FieldError::invalid("spec.selector", &spec["selector"], why));
    }
    let labels = &spec["template"]["metadata"]["labels"];
    if !object_selects(&spec["selector"], labels) {
        let why = "`selector` does not match template `labels`";
        found.push(FieldError::invalid("spec.template.metadata.labels", labels, why));
    }
}

fn job_spec(spec: &Field<'_>, found: &mut Found) {
    for field in [
        "parallelism",
        "completions",
        "activeDeadlineSeconds",
        "backoffLimit",
        "ttlSecondsAfterFinished",
        "backoffLimitPerIndex",
        "maxFailedIndexes",
    ] {
        spec.get(field).not_negative(found);
    }
    let (per_index, failed) = (spec.get("backoffLimitPerIndex"), spec.get("maxFailedIndexes"));
    if failed.is_set() && !per_index.is_set() {
        per_index.miss("when maxFailedIndexes is specified", found);
    }
    let manager = spec.get("managedBy");
    if manager.is_set() {
        manager.prefixed(found);
    }
    let mode = spec.get("completionMode");
    mode.one_of(&["NonIndexed", "Indexed"], found);
    let completions = spec.get("completions");
    if mode.is("Indexed") {
        if !completions.is_set() {
            completions.miss("when completion mode is Indexed", found);
        }
        if failed.int().zip(completions.int()).is_some_and(|(a, b)| a > b) {
            failed.refuse("must be less than or equal to completions", found);
        }
    } else {
        for field in [&per_index, &failed].iter().filter(|field| field.is_set()) {
            field.refuse("requires indexed completion mode", found);
        }
    }
    failure_policy(spec, found);
    success_policy(spec, found);
    let replacement: &[&str] = match spec.get("podFailurePolicy").is_set() {
        true => &["Failed"],
        false => &["Failed", "TerminatingOrFailed"],
    };
    spec.get("podReplacementPolicy").one_of(replacement, found);
    let template = spec.get("template");
    workload::template(&template, found);
    let restart = template.get("spec").get("restartPolicy");
    if restart.is("Always") {
        restart.miss("valid values: \"OnFailure\", \"Never\"", found);
    } else {
        restart.one_of(&["OnFailure", "Never"], found);
    }
    if spec.get("podFailurePolicy").is_set() && restart.is("OnFailure") {
        let why = "only \"Never\" is supported when podFailurePolicy is specified";
        restart.refuse(why, found);
    }
}

fn failure_policy(spec: &Field<'_>, found: &mut Found) {
    let pod = spec.get("template").get("spec");
    let names: Vec<&str> = ["containers", "initContainers"]
        .iter()
        .flat_map(|list| pod.get(list).items())
        .map(|one| one.get("name").value.as_str().unwrap_or_default())
        .collect();
    for rule in spec.get("podFailurePolicy").get("rules").items() {
        let action = rule.get("action");
        let known = ["Count", "FailIndex", "FailJob", "Ignore"];
        if action.is_empty() {
            action.miss("valid values: [\"Count\" \"FailIndex\" \"FailJob\" \"Ignore\"]", found);
        }
        action.one_of(&known, found);
        if action.is("FailIndex") && !spec.get("backoffLimitPerIndex").is_set() {
            action.refuse("requires the backoffLimitPerIndex to be set", found);
        }
        let (codes, conditions) = (rule.get("onExitCodes"), rule.get("onPodConditions"));
        if codes.is_set() {
            exit_codes(&codes, &names, found);
        }
        for condition in conditions.items() {
            condition.get("type").qualified(found);
            condition.get("status").one_of(&["False", "True", "Unknown"], found);
        }
        let why = match (codes.is_set(), !conditions.is_empty()) {
            (true, true) => "specifying both OnExitCodes and OnPodConditions is not supported",
            (false, false) => "specifying one of OnExitCodes and OnPodConditions is required",
            _ => continue,
        };
        found.push(FieldError::rule(rule.at.as_str(), FieldErrorKind::Invalid, why));
    }
}

fn exit_codes(codes: &Field<'_>, names: &[&str], found: &mut Found) {
    let (operator, values) = (codes.get("operator"), codes.get("values"));
    operator.one_of(&["In", "NotIn"], found);
    let name = codes.get("containerName");
    if name.is_set() && !names.contains(&name.text()) {
        let why = "must be one of the container or initContainer names in the pod template";
        name.refuse(why, found);
    }
    let mut seen: Vec<i64> = Vec::new();
    for value in values.items() {
        let Some(code) = value.int() else { continue };
        if seen.contains(&code) {
            value.repeat(found);
        }
        seen.push(code);
        if operator.is("In") && code == 0 {
            value.refuse("must not be 0 for the In operator", found);
        }
    }
    if seen.is_empty() {
        let why = "at least one value is required";
        found.push(FieldError::invalid(values.at.as_str(), &json!([]), why));
    }
    if !seen.is_sorted() {
        values.refuse("must be ordered", found);
    }
}

fn success_policy(spec: &Field<'_>, found: &mut Found) {
    let policy = spec.get("successPolicy");
    if !policy.is_set() {
        return;
    }
    let rules = policy.get("rules");
    if !spec.get("completionMode").is("Indexed") {
        let shown = |rule: Field<'_>| {
            json!({
                "SucceededIndexes": rule.get("succeededIndexes").value,
                "SucceededCount": rule.get("succeededCount").value,
            })
        };
        let shown = json!({"Rules": rules.items().map(shown).collect::<Vec<_>>()});
        let why = "requires indexed completion mode";
        found.push(FieldError::invalid(policy.at.as_str(), &shown, why));
        return;
    }
    if rules.is_empty() {
        let why = "at least one rules must be specified when the successPolicy is specified";
        rules.miss(why, found);
    }
    let all = spec.get("completions").int().unwrap_or(0);
    for rule in rules.items() {
        let (indexes, count) = (rule.get("succeededIndexes"), rule.get("succeededCount"));
        if !indexes.is_set() && !count.is_set() {
            let why = "at least one of succeededCount or succeededIndexes must be specified";
            rule.miss(why, found);
            continue;
        }
        count.not_negative(found);
        if count.int().is_some_and(|it| it > all) {
            let why = format!(
                "must be less than or equal to {all} (the number of specified completions)"
            );
            count.refuse(&why, found);
        }
        if !indexes.is_set() {
            continue;
        }
        match indexes_in(indexes.text(), all) {
            Err(why) => {
                indexes.refuse(&format!("error parsing succeededIndexes: {why}"), found);
            }
            Ok(many) if count.int().is_some_and(|it| it > many) => {
                let why = format!(
                    "must be less than or equal to {many} (the number of indexes in the specified succeededIndexes field)"
                );
                count.refuse(&why, found);
            }
            Ok(_) => {}
        }
    }
}

// How many indexes a text like `1,3-5` names.
fn indexes_in(text: &str, all: i64) -> Result<i64, String> {
    let mut last: Option<i64> = None;
    let mut many = 0;
    for fragment in text.split(',').filter(|_| !text.is_empty()) {
        let ends: Vec<&str> = fragment.split('-').collect();
        let number = |end: &str| {
            let number: i64 = end
                .parse()
                .map_err(|_| format!("cannot convert string to integer for index: \"{end}\""))?;
            if number >= all { Err(format!("too large index: \"{end}\"")) } else { Ok(number) }
        };
        let (start, end) = match ends.as_slice() {
            [one] => (number(one)?, number(one)?),
            [start, end] => (number(start)?, number(end)?),
            _ => {
                return Err(format!(
                    "the fragment \"{fragment}\" violates the requirement that an index interval can have at most two parts separated by '-'"
                ));
            }
        };
        if let Some(previous) = last.filter(|last| *last >= start) {
            return Err(format!("non-increasing order, previous: {previous}, current: {start}"));
        }
        if ends.len() == 2 && start >= end {
            return Err(format!("non-increasing order, previous: {start}, current: {end}"));
        }
        many += end - start + 1;
        last = Some(end);
    }
    Ok(many)
}

/// CronJobs.
pub(super) fn cron_job(spec: &Field<'_>, found: &mut Found) {
    let schedule = spec.get("schedule");
    if schedule.require(found) {
        let why = match schedule.text().contains("TZ=") {
            true => {
                Some("cannot use TZ or CRON_TZ in schedule, use timeZone field instead".to_owned())
            }
            false => schedule::error(schedule.text()),
        };
        if let Some(why) = why {
            schedule.refuse(&why, found);
        }
    }
    for field in ["startingDeadlineSeconds", "successfulJobsHistoryLimit", "failedJobsHistoryLimit"]
    {
        spec.get(field).not_negative(found);
    }
    spec.get("concurrencyPolicy").one_of(&["Allow", "Forbid", "Replace"], found);
    let zone = spec.get("timeZone");
    if zone.is("") {
        zone.refuse("timeZone must be nil or non-empty string", found);
    } else if zone.is_set()
        && (zone.text().eq_ignore_ascii_case("local") || !known_zone(zone.text()))
    {
        zone.refuse(&format!("unknown time zone {}", zone.text()), found);
    }
    let job = spec.get("jobTemplate").get("spec");
    job_spec(&job, found);
    let manual = job.get("manualSelector");
    if manual.value == &json!(true) {
        let known = ["\"nil\"".to_owned(), "\"false\"".to_owned()];
        found.push(FieldError::unsupported(manual.at.as_str(), manual.value, &known));
    }
}

// As this machine knows them; one that knows none believes what it is told.
fn known_zone(zone: &str) -> bool {
    let folder = std::path::Path::new("/usr/share/zoneinfo");
    let plain = zone.split('/').all(|part| {
        !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || "_+-".contains(c))
    });
    zone == "UTC" || (plain && (!folder.is_dir() || folder.join(zone).is_file()))
}
