//! JSON as `cue export` and `json.Marshal` write it, and a reader that keeps numbers exact.
//!
//! Every rendering does both. In the sandbox this crate is built for size: what is `#[inline]` here
//! is built with the evaluator, for speed.

use std::sync::Arc;

use base64::Engine as _;

use super::{DecodeError, Entry, Sink, Tree, write};
use crate::Datum;
use crate::number::Number;

/// How JSON is laid out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Layout {
    /// No white space: `json.Marshal`.
    Compact,
    /// Four spaces for each level: `cue export`.
    Indented,
}

/// Whether `<`, `>` and `&` are escaped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Html {
    /// They stay.
    Plain,
    /// `\u003c`, `\u003e`, `\u0026`
    Escaped,
}

/// Writes JSON from pieces.
#[derive(Debug)]
pub struct Writer {
    out: String,
    layout: Layout,
    html: Html,
    /// For each open list or struct: whether something is in it.
    open: Vec<bool>,
    after_key: bool,
}

impl Writer {
    /// A writer without output.
    pub fn new(layout: Layout, html: Html) -> Writer {
        Writer { out: String::new(), layout, html, open: Vec::new(), after_key: false }
    }

    /// The text; no newline at its end.
    pub fn finish(self) -> String {
        self.out
    }

    fn new_line(&mut self) {
        if self.layout == Layout::Indented {
            self.out.push('\n');
            for _ in 0..self.open.len() {
                self.out.push_str("    ");
            }
        }
    }

    #[inline]
    fn before_value(&mut self) {
        if std::mem::take(&mut self.after_key) {
            return;
        }
        match self.open.last_mut() {
            Some(used) => {
                if std::mem::replace(used, true) {
                    self.out.push(',');
                }
                self.new_line();
            }
            None if !self.out.is_empty() => self.out.push('\n'),
            None => {}
        }
    }

    fn end(&mut self, bracket: char) {
        if self.open.pop() == Some(true) {
            self.new_line();
        }
        self.out.push(bracket);
    }
}

impl Sink for Writer {
    fn null(&mut self) {
        self.before_value();
        self.out.push_str("null");
    }

    fn bool(&mut self, value: bool) {
        self.before_value();
        self.out.push_str(if value { "true" } else { "false" });
    }

    fn number(&mut self, value: &Number) {
        self.before_value();
        self.out.push_str(&value.to_string());
    }

    #[inline]
    fn string(&mut self, value: &str) {
        self.before_value();
        quote(&mut self.out, value, self.html);
    }

    fn bytes(&mut self, value: &[u8]) {
        self.before_value();
        self.out.push('"');
        base64::engine::general_purpose::STANDARD.encode_string(value, &mut self.out);
        self.out.push('"');
    }

    fn begin_list(&mut self) {
        self.before_value();
        self.out.push('[');
        self.open.push(false);
    }

    fn end_list(&mut self) {
        self.end(']');
    }

    fn begin_struct(&mut self) {
        self.before_value();
        self.out.push('{');
        self.open.push(false);
    }

    #[inline]
    fn key(&mut self, label: &str) {
        self.before_value();
        quote(&mut self.out, label, self.html);
        self.out.push_str(if self.layout == Layout::Indented { ": " } else { ":" });
        self.after_key = true;
    }

    fn end_struct(&mut self) {
        self.end('}');
    }

    fn written(&self) -> usize {
        self.out.len()
    }
}

