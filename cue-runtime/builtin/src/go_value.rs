//! Values and their types as Go shows them.

use super::datum::Datum;
use super::floats::{Width, format_float};
use super::number::Number;

/// `%T`
pub(super) fn type_name(datum: &Datum) -> &'static str {
    match datum {
        Datum::Null | Datum::Function(_) | Datum::Live(_) => "<nil>",
        Datum::Bool(_) => "bool",
        Datum::Number(number) if number.is_int() => "int64",
        Datum::Number(_) => "float64",
        Datum::String(_) => "string",
        Datum::Bytes(_) => "[]uint8",
        Datum::List(_) => "[]interface {}",
        Datum::Struct(_) => "map[string]interface {}",
    }
}

/// Fields by name.
pub(super) fn sorted(datum: &Datum) -> Vec<(&str, &Datum)> {
    let Datum::Struct(fields) = datum else { return Vec::new() };
    let mut members: Vec<(&str, &Datum)> = fields.iter().map(|(k, v)| (&**k, v)).collect();
    cue_sort::by(&mut members, |one, other| one.0.cmp(other.0));
    members
}

/// `%v`
pub(super) fn shown(datum: &Datum) -> String {
    let mut out = String::new();
    show(datum, &mut out);
    out
}

/// The same, behind what is there.
pub(super) fn show(datum: &Datum, out: &mut String) {
    match datum {
        Datum::Null => out.push_str("<nil>"),
        Datum::Function(_) | Datum::Live(_) => out.push_str("<no value>"),
        Datum::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Datum::Number(number) => match number.to_bigint() {
            Some(whole) if number.is_int() => out.push_str(&whole.to_string()),
            _ => match beyond(number) {
                Some(text) => out.push_str(&text),
                None => out.push_str(&format_float(number.to_f64(), b'g', None, Width::Double)),
            },
        },
        Datum::String(text) => out.push_str(text),
        Datum::Bytes(bytes) => {
            let all: Vec<String> = bytes.iter().map(u8::to_string).collect();
            out.extend(["[", &all.join(" "), "]"]);
        }
        Datum::List(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                out.push_str(if at > 0 { " " } else { "" });
                show(item, out);
            }
            out.push(']');
        }
        Datum::Struct(_) => {
            out.push_str("map[");
            for (at, (label, value)) in sorted(datum).into_iter().enumerate() {
                out.extend([if at > 0 { " " } else { "" }, label, ":"]);
                show(value, out);
            }
            out.push(']');
        }
    }
}

/// The text of a number that is too large for a float of 64 bits.
pub(super) fn beyond(number: &Number) -> Option<String> {
    number.to_f64().is_infinite().then(|| number.to_string().to_lowercase())
}
