//! Errors at or below a value: what has failed for good, and what may still resolve.

use crate::builtin::Kinds;
use crate::closed::NOT_ALLOWED;
use crate::empty::EMPTY;
use crate::error::{Fault, Kind};
use crate::evaluator::Evaluator;
use crate::heap::{FaultId, State, VertexId};
use crate::program::Presence;

impl Evaluator {
    /// The first permanent error at or below a vertex.
    pub(crate) fn permanent(&mut self, id: VertexId, depth: u32) -> Option<Fault> {
        let (fault, place) = self.failure_below(id, depth)?;
        let mut fault = self.heap.faults[fault].clone();
        fault.place = fault.place.or(place);
        Some(fault)
    }

    /// Whether there is one.
    pub(crate) fn fails_for_good(&mut self, id: VertexId) -> bool {
        self.failure_below(id, 0).is_some()
    }

    /// That error, and the vertex that has it.
    fn failure_below(&mut self, id: VertexId, depth: u32) -> Option<(FaultId, Option<VertexId>)> {
        // Within a value errors of others are looked for, and within these: each from its own beginning.
        if let Err(fault) = self.go_in(id) {
            return Some((self.heap.fault(fault), None));
        }
        let found = self.failure_within(id, depth);
        self.go_out();
        found
    }

    fn failure_within(&mut self, id: VertexId, depth: u32) -> Option<(FaultId, Option<VertexId>)> {
        let id = self.unify(id);
        if let Err(spent) = self.tick() {
            return Some((spent, None));
        }
        if let Some(fault) = self.heap.get(id).fault {
            if !self.heap.faults[fault].kind.is_incomplete() {
                return Some((fault, Some(id)));
            }
        }
        // Alternatives have fields, what they are of has none.
        let vertex = self.heap.get(id);
        if depth > self.budget.depth || vertex.choice.is_some() || self.heap.is_sound(id) {
            return None;
        }
        for index in 0..self.heap.get(id).arcs.len() {
            let arc = &self.heap.get(id).arcs[index];
            let (vertex, presence) = (arc.vertex, arc.presence);
            if presence == Presence::Optional {
                continue;
            }
            let vertex = self.follow(vertex);
            let state = self.heap.get(vertex).state;
            let unfinished = matches!(state, State::Running | State::Suspended);
            self.passed_over += u64::from(unfinished);
            if unfinished || self.is_sound_data(vertex) {
                continue;
            }
            if let Some(found) = self.failure_below(vertex, depth + 1) {
                return Some(found);
            }
        }
        None
    }

    /// Whether the fields of a value with an error of its own are evaluated all the same: if it is one of
    /// its declarations, not of the value as a whole (cue-errors 4.1).
    pub(crate) fn goes_on(&self, id: VertexId, fault: FaultId) -> bool {
        let (vertex, fault) = (self.heap.get(id), &self.heap.faults[fault]);
        let own = fault.place.is_none_or(|it| it == id);
        (vertex.is_struct || vertex.is_list)
            && vertex.choice.is_none()
            && vertex.kinds != Kinds::BOTTOM
            && !matches!(fault.kind, Kind::StructuralCycle | Kind::Budget)
            && !(own
                && (fault.message.ends_with(EMPTY) || fault.message.starts_with("invalid value ")))
            && fault.message != NOT_ALLOWED
            && !self.gives_nothing(fault, id)
    }

    /// Beside an error for good of a value itself those of its first field or element that fails are told.
    pub(crate) fn fails_beside(&mut self, id: VertexId, fault: FaultId) -> Vec<Fault> {
        if self.heap.faults[fault].kind.is_incomplete() || !self.goes_on(id, fault) {
            return Vec::new();
        }
        // What is not allowed gives way to what fails after it; what was asked for early is told in any case.
        let all = self.asked_early.contains(&id.number());
        let mut found: Vec<Fault> = Vec::new();
        let mut fails = false;
        for each in self.counting(id) {
            if fails && !all && !self.asked_early.contains(&each.number()) {
                continue;
            }
            let own = self.first_failing_of(&[each]);
            if !fails && !own.is_empty() {
                found.clear();
            }
            fails |= own.iter().any(|it| it.message != NOT_ALLOWED);
            found.extend(own);
        }
        found
    }

    /// The error of a value itself, for who asks it for a field: with those beside it.
    pub(crate) fn with_beside(&mut self, id: VertexId, fault: FaultId) -> FaultId {
        let beside = self.fails_beside(id, fault);
        if beside.is_empty() {
            return fault;
        }
        let mut own = self.heap.faults[fault].clone();
        own.place = own.place.or(Some(id));
        let all = own.each().chain(beside);
        Fault::listed(all).map_or(fault, |it| self.heap.fault(it))
    }

    /// The fields and elements whose errors are those of the value that has them.
    fn counting(&self, id: VertexId) -> Vec<VertexId> {
        let arcs = self.heap.get(id).arcs.iter().filter(|it| it.presence != Presence::Optional);
        arcs.map(|it| it.vertex).collect()
    }

