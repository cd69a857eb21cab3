//! The life of a definition: what it leaves out is filled in, its names are accepted, conditions are kept.

use serde_json::{Value, json};

use super::{text, texts};
use crate::resource::{Registry, Resource};

/// Fills in what a definition leaves out.
pub fn set_defaults(definition: &mut Value) {
    let kind = text(&definition["spec"]["names"]["kind"]);
    let Some(spec) = definition.get_mut("spec").and_then(Value::as_object_mut) else { return };
    if let Some(names) = spec.get_mut("names").and_then(Value::as_object_mut) {
        if text(names.get("singular").unwrap_or(&Value::Null)).is_empty() {
            names.insert("singular".to_owned(), json!(kind.to_lowercase()));
        }
        if text(names.get("listKind").unwrap_or(&Value::Null)).is_empty() {
            names.insert("listKind".to_owned(), json!(format!("{kind}List")));
        }
    }
    spec.entry("conversion").or_insert_with(|| json!({"strategy": "None"}));
}

/// The status of a definition as it is stored: which versions may lie in the store.
pub fn set_stored_versions(definition: &mut Value) {
    let mut storage = definition["spec"]["versions"].as_array().into_iter().flatten();
    let storage = storage.find(|version| version["storage"] == json!(true));
    let storage = storage.map(|version| version["name"].clone());
    if !definition["status"].is_object() {
        definition["status"] = json!({
            "conditions": null, "acceptedNames": {"plural": "", "kind": ""}, "storedVersions": null,
        });
    }
    let mut stored = definition["status"]["storedVersions"].as_array().cloned().unwrap_or_default();
    if let Some(name) = storage {
        if !stored.contains(&name) {
            stored.push(name);
        }
    }
    definition["status"]["storedVersions"] = Value::Array(stored);
}

/// The status after the names were looked at; `None` if nothing changes.
#[must_use]
pub fn accepted(definition: &Value, registry: &Registry, now: &str) -> Option<Value> {
    let spec = &definition["spec"];
    let names = &spec["names"];
    let own = text(&definition["metadata"]["name"]);
    let taken = |test: &dyn Fn(&Resource) -> bool| {
        registry.iter().any(|one| {
            one.group == text(&spec["group"])
                && one.custom.as_ref().is_none_or(|custom| custom.definition != own)
                && test(one)
        })
    };
    let mut clash: Option<(&str, String)> = None;
    for (key, reason) in [
        ("plural", "PluralConflict"),
        ("singular", "SingularConflict"),
        ("kind", "KindConflict"),
        ("listKind", "ListKindConflict"),
    ] {
        let name = text(&names[key]);
        let used = match key {
            "plural" | "singular" => taken(&|one: &Resource| {
                one.plural == name || one.singular == name || one.short.contains(&name)
            }),
            _ => taken(&|one: &Resource| one.kind == name || one.list_kind == name),
        };
        if used {
            clash = Some((reason, name));
        }
    }
    for name in texts(&names["shortNames"]) {
        if taken(&|one: &Resource| {
            one.plural == name || one.singular == name || one.short.contains(&name)
        }) {
            clash = Some(("ShortNamesConflict", name));
        }
    }
    let mut status = definition["status"].clone();
    let established = is_true(&status, "Established");
    let (names_accepted, made) = match &clash {
        None => (
            condition("NamesAccepted", "True", "NoConflicts", "no conflicts found", now),
            condition(
                "Established",
                "True",
                "InitialNamesAccepted",
                "the initial names have been accepted",
                now,
            ),
        ),
        Some((reason, name)) => (
            condition(
                "NamesAccepted",
                "False",
                reason,
                &format!("\"{name}\" is already in use"),
                now,
            ),
            condition("Established", "False", "NotAccepted", "not all names are accepted", now),
        ),
    };
    if clash.is_none() {
        status["acceptedNames"] = names.clone();
    }
    set_condition(&mut status, names_accepted);
    if !established {
        set_condition(&mut status, made);
    }
    (status != definition["status"]).then_some(status)
}

/// Whether a condition holds.
#[must_use]
pub fn is_true(status: &Value, name: &str) -> bool {
    let mut all = status["conditions"].as_array().into_iter().flatten();
    all.any(|one| one["type"] == json!(name) && one["status"] == json!("True"))
}

/// A condition object.
#[must_use]
pub fn condition(name: &str, status: &str, reason: &str, message: &str, now: &str) -> Value {
    json!({"type": name, "status": status, "lastTransitionTime": now, "reason": reason, "message": message})
}

/// Puts a condition in its place; the time stays if the status does.
pub fn set_condition(status: &mut Value, condition: Value) {
    if !status["conditions"].is_array() {
        status["conditions"] = json!([]);
    }
    let Some(all) = status["conditions"].as_array_mut() else { return };
    match all.iter_mut().find(|one| one["type"] == condition["type"]) {
        Some(old) if old["status"] == condition["status"] => {
            old["reason"] = condition["reason"].clone();
            old["message"] = condition["message"].clone();
        }
        Some(old) => *old = condition,
        None => all.push(condition),
    }
}
