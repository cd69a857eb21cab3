//! What is refused of built-in kinds, and in which words.
use local_server::{Options, Plane};
use serde_json::{Value, json};

/// The fields of the causes, or nothing when the object was accepted.
fn refused(plane: &Plane, version: &str, plural: &str, mut object: Value) -> Vec<String> {
    let handle = plane.handle("test");
    object["metadata"]["name"] = json!("a");
    let namespace = if plural.ends_with("classes") || plural.ends_with("configurations") {
        ""
    } else {
        "default"
    };
    let target = handle.target(version, plural, namespace, "a").expect("known");
    let Err(error) = handle.create(&target, object) else { return Vec::new() };
    let status = error.status();
    assert_eq!(status["code"], json!(422), "{status}");
    let causes = status["details"]["causes"].as_array().cloned().unwrap_or_default();
    causes
        .iter()
        .map(|it| {
            let part = |key: &str| it[key].as_str().unwrap_or_default().to_owned();
            format!("{}: {}", part("field"), part("message"))
        })
        .collect()
}

#[track_caller]
fn check(version: &str, plural: &str, object: Value, wanted: &[&str]) {
    let plane = Plane::new(Options::default()).expect("a plane");
    let mut found = refused(&plane, version, plural, object);
    let mut wanted: Vec<String> = wanted.iter().map(|it| (*it).to_owned()).collect();
    found.sort();
    wanted.sort();
    assert_eq!(found, wanted);
}

fn deployment(change: Value) -> Value {
    let mut object = json!({"spec": {
        "selector": {"matchLabels": {"app": "a"}},
        "template": {
            "metadata": {"labels": {"app": "a"}},
            "spec": {"containers": [{"name": "c", "image": "i"}]},
        },
    }});
    for (key, value) in change.as_object().expect("fields") {
        object["spec"][key] = value.clone();
    }
    object
}

#[test]
fn deployments() {
    let wrong = |change: Value, wanted: &[&str]| {
        check("apps/v1", "deployments", deployment(change), wanted);
    };
    wrong(json!({}), &[]);
    wrong(
        json!({"strategy": {"rollingUpdate": {"maxUnavailable": 0, "maxSurge": 0}}}),
        &[
            "spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when `maxSurge` is 0",
        ],
    );
    wrong(
        json!({"strategy": {"type": "Recreate", "rollingUpdate": {"maxSurge": 1}}}),
        &[
            "spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'",
        ],
    );
    wrong(
        json!({"progressDeadlineSeconds": 3, "minReadySeconds": 3}),
        &["spec.progressDeadlineSeconds: Invalid value: 3: must be greater than minReadySeconds"],
    );
    wrong(
        json!({"selector": {"matchExpressions": [{"key": "app", "operator": "NotIn"}]}}),
        &[
            "spec.selector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
            "spec.selector: Invalid value: {\"matchExpressions\":[{\"key\":\"app\",\"operator\":\"NotIn\"}]}: invalid label selector",
        ],
    );
}

#[test]
fn services_and_secrets() {
    check(
        "v1",
        "services",
        json!({"spec": {"sessionAffinity": "Sticky", "ports": [{"port": 0, "targetPort": "Web"}]}}),
        &[
            "spec.sessionAffinity: Unsupported value: \"Sticky\": supported values: \"ClientIP\", \"None\"",
            "spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive",
            "spec.ports[0].targetPort: Invalid value: \"Web\": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)",
        ],
    );
    check(
        "v1",
        "secrets",
        json!({"type": "kubernetes.io/tls", "data": {"tls.crt": "eA=="}}),
        &["data[tls.key]: Required value"],
    );
}

#[test]
fn cron_jobs_leases_and_classes() {
    let pod = json!({"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]});
    check(
        "batch/v1",
        "cronjobs",
        json!({"spec": {
            "schedule": "* *", "concurrencyPolicy": "Maybe",
            "jobTemplate": {"spec": {"template": {"spec": pod}}},
        }}),
        &[
            "spec.schedule: Invalid value: \"* *\": expected exactly 5 fields, found 2: [* *]",
            "spec.concurrencyPolicy: Unsupported value: \"Maybe\": supported values: \"Allow\", \"Forbid\", \"Replace\"",
        ],
    );
    check(
        "coordination.k8s.io/v1",
        "leases",
        json!({"spec": {"leaseDurationSeconds": 0}}),
        &["spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0"],
    );
    check(
        "scheduling.k8s.io/v1",
        "priorityclasses",
        json!({"value": 2_000_000_000}),
        &["value: Forbidden: maximum allowed value of a user defined priority is 1000000000"],
    );
}

#[test]
fn webhook_configurations() {
    let hook = |change: Value| {
        let mut hook = json!({
            "name": "a.b.c", "sideEffects": "None", "admissionReviewVersions": ["v1"],
            "clientConfig": {"url": "https://127.0.0.1:1/x"},
            "rules": [{"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}],
        });
        for (key, value) in change.as_object().expect("fields") {
            hook[key] = value.clone();
        }
        hook
    };
    let wrong = |change: Value, wanted: &[&str]| {
        let object = json!({"webhooks": [hook(change)]});
        check("admissionregistration.k8s.io/v1", "validatingwebhookconfigurations", object, wanted);
    };
    wrong(json!({}), &[]);
    wrong(
        json!({"name": "a.b", "sideEffects": "Some", "timeoutSeconds": 31}),
        &[
            "webhooks[0].name: Invalid value: \"a.b\": should be a domain with at least three segments separated by dots",
            "webhooks[0].sideEffects: Unsupported value: \"Some\": supported values: \"None\", \"NoneOnDryRun\"",
            "webhooks[0].timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds",
        ],
    );
    wrong(
        json!({"clientConfig": {}, "admissionReviewVersions": ["v2"]}),
        &[
            "webhooks[0].clientConfig: Required value: exactly one of url or service is required",
            "webhooks[0].admissionReviewVersions: Invalid value: [\"v2\"]: must include at least one of v1, v1beta1",
        ],
    );
    wrong(
        json!({"clientConfig": {"url": "http://a/b"}, "rules": [{"operations": ["LOOK"]}]}),
        &[
            "webhooks[0].clientConfig.url: Invalid value: \"http\": 'https' is the only allowed URL scheme; desired format: https://host[:port]/path",
            "webhooks[0].rules[0].apiGroups: Required value",
            "webhooks[0].rules[0].apiVersions: Required value",
            "webhooks[0].rules[0].resources: Required value",
            "webhooks[0].rules[0].operations[0]: Unsupported value: \"LOOK\": supported values: \"*\", \"CONNECT\", \"CREATE\", \"DELETE\", \"UPDATE\"",
        ],
    );
}
