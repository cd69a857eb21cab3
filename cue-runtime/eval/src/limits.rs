//! Bounds and validators of a value at the end of its vertex: the tightest are told (cue-errors 1.2).

use std::cmp::Ordering;

use cue_syntax::ast::Compare;

use crate::bounds::extent;
use crate::builtin::{Datum, Kinds, next_above, next_below};
use crate::compare;
use crate::error::{Fault, Kind};
use crate::evaluator::Evaluator;
use crate::heap::{FaultId, State, Test, VertexId};
use crate::number::Number;
use crate::operators::range;
use crate::program::At;

/// Limits that integers can be compared with as well as with a broken one.
fn whole(limit: &Number, next: fn(&Number) -> Number) -> Number {
    let within = limit.compare(&Number::int(i64::MAX)).is_lt()
        && limit.compare(&Number::int(i64::MIN)).is_gt();
    if limit.is_int() || !within { limit.clone() } else { next(limit) }
}

/// The side of `uint8` and the like on which a number is out of it: 0 for below.
fn beyond(name: &str, number: &Number) -> Option<usize> {
    let (low, high) = extent(name)?;
    match number.compare(&low).is_lt() {
        true => Some(0),
        false => high.filter(|it| number.compare(it).is_gt()).map(|_| 1),
    }
}

/// How the errors of validators end that come upon themselves.
const STRUCTURAL: &str = "structural cycle";

/// A value that does not meet a limit, which is the scalar of what was being evaluated when it was tested.
pub(crate) struct Refusal {
    id: VertexId,
    pub(crate) on: VertexId,
    found: Vec<FaultId>,
}

/// A bound on one side, and which of the tests it is.
pub(crate) type Limit = Option<(Compare, Datum, usize)>;

impl Evaluator {
    /// Bounds and validators of a value: the tightest bounds first, then all others, each of which
    /// is told if it fails; functions are not asked about what failed before (cue-errors 1.2).
    pub(crate) fn check_scalar(&mut self, id: VertexId) {
        let vertex = self.heap.get(id);
        let before = vertex.fault;
        if let Some(fault) = before {
            // What else may still come makes no difference to bounds that are not met.
            let fault = &self.heap.faults[fault];
            let conflict = fault.message.starts_with(crate::conflict::CONFLICT);
            let scalar = vertex.scalar.is_some() && vertex.kinds != Kinds::BOTTOM;
            if fault.kind != Kind::Incomplete && !(conflict && scalar) {
                if conflict && !vertex.tests.is_empty() {
                    self.ask_of_struct(id);
                }
                return;
            }
        }
        let mut concrete = vertex.scalar.is_some() || vertex.is_list || vertex.is_struct;
        let chosen = vertex.choice.is_some();
        if !concrete {
            self.check_bounds(id);
            if self.program.lenient && !chosen {
                concrete = self.take_only(id);
            }
        }
        if !concrete || chosen || self.heap.get(id).tests.is_empty() {
            return;
        }
        let limits = self.tightest_of_all(id);
        let tight = |side: usize, place| limits[side].as_ref().is_some_and(|it| it.2 == place);
        let tests = self.heap.get(id).tests.clone();
        let number = match self.scalar_at(id) {
            Some((Datum::Number(number), _)) => Some(number.clone()),
            _ => None,
        };
        let ranged = |it: &Test| match it {
            Test::Bound(compare, _) => compare::is_order(*compare),
            Test::Range(_) => true,
            Test::Call(..) | Test::Match(..) => false,
        };
        let mut failed = before.is_some();
        let mut found = Vec::new();
        for first in [true, false] {
            for (place, (test, at)) in tests.iter().enumerate() {
                // Of those that ask the same the last one is told, of bounds that leave the same the tightest.
                let again = || tests[place + 1..].iter().any(|it| it.0.is(test));
                let skipped = ranged(test) != first
                    || match test {
                        Test::Bound(compare, _) if compare::is_order(*compare) => {
                            !tight(0, place) && !tight(1, place)
                        }
                        Test::Range(name) => {
                            let side = number.as_ref().and_then(|it| beyond(name, it));
                            side.is_none_or(|it| !tight(it, place))
                        }
                        Test::Bound(Compare::NotEqual, limit) => {
                            self.is_unlike(id, limit) || again()
                        }
                        Test::Bound(..) => again(),
                        Test::Call(..) | Test::Match(..) => failed || again(),
                    };
                if skipped {
                    continue;
                }
                let Err(fault) = self.passes(id, test, *at) else { continue };
                // What has failed below is not looked at.
                let asks = matches!(test, Test::Call(..) | Test::Match(..));
                if asks && !failed && self.fails_for_good(id) {
                    return;
                }
                // Those with arguments of one structure ask the same, too.
                if asks && self.is_asked_again(id, test, &tests[place + 1..]) {
                    continue;
                }
                // What no value can meet is told instead.
                if matches!(test, Test::Bound(..)) && !failed && found.is_empty() {
                    self.check_bounds(id);
                    if self.heap.get(id).fault != before {
                        return;
                    }
                }
                found.push(fault);
                // What goes round without end does so with the others, too.
                if self.heap.faults[fault].message.ends_with(STRUCTURAL) {
                    break;
                }
            }
            failed |= !found.is_empty();
        }
        match self.limited_by.get(&id).copied().filter(|_| before.is_none() && !found.is_empty()) {
            Some(on) if self.heap.get(on).state == State::Running => {
                self.refusals.push(Refusal { id, on, found });
            }
            _ => found.into_iter().for_each(|it| self.raise_id(id, it)),
        }
    }

