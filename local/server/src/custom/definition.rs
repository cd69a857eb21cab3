//! What is refused of a definition: names, versions, columns, subresources, conversion.

use kube_cel::compile_schema;
use serde_json::{Value, json};

use super::{is_true, structural, text};
use crate::meta;
use crate::status::{FieldError, FieldErrorKind};

const DNS_1035: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const SIMPLE_PATH: &str = "must be a simple json path starting with .";
const COLUMN_TYPES: [&str; 5] = ["boolean", "date", "integer", "number", "string"];
const COLUMN_FORMATS: [&str; 8] =
    ["byte", "date", "date-time", "double", "float", "int32", "int64", "password"];

/// Errors of a definition itself; `old` is what it replaces.
#[must_use]
pub fn errors(definition: &Value, old: Option<&Value>) -> Vec<FieldError> {
    let spec = &definition["spec"];
    let mut found = Vec::new();
    group(definition, old, &mut found);
    scope(spec, &mut found);
    names(&spec["names"], &mut found);
    versions(spec, &mut found);
    stored(definition, &mut found);
    conversion(&spec["conversion"], &mut found);
    if spec["preserveUnknownFields"] == json!(true) {
        found.push(FieldError::invalid("spec.preserveUnknownFields", &json!(true), "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"));
    }
    if let Some(old) = old {
        let established = is_true(&old["status"], "Established");
        for (pointer, field, always) in [
            ("/scope", "spec.scope", false),
            ("/names/kind", "spec.names.kind", false),
            ("/group", "spec.group", true),
            ("/names/plural", "spec.names.plural", true),
        ] {
            let (now, then) = (spec.pointer(pointer), old["spec"].pointer(pointer));
            if now != then && (always || established) {
                let now = now.cloned().unwrap_or_default();
                found.push(FieldError::invalid(field, &now, "field is immutable"));
            }
        }
    }
    found
}

fn label_errors(value: &str) -> Option<String> {
    let mut wrong = Vec::new();
    if value.len() > 63 {
        wrong.push("must be no more than 63 characters");
    }
    let letters = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let good = value.starts_with(|c: char| c.is_ascii_lowercase())
        && !value.ends_with('-')
        && value.chars().all(letters);
    if !good {
        wrong.push(DNS_1035);
    }
    (!wrong.is_empty()).then(|| wrong.join(","))
}

fn group(definition: &Value, old: Option<&Value>, found: &mut Vec<FieldError>) {
    let spec = &definition["spec"];
    let group = text(&spec["group"]);
    let name = text(&definition["metadata"]["name"]);
    if old.is_none() && name != format!("{}.{group}", text(&spec["names"]["plural"])) {
        let why = "must be spec.names.plural+\".\"+spec.group";
        found.push(FieldError::invalid("metadata.name", &json!(name), why));
    }
    let wrong = meta::subdomain_errors(&group);
    if group.is_empty() {
        found.push(FieldError::required("spec.group", ""));
    } else if !wrong.is_empty() {
        found.push(FieldError::invalid("spec.group", &json!(group), &wrong.join(",")));
    } else if !group.contains('.') {
        let why = "should be a domain with at least one dot";
        found.push(FieldError::invalid("spec.group", &json!(group), why));
    }
    let protected = group == "k8s.io"
        || group == "kubernetes.io"
        || group.ends_with(".k8s.io")
        || group.ends_with(".kubernetes.io");
    let approval = &definition["metadata"]["annotations"]["api-approved.kubernetes.io"];
    if protected && approval.is_null() {
        found.push(FieldError::required("metadata.annotations[api-approved.kubernetes.io]", "protected groups must have approval annotation \"api-approved.kubernetes.io\", see https://github.com/kubernetes/enhancements/pull/1111"));
    }
}

