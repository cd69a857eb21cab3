//! TOML as CUE: each header is a declaration with its table in braces, each key one on a line.
//!
//! ~~~text
//! text -lines-> [t.u], k = v -decode each-> declarations in their tables -text-> t: u: {k: v}
//! ~~~

use cue_eval::builtin::Datum;
use cue_eval::encode::{DecodeError, toml};
use cue_syntax::unquote::quote;

use crate::located::{Lines, Located};
use crate::refused::Refused;
use crate::spelled::Spelling;
use crate::written::spelled;

/// A part of a key and where it stands, from 1.
type Part = (String, u32);

/// Which table: the first is the root.
type TableId = usize;

enum Decl {
    /// `k.l = v`
    Field(Datum),
    /// `[k.l]`
    Table(Vec<Part>, TableId),
    /// `[[k.l]]`, each time it comes.
    Tables(Vec<Part>, Vec<TableId>),
}

/// The declarations of each table.
struct Tables(Vec<Vec<Decl>>);

/// The value of a file, whose parts have places that count from 1, it as CUE, and its numbers that
/// CUE has not.
pub(crate) struct Read {
    pub(crate) datum: Datum,
    pub(crate) located: Located,
    pub(crate) refused: Refused,
}

/// Reads a file.
///
/// # Errors
/// It is no TOML.
pub(crate) fn read(text: &str) -> Result<Read, DecodeError> {
    let (datum, refused) = toml::decode_keeping(text, 1)?;
    let refused = refused.into_iter().map(|it| (it.offset as u32, it.message)).collect();
    let bytes = text.as_bytes();
    let mut tables = Tables(vec![Vec::new()]);
    let mut current: TableId = 0;
    let mut at = 0;
    while let Some((start, end)) = next(bytes, at) {
        at = end;
        let line = text.get(start..end).unwrap_or_default();
        let headed = |open: &str, close: &str| line.strip_prefix(open)?.strip_suffix(close);
        if let Some(key) = headed("[[", "]]") {
            current = tables.append(&parts(key, start + 2));
        } else if let Some(key) = headed("[", "]") {
            let path = parts(key, start + 1);
            let (around, rest) = tables.around(&path);
            current = tables.declare(around, |it| Decl::Table(rest.to_vec(), it));
        } else if let Ok((field, _)) = toml::decode_keeping(line, start as u32 + 1) {
            tables.add(current, Decl::Field(field));
        }
    }
    // Beside a field of that name the package cannot be named.
    let timed = !text.contains("time");
    let spelling = Spelling { file: bytes, lines: Lines::new(bytes) };
    let mut writer = Writer { spelling, timed, out: Located::default() };
    writer.tables(&tables);
    Ok(Read { datum, located: writer.out, refused })
}

/// Where the next header or field begins and ends, at or behind an offset.
fn next(text: &[u8], mut at: usize) -> Option<(usize, usize)> {
    let is = |at: usize, what: &[u8]| text.get(at..).is_some_and(|it| it.starts_with(what));
    loop {
        match text.get(at)? {
            b'#' => at += text.get(at..)?.iter().take_while(|it| **it != b'\n').count(),
            it if it.is_ascii_whitespace() => at += 1,
            _ => break,
        }
    }
    let start = at;
    let mut depth = 0_usize;
    let mut end = at;
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' | b'\'' => {
                let fence = [*byte; 3];
                let length = if is(at, &fence) { 3 } else { 1 };
                at += length;
                while at < text.len() && !is(at, fence.get(..length).unwrap_or_default()) {
                    at += if *byte == b'"' && is(at, b"\\") { 2 } else { 1 };
                }
                // Up to two quotes may stand before those that end it.
                let more = if length == 3 { 2 } else { 0 };
                at += length;
                at += (0..more).take_while(|it| text.get(at + it) == Some(byte)).count();
                end = at.min(text.len());
                continue;
            }
            b'#' => {
                at += text.get(at..)?.iter().take_while(|it| **it != b'\n').count();
                continue;
            }
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            b'\n' if depth == 0 => break,
            _ => {}
        }
        at += 1;
        if !byte.is_ascii_whitespace() {
            end = at;
        }
    }
    Some((start, end))
}

/// The parts of a header's key, which begins at an offset.
fn parts(key: &str, offset: usize) -> Vec<Part> {
    let mut found = Vec::new();
    let read = toml::decode_keeping(&format!("{key} = 0"), offset as u32 + 1);
    let mut datum = read.map_or(Datum::Null, |it| it.0);
    while let Datum::Struct(fields) = &datum {
        let Some((label, value)) = fields.iter().next() else { break };
        found.push((label.to_string(), fields.place(0).unwrap_or_default().0));
        datum = value.clone();
    }
    found
}

impl Tables {
    fn add(&mut self, table: TableId, decl: Decl) {
        if let Some(decls) = self.0.get_mut(table) {
            decls.push(decl);
        }
    }

    /// A new table, declared in another one.
    fn declare(&mut self, around: TableId, decl: impl FnOnce(TableId) -> Decl) -> TableId {
        let new = self.0.len();
        self.0.push(Vec::new());
        self.add(around, decl(new));
        new
    }

