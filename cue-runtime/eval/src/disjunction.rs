//! Alternatives: which can hold, which is the default (D rules).

use cue_map::{Map, Set};
use smallvec::SmallVec;

use crate::alike::Alternatives;
use crate::closed::NOT_ALLOWED;
use crate::error::{Fault, Kind};
use crate::evaluator::Evaluator;
use crate::heap::{
    Conjunct, Cycle, Disjunction, EnvId, FaultId, Scalar, ScalarId, Source, State, VertexId,
};
use crate::marks::{Mark as Weight, Outcome};
use crate::program::{At, Code, ExprId, Presence};
use crate::work::Work;

/// What came of a vertex with some alternatives.
pub(crate) struct Tried {
    pub(crate) candidate: VertexId,
    pub(crate) fails: bool,
    /// It may never resolve.
    pub(crate) open: bool,
}

/// How often a choice that one alternative is left of already may be asked for within itself.
const MOST_UNDECIDED: usize = 3;

/// What a character of a path counts for where errors are told apart by it.
const PATH_TICKS: usize = 8;

/// How the error of a choice without alternatives ends.
pub(crate) const EMPTY: &str = " in empty disjunction:";

/// Whether an alternative is a default.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    Default,
    Plain,
}

impl Evaluator {
    pub(crate) fn pick(&self, id: VertexId, expr: ExprId) -> Option<usize> {
        let picks = &self.heap.get(id).picks;
        let exact = picks.iter().find(|it| it.0 == expr);
        let found = exact.or_else(|| picks.iter().find(|it| self.program.says_same(it.0, expr)));
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
        if !self.heap.get(id).picks.is_empty() {
            return self.choose_first(id, disjunctions);
        }
        let wanted = self.weighs(disjunctions);
        let around = std::mem::take(&mut self.ways);
        self.ways.wanted = wanted;
        let waits = self.choose_first(id, disjunctions);
        self.ways = around;
        waits
    }

