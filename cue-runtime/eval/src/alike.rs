//! Alternatives that are one (D-9), of one structure throughout, and validators.

use cue_map::Map;
use smallvec::SmallVec;

use crate::builtin::Datum;
use crate::disjunction::Mark;
use crate::error::Kind;
use crate::evaluator::Evaluator;
use crate::heap::{ArcEntry, Choice, State, Test, Vertex, VertexId};
use crate::program::{At, Callee, Code, ExprId, Presence};

/// How deep alternatives are looked at.
const MOST_NESTED: u32 = 50;

/// As many are found fastest by looking at each.
const FEW: usize = 16;

/// Structs among the alternatives that another one is compared with.
const MOST_COMPARED: usize = 64;

/// The alternatives of a choice that is being made.
#[derive(Default)]
pub(crate) struct Alternatives {
    pub(crate) choice: Choice,
    /// Places of its scalars by hash, once there are some: there may be thousands.
    scalars: Map<u64, SmallVec<[u32; 1]>>,
}

impl Test {
    /// Whether it asks the same.
    pub(crate) fn is(&self, other: &Test) -> bool {
        match (self, other) {
            (Test::Bound(left, limit), Test::Bound(right, other)) => {
                left == right && crate::compare::same(limit, other)
            }
            (Test::Range(left), Test::Range(right)) => left == right,
            (Test::Call(_, left, one, expr), Test::Call(_, right, other, by)) => {
                let same = |it: (&Datum, &Datum)| crate::compare::same(it.0, it.1);
                expr == by
                    || std::ptr::eq(*left, *right)
                        && one.len() == other.len()
                        && one.iter().zip(other).all(same)
            }
            (Test::Match(left, env), Test::Match(right, other)) => left == right && env == other,
            _ => false,
        }
    }
}

impl Evaluator {
    /// One more alternative, if none of those that are there is the same; the one that stands for it.
    pub(crate) fn add_alternative(
        &mut self,
        to: &mut Alternatives,
        vertex: VertexId,
        mark: Mark,
    ) -> VertexId {
        let known = self.heap.get(self.follow(vertex));
        let same = if known.scalar.is_none() || !known.arcs.is_empty() {
            let some = to.choice.all.iter().take(MOST_COMPARED);
            some.copied().find(|other| self.same_value(*other, vertex, 0))
        } else if to.choice.all.len() < FEW {
            to.choice.all.iter().copied().find(|other| self.equal_scalars(*other, vertex))
        } else {
            self.among_many(to, vertex)
        };
        if same.is_none() {
            to.choice.all.push(vertex);
        }
        // What is new is no default yet.
        let known = same.is_some_and(|it| to.choice.defaults.contains(&it));
        if mark == Mark::Default && !known {
            to.choice.defaults.push(same.unwrap_or(vertex));
        }
        same.unwrap_or(vertex)
    }

    /// A scalar's equal among many alternatives; it is found there from now on.
    fn among_many(&self, to: &mut Alternatives, vertex: VertexId) -> Option<VertexId> {
        let hash = |id| self.scalar_at(self.follow(id)).map(|it| crate::searched::hash(it.0));
        if to.scalars.is_empty() {
            for (place, known) in to.choice.all.iter().enumerate() {
                if let Some(hash) = hash(*known) {
                    to.scalars.entry(hash).or_default().push(place as u32);
                }
            }
        }
        let alike = to.scalars.entry(hash(vertex)?).or_default();
        let mut all = alike.iter().map(|it| to.choice.all[*it as usize]);
        let same = all.find(|it| self.equal_scalars(*it, vertex));
        if same.is_none() {
            alike.push(to.choice.all.len() as u32);
        }
        same
    }

