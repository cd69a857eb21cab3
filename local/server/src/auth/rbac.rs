//! What Roles, ClusterRoles and their bindings allow a user.

use serde_json::{Value, json};

use super::User;
use crate::list::Reading;
use crate::plane::Plane;

const GROUP: &str = "rbac.authorization.k8s.io";

/// What somebody wants to do: to a resource, or to a path that is none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Action {
    pub(crate) verb: String,
    pub(crate) group: String,
    pub(crate) resource: String,
    pub(crate) subresource: String,
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) path: String,
}

impl Action {
    pub(crate) fn on(
        verb: &str,
        group: &str,
        resource: &str,
        namespace: &str,
        name: &str,
    ) -> Action {
        Action {
            verb: verb.to_owned(),
            group: group.to_owned(),
            resource: resource.to_owned(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            ..Action::default()
        }
    }

    /// What a request does, by its method and path.
    pub(crate) fn of_request(method: &str, path: &str, reading: Reading, named: &str) -> Action {
        let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
        let (group, rest) = match parts.as_slice() {
            ["api", "v1", rest @ ..] if !rest.is_empty() => ("", rest),
            ["apis", group, _, rest @ ..] if !rest.is_empty() => (*group, rest),
            _ => {
                let verb = method.to_lowercase();
                return Action { verb, path: path.to_owned(), ..Action::default() };
            }
        };
        let (legacy, rest) = match rest {
            ["watch", rest @ ..] => (true, rest),
            rest => (false, rest),
        };
        let (namespace, rest) = match rest {
            ["namespaces", namespace, rest @ ..]
                if rest.first().is_some_and(|part| !["status", "finalize"].contains(part)) =>
            {
                (*namespace, rest)
            }
            ["namespaces", namespace, ..] => (*namespace, rest),
            rest => ("", rest),
        };
        let part = |index: usize| rest.get(index).copied().unwrap_or_default();
        let name = if part(1).is_empty() { named } else { part(1) };
        let alone = part(1).is_empty();
        let verb = match method {
            "GET" | "HEAD" if legacy || (alone && reading == Reading::Watch) => "watch",
            "GET" | "HEAD" if alone => "list",
            "GET" | "HEAD" => "get",
            "POST" => "create",
            "PUT" => "update",
            "PATCH" => "patch",
            "DELETE" if alone => "deletecollection",
            "DELETE" => "delete",
            _ => "",
        };
        let mut action = Action::on(verb, group, part(0), namespace, name);
        action.subresource = part(2).to_owned();
        action
    }
}

/// Why a user may do something; `None` if they may not.
pub(crate) fn allowed(plane: &Plane, user: &User, action: &Action) -> Option<String> {
    if user.is_master() {
        return Some(String::new());
    }
    for binding in bindings(plane, "clusterrolebindings", "") {
        let Some(subject) = subject_of(&binding, user, "") else { continue };
        let rules = rules(plane, &binding["roleRef"], "").unwrap_or_default();
        if rules.iter().any(|rule| fits(rule, action)) {
            return Some(reason("ClusterRoleBinding", &binding, "", subject));
        }
    }
    if action.namespace.is_empty() {
        return None;
    }
    for binding in bindings(plane, "rolebindings", &action.namespace) {
        let Some(subject) = subject_of(&binding, user, &action.namespace) else { continue };
        let rules = rules(plane, &binding["roleRef"], &action.namespace).unwrap_or_default();
        if rules.iter().any(|rule| fits(rule, action)) {
            return Some(reason("RoleBinding", &binding, &action.namespace, subject));
        }
    }
    None
}

fn reason(kind: &str, binding: &Value, namespace: &str, subject: &Value) -> String {
    let text = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
    let mut name = text(&binding["metadata"], "name");
    if !namespace.is_empty() {
        name = format!("{name}/{namespace}");
    }
    let role = &binding["roleRef"];
    let mut who = text(subject, "name");
    if subject["kind"] == json!("ServiceAccount") {
        who = format!("{who}/{}", text(subject, "namespace"));
    }
    format!(
        "RBAC: allowed by {kind} \"{name}\" of {} \"{}\" to {} \"{who}\"",
        text(role, "kind"),
        text(role, "name"),
        text(subject, "kind"),
    )
}

/// Every rule that applies to a user in a namespace.
pub(super) fn all_rules(plane: &Plane, user: &User, namespace: &str) -> Vec<Value> {
    let mut found = Vec::new();
    for binding in bindings(plane, "clusterrolebindings", "") {
        if subject_of(&binding, user, "").is_some() {
            found.extend(rules(plane, &binding["roleRef"], "").into_iter().flatten());
        }
    }
    if !namespace.is_empty() {
        for binding in bindings(plane, "rolebindings", namespace) {
            if subject_of(&binding, user, namespace).is_some() {
                found.extend(rules(plane, &binding["roleRef"], namespace).into_iter().flatten());
            }
        }
    }
    found
}

fn bindings(plane: &Plane, plural: &str, namespace: &str) -> Vec<Value> {
    let range = if namespace.is_empty() {
        format!("{GROUP}/{plural}/")
    } else {
        format!("{GROUP}/{plural}/{namespace}/")
    };
    let (_, entries) = plane.store().list(&range);
    entries.into_iter().map(|entry| Value::clone(&entry.value)).collect()
}

/// The rules of the role a binding refers to; none if there is no such role.
pub(super) fn rules(plane: &Plane, role: &Value, namespace: &str) -> Option<Vec<Value>> {
    let name = role["name"].as_str().unwrap_or_default();
    let key = match role["kind"].as_str() {
        Some("ClusterRole") => format!("{GROUP}/clusterroles/{name}"),
        Some("Role") if !namespace.is_empty() => format!("{GROUP}/roles/{namespace}/{name}"),
        _ => return None,
    };
    let found = plane.store().get(&key)?;
    Some(found.value["rules"].as_array().cloned().unwrap_or_default())
}

fn subject_of<'b>(binding: &'b Value, user: &User, namespace: &str) -> Option<&'b Value> {
    binding["subjects"].as_array()?.iter().find(|subject| {
        let name = subject["name"].as_str().unwrap_or_default();
        match subject["kind"].as_str() {
            Some("User") => name == "*" || name == user.name,
            Some("Group") => user.groups.iter().any(|group| group == name),
            Some("ServiceAccount") => {
                let place = subject["namespace"].as_str().unwrap_or(namespace);
                user.name == format!("system:serviceaccount:{place}:{name}")
            }
            _ => false,
        }
    })
}