    fn choose_first(
        &mut self,
        id: VertexId,
        disjunctions: &[Disjunction],
    ) -> Option<(FaultId, VertexId)> {
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
        let mut made = Alternatives::default();
        let mut failed: Vec<(usize, VertexId)> = Vec::new();
        let mut unknown: Vec<VertexId> = Vec::new();
        let mut wrong: Vec<(usize, VertexId)> = Vec::new();
        let mut plain: Vec<VertexId> = Vec::new();
        let mut nested = false;
        let admitted = self.admitted(id, disjunction);
        let lone = self.lone_choice(id, disjunction.expr);
        let mut outcomes: Vec<(Weight, Outcome)> = Vec::new();
        // What contradicts as it is written has only to tell why, if nothing else holds.
        let ruled_out = self.ruled_out(id, disjunctions);
        let out = |pick: usize| ruled_out.get(pick).copied().unwrap_or(false);
        let two_will_do = self.two_will_do(id, disjunctions);
        let mut untried = false;
        let picks = 0..disjunction.marks.len();
        for pick in picks.clone().filter(|it| !out(*it)).chain(picks.filter(|it| out(*it))) {
            if admitted.get(pick) == Some(&Some(false)) {
                continue;
            }
            if out(pick) && made.choice.all.len() > unknown.len() {
                break;
            }
            if two_will_do && made.choice.all.len() > unknown.len() + 1 {
                untried = true;
                break;
            }
            let mark = &disjunction.marks[pick];
            if let Err(fault) = self.tick() {
                self.heap.get_mut(id).fault = Some(fault);
                return None;
            }
            let weight = match (marked, *mark) {
                (false, _) => Weight::Maybe,
                (true, true) => Weight::Is,
                (true, false) => Weight::Not,
            };
            let picks = [(disjunction.expr, pick as u32)];
            let undecided = !made.choice.all.is_empty();
            self.undecided.extend(undecided.then_some(disjunction.expr));
            self.ways.begin();
            let Tried { candidate, fails, open } = match &lone {
                Some(conjunct) => self.take_tag(id, picks[0], conjunct),
                None => self.try_with(id, &picks),
            };
            if undecided {
                self.undecided.pop();
            }
            let mut stands: SmallVec<[(VertexId, VertexId); 4]> = SmallVec::new();
            if fails || open {
                wrong.push((pick, candidate));
            }
            if fails {
                failed.push((pick, candidate));
                let said = self.failure(candidate);
                outcomes.push((weight, self.ways.failed(said)));
                continue;
            }
            if let (Some(on), Some(fault)) = (self.running(candidate), self.put_off(candidate)) {
                if on != id {
                    return Some((fault, on));
                }
            }
            let default = *mark || !marked;
            if open {
                unknown.push(candidate);
            }
            match self.heap.get(candidate).choice.clone() {
                Some(inner) => {
                    untried |= !inner.untried.is_empty();
                    nested |= !inner.defaults.is_empty();
                    for each in &inner.all {
                        let own = inner.defaults.is_empty() || inner.defaults.contains(each);
                        let mark = if default && own { Mark::Default } else { Mark::Plain };
                        stands.push((*each, self.add_alternative(&mut made, *each, mark)));
                    }
                }
                None => {
                    // Of one that is nested, and not of another one here, no mark is left (D-4).
                    let demoted = disjunctions.len() > 1 && self.heap.get(candidate).demoted;
                    let mark = if default && !demoted { Mark::Default } else { Mark::Plain };
                    stands.push((candidate, self.add_alternative(&mut made, candidate, mark)));
                    plain.push(candidate);
                }
            }
            let choice = self.heap.get(candidate).choice.as_deref();
            outcomes.push((weight, self.ways.held(candidate, choice, &stands)));
        }
        let [failed, wrong] = [failed, wrong].map(in_order);
        let mut choice = made.choice;
        // Beside marks of nested alternatives what has none is no default (D-3).
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
            return None;
        }
        let value = self.so_far(id);
        self.ways.settle(disjunctions, value, outcomes, &choice.all);
        if self.heap.get(id).picks.is_empty() {
            choice.defaults = self.ways.defaults().unwrap_or(choice.defaults);
        }
        // They stand in the order of the alternatives, however each came to be one (D-7).
        if !choice.defaults.is_empty() {
            let all = choice.all.iter().filter(|it| choice.defaults.contains(it));
            choice.defaults = all.copied().collect();
        }
        let demoted = choice.defaults.is_empty() && !choice.all.is_empty();
        let marked = nested || disjunctions.iter().any(|it| it.marks.contains(&true));
        if !marked && choice.defaults.len() == choice.all.len() {
            choice.defaults.clear();
        }
        match choice.all.as_slice() {
            [] => self.no_alternative(id, disjunctions, &failed, &failed),
            [only] => {
                let only = *only;
                self.heap.get_mut(only).demoted |= demoted;
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
        None
    }

    /// Of one choice between structs those that a written scalar of a field contradicts; none if that is
    /// all of them.
    fn ruled_out(&self, id: VertexId, disjunctions: &[Disjunction]) -> SmallVec<[bool; 8]> {
        let mut out = SmallVec::new();
        if let [only] = disjunctions {
            out.extend(self.contradicting(id, only));
        }
        if !out.contains(&false) {
            out.clear();
        }
        out
    }

    /// Which alternatives can be the scalar that is there, if one is the same or its type: the others have
    /// nothing to tell.
    fn admitted(&self, id: VertexId, disjunction: &Disjunction) -> SmallVec<[Option<bool>; 8]> {
        let vertex = self.heap.get(id);
        let mut admitted = SmallVec::new();
        let (Some((datum, _)), Code::Disjoin(all)) =
            (self.scalar_of(vertex), self.program.code(disjunction.expr))
        else {
            return admitted;
        };
        let plain = |it: &Conjunct| match it.source() {
            Source::Data(_) => true,
            Source::Expr(expr, _) => {
                expr == disjunction.expr || self.program.admits(expr, datum) == Some(true)
            }
            Source::Vertex(_) => false,
        };
        if vertex.conjuncts.iter().all(plain) {
            admitted.extend(all.iter().map(|it| self.program.admits(it.0, datum)));
        }
        if !admitted.contains(&Some(true)) {
            admitted.clear();
        }
        admitted
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

    /// Makes a vertex of the scalar or the type that is one of a lone choice.
    fn take_tag(&mut self, id: VertexId, pick: (ExprId, u32), choice: &Conjunct) -> Tried {
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
        Tried { candidate, fails: false, open: false }
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
                // A list that is made for it fails as its argument (cue-errors 1.10).
                let fault = match arguments {
                    [list] if matches!(self.program.code(*list), Code::List(_)) => {
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
            work.disjoin(Disjunction { expr, marks, sources: Vec::new() }, &self.program);
        }
    }

    /// A vertex for some alternatives of another one, nothing said of it yet.
    fn candidate(&mut self, id: VertexId, picks: &[(ExprId, u32)]) -> VertexId {
        let (parent, label) = (self.heap.get(id).parent, self.heap.get(id).label);
        let candidate = self.heap.vertex(parent, label);
        let mut all = self.heap.get(id).picks.clone();
        all.extend(picks.iter().copied());
        self.heap.get_mut(candidate).picks = all;
        if self.tried_all.contains(&id.number()) {
            self.tried_all.insert(candidate.number());
        }
        if let Some(group) = self.definitions.get(&id.number()).copied() {
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
        let candidate = self.unify(candidate);
        let before = self.passed_over;
        let fails = self.refused.contains(&candidate.number()) || self.fails_for_good(candidate);
        let open = !fails && self.unknown(candidate, 0).is_some();
        self.trying.pop();
        // What is a choice itself is not looked at again with every one around it.
        if !fails && !open && self.passed_over == before {
            self.heap.get_mut(candidate).sound = self.heap.resets + 1;
        }
        Tried { candidate, fails, open }
    }

    /// Whether fields that are plain scalars and types contradict each other already: then no further
    /// choice helps (D-8).
    pub(crate) fn tags_differ(&mut self, id: VertexId) -> bool {
        for index in 0..self.heap.get(id).arcs.len() {
            let arc = &self.heap.get(id).arcs[index];
            let (vertex, presence) = (arc.vertex, arc.presence);
            let conjuncts = &self.heap.get(vertex).conjuncts;
            let plain = |it: &Conjunct| match it.source() {
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

    /// What asks for a value that is made on the way: an expression, or a validator that runs. Others are
    /// looked at for themselves (cue-errors 1.4).
    fn asked_at(&self, id: VertexId) -> At {
        if let Some(at) = self.field_asked_at(id) {
            return at;
        }
        let vertex = self.heap.get(id);
        match vertex.conjuncts.as_slice() {
            [only]
                if vertex.label.is_none()
                    && vertex.parent.is_some()
                    && self.let_name(id).is_none() =>
            {
                only.reference().map_or_else(At::default, |it| self.program.at(it))
            }
            _ => self.checking.last().map_or_else(At::default, |it| it.at),
        }
    }

    /// Whether an error of a value itself is that of each alternative of the choice that it is.
    pub(crate) fn is_of_each(&self, fault: FaultId, id: VertexId) -> bool {
        let place = self.heap.faults[fault].place;
        let own = |it: VertexId| self.path(it) == self.path(id);
        let spoiled = self.spoiled.contains(&id.number());
        spoiled || self.exhausted.contains(&id.number()) && place.is_some_and(own)
    }

    /// The error of a value whose alternatives have all failed (cue-errors 1.4).
    fn no_alternative(
        &mut self,
        id: VertexId,
        disjunctions: &[Disjunction],
        failed: &[VertexId],
        wrong: &[VertexId],
    ) {
        if self.spent.is_some() {
            self.heap.get_mut(id).fault = self.spent;
            return;
        }
        // What is wrong without any alternative is told alone.
        let mut disagree = Vec::new();
        if self.heap.get(id).picks.is_empty() && self.heap.get(id).fault.is_none() {
            self.written_conflicts(id, &mut disagree, 0);
        }
        if let Some(fault) = Fault::listed(disagree) {
            self.exhausted.insert(id.number());
            let fault = self.heap.fault(fault);
            self.heap.get_mut(id).fault = Some(fault);
            return;
        }
        // Of several disjunctions the last says why, for the alternatives reached last; one that is
        // nested in an alternative is the error of that one.
        let last = match disjunctions {
            [_] => None,
            _ => wrong.iter().rev().find(|it| self.exhausted.contains(&it.number())).copied(),
        };
        self.exhausted.insert(id.number());
        let told = |it: &VertexId| self.heap.get(*it).fault.map(|it| &self.heap.faults[it]);
        // Words of a user's own count wherever they stand.
        let words = disjunctions.len() > 1
            && failed
                .iter()
                .filter_map(told)
                .any(|it| it.is_of_user() || it.causes.iter().any(Fault::is_of_user));
        if let Some(fault) = last.filter(|_| !words).and_then(|it| self.heap.get(it).fault) {
            self.heap.get_mut(id).fault = Some(fault);
            return;
        }
        let mut lists: Vec<Vec<Fault>> = Vec::new();
        for candidate in wrong {
            if self.refused.contains(&candidate.number()) {
                self.refuse_fields(*candidate);
            }
            let mut all = self.first_failing(*candidate);
            if all.is_empty() {
                let own = match self.heap.get(*candidate).fault {
                    Some(own) => vec![own],
                    None => self.all_unknown(*candidate),
                };
                all.extend(own.into_iter().map(|it| self.heap.faults[it].clone()));
            }
            lists.push(all.into_iter().flat_map(Fault::each).collect());
        }
        let first = lists.iter().flatten().find(|it| !it.is_of_user()).cloned();
        let unknown = lists.iter().flatten().map(|it| it.kind).find(|it| it.is_incomplete());
        // Of many, those before the first that may still resolve do not count.
        let open = |it: &Vec<Fault>| it.iter().any(|it| it.kind.is_incomplete());
        if let (true, Some(first)) = (lists.len() > 2, lists.iter().position(open)) {
            lists.drain(..first);
        }
        let mut beside: Option<Fault> = None;
        if lists.iter().flatten().any(Fault::is_of_user) {
            let other = |it: &&Fault| !it.is_of_user() && !it.message.ends_with(EMPTY);
            beside = match words {
                true => lists.iter().rev().find_map(|it| it.iter().find(other)).cloned(),
                false => first,
            };
            for list in &mut lists {
                list.retain(Fault::is_of_user);
                // Where the others failed further in is said of all.
                if words && beside.is_none() && list.iter().any(|it| !it.positions.is_empty()) {
                    let positions =
                        list.iter_mut().flat_map(|it| std::mem::take(&mut it.positions));
                    let mut fault = Fault::spread(Kind::Permanent, String::new());
                    fault.positions = positions.collect();
                    beside = Some(fault);
                }
            }
        }
        // The one thing that keeps all of them from being known is said once, and nothing of the choice; so is
        // all of a ring.
        if let [first, rest @ ..] = lists.as_slice() {
            let same = |it: &Vec<Fault>| {
                it.len() == first.len()
                    && it.iter().zip(first).all(|(a, b)| a.message == b.message && a.at == b.at)
            };
            let one = first.len() == 1 && first[0].kind.is_incomplete()
                || first.iter().all(|it| it.kind == Kind::Cycle);
            if let (true, Some(one)) = (one && rest.iter().all(same), first.first()) {
                let mut fault = one.clone();
                fault.place = fault.place.or(Some(id));
                fault.causes = first[1..].to_vec();
                let fault = self.heap.fault(fault);
                self.raise_id(id, fault);
                return;
            }
        }
        let asked_at = self.asked_at(id);
        let mut parts: Vec<Fault> = Vec::new();
        let mut seen: Set<At> = Set::default();
        let mut known: Map<(String, At), Vec<String>> = Map::default();
        let select = wrong.len() > 2;
        for list in &mut lists {
            // Which fields are allowed is found out where the choice is asked for.
            for part in list.iter_mut().filter(|it| it.message == NOT_ALLOWED) {
                if part.at == At::default() {
                    part.at = asked_at;
                }
            }
            // Of many alternatives only one that shows another place counts; nowhere is one, too.
            let Some(first) = list.first() else { continue };
            let mut places = std::iter::once(&first.at).chain(&first.positions);
            if !places.any(|it| seen.insert(*it)) && select {
                list.clear();
            }
        }
        for mut part in lists.into_iter().flatten() {
            part.place = part.place.or(Some(id));
            // Alternatives stand where their choice does: paths are compared.
            let place = part.place.map_or_else(String::new, |it| self.path(it));
            // Of choices within choices without end each is told of with the path of each in it.
            self.ticks += (place.len() * PATH_TICKS) as u64;
            let same = known.entry((part.message.clone(), part.at)).or_default();
            if same.contains(&place) {
                continue;
            }
            same.push(place);
            parts.push(part);
        }
        let mut fault = if parts.len() == 1 {
            parts.remove(0)
        } else {
            let message = format!("{} errors{EMPTY}", parts.len());
            // The worst to read is what may still resolve (D-22).
            let kinds = [Kind::Cycle, Kind::Incomplete];
            let open = kinds.into_iter().find(|kind| parts.iter().any(|it| it.kind == *kind));
            let kind = open.unwrap_or(Kind::Permanent);
            let mut fault = Fault::new(kind, message, asked_at);
            fault.place = Some(id);
            fault.causes = parts;
            fault
        };
        // Words of a user's own also say where the others failed, of what may still resolve only what takes
        // part, and count as theirs.
        if let Some(other) = beside {
            fault.words = fault.causes.is_empty();
            fault.positions.extend((!other.kind.is_incomplete()).then_some(other.at));
            fault.positions.extend(other.positions);
            fault.kind = unknown.unwrap_or(Kind::Permanent);
        }
        let fault = self.heap.fault(fault);
        self.raise_id(id, fault);
    }
}

/// What was found of some alternatives, in the order of these.
fn in_order(mut all: Vec<(usize, VertexId)>) -> Vec<VertexId> {
    cue_sort::by_key(&mut all, |it| it.0);
    all.into_iter().map(|it| it.1).collect()
}
