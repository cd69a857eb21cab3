//! What goes into builtin functions and comes out: data without types, references or conjuncts.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::Deref;
use std::sync::Arc;

use crate::encode::json;
use crate::number::Number;
use crate::text::Text;

/// A value of JSON, plus bytes, plus values of the evaluator that a function only passes on.
#[derive(Clone, Debug)]
pub enum Datum {
    /// `null`
    Null,
    /// `true`, `false`
    Bool(bool),
    /// An int or a float.
    Number(Number),
    /// A string.
    String(Text),
    /// Bytes.
    Bytes(Arc<[u8]>),
    /// A list.
    List(Arc<Items>),
    /// Fields in order. A label may occur twice (JSON input): the evaluator unifies them.
    Struct(Arc<Fields>),
    /// A function as a value.
    Function(Arc<FunctionName>),
    /// A value of the evaluator, named by its handle.
    Live(u32),
}

/// The handle of anything, null by default (`*null | _`): what a text says that says nothing.
pub const NOTHING_SAID: u32 = u32::MAX;

/// A function that is called by nobody yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FunctionName {
    /// The import path of its package; empty for those without one.
    pub package: &'static str,
    /// Its name.
    pub name: &'static str,
}

impl FunctionName {
    /// As CUE has it: `json.Marshal`.
    pub fn text(&self) -> String {
        match self.package.rsplit('/').next() {
            None | Some("") => self.name.to_owned(),
            Some(package) => format!("{package}.{}", self.name),
        }
    }

    /// As messages have it where it stands for a value: `"encoding/json".Marshal`.
    pub fn value_text(&self) -> String {
        match self.package.contains('/') {
            true => format!("{:?}.{}", self.package, self.name),
            false => self.text(),
        }
    }
}

/// Where the parts of a list or a struct stand in the text they were read from, counted from 1, 0 for
/// nowhere: each element, of each field its label and its value. `None` for what was not read.
pub type Places = Option<Box<[u32]>>;

/// The elements of a list; dropping a deep one takes no stack.
#[derive(Clone, Debug, Default)]
pub struct Items(Vec<Datum>, Places);

/// The fields of a struct; dropping a deep one takes no stack.
#[derive(Clone, Debug, Default)]
pub struct Fields(Vec<(Arc<str>, Datum)>, Places);

/// Bytes as a text: of those that are no UTF-8 each run becomes one U+FFFD, as with Go's `strings.ToValidUTF8`.
pub fn valid_text(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut text = String::with_capacity(bytes.len());
    let mut within = false;
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        within &= chunk.valid().is_empty();
        if !chunk.invalid().is_empty() && !within {
            text.push(char::REPLACEMENT_CHARACTER);
            within = true;
        }
    }
    Cow::Owned(text)
}

impl Datum {
    /// A string.
    pub fn text(text: impl Into<Text>) -> Datum {
        Datum::String(text.into())
    }

    /// A string of bytes that should be UTF-8.
    pub fn lossy(bytes: &[u8]) -> Datum {
        Datum::String(valid_text(bytes).into())
    }

    /// An int.
    pub fn int(value: i64) -> Datum {
        Datum::Number(Number::int(value))
    }

    /// An int that counts something.
    pub fn count(value: usize) -> Datum {
        Datum::int(i64::try_from(value).unwrap_or(i64::MAX))
    }

    /// A float.
    pub fn float(value: f64) -> Datum {
        Datum::Number(Number::float(value))
    }

    /// Bytes.
    pub fn bytes(bytes: impl Into<Arc<[u8]>>) -> Datum {
        Datum::Bytes(bytes.into())
    }

    /// A list.
    pub fn list(items: Vec<Datum>) -> Datum {
        Datum::placed_list(items, None)
    }

    /// A list whose elements stand in a text.
    #[inline]
    pub fn placed_list(items: Vec<Datum>, places: Places) -> Datum {
        Datum::List(Arc::new(Items(items, places)))
    }

    /// A struct whose fields stand in a text.
    #[inline]
    pub fn placed_fields(fields: Vec<(Arc<str>, Datum)>, places: Places) -> Datum {
        Datum::Struct(Arc::new(Fields(fields, places)))
    }

    /// The value within fields of these names, the outermost first.
    pub fn within(self, names: &[impl AsRef<str>]) -> Datum {
        let inside = |value, name: &_| {
            let name: &str = AsRef::as_ref(name);
            Datum::fields(vec![(name.into(), value)])
        };
        names.iter().rev().fold(self, inside)
    }

    /// A struct.
    pub fn fields(fields: Vec<(Arc<str>, Datum)>) -> Datum {
        Datum::placed_fields(fields, None)
    }

