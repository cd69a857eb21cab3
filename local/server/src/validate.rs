//! Whether a custom resource obeys its schema; errors in Kubernetes' words.
//!
//! Recursion follows the nesting of the value; the JSON reader bounds that to 128.

use serde_json::{Value, json};

use crate::resource::Node;
use crate::status::{FieldError, FieldErrorKind};

/// All errors of a value at a path.
#[must_use]
pub fn errors(node: Node<'_>, value: &Value, path: &str) -> Vec<FieldError> {
    let mut found = Vec::new();
    check(node, value, path, &mut found);
    found
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_i64() || number.is_u64() => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn mistyped(path: &str, wanted: &str, value: &Value) -> FieldError {
    let found = type_of(value);
    let detail = format!("{path} in body must be of type {wanted}: \"{found}\"");
    FieldError::mistyped(path, &json!(found), &detail)
}

// The reference looks at numbers a second time.
fn unchecked(schema: &Value, path: &str) -> FieldError {
    let format = match schema.get("format").and_then(Value::as_str) {
        Some(format) if !format.is_empty() => format!("with format {format}"),
        _ => "(default format)".to_owned(),
    };
    FieldError {
        field: String::new(),
        kind: FieldErrorKind::Invalid,
        text: format!(
            "Invalid value: \"\": Checked value must be of type integer {format} in {path}"
        ),
    }
}

fn check(node: Node<'_>, value: &Value, path: &str, found: &mut Vec<FieldError>) {
    let schema = node.at;
    let text = |key: &str| schema.get(key).and_then(Value::as_str);
    if value.is_null() && (node.flag("nullable") || text("type").is_none()) {
        return;
    }
    let either = node.flag("x-kubernetes-int-or-string");
    if either {
        if !matches!(type_of(value), "integer" | "string") {
            found.push(mistyped(path, "integer,string", value));
            return;
        }
    } else if let Some(wanted) = text("type") {
        let fits = type_of(value) == wanted
            || (wanted == "number" && type_of(value) == "integer")
            || (wanted == "integer" && value.as_f64().is_some_and(|number| number.fract() == 0.0));
        if !fits {
            found.push(mistyped(path, wanted, value));
            if let (Value::Number(_), "integer") = (value, wanted) {
                found.push(unchecked(schema, path));
            }
            return;
        }
    }
    if let Some(known) = schema.get("enum").and_then(Value::as_array) {
        if !known.contains(value) {
            let known: Vec<String> = known.iter().map(ToString::to_string).collect();
            found.push(FieldError::unsupported(path, value, &known));
        }
    }
    match value {
        Value::Number(number) => {
            numbers(schema, value, number.as_f64().unwrap_or(0.0), path, found)
        }
        Value::String(content) => strings(schema, value, content, path, found),
        Value::Array(items) => {
            let limit = |key: &str| schema.get(key).and_then(Value::as_u64);
            if let Some(least) = limit("minItems").filter(|least| (items.len() as u64) < *least) {
                let why = format!("{path} in body should have at least {least} items");
                found.push(FieldError::invalid(path, &json!(items.len()), &why));
            }
            if let Some(most) = limit("maxItems").filter(|most| (items.len() as u64) > *most) {
                found.push(FieldError::too_many(path, items.len(), most));
            }
            if let Some(inner) = node.items() {
                for (index, item) in items.iter().enumerate() {
                    check(inner, item, &format!("{path}[{index}]"), found);
                }
            }
        }
        Value::Object(fields) => {
            for name in schema.get("required").and_then(Value::as_array).into_iter().flatten() {
                let name = name.as_str().unwrap_or_default();
                if !fields.contains_key(name) {
                    found.push(FieldError::required(join(path, name), ""));
                }
            }
            let limit = |key: &str| schema.get(key).and_then(Value::as_u64);
            if let Some(least) =
                limit("minProperties").filter(|least| (fields.len() as u64) < *least)
            {
                let why = format!("{path} in body should have at least {least} properties");
                found.push(FieldError::invalid(path, &json!(fields.len()), &why));
            }
            if let Some(most) = limit("maxProperties").filter(|most| (fields.len() as u64) > *most)
            {
                found.push(FieldError::too_many(path, fields.len(), most));
            }
            for (name, child) in fields {
                if let Some(inner) = node.property(name) {
                    check(inner, child, &join(path, name), found);
                }
            }
        }
        _ => {}
    }
    combined(schema, value, path, found);
}

fn combined(schema: &Value, value: &Value, path: &str, found: &mut Vec<FieldError>) {
    // What the branches of an int-or-string may say was said by its type.
    let either = Node::new(schema).flag("x-kubernetes-int-or-string");
    let branches = |key: &str| -> Option<Vec<Vec<FieldError>>> {
        let all = schema.get(key)?.as_array()?;
        Some(all.iter().map(|one| errors(Node::new(one), value, path)).collect())
    };
    let say = |why: String| FieldError {
        field: String::new(),
        kind: FieldErrorKind::Invalid,
        text: format!("Invalid value: \"\": {why}"),
    };
    if let Some(all) =
        branches("anyOf").filter(|all| !either && all.iter().all(|one| !one.is_empty()))
    {
        found.push(say(format!("\"{path}\" must validate at least one schema (anyOf)")));
        found.extend(all.into_iter().min_by_key(Vec::len).unwrap_or_default());
    }
    if let Some(all) = branches("oneOf") {
        let valid = all.iter().filter(|one| one.is_empty()).count();
        if valid != 1 {
            let count = if valid == 0 {
                "Found none valid".to_owned()
            } else {
                format!("Found {valid} valid alternatives")
            };
            found.push(say(format!(
                "\"{path}\" must validate one and only one schema (oneOf). {count}"
            )));
            if valid == 0 {
                found.extend(all.into_iter().min_by_key(Vec::len).unwrap_or_default());
            }
        }
    }
    if let Some(all) =
        branches("allOf").filter(|all| !either && all.iter().any(|one| !one.is_empty()))
    {
        found.push(say(format!("\"{path}\" must validate all the schemas (allOf)")));
        found.extend(all.into_iter().flatten());
    }
    if let Some(not) = schema.get("not") {
        if errors(Node::new(not), value, path).is_empty() {
            found.push(say(format!("\"{path}\" must not validate the schema (not)")));
        }
    }
}

fn numbers(schema: &Value, value: &Value, number: f64, path: &str, found: &mut Vec<FieldError>) {
    let limit = |key: &str| schema.get(key).filter(|one| one.is_number());
    let flag = |key: &str| schema.get(key) == Some(&Value::Bool(true));
    let mut say = |why: String| found.push(FieldError::invalid(path, value, &why));
    if let Some(least) = limit("minimum") {
        let bound = least.as_f64().unwrap_or(f64::MIN);
        if flag("exclusiveMinimum") && number <= bound {
            say(format!("{path} in body should be greater than {least}"));
        } else if number < bound {
            say(format!("{path} in body should be greater than or equal to {least}"));
        }
    }
    if let Some(most) = limit("maximum") {
        let bound = most.as_f64().unwrap_or(f64::MAX);
        if flag("exclusiveMaximum") && number >= bound {
            say(format!("{path} in body should be less than {most}"));
        } else if number > bound {
            say(format!("{path} in body should be less than or equal to {most}"));
        }
    }
    if let Some(step) = limit("multipleOf") {
        let factor = step.as_f64().unwrap_or(1.0);
        // Of integers the reference divides by the whole part of the factor.
        let whole = value.is_i64().then_some(factor.trunc());
        let quotient = number / whole.unwrap_or(factor);
        if let Some(whole) = whole.filter(|whole| *whole <= 0.0) {
            say(format!("factor MultipleOf declared for {path} must be positive: {whole}"));
        } else if (quotient - quotient.round()).abs() > 1e-9 {
            say(format!("{path} in body should be a multiple of {step}"));
        }
    }
}

fn strings(schema: &Value, value: &Value, content: &str, path: &str, found: &mut Vec<FieldError>) {
    let length = content.chars().count() as u64;
    let limit = |key: &str| schema.get(key).and_then(Value::as_u64);
    if let Some(least) = limit("minLength").filter(|least| length < *least) {
        let why = format!("{path} in body should be at least {least} chars long");
        found.push(FieldError::invalid(path, value, &why));
    }
    if let Some(most) = limit("maxLength").filter(|most| length > *most) {
        found.push(FieldError::too_long(path, most));
    }
    if let Some(pattern) = schema.get("pattern").and_then(Value::as_str) {
        let fits = regex::Regex::new(pattern).map(|regex| regex.is_match(content)).unwrap_or(true);
        if !fits {
            let why = format!("{path} in body should match '{pattern}'");
            found.push(FieldError::invalid(path, value, &why));
        }
    }
    if let Some(format) = schema.get("format").and_then(Value::as_str) {
        let fits = match format {
            "date-time" => chrono::DateTime::parse_from_rfc3339(content).is_ok(),
            "date" => chrono::NaiveDate::parse_from_str(content, "%Y-%m-%d").is_ok(),
            "uuid" | "uuid4" => uuid::Uuid::parse_str(content).is_ok(),
            "ipv4" => content.parse::<std::net::Ipv4Addr>().is_ok(),
            "ipv6" => content.parse::<std::net::Ipv6Addr>().is_ok(),
            "email" => content.contains('@'),
            "byte" => {
                use base64::Engine;
                base64::engine::general_purpose::STANDARD.decode(content).is_ok()
            }
            _ => true,
        };
        if !fits {
            let why = format!("{path} in body must be of type {format}: {value}");
            found.push(FieldError::mistyped(path, value, &why));
        }
    }
}

/// Repeated items of lists that are sets or maps.
pub fn lists(node: Node<'_>, value: &Value, path: &str, found: &mut Vec<FieldError>) {
    match value {
        Value::Array(items) => {
            let kind = node.at.get("x-kubernetes-list-type").and_then(Value::as_str);
            let identity = |item: &Value| match kind {
                Some("map") => {
                    let keys = node.at["x-kubernetes-list-map-keys"].as_array();
                    let keys = keys.into_iter().flatten().filter_map(Value::as_str);
                    Some(
                        keys.filter_map(|key| Some((key.to_owned(), item.get(key)?.clone())))
                            .collect(),
                    )
                }
                Some("set") => Some(item.clone()),
                _ => None,
            };
            let mut seen: Vec<Value> = Vec::new();
            for (index, item) in items.iter().enumerate() {
                let Some(id) = identity(item) else { break };
                if seen.contains(&id) {
                    found.push(FieldError::duplicate(format!("{path}[{index}]"), &id));
                } else {
                    seen.push(id);
                }
            }
            if let Some(inner) = node.items() {
                for (index, item) in items.iter().enumerate() {
                    lists(inner, item, &format!("{path}[{index}]"), found);
                }
            }
        }
        Value::Object(fields) => {
            for (name, child) in fields {
                if let Some(inner) = node.property(name) {
                    lists(inner, child, &join(path, name), found);
                }
            }
        }
        _ => {}
    }
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}
