//! Workloads on a plane, from what is asked for to what is reported.

use std::time::Duration;

use local_server::Options as PlaneOptions;
use local_server::list::ListOptions;
use local_server::plane::{DeleteOptions, Plane};
use local_simulate::Options;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// Runs controllers and pods on an empty plane while `act` plays.
async fn with_plane<F: Future<Output = ()>>(act: impl FnOnce(Plane) -> F) {
    let options = Options { ready_after: Duration::from_millis(20), ..Options::default() };
    with_options(options, act).await;
}

async fn with_options<F: Future<Output = ()>>(options: Options, act: impl FnOnce(Plane) -> F) {
    let plane = Plane::new(PlaneOptions::default()).expect("a plane");
    let stop = CancellationToken::new();
    let running = local_simulate::plane::run(&plane, options, stop.clone());
    let acting = async {
        tokio::time::timeout(Duration::from_secs(20), act(plane.clone())).await.expect("in time");
        stop.cancel();
    };
    tokio::join!(running, acting);
}

fn create(plane: &Plane, version: &str, plural: &str, namespace: &str, object: Value) {
    let handle = plane.handle("test");
    let name = object["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    handle
        .create(&handle.target(version, plural, namespace, &name).expect("known"), object)
        .expect("created");
}

/// Waits for a state of an object (null once it is gone), driven by a watch.
async fn wait(
    plane: &Plane,
    version: &str,
    plural: &str,
    namespace: &str,
    name: &str,
    met: impl Fn(&Value) -> bool,
) -> Value {
    let handle = plane.handle("test");
    let target = handle.target(version, plural, namespace, name).expect("known");
    let mut changes = handle.watch(&target, &ListOptions::default()).expect("a watch");
    loop {
        let now = handle.get(&target).unwrap_or_default();
        if met(&now) {
            return now;
        }
        assert!(!changes.next().await.is_empty(), "watch ended");
    }
}

// What the first template is named by.
const DEPLOYED: &str = "web-5c95f8d4c6";
const KEPT: &str = "web-56d4757b69";

fn template(image: &str) -> Value {
    json!({"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "web", "image": image}]}})
}

fn deployment(image: &str, replicas: i64) -> Value {
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "default"},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": "web"}}, "template": template(image)}})
}

fn complete(it: &Value) -> bool {
    let n = &it["spec"]["replicas"];
    it["status"]["observedGeneration"] == it["metadata"]["generation"]
        && it["status"]["updatedReplicas"] == *n
        && it["status"]["availableReplicas"] == *n
        && it["status"]["replicas"] == *n
}

fn condition<'a>(object: &'a Value, kind: &str) -> &'a Value {
    let all = object["status"]["conditions"].as_array();
    all.into_iter().flatten().find(|it| it["type"] == kind).unwrap_or(&Value::Null)
}

#[tokio::test]
async fn a_deployment_rolls_out_and_goes_with_its_pods() {
    with_plane(|plane| async move {
        create(&plane, "apps/v1", "deployments", "default", deployment("nginx:1", 3));
        let first = wait(&plane, "apps/v1", "deployments", "default", "web", |it| {
            complete(it) && condition(it, "Progressing")["reason"] == "NewReplicaSetAvailable"
        })
        .await;
        assert_eq!(condition(&first, "Available")["reason"], "MinimumReplicasAvailable");
        assert_eq!(first["metadata"]["annotations"]["deployment.kubernetes.io/revision"], "1");
        let handle = plane.handle("test");
        let target = handle.target("apps/v1", "deployments", "default", "web").expect("known");
        handle
            .modify(&target, |it| {
                it["spec"]["template"]["spec"]["containers"][0]["image"] = json!("nginx:2")
            })
            .expect("changed");
        let second = wait(&plane, "apps/v1", "deployments", "default", "web", |it| {
            complete(it)
                && it["metadata"]["annotations"]["deployment.kubernetes.io/revision"] == "2"
        })
        .await;
        assert_eq!(second["status"].get("unavailableReplicas"), None);
        handle
            .delete(
                &target,
                &DeleteOptions {
                    propagation: Some("Foreground".to_owned()),
                    ..DeleteOptions::default()
                },
            )
            .expect("deleted");
        wait(&plane, "apps/v1", "deployments", "default", "web", Value::is_null).await;
        let pods = handle.target("v1", "pods", "default", "").expect("known");
        assert_eq!(
            handle.list(&pods, &ListOptions::default()).await.expect("a list").items.len(),
            0
        );
    })
    .await;
}

