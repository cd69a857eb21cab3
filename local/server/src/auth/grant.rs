//! Nobody gives away by a role or a binding what they do not have: escalation.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{Action, User, allowed, rbac};
use crate::go::quoted_list;
use crate::plane::{Plane, Target};
use crate::status::{ApiError, Result};

const GROUP: &str = "rbac.authorization.k8s.io";

/// Refuses a role or binding that gives more than the user has; `old` is what it replaces.
pub(crate) fn check(
    plane: &Plane,
    user: Option<&User>,
    target: &Target,
    old: Option<&Value>,
    object: &Value,
) -> Result<()> {
    let resource = &target.resource;
    if resource.group != GROUP || resource.custom.is_some() {
        return Ok(());
    }
    let Some(user) = user.filter(|user| !user.is_master()) else { return Ok(()) };
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    let namespace = target.namespace.as_str();
    let may = |verb: &str, plural: &str, name: &str| {
        allowed(plane, user, &Action::on(verb, GROUP, plural, namespace, name)).is_some()
    };
    let same = |key: &str| old.is_some_and(|old| old[key] == object[key]);
    let given = match resource.plural.as_str() {
        "roles" | "clusterroles" => {
            if (same("rules") && same("aggregationRule")) || may("escalate", &resource.plural, name)
            {
                return Ok(());
            }
            let aggregates = !object["aggregationRule"].is_null() && !same("aggregationRule");
            let mut rules = object["rules"].as_array().cloned().unwrap_or_default();
            if aggregates {
                // What it will gather is not known: only who has everything may do so.
                rules = vec![
                    json!({"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}),
                    json!({"verbs": ["*"], "nonResourceURLs": ["*"]}),
                ];
            }
            rules
        }
        "rolebindings" | "clusterrolebindings" => {
            let role = &object["roleRef"];
            let plural = if role["kind"] == json!("Role") { "roles" } else { "clusterroles" };
            let named = role["name"].as_str().unwrap_or_default();
            if (same("roleRef") && same("subjects")) || may("bind", plural, named) {
                return Ok(());
            }
            rbac::rules(plane, role, namespace)
                .ok_or_else(|| ApiError::not_found(GROUP, plural, named))?
        }
        _ => return Ok(()),
    };
    let held = rbac::all_rules(plane, user, namespace);
    let missing = missing(&given, &held);
    if missing.is_empty() {
        return Ok(());
    }
    let groups: Vec<&str> = user.groups.iter().map(String::as_str).collect();
    let why = format!(
        "user {:?} (groups={}) is attempting to grant RBAC permissions not currently held:\n{}",
        user.name,
        quoted_list(&groups),
        missing.into_iter().collect::<Vec<_>>().join("\n")
    );
    Err(ApiError::forbidden(GROUP, &resource.plural, name, &why))
}

fn texts<'r>(rule: &'r Value, key: &str) -> Vec<&'r str> {
    rule[key].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

/// One right: one verb on one thing.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Right<'r> {
    Resource { group: &'r str, resource: &'r str, name: Option<&'r str>, verb: &'r str },
    Path { path: &'r str, verb: &'r str },
}

fn rights(rule: &Value) -> Vec<Right<'_>> {
    let mut all = Vec::new();
    let names = texts(rule, "resourceNames");
    let names: Vec<Option<&str>> =
        if names.is_empty() { vec![None] } else { names.into_iter().map(Some).collect() };
    for verb in texts(rule, "verbs") {
        for group in texts(rule, "apiGroups") {
            for resource in texts(rule, "resources") {
                for name in &names {
                    all.push(Right::Resource { group, resource, name: *name, verb });
                }
            }
        }
        for path in texts(rule, "nonResourceURLs") {
            all.push(Right::Path { path, verb });
        }
    }
    all
}

