//! Whether the schema of a definition may be one: keywords, list types, structural form, defaults.
//!
//! Recursion follows the nesting of the schema; the JSON reader bounds that to 128.

use serde_json::{Value, json};

use crate::decode;
use crate::resource::Node;
use crate::status::{FieldError, FieldErrorKind};
use crate::validate;

const TYPES: [&str; 6] = ["array", "boolean", "integer", "number", "object", "string"];
const PRESERVE: &str = "x-kubernetes-preserve-unknown-fields";
const EMBEDDED: &str = "x-kubernetes-embedded-resource";
const EITHER: &str = "x-kubernetes-int-or-string";
const LIST: &str = "x-kubernetes-list-type";
const KEYS: &str = "x-kubernetes-list-map-keys";
const MAP: &str = "x-kubernetes-map-type";

/// Everything that is wrong with a schema at a path.
#[must_use]
pub fn errors(schema: &Value, path: &str) -> Vec<FieldError> {
    let mut found = Vec::new();
    if flag(schema, "nullable") {
        found.push(FieldError::forbidden(
            format!("{path}.nullable"),
            "nullable cannot be true at the root",
        ));
    }
    keywords(schema, path, &mut found);
    // A keyword that no schema may have keeps the rest from being looked at.
    let foreign = |error: &FieldError| {
        error.text.ends_with("is not supported")
            || error.text.contains("type cannot be set to null")
    };
    if found.iter().any(foreign) {
        return found;
    }
    let before = found.len();
    form(schema, Level::Root, path, &mut found);
    complete(schema, Some(schema), path, path, &mut found);
    if found.len() == before {
        defaults(schema, path, &mut found);
    }
    found
}

fn flag(schema: &Value, key: &str) -> bool {
    schema.get(key) == Some(&Value::Bool(true))
}

fn word<'v>(schema: &'v Value, key: &str) -> &'v str {
    schema.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn fields<'v>(schema: &'v Value, key: &str) -> impl Iterator<Item = (&'v String, &'v Value)> {
    schema.get(key).and_then(Value::as_object).into_iter().flatten()
}

fn list<'v>(schema: &'v Value, key: &str) -> impl Iterator<Item = (usize, &'v Value)> {
    schema.get(key).and_then(Value::as_array).into_iter().flatten().enumerate()
}

fn quoted(known: &[&str]) -> Vec<String> {
    known.iter().map(|one| format!("\"{one}\"")).collect()
}

// Rules of single keywords, at every node.
fn keywords(schema: &Value, path: &str, found: &mut Vec<FieldError>) {
    let at = |key: &str| format!("{path}.{key}");
    for key in ["id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref"]
    {
        if schema.get(key).is_some_and(|value| !value.is_null()) {
            found.push(FieldError::forbidden(at(key), &format!("{key} is not supported")));
        }
    }
    let kind = word(schema, "type");
    if kind == "null" {
        let why = "type cannot be set to null, use nullable as an alternative";
        found.push(FieldError::forbidden(at("type"), why));
    }
    if !kind.is_empty() && !TYPES.contains(&kind) {
        found.push(FieldError::unsupported(at("type"), &json!(kind), &quoted(&TYPES)));
    }
    if let Some(pattern) = schema.get("pattern").and_then(Value::as_str) {
        if let Err(error) = regex::Regex::new(pattern) {
            let why = format!(
                "must be a valid regular expression, but isn't: {}",
                go_regex_error(pattern, &error)
            );
            found.push(FieldError::invalid(at("pattern"), &json!(pattern), &why));
        }
    }
    if flag(schema, "uniqueItems") {
        let why =
            "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
        found.push(FieldError::forbidden(at("uniqueItems"), why));
    }
    let more = schema.get("additionalProperties");
    if more.is_some_and(|more| *more != json!(true))
        && fields(schema, "properties").next().is_some()
    {
        let why = "additionalProperties and properties are mutual exclusive";
        found.push(FieldError::forbidden(at("additionalProperties"), why));
    }
    if let Some(more) = more.filter(|more| more.is_object()) {
        keywords(more, &at("additionalProperties"), found);
    }
    for (name, inner) in fields(schema, "properties") {
        keywords(inner, &format!("{path}.properties[{name}]"), found);
    }
    for key in ["allOf", "oneOf", "anyOf"] {
        for (index, inner) in list(schema, key) {
            keywords(inner, &format!("{path}.{key}[{index}]"), found);
        }
    }
    for key in ["not", "items"] {
        if let Some(inner) = schema.get(key).filter(|inner| inner.is_object()) {
            keywords(inner, &at(key), found);
        }
    }
    if schema.get("items").is_some_and(Value::is_array) {
        let why = "items must be a schema object and not an array";
        found.push(FieldError::forbidden(at("items"), why));
    }
    if schema.get(PRESERVE) == Some(&json!(false)) {
        found.push(FieldError::invalid(at(PRESERVE), &json!(false), "must be true or undefined"));
    }
    collections(schema, path, found);
}

