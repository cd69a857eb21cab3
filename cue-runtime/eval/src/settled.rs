//! References to what gets no more: structs and lists are shared; of scalars, types, bounds, and choices of such, what
//! is found is taken, not what that is made of, which would have every alternative tried again for
//! everybody who refers to it.

use crate::builtin::{Datum, Kinds};
use crate::evaluator::{Evaluator, Value};
use crate::heap::{
    Choice, Conjunct, Cycle, EnvId, Scalar, ScalarId, Source, State, Test, Vertex, VertexId,
};
use crate::program::{At, Code, ExprId};

mod alternatives;

/// What such a vertex is.
enum Settled {
    Scalar(ScalarId, u32),
    /// One of scalars and types.
    Choice,
    /// One of such and of structs and lists.
    Options,
    /// Types and bounds of what is no struct and no list.
    Kinds,
    /// A struct or a list.
    Whole,
}

/// The reference that a vertex is nothing but.
struct Named {
    expr: ExprId,
    env: EnvId,
    via: u32,
    /// It is one of the alternatives of a choice, with which the vertex is tried.
    tried: bool,
    /// It may be a struct or a list all the same: what may close says which fields it knows, a struct that is shared
    /// says nothing. A name beside loops mostly leads to what these add to.
    idle: bool,
    /// Nothing closes it.
    free: bool,
}

impl Evaluator {
    /// Takes the value for a vertex that is about to be evaluated and is nothing but such a reference;
    /// whether it did. Who comes with more conjuncts has it evaluated anew, from what it refers to.
    pub(crate) fn take_settled(&mut self, id: VertexId) -> bool {
        let vertex = self.heap.get(id);
        let [conjunct] = vertex.conjuncts.as_slice() else { return false };
        let Source::Expr(said, env) = conjunct.source() else { return false };
        let written = self.chosen(vertex, said);
        let embedded = self.embedded_path(written);
        let expr = embedded.map_or(written, |it| it.0);
        let bare = conjunct.cycle <= Cycle::Optional && conjunct.close_as.is_none();
        let tried = written != said;
        let untouched = is_untouched(vertex) && (vertex.picks.is_empty() || tried);
        if !self.is_path(expr) || !bare || !untouched {
            return false;
        }
        if self.calling.is_some() {
            return embedded.is_none() && self.share_scalar(id, expr, env);
        }
        let idle = matches!(self.program.code(expr), Code::Select(..) | Code::Variable { .. })
            && !self.names_definition(expr)
            && conjunct.groups.iter().all(|it| self.idle.contains(it))
            && conjunct.cycle == Cycle::None
            && embedded.is_none();
        let (via, free) = (conjunct.via, conjunct.groups.is_empty());
        let (env, via) = match embedded {
            Some((_, literal)) => {
                let via = self.heap.cross_literal(via, self.program.at(written), id);
                (self.heap.envs.enter_struct(env, id, literal, 0), via)
            }
            None => (env, via),
        };
        self.take_named(id, &Named { expr, env, via, tried, idle, free })
    }

    /// The same for what it refers to.
    fn take_named(&mut self, id: VertexId, named: &Named) -> bool {
        let Some(target) = self.target_of(named).filter(|it| *it != id) else { return false };
        let free = named.tried && (named.free || self.is_no_less_closed(target, id));
        if free && self.is_finished(target, id) {
            return self.share_with(id, target);
        }
        let Some(settled) = self.settled(target) else { return false };
        let fits = match settled {
            Settled::Options => free && self.is_said_in_full(target, id),
            Settled::Choice => !named.tried || self.is_said_in_full(target, id),
            Settled::Whole => !named.tried && named.idle,
            Settled::Scalar(..) | Settled::Kinds => true,
        };
        if !fits {
            return false;
        }
        match settled {
            Settled::Whole => return self.share_with(id, target),
            Settled::Scalar(scalar, scalar_via) => {
                let via = self.heap.cross(named.via, self.program.at(named.expr));
                let via = self.heap.join(via, scalar_via);
                self.take_scalar(id, Scalar::Known(scalar), via);
            }
            Settled::Choice | Settled::Options | Settled::Kinds => self.take_options(id, target),
        }
        let demoted = self.heap.get(target).demoted;
        let vertex = self.heap.get_mut(id);
        vertex.content = true;
        vertex.demoted |= demoted;
        true
    }

    /// The vertex that a reference leads to, evaluated if that comes to no other one or is asked for anyway.
    fn target_of(&mut self, named: &Named) -> Option<VertexId> {
        let target = self.eval(named.expr, named.env).vertex()?;
        let mut target = self.follow(target);
        // What a parent's comprehensions add belongs to the target too.
        if let Some(parent) = self.heap.get(target).parent {
            if self.heap.get(parent).state == State::New {
                self.unify(parent);
                target = self.follow(target);
            }
        }
        let quick = || match named.tried {
            false => self.is_choice_or_name(target),
            true => self.untouched_literal(target).is_some() || self.is_lone_choice(target),
        };
        let new = self.heap.get(target).state == State::New;
        if new && (self.is_written_out(target) || quick()) {
            target = self.unify(target);
        }
        Some(target)
    }

