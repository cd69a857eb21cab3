//! Quotas are counted and kept; ClusterRoles are made of others; watchers see pods end.

use local_server::list::ListOptions;
use local_server::plane::{DeleteOptions, Target};
use local_server::{Handle, Options, Plane};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

fn start() -> (Plane, Handle) {
    let plane = Plane::new(Options::default()).expect("a plane");
    let on = plane.clone();
    let options = local_simulate::Options { pods: false, ..local_simulate::Options::default() };
    tokio::spawn(async move {
        local_simulate::plane::run(&on, options, CancellationToken::new()).await;
    });
    let handle = plane.handle("test");
    (plane, handle)
}

// Driven by a watch.
async fn until(handle: &Handle, target: &Target, holds: impl Fn(&Value) -> bool) -> Value {
    let mut changes = handle.watch(target, &ListOptions::default()).expect("a watch");
    loop {
        let now = handle.get(target).unwrap_or_default();
        if holds(&now) {
            return now;
        }
        assert!(!changes.next().await.is_empty(), "the watch ended");
    }
}

#[tokio::test]
async fn a_quota_is_counted_and_kept() {
    let (_plane, handle) = start();
    let quota = handle.target("v1", "resourcequotas", "default", "q").expect("known");
    let hard = json!({"configmaps": "2", "requests.cpu": "1"});
    let body = json!({"metadata": {"name": "q"}, "spec": {"hard": hard}});
    handle.create(&quota, body).expect("a quota");
    until(&handle, &quota, |it| it["status"]["hard"]["configmaps"] == "2").await;
    let map = |name: &str| {
        let target = handle.target("v1", "configmaps", "default", name).expect("known");
        handle.create(&target, json!({"metadata": {"name": name}}))
    };
    map("a").expect("one");
    map("b").expect("two");
    let error = map("c").expect_err("one too many");
    assert_eq!(
        error.message,
        "configmaps \"c\" is forbidden: exceeded quota: q, requested: configmaps=1, used: configmaps=2, limited: configmaps=2"
    );
    let pod = |name: &str, cpu: &str| {
        let target = handle.target("v1", "pods", "default", name).expect("known");
        let container = json!({"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}});
        let body = json!({"metadata": {"name": name}, "spec": {"containers": [container]}});
        handle.create(&target, body)
    };
    pod("a", "600m").expect("fits");
    let error = pod("b", "500m").expect_err("too much");
    assert!(
        error.message.ends_with(
            "requested: requests.cpu=500m, used: requests.cpu=600m, limited: requests.cpu=1"
        ),
        "{error}"
    );
    until(&handle, &quota, |it| it["status"]["used"]["requests.cpu"] == "600m").await;
}

#[tokio::test]
async fn cluster_roles_are_made_of_others() {
    let (_plane, handle) = start();
    let group = "rbac.authorization.k8s.io/v1";
    let all = handle.target(group, "clusterroles", "", "all").expect("known");
    let selector = json!({"clusterRoleSelectors": [{"matchLabels": {"part": "yes"}}]});
    handle
        .create(&all, json!({"metadata": {"name": "all"}, "aggregationRule": selector}))
        .expect("made");
    let part = handle.target(group, "clusterroles", "", "part").expect("known");
    let rules = json!([{"verbs": ["get"], "apiGroups": ["x"], "resources": ["y"]}]);
    let body = json!({"metadata": {"name": "part", "labels": {"part": "yes"}}, "rules": rules});
    handle.create(&part, body).expect("made");
    until(&handle, &all, |it| it["rules"] == rules).await;
}

#[tokio::test]
async fn watchers_see_a_pod_without_a_node_end() {
    let plane = Plane::new(Options::default()).expect("a plane");
    let handle = plane.handle("test");
    let pod = handle.target("v1", "pods", "default", "p").expect("known");
    let all = Target { name: String::new(), ..pod.clone() };
    let mut changes = plane.watch(&all, &ListOptions::default()).expect("a watch");
    let body =
        json!({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    handle.create(&pod, body).expect("a pod");
    handle.delete(&pod, &DeleteOptions::default()).expect("deleted");
    let mut seen = Vec::new();
    while seen.len() < 3 {
        seen.extend(changes.next().await.into_iter().map(|change| {
            (change.kind, change.object["metadata"]["deletionGracePeriodSeconds"].clone())
        }));
    }
    let wanted = [("ADDED", Value::Null), ("MODIFIED", json!(0)), ("DELETED", json!(0))];
    assert_eq!(seen, wanted);
}
