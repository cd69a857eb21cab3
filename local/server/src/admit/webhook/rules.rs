//! Which requests a webhook wants: its rules and its selectors.

use std::sync::Arc;

use serde_json::Value;

use super::{Operation, Request};
use crate::plane::Plane;
use crate::resource::Resource;
use crate::selector::object_selects;

/// The resource whose version the webhook is to see, if a rule wants the request: its own, or one that
/// shows the same objects.
pub(super) fn matched(plane: &Plane, spec: &Value, request: &Request<'_>) -> Option<Arc<Resource>> {
    let own = &request.target.resource;
    let rules = spec["rules"].as_array().map(Vec::as_slice).unwrap_or_default();
    let any = |resource: &Resource| rules.iter().any(|rule| fits(rule, resource, request));
    if any(own) {
        return Some(own.clone());
    }
    if spec["matchPolicy"].as_str() == Some("Exact") {
        return None;
    }
    let registry = plane.registry();
    let mut others =
        registry.iter().filter(|one| one.prefix == own.prefix && !Arc::ptr_eq(one, own));
    others.find(|one| any(one)).cloned()
}

fn fits(rule: &Value, resource: &Resource, request: &Request<'_>) -> bool {
    let has = |key: &str, wanted: &str| {
        let mut all = rule[key].as_array().into_iter().flatten().filter_map(Value::as_str);
        all.any(|one| one == "*" || one == wanted)
    };
    has("operations", request.operation.text())
        && has("apiGroups", &resource.group)
        && has("apiVersions", &resource.version)
        && in_scope(rule, request)
        && part_fits(rule, &resource.plural, &request.target.subresource)
}

fn in_scope(rule: &Value, request: &Request<'_>) -> bool {
    let namespaced = request.target.resource.namespaced;
    match rule["scope"].as_str() {
        Some("Namespaced") => namespaced,
        Some("Cluster") => !namespaced,
        _ => true,
    }
}

// `pods`, `pods/status`, `pods/*`, `*`, `*/*`, `*/status`; a star alone is no subresource.
fn part_fits(rule: &Value, plural: &str, subresource: &str) -> bool {
    let all = rule["resources"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let same = |pattern: &str, text: &str| pattern == "*" || pattern == text;
    let mut all = all.map(|one| one.split_once('/').unwrap_or((one, "")));
    all.any(|(resource, sub)| same(resource, plural) && same(sub, subresource))
}

/// Whether the labels of the object's namespace are selected. Namespaces have their own labels looked
/// at; other objects without a namespace are always selected.
pub(super) fn namespace_selected(
    plane: &Plane,
    spec: &Value,
    request: &Request<'_>,
    object: &Value,
) -> bool {
    let selector = &spec["namespaceSelector"];
    let target = request.target;
    if target.resource.is("", "namespaces") && target.subresource.is_empty() {
        let one = if request.operation == Operation::Delete { request.old } else { object };
        return object_selects(selector, &one["metadata"]["labels"]);
    }
    if !target.resource.namespaced {
        return true;
    }
    let namespace = plane.store().get(&format!("/namespaces/{}", target.namespace));
    let labels = namespace.map(|entry| entry.value["metadata"]["labels"].clone());
    object_selects(selector, &labels.unwrap_or_default())
}

/// Whether the labels of the new or the old object are selected.
pub(super) fn object_selected(spec: &Value, request: &Request<'_>, object: &Value) -> bool {
    let selector = &spec["objectSelector"];
    let selects =
        |one: &Value| !one.is_null() && object_selects(selector, &one["metadata"]["labels"]);
    selects(object) || selects(request.old)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::part_fits;

    #[test]
    fn resources_and_subresources() {
        for (pattern, plural, subresource, fits) in [
            ("pods", "pods", "", true),
            ("pods", "pods", "status", false),
            ("pods/status", "pods", "status", true),
            ("pods/*", "pods", "", true),
            ("pods/*", "pods", "exec", true),
            ("*", "pods", "", true),
            ("*", "pods", "status", false),
            ("*/*", "pods", "status", true),
            ("*/scale", "deployments", "scale", true),
            ("*/scale", "deployments", "", false),
        ] {
            let rule = json!({"resources": [pattern]});
            assert_eq!(
                part_fits(&rule, plural, subresource),
                fits,
                "{pattern} {plural}/{subresource}"
            );
        }
    }
}
