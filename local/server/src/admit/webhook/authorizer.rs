//! `authorizer` in expressions: what the user who asks, or a service account, may do.

use std::sync::Arc;

use kube_cel::cel::extractors::This;
use kube_cel::cel::objects::Opaque;
use kube_cel::cel::{Context, ExecutionError, ResolveResult, Value as Cel};

use super::Request;
use super::expression::REQUEST_RESOURCE;
use crate::auth::{Action, User, account, allowed};
use crate::meta;
use crate::plane::Plane;

/// A step on the way to a decision.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    /// Whose rights are asked about.
    Of(User),
    /// A path that is no resource.
    Path(User, Action),
    /// An API group.
    Group(User, Action),
    /// A resource, with what is narrower.
    Resource(User, Action),
    /// Whether, and why.
    Decision { allowed: bool, reason: String },
}

impl Opaque for Step {
    fn runtime_type_name(&self) -> &str {
        match self {
            Step::Of(_) => "kubernetes.authorization.Authorizer",
            Step::Path(..) => "kubernetes.authorization.PathCheck",
            Step::Group(..) => "kubernetes.authorization.GroupCheck",
            Step::Resource(..) => "kubernetes.authorization.ResourceCheck",
            Step::Decision { .. } => "kubernetes.authorization.Decision",
        }
    }
}

impl From<Step> for Cel {
    fn from(step: Step) -> Cel {
        Cel::Opaque(Arc::new(step))
    }
}

fn step(of: &Cel) -> Option<&Step> {
    if let Cel::Opaque(it) = of { it.downcast_ref() } else { None }
}

fn wrong<T>(function: &str, why: &str) -> Result<T, ExecutionError> {
    Err(ExecutionError::function_error(function, why))
}

/// Makes `authorizer` known, and what can be asked of it.
pub(super) fn add(context: &mut Context<'_>, plane: &Plane, request: &Request<'_>) {
    // Controllers of the plane itself may do everything.
    let user = request.user.cloned().unwrap_or_else(User::admin);
    let target = request.target;
    let mut own =
        Action::on("", &target.resource.group, &target.resource.plural, &target.namespace, "");
    own.name.clone_from(&target.name);
    own.subresource.clone_from(&target.subresource);
    context.add_variable_from_value(REQUEST_RESOURCE, Step::Resource(user.clone(), own));
    context.add_variable_from_value("authorizer", Step::Of(user));
    first_steps(context);
    narrower(context);
    verdict(context, plane);
}

fn first_steps(context: &mut Context<'_>) {
    context.add_function("path", |This(of): This<Cel>, path: Arc<String>| -> ResolveResult {
        let Some(Step::Of(user)) = step(&of) else { return Err(ExecutionError::NoSuchOverload) };
        if path.is_empty() {
            return wrong("path", "path must not be empty");
        }
        let action = Action { path: path.to_string(), ..Action::default() };
        Ok(Step::Path(user.clone(), action).into())
    });
    context.add_function("group", |This(of): This<Cel>, group: Arc<String>| -> ResolveResult {
        let Some(Step::Of(user)) = step(&of) else { return Err(ExecutionError::NoSuchOverload) };
        let action = Action { group: group.to_string(), ..Action::default() };
        Ok(Step::Group(user.clone(), action).into())
    });
    context.add_function(
        "serviceAccount",
        |This(of): This<Cel>, namespace: Arc<String>, name: Arc<String>| -> ResolveResult {
            let Some(Step::Of(_)) = step(&of) else { return Err(ExecutionError::NoSuchOverload) };
            if !meta::subdomain_errors(&name).is_empty() {
                return wrong("serviceAccount", "Invalid service account name");
            }
            if !meta::label_errors(&namespace).is_empty() {
                return wrong("serviceAccount", "Invalid service account namespace");
            }
            Ok(Step::Of(account(&namespace, &name)).into())
        },
    );
    context.add_function("resource", |This(of): This<Cel>, plural: Arc<String>| -> ResolveResult {
        let Some(Step::Group(user, action)) = step(&of) else {
            return Err(ExecutionError::NoSuchOverload);
        };
        if plural.is_empty() {
            return wrong("resource", "resource must not be empty");
        }
        let action = Action { resource: plural.to_string(), ..action.clone() };
        Ok(Step::Resource(user.clone(), action).into())
    });
}

fn narrower(context: &mut Context<'_>) {
    // Roles know nothing of selectors: with one the answer is the same.
    type Put = fn(&mut Action, String);
    let parts: [(&str, Put); 5] = [
        ("subresource", |action, given| action.subresource = given),
        ("namespace", |action, given| action.namespace = given),
        ("name", |action, given| action.name = given),
        ("fieldSelector", |_, _| {}),
        ("labelSelector", |_, _| {}),
    ];
    for (name, put) in parts {
        let function = move |This(of): This<Cel>, given: Arc<String>| -> ResolveResult {
            let Some(Step::Resource(user, action)) = step(&of) else {
                return Err(ExecutionError::NoSuchOverload);
            };
            let mut action = action.clone();
            put(&mut action, given.to_string());
            Ok(Step::Resource(user.clone(), action).into())
        };
        context.add_function(name, function);
    }
}

fn verdict(context: &mut Context<'_>, plane: &Plane) {
    let plane = plane.clone();
    let check = move |This(of): This<Cel>, verb: Arc<String>| -> ResolveResult {
        let Some(Step::Path(user, action) | Step::Resource(user, action)) = step(&of) else {
            return Err(ExecutionError::NoSuchOverload);
        };
        let action = Action { verb: verb.to_string(), ..action.clone() };
        let reason = allowed(&plane, user, &action);
        let allowed = reason.is_some();
        Ok(Step::Decision { allowed, reason: reason.unwrap_or_default() }.into())
    };
    context.add_function("check", check);
    context.add_function("allowed", |This(of): This<Cel>| -> ResolveResult {
        match step(&of) {
            Some(Step::Decision { allowed, .. }) => Ok(Cel::Bool(*allowed)),
            _ => Err(ExecutionError::NoSuchOverload),
        }
    });
    context.add_function("reason", |This(of): This<Cel>| -> ResolveResult {
        match step(&of) {
            Some(Step::Decision { reason, .. }) => Ok(Cel::String(Arc::new(reason.clone()))),
            _ => Err(ExecutionError::NoSuchOverload),
        }
    });
    // Looking at roles does not fail.
    context.add_function("errored", |This(of): This<Cel>| -> ResolveResult {
        match step(&of) {
            Some(Step::Decision { .. }) => Ok(Cel::Bool(false)),
            _ => Err(ExecutionError::NoSuchOverload),
        }
    });
    context.add_function("error", |This(of): This<Cel>| -> ResolveResult {
        match step(&of) {
            Some(Step::Decision { .. }) => Ok(Cel::String(Arc::default())),
            _ => Err(ExecutionError::NoSuchOverload),
        }
    });
}
