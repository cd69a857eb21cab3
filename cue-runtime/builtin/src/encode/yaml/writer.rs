//! How YAML is laid out and which strings are quoted.

use std::fmt::Write as _;

use base64::Engine as _;

use super::scalar::{Meaning, is_legacy, meaning};
use crate::Datum;
use crate::encode::{Sink, write};
use crate::number::Number;

/// Writes YAML from pieces.
#[derive(Debug, Default)]
pub struct Writer {
    out: String,
    open: Vec<Level>,
    place: Place,
    tag: Option<String>,
    documents: usize,
    /// Of the numbers and texts that are elements, the first one last; none is said of those that are left.
    spelled: Vec<Option<Spelled>>,
}

/// How an element of a list is spelled in its source, where YAML keeps that (O-32, O-36).
#[derive(Debug)]
pub enum Spelled {
    /// A number that YAML reads like that.
    Number(String),
    /// A text of several lines, be it of one.
    Block,
}

#[derive(Debug)]
struct Level {
    indent: usize,
    place: Place,
    used: bool,
    tagged: bool,
}

/// Where the next value goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Place {
    #[default]
    Root,
    AfterKey,
    AfterDash,
    /// After the colon of a key that has its own line.
    AfterColon,
}

impl Writer {
    /// A writer without output.
    pub fn new() -> Writer {
        Writer::default()
    }

    /// The next value gets this tag.
    pub fn tag(&mut self, tag: &str) {
        self.tag = Some(tag.to_owned());
    }

    /// The text, with a newline at its end.
    pub fn finish(self) -> String {
        self.out
    }

    fn indent_of_children(&self) -> usize {
        self.open.last().map_or(0, |level| level.indent)
    }

    /// Prepares the line for an element or key of the innermost level.
    fn start_child(&mut self) {
        let above = self.open.len().checked_sub(2).and_then(|at| self.open.get(at));
        let outer = above.map(|level| level.indent);
        let Some(level) = self.open.last_mut() else { return };
        let first = !std::mem::replace(&mut level.used, true);
        if first {
            level.indent = outer.map_or(0, |indent| indent + 2);
            match level.place {
                Place::Root if level.tagged => self.out.push('\n'),
                Place::Root => return,
                Place::AfterKey => self.out.push('\n'),
                Place::AfterDash | Place::AfterColon if level.tagged => self.out.push('\n'),
                Place::AfterDash | Place::AfterColon => {
                    self.out.push(' ');
                    return;
                }
            }
        }
        let indent = level.indent;
        self.out.extend(std::iter::repeat_n(' ', indent));
    }

    /// Where the next value goes, after the dash of a list element has been written.
    fn next_place(&mut self) -> Place {
        let place = std::mem::take(&mut self.place);
        if place != Place::Root || self.open.is_empty() {
            if self.open.is_empty() {
                if self.documents > 0 {
                    self.out.push_str("---\n");
                }
                self.documents += 1;
            }
            return place;
        }
        self.start_child();
        self.out.push('-');
        Place::AfterDash
    }

    /// How the scalar that comes next is spelled, if it is an element.
    fn next_spelled(&mut self) -> Option<Spelled> {
        let element = self.place == Place::Root && !self.open.is_empty();
        if element { self.spelled.pop()? } else { None }
    }

