//! YAML text as tokens: indentation becomes block starts and ends, `:` makes what stood before a key.
//!
//! The rules and messages are those of libyaml, so that errors read as in the original.

use std::collections::VecDeque;

/// A place in the text.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Mark {
    /// Byte offset.
    pub(super) index: usize,
    /// From 0.
    pub(super) line: usize,
    /// In characters, from 0.
    pub(super) column: usize,
}

/// What is wrong and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Problem {
    pub(super) message: &'static str,
    /// Begin of what was being read.
    pub(super) context: Mark,
    pub(super) mark: Mark,
    pub(super) scanner: bool,
}

/// Whether a scalar stands without quotes and is no block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Style {
    Plain,
    Other,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    StreamEnd,
    Version(u32, u32),
    TagDirective(String, String),
    DocumentStart,
    DocumentEnd,
    BlockSequenceStart,
    BlockMappingStart,
    BlockEnd,
    FlowSequenceStart,
    FlowSequenceEnd,
    FlowMappingStart,
    FlowMappingEnd,
    BlockEntry,
    FlowEntry,
    Key,
    Value,
    Alias(String),
    Anchor(String),
    Tag(String, String),
    Scalar { text: String, style: Style },
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) start: Mark,
    pub(super) end: Mark,
}

#[derive(Clone, Copy)]
struct SimpleKey {
    possible: bool,
    required: bool,
    token: usize,
    mark: Mark,
}

const NO_KEY: SimpleKey = SimpleKey {
    possible: false,
    required: false,
    token: 0,
    mark: Mark { index: 0, line: 0, column: 0 },
};

pub(super) struct Scanner<'a> {
    text: &'a str,
    pub(super) mark: Mark,
    pub(super) tokens: VecDeque<Token>,
    taken: usize,
    ended: bool,
    pub(super) indent: i64,
    indents: Vec<i64>,
    pub(super) key_allowed: bool,
    /// One for each flow level, the block level first.
    keys: Vec<SimpleKey>,
    /// Levels whose key is possible, lowest first.
    possible: VecDeque<usize>,
}

pub(super) type Scan<T> = Result<T, Problem>;

/// End of text.
pub(super) const END: char = '\0';
/// Nesting beyond this is refused.
const DEPTH: usize = 10_000;

