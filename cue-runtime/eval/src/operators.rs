//! Arithmetic and comparison.

use std::cmp::Ordering;

use cue_syntax::ast::Compare;

use crate::bounds::extent;
use crate::builtin::{Datum, Function, Run, Special};
use crate::compare;
use crate::demand::{Concrete, Operand};
use crate::error::Kind;
use crate::evaluator::{Evaluator, Value};
use crate::heap::{EnvId, FaultId, Test, VertexId};
use crate::interpolation::JOINED_FROM;
use crate::number::Number;
use crate::program::{Arithmetic, At, Callee, Code, ExprId, Plain};

/// Times a text may be repeated.
const MOST_REPEATS: usize = 1_000_000;

/// How booleans are combined.
#[derive(Clone, Copy)]
pub(crate) enum Logic {
    And,
    Or,
}

impl Evaluator {
    pub(crate) fn comparison(
        &mut self,
        operator: Compare,
        left: ExprId,
        right: ExprId,
        env: EnvId,
        at: At,
    ) -> Value {
        if let Some(operand) = self.program.asked_whether_there(operator, left, right) {
            let before = std::mem::replace(&mut self.early, false);
            let absent = self.asking_what_is_made(|it| it.is_absent(operand, env));
            if self.early && matches!(absent, Ok(true)) {
                self.remember(operand, env);
            }
            self.early = before;
            return match absent {
                Ok(absent) => Value::Datum(Datum::Bool(absent == (operator == Compare::Equal))),
                Err(fault) => Value::Fault(fault),
            };
        }
        let symbol = operator.symbol();
        let (left, right) = match self.operands(left, right, env, symbol, at) {
            Ok(both) => both,
            Err(fault) => return Value::Fault(fault),
        };
        if matches!(operator, Compare::Match | Compare::NotMatch) {
            if let Err(fault) = self.match_operands(symbol, &left, &right, at) {
                return Value::Fault(fault);
            }
        }
        if !self.program.compares_all(at.source) && !self.were_comparable(operator, &left, &right) {
            return Value::Fault(self.invalid(symbol, &left, &right, at));
        }
        if matches!(operator, Compare::Equal | Compare::NotEqual) {
            let function = |it: &Operand| matches!(it.value, Concrete::Datum(Datum::Function(_)));
            if function(&left) && function(&right) {
                return Value::Fault(self.invalid(symbol, &left, &right, at));
            }
            match self.equal_in_place(&left, &right) {
                Ok(Some(equal)) => {
                    let holds = equal == (operator == Compare::Equal);
                    return Value::Datum(Datum::Bool(holds));
                }
                Ok(None) => {}
                Err(fault) => return Value::Fault(fault),
            }
        }
        let first = match self.compared(&left, "left", symbol, &left, at) {
            Ok(it) => it,
            Err(fault) => return Value::Fault(fault),
        };
        let second = match self.compared(&right, "right", symbol, &left, at) {
            Ok(it) => it,
            Err(fault) => return Value::Fault(fault),
        };
        match compare::holds(operator, &first, &second) {
            Some(it) => Value::Datum(Datum::Bool(it)),
            None => match compare::bad_pattern(operator, &second) {
                Some(message) => Value::Fault(self.fail(Kind::Permanent, message, at)),
                None => Value::Fault(self.invalid(symbol, &left, &right, at)),
            },
        }
    }

    /// Whether `==` had an answer up to v0.14, without `@experiment(structcmp)`: of two structs it had none, nor of values of different
    /// kinds, null excepted (S-56).
    fn were_comparable(&self, operator: Compare, left: &Operand, right: &Operand) -> bool {
        if !matches!(operator, Compare::Equal | Compare::NotEqual) {
            return true;
        }
        let kind = |it: &Operand| match self.concrete_kind(&it.value) {
            "int" | "float" => "number",
            other => other,
        };
        let (one, other) = (kind(left), kind(right));
        one == "null" || other == "null" || one == other && one != "struct"
    }

