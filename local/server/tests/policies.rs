//! Admission policies: what their bindings let pass and change, and what is said of the rest.
#![allow(clippy::unwrap_used, reason = "a test")]

use local_server::auth::User;
use local_server::plane::WriteOptions;
use local_server::{Options, Plane};
use serde_json::{Value, json};

struct Bench {
    plane: Plane,
}

impl Bench {
    fn new() -> Bench {
        Bench { plane: Plane::new(Options::default()).unwrap() }
    }

    fn make(
        &self,
        api: &str,
        plural: &str,
        namespace: &str,
        object: Value,
    ) -> Result<Vec<String>, Value> {
        let target = self.plane.handle("test").target(api, plural, namespace, "").unwrap();
        let mut options = WriteOptions::by("test");
        let made = self.plane.create(&target, object, &mut options);
        made.map(|_| options.warnings).map_err(|error| error.status())
    }

    fn policy(&self, change: Value) {
        let mut spec = json!({
            "matchConstraints": {"resourceRules": [{
                "operations": ["CREATE", "UPDATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"],
            }]},
            "validations": [{"expression": "has(object.data) && object.data.size() < 2"}],
        });
        for (key, value) in change.as_object().unwrap() {
            spec[key] = value.clone();
        }
        let object = json!({"metadata": {"name": "few"}, "spec": spec});
        let api = "admissionregistration.k8s.io/v1";
        self.make(api, "validatingadmissionpolicies", "", object).unwrap();
    }

    fn bind(&self, change: Value) {
        let mut spec = json!({"policyName": "few", "validationActions": ["Deny"]});
        for (key, value) in change.as_object().unwrap() {
            spec[key] = value.clone();
        }
        let object = json!({"metadata": {"name": "everywhere"}, "spec": spec});
        let api = "admissionregistration.k8s.io/v1";
        self.make(api, "validatingadmissionpolicybindings", "", object).unwrap();
    }

    /// Two entries in a ConfigMap; what is said against it.
    fn two(&self, labels: Value) -> Result<Vec<String>, Value> {
        let object =
            json!({"metadata": {"name": "a", "labels": labels}, "data": {"k": "v", "l": "w"}});
        self.make("v1", "configmaps", "default", object)
    }
}

fn told(answer: Result<Vec<String>, Value>) -> String {
    answer.unwrap_err()["message"].as_str().unwrap().to_owned()
}

#[test]
fn a_policy_without_a_binding_does_nothing() {
    let bench = Bench::new();
    bench.policy(json!({}));
    assert!(bench.two(json!({})).is_ok());
}

#[test]
fn a_bound_policy_denies_in_words_of_its_own() {
    let bench = Bench::new();
    bench.policy(json!({}));
    bench.bind(json!({}));
    let status = bench.two(json!({})).unwrap_err();
    assert_eq!(status["code"], json!(422), "{status}");
    assert_eq!(status["reason"], json!("Invalid"));
    assert_eq!(
        status["message"],
        json!(
            "configmaps \"a\" is forbidden: ValidatingAdmissionPolicy 'few' with binding 'everywhere' denied request: failed expression: has(object.data) && object.data.size() < 2"
        )
    );
    let one = json!({"metadata": {"name": "b"}, "data": {"k": "v"}});
    assert!(bench.make("v1", "configmaps", "default", one).is_ok());
    let other = json!({"metadata": {"name": "c"}, "stringData": {"k": "v", "l": "w"}});
    assert!(bench.make("v1", "secrets", "default", other).is_ok());
}

