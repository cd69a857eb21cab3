//! Vertices one after the other: what is to be done for each, in which order, until nothing moves. What a
//! conjunct is for its vertex is in `conjuncts`, what comes from another vertex in `reference`, what is run
//! for fields in `tasks`.

use std::ops::ControlFlow;

use crate::builtin::Kinds;
use crate::error::{Fault, Kind};
use crate::evaluator::Evaluator;
use crate::groups::Groups;
use crate::heap::{Conjunct, Cycle, Disjunction, FaultId, Marks, Scalar, Source, State, VertexId};
use crate::program::{Callee, Code, Plain};
use crate::waiting::Left;
use crate::work::Work;

/// From here on chains are taken up from their other end.
const DEEP: u32 = 200;

/// So many steps up from a value take as long as a tick.
const STEPS_OF_A_TICK: u64 = 256;

impl Evaluator {
    /// The vertex whose value `id` shares, itself if none.
    #[inline]
    pub(crate) fn follow(&self, mut id: VertexId) -> VertexId {
        while let Some(next) = self.heap.get(id).forward {
            id = next;
        }
        id
    }

    /// Evaluates a vertex, not its children; gives the vertex that has the value. Inlined for those that are done, as most
    /// are: in the sandbox a call costs more than the question.
    #[inline]
    pub(crate) fn unify(&mut self, id: VertexId) -> VertexId {
        let vertex = self.heap.get(id);
        if vertex.forward.is_none() && vertex.state == State::Done {
            return id;
        }
        self.unify_further(id)
    }

    #[inline(never)]
    fn unify_further(&mut self, id: VertexId) -> VertexId {
        let id = self.follow(id);
        match self.heap.get(id).state {
            State::Running | State::Done => id,
            State::Suspended if !self.may_resume(id) => id,
            State::New | State::Suspended => self.evaluate(id),
        }
    }

    /// The same for one that waits to be evaluated.
    fn evaluate(&mut self, id: VertexId) -> VertexId {
        let climbed = self.climbed.take();
        if let Err(fault) = self.tick_for(climbed) {
            let vertex = self.heap.get_mut(id);
            vertex.state = State::Done;
            vertex.fault = Some(fault);
            return id;
        }
        if self.depth >= DEEP.min(self.budget.depth / 2) {
            let before = self.heap.get(id).state;
            self.begin_chain(id);
            if self.follow(id) != id || self.heap.get(id).state != before {
                return self.unify(id);
            }
        }
        self.depth += 1;
        let before = std::mem::replace(&mut self.current, id);
        let outside = self.place;
        let named = self.heap.get(id).label.is_some();
        if named {
            self.place = id;
        }
        self.heap.get_mut(id).state = State::Running;
        if !named {
            self.inlining.push(self.written_as(id));
        }
        if self.depth > self.budget.depth {
            self.raise(id, self.too_deep(id));
        } else if !named && self.inlines_without_end() {
            self.raise(id, Fault::spread(Kind::StructuralCycle, "structural cycle"));
        } else {
            self.run(id);
        }
        if !named {
            self.inlining.pop();
        }
        // One that shares another value is done, whether or not that is: nobody is to wait for it.
        if self.heap.get(id).forward.is_some() {
            self.heap.get_mut(id).state = State::Done;
        }
        let id = self.follow(id);
        let vertex = self.heap.get_mut(id);
        if vertex.state == State::Running {
            vertex.state = State::Done;
            self.forget_tasks(id);
            if !self.asked_for.is_empty() {
                self.asked_for.retain(|it| *it != id);
            }
            if !self.refusals.is_empty() {
                self.tell_refusals(id);
            }
        }
        match self.heap.get(id).fault {
            None => {}
            Some(_) if !named => self.fails_by_itself(id, outside),
            Some(fault) => self.fails_as_shared(id, fault),
        }
        self.depth -= 1;
        self.current = before;
        self.place = outside;
        if self.depth == 0 {
            // What waits for others at the very end is not refused by them.
            while let Some(on) = self.refusals.first().map(|it| it.on) {
                self.tell_refusals(on);
            }
            self.forget_copies();
            if !self.answers.is_empty() {
                self.recheck();
            }
        }
        id
    }

