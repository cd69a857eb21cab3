//! Kinds and scalars that conjuncts bring, and the errors when they disagree (cue-errors 1.1, 2.2).

use cue_syntax::ast::{Compare, Span};

use crate::builtin::{Datum, Kinds};
use crate::compare;
use crate::demand::Concrete;
use crate::error::{Fault, Kind};
use crate::evaluator::Evaluator;
use crate::heap::{By, EnvId, FaultId, Scalar, Source, VertexId};
use crate::program::{At, Code, ExprId};

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
            self.note_kinds_via(id, via);
            if narrows {
                self.note_narrowed(id, by, at, via);
            }
            return true;
        }
        self.leave_no_kind(id, kinds, by, at, via);
        false
    }

    /// What is left of a vertex that can be of no kind any more: the error, of the first two that disagree.
    #[cold]
    fn leave_no_kind(&mut self, id: VertexId, kinds: Kinds, by: By, at: At, via: u32) {
        let vertex = self.heap.get_mut(id);
        let test = matches!(by, By::Test(_));
        if vertex.kinds == Kinds::BOTTOM {
            // What is not taken is not asked of a struct that came before it.
            if test {
                vertex.tests.pop();
            }
            return;
        }
        let alone = vertex.picks.is_empty();
        let had = std::mem::replace(&mut vertex.kinds, Kinds::BOTTOM);
        let had_via = vertex.kinds_via;
        let before = self.narrowed(id);
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
    pub(crate) fn take_scalar(&mut self, id: VertexId, scalar: Scalar, via: u32) {
        let vertex = self.heap.get(id);
        let (datum, at) = match &scalar {
            Scalar::New(datum, at) => (datum, *at),
            Scalar::Known(known) => self.known(*known),
        };
        if let Some((old, old_at)) = self.scalar_of(vertex) {
            if old.kind_name() == datum.kind_name() {
                // Once kinds disagree nothing is compared (S-14).
                if vertex.kinds == Kinds::BOTTOM {
                    return;
                }
                // A function without a package is another value each time.
                let is_new = matches!(datum, Datum::Function(it) if it.package.is_empty());
                if is_new || !compare::same(old, datum) {
                    let before = (old_at, vertex.scalar_via);
                    let (first, second) = match self.is_of_choice(id, before, (at, via)) {
                        true => (old, datum),
                        false => (datum, old),
                    };
                    let (first, second) = (first.cue_text(), second.cue_text());
                    let message = format!("{CONFLICT}{first} and {second}");
                    let old_via = vertex.scalar_via;
                    let mut fault =
                        Fault::spread(Kind::Permanent, message).and_at(at).and_at(old_at);
                    self.heap.way_in(old_via, &mut fault.positions);
                    self.heap.way_in(via, &mut fault.positions);
                    fault.place = self.met_around(id, (old_at, old_via), (at, via));
                    self.raise(id, fault);
                }
                self.note_kinds_via(id, via);
                return;
            }
        }
        let kinds = compare::kinds(datum);
        let by = if vertex.kinds.meets(kinds) {
            let known = match scalar {
                Scalar::New(datum, at) => self.heap.keep(datum, at),
                Scalar::Known(known) => known,
            };
            let vertex = self.heap.get_mut(id);
            (vertex.scalar, vertex.scalar_via) = (Some(known), via);
            By::Scalar
        } else {
            By::Datum(datum.clone())
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
            Ok(Concrete::Datum(datum)) => {
                if let Some(limit) = vertex {
                    self.note_limit(limit);
                }
                datum
            }
            // Nothing is more or less than a list or a struct, but it may be that or another one.
            Ok(Concrete::Vertex(id)) if matches!(compare, Compare::Equal | Compare::NotEqual) => {
                return self.datum(id);
            }
            Ok(Concrete::Vertex(id)) => {
                let kind = if self.heap.get(id).is_list { "list" } else { "struct" };
                return Err(self.no_limit(kind, compare, at));
            }
            Err(_) if self.is_fixed(operand) => {
                return Err(self.fail(
                    Kind::Permanent,
                    "bound has fixed non-concrete value",
                    whole,
                ));
            }
            // Nothing is more or less than a truth value, whichever it is.
            Err(_) if vertex.is_some_and(|it| self.is_some_bool(it)) => {
                let from =
                    vertex.map_or_else(Vec::new, |it| vec![self.narrowed(self.follow(it)).at]);
                let message =
                    format!("invalid value bool (type bool) for bound {}", compare.symbol());
                return Err(self.fail_at(Kind::Permanent, message, at, from));
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

    /// Whether the limit of a bound is a type, which never becomes concrete.
    fn is_fixed(&self, limit: ExprId) -> bool {
        matches!(self.program.code(limit), Code::Type(kinds, _) if *kinds != Kinds::BOOL)
    }

    fn is_some_bool(&mut self, id: VertexId) -> bool {
        let id = self.follow(id);
        let vertex = self.heap.get(id);
        vertex.kinds == Kinds::BOOL && vertex.fault.is_none() && vertex.choice.is_none()
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

    /// The last reference that says of which kind a vertex is, and the one that says so of what it refers to:
    /// where alternatives are held against a vertex its conjuncts have all been seen (cue-errors 2.2).
    fn last_references(&mut self, id: VertexId, out: &mut Vec<At>) {
        let mut id = id;
        for _ in 0..MOST_LINKS {
            let mut last = None;
            let mut open: Vec<(ExprId, EnvId)> = Vec::new();
            for conjunct in self.heap.get(id).conjuncts.iter().rev().filter(|it| !it.late) {
                if let Source::Expr(expr, env) = conjunct.source() {
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

    /// What a conjunct says, as messages have it (cue-errors 0.3).
    fn saying(&mut self, id: VertexId, by: &By) -> String {
        match by {
            By::Nothing => self.heap.get(id).kinds.to_string(),
            By::Expr(expr) => self.value_text(*expr),
            By::Datum(datum) => self.datum_text(datum),
            By::Scalar => self.scalar_at(id).map_or_else(String::new, |it| it.0.cue_text()),
            By::Test(index) => {
                let test = self.heap.get(id).tests.get(*index as usize).cloned();
                test.map_or_else(String::new, |it| self.test_text(&it.0))
            }
            By::Vertex(other) => self.short(*other),
        }
    }
}

/// Errors of one value that are kept: each that comes is put together with those before.
const MOST_ERRORS: usize = 500;

/// Values that are nothing but each other among which the last reference is looked for.
const MOST_LINKS: usize = 50;
