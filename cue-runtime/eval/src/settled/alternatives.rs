//! Alternatives that are references: what nothing in leads back to them is shared, with the choices that were made of
//! it, where it would be tried anew for each link of a chain of defaults (`b: *a | null`, `c: *b | null`).

use super::Settled;
use crate::evaluator::Evaluator;
use crate::heap::{Choice, Source, State, Vertex, VertexId};
use crate::program::{Code, Declaration, ExprId, Presence};

/// Vertices that are looked at for one that is not done with.
const MOST_WALKED: usize = 64;

impl Evaluator {
    /// What an expression says of a vertex: of a choice the alternative that the vertex is tried with, if it is that
    /// of no other choice.
    pub(super) fn chosen(&self, vertex: &Vertex, said: ExprId) -> ExprId {
        match *self.heap.picked(vertex.picks) {
            [pick] if pick.0 == said => self.program.alternative(pick).unwrap_or(said),
            _ => said,
        }
    }

    /// Whether a struct or a list is done with, with all that is in it, and leads to nothing around `id`.
    pub(super) fn is_finished(&mut self, target: VertexId, id: VertexId) -> bool {
        if self.is_on_the_way(target) {
            return false;
        }
        let whole = self.heap.get(target);
        (whole.is_struct || whole.is_list)
            && whole.choice.is_none()
            && self.leads_nowhere(target, id)
    }

    /// Whether nothing is left to be evaluated in a vertex, and nothing around `id` is in it.
    fn leads_nowhere(&mut self, of: VertexId, id: VertexId) -> bool {
        let mut open = vec![of];
        let mut walked = 0;
        while let Some(next) = open.pop() {
            walked += 1;
            if walked > MOST_WALKED {
                return false;
            }
            let tag = self.heap.get(next).conjuncts.len() == 1 && self.is_written_out(next);
            if tag || self.untouched_literal(next).is_some() {
                continue;
            }
            let there = self.follow(next);
            let vertex = self.heap.get(there);
            let done = vertex.state == State::Done && vertex.fault.is_none();
            let sound = done && vertex.choice.is_none() && self.has_one_order(vertex);
            let around = there != next && self.is_ancestor(there, id);
            if !sound || around || self.growing(there).is_some() {
                return false;
            }
            let members = self.heap.get(there).arcs.iter();
            open.extend(members.filter(|it| it.presence == Presence::Member).map(|it| it.vertex));
        }
        self.tick_for(walked as u64 / 16).is_ok()
    }

    /// Whether the fields of a vertex stand as they are written in one literal: those of several stand in the order in
    /// which a reference brings them (O-11).
    fn has_one_order(&self, vertex: &Vertex) -> bool {
        if vertex.arcs.is_empty() || vertex.is_list {
            return true;
        }
        let [conjunct] = vertex.conjuncts.as_slice() else { return false };
        let Source::Expr(said, _) = conjunct.source() else { return false };
        let Code::Struct(literal) = self.program.code(self.chosen(vertex, said)) else {
            return false;
        };
        let declarations = &self.program.structs[*literal as usize].declarations;
        declarations.iter().all(Declaration::is_of_fields)
    }

    /// Whether a vertex has no parts.
    fn is_flat(&self, id: VertexId) -> bool {
        let it = self.heap.get(self.follow(id));
        it.arcs.is_empty() && it.patterns.is_empty() && !it.is_struct && !it.is_list
    }

    /// What a choice is one of.
    pub(super) fn options(&self, choice: &Choice) -> Settled {
        match choice.all.iter().all(|it| self.is_flat(*it)) {
            true => Settled::Choice,
            false => Settled::Options,
        }
    }

    /// Whether each alternative of a choice says something, and is done with: what two choices that wait for each
    /// other are one of, does not.
    pub(super) fn is_said_in_full(&mut self, of: VertexId, id: VertexId) -> bool {
        let choice = self.heap.get(of).choice.as_deref();
        let all = choice.map(|it| it.all.clone()).unwrap_or_default();
        all.into_iter().all(|it| {
            let vertex = self.heap.get(self.follow(it));
            let says = vertex.scalar.is_some() || vertex.constrained;
            match self.is_flat(it) {
                true => says,
                false => self.leads_nowhere(it, id),
            }
        })
    }
}
