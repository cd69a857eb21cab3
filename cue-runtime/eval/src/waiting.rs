//! Who waits for what (S-24 to S-32): tasks that have not run, vertices put off until another one
//! that is being evaluated knows more, and what happens when nothing moves any more.
//!
//! Vertices are evaluated depth first. A reader that meets a vertex on the stack takes what is
//! there; what may still come it waits for: its error names the vertex on the stack. A task whose
//! own vertex is named is tried again after the others; otherwise its vertex is put off, with its
//! tasks, and goes on when it is asked for again. When only waiting tasks are left on the vertex
//! that they wait for, its first one is told that nothing comes any more (S-30).

use cue_map::Map;
use smallvec::SmallVec;

use crate::bodies::May;
use crate::error::{Fault, Kind};
use crate::evaluator::Evaluator;
use crate::heap::{Conjunct, FaultId, Marks, Source, State, VertexId};
use crate::program::{At, Label, Presence};
use crate::reference::Reach;
use crate::work::Work;

/// Labels from a field up to what encloses it.
type Path = SmallVec<[Label; 8]>;

/// Tasks of one vertex that have not run.
#[derive(Default)]
pub(crate) struct Tasks {
    /// Comprehensions that have not yielded.
    comprehensions: Vec<u32>,
    /// Those whose bodies name a label, not counting what these nest.
    named: Map<Label, SmallVec<[u32; 1]>>,
    /// Those that may bring any field.
    general: SmallVec<[u32; 1]>,
    /// Those with others in their bodies: these are looked into when a label is asked for, since each
    /// of a nest names what all within it do.
    nested: SmallVec<[u32; 1]>,
}

impl Tasks {
    /// Whether fields are named in the bodies of comprehensions that have not yielded.
    fn name_fields(&self) -> bool {
        !self.named.is_empty() || !self.nested.is_empty()
    }
}

fn leave(all: &mut SmallVec<[u32; 1]>, index: u32) {
    if let Some(at) = all.iter().position(|it| *it == index) {
        all.remove(at);
    }
}

/// A vertex that was put off.
pub(crate) struct Suspended {
    work: Box<Work>,
    pub(crate) fault: FaultId,
    /// The vertex on the stack it waits for.
    on: VertexId,
    epoch: u64,
    /// That one was told already that nothing comes any more.
    told: bool,
}

/// What a vertex has still to do with references and dynamic labels.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Left {
    Nothing,
    Some,
}

/// Conjuncts that were taken from a vertex that may get more.
#[derive(Clone)]
pub(crate) struct Copied {
    to: VertexId,
    conjunct: Conjunct,
    reach: Reach,
}

/// Tasks of one vertex whose dependencies are looked at.
const MOST_RANKED: usize = 64;

/// Vertices that others were copied from and that are looked at.
const MOST_COPIES: usize = 64;

/// Times that a vertex is evaluated anew for what others get that it was copied from.
const MOST_ANEW: u32 = 64;

impl Evaluator {
    /// A comprehension that has not yielded: its fields are pending.
    pub(crate) fn announce(&mut self, id: VertexId, index: u32) {
        let body = &self.program.comprehensions[index as usize].says;
        self.heap.mark(id, Marks::TASKED);
        let tasks = self.tasks.entry(id).or_default();
        tasks.comprehensions.push(index);
        if body.general {
            tasks.general.push(index);
        }
        if body.nested {
            tasks.nested.push(index);
        }
        for label in &body.labels {
            tasks.named.entry(*label).or_default().push(index);
        }
    }

    /// A comprehension that has yielded, or never will.
    pub(crate) fn withdraw(&mut self, id: VertexId, index: u32) {
        let body = &self.program.comprehensions[index as usize].says;
        let Some(tasks) = self.tasks.get_mut(&id) else { return };
        let Some(at) = tasks.comprehensions.iter().position(|it| *it == index) else { return };
        tasks.comprehensions.remove(at);
        leave(&mut tasks.general, index);
        leave(&mut tasks.nested, index);
        for label in &body.labels {
            if let Some(by) = tasks.named.get_mut(label) {
                leave(by, index);
                if by.is_empty() {
                    tasks.named.remove(label);
                }
            }
        }
    }

