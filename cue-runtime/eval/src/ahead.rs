//! Scalars of values on the way, `(#f & {x: "a"}).out`, that are read before what refuses them is known: what is
//! referred to comes after what is written. An expression goes on with them, and that they are refused is told
//! beside what it makes (cue-errors 2.1).

use crate::builtin::Datum;
use crate::closed::NOT_ALLOWED;
use crate::conflict::CONFLICT;
use crate::demand::{Concrete, Unmet};
use crate::empty::EMPTY;
use crate::error::Kind;
use crate::evaluator::{Evaluator, Value};
use crate::heap::{Conjunct, FaultId, Source, State, VertexId};
use crate::program::At;

/// What is read so.
#[derive(Default)]
pub(crate) struct Ahead {
    /// Whose expression reads it.
    reader: Option<VertexId>,
    /// Where that is, and the way in there.
    read_at: At,
    via: u32,
    /// Why what was read is refused.
    refused: Vec<FaultId>,
    /// Where the value is asked for that is being evaluated, and what for.
    asked_at: At,
    asks: Asks,
    /// Fields have shared what is made on the way.
    pub(crate) shares: bool,
    /// They copy it instead.
    pub(crate) copies: bool,
}

/// What a value is asked for.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Asks {
    /// A scalar; one that is written there does.
    Scalar,
    /// What it is in the end, or a field of it.
    #[default]
    Value,
    /// Whether anything in it is wrong.
    All,
}

impl Evaluator {
    /// What an expression of a value gives that stands `at` and came `via`, and why what it has read ahead is
    /// refused.
    pub(crate) fn reading_ahead<T>(
        &mut self,
        id: VertexId,
        (at, via): (At, u32),
        read: impl FnOnce(&mut Self) -> T,
    ) -> (T, Option<FaultId>) {
        let outside = (self.ahead.reader.replace(id), self.ahead.read_at, self.ahead.via);
        (self.ahead.read_at, self.ahead.via) = (at, via);
        let before = self.ahead.refused.len();
        let given = read(self);
        (self.ahead.reader, self.ahead.read_at, self.ahead.via) = outside;
        let mut refused = None;
        while self.ahead.refused.len() > before {
            let Some(fault) = self.ahead.refused.pop() else { break };
            refused = Some(refused.map_or(fault, |after| self.both_faults(fault, after)));
        }
        (given, refused)
    }

    /// The same of what is an error then.
    pub(crate) fn read_through<T>(
        &mut self,
        at: At,
        read: impl FnOnce(&mut Self) -> Result<T, FaultId>,
    ) -> Result<T, FaultId> {
        match self.reading_ahead(self.place, (at, 0), read) {
            (given, None) => given,
            (Ok(_), Some(refused)) => Err(refused),
            (Err(own), Some(refused)) => Err(self.both_faults(refused, own)),
        }
    }

    /// The way by which the expression has come in that is being evaluated: what it makes on its way comes by
    /// that, too (cue-errors 2.2).
    pub(crate) fn own_way(&self) -> u32 {
        if self.ahead.reader == Some(self.place) { self.ahead.via } else { 0 }
    }

    /// A concrete value that is asked for as it is in the end.
    pub(crate) fn demand_settled(
        &mut self,
        value: Value,
        at: At,
        whole: At,
    ) -> Result<Concrete, Unmet> {
        let reader = self.ahead.reader.take();
        let given = self.demand_in(value, at, whole);
        self.ahead.reader = reader;
        given
    }

    /// Evaluates a value that an expression asks for where it stands; what is read ahead is evaluated with all
    /// of the expression that reads it.
    pub(crate) fn unify_for(&mut self, id: VertexId, at: At) -> VertexId {
        let reads = self.ahead.reader == Some(self.place);
        let at = if reads && self.is_on_the_way(id) { self.ahead.read_at } else { at };
        let asks = if reads { Asks::Scalar } else { Asks::Value };
        self.asking(at, asks, |it| it.unify(id))
    }

