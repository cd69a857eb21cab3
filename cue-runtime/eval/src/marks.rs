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

/// Alternatives of the first disjunctions of a value, one of each, that can hold together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Way {
    /// What came of it, if there are no more disjunctions.
    result: Option<VertexId>,
    /// A bit for each: whether that alternative is marked.
    marked: u64,
    length: u32,
}

/// The ways that lead to the results of a choice that is being made.
#[derive(Default)]
pub(crate) struct Ways {
    /// There are several disjunctions, and marks.
    pub(crate) wanted: bool,
    /// Of the vertex that was chosen for last.
    pub(crate) found: Vec<Way>,
}

impl Way {
    /// No disjunction yet.
    pub(crate) const START: Way = Way { result: None, marked: 0, length: 0 };

    /// The one that leads to a result at once.
    pub(crate) fn to(result: VertexId) -> Self {
        Way { result: Some(result), ..Way::START }
    }

    /// The same behind an alternative of the disjunction before; `stands` is what stands for the result,
    /// if that still holds.
    pub(crate) fn behind(
        self,
        marked: bool,
        stands: impl Fn(VertexId) -> Option<VertexId>,
    ) -> Self {
        let result = self.result.and_then(stands);
        let lost = result.is_none() && self.result.is_some();
        Way {
            result,
            marked: self.marked << 1 | u64::from(marked),
            length: self.length + u32::from(!lost),
        }
    }
}

impl Evaluator {
    /// The defaults among the results of several disjunctions, by all the ways that lead to them: step by
    /// step, a side whose marked alternatives are all gone counts as without marks. Nothing if one is of
    /// nested disjunctions too.
    pub(crate) fn marked_together(
        &self,
        disjunctions: &[Disjunction],
        ways: &[Way],
    ) -> Option<Vec<VertexId>> {
        let count = disjunctions.len() as u32;
        let whole =
            |it: &Way| if it.result.is_some() { it.length == count } else { it.length < count };
        if count > u64::BITS || !ways.iter().all(whole) {
            return None;
        }
        let mut marks = vec![Mark::Maybe; ways.len()];
        for (step, disjunction) in disjunctions.iter().enumerate() {
            // Later steps have no say in what is gone.
            let left = |it: &Way| it.length > step as u32;
            let is = |it: &Way, step: usize| it.marked >> step & 1 == 1;
            let side =
                disjunction.marks.contains(&true) && ways.iter().any(|it| left(it) && is(it, step));
            let before = |(it, mark): (&Way, &Mark)| {
                left(it) && (*mark == Mark::Is || step > 0 && is(it, step - 1))
            };
            let stems = ways.iter().zip(&marks).any(before);
            for (way, mark) in ways.iter().zip(&mut marks) {
                let other = match (side, is(way, step)) {
                    (false, _) => Mark::Maybe,
                    (true, true) => Mark::Is,
                    (true, false) => Mark::Not,
                };
                *mark = if stems { other.max(*mark) } else { other };
            }
        }
        let marked = ways.iter().zip(marks).filter(|it| it.1 == Mark::Is);
        let mut defaults: Vec<VertexId> = Vec::new();
        for result in marked.filter_map(|it| it.0.result) {
            if !defaults.contains(&result) {
                defaults.push(result);
            }
        }
        Some(defaults)
    }
}
