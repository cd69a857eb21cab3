//! Kinds and scalars that conjuncts bring, and the errors when they disagree (cue-errors 1.1, 2.2).

use cue_syntax::ast::{Compare, Span};
use smallvec::SmallVec;

use crate::builtin::{Datum, Kinds};
use crate::compare;
use crate::demand::Concrete;
use crate::error::{Fault, Kind};
use crate::evaluator::Evaluator;
use crate::heap::{By, EnvId, FaultId, Narrowed, Source, Vertex, VertexId};
use crate::program::{At, Code, ExprId, Presence};

/// How the error begins of values that disagree.
pub(crate) const CONFLICT: &str = "conflicting values ";

impl Evaluator {
    pub(crate) fn raise(&mut self, id: VertexId, mut fault: Fault) {
        if fault.place.is_none() {
            let labelled = self.heap.get(id).label.is_some();
            fault.place = Some(if labelled { id } else { self.place });
        }
        let fault = self.heap.fault(fault);
        self.raise_id(id, fault);
    }

    /// Errors of one value come together (S-66).
    pub(crate) fn raise_id(&mut self, id: VertexId, fault: FaultId) {
        self.note_failure(fault);
        let Some(old) = self.heap.get(id).fault else {
            self.heap.get_mut(id).fault = Some(fault);
            return;
        };
        if old == fault {
            return;
        }
        let (old, new) = (&self.heap.faults[old], &self.heap.faults[fault]);
        if old.kind == Kind::Budget || old.causes.len() > MOST_ERRORS {
            return;
        }
        let both = old.clone().combined(new.clone());
        let both = self.heap.fault(both);
        self.heap.get_mut(id).fault = Some(both);
    }

    /// A type, which others may narrow further.
    pub(crate) fn restrict(
        &mut self,
        id: VertexId,
        kinds: Kinds,
        by: By,
        at: At,
        via: u32,
    ) -> bool {
        self.heap.get_mut(id).constrained = true;
        self.narrow(id, kinds, by, at, via)
    }

    /// Each conjunct narrows the kinds of a vertex; once there is none left nothing more is said of
    /// kinds (S-14).
    pub(crate) fn narrow(&mut self, id: VertexId, kinds: Kinds, by: By, at: At, via: u32) -> bool {
        let vertex = self.heap.get_mut(id);
        let left = vertex.kinds.and(kinds);
        if left != Kinds::BOTTOM {
            let narrows = left != vertex.kinds || vertex.narrowed == 0;
            vertex.kinds = left;
            vertex.kinds_via = via;
            if narrows {
                self.heap.note_narrowed(id, Narrowed { by, at, via });
            }
            return true;
        }
        let test = matches!(by, By::Test(_));
        if vertex.kinds == Kinds::BOTTOM {
            // What is not taken is not asked of a struct that came before it.
            if test {
                vertex.tests.pop();
            }
            return false;
        }
        let alone = vertex.picks.is_empty();
        let had = std::mem::replace(&mut vertex.kinds, Kinds::BOTTOM);
        let had_via = vertex.kinds_via;
        let before = self.heap.narrowed(id);
        let (old, new) = (self.saying(id, &before.by), self.saying(id, &by));
        // A list that a schema is held against comes after what that is written as.
        let held = matches!(before.by, By::Datum(Datum::List(_)))
            && before.at == At::default()
            && via == 0
            && !test
            && alone
            && !self.checking.is_empty();
        let late = held
            || self.is_of_choice(id, (before.at, before.via), (at, via))
            || via != 0 && alone && self.is_late(id, before.at)
            || matches!(had, Kinds::STRUCT | Kinds::LIST)
                && !(test && via != 0)
                && alone
                && self.comes_late(id, before.via, via)
            || !test
                && !matches!(kinds, Kinds::STRUCT | Kinds::LIST)
                && alone
                && self.stood_by(id, before.via, via);
        let message = match late {
            true => {
                format!("{CONFLICT}{new} and {old} (mismatched types {kinds} and {had})")
            }
            false => {
                format!("{CONFLICT}{old} and {new} (mismatched types {had} and {kinds})")
            }
        };
        let (first, second) = (self.says_at(&before.by, before.at), self.says_at(&by, at));
        let mut fault = Fault::spread(Kind::Permanent, message).and_at(first).and_at(second);
        self.heap.way_in(had_via, &mut fault.positions);
        self.heap.way_in(via, &mut fault.positions);
        if !alone {
            self.last_references(id, &mut fault.positions);
        }
        if !test && !matches!(before.by, By::Test(_)) {
            fault.place = self.met_around(id, (before.at, before.via), (at, via));
        }
        self.raise(id, fault);
        // Those are asked of a struct that came before it.
        if test && !late {
            self.heap.get_mut(id).tests.pop();
        } else if late && matches!(before.by, By::Test(_)) || had == Kinds::STRUCT && !late {
            self.heap.get_mut(id).tests.clear();
        }
        false
    }