    /// What is wrong with a value, as who asks for it is told: it is given up at its first field that fails;
    /// fields that are not allowed are found before those within them, all of a struct at once
    /// (cue-errors 1.4, 4.1).
    pub(crate) fn first_failing(&mut self, id: VertexId) -> Vec<Fault> {
        if let Err(fault) = self.go_in(id) {
            return vec![fault];
        }
        let found = self.first_failing_below(id);
        self.go_out();
        found
    }

    fn first_failing_below(&mut self, id: VertexId) -> Vec<Fault> {
        let real = self.unify(id);
        if let Err(spent) = self.tick() {
            return vec![self.heap.faults[spent].clone()];
        }
        if let Some(fault) = self.failing_by_itself(id) {
            let own = self.heap.fault_of(id, real);
            let beside = own.map(|it| self.fails_beside(real, it)).unwrap_or_default();
            return fault.each().chain(beside).collect();
        }
        let vertex = self.heap.get(real);
        if vertex.choice.is_some() || self.heap.is_sound(real) {
            return Vec::new();
        }
        let arcs = self.counting(real);
        let refused = arcs.iter().filter_map(|it| self.failing_by_itself(*it));
        let refused: Vec<Fault> = refused.filter(|it| it.message == NOT_ALLOWED).collect();
        if refused.is_empty() { self.first_failing_of(&arcs) } else { refused }
    }

    /// The error for good that is a value's own.
    fn failing_by_itself(&mut self, id: VertexId) -> Option<Fault> {
        let fault = self.heap.fault_of(id, self.follow(id))?;
        let mut fault = self.heap.faults[fault].clone();
        fault.place = fault.place.or(Some(id));
        if fault.message == NOT_ALLOWED {
            fault.positions.extend(self.declarations_of(id));
        }
        (!fault.kind.is_incomplete()).then_some(fault)
    }

    fn first_failing_of(&mut self, all: &[VertexId]) -> Vec<Fault> {
        for each in all {
            let unfinished = matches!(
                self.heap.get(self.follow(*each)).state,
                State::Running | State::Suspended
            );
            let found = if unfinished { Vec::new() } else { self.first_failing(*each) };
            if !found.is_empty() {
                return found;
            }
        }
        Vec::new()
    }

    /// The worst kind among the errors of members (cue-errors 0.1).
    pub(crate) fn worst(&mut self, id: VertexId) -> Option<Kind> {
        let mut all = Vec::new();
        self.permanent_all(id, &mut all, 0);
        all.into_iter().map(|it| it.kind).max_by_key(|it| it.severity())
    }

    /// Every permanent error at or below a vertex.
    pub(crate) fn permanent_all(&mut self, id: VertexId, out: &mut Vec<Fault>, depth: u32) {
        let real = self.unify(id);
        if self.tick().is_err() || depth > self.budget.depth || out.len() > 50 {
            return;
        }
        if let Some(fault) = self.heap.fault_of(id, real) {
            let fault = &self.heap.faults[fault];
            if !fault.kind.is_incomplete() {
                let mut fault = fault.clone();
                fault.place = fault.place.or(Some(id));
                out.push(fault);
                return;
            }
        }
        if self.heap.get(real).choice.is_some() {
            return;
        }
        let arcs: Vec<VertexId> = self
            .heap
            .get(real)
            .arcs
            .iter()
            .filter(|it| it.presence != Presence::Optional)
            .map(|it| it.vertex)
            .collect();
        for arc in arcs {
            let arc = self.follow(arc);
            if !matches!(self.heap.get(arc).state, State::Running | State::Suspended) {
                self.permanent_all(arc, out, depth + 1);
            }
        }
    }

    /// The incomplete error of a value, its own or that of a field, not of one further in (D-8); a cycle
    /// may still close, and so may what waits for the choice itself.
    pub(crate) fn unknown(&mut self, id: VertexId, depth: u32) -> Option<FaultId> {
        let id = self.unify(id);
        if let Some(fault) = self.put_off(id) {
            self.passed_over += 1;
            return (depth == 0).then_some(fault);
        }
        let vertex = self.heap.get(id);
        if let Some(fault) = vertex.fault {
            let waits = self.waits(fault).is_some();
            let open = match self.heap.faults[fault].kind {
                Kind::Incomplete => depth == 0 || !waits,
                Kind::Cycle => !waits,
                _ => false,
            };
            return open.then_some(fault);
        }
        if vertex.choice.is_some() || depth > 0 || self.heap.is_sound(id) {
            return None;
        }
        if vertex.state == State::Running {
            self.passed_over += 1;
            return None;
        }
        self.counting(id).into_iter().find_map(|arc| match self.tick() {
            Ok(()) => self.unknown(arc, depth + 1),
            Err(_) => None,
        })
    }

    /// All of them of a value.
    pub(crate) fn all_unknown(&mut self, id: VertexId) -> Vec<FaultId> {
        let Some(first) = self.unknown(id, 0) else { return Vec::new() };
        let real = self.unify(id);
        if self.heap.get(real).fault.is_some() || self.put_off(real).is_some() {
            return vec![first];
        }
        let below = self.counting(real).into_iter();
        below.filter_map(|it| self.unknown(it, 1).filter(|_| self.tick().is_ok())).collect()
    }
}
