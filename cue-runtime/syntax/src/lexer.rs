//! Text to tokens: comments kept, commas inserted, strings unquoted.

use crate::ast::Span;
use crate::literal;
use crate::parser::SyntaxError;

/// A token and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) span: Span,
    /// Lines of the comment group directly above.
    pub(crate) docs: Vec<String>,
    /// Whether a line break stands between this token and the one before.
    pub(crate) after_newline: bool,
}

/// Which token.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    Ident(String),
    Number(String),
    /// A string or bytes; several parts if it has interpolations.
    Text { parts: Vec<TextPart>, bytes: bool },
    Attribute { name: String, body: String },
    /// Operators and brackets.
    Op(&'static str),
    /// A comma; true if a newline stands for it.
    Comma(bool),
    End,
    Bad,
}

/// A part of a string.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TextPart {
    Literal(Vec<u8>),
    Tokens(Vec<Token>),
}

impl PartialEq for Token {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind
    }
}

/// Deepest nesting of interpolations.
const NESTING: u32 = 50;

const OPERATORS: &[&str] = &[
    "...", "_|_", "<=", ">=", "==", "!=", "=~", "!~", "&&", "||", "(", ")", "[", "]", "{", "}",
    ":", ".", "?", "!", "&", "|", "+", "-", "*", "/", "<", ">", "=", "~",
];

pub(crate) struct Lexer<'a> {
    text: &'a str,
    at: usize,
    errors: Vec<SyntaxError>,
    depth: u32,
}

