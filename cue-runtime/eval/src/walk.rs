//! A walk through a value that looks for errors: where it is, what it has found, and what of that is
//! told elsewhere.

use crate::evaluation::Diagnostic;
use crate::evaluator::Evaluator;
use crate::heap::{Source, VertexId};
use crate::program::{At, ExprId, Label};

/// A walk that looks for errors.
#[derive(Default)]
pub(crate) struct Walk {
    pub(crate) found: Vec<Diagnostic>,
    /// Where it began.
    pub(crate) from: Option<VertexId>,
    /// The way from there to where it is.
    pub(crate) labels: Vec<Label>,
    /// The references on the way by which values are shared.
    pub(crate) shared: Vec<At>,
    /// It is in what refers to another value and copies it.
    pub(crate) repeats: bool,
    /// Of what was found, whether it is of such a copy.
    pub(crate) copied: Vec<bool>,
    /// What was come to by one.
    pub(crate) seen: rustc_hash::FxHashSet<u32>,
    /// What was found without end.
    pub(crate) rounds: Vec<Round>,
}

/// A reference by which a value has no end.
pub(crate) struct Round {
    reference: ExprId,
    /// It is written there, not brought by another reference.
    written: bool,
    /// Which of what was found.
    found: usize,
}

impl Walk {
    /// What is found next goes round at `id`.
    pub(crate) fn goes_round(&mut self, it: &Evaluator, id: VertexId) {
        for conjunct in &it.heap.get(id).conjuncts {
            if let Source::Expr(reference, _) = conjunct.source {
                let (written, found) = (conjunct.way == 0, self.found.len());
                self.rounds.push(Round { reference, written, found });
            }
        }
    }

    /// Whether something goes round by no more than references that are told of where they are
    /// written (S-65).
    pub(crate) fn goes_round_elsewhere(&self, found: usize) -> bool {
        let told = |it: &Round| {
            self.rounds.iter().any(|other| other.written && other.reference == it.reference)
        };
        let mut here = self.rounds.iter().filter(|it| it.found == found).peekable();
        here.peek().is_some() && here.all(|it| !it.written && told(it))
    }

    /// The path to where it is.
    pub(crate) fn path(&self, it: &Evaluator) -> String {
        let from = self.from.map(|id| it.path(id)).filter(|it| !it.is_empty());
        let labels = self.labels.iter().map(|label| it.label_text(*label));
        from.into_iter().chain(labels).collect::<Vec<_>>().join(".")
    }
}
