//! Long chains of references between the fields of one struct, `c9: c8 + 1`: followed from their end
//! they are as deep as they are long. Far down the chain is taken up from its other end, where each
//! link finds the one before done.

use smallvec::SmallVec;

use crate::evaluator::Evaluator;
use crate::heap::{State, VertexId};
use crate::program::Label;

/// How deep below the struct the links of a chain may be.
const MOST_STEPS: usize = 16;

impl Evaluator {
    /// Before `id` is evaluated for the field at hand: what stands between it and the beginning or
    /// the end of the struct they have in common.
    pub(crate) fn begin_chain(&mut self, id: VertexId) {
        let from = self.above(self.place);
        let to = self.above(id);
        let Some((parent, first)) = from.iter().find_map(|(parent, label)| {
            let at = to.iter().position(|it| it.0 == *parent)?;
            (to[at].1 != *label).then_some((*parent, (*label, at)))
        }) else {
            return;
        };
        let (label, at) = first;
        let arcs = &self.heap.get(parent).arcs;
        let (Some(here), Some(there)) = (arcs.place(label), arcs.place(to[at].1)) else { return };
        let backward = there > here;
        // The fields themselves once, and once each field below all of them.
        let last = (at > 0).then_some(to[0].1);
        if !self.chains.insert((parent, last, backward)) {
            return;
        }
        let steps: SmallVec<[Label; 4]> = to[..at].iter().rev().map(|it| it.1).collect();
        let links: Vec<Label> = match backward {
            false => arcs.iter().take(there).map(|it| it.label).collect(),
            true => arcs.iter().skip(there + 1).rev().map(|it| it.label).collect(),
        };
        for link in links {
            if self.spent.is_some() {
                return;
            }
            self.evaluate_below(parent, link, &steps);
        }
    }

    fn evaluate_below(&mut self, parent: VertexId, link: Label, steps: &[Label]) {
        let mut at = parent;
        for label in std::iter::once(&link).chain(steps) {
            let real = self.follow(at);
            let Some(arc) = self.heap.arc(real, *label) else { return };
            at = arc.vertex;
            if self.heap.get(self.follow(at)).state != State::Done {
                self.unify(at);
            }
        }
    }

    /// The structs around a field, and the label on the way to it, the innermost first.
    fn above(&self, id: VertexId) -> SmallVec<[(VertexId, Label); MOST_STEPS]> {
        let mut all = SmallVec::new();
        let mut next = id;
        while all.len() < MOST_STEPS {
            let vertex = self.heap.get(next);
            let (Some(parent), Some(label)) = (vertex.parent, vertex.label) else { break };
            all.push((parent, label));
            next = parent;
        }
        all
    }
}
