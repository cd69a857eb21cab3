//! JSON as it is read, without recursion.

use std::sync::Arc;

use crate::Datum;
use crate::encode::json::scan::{self, Ends};
use crate::encode::{DecodeError, Entry, Tree};
use crate::number::Number;

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
    Reader::new(text, Check::Text).run(values)
}

/// Whether `text` is exactly one value by the grammar.
pub fn check(text: &[u8]) -> Result<(), DecodeError> {
    Reader::new(text, Check::Grammar).run(Values::One).map(|_| ())
}

struct Reader<'a> {
    text: &'a [u8],
    /// The same, if it is UTF-8 throughout.
    whole: Option<&'a str>,
    at: usize,
    check: Check,
    tree: Tree,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    List,
    Struct,
}

impl<'a> Reader<'a> {
    #[inline]
    fn new(text: &'a [u8], check: Check) -> Self {
        let whole = std::str::from_utf8(text).ok();
        Self { text, whole, at: 0, check, tree: Tree::default() }
    }

    /// A part that begins and ends beside ASCII, if it is UTF-8.
    #[inline]
    fn part(&self, from: usize, to: usize) -> Option<&'a str> {
        match self.whole {
            Some(whole) => whole.get(from..to),
            None => std::str::from_utf8(&self.text[from..to]).ok(),
        }
    }

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
        let digits = self.part(start, self.at).unwrap_or("0");
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
            self.at += scan::plain(rest, Ends::Read);
            let text = &self.text[plain..self.at];
            // Most have no escapes: they are not copied twice.
            if let (true, Some(b'"'), Some(text)) =
                (out.is_empty(), self.text.get(self.at), self.part(plain, self.at))
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