    /// Whether two alternatives are one (D-9): of one structure throughout.
    pub(crate) fn same_value(&mut self, left: VertexId, right: VertexId, depth: u32) -> bool {
        let (left, right) = (self.unify(left), self.unify(right));
        if left == right {
            return true;
        }
        // Of what is not known yet one says as much as the other.
        if depth > 0 && self.is_open(left) && self.is_open(right) {
            return true;
        }
        // What differs at a glance is most.
        let (one, other) = (self.heap.get(left), self.heap.get(right));
        // What only embeds itself is a struct, though no more was said of it.
        let kinds = one.kinds == other.kinds || one.is_struct && other.is_struct;
        if one.arcs.len() != other.arcs.len() || !kinds {
            return false;
        }
        if self.heap.get(left).scalar.is_some() != self.heap.get(right).scalar.is_some() {
            return false;
        }
        if self.heap.get(left).scalar.is_some() {
            return self.equal_scalars(left, right) && self.same_fields(left, right, depth);
        }
        if depth > MOST_NESTED || depth > 0 && self.tick().is_err() {
            return false;
        }
        if self.differ_in_fields(left, right) {
            return false;
        }
        let closed = self.counts_as_closed(left) == self.counts_as_closed(right);
        let (one, other) = (self.heap.get(left), self.heap.get(right));
        let bare = |it: &Vertex| it.fault.is_none() && it.state == State::Done;
        if !bare(one) || !bare(other) || !closed {
            return false;
        }
        // What a struct has is compared, not what is asked of it; up to v0.14 that, too.
        let asked = self.program.lenient || !(one.is_struct && other.is_struct);
        if asked && (!self.same_tests(left, right) || !self.same_patterns(left, right)) {
            return false;
        }
        match (self.sorted_alternatives(left), self.sorted_alternatives(right)) {
            (None, None) => {}
            (Some(one), Some(other)) => {
                // Marks count as far as they are told first.
                let mut pairs = one.iter().zip(&other);
                return depth > 0
                    && one.len() == other.len()
                    && pairs.all(|(one, other)| self.same_value(*one, *other, depth + 1));
            }
            _ => return false,
        }
        let (one, other) = (self.heap.get(left), self.heap.get(right));
        if one.is_list != other.is_list
            || one.is_struct != other.is_struct
            // What is open by `...` says no more than what is open without.
            || one.is_list && one.open != other.open
            || one.closed_length() != other.closed_length()
            || one.arcs.len() != other.arcs.len()
        {
            return false;
        }
        self.same_fields(left, right, depth)
    }

    /// Whether each field of the one is there in the other; beside a scalar these are definitions.
    pub(crate) fn same_fields(&mut self, left: VertexId, right: VertexId, depth: u32) -> bool {
        let pair = |it| self.same_field(it, right);
        let arcs = self.heap.get(left).arcs.iter().enumerate();
        let Some(pairs) = arcs.map(pair).collect::<Option<SmallVec<[_; 8]>>>() else {
            return false;
        };
        pairs.into_iter().all(|(presence, vertex, other)| {
            // Of fields that nobody may give one says as much as the other.
            let never = presence == Presence::Optional
                && self.fails_for_good(vertex)
                && self.fails_for_good(other);
            never || self.same_value(vertex, other, depth + 1)
        })
    }

    /// A field that two structs have in the same way, by its place and entry in the one: both vertices.
    fn same_field(
        &self,
        (index, arc): (usize, &ArcEntry),
        other: VertexId,
    ) -> Option<(Presence, VertexId, VertexId)> {
        let near = self.heap.get(other).arcs.get(index).filter(|it| it.label == arc.label);
        let found = near.or_else(|| self.heap.arc(other, arc.label));
        let found = found.filter(|it| it.presence == arc.presence)?;
        Some((arc.presence, arc.vertex, found.vertex))
    }

    /// Whether two structs differ as far as is known of their fields: alternatives of many choices mostly do in
    /// what these are called, or in a scalar. Nothing is evaluated for that.
    fn differ_in_fields(&self, left: VertexId, right: VertexId) -> bool {
        if self.heap.get(left).choice.is_some() || self.heap.get(right).choice.is_some() {
            return false;
        }
        self.heap.get(left).arcs.iter().enumerate().any(|it| match self.same_field(it, right) {
            Some((Presence::Member, one, other)) => self.differ_as_known(one, other),
            Some(_) => false,
            None => true,
        })
    }

    /// Whether two values are evaluated and different scalars.
    fn differ_as_known(&self, left: VertexId, right: VertexId) -> bool {
        let [left, right] = [left, right].map(|it| self.heap.get(self.follow(it)));
        let settled = |it: &Vertex| it.state == State::Done && it.fault.is_none();
        match (self.scalar_of(left), self.scalar_of(right)) {
            (Some((left_datum, _)), Some((right_datum, _))) => {
                settled(left) && settled(right) && !crate::compare::same(left_datum, right_datum)
            }
            _ => false,
        }
    }

    /// Whether a value may still resolve.
    pub(crate) fn is_open(&self, id: VertexId) -> bool {
        let fault = self.heap.get(id).fault;
        fault.is_some_and(|it| self.heap.faults[it].kind == Kind::Incomplete)
    }

    /// Alternatives of a choice, the default ones first.
    fn sorted_alternatives(&mut self, id: VertexId) -> Option<Vec<VertexId>> {
        Some(self.choice_of(id)?.defaults_first())
    }

