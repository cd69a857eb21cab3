//! The cells of autoscalers and disruption budgets.

use serde_json::{Value, json};

use super::cells::Parts;
use super::format::{count, first_of, or_none, reference, text};

/// HorizontalPodAutoscalers.
pub(super) fn autoscaler(parts: Parts<'_>) -> Vec<Value> {
    let Parts { spec, status, name, age, .. } = parts;
    vec![
        name,
        json!(reference(&spec["scaleTargetRef"])),
        or_none(metric_texts(spec)),
        text(&spec["minReplicas"], "<unset>"),
        json!(count(&spec["maxReplicas"])),
        json!(count(&status["currentReplicas"])),
        age,
    ]
}

fn metric_texts(spec: &Value) -> String {
    let metrics: Vec<String> = spec["metrics"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|metric| {
            let target = &metric["resource"]["target"];
            let goal = target["averageUtilization"].as_i64().map_or(
                target["averageValue"].as_str().unwrap_or("<unknown>").to_owned(),
                |goal| format!("{goal}%"),
            );
            format!("{}: <unknown>/{goal}", metric["resource"]["name"].as_str().unwrap_or_default())
        })
        .collect();
    // The older version knows one metric.
    let percent = spec["targetCPUUtilizationPercentage"].as_i64();
    let own = percent.map(|percent| format!("cpu: <unknown>/{percent}%"));
    let metrics: Vec<String> = metrics.into_iter().chain(own).collect();
    first_of(&metrics, 2, ", ")
}

/// PodDisruptionBudgets.
pub(super) fn disruption_budget(parts: Parts<'_>) -> Vec<Value> {
    let Parts { spec, status, name, age, .. } = parts;
    vec![
        name,
        text(&spec["minAvailable"], "N/A"),
        text(&spec["maxUnavailable"], "N/A"),
        json!(count(&status["disruptionsAllowed"])),
        age,
    ]
}