#[test]
fn messages_and_reasons() {
    for (validation, code, wanted) in [
        (json!({"expression": "false", "message": "no", "reason": "Forbidden"}), 403, "no"),
        (
            json!({"expression": "variables.count < 2", "message": "no",
                "messageExpression": "'has ' + string(variables.count) + ' entries'"}),
            422,
            "has 2 entries",
        ),
        (
            json!({"expression": "params == null && request.operation == 'UPDATE'"}),
            422,
            "failed expression: params",
        ),
        (
            json!({"expression": "namespaceObject.metadata.name == 'default' && oldObject != null"}),
            422,
            "failed",
        ),
        (
            json!({"expression": "object.spec.missing == 1"}),
            422,
            "expression 'object.spec.missing == 1' resulted in error: ",
        ),
    ] {
        let bench = Bench::new();
        let variables = json!([
            {"name": "data", "expression": "object.data"},
            {"name": "count", "expression": "variables.data.size()"},
        ]);
        bench.policy(json!({"variables": variables, "validations": [validation]}));
        bench.bind(json!({}));
        let status = bench.two(json!({})).unwrap_err();
        assert_eq!(status["code"], json!(code), "{status}");
        let message = status["message"].as_str().unwrap();
        let why = message.split("denied request: ").nth(1).unwrap();
        assert!(why.contains(wanted), "{why}");
    }
}

#[test]
fn what_a_policy_does_not_want() {
    let quiet = json!({"validations": [{"expression": "object.spec.missing == 1"}], "failurePolicy": "Ignore"});
    let names = json!({"resourceRules": [{
        "operations": ["*"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"], "resourceNames": ["z"],
    }]});
    let but = json!({
        "resourceRules": [{"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"]}],
        "excludeResourceRules": [{"operations": ["*"], "apiGroups": [""], "apiVersions": ["*"], "resources": ["configmaps"]}],
    });
    let condition = json!([{"name": "only-z", "expression": "request.name == 'z'"}]);
    for (policy, binding) in [
        (quiet, json!({})),
        (json!({"matchConstraints": names}), json!({})),
        (json!({"matchConstraints": but}), json!({})),
        (json!({"matchConditions": condition}), json!({})),
        (
            json!({}),
            json!({"matchResources": {"objectSelector": {"matchLabels": {"strict": "yes"}}}}),
        ),
        (
            json!({}),
            json!({"matchResources": {"namespaceSelector": {"matchLabels": {"strict": "yes"}}}}),
        ),
        (json!({}), json!({"validationActions": ["Audit"]})),
    ] {
        let bench = Bench::new();
        bench.policy(policy.clone());
        bench.bind(binding.clone());
        assert!(bench.two(json!({})).is_ok(), "{policy} {binding}");
    }
    let bench = Bench::new();
    bench.policy(json!({}));
    bench.bind(json!({"matchResources": {"objectSelector": {"matchLabels": {"strict": "yes"}}}}));
    assert!(bench.two(json!({"strict": "yes"})).is_err());
}

#[test]
fn a_warning_lets_pass() {
    let bench = Bench::new();
    bench.policy(json!({}));
    bench.bind(json!({"validationActions": ["Warn"]}));
    let warnings = bench.two(json!({})).unwrap();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].starts_with(
        "Validation failed for ValidatingAdmissionPolicy 'few' with binding 'everywhere': "
    ));
}

#[test]
fn parameters_come_from_objects() {
    let reference =
        json!({"name": "limit", "namespace": "default", "parameterNotFoundAction": "Deny"});
    let bench = Bench::new();
    bench.policy(json!({
        "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
        "matchConstraints": {"resourceRules": [{
            "operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["secrets"],
        }]},
        "validations": [{"expression": "object.data.size() <= int(params.data.most)"}],
    }));
    bench.bind(json!({"paramRef": reference}));
    let secret = |name: &str| {
        let object = json!({"metadata": {"name": name}, "stringData": {"k": "v", "l": "w"}});
        bench.make("v1", "secrets", "default", object)
    };
    assert!(
        told(secret("a"))
            .ends_with("no params found for policy binding with `Deny` parameterNotFoundAction")
    );
    let limit = |most: &str| json!({"metadata": {"name": "limit"}, "data": {"most": most}});
    bench.make("v1", "configmaps", "default", limit("2")).unwrap();
    assert!(secret("b").is_ok());
    let target = bench.plane.handle("test").target("v1", "configmaps", "default", "limit").unwrap();
    bench
        .plane
        .handle("test")
        .modify(&target, |object| object["data"]["most"] = json!("1"))
        .unwrap();
    assert!(secret("c").is_err());
}

