//! Applications delivered for somebody: what he may not do is refused, and said.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used)]

use lateen_e2e::bench::Plane;
use serde_json::{Value, json};

#[tokio::main(flavor = "current_thread")]
async fn write(plane: &Plane, path: &str, object: &Value) {
    plane.write(path, object).await;
}

/// An Application that makes an object of this kind for the service account `deployer`.
fn application(name: &str, object: &str) -> String {
    format!(
        "\
apiVersion: core.oam.dev/v1beta1
kind: Application
metadata:
  name: {name}
  annotations: {{app.oam.dev/service-account-name: deployer}}
spec:
  components: [{{name: it, type: k8s-objects, properties: {{objects: [{object}]}}}}]
"
    )
}

#[tokio::main(flavor = "current_thread")]
async fn data(plane: &Plane, kind: &str, name: &str) -> Value {
    plane.look(&format!("/api/v1/namespaces/default/{kind}/{name}")).await["data"].clone()
}

#[test]
fn nobody_delivers_more_than_his_account_may() {
    let plane = Plane::start().unwrap();
    let rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/default";
    write(
        &plane,
        "/api/v1/namespaces/default/serviceaccounts/deployer",
        &json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "deployer"}}),
    );
    let role = |verbs: &[&str]| {
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "Role",
            "metadata": {"name": "notes"},
            "rules": [{"apiGroups": [""], "resources": ["configmaps"], "verbs": verbs}],
        })
    };
    write(&plane, &format!("{rbac}/roles/notes"), &role(&["get", "create", "patch", "delete"]));
    write(
        &plane,
        &format!("{rbac}/rolebindings/notes"),
        &json!({
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "RoleBinding",
            "metadata": {"name": "notes"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "notes"},
            "subjects": [{"kind": "ServiceAccount", "name": "deployer", "namespace": "default"}],
        }),
    );

    let note = "{apiVersion: v1, kind: ConfigMap, metadata: {name: note}, data: {is: allowed}}";
    let told = plane.lateen_with(&["up", "-f", "-"], &application("allowed", note)).ok();
    assert!(told.contains("allowed running"), "{told}");
    assert!(!data(&plane, "configmaps", "note").is_null());

    let key = "{apiVersion: v1, kind: Secret, metadata: {name: key}, stringData: {is: refused}}";
    plane.lateen_with(&["up", "--no-wait", "-f", "-"], &application("refused", key)).ok();
    plane.until("refused", "{.status.workflow.steps[0].phase}", "running");
    let told = plane.lateen(&["status", "refused", "-o", "json"]).ok();
    for word in ["system:serviceaccount:default:deployer", "secrets", "forbidden"] {
        assert!(told.contains(word), "no {word} in {told}");
    }
    assert_eq!(data(&plane, "secrets", "key"), Value::Null);

    // What may no longer be done is not done for him any more, and the rest stays as it is.
    write(&plane, &format!("{rbac}/roles/notes"), &role(&["get"]));
    let changed = application("allowed", &note.replace("allowed", "changed"));
    plane.lateen_with(&["up", "--no-wait", "-f", "-"], &changed).ok();
    plane.until("allowed", "{.status.workflow.steps[0].phase}", "running");
    assert_eq!(data(&plane, "configmaps", "note")["is"], "allowed");
}