pub(super) fn is_break(c: char) -> bool {
    matches!(c, '\r' | '\n' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

pub(super) fn is_blank(c: char) -> bool {
    c == ' ' || c == '\t'
}

pub(super) fn is_breakz(c: char) -> bool {
    c == END || is_break(c)
}

pub(super) fn is_blankz(c: char) -> bool {
    is_blank(c) || is_breakz(c)
}

pub(super) fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

impl<'a> Scanner<'a> {
    /// Control characters must have been refused before: NUL means the end here.
    pub(super) fn new(text: &'a str) -> Scanner<'a> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        Scanner {
            text,
            mark: Mark::default(),
            tokens: VecDeque::new(),
            taken: 0,
            ended: false,
            indent: -1,
            indents: Vec::new(),
            key_allowed: true,
            keys: vec![NO_KEY],
            possible: VecDeque::new(),
        }
    }

    /// The next token, left in place.
    pub(super) fn peek(&mut self) -> Scan<&Token> {
        while self.needs_more()? {
            self.fetch()?;
        }
        match self.tokens.front() {
            Some(token) => Ok(token),
            None => Err(self.problem(self.mark, "unexpected end of stream")),
        }
    }

    /// Takes the token `peek` has shown.
    pub(super) fn skip(&mut self) -> Option<Token> {
        let token = self.tokens.pop_front();
        self.taken += usize::from(token.is_some());
        token
    }

    fn needs_more(&mut self) -> Scan<bool> {
        if self.ended {
            return Ok(false);
        }
        // The original looks two tokens ahead, which decides which error comes first.
        if self.tokens.len() <= 2 {
            return Ok(true);
        }
        self.drop_stale_keys()?;
        Ok(self.possible.front().is_some_and(|level| self.keys[*level].token == self.taken))
    }

    pub(super) fn problem(&self, context: Mark, message: &'static str) -> Problem {
        Problem { message, context, mark: self.mark, scanner: true }
    }

    /// Character `ahead` bytes on; what lies between must be ASCII.
    pub(super) fn at(&self, ahead: usize) -> char {
        let from = self.mark.index + ahead;
        match self.text.as_bytes().get(from) {
            None => END,
            Some(byte) if byte.is_ascii() => char::from(*byte),
            Some(_) => self.text.get(from..).and_then(|rest| rest.chars().next()).unwrap_or(END),
        }
    }

    pub(super) fn current(&self) -> char {
        self.at(0)
    }

    pub(super) fn advance(&mut self) {
        let c = self.current();
        if c != END {
            self.mark.index += c.len_utf8();
            self.mark.column += 1;
        }
    }

    pub(super) fn read(&mut self, out: &mut String) {
        let c = self.current();
        if c != END {
            out.push(c);
            self.advance();
        }
    }

    /// Takes a line break, as `\n` unless it is one of Unicode's separators.
    pub(super) fn line(&mut self, out: &mut String) {
        let c = self.current();
        if !is_break(c) {
            return;
        }
        let length = if c == '\r' && self.at(1) == '\n' { 2 } else { c.len_utf8() };
        out.push(if matches!(c, '\u{2028}' | '\u{2029}') { c } else { '\n' });
        self.mark.index += length;
        self.mark.line += 1;
        self.mark.column = 0;
    }

    pub(super) fn in_flow(&self) -> bool {
        self.keys.len() > 1
    }

    pub(super) fn push(&mut self, kind: Kind, start: Mark) {
        self.tokens.push_back(Token { kind, start, end: self.mark });
    }

    pub(super) fn at_document_mark(&self) -> bool {
        let rest = &self.text.as_bytes()[self.mark.index.min(self.text.len())..];
        self.mark.column == 0
            && (rest.starts_with(b"---") || rest.starts_with(b"..."))
            && is_blankz(self.at(3))
    }

    fn fetch(&mut self) -> Scan<()> {
        self.skip_to_token();
        self.drop_stale_keys()?;
        self.unroll(self.mark.column as i64);
        let start = self.mark;
        let c = self.current();
        let next = if c.is_ascii() { self.at(1) } else { 'x' };
        match c {
            END => {
                if self.mark.column != 0 {
                    self.mark.column = 0;
                    self.mark.line += 1;
                }
                self.unroll(-1);
                self.remove_key()?;
                self.key_allowed = false;
                self.ended = true;
                let mark = self.mark;
                self.push(Kind::StreamEnd, mark);
            }
            '%' if self.mark.column == 0 => {
                self.unroll(-1);
                self.remove_key()?;
                self.key_allowed = false;
                self.directive()?;
            }
            '-' | '.' if self.at_document_mark() => {
                self.unroll(-1);
                self.remove_key()?;
                self.key_allowed = false;
                for _ in 0..3 {
                    self.advance();
                }
                self.push(if c == '-' { Kind::DocumentStart } else { Kind::DocumentEnd }, start);
            }
            '[' | '{' => {
                self.save_key()?;
                if self.keys.len() > DEPTH {
                    return Err(self.problem(start, "exceeded max depth of 10000"));
                }
                self.keys.push(NO_KEY);
                self.key_allowed = true;
                self.advance();
                let sequence = c == '[';
                self.push(
                    if sequence { Kind::FlowSequenceStart } else { Kind::FlowMappingStart },
                    start,
                );
            }
            ']' | '}' => {
                self.remove_key()?;
                if self.in_flow() {
                    self.keys.pop();
                }
                self.key_allowed = false;
                self.advance();
                let sequence = c == ']';
                self.push(
                    if sequence { Kind::FlowSequenceEnd } else { Kind::FlowMappingEnd },
                    start,
                );
            }
            ',' => {
                self.remove_key()?;
                self.key_allowed = true;
                self.advance();
                self.push(Kind::FlowEntry, start);
            }
            '-' if is_blankz(next) => {
                if !self.in_flow() {
                    if !self.key_allowed {
                        let message = "block sequence entries are not allowed in this context";
                        return Err(self.problem(start, message));
                    }
                    self.roll(start.column as i64, None, Kind::BlockSequenceStart, start)?;
                }
                self.remove_key()?;
                self.key_allowed = true;
                self.advance();
                self.push(Kind::BlockEntry, start);
            }
            '?' if self.in_flow() || is_blankz(next) => {
                if !self.in_flow() {
                    if !self.key_allowed {
                        let message = "mapping keys are not allowed in this context";
                        return Err(self.problem(start, message));
                    }
                    self.roll(start.column as i64, None, Kind::BlockMappingStart, start)?;
                }
                self.remove_key()?;
                self.key_allowed = !self.in_flow();
                self.advance();
                self.push(Kind::Key, start);
            }
            ':' if self.in_flow() || is_blankz(next) => self.value()?,
            '*' | '&' => self.anchor()?,
            '!' => self.tag()?,
            '|' | '>' if !self.in_flow() => self.block_scalar()?,
            '\'' | '"' => self.flow_scalar(c)?,
            _ => {
                let indicator = "-?:,[]{}#&*!|>'\"%@`".contains(c);
                let plain = !(is_blankz(c) || indicator)
                    || (c == '-' && !is_blank(next))
                    || (!self.in_flow() && matches!(c, '?' | ':') && !is_blankz(next));
                if !plain {
                    let message = "found character that cannot start any token";
                    return Err(self.problem(start, message));
                }
                self.plain_scalar()?;
            }
        }
        Ok(())
    }

    fn skip_to_token(&mut self) {
        loop {
            while self.current() == ' '
                || (self.current() == '\t' && (self.in_flow() || !self.key_allowed))
            {
                self.advance();
            }
            if self.current() == '#' {
                while !is_breakz(self.current()) {
                    self.advance();
                }
            }
            if !is_break(self.current()) {
                return;
            }
            self.line(&mut String::new());
            if !self.in_flow() {
                self.key_allowed = true;
            }
        }
    }

    // Simple keys

    fn drop_stale_keys(&mut self) -> Scan<()> {
        while let Some(level) = self.possible.front().copied() {
            let key = self.keys[level];
            let stale = key.mark.line < self.mark.line || key.mark.index + 1024 < self.mark.index;
            if !stale {
                return Ok(());
            }
            if key.required {
                return Err(self.problem(key.mark, "could not find expected ':'"));
            }
            self.possible.pop_front();
            self.keys[level].possible = false;
        }
        Ok(())
    }

    pub(super) fn save_key(&mut self) -> Scan<()> {
        if !self.key_allowed {
            return Ok(());
        }
        self.remove_key()?;
        let required = !self.in_flow() && self.indent == self.mark.column as i64;
        let token = self.taken + self.tokens.len();
        let key = SimpleKey { possible: true, required, token, mark: self.mark };
        let level = self.keys.len() - 1;
        self.keys[level] = key;
        self.possible.push_back(level);
        Ok(())
    }

    pub(super) fn remove_key(&mut self) -> Scan<()> {
        let level = self.keys.len() - 1;
        let key = self.keys[level];
        if !key.possible {
            return Ok(());
        }
        if key.required {
            return Err(self.problem(key.mark, "could not find expected ':'"));
        }
        self.forget_key(level);
        Ok(())
    }

    fn forget_key(&mut self, level: usize) {
        self.keys[level].possible = false;
        if self.possible.back() == Some(&level) {
            self.possible.pop_back();
        }
    }

    // Indentation

    fn roll(&mut self, column: i64, token: Option<usize>, kind: Kind, mark: Mark) -> Scan<()> {
        if self.in_flow() || self.indent >= column {
            return Ok(());
        }
        if self.indents.len() >= DEPTH {
            return Err(self.problem(mark, "exceeded max depth of 10000"));
        }
        self.indents.push(self.indent);
        self.indent = column;
        let token_at = token.map_or(self.tokens.len(), |token| token - self.taken);
        self.tokens.insert(token_at.min(self.tokens.len()), Token { kind, start: mark, end: mark });
        Ok(())
    }

    fn unroll(&mut self, column: i64) {
        if self.in_flow() {
            return;
        }
        while self.indent > column {
            let mark = self.mark;
            self.push(Kind::BlockEnd, mark);
            self.indent = self.indents.pop().unwrap_or(-1);
        }
    }

    fn value(&mut self) -> Scan<()> {
        let start = self.mark;
        let level = self.keys.len() - 1;
        let key = self.keys[level];
        if key.possible {
            let at = (key.token - self.taken).min(self.tokens.len());
            self.tokens.insert(at, Token { kind: Kind::Key, start: key.mark, end: key.mark });
            let column = key.mark.column as i64;
            self.roll(column, Some(key.token), Kind::BlockMappingStart, key.mark)?;
            self.forget_key(level);
            self.key_allowed = false;
        } else {
            if !self.in_flow() {
                if !self.key_allowed {
                    let message = "mapping values are not allowed in this context";
                    return Err(self.problem(start, message));
                }
                self.roll(start.column as i64, None, Kind::BlockMappingStart, start)?;
            }
            self.key_allowed = !self.in_flow();
        }
        self.advance();
        self.push(Kind::Value, start);
        Ok(())
    }
}
