//! Fields that are required of what turns out to be no struct: a literal that embeds is one by its other fields
//! alone (cue-errors 1.1).

use crate::builtin::Kinds;
use crate::error::{Fault, Kind};
use crate::evaluator::Evaluator;
use crate::export::marker;
use crate::heap::{ArcEntry, Conjunct, FaultId, Source, VertexId};
use crate::program::{At, LabelKind, Presence};

impl Evaluator {
    /// Whether only a struct has such a field: a regular one, be it there or only required.
    pub(crate) fn makes_struct(&self, arc: &ArcEntry) -> bool {
        arc.presence != Presence::Optional && self.labels.kind(arc.label) == LabelKind::Regular
    }

    /// No scalar and no list has one.
    pub(crate) fn check_fields(&mut self, id: VertexId) {
        let vertex = self.heap.get(id);
        let fits = vertex.kinds.meets(Kinds::STRUCT) || vertex.kinds == Kinds::BOTTOM;
        if vertex.arcs.is_empty() || fits || vertex.choice.is_some() {
            return;
        }
        let wrong = |it: FaultId| !self.heap.faults[it].kind.is_incomplete();
        if vertex.fault.is_some_and(wrong) {
            return;
        }
        for index in 0..self.heap.get(id).arcs.len() {
            let arc = &self.heap.get(id).arcs[index];
            let (label, field) = (arc.label, arc.vertex);
            if !self.makes_struct(arc) {
                continue;
            }
            let real = self.unify(field);
            if self.heap.fault_of(field, real).is_some() {
                continue;
            }
            let (value, from) = self.unfit(id);
            let name = self.label_text(label);
            let message = format!("cannot combine regular field {name:?} with {value}");
            let mut fault = Fault::new(Kind::Permanent, message, self.written_at(real));
            fault.positions = from;
            fault.place = Some(id);
            let fault = self.heap.fault(fault);
            self.raise_id(id, fault);
        }
    }

    /// What such a value is, and where that is said.
    fn unfit(&mut self, id: VertexId) -> (String, Vec<At>) {
        let vertex = self.heap.get(id);
        if let Some((datum, at)) = self.scalar_of(vertex) {
            return (datum.cue_text(), vec![at]);
        }
        let said = |it: &Conjunct| match it.source() {
            Source::Expr(expr, _) => Some(self.program.at(expr)),
            Source::Data(_) | Source::Vertex(_) => None,
        };
        let from = vertex.conjuncts.iter().filter_map(said).collect();
        if vertex.is_list {
            return (self.short(id), from);
        }
        // Of what is not known its fields are told.
        let fields: Vec<_> =
            vertex.arcs.iter().map(|it| (it.label, it.presence, it.vertex)).collect();
        let told = fields.into_iter().map(|(label, presence, field)| {
            let name = self.label_text(label);
            format!("{name}{}:{}", marker(presence), self.short(field))
        });
        let told: Vec<String> = told.collect();
        (format!("{{{}}}", told.join(",")), from)
    }
}