fn scope(spec: &Value, found: &mut Vec<FieldError>) {
    match spec["scope"].as_str() {
        None | Some("") => found.push(FieldError::required("spec.scope", "")),
        Some("Cluster" | "Namespaced") => {}
        Some(_) => {
            let known = ["\"Cluster\"".to_owned(), "\"Namespaced\"".to_owned()];
            found.push(FieldError::unsupported("spec.scope", &spec["scope"], &known));
        }
    }
}

fn names(names: &Value, found: &mut Vec<FieldError>) {
    for key in ["plural", "singular", "kind", "listKind"] {
        let name = text(&names[key]);
        let at = format!("spec.names.{key}");
        if name.is_empty() {
            found.push(FieldError::required(at, ""));
            continue;
        }
        let mixed = key == "kind" || key == "listKind";
        let compared = if mixed { name.to_lowercase() } else { name.clone() };
        if let Some(wrong) = label_errors(&compared) {
            let before =
                if mixed { "may have mixed case, but should otherwise match: " } else { "" };
            found.push(FieldError::invalid(at, &json!(name), &format!("{before}{wrong}")));
        }
    }
    for key in ["shortNames", "categories"] {
        for (index, one) in names[key].as_array().into_iter().flatten().enumerate() {
            if let Some(wrong) = label_errors(one.as_str().unwrap_or_default()) {
                found.push(FieldError::invalid(format!("spec.names.{key}[{index}]"), one, &wrong));
            }
        }
    }
    let kind = text(&names["kind"]);
    if !kind.is_empty() && kind == text(&names["listKind"]) {
        let why = "kind and listKind may not be the same";
        found.push(FieldError::invalid("spec.names.listKind", &json!(kind), why));
    }
}

// Parts that all versions have alike are told once, at the top.
fn shared<'v>(versions: &'v [Value], key: &str) -> Option<&'v Value> {
    let first = versions.first()?.get(key)?;
    let same = versions.iter().all(|version| version.get(key) == Some(first));
    same.then_some(first)
}

fn versions(spec: &Value, found: &mut Vec<FieldError>) {
    let empty = Vec::new();
    let versions = spec["versions"].as_array().unwrap_or(&empty);
    let is_missing = |version: &Value| !version["schema"]["openAPIV3Schema"].is_object();
    for (index, _) in versions.iter().enumerate().filter(|(_, version)| is_missing(version)) {
        let at = format!("spec.versions[{index}].schema.openAPIV3Schema");
        found.push(FieldError::required(at, ""));
    }
    for (index, version) in versions.iter().enumerate() {
        let name = text(&version["name"]);
        if let Some(wrong) = label_errors(&name) {
            let at = format!("spec.versions[{index}].name");
            found.push(FieldError::invalid(at, &json!(name), &wrong));
            if index == 0 {
                found.push(FieldError::invalid("spec.version", &json!(name), &wrong));
            }
        }
    }
    let storing = versions.iter().filter(|version| version["storage"] == json!(true)).count();
    let mut seen: Vec<&Value> = versions.iter().map(|version| &version["name"]).collect();
    seen.sort_by_key(|name| name.as_str());
    seen.dedup();
    for (wrong, why) in [
        (seen.len() != versions.len(), "must contain unique version names"),
        (storing != 1, "must have exactly one version marked as storage version"),
    ] {
        if wrong {
            found.push(FieldError::invalid("spec.versions", &go_versions(versions), why));
        }
    }
    match shared(versions, "schema") {
        Some(one) => schema(&one["openAPIV3Schema"], "spec.validation.openAPIV3Schema", found),
        None => {
            for (index, version) in versions.iter().enumerate() {
                let at = format!("spec.versions[{index}].schema.openAPIV3Schema");
                schema(&version["schema"]["openAPIV3Schema"], &at, found);
            }
        }
    }
    type Check = fn(&Value, &Value, &str, &mut Vec<FieldError>);
    let parts: [(&str, Check); 3] = [
        ("subresources", |part, _, at, found| subresources(part, at, found)),
        ("additionalPrinterColumns", |part, _, at, found| columns(part, at, found)),
        ("selectableFields", selectable_fields),
    ];
    for (key, check) in parts {
        match shared(versions, key) {
            Some(part) => {
                let schema = versions.first().map(|one| &one["schema"]["openAPIV3Schema"]);
                check(part, schema.unwrap_or(&Value::Null), &format!("spec.{key}"), found);
            }
            None => {
                for (index, version) in versions.iter().enumerate() {
                    let at = format!("spec.versions[{index}].{key}");
                    check(&version[key], &version["schema"]["openAPIV3Schema"], &at, found);
                }
            }
        }
    }
}

