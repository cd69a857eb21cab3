//! AdmissionReview: what a webhook is told, what its answer says.

use base64::Engine;
use serde_json::{Value, json};

use super::{Request, Seen};
use crate::status::ApiError;

/// An answer that could be read.
pub(super) struct Answer {
    pub(super) warnings: Vec<String>,
    /// The Status of a refusal, null if it came without one.
    pub(super) refusal: Option<Value>,
    pub(super) patch: Option<Value>,
}

const VERSIONS: [&str; 2] = ["v1", "v1beta1"];

/// The apiVersion of the review: the first the webhook names that is known here.
pub(super) fn version(spec: &Value) -> &'static str {
    let given = spec["admissionReviewVersions"].as_array().into_iter().flatten();
    let first = given.filter_map(Value::as_str).find(|one| VERSIONS.contains(one));
    if first == Some("v1beta1") { "admission.k8s.io/v1beta1" } else { "admission.k8s.io/v1" }
}

/// The request as a webhook is told of it.
pub(super) fn request(uid: &str, request: &Request<'_>, seen: &Seen) -> Value {
    let own = &request.target.resource;
    let kind = |group: &str, version: &str, kind: &str| json!({"group": group, "version": version, "kind": kind});
    let (kind_seen, kind_asked) = match request.kind {
        Some((api, name)) => {
            let (group, version) = api.split_once('/').unwrap_or(("", api));
            (kind(group, version, name), kind(group, version, name))
        }
        None => (
            kind(&seen.resource.group, &seen.resource.version, &own.kind),
            kind(&own.group, &own.version, &own.kind),
        ),
    };
    let resource = |it: &crate::resource::Resource| json!({"group": it.group, "version": it.version, "resource": it.plural});
    let name = match request.target.name.as_str() {
        "" => seen.object["metadata"]["name"].as_str().unwrap_or_default(),
        name => name,
    };
    let user = match request.user {
        Some(user) => user.info(),
        None => json!({
            "username": "system:kube-controller-manager", "groups": ["system:authenticated"],
        }),
    };
    let mut about = json!({
        "uid": uid, "kind": kind_seen, "resource": resource(&seen.resource),
        "requestKind": kind_asked, "requestResource": resource(own),
    });
    if !request.target.subresource.is_empty() {
        about["subResource"] = json!(request.target.subresource);
        about["requestSubResource"] = json!(request.target.subresource);
    }
    if !name.is_empty() {
        about["name"] = json!(name);
    }
    // The namespace of a namespace is itself.
    let namespace = if own.is("", "namespaces") { name } else { request.target.namespace.as_str() };
    if !namespace.is_empty() {
        about["namespace"] = json!(namespace);
    }
    about["operation"] = json!(request.operation.text());
    about["userInfo"] = user;
    about["object"] = seen.object.clone();
    about["oldObject"] = seen.old.clone();
    about["dryRun"] = json!(request.dry_run());
    about["options"] = request.options.clone();
    about
}

/// Whether a webhook may change the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Changes {
    /// It mutates.
    Made,
    /// It only validates.
    Refused,
}

/// Reads an answer.
pub(super) fn answer(
    body: &[u8],
    uid: &str,
    version: &str,
    changes: Changes,
) -> Result<Answer, String> {
    let wrong = |why: String| format!("received invalid webhook response: {why}");
    let review: Value = serde_json::from_slice(body).map_err(|_| {
        let wanted = r#"struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }"#;
        format!("failed to call webhook: couldn't get version/kind; json parse error: json: cannot unmarshal string into Go value of type {wanted}")
    })?;
    let text = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
    let (api, kind) = (text(&review, "apiVersion"), text(&review, "kind"));
    if !["", "admission.k8s.io/v1", "admission.k8s.io/v1beta1"].contains(&api.as_str()) {
        return Err(format!(
            "failed to call webhook: no kind \"{kind}\" is registered for version \"{api}\" in scheme \"pkg/runtime/scheme.go:111\""
        ));
    }
    let response = &review["response"];
    if !response.is_object() {
        return Err(wrong("webhook response was absent".to_owned()));
    }
    let newest = version == "admission.k8s.io/v1";
    if newest {
        let given = text(response, "uid");
        if given != uid {
            return Err(wrong(format!("expected response.uid=\"{uid}\", got \"{given}\"")));
        }
        if api != version || kind != "AdmissionReview" {
            return Err(wrong(format!(
                "expected webhook response of {version}, Kind=AdmissionReview, got {api}, Kind={kind}"
            )));
        }
    }
    let allowed = response["allowed"] == json!(true);
    let packed = text(response, "patch");
    let given = text(response, "patchType");
    if changes == Changes::Refused {
        for (name, value) in [("patch", &packed), ("patchType", &given)] {
            if !value.is_empty() {
                return Err(wrong(format!("validating webhook may not return response.{name}")));
            }
        }
    }
    if newest && packed.is_empty() != given.is_empty() {
        let why = if given.is_empty() {
            "webhook returned response.patch but not response.patchType"
        } else {
            "webhook returned response.patchType but not response.patch"
        };
        return Err(wrong(why.to_owned()));
    }
    if !given.is_empty() && given != "JSONPatch" {
        return Err(wrong(format!("webhook returned invalid response.patchType of \"{given}\"")));
    }
    let mut patch = None;
    if allowed && !packed.is_empty() {
        let bytes = base64::engine::general_purpose::STANDARD.decode(&packed);
        let bytes = bytes.map_err(|error| wrong(format!("response.patch: {error}")))?;
        let read: Value = serde_json::from_slice(&bytes).map_err(|error| {
            let why = crate::go::json_error(&bytes).unwrap_or_else(|| error.to_string());
            format!("received undecodable patch in webhook response: {why}")
        })?;
        patch = Some(read);
    }
    let warnings = response["warnings"].as_array().into_iter().flatten();
    Ok(Answer {
        warnings: warnings.filter_map(Value::as_str).map(str::to_owned).collect(),
        refusal: (!allowed).then(|| response["status"].clone()),
        patch,
    })
}

