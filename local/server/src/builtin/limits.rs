//! What is refused of quotas and ranges of limits.

use serde_json::json;

use super::check::{Field, Found};
use crate::meta::qualified_name_errors;
use crate::status::FieldError;

/// What may be counted, and is whole.
const COUNTED: [&str; 9] = [
    "pods",
    "services",
    "replicationcontrollers",
    "resourcequotas",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
    "services.nodeports",
    "services.loadbalancers",
];

const AMOUNTS: [&str; 11] = [
    "cpu",
    "memory",
    "ephemeral-storage",
    "storage",
    "requests.cpu",
    "requests.memory",
    "requests.storage",
    "requests.ephemeral-storage",
    "limits.cpu",
    "limits.memory",
    "limits.ephemeral-storage",
];

fn plain(name: &str) -> bool {
    name.starts_with("hugepages-") || name.starts_with("requests.hugepages-")
}

/// ResourceQuotas.
pub(super) fn quota(spec: &Field<'_>, found: &mut Found) {
    for (name, amount) in spec.get("hard").entries() {
        let mut refuse =
            |why: &str| found.push(FieldError::invalid(amount.at.as_str(), &json!(name), why));
        for why in qualified_name_errors(name) {
            refuse(&why);
        }
        let known = COUNTED.contains(&name) || AMOUNTS.contains(&name) || plain(name);
        if !name.contains('/') && !known {
            refuse("must be a standard resource type or fully qualified");
            refuse("must be a standard resource for quota");
        }
        let Some(value) = amount.amount() else { continue };
        if value < 0 {
            amount.refuse("must be greater than or equal to 0", found);
        }
        let whole = COUNTED.contains(&name) || name.starts_with("count/");
        if whole && value % 1_000_000_000 != 0 {
            amount.refuse("must be an integer", found);
        }
    }
    scopes(spec, found);
    let chosen = spec.get("scopeSelector").get("matchExpressions");
    for one in chosen.items() {
        // The reference names no index.
        let named = |part: &str| format!("{}.{part}", chosen.at);
        let (scope, operator) = (one.get("scopeName"), one.get("operator"));
        if !SCOPES.contains(&scope.text()) {
            Field::new(named("scopeName"), scope.value).refuse("unsupported scope", found);
        }
        let values = one.get("values");
        match operator.text() {
            "In" | "NotIn" if values.is_empty() => {
                let why = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector";
                Field::new(named("values"), values.value).miss(why, found);
            }
            "Exists" | "DoesNotExist" if !values.is_empty() => {
                let why = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector";
                Field::new(named("values"), values.value).refuse(why, found);
            }
            "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
            _ => {
                let why = "not a valid selector operator";
                Field::new(named("operator"), operator.value).refuse(why, found);
            }
        }
    }
}

const SCOPES: [&str; 7] = [
    "Terminating",
    "NotTerminating",
    "BestEffort",
    "NotBestEffort",
    "PriorityClass",
    "CrossNamespacePodAffinity",
    "VolumeAttributesClass",
];

// What a scope may count.
fn fits(scope: &str, name: &str) -> bool {
    let amounts =
        AMOUNTS.contains(&name) && !name.contains("storage") || name.contains("ephemeral");
    match scope {
        "BestEffort" => name == "pods",
        "VolumeAttributesClass" => {
            ["persistentvolumeclaims", "requests.storage"].contains(&name)
                || name.contains(".storageclass.storage.k8s.io/")
        }
        _ => name == "pods" || amounts || plain(name) || name.contains('/'),
    }
}

fn scopes(spec: &Field<'_>, found: &mut Found) {
    let scopes = spec.get("scopes");
    let all: Vec<&str> = scopes.items().map(|one| one.value.as_str().unwrap_or_default()).collect();
    for scope in &all {
        if !SCOPES.contains(scope) {
            scopes.refuse("unsupported scope", found);
            continue;
        }
        for (name, _) in spec.get("hard").entries() {
            if !fits(scope, name) {
                scopes.refuse("unsupported scope applied to resource", found);
            }
        }
    }
    for pair in [["BestEffort", "NotBestEffort"], ["Terminating", "NotTerminating"]] {
        if pair.iter().all(|scope| all.contains(scope)) {
            scopes.refuse("conflicting scopes", found);
        }
    }
}

/// LimitRanges.
pub(super) fn range(spec: &Field<'_>, found: &mut Found) {
    let mut kinds: Vec<&str> = Vec::new();
    for limit in spec.get("limits").items() {
        let kind = limit.get("type");
        kind.qualified(found);
        if kinds.contains(&kind.text()) {
            kind.repeat(found);
        }
        kinds.push(kind.text());
        bounds(&limit, found);
    }
}

fn text(field: &Field<'_>) -> String {
    field.value.as_str().map_or_else(|| field.value.to_string(), str::to_owned)
}

fn of<'v>(field: &Field<'v>, name: &str) -> Field<'v> {
    Field::new(format!("{}[{name}]", field.at), field.get(name).value)
}

fn bounds(limit: &Field<'_>, found: &mut Found) {
    let kind = limit.get("type").text();
    let part = |part: &str| limit.get(part);
    let (min, max, ratio) = (part("min"), part("max"), part("maxLimitRequestRatio"));
    let (default, request) = (part("default"), part("defaultRequest"));
    if kind == "Pod" {
        for field in [&default, &request] {
            if !field.is_empty() {
                field.forbid("may not be specified when `type` is 'Pod'", found);
            }
        }
    }
    if kind == "PersistentVolumeClaim"
        && !min.get("storage").is_set()
        && !max.get("storage").is_set()
    {
        let why = "either minimum or maximum storage value is required, but neither was provided";
        limit.get("limits").miss(why, found);
    }
    let mut names: Vec<&str> = [&min, &max, &default, &request, &ratio]
        .iter()
        .flat_map(|field| field.entries().map(|(name, _)| name))
        .collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        let (min, max, ratio) = (of(&min, name), of(&max, name), of(&ratio, name));
        let (default, request) = (of(&default, name), of(&request, name));
        let over =
            |a: &Field<'_>, b: &Field<'_>| a.amount().zip(b.amount()).is_some_and(|(a, b)| a > b);
        let mut compare = |a: &Field<'_>, b: &Field<'_>, blamed: &Field<'_>, why: String| {
            if over(a, b) {
                let shown = json!(text(blamed));
                found.push(FieldError::invalid(blamed.at.as_str(), &shown, &why));
            }
        };
        let said = |a: &str, x: &Field<'_>, b: &str, y: &Field<'_>| {
            format!("{a} value {} is greater than {b} value {}", text(x), text(y))
        };
        compare(&min, &max, &min, said("min", &min, "max", &max));
        if kind != "Pod" {
            compare(&min, &request, &request, said("min", &min, "default request", &request));
            compare(&request, &max, &request, said("default request", &request, "max", &max));
            let why = said("default request", &request, "default limit", &default);
            compare(&request, &default, &request, why);
            // The value shown here is the bound's.
            let why = said("min", &min, "default", &default);
            compare(&min, &default, &Field { value: min.value, ..default.clone() }, why);
            let why = said("default", &default, "max", &max);
            compare(&default, &max, &Field { value: max.value, ..default.clone() }, why);
        }
        if ratio.amount().is_some_and(|it| it < 1_000_000_000) {
            let why = format!("ratio {} is less than 1", text(&ratio));
            ratio.refuse(&why, found);
        }
    }
}
