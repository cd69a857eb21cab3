//! The defaults of autoscalers.

use serde_json::{Value, json};

use super::default;
use crate::resource::Resource;

/// HorizontalPodAutoscalers.
pub(super) fn autoscaler(resource: &Resource, spec: &mut Value) {
    default(spec, "minReplicas", json!(1));
    if resource.version == "v2" {
        default(
            spec,
            "metrics",
            json!([{"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}}]),
        );
    } else {
        default(spec, "targetCPUUtilizationPercentage", json!(80));
    }
    if spec.get("behavior").is_some_and(Value::is_object) {
        behavior(&mut spec["behavior"]);
    }
}

// How fast an autoscaler may act, where it says something about that.
fn behavior(behavior: &mut Value) {
    let policy = |kind: &str, value: i64, seconds: i64| json!({"type": kind, "value": value, "periodSeconds": seconds});
    default(behavior, "scaleUp", json!({}));
    default(behavior, "scaleDown", json!({}));
    for (way, policies) in [
        ("scaleUp", json!([policy("Pods", 4, 15), policy("Percent", 100, 15)])),
        ("scaleDown", json!([policy("Percent", 100, 15)])),
    ] {
        let rules = &mut behavior[way];
        default(rules, "selectPolicy", json!("Max"));
        default(rules, "policies", policies);
    }
    default(&mut behavior["scaleUp"], "stabilizationWindowSeconds", json!(0));
}
