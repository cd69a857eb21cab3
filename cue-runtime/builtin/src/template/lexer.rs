//! The tokens of Go templates, one at a time.

use crate::quoting::{Plain, go_quote, is_print};

/// What a token is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// What stands outside of actions.
    Text,
    /// `{{`
    Open,
    /// `}}`
    Close,
    /// White space within an action.
    Space,
    /// The name of a function.
    Name,
    /// `if`, `end`
    Keyword,
    /// `.name`
    Field,
    /// `$name`
    Variable,
    Dot,
    Nil,
    Bool,
    /// `'a'`
    Character,
    /// Numbers, complex ones too.
    Number,
    /// In quotes.
    Quoted,
    /// In backquotes.
    Raw,
    Pipe,
    Assign,
    Declare,
    LeftParen,
    RightParen,
    /// Any other character.
    Other,
    /// What is wrong is in `Lexer::wrong`.
    Error,
    End,
}

/// A piece of a template.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'a> {
    pub(super) kind: Kind,
    pub(super) text: &'a str,
    /// Where it begins.
    pub(super) at: usize,
    pub(super) line: usize,
}

impl Token<'_> {
    /// As messages show it.
    pub(super) fn shown(&self) -> String {
        match self.kind {
            Kind::End => "EOF".to_owned(),
            Kind::Keyword | Kind::Dot | Kind::Nil => format!("<{}>", self.text),
            _ if self.text.len() > 10 => {
                let end = self.text.char_indices().nth(10).map_or(self.text.len(), |it| it.0);
                go_quote(&self.text[..end], '"', Plain::Print) + "..."
            }
            _ => go_quote(self.text, '"', Plain::Print),
        }
    }
}

const KEYWORDS: &[&str] =
    &["block", "break", "continue", "define", "else", "end", "if", "range", "template", "with"];

/// White space of actions, which trim marks take off the text too.
const SPACES: [char; 4] = [' ', '\t', '\r', '\n'];