    /// What is found where a value is asked for.
    pub(crate) fn asking<T>(&mut self, at: At, asks: Asks, find: impl FnOnce(&mut Self) -> T) -> T {
        let outside = (self.ahead.asked_at, self.ahead.asks);
        (self.ahead.asked_at, self.ahead.asks) = (at, asks);
        let found = find(self);
        (self.ahead.asked_at, self.ahead.asks) = outside;
        found
    }

    /// Where it is asked whether anything is wrong in what is around a field, which is looked at then.
    pub(crate) fn all_asked_at(&self, id: VertexId) -> Option<At> {
        self.field_asked_at(id).filter(|_| self.ahead.asks == Asks::All)
    }

    /// Where a field is asked for that has no `let` around it: its alternatives are looked at there, but where a
    /// scalar that is written beside them does.
    pub(crate) fn field_asked_at(&self, id: VertexId) -> Option<At> {
        let vertex = self.heap.get(id);
        if vertex.label.is_none() || self.ahead.asked_at == At::default() {
            return None;
        }
        let written = |(_, at): (&Datum, At)| !self.is_within_pick(vertex, (at, vertex.scalar_via));
        let does = self.ahead.asks == Asks::Scalar
            && self.scalar_of(vertex).is_some_and(written)
            && !self.is_on_the_way(id);
        let named = self.let_name(self.outermost(id)).is_some();
        (!does && !named).then_some(self.ahead.asked_at)
    }

    /// The scalar that is read ahead of a value which has this error and was in this state before. Of a field it is
    /// the one that is written there, before alternatives and bounds are held against it.
    pub(crate) fn read_ahead(
        &mut self,
        id: VertexId,
        fault: FaultId,
        before: State,
    ) -> Option<Datum> {
        let told = &self.heap.faults[fault];
        if told.kind != Kind::Permanent || self.ahead.reader != Some(self.place) {
            return None;
        }
        let empty = told.message.ends_with(EMPTY);
        if self.is_rooted(id) {
            let held = match told.place {
                Some(place) if place == id => {
                    empty
                        || told.message.starts_with("invalid value ")
                        || told.message == NOT_ALLOWED
                }
                place => place.is_some(),
            };
            let scalar = self.scalar_at(id);
            return scalar.filter(|_| held && before != State::Done).map(|it| it.0.clone());
        }
        if !(empty || told.message.starts_with(CONFLICT)) || !self.is_on_the_way(id) {
            return None;
        }
        let conjuncts = &self.heap.get(id).conjuncts;
        let written = |it: &Conjunct| match it.source() {
            Source::Expr(expr, _) => self.program.code(expr).scalar(),
            Source::Data(_) | Source::Vertex(_) => None,
        };
        let refers = |it: &Conjunct| match it.source() {
            Source::Expr(expr, _) => self.refers_at(expr).is_some(),
            Source::Data(_) | Source::Vertex(_) => false,
        };
        let datum = conjuncts.iter().find_map(written)?.clone();
        let known = |it: &Conjunct| written(it).is_some() || refers(it);
        if !(conjuncts.iter().all(known) && conjuncts.iter().any(refers)) {
            return None;
        }
        if !self.ahead.refused.contains(&fault) {
            self.ahead.refused.push(fault);
        }
        Some(datum)
    }

    /// Whether it is by validators alone that a struct or list on the way, or one that a `let` names, is refused:
    /// its parts are read before these are asked.
    pub(crate) fn is_only_tested(&self, id: VertexId, fault: FaultId) -> bool {
        let (vertex, told) = (self.heap.get(id), &self.heap.faults[fault]);
        (vertex.is_struct || vertex.is_list)
            && told.message.starts_with("invalid value ")
            && told.message.contains(" (does not satisfy ")
            && !self.is_rooted(id)
    }

    /// Whether a value stands nowhere, nor in what a `let` names.
    pub(crate) fn is_on_the_way(&self, id: VertexId) -> bool {
        !self.is_rooted(id) && self.let_name(self.outermost(id)).is_none()
    }
}
