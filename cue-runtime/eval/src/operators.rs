//! Arithmetic, comparison, and the comparison with bottom.

use std::cmp::Ordering;

use cue_syntax::ast::Compare;

use crate::builtin::Datum;
use crate::compare;
use crate::error::{Fault, Kind};
use crate::evaluator::{Concrete, Evaluator, Value};
use crate::heap::{EnvId, FaultId, State, Test, VertexId};
use crate::number::Number;
use crate::program::{Arithmetic, At, Code, ExprId};

impl Evaluator {
    pub(crate) fn comparison(
        &mut self,
        operator: Compare,
        left: ExprId,
        right: ExprId,
        env: EnvId,
        at: At,
    ) -> Value {
        let bottom = |expr| matches!(self.program.code(expr), Code::Bottom);
        if matches!(operator, Compare::Equal | Compare::NotEqual) && (bottom(left) || bottom(right))
        {
            let operand = if bottom(right) { left } else { right };
            return match self.is_absent(operand, env) {
                Ok(absent) => Value::Datum(Datum::Bool(absent == (operator == Compare::Equal))),
                Err(fault) => Value::Fault(fault),
            };
        }
        let symbol = compare::symbol(operator);
        let left = match self.operand(left, env) {
            Ok(it) => it,
            Err(fault) => return Value::Fault(self.operand_fault(fault, symbol)),
        };
        let right = match self.operand(right, env) {
            Ok(it) => it,
            Err(fault) => return Value::Fault(self.operand_fault(fault, symbol)),
        };
        match compare::holds(operator, &left, &right) {
            Some(it) => Value::Datum(Datum::Bool(it)),
            None => Value::Fault(self.invalid(compare::symbol(operator), &left, &right, at)),
        }
    }

    fn invalid(&mut self, operator: &str, left: &Datum, right: &Datum, at: At) -> FaultId {
        let message = format!(
            "invalid operands {} and {} to '{operator}' (type {} and {})",
            left.cue_text(),
            right.cue_text(),
            left.kind_name(),
            right.kind_name()
        );
        self.fail(Kind::Permanent, message, at)
    }

    fn operand(&mut self, expr: ExprId, env: EnvId) -> Result<Datum, FaultId> {
        let at = self.program.at(expr);
        let value = self.eval(expr, env);
        match self.concrete(value, at)? {
            Concrete::Datum(datum) => Ok(datum),
            Concrete::Vertex(id) => self.datum(id),
        }
    }

    /// `x == _|_` (cue-semantics.md section 6; corrections 2): types and bounds are absent, `_`,
    /// choices and structs whatever is in them are present.
    fn is_absent(&mut self, expr: ExprId, env: EnvId) -> Result<bool, FaultId> {
        let id = match self.eval(expr, env) {
            Value::Datum(_) => return Ok(false),
            Value::Fault(fault) => return self.absent_by(fault),
            Value::Vertex(id) => id,
        };
        let id = self.unify(id);
        let vertex = self.heap.get(id);
        if let Some(fault) = vertex.fault {
            // A struct is there, whatever its fields say.
            if vertex.is_struct && self.heap.faults[fault.0 as usize].kind.is_incomplete() {
                return Ok(false);
            }
            return self.absent_by(fault);
        }
        let running = vertex.state == State::Running;
        if (vertex.is_struct || vertex.is_list) && vertex.choice.is_none() && !running {
            // A permanent error anywhere inside makes the whole absent.
            return match self.permanent(id, 0) {
                Some(fault) if fault.kind == Kind::Budget => Ok(false),
                fault => Ok(fault.is_some()),
            };
        }
        let vertex = self.heap.get(id);
        if vertex.scalar.is_some() || vertex.is_struct || vertex.is_list || vertex.choice.is_some()
        {
            return Ok(false);
        }
        if vertex.state == State::Running {
            return Ok(false);
        }
        Ok(vertex.constrained || !vertex.tests.is_empty())
    }

    fn absent_by(&self, fault: FaultId) -> Result<bool, FaultId> {
        match self.heap.faults[fault.0 as usize].kind {
            Kind::Budget => Err(fault),
            Kind::Incomplete
            | Kind::Cycle
            | Kind::StructuralCycle
            | Kind::Permanent
            | Kind::User => Ok(true),
        }
    }

