//! What a kubelet would answer: logs, exec, attach, port-forward. Pods are simulated, and say so.

use axum::response::Response;
use serde_json::Value;

use super::Asked;
use super::answer::reply;
use crate::plane::{Plane, Shown, Target};
use crate::status::{ApiError, Result};

/// The answer of a part of a pod that only a kubelet has, if this is one.
pub(super) fn answer(plane: &Plane, asked: &Asked, target: &Target) -> Option<Result<Response>> {
    if !target.resource.is("", "pods") {
        return None;
    }
    match (asked.method.as_str(), target.subresource.as_str()) {
        ("GET", "log") => Some(log(plane, asked, target)),
        ("GET" | "POST", "exec" | "attach" | "portforward") => {
            Some(Err(refusal(plane, asked, target)))
        }
        _ => None,
    }
}

fn log(plane: &Plane, asked: &Asked, target: &Target) -> Result<Response> {
    let pod = whole(plane, target)?;
    let container = container(asked, target, &pod)?;
    let kind = "text/plain";
    if node(&pod).is_empty() {
        return Ok(reply(204, "", Vec::new()));
    }
    let name = &target.name;
    let text = format!(
        "simulated: container {container} of pod {name} runs nothing, so it writes no log\n"
    );
    Ok(reply(200, kind, text.into_bytes()))
}

fn refusal(plane: &Plane, asked: &Asked, target: &Target) -> ApiError {
    let pod = match whole(plane, target) {
        Ok(pod) => pod,
        Err(error) => return error,
    };
    let (name, part) = (&target.name, &target.subresource);
    if node(&pod).is_empty() {
        return ApiError::bad_request(format!("pod {name} does not have a host assigned"));
    }
    if part != "portforward" {
        if let Err(error) = container(asked, target, &pod) {
            return error;
        }
    }
    ApiError::bad_request(format!(
        "pod {name} is simulated: it runs nothing that {part} could reach"
    ))
}

fn whole(plane: &Plane, target: &Target) -> Result<Shown> {
    plane.get(&Target { subresource: String::new(), ..target.clone() })
}

fn node(pod: &Value) -> &str {
    pod["spec"]["nodeName"].as_str().unwrap_or_default()
}

// The container that is meant: the one named, or the only one.
fn container(asked: &Asked, target: &Target, pod: &Value) -> Result<String> {
    let names = |key: &str| -> Vec<String> {
        let all = pod["spec"][key].as_array().into_iter().flatten();
        all.filter_map(|one| one["name"].as_str().map(str::to_owned)).collect()
    };
    let plain = names("containers");
    let name = &target.name;
    match (asked.get("container"), plain.as_slice()) {
        ("", [only]) => Ok(only.clone()),
        ("", many) => Err(ApiError::bad_request(format!(
            "a container name must be specified for pod {name}, choose one of: [{}]",
            many.join(" ")
        ))),
        (given, _) => {
            let others = ["initContainers", "ephemeralContainers"];
            let known = plain.iter().cloned().chain(others.into_iter().flat_map(names));
            if known.into_iter().any(|one| one == given) {
                return Ok(given.to_owned());
            }
            let text = format!("container {given} is not valid for pod {name}");
            Err(ApiError::bad_request(text))
        }
    }
}
