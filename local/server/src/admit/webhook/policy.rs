//! ValidatingAdmissionPolicies: what their bindings make of a request. `authorizer` is not known to expressions.

use kube_cel::KubeCelExt;
use kube_cel::cel::{Context, Program, Value as Cel};
use serde_json::{Value, json};

use super::condition::{self, cel};
use super::{GROUP, Request, Seen, review, rules, seen};
use crate::plane::{Plane, Target};
use crate::selector::object_selects;
use crate::status::{ApiError, Result};

/// Longer texts of expressions are not shown in messages.
const LONGEST_MESSAGE: usize = 5 * 1024;

/// Whether any policy is bound.
pub(super) fn any(plane: &Plane) -> bool {
    !plane.store().list(&format!("{GROUP}/validatingadmissionpolicybindings/")).1.is_empty()
}

/// What an expression that cannot be answered means.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Failure {
    Denies,
    Passes,
}

/// What a policy, by one of its bindings, has against a request.
struct Denial {
    reason: String,
    message: String,
}

/// Asks all policies that are bound; the first that denies says why.
pub(super) fn validate(
    plane: &Plane,
    request: &Request<'_>,
    object: &Value,
    warnings: &mut Vec<String>,
) -> Result<()> {
    let (_, bindings) = plane.store().list(&format!("{GROUP}/validatingadmissionpolicybindings/"));
    for entry in bindings {
        let binding = &*entry.value;
        let name = binding["spec"]["policyName"].as_str().unwrap_or_default();
        let policy = plane.store().get(&format!("{GROUP}/validatingadmissionpolicies/{name}"));
        // A binding may be there before its policy.
        let Some(policy) = policy else { continue };
        let Some(seen) = wanted(plane, &policy.value["spec"], binding, request, object) else {
            continue;
        };
        let about = review::request("", request, &seen);
        let all = denials(plane, &policy.value["spec"], binding, request, &seen, &about);
        let bound = binding["metadata"]["name"].as_str().unwrap_or_default();
        let does = |action: &str| {
            let all = binding["spec"]["validationActions"].as_array();
            all.into_iter().flatten().any(|one| one == action)
        };
        for denial in &all {
            if does("Warn") {
                warnings.push(format!(
                    "Validation failed for ValidatingAdmissionPolicy '{name}' with binding '{bound}': {}",
                    denial.message
                ));
            }
        }
        if let (Some(first), true) = (all.first(), does("Deny")) {
            return Err(denied(request.target, &about, name, bound, first));
        }
    }
    Ok(())
}

fn denied(target: &Target, about: &Value, policy: &str, binding: &str, why: &Denial) -> ApiError {
    let message = format!(
        "ValidatingAdmissionPolicy '{policy}' with binding '{binding}' denied request: {}",
        why.message
    );
    let resource = &target.resource;
    let name = about["name"].as_str().unwrap_or_default();
    let mut error = ApiError::forbidden(&resource.group, &resource.plural, name, &message);
    error.code = match why.reason.as_str() {
        "Forbidden" => 403,
        "Unauthorized" => 401,
        "RequestEntityTooLarge" => 413,
        _ => 422,
    };
    error.reason = why.reason.clone().into();
    if let Some(details) = &mut error.details {
        details["causes"] = json!([{"message": message}]);
    }
    error
}

// The request as the policy is to see it, if the policy and the binding want it.
fn wanted(
    plane: &Plane,
    policy: &Value,
    binding: &Value,
    request: &Request<'_>,
    object: &Value,
) -> Option<Seen> {
    let own = &policy["matchConstraints"];
    let narrower = &binding["spec"]["matchResources"];
    let mut matched = matched(plane, own, request, object)?;
    for (place, constraints) in [own, narrower].into_iter().enumerate() {
        let selected = rules::namespace_selected(plane, constraints, request, object)
            && rules::object_selected(constraints, request, object);
        if !selected || excluded(plane, constraints, request, object) {
            return None;
        }
        let ruled = constraints["resourceRules"].as_array().is_some_and(|all| !all.is_empty());
        if place == 1 && ruled {
            matched = self::matched(plane, constraints, request, object).map(|_| matched)?;
        }
    }
    Some(seen(request, &matched, object))
}

fn matched(
    plane: &Plane,
    constraints: &Value,
    request: &Request<'_>,
    object: &Value,
) -> Option<std::sync::Arc<crate::resource::Resource>> {
    let rules = named(&constraints["resourceRules"], request, object);
    let spec = json!({"rules": rules, "matchPolicy": constraints["matchPolicy"]});
    rules::matched(plane, &spec, request)
}

fn excluded(plane: &Plane, constraints: &Value, request: &Request<'_>, object: &Value) -> bool {
    let rules = named(&constraints["excludeResourceRules"], request, object);
    let spec = json!({"rules": rules, "matchPolicy": constraints["matchPolicy"]});
    rules::matched(plane, &spec, request).is_some()
}

// Rules may be for objects of certain names only.
fn named(rules: &Value, request: &Request<'_>, object: &Value) -> Vec<Value> {
    let name = match request.target.name.as_str() {
        "" => object["metadata"]["name"].as_str().unwrap_or_default(),
        name => name,
    };
    let fits = |rule: &&Value| match rule["resourceNames"].as_array() {
        Some(names) if !names.is_empty() => names.iter().any(|one| one == name),
        _ => true,
    };
    rules.as_array().into_iter().flatten().filter(fits).cloned().collect()
}

