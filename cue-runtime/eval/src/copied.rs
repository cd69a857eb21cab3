//! Fields that are nothing but a reference and still have a value of their own: what they are a copy of.
//! Printed they look as if they shared that (O-14, S-72).

use smallvec::SmallVec;

use crate::builtin::Datum;
use crate::error::Kind;
use crate::evaluator::Evaluator;
use crate::heap::{EnvId, EnvKind, FaultId, Source, State, VertexId};
use crate::program::{Code, ExprId, Label, Presence};

/// Copies of copies that are looked through.
const MOST_COPIES: usize = 16;

/// By which references the literals of a vertex count as reached.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Reach {
    /// By those that lead to them.
    Own,
    /// By one: who is nothing but the name of a `let` refers to all that is below that.
    OnePlace,
    /// As if that reference had not been followed.
    Without(ExprId),
}

/// What a vertex is a copy of.
#[derive(Clone, Copy)]
struct Origin {
    /// By which reference, if by one.
    reference: Option<ExprId>,
    /// The last of those by which that leads there.
    last: Option<ExprId>,
    vertex: VertexId,
    /// Nobody has asked for it yet.
    unasked: bool,
}

impl Evaluator {
    /// Places of arcs in the order that the vertex prints them in which `id` is a copy of.
    pub(crate) fn order_as_shared(&self, id: VertexId) -> Option<Vec<usize>> {
        let first = self.copy_of(id)?;
        let mut origin = first;
        for _ in 0..MOST_COPIES {
            let Some(next) = self.copy_of(origin.vertex).filter(|_| !origin.unasked) else { break };
            origin = next;
        }
        let reach = self.reach_by(origin.last, origin.vertex);
        let arcs = &self.heap.get(id).arcs;
        // What nobody else asked for has no order yet.
        if origin.unasked || self.heap.get(origin.vertex).state == State::New {
            let without = first.reference.filter(|_| reach != Reach::OnePlace).map(Reach::Without);
            return self.order_of_own(id, without.unwrap_or(reach));
        }
        let origin = origin.vertex;
        if self.heap.get(origin).arcs.len() != arcs.len() {
            return None;
        }
        let order = self.order_of_own(origin, reach);
        let there = &self.heap.get(origin).arcs;
        let place = |at: usize| arcs.place(there[order.as_ref().map_or(at, |it| it[at])].label);
        (0..arcs.len()).map(place).collect()
    }

    /// How the literals of a vertex are reached that is no copy: a part of a `let` is shared as any other place is,
    /// the name of one says it anew, and so does that of a value without a place.
    pub(crate) fn reach_of(&self, id: VertexId) -> Reach {
        let outermost = self.outermost(id);
        if outermost == self.root || self.is_imported(outermost) {
            return Reach::Own;
        }
        let named = |it: &VertexId| self.sharers.contains_key(it);
        let mut parts = std::iter::successors(Some(id), |it| {
            self.heap.get(*it).parent.filter(|_| *it != outermost)
        });
        let anew =
            named(&outermost) || self.let_name(outermost).is_none() && parts.any(|it| named(&it));
        if anew { Reach::OnePlace } else { Reach::Own }
    }

    /// How the literals of what a reference leads to are reached by who is nothing but that.
    fn reach_by(&self, reference: Option<ExprId>, origin: VertexId) -> Reach {
        let Some(reference) = reference else { return self.reach_of(origin) };
        let mut base = reference;
        while let Code::Select(operand, _) | Code::Index(operand, _) = self.program.code(base) {
            base = *operand;
        }
        let outermost = self.outermost(origin);
        let placed = || self.is_rooted(outermost) || self.let_name(outermost).is_some();
        match self.program.code(base) {
            Code::Let { .. } if base == reference => Reach::OnePlace,
            Code::Let { .. } => Reach::Own,
            Code::Variable { .. } if placed() => Reach::Own,
            Code::Variable { .. } => Reach::OnePlace,
            _ => self.reach_of(origin),
        }
    }

