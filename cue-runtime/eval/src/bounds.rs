//! Types and bounds as the printers write them (O-69): of several bounds the tightest, ranges of
//! whole numbers by their name.

use cue_syntax::ast::Compare;

use crate::builtin::{Datum, Kinds};
use crate::compare;
use crate::evaluator::Evaluator;
use crate::heap::{Test, VertexId};
use crate::number::Number;
use crate::operators::range;

/// The greatest values of floats.
const FLOAT32: &str = "3.40282346638528859811704183484516925440e+38";
const FLOAT64: &str = "1.797693134862315708145274237317043567981e+308";

/// A bound on one side.
type Limit = (Compare, Number);

/// Names of ranges that are printed as such.
const NAMED: &[&str] = &[
    "uint8", "uint16", "uint32", "uint64", "uint128", "int8", "int16", "int32", "int64", "int128",
];

impl Evaluator {
    /// A value that is no more than types and tests, simplified.
    pub(crate) fn bounded(&mut self, id: VertexId) -> String {
        let vertex = self.heap.get(id);
        let whole = vertex.kinds == Kinds::INT;
        let mut low: Option<Limit> = None;
        let mut high: Option<Limit> = None;
        let mut rest: Vec<(usize, String)> = Vec::new();
        let mut sides: [Option<usize>; 2] = [None, None];
        for (place, (test, _)) in vertex.tests.iter().enumerate() {
            match test {
                Test::Bound(compare, Datum::Number(limit)) if compare::is_order(*compare) => {
                    let upper = matches!(compare, Compare::Less | Compare::LessEqual);
                    let side = if upper { &mut high } else { &mut low };
                    tighten(side, (*compare, limit.clone()));
                    sides[usize::from(upper)].get_or_insert(place);
                }
                Test::Bound(compare, limit) => {
                    let text = format!("{}{}", compare::symbol(*compare), limit.cue_text());
                    if !rest.iter().any(|it| it.1 == text) {
                        rest.push((place, text));
                    }
                }
                Test::Range(name @ ("float32" | "float64")) if whole => {
                    let limit = if *name == "float32" { FLOAT32 } else { FLOAT64 };
                    let both =
                        (Number::parse_signed(&format!("-{limit}")), Number::parse_signed(limit));
                    let (Ok(least), Ok(most)) = both else { return self.constraint(id) };
                    tighten(&mut low, (Compare::GreaterEqual, least));
                    tighten(&mut high, (Compare::LessEqual, most));
                    sides[0].get_or_insert(place);
                    sides[1].get_or_insert(place);
                }
                Test::Range("uint") => {
                    tighten(&mut low, (Compare::GreaterEqual, Number::int(0)));
                    sides[0].get_or_insert(place);
                }
                Test::Range(name) => match range(name) {
                    Some((from, to)) if whole => {
                        tighten(&mut low, (Compare::GreaterEqual, from));
                        tighten(&mut high, (Compare::LessEqual, to));
                        sides[0].get_or_insert(place);
                        sides[1].get_or_insert(place);
                    }
                    _ => return self.constraint(id),
                },
                Test::Call(..) | Test::Match(..) => return self.constraint(id),
            }
        }
        if low.is_none() && high.is_none() && rest.is_empty() {
            return self.constraint(id);
        }
        let named = |it: &(Test, _)| match it.0 {
            Test::Range("rune") => false,
            Test::Range("float32" | "float64") => !whole,
            _ => true,
        };
        if vertex.tests.len() == 1 && vertex.tests.iter().all(named) {
            return self.constraint(id);
        }
        let text = |(compare, limit): &Limit| {
            format!("{}{}", compare::symbol(*compare), Datum::Number(limit.clone()).cue_text())
        };
        let mut parts: Vec<String> = Vec::new();
        if let (Some(from), Some(to)) = (&low, &high) {
            let inclusive = from.0 == Compare::GreaterEqual && to.0 == Compare::LessEqual;
            if whole && inclusive {
                let named = NAMED.iter().find(|name| {
                    range(name).is_some_and(|(low, high)| {
                        low.compare(&from.1).is_eq() && high.compare(&to.1).is_eq()
                    })
                });
                if let Some(name) = named {
                    parts.push((*name).to_owned());
                    parts.extend(rest.into_iter().map(|it| it.1));
                    return parts.join(" & ");
                }
            }
            let zero = Number::int(0);
            let natural = from.1.compare(&zero).is_ge();
            let implied = whole && from.0 == Compare::GreaterEqual && from.1.compare(&zero).is_eq();
            if whole {
                parts.push(if natural { "uint" } else { "int" }.into());
            }
            if !implied {
                parts.push(text(from));
            }
            parts.push(text(to));
            parts.extend(rest.into_iter().map(|it| it.1));
            return parts.join(" & ");
        }
        for (side, limit) in [(sides[0], low), (sides[1], high)] {
            if let (Some(place), Some(limit)) = (side, limit) {
                rest.push((place, text(&limit)));
            }
        }
        rest.sort_by_key(|it| it.0);
        // A bound says of which kind its value is, but not that it is whole.
        let said = vertex.tests.iter().any(|(test, _)| match test {
            Test::Bound(_, Datum::Number(_)) => vertex.kinds == Kinds::NUMBER,
            Test::Bound(_, limit) => vertex.kinds == compare::kinds(limit),
            Test::Range(_) | Test::Call(..) | Test::Match(..) => false,
        });
        if vertex.kinds != Kinds::ANY && !said {
            parts.push(vertex.kinds.to_string());
        }
        parts.extend(rest.into_iter().map(|it| it.1));
        parts.join(" & ")
    }
}

/// Keeps the tighter of two bounds.
fn tighten(side: &mut Option<Limit>, limit: Limit) {
    let Some(held) = side else {
        *side = Some(limit);
        return;
    };
    let upper = matches!(limit.0, Compare::Less | Compare::LessEqual);
    let order = limit.1.compare(&held.1);
    let strict = matches!(limit.0, Compare::Less | Compare::Greater);
    let tighter = if upper { order.is_lt() } else { order.is_gt() };
    if tighter || order.is_eq() && strict {
        *held = limit;
    }
}

/// Kinds a bound allows.
pub(crate) fn bound_kinds(operator: Compare, datum: &Datum, lenient: bool) -> Kinds {
    match (operator, datum) {
        (Compare::NotEqual, Datum::Null) => Kinds::ANY.without(Kinds::NULL),
        (Compare::NotEqual, _) if lenient => Kinds::ANY,
        (Compare::Match | Compare::NotMatch, _) if lenient => Kinds::TEXT,
        (Compare::Match | Compare::NotMatch, _) => Kinds::STRING,
        (_, Datum::Number(_)) => Kinds::NUMBER,
        (_, other) => compare::kinds(other),
    }
}