#[test]
fn what_is_refused_of_policies_and_bindings() {
    let bench = Bench::new();
    let api = "admissionregistration.k8s.io/v1";
    let policy =
        json!({"metadata": {"name": "p"}, "spec": {"validations": [{"expression": "object."}]}});
    let status = bench.make(api, "validatingadmissionpolicies", "", policy).unwrap_err();
    let text = status.to_string();
    assert!(
        text.contains("spec.matchConstraints") && text.contains("compilation failed"),
        "{text}"
    );
    for (part, said) in [
        (
            json!({"validations": [{"expression": "object.spec.flag"}]}),
            "must evaluate to bool but got dyn",
        ),
        (
            json!({"auditAnnotations": [{"key": "k", "valueExpression": "1"}]}),
            "spec.auditAnnotations[0].valueExpression: Invalid value: \"1\": must evaluate to one of [string null_type] but got int",
        ),
        (
            json!({"auditAnnotations": [{"key": "a b", "valueExpression": "null"}]}),
            "spec.auditAnnotations[0].key: Invalid value: \"p/a b\": name part must consist of",
        ),
        (
            json!({"validations": [{"expression": "Object{a: 1}.a == 1"}]}),
            "undeclared reference to 'Object'",
        ),
    ] {
        let policy = json!({"metadata": {"name": "p"}, "spec": part});
        let status = bench.make(api, "validatingadmissionpolicies", "", policy).unwrap_err();
        assert!(status["message"].as_str().unwrap().contains(said), "{status}");
    }
    let binding = json!({"metadata": {"name": "b"}, "spec": {"policyName": "p", "validationActions": ["Deny", "Warn"]}});
    let status = bench.make(api, "validatingadmissionpolicybindings", "", binding).unwrap_err();
    assert!(status.to_string().contains("must not contain both Deny and Warn"), "{status}");
}

