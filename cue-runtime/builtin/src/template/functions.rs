//! Functions of Go templates.

use std::cmp::Ordering;

use super::js_escape;
use crate::call::{CallContext, CallError};
use crate::datum::Datum;
use crate::go_value::{Form, Value, show, shown};
use crate::printf::printf;
use crate::{html, url};

/// Why a function gives nothing.
pub(super) enum Failure {
    /// The effort.
    Budget(CallError),
    Reason(String),
    /// What was to be called.
    NoFunction(Value),
}

impl From<CallError> for Failure {
    fn from(error: CallError) -> Failure {
        Failure::Budget(error)
    }
}

impl From<String> for Failure {
    fn from(reason: String) -> Failure {
        Failure::Reason(reason)
    }
}

impl From<&str> for Failure {
    fn from(reason: &str) -> Failure {
        Failure::Reason(reason.to_owned())
    }
}

type Outcome<T = Value> = Result<T, Failure>;

/// What is wrong with a number of arguments, of which so many are words: one may come through a pipe.
pub(super) fn arity(name: &str, words: usize, count: usize) -> Option<String> {
    let exact = match name {
        "not" | "len" => Some(1),
        "ne" | "lt" | "le" | "gt" | "ge" => Some(2),
        _ => None,
    };
    if let Some(exact) = exact.filter(|it| *it != count) {
        return Some(format!("wrong number of args for {name}: want {exact} got {count}"));
    }
    let any = exact.is_some() || matches!(name, "print" | "println" | "html" | "js" | "urlquery");
    (!any && count == 0)
        .then(|| format!("wrong number of args for {name}: want at least 1 got {words}"))
}

/// Calls a function whose number of arguments is right.
pub(super) fn call(cx: &mut CallContext, name: &str, values: &[Value]) -> Outcome {
    let Some((first, rest)) = values.split_first() else {
        return Ok(match name {
            "println" => Value::text("\n".to_owned()),
            _ => Value::text(String::new()),
        });
    };
    let none = Value::NONE;
    let second = rest.first().unwrap_or(&none);
    match name {
        "not" => Ok(truth(!first.is_true())),
        "len" => length(first),
        "index" if first.is_nil() => Err("index of untyped nil".into()),
        "index" => rest.iter().try_fold(first.clone(), |value, key| index(&value, key)),
        "slice" => slice(first, rest),
        "eq" => {
            if rest.is_empty() {
                return Err("missing argument for comparison".into());
            }
            for other in rest {
                if equal(cx, first, other)? {
                    return Ok(truth(true));
                }
            }
            Ok(truth(false))
        }
        "ne" => Ok(truth(!equal(cx, first, second)?)),
        "lt" => Ok(truth(order(first, second)?.is_lt())),
        "le" => Ok(truth(order(first, second)?.is_le())),
        "gt" => Ok(truth(order(first, second)?.is_gt())),
        "ge" => Ok(truth(order(first, second)?.is_ge())),
        "printf" => {
            let format = first.as_text().unwrap_or("");
            Ok(Value::text(printf(cx, format, rest)?))
        }
        "call" if first.is_nil() => Err("call of nil".into()),
        "call" => Err(Failure::NoFunction(first.clone())),
        _ => print(cx, name, values),
    }
}

/// `print` and those that escape what it prints.
fn print(cx: &mut CallContext, name: &str, values: &[Value]) -> Outcome {
    let is_line = name == "println";
    let is_escaped = !is_line && name != "print";
    // To those that escape, what is nothing is a text.
    let is_text = |it: &Value| it.as_text().is_some() || (is_escaped && it.is_nil());
    let mut out = String::new();
    let mut before = None;
    for value in values {
        if before.is_some_and(|it| is_line || !(is_text(it) || is_text(value))) {
            out.push(' ');
        }
        before = Some(value);
        let known = out.len();
        match is_escaped && value.is_nil() {
            true => out.push_str("<no value>"),
            false => show(&value.datum, &mut out),
        }
        cx.spend(out.len() - known)?;
    }
    let known = out.len();
    let out = match name {
        "html" => html::escape(&out).replace('\0', "\u{fffd}"),
        "js" => js_escape(&out),
        "urlquery" => url::escape(&out, url::Part::Query),
        "println" => out + "\n",
        _ => out,
    };
    cx.spend(out.len().saturating_sub(known))?;
    Ok(Value::text(out))
}

fn truth(value: impl Into<bool>) -> Value {
    Value::plain(Datum::Bool(value.into()))
}

/// The type of what a pointer points to.
fn bare(value: &Value) -> &'static str {
    value.type_name().trim_start_matches('*')
}

fn length(value: &Value) -> Outcome {
    Ok(Value::count(match &value.datum {
        _ if value.is_nil() && value.form == Form::Boxed => {
            return Err("len of nil pointer".into());
        }
        _ if value.is_nil() => {
            return Err("reflect: call of reflect.Value.Type on zero Value".into());
        }
        Datum::String(text) if value.form != Form::Complex => text.len(),
        Datum::Bytes(bytes) => bytes.len(),
        Datum::List(items) => items.len(),
        Datum::Struct(fields) => fields.len(),
        _ => return Err(format!("len of type {}", bare(value)).into()),
    }))
}

/// What Go compares with what: values of one of these with each other.
#[derive(PartialEq, Eq)]
enum Basic {
    Bool,
    Int,
    Float,
    Complex,
    Text,
    Other,
}

fn basic(value: &Value) -> Basic {
    match value.type_name() {
        "bool" => Basic::Bool,
        "int" | "int64" | "uint8" => Basic::Int,
        "float64" => Basic::Float,
        "complex128" => Basic::Complex,
        "string" => Basic::Text,
        _ => Basic::Other,
    }
}

