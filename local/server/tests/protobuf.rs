//! Clients that speak protobuf, as those of controller-runtime do for built-in kinds.
//!
//! protobuf/statefulset.pb and .json are one object as client-go 0.36.3 writes it.
use axum::body::Body;
use axum::response::Response;
use http::Request;
use http::header::{ACCEPT, CONTENT_TYPE};
use http_body_util::BodyExt;
use local_server::{Options, Plane};
use serde_json::{Value, json};
use tower::ServiceExt;

const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";
const SETS: &str = "/apis/apps/v1/namespaces/default/statefulsets";

async fn ask(
    plane: &Plane,
    method: &str,
    path: &str,
    accept: &str,
    body: (&str, &[u8]),
) -> Response {
    let request = Request::builder().method(method).uri(path).header(ACCEPT, accept);
    let request = request.header(CONTENT_TYPE, body.0).body(Body::from(body.1.to_vec()));
    plane.service().oneshot(request.expect("a request")).await.expect("an answer")
}

async fn read(response: Response) -> (u16, String, Vec<u8>) {
    let kind = response.headers()[CONTENT_TYPE].to_str().expect("a text").to_owned();
    let code = response.status().as_u16();
    (code, kind, response.into_body().collect().await.expect("a body").to_bytes().to_vec())
}

/// What tells two makings of the same apart.
fn anonymous(mut object: Value) -> Value {
    for field in ["uid", "resourceVersion", "creationTimestamp"] {
        object["metadata"].as_object_mut().expect("metadata").remove(field);
    }
    for entry in object["metadata"]["managedFields"].as_array_mut().expect("entries") {
        entry.as_object_mut().expect("an entry").remove("time");
    }
    object
}

#[tokio::test]
async fn a_body_in_protobuf_is_the_object_that_it_is_in_json() {
    let mut made = Vec::new();
    let bodies: [(&str, &[u8]); 2] = [
        (PROTOBUF, include_bytes!("protobuf/statefulset.pb")),
        ("application/json", include_bytes!("protobuf/statefulset.json")),
    ];
    for body in bodies {
        let plane = Plane::new(Options::default()).expect("a plane");
        let (code, _, text) = read(ask(&plane, "POST", SETS, "application/json", body).await).await;
        assert_eq!(code, 201, "{}", String::from_utf8_lossy(&text));
        made.push(anonymous(serde_json::from_slice(&text).expect("JSON")));
    }
    assert_eq!(made[0]["spec"]["replicas"], 0);
    let pod = &made[0]["spec"]["template"]["spec"];
    assert_eq!(pod["automountServiceAccountToken"], false);
    assert_eq!(pod["containers"][0]["resources"]["requests"]["cpu"], "500m");
    assert_eq!(made[0], made[1]);
}

#[tokio::test]
async fn answers_are_in_protobuf_for_those_who_like_it_best() {
    let plane = Plane::new(Options::default()).expect("a plane");
    let body = (PROTOBUF, &include_bytes!("protobuf/statefulset.pb")[..]);
    let (code, kind, made) = read(ask(&plane, "POST", SETS, PROTOBUF, body).await).await;
    assert_eq!((code, kind.as_str()), (201, PROTOBUF));
    // What was got can be sent again, and changes nothing.
    let one = format!("{SETS}/db");
    let (code, kind, same) =
        read(ask(&plane, "PUT", &one, PROTOBUF, (PROTOBUF, &made)).await).await;
    assert_eq!((code, kind.as_str()), (200, PROTOBUF));
    assert_eq!(same, made);
    let none = ("", &[][..]);
    for (accept, wanted) in [
        ("*/*, application/vnd.kubernetes.protobuf", PROTOBUF),
        ("application/json, application/vnd.kubernetes.protobuf", "application/json"),
        ("application/vnd.kubernetes.protobuf;q=0.5, application/json", "application/json"),
        (
            "application/vnd.kubernetes.protobuf;as=Table;g=meta.k8s.io;v=v1, application/json",
            "application/json",
        ),
        (
            "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
            PROTOBUF,
        ),
    ] {
        let (code, kind, _) = read(ask(&plane, "GET", &one, accept, none).await).await;
        assert_eq!((code, kind.as_str()), (200, wanted), "{accept}");
    }
    let (code, kind, _) = read(ask(&plane, "GET", SETS, PROTOBUF, none).await).await;
    assert_eq!((code, kind.as_str()), (200, PROTOBUF));
    let (code, kind, text) =
        read(ask(&plane, "GET", &format!("{SETS}/no"), PROTOBUF, none).await).await;
    assert_eq!((code, kind.as_str()), (404, PROTOBUF));
    assert!(String::from_utf8_lossy(&text).contains("statefulsets.apps \"no\" not found"));
    let options = b"k8s\0\n\x1b\n\x07apps/v1\x12\x10NoSuchOptionsOfU\x12\0";
    let (code, _, _) = read(ask(&plane, "DELETE", &one, PROTOBUF, (PROTOBUF, options)).await).await;
    assert_eq!(code, 400);
    let options = b"k8s\0\n\x13\n\x02v1\x12\x0dDeleteOptions\x12\x10\x22\x0eOrphanSurely!!";
    let (code, _, _) = read(ask(&plane, "DELETE", &one, PROTOBUF, (PROTOBUF, options)).await).await;
    assert_eq!(code, 422);
    let options = b"k8s\0\n\x13\n\x02v1\x12\x0dDeleteOptions\x12\x0c\x22\x0aBackground";
    let (code, _, _) = read(ask(&plane, "DELETE", &one, PROTOBUF, (PROTOBUF, options)).await).await;
    assert_eq!(code, 200);
}

