//! Values and their types as Go shows them.

use super::datum::Datum;
use super::floats::{Width, format_float};
use super::number::Number;

/// How a value came to be, which is what Go's types tell beyond the data itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Form {
    /// Data, whose whole numbers are `int64`.
    Plain,
    /// An element of data that nobody looked into yet: of Go's type `interface {}`.
    Boxed,
    /// A number that the template made: an `int`.
    Int,
    /// A byte of a text.
    Byte,
    /// A complex number, kept as its text.
    Complex,
}

/// A value of a template that runs.
#[derive(Clone, Debug)]
pub(super) struct Value {
    pub(super) datum: Datum,
    pub(super) form: Form,
}

impl Value {
    /// No value at all, as that of a missing key.
    pub(super) const NONE: Value = Value::plain(Datum::Null);

    pub(super) const fn plain(datum: Datum) -> Value {
        Value { datum, form: Form::Plain }
    }

    pub(super) fn boxed(datum: &Datum) -> Value {
        Value { datum: datum.clone(), form: Form::Boxed }
    }

    pub(super) fn text(text: String) -> Value {
        Value::plain(Datum::text(text))
    }

    pub(super) fn count(value: usize) -> Value {
        Value { datum: Datum::count(value), form: Form::Int }
    }

    /// What is in the box.
    pub(super) fn unboxed(self) -> Value {
        let form = if self.form == Form::Boxed { Form::Plain } else { self.form };
        Value { form, ..self }
    }

    /// Nothing, in a box or not.
    pub(super) fn is_nil(&self) -> bool {
        is_nil(&self.datum)
    }

    /// A text, in a box or not.
    pub(super) fn as_text(&self) -> Option<&str> {
        match &self.datum {
            Datum::String(text) if self.form != Form::Complex => Some(text),
            _ => None,
        }
    }

    /// What `if` makes of it.
    pub(super) fn is_true(&self) -> bool {
        match &self.datum {
            Datum::Null | Datum::Function(_) | Datum::Live(_) => false,
            Datum::Bool(value) => *value,
            Datum::Number(number) => !number.is_zero(),
            Datum::String(text) if self.form == Form::Complex => **text != *"(0+0i)",
            Datum::String(text) => !text.is_empty(),
            Datum::Bytes(bytes) => !bytes.is_empty(),
            Datum::List(items) => !items.is_empty(),
            Datum::Struct(fields) => !fields.is_empty(),
        }
    }

    /// `%T` of what is in the box.
    pub(super) fn type_name(&self) -> &'static str {
        match &self.datum {
            Datum::Number(number) if number.is_int() && number.to_i64().is_none() => BIG,
            Datum::Number(number) if number.is_int() && self.form == Form::Int => "int",
            Datum::Number(number) if number.is_int() && self.form == Form::Byte => "uint8",
            Datum::Number(number) if !number.is_int() && beyond(number).is_some() => "*big.Float",
            Datum::String(_) if self.form == Form::Complex => "complex128",
            datum => type_name(datum),
        }
    }
}

/// The type of whole numbers that are too large for any other.
pub(super) const BIG: &str = "*big.Int";

pub(super) fn is_nil(datum: &Datum) -> bool {
    matches!(datum, Datum::Null | Datum::Function(_) | Datum::Live(_))
}

/// `%T` of data.
pub(super) fn type_name(datum: &Datum) -> &'static str {
    match datum {
        Datum::Null | Datum::Function(_) | Datum::Live(_) => "<nil>",
        Datum::Bool(_) => "bool",
        Datum::Number(number) if number.is_int() => "int64",
        Datum::Number(_) => "float64",
        Datum::String(_) => "string",
        Datum::Bytes(_) => "[]uint8",
        Datum::List(_) => "[]interface {}",
        Datum::Struct(_) => "map[string]interface {}",
    }
}

/// Fields by name.
pub(super) fn sorted(datum: &Datum) -> Vec<(&str, &Datum)> {
    let Datum::Struct(fields) = datum else { return Vec::new() };
    let mut members: Vec<(&str, &Datum)> = fields.iter().map(|(k, v)| (&**k, v)).collect();
    cue_sort::by(&mut members, |one, other| one.0.cmp(other.0));
    members
}

/// `%v`
pub(super) fn shown(datum: &Datum) -> String {
    let mut out = String::new();
    show(datum, &mut out);
    out
}

/// The same, behind what is there.
pub(super) fn show(datum: &Datum, out: &mut String) {
    match datum {
        Datum::Null | Datum::Function(_) | Datum::Live(_) => out.push_str("<nil>"),
        Datum::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Datum::Number(number) => match number.to_bigint() {
            Some(whole) if number.is_int() => out.push_str(&whole.to_string()),
            _ => match beyond(number) {
                Some(text) => out.push_str(&text),
                None => out.push_str(&format_float(number.to_f64(), b'g', None, Width::Double)),
            },
        },
        Datum::String(text) => out.push_str(text),
        Datum::Bytes(bytes) => {
            let all: Vec<String> = bytes.iter().map(u8::to_string).collect();
            out.extend(["[", &all.join(" "), "]"]);
        }
        Datum::List(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                out.push_str(if at > 0 { " " } else { "" });
                show(item, out);
            }
            out.push(']');
        }
        Datum::Struct(_) => {
            out.push_str("map[");
            for (at, (label, value)) in sorted(datum).into_iter().enumerate() {
                out.extend([if at > 0 { " " } else { "" }, label, ":"]);
                show(value, out);
            }
            out.push(']');
        }
    }
}

/// The text of a number that is too large for a float of 64 bits.
pub(super) fn beyond(number: &Number) -> Option<String> {
    number.to_f64().is_infinite().then(|| number.to_string().to_lowercase())
}
