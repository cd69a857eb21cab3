//! import: data as CUE text.

use std::fmt::Write as _;

use cue_eval::builtin::Datum;
use cue_session::Runtime;
use cue_syntax::Style;
use cue_syntax::unquote::quote;

use crate::data::{self, Encoding};
use crate::evaluate::place;
use crate::{Error, format};

/// How data becomes CUE.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Package clause.
    pub package: Option<String>,
    /// `-l`: labels around each value.
    pub labels: Vec<String>,
    /// `--list`: several values as one list.
    pub list: bool,
}

/// One file of data as a CUE file.
///
/// # Errors
/// Data that cannot be read; several values without a place for each.
pub fn import(
    runtime: &dyn Runtime,
    file: &str,
    bytes: &[u8],
    options: &Options,
) -> Result<String, Error> {
    let encoding = match Encoding::of_file(file) {
        Some(Encoding::Cue) | None => {
            return Err(Error::Request(format!("unsupported file type {file}")));
        }
        Some(encoding) => encoding,
    };
    let values = data::read(encoding, file, bytes)?;
    let mut out = String::new();
    if let Some(package) = &options.package {
        let _ = writeln!(out, "package {package}\n");
    }
    if options.list {
        let list = Datum::list(values);
        around(runtime, &options.labels, &list, &mut out)?;
    } else {
        if values.len() > 1 && options.labels.is_empty() {
            let message = "list, flag, or files mode needed for a file of several objects";
            return Err(Error::Request(format!("{file}: {message}")));
        }
        for value in &values {
            around(runtime, &options.labels, value, &mut out)?;
        }
    }
    format::text(file, &out, Style::Simplified)
}

/// A value below its labels: as fields of the file, or as a value of it.
fn around(
    runtime: &dyn Runtime,
    labels: &[String],
    value: &Datum,
    out: &mut String,
) -> Result<(), Error> {
    let path = place(runtime, labels, value)?;
    match value {
        Datum::Struct(fields) if path.is_empty() => {
            for (label, value) in fields.iter() {
                let _ = write!(out, "{}: ", quote(label));
                print(value, out);
                out.push('\n');
            }
        }
        _ => {
            for label in cue_eval::evaluation::split_path(&path).map_err(Error::Request)? {
                let _ = write!(out, "{}: ", quote(&label.1));
            }
            print(value, out);
            out.push('\n');
        }
    }
    Ok(())
}

/// What is still to print.
enum Step<'a> {
    Value(&'a Datum),
    Label(&'a str),
    Text(&'static str),
}

/// A value, everything on lines of its own; the formatter indents.
fn print(value: &Datum, out: &mut String) {
    let mut work = vec![Step::Value(value)];
    while let Some(step) = work.pop() {
        let value = match step {
            Step::Text(text) => {
                out.push_str(text);
                continue;
            }
            Step::Label(label) => {
                let _ = write!(out, "{}: ", quote(label));
                continue;
            }
            Step::Value(value) => value,
        };
        match value {
            Datum::Struct(fields) if !fields.is_empty() => {
                out.push_str("{\n");
                work.push(Step::Text("}"));
                for (label, value) in fields.iter().rev() {
                    work.extend([Step::Text("\n"), Step::Value(value), Step::Label(label)]);
                }
            }
            Datum::List(items) if !items.is_empty() => {
                out.push('[');
                work.push(Step::Text("]"));
                let nested = items.iter().any(|it| matches!(it, Datum::Struct(_) | Datum::List(_)));
                for (at, value) in items.iter().enumerate().rev() {
                    let last = at + 1 == items.len();
                    work.push(Step::Text(match (nested, last) {
                        (true, _) => ",\n",
                        (false, true) => "",
                        (false, false) => ", ",
                    }));
                    work.push(Step::Value(value));
                }
                if nested {
                    out.push('\n');
                }
            }
            Datum::String(text) if text.contains('\n') => multiline(text, out),
            other => out.push_str(&other.literal()),
        }
    }
}

/// `"""`, lines without indentation: the formatter sees to that.
fn multiline(text: &str, out: &mut String) {
    out.push_str("\"\"\"\n");
    for line in text.split('\n') {
        let quoted = quote(line);
        let inner = quoted.trim_start_matches('"');
        let inner = inner.strip_suffix('"').unwrap_or(inner);
        out.push_str(&inner.replace("\\\"", "\"").replace("\"\"\"", "\\\"\"\""));
        out.push('\n');
    }
    out.push_str("\"\"\"");
}