    /// The vertex that `id` would be if a reference that is all that is said of it, or of what it is in,
    /// shared its target: one that is closed by a definition does not, unless by one that closes the target.
    fn copy_of(&self, id: VertexId) -> Option<Origin> {
        let mut way: SmallVec<[Label; 8]> = SmallVec::new();
        let mut here = id;
        loop {
            if let Some(mut origin) = self.lone_reference(here, 0)
                && origin.reference.is_none_or(|it| self.may_share(here, it, origin.vertex))
            {
                for label in way.iter().rev() {
                    let Some(arc) = self.heap.arc(origin.vertex, *label) else {
                        origin.unasked = self.heap.get(origin.vertex).state == State::New;
                        if let Some(next) = self.lone_reference(origin.vertex, 0) {
                            origin.last = next.last;
                        }
                        return Some(origin).filter(|it| it.unasked);
                    };
                    origin.vertex = self.follow(arc.vertex);
                }
                origin.vertex = self.alternative_like(id, origin.vertex).unwrap_or(origin.vertex);
                return (origin.vertex != id).then_some(origin);
            }
            let vertex = self.heap.get(here);
            way.push(vertex.label?);
            here = vertex.parent?;
        }
    }

    /// What is nothing but a reference fails with the error of what that leads to, in its place.
    #[cold]
    pub(crate) fn fails_as_shared(&mut self, id: VertexId, fault: FaultId) {
        let own = &self.heap.faults[fault];
        if own.kind != Kind::Permanent || own.place.is_some_and(|it| it != id) {
            return;
        }
        let Some(Origin { reference: Some(reference), vertex: origin, .. }) =
            self.lone_reference(id, 0)
        else {
            return;
        };
        // What a clause names has no place of its own.
        if origin == id || matches!(self.program.code(reference), Code::Variable { .. }) {
            return;
        }
        let there = self.heap.get(origin).fault;
        let same = |it: &FaultId| self.heap.faults[*it].message == own.message;
        let there = there.filter(same).filter(|_| self.may_share(id, reference, origin));
        if there.is_some() {
            self.heap.get_mut(id).fault = there;
        }
    }

    /// The alternative of a choice that was made by the same picks.
    fn alternative_like(&self, id: VertexId, of: VertexId) -> Option<VertexId> {
        let choice = self.heap.get(of).choice.as_deref()?;
        let picks = self.heap.picks(id);
        let mut all = choice.all.iter().map(|it| self.follow(*it));
        all.find(|it| self.heap.picks(*it) == picks)
    }

    /// The reference that is all that is said of a vertex, `_` and references to the same aside, and what it leads to;
    /// without a reference, what a function has handed on.
    fn lone_reference(&self, id: VertexId, depth: usize) -> Option<Origin> {
        let conjuncts = &self.heap.get(id).conjuncts;
        let by = |reference, last, vertex| Origin { reference, last, vertex, unasked: false };
        if let [only] = conjuncts.as_slice()
            && let Some(origin) = self.handed_on(only.source())
        {
            return Some(by(None, None, origin));
        }
        let mut found: Option<(Origin, EnvId)> = None;
        for conjunct in conjuncts {
            let Source::Expr(expr, env) = conjunct.source() else { return None };
            match self.program.code(expr) {
                Code::Top => {}
                Code::Field { .. }
                | Code::Let { .. }
                | Code::Select(..)
                | Code::Index(..)
                | Code::Import(_)
                | Code::Variable { .. } => {
                    let origin = self.leads_to(expr, env)?;
                    if found.is_some_and(|it| it.0.vertex != origin) {
                        return None;
                    }
                    found = found.or(Some((by(Some(expr), Some(expr), origin), env)));
                }
                _ => return None,
            }
        }
        let (mut found, env) = found?;
        // A `let` that is nothing but a reference shares what that leads to.
        if let Some(named) = found.reference.and_then(|it| self.let_named(it, env))
            && self.heap.get(named).forward.is_some()
            && depth < MOST_COPIES
            && let Some(next) = self.lone_reference(named, depth + 1)
        {
            found.last = next.last;
        }
        Some(found)
    }

