//! Roles and bindings that are there from the start.

use serde_json::{Value, json};

const READ: [&str; 3] = ["get", "list", "watch"];
const WRITE: [&str; 5] = ["create", "delete", "deletecollection", "patch", "update"];

/// What people work with in a namespace, without who may do what.
const WORK: [(&str, &[&str]); 6] = [
    (
        "",
        &[
            "configmaps",
            "endpoints",
            "persistentvolumeclaims",
            "persistentvolumeclaims/status",
            "pods",
            "replicationcontrollers",
            "replicationcontrollers/scale",
            "serviceaccounts",
            "services",
            "services/status",
        ],
    ),
    (
        "apps",
        &[
            "controllerrevisions",
            "daemonsets",
            "deployments",
            "deployments/scale",
            "replicasets",
            "replicasets/scale",
            "statefulsets",
            "statefulsets/scale",
        ],
    ),
    ("autoscaling", &["horizontalpodautoscalers"]),
    ("batch", &["cronjobs", "jobs"]),
    ("networking.k8s.io", &["ingresses", "networkpolicies"]),
    ("policy", &["poddisruptionbudgets"]),
];

fn rule(group: &str, resources: &[&str], verbs: &[&str]) -> Value {
    json!({"verbs": verbs, "apiGroups": [group], "resources": resources})
}

fn view() -> Vec<Value> {
    let mut rules: Vec<Value> = WORK.iter().map(|(group, of)| rule(group, of, &READ)).collect();
    let seen = [
        "bindings",
        "events",
        "limitranges",
        "namespaces",
        "namespaces/status",
        "pods/log",
        "pods/status",
        "resourcequotas",
        "resourcequotas/status",
    ];
    rules.push(rule("", &seen, &READ));
    rules.push(rule("discovery.k8s.io", &["endpointslices"], &READ));
    rules
}

fn edit() -> Vec<Value> {
    let mut rules: Vec<Value> = WORK.iter().map(|(group, of)| rule(group, of, &WRITE)).collect();
    rules.push(rule("", &["secrets"], &READ));
    rules.push(rule("", &["events", "secrets"], &WRITE));
    rules.push(rule("", &["pods/eviction", "serviceaccounts/token"], &["create"]));
    rules.push(rule("", &["serviceaccounts"], &["impersonate"]));
    rules.push(rule("coordination.k8s.io", &["leases"], &[&READ[..], &WRITE[..]].concat()));
    rules
}

fn admin() -> Vec<Value> {
    let all = [&READ[..], &WRITE[..]].concat();
    vec![
        rule("authorization.k8s.io", &["localsubjectaccessreviews"], &["create"]),
        rule("rbac.authorization.k8s.io", &["rolebindings", "roles"], &all),
    ]
}

fn urls(urls: &[&str]) -> Value {
    json!([{"verbs": ["get"], "nonResourceURLs": urls}])
}

fn role(name: &str, labels: &Value, rules: &Value) -> (&'static str, Value) {
    let mut metadata = json!({
        "name": name,
        "annotations": {"rbac.authorization.kubernetes.io/autoupdate": "true"},
        "labels": {"kubernetes.io/bootstrapping": "rbac-defaults"},
    });
    for (key, value) in labels.as_object().into_iter().flatten() {
        metadata["labels"][key] = value.clone();
    }
    ("clusterroles", json!({"metadata": metadata, "rules": rules}))
}

fn aggregate(name: &str, next: Option<&str>, rules: &[Value]) -> (&'static str, Value) {
    let to = |name: &str| format!("rbac.authorization.k8s.io/aggregate-to-{name}");
    let labels = next.map_or(json!({}), |next| json!({ to(next): "true" }));
    let (plural, mut made) = role(name, &labels, &json!(rules));
    made["aggregationRule"] =
        json!({"clusterRoleSelectors": [{"matchLabels": { to(name): "true" }}]});
    (plural, made)
}

fn part(name: &str, rules: &[Value]) -> (&'static str, Value) {
    let label = format!("rbac.authorization.k8s.io/aggregate-to-{name}");
    role(&format!("system:aggregate-to-{name}"), &json!({ label: "true" }), &json!(rules))
}

fn binding(name: &str, groups: &[&str]) -> (&'static str, Value) {
    let subject = |group: &&str| json!({"kind": "Group", "apiGroup": "rbac.authorization.k8s.io", "name": group});
    let subjects: Vec<Value> = groups.iter().map(subject).collect();
    let metadata = role(name, &Value::Null, &Value::Null).1["metadata"].clone();
    let to = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name});
    ("clusterrolebindings", json!({"metadata": metadata, "subjects": subjects, "roleRef": to}))
}

/// The plural and the body of each.
pub(crate) fn objects() -> Vec<(&'static str, Value)> {
    let everything = json!([
        {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]},
        {"verbs": ["*"], "nonResourceURLs": ["*"]},
    ]);
    let reviews = json!([
        {"verbs": ["create"], "apiGroups": ["authentication.k8s.io"], "resources": ["selfsubjectreviews"]},
        {"verbs": ["create"], "apiGroups": ["authorization.k8s.io"], "resources": ["selfsubjectaccessreviews", "selfsubjectrulesreviews"]},
    ]);
    let discovery = urls(&[
        "/.well-known",
        "/.well-known/*",
        "/api",
        "/api/*",
        "/apis",
        "/apis/*",
        "/healthz",
        "/livez",
        "/openapi",
        "/openapi/*",
        "/readyz",
        "/version",
        "/version/",
    ]);
    let public = urls(&["/healthz", "/livez", "/readyz", "/version", "/version/"]);
    let none = Value::Null;
    let (view, edit, admin) = (view(), edit(), admin());
    let edits = [&edit[..], &view[..]].concat();
    let admins = [&admin[..], &edits[..]].concat();
    vec![
        role("cluster-admin", &none, &everything),
        role("system:basic-user", &none, &reviews),
        role("system:discovery", &none, &discovery),
        role("system:public-info-viewer", &none, &public),
        part("view", &view),
        part("edit", &edit),
        part("admin", &admin),
        aggregate("view", Some("edit"), &view),
        aggregate("edit", Some("admin"), &edits),
        aggregate("admin", None, &admins),
        binding("cluster-admin", &["system:masters"]),
        binding("system:basic-user", &["system:authenticated"]),
        binding("system:discovery", &["system:authenticated"]),
        binding("system:public-info-viewer", &["system:authenticated", "system:unauthenticated"]),
    ]
}