    /// Whether references or dynamic labels of a vertex are left.
    #[inline]
    pub(crate) fn note_left(&mut self, id: VertexId, left: Left) {
        match left {
            Left::Some => self.heap.mark(id, Marks::LEFT),
            Left::Nothing => self.heap.unmark(id, Marks::LEFT),
        }
    }

    /// All tasks of a vertex have run.
    #[inline]
    pub(crate) fn forget_tasks(&mut self, id: VertexId) {
        let marks = self.heap.get(id).marks;
        if marks.meet(Marks::TASKED.with(Marks::LEFT)) {
            self.heap.unmark(id, Marks::TASKED.with(Marks::LEFT));
            if marks.meet(Marks::TASKED) {
                self.tasks.remove(&id);
            }
        }
    }

    /// Whether a field that is not there may still come, and for which vertex on the stack to wait.
    pub(crate) fn awaited(&self, id: VertexId, label: Label) -> Option<(May, VertexId)> {
        if self.is_settled_around(id) {
            return None;
        }
        self.coming(id, smallvec::smallvec![label])
    }

    /// Whether more may still be said of a vertex from above it (S-24, ancestors).
    pub(crate) fn growing(&self, id: VertexId) -> Option<VertexId> {
        if self.is_settled_around(id) {
            return None;
        }
        self.coming(id, Path::new()).map(|it| it.1)
    }

    /// Whether a vertex and what encloses it have no tasks, and none of them took anything of another one.
    fn is_settled_around(&self, id: VertexId) -> bool {
        let mut next = Some(id);
        while let Some(id) = next {
            let vertex = self.heap.get(id);
            if vertex.marks.meet(Marks::TASKED.with(Marks::LEFT).with(Marks::COPIED)) {
                return false;
            }
            next = vertex.label.and(vertex.parent);
        }
        true
    }

    /// Tasks of `id`, of what encloses it and of what these were copied from that may say something
    /// at a path below `id`; the path is in reverse.
    fn coming(&self, id: VertexId, path: Path) -> Option<(May, VertexId)> {
        let mut found: Option<(May, VertexId)> = None;
        let mut seen: SmallVec<[(VertexId, usize); 8]> = SmallVec::new();
        let mut open: SmallVec<[(VertexId, Path); 2]> = smallvec::smallvec![(id, path)];
        while let Some((start, mut path)) = open.pop() {
            let mut next = Some(start);
            while let Some(id) = next {
                let vertex = self.heap.get(id);
                let tasked = vertex.marks.meet(Marks::TASKED.with(Marks::LEFT));
                let this = if tasked { self.tasks_bring(id, &path) } else { None };
                if let Some(this) = this {
                    // Where none names a field there is no more to find.
                    if this.0 == May::Named || !self.tasks.values().any(Tasks::name_fields) {
                        return Some(this);
                    }
                    found.get_or_insert(this);
                }
                // What was copied from another vertex grows as that one does.
                let copied = vertex.marks.meet(Marks::COPIED);
                let copies = if copied { self.copies.get(&id) } else { None };
                for copied in copies.into_iter().flatten() {
                    let key = (*copied, path.len());
                    if seen.len() < MOST_COPIES && !seen.contains(&key) {
                        seen.push(key);
                        open.push((*copied, path.clone()));
                    }
                }
                let Some(label) = vertex.label else { break };
                path.push(label);
                next = vertex.parent;
            }
        }
        found
    }

    /// The same for the tasks of one vertex.
    fn tasks_bring(&self, id: VertexId, path: &[Label]) -> Option<(May, VertexId)> {
        let first = path.last()?;
        let on = self.running(id)?;
        let left = self.heap.get(id).marks.meet(Marks::LEFT);
        let Some(tasks) = self.tasks.get(&id) else {
            return left.then_some((May::Any, on));
        };
        let dynamic = self.is_dynamic(*first);
        let named = tasks.named.get(first).map_or(&[][..], |it| it);
        let mut may = match left || dynamic && !tasks.general.is_empty() {
            true => May::Any,
            false => May::Not,
        };
        let mut said = !named.is_empty();
        let mut within = SmallVec::<[u32; 1]>::new();
        for index in &tasks.nested {
            let (names, general) = self.names_within(*index, *first);
            if general && dynamic {
                may = May::Any;
            }
            if names || general {
                within.push(*index);
            }
            said |= names;
        }
        if said {
            for index in named.iter().chain(&within).chain(&tasks.general) {
                let code = &self.program.comprehensions[*index as usize];
                for body in std::iter::once(code.body).chain(code.otherwise) {
                    may = may.max(self.brings(body, path));
                }
            }
        }
        (may != May::Not).then_some((may, on))
    }

