//! Encodings other than CUE, by name or by the end of a file's name, read and written.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use cue_eval::builtin::Datum;
use cue_eval::encode::json::Html;
use cue_eval::encode::{DecodeError, Entry, Tree, json, line_column, toml, yaml};
use cue_eval::evaluation::print_json;
use cue_session::Diagnostic;

use crate::diagnostic;
use crate::interpreted::Schema;
use crate::located::{Lines, Located, located};
use crate::read::absolute;
use crate::refused::{self, Refused};
use crate::remarks::{Remarks, remarks};
use crate::spelled::Spelling;
use crate::tables;
use crate::written::{Breaks, written};

/// A form of text that holds values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// CUE.
    Cue,
    /// JSON.
    Json,
    /// JSON values one after another.
    JsonLines,
    /// YAML.
    Yaml,
    /// TOML.
    Toml,
    /// One string.
    Text,
    /// One string or bytes, as they are.
    Binary,
}

impl Encoding {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Encoding::Cue => "cue",
            Encoding::Json => "json",
            Encoding::JsonLines => "jsonl",
            Encoding::Yaml => "yaml",
            Encoding::Toml => "toml",
            Encoding::Text => "text",
            Encoding::Binary => "binary",
        }
    }

    /// By its name after `--out`.
    pub fn of_name(name: &str) -> Option<Self> {
        Some(match name {
            "cue" => Encoding::Cue,
            "json" => Encoding::Json,
            "jsonl" => Encoding::JsonLines,
            "yaml" => Encoding::Yaml,
            "toml" => Encoding::Toml,
            "text" => Encoding::Text,
            "binary" => Encoding::Binary,
            _ => return None,
        })
    }
}

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// A value out of a file.
#[derive(Clone, Debug)]
pub struct Value {
    /// The file, as messages have it.
    pub file: String,
    /// Which one of the file it is, from 0.
    pub index: usize,
    /// How many the file has.
    pub count: usize,
    /// The value.
    pub datum: Datum,
    /// The same as CUE; the file may say less than the datum: an empty YAML stream is anything that
    /// has null as its default.
    pub(crate) located: Arc<Located>,
    /// The schema in another language that it is: then the CUE is what that means.
    pub(crate) schema: Option<Arc<Schema>>,
}

impl Value {
    /// Whether it is null, not only by default.
    pub(crate) fn is_null(&self) -> bool {
        self.datum == Datum::Null && !self.located.text.starts_with('*') && self.schema.is_none()
    }

    /// Whether its CUE is fields without braces.
    pub(crate) fn is_struct(&self) -> bool {
        match &self.schema {
            Some(schema) => !schema.line.is_expression,
            None => matches!(self.datum, Datum::Struct(_)),
        }
    }

    /// What the file says, as an expression.
    pub(crate) fn given(&self) -> String {
        match self.schema {
            Some(_) => print_json(&self.datum),
            None => self.expression().text,
        }
    }

    /// The value as an expression.
    pub(crate) fn expression(&self) -> Located {
        if !self.is_struct() {
            return Located::clone(&self.located);
        }
        let mut out = Located::default();
        out.enclose(&self.located);
        out
    }
}

/// What a file holds.
#[derive(Clone, Debug, Default)]
pub struct Read {
    /// Its values, up to the first that cannot be one.
    pub values: Vec<Value>,
    /// What keeps that from being a value: numbers that CUE has not.
    pub wrong: Vec<Diagnostic>,
}

impl Read {
    /// The values.
    ///
    /// # Errors
    /// Something is wrong with one.
    pub fn all(self) -> Result<Vec<Value>, Vec<Diagnostic>> {
        if self.wrong.is_empty() { Ok(self.values) } else { Err(self.wrong) }
    }
}

