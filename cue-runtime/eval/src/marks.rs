//! Marks of several disjunctions of one value (D-2): which results are defaults.

use crate::evaluator::Evaluator;
use crate::heap::{Disjunction, VertexId};

/// What a disjunction says of one of its alternatives.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Mark {
    /// It marks none.
    Maybe,
    Is,
    Not,
}

impl Evaluator {
    /// The defaults among the results of several disjunctions, each of one alternative of every one of
    /// them: step by step, a side whose marked alternatives are all gone counts as without marks. Gone is
    /// what is no part of the results, be it by a later step.
    pub(crate) fn marked_together(
        &self,
        disjunctions: &[Disjunction],
        all: &[VertexId],
    ) -> Vec<VertexId> {
        let (Some(first), true) = (disjunctions.first(), disjunctions.len() > 1) else {
            return Vec::new();
        };
        let Some(mut marks) = self.marks_in(first, disjunctions.len(), all) else {
            return Vec::new();
        };
        let mut before = marks.clone();
        for disjunction in &disjunctions[1..] {
            let Some(mut side) = self.marks_in(disjunction, disjunctions.len(), all) else {
                return Vec::new();
            };
            let stems = marks.iter().chain(&before).any(|it| *it == Mark::Is);
            if !stems {
                marks.fill(Mark::Maybe);
            }
            before.clone_from(&side);
            if !side.contains(&Mark::Is) {
                side.fill(Mark::Maybe);
            }
            for (mark, other) in marks.iter_mut().zip(side) {
                *mark = other.max(*mark);
            }
        }
        let marked = all.iter().zip(marks).filter(|it| it.1 == Mark::Is);
        marked.map(|it| *it.0).collect()
    }

    /// What a disjunction says of each result; none if one is of nested disjunctions too.
    fn marks_in(
        &self,
        disjunction: &Disjunction,
        count: usize,
        all: &[VertexId],
    ) -> Option<Vec<Mark>> {
        let marked = disjunction.marks.contains(&true);
        let mark = |it: &VertexId| {
            let pick = self.pick(*it, disjunction.expr)?;
            let single = self.heap.get(*it).picks.len() == count;
            single.then_some(match (marked, disjunction.marks.get(pick)) {
                (false, _) => Mark::Maybe,
                (true, Some(true)) => Mark::Is,
                (true, _) => Mark::Not,
            })
        };
        all.iter().map(mark).collect()
    }
}
