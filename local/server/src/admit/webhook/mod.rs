//! Admission webhooks: who is asked about a write, in which order, and what their answers do.
//!
//! ~~~text
//! configurations (by name) -rules-> hooks that want the request -review-> call -> answer
//! mutating: one after the other, each sees what the one before made; validating: all at once
//! ~~~

mod call; // HTTPS
pub(crate) mod expression; // CEL, and what the library does not know of it
mod authorizer; // who may do what, in CEL
mod condition; // matchConditions
mod bound; // policies in CEL that are bound
mod policy; // those that validate
mod mutation; // those that mutate
mod review; // AdmissionReview, there and back
mod rules; // which requests a webhook wants
mod service; // where a Service is
mod trust; // certificates

use std::sync::Arc;

use local_merge::json as plain;
use serde_json::{Value, json};

use crate::auth::User;
use crate::kinds;
use crate::plane::{Plane, Target};
use crate::resource::Resource;
use crate::status::{ApiError, Result};
use bound::{Bound, Kind};
use review::Changes;

/// What a request does to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// There is no old object.
    Create,
    /// There are both.
    Update,
    /// There is no new object.
    Delete,
}

impl Operation {
    fn text(self) -> &'static str {
        match self {
            Operation::Create => "CREATE",
            Operation::Update => "UPDATE",
            Operation::Delete => "DELETE",
        }
    }
}

/// A request that webhooks may be asked about.
#[derive(Clone, Debug)]
pub struct Request<'r> {
    /// What it is about.
    pub target: &'r Target,
    /// What it does.
    pub operation: Operation,
    /// apiVersion and kind of the object, where they are not the resource's.
    pub kind: Option<(&'r str, &'r str)>,
    /// The object before, null if there was none.
    pub old: &'r Value,
    /// Who asks; nobody is a controller of the plane itself.
    pub user: Option<&'r User>,
    /// The options of the request, with their kind.
    pub options: Value,
}

impl Request<'_> {
    fn dry_run(&self) -> bool {
        self.options["dryRun"].as_array().is_some_and(|all| !all.is_empty())
    }
}

/// One webhook of a configuration.
struct Hook {
    name: String,
    spec: Value,
}

impl Hook {
    fn text(&self, key: &str) -> &str {
        self.spec[key].as_str().unwrap_or_default()
    }

    // Without a policy a webhook that fails refuses: the default of v1.
    fn ignores_failure(&self) -> bool {
        self.text("failurePolicy") == "Ignore"
    }
}

const GROUP: &str = "admissionregistration.k8s.io";
/// Where its objects are in the store.
const GROUP_RANGE: &str = "admissionregistration.k8s.io/";

fn hooks(plane: &Plane, which: &str) -> Vec<Hook> {
    let (_, found) = plane.store().list(&format!("{GROUP}/{which}webhookconfigurations/"));
    let mut hooks = Vec::new();
    for entry in found {
        for spec in entry.value["webhooks"].as_array().into_iter().flatten() {
            let name = spec["name"].as_str().unwrap_or_default().to_owned();
            hooks.push(Hook { name, spec: spec.clone() });
        }
    }
    hooks
}

/// Whether any webhook of a kind (`mutating`, `validating`) is configured, or a policy bound.
#[must_use]
pub fn any(plane: &Plane, which: &str) -> bool {
    let policies = if which == "mutating" { Kind::Mutating } else { Kind::Validating };
    any_at_all(plane) && (bound::any(plane, policies) || !hooks(plane, which).is_empty())
}

/// Whether there may be any webhook or policy at all.
#[must_use]
pub fn any_at_all(plane: &Plane) -> bool {
    plane.store().any(GROUP_RANGE)
}

// Configurations themselves are never asked about: a wrong one could not be mended.
fn asked_about(target: &Target) -> bool {
    target.resource.group != GROUP
}

/// A request as one webhook is to see it: in the version its rules name.
struct Seen {
    resource: Arc<Resource>,
    object: Value,
    old: Value,
}

fn seen(request: &Request<'_>, matched: &Arc<Resource>, object: &Value) -> Seen {
    let own = &request.target.resource;
    let convert = |value: &Value| {
        if value.is_null() || own.version == matched.version && own.group == matched.group {
            return value.clone();
        }
        kinds::present(matched, &kinds::to_stored(own, value.clone()))
    };
    Seen { resource: matched.clone(), object: convert(object), old: convert(request.old) }
}

