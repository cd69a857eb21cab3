//! What is refused of webhook configurations and of admission policies.

use serde_json::{Value, json};

use crate::admit::webhook::expression::{Literals, of_type};
use crate::meta::qualified_name_errors;
use crate::status::FieldError;

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_default()
}

fn quoted(known: &[&str]) -> Vec<String> {
    known.iter().map(|one| format!("\"{one}\"")).collect()
}

/// MutatingWebhookConfigurations and ValidatingWebhookConfigurations.
pub(super) fn configuration(object: &Value, found: &mut Vec<FieldError>) {
    let hooks = object["webhooks"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut names: Vec<&str> = Vec::new();
    for (index, hook) in hooks.iter().enumerate() {
        let at = format!("webhooks[{index}]");
        let name = text(hook, "name");
        if name.is_empty() {
            found.push(FieldError::required(format!("{at}.name"), ""));
        } else if name.split('.').filter(|part| !part.is_empty()).count() < 3 {
            let why = "should be a domain with at least three segments separated by dots";
            found.push(FieldError::invalid(format!("{at}.name"), &json!(name), why));
        }
        webhook(hook, &at, found);
        if names.contains(&name) {
            found.push(FieldError::duplicate(format!("{at}.name"), &json!(name)));
        }
        names.push(name);
    }
}

fn webhook(hook: &Value, at: &str, found: &mut Vec<FieldError>) {
    for (index, rule) in hook["rules"].as_array().into_iter().flatten().enumerate() {
        for key in ["operations", "apiGroups", "apiVersions", "resources"] {
            if rule[key].as_array().is_none_or(Vec::is_empty) {
                found.push(FieldError::required(format!("{at}.rules[{index}].{key}"), ""));
            }
        }
        let known = ["*", "CREATE", "UPDATE", "DELETE", "CONNECT"];
        let operations = rule["operations"].as_array().into_iter().flatten();
        for (place, one) in operations.enumerate() {
            if one.as_str().is_none_or(|one| !known.contains(&one)) {
                let field = format!("{at}.rules[{index}].operations[{place}]");
                let mut known = quoted(&known);
                known.sort();
                found.push(FieldError::unsupported(field, one, &known));
            }
        }
    }
    let choices: [(&str, &[&str]); 3] = [
        ("failurePolicy", &["Fail", "Ignore"]),
        ("matchPolicy", &["Equivalent", "Exact"]),
        ("reinvocationPolicy", &["IfNeeded", "Never"]),
    ];
    for (key, known) in choices {
        if !hook[key].is_null() && !known.contains(&text(hook, key)) {
            let field = format!("{at}.{key}");
            found.push(FieldError::unsupported(field, &hook[key], &quoted(known)));
        }
    }
    let effects = ["None", "NoneOnDryRun"];
    if hook["sideEffects"].is_null() {
        let why = "must specify one of None, NoneOnDryRun";
        found.push(FieldError::required(format!("{at}.sideEffects"), why));
    } else if !effects.contains(&text(hook, "sideEffects")) {
        let field = format!("{at}.sideEffects");
        found.push(FieldError::unsupported(field, &hook["sideEffects"], &quoted(&effects)));
    }
    let versions = hook["admissionReviewVersions"].as_array().map(Vec::as_slice);
    let versions = versions.unwrap_or_default();
    let field = format!("{at}.admissionReviewVersions");
    if versions.is_empty() {
        let why = "must specify one of v1, v1beta1";
        found.push(FieldError::required(field, why));
    } else if !versions.iter().any(|one| *one == json!("v1") || *one == json!("v1beta1")) {
        let why = "must include at least one of v1, v1beta1";
        found.push(FieldError::invalid(field, &json!(versions), why));
    }
    if hook["timeoutSeconds"].as_i64().is_some_and(|it| !(1..=30).contains(&it)) {
        let why = "the timeout value must be between 1 and 30 seconds";
        let field = format!("{at}.timeoutSeconds");
        found.push(FieldError::invalid(field, &hook["timeoutSeconds"], why));
    }
    client(&hook["clientConfig"], &format!("{at}.clientConfig"), found);
}

fn client(client: &Value, at: &str, found: &mut Vec<FieldError>) {
    let wanted = "desired format: https://host[/path]";
    match (client["url"].as_str(), client["service"].is_object()) {
        (None, true) => {
            for key in ["name", "namespace"] {
                if text(&client["service"], key).is_empty() {
                    let why = format!("service {key} is required");
                    found.push(FieldError::required(format!("{at}.service.{key}"), &why));
                }
            }
        }
        (Some(url), false) => {
            let field = format!("{at}.url");
            let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
            let mut wrong = |shown: &str, why: &str| {
                let why = format!("{why}; {wanted}");
                found.push(FieldError::invalid(field.clone(), &json!(shown), &why));
            };
            if scheme != "https" {
                wrong(scheme, "'https' is the only allowed URL scheme");
            }
            let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
            if authority.is_empty() {
                wrong("", "host must be specified");
            }
            if let Some((user, _)) = authority.rsplit_once('@') {
                wrong(user, "user information is not permitted in the URL");
            }
            if let Some((_, fragment)) = rest.split_once('#') {
                wrong(fragment, "fragments are not permitted in the URL");
            }
            if let Some((_, query)) = rest.split_once('?') {
                wrong(query, "query parameters are not permitted in the URL");
            }
        }
        _ => {
            let why = "exactly one of url or service is required";
            found.push(FieldError::required(at, why));
        }
    }
}

/// What policies of both kinds say of themselves.
fn any_policy(spec: &Value, found: &mut Vec<FieldError>) {
    let rules = &spec["matchConstraints"]["resourceRules"];
    if !spec["matchConstraints"].is_object() {
        found.push(FieldError::required("spec.matchConstraints", ""));
    } else if rules.as_array().is_none_or(Vec::is_empty) {
        found.push(FieldError::required("spec.matchConstraints.resourceRules", ""));
    }
    if !spec["failurePolicy"].is_null()
        && !["Fail", "Ignore"].contains(&text(spec, "failurePolicy"))
    {
        let known = quoted(&["Fail", "Ignore"]);
        found.push(FieldError::unsupported("spec.failurePolicy", &spec["failurePolicy"], &known));
    }
}

fn list<'v>(spec: &'v Value, key: &str) -> &'v [Value] {
    spec[key].as_array().map(Vec::as_slice).unwrap_or_default()
}

