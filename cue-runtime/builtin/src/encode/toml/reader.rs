//! TOML read with CUE's view of its values.

use cue_map::Set;

use super::DEPTH;
use super::table::{DUPLICATE, Part, Table, joined};
use crate::Datum;
use crate::encode::DecodeError;
use crate::number::Number;

/// Reads TOML. The text begins at `base`: that is where the value and its parts stand; nowhere, if it
/// is 0.
pub fn decode(text: &str, base: u32) -> Result<(Datum, u32), DecodeError> {
    read(&mut Reader { text, at: 0, base, seen: Set::default(), refused: None })
}

/// Reads TOML whose numbers may be infinite or none: they are null, and told beside it.
pub fn decode_keeping(text: &str, base: u32) -> Result<(Datum, Vec<DecodeError>), DecodeError> {
    let refused = Some(Vec::new());
    let mut reader = Reader { text, at: 0, base, seen: Set::default(), refused };
    let (datum, _) = read(&mut reader)?;
    Ok((datum, reader.refused.unwrap_or_default()))
}

fn read(reader: &mut Reader<'_>) -> Result<(Datum, u32), DecodeError> {
    let base = reader.base;
    let mut root = Table::default();
    let mut path: Vec<Part> = Vec::new();
    loop {
        reader.blank_lines();
        let start = reader.at;
        let rest = reader.rest();
        if rest.is_empty() {
            // It stands where its first field does.
            let place = root.fields.first().map_or(0, |it| it.place);
            return Ok((root.into_datum(base), place));
        }
        if rest.starts_with('[') {
            let list = rest.starts_with("[[");
            let close = if list { "]]" } else { "]" };
            reader.at += close.len();
            reader.spaces();
            path = reader.key()?;
            if !reader.rest().starts_with(close) {
                return Err(reader.expected(&close[..1]));
            }
            reader.at += close.len();
            let name = joined(&path, "\0");
            if list {
                if !root.append(&path) {
                    let offset = start + close.len();
                    if reader.seen.contains(&name) || root.has_value(&path) {
                        let name = joined(&path, ".");
                        let message = format!("cannot redeclare key {name:?} as a table array");
                        return Err(DecodeError { message, offset });
                    }
                    return Err(root.duplicate(offset, &path));
                }
                // Below a new element everything may come again.
                let below = format!("{name}\0");
                reader.seen.retain(|known| !known.starts_with(&below));
            } else {
                let offset = start + close.len();
                if root.has_tables(&path) {
                    let name = joined(&path, ".");
                    let message = format!("cannot redeclare table array {name:?} as a table");
                    return Err(DecodeError { message, offset });
                }
                if !reader.seen.insert(name) || root.enter(&path, None).is_none() {
                    return Err(root.duplicate(offset, &path));
                }
            }
        } else {
            let key = reader.key()?;
            if !reader.rest().starts_with('=') {
                if reader.rest().is_empty() {
                    let message = "expected = after a key, but the document ends there".to_owned();
                    return Err(DecodeError { message, offset: start });
                }
                return Err(reader.error("expected character ="));
            }
            reader.at += 1;
            reader.spaces();
            let place = reader.place();
            let value =
                reader.value(0).map_err(|error| match error.message.strip_prefix(DUPLICATE) {
                    // In an inline table.
                    Some(inner) => {
                        let whole: Vec<Part> = path.iter().chain(&key).cloned().collect();
                        let message = format!("{DUPLICATE}{}.{inner}", root.named(&whole));
                        DecodeError { message, ..error }
                    }
                    None => error,
                })?;
            let table = root.enter(&path, None);
            if !table.is_some_and(|table| table.put(&key, value, place)) {
                let whole: Vec<Part> = path.iter().chain(&key).cloned().collect();
                return Err(root.duplicate(start, &whole));
            }
        }
        reader.spaces();
        reader.comment();
        match reader.rest().as_bytes() {
            [] | [b'\n', ..] | [b'\r', b'\n', ..] => {}
            _ => {
                let c = reader.rest().chars().next().unwrap_or(' ');
                let shown = crate::quote_rune(c);
                let code = c as u32;
                return Err(reader.error(&format!("expected newline but got U+{code:04X} {shown}")));
            }
        }
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    base: u32,
    /// Headers that were there, with NUL between their parts.
    seen: Set<String>,
    /// Numbers that CUE has not, where they do not end the reading.
    refused: Option<Vec<DecodeError>>,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn error(&self, message: &str) -> DecodeError {
        DecodeError { message: message.to_owned(), offset: self.at }
    }

    /// What should stand there.
    fn expected(&self, what: &str) -> DecodeError {
        self.error(&match self.rest() {
            "" => format!("expected character {what} but the document ended here"),
            _ => format!("expected character {what}"),
        })
    }

    /// Where it is; arrays stand nowhere.
    fn place(&self) -> u32 {
        if self.base == 0 || self.rest().starts_with('[') {
            0
        } else {
            self.base.saturating_add(self.at as u32)
        }
    }

    fn spaces(&mut self) {
        while self.rest().starts_with([' ', '\t']) {
            self.at += 1;
        }
    }

    fn comment(&mut self) {
        if self.rest().starts_with('#') {
            self.at += self.rest().find('\n').unwrap_or(self.rest().len());
        }
    }

    fn blank_lines(&mut self) {
        loop {
            self.spaces();
            self.comment();
            if self.rest().starts_with("\r\n") {
                self.at += 2;
            } else if self.rest().starts_with('\n') {
                self.at += 1;
            } else {
                return;
            }
        }
    }

    fn key(&mut self) -> Result<Vec<Part>, DecodeError> {
        let mut parts = Vec::new();
        loop {
            self.spaces();
            let (rest, place) = (self.rest(), self.place());
            let part: String = match rest.chars().next() {
                Some('"') => self.basic()?,
                Some('\'') => self.literal()?,
                Some(c) if c.is_ascii_alphanumeric() || c == '_' || c == '-' => {
                    let length = rest
                        .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '-'))
                        .unwrap_or(rest.len());
                    self.at += length;
                    rest[..length].to_owned()
                }
                Some(_) => {
                    let first = char::from(rest.as_bytes()[0]);
                    return Err(self.error(&format!("invalid character at start of key: {first}")));
                }
                None => return Err(self.error("expected key but found nothing")),
            };
            parts.push((part.into(), place));
            self.spaces();
            if !self.rest().starts_with('.') {
                return Ok(parts);
            }
            self.at += 1;
        }
    }

    fn value(&mut self, depth: usize) -> Result<Datum, DecodeError> {
        if depth > DEPTH {
            return Err(self.error("value nests too deeply"));
        }
        let rest = self.rest();
        match rest.chars().next() {
            None => Err(self.error("expected value, not eof")),
            Some('"') if rest.starts_with("\"\"\"") => self.multi_line('"').map(Datum::text),
            Some('\'') if rest.starts_with("'''") => self.multi_line('\'').map(Datum::text),
            Some('"') => self.basic().map(Datum::text),
            Some('\'') => self.literal().map(Datum::text),
            Some('[') => {
                self.at += 1;
                let (mut items, mut places) = (Vec::new(), Vec::new());
                loop {
                    self.blank_lines();
                    if self.rest().starts_with(']') {
                        break;
                    }
                    places.push(self.place());
                    items.push(self.value(depth + 1)?);
                    self.blank_lines();
                    if self.rest().starts_with(',') {
                        self.at += 1;
                    } else if !self.rest().starts_with(']') {
                        return Err(match self.rest() {
                            "" => self.expected("]"),
                            _ => self.error("array elements must be separated by commas"),
                        });
                    }
                }
                self.at += 1;
                let places = (self.base != 0).then(|| places.into_boxed_slice());
                Ok(Datum::placed_list(items, places))
            }
            Some('{') => {
                self.at += 1;
                let mut table = Table::default();
                self.spaces();
                let mut more = !self.rest().starts_with('}');
                while more {
                    let start = self.at;
                    let key = self.key()?;
                    if !self.rest().starts_with('=') {
                        return Err(self.error("expected character ="));
                    }
                    self.at += 1;
                    self.spaces();
                    let place = self.place();
                    let value = self.value(depth + 1)?;
                    if !table.put(&key, value, place) {
                        return Err(table.duplicate(start, &key));
                    }
                    self.spaces();
                    more = self.rest().starts_with(',');
                    if more {
                        self.at += 1;
                        self.spaces();
                    } else if !self.rest().starts_with('}') {
                        return Err(self.expected(if self.rest().is_empty() { "}" } else { "," }));
                    }
                }
                self.at += 1;
                Ok(table.into_datum(self.base))
            }
            Some(_) => self.word(),
        }
    }

    /// Booleans, numbers, dates.
    fn word(&mut self) -> Result<Datum, DecodeError> {
        let rest = self.rest();
        let ends = |c: char| !(c.is_ascii_alphanumeric() || "+-._:".contains(c));
        let mut length = rest.find(ends).unwrap_or(rest.len());
        let word = &rest[..length];
        let date = word.len() >= 10 && word.as_bytes()[4] == b'-' && word.as_bytes()[7] == b'-';
        let time = word.len() >= 5 && word.as_bytes()[2] == b':';
        if date || time {
            // A space may stand between date and time.
            let after = &rest[length..];
            if length == 10
                && after.len() > 3
                && after.starts_with(' ')
                && after.as_bytes()[3] == b':'
            {
                length += 1 + after[1..].find(ends).unwrap_or(after.len() - 1);
            }
            self.at += length;
            return Ok(Datum::text(&rest[..length]));
        }
        let body = word.strip_prefix(['+', '-']).unwrap_or(word);
        let datum = match body {
            "true" if word == body => Datum::Bool(true),
            "false" if word == body => Datum::Bool(false),
            "inf" | "nan" => {
                let message = format!("parse error: illegal number start \"{word}\"");
                self.refuse(self.error(&message))?
            }
            _ => match Number::parse_signed(word) {
                Ok(number) => Datum::Number(number),
                Err(_) => self.refuse(self.no_number(word, body))?,
            },
        };
        self.at += length;
        Ok(datum)
    }

    /// Goes on behind a number that is none, if that may be.
    fn refuse(&mut self, error: DecodeError) -> Result<Datum, DecodeError> {
        match &mut self.refused {
            Some(refused) if error.message.starts_with("parse error") => {
                refused.push(error);
                Ok(Datum::Null)
            }
            _ => Err(error),
        }
    }

    /// What is wrong with a word that is none.
    fn no_number(&self, word: &str, body: &str) -> DecodeError {
        let first = body.chars().next();
        let octal = body.len() > 1 && body.bytes().all(|it| it.is_ascii_digit());
        match first {
            Some('t') => self.error("expected 'true'"),
            Some('f') => self.error("expected 'false'"),
            None if !word.is_empty() => {
                self.error(&format!("parse error: illegal number start \"{word}\""))
            }
            Some('0') if octal => {
                self.error(&format!("parse error: illegal integer number \"{word}\""))
            }
            Some('0'..='9') if body.ends_with(['e', 'E']) => {
                self.error(&format!("parse error: illegal exponent \"{word}\""))
            }
            Some('0'..='9') if body.contains('_') => {
                self.error("parse error: illegal '_' in number")
            }
            _ if body == "0x" => {
                self.error(&format!("parse error: illegal hexadecimal number \"{word}\""))
            }
            _ => self.error("incomplete number"),
        }
    }

    fn literal(&mut self) -> Result<String, DecodeError> {
        let body = &self.rest()[1..];
        let end = body.find(['\'', '\n']).unwrap_or(body.len());
        self.at += 1 + end;
        match body.as_bytes().get(end) {
            Some(b'\'') => {
                self.at += 1;
                Ok(body[..end].to_owned())
            }
            Some(_) => Err(self.error("literal strings cannot have new lines")),
            None => Err(self.error("unterminated literal string")),
        }
    }

    fn basic(&mut self) -> Result<String, DecodeError> {
        self.at += 1;
        let mut out = String::new();
        loop {
            match self.rest().chars().next() {
                Some('"') => {
                    self.at += 1;
                    return Ok(out);
                }
                Some('\\') => self.escape(&mut out)?,
                None => return Err(self.error("basic string not terminated by \"")),
                Some('\n') => return Err(self.error("basic strings cannot have new lines")),
                Some('\0'..='\u{8}' | '\u{b}'..='\u{1f}' | '\u{7f}') => {
                    return Err(self.error("invalid UTF-8"));
                }
                Some(c) => {
                    out.push(c);
                    self.at += c.len_utf8();
                }
            }
        }
    }

    fn multi_line(&mut self, quote: char) -> Result<String, DecodeError> {
        let fence: String = std::iter::repeat_n(quote, 3).collect();
        self.at += 3;
        if self.rest().starts_with("\r\n") {
            self.at += 2;
        } else if self.rest().starts_with('\n') {
            self.at += 1;
        }
        let mut out = String::new();
        loop {
            let rest = self.rest();
            if rest.starts_with(fence.as_str()) {
                // Up to two quotes may stand before the closing ones.
                let quotes = rest.chars().take(5).take_while(|c| *c == quote).count();
                out.extend(std::iter::repeat_n(quote, quotes - 3));
                self.at += quotes;
                return Ok(out);
            }
            match rest.chars().next() {
                None => {
                    let kind = if quote == '"' { "basic" } else { "literal" };
                    let message = format!("multiline {kind} string not terminated by {fence}");
                    return Err(self.error(&message));
                }
                Some('\\') if quote == '"' => {
                    let after = rest[1..].trim_start_matches([' ', '\t']);
                    if after.starts_with(['\n', '\r']) {
                        let body = after.trim_start();
                        self.at += rest.len() - body.len();
                    } else {
                        self.escape(&mut out)?;
                    }
                }
                Some(c) => {
                    out.push(c);
                    self.at += c.len_utf8();
                }
            }
        }
    }

    fn escape(&mut self, out: &mut String) -> Result<(), DecodeError> {
        let rest = &self.rest()[1..];
        let letter = rest.chars().next().unwrap_or('\n');
        let (c, length) = match letter {
            'b' => ('\u{8}', 1),
            't' => ('\t', 1),
            'n' => ('\n', 1),
            'f' => ('\u{c}', 1),
            'r' => ('\r', 1),
            'e' => ('\u{1b}', 1),
            '"' | '\\' => (letter, 1),
            'u' | 'U' => {
                let length = if letter == 'u' { 4 } else { 8 };
                let code = rest.get(1..1 + length).and_then(|it| u32::from_str_radix(it, 16).ok());
                match code.and_then(char::from_u32) {
                    Some(c) => (c, 1 + length),
                    None => {
                        self.at += 2;
                        let digits = |c: &char| c.is_ascii_hexdigit();
                        let given = self.rest().chars().take(length).take_while(digits).count();
                        return Err(self.error(&match given < length {
                            true => format!("unicode point needs {length} character, not {given}"),
                            false => "escape sequence is invalid Unicode code point".to_owned(),
                        }));
                    }
                }
            }
            _ => {
                self.at += 1;
                let shown = crate::quote_rune(letter);
                let code = letter as u32;
                let message = format!("invalid escaped character U+{code:04X} {shown}");
                return Err(self.error(&message));
            }
        };
        out.push(c);
        self.at += 1 + length;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_declared_again_is_named() {
        for (text, message) in [
            ("a.b = 1\n[[a.b]]\n", "cannot redeclare key \"a.b\" as a table array"),
            ("[a.b]\n[[a.b]]\n", "cannot redeclare key \"a.b\" as a table array"),
            ("[a]\n[[a.b]]\n[a.b]\n", "cannot redeclare table array \"a.b\" as a table"),
            ("[[c]]\n[[c]]\n_h = 1\n_h = 2\n", "duplicate key: c.1.\"_h\""),
            ("\"a-b\" = 1\n\"a-b\" = 1\n", "duplicate key: \"a-b\""),
            ("a = {b = 1, b = 2}\n", "duplicate key: a.b"),
        ] {
            let told = decode(text, 0).map_err(|it| it.message);
            assert_eq!(told.err().as_deref(), Some(message), "{text}");
        }
    }

    #[test]
    fn numbers_that_are_none_are_told_together() {
        let (_, told) = decode_keeping("a = 0x\nb = [1, 1__0]\nc = 1e\nd = -01\n", 0).unwrap();
        let told: Vec<(&str, usize)> = told.iter().map(|it| (&*it.message, it.offset)).collect();
        let expected = [
            ("parse error: illegal hexadecimal number \"0x\"", 4),
            ("parse error: illegal '_' in number", 15),
            ("parse error: illegal exponent \"1e\"", 25),
            ("parse error: illegal integer number \"-01\"", 32),
        ];
        assert_eq!(told, expected);
    }
}
