//! Files of data that are schemas in another language: what they mean as CUE, with the places in the files.

use std::collections::HashMap;
use std::sync::Arc;

use cue_eval::builtin::Datum;
use cue_eval::encode::Tree;
use cue_jsonschema::decode::{
    Config, Decoded, Document, Form, Line, Problem, decode, decode_open_api, plain,
};
use cue_session::{Diagnostic, Source};

use crate::data::{self, Encoding, Read, Value};
use crate::error::in_order;
use crate::filetype::{FileType, Reading};
use crate::located::{Lines, Located};
use crate::plan::OfData;
use crate::spelled::{Spelling, stays, string_at};
use crate::written::multiline;
use crate::{Verb, diagnostic};

/// A schema as CUE.
#[derive(Debug)]
pub(crate) struct Schema {
    /// Laid out as a file.
    pub(crate) decoded: Decoded,
    /// On a line, as it is evaluated.
    pub(crate) line: Line,
}

impl Schema {
    /// Its declarations as a file.
    pub(crate) fn declared(&self) -> String {
        format!("{}\n{}\n", self.line.imports.join("\n"), self.line.text)
    }
}

/// Which language a value says that it is a schema in.
fn told(datum: &Datum) -> Option<Reading> {
    let field = |datum: &Datum, name: &str| match datum {
        Datum::Struct(fields) => fields.iter().find(|it| *it.0 == *name).map(|it| it.1.clone()),
        _ => None,
    };
    let text = |datum: &Datum, name: &str| match field(datum, name) {
        Some(Datum::String(text)) => Some(text.to_string()),
        _ => None,
    };
    let info = field(datum, "info").unwrap_or(Datum::Null);
    let third = text(datum, "openapi").is_some_and(|it| it.starts_with("3."));
    if third && text(&info, "title").is_some() && text(&info, "version").is_some() {
        return Some(Reading::OpenApi);
    }
    let url = text(datum, "$schema")?;
    let (url, _) = url.split_once('#').unwrap_or((&url, ""));
    let (url, _) = url.split_once('?').unwrap_or((url, ""));
    let (_, rest) = url.split_once("//")?;
    let (host, path) = rest.split_once('/')?;
    let host = host.rsplit('@').next().unwrap_or(host);
    let host = host.split(':').next().unwrap_or(host);
    let last = path.rsplit('/').next().unwrap_or(path);
    (host == "json-schema.org" && last == "schema").then_some(Reading::JsonSchema)
}

/// The language of a value in a file of that kind.
fn language(kind: &FileType, datum: &Datum) -> Option<Reading> {
    match kind.reading {
        Reading::Plain => None,
        Reading::Auto => told(datum),
        Reading::JsonSchema | Reading::OpenApi => Some(kind.reading),
    }
}

/// The values of a file, those that are schemas with what they mean; the first that is none ends it.
pub(crate) fn interpreted(read: Read, kind: &FileType, bytes: &[u8]) -> Read {
    let Read { mut values, mut wrong } = read;
    if values.iter().all(|it| language(kind, &it.datum).is_none()) {
        return Read { values, wrong };
    }
    let trees = data::trees(kind.encoding, bytes);
    for number in 0..values.len() {
        let Some(value) = values.get_mut(number) else { break };
        let Some(language) = language(kind, &value.datum) else { continue };
        let tree = trees.get(number).cloned().unwrap_or_default();
        match schema(&tree, (kind, language), &value.file, bytes) {
            Ok((schema, located)) => {
                value.located = Arc::new(located);
                value.schema = Some(Arc::new(schema));
            }
            Err(all) => {
                values.truncate(number);
                wrong = all;
                break;
            }
        }
    }
    Read { values, wrong }
}

/// Whether the first value of a file is a schema.
pub(crate) fn is_schema(read: &Read, kind: &FileType) -> bool {
    match read.values.first() {
        Some(value) => value.schema.is_some(),
        None => kind.reading.is_schema(),
    }
}

/// What one schema means.
pub(crate) fn schema(
    tree: &Tree,
    (kind, language): (&FileType, Reading),
    file: &str,
    bytes: &[u8],
) -> Result<(Schema, Located), Vec<Diagnostic>> {
    let config = Config {
        strict_keywords: kind.strict.keywords,
        strict_features: kind.strict.features,
        open_only_when_explicit: kind.strict.open_only_when_explicit,
        ..Config::default()
    };
    let decoded = with_document(tree, kind.encoding, bytes, |it| match language {
        Reading::OpenApi => decode_open_api(it, &config),
        _ => decode(it, &config),
    });
    let bytes = decoded_bytes(bytes);
    let lines = match kind.encoding {
        Encoding::Json | Encoding::JsonLines => Some(Lines::new(&bytes)),
        Encoding::Yaml => Some(Lines::of_characters(&bytes)),
        Encoding::Cue | Encoding::Toml | Encoding::Text | Encoding::Binary => None,
    };
    let place = |at: u32| lines.as_ref().map(|it| it.at(at));
    let decoded = decoded.map_err(|all| {
        let wrong = |Problem { message, at }: Problem| match at.and_then(place) {
            Some((line, column)) => diagnostic(message, Some((file, line, column))),
            None => diagnostic(message, None),
        };
        in_order(all.into_iter().map(wrong).collect())
    })?;
    let line = decoded.line();
    let places = line.places.iter().filter_map(|(here, at)| Some((*here, place(*at)?)));
    let places = places.collect();
    let (text, spaced) = (line.text.clone(), line.spaced.clone());
    let located = Located { text, places, spaced, ..Located::default() };
    Ok((Schema { decoded, line }, located))
}

