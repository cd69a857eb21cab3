//! Scalars as CUE text: texts of several lines on lines of their own (O-72).

use std::fmt::Write as _;

use cue_builtin::Datum;

/// A scalar (O-72); text of several lines is written so.
pub fn scalar_text(datum: &Datum, depth: usize) -> String {
    match datum {
        Datum::String(text) if text.contains('\n') => multiline(text, depth),
        Datum::Bytes(bytes) if bytes.contains(&b'\n') => {
            let quoted = datum.cue_text();
            let inner = quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default();
            let indent = "\t".repeat(depth + 1);
            let lines: Vec<String> = inner
                .split("\\n")
                .map(|line| match line.replace("\\'", "'") {
                    line if line.is_empty() => line,
                    line => format!("{indent}{line}"),
                })
                .collect();
            format!("'''\n{}\n{indent}'''", lines.join("\n"))
        }
        Datum::Function(name) => name.text(),
        other => other.literal(),
    }
}

/// A text on lines of its own, with as many `#` as it needs.
pub fn multiline(text: &str, depth: usize) -> String {
    let indent = "\t".repeat(depth + 1);
    let mut hashes = String::new();
    while text.contains(&format!("\"\"\"{hashes}")) {
        hashes.push('#');
    }
    let mut out = format!("{hashes}\"\"\"\n");
    for line in text.split('\n') {
        let quoted = Datum::text(line).cue_text();
        let inner = quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default();
        if inner.is_empty() {
            out.push('\n');
            continue;
        }
        let mut inner = inner.replace("\\\"", "\"");
        if !hashes.is_empty() {
            inner = escaped(&inner, &hashes);
        }
        let _ = writeln!(out, "{indent}{inner}");
    }
    let _ = write!(out, "{indent}\"\"\"{hashes}");
    out
}

/// A literal of several lines, as it is written, with the indentation of its place.
pub fn indented(literal: &str, depth: usize) -> String {
    let Some((before, last)) = literal.rsplit_once('\n') else { return literal.to_owned() };
    let quotes = last.trim_start();
    let old = last.strip_suffix(quotes).unwrap_or_default();
    let indent = "\t".repeat(depth + 1);
    let mut out = String::with_capacity(literal.len());
    for (at, line) in before.lines().enumerate() {
        // Only what is empty may be indented less.
        let line = if at == 0 { line } else { line.strip_prefix(old).unwrap_or_default() };
        if at > 0 && !line.is_empty() {
            out.push_str(&indent);
        }
        out.push_str(line);
        out.push('\n');
    }
    out + &indent + quotes
}

/// Escapes of a text in quotes with `#`.
fn escaped(text: &str, hashes: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        out.push(c);
        if c == '\\' {
            out.push_str(hashes);
            out.extend(chars.next());
        }
    }
    out
}