    /// A vertex took the conjuncts of another one that may get more.
    pub(crate) fn subscribe(
        &mut self,
        id: VertexId,
        target: VertexId,
        conjunct: &Conjunct,
        reach: Reach,
    ) {
        self.heap.mark(id, Marks::COPIED);
        let copies = self.copies.entry(id).or_default();
        let known = copies.contains(&target);
        if !known {
            copies.push(target);
        }
        let all = self.subscribers.entry(target).or_default();
        let same = |it: &Copied| it.to == id && it.conjunct.groups == conjunct.groups;
        if !(known && all.iter().any(same)) {
            all.push(Copied { to: id, conjunct: conjunct.clone(), reach });
        }
    }

    /// Where nothing is being evaluated any more, nothing grows that others were copied from.
    pub(crate) fn forget_copies(&mut self) {
        if self.suspended.is_empty() && !self.copies.is_empty() {
            self.copies.clear();
        }
    }

    /// Hands a late conjunct on to whoever took those of the vertex before (S-25).
    pub(crate) fn hand_on(&mut self, id: VertexId, conjunct: &Conjunct) {
        if self.subscribers.is_empty() {
            return;
        }
        let Some(all) = self.subscribers.get(&id) else { return };
        let all: Vec<Copied> = all.clone();
        for copy in all {
            match self.heap.get(copy.to).state {
                State::Running | State::Suspended => {
                    let inner = conjunct.clone();
                    let derived = self.derived(copy.to, id, &copy.conjunct, copy.reach, inner);
                    self.bring(copy.to, derived);
                }
                State::Done if self.heap.get(copy.to).laps < MOST_ANEW => self.heap.reset(copy.to),
                State::Done | State::New => {}
            }
        }
    }

    /// Whether a vertex or one around it takes a reference now, which may bring more for it; not for what is tried
    /// with an alternative.
    fn is_being_fed(&self, id: VertexId) -> bool {
        self.trying.is_empty()
            && std::iter::once(id)
                .chain(self.ancestors(id))
                .any(|it| self.heap.get(it).marks.meet(Marks::TAKES))
    }

    /// Whether a vertex may still get more.
    pub(crate) fn may_get_more(&self, id: VertexId) -> bool {
        self.running(id).is_some() || self.growing(id).is_some() || self.is_being_fed(id)
    }

    /// The vertex on the stack to wait for if `id` is not finished.
    pub(crate) fn running(&self, id: VertexId) -> Option<VertexId> {
        match self.heap.get(id).state {
            State::Running => Some(id),
            State::Suspended => {
                let on = self.suspended.get(&id)?.on;
                (self.heap.get(on).state == State::Running).then_some(on)
            }
            State::New | State::Done => None,
        }
    }

    /// The vertex on the stack that an error waits for.
    pub(crate) fn waits(&self, fault: FaultId) -> Option<VertexId> {
        let on = self.heap.faults[fault].closes_at?;
        (self.heap.get(on).state == State::Running).then_some(on)
    }

    /// The error of a field that is not there yet (S-29); none if it will not come.
    pub(crate) fn pending(
        &mut self,
        id: VertexId,
        label: Label,
        known: Option<Presence>,
        at: At,
    ) -> Option<FaultId> {
        let (may, on) = self.awaited(id, label)?;
        let last = self.is_last(on);
        if last && (may == May::Any || known.is_some()) {
            return None;
        }
        let name = self.label_text(label);
        let (kind, message) = match may {
            May::Named => (Kind::Cycle, format!("cyclic reference to field {name}")),
            May::Any | May::Not => (Kind::Incomplete, format!("undefined field: {name}")),
        };
        let mut fault = Fault::new(kind, message, at);
        fault.place = Some(self.place);
        fault.closes_at = (!last).then_some(on);
        fault.awaits = Some((id, Some(label)));
        Some(self.heap.fault(fault))
    }

