//! A controller whose network refuses, loses and cuts what it likes.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used)]

use std::time::{Duration, Instant};

use lateen_controller::rest::{self, ActAs};
use lateen_e2e::bench::{Home, client};
use lateen_e2e::faults::Faulty;
use lateen_e2e::process::{Running, tail};
use lateen_e2e::proxy;
use serde_json::Value;

const APPLICATION: &str = "\
apiVersion: core.oam.dev/v1beta1
kind: Application
metadata: {name: NAME}
spec:
  components:
    - name: NAME
      type: webservice
      properties: {image: 'nginx:TAG', ports: [{port: 80, expose: true}]}
      traits: [{type: scaler, properties: {replicas: 2}}]
";

/// What the API has at a path.
async fn list(kubeconfig: &str, path: &str) -> Vec<Value> {
    let client = client(kubeconfig).await.into();
    let found = rest::get(&client, path, &ActAs::default()).await.unwrap().unwrap_or_default();
    found["items"].as_array().cloned().unwrap_or_default()
}

#[tokio::test]
async fn what_was_asked_for_last_is_there_and_what_was_deleted_is_gone() {
    let home = Home::new();
    let (_plane, kubeconfig, port) = home.serve(&["--insecure"]).unwrap();
    home.lateen(&["install", "--kubeconfig", &kubeconfig]).ok();
    let text = std::fs::read_to_string(&kubeconfig).unwrap();
    let (listener, through) = proxy::between(&text, port).unwrap();
    let through = home.file("through.yaml", &through);
    let faulty = Faulty::start(listener, port, 7);
    let mut command = home.command(&["controller", "--kubeconfig", through.to_str().unwrap()]);
    command.args(["--leader-elect=false", "--application-re-sync-period=10s"]);
    let log = home.folder.path().join("controller.log");
    let _controller = Running::start("lateen controller", &mut command, &log).unwrap();

    let names: Vec<String> = (0..8).map(|it| format!("app-{it}")).collect();
    for tag in ["1.26", "1.27"] {
        let all: Vec<String> = names
            .iter()
            .map(|name| APPLICATION.replace("NAME", name).replace("TAG", tag))
            .collect();
        let file = home.file("apps.yaml", &all.join("---\n"));
        let file = file.to_str().unwrap();
        home.lateen(&["up", "-f", file, "--no-wait", "--kubeconfig", &kubeconfig]).ok();
        tokio::time::sleep(Duration::from_millis(700)).await;
    }
    let deployments = "/apis/apps/v1/namespaces/default/deployments";
    let applications = "/apis/core.oam.dev/v1beta1/namespaces/default/applications";
    let started = Instant::now();
    let late = |what: &str| {
        let late = started.elapsed() > Duration::from_secs(90);
        assert!(!late, "{what}\n{}", tail(&log, 20));
    };
    loop {
        let image = "nginx:1.27";
        let found = list(&kubeconfig, deployments).await;
        let delivered = found.iter().filter(|it| {
            let spec = &it["spec"];
            spec["replicas"] == 2 && spec["template"]["spec"]["containers"][0]["image"] == image
        });
        let runs = list(&kubeconfig, applications).await;
        let runs = runs.iter().filter(|it| it["status"]["status"] == "running").count();
        let delivered = delivered.count();
        if (delivered, runs) == (names.len(), names.len()) {
            break;
        }
        late(&format!("{delivered} delivered, {runs} running"));
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    for name in &names {
        home.lateen(&["delete", name, "--wait=false", "--kubeconfig", &kubeconfig]).ok();
    }
    loop {
        let left = [
            list(&kubeconfig, applications).await.len(),
            list(&kubeconfig, deployments).await.len(),
            list(&kubeconfig, "/api/v1/namespaces/default/services").await.len(),
            list(&kubeconfig, "/apis/core.oam.dev/v1beta1/resourcetrackers").await.len(),
        ];
        if left.iter().sum::<usize>() == 0 {
            break;
        }
        late(&format!("Applications, Deployments, Services, trackers left: {left:?}"));
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let (faults, requests) = faulty.faults();
    assert!(faults > 20, "{faults} faults in {requests} requests");
}
