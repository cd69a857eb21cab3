//! The cells of quotas.

use serde_json::{Value, json};

use super::cells::Parts;

/// ResourceQuotas.
pub(super) fn quota(parts: Parts<'_>) -> Vec<Value> {
    let Parts { status, name, age, .. } = parts;
    let (requests, limits) = quota_texts(status);
    vec![name, json!(requests), json!(limits), age]
}

// Requests and limits of a quota, used/hard.
fn quota_texts(status: &Value) -> (String, String) {
    let mut names: Vec<&String> =
        status["hard"].as_object().into_iter().flatten().map(|(name, _)| name).collect();
    names.sort();
    let (mut requests, mut limits) = (Vec::new(), Vec::new());
    for name in names {
        let amount = |part: &str| status[part][name].as_str().unwrap_or("0").to_owned();
        let shown = format!("{name}: {}/{}", amount("used"), amount("hard"));
        if name.starts_with("limits.") { limits.push(shown) } else { requests.push(shown) }
    }
    (requests.join(", "), limits.join(", "))
}