    /// The error of a vertex that is not concrete, but may become so: a default is not taken, nor
    /// a value missed, before all is said of it.
    pub(crate) fn unsettled(&mut self, id: VertexId, at: At) -> Option<FaultId> {
        if self.is_settled_around(id) {
            return None;
        }
        let (may, on) = self.coming(id, Path::new())?;
        let last = self.is_last(on);
        if last && (may == May::Any || self.heap.get(id).choice.is_none()) {
            return None;
        }
        let message = format!("cycle with field: {}", self.called_at(id, at));
        let mut fault = Fault::new(Kind::Cycle, message, at);
        fault.place = Some(self.place);
        fault.closes_at = (!last).then_some(on);
        fault.awaits = Some((id, None));
        let fault = self.heap.fault(fault);
        if last {
            // A guard that does not hold by default keeps the default (S-30).
            self.tentative = Some((id, fault));
            return None;
        }
        Some(fault)
    }

    /// Whether the task that runs was told that nothing comes any more.
    pub(crate) fn is_last(&self, on: VertexId) -> bool {
        self.frozen == Some(on) && (self.place == on || self.is_tried_root(on))
    }

    /// Whether a vertex is the root with some of its alternatives, which has no name that would make it the place.
    fn is_tried_root(&self, id: VertexId) -> bool {
        self.place == self.root
            && self.trying.last().is_some_and(|it| it.1 == id)
            && self.trying.iter().any(|it| it.0 == self.root)
    }

    /// The error of a vertex that was put off.
    pub(crate) fn put_off(&self, id: VertexId) -> Option<FaultId> {
        self.suspended.get(&id).map(|it| it.fault)
    }

    /// Whether a vertex was put off with a choice to make.
    pub(crate) fn waits_to_choose(&self, id: VertexId) -> bool {
        self.suspended.get(&id).is_some_and(|it| !it.work.disjunctions.is_empty())
    }

    /// Whether a vertex that was put off may get further now.
    pub(crate) fn may_resume(&self, id: VertexId) -> bool {
        let Some(it) = self.suspended.get(&id) else { return true };
        it.epoch != self.epoch
            || self.frozen == Some(it.on) && !it.told
            || self.heap.get(it.on).state != State::Running
    }

    /// Puts a vertex off.
    pub(crate) fn suspend(&mut self, id: VertexId, work: Box<Work>, fault: FaultId, on: VertexId) {
        self.heap.get_mut(id).state = State::Suspended;
        let (epoch, told) = (self.epoch, self.frozen == Some(on));
        self.suspended.insert(id, Suspended { work, fault, on, epoch, told });
    }

    /// The tasks of a vertex that was put off.
    pub(crate) fn resume(&mut self, id: VertexId) -> Option<Box<Work>> {
        self.suspended.remove(&id).map(|it| it.work)
    }

    /// One more conjunct for a vertex that is not finished.
    pub(crate) fn bring(&mut self, id: VertexId, conjunct: Conjunct) {
        self.epoch += 1;
        match self.suspended.get_mut(&id) {
            Some(it) => it.work.conjuncts.push(conjunct),
            None => self.inbox.push((id, conjunct)),
        }
    }

    /// Conjuncts that came while the vertex was running.
    pub(crate) fn collect_inbox(&mut self, id: VertexId, work: &mut Work) {
        if self.inbox.is_empty() {
            return;
        }
        let (mine, others) = std::mem::take(&mut self.inbox).into_iter().partition(|it| it.0 == id);
        self.inbox = others;
        let mine: Vec<(VertexId, Conjunct)> = mine;
        work.conjuncts.extend(mine.into_iter().map(|it| it.1));
    }

    /// A conjunct that cannot be taken: it waits, or its error is that of the vertex.
    pub(crate) fn hold(
        &mut self,
        id: VertexId,
        fault: FaultId,
        conjunct: &Conjunct,
        work: &mut Work,
    ) {
        let ends = match self.value_awaited(fault) {
            Some(on) => self.asked_for.contains(&on) || on == id && self.frozen == Some(id),
            None => self.frozen == Some(id),
        };
        if ends || self.waits(fault).is_none() {
            let fault = self.closing_loop(id, fault);
            self.raise_id(id, fault);
            return;
        }
        if let Source::Expr(expr, env) = conjunct.source() {
            work.seen.forget((expr, env), |it| it.0 == conjunct.groups);
        }
        work.held.push((conjunct.clone(), fault));
    }

