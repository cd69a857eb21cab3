//! Text to tokens, one at a time: commas inserted, distances kept (rules 1.1 to 1.7).

use crate::tree::Distance;

mod quoted;

use self::quoted::Quote;

macro_rules! kinds {
    ($($name:ident $text:literal,)*) => {
        /// Kinds of tokens.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs)]
        pub enum T { $($name,)* }
        impl T {
            /// As error messages and the operator itself are written.
            pub fn text(self) -> &'static str {
                match self { $(T::$name => $text,)* }
            }
        }
    };
}

kinds! {
    Illegal "ILLEGAL", Eof "EOF", Comment "COMMENT", Attribute "ATTRIBUTE", Ident "IDENT", Int "INT",
    Float "FLOAT", String "STRING", Interpolation "INTERPOLATION", Bottom "_|_",
    Add "+", Sub "-", Mul "*", Quo "/", And "&", Or "|", LAnd "&&", LOr "||", Eql "==", Lss "<",
    Gtr ">", Bind "=", Not "!", Arrow "<-", Neq "!=", Leq "<=", Geq ">=", Mat "=~", NMat "!~",
    LParen "(", LBrack "[", LBrace "{", Comma ",", Period ".", Ellipsis "...", RParen ")",
    RBrack "]", RBrace "}", Semicolon ";", Colon ":", Option "?", Tilde "~",
    If "if", Else "else", For "for", In "in", Let "let", Try "try", Fallback "fallback",
    Otherwise "otherwise", Func "func", True "true", False "false", Null "null",
}

impl T {
    /// Whether the token is a keyword.
    pub fn is_keyword(self) -> bool {
        use T::{Else, Fallback, False, For, Func, If, In, Let, Null, Otherwise, True, Try};
        matches!(
            self,
            If | Else | For | In | Let | Try | Fallback | Otherwise | Func | True | False | Null
        )
    }

    /// Whether messages show the text of the token too.
    pub(crate) fn shows_text(self) -> bool {
        matches!(self, T::Ident | T::Int | T::Float | T::String | T::Interpolation | T::Bottom)
    }
}

/// One token.
#[derive(Clone, Copy, Debug)]
pub struct Token {
    /// Which.
    pub kind: T,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
    /// White space since the token before.
    pub distance: Distance,
    /// Whether an explicit comma stood before it.
    pub after_comma: bool,
    /// A comma that a newline stands for.
    pub inserted: bool,
}

/// An error of the scanner: offset and message.
pub(crate) type ScanError = (u32, String);

/// What of an attribute is open.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    /// Its name was read, its parenthesis comes.
    Named,
    /// Its parenthesis.
    Own,
    /// What is closed by this, within it.
    Inner(T),
}

/// Reads tokens from a text.
#[derive(Clone)]
pub struct Scanner<'a> {
    src: &'a str,
    at: usize,
    pending: bool,
    comma: bool,
    newlines: u32,
    blank: bool,
    open: Vec<Quote>,
    in_attribute: bool,
    pub(crate) errors: Vec<ScanError>,
}

impl<'a> Scanner<'a> {
    /// At the start of `src`.
    pub fn new(src: &'a str) -> Self {
        let mut scanner = Scanner {
            src,
            at: 0,
            pending: false,
            comma: false,
            newlines: 0,
            blank: false,
            open: Vec::new(),
            in_attribute: false,
            errors: Vec::new(),
        };
        if src.starts_with('\u{feff}') {
            scanner.at = 3;
        }
        scanner
    }

    fn byte(&self, ahead: usize) -> u8 {
        self.src.as_bytes().get(self.at + ahead).copied().unwrap_or(0)
    }

    fn char(&self) -> Option<char> {
        self.src.get(self.at..).and_then(|it| it.chars().next())
    }

    fn error(&mut self, at: usize, message: impl Into<String>) {
        self.errors.push((at as u32, message.into()));
    }

    fn ended(&self) -> bool {
        self.at >= self.src.len()
    }

