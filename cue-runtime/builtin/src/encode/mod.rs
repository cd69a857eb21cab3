//! Values as text and text as values: JSON and YAML.
//!
//! ~~~text
//! evaluator -events-> Sink: json::Writer, yaml::Writer -> text
//! text -json::decode, yaml::decode-> Tree: a flat list of entries with byte offsets -> Datum
//! ~~~
//! Invariants
//! 1. No recursion on the depth of a value. (tests: 100,000 levels)
//! 2. Reading what was written gives the value back. (tests)

pub mod json;
pub mod yaml;
pub mod toml;

use std::fmt;
use std::sync::Arc;

use crate::Datum;
use crate::number::Number;

/// Takes a value in pieces, in order, and writes it down.
pub trait Sink {
    /// `null`
    fn null(&mut self);
    /// `true` or `false`
    #[allow(clippy::fn_params_excessive_bools, reason = "the bool is the datum")]
    fn bool(&mut self, value: bool);
    /// A number.
    fn number(&mut self, value: &Number);
    /// A string.
    fn string(&mut self, value: &str);
    /// Bytes.
    fn bytes(&mut self, value: &[u8]);
    /// Elements follow.
    fn begin_list(&mut self);
    /// No more elements.
    fn end_list(&mut self);
    /// Pairs of `key` and a value follow.
    fn begin_struct(&mut self);
    /// The label of the next value.
    fn key(&mut self, label: &str);
    /// No more fields.
    fn end_struct(&mut self);
    /// Bytes written so far, for budgets.
    fn written(&self) -> usize;
}

/// What of an open list or struct is still to be written.
enum Rest<'a> {
    List(std::slice::Iter<'a, Datum>),
    Struct(std::slice::Iter<'a, (Arc<str>, Datum)>),
}

/// Writes plain data. Handles of the evaluator are written as null.
#[inline]
pub fn write(datum: &Datum, sink: &mut dyn Sink) {
    let mut open = Vec::new();
    let mut next = Some(datum);
    loop {
        let Some(datum) = next.take() else {
            match open.last_mut() {
                None => return,
                Some(Rest::List(items)) => next = items.next(),
                Some(Rest::Struct(fields)) => {
                    if let Some((label, value)) = fields.next() {
                        sink.key(label);
                        next = Some(value);
                    }
                }
            }
            if next.is_none() {
                match open.pop() {
                    Some(Rest::List(_)) => sink.end_list(),
                    _ => sink.end_struct(),
                }
            }
            continue;
        };
        match datum {
            Datum::Null | Datum::Function(_) | Datum::Live(_) => sink.null(),
            Datum::Bool(value) => sink.bool(*value),
            Datum::Number(value) => sink.number(value),
            Datum::String(value) => sink.string(value),
            Datum::Bytes(value) => sink.bytes(value),
            Datum::List(items) => {
                sink.begin_list();
                open.push(Rest::List(items.iter()));
            }
            Datum::Struct(fields) => {
                sink.begin_struct();
                open.push(Rest::Struct(fields.iter()));
            }
        }
    }
}

/// A piece of a decoded value.
#[derive(Clone, Debug)]
pub enum Entry {
    /// A scalar.
    Scalar(Datum),
    /// A list begins; its elements follow up to its `End`.
    List,
    /// A struct begins; pairs of key and value follow up to its `End`.
    Struct,
    /// A label. The same one may come again within a struct.
    Key(Arc<str>),
    /// The innermost list or struct ends.
    End,
}

/// A decoded value, or several in a row: its pieces in order, each with its byte offset.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    /// Pieces and where they stand in the text.
    pub entries: Vec<(Entry, u32)>,
}

impl Tree {
    /// The first value, without positions. `null` for none.
    #[inline]
    pub fn into_datum(self) -> Datum {
        self.build(0).into_iter().next().map_or(Datum::Null, |it| it.0)
    }

    /// All values in the row, with the places of their parts and their own, where the text begins at
    /// `base`; without places if that is 0.
    #[inline]
    pub fn build(self, base: u32) -> Vec<(Datum, u32)> {
        enum Inside {
            List(Vec<Datum>),
            Struct(Vec<(Arc<str>, Datum)>),
        }
        struct Open {
            inside: Inside,
            places: Vec<u32>,
            place: u32,
        }
        let mut done = Vec::new();
        let mut open: Vec<Open> = Vec::new();
        let mut labels: Vec<(Arc<str>, u32)> = Vec::new();
        for (entry, offset) in self.entries {
            let place = if base == 0 { 0 } else { base.saturating_add(offset) };
            let begin = |inside| Open { inside, places: Vec::new(), place };
            let (value, place) = match entry {
                Entry::Scalar(datum) => (datum, place),
                Entry::List => {
                    open.push(begin(Inside::List(Vec::new())));
                    continue;
                }
                Entry::Struct => {
                    open.push(begin(Inside::Struct(Vec::new())));
                    continue;
                }
                Entry::Key(label) => {
                    labels.push((label, place));
                    continue;
                }
                Entry::End => {
                    let Some(Open { inside, places, place }) = open.pop() else { continue };
                    let places = (base != 0).then(|| places.into_boxed_slice());
                    let value = match inside {
                        Inside::List(mut items) => {
                            give_back(&mut items);
                            Datum::placed_list(items, places)
                        }
                        Inside::Struct(mut fields) => {
                            give_back(&mut fields);
                            Datum::placed_fields(fields, places)
                        }
                    };
                    (value, place)
                }
            };
            let Some(around) = open.last_mut() else {
                done.push((value, place));
                continue;
            };
            let before = match &mut around.inside {
                Inside::List(items) => {
                    items.push(value);
                    None
                }
                Inside::Struct(fields) => {
                    let Some((label, place)) = labels.pop() else { continue };
                    fields.push((label, value));
                    Some(place)
                }
            };
            if base != 0 {
                around.places.extend(before);
                around.places.push(place);
            }
        }
        done
    }
}

/// Room that a long list grew by and does not need: it is kept as long as its values.
fn give_back<T>(list: &mut Vec<T>) {
    const LONG: usize = 16;
    if list.len() > LONG {
        list.shrink_to_fit();
    }
}

/// Text that could not be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DecodeError {
    /// What is wrong, in the words of the original.
    pub message: String,
    /// Byte offset of the problem.
    pub offset: usize,
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for DecodeError {}

/// Line and column in bytes, both from 1, of a byte offset.
pub fn line_column(text: &[u8], offset: usize) -> (u32, u32) {
    let before = &text[..offset.min(text.len())];
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    (line as u32, (before.len() - start + 1) as u32)
}