    /// `=~` wants a text and a pattern (S-57).
    fn match_operands(
        &mut self,
        symbol: &str,
        left: &Operand,
        right: &Operand,
        at: At,
    ) -> Result<(), FaultId> {
        let text = matches!(left.value, Concrete::Datum(Datum::String(_)));
        let pattern = matches!(right.value, Concrete::Datum(Datum::String(_) | Datum::Bytes(_)));
        let one = (!text).then(|| self.misfit(left, &format!("string in {symbol}"), at));
        let other = (!pattern).then(|| self.misfit(right, "(string|bytes)", at));
        if let Some(fault) = self.either_fault(one, other) {
            return Err(fault);
        }
        Ok(())
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
        let (one, other) = match self.operands(left_expr, right_expr, env, symbol, at) {
            Ok(both) => both,
            Err(fault) => return Value::Fault(fault),
        };
        let (Concrete::Datum(left), Concrete::Datum(right)) = (&one.value, &other.value) else {
            return self.lists(operator, &one, &other, at);
        };
        match (operator, left, right) {
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
                let length = left.len().saturating_add(right.len());
                if length >= JOINED_FROM {
                    return self.joined(vec![left.clone(), right.clone()]);
                }
                match self.charge_made(length) {
                    Ok(()) => {
                        let mut text = String::with_capacity(length);
                        text.push_str(left);
                        text.push_str(right);
                        Value::Datum(Datum::text(text))
                    }
                    Err(spent) => Value::Fault(spent),
                }
            }
            (Arithmetic::Add, Datum::Bytes(left), Datum::Bytes(right)) => {
                match self.charge_made(left.len() + right.len()) {
                    Ok(()) => Value::Datum(Datum::bytes([&**left, &**right].concat())),
                    Err(spent) => Value::Fault(spent),
                }
            }
            (Arithmetic::Multiply, Datum::String(text), Datum::Number(count))
            | (Arithmetic::Multiply, Datum::Number(count), Datum::String(text))
                if count.is_int() =>
            {
                match self.repeated("string", text.as_bytes(), count, at) {
                    Ok(bytes) => Value::Datum(Datum::lossy(&bytes)),
                    Err(fault) => Value::Fault(fault),
                }
            }
            (Arithmetic::Multiply, Datum::Bytes(text), Datum::Number(count))
            | (Arithmetic::Multiply, Datum::Number(count), Datum::Bytes(text))
                if count.is_int() =>
            {
                match self.repeated("bytes", text, count, at) {
                    Ok(bytes) => Value::Datum(Datum::bytes(bytes)),
                    Err(fault) => Value::Fault(fault),
                }
            }
            _ => Value::Fault(self.no_operands(operator, symbol, &one, &other, at)),
        }
    }

    /// What arithmetic says of values it has no answer for (S-53).
    fn no_operands(
        &mut self,
        operator: Arithmetic,
        symbol: &str,
        left: &Operand,
        right: &Operand,
        at: At,
    ) -> FaultId {
        if operator != Arithmetic::Subtract {
            return self.invalid(symbol, left, right, at);
        }
        let mut wrong: Option<FaultId> = None;
        for side in [left, right] {
            if matches!(side.value, Concrete::Datum(Datum::Number(_))) {
                continue;
            }
            let fault = self.misfit(side, "number in -", at);
            wrong = Some(match wrong {
                Some(before) => self.both_faults(before, fault),
                None => fault,
            });
        }
        match wrong {
            Some(fault) => fault,
            None => self.invalid(symbol, left, right, at),
        }
    }

    fn repeated(
        &mut self,
        kind: &str,
        text: &[u8],
        count: &Number,
        at: At,
    ) -> Result<Vec<u8>, FaultId> {
        let Some(count) = count.to_i64().and_then(|it| u64::try_from(it).ok()) else {
            let message = match count.to_string() {
                negative if negative.starts_with('-') => {
                    "cannot convert negative number to uint64".to_owned()
                }
                large => format!("cannot convert number {large} to uint64"),
            };
            return Err(self.fail(Kind::Permanent, message, at));
        };
        let Some(times) = usize::try_from(count).ok().filter(|it| *it <= MOST_REPEATS) else {
            let message =
                format!("{kind} multiplication count {count} exceeds limit of {MOST_REPEATS}");
            return Err(self.fail(Kind::Permanent, message, at));
        };
        if times.saturating_mul(text.len()) > 64 << 20 {
            return Err(self.fail(Kind::Budget, "result too large", at));
        }
        self.charge_made(times * text.len())?;
        Ok(text.repeat(times))
    }

    /// `+` and `*` of lists: an error since v0.11, concatenation before (the KubeVela profile).
    fn lists(&mut self, operator: Arithmetic, left: &Operand, right: &Operand, at: At) -> Value {
        let elements = |it: &Concrete, this: &Self| match it {
            Concrete::Vertex(id) if this.heap.get(*id).is_list => Some(this.elements(*id)),
            Concrete::Vertex(_) | Concrete::Datum(_) => None,
        };
        if self.program.lenient {
            match (operator, elements(&left.value, self), elements(&right.value, self)) {
                (Arithmetic::Add, Some(mut all), Some(more)) => {
                    all.extend(more);
                    return Value::Vertex(self.list_of(&all));
                }
                (Arithmetic::Multiply, Some(all), None)
                | (Arithmetic::Multiply, None, Some(all)) => {
                    let sides = [&left.value, &right.value];
                    let count = sides.into_iter().find_map(|it| match it {
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
        let both = (self.concrete_kind(&left.value), self.concrete_kind(&right.value));
        let message = match (operator, both) {
            (Arithmetic::Add, ("list", "list")) => {
                "Addition of lists is superseded by list.Concat; see https://cuelang.org/e/v0.11-list-arithmetic"
            }
            (Arithmetic::Multiply, ("list", "int") | ("int", "list")) => {
                "Multiplication of lists is superseded by list.Repeat; see https://cuelang.org/e/v0.11-list-arithmetic"
            }
            _ => {
                let symbol = match operator {
                    Arithmetic::Add => "+",
                    Arithmetic::Subtract => "-",
                    Arithmetic::Multiply => "*",
                    Arithmetic::Divide => "/",
                };
                return Value::Fault(self.no_operands(operator, symbol, left, right, at));
            }
        };
        Value::Fault(self.fail(Kind::Permanent, message, at))
    }

    /// `&&` and `||`: both sides must be concrete; of what kind the right one is no longer matters
    /// once the left one decides. With the experiment it is not even looked at.
    pub(crate) fn logic(
        &mut self,
        logic: Logic,
        left: ExprId,
        right: ExprId,
        env: EnvId,
        at: At,
    ) -> Value {
        // The value of the left side with which the right one no longer matters is the other one.
        let (symbol, and) = match logic {
            Logic::And => ("&&", true),
            Logic::Or => ("||", false),
        };
        if !self.program.short_circuits(at.source) {
            let (left, right) = match self.operands(left, right, env, symbol, at) {
                Ok(both) => both,
                Err(fault) => return Value::Fault(fault),
            };
            for (index, side) in [left, right].into_iter().enumerate() {
                match side.value {
                    Concrete::Datum(Datum::Bool(it)) if index == 1 || it != and => {
                        return Value::Datum(Datum::Bool(it));
                    }
                    Concrete::Datum(Datum::Bool(_)) => {}
                    _ => {
                        let wanted = format!("bool in {symbol}");
                        return Value::Fault(self.misfit(&side, &wanted, at));
                    }
                }
            }
            return Value::Datum(Datum::Bool(and));
        }
        for (index, side) in [left, right].into_iter().enumerate() {
            let operand = match self.operand(side, env, symbol, at) {
                Ok(operand) => operand,
                Err(fault) => return Value::Fault(fault),
            };
            let Concrete::Datum(Datum::Bool(it)) = operand.value else {
                return Value::Fault(self.misfit(&operand, &format!("bool in {symbol}"), at));
            };
            if index == 1 || it != and {
                return Value::Datum(Datum::Bool(it));
            }
        }
        Value::Datum(Datum::Bool(and))
    }

    /// Whether a list or a struct is another one than `limit`, as soon as all of it is known.
    fn passes_whole(
        &mut self,
        id: VertexId,
        operator: Compare,
        limit: &Datum,
        at: At,
    ) -> Result<(), FaultId> {
        let asked = matches!(operator, Compare::Equal | Compare::NotEqual);
        if !asked || !matches!(limit, Datum::List(_) | Datum::Struct(_)) {
            return Ok(());
        }
        match self.datum(id) {
            Ok(value) if compare::equal(&value, limit) == (operator == Compare::NotEqual) => {
                let places = self.named_at(id);
                Err(self.out_of_bound(&value, operator, limit, at, places))
            }
            _ => Ok(()),
        }
    }

    /// Whether the value of a vertex passes a test.
    pub(crate) fn passes(&mut self, id: VertexId, test: &Test, at: At) -> Result<(), FaultId> {
        let scalar = self.scalar_at(id).map(|(datum, at)| (datum.clone(), at));
        match test {
            Test::Bound(operator, limit) => {
                let Some((value, value_at)) = scalar else {
                    return self.passes_whole(id, *operator, limit, at);
                };
                // Of `<` and the like only the value takes part, of others where it is named, too.
                let out = |this: &mut Self| {
                    let mut places = vec![value_at];
                    if !compare::is_order(*operator) {
                        places.extend(this.named_at(id));
                    }
                    Err(this.out_of_bound(&value, *operator, limit, at, places))
                };
                if *operator == Compare::NotEqual && matches!(limit, Datum::Null) {
                    return if matches!(value, Datum::Null) { out(self) } else { Ok(()) };
                }
                match compare::holds(*operator, &value, limit) {
                    Some(true) => Ok(()),
                    Some(false) => out(self),
                    None => {
                        // Bytes are of the kind of such a bound, and match nothing (S-57).
                        let matches = matches!(operator, Compare::Match | Compare::NotMatch);
                        if matches && matches!(value, Datum::Bytes(_)) {
                            let (text, symbol) = (value.cue_text(), operator.symbol());
                            let message = format!(
                                "cannot use {text} (type bytes) as type string in {symbol}"
                            );
                            return Err(self.fail_at(Kind::Permanent, message, at, vec![value_at]));
                        }
                        if let Some(message) = compare::bad_pattern(*operator, limit) {
                            return Err(self.fail(Kind::Permanent, message, at));
                        }
                        let side = |datum: &Datum, at: At| Operand {
                            value: Concrete::Datum(datum.clone()),
                            vertex: None,
                            at,
                        };
                        let (value, limit) = (side(&value, value_at), side(limit, at));
                        Err(self.invalid(operator.symbol(), &value, &limit, at))
                    }
                }
            }
            Test::Range(name) => {
                let Some((Datum::Number(number), value_at)) = scalar else { return Ok(()) };
                match extent(name) {
                    Some((low, high)) => {
                        for (limit, operator, wrong) in [
                            (Some(low), Compare::GreaterEqual, Ordering::Less),
                            (high, Compare::LessEqual, Ordering::Greater),
                        ] {
                            let Some(limit) = limit else { continue };
                            if number.compare(&limit) == wrong {
                                let (value, limit) = (Datum::Number(number), Datum::Number(limit));
                                let nowhere = At::default();
                                let places = vec![value_at];
                                return Err(
                                    self.out_of_bound(&value, operator, &limit, nowhere, places)
                                );
                            }
                        }
                        Ok(())
                    }
                    None => Ok(()),
                }
            }
            Test::Call(package, function, rest, written) => {
                if let Some(fault) = self.misgiven((package, function), rest, *written) {
                    return Err(fault);
                }
                let given = self.given_by_now(id, (package, function), rest, *written);
                let result =
                    given.and_then(|it| self.validate_call(id, package, function, &it, at));
                result.map_err(|fault| {
                    let called = Some((*function, rest.as_slice()));
                    self.around_validator(fault, id, *written, called)
                })
            }
            Test::Match(expr, env) => {
                let result = self.validate_match(id, *expr, *env, at);
                result.map_err(|fault| self.around_validator(fault, id, (*expr, *env), None))
            }
        }
    }

    /// A validator's error is also where its arguments are and where the value is from
    /// (cue-errors 1.2).
    fn around_validator(
        &mut self,
        fault: FaultId,
        id: VertexId,
        (expr, env): (ExprId, EnvId),
        called: Option<(&Function, &[Datum])>,
    ) -> FaultId {
        let at = self.program.at(expr);
        if self.heap.faults[fault].at != at {
            return fault;
        }
        let program = self.program.clone();
        let arguments = match program.code(expr) {
            Code::Call(_, arguments) | Code::CallOf(_, arguments) => &arguments[..],
            _ => &[],
        };
        let schemas = match program.code(expr) {
            Code::Call(Callee::Plain(it), _) => Some(*it),
            _ => None,
        };
        let own = schemas == Some(Plain::MatchN);
        // What is compared as it is has a place if it is a scalar, or if elements are counted that fit;
        // schemas have one if they are a scalar, a type or a bound.
        let counted = called.is_some_and(|it| matches!(it.0.run, Run::Evaluator(Special::MatchN)));
        let given = |place: usize| called.and_then(|it| it.1.get(place));
        let placed = |(place, it): (usize, &ExprId)| match (given(place), program.code(*it)) {
            // A list of schemas has no place, be it written here or elsewhere.
            _ if own && place == 1 => Vec::new(),
            (Some(Datum::Live(raw)), _) => match self.handled(*raw) {
                Some(id) => {
                    let whole = self.heap.get(self.follow(id));
                    let scalar = !whole.is_list && !whole.is_struct && whole.choice.is_none();
                    if counted || scalar { self.origin(id) } else { Vec::new() }
                }
                None => Vec::new(),
            },
            (_, Code::Struct(_)) => Vec::new(),
            (_, Code::List(_)) if schemas.is_some() => Vec::new(),
            (_, Code::Type(_, name)) if range(name).is_some() => Vec::new(),
            (_, code) if !(own || code.is_tag() || matches!(code, Code::Top)) => {
                match self.eval(*it, env) {
                    Value::Vertex(id) => {
                        let id = self.unify(id);
                        let id = self.default_of(id).unwrap_or(id);
                        vec![self.written_at(id)]
                    }
                    Value::Datum(_) | Value::Fault(_) => vec![self.program.at(*it)],
                }
            }
            _ => vec![self.program.at(*it)],
        };
        let mut positions: Vec<At> = arguments.iter().enumerate().flat_map(placed).collect();
        positions.extend(self.named_at(id));
        let mut fault = self.heap.faults[fault].clone();
        // The causes of matchN's are those of its schemas.
        for each in fault.causes.iter_mut().filter(|it| it.at == at && !own) {
            each.positions.extend_from_slice(&positions);
        }
        fault.positions.extend(positions);
        // A function that is not called has no source.
        if matches!(program.code(expr), Code::Function(_)) {
            fault.at = At::default();
        }
        self.heap.fault(fault)
    }

    fn out_of_bound(
        &mut self,
        value: &Datum,
        operator: Compare,
        limit: &Datum,
        at: At,
        places: Vec<At>,
    ) -> FaultId {
        let message = format!(
            "invalid value {} (out of bound {}{})",
            value.cue_text(),
            operator.symbol(),
            limit.cue_text()
        );
        // The bound is looked at when the value is there.
        self.fail_at(Kind::Permanent, message, at, places)
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
