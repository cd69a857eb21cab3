//! What a vertex runs for its fields: computed labels and comprehensions, and what was held back for
//! them.

use std::num::NonZeroU32;

use crate::builtin::Datum;
use crate::demand::Concrete;
use crate::error::{Fault, Kind};
use crate::evaluator::{Evaluator, Value};
use crate::groups::Groups;
use crate::heap::{
    Closed, Conjunct, Contribution, EnvId, EnvKind, FaultId, Source, VertexId, kept,
};
use crate::number::Number;
use crate::program::{Callee, Code, ExprId, Label, LabelKind, PartCode, Presence};
use crate::waiting::Left;
use crate::work::{Computed, Pending, Work};

impl Evaluator {
    pub(crate) fn computed_fields(&mut self, id: VertexId, work: &mut Work) -> bool {
        if work.computed.is_empty() {
            return false;
        }
        let mut moved = false;
        let mut waiting = Vec::new();
        let mut fields = std::mem::take(&mut work.computed);
        // Those that a `let` of the struct names come last, and the last one of them first.
        if fields.iter().any(|it| self.names_let(it.label, it.env, id)) {
            let by_let;
            (by_let, fields) =
                fields.into_iter().partition(|it| self.names_let(it.label, it.env, id));
            fields.extend(by_let.into_iter().rev());
        }
        for field in fields {
            match self.label_of(&field) {
                Ok(known) => {
                    moved = true;
                    let by =
                        Contribution { placed: field.placed, at: field.at, outer: field.outer };
                    if let Some(placed) =
                        self.heap.get_mut(id).placed.get_mut(field.placed as usize)
                    {
                        placed.produced.push((field.label, known));
                    }
                    self.add_field(
                        id,
                        known,
                        field.presence,
                        field.value,
                        field.env,
                        field.groups,
                        field.notes,
                        field.at,
                        Some(by),
                        field.from,
                    );
                }
                Err(fault) => waiting.push(Computed { fault: Some(fault), ..field }),
            }
        }
        work.computed = waiting;
        moved
    }

    /// Where it is told what is wrong with guards, sources and labels of a literal in these groups: the argument of
    /// `close` is a value of its own, at no path (cue-errors 3.3).
    fn told_at(&mut self, groups: &Groups, env: EnvId) -> VertexId {
        if self.close_calls.is_empty() || !groups.iter().any(|it| self.close_calls.contains(it)) {
            return self.place;
        }
        if self.is_behind_a_question(env) {
            return self.place;
        }
        *self.nowhere.get_or_insert_with(|| self.heap.vertex(None, None))
    }

    /// Whether what stands in an environment is there only if a guard found whether something is there.
    fn is_behind_a_question(&self, env: EnvId) -> bool {
        let (mut next, mut at) = (Some(env), None);
        while let Some(env) = next {
            let it = &self.heap.envs[env];
            if let EnvKind::Struct(vertex, _, literal) = it.kind {
                if *at.get_or_insert(vertex) != vertex {
                    return false;
                }
                if self.program.structs[literal as usize].asked {
                    return true;
                }
            }
            next = it.parent;
        }
        false
    }

    /// Asks at the value that `close` gives: what waits for whether something is there is done once that is made.
    pub(crate) fn asking_what_is_made<T>(&mut self, ask: impl FnOnce(&mut Self) -> T) -> T {
        let outside = self.place;
        if self.nowhere == Some(outside) {
            self.place = self.current;
        }
        let answer = ask(self);
        self.place = outside;
        answer
    }

    /// Whether a value is the one that `close` gives, of which guards, sources and labels in what that is called with
    /// know nothing: it is made when they are done.
    pub(crate) fn is_unmade(&self, id: VertexId) -> bool {
        self.nowhere == Some(self.place) && self.follow(id) == self.current
    }

    /// Whether a value is a call of `close` and nothing else that gives nothing: what it is called with has this error.
    pub(crate) fn gives_nothing(&self, fault: &Fault, id: VertexId) -> bool {
        let told_of = fault.place.is_some() && fault.place == self.nowhere;
        let call = |it: &Conjunct| match it.source() {
            Source::Expr(it, _) => matches!(self.program.code(it), Code::Call(..)),
            _ => false,
        };
        told_of && fault.kind.is_incomplete() && self.heap.get(id).conjuncts.iter().all(call)
    }

    /// Whether a label is made of what a `let` among the declarations of a vertex names.
    fn names_let(&self, label: ExprId, env: EnvId, id: VertexId) -> bool {
        match self.program.code(label) {
            Code::Let { up, .. } => {
                let scope = self.env_up(env, *up);
                matches!(self.heap.envs[scope].kind, EnvKind::Struct(it, ..) if it == id)
            }
            Code::Select(it, _) => self.names_let(*it, env, id),
            Code::Arithmetic(_, left, right) | Code::Index(left, right) => {
                self.names_let(*left, env, id) || self.names_let(*right, env, id)
            }
            Code::Interpolation(said) => said.parts.iter().any(|it| match it {
                PartCode::Value(it) => self.names_let(*it, env, id),
                PartCode::Text(_) => false,
            }),
            _ => false,
        }
    }

