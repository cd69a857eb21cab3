//! The error of a choice whose alternatives have all failed (cue-errors 1.4).

use cue_map::{Map, Set};

use crate::closed::NOT_ALLOWED;
use crate::error::{Fault, Kind};
use crate::evaluator::Evaluator;
use crate::heap::{Disjunction, FaultId, VertexId};
use crate::program::At;

/// What a character of a path counts for where errors are told apart by it.
const PATH_TICKS: usize = 8;

/// How the error of a choice without alternatives ends.
pub(crate) const EMPTY: &str = " in empty disjunction:";

impl Evaluator {
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

    /// A value has failed before any of its alternatives was tried: each fails with what it has failed with, so
    /// that of several errors it is also told how many these are (cue-errors 1.4).
    pub(crate) fn spoil(&mut self, id: VertexId) {
        self.spoiled.insert(id.number());
        let vertex = self.heap.get(id);
        let own = vertex.fault.filter(|_| vertex.picks.is_empty()).map(|it| &self.heap.faults[it]);
        let several = |it: &&Fault| it.kind == Kind::Permanent && !it.causes.is_empty();
        let Some(mut own) = own.filter(several).cloned() else { return };
        let message = format!("{} errors{EMPTY}", own.causes.len() + 1);
        let mut whole = Fault::new(own.kind, message, self.asked_at(id));
        whole.place = Some(id);
        own.place = own.place.or(Some(id));
        own.causes.push(whole);
        let fault = self.heap.fault(own);
        self.heap.get_mut(id).fault = Some(fault);
    }

    /// The error of a value whose alternatives have all failed (cue-errors 1.4).
    pub(crate) fn no_alternative(
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
        if self.told_alone(id) {
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
        let mut lists: Vec<Vec<Fault>> = wrong.iter().map(|it| self.failures(*it)).collect();
        let first = lists.iter().flatten().find(|it| !it.is_of_user()).cloned();
        let unknown = lists.iter().flatten().map(|it| it.kind).find(|it| it.is_incomplete());
        // Of many, those before the first that may still resolve do not count.
        let open = |it: &Vec<Fault>| it.iter().any(|it| it.kind.is_incomplete());
        if let (true, Some(first)) = (lists.len() > 2, lists.iter().position(open)) {
            lists.drain(..first);
        }
        let mut beside = None;
        if lists.iter().flatten().any(Fault::is_of_user) {
            beside = match words {
                true => of_words(&mut lists),
                false => first,
            };
            lists.iter_mut().for_each(|it| it.retain(Fault::is_of_user));
        }
        if let Some(mut fault) = said_once(&lists) {
            fault.place = fault.place.or(Some(id));
            let fault = self.heap.fault(fault);
            self.raise_id(id, fault);
            return;
        }
        let asked_at = self.asked_at(id);
        // Which fields are allowed is found out where the choice is asked for.
        for part in lists.iter_mut().flatten().filter(|it| it.message == NOT_ALLOWED) {
            if part.at == At::default() {
                part.at = asked_at;
            }
        }
        if wrong.len() > 2 {
            keep_other_places(&mut lists);
        }
        let mut parts = self.told_apart(lists, id);
        let mut fault = match parts.len() {
            1 => parts.remove(0),
            _ => listed(parts, id, asked_at),
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

    /// Tells what is wrong without any alternative alone; whether there is such.
    fn told_alone(&mut self, id: VertexId) -> bool {
        let mut disagree = Vec::new();
        if self.heap.get(id).picks.is_empty() && self.heap.get(id).fault.is_none() {
            self.written_conflicts(id, &mut disagree, 0);
        }
        let Some(fault) = Fault::listed(disagree) else { return false };
        self.exhausted.insert(id.number());
        let fault = self.heap.fault(fault);
        self.heap.get_mut(id).fault = Some(fault);
        true
    }

    /// What an alternative has failed with.
    fn failures(&mut self, candidate: VertexId) -> Vec<Fault> {
        if self.refused.contains(&candidate.number()) {
            self.refuse_fields(candidate);
        }
        let mut all = self.first_failing(candidate);
        if all.is_empty() {
            let own = match self.heap.get(candidate).fault {
                Some(own) => vec![own],
                None => self.all_unknown(candidate),
            };
            all.extend(own.into_iter().map(|it| self.heap.faults[it].clone()));
        }
        all.into_iter().flat_map(Fault::each).collect()
    }

    /// The errors of all alternatives, each once. Alternatives stand where their choice does: paths are compared.
    fn told_apart(&mut self, lists: Vec<Vec<Fault>>, id: VertexId) -> Vec<Fault> {
        let mut parts: Vec<Fault> = Vec::new();
        let mut known: Map<(String, At), Vec<String>> = Map::default();
        for mut part in lists.into_iter().flatten() {
            part.place = part.place.or(Some(id));
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
        parts
    }
}

/// Of words that stand in a choice of several: where the others failed, or, if all of them have words, where these
/// say it, which is then said of all.
fn of_words(lists: &mut [Vec<Fault>]) -> Option<Fault> {
    let other = |it: &&Fault| !it.is_of_user() && !it.message.ends_with(EMPTY);
    let beside = lists.iter().rev().find_map(|it| it.iter().find(other)).cloned();
    beside.or_else(|| {
        let own = |it: &Fault| it.is_of_user() && !it.positions.is_empty();
        let list = lists.iter_mut().find(|it| it.iter().any(own))?;
        let words = list.iter_mut().filter(|it| it.is_of_user());
        let mut fault = Fault::spread(Kind::Permanent, String::new());
        fault.positions = words.flat_map(|it| std::mem::take(&mut it.positions)).collect();
        Some(fault)
    })
}

/// The one thing that keeps all alternatives from being known, which is said once, and nothing of the choice; so is
/// all of a ring.
fn said_once(lists: &[Vec<Fault>]) -> Option<Fault> {
    let [first, rest @ ..] = lists else { return None };
    let same = |it: &Vec<Fault>| {
        it.len() == first.len()
            && it.iter().zip(first).all(|(a, b)| a.message == b.message && a.at == b.at)
    };
    let one = first.len() == 1 && first[0].kind.is_incomplete()
        || first.iter().all(|it| it.kind == Kind::Cycle);
    if !one || !rest.iter().all(same) {
        return None;
    }
    let (one, others) = first.split_first()?;
    Some(Fault { causes: others.to_vec(), ..one.clone() })
}

/// Of many alternatives only those count that show another place than the ones before; nowhere is one, too.
fn keep_other_places(lists: &mut [Vec<Fault>]) {
    let mut seen: Set<At> = Set::default();
    for list in lists {
        let Some(first) = list.first() else { continue };
        let mut places = std::iter::once(&first.at).chain(&first.positions);
        if !places.any(|it| seen.insert(*it)) {
            list.clear();
        }
    }
}

/// Several errors as one.
fn listed(parts: Vec<Fault>, id: VertexId, at: At) -> Fault {
    let message = format!("{} errors{EMPTY}", parts.len());
    // The worst to read is what may still resolve (D-22).
    let kinds = [Kind::Cycle, Kind::Incomplete];
    let open = kinds.into_iter().find(|kind| parts.iter().any(|it| it.kind == *kind));
    let mut fault = Fault::new(open.unwrap_or(Kind::Permanent), message, at);
    fault.place = Some(id);
    fault.causes = parts;
    fault
}
