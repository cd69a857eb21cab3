//! Validation: a walk through a value that looks for errors, and which of those it finds are told.

use crate::budget::Budget;
use crate::conflict::CONFLICT;
use crate::error::{Kind, LITERAL};
use crate::evaluation::{Concreteness, Diagnostic, Evaluation};
use crate::evaluator::Evaluator;
use crate::heap::{FaultId, Source, VertexId};
use crate::interpolation::INVALID;
use crate::program::{At, Code, ExprId, Label, LabelKind, Presence};
use crate::report;
use crate::validators::REQUIRED;

/// How the error begins of a field that a guard asks for and brings.
const CYCLIC: &str = "cyclic reference to field ";

/// Errors after which no more are looked for.
const MOST_TOLD: usize = 100_000;

/// Whether it is told that something is not there, which has its own rule where values are shared.
fn is_lack(message: &str) -> bool {
    message == REQUIRED || message.starts_with("incomplete value ")
}

/// Whether values disagree, be it in an interpolation.
fn disagrees(message: &str) -> bool {
    message.trim_start_matches(INVALID).starts_with(CONFLICT)
}

/// A walk that looks for errors.
#[derive(Default)]
struct Walk {
    found: Vec<Diagnostic>,
    /// Where it began.
    from: Option<VertexId>,
    /// The way from there to where it is.
    labels: Vec<Label>,
    /// The references on the way by which values are shared.
    shared: Vec<At>,
    /// The references to lets among them.
    lets: Vec<At>,
    /// It is in what refers to another value and copies it.
    repeats: bool,
    /// Of what was found, whether it is of such a copy.
    copied: Vec<bool>,
    /// What was come to by one.
    seen: cue_map::Set<u32>,
    /// What was come to so and has nothing wrong in it, be it concrete or not.
    clean: cue_map::Set<u32>,
    /// What was found without end.
    rounds: Vec<Round>,
    /// The error of the first required field that nothing can be given for, in what is no data.
    unmet: Option<FaultId>,
    /// There is one in what is data.
    refused: bool,
    /// There were several of what was found: it is the error of each alternative of a choice, or another value has
    /// it because it asked for what has failed.
    repeated: bool,
    /// Errors that were met, and which values have them.
    met: cue_map::Map<FaultId, VertexId>,
    /// What is lacking is looked for in what may still resolve, too.
    everywhere: bool,
}

/// A reference by which a value has no end.
struct Round {
    reference: ExprId,
    /// It is written there, not brought by another reference.
    written: bool,
    /// Which of what was found.
    found: usize,
}

impl Walk {
    /// What is found next goes round at `id`.
    fn goes_round(&mut self, it: &Evaluator, id: VertexId) {
        for conjunct in &it.heap.get(id).conjuncts {
            if let Source::Expr(reference, _) = conjunct.source() {
                let found = self.found.len();
                // What a `let` names is written where it goes round first.
                let first = || self.rounds.iter().all(|it| it.reference != reference);
                let by_let = matches!(it.program.code(reference), Code::Let { .. });
                let written = match by_let || it.let_name(id).is_some() {
                    true => first(),
                    false => conjunct.way == 0,
                };
                self.rounds.push(Round { reference, written, found });
            }
        }
    }

    /// What of that which was found goes round by no more than references that are told of where they are
    /// written (S-65).
    fn going_round_elsewhere(&self) -> cue_map::Set<usize> {
        let written = self.rounds.iter().filter(|it| it.written).map(|it| it.reference);
        let told: cue_map::Set<ExprId> = written.collect();
        let here = self.rounds.chunk_by(|one, other| one.found == other.found);
        here.filter(|all| all.iter().all(|it| !it.written && told.contains(&it.reference)))
            .filter_map(|all| all.first().map(|it| it.found))
            .collect()
    }

    /// The path to where it is.
    fn path(&self, it: &Evaluator) -> String {
        let from = self.from.map(|id| it.path(id)).filter(|it| !it.is_empty());
        let labels = self.labels.iter().map(|label| it.label_text(*label));
        from.into_iter().chain(labels).collect::<Vec<_>>().join(".")
    }
}

