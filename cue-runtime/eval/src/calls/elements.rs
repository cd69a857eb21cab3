//! Lists as functions take them: their elements as data, or as handles (S-52).

use cue_map::Map;

use super::{Called, Slot};
use crate::builtin::{Datum, Kinds, Pass};
use crate::compare;
use crate::demand::{Concrete, Unmet};
use crate::error::{Fault, Kind};
use crate::evaluator::{Evaluator, Value};
use crate::heap::{FaultId, VertexId};
use crate::program::At;

impl Evaluator {
    /// Of a list of lists: an element that is none is told of as it is.
    pub(super) fn only_lists(
        &mut self,
        lists: &Datum,
        function: Called<'_>,
    ) -> Result<(), FaultId> {
        let Datum::List(items) = lists else { return Ok(()) };
        for item in items.iter() {
            let Datum::Live(raw) = item else { continue };
            let Some(id) = self.handled(*raw) else { continue };
            if let Some(fault) = self.heap.get(self.follow(id)).fault {
                return Err(self.in_call(fault, function));
            }
            let (text, kinds, at) = (self.short(id), self.kinds_of(id), self.written_at(id));
            let path = function.path();
            let (kind, message) = match kinds.meets(Kinds::LIST) {
                true => (Kind::Incomplete, format!("non-concrete value {kinds}")),
                false => {
                    let message = format!("cannot use value {text} (type {kinds}) as list");
                    (Kind::Permanent, message)
                }
            };
            let message = format!("error in call to {path}: {message}");
            return Err(self.fail_at(kind, message, function.at, vec![at]));
        }
        Ok(())
    }

    /// The elements of a list of numbers or strings.
    pub(super) fn elements_as(&mut self, list: VertexId, slot: Slot<'_>) -> Result<Datum, FaultId> {
        let Slot { parameter, place, function } = slot;
        let (kinds, noun) = match parameter.pass {
            Pass::Strings => (Kinds::STRING, "string"),
            _ => (Kinds::NUMBER, "number"),
        };
        let arcs = self.elements(list);
        let mut items = Vec::with_capacity(arcs.len());
        for (index, arc) in arcs.into_iter().enumerate() {
            let at = self.first_position(arc);
            let asked = match self.default_of(arc) {
                Some(_) => self.demand(Value::Vertex(arc), at),
                None => Err(Unmet::Open(arc)),
            };
            let value = match asked {
                Ok(value) => value,
                Err(Unmet::Fault(fault)) => {
                    let fault = self.element_of_itself(fault, function);
                    return Err(self.in_call(fault, function));
                }
                Err(Unmet::Open(id)) if self.kinds_of(id).meets(kinds) => {
                    let text = self.short(id);
                    let message = format!(
                        "error in call to {}: non-concrete value {text} for element {index} of {noun} list argument {place}",
                        function.path()
                    );
                    let positions = vec![self.written_at(id), at];
                    return Err(self.fail_at(Kind::Incomplete, message, function.at, positions));
                }
                Err(Unmet::Open(id)) => {
                    let (text, kinds) = (self.short(id), self.kinds_of(id));
                    let message = format!(
                        "error in call to {}: invalid list element {index} in argument {place} to call: cannot use value {text} ({kinds}) as {noun}",
                        function.path()
                    );
                    let positions = vec![at, self.written_at(id)];
                    return Err(self.fail_at(Kind::Permanent, message, function.at, positions));
                }
            };
            match value {
                Concrete::Datum(datum) if compare::kinds(&datum).meets(kinds) => items.push(datum),
                Concrete::Vertex(id) if let Some(fault) = self.permanent(id, 0) => {
                    let fault = self.heap.fault(fault);
                    return Err(self.in_call(fault, function));
                }
                other => {
                    let message = format!(
                        "error in call to {}: invalid list element {index} in argument {place} to call: cannot use value {} ({}) as {noun}",
                        function.path(),
                        self.concrete_text(&other),
                        self.concrete_kind(&other)
                    );
                    let positions = vec![at, self.written_at(arc)];
                    return Err(self.fail_at(Kind::Permanent, message, function.at, positions));
                }
            }
        }
        Ok(Datum::list(items))
    }

    /// A value that is computed from a list with itself in it is without end: the call fails for
    /// the element, and then for the list.
    fn element_of_itself(&mut self, fault: FaultId, function: Called<'_>) -> FaultId {
        if !self.waits_for_itself(fault) {
            return fault;
        }
        let fault = Fault::spread(Kind::StructuralCycle, "structural cycle");
        let fault = self.heap.fault(fault);
        let call = format!("error in call to {}", function.path());
        let fault = self.wrapped(fault, &call, function.at);
        self.wrapped(fault, &call, function.at)
    }

    /// Lists as lists, `most` of them in each other; everything else as it is.
    pub(super) fn tree(&mut self, id: VertexId, most: u32) -> Result<Datum, FaultId> {
        self.branch(id, most, 0, &mut Map::default())
    }

    /// What is `depth` lists deep in a tree; a list that stands there more than once is one.
    fn branch(
        &mut self,
        id: VertexId,
        most: u32,
        depth: u32,
        met: &mut Map<(VertexId, u32), Datum>,
    ) -> Result<Datum, FaultId> {
        // What is listed is as it is.
        let id = self.unify(id);
        let default = if depth > most { None } else { self.default_of(id) };
        let id = default.map_or(id, |it| self.unify(it));
        if let Some(list) = met.get(&(id, depth)) {
            return Ok(list.clone());
        }
        if let Some(fault) = self.heap.get(id).fault {
            let open = self.heap.faults[fault].kind.is_incomplete();
            return if open && depth > 0 { Ok(Datum::Live(self.handle(id))) } else { Err(fault) };
        }
        if !self.heap.get(id).is_list || depth > most {
            return Ok(Datum::Live(self.handle(id)));
        }
        let arcs = self.elements(id);
        let mut items = Vec::new();
        for arc in arcs {
            items.push(self.branch(arc, most, depth + 1, met)?);
        }
        let list = Datum::list(items);
        met.insert((id, depth), list.clone());
        Ok(list)
    }

    pub(super) fn handles_of(&mut self, value: Value, at: At) -> Result<Vec<Datum>, FaultId> {
        match self.concrete(value, at)? {
            Concrete::Vertex(id) if self.heap.get(id).is_list => {
                let arcs = self.elements(id);
                Ok(arcs.into_iter().map(|it| Datum::Live(self.handle(it))).collect())
            }
            _ => Err(self.fail(Kind::Permanent, "cannot use value as list", at)),
        }
    }
}