/// ValidatingAdmissionPolicies: what they match, and that their expressions can be read.
pub(super) fn policy(object: &Value, found: &mut Vec<FieldError>) {
    let spec = &object["spec"];
    any_policy(spec, found);
    if list(spec, "validations").is_empty() && list(spec, "auditAnnotations").is_empty() {
        let why = "validations or auditAnnotations must contain at least one item";
        found.push(FieldError::required("spec.validations", why));
    }
    let parts: [(&str, &[&str]); 3] =
        [("matchConditions", &["bool"]), ("variables", &[]), ("validations", &["bool"])];
    for (part, types) in parts {
        for (index, one) in list(spec, part).iter().enumerate() {
            let at = format!("spec.{part}[{index}].expression");
            expression(&one["expression"], Literals::None, types, &at, found);
        }
    }
    for (index, one) in list(spec, "auditAnnotations").iter().enumerate() {
        let at = format!("spec.auditAnnotations[{index}]");
        let key = format!("{}/{}", text(&object["metadata"], "name"), text(one, "key"));
        for wrong in qualified_name_errors(&key) {
            found.push(FieldError::invalid(format!("{at}.key"), &json!(key), &wrong));
        }
        let at = format!("{at}.valueExpression");
        let made = &one["valueExpression"];
        if made.as_str().unwrap_or_default().trim().is_empty() {
            found.push(FieldError::required(at, "valueExpression is not specified"));
        } else {
            expression(made, Literals::None, &["string", "null_type"], &at, found);
        }
    }
}

/// MutatingAdmissionPolicies.
pub(super) fn mutating_policy(spec: &Value, found: &mut Vec<FieldError>) {
    any_policy(spec, found);
    only_writes(&spec["matchConstraints"], "spec.matchConstraints", found);
    let parts: [(&str, &[&str]); 2] = [("matchConditions", &["bool"]), ("variables", &[])];
    for (part, types) in parts {
        for (index, one) in list(spec, part).iter().enumerate() {
            let at = format!("spec.{part}[{index}].expression");
            expression(&one["expression"], Literals::Mutation, types, &at, found);
        }
    }
    if list(spec, "mutations").is_empty() {
        let why = "mutations must contain at least one item";
        found.push(FieldError::required("spec.mutations", why));
    }
    for (index, one) in list(spec, "mutations").iter().enumerate() {
        mutation(one, &format!("spec.mutations[{index}]"), found);
    }
    if text(spec, "reinvocationPolicy").is_empty() {
        found.push(FieldError::required("spec.reinvocationPolicy", ""));
    } else if !["IfNeeded", "Never"].contains(&text(spec, "reinvocationPolicy")) {
        let (at, known) = ("spec.reinvocationPolicy", quoted(&["IfNeeded", "Never"]));
        found.push(FieldError::unsupported(at, &spec["reinvocationPolicy"], &known));
    }
}

// What is to go cannot be changed.
fn only_writes(constraints: &Value, at: &str, found: &mut Vec<FieldError>) {
    let rules = list(constraints, "resourceRules").iter();
    for operation in rules.flat_map(|rule| list(rule, "operations")) {
        const KNOWN: [&str; 4] = ["*", "CONNECT", "CREATE", "UPDATE"];
        if !KNOWN.contains(&operation.as_str().unwrap_or_default()) {
            let at = format!("{at}.resourceRules.operations");
            found.push(FieldError::unsupported(at, operation, &quoted(&KNOWN)));
        }
    }
}