    /// What says nothing of kinds counts as the last that was said of them.
    pub(crate) fn allow_all(&mut self, id: VertexId, via: u32) {
        let vertex = self.heap.get_mut(id);
        if vertex.kinds != Kinds::BOTTOM {
            vertex.kinds_via = via;
        }
    }

    /// Where something is said; of a file, where that begins behind the comments above it.
    fn says_at(&self, by: &By, mut at: At) -> At {
        let of_file = |it: ExprId| {
            matches!(self.program.code(it), Code::Struct(_))
                && self.program.at(it).span == Span::default()
        };
        if matches!(by, By::Expr(it) if of_file(*it)) {
            let source = self.program.sources.get(at.source as usize);
            let text = source.map_or("", |it| &it.text);
            let mut rest = text.trim_start();
            while let Some(comment) = rest.strip_prefix("//") {
                rest = comment.split_once('\n').map_or("", |it| it.1).trim_start();
            }
            at.span.start = (text.len() - rest.len()) as u32;
            at.span.end = at.span.start + 1;
        }
        at
    }

    /// A scalar must be the one that is there (S-15).
    pub(crate) fn take_scalar(&mut self, id: VertexId, datum: Datum, at: At, via: u32) {
        let vertex = self.heap.get(id);
        if let Some((old, old_at)) = &vertex.scalar {
            if old.kind_name() == datum.kind_name() {
                // Once kinds disagree nothing is compared (S-14).
                if vertex.kinds == Kinds::BOTTOM {
                    return;
                }
                // A function is another value each time.
                if matches!(datum, Datum::Function(_)) || !compare::same(old, &datum) {
                    let before = (*old_at, vertex.scalar_via);
                    let (first, second) = match self.is_of_choice(id, before, (at, via)) {
                        true => (old, &datum),
                        false => (&datum, old),
                    };
                    let (first, second) = (first.cue_text(), second.cue_text());
                    let message = format!("{CONFLICT}{first} and {second}");
                    let (old_at, old_via) = (*old_at, vertex.scalar_via);
                    let mut fault =
                        Fault::spread(Kind::Permanent, message).and_at(at).and_at(old_at);
                    self.heap.way_in(old_via, &mut fault.positions);
                    self.heap.way_in(via, &mut fault.positions);
                    fault.place = self.met_around(id, (old_at, old_via), (at, via));
                    self.raise(id, fault);
                }
                self.heap.get_mut(id).kinds_via = via;
                return;
            }
        }
        let kinds = compare::kinds(&datum);
        let vertex = self.heap.get_mut(id);
        let by = if vertex.kinds.meets(kinds) {
            vertex.scalar = Some((datum, at));
            vertex.scalar_via = via;
            By::Scalar
        } else {
            By::Datum(datum)
        };
        self.narrow(id, kinds, by, at, via);
    }

