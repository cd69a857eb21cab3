//! Values that wait for each other (S-60): whose error is whose when nothing moves any more.
//!
//! The official evaluator puts off the task that asks, and goes on with the tasks of what was asked
//! for; in the end each is run once more and finds the others as they are. What is said of each field
//! so depends on who asked for what first, and users see it.

use crate::builtin::Kinds;
use crate::error::{Fault, Kind};
use crate::evaluator::Evaluator;
use crate::heap::{Conjunct, FaultId, Source, State, Test, VertexId};
use crate::program::{At, Code};
use crate::work::Work;

/// What a reference to a value is told of that is computed from itself.
const LOOPS: &str = "cycle with field";

/// References of a loop that are told of at most.
const MOST_NAMED: usize = 100;

impl Evaluator {
    /// The vertex that an error waits for, which is being evaluated, where a type or a bound of it is known already:
    /// asked for a concrete value it has none yet, more than that it leads back to itself (S-60).
    pub(crate) fn known_in_part(&self, fault: FaultId) -> Option<VertexId> {
        let known = &self.heap.faults[fault];
        let id = known.closes_at.filter(|it| known.awaits == Some((*it, None)))?;
        let own = known.kind == Kind::Cycle && known.place == Some(self.place);
        (own && self.heap.get(id).state == State::Running && self.is_narrowed(id)).then_some(id)
    }

    /// Whether a type or a bound says something of a vertex, be it `_`; a function that tests it says
    /// nothing yet.
    pub(crate) fn is_narrowed(&self, id: VertexId) -> bool {
        let vertex = self.heap.get(id);
        let is_top = |it: &Conjunct| match it.source() {
            Source::Expr(expr, _) => matches!(self.program.code(expr), Code::Top),
            Source::Data(_) | Source::Vertex(_) => false,
        };
        match &*vertex.tests {
            [] => vertex.kinds != Kinds::ANY || vertex.conjuncts.iter().any(is_top),
            tests => tests.iter().any(|it| !matches!(it.0, Test::Call(..))),
        }
    }

    /// The second error, which waits for what the first one waits for.
    pub(crate) fn awaiting_as(&mut self, first: FaultId, second: FaultId) -> FaultId {
        let (closes_at, awaits) =
            (self.heap.faults[first].closes_at, self.heap.faults[first].awaits);
        let fault = &mut self.heap.faults[second];
        (fault.closes_at, fault.awaits) = (closes_at, awaits);
        second
    }

    /// Each reference of a loop of values adds itself to the error of what it refers to, and so to those of all
    /// before it, unless more is known of that than what it is computed from (S-60).
    pub(crate) fn note_cycle(&mut self, fault: FaultId, id: VertexId, at: At) -> FaultId {
        let known = &self.heap.faults[fault];
        let Some(start) = known.closes_at.filter(|_| known.kind == Kind::Cycle) else {
            return fault;
        };
        if self.heap.get(start).state != State::Running || known.causes.len() > MOST_NAMED {
            return fault;
        }
        if self.is_narrowed(id) {
            return self.held_against(fault, id);
        }
        let message = self.cycle_with(id, at);
        let known = &self.heap.faults[fault];
        if known.at == at || known.causes.iter().any(|it| it.at == at) {
            return fault;
        }
        // Where it is told on two ways, the outer one counts.
        let mut noted = known.clone();
        if noted.message == message {
            (noted.at, noted.place) = (at, Some(self.place));
            return self.heap.fault(noted);
        }
        let mut more = Fault::new(Kind::Cycle, message, at);
        more.place = Some(self.place);
        noted.causes.retain(|it| it.message != more.message);
        noted.causes.push(more);
        self.heap.fault(noted)
    }

    /// The error of a loop, which the bounds of a vertex of it were held against.
    fn held_against(&mut self, fault: FaultId, id: VertexId) -> FaultId {
        let known = &self.heap.faults[fault];
        let bounds = self.heap.get(id).tests.iter().filter(|it| matches!(it.0, Test::Bound(..)));
        let more: Vec<At> =
            bounds.map(|it| it.1).filter(|it| !known.positions.contains(it)).collect();
        if more.is_empty() || !known.causes.is_empty() {
            return fault;
        }
        let mut held = known.clone();
        held.positions.extend(more);
        self.heap.fault(held)
    }

    /// The error of a reference to what is being evaluated: while it is being chosen, or waits to be,
    /// it is no field yet (cue-errors 1.9).
    pub(crate) fn cycle_with(&self, id: VertexId, at: At) -> String {
        let chosen = self.waits_to_choose(id)
            || self.trying.iter().any(|(choice, _)| self.follow(*choice) == id);
        let what = if chosen { "unresolved disjunction" } else { LOOPS };
        format!("{what}: {}", self.called_at(id, at))
    }

    /// What is referred to as it is written, a hidden field by its name alone with its package.
    pub(crate) fn called_at(&self, id: VertexId, at: At) -> String {
        let text = self.source_at(at);
        let own = self.heap.get(id).label.filter(|it| self.label_text(*it) == text);
        own.map_or(text, |it| self.qualified(it))
    }

