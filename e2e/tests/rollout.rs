//! Blue and green: half to the new revision, then one that is refused and one that is approved (W-02, W-16, W-18,
//! W-19, W-100, W-101, W-102, W-103, W-104, W-105, W-106).
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used)]

use http::Method;
use lateen_controller::rest::{self, ActAs, Body};
use lateen_e2e::bench::{Plane, repository};
use serde_json::json;

/// Pods that the Deployments want, by name.
async fn wanted(plane: &Plane) -> Vec<String> {
    let list = plane.look("/apis/apps/v1/namespaces/default/deployments").await;
    let mut all: Vec<String> = (list["items"].as_array().into_iter().flatten())
        .map(|it| {
            format!("{} {}", it["metadata"]["name"].as_str().unwrap(), it["spec"]["replicas"])
        })
        .collect();
    all.sort();
    all
}

/// The revision that the Service leads to.
async fn served(plane: &Plane) -> String {
    let service = plane.look("/api/v1/namespaces/default/services/web").await;
    let revision = &service["spec"]["selector"]["rollout.oam.dev/revision"];
    revision.as_str().unwrap_or_default().to_owned()
}

async fn refuse(plane: &Plane, revision: &str) {
    let path = "/apis/core.oam.dev/v1beta1/namespaces/default/applications/blue-green";
    let body = json!({"metadata": {"annotations": {"app.oam.dev/reject": revision}}});
    let body = Some((Body::MergePatch, &body));
    let client = plane.client().await;
    rest::send(&client.into(), Method::PATCH, path, body, &ActAs::default()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revision_is_refused_and_another_approved() {
    let plane = tokio::task::spawn_blocking(Plane::start).await.unwrap().unwrap();
    let app = std::fs::read_to_string(repository().join("examples/blue-green/app.yaml")).unwrap();
    let deliver = |image: &str| {
        let answer = plane.lateen_with(&["up", "-f", "-"], &app.replace("nginx:1.26", image));
        format!("{}{}", answer.out, answer.err)
    };

    let told = deliver("nginx:1.26");
    assert!(told.contains("blue-green running"), "{told}");
    assert_eq!(wanted(&plane).await, ["web-blue-green-v1 4"]);

    let told = deliver("nginx:1.27");
    assert!(told.contains("lateen workflow resume blue-green"), "{told}");
    assert_eq!(wanted(&plane).await, ["web-blue-green-v1 2", "web-blue-green-v2 2"]);
    assert_eq!(served(&plane).await, "blue-green-v1");
    let canary =
        plane.look("/apis/networking.k8s.io/v1/namespaces/default/ingresses/web-canary").await;
    let weight = &canary["metadata"]["annotations"]["nginx.ingress.kubernetes.io/canary-weight"];
    assert_eq!(weight, "50");

    refuse(&plane, "blue-green-v2").await;
    plane.lateen(&["workflow", "resume", "blue-green"]).ok();
    plane.until("blue-green", "{.status.latestRevision.name}", "blue-green-v1");
    plane.until("blue-green", "{.status.status}", "running");
    plane.until("blue-green", "{.spec.components[0].properties.image}", "nginx:1.26");
    assert_eq!(served(&plane).await, "blue-green-v1");
    assert_eq!(wanted(&plane).await, ["web-blue-green-v1 4"]);

    let told = deliver("nginx:1.28");
    assert!(told.contains("lateen workflow resume blue-green"), "{told}");
    plane.lateen(&["workflow", "resume", "blue-green"]).ok();
    plane.until("blue-green", "{.status.workflow.status}", "succeeded");
    plane.until("blue-green", "{.status.status}", "running");
    assert_eq!(served(&plane).await, "blue-green-v2");
    assert_eq!(wanted(&plane).await, ["web-blue-green-v2 4"]);
}
