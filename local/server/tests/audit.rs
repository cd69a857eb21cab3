//! The audit log: what it says of requests that came through a socket.

use local_server::{AuditLog, Options, Plane, Serve, Tokens};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// The status of the answer to a request.
async fn ask(to: std::net::SocketAddr, head: &str, headers: &[&str], body: &Value) -> u16 {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let mut text = format!("{head} HTTP/1.1\r\nHost: plane\r\nConnection: close\r\n");
    text += "Content-Type: application/json\r\nUser-Agent: tester/1\r\n";
    for header in headers {
        text += &format!("{header}\r\n");
    }
    text += &format!("Content-Length: {}\r\n\r\n{body}", body.len());
    let mut stream = TcpStream::connect(to).await.expect("it listens");
    stream.write_all(text.as_bytes()).await.expect("it takes requests");
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).await.expect("it answers");
    let code = std::str::from_utf8(&answer[9..]).ok().and_then(|it| it.parse().ok());
    code.expect("a status")
}

#[tokio::test(flavor = "multi_thread")]
async fn who_asked_for_what_and_what_came_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("audit.log");
    let plane = Plane::new(Options::default()).unwrap();
    let options = Serve {
        listen: "127.0.0.1:0".parse().unwrap(),
        insecure: true,
        kubeconfig: None,
        name: String::new(),
        tokens: Some(Tokens::parse("secret,alice,1,\"dev\"").unwrap()),
        audit_log: Some(AuditLog::open(&file).unwrap().into()),
    };
    let served = plane.serve(&options).await.unwrap();
    let to = served.address;
    let token = served.kubeconfig.split("token: ").nth(1).unwrap().trim();
    let admin = format!("Authorization: Bearer {token}");
    let policies = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies";
    let policy = json!({"metadata": {"name": "p"}, "spec": {
        "matchConstraints": {"resourceRules": [{
            "operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"],
        }]},
        "validations": [
            {"expression": "true"},
            {"expression": "object.metadata.name != 'a'", "message": "not a"},
        ],
        "auditAnnotations": [{"key": "who", "valueExpression": "request.userInfo.username"}],
    }});
    assert_eq!(ask(to, &format!("POST {policies}"), &[&admin], &policy).await, 201);
    let binding = json!({"metadata": {"name": "b"}, "spec": {
        "policyName": "p", "validationActions": ["Audit"],
    }});
    let bindings = format!("POST {}", policies.replace("policies", "policybindings"));
    assert_eq!(ask(to, &bindings, &[&admin], &binding).await, 201);
    let maps = "/api/v1/namespaces/default/configmaps";
    let object = json!({"metadata": {"name": "a"}});
    let alice = "Authorization: Bearer secret";
    assert_eq!(ask(to, &format!("POST {maps}"), &[alice], &object).await, 403);
    let acts = ["Impersonate-User: eve", "Impersonate-Group: system:masters", &admin];
    assert_eq!(ask(to, &format!("POST {maps}"), &acts, &object).await, 201);
    assert_eq!(ask(to, &format!("GET {maps}/a?pretty=1"), &[&admin], &Value::Null).await, 200);
    let watch = format!("GET {maps}?watch=true&timeoutSeconds=1");
    assert_eq!(ask(to, &watch, &[&admin], &Value::Null).await, 200);
    let text = std::fs::read_to_string(&file).unwrap();
    let events: Vec<Value> = text.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    let [.., refused, made, read, watched] = events.as_slice() else { panic!("{text}") };
    assert_eq!(events.len(), 6, "a line each");

    assert_eq!(
        (&refused["kind"], &refused["apiVersion"], &refused["level"], &refused["stage"]),
        (
            &json!("Event"),
            &json!("audit.k8s.io/v1"),
            &json!("Metadata"),
            &json!("ResponseComplete")
        )
    );
    let groups = json!(["dev", "system:authenticated"]);
    assert_eq!(refused["user"], json!({"username": "alice", "uid": "1", "groups": groups}));
    assert_eq!(refused["responseStatus"]["code"], 403);
    assert_eq!(refused["annotations"]["authorization.k8s.io/decision"], "forbid");
    assert_eq!(
        (&refused["userAgent"], &refused["sourceIPs"]),
        (&json!("tester/1"), &json!(["127.0.0.1"]))
    );

    assert_eq!((&made["verb"], &made["requestURI"]), (&json!("create"), &json!(maps)));
    assert_eq!(
        (&made["user"]["username"], &made["impersonatedUser"]["username"]),
        (&json!("admin"), &json!("eve"))
    );
    assert_eq!(
        made["objectRef"],
        json!({"resource": "configmaps", "namespace": "default", "apiVersion": "v1"})
    );
    assert_eq!(made["annotations"]["authorization.k8s.io/decision"], "allow");
    assert_eq!(made["annotations"]["p/who"], "eve");
    let failure = &made["annotations"]["validation.policy.admission.k8s.io/validation_failure"];
    let failure: Value = serde_json::from_str(failure.as_str().unwrap()).unwrap();
    assert_eq!(
        failure,
        json!([{
            "message": "not a", "policy": "p", "binding": "b", "expressionIndex": 1,
            "validationActions": ["Audit"],
        }])
    );

    assert_eq!((&read["verb"], &read["objectRef"]["name"]), (&json!("get"), &json!("a")));
    assert_eq!((&watched["verb"], &watched["stage"]), (&json!("watch"), &json!("ResponseStarted")));
}

#[test]
fn a_log_that_cannot_be_written_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("nowhere/audit.log");
    let error = AuditLog::open(&file).unwrap_err().to_string();
    assert!(error.starts_with(&file.display().to_string()), "{error}");
}
