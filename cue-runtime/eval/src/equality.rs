//! `==` of structs and lists where they stand: member by member, without making them plain data (S-56).

use crate::builtin::Datum;
use crate::compare;
use crate::demand::{Concrete, Operand};
use crate::evaluator::Evaluator;
use crate::heap::{FaultId, VertexId};
use crate::program::{Label, LabelKind, Presence};

/// How deep values are compared in place: those deeper are compared as data.
const MOST_NESTED: u32 = 1_000;

impl Evaluator {
    /// Whether two operands are equal, if both are structs or lists that are concrete all the way down. Of others,
    /// and of those that are not, making data of them tells the answer, or what is missing.
    pub(crate) fn equal_in_place(
        &mut self,
        left: &Operand,
        right: &Operand,
    ) -> Result<Option<bool>, FaultId> {
        let (Concrete::Vertex(left), Concrete::Vertex(right)) = (&left.value, &right.value) else {
            return Ok(None);
        };
        let (left, right) = (*left, *right);
        if !self.is_whole(left, 0)? || !self.is_whole(right, 0)? {
            // Who tells what is missing in one says what the other is.
            self.unify(left);
            self.unify(right);
            return Ok(None);
        }
        self.equal_members(left, right).map(Some)
    }

    /// Whether a value is concrete all the way down, as [`Evaluator::datum`] asks for it.
    fn is_whole(&mut self, id: VertexId, depth: u32) -> Result<bool, FaultId> {
        self.tick()?;
        if self.untouched_literal(id).is_some() {
            return Ok(true);
        }
        let place = id;
        let Some(id) = self.default_of(id) else { return Ok(false) };
        if depth > MOST_NESTED
            || self.heap.fault_of(place, id).is_some()
            || self.is_being_listed(id)
        {
            return Ok(false);
        }
        let vertex = self.heap.get(id);
        if let Some((datum, _)) = self.scalar_of(vertex) {
            return Ok(match datum {
                Datum::String(text) => text.is_whole(),
                Datum::Live(_) => false,
                _ => true,
            });
        }
        if !vertex.is_list && !vertex.is_struct {
            return Ok(false);
        }
        for at in 0..vertex.arcs.len() {
            let Some(arc) = self.heap.get(id).arcs.get(at) else { break };
            let (member, presence) = (arc.vertex, arc.presence);
            if !self.counts(id, arc.label) || presence == Presence::Optional {
                continue;
            }
            if presence == Presence::Required || !self.is_whole(member, depth + 1)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether two values that are concrete all the way down are equal.
    fn equal_members(&mut self, left: VertexId, right: VertexId) -> Result<bool, FaultId> {
        self.tick()?;
        if let (Some(left), Some(right)) =
            (self.untouched_literal(left), self.untouched_literal(right))
        {
            if let Some(same) = self.same_literals(left, right)? {
                return Ok(same);
            }
        }
        let (Some(left), Some(right)) = (self.default_of(left), self.default_of(right)) else {
            return Ok(false);
        };
        let (one, other) = (self.heap.get(left), self.heap.get(right));
        match (self.scalar_of(one), self.scalar_of(other)) {
            (Some((one, _)), Some((other, _))) => return Ok(compare::same(one, other)),
            (None, None) => {}
            _ => return Ok(false),
        }
        if left == right {
            return Ok(true);
        }
        if one.is_list != other.is_list || self.count_of(left) != self.count_of(right) {
            return Ok(false);
        }
        for at in 0..self.heap.get(left).arcs.len() {
            let Some(arc) = self.heap.get(left).arcs.get(at) else { break };
            let (label, member) = (arc.label, arc.vertex);
            if arc.presence != Presence::Member || !self.counts(left, label) {
                continue;
            }
            // Most often they stand in one order.
            let arcs = &self.heap.get(right).arcs;
            let beside = arcs.get(at).filter(|it| it.label == label);
            let found = beside.or_else(|| arcs.named(label));
            let Some(found) = found.filter(|it| it.presence == Presence::Member) else {
                return Ok(false);
            };
            let found = found.vertex;
            if !self.equal_members(member, found)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Members of a value that count for equality.
    fn count_of(&self, id: VertexId) -> usize {
        let arcs = self.heap.get(id).arcs.iter();
        arcs.filter(|it| it.presence == Presence::Member && self.counts(id, it.label)).count()
    }

    /// Whether a member is one of the data that a struct or a list is.
    fn counts(&self, id: VertexId, label: Label) -> bool {
        let wanted = if self.heap.get(id).is_list { LabelKind::Index } else { LabelKind::Regular };
        self.labels.kind(label) == wanted
    }
}
