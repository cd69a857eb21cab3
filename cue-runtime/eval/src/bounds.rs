//! Types and bounds as the printers write them (O-69): of several bounds the tightest, ranges of
//! whole numbers by their name.

use std::cmp::Ordering;

use cue_syntax::ast::Compare;

use crate::builtin::{Datum, Kinds};
use crate::compare;
use crate::evaluator::Evaluator;
use crate::heap::{Test, VertexId};
use crate::number::Number;
use crate::operators::range;
use crate::program::{At, Program};

/// The greatest values of floats.
const FLOAT32: &str = "3.40282346638528859811704183484516925440e+38";
const FLOAT64: &str = "1.797693134862315708145274237317043567981e+308";

/// A bound on one side: a number, a string or bytes.
type Limit = (Compare, Datum);

/// Where a test stands: source and offset.
type Spot = (u32, u32);

/// Names of ranges that are printed as such.
const WHOLE: &[&str] = &[
    "uint8", "uint16", "uint32", "uint64", "uint128", "int8", "int16", "int32", "int64", "int128",
];
const FLOATS: &[&str] = &["float32", "float64"];

impl Evaluator {
    /// A value that is no more than types and tests, simplified.
    pub(crate) fn bounded(&self, id: VertexId) -> String {
        let vertex = self.heap.get(id);
        let kinds = vertex.kinds;
        let whole = kinds == Kinds::INT;
        // What another bound leaves out need not be left out again.
        let needed = |it: &&(Test, At)| match &it.0 {
            Test::Bound(Compare::NotEqual, limit) => !self.is_out(id, limit),
            _ => true,
        };
        let told: Vec<&(Test, At)> = vertex.tests.iter().filter(needed).collect();
        if let ([(Test::Range(name), _)], false) = (told.as_slice(), self.program.lenient) {
            if *name != "rune" && is_told_by_name(name, kinds) {
                return (*name).to_owned();
            }
        }
        // What is asked besides takes a range apart.
        let apart = told.len() > 1 && !self.program.lenient;
        let asks = told.iter().any(|it| matches!(it.0, Test::Call(..) | Test::Match(..)));
        let mut low: Option<Limit> = None;
        let mut high: Option<Limit> = None;
        let mut rest: Vec<(Spot, String)> = Vec::new();
        let mut sides: [Spot; 2] = [(0, 0); 2];
        for (test, at) in told {
            let spot = (at.source, at.span.start);
            match test {
                Test::Bound(compare, limit) if compare::is_order(*compare) => {
                    let upper = is_upper(*compare);
                    let side = if upper { &mut high } else { &mut low };
                    if tighten(side, (*compare, limit.clone())) {
                        sides[usize::from(upper)] = spot;
                    }
                }
                Test::Bound(compare, limit) => {
                    // Of those that ask the same the last one stays.
                    let text = format!("{}{}", compare.symbol(), limit.cue_lines());
                    rest.retain(|it| it.1 != text);
                    rest.push((spot, text));
                }
                Test::Range(name @ ("float32" | "float64"))
                    if apart || kinds != Kinds::NUMBER && !self.program.lenient =>
                {
                    let Some(both) = float_range(name) else { return self.as_written(id) };
                    enclose(&mut low, &mut high, both);
                }
                Test::Range("uint") => {
                    tighten(&mut low, (Compare::GreaterEqual, Datum::Number(Number::int(0))));
                    // That has no place of its own.
                    sides[0] = if self.program.lenient { spot } else { (u32::MAX, u32::MAX) };
                }
                Test::Range(name) => match range(name) {
                    // Up to v0.14 ranges and bounds stand side by side.
                    Some(both) if whole && (!self.program.lenient || *name == "rune") => {
                        enclose(&mut low, &mut high, both);
                    }
                    _ => return self.as_written(id),
                },
                // They come after the bounds.
                Test::Call(..) | Test::Match(..) => {}
            }
        }
        if low.is_none() && high.is_none() && rest.is_empty() {
            return self.kinds_told(id).unwrap_or_default();
        }
        let named = |it: &(Test, _)| match it.0 {
            Test::Range("rune") => false,
            Test::Range("uint") => !self.program.lenient,
            Test::Range(name) => is_told_by_name(name, kinds),
            _ => self.program.lenient,
        };
        if vertex.tests.len() == 1 && vertex.tests.iter().all(named) {
            return self.as_written(id);
        }
        cue_sort::by_key(&mut rest, |it| it.0);
        let text = |(compare, limit): &Limit| format!("{}{}", compare.symbol(), limit.cue_lines());
        let mut parts: Vec<String> = Vec::new();
        let alone = self.program.lenient || rest.is_empty() && !asks;
        if let Some(name) = self.exact(low.as_ref(), high.as_ref(), kinds).filter(|_| alone) {
            parts.push(name.to_owned());
            parts.extend(rest.into_iter().map(|it| it.1));
            return parts.join(" & ");
        }
        let numbers = |it: &&Limit| matches!(it.1, Datum::Number(_));
        if let (Some(from), Some(to)) = (low.as_ref().filter(numbers), &high) {
            let zero = compare::order(&from.1, &Datum::Number(Number::int(0)));
            let natural = zero.is_some_and(Ordering::is_ge);
            let at_zero = zero.is_some_and(Ordering::is_eq);
            let implied = whole && from.0 == Compare::GreaterEqual && at_zero;
            if whole {
                parts.push(if natural { "uint" } else { "int" }.into());
            }
            if !implied {
                parts.push(text(from));
            }
            parts.push(text(to));
            if !whole {
                parts.extend(self.kinds_told(id));
            }
            parts.extend(rest.into_iter().map(|it| it.1));
            return parts.join(" & ");
        }
        for (side, limit) in [(sides[0], low), (sides[1], high)] {
            rest.extend(limit.iter().map(|it| (side, text(it))));
        }
        cue_sort::by_key(&mut rest, |it| it.0);
        parts.extend(self.kinds_told(id));
        parts.extend(rest.into_iter().map(|it| it.1));
        parts.join(" & ")
    }

