//! Data as CUE text whose lines break where those of the file do.

use std::fmt::Write as _;

use cue_eval::builtin::Datum;
use cue_eval::encode::{Entry, Tree};
use cue_syntax::unquote::quote;

use crate::filetype::is_name;
use crate::located::Lines;
use crate::remarks::Remarks;

/// What decides where lines break.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Breaks {
    /// Where they break in the file: JSON.
    Kept,
    /// All of a list or struct that goes over several lines: YAML.
    Whole,
}

/// A list or struct that is being written.
struct Open {
    list: bool,
    /// Its only field stands behind the label, without braces.
    bare: bool,
    /// It is not in brackets, nor what an element of another list begins with.
    block: bool,
    /// Something was written in it.
    begun: bool,
    /// Each of its parts stands on a line of its own.
    broken: bool,
    /// Its last part is a struct.
    ends_in_struct: bool,
}

/// A value; the formatter sees to the indentation. The fields of an outermost struct have no braces.
pub(crate) fn written(tree: &Tree, file: &[u8], breaks: Breaks, remarks: &Remarks) -> String {
    let lines = &Lines::new(file);
    let shapes = shapes(tree, lines, file);
    let mut out = String::new();
    let mut open: Vec<Open> = Vec::new();
    let mut labelled = false;
    let mut line = tree.entries.first().map_or(1, |it| lines.at(it.1).0);
    // What stands behind the last value, and comes behind its comma.
    let mut behind: Option<String> = None;
    for (number, (entry, offset)) in tree.entries.iter().enumerate() {
        let here = lines.at(*offset).0;
        let top = open.is_empty();
        if let Entry::End = entry {
            let Some(it) = open.pop() else { continue };
            if it.bare {
                continue;
            }
            let outermost = open.is_empty() && !it.list;
            let own = remarks.behind.get(&number).filter(|_| it.list).map(|it| format!(" {it}"));
            if let Some(text) = behind.take().or(own) {
                out.push_str(if it.list { "," } else { "" });
                out.push_str(&text);
                out.push('\n');
            } else {
                let newline = match breaks {
                    Breaks::Kept if it.broken => it.begun && !it.list,
                    Breaks::Kept => it.begun && here > line,
                    Breaks::Whole => it.broken && !(it.list && it.ends_in_struct),
                };
                out.push_str(match (newline, it.list) {
                    // There is no comma in the file.
                    (true, true) if breaks != Breaks::Whole => "\n",
                    (true, true) => ",\n",
                    (true, false) => "\n",
                    (false, _) => "",
                });
            }
            if !outermost {
                out.push(if it.list { ']' } else { '}' });
            }
            if let Some(above) = open.last_mut() {
                above.ends_in_struct = !it.list;
            }
            line = here.max(line);
            continue;
        }
        if !labelled {
            let outermost = open.len() == 1;
            if let Some(it) = open.last_mut() {
                let newline = match breaks {
                    // An element that is a list or struct itself decides where it begins.
                    Breaks::Kept => match shapes.get(number).filter(|_| is_nested(entry)) {
                        Some(shape) if it.list => !shape.is_free() && here > line,
                        _ if it.broken => !it.list,
                        _ => here > line,
                    },
                    Breaks::Whole => {
                        it.broken && (!it.list || matches!(entry, Entry::Scalar(_) | Entry::Key(_)))
                    }
                };
                let remark = behind.take();
                if it.begun {
                    out.push_str(if newline && !it.list { "" } else { "," });
                    out.push_str(remark.as_deref().unwrap_or_default());
                    out.push(if newline || remark.is_some() { '\n' } else { ' ' });
                } else if newline && (it.list || !outermost) {
                    out.push('\n');
                }
                it.begun = true;
                it.ends_in_struct = false;
            }
        }
        line = here.max(line);
        labelled = false;
        if let Some((texts, gap)) = remarks.above.get(&number) {
            if !out.is_empty() && !out.ends_with('\n') {
                out.push('\n');
            }
            if *gap > 0 && !out.is_empty() {
                out.push('\n');
            }
            for text in texts {
                out.push_str(text);
                out.push('\n');
            }
        }
        match entry {
            Entry::Scalar(datum) => match datum {
                // Short ones of JSON stay as they are (O-93).
                Datum::String(_)
                    if breaks == Breaks::Kept && string_at(file, *offset).len() <= 10 =>
                {
                    out.push_str(string_at(file, *offset));
                }
                Datum::String(text) if text.contains('\n') => multiline(text, &mut out),
                other => out.push_str(&other.literal()),
            },
            Entry::Key(label) => {
                let _ = write!(out, "{}: ", spelled(label));
                if let Some(text) = remarks.behind.get(&number) {
                    out.push_str(text);
                    out.push('\n');
                }
                labelled = true;
            }
            Entry::List | Entry::Struct => {
                let list = matches!(entry, Entry::List);
                // What is said of the only value is no reason for braces.
                let bare = breaks == Breaks::Whole && remarks.is_alone(tree, number);
                if list || !top && !bare {
                    out.push(if list { '[' } else { '{' });
                }
                // A struct may stand on one line in braces, or as what an element of a list begins with.
                let flow = matches!(file.get(*offset as usize), Some(b'{' | b'['));
                let within = open.last().filter(|it| it.list);
                let block = match (list, within) {
                    (true, None) => !flow,
                    (true, Some(_)) => false,
                    (false, None) => !flow,
                    (false, Some(it)) => it.block,
                };
                let broken = shapes.get(number).is_some_and(|it| match breaks {
                    Breaks::Kept => it.is_free(),
                    Breaks::Whole => !bare && (block && !list || it.last > here),
                });
                open.push(Open { list, bare, block, begun: false, broken, ends_in_struct: false });
            }
            Entry::End => {}
        }
        if let Entry::Scalar(_) = entry {
            behind = remarks.behind_value(tree, number);
        }
    }
    out.push_str(&behind.unwrap_or_default());
    for text in &remarks.below {
        out.push('\n');
        out.push_str(text);
    }
    out
}