    pub(crate) fn arithmetic(
        &mut self,
        operator: Arithmetic,
        left_expr: ExprId,
        right_expr: ExprId,
        env: EnvId,
        at: At,
    ) -> Value {
        let symbol = match operator {
            Arithmetic::Add => "+",
            Arithmetic::Subtract => "-",
            Arithmetic::Multiply => "*",
            Arithmetic::Divide => "/",
        };
        let left = self.eval(left_expr, env);
        let left = match self.concrete(left, at) {
            Ok(it) => it,
            Err(fault) => return Value::Fault(self.operand_fault(fault, symbol)),
        };
        let right = self.eval(right_expr, env);
        let right = match self.concrete(right, at) {
            Ok(it) => it,
            Err(fault) => return Value::Fault(self.operand_fault(fault, symbol)),
        };
        let (left, right) = match (left, right) {
            (Concrete::Datum(left), Concrete::Datum(right)) => (left, right),
            (left, right) => return self.lists(operator, left, right, at),
        };
        match (operator, &left, &right) {
            (_, Datum::Number(left), Datum::Number(right)) => {
                let result = match operator {
                    Arithmetic::Add => left.add(right),
                    Arithmetic::Subtract => left.sub(right),
                    Arithmetic::Multiply => left.mul(right),
                    Arithmetic::Divide => left.quo(right),
                };
                match result {
                    Ok(number) => Value::Datum(Datum::Number(number)),
                    Err(error) => {
                        let message = format!("failed arithmetic: {error}");
                        Value::Fault(self.fail(Kind::Permanent, message, at))
                    }
                }
            }
            (Arithmetic::Add, Datum::String(left), Datum::String(right)) => {
                match self.charge(left.len() + right.len()) {
                    Ok(()) => Value::Datum(Datum::text(format!("{left}{right}"))),
                    Err(spent) => Value::Fault(spent),
                }
            }
            (Arithmetic::Add, Datum::Bytes(left), Datum::Bytes(right)) => {
                match self.charge(left.len() + right.len()) {
                    Ok(()) => Value::Datum(Datum::bytes([&**left, &**right].concat())),
                    Err(spent) => Value::Fault(spent),
                }
            }
            (Arithmetic::Multiply, Datum::String(text), Datum::Number(count))
            | (Arithmetic::Multiply, Datum::Number(count), Datum::String(text)) => {
                match self.repeated(text.as_bytes(), count, at) {
                    Ok(bytes) => Value::Datum(Datum::lossy(&bytes)),
                    Err(fault) => Value::Fault(fault),
                }
            }
            (Arithmetic::Multiply, Datum::Bytes(text), Datum::Number(count))
            | (Arithmetic::Multiply, Datum::Number(count), Datum::Bytes(text)) => {
                match self.repeated(text, count, at) {
                    Ok(bytes) => Value::Datum(Datum::bytes(bytes)),
                    Err(fault) => Value::Fault(fault),
                }
            }
            _ => Value::Fault(self.invalid(symbol, &left, &right, at)),
        }
    }

    fn operand_fault(&mut self, fault: FaultId, symbol: &str) -> FaultId {
        let inner = &self.heap.faults[fault.0 as usize];
        if inner.kind == Kind::Incomplete
            && inner.message.starts_with("non-concrete value ")
            && !inner.message.contains(" in operand to ")
        {
            let message = format!("{} in operand to {symbol}", inner.message);
            let fault = Fault { message, ..inner.clone() };
            return self.heap.fault(fault);
        }
        fault
    }

    fn repeated(&mut self, text: &[u8], count: &Number, at: At) -> Result<Vec<u8>, FaultId> {
        let Some(count) = count.to_i64().and_then(|it| usize::try_from(it).ok()) else {
            return Err(self.fail(Kind::Permanent, "cannot convert negative number to uint64", at));
        };
        if count.saturating_mul(text.len()) > 64 << 20 {
            return Err(self.fail(Kind::Budget, "result too large", at));
        }
        self.charge(count * text.len())?;
        Ok(text.repeat(count))
    }

