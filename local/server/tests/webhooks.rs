//! Admission webhooks, over HTTPS, as the plane calls them.
#![allow(clippy::unwrap_used)]
use std::sync::{Arc, Mutex};

use base64::Engine;
use http::StatusCode;
use local_server::auth::User;
use local_server::plane::{DeleteOptions, WriteOptions};
use local_server::{Handle, Options, Plane};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

type Decide = Arc<dyn Fn(&Value) -> (StatusCode, Value) + Send + Sync>;

/// A webhook on a port of its own that remembers what it was asked.
struct Hook {
    url: String,
    authority: String,
    asked: Arc<Mutex<Vec<Value>>>,
}

fn pack(text: &str) -> String {
    base64::engine::general_purpose::STANDARD.encode(text)
}

async fn listen(decide: Decide, authority: rcgen::IsCa) -> Hook {
    let names = vec!["127.0.0.1".to_owned(), "hook.default.svc".to_owned()];
    let key = rcgen::KeyPair::generate().unwrap();
    let mut parameters = rcgen::CertificateParams::new(names).unwrap();
    parameters.is_ca = authority;
    let made = parameters.self_signed(&key).unwrap();
    let der = rustls::pki_types::PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let config = rustls::ServerConfig::builder_with_provider(Arc::new(
        rustls::crypto::ring::default_provider(),
    ))
    .with_safe_default_protocol_versions()
    .unwrap()
    .with_no_client_auth()
    .with_single_cert(vec![made.der().clone()], der)
    .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}/check", listener.local_addr().unwrap());
    let asked: Arc<Mutex<Vec<Value>>> = Arc::default();
    let seen = asked.clone();
    let service = axum::Router::new().fallback(move |body: String| {
        let (decide, seen) = (decide.clone(), seen.clone());
        async move {
            let review: Value = serde_json::from_str(&body).unwrap();
            let request = review["request"].clone();
            let (code, mut response) = decide(&request);
            seen.lock().unwrap().push(request.clone());
            response["uid"] = request["uid"].clone();
            let answer = json!({"kind": review["kind"], "apiVersion": review["apiVersion"], "response": response});
            (code, answer.to_string())
        }
    });
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let (acceptor, service) = (acceptor.clone(), service.clone());
            tokio::spawn(async move {
                let Ok(stream) = acceptor.accept(stream).await else { return };
                let service = hyper_util::service::TowerToHyperService::new(service);
                let stream = hyper_util::rt::TokioIo::new(stream);
                let _ = hyper::server::conn::http1::Builder::new()
                    .serve_connection(stream, service)
                    .await;
            });
        }
    });
    Hook { url, authority: pack(&made.pem()), asked }
}

fn allow() -> (StatusCode, Value) {
    (StatusCode::OK, json!({"allowed": true}))
}

fn patching(patch: Value) -> (StatusCode, Value) {
    let patch = pack(&patch.to_string());
    (StatusCode::OK, json!({"allowed": true, "patchType": "JSONPatch", "patch": patch}))
}

impl Hook {
    async fn new(decide: impl Fn(&Value) -> (StatusCode, Value) + Send + Sync + 'static) -> Hook {
        listen(Arc::new(decide), rcgen::IsCa::NoCa).await
    }

    fn asked(&self) -> Vec<Value> {
        self.asked.lock().unwrap().clone()
    }

