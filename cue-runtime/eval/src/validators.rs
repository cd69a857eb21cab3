//! Functions as validators: collected with their arguments, run once the value is concrete (S-18).

use std::borrow::Cow;

use crate::builtin::{CallContext, Datum, Function, Kinds, Pass, Run, Special};
use crate::calls::{CALL_BYTES, Called, kind_of};
use crate::compare;
use crate::error::Kind;
use crate::evaluator::{Evaluator, Value};
use crate::heap::{By, EnvId, FaultId, Test, VertexId};
use crate::program::{At, Callee, Code, ExprId, Plain};

pub(crate) const REQUIRED: &str = "field is required but not present";

impl Evaluator {
    pub(crate) fn take_validator(
        &mut self,
        id: VertexId,
        (expr, env): (ExprId, EnvId),
        callee: Callee,
        arguments: &[ExprId],
        via: u32,
    ) {
        let at = self.program.at(expr);
        match callee {
            Callee::Plain(Plain::MatchN | Plain::MatchIf) => {
                // An argument that is wrong as it is written is so whatever the value.
                let bottom = |it: &&ExprId| matches!(self.program.code(**it), Code::Bottom);
                if let Some(wrong) = arguments.iter().find(bottom) {
                    if let Value::Fault(fault) = self.eval(*wrong, env) {
                        self.raise_id(id, fault);
                    }
                    return;
                }
                // Of a struct that something else has come before it is not asked.
                let vertex = self.heap.get_mut(id);
                if vertex.kinds != Kinds::BOTTOM || !vertex.picks.is_empty() {
                    vertex.tests.push((Test::Match(expr, env), at));
                }
            }
            Callee::Plain(_) => {}
            Callee::Package(it) => {
                let (package, function) = (it.package(), it.function());
                let (mut rest, mut wrong, mut as_written) = (Vec::new(), None, false);
                let called = Called { package, function, at };
                for (argument, slot) in arguments.iter().zip(called.slots().skip(1)) {
                    match self.argument(*argument, env, slot) {
                        Ok(datum) => rest.push(datum),
                        Err(fault) => {
                            let value = match self.eval(*argument, env) {
                                Value::Vertex(value) => self.unify(value),
                                Value::Datum(datum) => self.datum_vertex(datum),
                                Value::Fault(fault) => return self.raise_id(id, fault),
                            };
                            if self.heap.get(value).fault.is_some() {
                                return self.raise_id(id, fault);
                            }
                            let value = self.default_of(value).unwrap_or(value);
                            let value = self.unify(value);
                            let scalar = self.scalar_at(value).map(|it| it.0.clone());
                            as_written = scalar.is_none();
                            rest.push(match scalar {
                                Some(datum) => datum,
                                None => Datum::Live(self.handle(value)),
                            });
                            let incomplete = self.heap.faults[fault].kind.is_incomplete();
                            let later = !as_written || self.is_asked_later(fault);
                            wrong = Some(fault).filter(|_| incomplete && !later);
                        }
                    }
                }
                let kinds = function.parameters[0].kinds;
                let tests = &mut self.heap.get_mut(id).tests;
                let count = tests.len();
                let by = By::Test(count as u32);
                tests.push((Test::Call(package, function, rest, (expr, env)), at));
                // What is of another kind is told before what an argument is, and that when there is a value.
                let fits = self.restrict(id, kinds, by, at, via);
                let withdrawn = wrong.is_some() || as_written && !fits;
                while withdrawn && self.heap.get(id).tests.len() > count {
                    self.heap.get_mut(id).tests.pop();
                }
                if let Some(fault) = wrong.filter(|_| fits) {
                    self.raise_id(id, fault);
                }
            }
        }
    }

    pub(crate) fn validate_call(
        &mut self,
        id: VertexId,
        package: &str,
        function: &'static Function,
        rest: &[Datum],
        at: At,
    ) -> Result<(), FaultId> {
        if matches!(function.run, Run::Pure(_)) {
            return self.validate_once(id, package, function, rest, at);
        }
        self.begin_check(id, at)?;
        let result = self.validate_once(id, package, function, rest, at);
        self.checking.pop();
        result
    }

    /// Whether an argument lacks no more than a value: that is asked for when there is one to hold the validator against.
    fn is_asked_later(&self, fault: FaultId) -> bool {
        let known = &self.heap.faults[fault];
        let waits = known.closes_at.is_some() || known.awaits.is_some();
        known.kind == Kind::Incomplete && !waits && known.message.contains(": non-concrete ")
    }

