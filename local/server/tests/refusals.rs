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
            "webhooks[0].clientConfig.url: Invalid value: \"http\": 'https' is the only allowed URL scheme; desired format: https://host[/path]",
            "webhooks[0].rules[0].apiGroups: Required value",
            "webhooks[0].rules[0].apiVersions: Required value",
            "webhooks[0].rules[0].resources: Required value",
            "webhooks[0].rules[0].operations[0]: Unsupported value: \"LOOK\": supported values: \"*\", \"CONNECT\", \"CREATE\", \"DELETE\", \"UPDATE\"",
        ],
    );
}

#[test]
fn endpoints_jobs_and_time_zones() {
    check(
        "v1",
        "endpoints",
        json!({"subsets": [{"addresses": [{"ip": "10.1.2.3"}], "ports": [{"port": 80}, {"port": 81, "name": "x"}]}]}),
        &["subsets[0].ports[0].name: Required value"],
    );
    let pod = json!({"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]});
    let plane = Plane::new(Options::default()).expect("a plane");
    let job = json!({"spec": {"selector": {"matchLabels": {"a": "b"}}, "template": {"spec": pod}}});
    let found = refused(&plane, "batch/v1", "jobs", job);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].ends_with("`selector` not auto-generated"), "{found:?}");
    assert!(found[1].ends_with("`selector` does not match template `labels`"), "{found:?}");
    if std::path::Path::new("/usr/share/zoneinfo/Europe/Berlin").is_file() {
        let cron = |zone: &str| json!({"spec": {"schedule": "@daily", "timeZone": zone, "jobTemplate": {"spec": {"template": {"spec": pod}}}}});
        check("batch/v1", "cronjobs", cron("Europe/Berlin"), &[]);
        let wanted = "spec.timeZone: Invalid value: \"Mars/X\": unknown time zone Mars/X";
        check("batch/v1", "cronjobs", cron("Mars/X"), &[wanted]);
    }
}

#[test]
fn what_pods_change_by_subresources_of_their_own() {
    let plane = Plane::new(Options::default()).expect("a plane");
    let handle = plane.handle("test");
    let target = handle.target("v1", "pods", "default", "a").expect("known");
    let pod =
        json!({"metadata": {"name": "a"}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    handle.create(&target, pod).expect("a pod");
    let debugged = |object: &mut Value| {
        object["spec"]["ephemeralContainers"] =
            json!([{"name": "d", "image": "i", "terminationMessagePolicy": "File"}]);
    };
    assert_eq!(handle.modify(&target, debugged).expect_err("not here").code, 422);
    let part = |name: &str| {
        let mut part = target.clone();
        part.subresource = name.to_owned();
        part
    };
    handle.modify(&part("ephemeralcontainers"), debugged).expect("here");
    let more = |object: &mut Value| {
        object["spec"]["containers"][0]["resources"] = json!({"requests": {"cpu": "1"}});
    };
    assert_eq!(handle.modify(&target, more).expect_err("not here").code, 422);
    let refused = handle.modify(&part("resize"), more).expect_err("another class").status();
    assert!(refused["message"].as_str().expect("a text").contains("QOS Class may not change"));
}

#[test]
fn where_a_pod_runs_is_said_by_binding_alone() {
    let plane = Plane::new(Options::default()).expect("a plane");
    let handle = plane.handle("test");
    let target = handle.target("v1", "pods", "default", "a").expect("known");
    let spec = json!({"containers": [{"name": "c", "image": "i"}], "schedulingGates": [{"name": "a.b/c"}]});
    handle.create(&target, json!({"metadata": {"name": "a"}, "spec": spec})).expect("a pod");
    let place = |object: &mut Value| object["spec"]["nodeName"] = json!("n");
    let refused = handle.modify(&target, place).expect_err("not here").message;
    let said =
        "Pod \"a\" is invalid: spec: Forbidden: pod updates may not change fields other than";
    assert!(refused.starts_with(said), "{refused}");
    let gate = |object: &mut Value| object["spec"]["schedulingGates"] = json!([{"name": "x.y/z"}]);
    let refused = handle.modify(&target, gate).expect_err("another gate").message;
    let said = "spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but found new scheduling gate 'x.y/z'";
    assert!(refused.contains(said), "{refused}");
    let free = |object: &mut Value| object["spec"]["schedulingGates"] = json!([]);
    handle.modify(&target, free).expect("free");
    let mut binding = target.clone();
    binding.subresource = "binding".to_owned();
    handle.modify(&binding, place).expect("bound");
    let away = |object: &mut Value| object["spec"]["nodeName"] = json!("m");
    assert_eq!(handle.modify(&target, away).expect_err("it stays").code, 422);
}

#[test]
fn a_namespace_keeps_finalizers_of_its_own() {
    let plane = Plane::new(Options::default()).expect("a plane");
    let handle = plane.handle("test");
    let mut target = handle.target("v1", "namespaces", "", "a").expect("known");
    let spec = json!({"finalizers": ["mine.io/a"]});
    handle.create(&target, json!({"metadata": {"name": "a"}, "spec": spec})).expect("made");
    let kept = handle.get(&target).expect("there");
    assert_eq!(kept["spec"]["finalizers"], json!(["mine.io/a", "kubernetes"]));
    target.subresource = "finalize".to_owned();
    let wrong = |object: &mut Value| object["spec"]["finalizers"] = json!(["mine"]);
    let refused = handle.modify(&target, wrong).expect_err("not qualified").message;
    assert!(refused.contains("spec.finalizers[0]: Invalid value: \"mine\""), "{refused}");
}

#[test]
fn owners_that_another_version_has_no_words_for() {
    let plane = Plane::new(Options::default()).expect("a plane");
    let handle = plane.handle("test");
    let version = |name: &str, fields: Value| {
        json!({"name": name, "served": true, "storage": name == "v2", "schema": {"openAPIV3Schema": {
            "type": "object", "properties": {"spec": {"type": "object", "properties": fields}}}}})
    };
    let text = json!({"type": "string"});
    let definition = json!({"metadata": {"name": "lamps.test.dev"}, "spec": {
        "group": "test.dev", "scope": "Namespaced", "names": {"plural": "lamps", "kind": "Lamp"},
        "versions": [version("v1", json!({"a": text})), version("v2", json!({"a": text, "b": text}))],
    }});
    let target = handle.target("apiextensions.k8s.io/v1", "customresourcedefinitions", "", "");
    handle.create(&target.expect("known"), definition).expect("a definition");
    let old = handle.target("test.dev/v1", "lamps", "default", "l").expect("served");
    let new = handle.target("test.dev/v2", "lamps", "default", "l").expect("served");
    let lamp = json!({"apiVersion": "test.dev/v1", "kind": "Lamp", "metadata": {"name": "l"}, "spec": {"a": "x"}});
    handle.create(&old, lamp).expect("a lamp");
    let same = handle.modify(&new, |object| object["spec"]["a"] = json!("y")).expect("written");
    let owners = same["metadata"]["managedFields"].as_array().expect("owners").len();
    assert_eq!(owners, 2, "{same}");
    let more = handle.modify(&new, |object| object["spec"]["b"] = json!("z")).expect("written");
    assert!(more["metadata"]["managedFields"].is_null(), "{more}");
}
