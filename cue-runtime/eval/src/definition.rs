//! A package as text, not evaluated: what `cue-definition` asks of a program.

use std::sync::Arc;

use cue_definition::{
    Attributes, Constant, Docs, Manner, Mark, Merged, Outward, Simplified, Source, Sources, Wanted,
    laid_out, left_open,
};
use cue_syntax::Experiment;

use crate::attach::put;
use crate::budget::Budget;
use crate::builtin::Kinds;
use crate::evaluation::{Evaluation, compile_text};
use crate::evaluator::Evaluator;
use crate::export::Style;
use crate::found::{found, found_labels};
use crate::heap::{FaultId, VertexId};
use crate::outward::{Packages, suffix};
use crate::printed::{Names, Show};
use crate::program::Program;
use crate::sources::SourceText;

/// What the values of one field may cost.
const BUDGET: Budget = Budget { ticks: 50_000, depth: 50, bytes: 5 << 20 };

impl Evaluation {
    /// The package as `cue def` prints it: merged, not evaluated.
    pub fn definition(&mut self) -> String {
        let found = found(&mut self.evaluator, Packages::Named);
        let program = &self.evaluator.program;
        let sources = program.roots.iter().filter_map(|root| {
            let source = program.sources.get(program.at(*root).source as usize)?;
            Some(parsed_source(program, source))
        });
        let files: Vec<Source> = sources.collect();
        self.evaluator.whole_package(cue_definition::package(&files, evaluate, &found, None))
    }

    /// The same with what it refers to in other packages put in (O-81).
    pub fn inlined(&mut self) -> String {
        let root = self.evaluator.root;
        let outward = self.evaluator.outward(root, Packages::PutIn);
        let mut found = found(&mut self.evaluator, Packages::PutIn);
        let real = self.evaluator.unify(root);
        let is_struct = self.evaluator.heap.get(real).is_struct;
        found.is_closed |= is_struct && outward.as_ref().is_some_and(|it| it.is_closed);
        let files = of_packages(&self.evaluator.program);
        let text = cue_definition::package(&files, evaluate, &found, outward.as_ref());
        self.evaluator.whole_package(text)
    }
}

impl Evaluator {
    /// The text of a package, unless that nests too deeply.
    fn whole_package(&mut self, text: Option<String>) -> String {
        self.unwritten = None;
        text.unwrap_or_else(|| {
            self.leave_unwritten(self.root);
            String::new()
        })
    }

    /// The text that is asked for is not all there is: this nests too deeply.
    pub(crate) fn leave_unwritten(&mut self, id: VertexId) -> FaultId {
        let mut fault = self.too_deep(id);
        fault.place = Some(id);
        let fault = self.heap.fault(fault);
        self.unwritten = Some(fault);
        fault
    }

    /// The texts of expressions, and what they need.
    pub(crate) fn sources(
        &mut self,
        wanted: &[Wanted],
        marks: &[Mark],
        show: Show,
        outward: Option<&Outward>,
    ) -> Sources {
        // Of a value as it is written its own fields keep theirs (O-68).
        let manner = manner(show, Attributes::Outermost);
        let files = parsed(&self.program);
        let found = cue_definition::sources(&files, evaluate, wanted, marks, manner, outward);
        if found.too_deep {
            self.leave_unwritten(self.root);
        }
        found
    }
}

impl Evaluator {
    /// The declarations of a place, merged but not evaluated, and whether a definition closes it.
    fn merged(&mut self, id: VertexId, show: Show, names: Names) -> (Merged, bool) {
        let packages = match names {
            Names::Kept => None,
            Names::Replaced => Some(Packages::Named).filter(|_| id != self.root),
            Names::PutIn => Some(Packages::PutIn),
        };
        let outward = packages.and_then(|it| self.outward(id, it));
        let real = self.unify(id);
        let kinds = self.kinds_of(real);
        let vertex = self.heap.get(real);
        let is_struct = vertex.is_struct && vertex.scalar.is_none();
        let exprs = outward.as_ref().map_or_else(|| self.source_of(id), |it| it.exprs.clone());
        // What a function has made is written nowhere.
        let has_value = vertex.scalar.is_some() || vertex.is_struct || vertex.is_list;
        if exprs.is_empty() && has_value && id != self.root {
            let mut text = self.shown(id, Show::new(Style::Final, Show::FILE));
            if !manner(show, Attributes::Dropped).spread {
                text = laid_out(&text, cue_syntax::Style::Value, Simplified::No);
            }
            return (Merged { text, is_struct, ..Merged::default() }, false);
        }
        let files = match names {
            Names::Kept | Names::Replaced => parsed(&self.program),
            Names::PutIn => of_packages(&self.program),
        };
        let found = match packages {
            Some(it) => found(self, it),
            None => found_labels(self),
        };
        let manner = manner(show, Attributes::Dropped);
        let (place, leads) = (self.path(id), outward.as_ref());
        let merged =
            cue_definition::merged(&files, evaluate, (&exprs, &place), &found, manner, leads);
        if merged.too_deep {
            self.leave_unwritten(id);
        }
        // A part that a definition closes is one (O-77), but not what a call closes. So is a choice of structs.
        let is_struct = is_struct || kinds == Kinds::STRUCT;
        let closed = is_struct && leads.is_some_and(|it| it.is_closed) && !merged.embeds_definition;
        (merged, closed)
    }

