//! What the work of an evaluation goes into, by samples: the vertex that is being evaluated, each time a share of the
//! budget of steps is used up. Steps are counted the same everywhere, so samples are, too.

use crate::evaluator::Evaluator;
use crate::heap::VertexId;

/// Samples of a whole budget.
const SAMPLES: u64 = 64;

/// Fields around the innermost one that are looked at.
const MOST_UP: usize = 100;

/// Samples, and when the next one is due.
#[derive(Debug)]
pub(crate) struct Spending {
    /// The count of steps from which on there is something to look at.
    pub(crate) due: u64,
    /// And from which on that is who the next sample is of, or that there are no more steps.
    sample_due: u64,
    samples: Vec<VertexId>,
}

impl Spending {
    /// Of an evaluation with so many steps.
    pub(crate) fn new(steps: u64) -> Self {
        Self { due: 0, sample_due: (steps / SAMPLES).saturating_add(1), samples: Vec::new() }
    }

    /// Is due when so many steps are used up, if not before.
    pub(crate) fn end_by(&mut self, steps: u64) {
        self.sample_due = self.sample_due.min(steps.saturating_add(1));
        self.due = self.due.min(self.sample_due);
    }

    /// Is due at so many steps, if not before.
    pub(crate) fn next(&mut self, steps: u64) {
        self.due = steps.min(self.sample_due);
    }

    /// Whether there is to be a sample at so many steps.
    pub(crate) fn is_sample_due(&self, steps: u64) -> bool {
        steps >= self.sample_due
    }
}

impl Evaluator {
    /// Takes a sample.
    pub(crate) fn sample(&mut self) {
        let Spending { sample_due, samples, .. } = &mut self.spending;
        samples.push(self.current);
        let next = sample_due.saturating_add((self.budget.ticks / SAMPLES).max(1));
        *sample_due = next.min(self.budget.ticks.saturating_add(1));
    }

    /// The innermost field or element that more than half of the work went into, and how many per cent of it.
    pub(crate) fn most_spent(&self) -> Option<(VertexId, usize)> {
        let samples = &self.spending.samples;
        // Work goes from one field to the next: what has more than half of it has the middle.
        let mut next = samples.get(samples.len() / 2).copied();
        for _ in 0..MOST_UP {
            let id = next?;
            let share = samples.iter().filter(|it| self.is_ancestor(id, **it)).count();
            let vertex = self.heap.get(id);
            if 2 * share > samples.len() && vertex.label.is_some() && self.is_rooted(id) {
                return Some((id, 100 * share / samples.len()));
            }
            next = vertex.parent;
        }
        None
    }
}
