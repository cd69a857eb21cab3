//! Operands of binary operators: both concrete, and what is said of those that do not fit
//! (cue-errors 1.6).

use crate::builtin::Datum;
use crate::demand::{Concrete, Operand};
use crate::error::Kind;
use crate::evaluator::Evaluator;
use crate::export::Functions;
use crate::heap::{EnvId, FaultId, VertexId};
use crate::program::{At, ExprId};

impl Evaluator {
    /// Both operands; the errors of both if neither is there.
    pub(crate) fn operands(
        &mut self,
        left: ExprId,
        right: ExprId,
        env: EnvId,
        symbol: &str,
        whole: At,
    ) -> Result<(Operand, Operand), FaultId> {
        let left = self.operand(left, env, symbol, whole);
        if let Err(fault) = left {
            // It is asked once more: before that the other one is not needed.
            if self.waits_for_value(fault) {
                return Err(fault);
            }
        }
        let right = self.operand(right, env, symbol, whole);
        if let (Err(_), Err(fault)) = (&left, &right) {
            if self.waits_for_value(*fault) {
                return Err(*fault);
            }
        }
        match (left, right) {
            (Ok(left), Ok(right)) => {
                self.are_whole(&left, &right, symbol, whole)?;
                Ok((left, right))
            }
            (Err(fault), Ok(_)) | (Ok(_), Err(fault)) => Err(fault),
            (Err(left), Err(right)) => Err(self.both_faults(left, right)),
        }
    }

    /// Structs and lists are concrete all the way down, whatever the operator; comparison takes what
    /// they are from there itself, and the profile of earlier versions adds lists as they are.
    fn are_whole(
        &mut self,
        left: &Operand,
        right: &Operand,
        symbol: &str,
        at: At,
    ) -> Result<(), FaultId> {
        if matches!(symbol, "==" | "!=") || self.program.lenient {
            return Ok(());
        }
        for (side, name) in [(left, "left"), (right, "right")] {
            if let Concrete::Vertex(id) = side.value {
                self.whole(id, name, symbol, left, at)?;
            }
        }
        Ok(())
    }

    /// One side of a comparison as data, concrete all the way down (S-56).
    pub(crate) fn compared(
        &mut self,
        side: &Operand,
        name: &str,
        symbol: &str,
        left: &Operand,
        at: At,
    ) -> Result<Datum, FaultId> {
        let id = match &side.value {
            Concrete::Datum(datum) => return Ok(datum.clone()),
            Concrete::Vertex(id) => *id,
        };
        if !matches!(symbol, "==" | "!=") {
            return Ok(Datum::fields(Vec::new()));
        }
        self.whole(id, name, symbol, left, at)
    }

    /// A struct or list that is an operand, concrete all the way down: before it is looked at what it
    /// is an operand of (S-53).
    fn whole(
        &mut self,
        id: VertexId,
        name: &str,
        symbol: &str,
        left: &Operand,
        at: At,
    ) -> Result<Datum, FaultId> {
        self.datum_with(id, Functions::Kept).map_err(|fault| {
            let inner = self.heap.faults[fault].clone();
            if inner.kind == Kind::Budget {
                return fault;
            }
            let path = inner.place.map(|it| self.path(it)).unwrap_or_default();
            let colon = if path.is_empty() { "" } else { ": " };
            let message = format!(
                "invalid {name}-hand value to '{symbol}' (type {}): {path}{colon}{}",
                self.concrete_kind(&left.value),
                inner.message
            );
            self.fail(inner.kind, message, at)
        })
    }

    /// `invalid operands …`: what both sides are.
    pub(crate) fn invalid(
        &mut self,
        operator: &str,
        left: &Operand,
        right: &Operand,
        at: At,
    ) -> FaultId {
        let kinds = (self.concrete_kind(&left.value), self.concrete_kind(&right.value));
        let say = |left: &str, right: &str| {
            let (one, other) = kinds;
            format!("invalid operands {left} and {right} to '{operator}' (type {one} and {other})")
        };
        let message = match (&left.value, &right.value) {
            (Concrete::Vertex(id), other) => {
                let other = self.concrete_text(other);
                self.about(*id, "", |text| say(text, &other))
            }
            (one, Concrete::Vertex(id)) => {
                let one = self.concrete_text(one);
                self.about(*id, "", |text| say(&one, text))
            }
            (Concrete::Datum(one), Concrete::Datum(other)) => {
                say(&one.cue_text(), &other.cue_text())
            }
        };
        let mut positions = self.origin_of(left);
        positions.extend(self.origin_of(right));
        self.fail_at(Kind::Permanent, message, at, positions)
    }

    /// `cannot use 1 (type int) as type bool in &&`.
    pub(crate) fn misfit(&mut self, operand: &Operand, wanted: &str, at: At) -> FaultId {
        let kind = self.concrete_kind(&operand.value);
        let message = self.about_operand(&operand.value, |text| {
            format!("cannot use {text} (type {kind}) as type {wanted}")
        });
        let positions = self.origin_of(operand);
        self.fail_at(Kind::Permanent, message, at, positions)
    }
}