    /// The task that waits for another vertex on the stack than its own.
    #[inline]
    pub(crate) fn waits_elsewhere(&self, id: VertexId, work: &Work) -> Option<(FaultId, VertexId)> {
        if work.waiting.is_empty() && work.held.is_empty() && work.computed.is_empty() {
            return None;
        }
        self.waiting_elsewhere(id, work)
    }

    fn waiting_elsewhere(&self, id: VertexId, work: &Work) -> Option<(FaultId, VertexId)> {
        let faults = (work.waiting.iter().map(|it| it.1)).chain(work.held.iter().map(|it| it.1));
        let faults = faults.chain(work.computed.iter().filter_map(|it| it.fault));
        faults.filter_map(|it| Some((it, self.waits(it)?))).find(|it| it.1 != id)
    }

    /// Of the comprehensions that wait for their own vertex the one to go on: the first of those
    /// that wait only for what itself waits for them (S-30).
    pub(crate) fn first_of_cycle(&self, id: VertexId, work: &Work) -> Option<usize> {
        let count = work.waiting.len();
        let here = |at: &usize| self.waits(work.waiting[*at].1) == Some(id);
        let first = (0..count).find(here)?;
        if count > MOST_RANKED {
            return Some(first);
        }
        let mut reached = vec![vec![false; count]; count];
        for (row, (_, fault)) in reached.iter_mut().zip(&work.waiting) {
            let awaits = self.heap.faults[*fault].awaits;
            let Some(path) = awaits.and_then(|(place, label)| self.path_from(id, place, label))
            else {
                continue;
            };
            for (cell, (other, _)) in row.iter_mut().zip(&work.waiting) {
                let code = &self.program.comprehensions[other.index as usize];
                let mut bodies = std::iter::once(code.body).chain(code.otherwise);
                *cell = bodies.any(|it| self.brings(it, &path) != May::Not);
            }
        }
        for via in 0..count {
            for from in 0..count {
                if reached[from][via] {
                    let onwards = reached[via].clone();
                    for (there, further) in reached[from].iter_mut().zip(onwards) {
                        *there |= further;
                    }
                }
            }
        }
        let closed = |from: &usize| (0..count).all(|to| !reached[*from][to] || reached[to][*from]);
        (0..count).filter(here).find(closed).or(Some(first))
    }

    /// Two vertices that list each other's fields: the one with more of them gets no further ones
    /// (S-77). True if that is `id`.
    pub(crate) fn freeze_first(&mut self, id: VertexId, fault: FaultId) -> bool {
        let lists = |fault: FaultId| {
            let fault = &self.heap.faults[fault];
            fault.awaits.filter(|_| fault.kind == Kind::Incomplete)
        };
        let Some((other, None)) = lists(fault) else { return false };
        if self.heap.get(id).frozen {
            return false;
        }
        if other == id {
            self.freeze(id);
            return true;
        }
        if self.put_off(other).and_then(lists) != Some((id, None)) {
            return false;
        }
        let size = |id: VertexId| {
            let arcs = self.heap.get(id).arcs.iter();
            arcs.filter(|it| it.presence == Presence::Member).count()
        };
        if size(id) < size(other) {
            return false;
        }
        self.freeze(id);
        true
    }

    /// The fields of a vertex were listed: there may be no more (S-31).
    pub(crate) fn freeze(&mut self, id: VertexId) {
        let labels = self.heap.get(id).arcs.iter().map(|it| it.label).collect();
        self.listed.insert(id, labels);
        self.heap.get_mut(id).frozen = true;
    }

    /// The labels that lead from a vertex to a place below it, in reverse.
    fn path_from(&self, id: VertexId, place: VertexId, label: Option<Label>) -> Option<Vec<Label>> {
        let mut path: Vec<Label> = label.into_iter().collect();
        let mut next = place;
        while next != id {
            let vertex = self.heap.get(next);
            path.push(vertex.label?);
            next = vertex.parent?;
        }
        Some(path)
    }

    /// Whether a task waits for its own vertex.
    pub(crate) fn waits_here(&self, id: VertexId, work: &Work) -> bool {
        let faults = (work.waiting.iter().map(|it| it.1)).chain(work.held.iter().map(|it| it.1));
        let mut faults = faults.chain(work.computed.iter().filter_map(|it| it.fault));
        faults.any(|it| self.waits(it) == Some(id))
    }
}