/// Errors that are told where they are from, if that is looked at.
fn tell_again(told: Vec<Diagnostic>, walk: &mut Walk) {
    walk.copied.resize(walk.found.len(), false);
    walk.copied.resize(walk.found.len() + told.len(), true);
    walk.found.extend(told);
}

impl Evaluation {
    /// Every error at or below a vertex; also what is not concrete, if it has to be.
    pub fn validate(&mut self, id: VertexId, values: Concreteness) -> Vec<Diagnostic> {
        let mut found = self.validated_apart(id, values);
        // Who spent the budget may have given up something that did not matter to him: it is not all there is.
        if !found.iter().any(|it| it.kind == Kind::Budget) {
            found.extend(self.spent());
        }
        found
    }

    /// The same with so many steps and bytes beside what is used already. None where that does not do: nothing this
    /// evaluation tells is of use then any more.
    pub fn survey(
        &mut self,
        id: VertexId,
        values: Concreteness,
        (ticks, bytes): (u64, u64),
    ) -> Option<Vec<Diagnostic>> {
        let it = &mut self.evaluator;
        let budget = it.budget;
        it.budget.ticks = it.ticks.saturating_add(ticks).min(budget.ticks);
        it.budget.bytes = it.used().saturating_add(bytes).min(budget.bytes);
        it.spending.end_by(it.budget.ticks);
        let found = self.validated_apart(id, values);
        let spent = self.unread().or_else(|| self.spent());
        self.evaluator.budget = budget;
        spent.is_none().then_some(found)
    }

    /// The same; what was shared is looked at once more where something is wrong.
    fn validated_apart(&mut self, id: VertexId, values: Concreteness) -> Vec<Diagnostic> {
        let found = self.validated(id, values);
        let wrong = found.iter().any(|it| it.kind == Kind::Permanent || it.message == REQUIRED);
        if !wrong || !self.evaluator.ahead.shares || self.evaluator.ahead.copies {
            return found;
        }
        // What was shared was looked at once: who has taken it over is told of, too.
        let path = self.evaluator.path(id);
        let Some(mut apart) = self.with_copies() else { return found };
        let Ok(Some(id)) = apart.find(&path) else { return found };
        let again = apart.validated(id, values);
        let spent = again.is_empty() || again.iter().any(|it| it.kind == Kind::Budget);
        if spent { found } else { again }
    }

    /// The same evaluation from the beginning, in which nothing is shared that is made on the way, with what is left
    /// of the budget.
    fn with_copies(&self) -> Option<Self> {
        let (it, budget) = (&self.evaluator, self.evaluator.budget);
        let left = Budget {
            ticks: budget.ticks.checked_sub(it.ticks)?,
            bytes: budget.bytes.checked_sub(it.used())?,
            ..budget
        };
        let mut apart = Self::start(it.program.clone(), &[], left);
        let root = apart.evaluator.root;
        let mut conjuncts = it.heap.get(it.root).conjuncts.clone();
        if conjuncts.iter().any(|it| matches!(it.source(), Source::Vertex(_))) {
            return None;
        }
        // Data is kept by each evaluation for itself.
        for conjunct in &mut conjuncts {
            if let Source::Data(data) = conjunct.source() {
                let datum = it.heap.data(data).clone();
                conjunct.source = apart.evaluator.heap.keep_data(datum, it.heap.spot(data)).into();
            }
        }
        apart.evaluator.heap.get_mut(root).conjuncts = conjuncts;
        apart.evaluator.ahead.copies = true;
        Some(apart)
    }

