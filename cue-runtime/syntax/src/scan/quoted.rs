//! Strings and bytes: their quotes, their pieces between holes, what is escaped in them.

use super::{Scanner, T, rune};

#[derive(Clone, Debug)]
pub(super) struct Quote {
    start: usize,
    quote: u8,
    triple: bool,
    hashes: usize,
    /// White space that all content lines so far begin with.
    common: Option<(usize, usize)>,
}

/// What stands before the text of a string.
#[derive(Clone, Copy, PartialEq, Eq)]
enum From {
    Opening,
    Hole,
}

impl Scanner<'_> {
    pub(super) fn hashes_follow(&self, ahead: usize, count: usize) -> bool {
        (0..count).all(|it| self.byte(ahead + it) == b'#')
    }

    pub(super) fn string(&mut self, start: usize, hashes: usize) -> T {
        let quote = self.byte(0);
        let mut triple = false;
        self.at += 1;
        if self.byte(0) == quote {
            if self.hashes_follow(1, hashes) && (hashes > 0 || self.byte(1) != quote) {
                self.at += 1 + hashes;
                return T::String;
            }
            if self.byte(1) == quote {
                if hashes > 0 && self.hashes_follow(2, hashes) {
                    self.at += 2 + hashes;
                    return T::String;
                }
                triple = true;
                self.at += 2;
                if self.byte(0) == b'\r' {
                    self.at += 1;
                }
                if self.byte(0) != b'\n' {
                    let opening = self.src[start..self.at].to_owned();
                    let message = format!("expected newline after multiline quote {opening}");
                    self.error(start, message);
                    return T::String;
                }
                self.at += 1;
            }
        }
        let quote = Quote { start, quote, triple, hashes, common: None };
        self.body(quote, start, From::Opening)
    }

    /// The next piece of the innermost string, from the byte before the scanner: where it starts,
    /// where it ends and whether another hole follows.
    pub fn resume(&mut self) -> (usize, usize, T) {
        let mut start = self.at.saturating_sub(1);
        while !self.src.is_char_boundary(start) {
            start -= 1;
        }
        let kind = match self.open.pop() {
            Some(quote) => self.body(quote, start, From::Hole),
            None => T::String,
        };
        self.newlines = 0;
        self.blank = false;
        (start, self.at + usize::from(kind == T::Interpolation), kind)
    }

    /// Goes on to the end of the string or to its next hole; `start` is where the piece at hand begins.
    fn body(&mut self, mut quote: Quote, start: usize, from: From) -> T {
        let mut line_start = quote.triple && from == From::Opening;
        loop {
            if line_start {
                line_start = false;
                let from = self.at;
                while matches!(self.byte(0), b' ' | b'\t' | b'\r') {
                    self.at += 1;
                }
                let q = quote.quote;
                let closes = (0..3).all(|it| self.byte(it) == q);
                if closes && self.hashes_follow(3, quote.hashes) {
                    let white = &self.src[from..self.at];
                    if let Some((a, b)) = quote.common {
                        if !self.src[a..b].starts_with(white) {
                            let message = "non-matching whitespace for multiline strings";
                            self.error(quote.start, message);
                        }
                    }
                    self.at += 3 + quote.hashes;
                    return T::String;
                }
                let empty = self.src[from..self.at].bytes().all(|it| it == b'\r');
                if !(empty && self.byte(0) == b'\n') {
                    let (a, b) = quote.common.unwrap_or((from, self.at));
                    let same = self.src.as_bytes()[a..b]
                        .iter()
                        .zip(&self.src.as_bytes()[from..self.at])
                        .take_while(|(x, y)| x == y)
                        .count();
                    quote.common = Some((a, a + same));
                }
            }
            let Some(c) = self.char() else {
                self.error(start, "string literal not terminated");
                return T::String;
            };
            if c == '\n' {
                if !quote.triple {
                    self.error(start, "string literal not terminated");
                    return T::String;
                }
                line_start = true;
            } else if c as u32 == quote.quote as u32 && !quote.triple {
                if self.hashes_follow(1, quote.hashes) {
                    self.at += 1 + quote.hashes;
                    return T::String;
                }
            } else if c == '\\' && self.hashes_follow(1, quote.hashes) {
                self.at += 1 + quote.hashes;
                if self.byte(0) == b'(' {
                    // The token ends behind the `(`, the scanner stands at it (rule 1.6).
                    self.open.push(quote);
                    return T::Interpolation;
                }
                self.escape(quote.quote);
                continue;
            } else if c == '\0' {
                self.error(self.at, "illegal character NUL");
            } else if c == '\u{feff}' {
                self.error(self.at, "illegal byte order mark");
            }
            self.at += c.len_utf8();
        }
    }

    fn escape(&mut self, quote: u8) {
        let start = self.at;
        let Some(c) = self.char() else {
            self.error(start, "escape sequence not terminated");
            return;
        };
        let (digits, base, max) = match c {
            'a' | 'b' | 'f' | 'n' | 'r' | 't' | 'v' | '\\' | '/' => {
                self.at += 1;
                return;
            }
            c if c as u32 == quote as u32 => {
                self.at += 1;
                return;
            }
            '0'..='7' => {
                if quote == b'"' {
                    self.error(start, "octal escape not allowed in string literal");
                    return;
                }
                (3, 8, 255)
            }
            'x' => {
                self.at += 1;
                if quote == b'"' {
                    self.error(start, "hexadecimal escape not allowed in string literal");
                    return;
                }
                (2, 16, 255)
            }
            'u' => {
                self.at += 1;
                (4, 16, 0x10_FFFF)
            }
            'U' => {
                self.at += 1;
                (8, 16, 0x10_FFFF)
            }
            _ => {
                self.error(start, "unknown escape sequence");
                return;
            }
        };
        let mut value = 0u32;
        for _ in 0..digits {
            let Some(c) = self.char() else {
                self.error(self.at, "escape sequence not terminated");
                return;
            };
            let Some(digit) = c.to_digit(base) else {
                let message = format!("illegal character {} in escape sequence", rune(c));
                self.error(self.at, message);
                return;
            };
            value = value.saturating_mul(base).saturating_add(digit);
            self.at += 1;
        }
        if value > max {
            self.error(start, "escape sequence is invalid Unicode code point");
        }
    }
}
