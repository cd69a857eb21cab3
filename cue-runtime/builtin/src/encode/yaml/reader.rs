//! How YAML is read: anchors, merges and tags resolved, scalars as CUE sees them.

use cue_map::Map;
use std::ops::Range;
use std::sync::Arc;

use base64::Engine as _;

use super::parser::{Event, Parser};
use super::scalar::{Meaning, meaning, number};
use super::scanner::{Mark, Problem, Style};
use crate::Datum;
use crate::encode::{Entry, Tree};

/// Text that is no YAML, or none that CUE takes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Error {
    /// What is wrong, in the words of the original.
    pub message: String,
    /// The line, from 1, where the reader knows it.
    pub line: Option<u32>,
    /// Documents that were read before.
    pub documents: usize,
}

impl Error {
    /// Whether all that is wrong is a number that CUE has not.
    fn is_number(&self) -> bool {
        self.message.starts_with("parse error")
    }

    /// The message behind file name and line.
    pub fn located(&self, source: &str) -> String {
        if self.is_number() {
            return self.message.clone();
        }
        match self.line {
            Some(line) => format!("{source}:{line}: {}", self.message),
            None => format!("{source}: {}", self.message),
        }
    }
}

/// One document of a stream.
#[derive(Clone, Debug, Default)]
pub struct Document {
    /// Its value; no entries for a document without content.
    pub tree: Tree,
    /// Line of its start, from 1.
    pub line: u32,
    /// Column of its start, from 1.
    pub column: u32,
}

/// A number that YAML has and CUE has not.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refused {
    /// Where it stands.
    pub offset: u32,
    /// What is wrong with it.
    pub message: String,
}

/// Nesting beyond this is refused.
const DEPTH: usize = 10_000;
/// Nodes that aliases may create in a stream.
const ALIASED: usize = 50_000;

/// Reads a stream of documents. An empty stream has none.
pub fn decode(text: &[u8]) -> Result<Vec<Document>, Error> {
    read(text, Composer::default()).map(|it| it.documents)
}

/// Reads a stream whose numbers may be ones that CUE has not: they are null, and told beside it.
pub fn decode_keeping(text: &[u8]) -> Result<(Vec<Document>, Vec<Refused>), Error> {
    let composer = Composer { refused: Some(Vec::new()), ..Composer::default() };
    read(text, composer).map(|it| (it.documents, it.refused.unwrap_or_default()))
}

/// What is wrong with bytes that begin with no character, in the words of go-yaml.
fn no_text(bytes: &[u8]) -> &'static str {
    let width = match bytes.first() {
        Some(0..=0x7f) | None => 1,
        Some(0xc0..=0xdf) => 2,
        Some(0xe0..=0xef) => 3,
        Some(0xf0..=0xf7) => 4,
        Some(_) => return "invalid leading UTF-8 octet",
    };
    let Some(trailing) = bytes.get(1..width) else { return "incomplete UTF-8 octet sequence" };
    match (bytes[0], trailing) {
        _ if trailing.iter().any(|it| it & 0xc0 != 0x80) => "invalid trailing UTF-8 octet",
        (0xc0 | 0xc1, _) | (0xe0, [..=0x9f, ..]) | (0xf0, [..=0x8f, ..]) => {
            "invalid length of a UTF-8 sequence"
        }
        _ => "invalid Unicode character",
    }
}

fn read(text: &[u8], mut composer: Composer) -> Result<Composer, Error> {
    let text = match std::str::from_utf8(text) {
        Ok(text) => text,
        Err(error) => {
            let message = no_text(&text[error.valid_up_to()..]).to_owned();
            return Err(Error { message, line: None, documents: 0 });
        }
    };
    let refused = |c: char| match c {
        '\t' | '\n' | '\r' | '\u{85}' | '\u{20}'..='\u{7e}' => false,
        '\0'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => true,
        _ => false,
    };
    if text.contains(refused) {
        let message = "control characters are not allowed".to_owned();
        return Err(Error { message, line: None, documents: 0 });
    }
    let mut parser = Parser::new(text);
    loop {
        let count = |error: Error| Error { documents: composer.documents.len(), ..error };
        let (event, mark) = parser.next().map_err(|problem| count(syntax_error(&problem)))?;
        if event == Event::StreamEnd {
            return Ok(composer);
        }
        if let Err(error) = composer.take(event, mark) {
            let error = Error { documents: composer.documents.len(), ..error };
            // What is wrong with the text of the document comes before what it means.
            while error.line.is_some() {
                match parser.next() {
                    Ok((Event::DocumentEnd | Event::StreamEnd, _)) => break,
                    Ok(_) => {}
                    Err(problem) => {
                        let documents = error.documents;
                        return Err(Error { documents, ..syntax_error(&problem) });
                    }
                }
            }
            return Err(error);
        }
    }
}