    /// The errors of this evaluation, with all of the value evaluated.
    pub(crate) fn validated(&mut self, id: VertexId, values: Concreteness) -> Vec<Diagnostic> {
        let mut walk = Walk { from: Some(id), ..Walk::default() };
        self.collect(id, values, &mut walk, 0);
        // What nothing can be given for is told where nothing else is wrong (cue-errors 4.1).
        if let (true, Some(fault), Concreteness::Required) =
            (walk.found.is_empty(), walk.unmet, values)
        {
            return self.diagnostic(fault);
        }
        // All that is required is told then, if nothing else is wrong (cue-errors 4.1).
        if let (true, true, Concreteness::Optional) = (walk.found.is_empty(), walk.refused, values)
        {
            return self.required(id);
        }
        // What a mere reference repeats is told where it is from.
        walk.copied.resize(walk.found.len(), false);
        let elsewhere = walk.going_round_elsewhere();
        let mut originals = cue_map::Map::<&str, Vec<&Diagnostic>>::default();
        if walk.copied.contains(&true) {
            for (it, _) in walk.found.iter().zip(&walk.copied).filter(|it| !it.1) {
                originals.entry(it.message.as_str()).or_default().push(it);
            }
        }
        let told = |copy: &Diagnostic| {
            !(copy.kind.is_incomplete() && is_lack(&copy.message))
                // Of what goes round the references say whether it is told elsewhere.
                && copy.kind != Kind::StructuralCycle
                && originals.get(copy.message.as_str()).into_iter().flatten().any(|it| {
                    // What disagrees is there; the way to it is another one for a copy.
                    it.positions.is_empty()
                        || it.positions.iter().any(|at| copy.positions.contains(at))
                })
        };
        let all = walk.found.iter().zip(&walk.copied).enumerate();
        let kept: Vec<bool> = all
            .map(|(at, (it, copied))| !(*copied && told(it) || elsewhere.contains(&at)))
            .collect();
        let mut found = walk.found;
        let mut kept = kept.into_iter();
        found.retain(|_| kept.next().unwrap_or(true));
        // Permanent errors hide what is only incomplete.
        if found.iter().any(|it: &Diagnostic| !it.kind.is_incomplete()) {
            found.retain(|it| !it.kind.is_incomplete());
        }
        // What lacks something hides what only waits for itself (cue-errors 4.1).
        if found.iter().any(|it| it.kind == Kind::Incomplete) {
            found.retain(|it| it.kind != Kind::Cycle);
        }
        // An error that others hand on is told once.
        let mut seen = cue_map::Set::default();
        found.retain(|it| {
            // What is written as an error has no path (cue-errors 1.12).
            let path = if it.message == LITERAL { "" } else { &it.path };
            seen.insert((path.to_owned(), it.message.clone(), it.positions.first().cloned()))
        });
        if let ([only], true) = (found.as_mut_slice(), walk.repeated) {
            only.message.truncate(report::outer(&only.message));
        }
        cue_sort::by(&mut found, report::order);
        found
    }

    /// The error of a required field that nothing can be given for, in definitions and hidden fields: no
    /// data, but no value that has them is printed (cue-errors 4.1).
    ///
    /// # Errors
    /// Fields that are required elsewhere; a field that the whole asks for and brings.
    pub fn unmet(&mut self, id: VertexId) -> Result<Option<Diagnostic>, Vec<Diagnostic>> {
        let real = self.evaluator.unify(id);
        let own = self.evaluator.heap.fault_of(id, real).filter(|_| id == self.evaluator.root);
        if let Some(fault) = own {
            if self.evaluator.heap.faults[fault].message.starts_with(CYCLIC) {
                return Err(self.diagnostic(fault));
            }
        }
        let mut walk = Walk { from: Some(id), ..Walk::default() };
        self.collect(id, Concreteness::Optional, &mut walk, 0);
        let Some(fault) = walk.unmet else { return Ok(None) };
        let required = self.required(id);
        if !required.is_empty() {
            return Err(required);
        }
        let mut told = self.diagnostic(fault);
        told.truncate(1);
        // What it is printed in has one line (cue-errors 0.2).
        let short = self.evaluator.heap.faults[fault].in_short();
        told.iter_mut().for_each(|it| it.message.clone_from(&short));
        Ok(told.pop())
    }