    /// The last element of the lists of tables that a path leads through, and the path from there.
    fn around<'p>(&self, path: &'p [Part]) -> (TableId, &'p [Part]) {
        let (mut table, mut rest) = (0, path);
        while let Some((name, elements)) = self.list(table, |name| leads(rest, name)) {
            table = elements.last().copied().unwrap_or_default();
            rest = rest.get(name.len()..).unwrap_or_default();
        }
        (table, rest)
    }

    /// A list of tables that is declared in a table.
    fn list(
        &self,
        table: TableId,
        wanted: impl Fn(&[Part]) -> bool,
    ) -> Option<(&[Part], &[TableId])> {
        self.0.get(table)?.iter().rev().find_map(|it| match it {
            Decl::Tables(name, elements) if wanted(name) => Some((&name[..], &elements[..])),
            Decl::Tables(..) | Decl::Table(..) | Decl::Field(_) => None,
        })
    }

    /// A new element of the list at a path.
    fn append(&mut self, path: &[Part]) -> TableId {
        let (around, rest) = self.around(path);
        let new = self.0.len();
        self.0.push(Vec::new());
        let same = |name: &[Part]| name.len() == rest.len() && begins(rest, name);
        let known = self.0.get_mut(around).into_iter().flatten().rev().find_map(|it| match it {
            Decl::Tables(name, elements) if same(name) => Some(elements),
            Decl::Tables(..) | Decl::Table(..) | Decl::Field(_) => None,
        });
        match known {
            Some(elements) => elements.push(new),
            None => self.add(around, Decl::Tables(rest.to_vec(), vec![new])),
        }
        new
    }
}

/// Whether a path begins with the name.
fn begins(path: &[Part], name: &[Part]) -> bool {
    path.len() >= name.len() && path.iter().zip(name).all(|(one, other)| one.0 == other.0)
}

/// Whether a path leads into what has the name.
fn leads(path: &[Part], name: &[Part]) -> bool {
    path.len() > name.len() && begins(path, name)
}

/// What is still to write.
enum Step<'a> {
    Decl(&'a Decl),
    Element(TableId),
    Text(&'static str),
}

struct Writer<'a> {
    spelling: Spelling<'a>,
    /// Whether dates are checked by the package `time`.
    timed: bool,
    out: Located,
}

impl Writer<'_> {
    fn tables(&mut self, tables: &Tables) {
        let decls = |table: TableId| tables.0.get(table).into_iter().flatten().rev();
        let mut work: Vec<Step<'_>> = decls(0).map(Step::Decl).collect();
        while let Some(step) = work.pop() {
            match step {
                Step::Text(text) => self.out.add(text),
                Step::Element(table) => {
                    self.out.add("{\n");
                    work.push(Step::Text("},\n"));
                    work.extend(decls(table).map(Step::Decl));
                }
                Step::Decl(Decl::Field(datum)) => {
                    self.fields(datum);
                    self.out.add("\n");
                }
                Step::Decl(Decl::Table(name, table)) => {
                    self.labels(name);
                    self.out.add("{\n");
                    work.push(Step::Text("}\n"));
                    work.extend(decls(*table).map(Step::Decl));
                }
                Step::Decl(Decl::Tables(name, elements)) => {
                    self.labels(name);
                    self.out.add("[\n");
                    work.push(Step::Text("]\n"));
                    work.extend(elements.iter().rev().map(|it| Step::Element(*it)));
                }
            }
        }
    }

    /// That what comes next stands at a place from 1; 0 is nowhere.
    fn mark(&mut self, place: u32) {
        if let Some(place) = place.checked_sub(1) {
            self.out.mark(self.spelling.lines.at(place));
        }
    }

    /// The labels of a header. What each but the last has stands where the next one does.
    fn labels(&mut self, name: &[Part]) {
        for (label, place) in name {
            self.mark(*place);
            self.out.add(&format!("{}: ", spelled(label)));
        }
    }

    /// The fields of a table, on one line.
    fn fields(&mut self, datum: &Datum) {
        let Datum::Struct(fields) = datum else { return };
        for (index, (label, value)) in fields.iter().enumerate() {
            let (key, place) = fields.place(index).unwrap_or_default();
            self.out.add(if index > 0 { ", " } else { "" });
            self.mark(key);
            self.out.add(&format!("{}: ", spelled(label)));
            self.value(value, place);
        }
    }

    /// A value; nesting is limited where it is read.
    fn value(&mut self, datum: &Datum, place: u32) {
        let date = match datum {
            Datum::String(text) => self.layout(text, place).filter(|_| self.timed),
            _ => None,
        };
        // Dates that are checked and booleans stand nowhere.
        let nowhere = date.is_some() || matches!(datum, Datum::Bool(_));
        self.mark(if nowhere { 0 } else { place });
        match datum {
            Datum::Struct(_) => {
                self.out.add("{");
                self.fields(datum);
                self.out.add("}");
            }
            Datum::List(items) => {
                self.out.add("[");
                for (index, item) in items.iter().enumerate() {
                    self.out.add(if index > 0 { ", " } else { "" });
                    self.value(item, items.place(index).unwrap_or_default());
                }
                self.out.add("]");
            }
            Datum::String(text) => {
                self.out.timed |= date.is_some();
                self.out.add(&quote(text));
                if let Some(layout) = date {
                    self.out.add(&format!(" & time.Format({layout})"));
                }
            }
            scalar => {
                let offset = place.checked_sub(1).unwrap_or(u32::MAX);
                self.out.add(&self.spelling.scalar(scalar, offset));
            }
        }
    }

    /// What a text that stands without quotes is a date or time by.
    fn layout(&self, text: &str, place: u32) -> Option<&'static str> {
        let first = self.spelling.file.get(place.checked_sub(1)? as usize)?;
        let (_, time) = text.split_at_checked(10).unwrap_or((text, ""));
        match first {
            b'"' | b'\'' => None,
            _ if text.get(2..3) == Some(":") => Some("\"15:04:05\""),
            _ if time.is_empty() => Some("time.RFC3339Date"),
            _ if time.contains(['Z', 'z', '+', '-']) => Some("time.RFC3339"),
            _ => Some("\"2006-01-02T15:04:05\""),
        }
    }
}
