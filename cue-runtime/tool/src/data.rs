//! Encodings other than CUE, by name or by the end of a file's name, read and written.

use std::sync::Arc;

use cue_eval::builtin::Datum;
use cue_eval::encode::json::Html;
use cue_eval::encode::{json, line_column, toml, yaml};
use cue_session::Diagnostic;

use crate::diagnostic;
use crate::located::{Places, located};

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
    /// By its name after `--out`.
    pub fn of_name(name: &str) -> Option<Self> {
        Some(match name {
            "cue" => Encoding::Cue,
            "json" => Encoding::Json,
            "jsonl" | "ldjson" => Encoding::JsonLines,
            "yaml" | "yml" => Encoding::Yaml,
            "toml" => Encoding::Toml,
            "text" => Encoding::Text,
            "binary" => Encoding::Binary,
            _ => return None,
        })
    }

    /// By the end of a file's name.
    pub fn of_file(file: &str) -> Option<Self> {
        match file.rsplit_once('.')?.1 {
            "txt" => Some(Encoding::Text),
            "ndjson" => Some(Encoding::JsonLines),
            "text" | "binary" => None,
            end => Self::of_name(end),
        }
    }
}

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// The values in a file of data: one, but for streams.
pub(crate) fn read(encoding: Encoding, file: &str, bytes: &[u8]) -> Result<Vec<Datum>, Diagnostic> {
    let json_error = |error: cue_eval::encode::DecodeError| {
        let (line, column) = line_column(bytes, error.offset);
        let message = format!("invalid JSON for file \"{file}\": {}", error.message);
        diagnostic(message, Some((file, line, column)))
    };
    match encoding {
        Encoding::Json => {
            let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
            Ok(vec![json::decode(bytes, json::Values::One).map_err(json_error)?.into_datum()])
        }
        Encoding::JsonLines => {
            Ok(json::decode(bytes, json::Values::Stream).map_err(json_error)?.into_data())
        }
        Encoding::Yaml => {
            let documents =
                yaml::decode(bytes).map_err(|error| diagnostic(error.located(file), None))?;
            let data: Vec<Datum> = documents.into_iter().map(|it| it.tree.into_datum()).collect();
            Ok(if data.is_empty() { vec![Datum::Null] } else { data })
        }
        Encoding::Toml => {
            let text = String::from_utf8_lossy(bytes);
            let datum = toml::decode(&text).map_err(|error| {
                let (line, column) = line_column(bytes, error.offset);
                diagnostic(error.message, Some((file, line, column)))
            })?;
            Ok(vec![datum])
        }
        Encoding::Text | Encoding::Binary => Ok(vec![Datum::lossy(bytes)]),
        Encoding::Cue => Err(diagnostic("CUE is no data", Some((file, 1, 1)))),
    }
}

/// The documents of YAML as texts of CUE, and where their pieces stand in the file.
pub(crate) fn checked(encoding: Encoding, bytes: &[u8]) -> Vec<Arc<(String, Places)>> {
    if encoding != Encoding::Yaml {
        return Vec::new();
    }
    let documents = yaml::decode(bytes).unwrap_or_default();
    let texts = documents.iter().filter(|it| !it.tree.entries.is_empty());
    let texts: Vec<_> = texts.map(|it| Arc::new(located(&it.tree, bytes))).collect();
    // All of them or none, for they stand for the values in order.
    let sound = texts.len() == documents.len()
        && texts.iter().all(|it| cue_syntax::parse_expr(&it.0).is_ok());
    if sound { texts } else { Vec::new() }
}

/// A value as text that ends as the encoding wants it, with strings in JSON as `html` says.
pub(crate) fn write(
    encoding: Encoding,
    value: &Datum,
    html: Html,
    path: &str,
) -> Result<Vec<u8>, Diagnostic> {
    let refused = |what: String| Diagnostic { path: path.to_owned(), ..diagnostic(what, None) };
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
                let wanted = if encoding == Encoding::Text { "string" } else { "bytes" };
                let (text, kind) = (other.cue_text(), other.kind_name());
                return Err(refused(format!("cannot use value {text} (type {kind}) as {wanted}")));
            }
        },
    };
    Ok(text.into_bytes())
}
