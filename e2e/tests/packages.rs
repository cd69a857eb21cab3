//! Package objects: templates may import what they declare, from when they are there.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used)]

use lateen_e2e::bench::Plane;
use serde_json::{Value, json};

const APPLICATION: &str = "\
apiVersion: core.oam.dev/v1beta1
kind: Application
metadata: {name: adds}
spec:
  components: []
  workflow: {steps: [{name: sum, type: sum}]}
";

#[tokio::main(flavor = "current_thread")]
async fn write(plane: &Plane, path: &str, object: &Value) {
    plane.write(path, object).await;
}

fn package(plane: &Plane, sum: &str) {
    let object = json!({
        "apiVersion": "cue.oam.dev/v1alpha1",
        "kind": "Package",
        "metadata": {"name": "sums", "namespace": "vela-system"},
        "spec": {"path": "ext/sums", "templates": {"sums.cue": format!("package sums\n#Sum: {sum}")}},
    });
    write(plane, "/apis/cue.oam.dev/v1alpha1/namespaces/vela-system/packages/sums", &object);
}

#[tokio::main(flavor = "current_thread")]
async fn sum(plane: &Plane) -> Value {
    plane.look("/api/v1/namespaces/default/configmaps/sum").await["data"]["is"].clone()
}

#[test]
fn what_a_package_declares_may_be_imported_once_it_is_there() {
    let plane = Plane::start().unwrap();
    let step = json!({
        "apiVersion": "core.oam.dev/v1beta1",
        "kind": "WorkflowStepDefinition",
        "metadata": {"name": "sum", "namespace": "vela-system"},
        "spec": {"schematic": {"cue": {"template": "\
            import (\"ext/sums\"\n\"vela/kube\")\n\
            made: kube.#Apply & {$params: value: {\
                apiVersion: \"v1\", kind: \"ConfigMap\", metadata: name: \"sum\", data: is: \"\\(sums.#Sum)\"}}"}}},
    });
    let path = "/apis/core.oam.dev/v1beta1/namespaces/vela-system/workflowstepdefinitions/sum";
    write(&plane, path, &step);
    plane.lateen_with(&["up", "--no-wait", "-f", "-"], APPLICATION).ok();
    plane.until("adds", "{.status.workflow.steps[0].phase}", "failed");
    let told = plane.lateen(&["status", "adds", "-o", "json"]).ok();
    assert!(told.contains("ext/sums"), "{told}");

    for (sum, is) in [("1 + 1", "2"), ("1 + 2", "3")] {
        package(&plane, sum);
        comes_to(&plane, is);
    }
}

/// Restarts the run until it has made what is wanted.
fn comes_to(plane: &Plane, is: &str) {
    let started = std::time::Instant::now();
    while sum(plane) != is {
        assert!(started.elapsed().as_secs() < 30, "the packages of before are still imported");
        plane.lateen(&["workflow", "restart", "adds"]).ok();
        std::thread::sleep(std::time::Duration::from_millis(500));
    }
}