// Without a kubelet somebody else says that pods are ready, one after the other. The clock stands still until all
// wait for it: what lies between the two is the same on a busy machine.
#[tokio::test(start_paused = true)]
async fn a_pod_is_still_there_when_those_beside_it_become_ready() {
    with_options(Options { pods: false, ..Options::default() }, |plane| async move {
        create(&plane, "apps/v1", "deployments", "default", deployment("nginx:1", 1));
        let handle = plane.handle("test");
        let pods = handle.target("v1", "pods", "default", "").expect("known");
        let named = async |many: usize| loop {
            let found = handle.list(&pods, &ListOptions::default()).await.expect("a list").items;
            if found.len() == many {
                break found.iter().map(|it| it["metadata"]["name"].as_str().unwrap_or_default().to_owned()).collect::<Vec<_>>();
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        };
        let ready = |name: &str| {
            let mut target = handle.target("v1", "pods", "default", name).expect("known");
            target.subresource = "status".to_owned();
            handle.modify(&target, |it| {
                it["status"] = json!({"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]});
            })
        };
        let old = named(1).await.remove(0);
        let target = handle.target("apps/v1", "deployments", "default", "web").expect("known");
        let image = |it: &mut Value| it["spec"]["template"]["spec"]["containers"][0]["image"] = json!("nginx:2");
        handle.modify(&target, image).expect("changed");
        let new = named(2).await.into_iter().find(|it| *it != old).expect("another pod");
        ready(&new).expect("the new one");
        tokio::time::sleep(Duration::from_millis(15)).await;
        ready(&old).expect("the old one");
        assert_eq!(named(1).await, [new]);
    })
    .await;
}

#[tokio::test]
async fn pods_follow_the_script_in_their_image() {
    with_plane(|plane| async move {
        create(&plane, "apps/v1", "deployments", "default", deployment("registry.local/never:1", 1));
        let it = wait(&plane, "apps/v1", "deployments", "default", "web", |it| it["status"]["unavailableReplicas"] == 1).await;
        assert_eq!(condition(&it, "Available")["status"], "False");
        for (name, image, end) in [("good", "busybox", "Complete"), ("bad", "registry.local/fail:1", "Failed")] {
            let job = json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "namespace": "default"},
                "spec": {"backoffLimit": 0, "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": image}]}}}});
            create(&plane, "batch/v1", "jobs", "default", job);
            wait(&plane, "batch/v1", "jobs", "default", name, |it| condition(it, end)["status"] == "True").await;
        }
    }).await;
}

#[tokio::test]
async fn jobs_end_by_their_policies() {
    with_plane(|plane| async move {
        let rules = json!({"rules": [{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [42]}}]});
        for (name, image, spec, kind, reason) in [
            ("fatal", "registry.local/fail:1", json!({"podFailurePolicy": rules}), "Failed", "PodFailurePolicy"),
            ("each", "registry.local/fail:1", json!({"completionMode": "Indexed", "completions": 2, "parallelism": 2, "backoffLimitPerIndex": 0}), "Failed", "FailedIndexes"),
            ("many", "registry.local/fail:1", json!({"completionMode": "Indexed", "completions": 3, "parallelism": 1, "backoffLimitPerIndex": 0, "maxFailedIndexes": 0}), "Failed", "MaxFailedIndexesExceeded"),
            ("some", "busybox", json!({"completionMode": "Indexed", "completions": 3, "parallelism": 1, "successPolicy": {"rules": [{"succeededIndexes": "0"}]}}), "Complete", "SuccessPolicy"),
        ] {
            let mut job = json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "namespace": "default"},
                "spec": {"template": {
                    "metadata": {"annotations": {"simulate.lateen.dev/exit-after": "1ms", "simulate.lateen.dev/exit-code": if image == "busybox" { "0" } else { "42" }}},
                    "spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": image}]}}}});
            for (key, value) in spec.as_object().into_iter().flatten() {
                job["spec"][key] = value.clone();
            }
            create(&plane, "batch/v1", "jobs", "default", job);
            let it = wait(&plane, "batch/v1", "jobs", "default", name, |it| condition(it, kind)["status"] == "True").await;
            assert_eq!(condition(&it, kind)["reason"], reason, "{name}: {}", it["status"]);
            if name == "each" {
                assert_eq!(it["status"]["failedIndexes"], "0,1");
            }
        }
    }).await;
}

