//! Data as CUE text whose lines break where those of the file do.

use std::fmt::Write as _;

use cue_eval::builtin::Datum;
use cue_eval::encode::{Entry, Tree};
use cue_syntax::unquote::quote;

use crate::filetype::is_name;
use crate::located::{Lines, Located};
use crate::remarks::{Remarks, is_flow};
use crate::spelled::{Spelling, stays, string_at};

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
    /// It is in brackets or braces.
    flow: bool,
    /// Something was written in it.
    begun: bool,
    /// How many fields it has, up to here.
    fields: u32,
    /// The entry before it.
    label: usize,
    /// Its first part begins a line, whatever the others do.
    begins: bool,
    /// Each of its parts stands on a line of its own.
    broken: bool,
    /// Its last part is a struct.
    ends_in_struct: bool,
}

/// A value; the formatter sees to the indentation. The fields of an outermost struct have no braces.
pub(crate) fn written(
    tree: &Tree,
    spelling: &Spelling<'_>,
    breaks: Breaks,
    remarks: &Remarks,
) -> Located {
    let Spelling { file, lines, .. } = spelling;
    let mut writer = Writer {
        tree,
        spelling,
        breaks,
        remarks,
        shapes: shapes(tree, lines, file),
        out: Located::default(),
        open: Vec::new(),
        labelled: false,
        line: tree.entries.first().map_or(1, |it| lines.at(it.1).0),
        behind: None,
    };
    for number in 0..tree.entries.len() {
        writer.entry(number);
    }
    let mut out = writer.out;
    out.add(&writer.behind.unwrap_or_default());
    for text in &remarks.below {
        out.add("\n");
        out.add(text);
    }
    out.below.clone_from(&remarks.below);
    out
}

/// What has been written of a file, entry by entry.
struct Writer<'a> {
    tree: &'a Tree,
    spelling: &'a Spelling<'a>,
    breaks: Breaks,
    remarks: &'a Remarks,
    /// The shape of each list and struct.
    shapes: Vec<Shape>,
    out: Located,
    open: Vec<Open>,
    /// A label was written, its value was not.
    labelled: bool,
    /// The last line of the file that something was written of.
    line: u32,
    /// What stands behind the last value, and comes behind its comma.
    behind: Option<String>,
}

