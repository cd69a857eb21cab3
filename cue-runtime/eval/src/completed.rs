//! Texts that printing left open: sources of what waits for more, `let`s and imports are put in once all is
//! written, since they need the trees of the files (O-64, O-68, O-79).

use std::fmt::Write as _;

use cue_definition::{Key, Mark, Outward, Wanted, laid_out};
use cue_map::Map;
use cue_syntax::ast::{At, Decl, ExprKind};

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
    /// Builtin packages named, and where: twice as many as sources before, one more for a source itself.
    pub(crate) imports: Vec<(usize, String)>,
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
}

impl Later {
    /// A package is named; those without one have none.
    pub(crate) fn import(&mut self, package: &str) {
        if !package.is_empty() && !self.imports.iter().any(|it| it.1 == package) {
            self.imports.push((self.wanted.len() * 2, package.to_owned()));
        }
    }
}

const SOURCE: &str = "__source_";
pub(crate) const LETS: &str = "__lets_";

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
        &self,
        mut text: String,
        show: Show,
        mut later: Later,
        place: Place,
    ) -> String {
        let whole = place == Place::File;
        let style = show.style;
        let (mut lets, mut apart) = (false, false);
        if !later.wanted.is_empty() {
            let wanted = &later.wanted;
            let found = self.sources(wanted, &later.marks, show, later.outward.as_ref());
            let mut out = String::with_capacity(text.len() * 2);
            let mut rest = text.as_str();
            while let Some(at) = rest.find(SOURCE) {
                let (before, after) = rest.split_at(at);
                out.push_str(before);
                let after = &after[SOURCE.len()..];
                let end = after.find("__").unwrap_or(after.len());
                let number: Option<usize> = after[..end].parse().ok();
                out.push_str(number.and_then(|it| found.texts.get(it)).map_or("_", |it| it));
                rest = after.get(end + 2..).unwrap_or_default();
            }
            out.push_str(rest);
            let bare = match show.has(Show::FILE) && style == Style::Eval {
                true => bare(&out),
                false => None,
            };
            let is_struct = bare.is_some();
            text = bare.unwrap_or(out);
            // A part that is no struct stands first as an expression (O-64).
            apart = !found.hoisted.is_empty() && !is_struct && !text.starts_with(LETS);
            text.push_str(&found.hoisted);
            lets = found.lets.first().is_some_and(|it| !it.is_empty());
            // Where there are none the line is left out below.
            let some = found.lets.iter().enumerate().filter(|it| !it.1.is_empty());
            for (number, lines) in some {
                text = text.replacen(&format!("{LETS}{number}__\n"), lines, 1);
            }
            // What a source names comes behind what was named before it.
            later.imports.extend(found.imports.into_iter().map(|it| (it.0 * 2 + 1, it.1)));
            cue_sort::by(&mut later.imports, |one, other| one.0.cmp(&other.0));
        }
        if text.contains(LETS) {
            let kept = text.split_inclusive('\n').filter(|it| !it.trim_start().starts_with(LETS));
            text = kept.collect();
        }
        let mut imports: Vec<String> = Vec::new();
        for (_, import) in &later.imports {
            let import = format!("{import:?}");
            if !imports.contains(&import) {
                imports.push(import);
            }
        }
        let mut header = if whole { header(&imports) } else { String::new() };
        if apart && header.is_empty() {
            header.push('\n');
        }
        let sources = !later.wanted.is_empty() && style == Style::Eval;
        let part = show.has(Show::FILE);
        if whole && header.is_empty() && (lets || sources && !part && self.is_set_off(&text)) {
            header.push('\n');
        }
        let layout = match style {
            Style::Definition if !show.has(Show::SPREAD) => cue_syntax::Style::Simplified,
            Style::Definition => cue_syntax::Style::Plain,
            Style::Eval => cue_syntax::Style::Spaced,
            Style::Final => cue_syntax::Style::Plain,
        };
        let text = header + &laid_out(&text, layout);
        if style != Style::Eval {
            return text;
        }
        let mut out = String::with_capacity(text.len() * 2);
        for line in text.split_inclusive('\n') {
            let rest = line.trim_start_matches('\t');
            out.push_str(&"    ".repeat(line.len() - rest.len()));
            out.push_str(rest);
        }
        out
    }

    /// Whether a file of several declarations begins with an empty line (O-64): if the first of them is a
    /// `let`, an expression, or clauses that begin a line of their source but not the first.
    fn is_set_off(&self, text: &str) -> bool {
        let file = cue_syntax::parse_file(text).file;
        let first = match &*file.decls {
            [Decl::Embed(first), _, ..] => first,
            // One of a source.
            [Decl::Let(..), _, ..] => return true,
            _ => return false,
        };
        let begins =
            |it: &str| it.starts_with('{') || it.starts_with("if ") || it.starts_with("for ");
        match first.kind {
            ExprKind::Comprehension(..) | ExprKind::Struct(_) => {
                self.program.sources.first().is_some_and(|it| !begins(&it.text))
            }
            _ => true,
        }
    }

    /// A place for expressions as they are written; `named` are labels by which patterns name them there.
    pub(crate) fn write_source(
        &self,
        (exprs, named): (Vec<At>, Map<Key, String>),
        out: &mut String,
        depth: usize,
        later: &mut Later,
    ) {
        let _ = write!(out, "{SOURCE}{}__", later.wanted.len());
        later.marks.push(Mark::Source(later.wanted.len()));
        later.wanted.push(Wanted { exprs, named, level: depth + 1 + later.lists });
    }
}

/// The declarations of a struct that is all of a file.
fn bare(text: &str) -> Option<String> {
    let text = text.trim();
    let inner = text.strip_prefix('{')?.strip_suffix('}')?;
    let only = cue_syntax::parse_expr(text).is_ok_and(|it| matches!(it.kind, ExprKind::Struct(_)));
    only.then(|| format!("{}\n", inner.trim()))
}

/// What names packages at the top of a file.
pub(crate) fn header(imports: &[String]) -> String {
    match imports {
        [] => String::new(),
        [only] => format!("import {only}\n\n"),
        all => format!("import (\n\t{}\n)\n\n", all.join("\n\t")),
    }
}
