//! `list.Sort` and `list.IsSorted`: elements held against each other by a comparator `{x: _, y: _, less: bool}`.
//!
//! Most comparators do no more than compute `less` from `x` and `y`, and what these must be does not depend on each
//! other. Then each element is made an `x` and a `y` once, and `less` is computed with two of them in the place of
//! the fields. Any other comparator is unified with each two that are compared, and so is one that gives an error.

use super::CallError;
use crate::builtin::{Datum, Kinds, Special};
use crate::demand::{Concrete, Unmet};
use crate::error::Kind;
use crate::evaluator::{Evaluator, Value};
use crate::heap::{ArcEntry, Conjunct, EnvId, EnvKind, FaultId, Source, State, VertexId};
use crate::program::{At, Callee, Code, ExprId, Label, LabelKind, PartCode, Presence};

/// How far it is looked whether a field of a comparator depends on others.
const FAR: u32 = 8;

/// What elements are compared by.
struct Comparator {
    whole: VertexId,
    x: Label,
    y: Label,
    less: Label,
    computed: Option<Computed>,
}

/// What `less` is computed from.
struct Computed {
    /// A struct of `x` and `y`, which are others each time.
    pair: VertexId,
    less: (ExprId, EnvId),
    /// What `x` and `y` must be.
    sides: [Vec<Conjunct>; 2],
}

/// An element.
struct Item {
    datum: Datum,
    value: VertexId,
    /// What it is as `x` and as `y`, where `less` is computed from these.
    sides: [VertexId; 2],
}

