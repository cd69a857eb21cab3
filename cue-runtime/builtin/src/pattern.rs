//! Go's regular expressions: the syntax checked with Go's errors, then given to a [`Matcher`].
//!
//! Whatever the two disagree on is spelled out: `\d` as `[0-9]`, `\Q…\E` as escaped characters,
//! named groups as plain ones (names may repeat in Go), `{` without a count as a character.

use std::cell::RefCell;
use std::fmt::Write as _;
use std::rc::Rc;

use cue_map::Map;

use crate::matcher::{Found, Matcher};

/// How many bytes the patterns take that are kept, and how long they may be as they are written.
const MOST_KEPT: usize = 4 << 20;
const LONGEST_KEPT: usize = 512;

/// What a pattern takes besides what it is compiled to.
const EACH: usize = 1 << 10;

thread_local! {
    static KEPT: RefCell<Kept> = RefCell::default();
}

/// Patterns that were used, by what they are written as.
#[derive(Default)]
struct Kept {
    patterns: Map<String, Rc<Pattern>>,
    bytes: usize,
}

/// A compiled expression of `=~`, `!~` and package `regexp`.
pub struct Pattern {
    matcher: Matcher,
    /// Names of the groups, the whole match first; empty for none.
    pub names: Vec<String>,
}

impl Pattern {
    /// Compiles; the error is Go's text, `error parsing regexp: …`.
    pub fn new(source: &str) -> Result<Pattern, String> {
        let mut parser = Translator {
            source,
            at: 0,
            out: String::with_capacity(source.len() + 8),
            names: vec![String::new()],
            groups: Vec::new(),
            last: Last::Nothing,
            ranges: 0,
        };
        parser.run().map_err(|(kind, text)| format!("error parsing regexp: {kind}: `{text}`"))?;
        let matcher = Matcher::new(&parser.out)
            .ok_or_else(|| format!("error parsing regexp: {TOO_LARGE}: `{source}`"))?;
        Ok(Pattern { matcher, names: parser.names })
    }

    /// The same, compiled once for many uses.
    pub fn kept(source: &str) -> Result<Rc<Pattern>, String> {
        KEPT.with_borrow_mut(|kept| {
            if let Some(pattern) = kept.patterns.get(source) {
                return Ok(pattern.clone());
            }
            let pattern = Rc::new(Pattern::new(source)?);
            let bytes = pattern.matcher.bytes() + EACH;
            if source.len() <= LONGEST_KEPT && bytes <= MOST_KEPT {
                // Those of a schema are hundreds at most; what builds patterns without end keeps none of them.
                if kept.bytes + bytes > MOST_KEPT {
                    *kept = Kept::default();
                }
                kept.bytes += bytes;
                kept.patterns.insert(source.to_owned(), pattern.clone());
            }
            Ok(pattern)
        })
    }

    /// Whether it matches anywhere in `text`.
    pub fn is_match(&self, text: &str) -> bool {
        self.matcher.is_match(text)
    }

    /// The first match.
    pub(crate) fn first<'t>(&self, text: &'t str) -> Option<Found<'t>> {
        self.matcher.first(text)
    }

    /// The matches, one after the other.
    pub(crate) fn all<'t>(&self, text: &'t str) -> impl Iterator<Item = Found<'t>> {
        self.matcher.all(text)
    }
}

type Refused = (&'static str, String);

/// What a repetition operator would apply to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    Nothing,
    /// Anything repeatable; the product of its counts.
    Atom(u32),
    /// Something that was just repeated, with the place of that operator.
    Repeated(u32, usize),
}

struct Group {
    /// Largest product of counts inside.
    counts: u32,
}

struct Translator<'a> {
    source: &'a str,
    at: usize,
    out: String,
    names: Vec<String>,
    groups: Vec<Group>,
    last: Last,
    /// Ranges of characters that classes of Unicode were spelled out as.
    ranges: usize,
}

/// So many of them: what is compiled would be larger than it may.
const MOST_RANGES: usize = 1 << 20;

