//! Marks of several disjunctions of one value, and of nested ones (D-2, D-3): which results are defaults.
//!
//! While a choice is made it is noted how its results came: a tree of disjunctions, an alternative each.
//! The disjunctions of a value are gone through one after the other; what is nested in an alternative
//! counts as that alternative. A side whose marked alternatives are all gone counts as without marks.

use smallvec::SmallVec;

use crate::disjunction::Place;
use crate::evaluator::Evaluator;
use crate::heap::{Choice, Disjunction, VertexId};
use crate::program::{Code, ExprId};
use crate::shortcuts::Shortcuts;

/// What a disjunction says of one of its alternatives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Mark {
    /// It marks none.
    #[default]
    Maybe,
    Is,
    Not,
}

/// What comes of an alternative.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Fails,
    /// A bound or a validator is not met: that is asked last of all.
    Late,
    /// It has fields that are not allowed: these are so without it, too.
    Refused,
    Result(VertexId),
    /// One more disjunction.
    Choice(Box<Step>),
}

/// One disjunction on the way to results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    /// None if it was made elsewhere.
    of: Option<ExprId>,
    /// Those that are still to be tried after it.
    rest: SmallVec<[ExprId; 4]>,
    /// What the value is so far, if that is quickly told.
    value: Option<Box<str>>,
    alternatives: Vec<(Mark, Outcome)>,
}

/// How the results of the innermost choice come.
#[derive(Default)]
pub(crate) struct Ways {
    /// The value that is chosen for.
    pub(crate) of: Option<Place>,
    /// Whether it takes more than the marks of one disjunction to know the defaults.
    pub(crate) wanted: bool,
    /// The disjunctions that come after the one that is tried: what an alternative brings comes before.
    pub(crate) rest: SmallVec<[ExprId; 4]>,
    /// Of the vertex that was chosen for last.
    found: Option<Box<Step>>,
    /// Where there are many results, how not all of them need be tried.
    pub(crate) shortcuts: Option<Shortcuts>,
    /// All are tried, so that each that fails says why.
    pub(crate) in_full: bool,
    /// Another alternative of what is chosen around comes after the one that is tried.
    pub(crate) after: bool,
}

impl Ways {
    /// None are known yet.
    pub(crate) fn new(of: Place) -> Self {
        Self { of: Some(of), ..Self::default() }
    }

    /// The first of these is tried; what came after the one before.
    pub(crate) fn before(&mut self, disjunctions: &[Disjunction]) -> SmallVec<[ExprId; 4]> {
        std::mem::replace(&mut self.rest, following(disjunctions))
    }

    /// The next alternative is tried.
    pub(crate) fn begin(&mut self) {
        self.found = None;
    }

    /// One that fails, with what is said of it if it has no choices itself.
    pub(crate) fn failed(&mut self, said: Outcome) -> Outcome {
        match self.found.take() {
            Some(mut step) => {
                step.keep(&[]);
                Outcome::Choice(step)
            }
            None => said,
        }
    }

    /// One that holds: its results, if it has a choice itself, and what stands for each.
    pub(crate) fn held(
        &mut self,
        candidate: VertexId,
        choice: Option<&Choice>,
        stands: &[(VertexId, VertexId)],
    ) -> Outcome {
        let mut outcome = match (self.found.take(), choice) {
            (Some(step), _) => Outcome::Choice(step),
            (None, None) => Outcome::Result(candidate),
            // It was made elsewhere.
            (None, Some(choice)) => {
                let mark = |it: &VertexId| match choice.defaults.as_slice() {
                    [] => Mark::Maybe,
                    all if all.contains(it) => Mark::Is,
                    _ => Mark::Not,
                };
                let all = choice.all.iter().map(|it| (mark(it), Outcome::Result(*it)));
                Outcome::Choice(Box::new(Step {
                    of: None,
                    rest: SmallVec::new(),
                    value: None,
                    alternatives: all.collect(),
                }))
            }
        };
        outcome.keep(stands);
        outcome
    }

