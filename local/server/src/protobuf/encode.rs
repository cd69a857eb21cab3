//! JSON to bytes: what a client is answered.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chrono::DateTime;
use serde_json::{Map, Value};

use super::MAGIC;
use super::messages::{self, Field, Kind, Many, Message};

/// An object in its envelope; none if its kind has no message.
#[must_use]
pub fn encode(object: &Value) -> Option<Vec<u8>> {
    let text = |key: &str| object[key].as_str().unwrap_or_default();
    let (api, kind) = (text("apiVersion"), text("kind"));
    let fields = object.as_object()?;
    Some(envelope(api, kind, &written(messages::of(api, kind)?, fields)))
}

/// An event of a watch: how long it is in four bytes, then the event.
#[must_use]
pub fn encode_event(kind: &str, object: &Value) -> Option<Vec<u8>> {
    let object = encode(object)?;
    let mut raw = Vec::with_capacity(object.len() + 8);
    bytes(1, &object, &mut raw);
    let mut event = Vec::with_capacity(raw.len() + 24);
    bytes(1, kind.as_bytes(), &mut event);
    bytes(2, &raw, &mut event);
    let mut frame = u32::try_from(event.len()).ok()?.to_be_bytes().to_vec();
    frame.append(&mut event);
    Some(frame)
}

/// The bytes of a message of a kind, in their envelope.
pub(super) fn envelope(api: &str, kind: &str, message: &[u8]) -> Vec<u8> {
    let mut about = Vec::new();
    bytes(1, api.as_bytes(), &mut about);
    bytes(2, kind.as_bytes(), &mut about);
    let mut out = MAGIC.to_vec();
    bytes(1, &about, &mut out);
    bytes(2, message, &mut out);
    // How it is packed, and as what: not at all, and as this.
    bytes(3, b"", &mut out);
    bytes(4, b"", &mut out);
    out
}

fn varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(u8::try_from(value & 0x7f).unwrap_or(0) | 0x80);
        value >>= 7;
    }
    out.push(u8::try_from(value).unwrap_or(0));
}

fn number(field: u64, value: u64, out: &mut Vec<u8>) {
    varint(field << 3, out);
    varint(value, out);
}

fn bytes(field: u64, value: &[u8], out: &mut Vec<u8>) {
    varint(field << 3 | 2, out);
    varint(value.len() as u64, out);
    out.extend_from_slice(value);
}

fn written(message: &Message, object: &Map<String, Value>) -> Vec<u8> {
    let mut out = Vec::new();
    for field in message {
        let Some(name) = field.name else {
            if let Kind::Message(package, name) = field.kind {
                let inner = messages::message(package, name).unwrap_or_default();
                bytes(field.number, &written(inner, object), &mut out);
            }
            continue;
        };
        match (field.many, object.get(name)) {
            (_, None | Some(Value::Null)) => {}
            (Many::One, Some(value)) => single(field, field.number, value, &mut out),
            (Many::List, Some(value)) => {
                for item in value.as_array().into_iter().flatten() {
                    single(field, field.number, item, &mut out);
                }
            }
            (Many::Map, Some(value)) => {
                let mut all: Vec<_> = value.as_object().into_iter().flatten().collect();
                all.sort_by_key(|(key, _)| *key);
                for (key, value) in all {
                    let mut pair = Vec::new();
                    bytes(1, key.as_bytes(), &mut pair);
                    single(field, 2, value, &mut pair);
                    bytes(field.number, &pair, &mut out);
                }
            }
        }
    }
    out
}

// What is not of the field's type was never stored: reading sees to that.
fn single(field: &Field, at: u64, value: &Value, out: &mut Vec<u8>) {
    let text = value.as_str().unwrap_or_default();
    match field.kind {
        Kind::Integer => number(at, value.as_i64().unwrap_or(0).cast_unsigned(), out),
        Kind::Boolean => number(at, u64::from(value.as_bool().unwrap_or(false)), out),
        Kind::Text => bytes(at, text.as_bytes(), out),
        Kind::Bytes => bytes(at, &STANDARD.decode(text).unwrap_or_default(), out),
        Kind::Quantity => bytes(at, &in_message(text.as_bytes()), out),
        Kind::Texts => {
            let mut inner = Vec::new();
            for text in value.as_array().into_iter().flatten().filter_map(Value::as_str) {
                bytes(1, text.as_bytes(), &mut inner);
            }
            bytes(at, &inner, out);
        }
        Kind::IntOrString => {
            let mut inner = Vec::new();
            number(1, u64::from(value.is_string()), &mut inner);
            number(2, value.as_i64().unwrap_or(0).cast_unsigned(), &mut inner);
            bytes(3, text.as_bytes(), &mut inner);
            bytes(at, &inner, out);
        }
        Kind::Time | Kind::MicroTime => {
            let mut inner = Vec::new();
            if let Ok(time) = DateTime::parse_from_rfc3339(text) {
                number(1, time.timestamp().cast_unsigned(), &mut inner);
                number(2, u64::from(time.timestamp_subsec_nanos()), &mut inner);
            }
            bytes(at, &inner, out);
        }
        Kind::Raw => {
            bytes(at, &in_message(&serde_json::to_vec(value).unwrap_or_default()), out);
        }
        Kind::Message(package, name) => {
            let message = messages::message(package, name).unwrap_or_default();
            if let Some(fields) = value.as_object() {
                bytes(at, &written(message, fields), out);
            }
        }
    }
}

/// A message with this as its first field.
fn in_message(value: &[u8]) -> Vec<u8> {
    let mut inner = Vec::with_capacity(value.len() + 4);
    bytes(1, value, &mut inner);
    inner
}

/// How long something is, as written before it.
#[cfg(test)]
pub(super) fn length(value: usize) -> Vec<u8> {
    let mut out = Vec::new();
    varint(value as u64, &mut out);
    out
}
