//! Names that are changed, and who refers to them.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::Made;

/// Kinds that keep their names.
const KEPT: [&str; 3] = ["CustomResourceDefinition", "APIService", "Namespace"];

/// Puts something before and behind names.
pub(super) fn rename(all: &mut [Made], prefix: &str, suffix: &str) {
    if prefix.is_empty() && suffix.is_empty() {
        return;
    }
    for it in all.iter_mut().filter(|it| !KEPT.contains(&it.kind())) {
        let name = format!("{prefix}{}{suffix}", it.name());
        it.object["metadata"]["name"] = name.as_str().into();
        it.names.push(name);
    }
    refer(all);
}

/// What was generated is called after what it holds.
pub(super) fn hash(all: &mut [Made]) {
    for it in all.iter_mut().filter(|it| it.hashed) {
        // kustomize leaves the name out of it.
        let mut held = json!({"kind": it.kind(), "name": "", "data": it.object["data"]});
        if it.kind() == "Secret" {
            held["type"] = it.object["type"].clone();
        }
        held.sort_all_objects();
        let digest = Sha256::digest(held.to_string().as_bytes());
        let hex: String = digest.iter().map(|it| format!("{it:02x}")).collect();
        let letters = |c: char| match c {
            '0' => 'g',
            '1' => 'h',
            '3' => 'k',
            'a' => 'm',
            'e' => 't',
            other => other,
        };
        let ending: String = hex.chars().take(10).map(letters).collect();
        let name = format!("{}-{ending}", it.name());
        it.object["metadata"]["name"] = name.as_str().into();
        it.names.push(name);
    }
    refer(all);
}

/// Service accounts that are here move with the rest.
pub(super) fn move_accounts(all: &mut [Made], namespace: &str) {
    let accounts: Vec<String> = all
        .iter()
        .filter(|it| it.kind() == "ServiceAccount")
        .map(|it| it.name().to_owned())
        .chain(["default".to_owned()])
        .collect();
    for it in all.iter_mut().filter(|it| it.kind().ends_with("RoleBinding")) {
        for subject in it.object["subjects"].as_array_mut().into_iter().flatten() {
            let named = subject["name"].as_str().unwrap_or_default();
            if subject["kind"] == "ServiceAccount" && accounts.iter().any(|it| it == named) {
                subject["namespace"] = namespace.into();
            }
        }
    }
}

/// Kind, names it had, the name it has.
type Known = Vec<(String, Vec<String>, String)>;

fn refer(all: &mut [Made]) {
    let known: Known = all
        .iter()
        .filter(|it| it.names.len() > 1)
        .map(|it| (it.kind().to_owned(), it.names.clone(), it.name().to_owned()))
        .collect();
    for it in all.iter_mut() {
        for part in ["spec", "template", "roleRef", "subjects", "rules", "webhooks"] {
            follow(&mut it.object[part], part, &known);
        }
        // What indexing made of what is not there.
        if let Some(map) = it.object.as_object_mut() {
            map.retain(|_, it| !it.is_null());
        }
    }
}

fn new_name(kind: &str, value: &mut Value, known: &Known) {
    let Some(old) = value.as_str() else { return };
    let found = known.iter().find(|it| it.0 == kind && it.1.iter().any(|it| it == old));
    if let Some((_, _, new)) = found {
        *value = new.as_str().into();
    }
}

/// Follows what refers to others by name.
fn follow(value: &mut Value, under: &str, known: &Known) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|it| follow(it, under, known)),
        Value::Object(map) => {
            let kind = map.get("kind").and_then(Value::as_str).map(str::to_owned);
            for (key, inner) in map.iter_mut() {
                match (under, key.as_str()) {
                    ("configMapRef" | "configMapKeyRef" | "configMap", "name") => {
                        new_name("ConfigMap", inner, known);
                    }
                    ("secretRef" | "secretKeyRef" | "imagePullSecrets", "name")
                    | (_, "secretName") => {
                        new_name("Secret", inner, known);
                    }
                    (_, "serviceAccountName") => new_name("ServiceAccount", inner, known),
                    ("service", "name") | (_, "serviceName") => new_name("Service", inner, known),
                    (_, "claimName") => new_name("PersistentVolumeClaim", inner, known),
                    ("scaleTargetRef" | "roleRef" | "subjects" | "targetRef", "name") => {
                        if let Some(kind) = &kind {
                            new_name(kind, inner, known);
                        }
                    }
                    (_, key) => {
                        let key = key.to_owned();
                        // A projected volume has its sources in a list.
                        follow(inner, &key, known);
                    }
                }
            }
        }
        _ => {}
    }
}
