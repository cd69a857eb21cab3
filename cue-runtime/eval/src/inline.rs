//! Values without a place: what an expression needs that is no field. One that depends on nothing
//! nearby, `(#F & {n: 1}).out`, is the same wherever a copy of it stands; without that, a function that
//! calls itself has twice as many values with each call.

use cue_map::Set;
use smallvec::SmallVec;

use crate::error::{Fault, Kind};
use crate::evaluator::Evaluator;
use crate::heap::{Conjunct, EnvId, EnvKind, Pattern, Source, State, VertexId};
use crate::program::{Code, ExprId, Presence};

/// An expression in the nearest environment that it depends on, and the choice that is being made of
/// a field: references may mean an alternative of that one.
pub(crate) type Lifted = (ExprId, EnvId, Option<VertexId>);

/// A value without a place: the expression that it is, and the environment that this depends on if that is not the
/// nearest one.
pub(crate) type Inlined = (ExprId, Option<EnvId>);

/// The same value within itself: alternatives of what is around it may make a difference.
const MOST_ALIKE: usize = 8;

/// Values without a place within each other.
const MOST_INLINED: usize = 2_000;

/// Values that are looked at for errors before one is used again.
const MOST_LOOKED_AT: usize = 64;

impl Evaluator {
    /// What `...T` of a list says of its elements.
    pub(crate) fn element_of(&mut self, id: VertexId) -> Option<VertexId> {
        let (expr, env) = self.heap.get(id).rest.iter().find_map(|it| Some((it.value?, it.env)))?;
        Some(self.anonymous(expr, env))
    }

    /// What a pattern says of the fields it fits: of none in particular, in whose scope it stands.
    pub(crate) fn value_of_pattern(&mut self, pattern: &Pattern) -> VertexId {
        let env = self.heap.envs.enter(Some(pattern.env), EnvKind::PatternName(None));
        self.anonymous(pattern.value, env)
    }

    /// A vertex without a place, for an expression that needs one.
    pub(crate) fn anonymous(&mut self, expr: ExprId, env: EnvId) -> VertexId {
        if let Some(id) = self.anonymous.get(&(expr, env)) {
            return *id;
        }
        let mut parent = None;
        let mut next = Some(env);
        while let Some(env) = next {
            let env = &self.heap.envs[env];
            if let EnvKind::Struct(vertex, ..) = env.kind {
                parent = Some(vertex);
                break;
            }
            next = env.parent;
        }
        let lifted = self.lifted(expr, env);
        if let Some(id) = lifted.and_then(|it| self.lifted.get(&it)).copied() {
            let within = self.is_part_of(env, id);
            if within && self.heap.get(id).state == State::Running {
                return self.endless(parent);
            }
            if !within && self.is_settled(id) {
                self.anonymous.insert((expr, env), id);
                return id;
            }
        }
        let id = self.heap.vertex(parent, None);
        // A conjunction that is made on the way has come by none (cue-errors 2.2).
        let via = match self.program.code(expr) {
            Code::Unify(..) => 0,
            _ => self.own_way(),
        };
        let conjunct = Conjunct { via, ..Conjunct::new(Source::Expr(expr, env)) };
        self.heap.get_mut(id).conjuncts.push(conjunct);
        self.anonymous.insert((expr, env), id);
        if let Some(lifted) = lifted {
            self.lifted.insert(lifted, id);
        }
        id
    }

    /// Whether an expression is asked for in the value that it is, which is being evaluated.
    pub(crate) fn is_asked_within(&self, expr: ExprId, env: EnvId) -> bool {
        let known = self.lifted(expr, env).and_then(|it| self.lifted.get(&it)).copied();
        known.is_some_and(|id| {
            self.heap.get(id).state == State::Running
                && !self.anonymous.contains_key(&(expr, env))
                && self.is_part_of(env, id)
        })
    }

    fn lifted(&self, expr: ExprId, env: EnvId) -> Option<Lifted> {
        let up = *self.program.lifts.get(&expr)?;
        let tried = self.trying.iter().rev().map(|it| it.1);
        let tried = tried.into_iter().find(|it| self.heap.get(*it).label.is_some());
        Some((expr, self.env_up(env, up), tried))
    }

    /// Whether a value is evaluated, with nothing in it that is being evaluated or has an error, as far
    /// as is looked: a call within itself is another one, and errors tell where they are, which is
    /// another place for each copy.
    fn is_settled(&self, id: VertexId) -> bool {
        let mut near = vec![self.follow(id)];
        if self.heap.get(near[0]).state != State::Done {
            return false;
        }
        let mut at = 0;
        while let Some(id) = near.get(at).copied() {
            at += 1;
            let vertex = self.heap.get(id);
            let open = matches!(vertex.state, State::Running | State::Suspended);
            if open || vertex.fault.is_some() {
                return false;
            }
            if near.len() > MOST_LOOKED_AT {
                continue;
            }
            let members = vertex.arcs.iter().filter(|it| it.presence == Presence::Member);
            near.extend(members.map(|it| self.follow(it.vertex)));
            near.extend(vertex.choice.iter().flat_map(|it| &it.all).map(|it| self.follow(*it)));
        }
        true
    }

    /// The expression that a value without a place is, and the environment that it depends on.
    pub(crate) fn written_as(&self, id: VertexId) -> Option<Inlined> {
        match self.heap.get(id).conjuncts.first()?.source() {
            Source::Expr(expr, env) => {
                Some((expr, self.program.lifts.get(&expr).map(|up| self.env_up(env, *up))))
            }
            Source::Data(_) | Source::Vertex(_) => None,
        }
    }

    /// Whether a value without a place needs one of the same expression, and that again, and so on (S-64).
    pub(crate) fn inlines_without_end(&self) -> bool {
        let Some(own) = self.inlining.last() else { return false };
        // One that depends on nothing nearby is the same each time.
        if own.is_some_and(|it| it.1.is_some()) {
            return self.inlining.iter().filter(|it| *it == own).count() > MOST_ALIKE;
        }
        if self.inlining.len() <= MOST_INLINED {
            return false;
        }
        let last = self.inlining.iter().rev().take(MOST_INLINED);
        last.filter(|it| it.map(|it| it.0) == own.map(|it| it.0)).count() > MOST_INLINED / 2
    }

    /// A value that is needed to find itself (S-64).
    fn endless(&mut self, parent: Option<VertexId>) -> VertexId {
        let id = self.heap.vertex(parent, None);
        self.heap.get_mut(id).state = State::Done;
        self.raise(id, Fault::spread(Kind::StructuralCycle, "structural cycle"));
        id
    }

    /// Whether an environment is one of a value, or of what it refers to: then a call of the same is
    /// one within itself.
    fn is_part_of(&self, env: EnvId, value: VertexId) -> bool {
        let stands = self.follow(value);
        let mut all: SmallVec<[VertexId; 4]> = smallvec::smallvec![value, stands];
        all.extend(self.heap.get(stands).choice.iter().flat_map(|it| &it.all).copied());
        for (choice, candidate) in &self.trying {
            if all.contains(choice) {
                all.push(*candidate);
            }
        }
        let mut seen: Set<u32> = Set::default();
        let mut next = Some(env);
        while let Some(env) = next {
            let env = &self.heap.envs[env];
            if let EnvKind::Struct(vertex, ..) = env.kind {
                let mut above = Some(vertex);
                while let Some(id) = above.filter(|it| seen.insert(it.number())) {
                    if all.contains(&id) {
                        return true;
                    }
                    above = self.heap.get(id).parent;
                }
            }
            next = env.parent;
        }
        false
    }
}
