//! Data put into a source, and positions in what came of it told as they are in the files.

use std::sync::Arc;

use cue_session::{Position, Source};
use cue_syntax::LineIndex;

use crate::located::Located;

/// Data, each piece with the file it is from.
#[derive(Clone, Debug, Default)]
pub(crate) struct Data {
    pub(crate) text: String,
    /// What it imports: lines.
    pub(crate) imports: Vec<String>,
    /// Where pieces of the text begin, their files and where they are from.
    pub(crate) parts: Vec<(usize, String, Arc<Located>)>,
}

/// What is put in place of some bytes of the source.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    /// Where, in the source.
    pub(crate) start: usize,
    /// How many bytes go.
    pub(crate) removed: usize,
    /// Before the data, the data, behind it.
    pub(crate) before: String,
    pub(crate) data: Data,
}

/// A source that data was put into.
#[derive(Clone, Debug)]
pub(crate) struct Spliced {
    name: String,
    pub(crate) text: String,
    lines: LineIndex,
    pieces: Vec<Put>,
}

/// A piece as it stands in the text.
#[derive(Clone, Debug)]
struct Put {
    /// Where it begins, and its data.
    start: usize,
    data: usize,
    end: usize,
    /// What the text is longer by up to its end.
    longer: isize,
    parts: Vec<(usize, String, Arc<Located>)>,
}

impl Spliced {
    pub(crate) fn new(source: &Source, mut pieces: Vec<Piece>) -> Self {
        pieces.sort_by_key(|it| it.start);
        let mut text = String::new();
        let mut copied = 0;
        let mut put = Vec::new();
        for piece in pieces {
            // Of what overlaps the first counts.
            let start = piece.start.max(copied);
            text.push_str(source.text.get(copied..start).unwrap_or_default());
            let begins = text.len();
            text.push_str(&piece.before);
            let data = text.len();
            text.push_str(&piece.data.text);
            copied = start + piece.removed;
            let longer = text.len() as isize - copied as isize;
            put.push(Put { start: begins, data, end: text.len(), longer, parts: piece.data.parts });
        }
        text.push_str(source.text.get(copied..).unwrap_or_default());
        let lines = LineIndex::new(&source.text);
        Self { name: source.name.clone(), text, lines, pieces: put }
    }

    /// A position in the text, told as that of a file; whether this is the text it is in.
    pub(crate) fn relocate(&self, at: &mut Position) -> bool {
        if at.file != self.name {
            return false;
        }
        let starts = std::iter::once(0).chain(self.text.match_indices('\n').map(|it| it.0 + 1));
        let line = (at.line as usize).saturating_sub(1);
        let Some(offset) = starts.into_iter().nth(line).map(|it| it + at.column as usize - 1)
        else {
            return true;
        };
        let mut longer = 0;
        for put in &self.pieces {
            if offset < put.start {
                break;
            }
            if offset < put.end {
                if let Some((file, line, column)) = put.part(offset) {
                    (at.file, at.line, at.column) = (file, line, column);
                    return true;
                }
                // A label that stands there once more.
                (at.line, at.column) = self.lines.at((put.start as isize - longer) as u32);
                return true;
            }
            longer = put.longer;
        }
        (at.line, at.column) = self.lines.at((offset as isize - longer) as u32);
        true
    }
}

impl Put {
    fn part(&self, offset: usize) -> Option<(String, u32, u32)> {
        let within = offset.checked_sub(self.data)?;
        let found = self.parts.iter().rev().find(|it| it.0 <= within)?;
        let offset = u32::try_from(within - found.0).ok()?;
        let (line, column) = found.2.at(offset).unwrap_or((1, 1));
        // The name is told as it is in the attribute.
        Some((format!("\0{}", found.1), line, column))
    }
}