    fn spec(&self, name: &str, change: Value) -> Value {
        let mut spec = json!({
            "name": format!("{name}.test.dev"), "sideEffects": "None", "admissionReviewVersions": ["v1"],
            "clientConfig": {"url": self.url, "caBundle": self.authority},
            "rules": [{"operations": ["*"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"]}],
        });
        for (key, value) in change.as_object().unwrap() {
            spec[key] = value.clone();
        }
        spec
    }
}

struct Bench {
    plane: Plane,
    handle: Handle,
}

impl Bench {
    fn new() -> Bench {
        let plane = Plane::new(Options::default()).unwrap();
        Bench { handle: plane.handle("test"), plane }
    }

    fn configure(&self, which: &str, hooks: Vec<Value>) {
        let plural = format!("{which}webhookconfigurations");
        let target = self.handle.target("admissionregistration.k8s.io/v1", &plural, "", "");
        let body = json!({"metadata": {"generateName": "c-"}, "webhooks": hooks});
        self.handle.create(&target.unwrap(), body).unwrap();
    }

    fn create(&self, name: &str) -> Result<Value, String> {
        self.create_with(name, json!({}), &mut WriteOptions::by("test"))
    }

    fn create_with(
        &self,
        name: &str,
        labels: Value,
        options: &mut WriteOptions,
    ) -> Result<Value, String> {
        let target = self.handle.target("v1", "configmaps", "default", "").unwrap();
        let body = json!({"metadata": {"name": name, "labels": labels}, "data": {"k": "v"}});
        let made = self.plane.create(&target, body, options);
        made.map(|object| Value::clone(&object)).map_err(|error| {
            let status = error.status();
            format!("{} {}: {}", error.code, error.reason, status["message"].as_str().unwrap())
        })
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_webhook_is_told_and_changes() {
    let hook = Hook::new(|request| {
        if request["operation"] != json!("CREATE") {
            return allow();
        }
        let (code, mut answer) = patching(json!([
            {"op": "add", "path": "/data/added", "value": "x"}, {"op": "add", "path": "/unknown", "value": 1},
        ]));
        answer["warnings"] = json!(["look out"]);
        (code, answer)
    })
    .await;
    let bench = Bench::new();
    bench.configure("mutating", vec![hook.spec("a", json!({}))]);
    let mut options = WriteOptions { user: Some(User::admin()), ..WriteOptions::by("me") };
    let made = bench.create_with("one", json!({}), &mut options).unwrap();
    assert_eq!(made["data"], json!({"k": "v", "added": "x"}));
    assert!(made.get("unknown").is_none());
    assert_eq!(options.warnings, ["look out"]);
    let fields = made["metadata"]["managedFields"].to_string();
    assert!(!fields.contains("f:added"), "nobody owns what a webhook adds: {fields}");
    let target = bench.handle.target("v1", "configmaps", "default", "one").unwrap();
    bench.handle.modify(&target, |object| object["data"]["k"] = json!("w")).unwrap();
    bench.handle.delete(&target, &DeleteOptions::default()).unwrap();
    let asked = hook.asked();
    let operations: Vec<&str> =
        asked.iter().map(|one| one["operation"].as_str().unwrap()).collect();
    assert_eq!(operations, ["CREATE", "UPDATE", "DELETE"]);
    let first = &asked[0];
    assert_eq!(first["kind"], json!({"group": "", "version": "v1", "kind": "ConfigMap"}));
    assert_eq!(first["requestResource"]["resource"], json!("configmaps"));
    assert_eq!((&first["name"], &first["namespace"]), (&json!("one"), &json!("default")));
    assert_eq!(first["userInfo"]["username"], json!("admin"));
    assert_eq!((&first["oldObject"], &first["dryRun"]), (&Value::Null, &json!(false)));
    assert_eq!(first["options"]["kind"], json!("CreateOptions"));
    assert!(first["object"]["metadata"].get("uid").is_none(), "not there before it is made");
    assert_eq!(asked[1]["oldObject"]["data"]["k"], json!("v"));
    assert_eq!(asked[1]["object"]["data"]["k"], json!("w"));
    assert_eq!(
        (&asked[2]["object"], &asked[2]["options"]["kind"]),
        (&Value::Null, &json!("DeleteOptions"))
    );
    assert_eq!(asked[2]["oldObject"]["data"]["k"], json!("w"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_refusal_is_told_in_its_words() {
    let hook = Hook::new(|request| match request["name"].as_str() {
        Some("bad") => (
            StatusCode::OK,
            json!({"allowed": false, "status": {"code": 403, "reason": "Forbidden", "message": "no bad ones"}}),
        ),
        Some("mute") => (StatusCode::OK, json!({"allowed": false})),
        _ => allow(),
    })
    .await;
    let bench = Bench::new();
    bench.configure("validating", vec![hook.spec("v", json!({}))]);
    assert!(bench.create("good").is_ok());
    let denied = "admission webhook \"v.test.dev\" denied the request";
    assert_eq!(bench.create("bad").unwrap_err(), format!("403 Forbidden: {denied}: no bad ones"));
    assert_eq!(bench.create("mute").unwrap_err(), format!("400 : {denied} without explanation"));
    assert_eq!(hook.asked()[0]["object"]["metadata"]["uid"].as_str().map(str::len), Some(36));
    // Nothing was stored of what was refused, nor of a dry run, of which the webhook is told.
    let mut dry = WriteOptions { dry_run: true, ..WriteOptions::by("me") };
    bench.create_with("dry", json!({}), &mut dry).unwrap();
    assert_eq!(hook.asked().last().unwrap()["dryRun"], json!(true));
    for name in ["bad", "mute", "dry"] {
        let target = bench.handle.target("v1", "configmaps", "default", name).unwrap();
        assert_eq!(bench.handle.get(&target).unwrap_err().code, 404, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn rules_selectors_and_conditions_choose() {
    let hook = Hook::new(|_| allow()).await;
    let bench = Bench::new();
    let rule = |resources: Value, operations: Value| json!([{"operations": operations, "apiGroups": ["*"], "apiVersions": ["*"], "resources": resources}]);
    let spaces = json!({"matchLabels": {"kubernetes.io/metadata.name": "default"}});
    let elsewhere = json!({"matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["default"]}]});
    let cel = |text: &str| json!([{"name": "c", "expression": text}]);
    let cases = [
        ("all", json!({"rules": rule(json!(["*"]), json!(["*"]))}), true),
        ("pods", json!({"rules": rule(json!(["pods"]), json!(["*"]))}), false),
        ("deletes", json!({"rules": rule(json!(["configmaps"]), json!(["DELETE"]))}), false),
        ("parts", json!({"rules": rule(json!(["*/status"]), json!(["*"]))}), false),
        ("here", json!({"namespaceSelector": spaces}), true),
        ("there", json!({"namespaceSelector": elsewhere}), false),
        ("labelled", json!({"objectSelector": {"matchLabels": {"app": "a"}}}), true),
        ("unlabelled", json!({"objectSelector": {"matchLabels": {"app": "b"}}}), false),
        (
            "true",
            json!({"matchConditions": cel("object.data.k == 'v' && request.operation == 'CREATE'")}),
            true,
        ),
        ("false", json!({"matchConditions": cel("has(object.data.other)")}), false),
        (
            "broken",
            json!({"failurePolicy": "Ignore", "matchConditions": cel("object.data.other == 'v'")}),
            false,
        ),
    ];
    for (name, change, wanted) in cases {
        let bench = Bench::new();
        bench.configure("validating", vec![hook.spec("v", change)]);
        let before = hook.asked().len();
        let labels = json!({"app": "a"});
        bench.create_with(name, labels, &mut WriteOptions::by("test")).unwrap();
        assert_eq!(hook.asked().len() - before, usize::from(wanted), "{name}");
    }
    let conditions = cel("object.data.other == 'v'");
    bench.configure("validating", vec![hook.spec("v", json!({"matchConditions": conditions}))]);
    let refused = bench.create("closed").unwrap_err();
    let start = "403 Forbidden: configmaps \"closed\" is forbidden: expression 'object.data.other == 'v'' resulted in error: ";
    assert!(refused.starts_with(start), "{refused}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn who_changed_before_is_asked_again() {
    let counts = Hook::new(|request| {
        let seen = request["object"]["data"].as_object().map_or(0, serde_json::Map::len);
        patching(json!([{"op": "add", "path": "/data/seen", "value": seen.to_string()}]))
    })
    .await;
    let adds =
        Hook::new(|_| patching(json!([{"op": "add", "path": "/data/more", "value": "m"}]))).await;
    for (policy, wanted) in [("Never", "1"), ("IfNeeded", "3")] {
        let bench = Bench::new();
        let first = counts.spec("a", json!({"reinvocationPolicy": policy}));
        bench.configure("mutating", vec![first, adds.spec("b", json!({}))]);
        assert_eq!(bench.create("a").unwrap()["data"]["seen"], json!(wanted), "{policy}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn failures_refuse_or_are_passed_over() {
    let broken = Hook::new(|_| (StatusCode::INTERNAL_SERVER_ERROR, json!({}))).await;
    let other = Hook::new(|_| allow()).await;
    let owner = listen(
        Arc::new(|_: &Value| allow()),
        rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained),
    )
    .await;
    let closed = "https://127.0.0.1:1/check";
    let own = |client: Value| other.spec("v", json!({"clientConfig": client}));
    let service = json!({"service": {"name": "hook", "namespace": "default", "path": "x"}});
    let cases = [
        (owner.spec("v", json!({})), None),
        (broken.spec("v", json!({})), Some("failed to call webhook: an error on the server (")),
        (
            own(json!({"url": closed, "caBundle": other.authority})),
            Some(
                "failed to call webhook: Post \"https://127.0.0.1:1/check?timeout=10s\": dial tcp 127.0.0.1:1: connect: connection refused",
            ),
        ),
        (
            own(json!({"url": other.url, "caBundle": broken.authority})),
            Some("x509: certificate signed by unknown authority"),
        ),
        (
            own(
                json!({"url": other.url.replace("127.0.0.1", "localhost"), "caBundle": other.authority}),
            ),
            Some("not localhost"),
        ),
        (
            own(service),
            Some("Post \"https://hook.default.svc:443/x?timeout=10s\": service \"hook\" not found"),
        ),
    ];
    for (spec, wanted) in cases {
        let bench = Bench::new();
        bench.configure("validating", vec![spec.clone()]);
        let said = bench.create("a").err();
        match wanted {
            None => assert_eq!(said, None),
            Some(wanted) => {
                let said = said.unwrap_or_default();
                let start = "500 InternalError: Internal error occurred: failed calling webhook \"v.test.dev\": ";
                assert!(said.starts_with(start) && said.contains(wanted), "{said}\n{wanted}");
            }
        }
        let bench = Bench::new();
        let mut spec = spec;
        spec["failurePolicy"] = json!("Ignore");
        bench.configure("validating", vec![spec]);
        assert!(bench.create("a").is_ok(), "{wanted:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_slow_webhook_is_not_waited_for() {
    let hook = Hook::new(|_| {
        std::thread::sleep(std::time::Duration::from_millis(2500));
        allow()
    })
    .await;
    let bench = Bench::new();
    bench.configure("validating", vec![hook.spec("v", json!({"timeoutSeconds": 1}))]);
    let said = bench.create("a").unwrap_err();
    assert!(said.ends_with("?timeout=1s\": context deadline exceeded"), "{said}");
}

#[tokio::test]
async fn a_service_is_found_by_endpoints_that_are_no_pods() {
    let hook = Hook::new(|_| allow()).await;
    let port: u16 = hook.url.split([':', '/']).nth(4).unwrap().parse().unwrap();
    let bench = Bench::new();
    let client = json!({"service": {"name": "hook", "namespace": "default", "path": "/check"}, "caBundle": hook.authority});
    bench.configure("validating", vec![hook.spec("v", json!({"clientConfig": client}))]);
    let service = bench.handle.target("v1", "services", "default", "").unwrap();
    let slices = bench.handle.target("discovery.k8s.io/v1", "endpointslices", "default", "");
    let slices = slices.unwrap();
    bench
        .handle
        .create(&service, json!({"metadata": {"name": "hook"}, "spec": {"ports": [{"port": 443}]}}))
        .unwrap();
    let slice = |name: &str, endpoint: Value| {
        json!({
            "metadata": {"name": name, "labels": {"kubernetes.io/service-name": "hook"}}, "addressType": "IPv4",
            "ports": [{"name": "", "port": port}], "endpoints": [endpoint],
        })
    };
    let none = bench.create("none").unwrap_err();
    assert!(none.contains("no endpoints available for service \"hook\""), "{none}");
    let pod = json!({"addresses": ["10.1.2.3"], "targetRef": {"kind": "Pod", "name": "p"}});
    bench.handle.create(&slices, slice("a", pod)).unwrap();
    let simulated = bench.create("simulated").unwrap_err();
    assert!(simulated.contains("simulated and answer nothing"), "{simulated}");
    bench.handle.create(&slices, slice("b", json!({"addresses": ["127.0.0.1"]}))).unwrap();
    let plane = bench.plane.clone();
    // Over HTTP on one thread: the webhook is answered by the thread that asks.
    let body = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "over-http"}});
    let request = http::Request::post("/api/v1/namespaces/default/configmaps")
        .header("content-type", "application/json")
        .body(axum::body::Body::from(body.to_string()))
        .unwrap();
    let answer = tower::ServiceExt::oneshot(plane.service(), request).await.unwrap();
    assert_eq!(answer.status(), StatusCode::CREATED);
    assert_eq!(hook.asked()[0]["userInfo"]["username"], json!("admin"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn the_version_the_rules_name_is_shown() {
    let hook = Hook::new(|_| allow()).await;
    let bench = Bench::new();
    let version = |name: &str, stored: bool| {
        json!({
            "name": name, "served": true, "storage": stored,
            "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
        })
    };
    let definition = json!({
        "metadata": {"name": "widgets.test.dev"},
        "spec": {
            "group": "test.dev", "scope": "Namespaced",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
            "versions": [version("v1", true), version("v2", false)],
        },
    });
    let crds = bench.handle.target("apiextensions.k8s.io/v1", "customresourcedefinitions", "", "");
    bench.handle.create(&crds.unwrap(), definition).unwrap();
    let rules = json!([{"operations": ["*"], "apiGroups": ["test.dev"], "apiVersions": ["v2"], "resources": ["widgets"]}]);
    bench.configure(
        "validating",
        vec![
            hook.spec("v", json!({"rules": rules})),
            hook.spec("w", json!({"rules": rules, "matchPolicy": "Exact"})),
        ],
    );
    let target = bench.handle.target("test.dev/v1", "widgets", "default", "").unwrap();
    let body = json!({"apiVersion": "test.dev/v1", "kind": "Widget", "metadata": {"name": "w"}});
    bench.handle.create(&target, body).unwrap();
    let asked = hook.asked();
    assert_eq!(asked.len(), 1, "one of them wants exactly v2");
    assert_eq!(asked[0]["object"]["apiVersion"], json!("test.dev/v2"));
    assert_eq!(asked[0]["kind"]["version"], json!("v2"));
    assert_eq!(asked[0]["requestKind"]["version"], json!("v1"));
}

#[tokio::test(flavor = "multi_thread")]
async fn failures_are_said_as_the_reference_says_them() {
    let cases: [(&str, StatusCode, Value, &str); 3] = [
        (
            "missing",
            StatusCode::NOT_FOUND,
            json!({}),
            "failed calling webhook \"v.test.dev\": failed to call webhook: the server could not find the requested resource",
        ),
        (
            "patch",
            StatusCode::OK,
            json!({"allowed": true, "patchType": "JSONPatch", "patch": pack("[]")}),
            "failed calling webhook \"v.test.dev\": received invalid webhook response: validating webhook may not return response.patch",
        ),
        (
            "denied",
            StatusCode::OK,
            json!({"allowed": false, "status": {"message": "no way", "code": 418}}),
            "admission webhook \"v.test.dev\" denied the request: no way",
        ),
    ];
    for (name, code, answer, wanted) in cases {
        let hook = Hook::new(move |_| (code, answer.clone())).await;
        let bench = Bench::new();
        bench.configure("validating", vec![hook.spec("v", json!({}))]);
        let said = bench.create(name).unwrap_err();
        assert!(said.ends_with(wanted), "{said}\n{wanted}");
    }
    let hook = Hook::new(|_| patching(json!([{"op": "remove", "path": "/nope"}]))).await;
    let bench = Bench::new();
    bench.configure("mutating", vec![hook.spec("v", json!({}))]);
    let said = bench.create("patched").unwrap_err();
    let why =
        "error in remove for path: '/nope': Unable to remove nonexistent key: nope: missing value";
    assert!(said.ends_with(why), "{said}");
    let hook = Hook::new(|_| allow()).await;
    let bench = Bench::new();
    let client = json!({"url": hook.url, "caBundle": pack("x")});
    bench.configure("validating", vec![hook.spec("v", json!({"clientConfig": client}))]);
    let said = bench.create("unread").unwrap_err();
    let why = "could not get REST client: unable to load root certificates: unable to parse bytes as PEM block";
    assert!(said.ends_with(why), "{said}");
}
