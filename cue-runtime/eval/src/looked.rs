//! Functions that look at values, not data: what of a list is equal, how many of it fit a schema,
//! whether a text says what a schema demands.

use crate::builtin::{CallContext, CallError, Code as CallCode, Datum, Item, Kinds, Run, Special};
use crate::calls::CALL_BYTES;
use crate::error::Kind;
use crate::evaluator::{Evaluator, Value};
use crate::heap::{EnvId, VertexId};
use crate::program::{At, Code, ExprId, LabelKind, Presence};

/// How deep values are compared.
const DEPTH: usize = 100;

impl Evaluator {
    /// A call of what is no function by itself: it may become one as long as it may be anything.
    pub(crate) fn bad_call(&mut self, callee: ExprId, env: EnvId, at: At) -> Value {
        let kinds = match self.eval(callee, env) {
            Value::Fault(_) if self.is_unknown_member(callee) => Kinds::BOTTOM,
            Value::Fault(fault) => return Value::Fault(fault),
            Value::Vertex(id) => self.kinds_of(id),
            Value::Datum(datum) => {
                let id = self.datum_vertex(datum);
                self.kinds_of(id)
            }
        };
        let place = self.program.at(callee);
        let text = self.source_at(place);
        let fault = if kinds == Kinds::ANY {
            let message = format!("cannot call non-concrete value {text} (type {kinds})");
            self.fail(Kind::Incomplete, message, place)
        } else {
            let message = format!("cannot call non-function {text} (type {kinds})");
            self.fail(Kind::Permanent, message, at)
        };
        Value::Fault(fault)
    }

    /// Whether it is what a builtin package would have, but has not.
    fn is_unknown_member(&self, callee: ExprId) -> bool {
        let Code::Select(operand, _) = self.program.code(callee) else { return false };
        match self.program.code(*operand) {
            Code::Struct(index) => self.program.structs[*index as usize].declarations.is_empty(),
            _ => false,
        }
    }

