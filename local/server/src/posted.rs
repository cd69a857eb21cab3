//! What is posted to a part of an object: a pod's binding and eviction, a token of a service account.

use serde_json::{Value, json};

use crate::plane::{DeleteOptions, Plane, Target, WriteOptions, now};
use crate::status::{ApiError, Result};
use crate::{auth, custom};

/// POST to a subresource.
pub fn post(
    plane: &Plane,
    target: &Target,
    mut body: Value,
    options: &mut WriteOptions,
) -> Result<(u16, Value)> {
    let (part, kind) = match (target.resource.plural.as_str(), target.subresource.as_str()) {
        ("pods", "binding") => (Part::Binding, ("v1", "Binding")),
        ("pods", "eviction") => (Part::Eviction, ("policy/v1", "Eviction")),
        ("serviceaccounts", "token") => (Part::Token, ("authentication.k8s.io/v1", "TokenRequest")),
        _ => return Err(ApiError::no_method()),
    };
    plane.ask_webhooks_of_part(target, kind, &mut body, options)?;
    let whole = Target { subresource: String::new(), ..target.clone() };
    let answer = match part {
        Part::Binding => bind(plane, target, &body, options)?,
        Part::Eviction => {
            let grace = body["deleteOptions"]["gracePeriodSeconds"].as_i64();
            let how = DeleteOptions { grace, dry_run: options.dry_run, ..DeleteOptions::default() };
            plane.remove(&whole, &how)?;
            done()
        }
        Part::Token => token(plane, &whole, &body)?,
    };
    Ok((201, answer))
}

/// What something is posted to.
enum Part {
    Binding,
    Eviction,
    Token,
}

fn done() -> Value {
    json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201})
}

/// A Binding: which node, and what the pod is to be.
struct Binding<'a> {
    target: &'a Target,
    node: &'a str,
    uid: &'a str,
    annotations: &'a Value,
}

/// Binds a pod to a node, once.
fn bind(plane: &Plane, target: &Target, body: &Value, options: &mut WriteOptions) -> Result<Value> {
    let text = |it: &'static str| body.pointer(it).and_then(Value::as_str).unwrap_or_default();
    let given = text("/metadata/name");
    if !given.is_empty() && given != target.name {
        return Err(ApiError::bad_request("name in URL does not match name in Binding object"));
    }
    let mut wrong = Vec::new();
    match text("/target/kind") {
        "" | "Node" => {}
        kind => wrong.push(format!(
            "target.kind: Unsupported value: \"{kind}\": supported values: \"Node\", \"<empty>\""
        )),
    }
    let node = text("/target/name");
    if node.is_empty() {
        wrong.push("target.name: Required value".to_owned());
    }
    match wrong.as_slice() {
        [] => {}
        [one] => return Err(ApiError::plain(one.clone())),
        many => return Err(ApiError::plain(format!("[{}]", many.join(", ")))),
    }
    let annotations = &body["metadata"]["annotations"];
    let binding = Binding { target, node, uid: text("/metadata/uid"), annotations };
    let part = Target { subresource: "binding".to_owned(), ..target.clone() };
    plane.modify(&part, options, |current, _| binding.of(current))?;
    Ok(done())
}

impl Binding<'_> {
    /// The pod as it is bound.
    fn of(&self, pod: &Value) -> Result<Value> {
        self.check(pod)?;
        let mut next = pod.clone();
        next["spec"]["nodeName"] = json!(self.node);
        for (key, value) in self.annotations.as_object().into_iter().flatten() {
            next["metadata"]["annotations"][key] = value.clone();
        }
        if !next["status"].is_object() {
            next["status"] = json!({});
        }
        let mut condition = custom::condition("PodScheduled", "True", "", "", &now());
        if let Some(fields) = condition.as_object_mut() {
            fields.retain(|_, value| *value != json!(""));
            fields.insert("lastProbeTime".to_owned(), Value::Null);
        }
        custom::set_condition(&mut next["status"], condition);
        Ok(next)
    }

    /// Refuses a pod that is another one, is going, or has a node.
    fn check(&self, pod: &Value) -> Result<()> {
        let (name, namespace) = (&self.target.name, &self.target.namespace);
        let have = pod["metadata"]["uid"].as_str().unwrap_or_default();
        if !self.uid.is_empty() && self.uid != have {
            let wanted = self.uid;
            let why = format!(
                "StorageError: invalid object, Code: 4, Key: /registry/pods/{namespace}/{name}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: {wanted}, UID in object meta: {have}"
            );
            return Err(ApiError::conflict_because("", "pods", name, &why));
        }
        let refused = |why: &str| {
            let mut error = ApiError::conflict_because("", "pods/binding", name, why);
            error.details = Some(Box::new(json!({"name": name, "kind": "pods/binding"})));
            error
        };
        if !pod["metadata"]["deletionTimestamp"].is_null() {
            let why = format!("pod {name} is being deleted, cannot be assigned to a host");
            return Err(refused(&why));
        }
        match pod["spec"]["nodeName"].as_str() {
            None | Some("") => Ok(()),
            Some(taken) => {
                Err(refused(&format!("pod {name} is already assigned to node \"{taken}\"")))
            }
        }
    }
}

/// A token of a service account, for whom and as long as it is asked for.
fn token(plane: &Plane, account: &Target, body: &Value) -> Result<Value> {
    let object = plane.get(account)?;
    let spec = &body["spec"];
    let seconds = spec["expirationSeconds"].as_i64().unwrap_or(3600);
    let ends = chrono::Utc::now() + chrono::Duration::seconds(seconds);
    let asked = spec["audiences"].as_array().into_iter().flatten();
    let mut audiences: Vec<String> =
        asked.filter_map(|one| one.as_str().map(str::to_owned)).collect();
    if audiences.is_empty() {
        audiences.push("https://kubernetes.default.svc".to_owned());
    }
    let bound = &spec["boundObjectRef"];
    let token = auth::issue(plane, &object, &audiences, seconds, bound);
    Ok(json!({
        "kind": "TokenRequest", "apiVersion": "authentication.k8s.io/v1",
        "metadata": {
            "name": account.name, "namespace": account.namespace,
            "creationTimestamp": now(), "uid": object["metadata"]["uid"],
        },
        "spec": {"audiences": audiences, "expirationSeconds": seconds, "boundObjectRef": bound},
        "status": {
            "token": token,
            "expirationTimestamp": ends.format("%Y-%m-%dT%H:%M:%SZ").to_string(),
        },
    }))
}