    /// The label of a field; what is wrong with it is told of where its value is.
    pub(crate) fn label_of(&mut self, field: &Computed) -> Result<Label, FaultId> {
        let outside = self.place;
        self.place = self.told_at(&field.groups, field.env);
        let (label, env, value) = (field.label, field.env, field.value);
        let label = match self.refers_at(label) {
            Some(_) => self.computed_label(label, env, value),
            None => {
                let at = self.program.at(value);
                self.read_through(at, |it| it.computed_label(label, env, value))
            }
        };
        self.place = outside;
        label
    }

    fn computed_label(
        &mut self,
        label: ExprId,
        env: EnvId,
        value: ExprId,
    ) -> Result<Label, FaultId> {
        let (at, whole) = (self.program.at(label), self.program.at(value));
        let given = match self.key_of(label, env) {
            Some(key) => Value::Datum(key),
            None => self.eval(label, env),
        };
        let found = given.vertex();
        let fault = match self.concrete_in(given, at, whole) {
            Ok(Concrete::Datum(Datum::String(name))) => {
                return Ok(self.labels.intern(LabelKind::Regular, &name));
            }
            Ok(Concrete::Datum(Datum::Number(number))) if number.is_int() => {
                match self.no_index(&number, label) {
                    Some(message) => {
                        let mut fault = Fault::new(Kind::Permanent, message, whole).and_at(at);
                        // Of a number that is too large it is not told where it is from.
                        let from = found.filter(|_| number.to_i64().is_some());
                        fault.positions.extend(from.map(|it| self.origin(it)).unwrap_or_default());
                        fault
                    }
                    None => Fault::new(Kind::Permanent, "integer fields not supported", at),
                }
            }
            // What is put together here is not done yet, nor is the struct that the label is in.
            Ok(Concrete::Vertex(id)) if self.is_built(label) || self.is_around(id, self.place) => {
                Fault::new(Kind::Incomplete, "key value of dynamic field not yet known", at)
            }
            Ok(other) => {
                let (text, kind) = (self.literal_text(label), self.concrete_kind(&other));
                let message = format!("invalid index {text} (invalid type {kind})");
                Fault::new(Kind::Permanent, message, whole).and_at(at)
            }
            // Of a label that is a choice itself there is no more to say.
            Err(fault)
                if found.is_some()
                    && self.heap.faults[fault].message.starts_with("unresolved disjunction ") =>
            {
                return Err(fault);
            }
            Err(fault) => return Err(self.unknown_key(fault, label)),
        };
        Err(self.heap.fault(fault))
    }

    /// What is said of a number that is no index.
    pub(crate) fn no_index(&self, number: &Number, written: ExprId) -> Option<String> {
        let text = || self.literal_text(written);
        let literal = matches!(
            self.program.code(written),
            Code::Scalar(Datum::Number(_)) | Code::Negative(_)
        );
        match number.to_i64() {
            None => Some(format!("invalid index {}: {number}: greater than max int64", text())),
            Some(index) if index >= 0 => None,
            Some(_) if literal => {
                Some(format!("invalid index {number} (index must be non-negative)"))
            }
            Some(_) => Some(format!("index {} out of range [{number}]", text())),
        }
    }

    /// Whether a struct or a list is put together by an expression: another one only finds it.
    fn is_built(&self, expr: ExprId) -> bool {
        let code = self.program.code(expr);
        matches!(
            code,
            Code::Struct(_) | Code::List(_) | Code::Unify(..) | Code::Call(Callee::Plain(_), _)
        ) && !self.program.named_packages.contains_key(&expr)
    }

    /// The error of a label that is not known yet (cue-errors 1.7).
    fn unknown_key(&mut self, fault: FaultId, label: ExprId) -> FaultId {
        let at = self.program.at(label);
        let mut inner = self.heap.faults[fault].clone();
        if !inner.kind.is_incomplete() {
            return fault;
        }
        const SAID: &str = "key value of dynamic field must be concrete, found ";
        if let (true, Some(found)) =
            (inner.at == at, inner.message.strip_prefix("non-concrete value "))
        {
            inner.message = format!("{SAID}{found}");
            return self.heap.fault(inner);
        }
        let path = inner.place.map(|it| self.path(it)).unwrap_or_default();
        let colon = if path.is_empty() { "" } else { ": " };
        let message = format!("{SAID}_|_({path}{colon}{})", inner.in_short());
        let mut second = Fault::new(inner.kind, message, at);
        second.place = Some(self.place);
        self.heap.fault(inner.combined(second))
    }

    /// Runs the next comprehension that can run; true if one did.
    pub(crate) fn comprehensions(&mut self, id: VertexId, work: &mut Work) -> bool {
        while let Some(pending) = work.comprehensions.pop_front() {
            if self.comprehension(id, pending, work) {
                return true;
            }
        }
        false
    }

