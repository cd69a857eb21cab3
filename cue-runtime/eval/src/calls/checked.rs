//! `Validate` and `ValidatePartial` of JSON and YAML: whether a text says what a schema demands.

use super::CALL_BYTES;
use crate::builtin::{CallContext, CallError, Datum, Item, Run, Special, package};
use crate::closed::NOT_ALLOWED;
use crate::error::{Fault, Kind};
use crate::evaluation::Concreteness;
use crate::evaluator::Evaluator;
use crate::heap::{FaultId, VertexId};
use crate::program::{LabelKind, Presence};

/// How deep values are looked through for what they lack.
const DEPTH: usize = 100;

impl Evaluator {
    /// All that is wrong with a text is one error with the others as its causes; it is part of no
    /// value, the call has the place of them (cue-errors 1.10).
    pub(super) fn checked_text(
        &mut self,
        special: Special,
        bytes: Vec<u8>,
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
        let empty = bytes.iter().all(u8::is_ascii_whitespace);
        let decoded = match run(&mut CallContext::new(CALL_BYTES), &[Datum::bytes(bytes)]) {
            Ok(decoded) => decoded,
            // The text has the name of the function.
            Err(error) if !json && error.message.starts_with(':') => {
                let partial = special == Special::ValidateYamlPartial;
                let name = if partial { "yaml.ValidatePartial" } else { "yaml.Validate" };
                let message = format!("{name}{}", error.message);
                return Ok(Err(CallError { message, ..error }));
            }
            Err(error) => return Ok(Err(error)),
        };
        let documents: Vec<Datum> = match (json, decoded) {
            (false, Datum::List(documents)) => documents.iter().cloned().collect(),
            (_, decoded) => vec![decoded],
        };
        for document in documents {
            // A document without anything demands nothing.
            let both = match !json && empty {
                true => self.unify(schema),
                false => {
                    let value = self.datum_vertex(document);
                    let real = self.unify(schema);
                    let vertex = self.heap.get(real);
                    match vertex.is_struct || vertex.is_list || vertex.choice.is_some() {
                        true => self.both(value, schema),
                        false => self.both(schema, value),
                    }
                }
            };
            let mut found = Vec::new();
            self.permanent_all(both, &mut found, 0);
            if found.is_empty() && special != Special::ValidateYamlPartial {
                // Of JSON fields may be without a value, but not missing.
                let values = if json { Concreteness::Optional } else { Concreteness::Required };
                self.lacking_all(both, values, &mut found, 0);
            }
            let mut each = found.into_iter().flat_map(Fault::each).map(|mut it| {
                if let (NOT_ALLOWED, Some(field)) = (it.message.as_str(), it.place) {
                    it.positions.extend(self.declarations_of(field));
                }
                // What is not complete is never so as far as a text of YAML goes.
                if special == Special::ValidateYaml && it.kind != Kind::Budget {
                    it.kind = Kind::Permanent;
                }
                it.place = None;
                it
            });
            if let Some(mut first) = each.next() {
                first.causes = each.collect();
                return Err(self.heap.fault(first));
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
        depth: usize,
    ) {
        let real = self.unify(id);
        if depth > DEPTH || self.tick().is_err() {
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
