//! Kinds that are only asked: who am I, may I, whose is this token.

use serde_json::{Value, json};

use super::{Action, Tokens, User, allowed, owner, rbac};
use crate::ownership;
use crate::plane::{Plane, Target, WriteOptions, now};
use crate::status::{ApiError, FieldError, Result};

/// The answer to a review.
pub(crate) fn review(
    plane: &Plane,
    (tokens, user): (Option<&Tokens>, &User),
    target: &Target,
    mut body: Value,
    options: &mut WriteOptions,
) -> Result<Value> {
    let resource = &target.resource;
    plane.read_body(resource, &mut body, options)?;
    if resource.kind == "SelfSubjectReview" {
        body["metadata"] = json!({"creationTimestamp": now()});
        body["status"] = json!({"userInfo": user.info()});
        return Ok(body);
    }
    if let Some(fields) = body.as_object_mut() {
        fields.shift_remove("status");
    }
    check(target, &body)?;
    ownership::on_update(resource, "", &Value::Null, &mut body, &options.manager)?;
    let spec = &body["spec"];
    body["status"] = match resource.kind.as_str() {
        "TokenReview" => token(plane, tokens, spec),
        "SelfSubjectRulesReview" => rules(plane, user, spec),
        "SelfSubjectAccessReview" => access(plane, user, spec),
        "SubjectAccessReview" | "LocalSubjectAccessReview" => access(plane, &subject(spec), spec),
        _ => json!({}),
    };
    Ok(body)
}

fn check(target: &Target, body: &Value) -> Result<()> {
    let kind = target.resource.kind.as_str();
    let spec = &body["spec"];
    let mut wrong = Vec::new();
    if kind.ends_with("AccessReview") {
        if spec["resourceAttributes"].is_object() == spec["nonResourceAttributes"].is_object() {
            let why =
                "exactly one of nonResourceAttributes or resourceAttributes must be specified";
            let (at, shown) = match spec["resourceAttributes"].is_object() {
                true => ("spec.nonResourceAttributes", Value::Null),
                false => ("spec.resourceAttributes", Value::Null),
            };
            wrong.push(FieldError::invalid(at, &shown, why));
        }
        let nobody = spec["user"].as_str().unwrap_or_default().is_empty()
            && spec["groups"].as_array().is_none_or(Vec::is_empty);
        if kind != "SelfSubjectAccessReview" && nobody {
            let why = "at least one of user or group must be specified";
            wrong.push(FieldError::invalid("spec.user", &json!(""), why));
        }
        if kind == "LocalSubjectAccessReview" {
            let asked = spec["resourceAttributes"]["namespace"].as_str().unwrap_or_default();
            if asked != target.namespace {
                let at = "spec.resourceAttributes.namespace";
                let why = "must match metadata.namespace";
                wrong.push(FieldError::invalid(at, &json!(asked), why));
            }
        }
    }
    if kind == "TokenReview" && spec["token"].as_str().unwrap_or_default().is_empty() {
        return Err(ApiError::bad_request("token is required for TokenReview in authentication"));
    }
    if kind == "SelfSubjectRulesReview" && spec["namespace"].as_str().unwrap_or_default().is_empty()
    {
        return Err(ApiError::bad_request("no namespace on request"));
    }
    if wrong.is_empty() {
        return Ok(());
    }
    Err(ApiError::invalid(&target.resource.group, "", "", &wrong))
}

fn subject(spec: &Value) -> User {
    let text = |key: &str| spec[key].as_str().unwrap_or_default().to_owned();
    let groups = spec["groups"].as_array().into_iter().flatten();
    User {
        name: text("user"),
        uid: text("uid"),
        groups: groups.filter_map(|group| group.as_str().map(str::to_owned)).collect(),
    }
}

fn access(plane: &Plane, user: &User, spec: &Value) -> Value {
    let (on, other) = (&spec["resourceAttributes"], &spec["nonResourceAttributes"]);
    let text = |of: &Value, key: &str| of[key].as_str().unwrap_or_default().to_owned();
    let action = if on.is_object() {
        Action {
            verb: text(on, "verb"),
            group: text(on, "group"),
            resource: text(on, "resource"),
            subresource: text(on, "subresource"),
            namespace: text(on, "namespace"),
            name: text(on, "name"),
            path: String::new(),
        }
    } else {
        Action { verb: text(other, "verb"), path: text(other, "path"), ..Action::default() }
    };
    match allowed(plane, user, &action) {
        None => json!({"allowed": false}),
        Some(reason) if reason.is_empty() => json!({"allowed": true}),
        Some(reason) => json!({"allowed": true, "reason": reason}),
    }
}

fn rules(plane: &Plane, user: &User, spec: &Value) -> Value {
    let namespace = spec["namespace"].as_str().unwrap_or_default();
    let (mut resources, mut urls) = (Vec::new(), Vec::new());
    for rule in rbac::all_rules(plane, user, namespace) {
        if rule["nonResourceURLs"].as_array().is_some_and(|all| !all.is_empty()) {
            urls.push(json!({"verbs": rule["verbs"], "nonResourceURLs": rule["nonResourceURLs"]}));
        } else {
            resources.push(rule);
        }
    }
    json!({"resourceRules": resources, "nonResourceRules": urls, "incomplete": false})
}

fn token(plane: &Plane, tokens: Option<&Tokens>, spec: &Value) -> Value {
    let given = spec["token"].as_str().unwrap_or_default();
    let audiences = spec["audiences"].as_array().filter(|all| !all.is_empty()).cloned();
    let audiences = audiences.unwrap_or(vec![json!("https://kubernetes.default.svc")]);
    match owner(plane, tokens, given) {
        Some(user) => {
            json!({"authenticated": true, "user": user.info(), "audiences": audiences})
        }
        None => json!({"user": {}, "error": "invalid bearer token"}),
    }
}
