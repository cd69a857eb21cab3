//! Go templates as trees: text, actions and blocks.

use super::datum::Datum;
use super::unquote::unquote;
use crate::number::Number;

/// A part of a template.
#[derive(Clone, Debug)]
pub(super) enum Node {
    Text(String),
    Action(Pipeline),
    If(Pipeline, Vec<Node>, Vec<Node>),
    With(Pipeline, Vec<Node>, Vec<Node>),
    Range(Pipeline, Vec<Node>, Vec<Node>),
    Template(String, Option<Pipeline>),
    Break,
    Continue,
}

/// `$x := a | b c`
#[derive(Clone, Debug, Default)]
pub(super) struct Pipeline {
    pub(super) variables: Vec<String>,
    pub(super) assigns: bool,
    pub(super) commands: Vec<Vec<Operand>>,
}

/// A word of a command with the fields that follow it.
#[derive(Clone, Debug)]
pub(super) struct Operand {
    pub(super) base: Base,
    pub(super) fields: Vec<String>,
    /// As it stands in the template.
    pub(super) text: String,
    pub(super) line: usize,
    pub(super) column: usize,
}

#[derive(Clone, Debug)]
pub(super) enum Base {
    Dot,
    Nil,
    Variable(String),
    Literal(Datum),
    Function(String),
    Pipeline(Pipeline),
}

/// Blocks nested deeper than this are refused.
const DEPTH: usize = 100;

pub(super) const FUNCTIONS: &[&str] = &[
    "and", "or", "not", "len", "index", "slice", "eq", "ne", "lt", "le", "gt", "ge", "print",
    "printf", "println", "html", "js", "urlquery", "call",
];

/// What ended a list of nodes.
#[derive(PartialEq)]
enum Stop {
    End,
    /// With the rest of the action: `if …`, or nothing.
    Else(String),
    Eof,
}

pub(super) struct Parser<'a> {
    text: &'a str,
    at: usize,
    trim: bool,
    depth: usize,
    pub(super) defined: Vec<(String, Vec<Node>)>,
    variables: Vec<String>,
    loops: usize,
}

type Parse<T> = Result<T, String>;

impl<'a> Parser<'a> {
    /// The tree of a whole template, and those it defines.
    pub(super) fn parse(text: &'a str) -> Parse<(Vec<Node>, Vec<(String, Vec<Node>)>)> {
        let variables = vec!["$".to_owned()];
        let mut parser =
            Parser { text, at: 0, trim: false, depth: 0, defined: Vec::new(), variables, loops: 0 };
        let (nodes, stop) = parser.nodes()?;
        match stop {
            Stop::Eof => Ok((nodes, parser.defined)),
            Stop::End => Err(parser.error("unexpected {{end}}")),
            Stop::Else(_) => Err(parser.error("unexpected {{else}}")),
        }
    }

    fn line(&self, at: usize) -> usize {
        self.text[..at.min(self.text.len())].matches('\n').count() + 1
    }

    fn error(&self, reason: &str) -> String {
        format!("template: :{}: {reason}", self.line(self.at))
    }

