//! Texts that printing left open: sources of what waits for more, `let`s and imports are put in once all is
//! written, since they need the trees of the files (O-64, O-68, O-79).

use cue_definition::{Key, Mark, Outward, Wanted, laid_out, left_open};
use cue_map::Map;
use cue_syntax::ast::At;

use crate::evaluator::Evaluator;
use crate::export::Style;
use crate::heap::VertexId;
use crate::printed::Show;

/// What is put in once the text stands: sources need the trees of the files.
#[derive(Default)]
pub(crate) struct Later {
    pub(crate) wanted: Vec<Wanted>,
    /// Structs printed so far.
    pub(crate) structs: usize,
    /// Sources and the structs around them, as they come.
    pub(crate) marks: Vec<Mark>,
    /// Packages, as they are imported.
    pub(crate) imports: Vec<String>,
    /// Lists around what is being written.
    pub(crate) lists: usize,
    /// An optional field is being written.
    pub(crate) optional: bool,
    /// Structs that are being written.
    pub(crate) around: Vec<VertexId>,
    /// Choices that are being written with all their alternatives.
    pub(crate) choices: Vec<VertexId>,
    /// Optional fields within others that were written so far.
    pub(crate) opened: usize,
    /// Of a part where it leads.
    pub(crate) outward: Option<Outward>,
    /// Memory that was counted for what is written.
    pub(crate) counted: usize,
}

impl Later {
    /// A package is named; those without one have none.
    pub(crate) fn import(&mut self, package: &str) {
        let import = format!("{package:?}");
        if !package.is_empty() && !self.imports.contains(&import) {
            self.imports.push(import);
        }
    }
}

/// Where a text will stand.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// It is all of a file, and says what it imports.
    File,
    /// It stands in another text.
    Inside,
}

impl Evaluator {
    /// With sources, `let`s and imports in their places, aligned.
    pub(crate) fn completed(
        &mut self,
        mut text: String,
        show: Show,
        mut later: Later,
        place: Place,
    ) -> String {
        self.bytes -= later.counted as u64;
        // Nobody is given what is not all there is.
        if self.unwritten.is_some() {
            return text;
        }
        let whole = place == Place::File;
        let style = show.style;
        let (mut lets, mut apart) = (false, false);
        if !later.wanted.is_empty() {
            let wanted = &later.wanted;
            let found = self.sources(wanted, &later.marks, show, later.outward.as_ref());
            let out = left_open::with_sources(&text, &found.texts);
            let bare = match show.has(Show::FILE) && style == Style::Eval {
                true => left_open::bare(&out),
                false => None,
            };
            let is_struct = bare.is_some();
            text = bare.unwrap_or(out);
            // A part that is no struct stands first as an expression (O-64).
            apart = !found.hoisted.is_empty() && !is_struct && !left_open::begins_with_lets(&text);
            text.push_str(&found.hoisted);
            lets = found.lets.first().is_some_and(|it| !it.is_empty());
            text = left_open::with_lets(text, &found.lets);
            for import in found.imports {
                if !later.imports.contains(&import) {
                    later.imports.push(import);
                }
            }
        }
        text = left_open::without_lets(text);
        let mut header =
            if whole { left_open::header(&later.imports, &text) } else { String::new() };
        if apart && header.is_empty() {
            header.push('\n');
        }
        let sources = !later.wanted.is_empty() && style == Style::Eval;
        let part = show.has(Show::FILE);
        let first = self.program.sources.first().map(|it| &*it.text);
        if whole
            && header.is_empty()
            && (lets || sources && !part && left_open::is_set_off(&text, first))
        {
            header.push('\n');
        }
        let layout = match style {
            Style::Definition if !show.has(Show::SPREAD) => cue_syntax::Style::Simplified,
            Style::Definition => cue_syntax::Style::Plain,
            Style::Eval => cue_syntax::Style::Spaced,
            Style::Final => cue_syntax::Style::Plain,
        };
        let text = header + &laid_out(&text, layout, self.simplified);
        if style == Style::Eval { left_open::spaced(&text) } else { text }
    }

    /// A place for expressions as they are written; `named` are labels by which patterns name them there.
    pub(crate) fn write_source(
        &self,
        (exprs, named): (Vec<At>, Map<Key, String>),
        out: &mut String,
        depth: usize,
        later: &mut Later,
    ) {
        out.push_str(&left_open::source_mark(later.wanted.len()));
        later.marks.push(Mark::Source(later.wanted.len()));
        later.wanted.push(Wanted { exprs, named, level: depth + 1 + later.lists });
    }
}
