//! Alternatives: which can hold, which is the default (D rules).

use smallvec::SmallVec;

use crate::alike::Alternatives;
use crate::error::{Fault, Kind};
use crate::evaluator::Evaluator;
use crate::heap::{
    Conjunct, Cycle, Disjunction, EnvId, FaultId, Scalar, ScalarId, Source, State, VertexId,
};
use crate::marks::{Mark as Weight, Outcome, Ways};
use crate::program::{Code, ExprId, Label, Presence};
use crate::untried::results;
use crate::work::Work;

mod ruled_out;

/// What came of a vertex with some alternatives.
#[derive(Clone, Copy)]
pub(crate) struct Tried {
    pub(crate) candidate: VertexId,
    pub(crate) fails: bool,
    /// It may never resolve.
    pub(crate) open: bool,
}

/// How often a choice that one alternative is left of already may be asked for within itself.
const MOST_UNDECIDED: usize = 3;

/// The parent of a value and its name there.
pub(crate) type Place = (Option<VertexId>, Option<Label>);

/// As many results are all tried: then each that fails says why.
const FEW: usize = 8;

/// The same if all of them fail.
const MOST_TOLD: usize = 4_096;

/// Whether an alternative is a default.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    Default,
    Plain,
}

/// What has come of the alternatives of a disjunction, each with its number where that counts.
#[derive(Default)]
struct Found {
    made: Alternatives,
    failed: Vec<(usize, VertexId)>,
    /// They may never resolve.
    unknown: Vec<VertexId>,
    /// Those of both kinds.
    wrong: Vec<(usize, VertexId)>,
    /// No choices themselves.
    plain: Vec<VertexId>,
    /// One is a choice with a default.
    nested: bool,
    /// More would hold, perhaps.
    untried: bool,
    outcomes: Vec<(Weight, Outcome)>,
}

impl Found {
    /// How many hold for certain.
    fn holding(&self) -> usize {
        self.made.choice.all.len().saturating_sub(self.unknown.len())
    }
}

impl Evaluator {
    pub(crate) fn pick(&self, id: VertexId, expr: ExprId) -> Option<usize> {
        let picks = self.heap.picks(id);
        if picks.is_empty() {
            return None;
        }
        let exact = picks.iter().find(|it| it.0 == expr);
        let found = exact.or_else(|| {
            let first = self.program.first_choice(expr)?;
            picks.iter().find(|it| self.program.first_choice(it.0) == Some(first))
        });
        found.map(|it| it.1 as usize)
    }

    /// Tries the alternatives of the first disjunction; a candidate with more of them does the
    /// same with its next one, so that every combination that can hold is found (D rules).
    /// Gives the error of an alternative that waits for a vertex on the stack, if one does.
    pub(crate) fn choose(
        &mut self,
        id: VertexId,
        disjunctions: &[Disjunction],
    ) -> Option<(FaultId, VertexId)> {
        match self.choose_defaults(id, disjunctions) {
            Some(choice) => {
                self.heap.get_mut(id).choice = Some(Box::new(choice));
                None
            }
            None => self.choose_all(id, disjunctions),
        }
    }

    /// The same, with every alternative.
    pub(crate) fn choose_all(
        &mut self,
        id: VertexId,
        disjunctions: &[Disjunction],
    ) -> Option<(FaultId, VertexId)> {
        if self.ways.of == Some(self.stands_at(id)) {
            return self.choose_further(id, disjunctions);
        }
        if let ([only], true) = (disjunctions, self.heap.get(id).picks.is_empty())
            && let Some(conjunct) = self.lone_choice(id, only.expr)
        {
            self.choose_tag(id, only, &conjunct);
            return None;
        }
        let mut ways = Ways::new(self.stands_at(id));
        ways.wanted = self.heap.get(id).picks.is_empty() && self.weighs(disjunctions);
        let around = std::mem::replace(&mut self.ways, ways);
        let waits = self.choose_further(id, disjunctions);
        self.ways = around;
        waits
    }

