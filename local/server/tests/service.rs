//! The API through the service that `kube::Client` would use, without a socket.
use axum::body::Body;
use http::Request;
use http_body_util::BodyExt;
use local_server::{Options, Plane};
use serde_json::{Value, json};
use tower::ServiceExt;

async fn ask(plane: &Plane, method: &str, path: &str, kind: &str, body: Value) -> (u16, Value) {
    let body = if body.is_null() { Body::empty() } else { Body::from(body.to_string()) };
    let request = Request::builder().method(method).uri(path).header("content-type", kind);
    let answer =
        plane.service().oneshot(request.body(body).expect("a request")).await.expect("an answer");
    let code = answer.status().as_u16();
    let bytes = answer.into_body().collect().await.expect("a body").to_bytes();
    (code, serde_json::from_slice(&bytes).unwrap_or_default())
}

const JSON: &str = "application/json";
const MAPS: &str = "/api/v1/namespaces/default/configmaps";

#[tokio::test]
async fn life_of_an_object() {
    let plane = Plane::new(Options::default()).unwrap();
    let (code, made) =
        ask(&plane, "POST", MAPS, JSON, json!({"metadata": {"name": "a"}, "data": {"k": "v"}}))
            .await;
    assert_eq!((code, &made["data"]["k"]), (201, &json!("v")));
    let one = format!("{MAPS}/a");
    let (code, again) = ask(&plane, "POST", MAPS, JSON, json!({"metadata": {"name": "a"}})).await;
    assert_eq!((code, &again["reason"]), (409, &json!("AlreadyExists")));
    let merge = "application/merge-patch+json";
    let (code, patched) =
        ask(&plane, "PATCH", &one, merge, json!({"data": {"k": null, "l": "w"}})).await;
    assert_eq!((code, &patched["data"]), (200, &json!({"l": "w"})));
    let (code, same) = ask(&plane, "PATCH", &one, merge, json!({"data": {"l": "w"}})).await;
    assert_eq!(code, 200);
    assert_eq!(same["metadata"]["resourceVersion"], patched["metadata"]["resourceVersion"]);
    let (code, old) = ask(&plane, "PUT", &one, JSON, made).await;
    assert_eq!((code, &old["reason"]), (409, &json!("Conflict")));
    let (code, _) = ask(&plane, "DELETE", &one, JSON, Value::Null).await;
    assert_eq!(code, 200);
    let (code, gone) = ask(&plane, "GET", &one, JSON, Value::Null).await;
    assert_eq!((code, &gone["message"]), (404, &json!("configmaps \"a\" not found")));
}

// A controller that says what there is already must come to rest: what it writes wakes it again.
#[tokio::test]
async fn an_empty_list_written_again_is_no_change() {
    let plane = Plane::new(Options::default()).unwrap();
    let path = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
    let slice =
        json!({"metadata": {"name": "a"}, "addressType": "IPv4", "endpoints": [], "ports": null});
    let (code, made) = ask(&plane, "POST", path, JSON, slice.clone()).await;
    assert_eq!(code, 201, "{made}");
    let (code, again) = ask(&plane, "PUT", &format!("{path}/a"), JSON, slice).await;
    assert_eq!((code, &again["metadata"]["generation"]), (200, &json!(1)));
    assert_eq!(again["metadata"]["resourceVersion"], made["metadata"]["resourceVersion"]);
}

#[tokio::test]
async fn applies_conflict() {
    let plane = Plane::new(Options::default()).unwrap();
    let apply = "application/apply-patch+yaml";
    let body = |value: &str| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"k": value}});
    let (code, _) =
        ask(&plane, "PATCH", &format!("{MAPS}/a?fieldManager=one"), apply, body("1")).await;
    assert_eq!(code, 201);
    let (code, _) =
        ask(&plane, "PATCH", &format!("{MAPS}/a?fieldManager=two"), apply, body("2")).await;
    assert_eq!(code, 409);
    let (code, _) =
        ask(&plane, "PATCH", &format!("{MAPS}/a?fieldManager=two&force=true"), apply, body("2"))
            .await;
    assert_eq!(code, 200);
}