    /// Text before the next action, then the action's inside and where it begins.
    fn next(&mut self) -> Parse<(String, Option<(&'a str, usize)>)> {
        let rest = &self.text[self.at..];
        let (mut text, action) = match rest.find("{{") {
            None => (rest, None),
            Some(at) => (&rest[..at], Some(self.at + at + 2)),
        };
        if std::mem::take(&mut self.trim) {
            text = text.trim_start();
        }
        let Some(mut start) = action else {
            self.at = self.text.len();
            return Ok((text.to_owned(), None));
        };
        let inside = &self.text[start..];
        if inside.starts_with("- ") || inside.starts_with("-\n") || inside.starts_with("-\t") {
            text = text.trim_end();
            start += 1;
        }
        let text = text.to_owned();
        let body = &self.text[start..];
        if body.trim_start().starts_with("/*") {
            self.at = start;
            let Some(end) = body.find("*/") else { return Err(self.error("unclosed comment")) };
            let mut after = start + end + 2;
            let rest = &self.text[after..];
            if rest.starts_with(" -}}") {
                self.trim = true;
                after += 2;
            }
            if !self.text[after..].starts_with("}}") {
                return Err(self.error("comment ends before closing delimiter"));
            }
            self.at = after + 2;
            return Ok((text, Some(("", start))));
        }
        // The end of the action, past quoted text.
        let bytes = self.text.as_bytes();
        let mut at = start;
        let mut quote = None;
        loop {
            match (bytes.get(at), quote) {
                (None, None) => {
                    return Err(format!("template: :{}: unclosed action", self.line(start)));
                }
                (None | Some(b'\n'), Some(b'"')) => {
                    self.at = at;
                    return Err(self.error("unterminated quoted string"));
                }
                (None, Some(b'`')) => return Err(self.error("unterminated raw quoted string")),
                (None, Some(_)) => return Err(self.error("unterminated character constant")),
                (Some(b'\\'), Some(b'"' | b'\'')) => at += 1,
                (Some(byte), Some(open)) if *byte == open => quote = None,
                (Some(_), Some(_)) => {}
                (Some(byte @ (b'"' | b'`' | b'\'')), None) => quote = Some(*byte),
                (Some(b'}'), None) if bytes.get(at + 1) == Some(&b'}') => break,
                (Some(_), None) => {}
            }
            at += 1;
        }
        let mut body = &self.text[start..at];
        if body.ends_with(" -") || body.ends_with("\n-") || body.ends_with("\t-") {
            self.trim = true;
            body = &body[..body.len() - 1];
        }
        self.at = at + 2;
        Ok((text, Some((body, start))))
    }

    fn nodes(&mut self) -> Parse<(Vec<Node>, Stop)> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(self.error("blocks nest too deeply"));
        }
        let known = self.variables.len();
        let mut nodes = Vec::new();
        let stop = loop {
            let (text, action) = self.next()?;
            if !text.is_empty() {
                nodes.push(Node::Text(text));
            }
            let Some((body, start)) = action else { break Stop::Eof };
            let trimmed = body.trim();
            let word = trimmed.split([' ', '\t', '\n', '(', '"']).next().unwrap_or("");
            let rest = trimmed[word.len()..].trim_start();
            let rest_at = start + (rest.as_ptr() as usize - body.as_ptr() as usize);
            match word {
                "" if body.trim().is_empty() && self.text[..self.at].ends_with("*/}}") => {}
                "" if body.trim().is_empty() && self.text[..self.at].ends_with("*/ -}}") => {}
                "" if trimmed.is_empty() => return Err(self.error("missing value for command")),
                "end" => break Stop::End,
                "else" => break Stop::Else(rest.to_owned()),
                "if" | "with" | "range" => {
                    let node = self.block(word, rest, rest_at)?;
                    nodes.push(node);
                }
                "define" | "block" => {
                    let (name, data) = self.name(rest, word)?;
                    let (body, stop) = self.nodes()?;
                    self.closed(&stop)?;
                    self.defined.push((name.clone(), body));
                    if word == "block" {
                        let at = rest_at + rest.len() - data.len();
                        nodes.push(Node::Template(name, Some(self.pipeline(data, at, word)?)));
                    }
                }
                "template" => {
                    let (name, data) = self.name(rest, "template")?;
                    let at = rest_at + rest.len() - data.len();
                    let data = match data {
                        "" => None,
                        data => Some(self.pipeline(data, at, "template")?),
                    };
                    nodes.push(Node::Template(name, data));
                }
                "break" | "continue" if rest.is_empty() => {
                    if self.loops == 0 {
                        return Err(self.error(&format!("{{{{{word}}}}} outside {{{{range}}}}")));
                    }
                    nodes.push(if word == "break" { Node::Break } else { Node::Continue });
                }
                _ => nodes.push(Node::Action(self.pipeline(body, start, "command")?)),
            }
        };
        self.variables.truncate(known);
        self.depth -= 1;
        Ok((nodes, stop))
    }

    fn closed(&self, stop: &Stop) -> Parse<()> {
        match stop {
            Stop::End => Ok(()),
            Stop::Else(_) => Err(self.error("expected end; found {{else}}")),
            Stop::Eof => Err(self.error("unexpected EOF")),
        }
    }

    fn block(&mut self, word: &str, head: &str, at: usize) -> Parse<Node> {
        let known = self.variables.len();
        let pipeline = self.pipeline(head, at, word)?;
        self.loops += usize::from(word == "range");
        let (body, stop) = self.nodes()?;
        self.loops -= usize::from(word == "range");
        let otherwise = match stop {
            Stop::Else(rest) if rest.is_empty() => {
                let (nodes, stop) = self.nodes()?;
                self.closed(&stop)?;
                nodes
            }
            Stop::Else(rest) => {
                let (next, head) = rest.split_once(' ').unwrap_or((&rest, ""));
                if next != word || word == "range" {
                    return Err(self.error(&format!("unexpected <{next}> in else")));
                }
                self.depth += 1;
                if self.depth > DEPTH {
                    return Err(self.error("blocks nest too deeply"));
                }
                let place = self.at;
                let node = self.block(word, head.trim(), place)?;
                self.depth -= 1;
                vec![node]
            }
            other => {
                self.closed(&other)?;
                Vec::new()
            }
        };
        self.variables.truncate(known);
        Ok(match word {
            "if" => Node::If(pipeline, body, otherwise),
            "with" => Node::With(pipeline, body, otherwise),
            _ => Node::Range(pipeline, body, otherwise),
        })
    }

    fn name<'t>(&self, text: &'t str, context: &str) -> Parse<(String, &'t str)> {
        let quote = text.chars().next().filter(|c| matches!(c, '"' | '`'));
        let Some(end) = quote.and_then(|quote| text[1..].find(quote)) else {
            return Err(self.error(&format!("unexpected \"}}}}\" in {context} clause")));
        };
        Ok((text[1..end + 1].to_owned(), text[end + 2..].trim()))
    }

    fn pipeline(&mut self, text: &str, at: usize, context: &str) -> Parse<Pipeline> {
        let mut words = Words { parser: self, text, at: 0, start: at, depth: 0 };
        let pipeline = words.pipeline()?;
        if pipeline.commands.is_empty() {
            return Err(self.error(&format!("missing value for {context}")));
        }
        Ok(pipeline)
    }
}

