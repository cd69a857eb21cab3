//! The cells of role bindings.

use serde_json::{Value, json};

use super::cells::Parts;
use super::format::reference;

/// RoleBindings and ClusterRoleBindings.
pub(super) fn binding(parts: Parts<'_>) -> Vec<Value> {
    let Parts { object, name, age, .. } = parts;
    let role = reference(&object["roleRef"]);
    let of = |kind: &str| {
        let all = object["subjects"]
            .as_array()
            .into_iter()
            .flatten()
            .filter(|one| one["kind"] == json!(kind));
        let all: Vec<String> = all
            .map(|one| {
                let name = one["name"].as_str().unwrap_or_default();
                match one["namespace"].as_str() {
                    Some(namespace) if kind == "ServiceAccount" => {
                        format!("{namespace}/{name}")
                    }
                    _ => name.to_owned(),
                }
            })
            .collect();
        json!(all.join(", "))
    };
    vec![name, json!(role), age, of("User"), of("Group"), of("ServiceAccount")]
}
