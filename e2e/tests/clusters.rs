//! Applications delivered to several clusters: joined by their kubeconfigs, one of them gone.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used)]

use lateen_controller::rest::{self, ActAs};
use lateen_e2e::bench::Plane;
use serde_json::Value;

const WIDE: &str = "\
apiVersion: core.oam.dev/v1beta1
kind: Application
metadata: {name: wide}
spec:
  components:
    - {name: note, type: k8s-objects, properties: {objects: [
        {apiVersion: v1, kind: ConfigMap, metadata: {name: wide-note}, data: {of: all}}]}}
  policies:
    - {name: here, type: topology, properties: {clusters: [local]}}
    - {name: there, type: topology, properties: {clusterLabelSelector: {area: far}}}
    - {name: far, type: override, properties: {components: [{name: note, properties: {objects: [
        {apiVersion: v1, kind: ConfigMap, metadata: {name: wide-note}, data: {of: east}}]}}]}}
  workflow:
    steps:
      - {name: here, type: deploy, properties: {policies: [here]}}
      - {name: there, type: deploy, properties: {policies: [there, far]}}
";

/// `data.of` of a ConfigMap, as the plane itself has it.
#[tokio::main(flavor = "current_thread")]
async fn note(plane: &Plane, name: &str) -> Value {
    let path = format!("/api/v1/namespaces/default/configmaps/{name}");
    plane.look(&path).await["data"]["of"].clone()
}

#[tokio::main(flavor = "current_thread")]
async fn remove(plane: &Plane, name: &str) {
    let path = format!("/api/v1/namespaces/default/configmaps/{name}");
    let none = ActAs::default();
    rest::send(&plane.client().await.into(), http::Method::DELETE, &path, None, &none)
        .await
        .unwrap();
}

#[test]
fn two_clusters_are_served_until_one_is_gone() {
    let (hub, east) = std::thread::scope(|scope| {
        let east = scope.spawn(|| Plane::start().unwrap());
        (Plane::start().unwrap(), east.join().unwrap())
    });
    hub.lateen(&["cluster", "join", "/nowhere"]).refused(2, &["/nowhere"]);
    let join = ["cluster", "join", east.kubeconfig.as_str(), "--name", "east"];
    let labelled = [join.as_slice(), &["--labels", "area=far"]].concat();
    assert!(hub.lateen(&labelled).ok().starts_with("cluster east joined (v1."));
    hub.lateen(&join).refused(2, &["--replace"]);
    let list = hub.lateen(&["cluster", "list"]).ok();
    let endpoint = format!("https://127.0.0.1:{}", east.port);
    for word in ["local", "Internal", "east", "ServiceAccountToken", &endpoint, "area=far"] {
        assert!(list.contains(word), "no {word} in\n{list}");
    }

    let told = hub.lateen_with(&["up", "-f", "-"], WIDE).ok();
    assert!(told.contains("wide running"), "{told}");
    assert_eq!(note(&hub, "wide-note"), "all");
    assert_eq!(note(&east, "wide-note"), "east");
    let services = hub.lateen(&["status", "wide", "-o", "jsonpath={.status.services[*].cluster}"]);
    assert_eq!(services.ok(), "local east");

    // What changes there is seen at once, long before anybody looks again by himself.
    remove(&east, "wide-note");
    let started = std::time::Instant::now();
    while note(&east, "wide-note") != "east" {
        assert!(started.elapsed().as_secs() < 30, "nobody saw that it is gone from there");
        std::thread::sleep(std::time::Duration::from_millis(100));
    }

    drop(east);
    let more = WIDE.replace("wide", "more");
    hub.lateen_with(&["up", "--no-wait", "-f", "-"], &more).ok();
    let started = std::time::Instant::now();
    while note(&hub, "more-note") != "all" {
        assert!(started.elapsed().as_secs() < 30, "this cluster waits for the other one");
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    hub.until("more", "{.status.workflow.steps[0].phase}", "succeeded");
    hub.until("more", "{.status.workflow.steps[1].phase}", "running");
    let waits = hub.lateen(&["status", "more", "-o", "json"]).ok();
    assert!(waits.contains("error encountered in cluster east"), "{waits}");

    // What is here goes at once; what is there is waited for, and then left behind.
    let file = hub.home.file("wide.yaml", WIDE);
    hub.lateen(&["delete", "-f", file.to_str().unwrap(), "--wait=false"]).ok();
    hub.until("wide", "{.status.status}", "deleting");
    let waits = hub.lateen(&["status", "wide", "-o", "json"]).ok();
    assert!(waits.contains("app.oam.dev/abandon-unreachable"), "{waits}");
    assert_eq!(note(&hub, "wide-note"), Value::Null);
    assert!(hub.lateen(&["delete", "wide", "--force"]).ok().contains("deleted"));
    hub.lateen(&["status", "wide"]).refused(2, &["no Application wide"]);
    assert!(hub.lateen(&["cluster", "detach", "east"]).ok().contains("detached"));
    hub.lateen(&["cluster", "detach", "east"]).refused(2, &["no cluster east"]);
}
