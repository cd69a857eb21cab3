//! LimitRanges: what they give containers that do not say what they need, and what they refuse.

use serde_json::{Map, Value, json};

use crate::plane::{Plane, Target};
use crate::quantity;
use crate::status::{ApiError, Result};

/// Where it is said what was given.
const ANNOTATION: &str = "kubernetes.io/limit-ranger";

// The items of all ranges of a namespace.
fn items(plane: &Plane, target: &Target) -> Vec<Value> {
    let (_, all) = plane.store().values(&format!("/limitranges/{}/", target.namespace));
    let items = |range: &Value| range["spec"]["limits"].as_array().cloned().unwrap_or_default();
    all.iter().flat_map(|range| items(range)).collect()
}

const CONTAINERS: [(&str, &str); 2] =
    [("containers", "container"), ("initContainers", "init container")];

/// Gives the containers of a new Pod what ranges say of those that say nothing.
pub(super) fn fill(plane: &Plane, target: &Target, pod: &mut Value) {
    let mut said = Vec::new();
    for item in items(plane, target).iter().filter(|item| item["type"] == json!("Container")) {
        for (list, called) in CONTAINERS {
            let all = pod["spec"].get_mut(list).and_then(Value::as_array_mut);
            for container in all.into_iter().flatten() {
                let name = container["name"].as_str().unwrap_or_default().to_owned();
                for (given, part) in [("defaultRequest", "request"), ("default", "limit")] {
                    let set = missing(container, &format!("{part}s"), &item[given]);
                    if !set.is_empty() {
                        said.push(format!("{} {part} for {called} {name}", set.join(", ")));
                    }
                }
            }
        }
    }
    if said.is_empty() {
        return;
    }
    if !pod["metadata"]["annotations"].is_object() {
        pod["metadata"]["annotations"] = json!({});
    }
    let text = format!("LimitRanger plugin set: {}", said.join("; "));
    pod["metadata"]["annotations"][ANNOTATION] = json!(text);
}

// Adds amounts that are not there; their names, sorted.
fn missing(container: &mut Value, part: &str, given: &Value) -> Vec<String> {
    let mut names = Vec::new();
    for (name, amount) in given.as_object().into_iter().flatten() {
        if !container["resources"].is_object() {
            container["resources"] = json!({});
        }
        let resources = &mut container["resources"];
        if !resources[part].is_object() {
            resources[part] = json!({});
        }
        if resources[part].get(name).is_none() {
            resources[part][name] = amount.clone();
            names.push(name.clone());
        }
    }
    names.sort();
    names
}

/// Refuses a Pod or claim that asks for less or more than its namespace allows.
pub(super) fn check(plane: &Plane, target: &Target, object: &Value) -> Result<()> {
    let resource = &target.resource;
    let mut wrong = Vec::new();
    for item in items(plane, target) {
        let kind = item["type"].as_str().unwrap_or_default();
        match (resource.plural.as_str(), kind) {
            ("pods", "Container") => {
                for (list, _) in CONTAINERS {
                    for container in object["spec"][list].as_array().into_iter().flatten() {
                        compare(&item, &container["resources"], &mut wrong);
                    }
                }
            }
            ("pods", "Pod") => compare(&item, &sum(&object["spec"]), &mut wrong),
            ("persistentvolumeclaims", "PersistentVolumeClaim") => {
                // Of a claim only what it asks for counts.
                let asked = &object["spec"]["resources"]["requests"];
                let both = json!({"requests": asked, "limits": asked});
                compare(&item, &both, &mut wrong);
            }
            _ => {}
        }
    }
    wrong.dedup();
    let why = match wrong.as_slice() {
        [] => return Ok(()),
        [one] => one.clone(),
        many => format!("[{}]", many.join(", ")),
    };
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    Err(ApiError::forbidden(&resource.group, &resource.plural, name, &why))
}

fn amount(all: &Value, name: &str) -> Option<(i128, String)> {
    let text = all[name].as_str()?;
    Some((quantity::nanos(text)?, text.to_owned()))
}

fn compare(item: &Value, resources: &Value, wrong: &mut Vec<String>) {
    let kind = item["type"].as_str().unwrap_or_default();
    let (requests, limits) = (&resources["requests"], &resources["limits"]);
    let named = |key: &str| item[key].as_object().into_iter().flat_map(Map::keys);
    for name in named("min") {
        let Some((least, shown)) = amount(&item["min"], name) else { continue };
        let start = format!("minimum {name} usage per {kind} is {shown}");
        match amount(requests, name) {
            None => wrong.push(format!("{start}.  No request is specified")),
            Some((it, text)) if it < least => wrong.push(format!("{start}, but request is {text}")),
            Some(_) => {}
        }
        if let Some((_, text)) = amount(limits, name).filter(|(it, _)| *it < least) {
            wrong.push(format!("{start}, but limit is {text}"));
        }
    }
    for name in named("max") {
        let Some((most, shown)) = amount(&item["max"], name) else { continue };
        let start = format!("maximum {name} usage per {kind} is {shown}");
        match amount(limits, name) {
            None => wrong.push(format!("{start}.  No limit is specified")),
            Some((it, text)) if it > most => wrong.push(format!("{start}, but limit is {text}")),
            Some(_) => {}
        }
        if let Some((_, text)) = amount(requests, name).filter(|(it, _)| *it > most) {
            wrong.push(format!("{start}, but request is {text}"));
        }
    }
    for name in named("maxLimitRequestRatio") {
        let Some((ratio, shown)) = amount(&item["maxLimitRequestRatio"], name) else { continue };
        let start = format!("{name} max limit to request ratio per {kind} is {shown}");
        let some = |all: &Value| amount(all, name).map(|(it, _)| it).filter(|it| *it > 0);
        match (some(requests), some(limits)) {
            (None, _) => {
                wrong.push(format!("{start}, but no request is specified or request is 0"))
            }
            (_, None) => wrong.push(format!("{start}, but no limit is specified or limit is 0")),
            (Some(request), Some(limit)) => {
                #[allow(clippy::cast_precision_loss, reason = "shown in a message")]
                let (provided, allowed) =
                    (limit as f64 / request as f64, ratio as f64 / quantity::ONE as f64);
                if provided > allowed {
                    wrong.push(format!("{start}, but provided ratio is {provided:.6}"));
                }
            }
        }
    }
}

// What a whole pod needs: its containers together, or the greediest of those that run before them.
fn sum(spec: &Value) -> Value {
    let mut whole = json!({"requests": {}, "limits": {}});
    for part in ["requests", "limits"] {
        let mut amounts: std::collections::BTreeMap<String, i128> =
            std::collections::BTreeMap::new();
        for (list, _) in CONTAINERS {
            for container in spec[list].as_array().into_iter().flatten() {
                for (name, text) in container["resources"][part].as_object().into_iter().flatten() {
                    let Some(it) = text.as_str().and_then(quantity::nanos) else { continue };
                    let so_far = amounts.entry(name.clone()).or_default();
                    *so_far = if list == "containers" {
                        so_far.saturating_add(it)
                    } else {
                        it.max(*so_far)
                    };
                }
            }
        }
        for (name, it) in amounts {
            whole[part][name] = json!(quantity::text(it));
        }
    }
    whole
}
