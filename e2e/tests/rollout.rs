//! Blue and green: half to the new revision, then one that is refused and one that is approved (W-100 to W-106).
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used)]

use http::Method;
use kube::config::{KubeConfigOptions, Kubeconfig};
use lateen_controller::rest::{self, ActAs, Body};
use lateen_e2e::bench::{Plane, repository};
use serde_json::{Value, json};

/// A cluster to look into.
struct Cluster(kube::Client);

impl Cluster {
    async fn of(plane: &Plane) -> Self {
        let file = Kubeconfig::read_from(&plane.kubeconfig).unwrap();
        let options = KubeConfigOptions::default();
        let config = kube::Config::from_custom_kubeconfig(file, &options).await.unwrap();
        Self(kube::Client::try_from(config).unwrap())
    }

    async fn get(&self, path: &str) -> Value {
        let answer = rest::send(&self.0, Method::GET, path, None, &ActAs::default()).await;
        answer.unwrap_or_default()
    }

    /// Pods that the Deployments want, by name.
    async fn wanted(&self) -> Vec<String> {
        let list = self.get("/apis/apps/v1/namespaces/default/deployments").await;
        let mut all: Vec<String> = (list["items"].as_array().into_iter().flatten())
            .map(|it| {
                format!("{} {}", it["metadata"]["name"].as_str().unwrap(), it["spec"]["replicas"])
            })
            .collect();
        all.sort();
        all
    }

    /// The revision that the Service leads to.
    async fn served(&self) -> String {
        let service = self.get("/api/v1/namespaces/default/services/web").await;
        let revision = &service["spec"]["selector"]["rollout.oam.dev/revision"];
        revision.as_str().unwrap_or_default().to_owned()
    }

    async fn refuse(&self, revision: &str) {
        let path = "/apis/core.oam.dev/v1beta1/namespaces/default/applications/blue-green";
        let body = json!({"metadata": {"annotations": {"app.oam.dev/reject": revision}}});
        let body = Some((Body::MergePatch, &body));
        rest::send(&self.0, Method::PATCH, path, body, &ActAs::default()).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revision_is_refused_and_another_approved() {
    let plane = tokio::task::spawn_blocking(Plane::start).await.unwrap().unwrap();
    let cluster = Cluster::of(&plane).await;
    let app = std::fs::read_to_string(repository().join("examples/blue-green/app.yaml")).unwrap();
    let deliver = |image: &str| {
        let answer = plane.lateen_with(&["up", "-f", "-"], &app.replace("nginx:1.26", image));
        format!("{}{}", answer.out, answer.err)
    };

    let told = deliver("nginx:1.26");
    assert!(told.contains("blue-green running"), "{told}");
    assert_eq!(cluster.wanted().await, ["web-blue-green-v1 4"]);

    let told = deliver("nginx:1.27");
    assert!(told.contains("lateen workflow resume blue-green"), "{told}");
    assert_eq!(cluster.wanted().await, ["web-blue-green-v1 2", "web-blue-green-v2 2"]);
    assert_eq!(cluster.served().await, "blue-green-v1");
    let canary =
        cluster.get("/apis/networking.k8s.io/v1/namespaces/default/ingresses/web-canary").await;
    let weight = &canary["metadata"]["annotations"]["nginx.ingress.kubernetes.io/canary-weight"];
    assert_eq!(weight, "50");

    cluster.refuse("blue-green-v2").await;
    plane.lateen(&["workflow", "resume", "blue-green"]).ok();
    plane.until("blue-green", "{.status.latestRevision.name}", "blue-green-v1");
    plane.until("blue-green", "{.status.status}", "running");
    plane.until("blue-green", "{.spec.components[0].properties.image}", "nginx:1.26");
    assert_eq!(cluster.served().await, "blue-green-v1");
    assert_eq!(cluster.wanted().await, ["web-blue-green-v1 4"]);

    let told = deliver("nginx:1.28");
    assert!(told.contains("lateen workflow resume blue-green"), "{told}");
    plane.lateen(&["workflow", "resume", "blue-green"]).ok();
    plane.until("blue-green", "{.status.workflow.status}", "succeeded");
    plane.until("blue-green", "{.status.status}", "running");
    assert_eq!(cluster.served().await, "blue-green-v2");
    assert_eq!(cluster.wanted().await, ["web-blue-green-v2 4"]);
}
