//! What is refused of autoscalers and disruption budgets.

use serde_json::json;

use super::check::{Field, Found};
use crate::status::FieldError;

/// HorizontalPodAutoscalers.
pub(super) fn autoscaler(spec: &Field<'_>, found: &mut Found) {
    let (least, most) = (spec.get("minReplicas"), spec.get("maxReplicas"));
    if least.int().is_some_and(|it| it < 1) {
        least.refuse("must be greater than or equal to 1", found);
    }
    if most.int().unwrap_or(0) < 1 {
        most.miss("must be set and greater than 0", found);
    }
    if most.int().unwrap_or(0) < least.int().unwrap_or(1) {
        let shown = json!(most.int().unwrap_or(0));
        let why = "must be greater than or equal to `minReplicas`";
        found.push(FieldError::invalid(most.at, &shown, why));
    }
    let target = spec.get("scaleTargetRef");
    for field in ["kind", "name"] {
        if target.get(field).require(found) {
            target.get(field).segment(found);
        }
    }
    let api = target.get("apiVersion");
    if api.is_empty() && !["ReplicationController", ""].contains(&target.get("kind").text()) {
        api.refuse("apiVersion must specify API group", found);
    }
    let metrics = spec.get("metrics");
    for one in metrics.items() {
        metric(&one, found);
    }
    let others = |one: Field<'_>| ["Object", "External"].contains(&one.get("type").text());
    if least.int() == Some(0) && !metrics.items().any(others) {
        let why = "must specify at least one Object or External metric to support scaling to zero replicas";
        metrics.forbid(why, found);
    }
    for direction in ["scaleUp", "scaleDown"] {
        let rules = spec.get("behavior").get(direction);
        if rules.is_set() {
            behavior(&rules, found);
        }
    }
}

const KINDS: [(&str, &str); 5] = [
    ("ContainerResource", "containerResource"),
    ("External", "external"),
    ("Object", "object"),
    ("Pods", "pods"),
    ("Resource", "resource"),
];

fn metric(one: &Field<'_>, found: &mut Found) {
    let kind = one.get("type");
    if kind.is_empty() {
        kind.miss("must specify a metric source type", found);
    }
    let known = KINDS.map(|(name, _)| name);
    let Some((_, wanted)) = KINDS.iter().find(|(name, _)| *name == kind.text()) else {
        let known = known.map(|it| format!("\"{it}\""));
        found.push(FieldError::unsupported(kind.at.as_str(), &json!(kind.text()), &known));
        return;
    };
    if !one.get(wanted).is_set() {
        let why = "must populate information for the given metric source";
        one.get(wanted).miss(why, found);
    }
    for (_, source) in KINDS {
        let field = one.get(source);
        if !field.is_set() {
            continue;
        }
        if source != *wanted {
            field.forbid("must populate the given metric source only", found);
        }
        content(source, &field, found);
    }
}

fn content(kind: &str, source: &Field<'_>, found: &mut Found) {
    let target = source.get("target");
    match kind {
        "resource" | "containerResource" => {
            if source.get("name").is_empty() {
                source.get("name").miss("must specify a resource name", found);
            }
            if kind == "containerResource" && source.get("container").is_empty() {
                source.get("container").miss("must specify a container", found);
            }
            values(&target, found);
            let (share, average) = (target.get("averageUtilization"), target.get("averageValue"));
            if !share.is_set() && !average.is_set() {
                share.miss("must set either a target raw value or a target utilization", found);
            }
            if share.is_set() && average.is_set() {
                let why = "may not set both a target raw value and a target utilization";
                average.forbid(why, found);
            }
        }
        "pods" => {
            named(&source.get("metric"), found);
            values(&target, found);
            let average = target.get("averageValue");
            if average.amount().is_none_or(|it| it <= 0) {
                average.miss("must specify a positive target averageValue", found);
            }
        }
        "object" => {
            for part in ["kind", "name"] {
                let described = source.get("describedObject").get(part);
                if described.require(found) {
                    described.segment(found);
                }
            }
            named(&source.get("metric"), found);
            values(&target, found);
            if !target.get("value").is_set() && !target.get("averageValue").is_set() {
                let why = "must set either a target value or averageValue";
                target.get("averageValue").miss(why, found);
            }
        }
        _ => {
            named(&source.get("metric"), found);
            values(&target, found);
            let (value, average) = (target.get("value"), target.get("averageValue"));
            if !value.is_set() && !average.is_set() {
                let why = "must set either a target value for metric or a per-pod target";
                average.miss(why, found);
            }
            if value.is_set() && average.is_set() {
                let why = "may not set both a target value for metric and a per-pod target";
                value.forbid(why, found);
            }
        }
    }
}