impl Writer<'_> {
    fn entry(&mut self, number: usize) {
        let Some((entry, offset)) = self.tree.entries.get(number) else { return };
        let place = self.spelling.lines.at(*offset);
        if let Entry::End = entry {
            self.end(number, place.0);
            return;
        }
        if !self.labelled {
            self.begin(number, entry, place.0);
        }
        self.line = place.0.max(self.line);
        self.labelled = false;
        self.remarks_above(number);
        match entry {
            Entry::Scalar(datum) => {
                self.out.mark(place);
                self.scalar(datum, *offset);
                self.behind = self.remarks.behind_value(self.tree, number);
            }
            Entry::Key(label) => {
                self.out.mark(place);
                self.out.add(&spelled(label));
                self.out.add(": ");
                if let Some(text) = self.remarks.behind.get(&number) {
                    self.out.add(text);
                    self.out.add("\n");
                }
                self.labelled = true;
            }
            Entry::List | Entry::Struct => self.open(number, entry, *offset, place),
            Entry::End => {}
        }
    }

    /// The end of a list or struct, on that line of the file.
    fn end(&mut self, number: usize, here: u32) {
        let Some(it) = self.open.pop() else { return };
        if it.bare {
            return;
        }
        let outermost = self.open.is_empty() && !it.list;
        // What stands behind an element comes behind its comma, else into the brackets.
        let element = self.open.last().is_some_and(|it| it.list);
        let said = self.remarks.behind.get(&number);
        // Braces around one field of which nothing else is said go, and this with them.
        let goes =
            !it.list && !outermost && it.fields == 1 && !self.remarks.above.contains_key(&it.label);
        let own = said.filter(|_| !element && !goes);
        let own = own.map(|text| format!("{}{text}", if it.begun { " " } else { "" }));
        if let Some(text) = self.behind.take().or(own) {
            self.out.add(if it.list && it.begun { "," } else { "" });
            self.out.add(&text);
            self.out.add("\n");
        } else {
            let newline = match self.breaks {
                Breaks::Kept if it.broken => it.begun && !it.list,
                Breaks::Kept => it.begun && here > self.line,
                Breaks::Whole => it.broken && !(it.list && (it.ends_in_struct || it.flow)),
            };
            self.out.add(match (newline, it.list) {
                // There is no comma in the file.
                (true, true) if self.breaks != Breaks::Whole => "\n",
                (true, true) => ",\n",
                (true, false) => "\n",
                (false, _) => "",
            });
        }
        if !outermost {
            self.out.add(if it.list { "]" } else { "}" });
        }
        if let Some(above) = self.open.last_mut() {
            above.ends_in_struct = !it.list;
        }
        self.behind = said.filter(|_| element).map(|text| format!(" {text}"));
        self.line = here.max(self.line);
    }

    /// What separates a field or an element, which is on that line of the file, from what stands before it.
    fn begin(&mut self, number: usize, entry: &Entry, here: u32) {
        let outermost = self.open.len() == 1;
        let Some(it) = self.open.last_mut() else { return };
        let newline = match self.breaks {
            // An element that is a list or struct itself decides where it begins.
            Breaks::Kept => match self.shapes.get(number).filter(|_| is_nested(entry)) {
                Some(shape) if it.list => !shape.is_free() && here > self.line,
                _ if it.broken => !it.list,
                _ => here > self.line,
            },
            Breaks::Whole => {
                let begins = it.broken || it.begins && !it.begun;
                // A null stays where it is.
                let own = match entry {
                    Entry::Scalar(datum) => !it.list || *datum != Datum::Null,
                    Entry::Key(_) => true,
                    Entry::List | Entry::Struct | Entry::End => !it.list,
                };
                begins && own
            }
        };
        let remark = self.behind.take();
        if it.begun {
            self.out.add(if newline && !it.list { "" } else { "," });
            self.out.add(remark.as_deref().unwrap_or_default());
            self.out.add(if newline || remark.is_some() { "\n" } else { " " });
        } else if newline && (it.list || !outermost) {
            self.out.add("\n");
        }
        it.begun = true;
        it.fields += 1;
        it.ends_in_struct = false;
    }

    fn remarks_above(&mut self, number: usize) {
        let Some((texts, gap)) = self.remarks.above.get(&number) else { return };
        let text = &self.out.text;
        let (empty, inside) = (text.is_empty(), !text.is_empty() && !text.ends_with('\n'));
        if inside {
            self.out.add("\n");
        }
        if *gap > 0 && !empty {
            self.out.add("\n");
        }
        for text in texts {
            self.out.add(text);
            self.out.add("\n");
        }
    }

    fn scalar(&mut self, datum: &Datum, offset: u32) {
        let file = self.spelling.file;
        match datum {
            Datum::String(_) if self.breaks == Breaks::Kept && stays(string_at(file, offset)) => {
                self.out.add(string_at(file, offset));
            }
            Datum::String(text) if text.contains('\n') => {
                // The evaluator would lose the empty line of an element.
                let element = self.open.last().is_some_and(|it| it.list);
                multiline(text, if element { "\t" } else { "" }, &mut self.out.text);
            }
            Datum::String(_) => self.out.add(&datum.literal()),
            other => self.out.add(&self.spelling.scalar(other, offset)),
        }
    }

    /// The beginning of a list or struct, which is at that line and column of the file.
    fn open(&mut self, number: usize, entry: &Entry, offset: u32, place: (u32, u32)) {
        let list = matches!(entry, Entry::List);
        // What is said of the only value is no reason for braces.
        let bare = self.breaks == Breaks::Whole && self.remarks.is_alone(self.tree, number);
        if list || !self.open.is_empty() && !bare {
            self.out.mark(place);
            self.out.add(if list { "[" } else { "{" });
        }
        let flow = is_flow(self.spelling.file, offset);
        let several = self.shapes.get(number).is_some_and(|it| it.last > place.0);
        // The elements of a list over several lines begin lines, those that are structs within.
        let begins = match self.open.last() {
            Some(it) if it.list => it.broken,
            _ => !flow,
        };
        let begins = begins && !list && !bare && self.breaks == Breaks::Whole;
        let broken = self.shapes.get(number).is_some_and(|it| match self.breaks {
            Breaks::Kept => it.is_free(),
            Breaks::Whole => !bare && several,
        });
        self.open.push(Open {
            list,
            bare,
            flow,
            begun: false,
            fields: 0,
            label: number.wrapping_sub(1),
            begins,
            broken,
            ends_in_struct: false,
        });
    }
}

/// A label, without quotes where it needs none: the formatter breaks lines where it takes them away.
pub(crate) fn spelled(label: &str) -> String {
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

/// `"""`, lines indented by a tab but for empty ones; the last one is `last`, if it is empty.
pub(crate) fn multiline(text: &str, last: &str, out: &mut String) {
    out.push_str("\"\"\"\n");
    let lines = text.split('\n').count();
    for (number, line) in text.split('\n').enumerate() {
        let quoted = quote(line);
        let inner = quoted.trim_start_matches('"');
        let inner = inner.strip_suffix('"').unwrap_or(inner);
        let inner = inner.replace("\\\"", "\"").replace("\"\"\"", "\\\"\"\"");
        out.push_str(match inner.is_empty() {
            true if number + 1 == lines => last,
            true => "",
            false => "\t",
        });
        out.push_str(&inner);
        out.push('\n');
    }
    out.push_str("\t\"\"\"");
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
            Datum::String(text) if text.contains('\n') => multiline(text, "", &mut out),
            Datum::Bytes(bytes) => {
                out.push_str("'''\n");
                for line in bytes.split(|it| *it == b'\n') {
                    let quoted = Datum::bytes(line).literal();
                    let inner = quoted.strip_prefix('\'').and_then(|it| it.strip_suffix('\''));
                    let inner = inner.unwrap_or_default().replace("\\'", "'");
                    out.push_str(if inner.is_empty() { "" } else { "\t" });
                    out.push_str(&inner.replace("'''", "\\'''"));
                    out.push('\n');
                }
                out.push_str("\t'''");
            }
            other => out.push_str(&other.literal()),
        }
    }
    out
}
