//! Values and strings as Go prints them; messages of an API server carry such text.

use serde_json::Value;

/// `%v` of a decoded JSON value: `map[a:1 b:[x y]]`.
#[must_use]
pub fn plain(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::Bool(it) => it.to_string(),
        Value::Number(it) => it.to_string(),
        Value::String(it) => it.clone(),
        Value::Array(items) => {
            format!("[{}]", items.iter().map(plain).collect::<Vec<_>>().join(" "))
        }
        Value::Object(fields) => {
            let mut all: Vec<_> = fields.iter().collect();
            all.sort_by_key(|(key, _)| key.as_str());
            let all: Vec<_> =
                all.into_iter().map(|(key, value)| format!("{key}:{}", plain(value))).collect();
            format!("map[{}]", all.join(" "))
        }
    }
}

/// `%#v` of a decoded JSON value.
#[must_use]
pub fn syntax(value: &Value) -> String {
    match value {
        Value::Null => "interface {}(nil)".to_owned(),
        Value::Bool(_) | Value::Number(_) => plain(value),
        Value::String(it) => quoted(it),
        Value::Array(items) => {
            format!(
                "[]interface {{}}{{{}}}",
                items.iter().map(syntax).collect::<Vec<_>>().join(", ")
            )
        }
        Value::Object(fields) => {
            let mut all: Vec<_> = fields.iter().collect();
            all.sort_by_key(|(key, _)| key.as_str());
            let all: Vec<_> = all
                .into_iter()
                .map(|(key, value)| format!("{}:{}", quoted(key), syntax(value)))
                .collect();
            format!("map[string]interface {{}}{{{}}}", all.join(", "))
        }
    }
}

/// `%T` of a decoded JSON value.
#[must_use]
pub fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Number(it) if it.is_f64() => "float64",
        Value::Number(_) => "int64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}

/// `%q`.
#[must_use]
pub fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if (c as u32) < 0x20 || c as u32 == 0x7f => {
                out.push_str(&format!("\\x{:02x}", c as u32))
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Compact JSON, as Go writes it.
#[must_use]
pub fn json(value: &Value) -> String {
    escaped(value.to_string())
}

/// JSON as Go writes it: what a browser might take for something else is escaped.
#[must_use]
pub fn escaped(json: String) -> String {
    let special = |c: char| "<>&\u{2028}\u{2029}".contains(c);
    if !json.contains(special) {
        return json;
    }
    let mut out = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        match special(c) {
            true => out.push_str(&format!("\\u{:04x}", c as u32)),
            false => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    #[test]
    fn json_is_safe_in_a_browser() {
        let text = super::json(&json!({"a<b": "x & y > z\u{2028}\u{2029}é"}));
        assert_eq!(text, r#"{"a\u003cb":"x \u0026 y \u003e z\u2028\u2029é"}"#);
    }
}