    /// The type that a lowest and a highest number are exactly, of whole numbers or of floats.
    fn exact(
        &self,
        low: Option<&Limit>,
        high: Option<&Limit>,
        kinds: Kinds,
    ) -> Option<&'static str> {
        let Some((Compare::GreaterEqual, Datum::Number(from))) = low else { return None };
        let to = match high {
            Some((Compare::LessEqual, Datum::Number(to))) => Some(to),
            None => None,
            Some(_) => return None,
        };
        let same = |name: &&&str| {
            let Some((least, most)) = extent(name) else { return false };
            let ends = match (&most, to) {
                (Some(most), Some(to)) => most.compare(to).is_eq(),
                (most, to) => most.is_none() && to.is_none(),
            };
            least.compare(from).is_eq() && ends
        };
        match (kinds == Kinds::INT, self.program.lenient) {
            (true, false) => WHOLE.iter().chain(&["uint"]).find(same).copied(),
            (true, true) => WHOLE.iter().find(same).copied(),
            (false, false) => {
                FLOATS.iter().filter(|it| is_told_by_name(it, kinds)).find(same).copied()
            }
            (false, true) => None,
        }
    }

    /// A range by its name, and bounds as they are.
    fn as_written(&self, id: VertexId) -> String {
        let mut parts: Vec<String> = Vec::new();
        let mut ranged = None;
        for (test, _) in &self.heap.get(id).tests {
            match test {
                Test::Bound(compare, limit) => {
                    let text = format!("{}{}", compare.symbol(), limit.cue_lines());
                    if !parts.contains(&text) {
                        parts.push(text);
                    }
                }
                Test::Range(name) => ranged = Some((*name).to_owned()),
                Test::Call(..) | Test::Match(..) => {}
            }
        }
        // Up to v0.14 whole floats are both.
        let both =
            self.program.lenient && ranged.as_ref().is_some_and(|it| it.starts_with("float"));
        let kinds = if both { self.kinds_told(id).filter(|it| it == "int") } else { None };
        parts.splice(0..0, kinds.into_iter().chain(ranged.or_else(|| self.kinds_told(id))));
        parts.join(" & ")
    }

    /// A value that is no more than types and tests, as messages have it (cue-errors 0.3).
    pub(crate) fn constraint(&mut self, id: VertexId) -> String {
        let tests = self.heap.get(id).tests.clone();
        let held = self.heap.get(id).kinds;
        let whole = held == Kinds::INT;
        let (mut low, mut high): (Option<Limit>, Option<Limit>) = (None, None);
        let (mut names, mut ordered) = (Vec::new(), false);
        let mut others: Vec<String> = Vec::new();
        for (test, _) in &tests {
            match test {
                Test::Bound(compare, limit) if compare::is_order(*compare) => {
                    let upper = is_upper(*compare);
                    tighten(if upper { &mut high } else { &mut low }, (*compare, limit.clone()));
                    ordered = true;
                }
                Test::Bound(Compare::NotEqual, limit) if self.is_out(id, limit) => {}
                Test::Bound(compare, limit) => {
                    others.push(format!("{}{}", compare.symbol(), limit.cue_text()));
                }
                Test::Range(name) => names.push(*name),
                Test::Call(package, function, rest, written) => {
                    others.push(self.unasked_text((package, function), rest, *written));
                }
                Test::Match(expr, _) => others.push(self.literal_text(*expr)),
            }
        }
        // One range alone has its name, others are bounds like those beside them.
        let mut parts: Vec<String> = Vec::new();
        let alone = self.program.lenient || others.is_empty();
        let named =
            |it: &&str| *it != "rune" && (self.program.lenient || is_told_by_name(it, held));
        let single = names.len() == 1 && !ordered && names.iter().all(named) && alone;
        for name in names {
            let floats = || float_range(name).filter(|_| !self.program.lenient);
            match range(name).filter(|_| whole).or_else(floats) {
                _ if single => parts.push(name.to_owned()),
                _ if name == "uint" => {
                    tighten(&mut low, (Compare::GreaterEqual, Datum::Number(Number::int(0))));
                }
                Some(both) => enclose(&mut low, &mut high, both),
                None => parts.push(name.to_owned()),
            }
        }
        let kinds = self.kinds_told(id).filter(|_| parts.is_empty());
        let text = |(compare, limit): &Limit| format!("{}{}", compare.symbol(), limit.cue_text());
        let mut last = None;
        match self.exact(low.as_ref(), high.as_ref(), held).filter(|_| alone) {
            Some(name) => parts.push(name.to_owned()),
            None => {
                parts.extend(low.iter().chain(&high).map(text));
                last = kinds;
            }
        }
        for each in others.into_iter().chain(last) {
            if !parts.contains(&each) {
                parts.push(each);
            }
        }
        if parts.is_empty() { "_".into() } else { parts.join(" & ") }
    }

    /// Where the test is written that a value is no more than, once it is simplified. Ranges are two
    /// bounds and a type, and those have no source.
    pub(crate) fn only_test(&self, id: VertexId) -> At {
        let mut limits: [Option<Limit>; 2] = [None, None];
        let mut places: [Option<At>; 2] = [None, None];
        let mut rest: Vec<At> = Vec::new();
        let tests = &self.heap.get(id).tests;
        for (place, (test, at)) in tests.iter().enumerate() {
            match test {
                Test::Range(_) => return At::default(),
                Test::Bound(Compare::NotEqual, limit) if self.is_out(id, limit) => {}
                Test::Bound(compare, limit) if compare::is_order(*compare) => {
                    let side = usize::from(is_upper(*compare));
                    if tighten(&mut limits[side], (*compare, limit.clone())) {
                        places[side] = Some(*at);
                    }
                }
                // Of those that ask the same the last one stays.
                _ if tests[place + 1..].iter().any(|it| it.0.is(test)) => {}
                _ => rest.push(*at),
            }
        }
        rest.extend(places.into_iter().flatten());
        match rest.as_slice() {
            [at] if self.kinds_told(id).is_none() => *at,
            _ => At::default(),
        }
    }

    /// The kinds of a value, unless its tests say as much: a bound of which kind its value is, but
    /// not that it is whole.
    pub(crate) fn kinds_told(&self, id: VertexId) -> Option<String> {
        let vertex = self.heap.get(id);
        let mut allowed = Kinds::ANY;
        for (test, _) in &vertex.tests {
            match test {
                Test::Bound(compare, limit) => {
                    allowed = allowed.and(self.program.bound_kinds(*compare, limit));
                }
                Test::Call(_, function, ..) => {
                    let first = function.parameters.first();
                    allowed = allowed.and(first.map_or(Kinds::ANY, |it| it.kinds));
                }
                Test::Range(_) | Test::Match(..) => {}
            }
        }
        let said = allowed.and(vertex.kinds) == allowed;
        (!said).then(|| vertex.kinds.to_string())
    }

    /// Whether a pattern leaves a value out: that it is another one need not be asked then.
    pub(crate) fn is_unlike(&self, id: VertexId, value: &Datum) -> bool {
        self.heap.get(id).tests.iter().any(|(test, _)| match test {
            Test::Bound(operator @ (Compare::Match | Compare::NotMatch), limit) => {
                compare::holds(*operator, value, limit).is_some_and(|it| !it)
            }
            _ => false,
        })
    }

    /// Whether another bound than `!=` leaves a value out.
    fn is_out(&self, id: VertexId, value: &Datum) -> bool {
        self.heap.get(id).tests.iter().any(|(test, _)| match test {
            Test::Bound(Compare::NotEqual, _) => false,
            // So does one of another kind: of `null`.
            Test::Bound(operator, limit) => compare::holds(*operator, value, limit) != Some(true),
            Test::Range(name) => !self.program.lenient && is_outside(name, value),
            Test::Call(..) | Test::Match(..) => false,
        })
    }
}