/// The error a refusal becomes.
pub(super) fn refusal(hook: &str, status: &Value) -> ApiError {
    let by = format!("admission webhook \"{hook}\" denied the request");
    let text = |key: &str| status[key].as_str().unwrap_or_default();
    let message = match (text("message"), text("reason")) {
        ("", "") => format!("{by} without explanation"),
        ("", reason) => format!("{by}: {reason}"),
        (message, _) => format!("{by}: {message}"),
    };
    let code = status["code"].as_u64().and_then(|code| u16::try_from(code).ok()).unwrap_or(0);
    let code = if (400..600).contains(&code) { code } else { 400 };
    let mut error = ApiError::new(code, text("reason").to_owned(), message);
    if status["details"].is_object() {
        error.details = Some(Box::new(status["details"].clone()));
    }
    error
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Changes, answer, refusal};

    const V1: &str = "admission.k8s.io/v1";

    #[track_caller]
    fn check(response: Value, wanted: &str) {
        let body = json!({"apiVersion": V1, "kind": "AdmissionReview", "response": response});
        let said = match answer(body.to_string().as_bytes(), "u", V1, Changes::Made) {
            Ok(answer) => match (answer.refusal, answer.patch) {
                (Some(status), _) => {
                    let error = refusal("h", &status);
                    format!("{} {:?}: {}", error.code, error.reason, error.message)
                }
                (None, Some(patch)) => patch.to_string(),
                (None, None) => "allowed".to_owned(),
            },
            Err(why) => why,
        };
        assert_eq!(said, wanted);
    }

    #[test]
    fn answers() {
        check(json!({"uid": "u", "allowed": true}), "allowed");
        check(
            json!({"uid": "u", "allowed": true, "patchType": "JSONPatch", "patch": "W10="}),
            "[]",
        );
        check(
            json!({"uid": "x", "allowed": true}),
            "received invalid webhook response: expected response.uid=\"u\", got \"x\"",
        );
        check(json!(null), "received invalid webhook response: webhook response was absent");
        check(
            json!({"uid": "u", "allowed": true, "patch": "W10="}),
            "received invalid webhook response: webhook returned response.patch but not response.patchType",
        );
    }

    #[test]
    fn answers_that_are_none() {
        let said = |body: &str| match answer(body.as_bytes(), "u", V1, Changes::Refused) {
            Ok(_) => "taken".to_owned(),
            Err(why) => why,
        };
        let review = |api: &str, response: Value| {
            json!({"apiVersion": api, "kind": "AdmissionReview", "response": response}).to_string()
        };
        assert_eq!(said(&review(V1, json!({"uid": "u", "allowed": true}))), "taken");
        assert_eq!(
            said(&review(V1, json!({"uid": "u", "allowed": true, "patch": "W10="}))),
            "received invalid webhook response: validating webhook may not return response.patch"
        );
        assert_eq!(
            said(&review("admission.k8s.io/v9", json!({"uid": "u"}))),
            "failed to call webhook: no kind \"AdmissionReview\" is registered for version \"admission.k8s.io/v9\" in scheme \"pkg/runtime/scheme.go:111\""
        );
        assert!(said("not json").starts_with(
            "failed to call webhook: couldn't get version/kind; json parse error: json: cannot unmarshal"
        ));
        check(
            json!({"uid": "u", "allowed": true, "patchType": "JSONPatch", "patch": "ew=="}),
            "received undecodable patch in webhook response: unexpected end of JSON input",
        );
    }

    #[test]
    fn refusals() {
        let denied = "admission webhook \"h\" denied the request";
        let no = |status: Value| json!({"uid": "u", "allowed": false, "status": status});
        check(no(json!(null)), &format!("400 \"\": {denied} without explanation"));
        check(
            no(json!({"code": 403, "reason": "Forbidden", "message": "no"})),
            &format!("403 \"Forbidden\": {denied}: no"),
        );
        check(
            no(json!({"code": 200, "reason": "not today"})),
            &format!("400 \"not today\": {denied}: not today"),
        );
    }
}
