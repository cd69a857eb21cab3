//! In which order what disagrees is met: errors name what came first (cue-errors 2.2). What is written out is
//! there at once, what is computed and what a reference brings takes its turn, alternatives come last.

use smallvec::SmallVec;

use crate::conflict::CONFLICT;
use crate::error::Fault;
use crate::evaluator::Evaluator;
use crate::heap::{Conjunct, EnvId, Source, Vertex, VertexId};
use crate::program::{At, Code, ExprId, Presence};

/// How deep it is looked for what disagrees.
const DEEPEST: u32 = 50;

impl Evaluator {
    /// Whether a value is an alternative, or in one; others are not looked at closely, of which there may be many.
    fn is_in_choice(&self, id: VertexId) -> bool {
        let mut around = std::iter::successors(Some(id), |it| self.heap.get(*it).parent);
        around.any(|it| !self.heap.get(it).picks.is_empty())
    }

    /// Whether what was there first is of an alternative that is tried, and what comes now is not: alternatives
    /// count as coming last, but those around a field before what patterns say of it.
    pub(crate) fn is_of_choice(&self, id: VertexId, old: (At, u32), new: (At, u32)) -> bool {
        let vertex = self.heap.get(id);
        // Its own alternatives come last of all.
        if self.is_within_pick(vertex, new) {
            return false;
        }
        let is_of = |it: &Vertex| self.is_within_pick(it, old) && !self.is_within_pick(it, new);
        let parent = |it: &VertexId| self.heap.get(*it).parent;
        let mut around = std::iter::successors(vertex.parent, parent);
        let comes_last = is_of(vertex)
            || around.any(|it| is_of(self.heap.get(it))) && !self.is_by_pattern(id, new);
        comes_last && (!self.takes_turn(id, new) || self.takes_turn(id, old))
    }

    /// Whether something is written in the choice of which an alternative is tried, or came by a reference there.
    pub(crate) fn is_within_pick(&self, vertex: &Vertex, (at, via): (At, u32)) -> bool {
        self.heap.picked(vertex.picks).iter().any(|(choice, _)| {
            let whole = self.program.at(*choice);
            whole.holds(at) || self.heap.along(via, |it| whole.holds(it))
        })
    }

    /// The struct or the list that tells that a value within it is not what a pattern of an alternative says, if both
    /// are written out: such a pattern is held against it before the value is looked at (cue-errors 1.4).
    pub(crate) fn met_around(
        &self,
        id: VertexId,
        old: (At, u32),
        new: (At, u32),
    ) -> Option<VertexId> {
        if !self.is_in_choice(id) {
            return None;
        }
        let vertex = self.heap.get(id);
        let around = vertex.parent.filter(|_| vertex.label.is_some() && vertex.picks.is_empty())?;
        let says = |late: bool, place: At| {
            vertex.conjuncts.iter().filter(|it| it.late == late).any(|it| match it.source() {
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
        let mut parts = written.flat_map(|it| match it.source() {
            Source::Expr(expr, _) => self.unified(expr),
            Source::Data(_) | Source::Vertex(_) => SmallVec::new(),
        });
        parts.any(|it| match self.refers_at(it) {
            _ if is_there_at_once(self.program.code(it)) => false,
            Some(at) => via != 0 && self.crosses(via, at),
            None => self.program.at(it).holds(at),
        })
    }

    /// The operands of `&` that an expression is made of, in their order.
    fn unified(&self, expr: ExprId) -> SmallVec<[ExprId; 4]> {
        let (mut found, mut open) = (SmallVec::new(), SmallVec::<[ExprId; 4]>::new());
        open.push(expr);
        while let Some(expr) = open.pop() {
            match self.program.code(expr) {
                Code::Unify(left, right) => open.extend([*right, *left]),
                _ => found.push(expr),
            }
        }
        found
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
        self.heap.get(id).conjuncts.iter().all(|it| match it.source() {
            Source::Expr(expr, _) => {
                self.unified(expr).into_iter().all(|it| is_there_at_once(self.program.code(it)))
            }
            Source::Data(_) => true,
            Source::Vertex(_) => false,
        })
    }

    /// Whether something is what a pattern says of a vertex, or came by the reference that it is.
    fn is_by_pattern(&self, id: VertexId, (at, via): (At, u32)) -> bool {
        self.heap.get(id).conjuncts.iter().filter(|it| it.late).any(|it| match it.source() {
            Source::Expr(expr, _) => {
                let by_reference = self.refers_at(expr).is_some_and(|at| self.crosses(via, at));
                self.program.at(expr) == at || by_reference
            }
            Source::Data(_) | Source::Vertex(_) => false,
        })
    }

    /// Whether it is a bound, a validator or a list of a pattern: those are looked at after what a reference
    /// brings (S-23).
    pub(crate) fn is_late(&self, id: VertexId, at: At) -> bool {
        self.heap.get(id).conjuncts.iter().filter(|it| it.late).any(|it| match it.source() {
            Source::Expr(expr, _) => {
                self.program.at(expr) == at
                    && matches!(self.program.code(expr), Code::Bound(..) | Code::Call(..))
            }
            Source::Data(_) | Source::Vertex(_) => false,
        })
    }

    /// Whether what was there first is the struct or the list that a pattern refers to, and what comes now
    /// is not: these come last.
    pub(crate) fn comes_late(&self, id: VertexId, old: u32, new: u32) -> bool {
        self.heap.get(id).conjuncts.iter().filter(|it| it.late).any(|it| match it.source() {
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
    pub(crate) fn stood_by(&self, id: VertexId, old: u32, new: u32) -> bool {
        if old == 0 || new == 0 {
            return false;
        }
        let mut leaves = Vec::new();
        let mut stands = false;
        for conjunct in self.heap.get(id).conjuncts.iter().filter(|it| !it.late) {
            let Source::Expr(expr, env) = conjunct.source() else { return false };
            for expr in self.unified(expr) {
                match self.program.code(expr) {
                    Code::Field { .. }
                    | Code::Let { .. }
                    | Code::Variable { .. }
                    | Code::Select(..)
                    | Code::Index(..) => {
                        if leaves.is_empty() {
                            stands = self.stands_for_target(expr, env);
                        }
                        leaves.push(self.program.at(expr));
                    }
                    _ => return false,
                }
            }
        }
        let [first, second, ..] = leaves.as_slice() else { return false };
        stands && first != second && self.crosses(old, *first) && self.crosses(new, *second)
    }

    /// Whether a reference stands for what it leads to while it is alone: a `let` does if that has to be computed.
    fn stands_for_target(&self, mut expr: ExprId, mut env: EnvId) -> bool {
        while let Some(named) = self.let_named(expr, env) {
            let source = self.heap.get(named).conjuncts.first().map(Conjunct::source);
            let Some(Source::Expr(value, within)) = source else { return true };
            if !self.program.code(value).is_computed() {
                return false;
            }
            (expr, env) = (value, within);
        }
        true
    }

    /// Whether a way leads by a reference.
    fn crosses(&self, via: u32, reference: At) -> bool {
        self.heap.along(via, |it| it == reference)
    }
}

/// Whether a value is there as it is written, not once it is evaluated.
fn is_there_at_once(code: &Code) -> bool {
    code.is_literal()
        || code.scalar().is_some()
        || matches!(code, Code::List(_) | Code::Type(..) | Code::Top)
}
