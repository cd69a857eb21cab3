//! Bytes to JSON: what a client sent, as it would have sent it in JSON. Empty values are what they are; reading drops
//! those that Go would not write.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chrono::{DateTime, SecondsFormat};
use serde_json::{Map, Value, json};

use super::MAGIC;
use super::messages::{self, Field, Kind, Many, Message};

/// Objects in objects; a list of a list is rare enough.
const DEEPEST: usize = 4;

/// Why bytes are no object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// They do not begin as one.
    NoEnvelope,
    /// They end too early or make no sense.
    Damaged,
    /// The kind has no message here: its apiVersion and name.
    Unknown(String, String),
}

/// The object in a body.
///
/// # Errors
/// When the bytes are none, or of a kind that has no message.
pub fn decode(body: &[u8]) -> Result<Value, Refused> {
    object(body, 0)
}

fn object(body: &[u8], depth: usize) -> Result<Value, Refused> {
    let mut rest = body.strip_prefix(MAGIC).ok_or(Refused::NoEnvelope)?;
    let (mut api, mut kind, mut raw) = ("", "", &[][..]);
    while !rest.is_empty() {
        match part(&mut rest).ok_or(Refused::Damaged)? {
            (1, Content::Bytes(mut about)) => {
                while !about.is_empty() {
                    match part(&mut about).ok_or(Refused::Damaged)? {
                        (1, Content::Bytes(text)) => {
                            api = self::text(text).ok_or(Refused::Damaged)?
                        }
                        (2, Content::Bytes(text)) => {
                            kind = self::text(text).ok_or(Refused::Damaged)?
                        }
                        _ => {}
                    }
                }
            }
            (2, Content::Bytes(bytes)) => raw = bytes,
            _ => {}
        }
    }
    let Some(message) = messages::of(api, kind) else {
        return Err(Refused::Unknown(api.to_owned(), kind.to_owned()));
    };
    let mut fields = Map::new();
    read(message, raw, &mut fields, depth).ok_or(Refused::Damaged)?;
    fields.insert("apiVersion".to_owned(), json!(api));
    fields.insert("kind".to_owned(), json!(kind));
    Ok(Value::Object(fields))
}

enum Content<'b> {
    Number(u64),
    Bytes(&'b [u8]),
    /// Of a type no message here has.
    Other,
}

fn varint(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    for shift in (0..64).step_by(7) {
        let (byte, tail) = rest.split_first()?;
        *rest = tail;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

fn taken<'b>(rest: &mut &'b [u8], length: usize) -> Option<&'b [u8]> {
    let (bytes, tail) = rest.split_at_checked(length)?;
    *rest = tail;
    Some(bytes)
}

/// The number of the next field and what is in it.
fn part<'b>(rest: &mut &'b [u8]) -> Option<(u64, Content<'b>)> {
    let key = varint(rest)?;
    let content = match key & 7 {
        0 => Content::Number(varint(rest)?),
        1 => taken(rest, 8).map(|_| Content::Other)?,
        2 => {
            let length = usize::try_from(varint(rest)?).ok()?;
            Content::Bytes(taken(rest, length)?)
        }
        5 => taken(rest, 4).map(|_| Content::Other)?,
        _ => return None,
    };
    Some((key >> 3, content))
}

fn text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok()
}

// Messages nest as deep as they are published to; none is part of itself.
fn read(
    message: &Message,
    mut rest: &[u8],
    object: &mut Map<String, Value>,
    depth: usize,
) -> Option<()> {
    while !rest.is_empty() {
        let (number, content) = part(&mut rest)?;
        // What a newer client sends besides is not looked at.
        let Some(field) = message.iter().find(|field| field.number == number) else { continue };
        let Some(name) = field.name else {
            let (Kind::Message(package, name), Content::Bytes(bytes)) = (field.kind, content)
            else {
                return None;
            };
            read(messages::message(package, name)?, bytes, object, depth)?;
            continue;
        };
        match field.many {
            Many::One => {
                object.insert(name.to_owned(), single(field, content, depth)?);
            }
            Many::List => {
                let item = single(field, content, depth)?;
                if let Value::Array(items) = object.entry(name).or_insert_with(|| json!([])) {
                    items.push(item);
                }
            }
            Many::Map => {
                let Content::Bytes(pair) = content else { return None };
                let (key, value) = entry(field, pair, depth)?;
                if let Value::Object(all) = object.entry(name).or_insert_with(|| json!({})) {
                    all.insert(key, value);
                }
            }
        }
    }
    Some(())
}