    /// The same for a value with some alternatives, which may have brought more disjunctions.
    fn choose_further(
        &mut self,
        id: VertexId,
        disjunctions: &[Disjunction],
    ) -> Option<(FaultId, VertexId)> {
        let count = results(disjunctions);
        // Of a scalar all results are one.
        let decided = disjunctions.len() == 1 && self.heap.get(id).scalar.is_some();
        let looked_at = self.ways.in_full
            || decided
            || self.ways.shortcuts.as_ref().is_some_and(|it| it.covers(disjunctions));
        if count <= FEW || looked_at {
            return self.choose_first(id, disjunctions);
        }
        let mut shortcuts = self.shortcuts(id, disjunctions);
        shortcuts.add_copies(self.ways.shortcuts.as_ref());
        let around = self.ways.shortcuts.replace(shortcuts);
        let waits = self.choose_of(id, disjunctions);
        self.ways.shortcuts = around;
        let fails = self.heap.get(id).fault.is_some() && self.spent.is_none();
        if fails && waits.is_none() && count <= MOST_TOLD {
            self.heap.get_mut(id).fault = None;
            let around = self.ways.shortcuts.take();
            self.ways.in_full = true;
            let waits = self.choose_first(id, disjunctions);
            self.ways.in_full = false;
            self.ways.shortcuts = around;
            return waits;
        }
        waits
    }

    /// Of the disjunctions those that are to be tried.
    fn choose_of(
        &mut self,
        id: VertexId,
        disjunctions: &[Disjunction],
    ) -> Option<(FaultId, VertexId)> {
        let tried = self.ways.shortcuts.as_ref().and_then(|it| it.tried_of(disjunctions));
        let waits = self.choose_first(id, tried.as_deref().unwrap_or(disjunctions));
        let choice = self.heap.get_mut(id).choice.as_deref_mut();
        if let Some(choice) = choice.filter(|it| tried.is_some() && !it.untried.is_empty()) {
            choice.untried = disjunctions.to_vec();
        }
        waits
    }

    /// Where a value stands, be it one with some alternatives.
    pub(crate) fn stands_at(&self, id: VertexId) -> Place {
        (self.heap.get(id).parent, self.heap.get(id).label)
    }

    fn choose_first(
        &mut self,
        id: VertexId,
        disjunctions: &[Disjunction],
    ) -> Option<(FaultId, VertexId)> {
        if let Some(same) = self.come_to_already(id, disjunctions) {
            self.heap.get_mut(id).forward = Some(same);
            return None;
        }
        let around = self.ways.before(disjunctions);
        let waits = self.try_first(id, disjunctions);
        self.ways.rest = around;
        waits
    }

    fn try_first(
        &mut self,
        id: VertexId,
        disjunctions: &[Disjunction],
    ) -> Option<(FaultId, VertexId)> {
        let disjunction = disjunctions.first()?;
        // A value on the way that asks for itself while it is not decided is not decided further in either.
        let around = self.undecided.iter().filter(|it| **it == disjunction.expr).count();
        if around >= MOST_UNDECIDED && self.heap.get(id).label.is_none() {
            let message = format!("unresolved disjunction {}", self.literal_text(disjunction.expr));
            self.raise(id, Fault::spread(Kind::Incomplete, message));
            return None;
        }
        let marked = disjunction.marks.contains(&true);
        let mut found = Found::default();
        // What contradicts as it is written has only to tell why, if nothing else holds.
        let one_tells = self.one_tells(id);
        let ruled_out = self.ruled_out(id, disjunctions);
        let out = |pick: usize| ruled_out.get(pick).copied().unwrap_or(false);
        let two_will_do = self.two_will_do(id, disjunctions);
        let picks = 0..disjunction.marks.len();
        let order = picks.clone().filter(|it| !out(*it)).chain(picks.filter(|it| out(*it)));
        let mut order = order.peekable();
        while let Some(pick) = order.next() {
            if out(pick) && (one_tells || found.holding() > 0) {
                break;
            }
            if two_will_do && found.holding() > 1 {
                found.untried = true;
                break;
            }
            let mark = disjunction.marks[pick];
            if let Err(fault) = self.tick() {
                self.heap.get_mut(id).fault = Some(fault);
                return None;
            }
            let weight = match (marked, mark) {
                (false, _) => Weight::Maybe,
                (true, true) => Weight::Is,
                (true, false) => Weight::Not,
            };
            let undecided = !found.made.choice.all.is_empty();
            self.undecided.extend(undecided.then_some(disjunction.expr));
            let after = self.ways.after | order.peek().is_some();
            let around = std::mem::replace(&mut self.ways.after, after);
            let Tried { candidate, fails, open } = self.try_pick(id, disjunctions, pick);
            self.ways.after = around;
            if undecided {
                self.undecided.pop();
            }
            if fails || open {
                found.wrong.push((pick, candidate));
            }
            if fails {
                found.failed.push((pick, candidate));
                let said = self.failure(candidate);
                found.outcomes.push((weight, self.ways.failed(said)));
                continue;
            }
            if let (Some(on), Some(fault)) = (self.running(candidate), self.put_off(candidate)) {
                if on != id {
                    return Some((fault, on));
                }
            }
            found.unknown.extend(open.then_some(candidate));
            let mark = if mark || !marked { Mark::Default } else { Mark::Plain };
            let stands = self.add_held(&mut found, candidate, mark, disjunctions.len());
            let choice = self.heap.get(candidate).choice.as_deref();
            found.outcomes.push((weight, self.ways.held(candidate, choice, &stands)));
        }
        self.settle_choice(id, disjunctions, found);
        None
    }

