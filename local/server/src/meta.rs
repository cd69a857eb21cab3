//! Rules of metadata: names, labels, annotations, finalizers, owners.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::resource::Resource;
use crate::status::FieldError;

const DNS_SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const DNS_LABEL: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const QUALIFIED: &str = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const LABEL_VALUE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

fn dns_label_ok(text: &str) -> bool {
    let ends = |c: Option<char>| c.is_some_and(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    ends(text.chars().next())
        && ends(text.chars().next_back())
        && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
}

/// What is wrong with a DNS subdomain.
#[must_use]
pub fn subdomain_errors(text: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    if text.len() > 253 {
        wrong.push("must be no more than 253 characters".to_owned());
    }
    if !text.split('.').all(dns_label_ok) {
        wrong.push(DNS_SUBDOMAIN.to_owned());
    }
    wrong
}

/// What is wrong with a DNS label.
#[must_use]
pub fn label_errors(text: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    if text.len() > 63 {
        wrong.push("must be no more than 63 characters".to_owned());
    }
    if !dns_label_ok(text) {
        wrong.push(if text.contains('.') {
            "must not contain dots".to_owned()
        } else {
            DNS_LABEL.to_owned()
        });
    }
    wrong
}

fn name_part_ok(text: &str) -> bool {
    let ends = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    ends(text.chars().next())
        && ends(text.chars().next_back())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
}

/// What is wrong with a label key or the like.
#[must_use]
pub fn qualified_name_errors(text: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    let parts: Vec<&str> = text.split('/').collect();
    let name = match parts.as_slice() {
        [name] => *name,
        [prefix, name] => {
            if prefix.is_empty() {
                wrong.push("prefix part must be non-empty".to_owned());
            } else {
                wrong.extend(
                    subdomain_errors(prefix).iter().map(|text| format!("prefix part {text}")),
                );
            }
            name
        }
        _ => {
            return vec![format!(
                "a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
            )];
        }
    };
    if name.is_empty() {
        wrong.push("name part must be non-empty".to_owned());
    } else if name.len() > 63 {
        wrong.push("name part must be no more than 63 bytes".to_owned());
    }
    if !name_part_ok(name) {
        wrong.push(QUALIFIED.to_owned());
    }
    wrong
}

/// What is wrong with a label value.
#[must_use]
pub fn label_value_errors(text: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    if text.len() > 63 {
        wrong.push("must be no more than 63 bytes".to_owned());
    }
    if !text.is_empty() && !name_part_ok(text) {
        wrong.push(LABEL_VALUE.to_owned());
    }
    wrong
}

fn name_errors(resource: &Resource, name: &str) -> Vec<String> {
    if resource.group == "rbac.authorization.k8s.io" && resource.custom.is_none() {
        return match name {
            "." | ".." => vec![format!("may not be '{name}'")],
            _ => ["/", "%"]
                .into_iter()
                .filter(|bad| name.contains(bad))
                .map(|bad| format!("may not contain '{bad}'"))
                .collect(),
        };
    }
    match resource.plural.as_str() {
        _ if resource.custom.is_some() => subdomain_errors(name),
        "namespaces" => label_errors(name),
        "services" => {
            if name.starts_with(|c: char| c.is_ascii_digit()) || !label_errors(name).is_empty() {
                label_errors(name)
            } else {
                Vec::new()
            }
        }
        "cronjobs" if name.len() > 52 => vec!["must be no more than 52 characters".to_owned()],
        _ => subdomain_errors(name),
    }
}

/// What is wrong with the metadata of a new or changed object.
#[must_use]
pub fn check(resource: &Resource, object: &Value, old: Option<&Value>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let metadata = &object["metadata"];
    let name = metadata["name"].as_str().unwrap_or_default();
    if name.is_empty() {
        errors.push(FieldError::required("metadata.name", "name or generateName is required"));
    } else if old.is_none() {
        for wrong in name_errors(resource, name) {
            errors.push(FieldError::invalid("metadata.name", &json!(name), &wrong));
        }
    }
    owners(metadata, &mut errors);
    managers(metadata, if old.is_some() { 4 } else { 1 }, &mut errors);
    finalizers(resource, metadata, &mut errors);
    if let Some(old) = old {
        // The reference looks before and within what the kind refuses.
        immutable(metadata, &old["metadata"], &mut errors);
        immutable(metadata, &old["metadata"], &mut errors);
    }
    // Labels that a Job has from its template are looked at there.
    let template = &object["spec"]["template"]["metadata"]["labels"];
    let own = !(resource.is("batch", "jobs") && metadata["labels"] == *template);
    for (key, value) in metadata["labels"].as_object().filter(|_| own).into_iter().flatten() {
        for wrong in qualified_name_errors(key) {
            errors.push(FieldError::invalid("metadata.labels", &json!(key), &wrong));
        }
        for wrong in label_value_errors(value.as_str().unwrap_or_default()) {
            errors.push(FieldError::invalid("metadata.labels", value, &wrong));
        }
    }
    let mut size = 0;
    for (key, value) in metadata["annotations"].as_object().into_iter().flatten() {
        size += key.len() + value.as_str().unwrap_or_default().len();
        for wrong in qualified_name_errors(&key.to_lowercase()) {
            errors.push(FieldError::invalid("metadata.annotations", &json!(key), &wrong));
        }
    }
    if size > 256 * 1024 {
        errors.push(FieldError::too_long("metadata.annotations", 256 * 1024));
    }
    errors
}

/// What is allowed but not recommended.
#[must_use]
pub fn warnings(resource: &Resource, object: &Value) -> Vec<String> {
    let mut said = Vec::new();
    let metadata = &object["metadata"];
    if resource.custom.is_some() {
        let finalizers = metadata["finalizers"].as_array().into_iter().flatten();
        for one in finalizers.filter_map(Value::as_str).filter(|one| !one.contains('/')) {
            said.push(format!("metadata.finalizers: \"{one}\": prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers"));
        }
        return said;
    }
    if resource.is("", "secrets") && object["type"] == json!("kubernetes.io/tls") {
        use base64::Engine;
        let coded = object["data"]["tls.crt"].as_str().unwrap_or_default();
        let text = base64::engine::general_purpose::STANDARD.decode(coded).unwrap_or_default();
        if !String::from_utf8_lossy(&text).contains("-----BEGIN ") {
            said.push("tls: failed to find any PEM data in certificate input".to_owned());
        }
    }
    if resource.is("", "pods") {
        let name = metadata["name"].as_str().unwrap_or_default();
        if name.contains('.') {
            said.push("metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: [must not contain dots]".to_owned());
        }
        let spread = object["spec"]["topologySpreadConstraints"].as_array().into_iter().flatten();
        for (index, _) in spread.enumerate().filter(|(_, one)| one["labelSelector"].is_null()) {
            said.push(format!("spec.topologySpreadConstraints[{index}].labelSelector: a null labelSelector results in matching no pod"));
        }
    }
    said
}

fn owners(metadata: &Value, errors: &mut Vec<FieldError>) {
    let mut controllers = Vec::new();
    for owner in metadata["ownerReferences"].as_array().into_iter().flatten() {
        let text = |key: &str| owner[key].as_str().unwrap_or_default();
        let api = text("apiVersion");
        if api.is_empty() || api.matches('/').count() > 1 {
            errors.push(FieldError::invalid(
                "metadata.ownerReferences.apiVersion",
                &json!(api),
                "version must not be empty",
            ));
        }
        for key in ["kind", "name", "uid"] {
            if text(key).is_empty() {
                let field = format!("metadata.ownerReferences.{key}");
                errors.push(FieldError::invalid(field, &json!(text(key)), "must not be empty"));
            }
        }
        if text("kind") == "Event" && (api == "v1" || api.starts_with("events.k8s.io/")) {
            let what = if api == "v1" {
                "/v1, Kind=Event".to_owned()
            } else {
                format!("{api}, Kind=Event")
            };
            errors.push(FieldError::invalid(
                "metadata.ownerReferences",
                owner,
                &format!("{what} is disallowed from being an owner"),
            ));
        }
        if owner["controller"] == json!(true) {
            controllers.push(format!("{}/{}", text("kind"), text("name")));
        }
    }
    if let [first, second, ..] = controllers.as_slice() {
        let why = format!(
            "Only one reference can have Controller set to true. Found \"true\" in references for {first} and {second}"
        );
        errors.push(FieldError::invalid(
            "metadata.ownerReferences",
            &metadata["ownerReferences"],
            &why,
        ));
    }
}

// On an update the reference looks four times.
fn managers(metadata: &Value, looks: usize, errors: &mut Vec<FieldError>) {
    let entries = metadata["managedFields"].as_array().into_iter().flatten();
    for (index, entry) in entries.enumerate() {
        if entry["manager"].as_str().is_some_and(|name| name.len() > 128) {
            let error =
                FieldError::too_long(format!("metadata.managedFields[{index}].manager"), 128);
            errors.extend(std::iter::repeat_n(error, looks));
        }
    }
}

fn finalizers(resource: &Resource, metadata: &Value, errors: &mut Vec<FieldError>) {
    let mut all = BTreeSet::new();
    let list = metadata["finalizers"].as_array();
    for (index, one) in list.into_iter().flatten().filter_map(Value::as_str).enumerate() {
        all.insert(one);
        for wrong in qualified_name_errors(one) {
            errors.push(FieldError::invalid("metadata.finalizers", &json!(one), &wrong));
        }
        let standard =
            ["orphan", "foregroundDeletion", "kubernetes", crate::kinds::CLEANUP].contains(&one);
        if resource.custom.is_none() && !one.contains('/') && !standard {
            errors.push(FieldError::invalid(
                format!("metadata.finalizers[{index}]"),
                &json!(one),
                "name is neither a standard finalizer name nor is it fully qualified",
            ));
        }
    }
    if all.contains("orphan") && all.contains("foregroundDeletion") {
        errors.push(FieldError::invalid(
            "metadata.finalizers",
            &metadata["finalizers"],
            "finalizer orphan and foregroundDeletion cannot be both set",
        ));
    }
}

fn immutable(metadata: &Value, old: &Value, errors: &mut Vec<FieldError>) {
    if !old["deletionTimestamp"].is_null() {
        let had = old["finalizers"].as_array().cloned().unwrap_or_default();
        let new: Vec<String> = metadata["finalizers"]
            .as_array()
            .into_iter()
            .flatten()
            .filter(|one| !had.contains(one))
            .map(ToString::to_string)
            .collect();
        if !new.is_empty() {
            errors.push(FieldError::forbidden("metadata.finalizers", &format!(
                "no new finalizers can be added if the object is being deleted, found new finalizers []string{{{}}}",
                new.join(", "))));
        }
    }
    for key in ["deletionTimestamp", "deletionGracePeriodSeconds", "uid"] {
        if metadata[key] != old[key] {
            errors.push(FieldError::invalid(
                format!("metadata.{key}"),
                &metadata[key],
                "field is immutable",
            ));
        }
    }
}
