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
    /// A number; `literal` is its spelling in the source where YAML output keeps it (elements of
    /// list literals).
    fn number(&mut self, value: &Number, literal: Option<&str>);
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

enum Step<'a> {
    Value(&'a Datum),
    Key(&'a str),
    EndList,
    EndStruct,
}

/// Writes plain data. Handles of the evaluator are written as null.
#[inline]
pub fn write(datum: &Datum, sink: &mut dyn Sink) {
    let mut work = vec![Step::Value(datum)];
    while let Some(step) = work.pop() {
        let datum = match step {
            Step::Key(label) => {
                sink.key(label);
                continue;
            }
            Step::EndList => {
                sink.end_list();
                continue;
            }
            Step::EndStruct => {
                sink.end_struct();
                continue;
            }
            Step::Value(datum) => datum,
        };
        match datum {
            Datum::Null | Datum::Function(_) | Datum::Live(_) => sink.null(),
            Datum::Bool(value) => sink.bool(*value),
            Datum::Number(value) => sink.number(value, None),
            Datum::String(value) => sink.string(value),
            Datum::Bytes(value) => sink.bytes(value),
            Datum::List(items) => {
                sink.begin_list();
                work.push(Step::EndList);
                work.extend(items.iter().rev().map(Step::Value));
            }
            Datum::Struct(fields) => {
                sink.begin_struct();
                work.push(Step::EndStruct);
                for (label, value) in fields.iter().rev() {
                    work.push(Step::Value(value));
                    work.push(Step::Key(label));
                }
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
        self.into_data().into_iter().next().unwrap_or(Datum::Null)
    }

    /// All values in the row, without positions.
    #[inline]
    pub fn into_data(self) -> Vec<Datum> {
        enum Open {
            List(Vec<Datum>),
            Struct(Vec<(Arc<str>, Datum)>),
        }
        let mut done = Vec::new();
        let mut open: Vec<Open> = Vec::new();
        let mut labels: Vec<Arc<str>> = Vec::new();
        for (entry, _) in self.entries {
            let value = match entry {
                Entry::Scalar(datum) => datum,
                Entry::List => {
                    open.push(Open::List(Vec::new()));
                    continue;
                }
                Entry::Struct => {
                    open.push(Open::Struct(Vec::new()));
                    continue;
                }
                Entry::Key(label) => {
                    labels.push(label);
                    continue;
                }
                Entry::End => match open.pop() {
                    Some(Open::List(items)) => Datum::list(items),
                    Some(Open::Struct(fields)) => Datum::fields(fields),
                    None => continue,
                },
            };
            match open.last_mut() {
                Some(Open::List(items)) => items.push(value),
                Some(Open::Struct(fields)) => {
                    if let Some(label) = labels.pop() {
                        fields.push((label, value));
                    }
                }
                None => done.push(value),
            }
        }
        done
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
