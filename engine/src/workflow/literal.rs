//! Values as CUE text, as the context ConfigMap keeps them, and back (E-118).

use cue_syntax::ast::{Decl, Element, Expr, ExprKind, Label, Unary};
use cue_syntax::{Style, format_tree, parse_file, parse_tree, unquote};
use serde_json::{Map, Number, Value};

/// One field a line, sorted, formatted; a single line end if there is none.
pub fn write(values: &Map<String, Value>) -> String {
    let mut names: Vec<&String> = values.keys().collect();
    names.sort_unstable();
    let mut text = String::new();
    for name in names {
        label(&mut text, name);
        value(&mut text, &values[name]);
        text.push('\n');
    }
    if text.is_empty() { "\n".into() } else { formatted(text) }
}

/// As `cue fmt` writes it; as it is, if it is no CUE.
pub fn formatted(text: String) -> String {
    let (tree, errors) = parse_tree(&text);
    if errors.is_empty() { format_tree(&tree, Style::Plain) } else { text }
}

fn label(out: &mut String, name: &str) {
    let mut chars = name.chars();
    let plain = chars.next().is_some_and(|it| it.is_ascii_alphabetic())
        && chars.all(|it| it.is_ascii_alphanumeric() || it == '_')
        && !["true", "false", "null", "let", "for", "if", "in", "import", "package"]
            .contains(&name);
    if plain {
        out.push_str(name);
    } else {
        out.push_str(&unquote::quote(name));
    }
    out.push_str(": ");
}

fn value(out: &mut String, it: &Value) {
    match it {
        Value::String(text) => out.push_str(&unquote::quote(text)),
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                value(out, item);
            }
            out.push(']');
        }
        Value::Object(map) if map.is_empty() => out.push_str("{}"),
        Value::Object(map) => {
            out.push_str("{\n");
            for (name, it) in map {
                label(out, name);
                value(out, it);
                out.push('\n');
            }
            out.push('}');
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => out.push_str(&it.to_string()),
    }
}

/// Reads what [`write`] wrote, or JSON. What is no plain data is null.
pub fn read(text: &str) -> Map<String, Value> {
    if let Ok(Value::Object(map)) = serde_json::from_str(text) {
        return map;
    }
    let parsed = parse_file(text);
    if !parsed.errors.is_empty() {
        return Map::new();
    }
    fields(&parsed.file.decls)
}

fn fields(decls: &[Decl]) -> Map<String, Value> {
    let mut all = Map::new();
    for decl in decls {
        let Decl::Field(field) = decl else { continue };
        let name = match &field.label {
            Label::Ident(name) => name.name.to_string(),
            Label::String(name, _) => name.to_string(),
            Label::Interpolated(_) | Label::Dynamic(_) | Label::Pattern(..) => continue,
        };
        let read = data(&field.value);
        // `a: b: 1` and `a: c: 2` are one struct.
        match (all.get_mut(&name), read) {
            (Some(Value::Object(old)), Value::Object(new)) => old.extend(new),
            (_, read) => {
                all.insert(name, read);
            }
        }
    }
    all
}

fn data(expr: &Expr) -> Value {
    match &expr.kind {
        ExprKind::Bool(it) => Value::Bool(*it),
        ExprKind::Number(text) => number(text),
        ExprKind::String(text) => Value::String(text.to_string()),
        ExprKind::Struct(decls) => Value::Object(fields(decls)),
        ExprKind::List(items) => Value::Array(
            items
                .iter()
                .filter_map(|it| match it {
                    Element::Expr(expr) => Some(data(expr)),
                    Element::Ellipsis(_) => None,
                })
                .collect(),
        ),
        ExprKind::Unary(Unary::Minus, inner) => match data(inner) {
            Value::Number(it) => number(&format!("-{it}")),
            _ => Value::Null,
        },
        ExprKind::Paren(inner) => data(inner),
        _ => Value::Null,
    }
}

fn number(text: &str) -> Value {
    text.replace('_', "").parse::<Number>().map_or(Value::Null, Value::Number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn written_as_the_official_engine_does() {
        let cases = [
            (json!({}), "\n"),
            (json!({"host": "h.local"}), "host: \"h.local\"\n"),
            (
                json!({"o": {"text": "go", "number": 5, "list": ["a", "b"], "nested": {"inner": {"name": "app"}}}, "n": 5}),
                "n: 5\no: {\n\ttext:   \"go\"\n\tnumber: 5\n\tlist: [\"a\", \"b\"]\n\tnested: {\n\t\tinner: {\n\t\t\tname: \"app\"\n\t\t}\n\t}\n}\n",
            ),
            (json!({"b": null, "a-b": true}), "\"a-b\": true\nb:     null\n"),
        ];
        for (value, text) in cases {
            let map = value.as_object().expect("an object");
            assert_eq!(write(map), text);
            assert_eq!(Value::Object(read(text)), value);
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let value = json!({
            "deep": {"list": [{"a": -1.5, "b": [[]]}, {}], "text": "line\nquote \" tab\t \u{e4} \\(x)"},
            "for": 1, "": 2, "1x": 12_345_678_901_234_u64, "_hidden": "h", "#d": "d", "null": false,
        });
        let map = value.as_object().expect("an object");
        assert_eq!(Value::Object(read(&write(map))), value);
        assert_eq!(Value::Object(read(&value.to_string())), value);
        assert_eq!(
            read("a: string\nb: 13.0\nc: d: 1\nc: e: 2"),
            *json!({"a": null, "b": 13.0, "c": {"d": 1, "e": 2}}).as_object().expect("an object")
        );
        assert!(read("a: {").is_empty());
    }
}
