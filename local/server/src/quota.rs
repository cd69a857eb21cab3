//! What a ResourceQuota counts, and whether one more is too many.

use serde_json::{Value, json};

use crate::plane::{Plane, Target};
use crate::quantity;
use crate::status::{ApiError, Result};

/// Group, plural, whether objects are in namespaces.
pub type Known = (String, String, bool);

/// The objects of a group and plural in the namespace of the quota.
pub type List<'l> = &'l dyn Fn(&str, &str) -> Vec<Value>;

/// Kinds that quotas name without a group.
const PLAIN: [&str; 7] = [
    "configmaps",
    "persistentvolumeclaims",
    "pods",
    "replicationcontrollers",
    "resourcequotas",
    "secrets",
    "services",
];

// The group and plural that a name counts: `pods`, `count/deployments.apps`.
fn counted<'n>(name: &'n str, known: &'n [Known]) -> Option<(&'n str, &'n str)> {
    if PLAIN.contains(&name) {
        return Some(("", name));
    }
    let name = name.strip_prefix("count/")?;
    let (plural, group) = name.split_once('.').unwrap_or((name, ""));
    let found = known.iter().find(|(of, one, _)| of == group && one == plural)?;
    Some((found.0.as_str(), found.1.as_str()))
}

// Pods that have ended use nothing.
fn counts(plural: &str, object: &Value) -> bool {
    let phase = object["status"]["phase"].as_str().unwrap_or_default();
    plural != "pods" || !["Succeeded", "Failed"].contains(&phase)
}

/// How much of what a quota names is used, as the status says it.
#[must_use]
pub fn used(name: &str, known: &[Known], list: List<'_>) -> String {
    quantity::text(total(name, known, list, None))
}

// In nanos; `more` is counted too, as an object of its group and plural.
fn total(name: &str, known: &[Known], list: List<'_>, more: Option<(&str, &str, &Value)>) -> i128 {
    let with = |group: &str, plural: &str, each: &dyn Fn(&Value) -> i128| -> i128 {
        let all: i128 = list(group, plural).iter().map(each).sum();
        let extra = more.filter(|(of, one, _)| *of == group && *one == plural);
        all + extra.map_or(0, |(_, _, object)| each(object))
    };
    if let Some((group, plural)) = counted(name, known) {
        let one = |object: &Value| i128::from(counts(plural, object)) * quantity::ONE;
        return with(group, plural, &one);
    }
    match name {
        "services.nodeports" | "services.loadbalancers" => {
            let balanced = name == "services.loadbalancers";
            with("", "services", &|service| {
                let spec = &service["spec"];
                let ports = spec["ports"].as_array().into_iter().flatten();
                let opened = ports.filter(|port| port["nodePort"].as_u64().unwrap_or(0) > 0);
                let many = if balanced {
                    usize::from(spec["type"] == json!("LoadBalancer"))
                } else {
                    opened.count()
                };
                i128::try_from(many).unwrap_or(0) * quantity::ONE
            })
        }
        "requests.storage" => with("", "persistentvolumeclaims", &|claim| {
            amount(&claim["spec"]["resources"]["requests"]["storage"])
        }),
        other => {
            let (part, resource) = other.split_once('.').unwrap_or(("requests", other));
            if !["requests", "limits"].contains(&part) {
                return 0;
            }
            with("", "pods", &|pod| {
                if counts("pods", pod) { asked(pod, part, resource) } else { 0 }
            })
        }
    }
}

fn amount(value: &Value) -> i128 {
    value.as_str().and_then(quantity::nanos).unwrap_or(0)
}

fn asked(pod: &Value, part: &str, resource: &str) -> i128 {
    let of = |list: &str| -> Vec<i128> {
        let all = pod["spec"][list].as_array().into_iter().flatten();
        all.map(|container| amount(&container["resources"][part][resource])).collect()
    };
    let first = of("initContainers").into_iter().max().unwrap_or(0);
    of("containers").into_iter().sum::<i128>().max(first)
}

/// Refuses an object that would use more than a quota of its namespace allows.
pub(crate) fn admit(plane: &Plane, target: &Target, object: &Value) -> Result<()> {
    let resource = &target.resource;
    if !resource.namespaced {
        return Ok(());
    }
    let (_, quotas) = plane.store().list(&format!("/resourcequotas/{}/", target.namespace));
    if quotas.is_empty() {
        return Ok(());
    }
    let registry = plane.registry();
    let known: Vec<Known> = registry
        .iter()
        .map(|one| (one.group.clone(), one.plural.clone(), one.namespaced))
        .collect();
    let list = |group: &str, plural: &str| -> Vec<Value> {
        let range = format!("{group}/{plural}/{}/", target.namespace);
        let (_, entries) = plane.store().list(&range);
        entries.into_iter().map(|entry| Value::clone(&entry.value)).collect()
    };
    let more = (resource.group.as_str(), resource.plural.as_str(), object);
    for quota in quotas {
        // Only what the controller has counted is limited.
        let hard = quota.value["status"]["hard"].as_object();
        let mut over: Vec<(&String, i128, i128, i128)> = Vec::new();
        for (name, limit) in hard.into_iter().flatten() {
            let before = total(name, &known, &list, None);
            let after = total(name, &known, &list, Some(more));
            if after > before && after > amount(limit) {
                over.push((name, after - before, before, amount(limit)));
            }
        }
        if over.is_empty() {
            continue;
        }
        over.sort();
        let join = |pick: &dyn Fn(&(&String, i128, i128, i128)) -> i128| {
            let parts: Vec<String> =
                over.iter().map(|one| format!("{}={}", one.0, quantity::text(pick(one)))).collect();
            parts.join(",")
        };
        let name = quota.value["metadata"]["name"].as_str().unwrap_or_default();
        let why = format!(
            "exceeded quota: {name}, requested: {}, used: {}, limited: {}",
            join(&|one| one.1),
            join(&|one| one.2),
            join(&|one| one.3)
        );
        let own = object["metadata"]["name"].as_str().unwrap_or_default();
        return Err(ApiError::forbidden(&resource.group, &resource.plural, own, &why));
    }
    Ok(())
}