fn wants_type(schema: &Value, path: &str, kind: &str, why: &str, found: &mut Vec<FieldError>) {
    let is = word(schema, "type");
    if is.is_empty() {
        found.push(FieldError::required(format!("{path}.type"), why));
    } else if is != kind {
        found.push(FieldError::invalid(format!("{path}.type"), &json!(is), why));
    }
}

// Types of lists and maps, and what they ask of their items.
fn collections(schema: &Value, path: &str, found: &mut Vec<FieldError>) {
    let at = |key: &str| format!("{path}.{key}");
    let kind = word(schema, LIST);
    if schema.get(MAP).is_some() {
        let why = "must be object if x-kubernetes-map-type is specified";
        wants_type(schema, path, "object", why, found);
        one_of(schema, path, MAP, &["atomic", "granular"], found);
    }
    if !kind.is_empty() {
        let why = "must be array if x-kubernetes-list-type is specified";
        wants_type(schema, path, "array", why, found);
        one_of(schema, path, LIST, &["atomic", "map", "set"], found);
    }
    let keys: Vec<&str> = list(schema, KEYS).filter_map(|(_, key)| key.as_str()).collect();
    let items = schema.get("items").filter(|items| items.is_object());
    if !keys.is_empty() && kind != "map" {
        let why = "must be map if x-kubernetes-list-map-keys is non-empty";
        found.push(match kind {
            "" => FieldError::required(at(LIST), why),
            _ => FieldError::invalid(at(LIST), &json!(kind), why),
        });
    }
    if let (true, Some(items)) = (matches!(kind, "map" | "set"), items) {
        if flag(items, "nullable") {
            let why = format!("cannot be nullable when x-kubernetes-list-type is {kind}");
            found.push(FieldError::forbidden(at("items.nullable"), &why));
        }
    }
    match (kind, items) {
        ("set", Some(items)) => {
            let why = "must be atomic as item of a list with x-kubernetes-list-type=set";
            let inner = word(items, LIST);
            if word(items, "type") == "array" && !matches!(inner, "" | "atomic") {
                found.push(FieldError::invalid(at(&format!("items.{LIST}")), &json!(inner), why));
            }
            if word(items, "type") == "object" && word(items, MAP) != "atomic" {
                let is = items.get(MAP).cloned().unwrap_or_default();
                found.push(FieldError::invalid(at(&format!("items.{MAP}")), &is, why));
            }
        }
        ("map", items) => map_list(schema, path, &keys, items, found),
        _ => {}
    }
}

fn map_list(
    schema: &Value,
    path: &str,
    keys: &[&str],
    items: Option<&Value>,
    found: &mut Vec<FieldError>,
) {
    let at = |key: &str| format!("{path}.{key}");
    if keys.is_empty() {
        let why = "must not be empty if x-kubernetes-list-type is map";
        found.push(FieldError::required(at(KEYS), why));
    }
    let Some(items) = items else {
        let why = "must have a schema if x-kubernetes-list-type is map";
        found.push(FieldError::required(at("items"), why));
        return;
    };
    if word(items, "type") != "object" {
        let why = "must be object if parent array's x-kubernetes-list-type is map";
        found.push(FieldError::invalid(at("items.type"), &items["type"], why));
        return;
    }
    let required: Vec<&str> = list(items, "required").filter_map(|(_, one)| one.as_str()).collect();
    for (index, key) in keys.iter().enumerate() {
        if keys.iter().take(index).any(|one| one == key) {
            let why = "must not contain duplicate entries";
            found.push(FieldError::invalid(at(KEYS), &schema[KEYS], why));
        }
        let Some(inner) = items.get("properties").and_then(|all| all.get(*key)) else {
            let why = "entries must all be names of item properties";
            found.push(FieldError::invalid(at(KEYS), &schema[KEYS], why));
            continue;
        };
        let place = format!("{path}.items.properties[{key}]");
        if matches!(word(inner, "type"), "array" | "object") {
            let why = "must be a scalar type if parent array's x-kubernetes-list-type is map";
            found.push(FieldError::invalid(format!("{place}.type"), &items["type"], why));
        }
        if !required.contains(key) && inner.get("default").is_none() {
            let why = "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property";
            found.push(FieldError::required(format!("{place}.default"), why));
        }
        if flag(inner, "nullable") {
            let why = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable";
            found.push(FieldError::forbidden(format!("{place}.nullable"), why));
        }
    }
}