struct Words<'p, 'a, 't> {
    parser: &'p mut Parser<'a>,
    text: &'t str,
    at: usize,
    /// Offset of `text` in the template.
    start: usize,
    depth: usize,
}

impl Words<'_, '_, '_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn spaces(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    fn error<T>(&self, reason: &str) -> Parse<T> {
        Err(format!("template: :{}: {reason}", self.parser.line(self.start + self.at)))
    }

    fn word(&mut self) -> String {
        let rest = self.rest();
        let length = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        let word = rest[..length].to_owned();
        self.at += length;
        word
    }

    fn pipeline(&mut self) -> Parse<Pipeline> {
        let mut pipeline = Pipeline::default();
        self.spaces();
        self.declaration(&mut pipeline);
        loop {
            self.spaces();
            let mut command = Vec::new();
            while !self.rest().is_empty() && !self.rest().starts_with(['|', ')']) {
                command.push(self.operand()?);
                self.spaces();
            }
            if command.is_empty() && (self.rest().starts_with('|') || !pipeline.commands.is_empty())
            {
                return self.error("missing value for command");
            }
            if !pipeline.commands.is_empty()
                && command.first().is_some_and(|it| !matches!(it.base, Base::Function(_)))
                && command.first().is_some_and(|it| it.fields.is_empty())
            {
                let stage = pipeline.commands.len() + 1;
                return self.error(&format!("non executable command in pipeline stage {stage}"));
            }
            if !command.is_empty() {
                pipeline.commands.push(command);
            }
            if !self.rest().starts_with('|') {
                return Ok(pipeline);
            }
            self.at += 1;
        }
    }

    /// `$x :=`, `$i, $x :=`, `$x =`
    fn declaration(&mut self, pipeline: &mut Pipeline) {
        let before = self.at;
        let mut names = Vec::new();
        while self.rest().starts_with('$') {
            self.at += 1;
            names.push(format!("${}", self.word()));
            self.spaces();
            if names.len() == 1 && self.rest().starts_with(',') {
                self.at += 1;
                self.spaces();
                continue;
            }
            let length = if self.rest().starts_with(":=") {
                2
            } else if self.rest().starts_with('=') {
                1
            } else {
                break;
            };
            self.at += length;
            if length == 2 {
                self.parser.variables.extend(names.iter().cloned());
            }
            pipeline.assigns = length == 1;
            pipeline.variables = names;
            return;
        }
        self.at = before;
    }

    fn operand(&mut self) -> Parse<Operand> {
        let from = self.at;
        let rest = self.rest();
        let mut fields = Vec::new();
        let base = match rest.chars().next() {
            Some('.') if rest[1..].starts_with(|c: char| c.is_ascii_digit()) => self.number()?,
            Some('.') => {
                self.at += 1;
                let field = self.word();
                if !field.is_empty() {
                    fields.push(field);
                }
                Base::Dot
            }
            Some('$') => {
                self.at += 1;
                let name = format!("${}", self.word());
                if !self.parser.variables.contains(&name) {
                    return self.error(&format!("undefined variable \"{name}\""));
                }
                Base::Variable(name)
            }
            Some('(') => {
                self.depth += 1;
                if self.depth > DEPTH {
                    return self.error("parentheses nest too deeply");
                }
                self.at += 1;
                let inner = self.pipeline()?;
                if !self.rest().starts_with(')') {
                    return self.error("unclosed left paren");
                }
                self.at += 1;
                self.depth -= 1;
                Base::Pipeline(inner)
            }
            Some('"') => {
                let mut end = 1;
                while end < rest.len() && rest.as_bytes()[end] != b'"' {
                    end += if rest.as_bytes()[end] == b'\\' { 2 } else { 1 };
                }
                let literal = rest.get(..=end).unwrap_or(rest).to_owned();
                self.at += literal.len();
                match unquote(&literal) {
                    Ok(text) => Base::Literal(Datum::text(text)),
                    Err(reason) => return self.error(&reason),
                }
            }
            Some('`') => {
                let Some(end) = rest[1..].find('`') else {
                    return self.error("unterminated raw quoted string");
                };
                let text = rest[1..=end].to_owned();
                self.at += end + 2;
                Base::Literal(Datum::text(text))
            }
            Some('\'') => {
                let Some(end) = rest[1..].find('\'') else {
                    return self.error("unterminated character constant");
                };
                let code = rest[1..=end].chars().next().unwrap_or('\0') as i64;
                self.at += end + 2;
                Base::Literal(Datum::int(code))
            }
            Some(c) if c.is_ascii_digit() || matches!(c, '-' | '+') => self.number()?,
            Some(c) if c.is_alphabetic() || c == '_' => {
                let word = self.word();
                match word.as_str() {
                    "true" => Base::Literal(Datum::Bool(true)),
                    "false" => Base::Literal(Datum::Bool(false)),
                    "nil" => Base::Nil,
                    _ if FUNCTIONS.contains(&word.as_str()) => Base::Function(word),
                    _ => return self.error(&format!("function \"{word}\" not defined")),
                }
            }
            Some(c) => {
                let code = c as u32;
                return self
                    .error(&format!("unexpected bad character U+{code:04X} '{c}' in command"));
            }
            None => return self.error("unexpected end of command"),
        };
        while self.rest().starts_with('.') {
            self.at += 1;
            let field = self.word();
            if field.is_empty() {
                return self.error("unexpected <.> in operand");
            }
            fields.push(field);
        }
        if let Some(c) = self.rest().chars().next()
            && !c.is_whitespace()
            && !matches!(c, '|' | ')' | ',')
        {
            let code = c as u32;
            return self.error(&format!("bad character U+{code:04X} '{c}'"));
        }
        let text = self.text[from..self.at].to_owned();
        let place = self.start + from;
        let line = self.parser.line(place);
        let before = &self.parser.text[..place.min(self.parser.text.len())];
        let last = text.rfind('.').filter(|_| fields.len() > 1).unwrap_or(0);
        let column = before.len() - before.rfind('\n').map_or(0, |at| at + 1) + last;
        Ok(Operand { base, fields, text, line, column })
    }

    fn number(&mut self) -> Parse<Base> {
        let rest = self.rest();
        let ends = |c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '+' | '-'));
        let length = rest.find(ends).unwrap_or(rest.len());
        let text = rest[..length].to_owned();
        self.at += length;
        match Number::parse_signed(&text) {
            Ok(number) => Ok(Base::Literal(Datum::Number(number))),
            Err(_) => self.error(&format!("bad number syntax: \"{text}\"")),
        }
    }
}