    /// Tells the first conjunct that waits for its own vertex that nothing comes any more. Where several wait
    /// for the same one, which waits for them, all find that one as far as it is known, the first one last,
    /// as it is the one that all wait for (S-60).
    pub(crate) fn last_held(&mut self, id: VertexId, work: &mut Work) {
        let first = self.value_waits_for(id, work.held[0].1);
        if first.is_some() && !self.asked_for.contains(&id) && !self.is_plain_loop(work.held[0].1) {
            self.asked_for.push(id);
        }
        let second = work.held.get(1).and_then(|it| self.value_waits_for(id, it.1));
        let on = first.filter(|it| second == first && self.put_off(*it).is_some());
        let (conjunct, _) = work.held.remove(0);
        if let Some(on) = on {
            let before = self.open_to.replace(on);
            self.held(id, work);
            if self.asks_for_others(&conjunct, on) {
                self.unify(on);
            }
            self.take_now(id, conjunct, work);
            self.open_to = before;
        } else {
            self.take_now(id, conjunct, work);
        }
        self.settled_alone = first.map(|_| id);
    }

    /// Whether an operand of a conjunct is another vertex than `on` that is not done with: what `on` waits for
    /// hears of its value before.
    fn asks_for_others(&mut self, conjunct: &Conjunct, on: VertexId) -> bool {
        let Source::Expr(expr, env) = conjunct.source() else { return false };
        let Code::Arithmetic(_, left, right) = *self.program.code(expr) else { return false };
        [left, right].into_iter().any(|it| {
            if self.refers_at(it).is_none() {
                return false;
            }
            let Some(asked) = self.eval(it, env).vertex() else { return false };
            let asked = self.follow(asked);
            asked != on && matches!(self.heap.get(asked).state, State::New | State::Suspended)
        })
    }

    /// The vertex that has no value before `id` has one, if that is what a conjunct of `id` waits for.
    fn value_waits_for(&self, id: VertexId, fault: FaultId) -> Option<VertexId> {
        let fault = (self.value_awaited(fault) == Some(id)).then_some(fault)?;
        self.heap.faults[fault].place
    }

    /// Whether an error is that a vertex on the stack has no value yet, which will be asked for once more.
    pub(crate) fn waits_for_value(&self, fault: FaultId) -> bool {
        self.heap.faults[fault].kind == Kind::Incomplete
            && self.value_awaited(fault).is_some_and(|it| {
                !self.asked_for.contains(&it) && self.heap.get(it).state == State::Running
            })
    }

    /// The vertex of which an error says that it has no value yet.
    pub(crate) fn value_awaited(&self, fault: FaultId) -> Option<VertexId> {
        let fault = &self.heap.faults[fault];
        match fault.awaits {
            Some((id, None)) if fault.closes_at == Some(id) => match fault.kind {
                Kind::Incomplete => Some(id),
                // Alternatives that are being tried have not said yet what there is.
                Kind::Cycle if self.trying.is_empty() => Some(id),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether an error is one of references that lead round and of nothing else: all of them say the same.
    fn is_plain_loop(&self, fault: FaultId) -> bool {
        let fault = &self.heap.faults[fault];
        let plain = |it: &Fault| it.message.starts_with(LOOPS);
        fault.kind == Kind::Cycle && plain(fault) && fault.causes.iter().all(plain)
    }

    /// The error of a loop at the vertex that it leads back to: that says so as well, in the words of the
    /// reference that closes it, whatever others have put around them (S-60).
    pub(crate) fn closing_loop(&mut self, id: VertexId, fault: FaultId) -> FaultId {
        let known = &self.heap.faults[fault];
        let here = known.kind == Kind::Cycle && known.closes_at == Some(id);
        let Some(closing) = known.closed_by.filter(|_| here) else { return fault };
        let closing = &self.heap.faults[closing];
        let mut all = known.clone().combined(closing.clone());
        all.closed_by = None;
        self.heap.fault(all)
    }

    /// Whether a vertex that was put off is taken as it is: without a value, unless it has got one since.
    pub(crate) fn is_taken_as_known(&self, id: VertexId) -> bool {
        let id = self.follow(id);
        self.open_to == Some(id) && self.heap.get(id).scalar.is_none() && self.is_narrowed(id)
    }

    /// Whether a vertex has an error because it waited for itself: who asked for it before that was clear
    /// finds it as far as it is known (S-60).
    pub(crate) fn waited_alone(&mut self, id: VertexId, fault: FaultId, before: State) -> bool {
        let asked = (self.current, id);
        let now = before != State::Done && self.settled_alone == Some(id);
        if !now && self.asked_alone != Some(asked) {
            return false;
        }
        self.asked_alone = Some(asked);
        self.heap.faults[fault].kind == Kind::Incomplete && self.is_narrowed(id)
    }
}