    /// All alternatives of the first disjunction were tried.
    pub(crate) fn settle(
        &mut self,
        disjunctions: &[Disjunction],
        value: Option<Box<str>>,
        alternatives: Vec<(Mark, Outcome)>,
        left: &[VertexId],
    ) {
        let Some(first) = disjunctions.first().filter(|_| self.wanted) else { return };
        let rest = following(disjunctions);
        let mut step = Step { of: Some(first.expr), rest, value, alternatives };
        let stands: Vec<(VertexId, VertexId)> = left.iter().map(|it| (*it, *it)).collect();
        step.keep(&stands);
        self.found = Some(Box::new(step));
    }

    /// Those that are defaults of all that was found; none if that was not wanted.
    pub(crate) fn defaults(&mut self) -> Option<Vec<VertexId>> {
        let step = Outcome::Choice(self.found.take()?);
        let whole = Way { mark: Mark::Maybe, own: Mark::Maybe, at: &step };
        let found = whole.results(&[], Last::Yes);
        let mut defaults = Vec::new();
        for way in &found {
            if let (Mark::Is, Outcome::Result(id)) = (way.mark, way.at) {
                defaults.push(*id);
            }
        }
        Some(defaults)
    }
}

fn following(disjunctions: &[Disjunction]) -> SmallVec<[ExprId; 4]> {
    disjunctions.iter().skip(1).map(|it| it.expr).collect()
}

impl Outcome {
    /// Results become what stands for them; what nothing stands for is gone.
    fn keep(&mut self, stands: &[(VertexId, VertexId)]) {
        match self {
            Outcome::Fails | Outcome::Late | Outcome::Refused => {}
            Outcome::Result(id) => match stands.iter().find(|it| it.0 == *id) {
                Some(it) => *id = it.1,
                None => *self = Outcome::Fails,
            },
            Outcome::Choice(step) => step.keep(stands),
        }
    }

    /// Whether it is refused, be it with each alternative of what comes next.
    fn is_refused(&self) -> bool {
        match self {
            Outcome::Fails | Outcome::Late | Outcome::Result(_) => false,
            Outcome::Refused => true,
            Outcome::Choice(step) => {
                !step.alternatives.is_empty()
                    && step.alternatives.iter().all(|it| it.1.is_refused())
            }
        }
    }
}

impl Step {
    fn keep(&mut self, stands: &[(VertexId, VertexId)]) {
        self.alternatives.iter_mut().for_each(|it| it.1.keep(stands));
    }
}

/// What has come of some disjunctions so far.
#[derive(Clone, Copy)]
struct Way<'a> {
    mark: Mark,
    /// What the last disjunction says of it.
    own: Mark,
    at: &'a Outcome,
}

/// Of an alternative: itself, or the results of what is nested in it.
struct Tried<'a> {
    way: Way<'a>,
    nested: Vec<Way<'a>>,
}

impl<'a> Way<'a> {
    /// The ways through the next disjunctions of one value; `outer` come after those.
    fn results(self, outer: &[ExprId], last: Last) -> Vec<Way<'a>> {
        let Outcome::Choice(first) = self.at else { return vec![self] };
        let mut known: SmallVec<[ExprId; 8]> = first.of.into_iter().collect();
        known.extend(first.rest.iter().copied().filter(|it| !outer.contains(it)));
        let count = known.len().max(1);
        known.extend_from_slice(outer);
        let mut ways = vec![self];
        for at in 0..count {
            let of = first.of.and(known.get(at).copied());
            let last = if at + 1 == count { last } else { Last::No };
            ways = through(&ways, of, &known, last);
        }
        ways
    }

    fn add_to(self, all: &mut Vec<Way<'a>>) {
        // Before the last disjunction what goes on alike may be different still.
        let comparable = match self.at {
            Outcome::Choice(step) => step.value.is_some(),
            _ => true,
        };
        match all.iter_mut().find(|it| comparable && it.at == self.at) {
            Some(same) if self.mark == Mark::Is => same.mark = Mark::Is,
            Some(_) => {}
            None => all.push(self),
        }
    }
}

