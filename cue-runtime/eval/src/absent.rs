//! The comparison with bottom (cue-semantics.md section 6), and what is asked again once all is done
//! because it was answered before all was said (S-46).

use cue_syntax::ast::Compare;

use crate::ahead::Asks;
use crate::builtin::{Datum, Kinds};
use crate::compare;
use crate::error::{Fault, Kind};
use crate::evaluator::{Evaluator, Value};
use crate::heap::{EnvId, EnvKind, FaultId, State, VertexId};
use crate::program::{
    ClauseCode, Code, Declaration, ExprId, Label, ListElement, Presence, Program,
};

/// What was found before all was said.
pub(crate) struct Answer {
    /// Whose conjunct or comprehension asked.
    vertex: VertexId,
    /// How often that had been evaluated.
    laps: u32,
    found: Found,
}

/// See [`Answer`].
enum Found {
    /// An operand was absent when it was compared with bottom.
    Absent(ExprId, EnvId),
    /// A choice had this default; the error if it has it no more.
    Default(VertexId, Datum, FaultId),
}

impl Program {
    /// The operand of a comparison with bottom, if it is one.
    pub(crate) fn asked_whether_there(
        &self,
        operator: Compare,
        left: ExprId,
        right: ExprId,
    ) -> Option<ExprId> {
        let bottom = |expr| matches!(self.code(expr), Code::Bottom);
        match operator {
            Compare::Equal | Compare::NotEqual if bottom(right) => Some(left),
            Compare::Equal | Compare::NotEqual if bottom(left) => Some(right),
            _ => None,
        }
    }

    /// Whether a clause is a guard that asks whether something is there.
    pub(crate) fn asks_whether_there(&self, clause: &ClauseCode) -> bool {
        let ClauseCode::If(condition) = clause else { return false };
        match *self.code(*condition) {
            Code::Compare(operator, left, right) => {
                self.asked_whether_there(operator, left, right).is_some()
            }
            _ => false,
        }
    }
}

impl Evaluator {
    /// `x == _|_` (cue-semantics.md section 6; corrections 2): types and bounds are absent, `_`,
    /// choices and structs whatever is in them are present.
    pub(crate) fn is_absent(&mut self, expr: ExprId, env: EnvId) -> Result<bool, FaultId> {
        if let Some(absent) = self.is_of_other_kind(expr, env) {
            return Ok(absent);
        }
        // Within itself it is there: whether it holds is found around that.
        if self.is_asked_within(expr, env) {
            return Ok(false);
        }
        if self.is_part_of_failed(expr, env) {
            return Ok(true);
        }
        let early = self.asked_early.len();
        let id = match self.asked(expr, env) {
            None => return Ok(true),
            Some(Value::Datum(_)) => return Ok(false),
            Some(Value::Fault(fault)) => return self.absent_by(fault),
            Some(Value::Vertex(id)) => id,
        };
        // Whether it is there is all that is asked of it.
        if self.asked_early.len() > early {
            self.asked_early.remove(&id.number());
        }
        let at = self.program.at(expr);
        let new = self.heap.get(self.follow(id)).state == State::New;
        let id = self.asking(at, Asks::All, |it| it.unify(id));
        let vertex = self.heap.get(id);
        if let Some(fault) = vertex.fault {
            if new && self.goes_on(id, fault) {
                self.asked_early.insert(id.number());
            }
            let vertex = self.heap.get(id);
            // A struct that is only gone round is there.
            let round = self.heap.faults[fault].kind == Kind::Cycle;
            return if vertex.is_struct && round { Ok(false) } else { self.absent_by(fault) };
        }
        let running = matches!(vertex.state, State::Running | State::Suspended);
        if (vertex.is_struct || vertex.is_list) && vertex.choice.is_none() && !running {
            // A permanent error anywhere inside makes the whole absent.
            return match self.asking(at, Asks::All, |it| it.permanent(id, 0)) {
                Some(fault) if fault.kind == Kind::Budget => Ok(false),
                fault => Ok(fault.is_some()),
            };
        }
        let vertex = self.heap.get(id);
        let known = vertex.scalar.is_some()
            || vertex.is_struct
            || vertex.is_list
            || vertex.choice.is_some();
        // Of a value without a place all is asked for, of others whether they are there.
        if !known || vertex.label.is_none() {
            if let Some(fault) = self.put_off(id) {
                return self.absent_by(fault);
            }
        }
        if known {
            return Ok(false);
        }
        if vertex.state == State::Running {
            return Ok(false);
        }
        // What may be a list or a struct is there, be it asked of what it likes (S-58).
        let composite = vertex.kinds.meets(Kinds::STRUCT) || vertex.kinds.meets(Kinds::LIST);
        let absent = !composite && (vertex.constrained || !vertex.tests.is_empty());
        match self.unsettled(id, self.program.at(expr)).filter(|_| absent) {
            Some(fault) => self.absent_by(fault),
            None => Ok(absent),
        }
    }