fn one_of(schema: &Value, path: &str, key: &str, known: &[&str], found: &mut Vec<FieldError>) {
    let value = word(schema, key);
    if !known.contains(&value) {
        found.push(FieldError::unsupported(format!("{path}.{key}"), &json!(value), &quoted(known)));
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Root,
    Item,
    Field,
}

// The structural form: every node says its type, the rest only restricts.
fn form(schema: &Value, level: Level, path: &str, found: &mut Vec<FieldError>) {
    let at = |key: &str| format!("{path}.{key}");
    if let Some(items) = schema.get("items").filter(|items| items.is_object()) {
        form(items, Level::Item, &at("items"), found);
    }
    for (name, inner) in fields(schema, "properties") {
        form(inner, Level::Field, &format!("{path}.properties[{name}]"), found);
    }
    if let Some(more) = schema.get("additionalProperties") {
        if level == Level::Root {
            let why = "must not be used at the root";
            found.push(FieldError::forbidden(at("additionalProperties"), why));
        }
        if more.is_object() {
            form(more, Level::Field, &at("additionalProperties"), found);
        }
    }
    if flag(schema, EITHER) {
        for key in [PRESERVE, EMBEDDED] {
            if flag(schema, key) {
                let why = "must be false if x-kubernetes-int-or-string is true";
                found.push(FieldError::invalid(at(key), &json!(true), why));
            }
        }
    }
    restrictions(schema, level, either_pattern(schema), path, found);
    let kind = word(schema, "type");
    let embedded = flag(schema, EMBEDDED);
    if embedded && kind != "object" {
        let why = "must be object if x-kubernetes-embedded-resource is true";
        wants_type(schema, path, "object", why, found);
    } else if kind.is_empty() && !flag(schema, EITHER) && !flag(schema, PRESERVE) {
        let why = match level {
            Level::Root => "must not be empty at the root",
            Level::Item => "must not be empty for specified array items",
            Level::Field => "must not be empty for specified object fields",
        };
        found.push(FieldError::required(at("type"), why));
    }
    if embedded && schema.get("additionalProperties").is_some() {
        let why = "must not be used if x-kubernetes-embedded-resource is set";
        found.push(FieldError::forbidden(at("additionalProperties"), why));
    }
    if embedded && !flag(schema, PRESERVE) && fields(schema, "properties").next().is_none() {
        let why = "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields";
        found.push(FieldError::required(at("properties"), why));
    }
    if level == Level::Root && !kind.is_empty() && kind != "object" {
        found.push(FieldError::invalid(at("type"), &json!(kind), "must be object at the root"));
    }
    if level == Level::Root || embedded {
        implied(schema, level, path, found);
    }
}

// What a schema may say of apiVersion, kind and metadata.
fn implied(schema: &Value, level: Level, path: &str, found: &mut Vec<FieldError>) {
    for (name, kind) in [("kind", "string"), ("apiVersion", "string"), ("metadata", "object")] {
        let Some(inner) = schema.get("properties").and_then(|all| all.get(name)) else { continue };
        let at = format!("{path}.properties[{name}]");
        let is = word(inner, "type");
        if is != kind {
            let why = format!("must be {kind}");
            found.push(FieldError::invalid(format!("{at}.type"), &json!(is), &why));
        }
        if name != "metadata" || level != Level::Root {
            continue;
        }
        let names =
            fields(inner, "properties").all(|(name, _)| name == "name" || name == "generateName");
        let plain = inner.as_object().into_iter().flatten().all(|(key, _)| {
            matches!(key.as_str(), "type" | "properties" | "default" | "description")
        });
        if !names || !plain {
            let why = "must not specify anything other than name and generateName, but metadata is implicitly specified";
            found.push(FieldError::forbidden(at, why));
        }
    }
}

// Integer or string, as it is written where x-kubernetes-int-or-string is not enough.
fn is_either(all: Option<&Value>) -> bool {
    all == Some(&json!([{"type": "integer"}, {"type": "string"}]))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum EitherPattern {
    No,
    Here,
    FirstOfAll,
}

fn either_pattern(schema: &Value) -> EitherPattern {
    if !flag(schema, EITHER) {
        return EitherPattern::No;
    }
    if is_either(schema.get("anyOf")) {
        return EitherPattern::Here;
    }
    let first = list(schema, "allOf").next();
    if first.is_some_and(|(_, first)| is_either(first.get("anyOf"))) {
        return EitherPattern::FirstOfAll;
    }
    EitherPattern::No
}

fn restrictions(
    schema: &Value,
    level: Level,
    either: EitherPattern,
    path: &str,
    found: &mut Vec<FieldError>,
) {
    for key in ["anyOf", "allOf", "oneOf"] {
        if key == "anyOf" && either == EitherPattern::Here {
            continue;
        }
        for (index, inner) in list(schema, key) {
            let either = match key {
                "allOf" if index == 0 && either == EitherPattern::FirstOfAll => EitherPattern::Here,
                _ => EitherPattern::No,
            };
            nested(inner, level, either, &format!("{path}.{key}[{index}]"), found);
        }
    }
    if let Some(not) = schema.get("not").filter(|not| not.is_object()) {
        nested(not, level, EitherPattern::No, &format!("{path}.not"), found);
    }
}

fn nested(
    schema: &Value,
    level: Level,
    either: EitherPattern,
    path: &str,
    found: &mut Vec<FieldError>,
) {
    restrictions(schema, level, either, path, found);
    if let Some(items) = schema.get("items").filter(|items| items.is_object()) {
        nested(items, Level::Item, EitherPattern::No, &format!("{path}.items"), found);
    }
    for (name, inner) in fields(schema, "properties") {
        let at = format!("{path}.properties[{name}]");
        if name == "metadata" {
            found.push(FieldError::forbidden(
                at.clone(),
                "must not be specified in a nested context",
            ));
        }
        nested(inner, Level::Field, EitherPattern::No, &at, found);
    }
    for (key, must) in [
        ("type", "empty"),
        ("additionalProperties", "undefined"),
        ("default", "undefined"),
        ("title", "empty"),
        ("description", "empty"),
        ("nullable", "false"),
        (PRESERVE, "false"),
        (EMBEDDED, "false"),
        (EITHER, "false"),
        (KEYS, "empty"),
        (LIST, "undefined"),
        (MAP, "undefined"),
    ] {
        let set =
            schema.get(key).is_some_and(|value| *value != json!(false) && *value != json!(""));
        if set {
            let why = format!("must be {must} to be structural");
            found.push(FieldError::forbidden(format!("{path}.{key}"), &why));
        }
    }
}

// What alternatives speak of must be declared outside them.
fn complete(
    schema: &Value,
    outer: Option<&Value>,
    path: &str,
    said: &str,
    found: &mut Vec<FieldError>,
) {
    let Some(node) = outer else { return };
    for key in ["allOf", "anyOf", "oneOf"] {
        for (index, inner) in list(schema, key) {
            covered(inner, node, path, &format!("{said}.{key}[{index}]"), found);
        }
    }
    if let Some(not) = schema.get("not").filter(|not| not.is_object()) {
        covered(not, node, path, &format!("{said}.not"), found);
    }
    for (name, inner) in fields(schema, "properties") {
        let at = format!("{path}.properties[{name}]");
        complete(inner, Some(inner), &at, &at, found);
    }
    for key in ["items", "additionalProperties"] {
        if let Some(inner) = schema.get(key).filter(|inner| inner.is_object()) {
            let at = format!("{path}.{key}");
            complete(inner, Some(inner), &at, &at, found);
        }
    }
}

fn covered(inner: &Value, node: &Value, path: &str, said: &str, found: &mut Vec<FieldError>) {
    for key in ["allOf", "anyOf", "oneOf"] {
        for (index, deeper) in list(inner, key) {
            covered(deeper, node, path, &format!("{said}.{key}[{index}]"), found);
        }
    }
    if let Some(not) = inner.get("not").filter(|not| not.is_object()) {
        covered(not, node, path, &format!("{said}.not"), found);
    }
    for (name, deeper) in fields(inner, "properties") {
        let said = format!("{said}.properties[{name}]");
        let more = node.get("additionalProperties").filter(|more| more.is_object());
        match (node.get("properties").and_then(|all| all.get(name)), more) {
            (Some(declared), _) => {
                covered(deeper, declared, &format!("{path}.properties[{name}]"), &said, found);
            }
            (None, Some(more)) => {
                covered(deeper, more, &format!("{path}.additionalProperties"), &said, found);
            }
            (None, None) => found.push(FieldError::required(
                format!("{path}.properties[{name}]"),
                &format!("because it is defined in {said}"),
            )),
        }
    }
    if let Some(items) = inner.get("items").filter(|items| items.is_object()) {
        let said = format!("{said}.items");
        match node.get("items") {
            Some(declared) => covered(items, declared, &format!("{path}.items"), &said, found),
            None => found.push(FieldError::required(
                format!("{path}.items"),
                &format!("because it is defined in {said}"),
            )),
        }
    }
}

// A default must be a value the schema keeps and allows.
fn defaults(schema: &Value, path: &str, found: &mut Vec<FieldError>) {
    if let Some(default) = schema.get("default").filter(|value| !value.is_null()) {
        let at = format!("{path}.default");
        let node = Node::new(schema);
        let mut pruned = default.clone();
        decode::prune(node, &mut pruned, "", &mut Vec::new());
        if pruned != *default {
            found.push(FieldError::invalid(at.clone(), default, "must not have unknown fields"));
        }
        for mut error in validate::errors(node, default, "") {
            error.field = match error.field.as_str() {
                "" if error.kind == FieldErrorKind::Invalid && error.text.contains("\"\": ") => {
                    String::new()
                }
                "" => at.clone(),
                inner => format!("{at}.{inner}"),
            };
            found.push(error);
        }
    }
    for (name, inner) in fields(schema, "properties") {
        defaults(inner, &format!("{path}.properties[{name}]"), found);
    }
    for key in ["items", "additionalProperties"] {
        if let Some(inner) = schema.get(key).filter(|inner| inner.is_object()) {
            defaults(inner, &format!("{path}.{key}"), found);
        }
    }
}

/// A regular expression's error in the words of Go's package.
fn go_regex_error(pattern: &str, error: &regex::Error) -> String {
    let said = error.to_string();
    let (what, part) = if said.contains("unclosed group") {
        ("missing closing )", pattern.to_owned())
    } else if said.contains("unopened group") {
        ("unexpected )", pattern.to_owned())
    } else if said.contains("unclosed character class") {
        let from = pattern.rfind('[').unwrap_or(0);
        ("missing closing ]", pattern.get(from..).unwrap_or_default().to_owned())
    } else if said.contains("repetition operator missing") {
        let operator = pattern.chars().find(|c| "*+?".contains(*c)).unwrap_or('*');
        ("missing argument to repetition operator", operator.to_string())
    } else if said.contains("look-around") {
        let from = pattern.find("(?").unwrap_or(0);
        let part: String = pattern.chars().skip(from).take(3).collect();
        ("invalid or unsupported Perl syntax", part)
    } else if said.contains("unrecognized escape") || said.contains("incomplete escape") {
        let from = pattern.find('\\').unwrap_or(0);
        ("invalid escape sequence", pattern.chars().skip(from).take(2).collect())
    } else if said.contains("invalid character class range") {
        let from = pattern.find('[').unwrap_or(0) + 1;
        ("invalid character class range", pattern.chars().skip(from).take(3).collect())
    } else {
        ("invalid regexp", pattern.to_owned())
    };
    format!("error parsing regexp: {what}: `{part}`")
}

/// Whether a path such as `.spec.color` names a scalar that selectors can compare.
pub fn selectable(schema: &Value, path: &str) -> Result<(), &'static str> {
    let mut at = schema;
    for step in path.trim_start_matches('.').split('.') {
        at = at
            .get("properties")
            .and_then(|all| all.get(step))
            .ok_or("is an invalid path: does not refer to a valid field")?;
    }
    if path.starts_with(".metadata") {
        return Err("must not point to fields in metadata");
    }
    if !matches!(word(at, "type"), "string" | "boolean" | "integer") {
        return Err(
            "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.",
        );
    }
    Ok(())
}