    fn scalar(&mut self, text: &str) {
        let place = self.next_place();
        if let Some(tag) = self.tag.take() {
            if place != Place::Root {
                self.out.push(' ');
            }
            self.out.push_str(&tag);
            self.out.push(' ');
        } else if place != Place::Root {
            self.out.push(' ');
        }
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn block(&mut self, header: &str, text: &str) {
        self.scalar(header);
        let body = if self.open.is_empty() { 2 } else { self.indent_of_children() + 2 };
        self.block_body(body, text);
    }

    fn block_body(&mut self, indent: usize, text: &str) {
        for line in text.split_inclusive('\n') {
            let content = line.strip_suffix('\n').unwrap_or(line);
            if !content.is_empty() {
                self.out.extend(std::iter::repeat_n(' ', indent));
                self.out.push_str(content);
            }
            self.out.push('\n');
        }
    }

    fn begin(&mut self) {
        let place = self.next_place();
        let mut tagged = false;
        if let Some(tag) = self.tag.take() {
            if place != Place::Root {
                self.out.push(' ');
            }
            self.out.push_str(&tag);
            tagged = true;
        }
        let indent = self.indent_of_children();
        self.open.push(Level { indent, place, used: false, tagged });
    }

    fn end(&mut self, empty: &str) {
        if let Some(level) = self.open.pop()
            && !level.used
        {
            if level.place != Place::Root || level.tagged {
                self.out.push(' ');
            }
            self.out.push_str(empty);
            self.out.push('\n');
        }
        self.place = Place::default();
    }
}

impl Sink for Writer {
    fn null(&mut self) {
        self.scalar("null");
    }

    fn bool(&mut self, value: bool) {
        self.scalar(if value { "true" } else { "false" });
    }

    fn number(&mut self, value: &Number) {
        match self.next_spelled() {
            Some(Spelled::Number(text)) => self.scalar(&text),
            Some(Spelled::Block) | None => self.scalar(&value.yaml_text()),
        }
    }

    fn string(&mut self, value: &str) {
        if let Some(Spelled::Block) = self.next_spelled() {
            // Unless that cannot be read back.
            let block = !value.is_empty() && style(&format!("{value}\n")) == Style::Literal;
            return match block {
                true => self.block(&literal_header(value), value),
                false => self.scalar(&double_quoted(value)),
            };
        }
        match style(value) {
            Style::Plain => self.scalar(value),
            Style::Single => self.scalar(&single_quoted(value, self.indent_of_children() + 2)),
            Style::Double => self.scalar(&double_quoted(value)),
            Style::Literal => self.block(&literal_header(value), value),
        }
    }

    fn bytes(&mut self, value: &[u8]) {
        let encoded = base64::engine::general_purpose::STANDARD.encode(value);
        let block = match std::str::from_utf8(value) {
            Ok(text) => text.contains('\n'),
            Err(_) => encoded.len() > 70,
        };
        if block {
            self.block("!!binary |-", &encoded);
        } else if encoded.is_empty() {
            self.scalar("!!binary");
        } else {
            self.scalar(&format!("!!binary {encoded}"));
        }
    }

    fn begin_list(&mut self) {
        self.begin();
    }

    fn end_list(&mut self) {
        self.end("[]");
    }

    fn begin_struct(&mut self) {
        self.begin();
    }

    fn key(&mut self, label: &str) {
        self.start_child();
        let indent = self.indent_of_children();
        self.place = Place::AfterKey;
        let text = match style(label) {
            Style::Plain => label.to_owned(),
            Style::Single if label.contains(['\u{2028}', '\u{2029}']) => double_quoted(label),
            Style::Single => single_quoted(label, indent + 2),
            Style::Double => double_quoted(label),
            Style::Literal => {
                let _ = writeln!(self.out, "? {}", literal_header(label));
                self.block_body(indent + 2, label);
                self.out.extend(std::iter::repeat_n(' ', indent));
                self.out.push(':');
                // A struct or list as value starts on this line.
                self.place = Place::AfterColon;
                return;
            }
        };
        if label.len() > 128 {
            let _ = writeln!(self.out, "? {text}");
            self.out.extend(std::iter::repeat_n(' ', indent));
            self.out.push(':');
            self.place = Place::AfterColon;
            return;
        }
        self.out.push_str(&text);
        self.out.push(':');
    }

    fn end_struct(&mut self) {
        self.end("{}");
    }

