//! What `close` and the functions of `explicitopen` are called with (C-15).

use crate::builtin::Kinds;
use crate::compare;
use crate::demand::Concrete;
use crate::error::Kind;
use crate::evaluator::{Evaluator, Value};
use crate::heap::{EnvId, FaultId, State};
use crate::program::{At, Callee, Code, ExprId, Plain};

impl Evaluator {
    /// What `close` is of; what is no struct at first sight is refused.
    pub(crate) fn close_argument(
        &mut self,
        arguments: &[ExprId],
        env: EnvId,
        at: At,
    ) -> Result<ExprId, FaultId> {
        let &[argument] = arguments else {
            return Err(self.miscounted("close", (arguments, env), 1, at));
        };
        let kinds = match self.program.code(argument) {
            Code::Scalar(datum) => compare::kinds(datum),
            Code::List(_) => Kinds::LIST,
            Code::Type(kinds, _) => *kinds,
            Code::Function(_) => Kinds::FUNC,
            Code::Disjoin(_) => return self.close_given(argument, env, at),
            _ if self.is_of_tags(argument) => return self.close_given(argument, env, at),
            Code::Top => return Err(self.unclosed(at)),
            code if code.is_computed() => return self.close_given(argument, env, at),
            _ => return Ok(argument),
        };
        let text = self.literal_text(argument);
        let message = format!("cannot use {text} (type {kinds}) as struct in argument 1 to close");
        Err(self.misused(message, kinds, vec![self.program.at(argument)]))
    }

    /// Whether scalars and types are joined, which are no struct.
    fn is_of_tags(&self, argument: ExprId) -> bool {
        match self.program.code(argument) {
            Code::Unify(left, right) => self.is_of_tags(*left) && self.is_of_tags(*right),
            Code::Disjoin(all) => all.iter().all(|it| self.is_of_tags(it.0)),
            Code::Bottom | Code::Bound(..) => true,
            code => code.is_tag(),
        }
    }

    /// The error of `close` of what may be anything.
    fn unclosed(&mut self, at: At) -> FaultId {
        let message = "error in call to close: struct argument must be concrete";
        self.fail(Kind::Permanent, message, at)
    }

    /// The same of what it is of once that is evaluated.
    fn close_given(&mut self, argument: ExprId, env: EnvId, at: At) -> Result<ExprId, FaultId> {
        if let Value::Vertex(id) = self.eval(argument, env) {
            let id = self.unify(id);
            if self.heap.get(id).state != State::Done {
                return Ok(argument);
            }
            if let Some(fault) = self.wrong_arguments(&[argument], env, at) {
                return match self.heap.faults[fault].kind.is_incomplete() {
                    true if self.heap.get(id).choice.is_none() => Ok(argument),
                    _ => Err(fault),
                };
            }
        }
        let Some((text, kinds, from)) = self.given(argument, env) else { return Ok(argument) };
        if kinds == Kinds::ANY {
            return Err(self.unclosed(at));
        }
        if kinds.meets(Kinds::STRUCT) || kinds == Kinds::BOTTOM {
            return Ok(argument);
        }
        let message = format!("cannot use {text} (type {kinds}) as struct in argument 1 to close");
        Err(self.misused(message, kinds, from))
    }

    /// What an argument is: as messages show it, its kinds, and where it is from. `None` if it has failed.
    pub(crate) fn given(
        &mut self,
        argument: ExprId,
        env: EnvId,
    ) -> Option<(String, Kinds, Vec<At>)> {
        Some(match self.eval(argument, env) {
            Value::Datum(datum) => {
                (datum.cue_text(), compare::kinds(&datum), vec![self.program.at(argument)])
            }
            Value::Vertex(id) => {
                let id = self.unify(id);
                let id = self.default_of(id).unwrap_or(id);
                let text = self.about_given(&Concrete::Vertex(id), "", str::to_owned);
                (text, self.kinds_of(id), self.origin(id))
            }
            Value::Fault(_) => return None,
        })
    }

    /// The argument of `__closeAll` and `__reclose`: a literal where `explicitopen` holds (C-15).
    pub(crate) fn closed_literal(
        &mut self,
        plain: Plain,
        arguments: &[ExprId],
        at: At,
    ) -> Result<ExprId, FaultId> {
        let literal = |it: &Self, expr: ExprId| match it.program.code(expr) {
            Code::Struct(it_is) => Some(it.program.structs[*it_is as usize].explicit),
            Code::List(_) => Some(true),
            _ => None,
        };
        let found = arguments.first().and_then(|it| match self.program.code(*it) {
            Code::Call(Callee::Plain(Plain::Close), inner) if plain == Plain::Reclose => {
                inner.first().and_then(|it| literal(self, *it))
            }
            _ => literal(self, *it),
        });
        let name = crate::written::plain_name(plain);
        let why = match (found, arguments) {
            (Some(true), [argument]) => return Ok(*argument),
            (Some(false), _) => format!("{name} may only be used when explicitopen is enabled"),
            _ => "argument must be a struct or list literal".to_owned(),
        };
        Err(self.fail(Kind::Permanent, format!("error in call to {name}: {why}"), at))
    }

    /// Notes how what is spread into a literal closes, if that has to close likewise.
    pub(crate) fn reclose(&mut self, spread: ExprId, env: EnvId, close_as: Option<u32>) {
        let Some(group) = close_as.and_then(|it| self.reclosing.get(&it)).copied() else { return };
        let Value::Vertex(id) = self.eval(spread, env) else { return };
        let id = self.unify(id);
        let all: Vec<u32> = self.heap.get(id).closing.iter().map(|it| it.group).collect();
        let deep = self.path_names(spread) || all.iter().any(|it| self.closes_deeply(*it));
        // What closes on one level only wins.
        let closed = self.counts_as_closed(id);
        if closed && !deep {
            self.shallow.insert(group);
        }
        if closed || deep {
            self.closing.insert(group);
        }
    }
}
