//! What is refused of roles and of who has them.

use serde_json::json;

use super::check::{Field, Found};
use crate::resource::Resource;
use crate::status::FieldError;

const GROUP: &str = "rbac.authorization.k8s.io";

/// Roles and ClusterRoles.
pub(super) fn rules(resource: &Resource, object: &Field<'_>, found: &mut Found) {
    for rule in object.get("rules").items() {
        if rule.get("verbs").is_empty() {
            rule.get("verbs").miss("verbs must contain at least one value", found);
        }
        let (urls, groups, resources) =
            (rule.get("nonResourceURLs"), rule.get("apiGroups"), rule.get("resources"));
        if !urls.is_empty() {
            if resource.namespaced {
                urls.refuse("namespaced rules cannot apply to non-resource URLs", found);
            }
            let names = rule.get("resourceNames");
            if !groups.is_empty() || !resources.is_empty() || !names.is_empty() {
                let why = "rules cannot apply to both regular resources and non-resource URLs";
                urls.refuse(why, found);
            }
            continue;
        }
        if groups.is_empty() {
            groups.miss("resource rules must supply at least one api group", found);
        }
        if resources.is_empty() {
            resources.miss("resource rules must supply at least one resource", found);
        }
    }
    let aggregation = object.get("aggregationRule");
    let selectors = aggregation.get("clusterRoleSelectors");
    if aggregation.is_set() && selectors.is_empty() {
        let why = "at least one clusterRoleSelector required if aggregationRule is non-nil";
        selectors.miss(why, found);
    }
    for selector in selectors.items() {
        let before = found.len();
        selector.selector(found);
        if found.len() > before {
            let why = "invalid label selector.";
            found.push(FieldError::invalid(selector.at.as_str(), &json!(null), why));
        }
    }
}

/// RoleBindings and ClusterRoleBindings.
pub(super) fn binding(
    resource: &Resource,
    object: &Field<'_>,
    old: Option<&Field<'_>>,
    found: &mut Found,
) {
    let role = object.get("roleRef");
    role.get("apiGroup").one_of(&[GROUP], found);
    let kinds: &[&str] =
        if resource.namespaced { &["Role", "ClusterRole"] } else { &["ClusterRole"] };
    role.get("kind").one_of(kinds, found);
    if role.get("name").require(found) {
        role.get("name").segment(found);
    }
    for one in object.get("subjects").items() {
        subject(resource, &one, found);
    }
    if old.is_some_and(|old| old.get("roleRef").value != role.value) {
        let shown = json!({
            "APIGroup": role.get("apiGroup").value,
            "Kind": role.get("kind").value,
            "Name": role.get("name").value,
        });
        found.push(FieldError::invalid("roleRef", &shown, "cannot change roleRef"));
    }
}

fn subject(resource: &Resource, one: &Field<'_>, found: &mut Found) {
    let (kind, name, group) = (one.get("kind"), one.get("name"), one.get("apiGroup"));
    let named = name.require(found);
    match kind.text() {
        "ServiceAccount" => {
            if named {
                name.subdomain(found);
            }
            group.one_of(&[""], found);
            let space = one.get("namespace");
            if !resource.namespaced && space.is_empty() {
                space.miss("", found);
            }
        }
        "User" | "Group" => group.one_of(&[GROUP], found),
        _ => {
            let known = ["ServiceAccount", "User", "Group"].map(|it| format!("\"{it}\""));
            found.push(FieldError::unsupported(kind.at.as_str(), &json!(kind.text()), &known));
        }
    }
}