// Versions as the internal type prints; parts that were moved to the top are null.
fn go_versions(versions: &[Value]) -> Value {
    let part = |version: &Value, key: &str| match shared(versions, key) {
        Some(_) => Value::Null,
        None => version.get(key).cloned().unwrap_or_default(),
    };
    let shown = versions.iter().map(|version| {
        json!({
            "Name": version["name"],
            "Served": version["served"] == json!(true),
            "Storage": version["storage"] == json!(true),
            "Deprecated": version["deprecated"] == json!(true),
            "DeprecationWarning": version["deprecationWarning"],
            "Schema": part(version, "schema"),
            "Subresources": part(version, "subresources"),
            "AdditionalPrinterColumns": part(version, "additionalPrinterColumns"),
            "SelectableFields": part(version, "selectableFields"),
        })
    });
    Value::Array(shown.collect())
}

fn schema(schema: &Value, path: &str, found: &mut Vec<FieldError>) {
    if !schema.is_object() {
        return;
    }
    let before = found.len();
    found.extend(structural::errors(schema, path));
    rules(schema, path, found);
    if found.len() > before && !schema.to_string().contains("x-kubernetes-validations") {
        return;
    }
    compiled(schema, path, found);
}

// Rules of expressions, before they are compiled.
fn rules(schema: &Value, path: &str, found: &mut Vec<FieldError>) {
    let all = schema["x-kubernetes-validations"].as_array().into_iter().flatten();
    for (index, rule) in all.enumerate() {
        let at = |key: &str| format!("{path}.x-kubernetes-validations[{index}].{key}");
        let said = |key: &str| rule[key].as_str().unwrap_or_default();
        let message = said("message").trim();
        let broken = |text: &str| text.contains('\n') || text.contains('\r');
        if said("rule").trim().is_empty() {
            found.push(FieldError::required(at("rule"), "rule is not specified"));
        } else if !said("message").is_empty() && message.is_empty() {
            let why = "message must be non-empty if specified";
            found.push(FieldError::invalid(at("message"), &rule["message"], why));
        } else if broken(message) {
            let why = "message must not contain line breaks";
            found.push(FieldError::invalid(at("message"), &json!(message), why));
        } else if broken(said("rule").trim()) && message.is_empty() {
            let why = "message must be specified if rule contains line breaks";
            found.push(FieldError::required(at("message"), why));
        }
        if !said("messageExpression").is_empty() && said("messageExpression").trim().is_empty() {
            let why = "messageExpression must be non-empty if specified";
            found.push(FieldError::required(at("messageExpression"), why));
        }
        let known = [
            "FieldValueRequired",
            "FieldValueForbidden",
            "FieldValueInvalid",
            "FieldValueDuplicate",
        ];
        if !said("reason").is_empty() && !known.contains(&said("reason")) {
            let known: Vec<String> = known.iter().map(|one| format!("\"{one}\"")).collect();
            found.push(FieldError::unsupported(at("reason"), &rule["reason"], &known));
        }
    }
    each_inside(schema, path, |inner, at| rules(inner, at, found));
}

fn each_inside(schema: &Value, path: &str, mut look: impl FnMut(&Value, &str)) {
    for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
        look(inner, &format!("{path}.properties[{name}]"));
    }
    for key in ["items", "additionalProperties"] {
        if let Some(inner) = schema.get(key).filter(|inner| inner.is_object()) {
            look(inner, &format!("{path}.{key}"));
        }
    }
}

