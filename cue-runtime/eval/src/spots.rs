//! Where data stands that functions made: in the texts they read, or where they were called.
//!
//! A spot is one number. All texts stand one behind the other, each with a byte more than it has; what
//! is called somewhere is numbered apart. 0 is nowhere.

use std::sync::OnceLock;

use cue_syntax::LineIndex;
use cue_syntax::ast::Span;

use crate::builtin::{Datum, Package, packages};
use crate::program::At;

/// The source of positions in texts that were read: their span begins at the spot.
const READ: u32 = u32::MAX - 1;

/// Spots from here on are calls.
const CALLED: u32 = 1 << 31;

/// Sources of what builtin packages say in CUE: the last of them, and those before in turn.
const PACKAGES: u32 = READ - 1;

/// The source of what a builtin package says in CUE.
pub(crate) fn source_of(package: &Package) -> u32 {
    let index = packages().iter().position(|it| it.path == package.path);
    PACKAGES - index.unwrap_or(0) as u32
}

/// The name of the package whose text a position is the beginning of, or of which it is a constant.
pub(crate) fn package_at(at: At) -> Option<&'static str> {
    let package = packages().get(PACKAGES.checked_sub(at.source)? as usize)?;
    let begin = package.text.len() - package.text.trim_start().len();
    let whole = !package.text.is_empty() && at.span.start as usize == begin;
    (whole || at.span.start >= CONSTANT).then(|| package.local_name())
}

/// Whether something is written in a builtin package.
pub(crate) fn is_builtin(at: At) -> bool {
    at.source <= PACKAGES && at.source > PACKAGES - packages().len() as u32
}

/// Where a constant stands that has no text.
const CONSTANT: u32 = 1 << 31;

/// The span of a constant of a package, in its source.
pub(crate) fn constant(package: &Package, name: &str) -> Span {
    let index = package.members.iter().position(|it| it.name == name).unwrap_or(0) as u32;
    Span { start: CONSTANT + index, end: u32::MAX }
}

struct Text {
    /// Where it begins.
    base: u32,
    /// `json.Validate` and the like; others than `json` without a point are not told.
    name: &'static str,
    /// The argument: a string or bytes.
    text: Datum,
    lines: OnceLock<LineIndex>,
}

impl Text {
    /// The name of the file that it counts as.
    fn file(&self) -> &'static str {
        if self.name == "json" || self.name.contains('.') { self.name } else { "" }
    }
}

/// The texts that were read, and the calls that made data.
#[derive(Default)]
pub(crate) struct Spots {
    texts: Vec<Text>,
    calls: Vec<At>,
    end: u32,
}

/// Whether a name is that of a text which a function has read, or of a package: it is no file.
pub fn is_read(name: &str) -> bool {
    name.starts_with("<builtin:")
        || matches!(name, "" | "json" | "json.Validate" | "yaml.Validate" | "yaml.ValidatePartial")
        || packages().iter().any(|it| it.path == name && !it.text.is_empty())
}

impl Spots {
    /// Where the next text begins, if there is room for it.
    pub(crate) fn base(&self, text: &Datum) -> u32 {
        let base = self.end + 1;
        if (base as usize).saturating_add(length(text)) < CALLED as usize { base } else { 0 }
    }

    /// Keeps the text that was given this base.
    pub(crate) fn keep(&mut self, base: u32, name: &'static str, text: &Datum) {
        if base != 0 {
            self.end = base + length(text) as u32;
            let lines = OnceLock::new();
            self.texts.push(Text { base, name, text: text.clone(), lines });
        }
    }

    /// The spot of a call.
    pub(crate) fn call(&mut self, at: At) -> u32 {
        if self.calls.last() != Some(&at) {
            self.calls.push(at);
        }
        CALLED + (self.calls.len() - 1) as u32
    }

    /// The position of a list or a struct: one that a call gives stands nowhere.
    pub(crate) fn of_whole(&self, spot: u32) -> At {
        self.at(if spot < CALLED { spot } else { 0 })
    }

    /// The position that a spot is.
    pub(crate) fn at(&self, spot: u32) -> At {
        match spot {
            0 => At::default(),
            CALLED.. => self.calls.get((spot - CALLED) as usize).copied().unwrap_or_default(),
            _ => At { source: READ, span: Span { start: spot, end: u32::MAX } },
        }
    }

    /// The text, line and column of a position in one.
    pub(crate) fn place(&self, at: At) -> Option<(String, u32, u32)> {
        if at.source != READ {
            let package = packages().get(PACKAGES.checked_sub(at.source)? as usize)?;
            if at.span.end == 0 {
                return None;
            }
            if at.span.start >= CONSTANT {
                let member = package.members.get((at.span.start - CONSTANT) as usize)?;
                return Some((format!("<builtin:{}>", member.name), 1, 1));
            }
            let (line, column) = LineIndex::new(package.text).at(at.span.start);
            return Some((package.path.to_owned(), line, column));
        }
        let text = self.text(at)?;
        let lines = text.lines.get_or_init(|| match &text.text {
            Datum::String(text) => LineIndex::new(text),
            Datum::Bytes(bytes) => LineIndex::new(&String::from_utf8_lossy(bytes)),
            _ => LineIndex::new(""),
        });
        let offset = at.span.start - text.base;
        let (line, mut column) = lines.at(offset);
        if let (true, Datum::String(text)) = (text.name.starts_with("yaml"), &text.text) {
            // Columns of YAML are characters.
            let start = (offset + 1).saturating_sub(column) as usize;
            let before = text.get(start..offset as usize).unwrap_or_default();
            column = before.chars().count() as u32 + 1;
        }
        Some((text.file().to_owned(), line, column))
    }

    /// Whether a spot is a call.
    pub(crate) fn is_called(&self, spot: u32) -> bool {
        spot >= CALLED
    }

    /// The name of the text that a position is in, as of a file, and its offset there.
    pub(crate) fn in_text(&self, at: At) -> Option<(&'static str, u32)> {
        let text = (at.source == READ).then(|| self.text(at)).flatten()?;
        Some((text.file(), at.span.start - text.base))
    }

    fn text(&self, at: At) -> Option<&Text> {
        let index = self.texts.partition_point(|it| it.base <= at.span.start).checked_sub(1)?;
        self.texts.get(index)
    }

    /// Which text a position is in, as texts of one name are told apart.
    pub(crate) fn text_of(&self, at: At) -> u32 {
        match at.source {
            READ => READ - self.texts.partition_point(|it| it.base <= at.span.start) as u32,
            source => source,
        }
    }
}

fn length(text: &Datum) -> usize {
    match text {
        Datum::String(text) => text.len(),
        Datum::Bytes(bytes) => bytes.len(),
        _ => 0,
    }
}
