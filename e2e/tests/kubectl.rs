//! kubectl on the plane: tables, every way to write, watch, wait, describe.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used)]

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use lateen_e2e::bench::{Plane, kubectl};

const APP: &str = "\
apiVersion: core.oam.dev/v1beta1
kind: Application
metadata: {name: web}
spec:
  components:
    - name: web
      type: webservice
      properties: {image: 'nginx:1.27'}
      traits: [{type: scaler, properties: {replicas: 2}}]
";

#[test]
fn kubectl_is_at_home() {
    let Some(kubectl) = kubectl() else {
        eprintln!("no kubectl (make kubectl fetches one): these tests are left out");
        return;
    };
    let plane = Plane::start().unwrap();
    let k = |arguments: &[&str]| plane.kubectl(&kubectl, arguments, "");
    let file = plane.home.file("web.yaml", APP);
    let file = file.to_str().unwrap();

    // A watch that begins before anything is there sees it come.
    let seen = plane.home.folder.path().join("seen");
    let mut watch = Command::new(&kubectl);
    watch.args(["--kubeconfig", &plane.kubeconfig, "get", "deployments", "--watch", "-o", "name"]);
    watch.env("HOME", plane.home.folder.path()).stdin(Stdio::null());
    watch.stdout(std::fs::File::create(&seen).unwrap()).stderr(Stdio::null());
    let mut watch = watch.spawn().unwrap();

    assert_eq!(k(&["apply", "-f", file]).ok(), "application.core.oam.dev/web created\n");
    assert_eq!(k(&["apply", "-f", file]).ok(), "application.core.oam.dev/web unchanged\n");
    let phase = "--for=jsonpath={.status.status}=running";
    k(&["wait", phase, "app/web", "--timeout=30s"]).ok();
    k(&["wait", "--for=condition=Available", "deployment/web", "--timeout=30s"]).ok();
    k(&["rollout", "status", "deployment/web", "--timeout=30s"]).ok();
    let table = k(&["get", "app"]).ok();
    let heading = table.lines().next().unwrap_or_default();
    for column in ["NAME", "COMPONENT", "TYPE", "PHASE", "HEALTHY", "STATUS", "AGE"] {
        assert!(heading.contains(column), "no {column} in {heading:?}");
    }
    assert!(table.contains("web") && table.contains("running"), "{table}");
    let table = k(&["get", "deployments,pods", "-o", "wide"]).ok();
    assert!(table.contains("READY") && table.contains("2/2"), "{table}");
    let told = k(&["describe", "app", "web"]).ok();
    for part in ["Kind:", "Application", "Events:", "Workflow finished"] {
        assert!(told.contains(part), "no {part} in\n{told}");
    }

    let scale = "{\"spec\":{\"components\":[{\"name\":\"web\",\"type\":\"webservice\",\
                 \"properties\":{\"image\":\"nginx:1.28\"}}]}}";
    k(&["patch", "app", "web", "--type=merge", "-p", scale]).ok();
    let image = "--for=jsonpath={.spec.template.spec.containers[0].image}=nginx:1.28";
    k(&["wait", image, "deployment/web", "--timeout=30s"]).ok();
    let applied =
        plane.kubectl(&kubectl, &["apply", "--server-side", "--force-conflicts", "-f", "-"], APP);
    assert_eq!(applied.ok(), "application.core.oam.dev/web serverside-applied\n");
    let image = "--for=jsonpath={.spec.template.spec.containers[0].image}=nginx:1.27";
    k(&["wait", image, "deployment/web", "--timeout=30s"]).ok();
    let explained = k(&["explain", "application.spec.components"]).ok();
    assert!(explained.contains("traits"), "{explained}");
    let diff = k(&["diff", "-f", file]);
    assert_eq!(diff.code, 0, "{diff:?}");

    k(&["delete", "app", "web", "--timeout=30s"]).ok();
    let started = Instant::now();
    while k(&["get", "deployments", "-o", "name"]).ok() != "" {
        assert!(started.elapsed() < Duration::from_secs(20), "the Deployment stays");
        std::thread::sleep(Duration::from_millis(50));
    }
    let _ = watch.kill();
    let _ = watch.wait();
    let seen = std::fs::read_to_string(seen).unwrap();
    assert!(seen.contains("deployment.apps/web"), "{seen:?}");
    k(&["get", "app", "web"]).refused(1, &["applications.core.oam.dev \"web\" not found"]);
    let bad = APP.replace("components", "componets");
    let refused = plane.kubectl(&kubectl, &["apply", "-f", "-"], &bad);
    refused.refused(1, &["unknown field \"spec.componets\""]);
}