pub(super) fn is_word(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

/// A template, read from left to right.
pub(super) struct Lexer<'a> {
    text: &'a str,
    at: usize,
    /// The line that `counted` is in.
    line: usize,
    counted: usize,
    inside: bool,
    /// The action or comment before took the white space after it.
    trims: bool,
    parens: usize,
    /// Why there is no token.
    pub(super) wrong: String,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str) -> Lexer<'a> {
        let wrong = String::new();
        Lexer { text, at: 0, line: 1, counted: 0, inside: false, trims: false, parens: 0, wrong }
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Goes past characters.
    fn skip(&mut self, those: impl Fn(char) -> bool) {
        let rest = self.rest();
        self.at += rest.find(|c| !those(c)).unwrap_or(rest.len());
    }

    /// Goes past one of some characters.
    fn accept(&mut self, those: &str) -> bool {
        let next = self.peek().filter(|c| those.contains(*c));
        self.at += next.map_or(0, char::len_utf8);
        next.is_some()
    }

    /// What begins at `from` and ends here.
    fn token(&mut self, kind: Kind, from: usize) -> Token<'a> {
        self.line += self.text[self.counted..from].matches('\n').count();
        self.counted = from;
        Token { kind, text: &self.text[from..self.at], at: from, line: self.line }
    }

    fn error(&mut self, from: usize, reason: impl Into<String>) -> Token<'a> {
        self.wrong = reason.into();
        self.token(Kind::Error, from)
    }

    /// Bytes of the mark that ends an action here: with ` -` before or without.
    fn closing(&self) -> Option<usize> {
        let rest = self.rest();
        let trimmed = rest.strip_prefix(SPACES).is_some_and(|it| it.starts_with("-}}"));
        if trimmed {
            return Some(4);
        }
        rest.starts_with("}}").then_some(2)
    }

    /// The next token.
    pub(super) fn next(&mut self) -> Token<'a> {
        if self.inside { self.action() } else { self.outside() }
    }

    fn outside(&mut self) -> Token<'a> {
        loop {
            if std::mem::take(&mut self.trims) {
                self.skip(|c| SPACES.contains(&c));
            }
            let from = self.at;
            let rest = self.rest();
            let Some(length) = rest.find("{{") else {
                self.at = self.text.len();
                return self.token(if rest.is_empty() { Kind::End } else { Kind::Text }, from);
            };
            let inner = &rest[length + 2..];
            let marked = inner.strip_prefix('-').is_some_and(|it| it.starts_with(SPACES));
            let mark = if marked { 2 } else { 0 };
            let text = &rest[..length];
            let text = if marked { text.trim_end_matches(SPACES) } else { text };
            if !text.is_empty() {
                // What the mark takes is left for the next time.
                self.at = from + text.len();
                return self.token(Kind::Text, from);
            }
            let open = from + length;
            self.at = open + 2;
            if !inner[mark..].starts_with("/*") {
                self.inside = true;
                self.parens = 0;
                let token = self.token(Kind::Open, open);
                self.at += mark;
                return token;
            }
            self.at += mark;
            let comment = self.at;
            let Some(end) = self.rest().get(2..).and_then(|it| it.find("*/")) else {
                return self.error(comment, "unclosed comment");
            };
            self.at += end + 4;
            let Some(close) = self.closing() else {
                return self.error(comment, "comment ends before closing delimiter");
            };
            self.at += close;
            self.trims = close > 2;
        }
    }

    fn action(&mut self) -> Token<'a> {
        let from = self.at;
        if let Some(close) = self.closing() {
            if self.parens > 0 {
                return self.error(from, "unclosed left paren");
            }
            // The mark, without what trims.
            self.at = from + close;
            self.inside = false;
            self.trims = close > 2;
            return self.token(Kind::Close, from + close - 2);
        }
        let Some(c) = self.peek() else { return self.error(from, "unclosed action") };
        self.at += c.len_utf8();
        let kind = match c {
            _ if SPACES.contains(&c) => {
                // A mark that trims begins with the last of them.
                while self.closing().is_none() && self.peek().is_some_and(|c| SPACES.contains(&c)) {
                    self.at += 1;
                }
                Kind::Space
            }
            '=' => Kind::Assign,
            ':' if self.accept("=") => Kind::Declare,
            ':' => return self.error(from, "expected :="),
            '|' => Kind::Pipe,
            '"' | '\'' => return self.quoted(from, c),
            '`' => match self.rest().find('`') {
                Some(length) => {
                    self.at += length + 1;
                    Kind::Raw
                }
                None => return self.error(from, "unterminated raw quoted string"),
            },
            '.' if self.peek().is_none_or(|c| c.is_ascii_digit()) => return self.number(from),
            '+' | '-' | '0'..='9' => return self.number(from),
            '.' | '$' => {
                self.skip(is_word);
                return self.word(if c == '.' { Kind::Field } else { Kind::Variable }, from);
            }
            '(' => {
                self.parens += 1;
                Kind::LeftParen
            }
            ')' if self.parens == 0 => return self.error(from, "unexpected right paren"),
            ')' => {
                self.parens -= 1;
                Kind::RightParen
            }
            c if is_word(c) => {
                self.skip(is_word);
                return self.word(Kind::Name, from);
            }
            ' '..='~' => Kind::Other,
            c => {
                let reason = format!("unrecognized character in action: {}", code_point(c));
                return self.error(from, reason);
            }
        };
        self.token(kind, from)
    }

    /// A name, a field or a variable, which only some characters may follow.
    fn word(&mut self, kind: Kind, from: usize) -> Token<'a> {
        let ends = |c: char| SPACES.contains(&c) || ".,|:()".contains(c);
        let text = &self.text[from..self.at];
        if !self.rest().starts_with("}}")
            && let Some(c) = self.peek().filter(|c| !ends(*c))
        {
            return self.error(from, format!("bad character {}", code_point(c)));
        }
        let kind = match text {
            "." => Kind::Dot,
            "true" | "false" => Kind::Bool,
            "nil" => Kind::Nil,
            _ if KEYWORDS.contains(&text) => Kind::Keyword,
            _ => kind,
        };
        self.token(kind, from)
    }

    /// To the quote that ends a text or a character on this line.
    fn quoted(&mut self, from: usize, quote: char) -> Token<'a> {
        let (kind, what) = match quote {
            '"' => (Kind::Quoted, "quoted string"),
            _ => (Kind::Character, "character constant"),
        };
        loop {
            let next = self.peek();
            self.at += next.map_or(0, char::len_utf8);
            match next {
                Some(c) if c == quote => return self.token(kind, from),
                Some('\\') if self.peek().is_some_and(|c| c != '\n') => {
                    self.at += self.peek().map_or(0, char::len_utf8);
                }
                None | Some('\n' | '\\') => {
                    return self.error(from, format!("unterminated {what}"));
                }
                Some(_) => {}
            }
        }
    }

    fn number(&mut self, from: usize) -> Token<'a> {
        self.at = from;
        let is_right = self.digits()
            && (!self.rest().starts_with(['+', '-'])
                || (self.digits() && self.text[..self.at].ends_with('i')));
        if is_right {
            return self.token(Kind::Number, from);
        }
        let text = go_quote(&self.text[from..self.at], '"', Plain::Print);
        self.error(from, format!("bad number syntax: {text}"))
    }

    /// Goes past one number. Whether nothing of a word follows it, which is gone past too.
    fn digits(&mut self) -> bool {
        self.accept("+-");
        let digits = match self.accept("0") {
            true if self.accept("xX") => "0123456789abcdefABCDEF_",
            true if self.accept("oO") => "01234567_",
            true if self.accept("bB") => "01_",
            _ => "0123456789_",
        };
        self.skip(|c| digits.contains(c));
        if self.accept(".") {
            self.skip(|c| digits.contains(c));
        }
        let exponent = match digits.len() {
            11 => "eE",
            23 => "pP",
            _ => "",
        };
        if self.accept(exponent) {
            self.accept("+-");
            self.skip(|c| c == '_' || c.is_ascii_digit());
        }
        self.accept("i");
        let next = self.peek().filter(|c| is_word(*c));
        self.at += next.map_or(0, char::len_utf8);
        next.is_none()
    }
}

/// `U+0040 '@'`
fn code_point(c: char) -> String {
    match is_print(c as u32) {
        true => format!("U+{:04X} '{c}'", c as u32),
        false => format!("U+{:04X}", c as u32),
    }
}