/// Whether no disjunction comes after.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    Yes,
    No,
}

/// One disjunction further.
fn through<'a>(
    before: &[Way<'a>],
    of: Option<ExprId>,
    known: &[ExprId],
    last: Last,
) -> Vec<Way<'a>> {
    let mut tried: Vec<Tried<'a>> = Vec::new();
    let (mut before_is, mut own_is) = (false, false);
    for way in before {
        let step = match way.at {
            Outcome::Choice(step) if step.of == of => step,
            Outcome::Late if last == Last::Yes => continue,
            _ => {
                before_is |= way.mark == Mark::Is || way.own == Mark::Is;
                tried.push(Tried { way: *way, nested: Vec::new() });
                continue;
            }
        };
        for (own, at) in &step.alternatives {
            let mut found = Tried { way: Way { own: *own, at, ..*way }, nested: Vec::new() };
            match at {
                Outcome::Fails | Outcome::Refused => continue,
                Outcome::Late if last == Last::Yes => continue,
                Outcome::Late | Outcome::Result(_) => {}
                Outcome::Choice(next) if next.of.is_some_and(|it| known.contains(&it)) => {
                    if at.is_refused() {
                        continue;
                    }
                }
                Outcome::Choice(_) => match found.way.results(known, last).as_slice() {
                    [] => continue,
                    [only] => found.way = Way { own: *own, ..*only },
                    all => found.nested = all.to_vec(),
                },
            }
            before_is |= way.mark == Mark::Is || way.own == Mark::Is;
            own_is |= *own == Mark::Is;
            tried.push(found);
        }
    }
    let left = |mark: Mark, counts: bool| if counts { mark } else { Mark::Maybe };
    let mut all = Vec::new();
    let mut marked = false;
    for Tried { way, nested } in tried {
        let mark = left(way.mark, before_is);
        if nested.is_empty() {
            Way { mark: mark.max(left(way.own, own_is)), ..way }.add_to(&mut all);
        }
        for inner in nested {
            let mark = mark.max(way.own).max(inner.mark);
            marked |= mark != Mark::Maybe;
            Way { mark, ..inner }.add_to(&mut all);
        }
    }
    // Beside marks of nested ones what has none is no default (D-3).
    for way in all.iter_mut().filter(|it| marked && it.mark == Mark::Maybe) {
        way.mark = Mark::Not;
    }
    all
}

impl Evaluator {
    /// How an alternative fails.
    pub(crate) fn failure(&mut self, candidate: VertexId) -> Outcome {
        if !self.ways.wanted {
            return Outcome::Fails;
        }
        if self.refused.contains(&candidate.number()) {
            return Outcome::Refused;
        }
        match self.permanent(candidate, 0) {
            Some(fault) if fault.message.starts_with("invalid value ") => Outcome::Late,
            _ => Outcome::Fails,
        }
    }

    /// What a value is without its choices, if it is no struct or list; not asked if marks do not matter.
    pub(crate) fn so_far(&mut self, id: VertexId) -> Option<Box<str>> {
        let vertex = self.heap.get(id);
        let plain = vertex.arcs.is_empty() && vertex.patterns.is_empty() && !vertex.is_struct;
        (plain && self.ways.wanted).then(|| self.short(id).into())
    }

    /// Whether it takes more than the marks of one disjunction to know the defaults.
    pub(crate) fn weighs(&self, disjunctions: &[Disjunction]) -> bool {
        let marked = disjunctions.iter().any(|it| it.marks.contains(&true));
        let plain = |it: ExprId| match marked {
            true => self.program.code(it).is_tag(),
            false => self.has_no_choice(it),
        };
        let nests = |it: &Disjunction| match self.program.code(it.expr) {
            Code::Disjoin(all) => !all.iter().all(|it| plain(it.0)),
            _ => true,
        };
        disjunctions.len() > 1 && marked || disjunctions.iter().any(nests)
    }
}
