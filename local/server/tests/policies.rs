//! ValidatingAdmissionPolicies: what their bindings let pass, and what is said of the rest.
#![allow(clippy::unwrap_used, reason = "a test")]

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
            json!({"expression": "object.spec.missing"}),
            422,
            "expression 'object.spec.missing' resulted in error: ",
        ),
        (
            json!({"expression": "authorizer.group('').resource('pods').check('get').allowed()"}),
            422,
            "resulted in error",
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
    let quiet =
        json!({"validations": [{"expression": "object.spec.missing"}], "failurePolicy": "Ignore"});
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
    let binding = json!({"metadata": {"name": "b"}, "spec": {"policyName": "p", "validationActions": ["Deny", "Warn"]}});
    let status = bench.make(api, "validatingadmissionpolicybindings", "", binding).unwrap_err();
    assert!(status.to_string().contains("must not contain both Deny and Warn"), "{status}");
}
