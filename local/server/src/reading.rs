//! Objects of built-in kinds, read as their Go structs would: unknown fields and nulls go, types must fit, defaults
//! are set.
//!
//! Recursion follows the nesting of the value; the JSON reader bounds that to 128.

use serde_json::{Map, Value, json};

use crate::decode::go_type;
use crate::quantity;
use crate::shape::{Empty, Shape, Text, Wanted, is_zero};

/// What is done besides checking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Defaults {
    /// What the published schemas tell is set, and what Go writes of an empty struct.
    Set,
    /// Nothing is added.
    Left,
}

/// Where a value is; written out only when something is to be said of it.
#[derive(Clone, Copy)]
pub enum Path<'p> {
    /// The object itself.
    Root,
    /// A field.
    Field(&'p Path<'p>, &'p str),
    /// An element.
    Item(&'p Path<'p>, usize),
}

impl std::fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Path::Root => Ok(()),
            Path::Field(Path::Root, name) => f.write_str(name),
            Path::Field(above, name) => write!(f, "{above}.{name}"),
            Path::Item(above, index) => write!(f, "{above}[{index}]"),
        }
    }
}

/// Reads a value as the Go struct of a schema would; `owner` is the struct it is part of.
pub fn read(
    shape: &Shape,
    owner: &str,
    value: &mut Value,
    path: &Path<'_>,
    defaults: Defaults,
    unknown: &mut Vec<String>,
) -> Result<(), String> {
    let wanted = shape.wanted;
    if wanted == Wanted::Text(Text::Quantity) {
        let text = match value {
            Value::String(text) => std::mem::take(text),
            Value::Number(number) => number.to_string(),
            _ => return read_plain(shape, owner, value, path),
        };
        let text = quantity::canonical(&text).ok_or("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'")?;
        *value = Value::String(text);
        return Ok(());
    }
    match value {
        Value::Object(_) if !matches!(wanted, Wanted::Object | Wanted::Any) => {
            Err(refused(shape, owner, value, path))
        }
        Value::Object(fields) => {
            read_fields(shape, owner, fields, path, defaults, unknown)?;
            if defaults == Defaults::Set {
                set_defaults(shape, fields);
            }
            Ok(())
        }
        Value::Array(_) if !matches!(wanted, Wanted::Array | Wanted::Any) => {
            Err(refused(shape, owner, value, path))
        }
        Value::Array(items) => {
            let Some((inner, deeper)) = shape.items() else { return Ok(()) };
            let owner = deeper.unwrap_or(owner);
            for (index, item) in items.iter_mut().enumerate() {
                read(inner, owner, item, &Path::Item(path, index), defaults, unknown)?;
            }
            Ok(())
        }
        other => read_plain(shape, owner, other, path),
    }
}

fn read_fields(
    shape: &Shape,
    owner: &str,
    fields: &mut Map<String, Value>,
    path: &Path<'_>,
    defaults: Defaults,
    unknown: &mut Vec<String>,
) -> Result<(), String> {
    let more = shape.more();
    let mut failed = Ok(());
    fields.retain(|name, child| {
        if failed.is_err() {
            return true;
        }
        let declared = shape.field(name);
        let Some(inner) = declared.map(|field| field.shape()).or(more) else {
            if !child.is_null() && !shape.open {
                unknown.push(Path::Field(path, name).to_string());
            }
            return !child.is_null() && shape.open;
        };
        if child.is_null() {
            // A map of texts has no null.
            let text = declared.is_none() && matches!(inner.wanted, Wanted::Text(_));
            if text {
                *child = json!("");
            }
            return text;
        }
        let empty = declared.map_or(Empty::Kept, |field| field.empty);
        if is_zero(child) && inner.collects(child) {
            match empty {
                // Of the object's own lists it counts who said that they are empty.
                Empty::NullLists if matches!(path, Path::Root) => return true,
                Empty::Kept => {}
                Empty::Left | Empty::LeftLists => return false,
                Empty::NullLists => {
                    *child = Value::Null;
                    return true;
                }
            }
        }
        let below = Path::Field(path, name);
        // What is wrong in a map is said of the map.
        let at = if declared.is_some() { &below } else { path };
        let owner = declared.and_then(|field| field.owner).unwrap_or(owner);
        failed = read(inner, owner, child, at, defaults, unknown);
        empty != Empty::Left || !is_zero(child)
    });
    failed
}

fn set_defaults(shape: &Shape, fields: &mut Map<String, Value>) {
    for (name, default) in &shape.defaults {
        let own_metadata = *name == "metadata" && fields.contains_key("apiVersion");
        if own_metadata || fields.contains_key(*name) {
            continue;
        }
        let mut value = default.clone();
        if let (Value::Object(inner), Some(field)) = (&mut value, shape.field(name)) {
            set_defaults(field.shape(), inner);
        }
        fields.insert((*name).to_owned(), value);
    }
}

fn read_plain(shape: &Shape, owner: &str, value: &Value, path: &Path<'_>) -> Result<(), String> {
    let wanted = shape.wanted;
    let fits = match value {
        Value::Null => true,
        Value::String(text) => match wanted {
            Wanted::Text(kind) => return read_text(kind, text),
            other => other == Wanted::Any,
        },
        Value::Number(number) => match wanted {
            Wanted::Integer => number.is_i64() || number.is_u64(),
            Wanted::Number | Wanted::Any | Wanted::Text(Text::OrInteger) => true,
            _ => false,
        },
        Value::Bool(_) => matches!(wanted, Wanted::Boolean | Wanted::Any),
        Value::Array(_) | Value::Object(_) => false,
    };
    if fits { Ok(()) } else { Err(refused(shape, owner, value, path)) }
}

fn read_text(kind: Text, text: &str) -> Result<(), String> {
    match kind {
        Text::MicroTime if !text.contains('.') && text.ends_with('Z') => Err(format!(
            "parsing time \"{text}\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \"Z\" as \".000000\""
        )),
        Text::Time | Text::MicroTime
            if !text.is_empty() && chrono::DateTime::parse_from_rfc3339(text).is_err() =>
        {
            Err(format!(
                "parsing time \"{text}\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"{text}\" as \"2006\""
            ))
        }
        Text::Bytes => {
            use base64::Engine;
            let read = base64::engine::general_purpose::STANDARD.decode(text.as_bytes());
            read.map(|_| ()).map_err(|error| {
                let at = match error {
                    base64::DecodeError::InvalidByte(at, _)
                    | base64::DecodeError::InvalidLastSymbol(at, _) => at,
                    _ => text.len(),
                };
                format!("illegal base64 data at input byte {at}")
            })
        }
        _ => Ok(()),
    }
}

fn refused(shape: &Shape, owner: &str, value: &Value, path: &Path<'_>) -> String {
    let found = match value {
        Value::String(_) => "string".to_owned(),
        Value::Number(number) if shape.wanted == Wanted::Integer => format!("number {number}"),
        Value::Number(_) => "number".to_owned(),
        Value::Bool(_) => "bool".to_owned(),
        Value::Array(_) => "array".to_owned(),
        _ => "object".to_owned(),
    };
    let wanted = go_type(shape.schema);
    format!("json: cannot unmarshal {found} into Go struct field {owner}.{path} of type {wanted}")
}