fn denials(
    plane: &Plane,
    policy: &Value,
    binding: &Value,
    request: &Request<'_>,
    seen: &Seen,
    about: &Value,
) -> Vec<Denial> {
    let failure = match policy["failurePolicy"].as_str() {
        Some("Ignore") => Failure::Passes,
        _ => Failure::Denies,
    };
    let failed = |message: String| match failure {
        Failure::Denies => vec![Denial { reason: "Invalid".to_owned(), message }],
        Failure::Passes => Vec::new(),
    };
    let conditions = policy["matchConditions"].as_array().map(Vec::as_slice).unwrap_or_default();
    match condition::all_hold(conditions, &seen.object, &seen.old, about) {
        Ok(true) => {}
        Ok(false) => return Vec::new(),
        Err(why) => return failed(why),
    }
    let all = match parameters(plane, policy, &binding["spec"]["paramRef"], request) {
        Ok(all) => all,
        Err(why) => return failed(why),
    };
    let namespace = match about["namespace"].as_str() {
        Some(name) => plane.store().get(&format!("/namespaces/{name}")),
        None => None,
    };
    let mut found = Vec::new();
    for params in all {
        let mut context = Context::default().with_all();
        let namespace = namespace.as_ref().map_or(&Value::Null, |entry| &**entry.value);
        let known = [
            ("object", &seen.object),
            ("oldObject", &seen.old),
            ("request", about),
            ("params", &params),
            ("namespaceObject", namespace),
        ];
        for (name, value) in known {
            context.add_variable_from_value(name, cel(value));
        }
        variables(policy, &mut context);
        for validation in policy["validations"].as_array().into_iter().flatten() {
            found.extend(against(validation, &context, failure));
        }
    }
    found
}

// Each variable may use those before it; one that fails is missed by those who use it.
fn variables(policy: &Value, context: &mut Context<'_>) {
    let mut known = std::collections::HashMap::new();
    context.add_variable_from_value("variables", cel(&json!({})));
    for variable in policy["variables"].as_array().into_iter().flatten() {
        let name = variable["name"].as_str().unwrap_or_default().to_owned();
        let expression = variable["expression"].as_str().unwrap_or_default();
        let Ok(program) = Program::compile(expression) else { continue };
        if let Ok(value) = program.execute(context) {
            known.insert(name, value);
            context.add_variable_from_value("variables", known.clone());
        }
    }
}

fn run(expression: &str, context: &Context<'_>) -> Result<Cel, String> {
    let program =
        Program::compile(expression).map_err(|error| format!("compilation failed: {error}"))?;
    program.execute(context).map_err(|error| error.to_string())
}

fn against(validation: &Value, context: &Context<'_>, failure: Failure) -> Option<Denial> {
    let text = |key: &str| validation[key].as_str().unwrap_or_default();
    let expression = text("expression").trim();
    let reason = match text("reason") {
        "" => "Invalid".to_owned(),
        given => given.to_owned(),
    };
    match run(expression, context) {
        Ok(Cel::Bool(true)) => None,
        Ok(Cel::Bool(false)) => {
            let made = match text("messageExpression") {
                "" => None,
                expression => run(expression, context).ok(),
            };
            let made = match made {
                Some(Cel::String(text)) => Some(text.trim().to_owned()),
                _ => None,
            };
            let good = |text: &String| {
                !text.is_empty() && text.len() <= LONGEST_MESSAGE && !text.contains('\n')
            };
            let told = Some(text("message").trim().to_owned()).filter(|it| !it.is_empty());
            let message = made.filter(good).or(told);
            let message = message.unwrap_or_else(|| format!("failed expression: {expression}"));
            Some(Denial { reason, message })
        }
        other if failure == Failure::Denies => {
            let why = other.err().unwrap_or_else(|| "it is neither true nor false".to_owned());
            let message = format!("expression '{expression}' resulted in error: {why}");
            Some(Denial { reason: "Invalid".to_owned(), message })
        }
        _ => None,
    }
}

// What a binding gives its policy: each of several is looked at on its own; null if there is none to be had.
fn parameters(
    plane: &Plane,
    policy: &Value,
    reference: &Value,
    request: &Request<'_>,
) -> Result<Vec<Value>, String> {
    let kind = &policy["paramKind"];
    if !kind.is_object() || !reference.is_object() {
        return Ok(vec![Value::Null]);
    }
    let text = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
    let api = text(kind, "apiVersion");
    let (group, version) = api.split_once('/').unwrap_or(("", &api));
    let Some(resource) = plane.registry().by_kind(group, version, &text(kind, "kind")) else {
        return Err(format!(
            "failed to find resource referenced by paramKind: '{api}, Kind={}'",
            text(kind, "kind")
        ));
    };
    let namespace = match text(reference, "namespace") {
        own if !resource.namespaced || !own.is_empty() => own,
        _ if request.target.namespace.is_empty() => {
            return Err("cannot use namespaced paramRef in policy binding that matches cluster-scoped resources".to_owned());
        }
        _ => request.target.namespace.clone(),
    };
    let name = text(reference, "name");
    let found: Vec<Value> = if name.is_empty() {
        let selector = &reference["selector"];
        let (_, all) = plane.store().list(&resource.range(&namespace));
        let all = all.into_iter().map(|entry| crate::kinds::present(&resource, &entry.value));
        all.filter(|one| object_selects(selector, &one["metadata"]["labels"])).collect()
    } else {
        let one = plane.store().get(&resource.key(&namespace, &name));
        one.map(|entry| crate::kinds::present(&resource, &entry.value)).into_iter().collect()
    };
    match text(reference, "parameterNotFoundAction").as_str() {
        "Deny" if found.is_empty() => {
            Err("no params found for policy binding with `Deny` parameterNotFoundAction".to_owned())
        }
        _ => Ok(found),
    }
}