    /// Whether two values are asked the same, but for bounds that others are tighter than.
    pub(crate) fn same_tests(&self, left: VertexId, right: VertexId) -> bool {
        // What a schema refers to is compared for itself.
        let same = |one: &Test, other: &Test| match (one, other) {
            (Test::Match(left, _), Test::Match(right, _)) => left == right,
            _ => one.is(other),
        };
        let (one, other) = (self.tight_tests(left), self.tight_tests(right));
        let within = |some: &[&Test], all: &[&Test]| {
            some.iter().all(|test| all.iter().any(|it| same(test, it)))
        };
        within(&one, &other) && within(&other, &one)
    }

    /// The tests of a value without the bounds that others are tighter than.
    fn tight_tests(&self, id: VertexId) -> SmallVec<[&Test; 2]> {
        let tests = &self.heap.get(id).tests;
        let tightest = if tests.len() > 1 { self.tightest(id) } else { [None, None] };
        let tight = |place| tightest.iter().flatten().any(|it| it.2 == place);
        let counts = |place, test: &Test| match test {
            Test::Bound(compare, _) if crate::compare::is_order(*compare) => {
                tests.len() == 1 || tight(place)
            }
            _ => true,
        };
        let all = tests.iter().enumerate().map(|(place, (test, _))| (place, test));
        all.filter(|(place, test)| counts(*place, test)).map(|it| it.1).collect()
    }

    pub(crate) fn same_patterns(&self, left: VertexId, right: VertexId) -> bool {
        let (one, other) = (&self.heap.get(left).patterns, &self.heap.get(right).patterns);
        let same = |left: ExprId, right: ExprId| {
            left == right || self.program.says_same_scalar(left, right)
        };
        one.len() == other.len()
            && one
                .iter()
                .zip(other.iter())
                .all(|(one, other)| same(one.label, other.label) && same(one.value, other.value))
    }

    /// Whether a later validator asks the same, as far as its arguments tell.
    pub(crate) fn is_asked_again(
        &mut self,
        id: VertexId,
        test: &Test,
        later: &[(Test, At)],
    ) -> bool {
        later.iter().any(|it| self.ask_alike(id, test, &it.0))
    }

    /// Whether two validators are calls of one function with arguments of one structure throughout.
    fn ask_alike(&mut self, id: VertexId, one: &Test, other: &Test) -> bool {
        let program = self.program.clone();
        match (one, other) {
            (Test::Call(_, left, some, _), Test::Call(_, right, others, _)) => {
                std::ptr::eq(*left, *right)
                    && some.len() == others.len()
                    && some
                        .iter()
                        .zip(others)
                        .all(|(one, other)| self.same_argument(id, one, other))
            }
            (Test::Match(left, env), Test::Match(right, other)) => {
                let (
                    Code::Call(Callee::Plain(left), some),
                    Code::Call(Callee::Plain(right), others),
                ) = (program.code(*left), program.code(*right))
                else {
                    return false;
                };
                let mut pairs = some.iter().zip(others.iter());
                left == right
                    && some.len() == others.len()
                    && pairs.all(|(one, another)| {
                        let both = [self.schema_of(*one, *env), self.schema_of(*another, *other)];
                        matches!(both, [Ok(one), Ok(other)] if self.same_value(one, other, 1))
                    })
            }
            _ => false,
        }
    }

    /// What encloses the value that is asked is not known before the answer is, nor is anything where a validator
    /// comes upon others.
    fn same_argument(&mut self, id: VertexId, left: &Datum, right: &Datum) -> bool {
        match (left, right) {
            (Datum::Live(left), Datum::Live(right)) => {
                let both = self.handled(*left).zip(self.handled(*right));
                let both =
                    both.filter(|it| self.checking.is_empty() && !self.is_ancestor(it.0, id));
                both.is_some_and(|it| self.same_value(it.0, it.1, 1))
            }
            _ => crate::compare::same(left, right),
        }
    }

    fn equal_scalars(&self, left: VertexId, right: VertexId) -> bool {
        let (left, right) = (self.heap.get(left), self.heap.get(right));
        match (self.scalar_of(left), self.scalar_of(right)) {
            _ if left.arcs.len() != right.arcs.len() => false,
            // One that waits for more is not yet what it looks like (D-8).
            _ if left.fault.is_some() || right.fault.is_some() => false,
            (Some((left, _)), Some((right, _))) => crate::compare::same(left, right),
            _ => false,
        }
    }
}