fn incompatible(one: &Value, other: &Value) -> Failure {
    let (one, other) = (one.type_name(), other.type_name());
    format!("incompatible types for comparison: {one} and {other}").into()
}

fn equal(cx: &mut CallContext, one: &Value, other: &Value) -> Outcome<bool> {
    let kind = basic(one);
    if kind != basic(other) {
        return match one.is_nil() || other.is_nil() {
            true => Ok(false),
            false => Err(incompatible(one, other)),
        };
    }
    if kind != Basic::Other {
        return Ok(match (&one.datum, &other.datum) {
            (Datum::Number(a), Datum::Number(b)) => {
                a.to_f64() == b.to_f64() && a.compare(b).is_eq()
            }
            (a, b) => a == b,
        });
    }
    if one.is_nil() || other.is_nil() {
        return Ok(one.is_nil() && other.is_nil());
    }
    let (left, right) = (one.type_name(), other.type_name());
    // Lists and bytes are slices, what begins with a star is a pointer.
    if left.as_bytes().first() != right.as_bytes().first() {
        let first = printf(cx, "%s", &[one.clone().unboxed()])?;
        let second = shown(&other.datum);
        cx.spend(second.len())?;
        let reason = format!("non-comparable types {first}: {left}, {right}: {second}");
        return Err(reason.into());
    }
    if right.starts_with('*') {
        return Ok(one.datum == other.datum);
    }
    let second = printf(cx, "%s", &[other.clone().unboxed()])?;
    Err(format!("non-comparable type {second}: {right}").into())
}

fn order(one: &Value, other: &Value) -> Outcome<Ordering> {
    let (kind, other_kind) = (basic(one), basic(other));
    if kind == Basic::Other || other_kind == Basic::Other {
        return Err("invalid type for comparison".into());
    }
    if kind != other_kind {
        return Err(incompatible(one, other));
    }
    match (&one.datum, &other.datum) {
        (Datum::Number(a), Datum::Number(b)) => Ok(a.compare(b)),
        (Datum::String(a), Datum::String(b)) if kind == Basic::Text => Ok(a.cmp(b)),
        _ => Err("invalid type for comparison".into()),
    }
}

/// A number that says where in a list or a text, up to its length.
fn place(key: &Value, length: usize) -> Outcome<usize> {
    match &key.datum {
        Datum::Number(number) if basic(key) == Basic::Int => {
            let at = number.to_i64().and_then(|at| usize::try_from(at).ok());
            let at = at.filter(|at| *at <= length);
            at.ok_or_else(|| format!("index out of range: {number}").into())
        }
        _ if key.is_nil() => Err("cannot index slice/array with nil".into()),
        _ => Err(format!("cannot index slice/array with type {}", key.type_name()).into()),
    }
}

fn index(value: &Value, key: &Value) -> Outcome {
    let name = key.type_name();
    match &value.datum {
        Datum::Struct(fields) => match key.as_text() {
            Some(label) => {
                let found = fields.iter().find(|it| *it.0 == *label);
                Ok(Value::boxed(found.map_or(&Datum::Null, |it| &it.1)))
            }
            None if key.is_nil() => Err("value is nil; should be of type string".into()),
            None => Err(format!("value has type {name}; should be string").into()),
        },
        Datum::List(items) => {
            let item = items.get(place(key, items.len())?);
            item.map(Value::boxed).ok_or_else(|| "reflect: slice index out of range".into())
        }
        Datum::Bytes(bytes) => byte(bytes.get(place(key, bytes.len())?), "slice"),
        Datum::String(text) if value.form != Form::Complex => {
            byte(text.as_bytes().get(place(key, text.len())?), "string")
        }
        _ if value.is_nil() => Err("index of nil pointer".into()),
        _ => Err(format!("can't index item of type {}", bare(value)).into()),
    }
}

fn byte(found: Option<&u8>, of: &str) -> Outcome {
    let datum = found.map(|it| Datum::int(i64::from(*it)));
    let datum = datum.ok_or_else(|| format!("reflect: {of} index out of range"))?;
    Ok(Value { datum, form: Form::Byte })
}

fn slice(value: &Value, keys: &[Value]) -> Outcome {
    if value.is_nil() {
        return Err("slice of untyped nil".into());
    }
    if keys.len() > 3 {
        return Err(format!("too many slice indexes: {}", keys.len()).into());
    }
    let length = match &value.datum {
        Datum::String(_) if value.form != Form::Complex && keys.len() > 2 => {
            return Err("cannot 3-index slice a string".into());
        }
        Datum::String(text) if value.form != Form::Complex => text.len(),
        Datum::Bytes(bytes) => bytes.len(),
        Datum::List(items) => items.len(),
        _ => return Err(format!("can't slice item of type {}", bare(value)).into()),
    };
    let mut bounds = [0, length, length];
    for (key, bound) in keys.iter().zip(&mut bounds) {
        if key.form == Form::Boxed {
            return Err("cannot index slice/array with type interface {}".into());
        }
        *bound = place(key, length)?;
    }
    let [from, to, cap] = bounds;
    for (one, other) in [(from, to), (to, cap)] {
        if one > other {
            return Err(format!("invalid slice index: {one} > {other}").into());
        }
    }
    Ok(Value::plain(match &value.datum {
        Datum::List(items) => Datum::list(items[from..to].to_vec()),
        Datum::Bytes(bytes) => Datum::Bytes(bytes[from..to].into()),
        Datum::String(text) => Datum::lossy(&text.as_bytes()[from..to]),
        _ => Datum::Null,
    }))
}