/// Appends `text` as a JSON string.
#[inline]
pub fn quote(out: &mut String, text: &str, html: Html) {
    out.reserve(text.len() + 2);
    out.push('"');
    let bytes = text.as_bytes();
    let mut plain = 0;
    for (at, byte) in bytes.iter().enumerate() {
        let escape: &str = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0x8 => "\\b",
            0xc => "\\f",
            b'<' if html == Html::Escaped => "\\u003c",
            b'>' if html == Html::Escaped => "\\u003e",
            b'&' if html == Html::Escaped => "\\u0026",
            ..b' ' => "",
            // Line and paragraph separator.
            0xe2 if bytes[at..].starts_with("\u{2028}".as_bytes()) => "\\u2028",
            0xe2 if bytes[at..].starts_with("\u{2029}".as_bytes()) => "\\u2029",
            _ => continue,
        };
        out.push_str(&text[plain..at]);
        if escape.is_empty() {
            out.push_str(&format!("\\u{byte:04x}"));
        } else {
            out.push_str(escape);
        }
        plain = at + if *byte == 0xe2 { 3 } else { 1 };
    }
    out.push_str(&text[plain..]);
    out.push('"');
}

/// Plain data as JSON.
#[inline]
pub fn encode(datum: &Datum, layout: Layout) -> String {
    encode_with(datum, layout, Html::Plain)
}

/// Plain data as JSON, with or without what means something in HTML.
#[inline]
pub fn encode_with(datum: &Datum, layout: Layout, html: Html) -> String {
    let mut writer = Writer::new(layout, html);
    write(datum, &mut writer);
    writer.finish()
}

/// JSON, which is taken to be right, laid out over lines as [`encode`] does, without reading its values.
pub fn indented(text: &str, html: Html) -> String {
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len() + 1);
    let (mut depth, mut at) = (0, 0);
    let new_line = |out: &mut String, depth: usize| {
        out.push('\n');
        out.extend(std::iter::repeat_n("    ", depth));
    };
    while let Some(byte) = bytes.get(at) {
        let start = at;
        at += 1;
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' => {}
            b'{' | b'[' => {
                out.push(char::from(*byte));
                at += bytes[at..].iter().take_while(|it| it.is_ascii_whitespace()).count();
                if let Some(end @ (b'}' | b']')) = bytes.get(at) {
                    out.push(char::from(*end));
                    at += 1;
                } else {
                    depth += 1;
                    new_line(&mut out, depth);
                }
            }
            b'}' | b']' => {
                depth = usize::saturating_sub(depth, 1);
                new_line(&mut out, depth);
                out.push(char::from(*byte));
            }
            b',' => {
                out.push(',');
                new_line(&mut out, depth);
            }
            b':' => out.push_str(": "),
            b'"' => {
                while !matches!(bytes.get(at), None | Some(b'"')) {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                at = (at + 1).min(bytes.len());
                push_string(&mut out, text.get(start..at).unwrap_or_default(), html);
            }
            _ => {
                at += bytes[at..].iter().take_while(|it| !b",]} \t\r\n".contains(it)).count();
                out.push_str(text.get(start..at).unwrap_or_default());
            }
        }
    }
    out
}

/// A string with its quotes, as it is written but for what means something in HTML.
fn push_string(out: &mut String, text: &str, html: Html) {
    let mut rest = text;
    while let Some(at) = rest.find(['<', '>', '&']).filter(|_| html == Html::Escaped) {
        out.push_str(&rest[..at]);
        out.push_str(match rest.as_bytes()[at] {
            b'<' => "\\u003c",
            b'>' => "\\u003e",
            _ => "\\u0026",
        });
        rest = &rest[at + 1..];
    }
    out.push_str(rest);
}

/// How many values a text holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Values {
    /// Exactly one.
    One,
    /// Any number, one after another.
    Stream,
}

/// What to make of text inside strings that is not Unicode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Check {
    /// Only the grammar counts, as for Go's `json.Valid`.
    Grammar,
    /// Lone surrogates and bytes that are not UTF-8 are errors.
    Text,
}

/// Reads JSON. Numbers keep their digits, duplicate labels stay.
#[inline]
pub fn decode(text: &[u8], values: Values) -> Result<Tree, DecodeError> {
    Reader { text, at: 0, check: Check::Text, tree: Tree::default() }.run(values)
}

