//! A package as text, not evaluated: what `cue-definition` asks of a program.

use std::sync::Arc;

use cue_definition::{
    Attributes, Constant, Docs, Manner, Mark, Merged, Place, PlaceOf, Places, Source, Sources,
    Wanted, laid_out,
};
use cue_syntax::Experiment;
use cue_syntax::ast::At;

use crate::attach::put;
use crate::builtin::Datum;
use crate::completed::header;
use crate::evaluation::{Evaluation, compile_text};
use crate::evaluator::{Budget, Evaluator};
use crate::export::Style;
use crate::found::found;
use crate::heap::VertexId;
use crate::printed::{Names, Show};
use crate::program::Program;

/// What the values of one field may cost.
const BUDGET: Budget = Budget { ticks: 50_000, depth: 50, bytes: 5 << 20 };

impl Evaluation {
    /// The package as `cue def` prints it: merged, not evaluated.
    pub fn definition(&mut self) -> String {
        let found = found(self);
        let program = &self.evaluator.program;
        let sources = program.roots.iter().filter_map(|root| {
            let source = program.sources.get(program.at(*root).source as usize)?;
            let file = program.parsed(&source.text, &source.language).file;
            Some(Source { name: source.name.clone(), file, text: source.text.clone() })
        });
        let mut files: Vec<Source> = sources.collect();
        cue_sort::by(&mut files, |left, right| left.name.cmp(&right.name));
        cue_definition::package(&files, evaluate, &found)
    }
}

impl Evaluator {
    /// The declarations of a place, merged; `places` are what names that lead out are replaced by.
    pub(crate) fn merged(
        &self,
        exprs: &[At],
        part: &str,
        show: Show,
        places: Option<&Places>,
    ) -> Merged {
        let files = parsed(&self.program);
        let manner = manner(show, Attributes::Dropped);
        cue_definition::merged(&files, evaluate, exprs, part, manner, places)
    }

    /// The texts of expressions, and what they need.
    pub(crate) fn sources(
        &self,
        wanted: &[Wanted],
        marks: &[Mark],
        show: Show,
        outside: Option<(&Places, &str)>,
    ) -> Sources {
        // Of a value as it is written its own fields keep theirs (O-68).
        let manner = manner(show, Attributes::Outermost);
        cue_definition::sources(&parsed(&self.program), evaluate, wanted, marks, manner, outside)
    }
}

impl Evaluator {
    /// The declarations of a place, merged but not evaluated; a file if it names packages (O-61).
    pub(crate) fn declared_text(&mut self, id: VertexId, show: Show, names: Names) -> String {
        let (places, closed) = match names {
            Names::Kept => (None, false),
            Names::Replaced => {
                let real = self.unify(id);
                (Some(self.places()), id != self.root && self.is_closed_struct(real))
            }
        };
        let exprs = self.source_of(id);
        let found = self.merged(&exprs, &self.path(id), show, places.as_ref());
        // A part that a definition closes is one (O-77), but not what a call closes.
        let closed = closed && (!found.text.starts_with("close(") || self.is_kept_closed(id));
        let text = match (closed, &found.fields) {
            (true, _) => format!("{{\n_#def\n_#def: {}\n{}}}", found.text, found.lets),
            (false, Some(fields)) if !found.lets.is_empty() => {
                format!("{{\n{fields}{}}}", found.lets)
            }
            (false, None) if !found.lets.is_empty() => {
                format!("{{\n{}\n{}}}", found.text, found.lets)
            }
            (false, _) => found.heading + &found.text,
        };
        let layout = cue_syntax::Style::Plain;
        match (found.fields, found.imports.as_slice()) {
            (Some(fields), imports @ [_, ..]) if !closed => {
                header(imports) + &laid_out(&fields, layout)
            }
            (_, imports @ [_, ..]) if names == Names::Replaced => {
                header(imports) + laid_out(&text, layout).trim_end()
            }
            _ => laid_out(&text, layout).trim_end().to_owned(),
        }
    }

    /// Every place that was evaluated.
    pub(crate) fn places(&mut self) -> Places {
        let mut found = Places::default();
        let mut next = vec![(self.root, String::new())];
        while let Some((id, path)) = next.pop() {
            let real = self.unify(id);
            for arc in &self.heap.get(real).arcs {
                if self.heap.get(arc.vertex).parent == Some(real) {
                    let dot = if path.is_empty() { "" } else { "." };
                    let path = format!("{path}{dot}{}", self.label_text(arc.label));
                    next.push((arc.vertex, path));
                }
            }
            let vertex = self.heap.get(real);
            let of = match &vertex.scalar {
                _ if self.heap.fault_of(id, real).is_some() => PlaceOf::Unknown,
                Some((Datum::Function(_), _)) => PlaceOf::Any,
                Some(_) if vertex.arcs.is_empty() => PlaceOf::Scalar,
                _ if self.is_kept_closed(id) || self.is_kept_closed(real) => PlaceOf::Closed,
                _ => PlaceOf::Any,
            };
            let is_closed = self.is_closed_struct(real) || self.is_kept_closed(id);
            found.insert(path, Place { exprs: self.source_of(id), of, is_closed });
        }
        found
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
    let sources = program.sources.iter().map(|it| {
        let file = program.parsed(&it.text, &it.language).file;
        Source { name: it.name.clone(), file, text: it.text.clone() }
    });
    let mut files: Vec<Source> = sources.collect();
    for (number, path) in &program.filled {
        if let Some(it) = files.get_mut(*number) {
            let decls = std::mem::take(&mut it.file.decls);
            it.file.decls = put(decls, path, &[]);
        }
    }
    files
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