    /// A vertex that was done with gets one more conjunct; what it has stays. Whether it is done again.
    pub(crate) fn take_more(&mut self, id: VertexId, conjunct: Conjunct) -> bool {
        // What has failed around it may not be all any more.
        self.known_below.clear();
        let before = std::mem::replace(&mut self.current, id);
        let outside = std::mem::replace(&mut self.place, id);
        self.depth += 1;
        let vertex = self.heap.get_mut(id);
        vertex.state = State::Running;
        vertex.conjuncts.push(conjunct.clone());
        let mut work = self.spare.pop().unwrap_or_default();
        work.conjuncts.push(conjunct);
        let waits = self.work_off(id, &mut work);
        self.bytes = self.bytes.saturating_sub(work.counted);
        self.heap.get_mut(id).state = State::Done;
        self.forget_tasks(id);
        self.depth -= 1;
        (self.current, self.place) = (before, outside);
        waits.is_none()
    }

    /// The error of a value that is computed on the way is at no field's path (cue-errors 3.3).
    #[cold]
    fn fails_by_itself(&mut self, id: VertexId, outside: VertexId) {
        let vertex = self.heap.get(id);
        let (Some(fault), Some(_), [conjunct]) =
            (vertex.fault, vertex.parent, vertex.conjuncts.as_slice())
        else {
            return;
        };
        let Source::Expr(expr, _) = conjunct.source() else { return };
        let written = match self.program.code(expr) {
            // What uses it in an expression hands on the error of the `let`.
            _ if self.let_name(id).is_some() => true,
            Code::Call(Callee::Plain(plain), _) => {
                matches!(plain, Plain::Close | Plain::CloseAll | Plain::Reclose)
            }
            Code::Unify(..) | Code::Struct(_) | Code::List(_) => true,
            _ => false,
        };
        let known = &self.heap.faults[fault];
        // What a call is given is of whoever asks.
        let called = matches!(self.program.code(expr), Code::Call(..))
            && known.message.ends_with(" in argument 1 to close");
        if written && !called && known.place == Some(outside) {
            let mut own = known.clone();
            own.place = Some(id);
            own.causes.iter_mut().filter(|it| it.place == Some(outside)).for_each(|it| {
                it.place = Some(id);
            });
            let own = self.heap.fault(own);
            self.heap.get_mut(id).fault = Some(own);
        }
    }

    fn run(&mut self, id: VertexId) {
        if let Some((data, came)) = self.lone_data(id) {
            self.heap.get_mut(id).content = true;
            self.take_data(id, data, &Groups::new(), came);
            return;
        }
        if let Some((scalar, via)) = self.lone_literal(id) {
            self.heap.get_mut(id).content = true;
            self.take_scalar(id, Scalar::Known(scalar), via);
            return;
        }
        let mut work = match self.resume(id) {
            Some(work) => work,
            None => {
                if self.share(id) {
                    return;
                }
                let mut work = self.spare.pop().unwrap_or_default();
                work.conjuncts.extend(self.heap.get(id).conjuncts.iter().rev().cloned());
                work
            }
        };
        match self.work_off(id, &mut work) {
            Some((fault, on)) => self.suspend(id, work, fault, on),
            None if work.counted == 0 => {
                work.clear();
                self.spare.push(work);
            }
            // What is large is given back.
            None => self.bytes = self.bytes.saturating_sub(work.counted),
        }
    }

    /// Does what is to be done for a vertex; what it waits for, if it is to be put off.
    fn work_off(&mut self, id: VertexId, work: &mut Work) -> Option<(FaultId, VertexId)> {
        let mut tried = self.epoch.wrapping_sub(1);
        let mut valued = false;
        loop {
            while let Some(conjunct) = work.conjuncts.pop() {
                if self.spent.is_some() {
                    self.heap.get_mut(id).fault = self.spent;
                    return None;
                }
                self.take(id, conjunct, work);
            }
            self.collect_inbox(id, work);
            if !work.conjuncts.is_empty() {
                continue;
            }
            // An alternative comes after what the vertex is without it (D-7), and before what is computed.
            let refers =
                work.late.is_empty() && work.later.front().is_some_and(|it| self.refers(it));
            if !work.picked.is_empty() && !refers {
                work.conjuncts.extend(work.picked.pop_front());
                continue;
            }
            if let Some(conjunct) = work.late.pop_front().or_else(|| work.later.pop_front()) {
                self.note_left(id, work.left());
                self.heap.mark(id, Marks::TAKES);
                self.take_now(id, conjunct, work);
                self.heap.unmark(id, Marks::TAKES);
                continue;
            }
            self.note_left(id, work.left());
            if work.is_done() {
                self.finish(id);
                return None;
            }
            if self.unpark(id, work) {
                continue;
            }
            if let Some(pattern) = work.patterns.pop_front() {
                let listed = work.comprehensions.is_empty() && work.waiting.is_empty();
                let listed = (listed && work.left() == Left::Nothing).then_some(id);
                let before = std::mem::replace(&mut self.patterned, listed);
                self.add_pattern(id, pattern);
                self.patterned = before;
                continue;
            }
            if self.computed_fields(id, work) || self.comprehensions(id, work) {
                self.epoch += 1;
                continue;
            }
            // What waits is tried again once more is known.
            let waits = !work.waiting.is_empty() || !work.held.is_empty();
            let found = waits && !valued && self.heap.get(id).scalar.is_some();
            if found && work.disjunctions.is_empty() && self.trying.is_empty() {
                // Who asked for its value before it had one finds it now.
                valued = true;
                self.epoch += 1;
            }
            if waits && tried != self.epoch {
                tried = self.epoch;
                self.wake(work);
                self.held(id, work);
                continue;
            }
            // Where a reference leads to what encloses the vertex, no choice is made (S-62): an
            // alternative would be chosen within itself.
            if work.encloses {
                let chosen = !self.heap.get(id).picks.is_empty();
                let cyclic = |it: &Conjunct| it.cycle == Cycle::Cyclic;
                work.disjunctions.retain(|it| chosen && !it.sources.iter().all(cyclic));
            }
            if self.narrow_choices(id, work) {
                self.epoch += 1;
                continue;
            }
            if let Some(waits) = self.waits_elsewhere(id, work) {
                return Some(waits);
            }
            if !work.disjunctions.is_empty() {
                break;
            }
            if !self.last_task(id, work) {
                // A label that its own vertex brings nothing for may wait for what is around that.
                let waits = self.waits_elsewhere(id, work).filter(|_| !work.computed.is_empty());
                if waits.is_some() {
                    return waits;
                }
                break;
            }
            self.epoch += 1;
        }
        self.conclude(id, work)
    }