    /// The same as an expression; a file if it names packages (O-61).
    pub(crate) fn declared_text(&mut self, id: VertexId, show: Show, names: Names) -> String {
        let (merged, closed) = self.merged(id, show, names);
        let whole = whole(&merged);
        let text = match closed {
            true => format!("{{\n_#def\n_#def: {whole}\n{}}}", merged.lets),
            false if !merged.lets.is_empty() => format!("{{\n{}{}}}", merged.text, merged.lets),
            false => merged.heading + &whole,
        };
        let layout = cue_syntax::Style::Plain;
        match merged.imports.as_slice() {
            imports @ [_, ..] if merged.is_struct && !closed && merged.lets.is_empty() => {
                left_open::header(imports, &merged.text)
                    + &laid_out(&merged.text, layout, Simplified::No)
            }
            imports @ [_, ..] => {
                left_open::header(imports, &text)
                    + laid_out(&text, layout, Simplified::No).trim_end()
                    + "\n"
            }
            _ => laid_out(&text, layout, Simplified::No).trim_end().to_owned(),
        }
    }

    /// The same as a file.
    pub(crate) fn declared_file(&mut self, id: VertexId, show: Show, names: Names) -> String {
        let (merged, closed) = self.merged(id, show, names);
        let body = match closed {
            true => format!("_#def\n_#def: {}\n", whole(&merged)),
            false => merged.text,
        };
        let body = body + &merged.lets;
        let header = left_open::header(&merged.imports, &body);
        let apart = header.is_empty() && (closed || merged.begins_apart);
        let gap = if apart { "\n" } else { "" };
        let text = header + &body;
        format!("{gap}{}", laid_out(&text, cue_syntax::Style::Made, self.simplified))
    }
}

/// As an expression.
fn whole(merged: &Merged) -> String {
    match merged.is_struct {
        true if merged.text.is_empty() => "{}".to_owned(),
        true => format!("{{\n{}}}", merged.text),
        false => merged.text.trim_end_matches('\n').to_owned(),
    }
}

fn manner(show: Show, otherwise: Attributes) -> Manner {
    Manner {
        docs: if show.has(Show::DOCS) { Docs::Kept } else { Docs::Dropped },
        attributes: if show.has(Show::ATTRIBUTES) { Attributes::Kept } else { otherwise },
        // What is exported is simplified, what is evaluated not (O-62).
        spread: show.style == Style::Eval || show.has(Show::SPREAD),
    }
}

/// The sources of a program as trees.
fn parsed(program: &Program) -> Vec<Source> {
    let sources = program.sources.iter().map(|it| parsed_source(program, it));
    let mut files: Vec<Source> = sources.collect();
    for (number, package) in program.packages.iter().enumerate() {
        for root in &package.roots {
            if let Some(it) = files.get_mut(program.at(*root).source as usize) {
                it.package = number + 1;
            }
        }
    }
    for (number, path) in &program.filled {
        if let Some(it) = files.get_mut(*number) {
            let decls = std::mem::take(&mut it.file.decls);
            it.file.decls = put(decls, path, &[]);
        }
    }
    files
}

/// The same, with what hidden names of each package become.
fn of_packages(program: &Program) -> Vec<Source> {
    let mut files = parsed(program);
    for it in &mut files {
        let package = it.package.checked_sub(1).and_then(|it| program.packages.get(it));
        it.suffix = package.map(|it| suffix(it.folder())).unwrap_or_default();
    }
    files
}

fn parsed_source(program: &Program, it: &SourceText) -> Source {
    Source {
        name: it.name.clone(),
        file: program.parsed(&it.text, &it.language).file,
        text: it.text.clone(),
        package: 0,
        suffix: String::new(),
        is_data: it.is_data,
    }
}

/// The value of an expression, with what its file asks for.
fn evaluate(text: &str, file: &str) -> Constant {
    let lazy = cue_syntax::parse_header(file).experiments.has(Experiment::ShortCircuit);
    let before = if lazy { "@experiment(shortcircuit)\n\n" } else { "" };
    let Ok(program) = compile_text(&format!("{before}x: {text}")) else {
        return Constant::Unread;
    };
    let mut it = Evaluation::start(Arc::new(program), &[], BUDGET);
    let Ok(Some(id)) = it.find("x") else { return Constant::Unread };
    match it.error(id) {
        None => Constant::Value(it.syntax(id, Style::Definition).trim_end().to_owned()),
        Some(_) if text.trim_matches(['(', ')']) == "_|_" => Constant::Bottom,
        Some(error) => Constant::Failed(error.message),
    }
}