    /// A limit is the scalar of what is being evaluated: that may be refused itself, by what asks now.
    pub(crate) fn note_limit(&mut self, limit: VertexId) {
        let on = self.follow(limit);
        if on != self.current && self.trying.is_empty() && self.heap.get(on).state == State::Running
        {
            self.limited_by.insert(self.current, on);
        }
    }

    /// What values that have a limit by `on` failed with: of those that limit each other the first one is refused,
    /// and the others fail with it.
    pub(crate) fn tell_refusals(&mut self, on: VertexId) {
        let all = std::mem::take(&mut self.refusals);
        let (now, later): (Vec<_>, Vec<_>) = all.into_iter().partition(|it| it.on == on);
        self.refusals = later;
        let fault = self.heap.get(on).fault;
        let refused = fault.filter(|it| self.heap.faults[*it].kind == Kind::Permanent);
        for Refusal { id, found, .. } in now {
            match refused {
                Some(fault) => self.heap.get_mut(id).fault = Some(fault),
                None => found.into_iter().for_each(|it| self.raise_id(id, it)),
            }
        }
    }

    /// The lowest and the highest number, string or bytes that bounds leave, and with which of the tests.
    pub(crate) fn tightest(&self, id: VertexId) -> [Limit; 2] {
        let mut limits: [Limit; 2] = [None, None];
        for (place, (test, _)) in self.heap.get(id).tests.iter().enumerate() {
            let Test::Bound(compare, limit) = test else { continue };
            let (side, tighter, strict) = match compare {
                Compare::Greater => (0, Ordering::Greater, true),
                Compare::GreaterEqual => (0, Ordering::Greater, false),
                Compare::Less => (1, Ordering::Less, true),
                Compare::LessEqual => (1, Ordering::Less, false),
                _ => continue,
            };
            let wins = limits[side].as_ref().is_none_or(|(_, other, _)| {
                let order = compare::order(limit, other);
                order == Some(tighter) || (order == Some(Ordering::Equal) && strict)
            });
            if wins {
                limits[side] = Some((*compare, limit.clone(), place));
            }
        }
        limits
    }

    /// The same with the limits of `uint8` and the like, which stand for bounds as tight that are written.
    fn tightest_of_all(&self, id: VertexId) -> [Limit; 2] {
        let mut limits = self.tightest(id);
        for (place, (test, _)) in self.heap.get(id).tests.iter().enumerate() {
            let Test::Range(name) = test else { continue };
            let Some((low, high)) = extent(name) else { continue };
            let [least, most] = &mut limits;
            for (limit, own, compare, tighter, strict) in [
                (least, Some(low), Compare::GreaterEqual, Ordering::Greater, Compare::Greater),
                (most, high, Compare::LessEqual, Ordering::Less, Compare::Less),
            ] {
                let Some(own) = own.map(Datum::Number) else { continue };
                let wins = limit.as_ref().is_none_or(|(by, other, _)| {
                    let order = compare::order(&own, other);
                    order == Some(tighter) || order == Some(Ordering::Equal) && *by != strict
                });
                if wins {
                    *limit = Some((compare, own, place));
                }
            }
        }
        limits
    }

