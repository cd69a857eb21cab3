//! Slices of lists and bytes.

use crate::builtin::{Datum, Kinds};
use crate::demand::{Concrete, Operand, Unmet};
use crate::error::Kind;
use crate::evaluator::{Evaluator, Value};
use crate::heap::{EnvId, FaultId};
use crate::program::{At, ExprId};

impl Evaluator {
    /// `operand[low:high]` (S-49).
    pub(crate) fn slice(
        &mut self,
        operand: ExprId,
        low: Option<ExprId>,
        high: Option<ExprId>,
        env: EnvId,
        at: At,
    ) -> Value {
        let base = self.eval(operand, env);
        let stands = base.vertex();
        let subject = self.demand_settled(base, self.program.at(operand), at);
        let several = stands.is_some_and(|it| self.default_of(it).is_none());
        let subject = match subject {
            Ok(it) => it,
            Err(Unmet::Fault(fault)) if several => {
                let text = self.literal_text(operand);
                let message = format!("non-concrete slice subject {text}");
                let own = self.fail(Kind::Incomplete, message, at);
                return Value::Fault(self.both_faults(fault, own));
            }
            Err(Unmet::Fault(fault)) => {
                let itself = stands.is_some_and(|it| self.follow(it) == self.place);
                let round = itself && self.heap.faults[fault].kind == Kind::Cycle;
                return Value::Fault(match round {
                    true => self.fail(Kind::Permanent, "cannot slice _ (type _)", at),
                    false => fault,
                });
            }
            Err(Unmet::Open(id)) => {
                let (text, kinds) = (self.short(id), self.kinds_of(id));
                let message = format!("cannot slice {text} (type {kinds})");
                let vertex = self.heap.get(self.follow(id));
                let says = vertex.constrained || !vertex.tests.is_empty();
                // Nothing more is waited for.
                return Value::Fault(match says {
                    true => self.fail_of(Kind::Permanent, message, at, id),
                    false => self.fail(Kind::Permanent, message, at),
                });
            }
        };
        let length = match &subject {
            Concrete::Vertex(id) if self.heap.get(*id).is_list => self.elements(*id).len(),
            Concrete::Datum(Datum::Bytes(bytes)) => bytes.len(),
            other => {
                let (text, kind) = (self.concrete_text(other), self.concrete_kind(other));
                let message = format!("cannot slice {text} (type {kind})");
                let from = stands.map_or_else(Vec::new, |it| self.origin(it));
                return Value::Fault(self.fail_at(Kind::Permanent, message, at, from));
            }
        };
        let (low, high) = match (self.slice_end(low, env, at), self.slice_end(high, env, at)) {
            (Ok(low), Ok(high)) => (low.unwrap_or(0), high.unwrap_or(length)),
            (Err(fault), _) | (_, Err(fault)) => return Value::Fault(fault),
        };
        if high > length {
            let message = format!("index {high} out of range");
            return Value::Fault(self.fail(Kind::Permanent, message, at));
        }
        if low > high {
            let message = format!("invalid slice index: {low} > {high}");
            return Value::Fault(self.fail(Kind::Permanent, message, at));
        }
        match subject {
            Concrete::Datum(Datum::Bytes(bytes)) => {
                Value::Datum(Datum::bytes(bytes.get(low..high).unwrap_or_default().to_vec()))
            }
            Concrete::Vertex(list) => {
                let elements = self.elements(list);
                Value::Vertex(self.list_of(elements.get(low..high).unwrap_or_default()))
            }
            Concrete::Datum(_) => Value::Fault(self.fail(Kind::Permanent, "cannot slice", at)),
        }
    }

    /// An end of a slice, if it is given.
    fn slice_end(
        &mut self,
        end: Option<ExprId>,
        env: EnvId,
        at: At,
    ) -> Result<Option<usize>, FaultId> {
        let Some(expr) = end else { return Ok(None) };
        let place = self.program.at(expr);
        let value = self.eval(expr, env);
        let vertex = value.vertex();
        let value = match self.demand_in(value, place, at) {
            Ok(value) => value,
            Err(Unmet::Fault(fault)) => return Err(fault),
            Err(Unmet::Open(id)) => {
                let (text, kinds) = (self.short(id), self.kinds_of(id));
                let from = self.written_at(id);
                // What can be no number never is one; a choice is none yet.
                if !kinds.meets(Kinds::INT) && self.heap.get(self.follow(id)).choice.is_none() {
                    let message =
                        format!("cannot use {text} (type {kinds}) as type int in slice index");
                    return Err(self.fail_at(Kind::Permanent, message, at, vec![from]));
                }
                let message = format!("incomplete int in slice index: {text}");
                return Err(self.fail(Kind::Incomplete, message, from));
            }
        };
        match &value {
            Concrete::Datum(Datum::Number(number)) if number.is_int() => {
                match number.to_i64().map(usize::try_from) {
                    Some(Ok(it)) => Ok(Some(it)),
                    _ => {
                        let message = "cannot convert negative number to uint64";
                        Err(self.fail(Kind::Permanent, message, at))
                    }
                }
            }
            _ => {
                let operand = Operand { value, vertex, at: place };
                Err(self.misfit(&operand, "int in slice index", at))
            }
        }
    }
}