fn entry(field: &Field, mut pair: &[u8], depth: usize) -> Option<(String, Value)> {
    let (mut key, mut value) = (String::new(), None);
    while !pair.is_empty() {
        match part(&mut pair)? {
            (1, Content::Bytes(bytes)) => key = text(bytes)?.to_owned(),
            (2, content) => value = Some(single(field, content, depth)?),
            _ => {}
        }
    }
    let empty = || match field.kind {
        Kind::Text | Kind::Bytes => json!(""),
        Kind::Quantity => json!("0"),
        Kind::Texts => json!([]),
        _ => json!({}),
    };
    Some((key, value.unwrap_or_else(empty)))
}

fn single(field: &Field, content: Content<'_>, depth: usize) -> Option<Value> {
    let bytes = match (field.kind, content) {
        (Kind::Integer, Content::Number(number)) => return Some(json!(number.cast_signed())),
        (Kind::Boolean, Content::Number(number)) => return Some(json!(number != 0)),
        (Kind::Integer | Kind::Boolean, _) => return None,
        (_, Content::Bytes(bytes)) => bytes,
        _ => return None,
    };
    Some(match field.kind {
        Kind::Text => json!(text(bytes)?),
        Kind::Bytes => json!(STANDARD.encode(bytes)),
        Kind::Quantity => texts(bytes)?.pop().unwrap_or_else(|| json!("0")),
        Kind::Texts => Value::Array(texts(bytes)?),
        Kind::IntOrString => int_or_string(bytes)?,
        Kind::Time => time(bytes, SecondsFormat::Secs)?,
        Kind::MicroTime => time(bytes, SecondsFormat::Micros)?,
        Kind::Raw => raw(bytes, depth)?,
        Kind::Message(package, name) => {
            let mut fields = Map::new();
            read(messages::message(package, name)?, bytes, &mut fields, depth)?;
            Value::Object(fields)
        }
        Kind::Integer | Kind::Boolean => return None,
    })
}

/// The texts of the first field.
fn texts(mut bytes: &[u8]) -> Option<Vec<Value>> {
    let mut all = Vec::new();
    while !bytes.is_empty() {
        if let (1, Content::Bytes(one)) = part(&mut bytes)? {
            all.push(json!(text(one)?));
        }
    }
    Some(all)
}

fn int_or_string(mut bytes: &[u8]) -> Option<Value> {
    let (mut is_text, mut number, mut said) = (false, 0, "");
    while !bytes.is_empty() {
        match part(&mut bytes)? {
            (1, Content::Number(kind)) => is_text = kind == 1,
            (2, Content::Number(value)) => number = value.cast_signed(),
            (3, Content::Bytes(bytes)) => said = text(bytes)?,
            _ => {}
        }
    }
    Some(if is_text { json!(said) } else { json!(number) })
}

/// A time; one that was never set is null.
fn time(mut bytes: &[u8], format: SecondsFormat) -> Option<Value> {
    if bytes.is_empty() {
        return Some(Value::Null);
    }
    let (mut seconds, mut nanos) = (0, 0);
    while !bytes.is_empty() {
        match part(&mut bytes)? {
            (1, Content::Number(value)) => seconds = value.cast_signed(),
            (2, Content::Number(value)) => nanos = u32::try_from(value).ok()?,
            _ => {}
        }
    }
    Some(json!(DateTime::from_timestamp(seconds, nanos)?.to_rfc3339_opts(format, true)))
}

/// JSON in bytes, or an object in an envelope of its own.
fn raw(mut bytes: &[u8], depth: usize) -> Option<Value> {
    let mut said = &[][..];
    while !bytes.is_empty() {
        if let (1, Content::Bytes(raw)) = part(&mut bytes)? {
            said = raw;
        }
    }
    match said {
        [] => Some(Value::Null),
        said if !said.starts_with(MAGIC) => serde_json::from_slice(said).ok(),
        _ if depth >= DEEPEST => None,
        said => object(said, depth + 1).ok(),
    }
}