#[tokio::test]
async fn definitions_are_served_and_ended() {
    let plane = Plane::new(Options::default()).unwrap();
    let schema = json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {"size": {"type": "integer", "default": 3}}}}});
    let definition = json!({
        "metadata": {"name": "boats.test.example"},
        "spec": {
            "group": "test.example", "scope": "Namespaced", "names": {"plural": "boats", "kind": "Boat"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}],
        },
    });
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let (code, _) = ask(&plane, "POST", definitions, JSON, definition).await;
    assert_eq!(code, 201);
    let boats = "/apis/test.example/v1/namespaces/default/boats";
    let boat = json!({"apiVersion": "test.example/v1", "kind": "Boat", "metadata": {"name": "b"}, "spec": {"color": "red"}});
    let (code, made) = ask(&plane, "POST", boats, JSON, boat.clone()).await;
    assert_eq!((code, &made["spec"]), (201, &json!({"size": 3})));
    let mut wrong = boat;
    wrong["metadata"]["name"] = json!("c");
    wrong["spec"] = json!({"size": "big"});
    let (code, refused) = ask(&plane, "POST", boats, JSON, wrong).await;
    assert_eq!((code, &refused["details"]["causes"][0]["field"]), (422, &json!("spec.size")));
    let (code, _) =
        ask(&plane, "DELETE", &format!("{definitions}/boats.test.example"), JSON, Value::Null)
            .await;
    assert_eq!(code, 200);
    let (code, _) = ask(&plane, "GET", boats, JSON, Value::Null).await;
    assert_eq!(code, 404);
}

#[tokio::test]
async fn simulated_pods_say_so() {
    let plane = Plane::new(Options::default()).unwrap();
    let pods = "/api/v1/namespaces/default/pods";
    for (name, node) in [("waiting", Value::Null), ("running", json!("node-1"))] {
        let pod = json!({"metadata": {"name": name}, "spec": {"nodeName": node, "containers": [{"name": "c", "image": "i"}]}});
        assert_eq!(ask(&plane, "POST", pods, JSON, pod).await.0, 201);
    }
    for (path, code, wanted) in [
        ("none/log", 404, "pods \"none\" not found"),
        ("waiting/log", 204, ""),
        ("waiting/exec?command=ls", 400, "pod waiting does not have a host assigned"),
        ("running/log?container=zz", 400, "container zz is not valid for pod running"),
        ("running/exec", 400, "pod running is simulated: it runs nothing that exec could reach"),
        (
            "running/portforward",
            400,
            "pod running is simulated: it runs nothing that portforward could reach",
        ),
    ] {
        let (said, status) = ask(&plane, "GET", &format!("{pods}/{path}"), JSON, Value::Null).await;
        let message = status["message"].as_str().unwrap_or_default();
        assert_eq!((said, message), (code, wanted), "{path}");
    }
    let request = Request::builder().uri(format!("{pods}/running/log")).body(Body::empty());
    let answer = plane.service().oneshot(request.unwrap()).await.unwrap();
    let text = answer.into_body().collect().await.unwrap().to_bytes();
    assert_eq!(
        &text[..],
        b"simulated: container c of pod running runs nothing, so it writes no log\n"
    );
}

#[tokio::test]
async fn a_crowd_of_watches_is_told_everything_in_order() {
    const WATCHES: usize = 30;
    const WRITES: usize = 40;
    let plane = Plane::new(Options::default()).unwrap();
    let (_, list) = ask(&plane, "GET", MAPS, JSON, Value::Null).await;
    let version = list["metadata"]["resourceVersion"].as_str().unwrap().to_owned();
    let mut watches = Vec::new();
    for _ in 0..WATCHES {
        let path = format!("{MAPS}?watch=true&resourceVersion={version}");
        let request = Request::builder().uri(path).body(Body::empty()).unwrap();
        let answer = plane.service().oneshot(request).await.unwrap();
        watches.push(tokio::spawn(async move {
            let (mut body, mut seen, mut pieces) = (answer.into_body(), Vec::new(), 0);
            while seen.len() < WRITES {
                let bytes = body.frame().await.unwrap().unwrap().into_data().unwrap();
                pieces += 1;
                for line in std::str::from_utf8(&bytes).unwrap().lines() {
                    let event: Value = serde_json::from_str(line).unwrap();
                    assert_eq!(event["type"], json!("ADDED"));
                    seen.push(event["object"]["metadata"]["name"].as_str().unwrap().to_owned());
                }
            }
            (seen, pieces)
        }));
    }
    let wanted: Vec<String> = (0..WRITES).map(|index| format!("map-{index}")).collect();
    for name in &wanted {
        let (code, _) = ask(&plane, "POST", MAPS, JSON, json!({"metadata": {"name": name}})).await;
        assert_eq!(code, 201);
        tokio::task::yield_now().await;
    }
    for watch in watches {
        let (seen, pieces) = watch.await.unwrap();
        assert_eq!(seen, wanted);
        assert!(pieces < WRITES, "{pieces} pieces for {WRITES} events");
    }
}
