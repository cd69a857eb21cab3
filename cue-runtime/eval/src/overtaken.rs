//! Bounds and validators of what a struct came for later: each is asked about it all the same, beside the
//! error that the kinds differ (cue-errors 1.2).

use cue_syntax::ast::Compare;

use crate::bounds::extent;
use crate::builtin::{Datum, Kinds};
use crate::calls::Called;
use crate::compare;
use crate::error::{Fault, Kind};
use crate::evaluator::Evaluator;
use crate::heap::{Source, Test, VertexId};
use crate::operators::range;
use crate::program::{At, Callee, Code, Plain, Presence};

impl Evaluator {
    /// What those say that were taken before.
    pub(crate) fn ask_of_struct(&mut self, id: VertexId) {
        let vertex = self.heap.get(id);
        if !vertex.is_struct || vertex.scalar.is_some() || vertex.kinds != Kinds::BOTTOM {
            return;
        }
        // What lacks a field is not known well enough for bounds.
        let lacks = vertex.arcs.iter().any(|it| it.presence == Presence::Required);
        let tests = vertex.tests.clone();
        let written = vertex.conjuncts.iter().filter_map(|it| match it.source() {
            // Ranges have no source.
            Source::Expr(expr, _) => match self.program.code(expr) {
                Code::Type(_, name) if range(name).is_some() => None,
                _ => Some(self.program.at(expr)),
            },
            Source::Data(_) | Source::Vertex(_) => None,
        });
        let written: Vec<At> = written.collect();
        let text = self.as_given(id);
        let [low, high] = self.tightest(id);
        for (place, (test, at)) in tests.iter().enumerate() {
            let tight = [&low, &high].iter().any(|it| it.as_ref().is_some_and(|it| it.2 == place));
            let mut told = Vec::new();
            match test {
                Test::Bound(..) | Test::Range(_) if lacks => {}
                Test::Bound(compare, limit) if compare::is_order(*compare) && tight => {
                    let symbol = compare.symbol();
                    let mut operand = *at;
                    let bound = self.source_at(*at);
                    let behind = bound.trim_start_matches(symbol).trim_start();
                    operand.span.start += (bound.len() - behind.len()) as u32;
                    told.push((compared(&text, *compare, limit), *at, Some(operand)));
                }
                Test::Bound(compare @ (Compare::Match | Compare::NotMatch), _) => {
                    let symbol = compare.symbol();
                    let message =
                        format!("cannot use {text} (type _|_) as type string in {symbol}");
                    told.push((message, *at, None));
                }
                Test::Bound(..) => {}
                Test::Range(name) => {
                    let Some((from, to)) = extent(name) else {
                        continue;
                    };
                    let to = to.map(|it| (Compare::LessEqual, it));
                    for (compare, limit) in [(Compare::GreaterEqual, from)].into_iter().chain(to) {
                        told.push((
                            compared(&text, compare, &Datum::Number(limit)),
                            At::default(),
                            None,
                        ));
                    }
                }
                Test::Call(package, function, ..) => {
                    let kinds = function.parameters[0].kinds;
                    let name = Called { package, function, at: *at }.value();
                    told.push((not_taken(&text, &kinds.to_string(), &name), At::default(), None));
                }
                Test::Match(expr, _) => {
                    let name = match self.program.code(*expr) {
                        Code::Call(Callee::Plain(Plain::MatchIf), _) => "matchIf",
                        _ => "matchN",
                    };
                    told.push((not_taken(&text, "_", name), At::default(), None));
                }
            }
            for (message, at, operand) in told {
                let mut fault = Fault::new(Kind::Permanent, message, at);
                fault.positions.extend(written.iter().copied().chain(operand));
                self.raise(id, fault);
            }
        }
    }
}

fn compared(text: &str, compare: Compare, limit: &Datum) -> String {
    let (symbol, kinds) = (compare.symbol(), compare::kinds(limit));
    let limit = limit.cue_text();
    format!("invalid operands {text} and {limit} to '{symbol}' (type _|_ and {kinds})")
}

fn not_taken(text: &str, kinds: &str, name: &str) -> String {
    format!("cannot use {text} (type _|_) as {kinds} in argument 1 to {name}")
}