const TOO_LARGE: &str = "expression too large";
const SYNTAX: &str = "invalid or unsupported Perl syntax";
const ESCAPE: &str = "invalid escape sequence";
const RANGE: &str = "invalid character class range";
const NAME: &str = "invalid named capture";
const MISSING: &str = "missing argument to repetition operator";

impl Translator<'_> {
    fn rest(&self) -> &str {
        &self.source[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn literal(&mut self, c: char) {
        push_char(&mut self.out, c);
        self.last = Last::Atom(1);
    }

    fn counts_inside(&self) -> u32 {
        match self.last {
            Last::Nothing => 1,
            Last::Atom(counts) | Last::Repeated(counts, _) => counts,
        }
    }

    /// Notes what the current group holds before `last` is replaced.
    fn settle(&mut self) {
        let counts = self.counts_inside();
        if let Some(group) = self.groups.last_mut() {
            group.counts = group.counts.max(counts);
        }
    }

    fn run(&mut self) -> Result<(), Refused> {
        while let Some(c) = self.peek() {
            if !matches!(c, '*' | '+' | '?' | '{' | ')') {
                self.settle();
            }
            match c {
                '(' => self.open()?,
                ')' => self.close()?,
                '|' => {
                    self.at += 1;
                    self.out.push('|');
                    self.last = Last::Nothing;
                }
                '[' => self.class()?,
                '.' | '^' | '$' => {
                    self.at += 1;
                    self.out.push(c);
                    self.last = Last::Atom(1);
                }
                '*' | '+' | '?' => {
                    let start = self.at;
                    self.at += 1;
                    self.repeat(start, None)?;
                }
                '{' => self.counted()?,
                '\\' => self.escape()?,
                _ => {
                    self.at += c.len_utf8();
                    self.literal(c);
                }
            }
        }
        if self.groups.is_empty() {
            Ok(())
        } else {
            Err(("missing closing )", self.source.to_owned()))
        }
    }

    fn repeat(&mut self, start: usize, counts: Option<(u32, Option<u32>)>) -> Result<(), Refused> {
        if self.rest().starts_with('?') {
            self.at += 1;
        }
        let operator = self.source[start..self.at].to_owned();
        let inside = match self.last {
            Last::Nothing => return Err((MISSING, operator)),
            Last::Repeated(_, before) => {
                return Err((
                    "invalid nested repetition operator",
                    self.source[before..self.at].to_owned(),
                ));
            }
            Last::Atom(inside) => inside,
        };
        let mut product = inside;
        if let Some((low, high)) = counts {
            product = inside.saturating_mul(high.unwrap_or(low).max(1));
            if low > 1000 || high.is_some_and(|high| high > 1000 || high < low) || product > 1000 {
                return Err(("invalid repeat count", operator));
            }
        }
        self.out.push_str(&operator);
        self.last = Last::Repeated(product, start);
        Ok(())
    }

    fn counted(&mut self) -> Result<(), Refused> {
        let start = self.at;
        let parsed = self.rest().find('}').and_then(|end| {
            let body = &self.rest()[1..end];
            let (low, high) = match body.split_once(',') {
                Some((low, "")) => (low, None),
                Some((low, high)) => (low, Some(high)),
                None => (body, Some(body)),
            };
            let number = |digits: &str| {
                let fits = !digits.is_empty()
                    && digits.bytes().all(|byte| byte.is_ascii_digit())
                    && (digits == "0" || !digits.starts_with('0'));
                fits.then(|| digits.parse::<u32>().unwrap_or(u32::MAX))
            };
            let low = number(low)?;
            let high = match high {
                Some(digits) => Some(number(digits)?),
                None => None,
            };
            Some((low, high, end + 1))
        });
        match parsed {
            Some((low, high, length)) => {
                self.at += length;
                self.repeat(start, Some((low, high)))
            }
            None => {
                self.settle();
                self.at += 1;
                self.literal('{');
                Ok(())
            }
        }
    }

    fn open(&mut self) -> Result<(), Refused> {
        if self.groups.len() >= 1000 {
            return Err(("expression nests too deeply", self.source.to_owned()));
        }
        let rest = self.rest();
        let Some(body) = rest.strip_prefix("(?") else {
            self.at += 1;
            self.out.push('(');
            self.names.push(String::new());
            self.groups.push(Group { counts: 1 });
            self.last = Last::Nothing;
            return Ok(());
        };
        let named = body.strip_prefix("P<").or_else(|| body.strip_prefix('<'));
        if let Some(name) = named {
            let Some(end) = name.find('>') else { return Err((NAME, rest.to_owned())) };
            let text = &name[..end];
            let head = rest.len() - name.len() + end + 1;
            let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
            if text.is_empty() || !text.bytes().all(word) {
                return Err((NAME, rest[..head].to_owned()));
            }
            self.names.push(text.to_owned());
            self.at += head;
            self.out.push('(');
            self.groups.push(Group { counts: 1 });
            self.last = Last::Nothing;
            return Ok(());
        }
        let mut off = false;
        let mut some = false;
        for (at, c) in body.char_indices() {
            let text = &rest[..at + 2 + c.len_utf8()];
            match c {
                'i' | 'm' | 's' | 'U' => some = true,
                '-' if !off => {
                    off = true;
                    some = false;
                }
                ':' | ')' => {
                    if off && !some {
                        return Err((SYNTAX, text.to_owned()));
                    }
                    let length = text.len();
                    let flags = &text[2..length - 1];
                    let opened = if c == ':' || !flags.is_empty() { text } else { "" }.to_owned();
                    self.at += length;
                    self.out.push_str(&opened);
                    if c == ':' {
                        self.groups.push(Group { counts: 1 });
                    }
                    self.last = Last::Nothing;
                    return Ok(());
                }
                _ => return Err((SYNTAX, text.to_owned())),
            }
        }
        Err(("missing closing )", self.source.to_owned()))
    }

    fn close(&mut self) -> Result<(), Refused> {
        self.settle();
        let Some(group) = self.groups.pop() else {
            return Err(("unexpected )", self.source.to_owned()));
        };
        self.at += 1;
        self.out.push(')');
        self.last = Last::Atom(group.counts);
        Ok(())
    }

    fn escape(&mut self) -> Result<(), Refused> {
        let rest = self.rest();
        let Some(c) = rest[1..].chars().next() else {
            return Err(("trailing backslash at end of expression", String::new()));
        };
        match c {
            'A' | 'z' | 'B' => {
                self.at += 2;
                self.out.push('\\');
                self.out.push(c);
                self.last = Last::Atom(1);
            }
            'b' => {
                self.at += 2;
                self.out.push_str(r"(?-u:\b)");
                self.last = Last::Atom(1);
            }
            'Q' => {
                let body = &rest[2..];
                let (text, length) = match body.find("\\E") {
                    Some(end) => (&body[..end], end + 2),
                    None => (body, body.len()),
                };
                let text = text.to_owned();
                self.at += 2 + length;
                for c in text.chars() {
                    self.literal(c);
                }
            }
            'd' | 'D' | 's' | 'S' | 'w' | 'W' => {
                self.at += 2;
                self.out.push_str("(?-i:[");
                perl_class(&mut self.out, c);
                self.out.push_str("])");
                self.last = Last::Atom(1);
            }
            'p' | 'P' => {
                let class = self.unicode_class()?;
                self.out.push_str(&class);
                self.last = Last::Atom(1);
            }
            _ => {
                let c = self.character()?;
                self.literal(c);
            }
        }
        Ok(())
    }

    /// `\pN`, `\p{Greek}`, as the characters that are in it.
    fn unicode_class(&mut self) -> Result<String, Refused> {
        let rest = self.rest();
        let body = &rest[2..];
        let length = match body.chars().next() {
            Some('{') => match body.find('}') {
                Some(end) => end + 1,
                None => return Err((RANGE, rest.to_owned())),
            },
            Some(c) => c.len_utf8(),
            None => return Err((RANGE, rest.to_owned())),
        };
        let text = rest[..2 + length].to_owned();
        let name = body[..length].trim_start_matches('{').trim_end_matches('}');
        let (inverted, name) = match name.strip_prefix('^') {
            Some(name) => (true, name),
            None => (false, name),
        };
        let negative = text.starts_with("\\P") != inverted;
        let Some(ranges) = crate::unicode::class(name) else { return Err((RANGE, text)) };
        self.ranges += ranges.len();
        if self.ranges > MOST_RANGES {
            return Err((TOO_LARGE, self.source.to_owned()));
        }
        let mut class = String::from(if negative { "[^" } else { "[" });
        for (from, to) in ranges {
            // What is half a character is no text.
            let from = if matches!(from, 0xd800..=0xdfff) { 0xe000 } else { from };
            let to = if matches!(to, 0xd800..=0xdfff) { 0xd7ff } else { to };
            if from <= to {
                let _ = write!(class, "\\x{{{from:x}}}-\\x{{{to:x}}}");
            }
        }
        class.push_str(if class.ends_with(['[', '^']) { "a&&b]" } else { "]" });
        self.at += text.len();
        Ok(class)
    }

    /// An escaped single character.
    fn character(&mut self) -> Result<char, Refused> {
        let rest = self.rest();
        let mut chars = rest.chars();
        chars.next();
        let Some(c) = chars.next() else {
            return Err(("trailing backslash at end of expression", String::new()));
        };
        let refused = |length: usize| {
            let end = rest.char_indices().map(|(at, _)| at).find(|at| *at >= length);
            Err((ESCAPE, rest[..end.unwrap_or(rest.len())].to_owned()))
        };
        let (value, length) = match c {
            'a' => ('\u{7}', 2),
            'f' => ('\u{c}', 2),
            'n' => ('\n', 2),
            'r' => ('\r', 2),
            't' => ('\t', 2),
            'v' => ('\u{b}', 2),
            '0'..='7' => {
                let digits =
                    rest[1..].bytes().take(3).take_while(|b| (b'0'..=b'7').contains(b)).count();
                if c != '0' && digits < 2 {
                    return refused(2);
                }
                let code = u32::from_str_radix(&rest[1..1 + digits], 8).unwrap_or(0);
                (char::from_u32(code).unwrap_or('\0'), 1 + digits)
            }
            'x' => {
                if let Some(body) = rest[2..].strip_prefix('{') {
                    let digits = body.bytes().take_while(u8::is_ascii_hexdigit).count();
                    let code = u32::from_str_radix(&body[..digits], 16).unwrap_or(u32::MAX);
                    let closed = body[digits..].starts_with('}');
                    match char::from_u32(code) {
                        Some(value) if closed => (value, 4 + digits),
                        _ if code > 0x10_ffff && digits > 0 => {
                            return refused(3 + digits.min(6));
                        }
                        _ => return refused(3 + digits + 1),
                    }
                } else {
                    let digits =
                        rest[2..].bytes().take(2).take_while(u8::is_ascii_hexdigit).count();
                    if digits < 2 {
                        return refused(2 + digits + 1);
                    }
                    let code = u32::from_str_radix(&rest[2..4], 16).unwrap_or(0);
                    (char::from_u32(code).unwrap_or('\0'), 4)
                }
            }
            _ if c.is_ascii() && !c.is_ascii_alphanumeric() => (c, 2),
            _ => return refused(1 + c.len_utf8()),
        };
        self.at += length;
        Ok(value)
    }

    fn class(&mut self) -> Result<(), Refused> {
        let start = self.at;
        let unclosed = ("missing closing ]", self.source[start..].to_owned());
        self.at += 1;
        let mut items = String::new();
        let mut fixed = String::new();
        let negative = self.rest().starts_with('^');
        if negative {
            self.at += 1;
        }
        let mut first = true;
        loop {
            let Some(c) = self.peek() else { return Err(unclosed) };
            if c == ']' && !first {
                self.at += 1;
                break;
            }
            first = false;
            if c == '[' && self.rest().starts_with("[:") {
                if let Some(end) = self.rest()[2..].find(":]") {
                    let text = self.rest()[..end + 4].to_owned();
                    let name = text[2..end + 2].trim_start_matches('^');
                    const NAMES: &[&str] = &[
                        "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower",
                        "print", "punct", "space", "upper", "word", "xdigit",
                    ];
                    if !NAMES.contains(&name) {
                        return Err((RANGE, text));
                    }
                    items.push_str(&text);
                    self.at += text.len();
                    continue;
                }
            }
            if c == '\\' {
                match self.rest()[1..].chars().next() {
                    Some('p' | 'P') => {
                        let class = self.unicode_class()?;
                        items.push_str(&class);
                        continue;
                    }
                    Some(letter @ ('d' | 'D' | 's' | 'S' | 'w' | 'W')) => {
                        perl_class(&mut fixed, letter);
                        self.at += 2;
                        continue;
                    }
                    _ => {}
                }
            }
            let low_at = self.at;
            let low = self.class_character(&unclosed)?;
            let rest = self.rest();
            if rest.starts_with('-') && !rest.starts_with("-]") && rest.len() > 1 {
                self.at += 1;
                let high = self.class_character(&unclosed)?;
                if high < low {
                    return Err((RANGE, self.source[low_at..self.at].to_owned()));
                }
                push_char(&mut items, low);
                items.push('-');
                push_char(&mut items, high);
            } else {
                push_char(&mut items, low);
            }
        }
        self.last = Last::Atom(1);
        let sign = if negative { "^" } else { "" };
        if fixed.is_empty() {
            self.out.push_str(&format!("[{sign}{items}]"));
        } else {
            // The escapes are not subject to case folding; none of them changes by it but through
            // two signs, which the nested class keeps out.
            self.out.push_str(&format!("[{sign}{items}{fixed}]"));
        }
        Ok(())
    }

    fn class_character(&mut self, unclosed: &Refused) -> Result<char, Refused> {
        match self.peek() {
            None => Err(unclosed.clone()),
            Some('\\') => self.character(),
            Some(c) => {
                self.at += c.len_utf8();
                Ok(c)
            }
        }
    }
}

fn perl_class(out: &mut String, letter: char) {
    out.push_str(match letter {
        'd' => "0-9",
        'D' => "[^0-9]",
        's' => "\\t\\n\\x0c\\r\\x20",
        'S' => "[^\\t\\n\\x0c\\r\\x20]",
        'w' => "0-9A-Za-z_",
        _ => "[^0-9A-Za-z_]",
    });
}

/// A character that stands for itself, inside of classes and outside.
fn push_char(out: &mut String, c: char) {
    if c.is_ascii_alphanumeric() || c == '_' || !c.is_ascii() {
        out.push(c);
    } else {
        out.push_str(&format!("\\x{{{:x}}}", c as u32));
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::Pattern;

    #[test]
    fn hundreds_of_patterns_are_compiled_once_each() {
        let round = || -> Vec<Rc<Pattern>> {
            (0..500).map(|it| Pattern::kept(&format!("^k{it}")).unwrap()).collect()
        };
        let (first, second) = (round(), round());
        assert!(first.iter().zip(&second).all(|(one, other)| Rc::ptr_eq(one, other)));
    }

    #[test]
    fn classes_without_end_are_refused_before_they_are_spelled_out() {
        let error = Pattern::new(&"\\pL".repeat(1 << 20)).err().unwrap_or_default();
        assert!(error.starts_with("error parsing regexp: expression too large: `\\pL"));
        assert!(Pattern::new(&"\\pL".repeat(100)).is_ok());
    }

    #[test]
    fn patterns_without_end_are_not_all_kept() {
        let first = Pattern::kept("^a").unwrap();
        for it in 0..5_000 {
            Pattern::kept(&format!("^k{it}$")).unwrap();
        }
        assert!(!Rc::ptr_eq(&first, &Pattern::kept("^a").unwrap()));
    }
}
