//! Lists that are longer than what closes them: their elements are fields that are not allowed, if one of them has
//! something in it (cue-errors 1.3).

use crate::evaluator::Evaluator;
use crate::found::is_in_definition;
use crate::groups::Membership;
use crate::heap::{State, VertexId};
use crate::program::{LabelKind, Presence};

/// What lists that differ in length are told of by.
pub(crate) const LENGTHS: &str = "incompatible list lengths";

impl Evaluator {
    /// Elements that a closed list has not are no allowed fields, if one of them has something in it; others only
    /// make it a list of another length.
    pub(crate) fn refuse_elements(&mut self, id: VertexId) {
        if !self.is_longer(id) {
            return;
        }
        // Who asks for the list before its struct is done is told of the length.
        let parent = self.heap.get(id).parent;
        let early = parent.is_some_and(|it| self.heap.get(it).state == State::Running);
        if early && self.checked != parent {
            return;
        }
        let vertex = self.heap.get(id);
        let groups = vertex.conjuncts.iter().flat_map(|it| it.groups.iter().copied());
        let groups = groups.chain(vertex.closing.iter().map(|it| it.group));
        let mut closing: Vec<u32> = groups.filter(|it| self.closes_deeply(*it)).collect();
        cue_sort::ascending(&mut closing);
        closing.dedup();
        let all = 0..self.heap.get(id).arcs.len();
        let refused: Vec<usize> = all
            .filter(|index| closing.iter().any(|group| !self.has_element(id, *index, *group)))
            .collect();
        if refused.iter().any(|it| self.has_parts(id, *it)) && !self.fails_otherwise(id) {
            self.heap.get_mut(id).fault = None;
            for index in refused {
                if let Some((element, at)) = self.refusable(id, index) {
                    self.refuse(element, at, 0);
                }
            }
        }
    }

    /// Whether what a group closes says something of an element, be it by what follows its elements.
    fn has_element(&mut self, id: VertexId, index: usize, group: u32) -> bool {
        let rest = &self.heap.get(id).rest;
        if rest.iter().any(|it| it.first <= index && it.groups.contains(&group)) {
            return true;
        }
        let groups = self.heap.get(id).arcs[index].groups.clone();
        self.allows(id, index, group, &Membership::new(&groups, &self.joined))
    }

    /// Whether a list is longer than what closes it.
    fn is_longer(&self, id: VertexId) -> bool {
        let fault = self.heap.get(id).fault.map(|it| &self.heap.faults[it].message);
        fault.is_some_and(|it| it.starts_with(LENGTHS))
    }

    /// Whether an element has fields or elements, but for one that shares what a definition has: that stays as it is.
    fn has_parts(&mut self, id: VertexId, index: usize) -> bool {
        let element = self.heap.get(id).arcs[index].vertex;
        let part = self.unify(element);
        if part != element && is_in_definition(self, part) {
            return false;
        }
        self.heap.get(part).arcs.iter().any(|it| {
            let kind = self.labels.kind(it.label);
            let data = matches!(kind, LabelKind::Regular | LabelKind::Index);
            data && it.presence == Presence::Member
        })
    }

    /// Whether a list is longer by an element that has something in it.
    pub(crate) fn brings_parts(&mut self, id: VertexId) -> bool {
        let count = self.heap.get(id).arcs.len();
        self.is_longer(id) && (0..count).any(|index| self.has_parts(id, index))
    }
}
