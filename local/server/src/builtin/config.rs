//! ConfigMaps and Secrets: their keys, what a type of Secret needs, and what may not change of either.

use serde_json::{Map, Value, json};

use super::check::{Field, Found};
use super::empty;
use crate::status::FieldError;

/// What is said of an object that was closed to changes.
const IMMUTABLE: &str = "field is immutable when `immutable` is set";

/// What is wrong with a ConfigMap, in place of an `old` one if there is one.
pub(super) fn config_map(object: &Value, old: Option<&Value>, found: &mut Found) {
    for part in ["data", "binaryData"] {
        for name in object[part].as_object().into_iter().flat_map(Map::keys) {
            config_key(&Field::new(format!("{part}[{name}]"), &json!(name)), found);
            let hidden = match name.as_str() {
                "." => Some("must not be '.'"),
                ".." => Some("must not be '..'"),
                other if other.starts_with("..") => Some("must not start with '..'"),
                _ => None,
            };
            if let Some(why) = hidden {
                let at = format!("{part}[{name}]");
                found.push(FieldError::invalid(at, &json!(name), why));
            }
            if part == "data" && object["binaryData"].get(name).is_some() {
                found.push(FieldError::invalid(
                    format!("data[{name}]"),
                    &json!(name),
                    "duplicate of key present in binaryData",
                ));
            }
        }
    }
    if let Some(old) = old.filter(|old| old["immutable"] == json!(true)) {
        if object["immutable"] != json!(true) {
            found.push(FieldError::forbidden("immutable", IMMUTABLE));
        }
        for part in ["data", "binaryData"] {
            if old[part] != object[part] {
                found.push(FieldError::forbidden(part, IMMUTABLE));
            }
        }
    }
}

/// The same of a Secret.
pub(super) fn secret(object: &Value, old: Option<&Value>, found: &mut Found) {
    for name in object["data"].as_object().into_iter().flat_map(Map::keys) {
        config_key(&Field::new(format!("data[{name}]"), &json!(name)), found);
    }
    of_type(object, found);
    if let Some(old) = old {
        if old["type"] != object["type"] {
            found.push(FieldError::invalid("type", &object["type"], "field is immutable"));
        }
        if old["immutable"] == json!(true) && old["data"] != object["data"] {
            found.push(FieldError::forbidden("data", IMMUTABLE));
        }
    }
}

/// A key of a ConfigMap or Secret.
pub(super) fn config_key(key: &Field<'_>, found: &mut Found) {
    const WHY: &str = "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
    let good = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if key.is_empty() || !key.text().chars().all(good) {
        key.refuse(WHY, found);
    }
}

// Keys that a type of Secret needs.
fn of_type(object: &Value, found: &mut Found) {
    let has = |key: &str| object["data"].get(key).is_some();
    let wanted: &[&str] = match object["type"].as_str().unwrap_or_default() {
        "kubernetes.io/dockerconfigjson" => &[".dockerconfigjson"],
        "kubernetes.io/dockercfg" => &[".dockercfg"],
        "kubernetes.io/ssh-auth" => &["ssh-privatekey"],
        "kubernetes.io/tls" => &["tls.crt", "tls.key"],
        "kubernetes.io/basic-auth" if !has("username") && !has("password") => {
            &["username", "password"]
        }
        "kubernetes.io/service-account-token" => {
            if empty(&object["metadata"]["annotations"]["kubernetes.io/service-account.name"]) {
                let at = "metadata.annotations[kubernetes.io/service-account.name]";
                found.push(FieldError::required(at, ""));
            }
            &[]
        }
        _ => &[],
    };
    for key in [".dockerconfigjson", ".dockercfg"].iter().filter(|key| wanted.contains(key)) {
        use base64::Engine;
        let coded = object["data"][key].as_str().unwrap_or_default();
        let text = base64::engine::general_purpose::STANDARD.decode(coded).unwrap_or_default();
        if let Some(why) = crate::go::json_error(&text).filter(|_| has(key)) {
            let at = format!("data[{key}]");
            found.push(FieldError::invalid(at, &json!("<secret contents redacted>"), &why));
        }
    }
    for key in wanted.iter().filter(|key| !has(key)) {
        found.push(FieldError::required(format!("data[{key}]"), ""));
    }
}