    /// All there is to do for a vertex is done: what still waits is told, one of its alternatives chosen, and what it
    /// has come to checked.
    fn conclude(&mut self, id: VertexId, work: &mut Work) -> Option<(FaultId, VertexId)> {
        for (pending, fault) in std::mem::take(&mut work.waiting) {
            self.withdraw(id, pending.index);
            if work.disjunctions.is_empty() {
                self.raise_id(id, fault);
            }
        }
        // An alternative may still give it content.
        let lost = !work.parked.is_empty() || work.repeats && !self.is_fed(id);
        if lost && work.disjunctions.is_empty() {
            self.heap.get_mut(id).arcs = crate::members::Arcs::default();
            self.raise(id, Fault::spread(Kind::StructuralCycle, "structural cycle"));
            return None;
        }
        for field in std::mem::take(&mut work.computed) {
            if let Err(fault) = self.label_of(&field) {
                self.raise_id(id, fault);
            }
        }
        if work.disjunctions.len() > 1 && !self.heap.get(id).picks.is_empty() {
            self.leave_copies(id, &mut work.disjunctions);
            // What an alternative brings is chosen before what comes after the one it is of (D-7).
            let rest = &self.ways.rest;
            let place = |it: &Disjunction| rest.iter().position(|after| *after == it.expr);
            cue_sort::by_key(&mut work.disjunctions, |it| place(it).map_or(0, |at| at + 1));
        }
        self.settle_fields(id);
        if let ControlFlow::Break(waits) = self.decide(id, work) {
            return waits;
        }
        self.check(id);
        None
    }

    /// The same where nothing is left and nothing is to be chosen.
    fn finish(&mut self, id: VertexId) {
        let vertex = self.heap.get(id);
        // A scalar of which nothing else is said is what it is.
        if vertex.scalar.is_some() && vertex.body.is_none() && vertex.fault.is_none() {
            return;
        }
        self.settle_fields(id);
        self.check(id);
    }

    /// Its fields and elements are all there.
    fn settle_fields(&mut self, id: VertexId) {
        if !self.heap.get(id).has_seldom() {
            return;
        }
        self.list_rest(id);
        self.unknown_patterns(id);
        self.settle_order(id);
    }

    fn check(&mut self, id: VertexId) {
        self.become_struct(id);
        // What has fields that are not allowed is not asked further (C-26).
        self.check_closed(id);
        self.check_scalar(id);
        self.check_fields(id);
    }