/// The values in a file of data: one, but for streams.
///
/// # Errors
/// The bytes are not of that encoding.
pub fn read(encoding: Encoding, file: &str, bytes: &[u8]) -> Result<Read, Vec<Diagnostic>> {
    let mut wrong = Vec::new();
    // What is not UTF-8 counts as U+FFFD, but in what is bytes.
    let lossy = String::from_utf8_lossy(bytes);
    let bytes = if encoding == Encoding::Binary { bytes } else { lossy.as_bytes() };
    let json_error = |error: DecodeError| {
        // The end is told as its last byte.
        let offset = error.offset.min(bytes.len().saturating_sub(1));
        let (line, column) = line_column(bytes, offset);
        let name = absolute(Path::new(file));
        let message = format!("invalid JSON for file \"{name}\": {}", error.message);
        vec![diagnostic(message, Some((file, line, column)))]
    };
    let pairs: Vec<(Datum, Located)> = match encoding {
        Encoding::Json => {
            let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
            let tree = json::decode(bytes, json::Values::One).map_err(json_error)?;
            let located = located(&tree, &Spelling { file: bytes, lines: Lines::new(bytes) });
            vec![(tree.into_datum(), located)]
        }
        Encoding::JsonLines => {
            let tree = json::decode(bytes, json::Values::Stream).map_err(json_error)?;
            let spelling = Spelling { file: bytes, lines: Lines::new(bytes) };
            let pair = |it: Tree| {
                let located = located(&it, &spelling);
                (it.into_datum(), located)
            };
            apart(tree).into_iter().map(pair).collect()
        }
        Encoding::Yaml => documents(file, bytes, &mut wrong)?,
        Encoding::Toml => {
            let it = tables::read(&lossy).map_err(|error| {
                // The end of a file is on its last line, though that ends.
                let ends = error.offset >= bytes.len() && bytes.ends_with(b"\n");
                let (line, column) = line_column(bytes, error.offset - usize::from(ends));
                let column = column + u32::from(ends);
                vec![diagnostic(error.message, Some((file, line, column)))]
            })?;
            let value = (it.datum, 0);
            wrong = refused::told(&value, &it.refused, file, &Lines::new(bytes));
            if wrong.is_empty() { vec![(value.0, it.located)] } else { Vec::new() }
        }
        Encoding::Text => {
            let datum = Datum::lossy(bytes);
            let text = Located { text: print_json(&datum), ..Located::default() };
            vec![(datum, text)]
        }
        Encoding::Binary => {
            let datum = Datum::bytes(bytes);
            let text = Located { text: datum.literal(), ..Located::default() };
            vec![(datum, text)]
        }
        Encoding::Cue => return Err(vec![diagnostic("CUE is no data", Some((file, 1, 1)))]),
    };
    let count = pairs.len();
    let value = |(index, (datum, text)): (usize, (Datum, Located))| Value {
        file: file.to_owned(),
        index,
        count,
        datum,
        located: Arc::new(text),
        schema: None,
    };
    Ok(Read { values: pairs.into_iter().enumerate().map(value).collect(), wrong })
}

/// The documents of a YAML stream, with their comments.
fn documents(
    file: &str,
    bytes: &[u8],
    wrong: &mut Vec<Diagnostic>,
) -> Result<Vec<(Datum, Located)>, Vec<Diagnostic>> {
    let (documents, refused) = yaml::decode_keeping(bytes)
        .map_err(|error| vec![diagnostic(error.located(&absolute(Path::new(file))), None)])?;
    if documents.is_empty() {
        let places = vec![(0, (1, 1))];
        let text = Located { text: "*null | _".into(), places, ..Located::default() };
        return Ok(vec![(Datum::Null, text)]);
    }
    let refused: Refused = refused.into_iter().map(|it| (it.offset, it.message)).collect();
    let spelling = Spelling { file: bytes, lines: Lines::of_characters(bytes) };
    let lines = &Lines::new(bytes);
    // Where each document but the first begins: with the line that sets it off.
    let start = |it: &yaml::Document| {
        let first = it.tree.entries.first().map_or(0, |it| it.1 as usize);
        let before = bytes.get(..first).unwrap_or_default();
        before.windows(4).rposition(|it| it == b"\n---").map_or(0, |it| it + 1)
    };
    let starts: Vec<usize> =
        std::iter::once(0).chain(documents.iter().skip(1).map(start)).collect();
    let ends = starts.iter().skip(1).copied().chain([bytes.len()]);
    let pairs = documents.into_iter().zip(starts.iter().copied().zip(ends));
    let pair = |(it, (from, to)): (yaml::Document, (usize, usize))| {
        let yaml::Document { tree, line, column } = it;
        let text = match tree.entries.is_empty() {
            true => {
                let places = vec![(0, (line, column))];
                Located { text: "null".into(), places, ..Located::default() }
            }
            false => {
                let write = |it: &Remarks| written(&tree, &spelling, Breaks::Whole, it);
                let remarks = remarks(&tree, bytes, lines, from, to);
                let text = write(&remarks);
                // A comment where CUE has no place for it must not keep data from being read.
                let sound =
                    remarks.is_empty() || cue_syntax::parse_file(&text.text).errors.is_empty();
                if sound { text } else { write(&Remarks::default()) }
            }
        };
        if refused.is_empty() {
            return Some((tree.into_datum(), text));
        }
        let value = tree.build(1).into_iter().next().unwrap_or((Datum::Null, 0));
        *wrong = refused::told(&value, &refused, file, &spelling.lines);
        wrong.is_empty().then_some((value.0, text))
    };
    Ok(pairs.map_while(pair).collect())
}

