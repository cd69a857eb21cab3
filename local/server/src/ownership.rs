//! Who owns which field: managedFields kept by local-merge.

use std::sync::{Mutex, OnceLock, PoisonError};

use local_merge::manage::{self, Conflicts, Writer};
use local_merge::{Refused, Schema};
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

/// Whether it is settled who owns what in an object that is to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owners {
    /// A server-side apply settled it.
    Settled,
    /// What changes is to become the writer's.
    Open,
}

/// Takes the mark away; whether it was there.
pub fn take_applied(mut object: Value) -> (Value, Owners) {
    let had = object.as_object_mut().is_some_and(|fields| fields.shift_remove(APPLIED).is_some());
    (object, if had { Owners::Settled } else { Owners::Open })
}

/// The schema of a resource, as local-merge wants it.
#[must_use]
pub fn schema(resource: &Resource) -> Schema {
    static MADE: OnceLock<Mutex<FxHashMap<String, Schema>>> = OnceLock::new();
    if resource.custom.is_some() {
        return in_version(resource, &resource.version).unwrap_or_else(Schema::deduced);
    }
    let Some(name) = &resource.schema else { return Schema::deduced() };
    let made = MADE.get_or_init(Mutex::default);
    let mut made = made.lock().unwrap_or_else(PoisonError::into_inner);
    let make = || Schema::published(published::schemas(), name).unwrap_or_else(Schema::deduced);
    made.entry(name.clone()).or_insert_with(make).clone()
}

// The schema of another served version of a custom resource.
fn in_version(resource: &Resource, version: &str) -> Option<Schema> {
    let all = &resource.custom.as_ref()?.merging;
    let found = all.iter().find(|one| one.version == version);
    found.map(|one| one.schema().clone())
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
        let (in_group, version) = wanted.split_once('/').unwrap_or(("", wanted));
        match &resource.custom {
            _ if in_group != group => None,
            Some(_) => in_version(resource, version),
            None => Some(schema(resource)),
        }
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
    with(resource, subresource, manager, |writer| manage::update(writer, live, new));
    Ok(())
}

/// What a server-side apply makes of an object.
pub fn apply(
    resource: &Resource,
    subresource: &str,
    live: Option<&Value>,
    patch: &Value,
    manager: &str,
    conflicts: Conflicts,
) -> Result<Value, Refused> {
    with(resource, subresource, manager, |writer| manage::apply(writer, live, patch, conflicts))
}

/// Who owns the number of replicas of an object, through its Scale.
pub struct ScaleOwners<'p> {
    /// The path of the number in the object, such as `spec.replicas`.
    pub path: &'p str,
    /// The apiVersion of the object.
    pub api_version: &'p str,
}

const SCALE: &str = "io.k8s.api.autoscaling.v1.Scale";

impl ScaleOwners<'_> {
    fn pointer(&self) -> String {
        self.path.split('.').map(|step| format!("/f:{step}")).collect()
    }

    fn owns(&self, entry: &Value) -> bool {
        entry["fieldsV1"].pointer(&self.pointer()).is_some()
    }

    /// The owners of the object as owners of its Scale.
    #[must_use]
    pub fn of(&self, object: &Value) -> Vec<Value> {
        let all = object["metadata"]["managedFields"].as_array().into_iter().flatten();
        all.filter(|entry| self.owns(entry))
            .map(|entry| {
                let mut entry = entry.clone();
                entry["apiVersion"] = Value::from("autoscaling/v1");
                entry["fieldsV1"] = serde_json::json!({"f:spec": {"f:replicas": {}}});
                entry
            })
            .collect()
    }

    /// Writes the owners of a Scale back to its object.
    pub fn put(&self, object: &mut Value, scale: &Value) {
        let key =
            |entry: &Value| ["manager", "operation", "subresource"].map(|part| entry[part].clone());
        let now: Vec<Value> =
            scale["metadata"]["managedFields"].as_array().cloned().unwrap_or_default();
        let mut all = object["metadata"]["managedFields"].as_array().cloned().unwrap_or_default();
        let before: Vec<_> = all.iter().filter(|entry| self.owns(entry)).map(key).collect();
        for entry in &mut all {
            if self.owns(entry) && !now.iter().any(|one| key(one) == key(entry)) {
                let steps: Vec<&str> = self.path.split('.').collect();
                drop_path(&mut entry["fieldsV1"], &steps);
            }
        }
        all.retain(|entry| entry["fieldsV1"].as_object().is_none_or(|set| !set.is_empty()));
        for entry in now.iter().filter(|entry| !before.contains(&key(entry))) {
            let mut set = serde_json::json!({});
            for step in self.path.split('.').rev() {
                let mut outer = serde_json::Map::new();
                outer.insert(format!("f:{step}"), set);
                set = Value::Object(outer);
            }
            all.push(serde_json::json!({
                "manager": entry["manager"], "operation": entry["operation"],
                "apiVersion": self.api_version, "fieldsType": "FieldsV1", "fieldsV1": set,
                "subresource": "scale",
            }));
        }
        let Some(metadata) = object["metadata"].as_object_mut() else { return };
        if all.is_empty() {
            metadata.shift_remove("managedFields");
        } else {
            metadata.insert("managedFields".to_owned(), Value::Array(all));
        }
    }

    fn with<T>(&self, manager: &str, run: impl FnOnce(&Writer<'_>) -> T) -> T {
        static MADE: OnceLock<Option<Schema>> = OnceLock::new();
        let made = MADE.get_or_init(|| Schema::published(published::schemas(), SCALE));
        let find = |wanted: &str| (wanted == "autoscaling/v1").then(|| made.clone()).flatten();
        let time = now();
        run(&Writer {
            manager,
            api_version: "autoscaling/v1",
            kind: "Scale",
            subresource: "scale",
            time: &time,
            reset: &["status"],
            schema: &find,
            convert: &manage::renamed,
        })
    }

    /// Records who changed a Scale.
    #[must_use]
    pub fn update(&self, old: &Value, new: &Value, manager: &str) -> Value {
        let mut new = new.clone();
        self.with(manager, |writer| manage::update(writer, Some(old), &mut new));
        new
    }

    /// What a server-side apply makes of a Scale.
    pub fn apply(
        &self,
        old: &Value,
        patch: &Value,
        manager: &str,
        conflicts: Conflicts,
    ) -> Result<Value, Refused> {
        let made = self.with(manager, |writer| manage::apply(writer, Some(old), patch, conflicts));
        made.map_err(|mut refused| {
            let own = format!("using {}", self.api_version);
            let say = |text: &str| text.replace("using autoscaling/v1", &own);
            refused.message = say(&refused.message);
            for (with, _) in &mut refused.conflicts {
                *with = say(with);
            }
            refused
        })
    }
}

fn drop_path(set: &mut Value, steps: &[&str]) {
    let Some((first, rest)) = steps.split_first() else { return };
    let key = format!("f:{first}");
    let Some(fields) = set.as_object_mut() else { return };
    if let Some(inner) = fields.get_mut(&key).filter(|_| !rest.is_empty()) {
        drop_path(inner, rest);
        if inner.as_object().is_some_and(|inner| !inner.is_empty()) {
            return;
        }
    }
    fields.shift_remove(&key);
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
