//! How Go says it: syntax errors of its JSON reader, values as its `%v` prints them.

use serde_json::{Map, Value};

/// What Go's reader says of a text that is not JSON; `None` if it is.
#[must_use]
pub fn json_error(text: &[u8]) -> Option<String> {
    let mut scan = Scan { text, at: 0 };
    match scan.value().and_then(|()| scan.end()) {
        Ok(()) => None,
        Err(Wrong::End) => Some("unexpected end of JSON input".to_owned()),
        Err(Wrong::Character(byte, why)) => {
            Some(format!("invalid character {} {why}", quoted(byte)))
        }
    }
}

enum Wrong {
    End,
    Character(u8, String),
}

struct Scan<'a> {
    text: &'a [u8],
    at: usize,
}

impl Scan<'_> {
    fn peek(&mut self) -> Result<u8, Wrong> {
        while self.text.get(self.at).is_some_and(|byte| b" \t\r\n".contains(byte)) {
            self.at += 1;
        }
        self.text.get(self.at).copied().ok_or(Wrong::End)
    }

    fn next(&mut self) -> Result<u8, Wrong> {
        let byte = self.text.get(self.at).copied().ok_or(Wrong::End)?;
        self.at += 1;
        Ok(byte)
    }

    fn end(&mut self) -> Result<(), Wrong> {
        match self.peek() {
            Err(_) => Ok(()),
            Ok(byte) => Err(Wrong::Character(byte, "after top-level value".to_owned())),
        }
    }

    // The nesting is counted, not recursed into: a body may be megabytes of brackets.
    fn value(&mut self) -> Result<(), Wrong> {
        let mut open: Vec<u8> = Vec::new();
        loop {
            let wrong = |byte, why: &str| Err(Wrong::Character(byte, why.to_owned()));
            match self.peek()? {
                b'{' => {
                    self.at += 1;
                    if self.peek()? == b'}' {
                        self.at += 1;
                    } else {
                        open.push(b'{');
                        self.key()?;
                        continue;
                    }
                }
                b'[' => {
                    self.at += 1;
                    if self.peek()? == b']' {
                        self.at += 1;
                    } else {
                        open.push(b'[');
                        continue;
                    }
                }
                b'"' => self.string()?,
                b't' => self.literal("true")?,
                b'f' => self.literal("false")?,
                b'n' => self.literal("null")?,
                b'-' | b'0'..=b'9' => self.number()?,
                other => return wrong(other, "looking for beginning of value"),
            }
            loop {
                let Some(inside) = open.last().copied() else { return Ok(()) };
                let byte = self.peek()?;
                self.at += 1;
                match (inside, byte) {
                    (b'{', b',') => {
                        self.key()?;
                        break;
                    }
                    (b'[', b',') => break,
                    (b'{', b'}') | (b'[', b']') => {
                        open.pop();
                    }
                    (b'{', other) => return wrong(other, "after object key:value pair"),
                    (_, other) => return wrong(other, "after array element"),
                }
            }
        }
    }

    fn key(&mut self) -> Result<(), Wrong> {
        match self.peek()? {
            b'"' => self.string()?,
            other => {
                let why = "looking for beginning of object key string";
                return Err(Wrong::Character(other, why.to_owned()));
            }
        }
        match self.peek()? {
            b':' => self.at += 1,
            other => return Err(Wrong::Character(other, "after object key".to_owned())),
        }
        Ok(())
    }

    fn string(&mut self) -> Result<(), Wrong> {
        self.at += 1;
        loop {
            match self.next()? {
                b'"' => return Ok(()),
                b'\\' => match self.next()? {
                    b'u' => {
                        for _ in 0..4 {
                            let byte = self.next()?;
                            if !byte.is_ascii_hexdigit() {
                                let why = "in \\u hexadecimal character escape";
                                return Err(Wrong::Character(byte, why.to_owned()));
                            }
                        }
                    }
                    b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => {}
                    other => {
                        let why = "in string escape code";
                        return Err(Wrong::Character(other, why.to_owned()));
                    }
                },
                other if other < 0x20 => {
                    return Err(Wrong::Character(other, "in string literal".to_owned()));
                }
                _ => {}
            }
        }
    }

    fn literal(&mut self, word: &str) -> Result<(), Wrong> {
        self.at += 1;
        for wanted in word.bytes().skip(1) {
            let byte = self.next()?;
            if byte != wanted {
                let why = format!("in literal {word} (expecting {})", quoted(wanted));
                return Err(Wrong::Character(byte, why));
            }
        }
        Ok(())
    }

    fn digits(&mut self, why: &str) -> Result<(), Wrong> {
        let first = self.next()?;
        if !first.is_ascii_digit() {
            return Err(Wrong::Character(first, why.to_owned()));
        }
        while self.text.get(self.at).is_some_and(u8::is_ascii_digit) {
            self.at += 1;
        }
        Ok(())
    }

    fn number(&mut self) -> Result<(), Wrong> {
        if self.text.get(self.at) == Some(&b'-') {
            self.at += 1;
        }
        if self.text.get(self.at) == Some(&b'0') {
            self.at += 1;
        } else {
            self.digits("in numeric literal")?;
        }
        if self.text.get(self.at) == Some(&b'.') {
            self.at += 1;
            self.digits("after decimal point in numeric literal")?;
        }
        if self.text.get(self.at).is_some_and(|byte| b"eE".contains(byte)) {
            self.at += 1;
            if self.text.get(self.at).is_some_and(|byte| b"+-".contains(byte)) {
                self.at += 1;
            }
            self.digits("in exponent of numeric literal")?;
        }
        Ok(())
    }
}