    /// The value of a bound: of no bool, and of null only `==` and `!=` (cue-errors 1.2).
    pub(crate) fn limit(
        &mut self,
        compare: Compare,
        operand: ExprId,
        env: EnvId,
        whole: At,
    ) -> Result<Datum, FaultId> {
        let at = self.program.at(operand);
        let value = self.eval(operand, env);
        let from = value.vertex().map_or_else(Vec::new, |it| vec![self.written_at(it)]);
        let vertex = value.vertex();
        let datum = match self.concrete_in(value, at, whole) {
            Ok(Concrete::Datum(datum)) => datum,
            // Nothing is more or less than a list or a struct, but it may be that or another one.
            Ok(Concrete::Vertex(id)) if matches!(compare, Compare::Equal | Compare::NotEqual) => {
                return self.datum(id);
            }
            Ok(Concrete::Vertex(id)) => {
                let kind = if self.heap.get(id).is_list { "list" } else { "struct" };
                return Err(self.no_limit(kind, compare, at));
            }
            Err(fault) if self.known_in_part(fault).is_some() => {
                let open = self.open_limit(operand, compare);
                return Err(self.awaiting_as(fault, open));
            }
            Err(fault) => {
                let container = vertex.and_then(|it| self.container(it));
                let equal = matches!(compare, Compare::Equal | Compare::NotEqual);
                return Err(match container.filter(|_| !equal) {
                    Some(kind) => self.no_limit(kind, compare, at),
                    None => self.unknown_bound(fault, operand, compare),
                });
            }
        };
        match &datum {
            Datum::Bool(_) => {
                let (text, symbol) = (datum.cue_text(), compare.symbol());
                let message = format!("invalid value {text} (type bool) for bound {symbol}");
                Err(self.fail_at(Kind::Permanent, message, at, from))
            }
            Datum::Null if !matches!(compare, Compare::Equal | Compare::NotEqual) => {
                Err(self.no_limit("null", compare, at))
            }
            _ => Ok(datum),
        }
    }

    fn no_limit(&mut self, kind: &str, compare: Compare, at: At) -> FaultId {
        let message = format!("cannot use {kind} for bound {}", compare.symbol());
        self.fail(Kind::Permanent, message, at)
    }

    /// The error of a bound whose limit is not known (cue-errors 1.2).
    fn unknown_bound(&mut self, fault: FaultId, operand: ExprId, compare: Compare) -> FaultId {
        let known = &self.heap.faults[fault];
        let open = known.at == self.program.at(operand)
            && known.message.starts_with("non-concrete value ");
        match open {
            true => self.open_limit(operand, compare),
            false => fault,
        }
    }

    fn open_limit(&mut self, operand: ExprId, compare: Compare) -> FaultId {
        let (text, symbol) = (self.literal_text(operand), compare.symbol());
        let message = format!("non-concrete value {text} for bound {symbol}");
        self.fail_at(Kind::Incomplete, message, At::default(), vec![self.program.at(operand)])
    }

    /// Whether what was there first is of an alternative that is tried, and what comes now is not: alternatives
    /// count as coming last, but those around a field before what patterns say of it.
    fn is_of_choice(&self, id: VertexId, old: (At, u32), new: (At, u32)) -> bool {
        if self.takes_turn(id, new) && !self.takes_turn(id, old) {
            return false;
        }
        // Its own alternatives come last of all.
        if self.is_within_pick(self.heap.get(id), new) {
            return false;
        }
        let is_of = |it: &Vertex| self.is_within_pick(it, old) && !self.is_within_pick(it, new);
        let vertex = self.heap.get(id);
        if is_of(vertex) {
            return true;
        }
        let mut next = vertex.parent;
        while let Some(id) = next {
            let vertex = self.heap.get(id);
            if is_of(vertex) {
                break;
            }
            next = vertex.parent;
        }
        next.is_some() && !self.is_by_pattern(id, new)
    }

    /// Whether something is written in the choice of which an alternative is tried, or came by a reference there.
    pub(crate) fn is_within_pick(&self, vertex: &Vertex, (at, via): (At, u32)) -> bool {
        if vertex.picks.is_empty() {
            return false;
        }
        let mut places = vec![at];
        self.heap.way_in(via, &mut places);
        vertex.picks.iter().any(|(choice, _)| {
            let whole = self.program.at(*choice);
            places.iter().any(|it| whole.holds(*it))
        })
    }

    /// The struct or the list that tells that a value within it is not what a pattern of an alternative says, if both
    /// are written out: such a pattern is held against it before the value is looked at (cue-errors 1.4).
    fn met_around(&self, id: VertexId, old: (At, u32), new: (At, u32)) -> Option<VertexId> {
        let vertex = self.heap.get(id);
        let around = vertex.parent.filter(|_| vertex.label.is_some() && vertex.picks.is_empty())?;
        let says = |late: bool, place: At| {
            vertex.conjuncts.iter().filter(|it| it.late == late).any(|it| match it.source {
                Source::Expr(expr, _) => self.program.at(expr).holds(place),
                Source::Data(_) | Source::Vertex(_) => false,
            })
        };
        let (pattern, other) = match (says(true, old.0), says(true, new.0)) {
            (true, false) if says(false, new.0) => (old, new),
            (false, true) if says(false, old.0) => (new, old),
            _ => return None,
        };
        // Lists are looked at in their turn, but one that is the alternative.
        let mut next = Some(around);
        while let Some(id) = next {
            let vertex = self.heap.get(id);
            if self.is_within_pick(vertex, pattern) {
                return Some(around);
            }
            let by_reference = self.takes_turn(id, other);
            next = vertex.parent.filter(|_| !vertex.is_list && !by_reference);
        }
        None
    }