    /// The value of an operand that is compared with bottom. None of a field that a struct has as an optional one only:
    /// most guards ask for such, and nobody reads the error.
    fn asked(&mut self, expr: ExprId, env: EnvId) -> Option<Value> {
        let Code::Select(operand, label) = *self.program.code(expr) else {
            return Some(self.eval(expr, env));
        };
        if let Err(fault) = self.tick() {
            return Some(Value::Fault(fault));
        }
        let base = self.eval(operand, env);
        if self.is_left_out(&base, label) {
            return None;
        }
        let at = self.program.at(expr);
        Some(self.select(base, label, None, Some(operand), at))
    }

    /// Whether a value is a struct, done with and sound, of which a field is only said that it may be there.
    fn is_left_out(&mut self, base: &Value, label: Label) -> bool {
        let Value::Vertex(asked) = *base else { return false };
        let id = self.follow(asked);
        let arc = self.heap.get(id).arcs.named(label);
        self.is_sound_struct(id)
            && arc.is_some_and(|it| it.presence == Presence::Optional)
            && self.awaited(id, label).is_none()
            && self.failed_for(asked, id).is_none()
    }

    /// `x & {...}` and `x & [...]` compared with bottom, where `x` is known: it is looked at as it is, a
    /// copy of all that is in it would serve nobody.
    fn is_of_other_kind(&mut self, expr: ExprId, env: EnvId) -> Option<bool> {
        let Code::Unify(value, kind) = *self.program.code(expr) else { return None };
        let wants_list = match self.program.code(kind) {
            Code::Struct(literal) => {
                let literal = &self.program.structs[*literal as usize];
                if !matches!(literal.declarations.as_slice(), [Declaration::Open]) {
                    return None;
                }
                false
            }
            Code::List(elements) if matches!(elements[..], [ListElement::Rest(None)]) => true,
            _ => return None,
        };
        if !matches!(self.program.code(value), Code::Field { .. } | Code::Variable { .. }) {
            return None;
        }
        let Value::Vertex(id) = self.eval(value, env) else { return None };
        let id = self.unify(id);
        let vertex = self.heap.get(id);
        if vertex.state != State::Done || vertex.fault.is_some() || vertex.choice.is_some() {
            return None;
        }
        match (vertex.is_struct, vertex.is_list, vertex.scalar.is_some()) {
            (true, false, false) if !wants_list => {}
            (false, true, false) if wants_list => {}
            (true, false, false) | (false, true, false) | (false, false, true) => {
                return Some(true);
            }
            _ => return None,
        }
        match self.permanent(id, 0) {
            Some(fault) if fault.kind == Kind::Budget => None,
            fault => Some(fault.is_some()),
        }
    }

    /// Whether what is selected is part of `x & y` written in place, and that fails anywhere: nothing of it
    /// is there then.
    fn is_part_of_failed(&mut self, expr: ExprId, env: EnvId) -> bool {
        let mut whole = expr;
        while let Code::Select(base, _) | Code::Index(base, _) = *self.program.code(whole) {
            whole = base;
        }
        if whole == expr || !matches!(self.program.code(whole), Code::Unify(..)) {
            return false;
        }
        let Value::Vertex(id) = self.eval(whole, env) else { return false };
        self.permanent(id, 0).is_some_and(|it| it.kind != Kind::Budget)
    }