    /// `value` at a path of labels, in place of what is there; whatever on the way is no struct gives
    /// way to one.
    pub fn put(&mut self, path: &[&str], value: Datum) {
        let [label, below @ ..] = path else {
            *self = value;
            return;
        };
        let Datum::Struct(fields) = self else {
            let mut inner = Datum::fields(Vec::new());
            inner.put(below, value);
            *self = Datum::fields(vec![((*label).into(), inner)]);
            return;
        };
        let fields = &mut Arc::make_mut(fields).0;
        match fields.iter_mut().find(|it| *it.0 == **label) {
            Some((_, inner)) => inner.put(below, value),
            None => {
                let mut inner = Datum::Null;
                inner.put(below, value);
                fields.push(((*label).into(), inner));
            }
        }
    }

    /// As JSON has it: bytes are base64 text, what JSON has no form for is null.
    pub fn into_json(self) -> Datum {
        if !self.any(&|it| matches!(it, Datum::Bytes(_) | Datum::Function(_) | Datum::Live(_))) {
            return self;
        }
        let text = json::encode(&self, json::Layout::Compact);
        json::decode(text.as_bytes(), json::Values::One).map_or(Datum::Null, |it| it.into_datum())
    }

    /// Whether a value is in it for which `is` holds.
    fn any(&self, is: &dyn Fn(&Datum) -> bool) -> bool {
        let mut work = vec![self];
        while let Some(datum) = work.pop() {
            if is(datum) {
                return true;
            }
            match datum {
                Datum::List(items) => work.extend(items.iter()),
                Datum::Struct(fields) => work.extend(fields.iter().map(|it| &it.1)),
                _ => {}
            }
        }
        false
    }

    /// The name of the kind, as messages have it.
    pub fn kind_name(&self) -> &'static str {
        match self {
            Datum::Null => "null",
            Datum::Bool(_) => "bool",
            Datum::Number(number) if number.is_int() => "int",
            Datum::Number(_) => "float",
            Datum::String(_) => "string",
            Datum::Bytes(_) => "bytes",
            Datum::List(_) => "list",
            Datum::Struct(_) => "struct",
            Datum::Function(_) => "func",
            Datum::Live(_) => "_",
        }
    }

    /// The text of a scalar in a program.
    pub fn literal(&self) -> String {
        match self {
            Datum::Number(number) => number.cue_text(),
            other => other.cue_text(),
        }
    }

    /// The value as CUE on one line, as messages have it.
    pub fn cue_text(&self) -> String {
        self.printed(",")
    }

    /// The value as CUE, each field of a struct on a line.
    pub fn cue_lines(&self) -> String {
        self.printed("\n")
    }

    /// What stands between fields, where it is an end of line, stands around them, too.
    fn printed(&self, between: &'static str) -> String {
        let lines = between == "\n";
        let mut out = String::new();
        let mut work = vec![Printing::Value(self)];
        while let Some(step) = work.pop() {
            let datum = match step {
                Printing::Text(text) => {
                    out.push_str(text);
                    continue;
                }
                Printing::Label(label) => {
                    out.push_str(&crate::quoting::label(label));
                    out.push(':');
                    continue;
                }
                Printing::Value(datum) => datum,
            };
            match datum {
                Datum::Null => out.push_str("null"),
                Datum::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
                Datum::Number(number) if lines => out.push_str(&number.cue_text()),
                Datum::Number(number) => {
                    let _ = write!(out, "{number}");
                }
                Datum::String(text) => out.push_str(&crate::quoting::cue_string(text)),
                Datum::Bytes(bytes) => out.push_str(&crate::quoting::cue_bytes(bytes)),
                Datum::Function(name) => out.push_str(&name.value_text()),
                Datum::Live(_) => out.push('_'),
                Datum::List(items) => {
                    out.push('[');
                    work.push(Printing::Text("]"));
                    for (at, item) in items.iter().enumerate().rev() {
                        work.push(Printing::Value(item));
                        if at > 0 {
                            work.push(Printing::Text(","));
                        }
                    }
                }
                Datum::Struct(fields) => {
                    let edge = if lines && !fields.is_empty() { between } else { "" };
                    out.push('{');
                    out.push_str(edge);
                    work.extend([Printing::Text("}"), Printing::Text(edge)]);
                    for (at, (label, value)) in fields.iter().enumerate().rev() {
                        work.push(Printing::Value(value));
                        work.push(Printing::Label(label));
                        if at > 0 {
                            work.push(Printing::Text(between));
                        }
                    }
                }
            }
        }
        out
    }
}

