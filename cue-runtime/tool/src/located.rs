//! Data that is no CUE as text that is, and where each piece of it stands in its file: so errors name
//! the place in the file.

use cue_eval::encode::{Entry, Tree};

use crate::spelled::{Spelling, quoted};

/// Bytes of the text, and line and column in the file, in order.
pub(crate) type Places = Vec<(u32, (u32, u32))>;

/// CUE, and where its pieces come from. Of a struct that is all of a file, the fields without braces.
#[derive(Clone, Debug, Default)]
pub(crate) struct Located {
    pub(crate) text: String,
    pub(crate) places: Places,
    /// Those of a schema that are not the same as others at the same place.
    pub(crate) spaced: Vec<u32>,
    /// Whether it names the package `time`.
    pub(crate) timed: bool,
    /// Comments below everything, which end the text.
    pub(crate) below: Vec<String>,
}

impl Located {
    /// The text without the comments below everything.
    pub(crate) fn of_value(&self) -> &str {
        let length = self.below.iter().map(|it| it.len() + 1).sum();
        let rest = self.text.len().checked_sub(length).and_then(|it| self.text.get(..it));
        rest.unwrap_or(&self.text)
    }

    /// Adds text that comes from nowhere.
    pub(crate) fn add(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Adds what comes from elsewhere, with its places.
    pub(crate) fn append(&mut self, other: &Located) {
        let before = self.here();
        self.timed |= other.timed;
        self.text.push_str(&other.text);
        self.places.extend(other.places.iter().map(|it| (it.0 + before, it.1)));
        self.spaced.extend(other.spaced.iter().map(|it| it + before));
    }

    /// That what is added next comes from there.
    pub(crate) fn mark(&mut self, place: (u32, u32)) {
        self.places.push((self.here(), place));
    }

    /// Adds fields in braces. They stand where the first of them does, if there is one.
    pub(crate) fn enclose(&mut self, fields: &Located) {
        if let Some(first) = fields.places.first() {
            self.mark(first.1);
        }
        let several = fields.text.contains('\n') || fields.text.contains("//");
        self.add(if several { "{\n" } else { "{" });
        self.append(fields);
        self.add(if several { "\n}" } else { "}" });
    }

    /// Where in the file the piece comes from that begins at this byte.
    pub(crate) fn at(&self, offset: u32) -> Option<(u32, u32)> {
        let found = self.places.binary_search_by_key(&offset, |it| it.0).ok()?;
        self.places.get(found).map(|it| it.1)
    }

    fn here(&self) -> u32 {
        u32::try_from(self.text.len()).unwrap_or(u32::MAX)
    }
}

/// Where the lines of a file begin.
#[derive(Debug)]
pub(crate) struct Lines {
    starts: Vec<u32>,
    /// Bytes that count as no column.
    skipped: Vec<u32>,
}

impl Lines {
    /// Columns are bytes.
    pub(crate) fn new(file: &[u8]) -> Self {
        // Nothing stands behind the last newline: that is still on the line it ends.
        let before_last = file.strip_suffix(b"\n").unwrap_or(file);
        let later = places(before_last, |it| it == b'\n').map(|it| it + 1);
        Self { starts: std::iter::once(0).chain(later).collect(), skipped: Vec::new() }
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

impl Lines {
    /// Whether nothing stands on a line of the file.
    pub(crate) fn is_empty(&self, file: &[u8], line: u32) -> bool {
        let Some(index) = line.checked_sub(1) else { return true };
        let Some(start) = self.starts.get(index as usize) else { return true };
        let end = self.starts.get(line as usize).map_or(file.len(), |it| *it as usize);
        file.get(*start as usize..end).unwrap_or_default().iter().all(u8::is_ascii_whitespace)
    }

    /// The byte at a line and column.
    pub(crate) fn offset(&self, line: u32, column: u32) -> Option<u32> {
        let start = self.starts.get(line.checked_sub(1)? as usize)?;
        Some(start + column.checked_sub(1)?)
    }
}

/// A value of JSON on one line. Keys that need no quotes in CUE are told behind the quote.
pub(crate) fn located(tree: &Tree, spelling: &Spelling<'_>) -> Located {
    let lines = &spelling.lines;
    let inside =
        |label: &str| u32::from(cue_syntax::is_identifier(label) || cue_syntax::is_keyword(label));
    let mut out = Located::default();
    let mut open: Vec<&str> = Vec::new();
    // Whether what comes next is not the first of its list or struct.
    let mut follows = false;
    let mut labelled = false;
    for (number, (entry, offset)) in tree.entries.iter().enumerate() {
        if let Entry::End = entry {
            out.add(open.pop().unwrap_or_default());
            follows = true;
            continue;
        }
        if follows && !labelled {
            out.add(", ");
        }
        (follows, labelled) = (true, false);
        match entry {
            Entry::Scalar(datum) => {
                out.mark(lines.at(*offset));
                out.add(&spelling.scalar(datum, *offset));
            }
            Entry::Key(label) => {
                out.mark(lines.at(offset + inside(label)));
                out.add(&quoted(label));
                out.add(": ");
                labelled = true;
            }
            Entry::Struct if number == 0 => {
                open.push("");
                follows = false;
            }
            Entry::List | Entry::Struct => {
                let list = matches!(entry, Entry::List);
                out.mark(lines.at(*offset));
                out.add(if list { "[" } else { "{" });
                open.push(if list { "]" } else { "}" });
                follows = false;
            }
            Entry::End => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use cue_eval::encode::json;

    use super::*;

    #[test]
    fn every_piece_has_its_place() {
        let file = "{\"a\": 1e3,\n \"b\": [\"x\", {\"c-d\": {}}]}";
        let tree = json::decode(file.as_bytes(), json::Values::One).unwrap();
        let it =
            located(&tree, &Spelling { file: file.as_bytes(), lines: Lines::new(file.as_bytes()) });
        assert_eq!(it.text, r#""a": 1e3, "b": ["x", {"c-d": {}}]"#);
        let place = |piece: &str| it.at(it.text.find(piece).unwrap() as u32).unwrap();
        assert_eq!((place("1e3"), place("\"x\"")), ((1, 7), (2, 8)));
        assert_eq!((place("\"b\""), place("\"c-d\""), place("{}")), ((2, 3), (2, 14), (2, 21)));
        let mut whole = Located::default();
        whole.add("x: ");
        whole.enclose(&it);
        assert_eq!((whole.at(3), whole.at(4)), (Some((1, 3)), Some((1, 3))));
    }
}
