//! Values out: plain data, short texts for messages, paths.

use crate::budget::TOO_DEEP;
use crate::builtin::{Datum, Kinds};
use crate::compare;
use crate::error::{Fault, Kind};
use crate::evaluator::Evaluator;
use crate::heap::{FaultId, VertexId};
use crate::order::Defaults;
use crate::program::{At, Label, LabelKind, MOST_NESTED, Presence};

/// How CUE text is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Everything, evaluated: `cue eval`.
    Eval,
    /// Defaults taken, regular fields only.
    Final,
    /// With optional fields, definitions, docs and attributes.
    Definition,
}

/// What becomes of functions in a value that is read as data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Functions {
    /// No format has them.
    Refused,
    /// They are concrete.
    Kept,
}

impl Evaluator {
    /// Where a vertex stands, in CUE's path syntax: a value that is computed on the way begins one.
    pub(crate) fn path(&self, id: VertexId) -> String {
        let mut labels = Vec::new();
        let mut next = Some(id).filter(|it| *it != self.root);
        while let Some(id) = next {
            let vertex = self.heap.get(id);
            let Some(label) = vertex.label.or_else(|| self.let_name(id)) else { break };
            labels.push(self.label_text(label));
            next = vertex.parent.filter(|it| *it != self.root);
        }
        labels.reverse();
        labels.join(".")
    }

    /// A label as it is printed: keywords need no quotes (O-84).
    pub(crate) fn label_text(&self, label: Label) -> String {
        let name = self.labels.name(label);
        match self.labels.kind(label) {
            LabelKind::Regular
                if !cue_syntax::is_identifier(&name) && !cue_syntax::is_keyword(&name) =>
            {
                Datum::text(name).cue_text()
            }
            _ => name.to_string(),
        }
    }

    /// The same as messages name it within a value: what a package hides with the path of that, or with its name
    /// (cue-errors 0.3).
    pub(crate) fn qualified(&self, label: Label) -> String {
        let mut text = self.label_text(label);
        let hidden = [LabelKind::Hidden, LabelKind::HiddenDefinition];
        if !hidden.contains(&self.labels.kind(label)) {
            return text;
        }
        match (self.labels.package(label), &self.program.package) {
            (Some(path), _) => text.extend(["(", path, ")"]),
            (None, Some(name)) => text.extend(["(:", name, ")"]),
            (None, None) => {}
        }
        text
    }

    /// The elements of a list; hidden fields and definitions may stand beside them.
    pub(crate) fn elements(&self, id: VertexId) -> Vec<VertexId> {
        let arcs = self.heap.get(id).arcs.iter();
        let arcs = arcs.filter(|it| self.labels.kind(it.label) == LabelKind::Index);
        arcs.map(|it| it.vertex).collect()
    }

    /// The value as data: concrete all the way down, defaults taken.
    pub(crate) fn datum(&mut self, id: VertexId) -> Result<Datum, FaultId> {
        self.datum_with(id, Functions::Refused)
    }

    /// The same, with what becomes of functions in it.
    pub(crate) fn datum_with(
        &mut self,
        id: VertexId,
        functions: Functions,
    ) -> Result<Datum, FaultId> {
        let datum = self.datum_at(id, functions, 0)?;
        // Whatever was found with a text that could not be read is wrong.
        self.charge(0)?;
        Ok(datum)
    }

    fn datum_at(
        &mut self,
        id: VertexId,
        functions: Functions,
        depth: u32,
    ) -> Result<Datum, FaultId> {
        if let Some(literal) = self.untouched_literal(id) {
            if depth + u32::from(MOST_NESTED) <= self.budget.depth {
                return self.literal_datum(literal);
            }
        }
        self.tick()?;
        self.charge(64)?;
        let place = id;
        let id = self.unify(id);
        if depth > self.budget.depth {
            let at = self.first_position(id);
            return Err(self.fail(Kind::Budget, TOO_DEEP, at));
        }
        let Some(id) = self.default_of(id) else {
            // Of several defaults the others do not count.
            let defaults = self.heap.get(id).choice.as_ref().map(|it| it.defaults.clone());
            let text = match defaults.filter(|it| !it.is_empty()) {
                Some(all) => {
                    let all: Vec<String> = all.into_iter().map(|it| self.short(it)).collect();
                    all.join(" | ")
                }
                None => self.short(id),
            };
            return Err(self.incomplete(place, id, &text));
        };
        if let Some(fault) = self.heap.fault_of(place, id) {
            return Err(self.placed(fault, place));
        }
        let vertex = self.heap.get(id);
        let scalar = self.scalar_of(vertex);
        if let Some((Datum::Function(name), at)) =
            scalar.filter(|_| functions == Functions::Refused)
        {
            // cue-errors 1.13
            let name = name.name;
            let message = format!("cannot convert value {name:?} of type *adt.Builtin to JSON");
            let fault = self.fail_at(Kind::Permanent, message, At::default(), vec![at]);
            return Err(self.placed(fault, place));
        }
        if let Some((datum, _)) = scalar {
            return self.read(datum.clone());
        }
        if self.is_being_listed(id) {
            return Err(self.incomplete(place, id, "list"));
        }
        if vertex.is_list {
            let arcs = self.elements(id);
            let mut items = Vec::with_capacity(arcs.len());
            for arc in arcs {
                items.push(self.datum_at(arc, functions, depth + 1)?);
            }
            return Ok(Datum::list(items));
        }
        if vertex.is_struct {
            let defaults = self.defaults;
            self.defaults = if depth == 0 { Defaults::Values } else { defaults };
            let arcs = self.ordered_members(id);
            self.defaults = defaults;
            let mut fields = Vec::with_capacity(arcs.len());
            for (label, arc, presence) in arcs {
                if self.labels.kind(label) != LabelKind::Regular {
                    continue;
                }
                match presence {
                    Presence::Member => {}
                    Presence::Optional => continue,
                    Presence::Required => {
                        let fault = self.not_given(arc);
                        return Err(self.heap.fault(fault));
                    }
                }
                let name = self.labels.name(label);
                fields.push((name, self.datum_at(arc, functions, depth + 1)?));
            }
            return Ok(Datum::fields(fields));
        }
        let text = self.short(id);
        Err(self.incomplete(place, id, &text))
    }