fn named(metric: &Field<'_>, found: &mut Found) {
    if metric.get("name").is_empty() {
        metric.get("name").miss("must specify a metric name", found);
    } else {
        metric.get("name").segment(found);
    }
    metric.get("selector").selector(found);
}

fn values(target: &Field<'_>, found: &mut Found) {
    let kind = target.get("type");
    if kind.is_empty() {
        kind.miss("must specify a metric target type", found);
    } else if !["Utilization", "Value", "AverageValue"].contains(&kind.text()) {
        kind.refuse("must be either Utilization, Value, or AverageValue", found);
    }
    for amount in ["value", "averageValue"] {
        if target.get(amount).amount().is_some_and(|it| it <= 0) {
            target.get(amount).refuse("must be positive", found);
        }
    }
    let share = target.get("averageUtilization");
    if share.int().is_some_and(|it| it < 1) {
        share.refuse("must be greater than 0", found);
    }
}

fn behavior(rules: &Field<'_>, found: &mut Found) {
    const WINDOW: i64 = 3600;
    const PERIOD: i64 = 1800;
    let window = rules.get("stabilizationWindowSeconds");
    if window.int().is_some_and(|it| it < 0) {
        window.refuse("must be greater than or equal to zero", found);
    }
    if window.int().is_some_and(|it| it > WINDOW) {
        window.refuse(&format!("must be less than or equal to {WINDOW}"), found);
    }
    rules.get("selectPolicy").one_of(&["Disabled", "Max", "Min"], found);
    let policies = rules.get("policies");
    if policies.is_set() && policies.is_empty() {
        policies.miss("must specify at least one Policy", found);
    }
    for policy in policies.items() {
        policy.get("type").one_of(&["Percent", "Pods"], found);
        for number in ["value", "periodSeconds"] {
            if policy.get(number).int().is_some_and(|it| it <= 0) {
                policy.get(number).refuse("must be greater than zero", found);
            }
        }
        let period = policy.get("periodSeconds");
        if period.int().is_some_and(|it| it > PERIOD) {
            period.refuse(&format!("must be less than or equal to {PERIOD}"), found);
        }
    }
}

/// PodDisruptionBudgets.
pub(super) fn disruption_budget(spec: &Field<'_>, found: &mut Found) {
    let bounds = ["minAvailable", "maxUnavailable"].map(|bound| spec.get(bound));
    if bounds.iter().all(Field::is_set) {
        let shown = json!({
            "MinAvailable": spec.get("minAvailable").value,
            "Selector": spec.get("selector").value,
            "MaxUnavailable": spec.get("maxUnavailable").value,
            "UnhealthyPodEvictionPolicy": spec.get("unhealthyPodEvictionPolicy").value,
        });
        let why = "minAvailable and maxUnavailable cannot be both set";
        found.push(FieldError::invalid(spec.at.as_str(), &shown, why));
    }
    for bound in bounds {
        bound.number_or_percent(found);
        bound.at_most_all(found);
    }
    spec.get("selector").selector(found);
    spec.get("unhealthyPodEvictionPolicy").one_of(&["AlwaysAllow", "IfHealthyBudget"], found);
}