/// All tokens of `text`, the last one `End`.
pub(crate) fn tokens(text: &str) -> (Vec<Token>, Vec<SyntaxError>) {
    let at = if text.starts_with('\u{feff}') { 3 } else { 0 };
    let mut lexer = Lexer { text, at, errors: Vec::new(), depth: 0 };
    let tokens = lexer.run(false);
    (tokens, lexer.errors)
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn error(&mut self, start: usize, message: impl Into<String>) {
        let span = Span { start: start as u32, end: self.at.max(start) as u32 };
        self.errors.push(SyntaxError { message: message.into(), span });
    }

    /// Tokens up to the end, or inside an interpolation up to its `)`.
    fn run(&mut self, inside: bool) -> Vec<Token> {
        let mut tokens: Vec<Token> = Vec::new();
        let mut docs: Vec<String> = Vec::new();
        let mut after_newline = false;
        let mut open = 0usize;
        loop {
            let before = self.at;
            let mut newlines = 0;
            while let Some(c) = self.peek() {
                match c {
                    '\n' => newlines += 1,
                    ' ' | '\t' | '\r' => {}
                    _ => break,
                }
                self.at += 1;
            }
            if newlines > 0 || self.at >= self.text.len() {
                if !inside && tokens.last().is_some_and(|it| ends_statement(&it.kind)) {
                    let span = Span { start: before as u32, end: before as u32 };
                    tokens.push(Token {
                        kind: Kind::Comma(true),
                        span,
                        docs: Vec::new(),
                        after_newline: false,
                    });
                }
                after_newline |= newlines > 0;
            }
            if newlines > 1 {
                docs.clear();
            }
            let start = self.at;
            if self.rest().starts_with("//") {
                let end = self.rest().find('\n').unwrap_or(self.rest().len());
                let line = self.rest()[2..end].trim_end_matches('\r');
                let own_line = after_newline || tokens.is_empty();
                if own_line {
                    docs.push(line.strip_prefix(' ').unwrap_or(line).to_owned());
                }
                self.at += end;
                continue;
            }
            let kind = match self.peek() {
                None => Kind::End,
                Some(c) => self.token(c),
            };
            match kind {
                Kind::Op("(") if inside => open += 1,
                Kind::Op(")") if inside => {
                    if open == 0 {
                        tokens.push(self.end(start));
                        return tokens;
                    }
                    open -= 1;
                }
                _ => {}
            }
            let end = kind == Kind::End;
            tokens.push(Token {
                kind,
                span: Span { start: start as u32, end: self.at as u32 },
                docs: std::mem::take(&mut docs),
                after_newline: std::mem::take(&mut after_newline),
            });
            if end {
                return tokens;
            }
        }
    }

    fn end(&self, at: usize) -> Token {
        let span = Span { start: at as u32, end: at as u32 };
        Token { kind: Kind::End, span, docs: Vec::new(), after_newline: false }
    }

    fn token(&mut self, c: char) -> Kind {
        let start = self.at;
        match c {
            ',' => {
                self.at += 1;
                Kind::Comma(false)
            }
            '"' | '\'' => self.text(0),
            '#' => {
                let hashes = self.rest().bytes().take_while(|it| *it == b'#').count();
                if matches!(self.rest().as_bytes().get(hashes), Some(b'"' | b'\'')) {
                    self.at += hashes;
                    return self.text(hashes);
                }
                self.ident()
            }
            '0'..='9' => self.number(),
            '.' if self.rest()[1..].starts_with(|c: char| c.is_ascii_digit()) => self.number(),
            '@' => self.attribute(),
            '_' if self.rest().starts_with("_|_") => {
                self.at += 3;
                Kind::Op("_|_")
            }
            '_' | '$' => self.ident(),
            c if unicode_ident::is_xid_start(c) => self.ident(),
            _ => {
                for op in OPERATORS {
                    if self.rest().starts_with(op) {
                        self.at += op.len();
                        return Kind::Op(op);
                    }
                }
                self.at += c.len_utf8();
                self.error(start, format!("illegal character U+{:04X} {c:?}", u32::from(c)));
                Kind::Bad
            }
        }
    }

    fn ident(&mut self) -> Kind {
        let rest = self.rest();
        let prefix = if rest.starts_with("_#") { 2 } else { usize::from(rest.starts_with('#')) };
        let body = &rest[prefix..];
        let len = body
            .find(|c: char| c != '_' && c != '$' && !unicode_ident::is_xid_continue(c))
            .unwrap_or(body.len());
        let name = rest[..prefix + len].to_owned();
        self.at += prefix + len;
        Kind::Ident(name)
    }

    fn number(&mut self) -> Kind {
        let start = self.at;
        let bytes = self.rest().as_bytes();
        let mut len = 0;
        let radix = bytes.first() == Some(&b'0')
            && matches!(bytes.get(1), Some(b'x' | b'X' | b'o' | b'b'));
        if radix {
            len = 2;
            while bytes.get(len).is_some_and(|it| it.is_ascii_hexdigit() || *it == b'_') {
                len += 1;
            }
        } else {
            let digits = |mut at: usize| {
                while bytes.get(at).is_some_and(|it| it.is_ascii_digit() || *it == b'_') {
                    at += 1;
                }
                at
            };
            len = digits(len);
            if bytes.get(len) == Some(&b'.') && bytes.get(len + 1) != Some(&b'.') {
                len = digits(len + 1);
            }
            if matches!(bytes.get(len), Some(b'e' | b'E')) {
                let sign = usize::from(matches!(bytes.get(len + 1), Some(b'+' | b'-')));
                if bytes.get(len + 1 + sign).is_some_and(u8::is_ascii_digit) {
                    len = digits(len + 1 + sign);
                }
            } else if matches!(bytes.get(len), Some(b'K' | b'M' | b'G' | b'T' | b'P')) {
                len += 1 + usize::from(bytes.get(len + 1) == Some(&b'i'));
            }
        }
        let text = self.rest()[..len].to_owned();
        self.at += len;
        if let Err(message) = literal::check_number(&text) {
            self.error(start, message);
        }
        Kind::Number(text)
    }

    fn attribute(&mut self) -> Kind {
        let start = self.at;
        self.at += 1;
        let name = match self.peek() {
            Some(c) if c == '_' || c == '$' || c == '#' || unicode_ident::is_xid_start(c) => {
                match self.ident() {
                    Kind::Ident(name) => name,
                    _ => String::new(),
                }
            }
            _ => String::new(),
        };
        if name.is_empty() || self.peek() != Some('(') {
            self.error(start, "invalid attribute: expected '('");
            return Kind::Bad;
        }
        let open = self.at + 1;
        let mut stack = vec![')'];
        self.at = open;
        while let Some(c) = self.peek() {
            match c {
                '(' => stack.push(')'),
                '[' => stack.push(']'),
                '{' => stack.push('}'),
                ')' | ']' | '}' => {
                    if stack.pop() != Some(c) {
                        break;
                    }
                    if stack.is_empty() {
                        let body = self.text[open..self.at].to_owned();
                        self.at += 1;
                        return Kind::Attribute { name, body };
                    }
                }
                '"' | '\'' => {
                    self.text(0);
                    continue;
                }
                '#' => {
                    let hashes = self.rest().bytes().take_while(|it| *it == b'#').count();
                    self.at += hashes;
                    if matches!(self.peek(), Some('"' | '\'')) {
                        self.text(hashes);
                    }
                    continue;
                }
                _ => {}
            }
            self.at += c.len_utf8();
        }
        self.error(start, "attribute missing ')'");
        Kind::Bad
    }

    /// A string that opens here, `hashes` of them already taken.
    fn text(&mut self, hashes: usize) -> Kind {
        let start = self.at - hashes;
        let quote = if self.rest().starts_with('"') { '"' } else { '\'' };
        let bytes = quote == '\'';
        let triple: String = std::iter::repeat_n(quote, 3).collect();
        let multiline = self.rest().starts_with(&triple);
        self.at += if multiline { 3 } else { 1 };
        let tail = "#".repeat(hashes);
        let close = if multiline { triple + &tail } else { format!("{quote}{tail}") };
        let escape = format!("\\{tail}");
        if multiline {
            let line = self.rest().find('\n').unwrap_or(self.rest().len());
            if !self.rest()[..line].trim().is_empty() {
                self.error(start, "expected newline after multiline quote");
            }
            self.at = (self.at + line + 1).min(self.text.len());
        }
        let body_start = self.at;
        let indent = if multiline { self.closing_indent(&close, &escape) } else { String::new() };
        let mut parts = Vec::new();
        let mut literal = Vec::new();
        let mut line_start = multiline;
        loop {
            if line_start {
                line_start = false;
                if self.rest().starts_with(&indent) {
                    self.at += indent.len();
                } else {
                    let line = self.rest().lines().next().unwrap_or_default();
                    if !line.trim().is_empty() && !line.trim_start().starts_with(&close) {
                        self.error(self.at, "invalid whitespace");
                    }
                }
            }
            let rest = &self.text[self.at..];
            if rest.starts_with(&close) {
                self.at += close.len();
                if multiline && literal.last() == Some(&b'\n') {
                    literal.pop();
                } else if multiline && body_start != self.at - close.len() && !parts.is_empty() {
                    // The newline before the closing quote belongs to neither part.
                }
                break;
            }
            let Some(c) = rest.chars().next() else {
                self.error(start, "string literal not terminated");
                return Kind::Bad;
            };
            if c == '\n' {
                if !multiline {
                    self.error(start, "string literal not terminated");
                    return Kind::Bad;
                }
                literal.push(b'\n');
                self.at += 1;
                line_start = true;
                continue;
            }
            if c == '\r' && multiline {
                self.at += 1;
                continue;
            }
            if rest.starts_with(&escape) {
                let escaped = self.at;
                self.at += escape.len();
                if self.peek() == Some('(') {
                    self.at += 1;
                    self.depth += 1;
                    if self.depth > NESTING {
                        self.error(escaped, "interpolations nested too deeply");
                        return Kind::Bad;
                    }
                    parts.push(TextPart::Literal(std::mem::take(&mut literal)));
                    let tokens = self.run(true);
                    self.depth -= 1;
                    parts.push(TextPart::Tokens(tokens));
                    continue;
                }
                let rest = &self.text[self.at..];
                match literal::escape(rest, bytes, multiline) {
                    Ok((len, decoded)) => {
                        if rest.starts_with('\n') {
                            line_start = true;
                        }
                        self.at += len;
                        literal.extend(decoded);
                    }
                    Err(message) => {
                        self.at += rest.chars().next().map_or(0, char::len_utf8);
                        self.error(escaped, message);
                    }
                }
                continue;
            }
            let mut buffer = [0; 4];
            literal.extend(c.encode_utf8(&mut buffer).as_bytes());
            self.at += c.len_utf8();
        }
        parts.push(TextPart::Literal(literal));
        Kind::Text { parts, bytes }
    }

    /// Whitespace before the closing quotes of a multi-line string: every line starts with it.
    fn closing_indent(&self, close: &str, escape: &str) -> String {
        let mut at = 0;
        let rest = self.rest();
        while let Some(found) = rest[at..].find(close) {
            let here = at + found;
            let line = rest[..here].rfind('\n').map_or(0, |it| it + 1);
            let before = &rest[line..here];
            if before.trim().is_empty() {
                return before.to_owned();
            }
            let _ = escape;
            at = here + 1;
        }
        String::new()
    }
}

/// Whether a newline behind this token means a comma (spec: Commas).
fn ends_statement(kind: &Kind) -> bool {
    match kind {
        Kind::Ident(_) | Kind::Number(_) | Kind::Text { .. } | Kind::Attribute { .. } => true,
        Kind::Op(op) => matches!(*op, ")" | "]" | "}" | "?" | "..." | "_|_"),
        Kind::Comma(_) | Kind::End | Kind::Bad => false,
    }
}
