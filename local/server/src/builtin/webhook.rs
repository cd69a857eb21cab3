//! What is refused of webhook configurations.

use serde_json::{Value, json};

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
    let wanted = "desired format: https://host[:port]/path";
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