/// Least and greatest number of a type that has them; `uint` has no greatest.
pub(crate) fn extent(name: &str) -> Option<(Number, Option<Number>)> {
    let (low, high) = range(name).or_else(|| float_range(name))?;
    Some((low, (name != "uint").then_some(high)))
}

/// Least and greatest number of a type of floats.
fn float_range(name: &str) -> Option<(Number, Number)> {
    let limit = match name {
        "float32" => FLOAT32,
        "float64" => FLOAT64,
        _ => return None,
    };
    let least = Number::parse_signed(&format!("-{limit}")).ok()?;
    Some((least, Number::parse_signed(limit).ok()?))
}

/// Whether a range has its name where these kinds are left: one of floats, which is of all numbers, not where there
/// are only whole numbers or only others.
fn is_told_by_name(name: &str, kinds: Kinds) -> bool {
    kinds == Kinds::NUMBER || float_range(name).is_none()
}

/// Whether a number is not in a range.
fn is_outside(name: &str, value: &Datum) -> bool {
    let Datum::Number(value) = value else { return false };
    extent(name).is_some_and(|(from, to)| {
        value.compare(&from).is_lt() || to.is_some_and(|it| value.compare(&it).is_gt())
    })
}

fn is_upper(operator: Compare) -> bool {
    matches!(operator, Compare::Less | Compare::LessEqual)
}