#[test]
fn expressions_ask_what_the_user_may_do() {
    let bench = Bench::new();
    bench.policy(json!({"validations": [
        {"expression": "authorizer.group('').resource('secrets').namespace('default').check('get').allowed()", "message": "no secrets"},
        {"expression": "authorizer.requestResource.check('create').allowed()", "message": "not this"},
        {"expression": "authorizer.path('/healthz').check('get').reason() == ''", "message": "no path"},
        {"expression": "!authorizer.serviceAccount('default', 'robot').group('').resource('secrets').check('get').allowed()", "message": "robots"},
    ]}));
    bench.bind(json!({}));
    let api = "rbac.authorization.k8s.io/v1";
    let rules = json!([{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["create"]}]);
    let role = json!({"metadata": {"name": "maker"}, "rules": rules});
    bench.make(api, "clusterroles", "", role).unwrap();
    let binding = json!({
        "metadata": {"name": "makers"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "maker"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "eva"}],
    });
    bench.make(api, "clusterrolebindings", "", binding).unwrap();
    let make = |user: &str, name: &str| {
        let target = bench.plane.handle("test").target("v1", "configmaps", "default", "").unwrap();
        let mut options = WriteOptions::by("test");
        options.user = Some(User { name: user.to_owned(), ..User::default() });
        let made = bench.plane.create(&target, json!({"metadata": {"name": name}}), &mut options);
        made.map(|_| Vec::new()).map_err(|error| error.status())
    };
    assert!(told(make("eva", "a")).ends_with("denied request: no secrets"));
    let see = json!([{"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]}]);
    bench
        .make(api, "roles", "default", json!({"metadata": {"name": "see"}, "rules": see}))
        .unwrap();
    let binding = json!({
        "metadata": {"name": "see"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "see"},
        "subjects": [
            {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "eva"},
            {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "ada"},
        ],
    });
    bench.make(api, "rolebindings", "default", binding).unwrap();
    assert!(make("eva", "b").is_ok());
    assert!(told(make("ada", "c")).ends_with("denied request: not this"));
}

#[test]
fn an_audit_annotation_that_cannot_be_made_refuses_whatever_the_binding_does() {
    for (annotation, actions, denied) in [
        ("'made by ' + request.userInfo.username", json!(["Deny"]), false),
        ("null", json!(["Deny"]), false),
        ("string(object.data.missing)", json!(["Audit"]), true),
    ] {
        let bench = Bench::new();
        bench.policy(json!({
            "validations": [],
            "auditAnnotations": [{"key": "who", "valueExpression": annotation}],
        }));
        bench.bind(json!({"validationActions": actions}));
        assert_eq!(bench.two(json!({})).is_err(), denied, "{annotation}");
    }
}

impl Bench {
    /// A MutatingAdmissionPolicy with a binding.
    fn mutation(&self, name: &str, mutations: Value, change: Value) -> Result<(), Value> {
        let api = "admissionregistration.k8s.io/v1";
        let mut spec = json!({
            "matchConstraints": {"resourceRules": [{
                "operations": ["CREATE", "UPDATE"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["configmaps", "deployments"],
            }]},
            "reinvocationPolicy": "Never", "mutations": mutations,
        });
        for (key, value) in change.as_object().unwrap() {
            spec[key] = value.clone();
        }
        let policy = json!({"metadata": {"name": name}, "spec": spec});
        self.make(api, "mutatingadmissionpolicies", "", policy)?;
        let binding = json!({"metadata": {"name": name}, "spec": {"policyName": name}});
        self.make(api, "mutatingadmissionpolicybindings", "", binding).map(|_| ())
    }

    fn stored(&self, api: &str, plural: &str, name: &str) -> Value {
        let handle = self.plane.handle("test");
        handle.get(&handle.target(api, plural, "default", name).unwrap()).unwrap()
    }
}

fn apply(expression: &str) -> Value {
    json!({"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": expression}})
}

fn patch(expression: &str) -> Value {
    json!({"patchType": "JSONPatch", "jsonPatch": {"expression": expression}})
}

#[test]
fn mutating_policies_change_objects() {
    let bench = Bench::new();
    let labels = "Object{metadata: Object.metadata{labels: {'team': variables.team}}}";
    let first = json!([
        apply(labels),
        patch(
            "[JSONPatch{op: 'add', path: '/metadata/labels/seen', value: object.metadata.labels.team}]"
        ),
    ]);
    let variables =
        json!([{"name": "team", "expression": "namespaceObject.metadata.name + '-team'"}]);
    bench.mutation("labels", first, json!({"variables": variables})).unwrap();
    let images = "Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{containers: object.spec.template.spec.containers.map(c, Object.spec.template.spec.containers{name: c.name, imagePullPolicy: 'Always'})}}}}";
    let only = json!([{"name": "deployments", "expression": "object.kind == 'Deployment'"}]);
    bench.mutation("pull", json!([apply(images)]), json!({"matchConditions": only})).unwrap();
    assert!(bench.two(json!({"a": "b"})).is_ok());
    let made = bench.stored("v1", "configmaps", "a");
    let wanted = json!({"a": "b", "team": "default-team", "seen": "default-team"});
    assert_eq!(made["metadata"]["labels"], wanted);
    let owned = &made["metadata"]["managedFields"][0]["fieldsV1"]["f:metadata"]["f:labels"];
    assert!(owned.get("f:a").is_some());
    let pod = json!({"metadata": {"labels": {"app": "w"}}, "spec": {"containers": [{"name": "c", "image": "i:1"}]}});
    let spec = json!({"selector": {"matchLabels": {"app": "w"}}, "template": pod});
    let deployment = json!({"metadata": {"name": "w"}, "spec": spec});
    bench.make("apps/v1", "deployments", "default", deployment).unwrap();
    let made = bench.stored("apps/v1", "deployments", "w");
    let container = &made["spec"]["template"]["spec"]["containers"][0];
    assert_eq!(
        (&container["image"], &container["imagePullPolicy"]),
        (&json!("i:1"), &json!("Always"))
    );
}

#[test]
fn a_policy_is_asked_again_when_another_changed_the_object() {
    let bench = Bench::new();
    let count = "[JSONPatch{op: 'add', path: '/data/count', value: string(int(object.data[?'count'].orValue('0')) + 1)}]";
    let again = json!({"reinvocationPolicy": "IfNeeded"});
    bench.mutation("a-count", json!([patch(count)]), again).unwrap();
    let other = json!([apply("Object{data: {'other': 'x'}}")]);
    bench.mutation("b-other", other, json!({})).unwrap();
    assert!(bench.two(json!({})).is_ok());
    let data = bench.stored("v1", "configmaps", "a")["data"].clone();
    assert_eq!(data, json!({"k": "v", "l": "w", "count": "2", "other": "x"}));
}

#[test]
fn mutations_that_fail_follow_their_policy() {
    for (mutation, change, said) in [
        (
            patch(
                "[JSONPatch{op: 'test', path: '/data/k', value: 'other'}, JSONPatch{op: 'remove', path: '/data/k'}]",
            ),
            json!({}),
            "",
        ),
        (
            patch("[JSONPatch{op: 'remove', path: '/data/none'}]"),
            json!({"failurePolicy": "Ignore"}),
            "",
        ),
        (
            patch("[JSONPatch{op: 'remove', path: '/data/none'}]"),
            json!({}),
            "JSON Patch: error in remove for path: '/data/none': Unable to remove nonexistent key: none: missing value",
        ),
        (
            apply("Object{spec: Object.spec{unknown: 1}}"),
            json!({}),
            "error applying patch: failed to convert patch object to typed object: .spec: field not declared in schema",
        ),
        (
            apply(
                "Object{metadata: Object.metadata{ownerReferences: [Object.metadata.other{name: 'a'}]}}",
            ),
            json!({}),
            "type mismatch: unexpected type name \"Object.metadata.other\"",
        ),
        (apply("Object{metadata: object.metadata.none}"), json!({}), "no such key: none"),
    ] {
        let bench = Bench::new();
        bench.mutation("p", json!([mutation]), change).unwrap();
        let answer = bench.two(json!({}));
        if said.is_empty() {
            assert_eq!(answer, Ok(Vec::new()), "{mutation}");
            assert_eq!(bench.stored("v1", "configmaps", "a")["data"]["k"], json!("v"));
        } else {
            let status = answer.unwrap_err();
            let message = status["message"].as_str().unwrap();
            let begins = "policy 'p' with binding 'p' denied request: ";
            assert!(message.starts_with(begins) && message.contains(said), "{status}");
        }
    }
}

#[test]
fn what_is_refused_of_mutating_policies() {
    let bench = Bench::new();
    for (mutations, change, said) in [
        (
            json!([]),
            json!({}),
            "spec.mutations: Required value: mutations must contain at least one item",
        ),
        (
            json!([{"patchType": "JSONPatch"}]),
            json!({}),
            "spec.mutations[0].jsonPatch: Required value: must be specified when patchType is JSONPatch",
        ),
        (
            json!([{"patchType": "Other"}]),
            json!({}),
            "spec.mutations[0].patchType: Unsupported value: \"Other\": supported values: \"ApplyConfiguration\", \"JSONPatch\"",
        ),
        (
            json!([apply("1")]),
            json!({}),
            "spec.mutations[0].applyConfiguration.expression: Invalid value: \"1\": must evaluate to Object but got int",
        ),
        (
            json!([apply("Object{")]),
            json!({}),
            "spec.mutations[0].applyConfiguration.expression: Invalid value: \"Object{\": compilation failed",
        ),
        (
            json!([apply("Object{}")]),
            json!({"reinvocationPolicy": "Often"}),
            "spec.reinvocationPolicy: Unsupported value: \"Often\": supported values: \"IfNeeded\", \"Never\"",
        ),
        (
            json!([apply("Object{}")]),
            json!({"matchConstraints": {"resourceRules": [{"operations": ["DELETE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}]}}),
            "spec.matchConstraints.resourceRules.operations: Unsupported value: \"DELETE\": supported values: \"*\", \"CONNECT\", \"CREATE\", \"UPDATE\"",
        ),
    ] {
        let status = bench.mutation("p", mutations, change).unwrap_err();
        assert!(status["message"].as_str().unwrap().contains(said), "{status}");
    }
}
