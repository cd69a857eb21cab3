//! Functions as values (S-52), and calls of what has one as its value.

use std::sync::Arc;

use crate::builtin::{Builtin, Datum, FunctionName, Kinds};
use crate::compile::predeclared;
use crate::error::Kind;
use crate::evaluator::{Evaluator, Value};
use crate::heap::{EnvId, FaultId, State, Test, VertexId};
use crate::program::{At, Callee, Code, ExprId};
use crate::written::plain_name;

/// A function as a value.
pub(crate) fn named(callee: Callee) -> Datum {
    Datum::Function(Arc::new(match callee {
        Callee::Plain(plain) => FunctionName { package: "", name: plain_name(plain) },
        Callee::Package(it) => FunctionName { package: it.package(), name: it.function().name },
    }))
}

fn found(name: &FunctionName) -> Option<Callee> {
    if name.package.is_empty() {
        return match predeclared(name.name) {
            Some(Code::Function(callee)) => Some(callee),
            _ => None,
        };
    }
    Builtin::named(name.package, name.name).map(Callee::Package)
}

impl Evaluator {
    /// What an expression is once it is known which function it calls.
    pub(crate) fn known_call(&mut self, expr: ExprId, env: EnvId) -> Result<Code, FaultId> {
        match self.program.code(expr).clone() {
            Code::CallOf(callee, arguments) => {
                let called = self.callee(callee, env, self.program.at(expr))?;
                Ok(Code::Call(called, arguments))
            }
            code => Ok(code),
        }
    }

    /// The function that an expression gives: it may become one as long as it may be anything.
    fn callee(&mut self, callee: ExprId, env: EnvId, at: At) -> Result<Callee, FaultId> {
        let mut validates = false;
        let mut failed = None;
        let kinds = match self.eval(callee, env) {
            Value::Fault(_) if self.is_unknown_member(callee) => Kinds::BOTTOM,
            Value::Fault(fault) => {
                failed = Some(fault);
                Kinds::BOTTOM
            }
            Value::Datum(datum) => crate::compare::kinds(&datum),
            Value::Vertex(id) => {
                let id = self.unify(id);
                let id = self.default_of(id).unwrap_or(id);
                failed = self.heap.get(id).fault;
                if let Some(callee) = self.function_at(id).filter(|_| failed.is_none()) {
                    return Ok(callee);
                }
                let tests = &self.heap.get(id).tests;
                validates = tests.iter().any(|it| matches!(it.0, Test::Call(..) | Test::Match(..)));
                // What is computed by a call of itself is no function.
                match self.heap.get(id).state {
                    State::New | State::Suspended | State::Done if failed.is_none() => {
                        self.kinds_of(id)
                    }
                    _ => Kinds::BOTTOM,
                }
            }
        };
        let place = self.program.at(callee);
        let text = self.literal_text(callee);
        Err(if kinds == Kinds::ANY {
            let message = format!("cannot call non-concrete value {text} (type {kinds})");
            self.fail(Kind::Incomplete, message, place)
        } else if validates {
            let message = format!("cannot call previously called validator {text}");
            self.fail(Kind::Permanent, message, at)
        } else {
            let message = format!("cannot call non-function {text} (type {kinds})");
            let own = self.fail_at(Kind::Permanent, message, at, vec![place]);
            // What may still come is no function either; what is wrong for good is told too, since v0.15.
            let kept = |it: &FaultId| {
                let kind = self.heap.faults[*it].kind;
                kind == Kind::Budget || !kind.is_incomplete() && !self.program.lenient
            };
            match failed.filter(kept) {
                Some(failed) => self.both_faults(own, failed),
                None => own,
            }
        })
    }

    /// The function that a value is, or the validator that nothing was given to.
    fn function_at(&self, id: VertexId) -> Option<Callee> {
        let vertex = self.heap.get(id);
        match (self.scalar_of(vertex), &*vertex.tests) {
            (Some((Datum::Function(name), _)), _) => found(name),
            (None, [(Test::Call(_, _, _, (expr, _)), _)]) => match self.program.code(*expr) {
                Code::Function(callee) => Some(*callee),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether it is what a builtin package would have, but has not.
    fn is_unknown_member(&self, callee: ExprId) -> bool {
        let Code::Select(operand, _) = self.program.code(callee) else { return false };
        match self.program.code(*operand) {
            Code::Struct(index) => self.program.structs[*index as usize].declarations.is_empty(),
            _ => false,
        }
    }
}
