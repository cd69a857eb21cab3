//! Objects as text: YAML as Kubernetes' own tools print it, keys sorted, strings quoted where YAML 1.1 would read something else.

use std::cmp::Ordering;
use std::fmt::Write as _;

use serde_json::{Map, Value};

/// A value as a document, with a newline at its end.
pub fn text(value: &Value) -> String {
    let mut out = String::new();
    match value {
        Value::Object(map) if !map.is_empty() => mapping(map, 0, &mut out),
        Value::Array(items) if !items.is_empty() => sequence(items, 0, &mut out),
        other => {
            scalar(other, 0, &mut out);
            out.push('\n');
        }
    }
    out
}

fn mapping(map: &Map<String, Value>, indent: usize, out: &mut String) {
    let mut entries: Vec<(&String, &Value)> = map.iter().collect();
    entries.sort_by(|a, b| order(a.0, b.0));
    for (index, (key, value)) in entries.into_iter().enumerate() {
        // The first line stands where the caller's cursor is.
        if index > 0 {
            pad(indent, out);
        }
        out.push_str(&string(key, None));
        out.push(':');
        below(value, indent, indent, out);
    }
}

fn sequence(items: &[Value], indent: usize, out: &mut String) {
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            pad(indent, out);
        }
        out.push('-');
        match item {
            Value::Object(map) if !map.is_empty() => {
                out.push(' ');
                mapping(map, indent + 2, out);
            }
            Value::Array(inner) if !inner.is_empty() => {
                out.push(' ');
                sequence(inner, indent + 2, out);
            }
            other => {
                out.push(' ');
                scalar(other, indent, out);
                out.push('\n');
            }
        }
    }
}

/// What stands behind a key: lists keep the key's indentation.
fn below(value: &Value, mapping_indent: usize, list_indent: usize, out: &mut String) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            out.push('\n');
            pad(mapping_indent + 2, out);
            mapping(map, mapping_indent + 2, out);
        }
        Value::Array(items) if !items.is_empty() => {
            out.push('\n');
            pad(list_indent, out);
            sequence(items, list_indent, out);
        }
        other => {
            out.push(' ');
            scalar(other, mapping_indent, out);
            out.push('\n');
        }
    }
}

fn pad(indent: usize, out: &mut String) {
    out.extend(std::iter::repeat_n(' ', indent));
}

fn scalar(value: &Value, indent: usize, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(it) => out.push_str(if *it { "true" } else { "false" }),
        Value::Number(it) => out.push_str(&it.to_string()),
        Value::String(it) => out.push_str(&string(it, Some(indent))),
        Value::Array(_) => out.push_str("[]"),
        Value::Object(_) => out.push_str("{}"),
    }
}

/// A string as it must be written; lines of a block stand below `block`, where one is allowed.
fn string(text: &str, block: Option<usize>) -> String {
    let printable = text.chars().all(|it| it == '\n' || it == '\t' || !it.is_control());
    let spaced_line = text.split('\n').any(|line| line.ends_with(' '));
    if let Some(indent) = block.filter(|_| text.contains('\n') && printable && !spaced_line) {
        return literal(text, indent);
    }
    if text.contains('\n') || !printable {
        return double(text);
    }
    if resolves(text) {
        return double(text);
    }
    if plain(text) { text.to_owned() } else { format!("'{}'", text.replace('\'', "''")) }
}

/// `|`, the lines as they are.
fn literal(text: &str, indent: usize) -> String {
    let mut out = String::from("|");
    if text.starts_with([' ', '\n']) {
        out.push('2');
    }
    if !text.ends_with('\n') {
        out.push('-');
    } else if text.ends_with("\n\n") || text == "\n" {
        out.push('+');
    }
    let body = text.strip_suffix('\n').unwrap_or(text);
    for line in body.split('\n') {
        out.push('\n');
        if !line.is_empty() {
            pad(indent + 2, &mut out);
            out.push_str(line);
        }
    }
    out
}

fn double(text: &str) -> String {
    let mut out = String::from("\"");
    for it in text.chars() {
        match it {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '\0' => out.push_str("\\0"),
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{b}' => out.push_str("\\v"),
            '\u{c}' => out.push_str("\\f"),
            '\u{1b}' => out.push_str("\\e"),
            it if it.is_control() => {
                let _ = write!(out, "\\x{:02X}", u32::from(it));
            }
            it => out.push(it),
        }
    }
    out.push('"');
    out
}

/// Whether plain text would not be read as a string.
fn resolves(text: &str) -> bool {
    const WORDS: &[&str] = &[
        "", "~", "null", "Null", "NULL", "y", "Y", "yes", "Yes", "YES", "on", "On", "ON", "n", "N",
        "no", "No", "NO", "off", "Off", "OFF", "true", "True", "TRUE", "false", "False", "FALSE",
        ".nan", ".NaN", ".NAN", ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF", "-.inf",
        "-.Inf", "-.INF", "<<",
    ];
    WORDS.contains(&text) || is_number(text) || is_sexagesimal(text) || is_date(text)
}

