//! JSON as it is written: on one line or on many.

use base64::Engine as _;

use crate::Datum;
use crate::encode::json::scan::{self, Ends};
use crate::encode::{Sink, write};
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
        self.out.push_str(&value.text());
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
    let ends = match html {
        Html::Plain => Ends::Written,
        Html::Escaped => Ends::WrittenForHtml,
    };
    let bytes = text.as_bytes();
    let (mut plain, mut at) = (0, 0);
    loop {
        at += scan::plain(&bytes[at..], ends);
        let Some(byte) = bytes.get(at) else { break };
        let escape: &str = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0x8 => "\\b",
            0xc => "\\f",
            b'<' => "\\u003c",
            b'>' => "\\u003e",
            b'&' => "\\u0026",
            // Line and paragraph separator.
            0xe2 if bytes[at..].starts_with("\u{2028}".as_bytes()) => "\\u2028",
            0xe2 if bytes[at..].starts_with("\u{2029}".as_bytes()) => "\\u2029",
            0xe2 => {
                at += 1;
                continue;
            }
            _ => "",
        };
        out.push_str(&text[plain..at]);
        if escape.is_empty() {
            out.push_str(&format!("\\u{byte:04x}"));
        } else {
            out.push_str(escape);
        }
        at += if *byte == 0xe2 { 3 } else { 1 };
        plain = at;
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