    pub(crate) fn comprehension(
        &mut self,
        id: VertexId,
        pending: Pending,
        work: &mut Work,
    ) -> bool {
        self.tentative = None;
        let outside = self.place;
        self.place = self.told_at(&pending.groups, pending.env);
        let mut yields = self.yields(pending.index, pending.env);
        // What goes round does so by the field.
        if let Err(fault) = &mut yields {
            let it = &self.heap.faults[*fault];
            if it.kind == Kind::Cycle && it.place == Some(self.place) && self.place != outside {
                let moved = Fault { place: Some(outside), ..it.clone() };
                *fault = self.heap.fault(moved);
            }
        }
        self.place = outside;
        if let (Ok(all), Some((choice, fault))) = (&yields, self.tentative.take()) {
            if all.is_empty() {
                self.remember_default(id, choice, fault);
            } else {
                yields = Err(fault);
            }
        }
        match yields {
            Ok(yields) => {
                // A struct that only comprehensions could fill is a struct all the same.
                if yields.is_empty() {
                    let says = &self.program.comprehensions[pending.index as usize].says;
                    let regular = |it: &Label| self.labels.kind(*it) == LabelKind::Regular;
                    let named = says.labels.iter().any(regular);
                    *self.emptied.entry(id.number()).or_default() |= named;
                }
                let firing = match pending.firing {
                    0 => {
                        work.firings += 1;
                        work.firings
                    }
                    outer => outer,
                };
                self.count_work(work);
                let rounds = self.rounds(pending.index, yields.len(), pending.from.beside);
                for (number, (body, env)) in yields.into_iter().enumerate().rev() {
                    let mut groups = pending.groups.clone();
                    let beside = match rounds {
                        Some(rounds) => self.in_round(rounds, number, &mut groups),
                        None => pending.from.beside,
                    };
                    work.conjuncts.push(Conjunct {
                        source: Source::Expr(body, env).into(),
                        groups,
                        close_as: pending.close_as.and_then(NonZeroU32::new),
                        by_reference: false,
                        outer: pending.outer,
                        firing,
                        cycle: pending.from.cycle,
                        way: pending.from.way,
                        via: pending.from.via,
                        late: false,
                        was_closed: Closed::Not,
                        beside,
                        spot: kept(pending.from.scope),
                    });
                }
                self.withdraw(id, pending.index);
                true
            }
            Err(fault) if self.heap.faults[fault].kind.is_incomplete() => {
                work.waiting.push((pending, fault));
                false
            }
            Err(fault) => {
                self.withdraw(id, pending.index);
                self.raise_id(id, fault);
                true
            }
        }
    }

    /// Comprehensions that wait are tried again: those whose field has come, else all.
    pub(crate) fn wake(&mut self, work: &mut Work) {
        let come = |fault: FaultId| {
            let awaits = self.heap.faults[fault].awaits;
            let Some((id, Some(label))) = awaits else { return true };
            let arc = self.heap.arc(self.follow(id), label);
            arc.is_some_and(|it| it.presence == Presence::Member)
        };
        // Of many mostly few are ready: these leave, the others stay where they are.
        let ready: Vec<usize> =
            (0..work.waiting.len()).filter(|at| come(work.waiting[*at].1)).collect();
        if ready.is_empty() || ready.len() == work.waiting.len() {
            work.comprehensions.extend(work.waiting.drain(..).map(|it| it.0));
            return;
        }
        let first = work.comprehensions.len();
        for at in ready.into_iter().rev() {
            work.comprehensions.insert(first, work.waiting.remove(at).0);
        }
    }

    /// Takes the conjuncts that wait once more.
    pub(crate) fn held(&mut self, id: VertexId, work: &mut Work) {
        for (conjunct, _) in std::mem::take(&mut work.held) {
            self.take_now(id, conjunct, work);
        }
    }

    /// Nothing moves any more: the first task that waits for its own vertex is told that what is
    /// not there by now is absent (S-30). False if there is none.
    pub(crate) fn last_task(&mut self, id: VertexId, work: &mut Work) -> bool {
        if !self.waits_here(id, work) {
            return false;
        }
        let before = self.frozen.replace(id);
        let was_struct = self.heap.get(id).is_struct;
        let mut moved = false;
        if work.computed.iter().any(|it| it.fault.is_some_and(|it| self.waits(it).is_some())) {
            self.note_left(id, Left::Nothing);
            moved = self.computed_fields(id, work);
        }
        let here = self.first_of_cycle(id, work);
        if let (false, Some(at)) = (moved, here) {
            let (pending, fault) = work.waiting.remove(at);
            if self.freeze_first(id, fault) {
                work.waiting.insert(at, (pending, fault));
                self.heap.get_mut(id).is_struct = was_struct;
                self.frozen = before;
                return true;
            }
            let index = pending.index;
            moved = true;
            if !self.comprehension(id, pending, work) {
                if let Some((_, fault)) = work.waiting.pop() {
                    self.withdraw(id, index);
                    self.raise_id(id, fault);
                }
            }
        }
        if !moved && !work.held.is_empty() {
            moved = true;
            self.last_held(id, work);
        }
        self.heap.get_mut(id).is_struct = was_struct;
        self.frozen = before;
        moved
    }
}