    /// What a validator was given, for which there was no value when it came.
    ///
    /// # Errors
    /// There still is none (S-18).
    pub(crate) fn given_by_now<'a>(
        &mut self,
        id: VertexId,
        (package, function): (&'static str, &'static Function),
        rest: &'a [Datum],
        (expr, env): (ExprId, EnvId),
    ) -> Result<Cow<'a, [Datum]>, FaultId> {
        if !rest.iter().any(|it| matches!(it, Datum::Live(_))) {
            return Ok(Cow::Borrowed(rest));
        }
        let mut all = rest.to_vec();
        for (place, datum) in all.iter_mut().enumerate() {
            let Some(parameter) = function.parameters.get(place + 1) else { continue };
            let asked = matches!(parameter.pass, Pass::Scalar | Pass::Whole);
            if !matches!(datum, Datum::Live(_)) || !asked {
                continue;
            }
            let Ok(Code::Call(_, arguments)) = self.known_call(expr, env) else { continue };
            let Some(argument) = arguments.get(place).copied() else { continue };
            let at = self.program.at(expr);
            let called = Called { package, function, at };
            let Some(slot) = called.slot(place + 1) else { continue };
            *datum = match self.argument(argument, env, slot) {
                Ok(given) => given,
                Err(fault) if self.is_asked_later(fault) => {
                    let value = self.short(id);
                    let call = self.unasked_text((package, function), rest, (expr, env));
                    let fault = self.heap.faults[fault].clone();
                    let lack = fault.message.split_once(": ").map_or("", |it| it.1);
                    let message =
                        format!("invalid value {value} (does not satisfy {call}): {lack}");
                    return Err(self.fail(Kind::Incomplete, message, at));
                }
                Err(fault) => return Err(fault),
            };
        }
        Ok(Cow::Owned(all))
    }

    /// The error of an argument that a validator was given and cannot take.
    pub(crate) fn misgiven(
        &mut self,
        (package, function): (&'static str, &'static Function),
        rest: &[Datum],
        (expr, env): (ExprId, EnvId),
    ) -> Option<FaultId> {
        let wrong = |(place, it): (usize, &Datum)| {
            let kinds = match it {
                Datum::Live(raw) => {
                    match self.handled(*raw).map(|it| self.heap.get(self.follow(it))) {
                        Some(it) if it.is_list => Kinds::LIST,
                        Some(it) if it.is_struct => Kinds::STRUCT,
                        _ => Kinds::ANY,
                    }
                }
                it => compare::kinds(it),
            };
            let parameter = function.parameters.get(place + 1)?;
            (!parameter.kinds.meets(kinds)).then_some(place)
        };
        let place = rest.iter().enumerate().find_map(wrong)?;
        let Ok(Code::Call(_, arguments)) = self.known_call(expr, env) else { return None };
        let called = Called { package, function, at: self.program.at(expr) };
        self.argument(*arguments.get(place)?, env, called.slot(place + 1)?).err()
    }

    fn validate_once(
        &mut self,
        id: VertexId,
        package: &str,
        function: &'static Function,
        rest: &[Datum],
        at: At,
    ) -> Result<(), FaultId> {
        let result = match function.run {
            Run::Pure(run) => {
                let first = match self.datum(id) {
                    // Of a struct it is not asked what is in it.
                    Err(_) if self.heap.get(self.follow(id)).is_struct => Datum::fields(Vec::new()),
                    first => first?,
                };
                let mut all = vec![first];
                all.extend(rest.iter().cloned());
                let mut context = CallContext::new(CALL_BYTES);
                run(&mut context, &all)
            }
            Run::Evaluator(special) => {
                let mut all = vec![Datum::Live(self.handle(id))];
                all.extend(rest.iter().cloned());
                match self.special(special, &all, at) {
                    Err(fault) if special.checks_text() => {
                        let value = self.short(id);
                        let outer = format!(
                            "invalid value {value} (does not satisfy {package}.{})",
                            function.name
                        );
                        return Err(self.wrapped(fault, &outer, at));
                    }
                    result => result?,
                }
            }
        };
        let value = self.short(id);
        match result {
            Ok(Datum::Bool(false)) => {
                let call = self.validator_text(package, function, rest);
                let message = format!("invalid value {value} (does not satisfy {call})");
                Err(self.fail(Kind::Permanent, message, at))
            }
            Ok(_) => Ok(()),
            Err(error) => {
                // Beside words of its own it says none of what is no data.
                let live = rest.iter().any(|it| matches!(it, Datum::Live(_)));
                let told = if live { &[] } else { rest };
                let call = self.validator_text(package, function, told);
                let message =
                    format!("invalid value {value} (does not satisfy {call}): {}", error.message);
                // More elements or fields may come (S-18).
                let open = match function.run {
                    Run::Evaluator(Special::MinItems) => {
                        self.heap.get(id).closed_length().is_none()
                    }
                    Run::Evaluator(Special::MinFields) => match rest.first() {
                        Some(Datum::Number(least)) => {
                            self.may_grow(id, least.to_i64().unwrap_or(i64::MAX))
                        }
                        _ => false,
                    },
                    Run::Evaluator(_) | Run::Pure(_) => false,
                };
                let kind = if open { Kind::Incomplete } else { kind_of(&error) };
                Err(self.fail(kind, message, at))
            }
        }
    }

    /// A validator with its arguments, in short.
    fn validator_text(&mut self, package: &str, function: &Function, rest: &[Datum]) -> String {
        let written = |argument: &Datum| match argument {
            Datum::Live(raw) => self.handled(*raw).map_or_else(String::new, |it| self.short(it)),
            argument => argument.cue_text(),
        };
        let texts: Vec<String> = rest.iter().map(written).collect();
        let name = format!("{package}.{}", function.name);
        if texts.is_empty() { name } else { format!("{name}({})", texts.join(", ")) }
    }
}