    /// The next token; `Eof` again and again at the end.
    pub fn token(&mut self) -> Token {
        while let Some(&byte) = self.src.as_bytes().get(self.at) {
            match byte {
                b'\n' if self.pending => return self.newline(),
                b'\n' => self.newlines += 1,
                b' ' | b'\t' => self.blank = true,
                b'\r' => {}
                _ => break,
            }
            self.at += 1;
        }
        let start = self.at;
        if self.ended() {
            if self.pending {
                return self.inserted(start);
            }
            return self.finish(T::Eof, start);
        }
        if self.byte(0) == b'/' && self.byte(1) == b'/' {
            if self.pending {
                return self.inserted(start);
            }
            let rest = &self.src[start..];
            let len = rest.find('\n').unwrap_or(rest.len());
            for (at, c) in rest[..len].char_indices() {
                match c {
                    '\0' => self.error(start + at, "illegal character NUL"),
                    '\u{feff}' => self.error(start + at, "illegal byte order mark"),
                    _ => {}
                }
            }
            self.at += len;
            return self.finish(T::Comment, start);
        }
        let kind = self.one();
        match kind {
            T::Illegal => {}
            T::Ident
            | T::Int
            | T::Float
            | T::String
            | T::Bottom
            | T::RParen
            | T::RBrack
            | T::RBrace
            | T::Option
            | T::Ellipsis
            | T::Semicolon
            | T::Attribute => {
                self.pending = true;
            }
            kind => self.pending = kind.is_keyword(),
        }
        self.finish(kind, start)
    }

    fn finish(&mut self, kind: T, start: usize) -> Token {
        let distance = match (self.newlines, self.blank) {
            (0, false) => Distance::None,
            (0, true) => Distance::Space,
            (1, _) => Distance::Line,
            _ => Distance::Gap,
        };
        self.newlines = 0;
        self.blank = false;
        let after_comma = self.comma && kind != T::Comment;
        if kind != T::Comment {
            self.comma = kind == T::Comma;
        }
        Token {
            kind,
            start: start as u32,
            end: self.at as u32 + u32::from(kind == T::Interpolation),
            distance,
            after_comma,
            inserted: false,
        }
    }

    /// At a newline that may stand for a comma (rule 1.2).
    fn newline(&mut self) -> Token {
        let start = self.at;
        while let b' ' | b'\t' | b'\r' | b'\n' = self.byte(0) {
            match self.byte(0) {
                b'\n' => self.newlines += 1,
                b'\r' => {}
                _ => self.blank = true,
            }
            self.at += 1;
        }
        self.pending = false;
        if matches!(self.byte(0), b',' | b':') {
            return self.token();
        }
        self.inserted(start)
    }

    fn inserted(&mut self, start: usize) -> Token {
        self.pending = false;
        let end = start as u32;
        Token {
            kind: T::Comma,
            start: end,
            end: end + 1,
            distance: Distance::Space,
            after_comma: false,
            inserted: true,
        }
    }

    fn op(&mut self, len: usize, kind: T) -> T {
        self.at += len;
        kind
    }

