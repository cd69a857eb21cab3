//! Policies in CEL that bindings make look at requests: which requests, with which parameters, naming what.

use std::collections::HashMap;
use std::sync::Arc;

use kube_cel::cel::Context;
use local_store::Stored;
use serde_json::{Value, json};

use super::expression::{self, Literals, cel};
use super::{GROUP, Request, Seen, condition, review, rules, seen};
use crate::plane::Plane;
use crate::selector::object_selects;

/// The kinds of policies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// ValidatingAdmissionPolicies.
    Validating,
    /// MutatingAdmissionPolicies.
    Mutating,
}

/// A policy with one of its bindings.
pub(super) struct Bound {
    policy: Arc<Stored>,
    pub(super) binding: Arc<Stored>,
}

fn name(object: &Value) -> &str {
    object["metadata"]["name"].as_str().unwrap_or_default()
}

impl Bound {
    /// The spec of the policy.
    pub(super) fn spec(&self) -> &Value {
        &self.policy["spec"]
    }

    /// The name of the policy.
    pub(super) fn name(&self) -> &str {
        name(&self.policy)
    }

    /// The name of the binding.
    pub(super) fn binding_name(&self) -> &str {
        name(&self.binding)
    }

    /// Whether a request passes where the policy cannot be asked.
    pub(super) fn ignores_failure(&self) -> bool {
        self.spec()["failurePolicy"] == "Ignore"
    }
}

fn bindings(kind: Kind) -> String {
    let kind = if kind == Kind::Mutating { "mutating" } else { "validating" };
    format!("{GROUP}/{kind}admissionpolicybindings/")
}

/// Whether any policy of the kind is bound.
pub(super) fn any(plane: &Plane, kind: Kind) -> bool {
    plane.store().any(&bindings(kind))
}

/// The policies of a kind that are bound, once for each binding, in the order of these.
pub(super) fn all(plane: &Plane, kind: Kind) -> Vec<Bound> {
    let policies = if kind == Kind::Mutating { "mutating" } else { "validating" };
    let (_, bindings) = plane.store().values(&bindings(kind));
    let bound = |binding: Arc<Stored>| {
        let name = binding["spec"]["policyName"].as_str().unwrap_or_default();
        // A binding may be there before its policy.
        let policy = plane.store().get(&format!("{GROUP}/{policies}admissionpolicies/{name}"))?;
        Some(Bound { policy: policy.value, binding })
    };
    bindings.into_iter().filter_map(bound).collect()
}

/// The request as the policy is to see it, if the policy and the binding want it.
pub(super) fn wanted(
    plane: &Plane,
    bound: &Bound,
    request: &Request<'_>,
    object: &Value,
) -> Option<Seen> {
    let own = &bound.spec()["matchConstraints"];
    let narrower = &bound.binding["spec"]["matchResources"];
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
) -> Option<Arc<crate::resource::Resource>> {
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

/// What the expressions of a policy may name: once for each parameter that its binding gives it.
pub(super) fn contexts(
    plane: &Plane,
    bound: &Bound,
    request: &Request<'_>,
    seen: &Seen,
) -> Result<Vec<Context<'static>>, String> {
    let about = review::request("", request, seen);
    let namespace = match about["namespace"].as_str() {
        Some(name) => plane.store().get(&format!("/namespaces/{name}")),
        None => None,
    };
    let namespace = namespace.as_ref().map_or(&Value::Null, |entry| &**entry.value);
    let given = parameters(plane, bound.spec(), &bound.binding["spec"]["paramRef"], request)?;
    let made = given.into_iter().map(|params| {
        let mut context = condition::context(plane, request, seen, &about);
        context.add_variable_from_value("params", cel(&params));
        context.add_variable_from_value("namespaceObject", cel(namespace));
        variables(bound.spec(), &mut context);
        context
    });
    Ok(made.collect())
}

// Each variable may use those before it; one that fails is missed by those who use it.
fn variables(policy: &Value, context: &mut Context<'_>) {
    let mut known = HashMap::new();
    context.add_variable_from_value("variables", cel(&json!({})));
    for variable in policy["variables"].as_array().into_iter().flatten() {
        let name = variable["name"].as_str().unwrap_or_default().to_owned();
        let text = variable["expression"].as_str().unwrap_or_default();
        if let Ok(value) = expression::run(text, Literals::Mutation, context) {
            known.insert(name, value);
            context.add_variable_from_value("variables", known.clone());
        }
    }
}

/// Whether the conditions of a policy hold.
pub(super) fn holds(bound: &Bound, context: &Context<'_>) -> Result<bool, String> {
    let conditions = bound.spec()["matchConditions"].as_array().map(Vec::as_slice);
    condition::all_hold(conditions.unwrap_or_default(), context)
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