fn mutation(mutation: &Value, at: &str, found: &mut Vec<FieldError>) {
    let kinds = [("ApplyConfiguration", "applyConfiguration"), ("JSONPatch", "jsonPatch")];
    let kind = text(mutation, "patchType");
    let Some((_, part)) = kinds.into_iter().find(|(name, _)| *name == kind) else {
        let at = format!("{at}.patchType");
        found.push(match kind {
            "" => FieldError::required(at, ""),
            _ => {
                let known = quoted(&["ApplyConfiguration", "JSONPatch"]);
                FieldError::unsupported(at, &mutation["patchType"], &known)
            }
        });
        return;
    };
    if mutation[part].is_object() {
        let at = format!("{at}.{part}.expression");
        let made = if part == "jsonPatch" { "list(JSONPatch)" } else { "Object" };
        expression(&mutation[part]["expression"], Literals::Mutation, &[made], &at, found);
    } else {
        let why = format!("must be specified when patchType is {kind}");
        found.push(FieldError::required(format!("{at}.{part}"), &why));
    }
    for (_, other) in
        kinds.iter().filter(|(name, other)| *name != kind && !mutation[*other].is_null())
    {
        let why = format!("must not be specified when patchType is {kind}");
        found.push(FieldError::invalid(
            format!("{at}.{other}"),
            &json!(format!("{{{other}}}")),
            &why,
        ));
    }
}

fn expression(
    given: &Value,
    literals: Literals,
    types: &[&str],
    at: &str,
    found: &mut Vec<FieldError>,
) {
    let expression = given.as_str().unwrap_or_default();
    if expression.trim().is_empty() {
        found.push(FieldError::required(at, ""));
    } else if let Err(why) = of_type(expression, literals, types) {
        found.push(FieldError::invalid(at, given, &why));
    }
}

/// Bindings of MutatingAdmissionPolicies.
pub(super) fn mutating_binding(spec: &Value, found: &mut Vec<FieldError>) {
    policy_name(spec, found);
    parameters(&spec["paramRef"], found);
    only_writes(&spec["matchResources"], "spec.matchResources", found);
}

/// Their bindings: whom they bind, and what follows.
pub(super) fn binding(spec: &Value, found: &mut Vec<FieldError>) {
    policy_name(spec, found);
    let actions = spec["validationActions"].as_array().map(Vec::as_slice).unwrap_or_default();
    if actions.is_empty() {
        found.push(FieldError::required("spec.validationActions", ""));
    }
    let known = ["Audit", "Deny", "Warn"];
    for (index, action) in actions.iter().enumerate() {
        let at = format!("spec.validationActions[{index}]");
        if !known.contains(&action.as_str().unwrap_or_default()) {
            found.push(FieldError::unsupported(at, action, &quoted(&known)));
        } else if actions.iter().take(index).any(|one| one == action) {
            found.push(FieldError::duplicate(at, action));
        }
    }
    let both = ["Deny", "Warn"].iter().all(|one| actions.iter().any(|it| it == one));
    if both {
        let why = "must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)";
        found.push(FieldError::invalid("spec.validationActions", &spec["validationActions"], why));
    }
    parameters(&spec["paramRef"], found);
}

fn policy_name(spec: &Value, found: &mut Vec<FieldError>) {
    let name = text(spec, "policyName");
    if name.is_empty() {
        found.push(FieldError::required("spec.policyName", ""));
        return;
    }
    for wrong in crate::meta::subdomain_errors(name) {
        found.push(FieldError::invalid("spec.policyName", &json!(name), &wrong));
    }
}

fn parameters(reference: &Value, found: &mut Vec<FieldError>) {
    if !reference.is_object() {
        return;
    }
    let at = |key: &str| format!("spec.paramRef.{key}");
    let named = !text(reference, "name").is_empty();
    match (named, reference["selector"].is_object()) {
        (true, true) => {
            for key in ["name", "selector"] {
                let why = "name and selector are mutually exclusive";
                found.push(FieldError::forbidden(at(key), why));
            }
        }
        (false, false) => {
            let why = "one of name or selector must be specified";
            found.push(FieldError::required("spec.paramRef", why));
        }
        (true, false) | (false, true) => {}
    }
    let (action, known) = (text(reference, "parameterNotFoundAction"), ["Deny", "Allow"]);
    if action.is_empty() {
        found.push(FieldError::required(at("parameterNotFoundAction"), ""));
    } else if !known.contains(&action) {
        let given = &reference["parameterNotFoundAction"];
        let known = quoted(&known);
        found.push(FieldError::unsupported(at("parameterNotFoundAction"), given, &known));
    }
}
