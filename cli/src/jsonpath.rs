//! `-o jsonpath=…`: kubectl's dialect, carried out by jsonpath-rust.
//!
//! kubectl writes `{.a.b}`, `{range .items[*]}…{end}`, quoted text and `a\.b` for a dot in a name;
//! RFC 9535 starts paths with `$` and quotes such names.

use jsonpath_rust::JsonPath;
use serde_json::Value;

/// Why a template cannot be used.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum Error {
    /// `{` without `}`, `{range}` without `{end}`, or the reverse.
    #[error("jsonpath: {0}")]
    Unbalanced(&'static str),
    /// A path that does not parse.
    #[error("jsonpath {path}: {why}")]
    Path {
        /// As written.
        path: String,
        /// The parser's words.
        why: String,
    },
}

#[derive(Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Path(String),
    Range(String, Vec<Part>),
}

/// Prints what `template` selects in `value`, as kubectl does.
///
/// # Errors
/// When the template does not parse.
pub fn print(template: &str, value: &Value) -> Result<String, Error> {
    // kubectl accepts a bare path too.
    let wrapped;
    let template = if template.contains('{') {
        template
    } else {
        wrapped = format!("{{{template}}}");
        &wrapped
    };
    let mut rest = template;
    let parts = parse(&mut rest, Until::End)?;
    let mut out = String::new();
    write(&parts, value, &mut out)?;
    Ok(out)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Until {
    End,
    RangeEnd,
}

fn parse(rest: &mut &str, until: Until) -> Result<Vec<Part>, Error> {
    let mut parts = Vec::new();
    loop {
        let Some(open) = rest.find('{') else {
            if until == Until::RangeEnd {
                return Err(Error::Unbalanced("{range} without {end}"));
            }
            if !rest.is_empty() {
                parts.push(Part::Text((*rest).into()));
            }
            return Ok(parts);
        };
        if open > 0 {
            parts.push(Part::Text(rest[..open].into()));
        }
        let close = closing(&rest[open..]).ok_or(Error::Unbalanced("{ without }"))? + open;
        let inside = rest[open + 1..close].trim();
        *rest = &rest[close + 1..];
        if inside == "end" {
            if until == Until::End {
                return Err(Error::Unbalanced("{end} without {range}"));
            }
            return Ok(parts);
        }
        if let Some(path) = inside.strip_prefix("range ") {
            let body = parse(rest, Until::RangeEnd)?;
            parts.push(Part::Range(path.trim().into(), body));
        } else if let Some(text) = quoted(inside) {
            parts.push(Part::Text(text));
        } else {
            parts.push(Part::Path(inside.into()));
        }
    }
}

/// Index of the `}` that closes the `{` at the start, quotes respected.
fn closing(text: &str) -> Option<usize> {
    let mut quote = None;
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            _ if escaped => escaped = false,
            (_, '\\') => escaped = true,
            (Some(open), _) if c == open => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, '}') => return Some(at),
            _ => {}
        }
    }
    None
}

fn quoted(text: &str) -> Option<String> {
    let inner = text.strip_prefix('"')?.strip_suffix('"')?;
    Some(inner.replace("\\n", "\n").replace("\\t", "\t").replace("\\\"", "\""))
}

fn write(parts: &[Part], value: &Value, out: &mut String) -> Result<(), Error> {
    for part in parts {
        match part {
            Part::Text(text) => out.push_str(text),
            Part::Path(path) => {
                let found = select(path, value)?;
                let texts: Vec<String> = found.iter().map(plain).collect();
                out.push_str(&texts.join(" "));
            }
            Part::Range(path, body) => {
                for item in select(path, value)? {
                    write(body, &item, out)?;
                }
            }
        }
    }
    Ok(())
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}

fn select(path: &str, value: &Value) -> Result<Vec<Value>, Error> {
    let standard = translate(path);
    if standard == "$" {
        return Ok(vec![value.clone()]);
    }
    let found = value
        .query(&standard)
        .map_err(|error| Error::Path { path: path.into(), why: error.to_string() })?;
    Ok(found.into_iter().cloned().collect())
}

/// kubectl's path in RFC 9535's words.
fn translate(path: &str) -> String {
    let path = path.trim();
    let path = path.strip_prefix(['$', '@']).unwrap_or(path);
    let mut out = String::from("$");
    let mut chars = path.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '.' if chars.peek() == Some(&'.') => {
                chars.next();
                out.push_str("..");
                let name = take_name(&mut chars);
                if name.is_empty() {
                    continue;
                }
                out.push_str(&bracketed(&name));
            }
            '.' => {
                let name = take_name(&mut chars);
                if !name.is_empty() {
                    out.push_str(&bracketed(&name));
                }
            }
            '[' => {
                let mut depth = 1;
                let mut inner = String::new();
                let mut quote = None;
                for c in chars.by_ref() {
                    match (quote, c) {
                        (Some(open), _) if c == open => quote = None,
                        (Some(_), _) => {}
                        (None, '"' | '\'') => quote = Some(c),
                        (None, '[') => depth += 1,
                        (None, ']') => {
                            depth -= 1;
                            if depth == 0 {
                                break;
                            }
                        }
                        _ => {}
                    }
                    inner.push(c);
                }
                out.push('[');
                out.push_str(&inner);
                out.push(']');
            }
            _ => {
                let mut name = String::from(c);
                name.push_str(&take_name(&mut chars));
                out.push_str(&bracketed(&name));
            }
        }
    }
    out
}

fn take_name(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) -> String {
    let mut name = String::new();
    while let Some(c) = chars.peek().copied() {
        match c {
            '\\' => {
                chars.next();
                name.extend(chars.next());
            }
            '.' | '[' => break,
            _ => {
                name.push(c);
                chars.next();
            }
        }
    }
    name
}

fn bracketed(name: &str) -> String {
    if name == "*" {
        return "[*]".into();
    }
    format!("['{}']", name.replace('\\', "\\\\").replace('\'', "\\'"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(template: &str, expected: &str) {
        let value = json!({
            "kind": "List",
            "metadata": {"annotations": {"a.b/c": "x"}},
            "items": [
                {"name": "web", "n": 1, "ok": true, "tags": ["a", "b"]},
                {"name": "db", "n": 2, "ok": false, "tags": []}
            ]
        });
        assert_eq!(print(template, &value).as_deref(), Ok(expected), "{template}");
    }

    #[test]
    fn kubectls_forms() {
        check("{.kind}", "List");
        check(".kind", "List");
        check("{.items[*].name}", "web db");
        check("{.items[0].tags}", r#"["a","b"]"#);
        check(r"{.metadata.annotations.a\.b/c}", "x");
        check(r#"{.items[?(@.name=="db")].n}"#, "2");
        check(r#"{range .items[*]}{.name}{"\t"}{.ok}{"\n"}{end}"#, "web\ttrue\ndb\tfalse\n");
        check("n={.items[1].n};", "n=2;");
        check("{.nothing}", "");
    }

    #[test]
    fn broken_templates_say_why() {
        assert_eq!(print("{.a", &json!({})), Err(Error::Unbalanced("{ without }")));
        assert_eq!(
            print("{range .a}x", &json!({})),
            Err(Error::Unbalanced("{range} without {end}"))
        );
    }
}