    fn absent_by(&self, fault: FaultId) -> Result<bool, FaultId> {
        // What may still come is waited for.
        if self.waits(fault).is_some_and(|on| !self.is_last(on)) {
            return Err(fault);
        }
        match self.heap.faults[fault].kind {
            Kind::Budget | Kind::Cycle => Err(fault),
            Kind::Incomplete | Kind::StructuralCycle | Kind::Permanent | Kind::User => Ok(true),
        }
    }

    /// Notes that an operand was absent: asked again once all is done it must be so still (S-46).
    pub(crate) fn remember(&mut self, operand: ExprId, env: EnvId) {
        let mut next = Some(env);
        while let Some(at) = next {
            let it = &self.heap.envs[at];
            if let EnvKind::Struct(vertex, ..) = it.kind {
                let laps = self.heap.get(vertex).laps;
                let found = Found::Absent(operand, env);
                self.answers.push(Answer { vertex, laps, found });
                return;
            }
            next = it.parent;
        }
    }

    /// Notes that nothing came of the default of a choice that could still have become another one.
    pub(crate) fn remember_default(&mut self, vertex: VertexId, choice: VertexId, fault: FaultId) {
        let laps = self.heap.get(vertex).laps;
        let default = self.default_of(choice).and_then(|it| self.scalar_at(it));
        if let Some(datum) = default.map(|it| it.0.clone()) {
            let found = Found::Default(choice, datum, fault);
            self.answers.push(Answer { vertex, laps, found });
        }
    }

    /// Asks once more what was found early, now that nothing is being evaluated.
    pub(crate) fn recheck(&mut self) {
        let made = self.heap.made();
        while let Some(answer) = self.answers.pop() {
            let vertex = answer.vertex;
            // What only this question has brought about asks it again, and so on.
            if vertex.number() > made && !self.is_in_tree(vertex) || !self.is_as_it_was(&answer) {
                continue;
            }
            match answer.found {
                Found::Absent(operand, env) => {
                    self.refuse_what_came(vertex, operand, env);
                }
                Found::Default(choice, datum, fault) => {
                    let now = self.default_of(choice);
                    let now = now.and_then(|it| self.scalar_at(it));
                    if !now.is_some_and(|it| compare::same(it.0, &datum)) {
                        self.raise_id(vertex, fault);
                    }
                }
            }
        }
    }

    /// The same of what an alternative found, once it has been tried: by what it brings itself it is none (S-46).
    pub(crate) fn recheck_tried(&mut self, candidate: VertexId, from: usize) {
        if self.answers.len() <= from {
            return;
        }
        for answer in self.answers.split_off(from) {
            let vertex = answer.vertex;
            let within = vertex == candidate || self.is_ancestor(candidate, vertex);
            let mut refused = false;
            if let (Found::Absent(operand, env), true) = (&answer.found, within) {
                if self.is_as_it_was(&answer) {
                    let (operand, env) = (*operand, *env);
                    let outside = std::mem::replace(&mut self.place, vertex);
                    refused = self.refuse_what_came(vertex, operand, env);
                    self.place = outside;
                }
            }
            match refused {
                true => self.is_sound_no_more(vertex, candidate),
                false => self.answers.push(answer),
            }
        }
    }

    /// What was found to be without errors before a vertex of it got one.
    fn is_sound_no_more(&mut self, vertex: VertexId, whole: VertexId) {
        let mut next = Some(vertex);
        while let Some(id) = next {
            self.heap.get_mut(id).sound = 0;
            self.known_below.remove(&id);
            next = self.heap.get(id).parent.filter(|_| id != whole);
        }
    }

    /// Whether who asked has not been evaluated again since.
    fn is_as_it_was(&self, answer: &Answer) -> bool {
        let known = self.heap.get(answer.vertex);
        known.laps == answer.laps && known.state == State::Done && known.forward.is_none()
    }

    /// The error of who found something absent that is there now. Whether it is.
    fn refuse_what_came(&mut self, vertex: VertexId, operand: ExprId, env: EnvId) -> bool {
        if !matches!(self.is_absent(operand, env), Ok(false)) {
            return false;
        }
        let at = self.program.at(operand);
        let message = format!(
            "circular dependency in evaluation of conditionals: {} changed after evaluation",
            self.source_at(at)
        );
        let mut fault = Fault::new(Kind::Cycle, message, at);
        fault.place = Some(vertex);
        self.raise(vertex, fault);
        true
    }
}
