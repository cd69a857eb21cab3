//! Data that is no CUE as text that is, and where each piece of it stands in its file: so errors name
//! the place in the file.

use cue_eval::builtin::Datum;
use cue_eval::encode::{Entry, Tree};
use cue_eval::evaluation::print_json;

/// Bytes of the text, and line and column in the file, in order.
pub(crate) type Places = Vec<(u32, (u32, u32))>;

/// Text on one line, and where its pieces come from.
#[derive(Clone, Debug, Default)]
pub(crate) struct Located {
    pub(crate) text: String,
    pub(crate) places: Places,
}

impl Located {
    /// Adds text that comes from nowhere.
    pub(crate) fn add(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Adds what comes from elsewhere, with its places.
    pub(crate) fn append(&mut self, other: &Located) {
        let before = self.here();
        self.text.push_str(&other.text);
        self.places.extend(other.places.iter().map(|it| (it.0 + before, it.1)));
    }

    /// Where in the file the piece comes from that begins in this column.
    pub(crate) fn at(&self, column: u32) -> Option<(u32, u32)> {
        let found = self.places.binary_search_by_key(&column, |it| it.0 + 1).ok()?;
        self.places.get(found).map(|it| it.1)
    }

    fn here(&self) -> u32 {
        u32::try_from(self.text.len()).unwrap_or(u32::MAX)
    }
}

/// Where the lines of a file begin.
pub(crate) struct Lines {
    starts: Vec<u32>,
    /// Bytes that count as no column.
    skipped: Vec<u32>,
}

impl Lines {
    /// Columns are bytes.
    pub(crate) fn new(file: &[u8]) -> Self {
        let starts = std::iter::once(0).chain(places(file, |it| it == b'\n').map(|it| it + 1));
        Self { starts: starts.collect(), skipped: Vec::new() }
    }

    /// Columns are characters, as those of YAML are.
    pub(crate) fn of_characters(file: &[u8]) -> Self {
        let skipped = places(file, |it| it & 0xC0 == 0x80).collect();
        Self { skipped, ..Self::new(file) }
    }

    pub(crate) fn at(&self, offset: u32) -> (u32, u32) {
        let line = self.starts.partition_point(|it| *it <= offset);
        let start = line.checked_sub(1).and_then(|it| self.starts.get(it)).copied();
        let start = start.unwrap_or_default();
        let before = |at: u32| self.skipped.partition_point(|it| *it < at) as u32;
        let skipped = before(offset).saturating_sub(before(start));
        (u32::try_from(line).unwrap_or(u32::MAX), offset.saturating_sub(start + skipped) + 1)
    }
}

/// Where a file has bytes of a kind.
fn places(file: &[u8], wanted: fn(u8) -> bool) -> impl Iterator<Item = u32> {
    let found = file.iter().enumerate().filter(move |it| wanted(*it.1));
    found.map(|it| u32::try_from(it.0).unwrap_or(u32::MAX))
}

/// How a form of data tells where its keys are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keys {
    /// Where they begin.
    Whole,
    /// Behind the quote, if CUE needs none: JSON.
    Unquoted,
}

impl Lines {
    /// Whether nothing stands on a line of the file.
    pub(crate) fn is_empty(&self, file: &[u8], line: u32) -> bool {
        let Some(index) = line.checked_sub(1) else { return true };
        let Some(start) = self.starts.get(index as usize) else { return true };
        let end = self.starts.get(line as usize).map_or(file.len(), |it| *it as usize);
        file.get(*start as usize..end).unwrap_or_default().iter().all(u8::is_ascii_whitespace)
    }
}