fn fits(rule: &Value, action: &Action) -> bool {
    let has = |key: &str, test: &dyn Fn(&str) -> bool| {
        rule[key].as_array().into_iter().flatten().filter_map(Value::as_str).any(test)
    };
    if !has("verbs", &|verb| verb == "*" || verb == action.verb) {
        return false;
    }
    if !action.path.is_empty() {
        return has("nonResourceURLs", &|url| match url.strip_suffix('*') {
            Some(start) => action.path.starts_with(start),
            None => url == action.path,
        });
    }
    let resource = |wanted: &str| match action.subresource.as_str() {
        "" => wanted == action.resource,
        sub => wanted.split_once('/').is_some_and(|(resource, part)| {
            (resource == "*" || resource == action.resource) && part == sub
        }),
    };
    has("apiGroups", &|group| group == "*" || group == action.group)
        && has("resources", &|wanted| wanted == "*" || resource(wanted))
        && (rule["resourceNames"].as_array().is_none_or(Vec::is_empty)
            || has("resourceNames", &|name| name == action.name))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Action, fits};

    #[test]
    fn requests_are_actions() {
        for (method, path, wanted) in [
            ("GET", "/api/v1/namespaces/a/pods", "list/pods/a"),
            ("GET", "/api/v1/namespaces/a/pods/p/log", "get/pods/log/a/p"),
            ("DELETE", "/api/v1/namespaces/a", "delete/namespaces/a/a"),
            ("PUT", "/api/v1/namespaces/a/finalize", "update/namespaces/finalize/a/a"),
            ("DELETE", "/apis/apps/v1/namespaces/a/deployments", "deletecollection/deployments/a"),
            ("POST", "/api/v1/nodes", "create/nodes"),
            ("GET", "/api/v1", "get /api/v1"),
            ("GET", "/version", "get /version"),
        ] {
            let it = Action::of_request(method, path, crate::list::Reading::List, "");
            let said = if it.path.is_empty() {
                [&it.verb, &it.resource, &it.subresource, &it.namespace, &it.name]
                    .into_iter()
                    .filter(|part| !part.is_empty())
                    .cloned()
                    .collect::<Vec<_>>()
                    .join("/")
            } else {
                format!("{} {}", it.verb, it.path)
            };
            assert_eq!(said, wanted, "{method} {path}");
        }
    }

    #[test]
    fn rules_name_groups_resources_and_names() {
        let rule = json!({"verbs": ["get"], "apiGroups": ["apps"], "resources": ["deployments", "*/scale"], "resourceNames": ["web"]});
        let ask = |group: &str, resource: &str, sub: &str, name: &str| {
            let mut action = Action::on("get", group, resource, "a", name);
            action.subresource = sub.to_owned();
            fits(&rule, &action)
        };
        assert!(ask("apps", "deployments", "", "web"));
        assert!(ask("apps", "statefulsets", "scale", "web"));
        assert!(!ask("apps", "deployments", "status", "web"));
        assert!(!ask("apps", "deployments", "", "other"));
        assert!(!ask("", "deployments", "", "web"));
        let urls = json!({"verbs": ["*"], "nonResourceURLs": ["/healthz/*", "/version"]});
        let path =
            |path: &str| Action { verb: "get".into(), path: path.into(), ..Action::default() };
        assert!(fits(&urls, &path("/healthz/ping")));
        assert!(fits(&urls, &path("/version")));
        assert!(!fits(&urls, &path("/versions")));
    }
}