/// The values of a row, each on its own.
pub(crate) fn apart(row: Tree) -> Vec<Tree> {
    let mut trees = Vec::new();
    let mut tree = Tree::default();
    let mut depth = 0_usize;
    for (entry, offset) in row.entries {
        match &entry {
            Entry::List | Entry::Struct => depth += 1,
            Entry::End => depth = depth.saturating_sub(1),
            Entry::Scalar(_) | Entry::Key(_) => {}
        }
        let more = depth > 0 || matches!(entry, Entry::Key(_));
        tree.entries.push((entry, offset));
        if !more {
            trees.push(std::mem::take(&mut tree));
        }
    }
    trees
}

/// Whether a struct in a value has a field twice: both must be the same.
pub(crate) fn repeats(datum: &Datum) -> bool {
    let mut work = vec![datum];
    while let Some(datum) = work.pop() {
        match datum {
            Datum::List(items) => work.extend(items.iter()),
            Datum::Struct(fields) => {
                let mut labels = BTreeSet::new();
                for (label, value) in fields.iter() {
                    if !labels.insert(&**label) {
                        return true;
                    }
                    work.push(value);
                }
            }
            _ => {}
        }
    }
    false
}

/// The values of a file as the pieces they are of, in order. What else than JSON and YAML there is has no places.
pub(crate) fn trees(encoding: Encoding, bytes: &[u8]) -> Vec<Tree> {
    let lossy = String::from_utf8_lossy(bytes);
    let bytes = lossy.as_bytes();
    match encoding {
        Encoding::Json => {
            let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
            json::decode(bytes, json::Values::One).into_iter().collect()
        }
        Encoding::JsonLines => {
            json::decode(bytes, json::Values::Stream).map(apart).unwrap_or_default()
        }
        Encoding::Yaml => match yaml::decode_keeping(bytes) {
            Ok((documents, _)) => documents.into_iter().map(|it| it.tree).collect(),
            Err(_) => Vec::new(),
        },
        Encoding::Toml => match tables::read(&lossy) {
            Ok(it) => {
                let text = print_json(&it.datum);
                json::decode(text.as_bytes(), json::Values::One).into_iter().collect()
            }
            Err(_) => Vec::new(),
        },
        Encoding::Cue | Encoding::Text | Encoding::Binary => Vec::new(),
    }
}

/// A value as text that ends as the encoding wants it, with strings in JSON as `html` says.
pub(crate) fn write(
    encoding: Encoding,
    value: &Datum,
    html: Html,
    path: &str,
) -> Result<Vec<u8>, Box<Diagnostic>> {
    let refused = |what: String| {
        let code = "cue/eval".into();
        Box::new(Diagnostic { code, path: path.to_owned(), ..diagnostic(what, None) })
    };
    let text = match encoding {
        Encoding::Json | Encoding::JsonLines | Encoding::Cue => {
            json::encode_with(value, json::Layout::Indented, html) + "\n"
        }
        Encoding::Yaml => yaml::encode(value),
        Encoding::Toml => toml::encode(value, toml::Order::Sorted).map_err(refused)?,
        Encoding::Text | Encoding::Binary => match value {
            Datum::String(text) if encoding == Encoding::Text => format!("{text}\n"),
            Datum::String(text) => text.to_string(),
            Datum::Bytes(bytes) if encoding == Encoding::Binary => return Ok(bytes.to_vec()),
            other => {
                let text = encoding == Encoding::Text;
                let wanted = if text { "string" } else { "(string|bytes)" };
                let (text, kind) = (other.cue_text(), other.kind_name());
                return Err(refused(format!("cannot use value {text} (type {kind}) as {wanted}")));
            }
        },
    };
    Ok(text.into_bytes())
}