#[tokio::test]
async fn stateful_sets_daemon_sets_and_namespaces() {
    with_plane(|plane| async move {
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}});
        create(&plane, "v1", "namespaces", "", namespace);
        wait(&plane, "v1", "serviceaccounts", "shop", "default", |it| !it.is_null()).await;
        for (plural, kind, more) in [("statefulsets", "StatefulSet", json!({"replicas": 2, "serviceName": "web"})), ("daemonsets", "DaemonSet", json!({}))] {
            let mut spec = json!({"selector": {"matchLabels": {"app": "web"}}, "template": template("nginx:1")});
            for (key, value) in more.as_object().into_iter().flatten() {
                spec[key] = value.clone();
            }
            let object = json!({"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": "web", "namespace": "shop"}, "spec": spec});
            create(&plane, "apps/v1", plural, "shop", object);
        }
        wait(&plane, "apps/v1", "statefulsets", "shop", "web", |it| it["status"]["readyReplicas"] == 2).await;
        wait(&plane, "apps/v1", "daemonsets", "shop", "web", |it| it["status"]["numberReady"] == 1).await;
        let handle = plane.handle("test");
        let target = handle.target("v1", "namespaces", "", "shop").expect("known");
        handle.delete(&target, &DeleteOptions::default()).expect("deleted");
        wait(&plane, "v1", "namespaces", "", "shop", Value::is_null).await;
    }).await;
}

#[tokio::test]
async fn a_daemon_set_follows_new_nodes() {
    with_plane(|plane| async move {
        let set = json!({"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "d", "namespace": "default"},
            "spec": {"selector": {"matchLabels": {"app": "web"}}, "template": template("i")}});
        create(&plane, "apps/v1", "daemonsets", "default", set);
        let scheduled =
            |many: i64| move |it: &Value| it["status"]["desiredNumberScheduled"] == json!(many);
        wait(&plane, "apps/v1", "daemonsets", "default", "d", scheduled(1)).await;
        let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "late"}});
        create(&plane, "v1", "nodes", "", node);
        wait(&plane, "apps/v1", "daemonsets", "default", "d", scheduled(2)).await;
    })
    .await;
}

// The names are what Kubernetes 1.36 gives these templates on a cluster.
#[tokio::test]
async fn templates_are_kept_as_revisions_with_the_names_of_kubernetes() {
    with_plane(|plane| async move {
        create(&plane, "apps/v1", "deployments", "default", deployment("registry.local/web:1", 0));
        for (plural, kind) in [("statefulsets", "StatefulSet"), ("daemonsets", "DaemonSet")] {
            let object = json!({"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": "web", "namespace": "default"},
                "spec": {"selector": {"matchLabels": {"app": "web"}}, "revisionHistoryLimit": 1, "template": template("registry.local/web:1")}});
            create(&plane, "apps/v1", plural, "default", object);
        }
        wait(&plane, "apps/v1", "replicasets", "default", DEPLOYED, |it| !it.is_null()).await;
        let handle = plane.handle("test");
        for (plural, first) in [("statefulsets", KEPT), ("daemonsets", DEPLOYED)] {
            let number = |n: i64| move |it: &Value| it["revision"] == json!(n);
            let it = wait(&plane, "apps/v1", "controllerrevisions", "default", first, number(1)).await;
            assert_eq!(it["data"]["spec"]["template"]["$patch"], "replace");
            let target = handle.target("apps/v1", plural, "default", "web").expect("known");
            let image = |image: &str| {
                let seen = handle
                    .modify(&target, |it| it["spec"]["template"]["spec"]["containers"][0]["image"] = json!(image))
                    .expect("changed");
                seen["metadata"]["generation"].clone()
            };
            let observed = async |generation: Value| {
                wait(&plane, "apps/v1", plural, "default", "web", |it| {
                    it["status"]["observedGeneration"] == generation && it["status"]["collisionCount"].as_i64().unwrap_or(0) == 0
                }).await
            };
            observed(image("registry.local/web:2")).await;
            observed(image("registry.local/web:1")).await;
            // The first template again: the same revision, with the next number.
            wait(&plane, "apps/v1", "controllerrevisions", "default", first, number(3)).await;
            for next in 3..6 {
                observed(image(&format!("registry.local/web:{next}"))).await;
            }
            // One of the past is kept, and what a pod still has.
            wait(&plane, "apps/v1", "controllerrevisions", "default", first, Value::is_null).await;
        }
    }).await;
}