    /// The value of the `let` that an expression names, if it is there.
    pub(crate) fn let_named(&self, expr: ExprId, env: EnvId) -> Option<VertexId> {
        let Code::Let { up, index } = self.program.code(expr) else { return None };
        let EnvKind::Struct(_, lets, _) = self.heap.envs[self.env_up(env, *up)].kind else {
            return None;
        };
        *self.heap.envs.lets(lets).get(*index as usize)?
    }

    /// The value that a function has passed on as it is.
    pub(crate) fn handed_on(&self, source: Source) -> Option<VertexId> {
        match source {
            Source::Vertex(of) => Some(self.follow(of)),
            Source::Data(datum) => match self.heap.data(datum) {
                Datum::Live(raw) => self.handles.get(*raw as usize).map(|it| self.follow(*it)),
                _ => None,
            },
            Source::Expr(..) => None,
        }
    }

    /// Whether a vertex of which nothing is said but a reference may be what that leads to.
    fn may_share(&self, id: VertexId, reference: ExprId, origin: VertexId) -> bool {
        let vertex = self.heap.get(id);
        if vertex.label.is_some_and(|it| self.is_definition(it)) {
            return false;
        }
        if matches!(self.program.code(reference), Code::Field { up: 0, .. }) {
            return true;
        }
        let there = &self.heap.get(origin).conjuncts;
        let mut closing = vertex.conjuncts.iter().flat_map(|it| it.groups.iter());
        closing.all(|group| {
            !self.closes_deeply(*group) || there.iter().any(|it| it.groups.contains(group))
        })
    }

    /// What a value is that consists of nothing but a selection from what a `let` names.
    pub(crate) fn part_of_let(&self, id: VertexId) -> Option<VertexId> {
        let [conjunct] = self.heap.get(id).conjuncts.as_slice() else { return None };
        let Source::Expr(expr, env) = conjunct.source() else { return None };
        let mut base = expr;
        while let Code::Select(operand, _) | Code::Index(operand, _) = self.program.code(base) {
            base = *operand;
        }
        let named = base != expr && matches!(self.program.code(base), Code::Let { .. });
        named.then(|| self.leads_to(expr, env)).flatten()
    }

    /// What names and selections lead to, if all of it is there already.
    fn leads_to(&self, expr: ExprId, env: EnvId) -> Option<VertexId> {
        let kind = |up: u32| &self.heap.envs[self.env_up(env, up)].kind;
        let found = match self.program.code(expr) {
            Code::Field { up, label } => {
                let EnvKind::Struct(vertex, ..) = kind(*up) else { return None };
                self.heap.arc(self.follow(*vertex), *label)?.vertex
            }
            Code::Let { .. } => self.let_named(expr, env)?,
            Code::Variable { up, index: 0 } => {
                let EnvKind::Variables(vertex, _) = kind(*up) else { return None };
                *vertex
            }
            Code::Import(index) => self.imports.iter().find(|it| it.0 == *index)?.1,
            // What is only required is not there.
            Code::Select(operand, label) => {
                let arc = self.heap.arc(self.leads_to(*operand, env)?, *label)?;
                (arc.presence != Presence::Required).then_some(arc.vertex)?
            }
            Code::Index(operand, index) => {
                let Some(Datum::Number(index)) = self.program.code(*index).scalar() else {
                    return None;
                };
                let list = self.heap.get(self.leads_to(*operand, env)?);
                list.arcs.get(usize::try_from(index.to_i64()?).ok()?)?.vertex
            }
            _ => return None,
        };
        Some(self.follow(found))
    }
}