    /// Every field that is required and not there.
    fn required(&mut self, id: VertexId) -> Vec<Diagnostic> {
        let mut walk = Walk { from: Some(id), everywhere: true, ..Walk::default() };
        self.collect(id, Concreteness::Required, &mut walk, 0);
        let mut required = walk.found;
        required.retain(|it| it.message == REQUIRED);
        cue_sort::by(&mut required, report::order);
        required
    }

    fn collect(&mut self, id: VertexId, values: Concreteness, walk: &mut Walk, depth: u32) {
        if let Err(spent) = self.evaluator.tick() {
            if walk.found.is_empty() {
                let spent = self.evaluator.placed(spent, id);
                walk.found.extend(self.diagnostic(spent));
            }
            return;
        }
        if walk.found.len() >= MOST_TOLD || depth > self.evaluator.budget.depth {
            return;
        }
        if self.evaluator.is_sound_data(id) {
            return;
        }
        let real = self.evaluator.unify(id);
        if self.evaluator.is_sound_scalar(id, real) {
            return;
        }
        if !walk.repeats && self.evaluator.is_copy(real) {
            walk.repeats = true;
            walk.copied.resize(walk.found.len(), false);
            self.collect(id, values, walk, depth);
            walk.copied.resize(walk.found.len(), true);
            walk.repeats = false;
            return;
        }
        if let Some(part) = self.evaluator.part_of_let(id) {
            // Of what a `let` names a part is told where that is, whoever asked for it.
            if self.evaluator.fails_for_good(real) && self.evaluator.fails_for_good(part) {
                let mut within = Walk { from: Some(part), ..Walk::default() };
                self.collect(part, values, &mut within, 0);
                walk.found.extend(within.found);
                return;
            }
        }
        let lets = walk.lets.len();
        if real != id && self.evaluator.let_name(real).is_some() {
            let Some(way) = self.evaluator.way_to_let(id) else {
                // Another field on the way is told of.
                if !self.evaluator.fails_for_good(real) {
                    self.collect_at(id, real, values, walk, depth);
                }
                return;
            };
            walk.lets.extend(way);
        }
        self.collect_at(id, real, values, walk, depth);
        walk.lets.truncate(lets);
    }

