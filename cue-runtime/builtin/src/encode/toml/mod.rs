//! TOML: written with tables after plain members, read with CUE's view of its values.

mod reader; // text -> values
mod table; // what headers and keys make of it

pub use self::reader::{decode, decode_keeping};

use crate::Datum;

/// In which order members are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// As they come: `cue export --out toml`.
    Given,
    /// By key: `toml.Marshal`.
    Sorted,
}

/// Nesting beyond this is refused.
const DEPTH: usize = 500;

/// Plain data as TOML.
pub fn encode(datum: &Datum, order: Order) -> Result<String, String> {
    let mut out = String::new();
    match datum {
        Datum::Struct(_) => table(&mut out, datum, &mut Vec::new(), order)?,
        other => inline(&mut out, other, order, 0)?,
    }
    Ok(out)
}

fn members(datum: &Datum, order: Order) -> Vec<(&str, &Datum)> {
    let Datum::Struct(fields) = datum else { return Vec::new() };
    let mut members: Vec<(&str, &Datum)> = fields
        .iter()
        .filter(|(_, value)| !matches!(value, Datum::Null))
        .map(|(label, value)| (&**label, value))
        .collect();
    if order == Order::Sorted {
        cue_sort::by(&mut members, |one, other| one.0.cmp(other.0));
    }
    members
}

/// Whether a value gets `[[…]]` sections: a list of structs only.
fn is_table_list(datum: &Datum) -> bool {
    match datum {
        Datum::List(items) => {
            !items.is_empty() && items.iter().all(|item| matches!(item, Datum::Struct(_)))
        }
        _ => false,
    }
}

fn table(
    out: &mut String,
    datum: &Datum,
    path: &mut Vec<String>,
    order: Order,
) -> Result<(), String> {
    if path.len() > DEPTH {
        return Err("toml: value nests too deeply".to_owned());
    }
    let members = members(datum, order);
    let (sections, plain): (Vec<_>, Vec<_>) = members
        .into_iter()
        .partition(|(_, value)| matches!(value, Datum::Struct(_)) || is_table_list(value));
    let mut first = plain.is_empty();
    for (label, value) in plain {
        out.push_str(&key(label));
        out.push_str(" = ");
        inline(out, value, order, 0)?;
        out.push('\n');
    }
    for (label, value) in sections {
        path.push(key(label));
        let items: Vec<&Datum> = match value {
            Datum::List(items) => items.iter().collect(),
            other => vec![other],
        };
        for item in &items {
            if !std::mem::take(&mut first) {
                out.push('\n');
            }
            let name = path.join(".");
            if is_table_list(value) {
                out.push_str(&format!("[[{name}]]\n"));
            } else {
                out.push_str(&format!("[{name}]\n"));
            }
            table(out, item, path, order)?;
        }
        path.pop();
    }
    Ok(())
}

fn key(label: &str) -> String {
    let bare = !label.is_empty()
        && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
    if bare { label.to_owned() } else { string(label) }
}

fn string(text: &str) -> String {
    let escaped = text.chars().any(|c| c == '\'' || (c < ' ' && c != '\t') || c == '\u{7f}');
    if !escaped {
        return format!("'{text}'");
    }
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '"' => out.push_str("\\\""),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\0'..'\u{20}' | '\u{7f}' => out.push_str(&format!("\\u{:04X}", c as u32)),
            _ => out.push(c),
        }
    }
    out.push('"');
    out
}

fn inline(out: &mut String, datum: &Datum, order: Order, depth: usize) -> Result<(), String> {
    if depth > DEPTH {
        return Err("toml: value nests too deeply".to_owned());
    }
    match datum {
        Datum::Null | Datum::Function(_) | Datum::Live(_) => {
            return Err("toml: encoding a nil interface is not supported".to_owned());
        }
        Datum::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Datum::Number(number) if number.is_int() => match number.to_i64() {
            Some(value) => out.push_str(&value.to_string()),
            None => out.push_str(&string(&number.to_string())),
        },
        Datum::Number(number) => {
            let value = number.to_f64();
            let text = value.to_string();
            if text.contains('.') || !value.is_finite() {
                out.push_str(&text);
            } else {
                out.push_str(&format!("{value:.1}"));
            }
        }
        Datum::String(text) => out.push_str(&string(text)),
        Datum::Bytes(bytes) => {
            let texts: Vec<String> = bytes.iter().map(u8::to_string).collect();
            out.push_str(&format!("[{}]", texts.join(", ")));
        }
        Datum::List(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push_str(", ");
                }
                inline(out, item, order, depth + 1)?;
            }
            out.push(']');
        }
        Datum::Struct(_) => {
            out.push('{');
            for (at, (label, value)) in members(datum, order).into_iter().enumerate() {
                if at > 0 {
                    out.push_str(", ");
                }
                out.push_str(&key(label));
                out.push_str(" = ");
                inline(out, value, order, depth + 1)?;
            }
            out.push('}');
        }
    }
    Ok(())
}
