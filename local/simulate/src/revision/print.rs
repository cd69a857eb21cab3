//! A pod template as Go prints its struct with all its types: what the names of revisions are hashes of.
//!
//! `template.types` has the structs. What is printed is what a controller gets, which is sent protobuf: lists and maps
//! that are empty are `nil` there, quantities were read from their canonical text.

use std::fmt::Write;
use std::sync::OnceLock;

use rustc_hash::FxHashMap;
use serde_json::Value;

use super::quantity;

/// A field of a struct.
struct Field {
    name: &'static str,
    of: &'static str,
    json: String,
}

#[derive(Default)]
struct Types {
    structs: FxHashMap<&'static str, Vec<Field>>,
    /// What a type with a name is.
    named: FxHashMap<&'static str, &'static str>,
}

fn read(text: &'static str) -> Types {
    let mut types = Types::default();
    let mut at = "";
    for line in text.lines() {
        let mut words = line.split_whitespace();
        if line.starts_with('=') {
            let kind = words.nth(1).unwrap_or_default();
            types.named.extend(words.map(|name| (name, kind)));
        } else if line.starts_with(' ') {
            let name = words.next().unwrap_or_default();
            let of = words.next().unwrap_or_default();
            let json = words.next().map_or_else(|| small(name), str::to_owned);
            types.structs.entry(at).or_default().push(Field { name, of, json });
        } else if !line.starts_with('#') {
            at = line;
        }
    }
    types
}

fn small(name: &str) -> String {
    let mut letters = name.chars();
    letters
        .next()
        .map_or_else(String::new, |it| it.to_ascii_lowercase().to_string() + letters.as_str())
}

fn types() -> &'static Types {
    static TYPES: OnceLock<Types> = OnceLock::new();
    TYPES.get_or_init(|| read(include_str!("template.types")))
}

/// The print of a pod template.
pub(super) fn template(value: &Value) -> String {
    let mut out = String::with_capacity(8192);
    typed(&mut out, "v1.PodTemplateSpec", value);
    out
}

// A field: its type, then what it is.
fn typed(out: &mut String, of: &str, value: &Value) {
    out.push('(');
    out.push_str(of);
    out.push(')');
    match of.strip_prefix('*') {
        Some(_) if value.is_null() => out.push_str("<nil>"),
        Some(to) => bare(out, to, value),
        None => bare(out, of, value),
    }
}

// An element of a list or a map, or what follows a type.
fn bare(out: &mut String, of: &str, value: &Value) {
    let of = types().named.get(of).copied().unwrap_or(of);
    if let Some(item) = of.strip_prefix("[]") {
        return list(out, item, value);
    }
    if let Some((_, item)) = of.strip_prefix("map[").and_then(|it| it.split_once(']')) {
        return map(out, item, value);
    }
    match of {
        "string" => out.push_str(value.as_str().unwrap_or_default()),
        "bool" => out.push_str(if value == &Value::Bool(true) { "true" } else { "false" }),
        "int32" | "int64" => number(out, value),
        "resource.Quantity" => quantity::print(out, value),
        "intstr.IntOrString" => {
            let text = value.as_str();
            let _infallible =
                write!(out, "{{Type:(intstr.Type){} IntVal:(int32)", u8::from(text.is_some()));
            number(out, value);
            let _infallible = write!(out, " StrVal:(string){}}}", text.unwrap_or_default());
        }
        "v1.Time" => time(out, value),
        _ => fields(out, of, value),
    }
}

fn number(out: &mut String, value: &Value) {
    let _infallible = write!(out, "{}", value.as_i64().unwrap_or_default());
}

fn list(out: &mut String, of: &str, value: &Value) {
    let Some(items) = value.as_array().filter(|items| !items.is_empty()) else {
        return out.push_str("<nil>");
    };
    out.push('[');
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            out.push(' ');
        }
        bare(out, of, item);
    }
    out.push(']');
}

fn map(out: &mut String, of: &str, value: &Value) {
    let Some(entries) = value.as_object().filter(|entries| !entries.is_empty()) else {
        return out.push_str("<nil>");
    };
    let mut entries: Vec<_> = entries.iter().collect();
    entries.sort_by_key(|(key, _)| key.as_str());
    out.push_str("map[");
    for (at, (key, item)) in entries.into_iter().enumerate() {
        if at > 0 {
            out.push(' ');
        }
        out.push_str(key);
        out.push(':');
        bare(out, of, item);
    }
    out.push(']');
}

fn fields(out: &mut String, of: &str, value: &Value) {
    out.push('{');
    for (at, field) in types().structs.get(of).into_iter().flatten().enumerate() {
        if at > 0 {
            out.push(' ');
        }
        out.push_str(field.name);
        out.push(':');
        typed(out, field.of, if field.json == "-" { value } else { &value[&field.json] });
    }
    out.push('}');
}

// Go counts from the year 1; a controller reads times in the zone of its machine, taken here for UTC.
fn time(out: &mut String, value: &Value) {
    let seconds = crate::object::time(value).map(|it| it.timestamp() + 62_135_596_800);
    let _infallible = write!(
        out,
        "{{Time:(time.Time){{wall:(uint64)0 ext:(int64){} loc:",
        seconds.unwrap_or_default()
    );
    out.push_str(match seconds {
        None => "(*time.Location)<nil>}}",
        Some(_) => {
            "(*time.Location){name:(string) zone:([]time.zone)<nil> tx:([]time.zoneTrans)<nil> extend:(string) \
             cacheStart:(int64)0 cacheEnd:(int64)0 cacheZone:(*time.zone)<nil>}}}"
        }
    });
}