/// Whether `text` is exactly one value by the grammar.
pub fn check(text: &[u8]) -> Result<(), DecodeError> {
    Reader { text, at: 0, check: Check::Grammar, tree: Tree::default() }
        .run(Values::One)
        .map(|_| ())
}

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
    check: Check,
    tree: Tree,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    List,
    Struct,
}

impl Reader<'_> {
    #[inline]
    fn run(mut self, values: Values) -> Result<Tree, DecodeError> {
        loop {
            self.space();
            if self.at == self.text.len() && values == Values::Stream {
                return Ok(self.tree);
            }
            self.value()?;
            if values == Values::One {
                self.space();
                if self.at < self.text.len() {
                    return Err(self.unexpected("after top-level value"));
                }
                return Ok(self.tree);
            }
        }
    }

    #[inline]
    fn push(&mut self, entry: Entry, at: usize) {
        // The grammar check keeps nothing.
        if self.check == Check::Text {
            self.tree.entries.push((entry, u32::try_from(at).unwrap_or(u32::MAX)));
        }
    }

    #[inline]
    fn space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.text.get(self.at) {
            self.at += 1;
        }
    }

    fn unexpected(&self, place: &str) -> DecodeError {
        let message = match self.text.get(self.at) {
            None => "unexpected end of JSON input".to_owned(),
            Some(b'\'') => format!(r"invalid character '\'' {place}"),
            Some(b'"') => format!("invalid character '\"' {place}"),
            Some(byte) => {
                let c = char::from(*byte);
                let quoted = crate::quote_rune(c);
                format!("invalid character {quoted} {place}")
            }
        };
        DecodeError { message, offset: self.at }
    }

    #[inline]
    fn value(&mut self) -> Result<(), DecodeError> {
        let mut open: Vec<Open> = Vec::new();
        loop {
            // A value, or the first thing in a list or struct.
            self.space();
            let start = self.at;
            let mut closed = false;
            match self.text.get(self.at) {
                Some(b'{') => {
                    self.at += 1;
                    self.push(Entry::Struct, start);
                    open.push(Open::Struct);
                    self.space();
                    if self.text.get(self.at) == Some(&b'}') {
                        closed = true;
                    } else {
                        self.label()?;
                        continue;
                    }
                }
                Some(b'[') => {
                    self.at += 1;
                    self.push(Entry::List, start);
                    open.push(Open::List);
                    self.space();
                    if self.text.get(self.at) == Some(&b']') {
                        closed = true;
                    } else {
                        continue;
                    }
                }
                Some(b'"') => {
                    let text = self.string()?;
                    self.push(Entry::Scalar(Datum::text(text)), start);
                }
                Some(b'-' | b'0'..=b'9') => self.number()?,
                Some(b't') => self.word("true", Datum::Bool(true))?,
                Some(b'f') => self.word("false", Datum::Bool(false))?,
                Some(b'n') => self.word("null", Datum::Null)?,
                _ => return Err(self.unexpected("looking for beginning of value")),
            }
            // What follows a value.
            loop {
                if closed {
                    let at = self.at;
                    self.at += 1;
                    self.push(Entry::End, at);
                    open.pop();
                }
                let Some(inner) = open.last().copied() else { return Ok(()) };
                self.space();
                match (self.text.get(self.at), inner) {
                    (Some(b','), Open::List) => self.at += 1,
                    (Some(b','), Open::Struct) => {
                        self.at += 1;
                        self.space();
                        self.label()?;
                    }
                    (Some(b']'), Open::List) | (Some(b'}'), Open::Struct) => {
                        closed = true;
                        continue;
                    }
                    (_, Open::List) => return Err(self.unexpected("after array element")),
                    (_, Open::Struct) => {
                        return Err(self.unexpected("after object key:value pair"));
                    }
                }
                break;
            }
        }
    }

    #[inline]
    fn label(&mut self) -> Result<(), DecodeError> {
        let start = self.at;
        if self.text.get(self.at) != Some(&b'"') {
            return Err(self.unexpected("looking for beginning of object key string"));
        }
        let label = self.string()?;
        self.push(Entry::Key(label), start);
        self.space();
        if self.text.get(self.at) != Some(&b':') {
            return Err(self.unexpected("after object key"));
        }
        self.at += 1;
        Ok(())
    }

    fn word(&mut self, word: &str, datum: Datum) -> Result<(), DecodeError> {
        let start = self.at;
        for expected in word.bytes() {
            if self.text.get(self.at) != Some(&expected) {
                let expected = char::from(expected);
                return Err(self.unexpected(&format!("in literal {word} (expecting '{expected}')")));
            }
            self.at += 1;
        }
        self.push(Entry::Scalar(datum), start);
        Ok(())
    }

    fn digits(&mut self, place: &str) -> Result<(), DecodeError> {
        if !self.text.get(self.at).is_some_and(u8::is_ascii_digit) {
            return Err(self.unexpected(place));
        }
        while self.text.get(self.at).is_some_and(u8::is_ascii_digit) {
            self.at += 1;
        }
        Ok(())
    }

    fn number(&mut self) -> Result<(), DecodeError> {
        let start = self.at;
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
        if let Some(b'e' | b'E') = self.text.get(self.at) {
            self.at += 1;
            if let Some(b'+' | b'-') = self.text.get(self.at) {
                self.at += 1;
            }
            self.digits("in exponent of numeric literal")?;
        }
        let digits = std::str::from_utf8(&self.text[start..self.at]).unwrap_or("0");
        let number = Number::parse_signed(digits)
            .map_err(|error| DecodeError { message: error.to_string(), offset: start })?;
        self.push(Entry::Scalar(Datum::Number(number)), start);
        Ok(())
    }

    #[inline]
    fn string(&mut self) -> Result<Arc<str>, DecodeError> {
        let start = self.at;
        self.at += 1;
        let mut out: Vec<u8> = Vec::new();
        loop {
            let plain = self.at;
            let rest = &self.text[plain..];
            let special = |byte: &u8| *byte < 0x20 || matches!(byte, b'"' | b'\\');
            self.at += rest.iter().position(special).unwrap_or(rest.len());
            let text = &self.text[plain..self.at];
            // Most have no escapes: they are not copied twice.
            if let (true, Some(b'"'), Ok(text)) =
                (out.is_empty(), self.text.get(self.at), std::str::from_utf8(text))
            {
                self.at += 1;
                return Ok(text.into());
            }
            out.extend_from_slice(text);
            match self.text.get(self.at) {
                Some(b'"') => {
                    self.at += 1;
                    break;
                }
                Some(b'\\') => {
                    self.at += 1;
                    self.escape(start, &mut out)?;
                }
                _ => return Err(self.unexpected("in string literal")),
            }
        }
        match String::from_utf8(out) {
            Ok(text) => Ok(text.into()),
            Err(_) if self.check == Check::Grammar => Ok("".into()),
            Err(_) => Err(DecodeError {
                message: "could not parse JSON: illegal UTF-8 encoding".to_owned(),
                offset: start,
            }),
        }
    }

    fn escape(&mut self, start: usize, out: &mut Vec<u8>) -> Result<(), DecodeError> {
        let byte = match self.text.get(self.at) {
            Some(b'"') => b'"',
            Some(b'\\') => b'\\',
            Some(b'/') => b'/',
            Some(b'b') => 8,
            Some(b'f') => 12,
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(b'u') => {
                self.at += 1;
                let first = self.hex()?;
                let mut code = first;
                if (0xd800..0xdc00).contains(&first)
                    && self.text.get(self.at) == Some(&b'\\')
                    && self.text.get(self.at + 1) == Some(&b'u')
                {
                    let before = self.at;
                    self.at += 2;
                    let second = self.hex()?;
                    if (0xdc00..0xe000).contains(&second) {
                        code = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                    } else {
                        self.at = before;
                    }
                }
                let c = match char::from_u32(code) {
                    Some(c) => c,
                    None if self.check == Check::Grammar => '\u{fffd}',
                    None => {
                        return Err(DecodeError {
                            message: "invalid string: unmatched surrogate pair".to_owned(),
                            offset: start,
                        });
                    }
                };
                out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                return Ok(());
            }
            _ => return Err(self.unexpected("in string escape code")),
        };
        self.at += 1;
        out.push(byte);
        Ok(())
    }

    fn hex(&mut self) -> Result<u32, DecodeError> {
        let mut code = 0;
        for _ in 0..4 {
            let digit = self.text.get(self.at).and_then(|byte| char::from(*byte).to_digit(16));
            let Some(digit) = digit else {
                return Err(self.unexpected("in \\u hexadecimal character escape"));
            };
            code = code * 16 + digit;
            self.at += 1;
        }
        Ok(code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_is_written() {
        for (source, compact) in [
            (
                r#" {"a": [1, 2.50, 1e3, -0, true], "b": {}, "c": [], "d": null} "#,
                r#"{"a":[1,2.50,1E+3,0,true],"b":{},"c":[],"d":null}"#,
            ),
            (r#""\u00e9\/\ud83d\ude00\n\u0001<>&""#, "\"é/😀\\n\\u0001<>&\""),
            (r#"{"a":1,"a":2}"#, r#"{"a":1,"a":2}"#),
        ] {
            let tree = decode(source.as_bytes(), Values::One).unwrap();
            assert_eq!(encode(&tree.into_datum(), Layout::Compact), compact);
        }
        let tree = decode(br#"{"a":[1,[]],"b":{}}"#, Values::One).unwrap();
        assert_eq!(
            encode(&tree.into_datum(), Layout::Indented),
            "{\n    \"a\": [\n        1,\n        []\n    ],\n    \"b\": {}\n}"
        );
    }

    #[test]
    fn a_text_is_indented_as_its_value_is() {
        for source in [
            r#"{"a":[1,2.5,[],{},[[]],"x<y>&\\\" }],:{"],"b":{"":null,"c":{"d":true}}}"#,
            "[]",
            "{}",
            "\"é \"",
            "-1E+3",
        ] {
            let datum = decode(source.as_bytes(), Values::One).unwrap().into_datum();
            for html in [Html::Plain, Html::Escaped] {
                let want = encode_with(&datum, Layout::Indented, html);
                assert_eq!(indented(source, html), want);
                assert_eq!(indented(&want, html), want);
            }
        }
        assert_eq!(indented("[ ]", Html::Plain), "[]");
    }

    #[test]
    fn errors_are_those_of_go() {
        for (source, message) in [
            ("", "unexpected end of JSON input"),
            ("{\"a\" 1}", "invalid character '1' after object key"),
            ("{a:1}", "invalid character 'a' looking for beginning of object key string"),
            ("[1 2]", "invalid character '2' after array element"),
            ("{\"a\":1 2}", "invalid character '2' after object key:value pair"),
            ("1 2", "invalid character '2' after top-level value"),
            ("tru", "unexpected end of JSON input"),
            ("trx", "invalid character 'x' in literal true (expecting 'u')"),
            ("\"\\q\"", "invalid character 'q' in string escape code"),
            ("\"\n\"", "invalid character '\\n' in string literal"),
            ("-a", "invalid character 'a' in numeric literal"),
            ("\"\\ud800\"", "invalid string: unmatched surrogate pair"),
            ("[1,]", "invalid character ']' looking for beginning of value"),
        ] {
            assert_eq!(decode(source.as_bytes(), Values::One).unwrap_err().message, message);
        }
    }

    #[test]
    fn deep_values_need_no_stack() {
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        let tree = decode(deep.as_bytes(), Values::One).unwrap();
        let (datum, again) = (tree.clone().into_datum(), tree.into_datum());
        assert_eq!(encode(&datum, Layout::Compact), deep);
        assert!(datum == again);
    }
}