    /// Data that leaves the evaluator needs its allowance for texts no more.
    fn read(&mut self, datum: Datum) -> Result<Datum, FaultId> {
        match datum {
            Datum::String(text) if !text.is_whole() => {
                let text = text.whole();
                self.charge(0)?;
                Ok(Datum::text(text))
            }
            datum => Ok(datum),
        }
    }

    fn incomplete(&mut self, place: VertexId, id: VertexId, text: &str) -> FaultId {
        let mut fault = Fault::spread(Kind::Incomplete, format!("incomplete value {text}"));
        fault.positions = vec![self.written_at(id)];
        fault.place = Some(place);
        self.heap.fault(fault)
    }

    /// The fault with the path of the vertex it was found at.
    pub(crate) fn placed(&mut self, fault: FaultId, id: VertexId) -> FaultId {
        if self.heap.faults[fault].place.is_some() {
            return fault;
        }
        let mut placed = self.heap.faults[fault].clone();
        placed.place = Some(id);
        self.heap.fault(placed)
    }

    /// What of the value is concrete, as data; `None` if nothing is.
    pub(crate) fn lenient(&mut self, id: VertexId, depth: u32) -> Option<Datum> {
        self.tick().and_then(|()| self.charge(64)).ok()?;
        let place = id;
        let id = self.unify(id);
        let id = self.default_of(id)?;
        let vertex = self.heap.get(id);
        if let Some(fault) = self.heap.fault_of(place, id) {
            let kind = self.heap.faults[fault].kind;
            if !(kind.is_incomplete() && vertex.is_struct) {
                return None;
            }
        }
        if depth > self.budget.depth {
            return None;
        }
        let vertex = self.heap.get(id);
        if let Some((datum, _)) = self.scalar_of(vertex) {
            return self.read(datum.clone()).ok();
        }
        if vertex.is_list {
            let arcs = self.elements(id);
            let items = arcs.into_iter().filter_map(|it| self.lenient(it, depth + 1)).collect();
            return Some(Datum::list(items));
        }
        if !vertex.is_struct {
            return None;
        }
        let arcs: Vec<(Label, VertexId)> = self
            .ordered_members(id)
            .into_iter()
            .filter(|it| it.2 == Presence::Member)
            .map(|it| (it.0, it.1))
            .collect();
        let mut fields = Vec::new();
        for (label, arc) in arcs {
            let kind = self.labels.kind(label);
            let shown = kind == LabelKind::Regular;
            if !shown {
                continue;
            }
            if let Some(value) = self.lenient(arc, depth + 1) {
                fields.push((self.labels.name(label), value));
            }
        }
        Some(Datum::fields(fields))
    }

    /// What a value has to be that is no list and no struct yet, but can be nothing else: a validator of one says so.
    pub(crate) fn container(&self, id: VertexId) -> Option<&'static str> {
        let vertex = self.heap.get(self.follow(id));
        if vertex.is_list || vertex.is_struct || vertex.choice.is_some() || vertex.fault.is_some() {
            return None;
        }
        match vertex.kinds {
            Kinds::LIST => Some("list"),
            Kinds::STRUCT => Some("struct"),
            _ => None,
        }
    }

    /// Kinds a value has or may get.
    pub(crate) fn kinds_of(&mut self, id: VertexId) -> Kinds {
        let id = self.unify(id);
        let vertex = self.heap.get(id);
        if let Some(choice) = vertex.choice.clone() {
            let mut all = Kinds::BOTTOM;
            for each in choice.all {
                all = all.or(self.kinds_of(each));
            }
            return all;
        }
        if let Some(fault) = vertex.fault {
            return if self.heap.faults[fault].kind.is_incomplete() {
                vertex.kinds
            } else {
                Kinds::BOTTOM
            };
        }
        match self.scalar_of(vertex) {
            Some((datum, _)) => compare::kinds(datum),
            None if vertex.is_list => Kinds::LIST,
            None if vertex.is_struct => Kinds::STRUCT,
            None => vertex.kinds,
        }
    }

    /// Whether it is a scalar, a struct or a list.
    pub(crate) fn is_concrete(&mut self, id: VertexId) -> bool {
        let id = self.unify(id);
        let vertex = self.heap.get(id);
        vertex.choice.is_none()
            && vertex.fault.is_none()
            && (vertex.scalar.is_some() || vertex.is_list || vertex.is_struct)
    }
}

pub(crate) fn marker(presence: Presence) -> &'static str {
    match presence {
        Presence::Member => "",
        Presence::Optional => "?",
        Presence::Required => "!",
    }
}
