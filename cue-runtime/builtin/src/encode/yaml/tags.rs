//! Tokens that are not content: directives, anchors, aliases and tags.

use super::scanner::{END, Kind, Mark, Scan, Scanner, is_blank, is_blankz, is_breakz, is_word};

/// Whether something may be empty.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Presence {
    Required,
    Optional,
}

impl Scanner<'_> {
    pub(super) fn directive(&mut self) -> Scan<()> {
        let start = self.mark;
        self.advance();
        let mut name = String::new();
        while is_word(self.current()) {
            self.read(&mut name);
        }
        if name.is_empty() {
            return Err(self.problem(start, "could not find expected directive name"));
        }
        if !is_blankz(self.current()) {
            return Err(self.problem(start, "found unexpected non-alphabetical character"));
        }
        self.blanks();
        let kind = match name.as_str() {
            "YAML" => {
                let major = self.version_number(start)?;
                if self.current() != '.' {
                    return Err(self.problem(start, "did not find expected digit or '.' character"));
                }
                self.advance();
                Kind::Version(major, self.version_number(start)?)
            }
            "TAG" => {
                let handle = self.tag_handle(start, Presence::Required)?;
                if !is_blank(self.current()) {
                    return Err(self.problem(start, "did not find expected whitespace"));
                }
                self.blanks();
                let prefix = self.tag_uri("", start, Presence::Required)?;
                if !is_blankz(self.current()) {
                    let message = "did not find expected whitespace or line break";
                    return Err(self.problem(start, message));
                }
                Kind::TagDirective(handle, prefix)
            }
            _ => return Err(self.problem(start, "found unknown directive name")),
        };
        self.rest_of_line(start)?;
        self.push(kind, start);
        Ok(())
    }

    fn blanks(&mut self) {
        while is_blank(self.current()) {
            self.advance();
        }
    }

    pub(super) fn rest_of_line(&mut self, start: Mark) -> Scan<()> {
        self.blanks();
        if self.current() == '#' {
            while !is_breakz(self.current()) {
                self.advance();
            }
        }
        if !is_breakz(self.current()) {
            return Err(self.problem(start, "did not find expected comment or line break"));
        }
        self.line(&mut String::new());
        Ok(())
    }

    fn version_number(&mut self, start: Mark) -> Scan<u32> {
        let mut value = 0u32;
        let mut digits = 0;
        while let Some(digit) = self.current().to_digit(10) {
            digits += 1;
            if digits > 2 {
                return Err(self.problem(start, "found extremely long version number"));
            }
            value = value * 10 + digit;
            self.advance();
        }
        if digits == 0 {
            return Err(self.problem(start, "did not find expected version number"));
        }
        Ok(value)
    }

    pub(super) fn anchor(&mut self) -> Scan<()> {
        self.save_key()?;
        self.key_allowed = false;
        let start = self.mark;
        let alias = self.current() == '*';
        self.advance();
        let mut name = String::new();
        while is_word(self.current()) {
            self.read(&mut name);
        }
        let c = self.current();
        if name.is_empty() || !(is_blankz(c) || "?:,]}%@`".contains(c)) {
            let message = "did not find expected alphabetic or numeric character";
            return Err(self.problem(start, message));
        }
        self.push(if alias { Kind::Alias(name) } else { Kind::Anchor(name) }, start);
        Ok(())
    }

    pub(super) fn tag(&mut self) -> Scan<()> {
        self.save_key()?;
        self.key_allowed = false;
        let start = self.mark;
        let (handle, suffix) = if self.at(1) == '<' {
            self.advance();
            self.advance();
            let suffix = self.tag_uri("", start, Presence::Required)?;
            if self.current() != '>' {
                return Err(self.problem(start, "did not find the expected '>'"));
            }
            self.advance();
            (String::new(), suffix)
        } else {
            let handle = self.tag_handle(start, Presence::Optional)?;
            if handle.len() > 1 && handle.ends_with('!') {
                let suffix = self.tag_uri("", start, Presence::Required)?;
                (handle, suffix)
            } else {
                let suffix = self.tag_uri(&handle[1..], start, Presence::Optional)?;
                if suffix.is_empty() {
                    (String::new(), "!".to_owned())
                } else {
                    ("!".to_owned(), suffix)
                }
            }
        };
        if !is_blankz(self.current()) {
            return Err(self.problem(start, "did not find expected whitespace or line break"));
        }
        self.push(Kind::Tag(handle, suffix), start);
        Ok(())
    }

    fn tag_handle(&mut self, start: Mark, end: Presence) -> Scan<String> {
        if self.current() != '!' {
            return Err(self.problem(start, "did not find expected '!'"));
        }
        let mut handle = String::new();
        self.read(&mut handle);
        while is_word(self.current()) {
            self.read(&mut handle);
        }
        if self.current() == '!' {
            self.read(&mut handle);
        } else if end == Presence::Required && handle != "!" {
            return Err(self.problem(start, "did not find expected '!'"));
        }
        Ok(handle)
    }

    fn tag_uri(&mut self, head: &str, start: Mark, required: Presence) -> Scan<String> {
        let mut bytes = head.as_bytes().to_vec();
        loop {
            let c = self.current();
            if c == '%' {
                let high = self.at(1).to_digit(16);
                let low = if high.is_some() { self.at(2).to_digit(16) } else { None };
                let (Some(high), Some(low)) = (high, low) else {
                    return Err(self.problem(start, "did not find URI escaped octet"));
                };
                bytes.push((high * 16 + low) as u8);
                for _ in 0..3 {
                    self.advance();
                }
            } else if is_word(c) || (c != END && ";/?:@&=+$,.!~*'()[]".contains(c)) {
                bytes.push(c as u8);
                self.advance();
            } else {
                break;
            }
        }
        if bytes.is_empty() && required == Presence::Required {
            return Err(self.problem(start, "did not find expected tag URI"));
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}