    /// Up to v0.14 bounds that one number alone meets are that number (O-69); whether they are.
    fn take_only(&mut self, id: VertexId) -> bool {
        let vertex = self.heap.get(id);
        let whole = vertex.kinds == Kinds::INT;
        if vertex.fault.is_some() || !whole && vertex.kinds != Kinds::NUMBER {
            return false;
        }
        let (mut least, mut most): (Option<Number>, Option<Number>) = (None, None);
        let one = Number::int(1);
        for (test, _) in &vertex.tests {
            let (from, to) = match test {
                Test::Bound(compare, Datum::Number(limit)) => match (compare, whole) {
                    (Compare::GreaterEqual, true) => (Some(next_above(limit)), None),
                    (Compare::Greater, true) => (next_below(limit).add(&one).ok(), None),
                    (Compare::LessEqual, true) => (None, Some(next_below(limit))),
                    (Compare::Less, true) => (None, next_above(limit).sub(&one).ok()),
                    (Compare::GreaterEqual, false) => (Some(limit.clone()), None),
                    (Compare::LessEqual, false) => (None, Some(limit.clone())),
                    _ => continue,
                },
                Test::Range(name) => range(name).unzip(),
                Test::Bound(..) | Test::Call(..) | Test::Match(..) => continue,
            };
            if from
                .as_ref()
                .is_some_and(|it| least.as_ref().is_none_or(|held| it.compare(held).is_gt()))
            {
                least = from;
            }
            if to
                .as_ref()
                .is_some_and(|it| most.as_ref().is_none_or(|held| it.compare(held).is_lt()))
            {
                most = to;
            }
        }
        let only = least.zip(most).filter(|(least, most)| least.compare(most).is_eq());
        let Some((only, _)) = only else { return false };
        let scalar = self.heap.keep(Datum::Number(only), At::default());
        self.heap.get_mut(id).scalar = Some(scalar);
        true
    }

    /// Bounds that nothing can meet (cue-errors 1.2).
    fn check_bounds(&mut self, id: VertexId) {
        // It takes two to leave nothing.
        if self.heap.get(id).tests.len() < 2 {
            return;
        }
        // Types of whole numbers are bounds, too; those of floats are not compared.
        let whole_only = self.heap.get(id).kinds == Kinds::INT;
        let limits = if whole_only { self.tightest_of_all(id) } else { self.tightest(id) };
        let [Some((above, low, low_place)), Some((below, high, high_place))] = limits else {
            return;
        };
        let strict = above == Compare::Greater || below == Compare::Less;
        let (mut order, mut gap) = (compare::order(&low, &high), false);
        let mut kind = match low {
            Datum::String(_) => "string",
            Datum::Bytes(_) => "bytes",
            _ => "number",
        };
        if let (Datum::Number(low), Datum::Number(high), true) = (&low, &high, whole_only) {
            kind = "integer";
            let least = if above == Compare::GreaterEqual { next_above } else { next_below };
            let most = if below == Compare::Less { next_above } else { next_below };
            let (least, most) = (whole(low, least), whole(high, most));
            order = Some(least.compare(&most));
            // Nothing lies between neighbouring integers.
            gap = above == Compare::Greater
                && below == Compare::Less
                && least.add(&Number::int(1)).is_ok_and(|it| it.compare(&most) == Ordering::Equal);
        }
        let empty = order == Some(Ordering::Greater) || (order == Some(Ordering::Equal) && strict);
        if !empty && !gap {
            return;
        }
        let low_text = format!("{}{}", above.symbol(), low.cue_text());
        let high_text = format!("{}{}", below.symbol(), high.cue_text());
        let (one, other) = if gap { (low_text, high_text) } else { (high_text, low_text) };
        let message = format!("incompatible {kind} bounds {one} and {other}");
        // What a type asks has no place.
        let at = |place: usize| match self.heap.get(id).tests[place] {
            (Test::Range(_), _) => At::default(),
            (_, at) => at,
        };
        let (first, second) = (at(low_place.min(high_place)), at(low_place.max(high_place)));
        self.raise(id, Fault::new(Kind::Permanent, message, second).and_at(first));
    }
}