    /// Whether something is what a reference brings that a field consists of, or what is computed there: these
    /// take their turns, while what is written out is there at once.
    fn takes_turn(&self, id: VertexId, (at, via): (At, u32)) -> bool {
        let vertex = self.heap.get(id);
        if vertex.label.is_none() || !vertex.picks.is_empty() {
            return false;
        }
        let written = vertex.conjuncts.iter().filter(|it| !it.late);
        let mut open: SmallVec<[ExprId; 4]> = written
            .filter_map(|it| match it.source {
                Source::Expr(expr, _) => Some(expr),
                Source::Data(_) | Source::Vertex(_) => None,
            })
            .collect();
        while let Some(expr) = open.pop() {
            let code = self.program.code(expr);
            let turn = match code {
                Code::Unify(left, right) => {
                    open.extend([*left, *right]);
                    false
                }
                _ if is_there_at_once(code) => false,
                _ => match self.refers_at(expr) {
                    Some(at) => via != 0 && self.crosses(via, at),
                    None => self.program.at(expr).holds(at),
                },
            };
            if turn {
                return true;
            }
        }
        false
    }

    /// What disagrees in a value of all that is written out there.
    pub(crate) fn written_conflicts(&mut self, id: VertexId, out: &mut Vec<Fault>, depth: u32) {
        if self.tick().is_err() || depth > DEEPEST {
            return;
        }
        for index in 0..self.heap.get(id).arcs.len() {
            let arc = &self.heap.get(id).arcs[index];
            let (vertex, presence) = (arc.vertex, arc.presence);
            if presence != Presence::Member || !self.is_there_at_once(vertex) {
                continue;
            }
            let vertex = self.unify(vertex);
            match self.heap.get(vertex).fault.map(|it| &self.heap.faults[it]) {
                Some(fault) if fault.message.starts_with(CONFLICT) => out.push(fault.clone()),
                Some(_) => {}
                None => self.written_conflicts(vertex, out, depth + 1),
            }
        }
    }

    /// Whether all that is said of a value is written out there.
    fn is_there_at_once(&self, id: VertexId) -> bool {
        self.heap.get(id).conjuncts.iter().all(|it| match it.source {
            Source::Expr(expr, _) => {
                let mut open: SmallVec<[ExprId; 4]> = smallvec::smallvec![expr];
                while let Some(expr) = open.pop() {
                    match self.program.code(expr) {
                        Code::Unify(left, right) => open.extend([*left, *right]),
                        code if is_there_at_once(code) => {}
                        _ => return false,
                    }
                }
                true
            }
            Source::Data(_) => true,
            Source::Vertex(_) => false,
        })
    }

    /// Whether something is what a pattern says of a vertex, or came by the reference that it is.
    fn is_by_pattern(&self, id: VertexId, (at, via): (At, u32)) -> bool {
        self.heap.get(id).conjuncts.iter().filter(|it| it.late).any(|it| match it.source {
            Source::Expr(expr, _) => {
                let by_reference = self.refers_at(expr).is_some_and(|at| self.crosses(via, at));
                self.program.at(expr) == at || by_reference
            }
            Source::Data(_) | Source::Vertex(_) => false,
        })
    }