    /// Tries one alternative of the first of the disjunctions, unless it is known what comes of it.
    fn try_pick(&mut self, id: VertexId, disjunctions: &[Disjunction], pick: usize) -> Tried {
        let expr = disjunctions[0].expr;
        let picks = self.taken_with((expr, pick as u32));
        self.ways.begin();
        let combination = self.combination(id, picks[0], disjunctions.len());
        let tried = match self.reached(combination.as_ref()) {
            Some(known) => known,
            None => self.try_with(id, &picks),
        };
        self.note_reached(combination, tried);
        tried
    }

    /// Adds an alternative that holds, or, if it is a choice itself, those of that; each with where it is among all.
    fn add_held(
        &mut self,
        found: &mut Found,
        candidate: VertexId,
        mark: Mark,
        disjunctions: usize,
    ) -> SmallVec<[(VertexId, VertexId); 4]> {
        let vertex = self.heap.get(candidate);
        let Some(inner) = vertex.choice.clone() else {
            // Of one that is nested, and not of another one here, no mark is left (D-4).
            let demoted = disjunctions > 1 && vertex.demoted;
            let mark = if demoted { Mark::Plain } else { mark };
            found.plain.push(candidate);
            let added = self.add_alternative(&mut found.made, candidate, mark);
            return SmallVec::from_elem((candidate, added), 1);
        };
        found.untried |= !inner.untried.is_empty();
        found.nested |= !inner.defaults.is_empty();
        let each = inner.all.iter().map(|each| {
            let own = inner.defaults.is_empty() || inner.defaults.contains(each);
            let mark = if own { mark } else { Mark::Plain };
            (*each, self.add_alternative(&mut found.made, *each, mark))
        });
        each.collect()
    }

    /// Makes the value what its alternatives have come to: an error, one of them, or a choice.
    fn settle_choice(&mut self, id: VertexId, disjunctions: &[Disjunction], found: Found) {
        let Found { made, unknown, plain, nested, untried, outcomes, .. } = found;
        let [failed, wrong] = [found.failed, found.wrong].map(in_order);
        let mut choice = made.choice;
        // Beside marks of nested alternatives what has none is no default (D-3).
        let marked = disjunctions.first().is_some_and(|it| it.marks.contains(&true));
        if nested && !marked && disjunctions.len() == 1 {
            choice.defaults.retain(|it| !plain.contains(it));
        }
        // What may never resolve gives way to what already holds: `*status.ready | false`.
        if unknown.len() < choice.all.len() {
            choice.all.retain(|it| !unknown.contains(it));
            choice.defaults.retain(|it| !unknown.contains(it));
        } else if unknown.len() + failed.len() > 1 {
            let value = self.so_far(id);
            self.ways.settle(disjunctions, value, outcomes, &[]);
            self.no_alternative(id, disjunctions, &failed, &wrong);
            return;
        }
        let value = self.so_far(id);
        self.ways.settle(disjunctions, value, outcomes, &choice.all);
        if self.heap.get(id).picks.is_empty() {
            choice.defaults = self.ways.defaults().map_or(choice.defaults, SmallVec::from_vec);
        }
        choice.order_defaults();
        let demoted = choice.defaults.is_empty() && !choice.all.is_empty();
        let marked = nested || disjunctions.iter().any(|it| it.marks.contains(&true));
        if !marked && choice.defaults.len() == choice.all.len() {
            choice.defaults.clear();
        }
        match choice.all.as_slice() {
            [] => self.no_alternative(id, disjunctions, &failed, &failed),
            [only] => {
                let only = *only;
                // What was found elsewhere is what it is there.
                if self.stands_at(only) == self.stands_at(id) {
                    self.heap.get_mut(only).demoted |= demoted;
                }
                if self.follow(only) != id {
                    self.heap.get_mut(id).forward = Some(only);
                }
            }
            _ => {
                if untried {
                    choice.untried = disjunctions.to_vec();
                }
                self.heap.get_mut(id).choice = Some(Box::new(choice));
            }
        }
    }

