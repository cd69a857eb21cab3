//! Arguments read as Rust values. Messages count arguments from 0, as CUE's do at this point.

use std::sync::Arc;

use num_bigint::BigInt;
use num_traits::{Signed, ToPrimitive};

use super::call::{CallContext, CallError};
use super::datum::Datum;
use crate::number::Number;

type Read<T> = Result<T, CallError>;

fn get(args: &[Datum], at: usize) -> Read<&Datum> {
    args.get(at).ok_or_else(|| CallError::permanent(format!("missing argument {at}")))
}

fn misfit(datum: &Datum, wanted: &str, at: usize) -> CallError {
    if matches!(datum, Datum::Live(_)) {
        return CallError::incomplete(format!("non-concrete argument {at}"));
    }
    let (text, kind) = (datum.cue_text(), datum.kind_name());
    CallError::permanent(format!("cannot use {text} (type {kind}) as {wanted} in argument {at}"))
}

/// The value that a text says, and where it stands.
pub(super) fn read(
    cx: &mut CallContext,
    name: &'static str,
    values: impl IntoIterator<Item = (Datum, u32)>,
) -> Datum {
    let (value, place) = values.into_iter().next().unwrap_or((Datum::Null, 0));
    cx.read = Some((name, place));
    value
}

/// All values that a text says, as a list, which itself stands nowhere.
pub(super) fn read_all(
    cx: &mut CallContext,
    name: &'static str,
    values: impl IntoIterator<Item = (Datum, u32)>,
) -> Datum {
    let (values, places): (Vec<Datum>, Vec<u32>) = values.into_iter().unzip();
    cx.read = Some((name, 0));
    Datum::placed_list(values, (cx.base != 0).then(|| places.into_boxed_slice()))
}

/// A string.
pub(super) fn text(args: &[Datum], at: usize) -> Read<&str> {
    match get(args, at)? {
        Datum::String(text) => Ok(text),
        other => Err(misfit(other, "string", at)),
    }
}

/// A string, shared.
pub(super) fn shared(args: &[Datum], at: usize) -> Read<Arc<str>> {
    match get(args, at)? {
        Datum::String(text) => Ok(text.whole()),
        other => Err(misfit(other, "string", at)),
    }
}

/// Bytes, or a string as UTF-8.
pub(super) fn bytes(args: &[Datum], at: usize) -> Read<&[u8]> {
    match get(args, at)? {
        Datum::String(text) => Ok(text.as_bytes()),
        Datum::Bytes(bytes) => Ok(bytes),
        other => Err(misfit(other, "bytes", at)),
    }
}

/// A bool.
pub(super) fn boolean(args: &[Datum], at: usize) -> Read<bool> {
    match get(args, at)? {
        Datum::Bool(value) => Ok(*value),
        other => Err(misfit(other, "bool", at)),
    }
}

/// A number.
pub(super) fn number(args: &[Datum], at: usize) -> Read<&Number> {
    match get(args, at)? {
        Datum::Number(number) => Ok(number),
        other => Err(misfit(other, "number", at)),
    }
}

/// The elements of a list.
pub(super) fn list(args: &[Datum], at: usize) -> Read<&[Datum]> {
    match get(args, at)? {
        Datum::List(items) => Ok(items),
        other => Err(misfit(other, "list", at)),
    }
}

/// A list of strings.
pub(super) fn strings(args: &[Datum], at: usize) -> Read<Vec<&str>> {
    let items = list(args, at)?;
    let mut out = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        match item {
            Datum::String(text) => out.push(&**text),
            other => return Err(wrong_element(other, index, at, "string")),
        }
    }
    Ok(out)
}

/// A list of numbers.
pub(super) fn numbers(args: &[Datum], at: usize) -> Read<Vec<&Number>> {
    let items = list(args, at)?;
    let mut out = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        match item {
            Datum::Number(number) => out.push(number),
            other => return Err(wrong_element(other, index, at, "number")),
        }
    }
    Ok(out)
}

fn wrong_element(item: &Datum, index: usize, at: usize, wanted: &str) -> CallError {
    if matches!(item, Datum::Live(_)) {
        return CallError::incomplete(format!(
            "non-concrete value _ for element {index} of {wanted} list argument {at}"
        ));
    }
    let (text, kind) = (item.cue_text(), item.kind_name());
    CallError::permanent(format!(
        "invalid list element {index} in argument {at} to call: cannot use value {text} ({kind}) as {wanted}"
    ))
}

/// An int of any size.
pub(super) fn integer(args: &[Datum], at: usize) -> Read<BigInt> {
    let number = number(args, at)?;
    number.to_bigint().ok_or_else(|| {
        let text = number.to_string();
        CallError::permanent(format!("cannot use {text} (type float) as int in argument {at}"))
    })
}

/// A signed integer of `width` bits, as Go's reflection converts: magnitudes that fit the full
/// width saturate (64 bits) or wrap (less).
fn sized(args: &[Datum], at: usize, width: u64, name: &str) -> Read<i64> {
    if let Datum::Number(number) = get(args, at)?
        && width == 64
        && let Some(value) = number.to_i64()
    {
        return Ok(value);
    }
    let value = integer(args, at)?;
    if value.magnitude().bits() > width {
        return Err(CallError::permanent(format!("int {value} overflows {name} in argument {at}")));
    }
    if width == 64 {
        let limit = if value.is_negative() { i64::MIN } else { i64::MAX };
        return Ok(value.to_i64().unwrap_or(limit));
    }
    Ok(i64::from(value.to_i64().unwrap_or(0) as i32))
}

/// The argument at a place as Go's `int`: what 64 bits hold with or without a sign saturates.
///
/// # Errors
/// When it is no integer, or needs more bits.
pub fn int(args: &[Datum], at: usize) -> Result<i64, CallError> {
    sized(args, at, 64, "int64")
}

/// Go's `int32` or `rune`.
pub(super) fn int32(args: &[Datum], at: usize, name: &str) -> Read<i64> {
    sized(args, at, 32, name)
}

/// What is said of a first argument that is no list.
pub(super) fn not_a_list(args: &[Datum]) -> CallError {
    let (text, kind) =
        args.first().map_or((String::new(), ""), |it| (it.cue_text(), it.kind_name()));
    CallError::permanent(format!("cannot use value {text} (type {kind}) as list")).of_argument(0)
}

/// An unsigned integer.
pub(super) fn unsigned(args: &[Datum], at: usize) -> Read<u64> {
    let value = integer(args, at)?;
    if value.is_negative() {
        let message = format!("cannot use {value} (type int) as uint64 in argument {at}");
        return Err(CallError::permanent(message).of_argument(at));
    }
    value.to_u64().ok_or_else(|| {
        CallError::permanent(format!("int {value} overflows uint64 in argument {at}"))
    })
}

/// A `float64`.
pub(super) fn float(args: &[Datum], at: usize) -> Read<f64> {
    let number = number(args, at)?;
    let value = number.to_f64();
    if value.is_infinite() && number.is_finite() {
        let (text, kind) = (number.to_string(), args[at].kind_name());
        let way = if number.is_negative() { "down" } else { "up" };
        return Err(CallError::permanent(format!(
            "cannot use {text} (type {kind}) as float64 in argument {at}: value was rounded {way}"
        ))
        .of_argument(at));
    }
    Ok(value)
}