impl Right<'_> {
    fn is_covered_by(&self, rule: &Value) -> bool {
        let has = |key: &str, wanted: &str| {
            texts(rule, key).iter().any(|one| *one == "*" || *one == wanted)
        };
        match self {
            Right::Resource { group, resource, name, verb } => {
                let part = resource.split_once('/').map(|(_, part)| format!("*/{part}"));
                let names = texts(rule, "resourceNames");
                has("verbs", verb)
                    && has("apiGroups", group)
                    && (has("resources", resource)
                        || part.is_some_and(|part| has("resources", &part)))
                    && (names.is_empty() || name.is_some_and(|name| names.contains(&name)))
            }
            Right::Path { path, verb } => {
                let covers = |one: &str| {
                    one == *path
                        || one.strip_suffix('*').is_some_and(|start| path.starts_with(start))
                };
                has("verbs", verb) && texts(rule, "nonResourceURLs").into_iter().any(covers)
            }
        }
    }
}

// The rights that no rule held covers, as messages show them: verbs on one thing together.
fn missing(given: &[Value], held: &[Value]) -> BTreeSet<String> {
    let mut left: Vec<(Right<'_>, Vec<&str>)> = Vec::new();
    for right in given.iter().flat_map(rights) {
        if held.iter().any(|rule| right.is_covered_by(rule)) {
            continue;
        }
        let (thing, verb) = match right {
            Right::Resource { group, resource, name, verb } => {
                (Right::Resource { group, resource, name, verb: "" }, verb)
            }
            Right::Path { path, verb } => (Right::Path { path, verb: "" }, verb),
        };
        let plain = matches!(thing, Right::Resource { name: None, .. });
        match left.iter_mut().find(|(one, _)| plain && *one == thing) {
            Some((_, verbs)) if verbs.contains(&verb) => {}
            Some((_, verbs)) => verbs.push(verb),
            None => left.push((thing, vec![verb])),
        }
    }
    let shown = left.into_iter().map(|(thing, verbs)| {
        let verbs = quoted_list(&verbs);
        match thing {
            Right::Resource { group, resource, name, .. } => {
                let names = name.map(|name| format!(", ResourceNames:{}", quoted_list(&[name])));
                let names = names.unwrap_or_default();
                let (groups, resources) = (quoted_list(&[group]), quoted_list(&[resource]));
                format!("{{APIGroups:{groups}, Resources:{resources}{names}, Verbs:{verbs}}}")
            }
            Right::Path { path, .. } => {
                format!("{{NonResourceURLs:{}, Verbs:{verbs}}}", quoted_list(&[path]))
            }
        }
    });
    shown.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::missing;

    #[test]
    fn what_is_not_held_is_named() {
        let held = [
            json!({"verbs": ["get", "list"], "apiGroups": [""], "resources": ["pods", "*/status"]}),
            json!({"verbs": ["*"], "apiGroups": ["apps"], "resources": ["deployments"], "resourceNames": ["web"]}),
            json!({"verbs": ["get"], "nonResourceURLs": ["/health/*"]}),
        ];
        for (given, wanted) in [
            (json!({"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}), ""),
            (json!({"verbs": ["get"], "apiGroups": [""], "resources": ["nodes/status"]}), ""),
            (
                json!({"verbs": ["get", "delete", "watch"], "apiGroups": [""], "resources": ["pods"]}),
                r#"{APIGroups:[""], Resources:["pods"], Verbs:["delete" "watch"]}"#,
            ),
            (
                json!({"verbs": ["get"], "apiGroups": ["apps"], "resources": ["deployments"], "resourceNames": ["web"]}),
                "",
            ),
            (
                json!({"verbs": ["get"], "apiGroups": ["apps"], "resources": ["deployments"]}),
                r#"{APIGroups:["apps"], Resources:["deployments"], Verbs:["get"]}"#,
            ),
            (json!({"verbs": ["get"], "nonResourceURLs": ["/health/a"]}), ""),
            (
                json!({"verbs": ["get"], "nonResourceURLs": ["/metrics"]}),
                r#"{NonResourceURLs:["/metrics"], Verbs:["get"]}"#,
            ),
        ] {
            let said: Vec<String> =
                missing(std::slice::from_ref(&given), &held).into_iter().collect();
            assert_eq!(said.join("\n"), wanted, "{given}");
        }
    }
}