/// Keeps the tighter of two bounds; whether that is the new one.
fn tighten(side: &mut Option<Limit>, limit: Limit) -> bool {
    if let Some(held) = side {
        let Some(order) = compare::order(&limit.1, &held.1) else { return false };
        let strict = matches!(limit.0, Compare::Less | Compare::Greater);
        let tighter = if is_upper(limit.0) { order.is_lt() } else { order.is_gt() };
        if !(tighter || order.is_eq() && strict) {
            return false;
        }
    }
    *side = Some(limit);
    true
}

/// Keeps of two bounds what is within a range.
fn enclose(low: &mut Option<Limit>, high: &mut Option<Limit>, (from, to): (Number, Number)) {
    tighten(low, (Compare::GreaterEqual, Datum::Number(from)));
    tighten(high, (Compare::LessEqual, Datum::Number(to)));
}

impl Program {
    /// Kinds a bound allows.
    pub(crate) fn bound_kinds(&self, operator: Compare, datum: &Datum) -> Kinds {
        match (operator, datum) {
            (Compare::NotEqual, Datum::Null) => Kinds::ANY.without(Kinds::NULL),
            (Compare::Match | Compare::NotMatch, Datum::Bytes(_)) => Kinds::BYTES,
            (Compare::Match | Compare::NotMatch, _) => Kinds::STRING,
            (_, Datum::Number(_)) => Kinds::NUMBER,
            (_, other) => compare::kinds(other),
        }
    }
}