/// What a webhook is to be sent, or nothing if it does not want the request.
fn wanted(
    plane: &Plane,
    hook: &Hook,
    request: &Request<'_>,
    object: &Value,
) -> Result<Option<Seen>> {
    let Some(matched) = rules::matched(plane, &hook.spec, request) else { return Ok(None) };
    if !rules::namespace_selected(plane, &hook.spec, request, object)
        || !rules::object_selected(&hook.spec, request, object)
    {
        return Ok(None);
    }
    let seen = seen(request, &matched, object);
    let conditions = hook.spec["matchConditions"].as_array().map(Vec::as_slice).unwrap_or_default();
    if !conditions.is_empty() {
        let about = review::request("", request, &seen);
        let context = condition::context(plane, request, &seen, &about);
        match condition::all_hold(conditions, &context) {
            Ok(true) => {}
            Ok(false) => return Ok(None),
            Err(_) if hook.ignores_failure() => return Ok(None),
            Err(why) => return Err(forbidden(request, &seen.object, &why)),
        }
    }
    let effects = hook.text("sideEffects");
    if request.dry_run() && !["None", "NoneOnDryRun"].contains(&effects) {
        let why = format!("admission webhook \"{}\" does not support dry run", hook.name);
        return Err(ApiError::bad_request(why));
    }
    Ok(Some(seen))
}

/// Who may change an object.
enum Mutator {
    Policy(Bound),
    Hook(Hook),
}

impl Mutator {
    fn wants_again(&self) -> bool {
        let policy = match self {
            Mutator::Policy(bound) => &bound.spec()["reinvocationPolicy"],
            Mutator::Hook(hook) => &hook.spec["reinvocationPolicy"],
        };
        policy == "IfNeeded"
    }

    // Makes its changes; whether there are any, or none if it does not want the request.
    fn change(
        &self,
        plane: &Plane,
        request: &Request<'_>,
        object: &mut Value,
        warnings: &mut Vec<String>,
    ) -> Result<Option<bool>> {
        match self {
            Mutator::Policy(bound) => mutation::mutate(plane, bound, request, object),
            Mutator::Hook(hook) => {
                let Some(seen) = wanted(plane, hook, request, object)? else { return Ok(None) };
                ask_to_change(plane, hook, request, &seen, object, warnings).map(Some)
            }
        }
    }
}

/// Asks the mutating policies and webhooks and makes their changes; whether there were any.
pub fn mutate(
    plane: &Plane,
    request: &Request<'_>,
    object: &mut Value,
    warnings: &mut Vec<String>,
) -> Result<bool> {
    if !asked_about(request.target) {
        return Ok(false);
    }
    let policies = bound::all(plane, Kind::Mutating).into_iter().map(Mutator::Policy);
    let hooks = hooks(plane, "mutating").into_iter().map(Mutator::Hook);
    let mutators: Vec<Mutator> = policies.chain(hooks).collect();
    let mut changed = false;
    // Who was asked and wants to be asked again should another change the object after that.
    let mut asked: Vec<usize> = Vec::new();
    let mut again: Vec<usize> = Vec::new();
    for (index, one) in mutators.iter().enumerate() {
        let Some(other) = one.change(plane, request, object, warnings)? else { continue };
        if other {
            changed = true;
            again.append(&mut asked);
        }
        if one.wants_again() {
            asked.push(index);
        }
    }
    again.sort_unstable();
    for one in again.iter().filter_map(|index| mutators.get(*index)) {
        changed |= one.change(plane, request, object, warnings)? == Some(true);
    }
    Ok(changed)
}

// A refusal of the object that a request is about.
fn forbidden(request: &Request<'_>, object: &Value, why: &str) -> ApiError {
    let Target { resource, name, .. } = request.target;
    let name = match name.as_str() {
        "" => object["metadata"]["name"].as_str().unwrap_or_default(),
        name => name,
    };
    ApiError::forbidden(&resource.group, &resource.plural, name, why)
}

fn ask_to_change(
    plane: &Plane,
    hook: &Hook,
    request: &Request<'_>,
    seen: &Seen,
    object: &mut Value,
    warnings: &mut Vec<String>,
) -> Result<bool> {
    let mut answers = ask(plane, &[(hook, seen)], request, Changes::Made);
    let answer = answers.pop().unwrap_or_else(|| Err("no answer".to_owned()));
    let Some(patch) = judged(hook, answer, warnings)? else { return Ok(false) };
    if patch.as_array().is_some_and(Vec::is_empty) {
        return Ok(false);
    }
    if seen.object.is_null() {
        return Err(ApiError::internal(&format!(
            "admission webhook \"{}\" attempted to modify the object, which is not supported for this operation",
            hook.name
        )));
    }
    let made = plain::json_patch(&seen.object, &patch)
        .map_err(|_| ApiError::internal(&not_applied(&seen.object, &patch)))?;
    let made = with_kept_owners(made, &seen.object);
    let own = &request.target.resource;
    let mut next = if own.version == seen.resource.version && own.group == seen.resource.group {
        made
    } else {
        kinds::present(own, &kinds::to_stored(&seen.resource, made))
    };
    if request.kind.is_none() {
        kinds::complete(own, &mut next, &mut Vec::new()).map_err(|why| ApiError::internal(&why))?;
    }
    let changed = next != *object;
    *object = next;
    Ok(changed)
}

