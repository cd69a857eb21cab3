//! List literals become arcs: elements, the length they demand, what comes behind the last.

use crate::builtin::Kinds;
use crate::error::{Fault, Kind};
use crate::evaluator::Evaluator;
use crate::heap::{By, Conjunct, EnvId, FaultId, Rest, Source, VertexId};
use crate::longer::LENGTHS;
use crate::program::{At, Code, ExprId, ListElement, Presence};

/// What comes behind the last element that a list names.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Closed,
    /// `...`
    Open,
}

impl Evaluator {
    /// A list that a function or a slice made has elements and nothing else. The way to a function's is
    /// that of its elements too.
    pub(crate) fn take_elements(&mut self, id: VertexId, list: VertexId, from: &Conjunct) {
        let is_slice = |expr| matches!(self.program.code(expr), Code::Slice(..));
        let via = match from.source() {
            Source::Expr(expr, _) if !is_slice(expr) => from.via,
            _ => 0,
        };
        let groups = &from.groups;
        let at = self.narrowed(list).at;
        let elements = self.elements(list);
        let lone = self.is_lone(id) && elements.iter().all(|it| self.is_bare_scalar(*it));
        self.narrow(id, Kinds::LIST, By::Vertex(list), at, 0);
        if lone {
            self.list_into(id, &elements);
            return;
        }
        self.heap.get_mut(id).is_list = true;
        for (index, element) in elements.iter().enumerate() {
            let label = self.labels.index(index);
            let child = self.add_arc(id, label, Presence::Member, groups, 0, at);
            let source = Source::Vertex(self.tried(self.follow(*element)));
            let groups = self.deep_groups(groups);
            let conjunct = Conjunct { groups, by_reference: true, via, ..Conjunct::new(source) };
            self.add_conjunct(child, conjunct);
        }
        self.fit_length(id, elements.len(), End::Closed, at);
    }

    /// Closed lists have one length, and open ones are no longer than that (S-19).
    pub(crate) fn fit_length(&mut self, id: VertexId, length: usize, end: End, at: At) {
        let open = end == End::Open;
        let vertex = self.heap.get_mut(id);
        // A list has as many vertices, so that 32 bits are enough.
        let length = u32::try_from(length).unwrap_or(u32::MAX);
        let other = match vertex.closed_length() {
            Some(closed) if closed < length || closed > length && !open => Some(closed),
            None if !open && vertex.longest > length => Some(vertex.longest),
            _ => None,
        };
        vertex.longest = vertex.longest.max(length);
        if !open && vertex.closed_length().is_none() {
            vertex.close_at(length);
        }
        if let Some(other) = other {
            let (short, long) = (other.min(length), other.max(length));
            let message = format!("{LENGTHS} ({short} and {long})");
            self.raise(id, Fault::new(Kind::Permanent, message, at));
        }
    }

    pub(crate) fn take_list(
        &mut self,
        id: VertexId,
        expr: ExprId,
        elements: &[ListElement],
        env: EnvId,
        conjunct: &Conjunct,
        at: At,
    ) -> Result<(), FaultId> {
        let conjuncts = self.heap.get(id).conjuncts.iter().chain([conjunct]);
        let closed = self.closed_by(conjuncts.flat_map(|it| &it.groups));
        let vertex = self.heap.get_mut(id);
        vertex.is_list = true;
        vertex.was_closed = vertex.was_closed.max(closed);
        self.narrow(id, Kinds::LIST, By::Expr(expr), at, conjunct.via);
        let mut next = 0;
        let mut end = End::Closed;
        for element in elements {
            match element {
                ListElement::Value(expr) => {
                    self.add_element(id, next, (*expr, env), conjunct);
                    next += 1;
                }
                ListElement::Comprehension(index) => {
                    for brought in self.yields(*index, env)? {
                        self.add_element(id, next, brought, conjunct);
                        next += 1;
                    }
                }
                ListElement::Rest(value) => {
                    end = End::Open;
                    let groups = self.deep_groups(&conjunct.groups);
                    let from = conjunct.lineage();
                    let rest = Rest { first: next, value: *value, env, groups, from };
                    self.heap.get_mut(id).rest.push(rest);
                }
            }
        }
        self.fit_length(id, next, end, at);
        Ok(())
    }

    /// The element at a place of a literal that came with a conjunct.
    fn add_element(
        &mut self,
        id: VertexId,
        place: usize,
        (value, env): (ExprId, EnvId),
        list: &Conjunct,
    ) {
        let label = self.labels.index(place);
        let groups = self.deep_groups(&list.groups);
        let at = self.program.at(value);
        let from = list.lineage();
        self.add_field(id, label, Presence::Member, value, env, groups, 0, at, None, from);
    }

    /// `...T` holds for every element that others bring; closed lists bring no more.
    pub(crate) fn list_rest(&mut self, id: VertexId) {
        if !self.heap.get(id).is_list || self.heap.get(id).rest.is_empty() {
            return;
        }
        let rest = self.heap.get(id).rest.clone();
        let arcs = self.elements(id);
        for Rest { first, value, env, groups, from } in rest {
            let Some(value) = value else { continue };
            for vertex in arcs.iter().skip(first) {
                let source = Source::Expr(value, env);
                self.add_conjunct(*vertex, Conjunct::late(source, groups.clone(), from));
            }
        }
    }
}
