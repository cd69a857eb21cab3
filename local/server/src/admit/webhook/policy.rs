//! ValidatingAdmissionPolicies: what their bindings make of a request.

use kube_cel::cel::{Context, Value as Cel};
use serde_json::{Value, json};

use super::bound::{self, Bound, Kind};
use super::expression::{self, Literals};
use super::{Request, Seen};
use crate::audit;
use crate::plane::Plane;
use crate::status::{ApiError, Result};

/// Longer texts of expressions are not shown in messages.
const LONGEST_MESSAGE: usize = 5 * 1024;

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
    /// Which of the policy's validations.
    index: usize,
    /// Whether it denies whatever the binding makes of denials.
    always: bool,
}

/// Asks all policies that are bound; the first that denies says why.
pub(super) fn validate(
    plane: &Plane,
    request: &Request<'_>,
    object: &Value,
    warnings: &mut Vec<String>,
) -> Result<()> {
    let mut failures = Vec::new();
    for bound in bound::all(plane, Kind::Validating) {
        let Some(seen) = bound::wanted(plane, &bound, request, object) else { continue };
        let all = denials(plane, &bound, request, &seen);
        let (name, binding) = (bound.name(), bound.binding_name());
        let does = |action: &str| {
            let all = bound.binding["spec"]["validationActions"].as_array();
            all.into_iter().flatten().any(|one| one == action)
        };
        for denial in &all {
            if does("Warn") && !denial.always {
                warnings.push(format!(
                    "Validation failed for ValidatingAdmissionPolicy '{name}' with binding '{binding}': {}",
                    denial.message
                ));
            }
            if does("Audit") {
                failures.push(json!({
                    "message": denial.message,
                    "policy": name,
                    "binding": binding,
                    "expressionIndex": denial.index,
                    "validationActions": bound.binding["spec"]["validationActions"],
                }));
                let all = Value::Array(failures.clone()).to_string();
                audit::put("validation.policy.admission.k8s.io/validation_failure", all);
            }
        }
        if let Some(first) = all.iter().find(|one| one.always || does("Deny")) {
            return Err(denied(request, &seen, &bound, first));
        }
    }
    Ok(())
}

fn denied(request: &Request<'_>, seen: &Seen, bound: &Bound, why: &Denial) -> ApiError {
    let message = format!(
        "ValidatingAdmissionPolicy '{}' with binding '{}' denied request: {}",
        bound.name(),
        bound.binding_name(),
        why.message
    );
    let mut error = super::forbidden(request, &seen.object, &message);
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

fn denials(plane: &Plane, bound: &Bound, request: &Request<'_>, seen: &Seen) -> Vec<Denial> {
    let failure = if bound.ignores_failure() { Failure::Passes } else { Failure::Denies };
    let failed = |message: String| match failure {
        Failure::Denies => {
            vec![Denial { reason: "Invalid".to_owned(), message, index: 0, always: false }]
        }
        Failure::Passes => Vec::new(),
    };
    let all = match bound::contexts(plane, bound, request, seen) {
        Ok(all) => all,
        Err(why) => return failed(why),
    };
    let spec = bound.spec();
    let mut found = Vec::new();
    for context in all {
        match bound::holds(bound, &context) {
            Ok(true) => {}
            Ok(false) => continue,
            Err(why) => {
                found.extend(failed(why));
                continue;
            }
        }
        for (index, validation) in spec["validations"].as_array().into_iter().flatten().enumerate()
        {
            let denial = against(validation, &context, failure);
            found.extend(denial.map(|denial| Denial { index, ..denial }));
        }
        for annotation in spec["auditAnnotations"].as_array().into_iter().flatten() {
            found.extend(annotate(bound, annotation, &context, failure));
        }
    }
    found
}

fn against(validation: &Value, context: &Context<'_>, failure: Failure) -> Option<Denial> {
    let text = |key: &str| validation[key].as_str().unwrap_or_default();
    let expression = text("expression").trim();
    let reason = match text("reason") {
        "" => "Invalid".to_owned(),
        given => given.to_owned(),
    };
    match expression::run(expression, Literals::None, context) {
        Ok(Cel::Bool(true)) => None,
        Ok(Cel::Bool(false)) => {
            let made = match text("messageExpression") {
                "" => None,
                expression => expression::run(expression, Literals::None, context).ok(),
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
            Some(Denial { reason, message, index: 0, always: false })
        }
        other if failure == Failure::Denies => {
            let why = other.err().unwrap_or_else(|| "it is neither true nor false".to_owned());
            let message = format!("expression '{expression}' resulted in error: {why}");
            Some(Denial { reason: "Invalid".to_owned(), message, index: 0, always: false })
        }
        _ => None,
    }
}

// One that cannot be made refuses the request, whatever the binding does about denials.
fn annotate(
    bound: &Bound,
    annotation: &Value,
    context: &Context<'_>,
    failure: Failure,
) -> Option<Denial> {
    let text = |key: &str| annotation[key].as_str().unwrap_or_default();
    let expression = text("valueExpression").trim();
    let message = match expression::run(expression, Literals::None, context) {
        Ok(Cel::String(value)) if value.trim().is_empty() => return None,
        Ok(Cel::String(value)) => {
            let (policy, key, value) = (bound.name(), text("key"), value.trim());
            audit::annotate(&format!("{policy}/{key}"), value);
            return None;
        }
        Ok(Cel::Null) => return None,
        Ok(other) => format!(
            "valueExpression '{expression}' resulted in unsupported return type: {}. Return type must be either string or null.",
            other.type_of()
        ),
        Err(_) if failure == Failure::Passes => return None,
        Err(why) => format!("expression '{expression}' resulted in error: {why}"),
    };
    Some(Denial { reason: "Invalid".to_owned(), message, index: 0, always: true })
}