fn quoted(byte: u8) -> String {
    match byte {
        b'\'' => "'\\''".to_owned(),
        b'"' => "'\"'".to_owned(),
        b'\n' => "'\\n'".to_owned(),
        b'\t' => "'\\t'".to_owned(),
        b'\r' => "'\\r'".to_owned(),
        0x20..=0x7e => format!("'{}'", char::from(byte)),
        // A byte is taken for the character of that number.
        0x80..=0xa0 | 0xad => format!("'\\u00{byte:02x}'"),
        0xa1.. => format!("'{}'", char::from(byte)),
        other => format!("'\\x{other:02x}'"),
    }
}

/// A value as `%v` prints what Go made of it, and the name of that type.
#[must_use]
pub fn printed(value: &Value) -> (String, &'static str) {
    match value {
        Value::Null => ("<nil>".to_owned(), "<nil>"),
        Value::Bool(it) => (it.to_string(), "bool"),
        Value::Number(it) if it.is_i64() => (it.to_string(), "int64"),
        Value::Number(it) => (it.to_string(), "float64"),
        Value::String(it) => (it.clone(), "string"),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| printed(item).0).collect();
            (format!("[{}]", items.join(" ")), "[]interface {}")
        }
        Value::Object(fields) => {
            let mut keys: Vec<&String> = fields.keys().collect();
            keys.sort();
            let shown = |key: &&String| fields.get(*key).map(|value| printed(value).0);
            let fields: Vec<String> = keys
                .iter()
                .map(|key| format!("{key}:{}", shown(key).unwrap_or_default()))
                .collect();
            (format!("map[{}]", fields.join(" ")), "map[string]interface {}")
        }
    }
}

/// What Go calls the shape of a value.
#[must_use]
pub fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "invalid",
        Value::Bool(_) => "bool",
        Value::Number(it) if it.is_i64() => "int64",
        Value::Number(_) => "float64",
        Value::String(_) => "string",
        Value::Array(_) => "slice",
        Value::Object(_) => "map",
    }
}

/// The order in which Go writes the fields of metadata.
const METADATA: [&str; 15] = [
    "name",
    "generateName",
    "namespace",
    "selfLink",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "labels",
    "annotations",
    "ownerReferences",
    "finalizers",
    "managedFields",
];

/// An object as a patch leaves it: the top sorted, metadata in the order of its struct.
#[must_use]
pub fn patched_text(object: &Value) -> String {
    let Some(fields) = object.as_object() else { return object.to_string() };
    let mut keys: Vec<&String> = fields.keys().collect();
    keys.sort();
    let mut all = Map::new();
    for key in keys {
        let value = fields.get(key).cloned().unwrap_or_default();
        let value = match value {
            Value::Object(metadata) if key == "metadata" => {
                let place = |key: &String| {
                    METADATA.iter().position(|one| one == key).unwrap_or(METADATA.len())
                };
                let mut entries: Vec<(String, Value)> = metadata.into_iter().collect();
                entries.sort_by_key(|(key, _)| place(key));
                Value::Object(entries.into_iter().collect())
            }
            other => other,
        };
        all.insert(key.clone(), value);
    }
    Value::Object(all).to_string()
}

/// Texts as Go's `%q` shows a list of them.
pub(crate) fn quoted_list(texts: &[&str]) -> String {
    let all: Vec<String> = texts.iter().map(|text| format!("{text:?}")).collect();
    format!("[{}]", all.join(" "))
}

#[cfg(test)]
mod tests {
    use super::json_error;

    #[test]
    fn syntax_errors_are_said_as_go_says_them() {
        for (text, said) in [
            ("{\"a\": [1, 2.5e3, null]} ", None),
            ("", Some("unexpected end of JSON input")),
            ("{", Some("unexpected end of JSON input")),
            ("{bad", Some("invalid character 'b' looking for beginning of object key string")),
            ("\u{1}", Some("invalid character '\\x01' looking for beginning of value")),
            ("nojson", Some("invalid character 'o' in literal null (expecting 'u')")),
            ("[1 2]", Some("invalid character '2' after array element")),
            ("{\"a\" 1}", Some("invalid character '1' after object key")),
            ("{} x", Some("invalid character 'x' after top-level value")),
            ("<a>", Some("invalid character '<' looking for beginning of value")),
        ] {
            assert_eq!(json_error(text.as_bytes()).as_deref(), said, "{text}");
        }
    }

    #[test]
    fn a_body_of_brackets_is_read_without_recursion() {
        let text = "[".repeat(2_000_000);
        assert_eq!(json_error(text.as_bytes()).as_deref(), Some("unexpected end of JSON input"));
    }
}