impl Evaluator {
    /// Sorts a list, or says whether it is sorted.
    pub(super) fn sort(
        &mut self,
        special: Special,
        all: &[Datum],
        at: At,
    ) -> Result<Result<Datum, CallError>, FaultId> {
        let elements: Vec<Datum> = match all.first() {
            Some(Datum::List(items)) => items.iter().cloned().collect(),
            // Of a validator.
            Some(Datum::Live(raw)) => {
                let elements = self.handled(*raw).map(|it| self.elements(it)).unwrap_or_default();
                elements.into_iter().map(|it| Datum::Live(self.handle(it))).collect()
            }
            _ => return Ok(Ok(Datum::Null)),
        };
        let whole = match all.get(1) {
            Some(Datum::Live(raw)) => self.handled(*raw),
            Some(datum) => Some(self.datum_vertex(datum.clone())),
            None => None,
        };
        let Some(whole) = whole else { return Ok(Ok(Datum::list(elements))) };
        // What compares nothing finds everything sorted, and sorts nothing, not even an empty list.
        let compares = self.unify(whole);
        let [x, y, less] = ["x", "y", "less"].map(|it| self.labels.intern(LabelKind::Regular, it));
        let compared =
            self.heap.arc(compares, less).is_some_and(|it| it.presence != Presence::Optional);
        if self.heap.get(compares).fault.is_none() && !compared {
            return match special {
                Special::IsSorted => Ok(Ok(Datum::Bool(true))),
                _ => Err(self.fail(Kind::Permanent, "field not found: less", At::default())),
            };
        }
        let mut comparator = Comparator { whole, x, y, less, computed: None };
        // Nothing is asked of an element that is not compared.
        if elements.len() > 1 {
            comparator.computed = self.computed(compares, &comparator, at);
        }
        let items: Vec<Item> = elements.into_iter().map(|it| self.item(it, &comparator)).collect();
        if special == Special::IsSorted {
            return Ok(Ok(Datum::Bool(self.is_sorted(&items, &comparator, at)?)));
        }
        // Insertion by halves: few comparisons, stable, and no panic on an inconsistent order.
        let mut sorted: Vec<usize> = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            let (mut low, mut high) = (0, sorted.len());
            while low < high {
                let middle = usize::midpoint(low, high);
                if self.is_less(&comparator, item, &items[sorted[middle]], at)? {
                    high = middle;
                } else {
                    low = middle + 1;
                }
            }
            sorted.insert(low, index);
        }
        Ok(Ok(Datum::list(sorted.into_iter().map(|it| items[it].datum.clone()).collect())))
    }

    fn is_sorted(
        &mut self,
        items: &[Item],
        comparator: &Comparator,
        at: At,
    ) -> Result<bool, FaultId> {
        for pair in items.windows(2) {
            match self.is_less(comparator, &pair[1], &pair[0], at) {
                Ok(false) => {}
                Err(fault) if self.may_go_away(fault) => return Err(fault),
                Ok(true) | Err(_) => return Ok(false),
            }
        }
        Ok(true)
    }

    /// An element, as it is compared.
    fn item(&mut self, datum: Datum, comparator: &Comparator) -> Item {
        let value = self.live(datum.clone());
        let sides = match &comparator.computed {
            Some(computed) => computed.sides.each_ref().map(|it| self.side(it, value)),
            None => [value; 2],
        };
        Item { datum, value, sides }
    }

    /// What an element is in the place of a field that must be something.
    fn side(&mut self, must_be: &[Conjunct], value: VertexId) -> VertexId {
        if must_be.is_empty() {
            return self.unify(value);
        }
        let id = self.heap.vertex(None, None);
        let conjuncts = &mut self.heap.get_mut(id).conjuncts;
        conjuncts.extend(must_be.iter().cloned());
        conjuncts.push(Conjunct::new(Source::Vertex(value)));
        self.unify(id)
    }

    /// Whether an element is less than another one.
    fn is_less(
        &mut self,
        comparator: &Comparator,
        left: &Item,
        right: &Item,
        at: At,
    ) -> Result<bool, FaultId> {
        self.tick()?;
        if let Some(computed) = &comparator.computed {
            let arcs = &mut self.heap.get_mut(computed.pair).arcs;
            (arcs[0].vertex, arcs[1].vertex) = (left.sides[0], right.sides[1]);
            let value = self.eval(computed.less.0, computed.less.1);
            if let Ok(Concrete::Datum(Datum::Bool(less))) = self.demand(value, at) {
                return Ok(less);
            }
        }
        self.unified_less(comparator, left.value, right.value, at)
    }

    /// The same by unifying the comparator with both.
    fn unified_less(
        &mut self,
        comparator: &Comparator,
        left: VertexId,
        right: VertexId,
        at: At,
    ) -> Result<bool, FaultId> {
        let id = self.heap.vertex(None, None);
        self.heap.get_mut(id).conjuncts.push(Conjunct::new(Source::Vertex(comparator.whole)));
        let id = self.unify(id);
        for (label, side) in [(comparator.x, left), (comparator.y, right)] {
            let Some(place) = self.heap.get(id).arcs.place(label) else { continue };
            let arc = &mut self.heap.get_mut(id).arcs[place];
            // What is optional is there now.
            arc.presence = Presence::Member;
            let vertex = arc.vertex;
            self.add_conjunct(vertex, Conjunct::new(Source::Vertex(side)));
        }
        let value = self.select(Value::Vertex(id), comparator.less, None, None, at);
        // Whatever is no error says no more than `false`.
        match self.demand(value, at) {
            Ok(Concrete::Datum(Datum::Bool(it))) => Ok(it),
            Ok(_) | Err(Unmet::Open(_)) => Ok(false),
            Err(Unmet::Fault(fault)) => Err(fault),
        }
    }

    /// What the `less` of a comparator is computed from, if that is `x` and `y` and what stands around it.
    fn computed(&mut self, compares: VertexId, by: &Comparator, at: At) -> Option<Computed> {
        let said =
            |label: Label| Some(&self.heap.get(self.heap.arc(compares, label)?.vertex).conjuncts);
        let is_bool = |code: &Code| matches!(code, Code::Top | Code::Type(Kinds::BOOL, _));
        let mut less = None;
        for conjunct in said(by.less)? {
            let Source::Expr(expr, env) = conjunct.source() else { return None };
            if !is_bool(self.program.code(expr)) && less.replace((expr, env)).is_some() {
                return None;
            }
        }
        let (less, env) = less?;
        let EnvKind::Struct(of, _, literal) = self.heap.envs[env].kind else { return None };
        if of != compares || !self.computes(less, by) {
            return None;
        }
        let mut sides = [Vec::new(), Vec::new()];
        for (must_be, label) in sides.iter_mut().zip([by.x, by.y]) {
            for conjunct in said(label)? {
                if !self.is_settled_side(conjunct, compares, by, FAR) {
                    return None;
                }
                let says_nothing = conjunct.groups.is_empty()
                    && conjunct
                        .reference()
                        .is_some_and(|it| matches!(self.program.code(it), Code::Top));
                must_be.extend((!says_nothing).then(|| conjunct.clone()));
            }
        }
        let outside = self.heap.envs[env].parent?;
        let pair = self.heap.vertex(None, None);
        let vertex = self.heap.get_mut(pair);
        (vertex.state, vertex.is_struct) = (State::Done, true);
        for label in [by.x, by.y] {
            vertex.arcs.push(ArcEntry::new(label, compares, Presence::Member, at));
        }
        let env = self.heap.envs.enter_struct(outside, pair, literal, 0);
        Some(Computed { pair, less: (less, env), sides })
    }

    /// Whether an expression of a comparator makes nothing on its way and reads no fields of it but `x` and `y`.
    fn computes(&self, expr: ExprId, by: &Comparator) -> bool {
        let all = |them: &[ExprId]| them.iter().all(|it| self.computes(*it, by));
        match self.program.code(expr) {
            Code::Scalar(_) => true,
            Code::Field { up, label } => *up > 0 || [by.x, by.y].contains(label),
            Code::Not(it) | Code::Negative(it) | Code::Positive(it) | Code::Select(it, _) => {
                self.computes(*it, by)
            }
            Code::And(left, right)
            | Code::Or(left, right)
            | Code::Compare(_, left, right)
            | Code::Arithmetic(_, left, right)
            | Code::Index(left, right) => all(&[*left, *right]),
            Code::Interpolation(said) => said.parts.iter().all(|it| match it {
                PartCode::Text(_) => true,
                PartCode::Value(it) => self.computes(*it, by),
            }),
            Code::Call(callee @ Callee::Package(_), arguments) => {
                !self.is_partial(*callee, arguments) && all(arguments)
            }
            _ => false,
        }
    }

    /// Whether what a field of a comparator must be depends on nothing that is compared.
    fn is_settled_side(
        &self,
        conjunct: &Conjunct,
        of: VertexId,
        by: &Comparator,
        far: u32,
    ) -> bool {
        let Source::Expr(expr, env) = conjunct.source() else { return false };
        match self.program.code(expr) {
            Code::Field { up: 0, label } if far > 0 => {
                let here = matches!(self.heap.envs[env].kind, EnvKind::Struct(it, ..) if it == of);
                let compared = [by.x, by.y, by.less].contains(label);
                let Some(arc) = self.heap.arc(of, *label).filter(|_| here && !compared) else {
                    return false;
                };
                let said = &self.heap.get(arc.vertex).conjuncts;
                said.iter().all(|it| self.is_settled_side(it, of, by, far - 1))
            }
            _ => self.names_nothing(expr),
        }
    }
}