// Rules that do not compile.
fn compiled(schema: &Value, path: &str, found: &mut Vec<FieldError>) {
    let all = schema["x-kubernetes-validations"].as_array();
    if let Some(all) = all.filter(|all| !all.is_empty()) {
        let own = json!({"type": schema["type"], "x-kubernetes-validations": all});
        let program = compile_schema(&own);
        for (index, (rule, made)) in all.iter().zip(&program.validations).enumerate() {
            let Err(error) = made else { continue };
            let text = |key: &str| rule[key].as_str().unwrap_or_default();
            if text("rule").trim().is_empty() {
                continue;
            }
            let shown = json!({
                "Rule": text("rule"), "Message": text("message"),
                "MessageExpression": text("messageExpression"), "Reason": rule["reason"],
                "FieldPath": text("fieldPath"), "OptionalOldSelf": rule["optionalOldSelf"],
            });
            let cause =
                std::error::Error::source(error).map_or(error.to_string(), ToString::to_string);
            let why = format!("compilation failed: {}", cause.replace("\n| ", "\n | "));
            let at = format!("{path}.x-kubernetes-validations[{index}].rule");
            found.push(FieldError::invalid(at, &shown, &why));
        }
    }
    each_inside(schema, path, |inner, at| compiled(inner, at, found));
}

fn stored(definition: &Value, found: &mut Vec<FieldError>) {
    let stored = &definition["status"]["storedVersions"];
    let names: Vec<&str> =
        stored.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    if names.is_empty() {
        let why = "must have at least one stored version";
        found.push(FieldError::invalid("status.storedVersions", &Value::Null, why));
        return;
    }
    let versions = definition["spec"]["versions"].as_array().into_iter().flatten();
    for version in versions.clone().filter(|version| version["storage"] == json!(true)) {
        let name = text(&version["name"]);
        if !names.contains(&name.as_str()) {
            let why = format!("must have the storage version {name}");
            found.push(FieldError::invalid("status.storedVersions", stored, &why));
        }
    }
    for (index, name) in names.iter().enumerate() {
        if !versions.clone().any(|version| version["name"] == json!(name)) {
            let why = format!(
                "missing from spec.versions; {name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in {name} and removes {name} from status.storedVersions"
            );
            let at = format!("status.storedVersions[{index}]");
            found.push(FieldError::invalid(at, &json!(name), &why));
        }
    }
}

fn subresources(part: &Value, path: &str, found: &mut Vec<FieldError>) {
    let Some(scale) = part.get("scale").filter(|scale| scale.is_object()) else { return };
    for (key, below, why, needed) in [
        ("specReplicasPath", [".spec.", ".spec."], "should be a json path under .spec", true),
        (
            "statusReplicasPath",
            [".status.", ".status."],
            "should be a json path under .status",
            true,
        ),
        (
            "labelSelectorPath",
            [".spec.", ".status."],
            "should be a json path under either .spec or .status",
            false,
        ),
    ] {
        let at = format!("{path}.scale.{key}");
        let value = scale[key].as_str().unwrap_or_default();
        if value.is_empty() {
            if needed {
                found.push(FieldError::required(at, ""));
            }
        } else if !value.starts_with('.') {
            found.push(FieldError::invalid(at, &json!(value), SIMPLE_PATH));
        } else if !below.iter().any(|prefix| value.starts_with(prefix)) {
            found.push(FieldError::invalid(at, &json!(value), why));
        }
    }
}