/// A value on one line.
pub(crate) fn located(tree: &Tree, lines: &Lines, keys: Keys) -> Located {
    let inside = |label: &str| {
        let bare = cue_syntax::is_identifier(label) || cue_syntax::is_keyword(label);
        u32::from(keys == Keys::Unquoted && bare)
    };
    let mut out = Located::default();
    let mut open: Vec<char> = Vec::new();
    // Whether what comes next is not the first of its list or struct.
    let mut follows = false;
    let mut labelled = false;
    for (entry, offset) in &tree.entries {
        if let Entry::End = entry {
            out.text.extend(open.pop());
            follows = true;
            continue;
        }
        if follows && !labelled {
            out.text.push_str(", ");
        }
        // What is all of a file begins with its first field.
        let place = match (entry, tree.entries.get(1)) {
            (Entry::Struct, Some((Entry::Key(label), at))) if out.text.is_empty() => {
                at + inside(label)
            }
            (Entry::Key(label), _) => offset + inside(label),
            _ => *offset,
        };
        // One without fields stands nowhere.
        let empty = matches!(entry, Entry::Struct)
            && keys == Keys::Unquoted
            && out.text.is_empty()
            && matches!(tree.entries.get(1), Some((Entry::End, _)));
        if !empty {
            out.places.push((out.here(), lines.at(place)));
        }
        (follows, labelled) = (true, false);
        match entry {
            Entry::Scalar(datum) => out.text.push_str(&literal(datum)),
            Entry::Key(label) => {
                out.text.push_str(&print_json(&Datum::text(&**label)));
                out.text.push_str(": ");
                labelled = true;
            }
            Entry::List | Entry::Struct => {
                let list = matches!(entry, Entry::List);
                out.text.push(if list { '[' } else { '{' });
                open.push(if list { ']' } else { '}' });
                follows = false;
            }
            Entry::End => {}
        }
    }
    out
}

/// A value whose parts stand at places that count from 1, on one line.
pub(crate) fn placed(datum: &Datum, place: u32, lines: &Lines, out: &mut Located) {
    let at = |out: &mut Located, place: u32| {
        let place = place.checked_sub(1).map(|it| (out.here(), lines.at(it)));
        out.places.extend(place);
    };
    at(out, place);
    match datum {
        Datum::List(items) => {
            out.add("[");
            for (index, item) in items.iter().enumerate() {
                out.add(if index > 0 { ", " } else { "" });
                placed(item, items.place(index).unwrap_or_default(), lines, out);
            }
            out.add("]");
        }
        Datum::Struct(fields) => {
            out.add("{");
            for (index, (label, value)) in fields.iter().enumerate() {
                out.add(if index > 0 { ", " } else { "" });
                let (key, place) = fields.place(index).unwrap_or_default();
                at(out, key);
                out.add(&print_json(&Datum::text(&**label)));
                out.add(": ");
                placed(value, place, lines, out);
            }
            out.add("}");
        }
        scalar => out.add(&literal(scalar)),
    }
}

/// A scalar as CUE; what JSON cannot hold too.
fn literal(datum: &Datum) -> String {
    match datum {
        Datum::Bytes(_) => datum.literal(),
        other => print_json(other),
    }
}

/// A value whose pieces are not known apart.
pub(crate) fn whole(datum: &Datum, at: (u32, u32)) -> Located {
    Located { text: literal(datum), places: vec![(0, at)] }
}

#[cfg(test)]
mod tests {
    use cue_eval::encode::yaml;

    use super::*;

    #[test]
    fn every_piece_has_its_place() {
        let file = "a: 1\nb:\n- x\n- c: {}\n";
        let tree = yaml::decode(file.as_bytes()).unwrap().remove(0).tree;
        let it = located(&tree, &Lines::new(file.as_bytes()), Keys::Whole);
        assert_eq!(it.text, r#"{"a": 1, "b": ["x", {"c": {}}]}"#);
        let place = |piece: &str| it.at(it.text.find(piece).unwrap() as u32 + 1).unwrap();
        assert_eq!((place("1"), place("\"x\"")), ((1, 4), (3, 3)));
        assert_eq!((place("\"b\""), place("\"c\""), place("{}")), ((2, 1), (4, 3), (4, 6)));
    }
}