    /// Takes the types, the bounds and the alternatives of another vertex.
    fn take_options(&mut self, id: VertexId, target: VertexId) {
        let from = self.heap.get(target);
        let (kinds, constrained) = (from.kinds, from.constrained);
        let (choice, tests) = (from.choice.clone(), from.tests.clone());
        let narrowed = (from.narrowed != 0).then(|| self.narrowed(target));
        let vertex = self.heap.get_mut(id);
        (vertex.kinds, vertex.constrained) = (kinds, constrained);
        if choice.is_some() {
            vertex.choice = choice;
        }
        if !tests.is_empty() {
            vertex.tests = tests;
        }
        if let Some(narrowed) = narrowed {
            self.note_narrowed(id, narrowed.by, narrowed.at, narrowed.via);
        }
    }

    /// The path that is all that a literal embeds, or says, and which literal that is.
    fn embedded_path(&self, expr: ExprId) -> Option<(ExprId, u32)> {
        let Code::Struct(number) = self.program.code(expr) else { return None };
        let literal = &self.program.structs[*number as usize];
        let bare = literal.lets.is_empty() && !self.program.is_file(self.program.at(expr));
        Some((literal.only_embedded().filter(|_| bare)?, *number))
    }

    /// For a call that needs a value: what is evaluated itself has its scalar before all is known that has
    /// to agree with it, maybe that call.
    fn share_scalar(&mut self, id: VertexId, expr: ExprId, env: EnvId) -> bool {
        let Value::Vertex(target) = self.eval(expr, env) else { return false };
        let target = self.follow(target);
        let found = self.heap.get(target);
        let known = found.state == State::Running && found.scalar.is_some();
        known && self.share_with(id, target)
    }

    /// Whether an expression is names and selections only.
    pub(crate) fn is_path(&self, mut expr: ExprId) -> bool {
        loop {
            match self.program.code(expr) {
                Code::Field { .. } | Code::Variable { .. } | Code::Enclosing { .. } => return true,
                Code::Select(operand, _) => expr = *operand,
                _ => return false,
            }
        }
    }

    /// The scalar of a vertex that is one and nothing else, and gets no more, and how it came.
    pub(crate) fn settled_scalar(&self, id: VertexId) -> Option<(ScalarId, u32)> {
        match self.settled(id)? {
            Settled::Scalar(scalar, via) => Some((scalar, via)),
            Settled::Choice | Settled::Options | Settled::Kinds | Settled::Whole => None,
        }
    }

    fn settled(&self, id: VertexId) -> Option<Settled> {
        let vertex = self.heap.get(id);
        if vertex.state != State::Done || vertex.fault.is_some() {
            return None;
        }
        let bare = vertex.arcs.is_empty() && !vertex.is_struct;
        let settled = match (&vertex.scalar, &vertex.choice) {
            (Some(scalar), None) if bare => Settled::Scalar(*scalar, vertex.scalar_via),
            (None, Some(choice)) if bare && is_tried_in_full(vertex, choice) => {
                self.options(choice)
            }
            (None, None) if bare && is_of_kinds(vertex) => Settled::Kinds,
            (None, None) if vertex.is_struct || vertex.is_list => Settled::Whole,
            _ => return None,
        };
        self.growing(id).is_none().then_some(settled)
    }

    /// Whether an expression is said of a vertex, and is of such a kind of code.
    fn has_code(&self, id: VertexId, is_it: fn(&Code) -> bool) -> bool {
        self.heap.get(id).conjuncts.iter().any(|it| match it.source() {
            Source::Expr(expr, _) => is_it(self.program.code(expr)),
            Source::Data(_) | Source::Vertex(_) => false,
        })
    }

    /// Whether a vertex is a choice, of which all alternatives would be tried again, or nothing but a name.
    fn is_choice_or_name(&self, id: VertexId) -> bool {
        let lone = self.heap.get(id).conjuncts.len() == 1;
        self.has_code(id, |it| matches!(it, Code::Disjoin(_)))
            || lone && self.has_code(id, |it| matches!(it, Code::Field { .. }))
    }

    /// Whether a vertex is one choice.
    fn is_lone_choice(&self, id: VertexId) -> bool {
        self.heap.get(id).conjuncts.len() == 1
            && self.has_code(id, |it| matches!(it, Code::Disjoin(_)))
    }

    /// Whether a vertex is scalars, types and choices of such as they are written, and data: who
    /// evaluates it comes to no other vertex.
    fn is_written_out(&self, id: VertexId) -> bool {
        let plain = |conjunct: &Conjunct| match conjunct.source() {
            Source::Data(datum) => !matches!(
                self.heap.data(datum),
                Datum::List(_) | Datum::Struct(_) | Datum::Live(_) | Datum::Function(_)
            ),
            Source::Vertex(_) => false,
            Source::Expr(expr, _) => match self.program.code(expr) {
                Code::Disjoin(all) => all.iter().all(|it| self.program.code(it.0).is_tag()),
                code => code.is_tag(),
            },
        };
        self.heap.get(id).conjuncts.iter().all(plain)
    }
}

/// Whether a vertex is a choice that nothing is left to be tried of, and no more.
fn is_tried_in_full(vertex: &Vertex, choice: &Choice) -> bool {
    vertex.tests.is_empty() && vertex.patterns.is_empty() && choice.untried.is_empty()
}

/// Whether something says which kinds a vertex is of, none of them with fields or elements.
fn is_of_kinds(vertex: &Vertex) -> bool {
    let plain = |it: &(Test, At)| matches!(it.0, Test::Bound(..) | Test::Range(_));
    vertex.constrained
        && !vertex.kinds.meets(Kinds::STRUCT.or(Kinds::LIST))
        && vertex.patterns.is_empty()
        && vertex.tests.iter().all(plain)
}

fn is_untouched(vertex: &Vertex) -> bool {
    vertex.state == State::Running && !vertex.constrained && vertex.arcs.is_empty()
}