    fn one(&mut self) -> T {
        let start = self.at;
        match (self.byte(0), self.byte(1)) {
            (b'"' | b'\'', _) => self.string(start, 0),
            (b'0'..=b'9', _) => self.number(),
            (b'.', b'0'..=b'9') => self.number(),
            (b'.', b'.') => {
                if self.byte(2) == b'.' {
                    return self.op(3, T::Ellipsis);
                }
                self.at += 2;
                self.error(start, "illegal token '..'; expected '.'");
                T::Illegal
            }
            (b'.', _) => self.op(1, T::Period),
            (b'@', _) => self.attribute(),
            (b'#', b'"' | b'\'' | b'#') => {
                let hashes = self.src[start..].bytes().take_while(|it| *it == b'#').count();
                self.at += hashes;
                if matches!(self.byte(0), b'"' | b'\'') {
                    return self.string(start, hashes);
                }
                T::Illegal
            }
            (b'#', _) => self.ident(),
            (b'_', b'|') if self.byte(2) == b'_' => self.op(3, T::Bottom),
            (b'_', b'_') if self.byte(2) == b'#' => {
                self.at += 2;
                self.ident();
                let text = self.src[start..self.at].to_owned();
                self.error(start, format!("illegal token {text:?}"));
                T::Illegal
            }
            (b'_' | b'$', _) => self.ident(),
            (b'&', b'&') => self.op(2, T::LAnd),
            (b'&', _) => self.op(1, T::And),
            (b'|', b'|') => self.op(2, T::LOr),
            (b'|', _) => self.op(1, T::Or),
            (b'=', b'=') => self.op(2, T::Eql),
            (b'=', b'~') => self.op(2, T::Mat),
            (b'=', _) => self.op(1, T::Bind),
            (b'!', b'=') => self.op(2, T::Neq),
            (b'!', b'~') => self.op(2, T::NMat),
            (b'!', _) => self.op(1, T::Not),
            (b'<', b'=') => self.op(2, T::Leq),
            (b'<', b'-') => self.op(2, T::Arrow),
            (b'<', _) => self.op(1, T::Lss),
            (b'>', b'=') => self.op(2, T::Geq),
            (b'>', _) => self.op(1, T::Gtr),
            (b'+', _) => self.op(1, T::Add),
            (b'-', _) => self.op(1, T::Sub),
            (b'*', _) => self.op(1, T::Mul),
            (b'/', _) => self.op(1, T::Quo),
            (b'(', _) => self.op(1, T::LParen),
            (b'[', _) => self.op(1, T::LBrack),
            (b'{', _) => self.op(1, T::LBrace),
            (b')', _) => self.op(1, T::RParen),
            (b']', _) => self.op(1, T::RBrack),
            (b'}', _) => self.op(1, T::RBrace),
            (b',', _) => self.op(1, T::Comma),
            (b';', _) => self.op(1, T::Semicolon),
            (b':', _) => self.op(1, T::Colon),
            (b'?', _) => self.op(1, T::Option),
            (b'~', _) => self.op(1, T::Tilde),
            _ => match self.char() {
                Some(c) if is_letter(c) => self.ident(),
                Some('\0') => {
                    self.at += 1;
                    self.error(start, "illegal character NUL");
                    self.error(start, "illegal character U+0000");
                    T::Illegal
                }
                Some('\u{feff}') => {
                    self.at += 3;
                    self.error(start, "illegal byte order mark");
                    T::Illegal
                }
                Some(c) => {
                    self.at += c.len_utf8();
                    self.error(start, format!("illegal character {}", rune(c)));
                    T::Illegal
                }
                None => T::Eof,
            },
        }
    }

    fn ident(&mut self) -> T {
        let start = self.at;
        if self.byte(0) == b'_' && self.byte(1) == b'#' {
            self.at += 2;
        } else if self.byte(0) == b'#' {
            self.at += 1;
        }
        if self.at > start && self.byte(0).is_ascii_digit() {
            return T::Ident;
        }
        self.word();
        match &self.src[start..self.at] {
            "if" => T::If,
            "else" => T::Else,
            "for" => T::For,
            "in" => T::In,
            "let" => T::Let,
            "try" => T::Try,
            "fallback" => T::Fallback,
            "otherwise" => T::Otherwise,
            "func" => T::Func,
            "true" => T::True,
            "false" => T::False,
            "null" => T::Null,
            _ => T::Ident,
        }
    }

    fn word(&mut self) {
        loop {
            // Most are ASCII.
            let rest = &self.src.as_bytes()[self.at..];
            let plain = |it: &&u8| it.is_ascii_alphanumeric() || matches!(it, b'_' | b'$');
            self.at += rest.iter().take_while(plain).count();
            let Some(c) = self.char().filter(|it| !it.is_ascii()) else { return };
            if !is_letter(c) && !is_digit(c) {
                return;
            }
            self.at += c.len_utf8();
        }
    }

    fn mantissa(&mut self, base: u32) {
        let mut last = 0;
        loop {
            let c = self.byte(0);
            if c != b'_' && !(c as char).is_digit(base) {
                break;
            }
            if last == b'_' && c == b'_' {
                self.error(self.at, "illegal '_' in number");
            }
            last = c;
            self.at += 1;
        }
        if last == b'_' {
            self.error(self.at - 1, "illegal '_' in number");
        }
    }