/// The CUE of each value of a file, those that are no schemas as they are.
pub(crate) fn as_cue(values: &[Value], encoding: Encoding, bytes: &[u8]) -> Vec<Arc<Schema>> {
    let trees = data::trees(encoding, bytes);
    let each = values.iter().zip(trees);
    let each = each.filter_map(|(value, tree)| match &value.schema {
        Some(schema) => Some(schema.clone()),
        None => {
            let decoded = with_document(&tree, encoding, bytes, plain).ok()?;
            let line = decoded.line();
            Some(Arc::new(Schema { decoded, line }))
        }
    });
    each.collect()
}

/// The text of a file without what marks its encoding.
fn decoded_bytes(bytes: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(bytes);
    text.strip_prefix('\u{feff}').unwrap_or(&text).as_bytes().to_vec()
}

/// A file's value for who reads schemas.
pub(crate) fn with_document<R>(
    tree: &Tree,
    encoding: Encoding,
    bytes: &[u8],
    work: impl FnOnce(&Document<'_>) -> R,
) -> R {
    let bytes = &decoded_bytes(bytes)[..];
    let form = match encoding {
        Encoding::Json | Encoding::JsonLines => Form::Json,
        Encoding::Yaml => Form::Yaml,
        Encoding::Cue | Encoding::Toml | Encoding::Text | Encoding::Binary => Form::Other,
    };
    let spelling = Spelling { file: bytes, lines: Lines::new(bytes) };
    let spelled = |datum: &Datum, offset: u32| match datum {
        Datum::String(_) if form == Form::Json && stays(string_at(bytes, offset)) => {
            string_at(bytes, offset).to_owned()
        }
        Datum::String(text) if text.contains('\n') => {
            let mut out = String::new();
            multiline(text, "", &mut out);
            out
        }
        Datum::String(_) => datum.literal(),
        other if form == Form::Other => other.literal(),
        other => spelling.scalar(other, offset),
    };
    work(&Document { tree, file: bytes, form, spelled: &spelled })
}

/// A schema as a source of its own, and where its pieces are from.
pub(crate) fn source(
    value: &Value,
    number: usize,
    (verb, package): (Verb, Option<&str>),
) -> Option<(Source, OfData)> {
    let schema = value.schema.as_ref()?;
    let mut line = Located::default();
    if let Some(package) = package {
        line.add(&format!("package {package}\n\n"));
    }
    for import in &schema.line.imports {
        line.add(import);
        line.add("\n");
    }
    line.add("\n");
    let whole = u32::try_from(line.text.len()).unwrap_or(u32::MAX);
    match verb {
        // It is printed as it is written.
        Verb::Def => line.append(&value.located),
        Verb::Eval | Verb::Export | Verb::Vet => line.append(&in_order_of_fields(value, schema)),
    }
    line.add("\n");
    if verb == Verb::Vet {
        // Data may be held against any of them.
        for name in schema.decoded.inner_definitions() {
            line.add(&format!("{name}: _\n"));
        }
    }
    let end = if value.file == "-" { "" } else { ".json" };
    let name = format!("{}\0schema{number}{end}", value.file);
    let source = Source::new(name.as_str(), line.text.as_str());
    let lines = Lines::new(line.text.as_bytes());
    let file = value.file.clone();
    Some((source, OfData { name, file, whole, lines, line, repeats: false }))
}

/// What schemas say of the files that they become, above those: with a name of a package it is not said of its clause,
/// and what a document of OpenAPI says is said of that alone.
pub(crate) fn comment(values: &[Value], package: Option<&str>) -> String {
    let said = values.iter().filter_map(|it| it.schema.as_ref()).map(|it| &it.line.comment);
    let said = said.filter(|(lines, apart)| !(lines.is_empty() || *apart && package.is_none()));
    let said: Vec<_> = said.collect();
    let Some((_, apart)) = said.first() else { return String::new() };
    let gap = if package.is_some() && !apart { "\n\n" } else { "\n" };
    let each: Vec<String> = said.iter().map(|it| it.0.join("\n")).collect();
    let between = if package.is_some() && !apart { "\n\n" } else { "\n//\n" };
    format!("{}{gap}", each.join(between))
}

/// Values as a command is to print them.
pub(crate) fn for_verb(values: &mut [Value], verb: Verb) {
    for value in values.iter_mut().filter(|_| verb != Verb::Def) {
        if let Some(schema) = value.schema.clone() {
            value.located = Arc::new(in_order_of_fields(value, &schema));
        }
    }
}

/// The CUE of a schema with its fields in the order in which they are printed.
fn in_order_of_fields(value: &Value, schema: &Schema) -> Located {
    let pairs = schema.line.places.iter().zip(&value.located.places);
    let known: HashMap<u32, (u32, u32)> = pairs.map(|(one, other)| (one.1, other.1)).collect();
    let line = schema.decoded.line_in_order();
    let places: Vec<_> =
        line.places.iter().filter_map(|(here, at)| Some((*here, *known.get(at)?))).collect();
    let Line { text, spaced, .. } = line;
    Located { places, text, spaced, ..Located::default() }
}