    /// The elements of a list that is an argument.
    pub(crate) fn items_of(&mut self, list: Option<&Datum>) -> Vec<VertexId> {
        match list {
            Some(Datum::Live(raw)) => {
                let Some(id) = self.handles.get(*raw as usize).copied() else {
                    return Vec::new();
                };
                let id = self.unify(id);
                let id = self.default_of(id).unwrap_or(id);
                self.elements(id)
            }
            Some(Datum::List(items)) => {
                let items: Vec<Datum> = items.iter().cloned().collect();
                items.iter().map(|it| self.live(it)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// `list.UniqueItems`: what is equal stays equal only if the second of a pair is final.
    pub(crate) fn unique_items(&mut self, list: Option<&Datum>) -> Result<Datum, CallError> {
        let items = self.items_of(list);
        let keys: Vec<Option<String>> = items.iter().map(|it| self.equal_key(*it, 0)).collect();
        let mut found = None;
        for (first, key) in keys.iter().enumerate() {
            let Some(key) = key else { continue };
            for (second, other) in keys.iter().enumerate().skip(first + 1) {
                if other.as_ref() != Some(key) || self.tick().is_err() {
                    continue;
                }
                let scalar = items.get(second).is_some_and(|it| self.is_scalar(*it));
                let text = match scalar {
                    true => format!("equal value ({key}) at position {first} and {second}"),
                    false => format!("equal values at position {first} and {second}"),
                };
                if items.get(second).is_some_and(|it| self.is_final(*it)) {
                    return Err(CallError::unsatisfied(text));
                }
                found = Some(text);
            }
        }
        match found {
            Some(text) => Err(CallError::incomplete(text)),
            None => Ok(Datum::Bool(true)),
        }
    }

    /// The same for values that are equal: regular fields only, in no order.
    fn equal_key(&mut self, id: VertexId, depth: usize) -> Option<String> {
        let id = self.unify(id);
        let id = self.default_of(id)?;
        let vertex = self.heap.get(id);
        if vertex.fault.is_some() || depth > DEPTH {
            return None;
        }
        if vertex.is_list {
            let mut keys = Vec::new();
            for element in self.elements(id) {
                keys.push(self.equal_key(element, depth + 1)?);
            }
            return Some(format!("[{}]", keys.join(",")));
        }
        if vertex.scalar.is_some() || !vertex.is_struct {
            return Some(self.short(id));
        }
        let mut keys = Vec::new();
        for (label, vertex, presence) in self.ordered_members(id) {
            if presence == Presence::Member && self.labels.kind(label) == LabelKind::Regular {
                let name = self.label_text(label);
                keys.push(format!("{name}:{}", self.equal_key(vertex, depth + 1)?));
            }
        }
        keys.sort();
        Some(format!("{{{}}}", keys.join(",")))
    }

    fn is_scalar(&mut self, id: VertexId) -> bool {
        let id = self.unify(id);
        let id = self.default_of(id).unwrap_or(id);
        self.heap.get(id).scalar.is_some()
    }

    /// Whether nothing can be added to a value.
    fn is_final(&mut self, id: VertexId) -> bool {
        if self.is_scalar(id) {
            return true;
        }
        let id = self.unify(id);
        let id = self.default_of(id).unwrap_or(id);
        let vertex = self.heap.get(id);
        if !vertex.is_struct || !vertex.patterns.is_empty() || !self.is_closed_struct(id) {
            return false;
        }
        let arcs: Vec<_> =
            self.heap.get(id).arcs.iter().map(|it| (it.vertex, it.label, it.presence)).collect();
        arcs.into_iter().all(|(vertex, label, presence)| {
            if self.labels.kind(label) != LabelKind::Regular {
                return true;
            }
            match presence {
                Presence::Member => self.datum(vertex).is_ok(),
                // What cannot be set is not added.
                Presence::Optional | Presence::Required => self.permanent(vertex, 0).is_some(),
            }
        })
    }

    /// `list.MatchN`: how many elements fit, and whether that many should.
    pub(crate) fn match_items(
        &mut self,
        list: Option<&Datum>,
        limit: VertexId,
        schema: VertexId,
    ) -> Result<Datum, CallError> {
        let mut count = 0;
        for item in self.items_of(list) {
            count += i64::from(self.fit(item, schema).is_ok());
        }
        let number = self.datum_vertex(Datum::int(count));
        if self.unifies(number, limit) {
            return Ok(Datum::Bool(true));
        }
        let (schema, limit) = (self.short(schema), self.short(limit));
        let text = format!("{schema} matches {count} list items, want {limit}");
        Err(CallError::unsatisfied(text))
    }

    /// Whether a struct with `count` fields may come to have `least`.
    pub(crate) fn may_grow(&self, id: VertexId, least: i64) -> bool {
        let vertex = self.heap.get(id);
        let fields =
            vertex.arcs.iter().filter(|it| self.labels.kind(it.label) == LabelKind::Regular);
        let possible = i64::try_from(fields.count()).unwrap_or(i64::MAX);
        !vertex.patterns.is_empty() || !self.is_closed_struct(id) || possible >= least
    }

    /// `Validate` and `ValidatePartial` of JSON and YAML.
    pub(crate) fn checked_text(
        &mut self,
        special: Special,
        bytes: Vec<u8>,
        schema: VertexId,
    ) -> Result<Datum, CallError> {
        let json = special == Special::ValidateJson;
        let (package, name) = match json {
            true => ("encoding/json", "Unmarshal"),
            false => ("encoding/yaml", "UnmarshalStream"),
        };
        let decode = crate::builtin::package(package).and_then(|it| it.member(name));
        let Some(Item::Function(decode)) = decode.map(|it| &it.item) else {
            return Ok(Datum::Bool(true));
        };
        let Run::Pure(run) = decode.run else { return Ok(Datum::Bool(true)) };
        let empty = bytes.iter().all(u8::is_ascii_whitespace);
        let decoded = run(&mut CallContext::new(CALL_BYTES), &[Datum::bytes(bytes)])?;
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
                    self.both(value, schema)
                }
            };
            if let Some(fault) = self.permanent(both, 0) {
                let mut error = CallError::permanent(fault.message);
                if fault.kind == Kind::StructuralCycle && special != Special::ValidateYaml {
                    error.code = CallCode::Endless;
                }
                return Err(error);
            }
            match special {
                Special::ValidateYamlPartial => {}
                // Fields may be without a value, but not missing.
                Special::ValidateJson => {
                    if let Some(text) = self.missing(both, 0) {
                        return Err(CallError::incomplete(text));
                    }
                }
                _ => {
                    if let Err(fault) = self.datum(both) {
                        let text = self.heap.faults[fault.0 as usize].message.clone();
                        return Err(CallError::permanent(text));
                    }
                }
            }
        }
        Ok(Datum::Bool(true))
    }

    /// The error of a required field that is not there.
    fn missing(&mut self, id: VertexId, depth: usize) -> Option<&'static str> {
        let id = self.unify(id);
        let id = self.default_of(id)?;
        if depth > DEPTH || self.tick().is_err() {
            return None;
        }
        let arcs: Vec<_> =
            self.heap.get(id).arcs.iter().map(|it| (it.vertex, it.label, it.presence)).collect();
        arcs.into_iter().find_map(|(vertex, label, presence)| {
            let kind = self.labels.kind(label);
            match presence {
                Presence::Required if kind == LabelKind::Regular => {
                    Some("field is required but not present")
                }
                Presence::Member if matches!(kind, LabelKind::Regular | LabelKind::Index) => {
                    self.missing(vertex, depth + 1)
                }
                _ => None,
            }
        })
    }
}
