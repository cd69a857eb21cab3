//! Scalar tokens: block, quoted and plain text with its folding, chomping and escapes.

use super::scanner::{
    END, Kind, Mark, Scan, Scanner, Style, Token, is_blank, is_blankz, is_break, is_breakz,
};

/// Whether an escaped line break came before the blanks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Folded {
    No,
    Yes,
}

impl Scanner<'_> {
    pub(super) fn block_scalar(&mut self) -> Scan<()> {
        self.remove_key()?;
        self.key_allowed = true;
        let start = self.mark;
        let literal = self.current() == '|';
        self.advance();
        let mut keep = None;
        let mut increment = 0i64;
        for _ in 0..2 {
            match self.current() {
                c @ ('+' | '-') if keep.is_none() => {
                    keep = Some(c == '+');
                    self.advance();
                }
                '0' if increment == 0 => {
                    let message = "found an indentation indicator equal to 0";
                    return Err(self.problem(start, message));
                }
                c @ '1'..='9' if increment == 0 => {
                    increment = i64::from(c as u32 - '0' as u32);
                    self.advance();
                }
                _ => break,
            }
        }
        self.rest_of_line(start)?;
        let mut end = self.mark;
        let mut indent = if increment > 0 { self.indent.max(0) + increment } else { 0 };
        let mut text = String::new();
        let mut leading = String::new();
        let mut trailing = String::new();
        let mut leading_blank = false;
        self.block_breaks(&mut indent, &mut trailing, start, &mut end)?;
        while self.mark.column as i64 == indent && self.current() != END {
            let trailing_blank = is_blank(self.current());
            if !literal && leading.starts_with('\n') && !leading_blank && !trailing_blank {
                if trailing.is_empty() {
                    text.push(' ');
                }
            } else {
                text.push_str(&leading);
            }
            leading.clear();
            text.push_str(&trailing);
            trailing.clear();
            leading_blank = is_blank(self.current());
            while !is_breakz(self.current()) {
                self.read(&mut text);
            }
            self.line(&mut leading);
            self.block_breaks(&mut indent, &mut trailing, start, &mut end)?;
        }
        if keep != Some(false) {
            text.push_str(&leading);
        }
        if keep == Some(true) {
            text.push_str(&trailing);
        }
        self.tokens.push_back(Token {
            kind: Kind::Scalar { text, style: Style::Other },
            start,
            end,
        });
        Ok(())
    }

    /// Empty lines in a block scalar; finds out its indentation if it is not known.
    fn block_breaks(
        &mut self,
        indent: &mut i64,
        breaks: &mut String,
        start: Mark,
        end: &mut Mark,
    ) -> Scan<()> {
        let mut widest = 0;
        *end = self.mark;
        loop {
            while (*indent == 0 || (self.mark.column as i64) < *indent) && self.current() == ' ' {
                self.advance();
            }
            widest = widest.max(self.mark.column as i64);
            if (*indent == 0 || (self.mark.column as i64) < *indent) && self.current() == '\t' {
                let message = "found a tab character where an indentation space is expected";
                return Err(self.problem(start, message));
            }
            if !is_break(self.current()) {
                break;
            }
            self.line(breaks);
            *end = self.mark;
        }
        if *indent == 0 {
            *indent = widest.max(self.indent + 1).max(1);
        }
        Ok(())
    }

    pub(super) fn flow_scalar(&mut self, quote: char) -> Scan<()> {
        self.save_key()?;
        self.key_allowed = false;
        let start = self.mark;
        self.advance();
        let mut text = String::new();
        loop {
            if self.at_document_mark() {
                return Err(self.problem(start, "found unexpected document indicator"));
            }
            if self.current() == END {
                return Err(self.problem(start, "found unexpected end of stream"));
            }
            let mut folded = Folded::No;
            while !is_blankz(self.current()) {
                let c = self.current();
                if c == quote {
                    if quote == '\'' && self.at(1) == '\'' {
                        text.push('\'');
                        self.advance();
                        self.advance();
                        continue;
                    }
                    break;
                }
                if quote == '"' && c == '\\' {
                    if is_break(self.at(1)) {
                        self.advance();
                        self.line(&mut String::new());
                        folded = Folded::Yes;
                        break;
                    }
                    self.escape(&mut text, start)?;
                    continue;
                }
                self.read(&mut text);
            }
            if self.current() == quote {
                break;
            }
            self.white(&mut text, folded, None)?;
        }
        self.advance();
        self.push(Kind::Scalar { text, style: Style::Other }, start);
        Ok(())
    }

    /// Takes blanks and breaks within a scalar and appends what they stand for. With `plain`, the
    /// start of the scalar and its indentation, nothing is appended if the scalar ends here.
    fn white(
        &mut self,
        text: &mut String,
        already: Folded,
        plain: Option<(Mark, i64)>,
    ) -> Scan<bool> {
        let mut blanks = String::new();
        let mut leading = String::new();
        let mut trailing = String::new();
        let mut broken = already == Folded::Yes;
        while is_blank(self.current()) || is_break(self.current()) {
            if is_blank(self.current()) {
                if let Some((start, indent)) = plain
                    && broken
                    && (self.mark.column as i64) < indent
                    && self.current() == '\t'
                {
                    let message = "found a tab character that violates indentation";
                    return Err(self.problem(start, message));
                }
                if broken {
                    self.advance();
                } else {
                    self.read(&mut blanks);
                }
            } else if broken {
                self.line(&mut trailing);
            } else {
                blanks.clear();
                self.line(&mut leading);
                broken = true;
            }
        }
        if let Some((_, indent)) = plain {
            let left = !self.in_flow() && broken && (self.mark.column as i64) < indent;
            if left || self.plain_ends() {
                return Ok(broken);
            }
        }
        if !broken {
            text.push_str(&blanks);
        } else if leading.starts_with('\n') {
            if trailing.is_empty() {
                text.push(' ');
            } else {
                text.push_str(&trailing);
            }
        } else {
            text.push_str(&leading);
            text.push_str(&trailing);
        }
        Ok(broken)
    }

    /// Whether a plain scalar cannot go on with the current character.
    fn plain_ends(&self) -> bool {
        let c = self.current();
        is_blankz(c)
            || c == '#'
            || self.at_document_mark()
            || (c == ':' && is_blankz(self.at(1)))
            || (self.in_flow() && matches!(c, ',' | '?' | '[' | ']' | '{' | '}'))
    }

    pub(super) fn plain_scalar(&mut self) -> Scan<()> {
        self.save_key()?;
        self.key_allowed = false;
        let start = self.mark;
        let indent = self.indent + 1;
        let mut text = String::new();
        let mut end;
        let mut broken = false;
        // The first character is part of it whatever it is; later ones must not end it.
        self.read(&mut text);
        loop {
            while !is_blankz(self.current()) {
                let c = self.current();
                let ends = (c == ':' && is_blankz(self.at(1)))
                    || (self.in_flow() && matches!(c, ',' | '?' | '[' | ']' | '{' | '}'));
                if ends {
                    break;
                }
                self.read(&mut text);
                broken = false;
            }
            end = self.mark;
            if !(is_blank(self.current()) || is_break(self.current())) {
                break;
            }
            broken = self.white(&mut text, Folded::No, Some((start, indent)))?;
            let left = !self.in_flow() && broken && (self.mark.column as i64) < indent;
            if left || self.plain_ends() {
                break;
            }
        }
        self.tokens.push_back(Token {
            kind: Kind::Scalar { text, style: Style::Plain },
            start,
            end,
        });
        if broken {
            self.key_allowed = true;
        }
        Ok(())
    }

    fn escape(&mut self, text: &mut String, start: Mark) -> Scan<()> {
        let letter = self.at(1);
        let length = match letter {
            'x' => 2,
            'u' => 4,
            'U' => 8,
            _ => 0,
        };
        let c = match letter {
            '0' => '\0',
            'a' => '\u{7}',
            'b' => '\u{8}',
            't' | '\t' => '\t',
            'n' => '\n',
            'v' => '\u{b}',
            'f' => '\u{c}',
            'r' => '\r',
            'e' => '\u{1b}',
            ' ' | '"' | '\'' | '\\' | '/' => letter,
            'N' => '\u{85}',
            '_' => '\u{a0}',
            'L' => '\u{2028}',
            'P' => '\u{2029}',
            'x' | 'u' | 'U' => END,
            _ => return Err(self.problem(start, "found unknown escape character")),
        };
        self.advance();
        self.advance();
        if length == 0 {
            text.push(c);
            return Ok(());
        }
        let mut code = 0u32;
        for at in 0..length {
            let Some(digit) = self.at(at).to_digit(16) else {
                return Err(self.problem(start, "did not find expected hexdecimal number"));
            };
            code = code.wrapping_mul(16).wrapping_add(digit);
        }
        let Some(c) = char::from_u32(code) else {
            return Err(self.problem(start, "found invalid Unicode character escape code"));
        };
        text.push(c);
        for _ in 0..length {
            self.advance();
        }
        Ok(())
    }
}