    /// The conjunct that is a choice, if that is all there is and all of it is scalars and types: none of them
    /// can fail, so that nobody takes one of them for the choice.
    fn lone_choice(&self, id: VertexId, choice: ExprId) -> Option<Conjunct> {
        let [conjunct] = self.heap.get(id).conjuncts.as_slice() else { return None };
        let Source::Expr(expr, _) = conjunct.source() else { return None };
        let Code::Disjoin(all) = self.program.code(expr) else { return None };
        let lone = expr == choice && all.iter().all(|it| self.program.code(it.0).is_tag());
        lone.then(|| conjunct.clone())
    }

    /// Of a lone choice each alternative holds, and is a default if it is marked.
    fn choose_tag(&mut self, id: VertexId, disjunction: &Disjunction, conjunct: &Conjunct) {
        let mut made = Alternatives::default();
        for (pick, marked) in disjunction.marks.iter().enumerate() {
            if let Err(spent) = self.tick() {
                self.heap.get_mut(id).fault = Some(spent);
                return;
            }
            let tag = self.take_tag(id, (disjunction.expr, pick as u32), conjunct);
            let mark = if *marked { Mark::Default } else { Mark::Plain };
            self.add_alternative(&mut made, tag, mark);
        }
        let vertex = self.heap.get_mut(id);
        let mut choice = made.choice;
        if let [only] = *choice.all {
            vertex.forward = Some(only);
            return;
        }
        choice.order_defaults();
        vertex.choice = Some(Box::new(choice));
    }

    /// Makes a vertex of the scalar or the type that is one of a lone choice.
    fn take_tag(&mut self, id: VertexId, pick: (ExprId, u32), choice: &Conjunct) -> VertexId {
        let candidate = self.candidate(id, &[pick]);
        if let (Source::Expr(_, env), Code::Disjoin(all)) =
            (choice.source(), self.program.code(pick.0))
        {
            let (expr, _) = all[pick.1 as usize];
            let conjunct = choice.clone().alternative(expr, env);
            let (via, content) = (conjunct.via, conjunct.cycle != Cycle::Cyclic);
            self.heap.get_mut(candidate).conjuncts.push(conjunct);
            match *self.program.code(expr) {
                Code::Type(kinds, name) => self.take_type(candidate, expr, kinds, name.text(), via),
                _ => self.take_scalar(candidate, Scalar::Known(ScalarId::written(expr)), via),
            }
            let sound = self.heap.resets + 1;
            let vertex = self.heap.get_mut(candidate);
            (vertex.content, vertex.state, vertex.sound) = (content, State::Done, sound);
        }
        candidate
    }