enum Printing<'a> {
    Value(&'a Datum),
    Label(&'a str),
    Text(&'static str),
}

impl PartialEq for Datum {
    /// Equality of values: kinds must agree, the order of fields does not matter.
    fn eq(&self, other: &Datum) -> bool {
        let mut work = vec![(self, other)];
        while let Some(pair) = work.pop() {
            let same = match pair {
                (Datum::Null, Datum::Null) => true,
                (Datum::Bool(a), Datum::Bool(b)) => a == b,
                (Datum::Number(a), Datum::Number(b)) => a == b,
                (Datum::String(a), Datum::String(b)) => a == b,
                (Datum::Bytes(a), Datum::Bytes(b)) => a == b,
                (Datum::Function(a), Datum::Function(b)) => a == b,
                (Datum::Live(a), Datum::Live(b)) => a == b,
                (Datum::List(a), Datum::List(b)) => {
                    work.extend(a.iter().zip(b.iter()));
                    a.len() == b.len()
                }
                (Datum::Struct(a), Datum::Struct(b)) => {
                    a.len() == b.len()
                        && a.iter().enumerate().all(|(at, (label, value))| {
                            let found = match b.get(at) {
                                Some((same, value)) if same == label => Some(value),
                                _ => b.iter().find(|it| it.0 == *label).map(|it| &it.1),
                            };
                            found.is_some_and(|found| {
                                work.push((value, found));
                                true
                            })
                        })
                }
                _ => false,
            };
            if !same {
                return false;
            }
        }
        true
    }
}

impl Items {
    /// Where an element stands, if it was read from a text.
    #[inline]
    pub fn place(&self, index: usize) -> Option<u32> {
        self.1.as_ref().map(|all| all.get(index).copied().unwrap_or(0))
    }
}

impl Fields {
    /// Where the label and the value of a field stand, if it was read from a text.
    #[inline]
    pub fn place(&self, index: usize) -> Option<(u32, u32)> {
        let all = self.1.as_ref()?;
        let at = |index: usize| all.get(index).copied().unwrap_or(0);
        Some((at(2 * index), at(2 * index + 1)))
    }
}

impl Deref for Items {
    type Target = Vec<Datum>;

    fn deref(&self) -> &Vec<Datum> {
        &self.0
    }
}

impl Deref for Fields {
    type Target = Vec<(Arc<str>, Datum)>;

    fn deref(&self) -> &Vec<(Arc<str>, Datum)> {
        &self.0
    }
}

impl Drop for Items {
    #[inline]
    fn drop(&mut self) {
        if self.0.iter().any(has_children) {
            drop_flat(std::mem::take(&mut self.0));
        }
    }
}

impl Drop for Fields {
    #[inline]
    fn drop(&mut self) {
        if self.0.iter().any(|(_, value)| has_children(value)) {
            drop_flat(std::mem::take(&mut self.0).into_iter().map(|(_, value)| value).collect());
        }
    }
}

#[inline]
fn has_children(datum: &Datum) -> bool {
    match datum {
        Datum::List(_) | Datum::Struct(_) => true,
        Datum::Null
        | Datum::Bool(_)
        | Datum::Number(_)
        | Datum::String(_)
        | Datum::Bytes(_)
        | Datum::Function(_)
        | Datum::Live(_) => false,
    }
}

/// Takes values apart with an explicit stack.
#[inline]
fn drop_flat(mut work: Vec<Datum>) {
    while let Some(datum) = work.pop() {
        match datum {
            Datum::List(items) => {
                if let Some(mut items) = Arc::into_inner(items) {
                    work.append(&mut items.0);
                }
            }
            Datum::Struct(fields) => {
                if let Some(mut fields) = Arc::into_inner(fields) {
                    work.extend(fields.0.drain(..).map(|(_, value)| value));
                }
            }
            Datum::Null
            | Datum::Bool(_)
            | Datum::Number(_)
            | Datum::String(_)
            | Datum::Bytes(_)
            | Datum::Function(_)
            | Datum::Live(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from_json(text: &str) -> Datum {
        json::decode(text.as_bytes(), json::Values::One).unwrap().into_datum()
    }

    #[test]
    fn what_is_put_somewhere_takes_the_place_of_what_is_there() {
        for (before, path, after) in [
            (r#"{"a":1}"#, &[][..], "[7]"),
            (r#"{"a":1}"#, &["a"], r#"{"a":[7]}"#),
            (r#"{"a":1}"#, &["b"], r#"{"a":1,"b":[7]}"#),
            (r#"{"a":{"b":{"c":1},"d":2}}"#, &["a", "b", "c"], r#"{"a":{"b":{"c":[7]},"d":2}}"#),
            (r#"{"a":1}"#, &["a", "b", "c"], r#"{"a":{"b":{"c":[7]}}}"#),
            ("null", &["a", "b"], r#"{"a":{"b":[7]}}"#),
        ] {
            let shared = from_json(before);
            let mut datum = shared.clone();
            datum.put(path, from_json("[7]"));
            assert_eq!(json::encode(&datum, json::Layout::Compact), after, "{before} {path:?}");
            assert!(shared == from_json(before), "others keep what they had");
        }
    }

    #[test]
    fn json_has_text_for_bytes() {
        let inner = Datum::list(vec![Datum::bytes(*b"ab"), Datum::int(1)]);
        let datum = Datum::fields(vec![("a".into(), inner)]);
        assert!(datum.into_json() == from_json(r#"{"a":["YWI=",1]}"#));
    }
}