    /// The last reference that says of which kind a vertex is, and the one that says so of what it refers to:
    /// where alternatives are held against a vertex its conjuncts have all been seen (cue-errors 2.2).
    fn last_references(&mut self, id: VertexId, out: &mut Vec<At>) {
        let mut id = id;
        for _ in 0..MOST_ERRORS {
            let mut last = None;
            let mut open: Vec<(ExprId, EnvId)> = Vec::new();
            for conjunct in self.heap.get(id).conjuncts.iter().rev().filter(|it| !it.late) {
                if let Source::Expr(expr, env) = conjunct.source {
                    open.push((expr, env));
                }
            }
            while let Some((expr, env)) = open.pop() {
                match self.program.code(expr) {
                    Code::Unify(left, right) => open.extend([(*right, env), (*left, env)]),
                    Code::Field { .. } => last = Some((expr, env)),
                    _ => {}
                }
            }
            let Some((expr, env)) = last else { return };
            let Some(target) = self.eval(expr, env).vertex() else { return };
            let at = self.program.at(expr);
            let known = self.heap.get(self.follow(target)).kinds != Kinds::ANY;
            if !known || out.contains(&at) {
                return;
            }
            out.push(at);
            id = target;
        }
    }

    /// Whether it is a bound, a validator or a list of a pattern: those are looked at after what a reference
    /// brings (S-23).
    fn is_late(&self, id: VertexId, at: At) -> bool {
        self.heap.get(id).conjuncts.iter().filter(|it| it.late).any(|it| match it.source {
            Source::Expr(expr, _) => {
                self.program.at(expr) == at
                    && matches!(self.program.code(expr), Code::Bound(..) | Code::Call(..))
            }
            Source::Data(_) | Source::Vertex(_) => false,
        })
    }

    /// Whether what was there first is the struct or the list that a pattern refers to, and what comes now
    /// is not: these come last.
    fn comes_late(&self, id: VertexId, old: u32, new: u32) -> bool {
        self.heap.get(id).conjuncts.iter().filter(|it| it.late).any(|it| match it.source {
            Source::Expr(expr, _) => {
                let refers = self.refers_at(expr);
                refers.is_some_and(|at| self.crosses(old, at) && !self.crosses(new, at))
            }
            Source::Data(_) | Source::Vertex(_) => false,
        })
    }

    /// Whether what was there first came by a reference that is the first of several, and what comes
    /// now by the second: while it was alone the first one only stood for its target, and so it
    /// counts after the second, unless that is a bound, a choice, a list or a struct, which come last.
    fn stood_by(&self, id: VertexId, old: u32, new: u32) -> bool {
        if old == 0 || new == 0 {
            return false;
        }
        let mut leaves = Vec::new();
        for conjunct in self.heap.get(id).conjuncts.iter().filter(|it| !it.late) {
            let Source::Expr(expr, _) = conjunct.source else { return false };
            let mut parts = vec![expr];
            while let Some(expr) = parts.pop() {
                match self.program.code(expr) {
                    Code::Unify(left, right) => parts.extend([*right, *left]),
                    Code::Field { .. }
                    | Code::Let { .. }
                    | Code::Variable { .. }
                    | Code::Select(..)
                    | Code::Index(..) => leaves.push(self.program.at(expr)),
                    _ => return false,
                }
            }
        }
        let [first, second, ..] = leaves.as_slice() else { return false };
        first != second && self.crosses(old, *first) && self.crosses(new, *second)
    }

    /// Whether a way leads by a reference.
    fn crosses(&self, via: u32, reference: At) -> bool {
        let mut way = Vec::new();
        self.heap.way_in(via, &mut way);
        way.contains(&reference)
    }

    /// What a conjunct says, as messages have it (cue-errors 0.3).
    fn saying(&mut self, id: VertexId, by: &By) -> String {
        match by {
            By::Nothing => self.heap.get(id).kinds.to_string(),
            By::Expr(expr) => self.literal_text(*expr),
            By::Datum(datum) => datum.cue_text(),
            By::Scalar => {
                let scalar = self.heap.get(id).scalar.as_ref();
                scalar.map_or_else(String::new, |it| it.0.cue_text())
            }
            By::Test(index) => {
                let test = self.heap.get(id).tests.get(*index as usize).cloned();
                test.map_or_else(String::new, |it| self.test_text(&it.0))
            }
            By::Vertex(other) => self.short(*other),
        }
    }
}

/// How deep it is looked for what disagrees.
const DEEPEST: u32 = 50;

/// Errors of one value that are kept.
const MOST_ERRORS: usize = 50;

/// Whether a value is there as it is written, not once it is evaluated.
fn is_there_at_once(code: &Code) -> bool {
    code.is_literal()
        || code.scalar().is_some()
        || matches!(code, Code::List(_) | Code::Type(..) | Code::Top)
}