/// A string of JSON as it is written.
fn string_at(file: &[u8], offset: u32) -> &str {
    let text = file.get(offset as usize..).unwrap_or_default();
    let mut escaped = false;
    let end = text.iter().skip(1).position(|it| {
        let ends = *it == b'"' && !escaped;
        escaped = *it == b'\\' && !escaped;
        ends
    });
    let text = end.and_then(|it| text.get(..it + 2)).unwrap_or_default();
    std::str::from_utf8(text).unwrap_or_default()
}

/// A label, without quotes where it needs none: the formatter breaks lines where it takes them away.
fn spelled(label: &str) -> String {
    let plain = is_name(label) && !label.starts_with(['_', '#']);
    if plain { label.to_owned() } else { quote(label) }
}

/// What is known of a list or struct from its text.
#[derive(Clone, Copy, Default)]
struct Shape {
    /// Line of its last part.
    last: u32,
    /// Beyond this length the formatter decides (O-93).
    large: bool,
    /// White space stands before one of its parts.
    spaced: bool,
}

impl Shape {
    /// Whether its lines break where the formatter has it, not as in the file.
    fn is_free(self) -> bool {
        self.large || !self.spaced
    }
}

fn is_nested(entry: &Entry) -> bool {
    matches!(entry, Entry::List | Entry::Struct)
}

/// The shape of each list and struct, by the place of its entry.
fn shapes(tree: &Tree, lines: &Lines, file: &[u8]) -> Vec<Shape> {
    let mut found = vec![Shape::default(); tree.entries.len()];
    let mut open: Vec<usize> = Vec::new();
    for (number, (entry, offset)) in tree.entries.iter().enumerate() {
        if let Entry::End = entry {
            let Some(at) = open.pop() else { continue };
            let start = tree.entries.get(at).map_or(0, |it| it.1);
            if let Some(it) = found.get_mut(at) {
                it.large = offset.saturating_sub(start) >= 50;
            }
            continue;
        }
        let before = (*offset as usize).checked_sub(1).and_then(|it| file.get(it));
        if let Some(it) = open.last().and_then(|it| found.get_mut(*it)) {
            it.last = lines.at(*offset).0;
            it.spaced |= before.is_some_and(u8::is_ascii_whitespace);
        }
        if matches!(entry, Entry::List | Entry::Struct) {
            open.push(number);
        }
    }
    found
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

/// What is still to print.
enum Step<'a> {
    Value(&'a Datum),
    Label(&'a str),
    Text(&'static str),
}

/// A value that is known without lines, everything on lines of its own.
pub(crate) fn plain(value: &Datum) -> String {
    let mut out = String::new();
    let mut work = Vec::new();
    match value {
        Datum::Struct(fields) => {
            for (label, value) in fields.iter().rev() {
                work.extend([Step::Text("\n"), Step::Value(value), Step::Label(label)]);
            }
        }
        other => work.push(Step::Value(other)),
    }
    while let Some(step) = work.pop() {
        let value = match step {
            Step::Text(text) => {
                out.push_str(text);
                continue;
            }
            Step::Label(label) => {
                let _ = write!(out, "{}: ", spelled(label));
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
            Datum::String(text) if text.contains('\n') => multiline(text, &mut out),
            Datum::Bytes(_) => {
                let quoted = value.literal();
                let inner = quoted.trim_start_matches('\'');
                let inner = inner.strip_suffix('\'').unwrap_or(inner);
                let lines = inner.replace("\\n", "\n").replace("\\'", "'");
                let lines = lines.replace("'''", "\\'''");
                let _ = write!(out, "'''\n{lines}\n'''");
            }
            other => out.push_str(&other.literal()),
        }
    }
    out
}
