//! Required fields that nothing can be given for, in definitions and hidden fields: no data, but no
//! value that has them is printed (cue-errors 4.1).

use cue_map::Set;

use crate::evaluator::Evaluator;
use crate::heap::{FaultId, VertexId};
use crate::program::Presence;

impl Evaluator {
    /// The error of the first of them at or below a vertex.
    pub(crate) fn unmet(&mut self, id: VertexId) -> Option<FaultId> {
        self.unmet_in(id, 0, &mut Set::default())
    }

    fn unmet_in(&mut self, id: VertexId, depth: u32, seen: &mut Set<u32>) -> Option<FaultId> {
        if depth > self.budget.depth || self.tick().is_err() || self.is_sound_data(id) {
            return None;
        }
        let id = self.default_of(id)?;
        if self.heap.get(id).fault.is_some() || !seen.insert(id.number()) {
            return None;
        }
        for index in 0..self.heap.get(id).arcs.len() {
            let arc = &self.heap.get(id).arcs[index];
            let (field, presence) = (arc.vertex, arc.presence);
            let found = match presence {
                Presence::Optional => None,
                Presence::Required => self.permanent(field, 0).map(|it| self.heap.fault(it)),
                Presence::Member => self.unmet_in(field, depth + 1, seen),
            };
            if found.is_some() {
                return found;
            }
        }
        None
    }
}
