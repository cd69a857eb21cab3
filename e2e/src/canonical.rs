//! JSON text in one form: keys sorted by code point, no spaces, fewest escapes, numbers as printed.
//!
//! Iterative, because what is compared here may be nested a hundred thousand levels deep.

use std::collections::BTreeMap;
use std::fmt::Write as _;

enum Open {
    List(Vec<String>),
    Struct(BTreeMap<String, String>, String),
}

/// The canonical form; `None` if the text is not JSON.
pub fn canonical(text: &str) -> Option<String> {
    let mut open: Vec<Open> = Vec::new();
    let mut rest = text.trim_start();
    loop {
        let mut value = if let Some(after) = rest.strip_prefix('[') {
            rest = after.trim_start();
            match rest.strip_prefix(']') {
                Some(after) => {
                    rest = after;
                    "[]".to_owned()
                }
                None => {
                    open.push(Open::List(Vec::new()));
                    continue;
                }
            }
        } else if let Some(after) = rest.strip_prefix('{') {
            rest = after.trim_start();
            match rest.strip_prefix('}') {
                Some(after) => {
                    rest = after;
                    "{}".to_owned()
                }
                None => {
                    let key;
                    (key, rest) = key_of(rest)?;
                    open.push(Open::Struct(BTreeMap::new(), key));
                    continue;
                }
            }
        } else {
            let value;
            (value, rest) = scalar(rest)?;
            value
        };
        // The value ends as many collections as closing brackets follow.
        loop {
            rest = rest.trim_start();
            match open.pop() {
                None => return rest.is_empty().then_some(value),
                Some(Open::List(mut all)) => {
                    all.push(value);
                    if let Some(after) = rest.strip_prefix(',') {
                        rest = after.trim_start();
                        open.push(Open::List(all));
                        break;
                    }
                    rest = rest.strip_prefix(']')?;
                    value = format!("[{}]", all.join(","));
                }
                Some(Open::Struct(mut all, key)) => {
                    all.insert(key, value);
                    if let Some(after) = rest.strip_prefix(',') {
                        let key;
                        (key, rest) = key_of(after.trim_start())?;
                        open.push(Open::Struct(all, key));
                        break;
                    }
                    rest = rest.strip_prefix('}')?;
                    let mut text = String::from("{");
                    for (key, value) in &all {
                        let comma = if text.len() > 1 { "," } else { "" };
                        let _ = write!(text, "{comma}{}:{value}", quoted(key));
                    }
                    value = text + "}";
                }
            }
        }
    }
}

/// A key, decoded, and what follows the colon.
fn key_of(rest: &str) -> Option<(String, &str)> {
    let (text, rest) = string(rest)?;
    Some((text, rest.trim_start().strip_prefix(':')?.trim_start()))
}

fn scalar(rest: &str) -> Option<(String, &str)> {
    if rest.starts_with('"') {
        let (text, rest) = string(rest)?;
        return Some((quoted(&text), rest));
    }
    let end = rest.find([',', ']', '}', ' ', '\n', '\r', '\t']).unwrap_or(rest.len());
    (end > 0).then(|| (rest[..end].to_owned(), &rest[end..]))
}

fn string(rest: &str) -> Option<(String, &str)> {
    let inner = rest.strip_prefix('"')?;
    let mut escaped = false;
    for (at, byte) in inner.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => {
                let text = serde_json::from_str(&rest[..at + 2]).ok()?;
                return Some((text, &inner[at + 1..]));
            }
            _ => {}
        }
    }
    None
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::canonical;

    #[test]
    fn order_space_and_escapes_do_not_matter_and_digits_do() {
        let text = "{ \"b\" : [1.50, {}, [] ,{\"x\":null}],\n\"a\\u00e9\": \"\\u003c\\n\" }\n";
        assert_eq!(
            canonical(text).as_deref(),
            Some("{\"aé\":\"<\\n\",\"b\":[1.50,{},[],{\"x\":null}]}")
        );
    }

    #[test]
    fn depth_needs_no_stack() {
        let text = "[".repeat(100_000) + &"]".repeat(100_000);
        // Joining copies: keep it to what a test may take.
        assert_eq!(canonical(&text[90_000..110_000]), Some(text[90_000..110_000].to_owned()));
    }

    #[test]
    fn what_is_no_json_is_none() {
        for text in ["", "[1", "{\"a\"}", "1 2", "\"a"] {
            assert_eq!(canonical(text), None, "{text}");
        }
    }
}