    /// `or(list)`: a disjunction of its elements.
    pub(crate) fn take_or(
        &mut self,
        id: VertexId,
        expr: ExprId,
        env: EnvId,
        arguments: &[ExprId],
        conjunct: Conjunct,
        work: &mut Work,
    ) {
        let at = self.program.at(expr);
        let list = match self.list_in(arguments, env, ("or", 1, at)) {
            Ok(list) => list,
            Err(fault) => {
                // A list that is made for it and waits fails as its argument (cue-errors 1.10).
                let waits = self.heap.faults[fault].kind.is_incomplete();
                let fault = match arguments {
                    [list] if waits && matches!(self.program.code(*list), Code::List(_)) => {
                        self.of_argument(fault, "error in call to or", at)
                    }
                    _ => fault,
                };
                return self.hold(id, fault, &conjunct, work);
            }
        };
        // Each of its alternatives asks for one element only.
        if let (Some(list), Some(pick)) = (list, self.pick(id, expr)) {
            let label = self.labels.index(pick);
            if let Some(element) = self.heap.arc(list, label).map(|it| it.vertex) {
                work.conjuncts
                    .push(Conjunct { source: Source::Vertex(element).into(), ..conjunct });
                return;
            }
        }
        let elements = list.map(|it| self.elements(it)).unwrap_or_default();
        if elements.is_empty() {
            let message = "error in call to or: empty list in call to or";
            self.raise(id, Fault::new(Kind::Incomplete, message, at));
        } else if self.lead_round(&elements, id, conjunct.way) {
            self.raise(id, Fault::new(Kind::StructuralCycle, "structural cycle", at));
        } else {
            let marks = vec![false; elements.len()];
            let sources = Vec::new();
            work.disjoin(Disjunction { expr, marks, sources, elements }, &self.program);
        }
    }

    /// A vertex for some alternatives of another one, nothing said of it yet.
    fn candidate(&mut self, id: VertexId, picks: &[(ExprId, u32)]) -> VertexId {
        let (parent, label) = (self.heap.get(id).parent, self.heap.get(id).label);
        let candidate = self.heap.vertex(parent, label);
        self.heap.get_mut(candidate).picks = self.heap.get(id).picks;
        self.heap.pick_more(candidate, picks);
        if self.tried_all.contains(&id.number()) {
            self.tried_all.insert(candidate.number());
        }
        if let Some(group) = self.definition_group(id) {
            self.definitions.insert(candidate.number(), group);
        }
        candidate
    }

    /// A vertex tried with some alternatives.
    pub(crate) fn try_with(&mut self, id: VertexId, picks: &[(ExprId, u32)]) -> Tried {
        let candidate = self.candidate(id, picks);
        let conjuncts = self.heap.get(id).conjuncts.clone();
        self.heap.get_mut(candidate).conjuncts = conjuncts;
        self.trying.push((id, candidate));
        let asked = self.answers.len();
        let candidate = self.unify(candidate);
        let before = self.passed_over;
        let fails = self.refused.contains(&candidate.number()) || self.fails_for_good(candidate);
        self.recheck_tried(candidate, asked);
        let open = !fails && self.unknown(candidate, 0).is_some();
        self.trying.pop();
        // What is a choice itself is not looked at again with every one around it.
        if !fails && !open && self.passed_over == before {
            self.heap.get_mut(candidate).sound = self.heap.resets + 1;
        }
        Tried { candidate, fails, open }
    }

    /// Whether fields that are plain scalars and types contradict each other already, or, where there are many
    /// results, literals: then no further choice helps (D-8).
    pub(crate) fn tags_differ(&mut self, id: VertexId) -> bool {
        for index in 0..self.heap.get(id).arcs.len() {
            let arc = &self.heap.get(id).arcs[index];
            let (vertex, presence) = (arc.vertex, arc.presence);
            let conjuncts = &self.heap.get(vertex).conjuncts;
            let many = self.shortcuts_at(id).is_some();
            let plain = |it: &Conjunct| match it.source() {
                _ if many => self.is_of_literals(it),
                Source::Expr(expr, _) => self.program.code(expr).is_tag(),
                Source::Data(_) | Source::Vertex(_) => false,
            };
            if presence != Presence::Member || conjuncts.len() < 2 || !conjuncts.iter().all(plain) {
                continue;
            }
            let vertex = self.unify(vertex);
            if self.heap.get(vertex).fault.is_some() {
                return true;
            }
        }
        false
    }

    /// What a reference to a vertex means: where an alternative of it is being tried, that (D-10).
    pub(crate) fn tried(&self, id: VertexId) -> VertexId {
        let mut stands = id;
        for (choice, candidate) in &self.trying {
            if stands == *choice {
                stands = *candidate;
            }
        }
        if stands != id && self.is_ancestor(stands, self.place) { stands } else { id }
    }
}

/// What was found of some alternatives, in the order of these.
fn in_order(mut all: Vec<(usize, VertexId)>) -> Vec<VertexId> {
    cue_sort::by_key(&mut all, |it| it.0);
    all.into_iter().map(|it| it.1).collect()
}