fn columns(part: &Value, path: &str, found: &mut Vec<FieldError>) {
    for (index, column) in part.as_array().into_iter().flatten().enumerate() {
        let at = |key: &str| format!("{path}[{index}].{key}");
        let said = |key: &str| column[key].as_str().unwrap_or_default();
        if said("name").is_empty() {
            found.push(FieldError::required(at("name"), ""));
        }
        let types = format!("must be one of {}", COLUMN_TYPES.join(","));
        if said("type").is_empty() {
            found.push(FieldError::required(at("type"), &types));
        } else if !COLUMN_TYPES.contains(&said("type")) {
            found.push(FieldError::invalid(at("type"), &column["type"], &types));
        }
        if !said("format").is_empty() && !COLUMN_FORMATS.contains(&said("format")) {
            let why = format!("must be one of {}", COLUMN_FORMATS.join(","));
            found.push(FieldError::invalid(at("format"), &column["format"], &why));
        }
        let wanted = said("jsonPath");
        if wanted.is_empty() {
            found.push(FieldError::required(at("JSONPath"), ""));
        } else if !wanted.starts_with('.') {
            found.push(FieldError::invalid(at("JSONPath"), &json!(wanted), SIMPLE_PATH));
        }
    }
}

fn selectable_fields(part: &Value, schema: &Value, path: &str, found: &mut Vec<FieldError>) {
    let all = part.as_array();
    let mut seen: Vec<&str> = Vec::new();
    for (index, field) in all.into_iter().flatten().enumerate() {
        let at = format!("{path}[{index}].jsonPath");
        let wanted = field["jsonPath"].as_str().unwrap_or_default();
        if wanted.is_empty() {
            found.push(FieldError::required(at, ""));
            continue;
        }
        if let Err(why) = structural::selectable(schema, wanted) {
            found.push(FieldError::invalid(at, &json!(wanted), why));
        } else if seen.contains(&wanted) {
            found.push(FieldError::duplicate(at, &json!(wanted)));
        }
        seen.push(wanted);
    }
    if seen.len() > 8 {
        found.push(FieldError::too_many(path, seen.len(), 8));
    }
}

fn conversion(part: &Value, found: &mut Vec<FieldError>) {
    let at = |key: &str| format!("spec.conversion.{key}");
    let client = &part["webhook"]["clientConfig"];
    let versions = part["webhook"]["conversionReviewVersions"].as_array();
    match part["strategy"].as_str() {
        Some("Webhook") => {
            if !client.is_object() {
                let why = "required when strategy is set to Webhook";
                found.push(FieldError::required(at("webhookClientConfig"), why));
            } else if client["url"].is_null() == client["service"].is_null() {
                let why = "exactly one of url or service is required";
                found.push(FieldError::required(at("webhookClientConfig"), why));
            }
            match versions.filter(|all| !all.is_empty()) {
                None => found.push(FieldError::required(at("conversionReviewVersions"), "")),
                Some(all) if !all.contains(&json!("v1")) && !all.contains(&json!("v1beta1")) => {
                    let why = "must include at least one of v1, v1beta1";
                    let at = at("conversionReviewVersions");
                    found.push(FieldError::invalid(at, &json!(all), why));
                }
                Some(_) => {}
            }
        }
        Some("None") => {
            let why = "should not be set when strategy is not set to Webhook";
            if client.is_object() {
                found.push(FieldError::forbidden(at("webhookClientConfig"), why));
            }
            if versions.is_some_and(|all| !all.is_empty()) {
                found.push(FieldError::forbidden(at("conversionReviewVersions"), why));
            }
        }
        None | Some("") => {
            if part.is_object() {
                found.push(FieldError::required(at("strategy"), ""));
            }
        }
        Some(_) => {
            let known = ["\"None\"".to_owned(), "\"Webhook\"".to_owned()];
            found.push(FieldError::unsupported(at("strategy"), &part["strategy"], &known));
        }
    }
}

/// Whether an error keeps expressions from being run.
#[must_use]
pub fn blocks_rules(error: &FieldError) -> bool {
    matches!(
        error.kind,
        FieldErrorKind::Required
            | FieldErrorKind::NotSupported
            | FieldErrorKind::TooLong
            | FieldErrorKind::TooMany
            | FieldErrorKind::TypeInvalid
    )
}