    /// Chooses among the alternatives of a vertex, if it has any; breaks off where that leaves nothing to check, with
    /// what the choice waits for.
    fn decide(
        &mut self,
        id: VertexId,
        work: &mut Work,
    ) -> ControlFlow<Option<(FaultId, VertexId)>> {
        // An alternative may refer to what only the next choice brings.
        if !work.disjunctions.is_empty() && !self.heap.get(id).picks.is_empty() {
            let fault = self.heap.get(id).fault.map(|it| self.heap.faults[it].kind);
            if fault == Some(Kind::Incomplete) {
                self.heap.get_mut(id).fault = None;
            }
        }
        // Each alternative fails with what is not known, or by itself (cue-errors 1.4), and beside what
        // contradicts itself.
        let own = self.heap.get(id).fault.filter(|it| {
            let fault = &self.heap.faults[*it];
            let differs = self.heap.get(id).scalar.is_some()
                && fault.message.starts_with(crate::conflict::CONFLICT)
                && !fault.message.contains(" (mismatched types ");
            match fault.kind {
                Kind::Incomplete => work.disjunctions.len() == 1,
                _ => differs && !work.disjunctions.is_empty(),
            }
        });
        if own.is_some() && self.heap.get(id).picks.is_empty() {
            self.heap.get_mut(id).fault = None;
            if self.choose(id, &work.disjunctions).is_some() || self.heap.get(id).fault.is_none() {
                let vertex = self.heap.get_mut(id);
                if vertex.choice.is_some() {
                    vertex.choice = None;
                }
                (vertex.forward, vertex.fault) = (None, own);
            }
        } else if !work.disjunctions.is_empty() && self.heap.get(id).fault.is_none() {
            self.note_left(id, Left::Some);
            // What contradicts itself is no matter of alternatives.
            if self.tags_differ(id) {
                return ControlFlow::Break(None);
            }
            if !self.heap.get(id).picks.is_empty() {
                // What is refused already is not tried with further alternatives.
                if self.heap.get(id).scalar.is_some() && !self.heap.get(id).tests.is_empty() {
                    self.check_scalar(id);
                    if self.heap.get(id).fault.is_some() {
                        return ControlFlow::Break(None);
                    }
                }
                if self.refuses_already(id, &work.disjunctions) {
                    self.refused.insert(id.number());
                    return ControlFlow::Break(None);
                }
            }
            if let Some(waits) = self.choose(id, &work.disjunctions) {
                return ControlFlow::Break(Some(waits));
            }
            if self.heap.get(id).forward.is_some() {
                return ControlFlow::Break(None);
            }
        } else if !work.disjunctions.is_empty() {
            self.spoil(id);
        }
        ControlFlow::Continue(())
    }

    /// Makes a struct of a vertex of which nothing else was said that it could be.
    fn become_struct(&mut self, id: VertexId) {
        let vertex = self.heap.get(id);
        let plain = !vertex.constrained && vertex.tests.is_empty();
        // Beside an embedded `_` definitions and the like leave everything possible.
        let beside = plain && !vertex.placed.is_empty() && !vertex.closing.iter().any(|it| it.top);
        // So does what can be nothing but a struct beside what checks it.
        let whole = vertex.kinds == Kinds::STRUCT && !vertex.placed.is_empty();
        // A regular field makes a struct, be it only required.
        let has_fields = !vertex.is_struct
            && vertex.kinds.meets(Kinds::STRUCT)
            && vertex.arcs.iter().any(|it| self.makes_struct(it));
        // What yields nothing is a struct by the fields it might have had, or where nothing allows all.
        let emptied = self.emptied.get(&id.number()).copied();
        let emptied = emptied.filter(|named| *named || vertex.kinds.meets(Kinds::STRUCT));
        let open = emptied == Some(false) && self.is_said(id, |it| matches!(it, Code::Top));
        if (emptied.is_some() || beside) && !open || whole || has_fields {
            let vertex = self.heap.get_mut(id);
            let bare = vertex.scalar.is_none()
                && !vertex.is_list
                && vertex.choice.is_none()
                && vertex.fault.is_none();
            vertex.is_struct |= bare;
        }
    }

    /// Fields of comprehension bodies count where the comprehension stands (O-4).
    fn settle_order(&mut self, id: VertexId) {
        if self.heap.get(id).named.is_none() {
            return;
        }
        let vertex = self.heap.get_mut(id);
        let Some(named) = vertex.named.take() else { return };
        vertex.arcs.order_by(|it| named.place(&it.label).unwrap_or(usize::MAX));
    }

    /// Whether `above` is `below` or one of its parents.
    pub(crate) fn is_ancestor(&self, above: VertexId, below: VertexId) -> bool {
        let mut steps = 0;
        // Lets and inline values stand outside the tree (S-64).
        let around = |it: &VertexId| {
            let vertex = self.heap.get(*it);
            vertex.label.and(vertex.parent)
        };
        let found = std::iter::successors(Some(below), around).any(|it| {
            steps += 1;
            it == above || self.follow(it) == above
        });
        if steps >= STEPS_OF_A_TICK {
            self.climbed.set(self.climbed.get() + steps / STEPS_OF_A_TICK);
        }
        found
    }
}
