//! What is done with and has an error is that error to whoever asks for its value (cue-errors 4.1): a
//! selection from it, an index, a comparison; a mere reference takes what it says.

use crate::closed::NOT_ALLOWED;
use crate::error::{Fault, Kind};
use crate::evaluator::Evaluator;
use crate::heap::{FaultId, State, VertexId};
use crate::program::Presence;

/// What is found in a value.
#[derive(Default)]
struct Found {
    failed: bool,
    /// Something may still resolve.
    open: bool,
}

impl Evaluator {
    /// The errors of what a field has, if all of it is done with.
    pub(crate) fn failed_below(&mut self, id: VertexId) -> Option<FaultId> {
        if !self.failed {
            return None;
        }
        let real = self.follow(id);
        let vertex = self.heap.get(real);
        if vertex.arcs.is_empty() || vertex.label.is_none() || self.heap.is_sound(real) {
            return None;
        }
        let resets = self.heap.resets;
        if let Some((_, known)) = self.known_below.get(&real).filter(|it| it.0 == resets) {
            // Who else has met it counts.
            let known = known.map(|it| self.heap.faults[it].clone());
            return known.map(|it| self.heap.fault(it));
        }
        let mut found = Found::default();
        if !self.is_done_below(real, 0, &mut found) {
            return None;
        }
        if !found.failed && !found.open {
            self.heap.get_mut(real).sound = resets + 1;
            return None;
        }
        let first = if found.failed { self.first_failing(real) } else { Vec::new() };
        let fault = Fault::listed(first).map(|it| self.heap.fault(it));
        if self.spent.is_none() {
            // Each of its fields may be asked for.
            self.known_below.insert(real, (resets, fault));
        }
        fault
    }

    /// The error of a field that a value does not allow.
    pub(crate) fn not_allowed_in(&self, id: VertexId) -> Option<FaultId> {
        let mut faults =
            self.heap.get(id).arcs.iter().filter_map(|it| self.heap.get(it.vertex).fault);
        faults.find(|it| self.heap.faults[*it].message == NOT_ALLOWED)
    }

    /// Whether a field of `whole`, or one below it, is computed of what another value does not allow: it fails by that.
    pub(crate) fn takes_refused(&self, id: VertexId, whole: VertexId, depth: u32) -> bool {
        let real = self.follow(id);
        let vertex = self.heap.get(real);
        let refused = self.heap.fault_of(id, real).map(|it| &self.heap.faults[it]);
        if let Some(fault) = refused.filter(|it| it.message == NOT_ALLOWED) {
            return fault.place.is_some_and(|it| !self.is_ancestor(whole, it));
        }
        let members = vertex.arcs.iter().filter(|it| it.presence == Presence::Member);
        real == id
            && depth < self.budget.depth
            && members.into_iter().any(|it| self.takes_refused(it.vertex, whole, depth + 1))
    }

    /// Something that is no alternative has failed for good: until then there is nothing to look for.
    pub(crate) fn note_failure(&mut self, fault: FaultId) {
        self.failed |= self.trying.is_empty() && !self.heap.faults[fault].kind.is_incomplete();
    }

    /// Whether all of a value is evaluated; from its last field on, since that comes last.
    fn is_done_below(&self, id: VertexId, depth: u32, found: &mut Found) -> bool {
        let real = self.follow(id);
        if self.heap.is_sound(real) || self.is_sound_data(real) {
            return true;
        }
        let vertex = self.heap.get(real);
        if vertex.state != State::Done || depth > self.budget.depth {
            return false;
        }
        if let Some(fault) = self.heap.fault_of(id, real) {
            match self.heap.faults[fault].kind {
                Kind::Permanent | Kind::User | Kind::StructuralCycle => found.failed = true,
                _ => found.open = true,
            }
            if found.failed || !self.goes_on(real, fault) {
                return true;
            }
        }
        // Alternatives have fields, what they are of has none.
        found.open |= vertex.choice.is_some();
        let members = vertex.arcs.iter().rev().filter(|it| it.presence == Presence::Member);
        vertex.choice.is_some()
            || members.into_iter().all(|it| self.is_done_below(it.vertex, depth + 1, found))
    }
}