fn is_number(text: &str) -> bool {
    let plain = text.replace('_', "");
    let body = plain.strip_prefix(['-', '+']).unwrap_or(&plain);
    if !body.starts_with(|it: char| it.is_ascii_digit() || it == '.') {
        return false;
    }
    let radix = |prefix: [&str; 2], radix: u32| {
        prefix.iter().any(|it| {
            body.strip_prefix(it).is_some_and(|digits| {
                !digits.is_empty() && digits.chars().all(|it| it.is_digit(radix))
            })
        })
    };
    if radix(["0x", "0X"], 16) || radix(["0o", "0O"], 8) || radix(["0b", "0B"], 2) {
        return true;
    }
    let (mantissa, exponent) = match body.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (body, None),
    };
    let digits = |it: &str| it.bytes().all(|byte| byte.is_ascii_digit());
    let mantissa_fits = match mantissa.split_once('.') {
        Some((whole, part)) => {
            digits(whole) && digits(part) && !(whole.is_empty() && part.is_empty())
        }
        None => !mantissa.is_empty() && digits(mantissa),
    };
    let exponent_fits = exponent.is_none_or(|it| {
        let it = it.strip_prefix(['-', '+']).unwrap_or(it);
        !it.is_empty() && digits(it)
    });
    mantissa_fits && exponent_fits
}

/// `1:30` and the like were numbers once.
fn is_sexagesimal(text: &str) -> bool {
    let body = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (whole, fraction) = body.split_once('.').unwrap_or((body, ""));
    let mut parts = whole.split(':');
    let first = parts.next().is_some_and(|it| {
        it.starts_with(|it: char| it.is_ascii_digit())
            && it.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_')
    });
    let rest: Vec<&str> = parts.collect();
    first
        && !rest.is_empty()
        && rest.iter().all(|it| matches!(it.as_bytes(), [b'0'..=b'9'] | [b'0'..=b'5', b'0'..=b'9']))
        && fraction.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_')
}

fn is_date(text: &str) -> bool {
    let date = text.split_once(['T', 't', ' ']).map_or(text, |it| it.0);
    let time = &text[date.len()..];
    let well_formed = chrono::NaiveDate::parse_from_str(date, "%Y-%m-%d").is_ok()
        && date.split('-').next().is_some_and(|it| it.len() == 4);
    well_formed
        && (time.is_empty()
            || chrono::DateTime::parse_from_rfc3339(&text.to_ascii_uppercase()).is_ok()
            || chrono::NaiveDateTime::parse_from_str(text, "%Y-%m-%d %H:%M:%S%.f").is_ok())
}

/// Whether a string can stand without quotes.
fn plain(text: &str) -> bool {
    let Some(first) = text.chars().next() else { return false };
    if text.starts_with(' ') || text.ends_with(' ') || text.contains('\t') {
        return false;
    }
    if text.starts_with("---") || text.starts_with("...") {
        return false;
    }
    let second_is_space = text.chars().nth(1).is_none_or(|it| it == ' ');
    match first {
        '#' | ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%'
        | '@' | '`' => return false,
        '?' | ':' | '-' if second_is_space => return false,
        _ => {}
    }
    !text.contains(": ") && !text.ends_with(':') && !text.contains(" #")
}

/// Natural order: letters last, runs of digits by their value.
fn order(left: &str, right: &str) -> Ordering {
    let (a, b): (Vec<char>, Vec<char>) = (left.chars().collect(), right.chars().collect());
    let Some(at) = a.iter().zip(&b).position(|(a, b)| a != b) else {
        return a.len().cmp(&b.len());
    };
    let (one, other) = (a[at], b[at]);
    match (one.is_alphabetic(), other.is_alphabetic()) {
        (true, true) => return one.cmp(&other),
        (true, false) => return Ordering::Greater,
        (false, true) => return Ordering::Less,
        (false, false) => {}
    }
    let inside_number = (one == '0' || other == '0')
        && a[..at].iter().rev().take_while(|it| it.is_ascii_digit()).any(|it| *it != '0');
    let run = |all: &[char]| {
        let start = u128::from(inside_number);
        let digits: Vec<u32> = all[at..].iter().map_while(|it| it.to_digit(10)).collect();
        let value = digits
            .iter()
            .fold(start, |sum, it| sum.saturating_mul(10).saturating_add(u128::from(*it)));
        (value, digits.len())
    };
    run(&a).cmp(&run(&b)).then(one.cmp(&other))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::text;

    #[test]
    fn keys_are_sorted_and_lists_stand_under_their_key() {
        let object = json!({"b": [1, {"x": "y", "a": []}], "a": {"k10": 1, "k9": {}}, "": null});
        assert_eq!(
            text(&object),
            "\"\": null\na:\n  k9: {}\n  k10: 1\nb:\n- 1\n- a: []\n  x: \"y\"\n"
        );
    }

    #[test]
    fn strings_that_would_be_read_as_something_else_are_quoted() {
        let all = json!([
            "on",
            "1e3",
            "0x1f",
            "1:30",
            "2020-01-02",
            "",
            "* * *",
            "a: b",
            "a:b",
            "-x",
            "- x",
            "it's",
            "#x",
            "x #y",
            "v1.2",
            ".5",
            "a\nb",
            "a\nb\n",
            "\u{1}"
        ]);
        assert_eq!(
            text(&all),
            "- \"on\"\n- \"1e3\"\n- \"0x1f\"\n- \"1:30\"\n- \"2020-01-02\"\n- \"\"\n- '* * *'\n- 'a: b'\n- a:b\n- -x\n- '- x'\n- it's\n- '#x'\n- 'x #y'\n- v1.2\n- \".5\"\n- |-\n  a\n  b\n- |\n  a\n  b\n- \"\\x01\"\n"
        );
    }
}
