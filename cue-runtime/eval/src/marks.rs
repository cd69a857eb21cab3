//! Marks of several disjunctions of one value, and of nested ones (D-2, D-3): which results are defaults.

use crate::evaluator::Evaluator;
use crate::heap::{Disjunction, VertexId};
use crate::program::{Code, ExprId};

/// What a disjunction says of one of its alternatives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Mark {
    /// It marks none.
    Maybe,
    Is,
    Not,
}

/// Bits of a mark.
const BITS: u32 = 2;

/// Alternatives of the first disjunctions of a value, one of each, that can hold together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Way {
    /// What came of it, if there are no more disjunctions.
    pub(crate) result: Option<VertexId>,
    /// A mark for each, the first one lowest.
    marks: u64,
    length: i32,
    /// What is said of the alternative of the disjunction before, by those that are nested in it.
    nested: Mark,
}

/// The ways that lead to the results of a choice that is being made.
#[derive(Default)]
pub(crate) struct Ways {
    /// The disjunctions of the value, if their marks have to be counted: others are nested in these.
    pub(crate) of: Vec<ExprId>,
    /// Of the vertex that was chosen for last.
    pub(crate) found: Vec<Way>,
}

impl Way {
    /// The one that none of the alternatives of this disjunction can follow.
    pub(crate) const END: Way = Way { result: None, marks: 0, length: -1, nested: Mark::Maybe };

    /// The one that leads to a result at once.
    pub(crate) fn to(result: VertexId, nested: Mark) -> Self {
        Way { result: Some(result), marks: 0, length: 0, nested }
    }

    /// The same behind an alternative, with what stands for the result, if that still holds.
    pub(crate) fn behind(self, mark: Mark, result: Option<VertexId>) -> Self {
        let lost = i32::from(self.result.is_some() && result.is_none());
        Way { result, nested: mark.max(self.nested), length: self.length - lost, ..self }
    }

    fn mark(&self, step: usize) -> Mark {
        match self.marks >> (step as u32 * BITS) & 3 {
            0 => Mark::Maybe,
            1 => Mark::Is,
            _ => Mark::Not,
        }
    }
}

impl Ways {
    /// All alternatives of a disjunction were tried.
    pub(crate) fn settle(&mut self, mut all: Vec<Way>, disjunction: ExprId) {
        let whole = self.of.contains(&disjunction);
        let result = all.first().and_then(|it| it.result);
        if !whole && result.is_some() && all.iter().all(|it| it.result == result) {
            // The only one that is left has no mark (D-4).
            all.truncate(1);
            all.iter_mut().for_each(|it| it.nested = Mark::Maybe);
        }
        let marked = all.iter().any(|it| it.nested != Mark::Maybe);
        for way in &mut all {
            // Beside marks of nested ones what has none is no default (D-3).
            if marked && way.nested == Mark::Maybe {
                way.nested = Mark::Not;
            }
            if whole {
                way.marks = way.marks << BITS | way.nested as u64;
                (way.length, way.nested) = (way.length + 1, Mark::Maybe);
            }
        }
        self.found = all;
    }
}

impl Evaluator {
    /// The disjunctions of a value, if it takes more than the marks of one to know the defaults.
    pub(crate) fn weighed(&self, disjunctions: &[Disjunction]) -> Vec<ExprId> {
        let marked = disjunctions.iter().any(|it| it.marks.contains(&true));
        let nests = |it: &Disjunction| match self.program.code(it.expr) {
            Code::Disjoin(all) => all.iter().any(|it| {
                let code = self.program.code(it.0);
                matches!(code, Code::Disjoin(_) | Code::Field { .. } | Code::Select(..))
            }),
            _ => false,
        };
        if disjunctions.len() > 1 && marked || disjunctions.iter().any(nests) {
            return disjunctions.iter().map(|it| it.expr).collect();
        }
        Vec::new()
    }

    /// Whether a disjunction is one of those of the value, or nested in the alternative that was picked last.
    pub(crate) fn is_in_last(&self, id: VertexId, disjunction: ExprId) -> bool {
        let [before @ .., (expr, pick)] = &*self.heap.get(id).picks else { return true };
        let Code::Disjoin(all) = self.program.code(*expr) else { return false };
        let Some((alternative, _)) = all.get(*pick as usize) else { return false };
        let (outer, inner) = (self.program.at(*alternative), self.program.at(disjunction));
        before.is_empty()
            || self.ways.of.contains(&disjunction)
            || outer.source == inner.source
                && outer.span.start <= inner.span.start
                && inner.span.end <= outer.span.end
    }

    /// The defaults among the results of disjunctions, by all the ways that lead to them: step by step, a
    /// side whose marked alternatives are all gone counts as without marks. None if nothing is marked, or if
    /// it is not known what is nested in what.
    pub(crate) fn marked_together(&self) -> Option<Vec<VertexId>> {
        let ways = &self.ways.found;
        let count = self.ways.of.len();
        let whole = |it: &Way| {
            if it.result.is_some() { it.length == count as i32 } else { it.length < count as i32 }
        };
        let marked = ways.iter().any(|it| it.marks != 0);
        if !marked || count as u32 * BITS > u64::BITS || !ways.iter().all(whole) {
            return None;
        }
        let mut marks = vec![Mark::Maybe; ways.len()];
        for step in 0..count {
            // Later steps have no say in what is gone.
            let left = |it: &Way| it.length > step as i32;
            let is = |it: &Way, step: usize| it.mark(step) == Mark::Is;
            let side = ways.iter().any(|it| left(it) && is(it, step));
            let before = |(it, mark): (&Way, &Mark)| {
                left(it) && (*mark == Mark::Is || step > 0 && is(it, step - 1))
            };
            let stems = ways.iter().zip(&marks).any(before);
            for (way, mark) in ways.iter().zip(&mut marks) {
                let other = if side { way.mark(step) } else { Mark::Maybe };
                *mark = if stems { other.max(*mark) } else { other };
            }
        }
        let marked = ways.iter().zip(marks).filter(|it| it.1 == Mark::Is);
        Some(marked.filter_map(|it| it.0.result).collect())
    }
}