#[tokio::test]
async fn custom_resources_have_no_messages_but_their_metadata_has() {
    let plane = Plane::new(Options::default()).expect("a plane");
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "gadgets.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced", "names": {"plural": "gadgets", "kind": "Gadget"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}}],
        },
    });
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let text = definition.to_string();
    let json = |text: &'static str| ("application/json", text.as_bytes());
    let (code, _, _) =
        read(ask(&plane, "POST", path, PROTOBUF, ("application/json", text.as_bytes())).await)
            .await;
    // A definition has none either.
    assert_eq!(code, 406);
    let both = "application/vnd.kubernetes.protobuf, application/json";
    let (code, kind, _) =
        read(ask(&plane, "POST", path, both, ("application/json", text.as_bytes())).await).await;
    assert_eq!((code, kind.as_str()), (201, "application/json"));
    let gadgets = "/apis/example.com/v1/namespaces/default/gadgets";
    let one =
        json(r#"{"apiVersion": "example.com/v1", "kind": "Gadget", "metadata": {"name": "one"}}"#);
    let (code, kind, _) = read(ask(&plane, "POST", gadgets, both, one).await).await;
    assert_eq!((code, kind.as_str()), (201, "application/json"));
    let none = ("", &[][..]);
    let (code, kind, _) = read(ask(&plane, "GET", gadgets, PROTOBUF, none).await).await;
    assert_eq!((code, kind.as_str()), (406, PROTOBUF));
    let partial =
        "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
    let (code, kind, text) = read(ask(&plane, "GET", gadgets, partial, none).await).await;
    assert_eq!((code, kind.as_str()), (200, PROTOBUF));
    assert!(
        text.starts_with(b"k8s\0\n+\n\x0emeta.k8s.io/v1\x12\x19PartialObjectMetadataList"),
        "{text:?}"
    );
}

#[tokio::test]
async fn a_watch_in_protobuf_is_frames() {
    let plane = Plane::new(Options::default()).expect("a plane");
    let body = (PROTOBUF, &include_bytes!("protobuf/statefulset.pb")[..]);
    assert_eq!(ask(&plane, "POST", SETS, PROTOBUF, body).await.status(), 201);
    let path = format!(
        "{SETS}?watch=1&timeoutSeconds=1&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
    );
    let (code, kind, text) = read(ask(&plane, "GET", &path, PROTOBUF, ("", &[])).await).await;
    assert_eq!((code, kind.as_str()), (200, "application/vnd.kubernetes.protobuf;stream=watch"));
    let mut rest = &text[..];
    let mut events = Vec::new();
    while let Some((length, tail)) = rest.split_first_chunk::<4>() {
        let (event, tail) = tail.split_at(u32::from_be_bytes(*length) as usize);
        let said = usize::from(event[1]);
        assert_eq!(event[0], 10, "the first field, a text");
        events.push(String::from_utf8_lossy(&event[2..2 + said]).into_owned());
        assert!(event.windows(4).any(|four| four == b"k8s\0"));
        rest = tail;
    }
    assert_eq!(events, ["ADDED", "BOOKMARK"]);
}