/// The line as the original reports it: none for the first line of what was being read.
fn syntax_error(problem: &Problem) -> Error {
    let line = [problem.context.line, problem.mark.line].into_iter().find(|line| *line != 0);
    let line = line.map(|line| line + usize::from(problem.scanner));
    let line = line.map(|line| u32::try_from(line).unwrap_or(u32::MAX));
    Error { message: problem.message.to_owned(), line, documents: 0 }
}

#[derive(Default)]
struct Composer {
    documents: Vec<Document>,
    tree: Tree,
    start: Option<Mark>,
    open: Vec<Open>,
    anchors: Map<String, Anchor>,
    aliased: usize,
    /// Numbers that CUE has not, where they do not end the reading.
    refused: Option<Vec<Refused>>,
}

enum Anchor {
    Open,
    Span(Range<usize>),
}

struct Open {
    start: usize,
    anchor: Option<String>,
    /// For mappings: whether a key is next.
    mapping: Option<Expect>,
    /// Where merge keys stand in the entries.
    merges: Vec<(usize, Mark)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Expect {
    Key,
    Value,
}

impl Composer {
    fn take(&mut self, event: Event, mark: Mark) -> Result<(), Error> {
        let inside = !matches!(event, Event::DocumentStart | Event::DocumentEnd);
        if inside && self.start.is_none() {
            self.start = Some(mark);
        }
        match event {
            Event::StreamEnd => {}
            Event::DocumentStart => {
                self.start = None;
                self.anchors.clear();
            }
            Event::DocumentEnd => {
                let tree = std::mem::take(&mut self.tree);
                let start = self.start.unwrap_or(mark);
                let (line, column) = (start.line as u32 + 1, start.column as u32 + 1);
                self.documents.push(Document { tree, line, column });
            }
            Event::Alias(anchor) => self.alias(&anchor, mark)?,
            Event::Scalar { node, text, style } => {
                let start = self.tree.entries.len();
                self.scalar(node.tag.as_deref(), &text, style, mark)?;
                if let Some(name) = node.anchor {
                    let end = self.tree.entries.len();
                    self.anchors.insert(name, Anchor::Span(start..end));
                }
            }
            Event::SequenceStart(node) => {
                self.allowed(node.tag.as_deref(), "!!seq", mark)?;
                self.begin(Entry::List, node.anchor, None, mark)?;
            }
            Event::MappingStart(node) => {
                self.allowed(node.tag.as_deref(), "!!map", mark)?;
                self.begin(Entry::Struct, node.anchor, Some(Expect::Key), mark)?;
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(mark)?,
        }
        Ok(())
    }

    fn push(&mut self, entry: Entry, mark: Mark) {
        self.tree.entries.push((entry, u32::try_from(mark.index).unwrap_or(u32::MAX)));
    }

    fn expects_key(&self) -> bool {
        self.open.last().is_some_and(|open| open.mapping == Some(Expect::Key))
    }

    /// A node is complete: in a mapping, key and value alternate.
    fn done(&mut self) {
        if let Some(Open { mapping: Some(expect), .. }) = self.open.last_mut() {
            *expect = if *expect == Expect::Key { Expect::Value } else { Expect::Key };
        }
    }

    /// A list or a map may be anything but a key, whatever its tag is, which is not looked at.
    fn allowed(&self, tag: Option<&str>, usual: &str, mark: Mark) -> Result<(), Error> {
        if !self.expects_key() {
            return Ok(());
        }
        let tag = tag.map(short).filter(|it| !matches!(&**it, "" | "!"));
        Err(at(mark, format!("invalid map key: {}", tag.as_deref().unwrap_or(usual))))
    }

    fn begin(
        &mut self,
        entry: Entry,
        anchor: Option<String>,
        mapping: Option<Expect>,
        mark: Mark,
    ) -> Result<(), Error> {
        if self.open.len() >= DEPTH {
            return Err(at(mark, format!("exceeded max depth of {DEPTH}")));
        }
        if let Some(name) = &anchor {
            self.anchors.insert(name.clone(), Anchor::Open);
        }
        let start = self.tree.entries.len();
        self.push(entry, mark);
        self.open.push(Open { start, anchor, mapping, merges: Vec::new() });
        Ok(())
    }

    fn end(&mut self, mark: Mark) -> Result<(), Error> {
        self.push(Entry::End, mark);
        let Some(open) = self.open.pop() else { return Ok(()) };
        if !open.merges.is_empty() {
            self.merge(&open)?;
        }
        if let Some(name) = open.anchor {
            self.anchors.insert(name, Anchor::Span(open.start..self.tree.entries.len()));
        }
        self.done();
        Ok(())
    }

    fn alias(&mut self, name: &str, mark: Mark) -> Result<(), Error> {
        let span = match self.anchors.get(name) {
            None => {
                let message = format!("unknown anchor '{name}' referenced");
                return Err(Error { message, line: None, documents: 0 });
            }
            Some(Anchor::Open) => {
                return Err(at(mark, format!("anchor \"{name}\" value contains itself")));
            }
            Some(Anchor::Span(span)) => span.clone(),
        };
        self.aliased += span.len();
        if self.aliased > ALIASED {
            return Err(at(mark, format!("aliases expand to more than {ALIASED} nodes")));
        }
        // What an alias brings stands where its anchor does.
        let copies = self.tree.entries[span].to_vec();
        if self.expects_key() {
            let label: Arc<str> = match copies.first().map(|it| &it.0) {
                Some(Entry::Key(label)) => label.clone(),
                Some(Entry::Scalar(Datum::String(text))) => text.whole(),
                Some(Entry::Scalar(Datum::Null)) => "null".into(),
                Some(Entry::Scalar(Datum::Bool(value))) => value.to_string().into(),
                Some(Entry::Scalar(Datum::Number(value))) => value.to_string().into(),
                _ => return Err(at(mark, "invalid map key".to_owned())),
            };
            self.push(Entry::Key(label), mark);
        } else {
            for (index, (entry, offset)) in copies.into_iter().enumerate() {
                let entry = match entry {
                    // An anchored key used as a value.
                    Entry::Key(label) if index == 0 => Entry::Scalar(Datum::text(label)),
                    other => other,
                };
                self.tree.entries.push((entry, offset));
            }
        }
        self.done();
        Ok(())
    }

    fn scalar(
        &mut self,
        tag: Option<&str>,
        value: &str,
        style: Style,
        mark: Mark,
    ) -> Result<(), Error> {
        let plain = style == Style::Plain;
        let tag = match tag {
            None | Some("!") | Some("") => None,
            Some(tag) => Some(tag),
        };
        if self.expects_key() {
            if plain && tag.is_none_or(|tag| tag == "tag:yaml.org,2002:merge") && value == "<<" {
                let at = self.tree.entries.len();
                if let Some(open) = self.open.last_mut() {
                    open.merges.push((at, mark));
                }
            }
            let label = key(tag, value, style, mark)?;
            self.push(Entry::Key(label), mark);
        } else {
            let datum = match (datum(tag, value, style, mark), &mut self.refused) {
                (Err(error), Some(refused)) if error.is_number() => {
                    let offset = u32::try_from(mark.index).unwrap_or(u32::MAX);
                    refused.push(Refused { offset, message: error.message });
                    Datum::Null
                }
                (datum, _) => datum?,
            };
            self.push(Entry::Scalar(datum), mark);
        }
        self.done();
        Ok(())
    }

    /// Replaces the merge keys of the mapping that just ended by the fields they bring.
    fn merge(&mut self, open: &Open) -> Result<(), Error> {
        let entries = &self.tree.entries;
        let end = entries.len() - 1;
        let mut merged: Vec<(Arc<str>, u32, Range<usize>)> = Vec::new();
        let mut places: Map<Arc<str>, usize> = Map::default();
        let mut put = |label: &Arc<str>, offset: u32, span: Range<usize>| {
            if let Some(place) = places.get(label) {
                merged[*place].2 = span;
            } else {
                places.insert(label.clone(), merged.len());
                merged.push((label.clone(), offset, span));
            }
        };
        for (at_key, value) in fields_of(entries, open.start..end + 1) {
            let (Entry::Key(label), offset) = &entries[at_key] else { continue };
            let merge = open.merges.iter().find(|it| it.0 == at_key);
            let Some((_, mark)) = merge.copied() else {
                put(label, *offset, value);
                continue;
            };
            let sources = match &entries[value.start].0 {
                Entry::Struct => vec![value],
                Entry::List => {
                    let mut items = elements_of(entries, value);
                    items.reverse();
                    items
                }
                _ => Vec::new(),
            };
            let wrong = sources.is_empty() && !matches!(entries[at_key + 1].0, Entry::List)
                || sources.iter().any(|it| !matches!(entries[it.start].0, Entry::Struct));
            if wrong {
                let message = "map merge requires map or sequence of maps as the value";
                return Err(at(mark, message.to_owned()));
            }
            for source in sources {
                for (at_key, value) in fields_of(entries, source) {
                    if let (Entry::Key(label), offset) = &entries[at_key] {
                        put(label, *offset, value);
                    }
                }
            }
        }
        let mut fresh = vec![entries[open.start].clone()];
        for (label, offset, span) in merged {
            fresh.push((Entry::Key(label), offset));
            fresh.extend_from_slice(&entries[span]);
        }
        fresh.push(entries[end].clone());
        self.aliased += fresh.len();
        if self.aliased > 20 * ALIASED {
            let mark = open.merges.first().map_or(Mark::default(), |it| it.1);
            return Err(at(mark, format!("aliases expand to more than {ALIASED} nodes")));
        }
        // Anchors inside would now point elsewhere: keep what they name.
        self.tree.entries.truncate(open.start);
        self.anchors.retain(|_, anchor| match anchor {
            Anchor::Span(span) => span.end <= open.start,
            Anchor::Open => true,
        });
        self.tree.entries.append(&mut fresh);
        Ok(())
    }
}

/// The value that begins at `start`.
fn value_at(entries: &[(Entry, u32)], start: usize) -> Range<usize> {
    let mut depth = 0usize;
    for (at, (entry, _)) in entries.iter().enumerate().skip(start) {
        match entry {
            Entry::List | Entry::Struct => depth += 1,
            Entry::End => depth = depth.saturating_sub(1),
            Entry::Scalar(_) | Entry::Key(_) => {}
        }
        if depth == 0 {
            return start..at + 1;
        }
    }
    start..entries.len()
}

fn fields_of(entries: &[(Entry, u32)], span: Range<usize>) -> Vec<(usize, Range<usize>)> {
    let mut out = Vec::new();
    let mut at = span.start + 1;
    while at + 1 < span.end {
        let value = value_at(entries, at + 1);
        let next = value.end;
        out.push((at, value));
        at = next;
    }
    out
}

fn elements_of(entries: &[(Entry, u32)], span: Range<usize>) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    let mut at = span.start + 1;
    while at + 1 < span.end {
        let value = value_at(entries, at);
        at = value.end;
        out.push(value);
    }
    out
}

fn at(mark: Mark, message: String) -> Error {
    let line = u32::try_from(mark.line + 1).unwrap_or(u32::MAX);
    Error { message, line: Some(line), documents: 0 }
}

/// `!!int` for the tags of YAML itself.
fn short(tag: &str) -> String {
    match tag.strip_prefix("tag:yaml.org,2002:") {
        Some(name) => format!("!!{name}"),
        None => tag.to_owned(),
    }
}

fn key(tag: Option<&str>, value: &str, style: Style, mark: Mark) -> Result<Arc<str>, Error> {
    let plain = style == Style::Plain && tag.is_none();
    match tag.map(short).as_deref() {
        None if !plain => return Ok(value.into()),
        Some(other) if !other.starts_with("!!") => {
            return Err(at(mark, format!("cannot unmarshal tag \"{other}\"")));
        }
        None | Some(_) => {}
    }
    let meant = if plain { meaning(value) } else { Meaning::String };
    Ok(match meant {
        Meaning::Null => "null".into(),
        Meaning::Bool(value) => value.to_string().into(),
        Meaning::Int(_) | Meaning::Float if value.starts_with('-') => {
            return Err(at(mark, format!("invalid label {value}")));
        }
        Meaning::Int(_)
            if value.len() > 1
                && value.starts_with('0')
                && value.as_bytes()[1].is_ascii_digit() =>
        {
            format!("0o{}", &value[1..]).into()
        }
        Meaning::Int(_)
        | Meaning::Float
        | Meaning::Special(_)
        | Meaning::Timestamp
        | Meaning::String => value.into(),
    })
}

fn datum(tag: Option<&str>, value: &str, style: Style, mark: Mark) -> Result<Datum, Error> {
    let plain = style == Style::Plain;
    let tag = tag.map(short);
    let illegal = |text: &str| {
        Err(Error {
            message: format!("parse error: illegal number start \"{text}\""),
            line: None,
            documents: 0,
        })
    };
    let meant = match tag.as_deref() {
        None if !plain => return Ok(Datum::text(value)),
        None => meaning(value),
        Some("!!str" | "!!timestamp") => return Ok(Datum::text(value)),
        Some("!!null") => return Ok(Datum::Null),
        Some("!!bool") => {
            return Ok(Datum::Bool(matches!(value, "true" | "True" | "TRUE")));
        }
        Some("!!binary") => {
            let packed: String = value.chars().filter(|c| !c.is_whitespace()).collect();
            return match base64::engine::general_purpose::STANDARD.decode(packed) {
                Ok(bytes) => Ok(Datum::bytes(bytes)),
                Err(_) => Err(at(mark, "!!binary value contains invalid base64 data".to_owned())),
            };
        }
        Some("!!int") => match meaning(value) {
            Meaning::Int(number) => Meaning::Int(number),
            _ => {
                let message = format!("cannot decode \"{value}\" as !!int: not a literal number");
                return Err(at(mark, message));
            }
        },
        Some("!!float") => match meaning(value) {
            Meaning::Float => Meaning::Float,
            Meaning::Int(_) => return illegal(&format!("number & {value}")),
            Meaning::Special(text) => return illegal(text),
            _ => {
                let message = format!("cannot decode \"{value}\" as !!float: not a literal number");
                return Err(at(mark, message));
            }
        },
        Some(other) => return Err(at(mark, format!("cannot unmarshal tag \"{other}\""))),
    };
    match &meant {
        Meaning::Null => Ok(Datum::Null),
        Meaning::Bool(value) => Ok(Datum::Bool(*value)),
        Meaning::Special(text) => illegal(text),
        Meaning::Timestamp => Ok(Datum::text(value)),
        Meaning::String if plain && value == "<<" => {
            Err(at(mark, "cannot unmarshal tag \"!!merge\"".to_owned()))
        }
        Meaning::String => Ok(Datum::text(value)),
        Meaning::Int(_) | Meaning::Float => {
            let digits_only = value.bytes().all(|byte| byte.is_ascii_digit());
            if meant == Meaning::Float && digits_only {
                if value.starts_with('0') {
                    return Ok(Datum::text(value));
                }
                return illegal(&format!("number & {value}"));
            }
            let kind = if meant == Meaning::Float { "float" } else { "int" };
            match number(value) {
                Ok(number) => Ok(Datum::Number(number)),
                Err(reason) => {
                    Err(at(mark, format!("cannot decode \"{value}\" as !!{kind}: {reason}")))
                }
            }
        }
    }
}