/// What a JSON patch may do.
const OPERATIONS: [&str; 6] = ["add", "copy", "move", "remove", "replace", "test"];

// Which operation of a patch does not fit, as the reference's library says it.
fn not_applied(object: &Value, patch: &Value) -> String {
    let mut object = object.clone();
    for operation in patch.as_array().into_iter().flatten() {
        if let Ok(made) = plain::json_patch(&object, &json!([operation])) {
            object = made;
            continue;
        }
        let text = |key: &str| operation[key].as_str().unwrap_or_default();
        let (op, path) = (text("op"), text("path"));
        let (parent, last) = path.rsplit_once('/').unwrap_or_default();
        let there = object.pointer(parent).is_some_and(|it| it.is_object() || it.is_array());
        return match op {
            "remove" if there && !path.is_empty() => format!(
                "error in remove for path: '{path}': Unable to remove nonexistent key: {last}: missing value"
            ),
            "replace" if there => {
                format!(
                    "replace operation does not apply: doc is missing key: {path}: missing value"
                )
            }
            "replace" => {
                format!(
                    "replace operation does not apply: doc is missing path: {path}: missing value"
                )
            }
            "test" => format!("testing value {path} failed: test failed"),
            _ if !OPERATIONS.contains(&op) => format!("Unexpected kind: {op}"),
            _ => format!(
                "{op} operation does not apply: doc is missing path: \"{path}\": missing value"
            ),
        };
    }
    "Unexpected kind: unknown".to_owned()
}

// A webhook may not leave managedFields that nobody can read.
fn with_kept_owners(mut made: Value, before: &Value) -> Value {
    let entries = &made["metadata"]["managedFields"];
    let readable = match entries {
        Value::Null => true,
        Value::Array(all) => all.iter().all(|one| one["fieldsV1"].is_object()),
        _ => false,
    };
    if !readable {
        made["metadata"]["managedFields"] = before["metadata"]["managedFields"].clone();
    }
    made
}

/// Asks policies and then the validating webhooks; the first that refuses says why.
pub fn validate(
    plane: &Plane,
    request: &Request<'_>,
    object: &Value,
    warnings: &mut Vec<String>,
) -> Result<()> {
    if !asked_about(request.target) {
        return Ok(());
    }
    policy::validate(plane, request, object, warnings)?;
    let hooks = hooks(plane, "validating");
    let mut chosen: Vec<(&Hook, Seen)> = Vec::new();
    for hook in &hooks {
        if let Some(seen) = wanted(plane, hook, request, object)? {
            chosen.push((hook, seen));
        }
    }
    let calls: Vec<(&Hook, &Seen)> = chosen.iter().map(|(hook, seen)| (*hook, seen)).collect();
    let answers = ask(plane, &calls, request, Changes::Refused);
    let mut first = Ok(());
    for ((hook, _), answer) in chosen.iter().zip(answers) {
        if let Err(error) = judged(hook, answer, warnings) {
            if first.is_ok() {
                first = Err(error);
            }
        }
    }
    first
}

/// Sends all reviews at once and waits for the answers, in the order of the calls.
fn ask(
    plane: &Plane,
    calls: &[(&Hook, &Seen)],
    request: &Request<'_>,
    changes: Changes,
) -> Vec<Result<review::Answer, String>> {
    let mut sent = Vec::new();
    for (hook, seen) in calls {
        let uid = uuid::Uuid::new_v4().to_string();
        let version = review::version(&hook.spec);
        let about = review::request(&uid, request, seen);
        let body = json!({"kind": "AdmissionReview", "apiVersion": version, "request": about});
        sent.push((call::Call::new(plane, &hook.spec, &body), uid, version));
    }
    let (calls, about): (Vec<_>, Vec<_>) =
        sent.into_iter().map(|(call, uid, version)| (call, (uid, version))).unzip();
    let answers = call::all(calls).into_iter().zip(about);
    answers.map(|(body, (uid, version))| review::answer(&body?, &uid, version, changes)).collect()
}

/// What an answer means: the patch of one that allows, the error of one that refuses or failed.
fn judged(
    hook: &Hook,
    answer: Result<review::Answer, String>,
    warnings: &mut Vec<String>,
) -> Result<Option<Value>> {
    let answer = match answer {
        Ok(answer) => answer,
        Err(why) if hook.ignores_failure() => {
            tracing::warn!(webhook = %hook.name, %why, "a webhook failed and is passed over");
            return Ok(None);
        }
        Err(why) => {
            let why = format!("failed calling webhook \"{}\": {why}", hook.name);
            return Err(ApiError::internal(&why));
        }
    };
    warnings.extend(answer.warnings);
    match answer.refusal {
        Some(status) => Err(review::refusal(&hook.name, &status)),
        None => Ok(answer.patch),
    }
}
