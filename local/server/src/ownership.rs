//! Who owns which field: managedFields kept by local-merge.

use std::sync::{Mutex, OnceLock, PoisonError};

use local_merge::manage::{self, Writer};
use local_merge::{Definitions, Refused, Schema};
use rustc_hash::FxHashMap;
use serde_json::Value;

use crate::plane::now;
use crate::published;
use crate::resource::Resource;
use crate::status::Result;

/// A mark of server-side apply: ownership was settled already.
const APPLIED: &str = "\u{0}applied";

/// Marks an object whose managedFields are final.
pub fn mark_applied(object: &mut Value) {
    if let Some(fields) = object.as_object_mut() {
        fields.insert(APPLIED.to_owned(), Value::Bool(true));
    }
}

/// Takes the mark away; whether it was there.
pub fn take_applied(object: &mut Value) -> bool {
    object.as_object_mut().is_some_and(|fields| fields.shift_remove(APPLIED).is_some())
}

/// The schema of a resource, as local-merge wants it.
#[must_use]
pub fn schema(resource: &Resource) -> Schema {
    static MADE: OnceLock<Mutex<FxHashMap<String, Schema>>> = OnceLock::new();
    static EMPTY: OnceLock<Definitions> = OnceLock::new();
    let definitions = published::schemas().unwrap_or_else(|| EMPTY.get_or_init(Definitions::new));
    if let Some(custom) = &resource.custom {
        return custom
            .merging
            .get_or_init(|| Schema::custom(definitions, Some(&custom.schema)))
            .clone();
    }
    let Some(name) = &resource.schema else { return Schema::deduced() };
    let made = MADE.get_or_init(Mutex::default);
    let mut made = made.lock().unwrap_or_else(PoisonError::into_inner);
    let make = || Schema::published(definitions, name).unwrap_or_else(Schema::deduced);
    made.entry(name.clone()).or_insert_with(make).clone()
}

fn reset(resource: &Resource, subresource: &str) -> Vec<&'static str> {
    match subresource {
        "" if resource.has("status") => vec!["status"],
        "status" if resource.custom.is_some() => vec!["metadata", "spec"],
        "status" if resource.is("apps", "deployments") => vec!["spec", "metadata.labels"],
        "status" if resource.is("", "pods") => {
            vec!["spec", "metadata.deletionTimestamp", "metadata.ownerReferences"]
        }
        "status" => vec!["spec"],
        "finalize" => vec!["status"],
        _ => Vec::new(),
    }
}

fn with<T>(
    resource: &Resource,
    subresource: &str,
    manager: &str,
    run: impl FnOnce(&Writer<'_>) -> T,
) -> T {
    let api = resource.api_version();
    let group = resource.group.clone();
    // Another served version of a custom resource differs in its schema only.
    let find = |wanted: &str| {
        let same_group = wanted.split_once('/').map_or("", |(group, _)| group) == group;
        same_group.then(|| schema(resource))
    };
    let reset = reset(resource, subresource);
    let time = now();
    run(&Writer {
        manager,
        api_version: &api,
        kind: &resource.kind,
        subresource: if subresource == "scale" || subresource == "status" {
            subresource
        } else {
            ""
        },
        time: &time,
        reset: &reset,
        schema: &find,
        convert: &manage::renamed,
    })
}

/// Records who changed what, after a create, update or patch.
pub fn on_update(
    resource: &Resource,
    subresource: &str,
    old: &Value,
    new: &mut Value,
    manager: &str,
) -> Result<()> {
    let live = (!old.is_null()).then_some(old);
    *new = with(resource, subresource, manager, |writer| manage::update(writer, live, new));
    Ok(())
}

/// What a server-side apply makes of an object.
pub fn apply(
    resource: &Resource,
    subresource: &str,
    live: Option<&Value>,
    patch: &Value,
    manager: &str,
    force: bool,
) -> Result<Value, Refused> {
    with(resource, subresource, manager, |writer| manage::apply(writer, live, patch, force))
}

/// Whether two states differ in nothing but the times of managedFields.
#[must_use]
pub fn same_but_times(left: &Value, right: &Value) -> bool {
    let timeless = |object: &Value| {
        let mut object = object.clone();
        for entry in object["metadata"]["managedFields"].as_array_mut().into_iter().flatten() {
            entry["time"] = Value::Null;
        }
        object
    };
    left == right || timeless(left) == timeless(right)
}

/// Drops owner references that repeat a uid.
pub fn one_reference_each(object: &mut Value, warnings: &mut Vec<String>) {
    let Some(metadata) = object.get_mut("metadata") else { return };
    let Some(all) = metadata.get_mut("ownerReferences").and_then(Value::as_array_mut) else {
        return;
    };
    let mut seen: Vec<Value> = Vec::new();
    let mut twice = Vec::new();
    all.retain(|owner| {
        let uid = owner["uid"].clone();
        if uid.as_str().is_some_and(|uid| !uid.is_empty()) && seen.contains(&uid) {
            twice.push(uid.as_str().unwrap_or_default().to_owned());
            return false;
        }
        seen.push(uid);
        true
    });
    if !twice.is_empty() {
        warnings.push(format!(".metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: {}", twice.join(", ")));
    }
}