    fn collect_at(
        &mut self,
        id: VertexId,
        real: VertexId,
        values: Concreteness,
        walk: &mut Walk,
        depth: u32,
    ) {
        let concrete = values == Concreteness::Required;
        if let Some(fault) = self.evaluator.heap.fault_of(id, real) {
            let kind = self.evaluator.heap.faults[fault].kind;
            let open = kind.is_incomplete();
            // What fails below hides what may still resolve, and stands beside what will not.
            let before = walk.found.len();
            if open && self.evaluator.goes_on(real, fault) {
                let within = if walk.everywhere { values } else { Concreteness::Optional };
                self.collect_in(id, real, within, walk, depth);
            }
            let told = match kind {
                Kind::Cycle => values != Concreteness::Optional,
                _ => concrete || !open,
            };
            if told && (!open || walk.found.len() == before) {
                let handed_on = walk.met.insert(fault, real).is_some_and(|it| it != real);
                let fault = self.evaluator.placed(fault, id);
                walk.repeated = walk.repeated
                    || handed_on
                    || self.evaluator.is_of_each(fault, real)
                    || walk.repeats && self.evaluator.has_asked_for_failed(fault, real);
                let mut told = match open {
                    true => self.diagnostic(fault),
                    false => self.through_lets(fault, &walk.lets),
                };
                let place = self.evaluator.heap.faults[fault].place;
                // What has no place of its own has that of who takes it over.
                let named = place.is_some_and(|it| self.name_as_taken(it, id, walk, &mut told));
                // What waits in a `let` is told of each that is nothing but that, and of the `let` where it is more.
                let it = &self.evaluator;
                let itself = !named && place == Some(real);
                let of_let = real != id && it.let_name(real).is_some() && it.is_by_let(id);
                let own = itself && open && of_let && it.path(id) == walk.path(it);
                if depth > 0 && itself && (own || !it.is_rooted(real)) {
                    let path = walk.path(&self.evaluator);
                    told.iter_mut().for_each(|it| it.path.clone_from(&path));
                }
                if kind == Kind::StructuralCycle {
                    walk.goes_round(&self.evaluator, real);
                }
                let place = place.filter(|it| *it != id && *it != real);
                // It is that of the value which it shares, or which it is in.
                let around = place.is_some_and(|it| self.evaluator.is_ancestor(it, real));
                if own {
                    walk.found.extend(told);
                } else if open && real != id || around {
                    tell_again(told, walk);
                } else {
                    self.tell(told, place, walk);
                }
            }
            for fault in self.evaluator.fails_beside(real, fault) {
                let place = fault.place;
                // A field may have the error of the struct that it is in.
                if place == Some(id) || place == Some(real) {
                    continue;
                }
                let fault = self.evaluator.heap.fault(fault);
                let told = self.diagnostic(fault);
                self.tell(told, place, walk);
            }
            return;
        }
        let crossed = walk.shared.len();
        if concrete {
            let shares = self.evaluator.shares_of(id, real);
            // What is left of a choice has no place of its own, so that the field itself shares it too.
            let left = real != id && !self.evaluator.heap.get(real).picks.is_empty();
            let target = if left { Some(real) } else { shares.map(|it| it.1) };
            // What several references share is told of at the first of them.
            if target.is_some_and(|it| !walk.seen.insert(it.number())) {
                return;
            }
            walk.shared.extend(shares.map(|it| it.0));
        }
        let shared = real != id && !concrete;
        if shared && walk.clean.contains(&real.number()) {
            return;
        }
        let before = walk.found.len();
        self.collect_in(id, real, values, walk, depth);
        walk.shared.truncate(crossed);
        if shared && walk.found.len() == before {
            walk.clean.insert(real.number());
        }
    }

    /// Errors of another field of what a `let` names have the path of that by way of who takes it over. Whether
    /// they are.
    fn name_as_taken(
        &self,
        place: VertexId,
        id: VertexId,
        walk: &Walk,
        told: &mut [Diagnostic],
    ) -> bool {
        let it = &self.evaluator;
        let named = it.outermost(id);
        if place == id || it.outermost(place) != named || it.let_name(named).is_none() {
            return false;
        }
        let inside = it.path(named);
        let (all, below) = (walk.path(it), it.path(id));
        let Some(above) = below.strip_prefix(&inside).and_then(|it| all.strip_suffix(it)) else {
            return false;
        };
        for each in told {
            let rest = each.path.strip_prefix(&inside).map(|rest| format!("{above}{rest}"));
            if let Some(path) = rest {
                each.path = path;
            }
        }
        true
    }

    /// Errors of what stands elsewhere: what a field repeats there is told where it is from, whoever stumbles over
    /// it.
    fn tell(&mut self, mut told: Vec<Diagnostic>, place: Option<VertexId>, walk: &mut Walk) {
        let repeats = |it: &VertexId| !walk.repeats && self.evaluator.is_copy(*it);
        let Some(place) = place.filter(repeats) else {
            walk.found.extend(told);
            return;
        };
        if !told.iter().all(|it| it.kind == Kind::Cycle) {
            tell_again(told, walk);
            return;
        }
        // What only refers to a field of a loop is no field of it: the loop is told of that one (S-60).
        let original = self.evaluator.referred_to(place);
        let it = &self.evaluator;
        let (copy, original) = (it.path(place), it.path(original.unwrap_or(place)));
        let copies = told.iter_mut().filter(|it| it.path == copy);
        copies.for_each(|it| it.path.clone_from(&original));
        walk.found.extend(told);
    }