    /// `+` and `*` of lists: an error since v0.11, concatenation before (the KubeVela profile).
    fn lists(&mut self, operator: Arithmetic, left: Concrete, right: Concrete, at: At) -> Value {
        let elements = |it: &Concrete, this: &Self| match it {
            Concrete::Vertex(id) if this.heap.get(*id).is_list => {
                Some(this.heap.get(*id).arcs.iter().map(|it| it.vertex).collect::<Vec<_>>())
            }
            Concrete::Vertex(_) | Concrete::Datum(_) => None,
        };
        if self.program.lenient {
            match (operator, elements(&left, self), elements(&right, self)) {
                (Arithmetic::Add, Some(mut all), Some(more)) => {
                    all.extend(more);
                    return Value::Vertex(self.list_of(&all));
                }
                (Arithmetic::Multiply, Some(all), None)
                | (Arithmetic::Multiply, None, Some(all)) => {
                    let count = [&left, &right].into_iter().find_map(|it| match it {
                        Concrete::Datum(Datum::Number(number)) => number.to_i64(),
                        Concrete::Datum(_) | Concrete::Vertex(_) => None,
                    });
                    if let Some(count) = count.and_then(|it| usize::try_from(it).ok()) {
                        if count.saturating_mul(all.len()) <= 1 << 20 {
                            return Value::Vertex(self.list_of(&all.repeat(count)));
                        }
                    }
                }
                _ => {}
            }
        }
        let name = |it: &Concrete, this: &Self| match it {
            Concrete::Datum(datum) => datum.kind_name(),
            Concrete::Vertex(id) if this.heap.get(*id).is_list => "list",
            Concrete::Vertex(_) => "struct",
        };
        let (symbol, advice) = match operator {
            Arithmetic::Add => ("+", "Addition of lists is superseded by list.Concat"),
            Arithmetic::Multiply => ("*", "Multiplication of lists is superseded by list.Repeat"),
            Arithmetic::Subtract => ("-", ""),
            Arithmetic::Divide => ("/", ""),
        };
        let both = (name(&left, self), name(&right, self));
        let message = if both == ("list", "list") && !advice.is_empty() {
            format!("{advice}; see https://cuelang.org/e/v0.11-list-arithmetic")
        } else {
            format!("invalid operands to '{symbol}' (type {} and {})", both.0, both.1)
        };
        Value::Fault(self.fail(Kind::Permanent, message, at))
    }

    /// Whether the value of a vertex passes a test.
    pub(crate) fn passes(&mut self, id: VertexId, test: &Test, at: At) -> Result<(), FaultId> {
        let scalar = self.heap.get(id).scalar.clone();
        match test {
            Test::Bound(operator, limit) => {
                let Some((value, value_at)) = scalar else { return Ok(()) };
                let value = if *operator == Compare::NotEqual && matches!(limit, Datum::Null) {
                    return if matches!(value, Datum::Null) {
                        Err(self.out_of_bound(&value, *operator, limit, at, value_at))
                    } else {
                        Ok(())
                    };
                } else {
                    value
                };
                match compare::holds(*operator, &value, limit) {
                    Some(true) => Ok(()),
                    Some(false) => Err(self.out_of_bound(&value, *operator, limit, at, value_at)),
                    None => Err(self.invalid(compare::symbol(*operator), &value, limit, at)),
                }
            }
            Test::Range(name) => {
                let Some((Datum::Number(number), value_at)) = scalar else { return Ok(()) };
                match range(name) {
                    Some((low, high)) => {
                        for (limit, operator, wrong) in [
                            (low, Compare::GreaterEqual, Ordering::Less),
                            (high, Compare::LessEqual, Ordering::Greater),
                        ] {
                            if number.compare(&limit) == wrong {
                                let (value, limit) = (Datum::Number(number), Datum::Number(limit));
                                return Err(
                                    self.out_of_bound(&value, operator, &limit, at, value_at)
                                );
                            }
                        }
                        Ok(())
                    }
                    None => Ok(()),
                }
            }
            Test::Call(package, function, rest) => {
                self.validate_call(id, package, function, rest, at)
            }
            Test::Match(expr, env) => self.validate_match(id, *expr, *env, at),
        }
    }

    fn out_of_bound(
        &mut self,
        value: &Datum,
        operator: Compare,
        limit: &Datum,
        at: At,
        value_at: At,
    ) -> FaultId {
        let message = format!(
            "invalid value {} (out of bound {}{})",
            value.cue_text(),
            compare::symbol(operator),
            limit.cue_text()
        );
        let fault = Fault::new(Kind::Permanent, message, at).and_at(value_at);
        self.heap.fault(fault)
    }
}

/// Least and greatest number of a sized type.
pub(crate) fn range(name: &str) -> Option<(Number, Number)> {
    let number = |text: &str| Number::parse_signed(text).ok();
    let (low, high) = match name {
        "uint" => return Some((Number::int(0), number("1e400")?)),
        "uint8" => ("0", "255"),
        "uint16" => ("0", "65535"),
        "uint32" => ("0", "4294967295"),
        "uint64" => ("0", "18446744073709551615"),
        "uint128" => ("0", "340282366920938463463374607431768211455"),
        "int8" => ("-128", "127"),
        "int16" => ("-32768", "32767"),
        "int32" => ("-2147483648", "2147483647"),
        "int64" => ("-9223372036854775808", "9223372036854775807"),
        "int128" => {
            ("-170141183460469231731687303715884105728", "170141183460469231731687303715884105727")
        }
        "rune" => ("0", "1114111"),
        _ => return None,
    };
    Some((number(low)?, number(high)?))
}
