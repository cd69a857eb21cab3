//! `Validate` and `ValidatePartial` of JSON and YAML: whether a text says what a schema demands.

use super::CALL_BYTES;
use crate::builtin::{CallContext, CallError, Datum, Item, Run, Special, package};
use crate::closed::NOT_ALLOWED;
use crate::error::{Fault, Kind};
use crate::evaluation::Concreteness;
use crate::evaluator::Evaluator;
use crate::heap::{FaultId, VertexId};
use crate::program::{LabelKind, Presence};

impl Evaluator {
    /// All that is wrong with a text is one error with the others as its causes; it is part of no
    /// value, the call has the place of them (cue-errors 1.10).
    pub(super) fn checked_text(
        &mut self,
        special: Special,
        text: &Datum,
        schema: VertexId,
    ) -> Result<Result<Datum, CallError>, FaultId> {
        let json = special == Special::ValidateJson;
        let (path, name) = match json {
            true => ("encoding/json", "Unmarshal"),
            false => ("encoding/yaml", "UnmarshalStream"),
        };
        let decode = package(path).and_then(|it| it.member(name));
        let Some(Item::Function(decode)) = decode.map(|it| &it.item) else {
            return Ok(Ok(Datum::Bool(true)));
        };
        let Run::Pure(run) = decode.run else { return Ok(Ok(Datum::Bool(true))) };
        let name = match special {
            Special::ValidateYaml => "yaml.Validate",
            Special::ValidateYamlPartial => "yaml.ValidatePartial",
            _ => "json.Validate",
        };
        let mut context = CallContext::new(CALL_BYTES);
        context.base = self.spots.base(text);
        let decoded = match run(&mut context, std::slice::from_ref(text)) {
            Ok(decoded) => decoded,
            // The text has the name of the function.
            Err(error) if !json && error.message.starts_with(':') => {
                let message = format!("{name}{}", error.message);
                return Ok(Err(CallError { message, ..error }));
            }
            Err(error) => return Ok(Err(error)),
        };
        self.spots.keep(context.base, name, text);
        let documents: Vec<(Datum, u32)> = match (json, decoded) {
            (false, Datum::List(documents)) => documents
                .iter()
                .enumerate()
                .map(|(index, it)| (it.clone(), documents.place(index).unwrap_or(0)))
                .collect(),
            (_, decoded) => vec![(decoded, context.read.map_or(0, |it| it.1))],
        };
        for (document, spot) in documents {
            let kind = document.kind_name();
            let value = self.live(document);
            self.placed_at(value, spot);
            if json {
                // What is wrong in there is told with the whole, too.
                let via = self.heap.cross(0, self.spots.at(spot));
                self.heap.get_mut(value).conjuncts.iter_mut().for_each(|it| it.via = via);
            }
            let real = self.unify(schema);
            let vertex = self.heap.get(real);
            let same = self.scalar_of(vertex).is_some_and(|it| it.0.kind_name() == kind);
            let first = !json || vertex.is_struct || vertex.is_list || same;
            let both = match first || vertex.choice.is_some() {
                true => self.both(value, schema),
                false => self.both(schema, value),
            };
            let mut found = Vec::new();
            self.permanent_all(both, &mut found, 0);
            if found.is_empty() && special != Special::ValidateYamlPartial {
                // Of JSON fields may be without a value, but not missing.
                let values = if json { Concreteness::Optional } else { Concreteness::Required };
                self.lacking_all(both, values, &mut found, 0);
            }
            let each = found.into_iter().flat_map(Fault::each).map(|mut it| {
                if let (NOT_ALLOWED, Some(field)) = (it.message.as_str(), it.place) {
                    it.positions.extend(self.declarations_of(field));
                }
                // What is not complete is never so as far as a text of YAML goes.
                if special == Special::ValidateYaml && it.kind != Kind::Budget {
                    it.kind = Kind::Permanent;
                }
                it.inner = self.moved(it.clone(), both, self.place).place;
                it.place = Some(self.place);
                it
            });
            if let Some(wrong) = Fault::listed(each) {
                return Err(self.heap.fault(wrong));
            }
        }
        Ok(Ok(Datum::Bool(true)))
    }

    /// Required fields that are not there; if values have to be concrete also what is not.
    fn lacking_all(
        &mut self,
        id: VertexId,
        values: Concreteness,
        out: &mut Vec<Fault>,
        depth: u32,
    ) {
        let real = self.unify(id);
        if depth > self.budget.depth || self.tick().is_err() {
            return;
        }
        let Some(shown) = self.default_of(real).filter(|it| {
            let vertex = self.heap.get(*it);
            vertex.fault.is_none() && (vertex.is_struct || vertex.is_list)
        }) else {
            if let Some(Err(fault)) = (values == Concreteness::Required).then(|| self.datum(id)) {
                let mut fault = self.heap.faults[fault].clone();
                if !fault.message.starts_with("incomplete value ") {
                    out.push(fault);
                    return;
                }
                // Where the type stands, if it is one (cue-errors 1.13).
                fault.at = Default::default();
                fault.positions = vec![self.written_at(real)];
                out.push(fault);
            }
            return;
        };
        for index in 0..self.heap.get(shown).arcs.len() {
            let arc = &self.heap.get(shown).arcs[index];
            let (label, vertex, presence) = (arc.label, arc.vertex, arc.presence);
            if !matches!(self.labels.kind(label), LabelKind::Regular | LabelKind::Index) {
                continue;
            }
            match presence {
                Presence::Required => {
                    out.push(self.not_given(vertex));
                }
                Presence::Member => self.lacking_all(vertex, values, out, depth + 1),
                Presence::Optional => {}
            }
        }
    }
}