    fn collect_in(
        &mut self,
        id: VertexId,
        real: VertexId,
        values: Concreteness,
        walk: &mut Walk,
        depth: u32,
    ) {
        let concrete = values == Concreteness::Required;
        let shown = self.evaluator.default_of(real);
        let vertex = shown.map(|it| self.evaluator.heap.get(it));
        let scalar = vertex.is_some_and(|it| it.scalar.is_some());
        let whole = vertex.is_some_and(|it| it.is_struct || it.is_list);
        if !whole && concrete && !scalar {
            if let Err(fault) = self.evaluator.datum(id) {
                let fault = self.evaluator.placed(fault, id);
                let goes_round = self.evaluator.heap.faults[fault].kind == Kind::Cycle;
                match goes_round && real != id && self.evaluator.is_rooted(real) {
                    // The loop is told of where it is, not where that is referred to (S-60).
                    true => {
                        let told = self.diagnostic(fault);
                        tell_again(told, walk);
                    }
                    false => self.lacks(fault, walk),
                }
            }
        }
        // Beside a scalar there may be definitions.
        let Some(shown) = shown else { return };
        for index in 0..self.evaluator.heap.get(shown).arcs.len() {
            let Some(arc) = self.evaluator.heap.get(shown).arcs.get(index) else { break };
            let (label, arc, presence) = (arc.label, arc.vertex, arc.presence);
            let kind = self.evaluator.labels.kind(label);
            let data = matches!(kind, LabelKind::Regular | LabelKind::Index);
            walk.labels.push(label);
            match presence {
                Presence::Optional => {}
                Presence::Required if concrete || values == Concreteness::Final => {
                    let fault = self.evaluator.not_given(arc);
                    let fault = self.evaluator.heap.fault(fault);
                    self.lacks(fault, walk);
                }
                Presence::Required => walk.refused |= self.cannot_be_given(arc, walk),
                Presence::Member if data => self.collect(arc, values, walk, depth + 1),
                Presence::Member => self.collect(arc, Concreteness::Optional, walk, depth + 1),
            }
            walk.labels.pop();
        }
    }

    /// Whether nothing could stand where a field is required: that is told although nothing has to be
    /// concrete yet, but kept to itself for now of what is only a definition or hidden.
    fn cannot_be_given(&mut self, id: VertexId, walk: &mut Walk) -> bool {
        let above = &walk.labels[..walk.labels.len().saturating_sub(1)];
        let kind = |it: &Label| self.evaluator.labels.kind(*it);
        let shown = |it: &Label| matches!(kind(it), LabelKind::Regular | LabelKind::Index);
        let shown = above.iter().all(shown);
        if !shown && walk.unmet.is_some() {
            return false;
        }
        let Some(fault) = self.evaluator.permanent(id, 0) else { return false };
        if !shown {
            walk.unmet = Some(self.evaluator.heap.fault(fault));
        }
        shown
    }

    /// An error for good: where values disagree, told with the references to lets that led there, since what these
    /// name is taken over for each reference (cue-errors 2.2).
    fn through_lets(&mut self, fault: FaultId, lets: &[At]) -> Vec<Diagnostic> {
        if lets.is_empty() {
            return self.diagnostic(fault);
        }
        let mut told = self.evaluator.heap.faults[fault].clone();
        if disagrees(&told.message) {
            told.positions.extend_from_slice(lets);
        }
        for cause in told.causes.iter_mut().filter(|it| disagrees(&it.message)) {
            cause.positions.extend_from_slice(lets);
        }
        let told = self.evaluator.heap.fault(told);
        self.diagnostic(told)
    }

    /// What is not there has the path that leads to it, and the references on the way (cue-errors 3.3).
    fn lacks(&mut self, fault: FaultId, walk: &mut Walk) {
        let known = &mut self.evaluator.heap.faults[fault];
        let here = known.positions.len();
        known.positions.extend_from_slice(&walk.shared);
        let mut found = self.diagnostic(fault);
        self.evaluator.heap.faults[fault].positions.truncate(here);
        let path = walk.path(&self.evaluator);
        found.iter_mut().for_each(|it| it.path.clone_from(&path));
        walk.found.extend(found);
    }
}
