//! Tokens: whose they are, and what those may do.

use axum::body::Body;
use http::Request;
use http_body_util::BodyExt;
use local_server::{Options, Plane, Tokens};
use serde_json::{Value, json};
use tower::ServiceExt;

async fn ask(
    service: &axum::Router,
    token: &str,
    method: &str,
    path: &str,
    body: Value,
) -> (u16, Value) {
    let mut request = Request::builder().method(method).uri(path);
    if !token.is_empty() {
        request = request.header("Authorization", format!("Bearer {token}"));
    }
    let request = request.header("Content-Type", "application/json");
    let body = if body.is_null() { Body::empty() } else { Body::from(body.to_string()) };
    let answer = service.clone().oneshot(request.body(body).expect("a request")).await;
    let (parts, body) = answer.expect("an answer").into_parts();
    let bytes = body.collect().await.expect("a body").to_bytes();
    (parts.status.as_u16(), serde_json::from_slice(&bytes).unwrap_or_default())
}

#[tokio::test]
async fn tokens_say_who_asks() {
    let plane = Plane::new(Options::default()).expect("a plane");
    let mut tokens = Tokens::parse("# users\nsecret,alice,1,\"dev,ops\"\n").expect("tokens");
    let admin = tokens.add_admin();
    let service = plane.guarded(tokens);
    let list = "/api/v1/namespaces/default/configmaps";
    assert_eq!(ask(&service, "", "GET", list, Value::Null).await.0, 403);
    assert_eq!(ask(&service, "wrong", "GET", list, Value::Null).await.0, 401);
    assert_eq!(ask(&service, &admin, "GET", list, Value::Null).await.0, 200);
    let (code, said) = ask(&service, "secret", "GET", list, Value::Null).await;
    assert_eq!(code, 403, "{said}");
    assert_eq!(ask(&service, "", "GET", "/version", Value::Null).await.0, 200);
    let review = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    let (_, said) = ask(&service, "secret", "POST", review, json!({})).await;
    assert_eq!(said["status"]["userInfo"]["groups"], json!(["dev", "ops", "system:authenticated"]));
}

#[tokio::test]
async fn service_accounts_have_tokens_while_they_live() {
    let plane = Plane::new(Options::default()).expect("a plane");
    let mut tokens = Tokens::default();
    let admin = tokens.add_admin();
    let service = plane.guarded(tokens);
    let accounts = "/api/v1/namespaces/default/serviceaccounts";
    let made = ask(&service, &admin, "POST", accounts, json!({"metadata": {"name": "bot"}})).await;
    assert_eq!(made.0, 201, "{}", made.1);
    let path = format!("{accounts}/bot/token");
    let (code, said) = ask(&service, &admin, "POST", &path, json!({"spec": {}})).await;
    assert_eq!(code, 201, "{said}");
    let token = said["status"]["token"].as_str().expect("a token").to_owned();
    let list = "/api/v1/namespaces/default/configmaps";
    let (code, said) = ask(&service, &token, "GET", list, Value::Null).await;
    assert_eq!(code, 403);
    let text = said["message"].as_str().unwrap_or_default();
    assert!(text.contains("\"system:serviceaccount:default:bot\""), "{text}");
    let other = format!("{token}x");
    assert_eq!(ask(&service, &other, "GET", list, Value::Null).await.0, 401);
    ask(&service, &admin, "DELETE", &format!("{accounts}/bot"), Value::Null).await;
    assert_eq!(ask(&service, &token, "GET", list, Value::Null).await.0, 401);
}

#[test]
fn a_line_that_is_no_token_is_named() {
    assert_eq!(Tokens::parse("a,b,c\n\nonly\n").err(), Some(3));
}

#[tokio::test]
async fn nobody_gives_away_what_they_do_not_have() {
    let plane = Plane::new(Options::default()).expect("a plane");
    let mut tokens = Tokens::parse("secret,alice,1,\"dev\"\n").expect("tokens");
    let admin = tokens.add_admin();
    let service = plane.guarded(tokens);
    let rbac = "/apis/rbac.authorization.k8s.io/v1";
    let roles = format!("{rbac}/namespaces/default/roles");
    let bindings = format!("{rbac}/namespaces/default/rolebindings");
    let rules = |verbs: Value, group: &str, resource: &str| json!({"verbs": verbs, "apiGroups": [group], "resources": [resource]});
    let role = |name: &str, rules: Value| json!({"metadata": {"name": name}, "rules": rules});
    let bind = |name: &str, role: &str| {
        json!({
            "metadata": {"name": name}, "subjects": [{"kind": "User", "name": "alice", "apiGroup": "rbac.authorization.k8s.io"}],
            "roleRef": {"kind": "Role", "name": role, "apiGroup": "rbac.authorization.k8s.io"},
        })
    };
    let group = "rbac.authorization.k8s.io";
    let keeper = json!([
        rules(json!(["*"]), group, "roles"),
        rules(json!(["get", "create"]), group, "rolebindings"),
        rules(json!(["get"]), "", "pods"),
    ]);
    let mut keeper = role("keeper", keeper);
    keeper["rules"][0]["verbs"] = json!(["get", "create", "update", "patch"]);
    for (path, body) in [
        (&roles, keeper),
        (&bindings, bind("keeper", "keeper")),
        (&roles, role("secrets", json!([rules(json!(["get"]), "", "secrets")]))),
    ] {
        let (code, said) = ask(&service, &admin, "POST", path, body).await;
        assert_eq!(code, 201, "{said}");
    }
    let pods = role("pods", json!([rules(json!(["get"]), "", "pods")]));
    assert_eq!(ask(&service, "secret", "POST", &roles, pods).await.0, 201);
    let more = role("more", json!([rules(json!(["get", "delete"]), "", "pods")]));
    let (code, said) = ask(&service, "secret", "POST", &roles, more.clone()).await;
    assert_eq!((code, &said["reason"]), (403, &json!("Forbidden")));
    assert_eq!(
        said["message"],
        json!(
            "roles.rbac.authorization.k8s.io \"more\" is forbidden: user \"alice\" (groups=[\"dev\" \"system:authenticated\"]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"delete\"]}"
        )
    );
    let mut changed = role("pods", json!([rules(json!(["*"]), "", "pods")]));
    let one = format!("{roles}/pods");
    assert_eq!(ask(&service, "secret", "PUT", &one, changed.clone()).await.0, 403);
    changed["rules"][0]["verbs"] = json!(["get"]);
    changed["metadata"]["labels"] = json!({"a": "b"});
    assert_eq!(ask(&service, "secret", "PUT", &one, changed).await.0, 200);
    let (code, said) = ask(&service, "secret", "POST", &bindings, bind("own", "secrets")).await;
    assert_eq!(code, 403, "{said}");
    assert_eq!(ask(&service, "secret", "POST", &bindings, bind("own", "pods")).await.0, 201);
    assert_eq!(ask(&service, "secret", "POST", &bindings, bind("none", "missing")).await.0, 404);
    assert_eq!(ask(&service, &admin, "POST", &roles, more).await.0, 201);
}