    fn number(&mut self) -> T {
        let start = self.at;
        let mut kind = T::Int;
        if self.byte(0) == b'.' {
            self.at += 1;
            kind = T::Float;
            self.mantissa(10);
        } else {
            let mut leading = false;
            if self.byte(0) == b'0' {
                self.at += 1;
                let (base, name) = match self.byte(0) {
                    b'x' | b'X' => (16, "hexadecimal"),
                    b'b' => (2, "binary"),
                    b'o' => (8, "octal"),
                    _ => (10, ""),
                };
                if base != 10 {
                    self.at += 1;
                    self.mantissa(base);
                    if self.at - start <= 2 {
                        self.error(start, format!("illegal {name} number"));
                    }
                    return T::Int;
                }
                if self.byte(0).is_ascii_digit() {
                    leading = true;
                    self.mantissa(10);
                }
            } else {
                self.mantissa(10);
            }
            if self.byte(0) == b'.' && self.byte(1) != b'.' {
                kind = T::Float;
                self.at += 1;
                self.mantissa(10);
            } else if leading && !matches!(self.byte(0), b'e' | b'E') {
                self.error(start, "illegal integer number");
                return T::Int;
            }
        }
        match self.byte(0) {
            b'K' | b'M' | b'G' | b'T' | b'P' => {
                self.at += if self.byte(1) == b'i' { 2 } else { 1 };
                T::Int
            }
            b'e' | b'E' => {
                self.at += 1;
                if matches!(self.byte(0), b'+' | b'-') {
                    self.at += 1;
                }
                if self.byte(0).is_ascii_digit() || self.byte(0) == b'_' {
                    self.mantissa(10);
                } else {
                    self.error(self.at, "illegal exponent in number");
                }
                T::Float
            }
            _ => kind,
        }
    }

    /// `@name(…)`. Attributes in attributes are kept track of here, for there may be any number.
    fn attribute(&mut self) -> T {
        self.at += 1;
        if self.in_attribute {
            self.word();
            return T::Attribute;
        }
        let saved = (self.newlines, self.blank, self.comma);
        self.word();
        self.in_attribute = true;
        self.pending = false;
        let mut levels = vec![Level::Named];
        while let Some(level) = levels.last().copied() {
            let kind = self.token().kind;
            match (level, kind) {
                (_, T::Attribute) => {
                    self.pending = false;
                    levels.push(Level::Named);
                }
                (Level::Named, T::LParen) => {
                    levels.pop();
                    levels.push(Level::Own);
                }
                (Level::Named, _) => self.leave(&mut levels),
                (Level::Own, T::RParen) => self.leave(&mut levels),
                (Level::Inner(close), _) if kind == close => {
                    levels.pop();
                }
                (Level::Own, T::Eof) => {
                    self.error(self.at, "attribute missing ')'");
                    self.leave(&mut levels);
                }
                (Level::Inner(close), T::Eof) => {
                    self.error(self.at, format!("attribute missing '{}'", close.text()));
                    levels.pop();
                }
                (_, T::Interpolation) => {
                    self.error(self.at, "interpolation not allowed in attribute");
                    self.open.pop();
                    self.skip_hole();
                }
                (_, T::LParen) => levels.push(Level::Inner(T::RParen)),
                (_, T::LBrack) => levels.push(Level::Inner(T::RBrack)),
                (_, T::LBrace) => levels.push(Level::Inner(T::RBrace)),
                (_, T::RParen | T::RBrack | T::RBrace) => {
                    self.error(self.at, format!("unexpected '{}'", kind.text()));
                }
                _ => {}
            }
        }
        self.in_attribute = false;
        (self.newlines, self.blank, self.comma) = saved;
        T::Attribute
    }

    /// The end of the innermost attribute, which is also that of those whose parenthesis it stands in the place of.
    fn leave(&mut self, levels: &mut Vec<Level>) {
        loop {
            if levels.pop() == Some(Level::Named) {
                self.error(self.at, "invalid attribute: expected '('");
            }
            self.pending = true;
            if levels.last() != Some(&Level::Named) {
                return;
            }
        }
    }

    /// To the parenthesis that closes the attribute around a hole, or to the end of the line.
    fn skip_hole(&mut self) {
        let mut open = 1;
        while !self.ended() && self.byte(0) != b'\n' {
            match self.byte(0) {
                b'(' => open += 1,
                b')' => open -= 1,
                _ => {}
            }
            if open == 0 {
                return;
            }
            self.at += 1;
        }
    }
}

/// As Go's `%#U`.
pub(crate) fn rune(c: char) -> String {
    let printable = !c.is_control() && (!c.is_whitespace() || c == ' ');
    if printable { format!("U+{:04X} '{c}'", c as u32) } else { format!("U+{:04X}", c as u32) }
}

/// Letters of identifiers: ASCII and category L.
pub(crate) fn is_letter(c: char) -> bool {
    c.is_ascii_alphabetic()
        || (!c.is_ascii() && c.is_alphabetic() && unicode_ident::is_xid_start(c))
}

/// Digits of identifiers.
pub(crate) fn is_digit(c: char) -> bool {
    c.is_ascii_digit() || (!c.is_ascii() && c.is_numeric() && unicode_ident::is_xid_continue(c))
}