    fn written(&self) -> usize {
        self.out.len()
    }
}

/// Plain data as one YAML document.
pub fn encode(datum: &Datum) -> String {
    encode_spelled(datum, Vec::new())
}

/// The same with numbers and texts that are elements of lists, in order, as they are spelled.
pub fn encode_spelled(datum: &Datum, mut spelled: Vec<Option<Spelled>>) -> String {
    spelled.reverse();
    let mut writer = Writer { spelled, ..Writer::new() };
    write(datum, &mut writer);
    writer.finish()
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Style {
    Plain,
    Single,
    Double,
    Literal,
}

/// Characters YAML readers would not take raw.
fn is_special(c: char) -> bool {
    matches!(c, '\0'..='\u{8}' | '\u{b}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{feff}' | '\u{fffe}'..)
}

fn is_break(c: char) -> bool {
    matches!(c, '\n' | '\u{2028}' | '\u{2029}')
}

fn style(text: &str) -> Style {
    if text.contains('\n') {
        let spoiled = text.ends_with(' ') || text.contains(" \n") || text.chars().any(is_special);
        return if spoiled { Style::Double } else { Style::Literal };
    }
    if is_legacy(text) || meaning(text) != Meaning::String {
        return Style::Double;
    }
    if text.contains('\t') || text.chars().any(is_special) {
        return Style::Double;
    }
    let bytes = text.as_bytes();
    let blank = |at: usize| matches!(bytes.get(at), None | Some(b' ' | b'\t'));
    let indicators =
        [' ', '#', ',', '[', ']', '{', '}', '&', '*', '!', '|', '>', '\'', '"', '%', '@', '`'];
    let marked = text.starts_with(indicators)
        || (text.starts_with(['?', ':', '-']) && blank(1))
        || text.starts_with("---")
        || text.starts_with("...")
        || text.ends_with([' ', ':'])
        || text.contains(": ")
        || text.contains(" #")
        || text.contains(is_break);
    if !marked {
        return Style::Plain;
    }
    let beside_break = text.contains([' ']) && {
        let chars: Vec<char> = text.chars().collect();
        chars.windows(2).any(|pair| {
            (pair[0] == ' ' && is_break(pair[1])) || (is_break(pair[0]) && pair[1] == ' ')
        })
    };
    if beside_break { Style::Double } else { Style::Single }
}

fn single_quoted(text: &str, indent: usize) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('\'');
    let mut after_break = false;
    for c in text.chars() {
        if after_break && !is_break(c) {
            out.extend(std::iter::repeat_n(' ', indent));
        }
        after_break = is_break(c);
        if c == '\'' {
            out.push('\'');
        }
        out.push(c);
    }
    out.push('\'');
    out
}

fn double_quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        let code = c as u32;
        let escaped = match c {
            '\0' => "\\0",
            '\u{7}' => "\\a",
            '\u{8}' => "\\b",
            '\t' => "\\t",
            '\n' => "\\n",
            '\u{b}' => "\\v",
            '\u{c}' => "\\f",
            '\r' => "\\r",
            '\u{1b}' => "\\e",
            '"' => "\\\"",
            '\\' => "\\\\",
            '\u{85}' => "\\N",
            '\u{2028}' => "\\L",
            '\u{2029}' => "\\P",
            _ if !is_special(c) => {
                out.push(c);
                continue;
            }
            _ => "",
        };
        out.push_str(escaped);
        if escaped.is_empty() {
            let _ = match code {
                0..0x100 => write!(out, "\\x{code:02X}"),
                0x100..0x1_0000 => write!(out, "\\u{code:04X}"),
                _ => write!(out, "\\U{code:08X}"),
            };
        }
    }
    out.push('"');
    out
}

fn literal_header(text: &str) -> String {
    let mut header = String::from("|");
    if text.starts_with([' ', '\n']) {
        header.push('2');
    }
    let body = text.strip_suffix('\n');
    match body {
        None => header.push('-'),
        Some(body) if body.is_empty() || body.ends_with('\n') => header.push('+'),
        Some(_) => {}
    }
    header
}
