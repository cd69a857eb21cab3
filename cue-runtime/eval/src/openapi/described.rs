//! What the schema of one value says.

use crate::builtin::{CallError, Datum, Kinds};
use crate::heap::{ArcEntry, Conjunct, EnvId, Source, Test, VertexId};
use crate::openapi::parts::Part;
use crate::openapi::said::Said;
use crate::openapi::words::type_name;
use crate::openapi::{DEPTH, Document, References, wrong};
use crate::program::{At, Code, LabelKind, Presence};

impl Document<'_> {
    /// A definition and those within it. What is called `#x_value` is described only where something refers to it.
    pub(super) fn define(&mut self, id: VertexId, arc: &ArcEntry) -> Result<(), CallError> {
        let name = self.it.labels.name(arc.label);
        if name.ends_with("_value") {
            return Ok(());
        }
        let name = name.trim_start_matches('#').into();
        self.trail.push(name);
        let schema = self.describe(id, Some(arc))?.into_datum();
        let name = self.trail.join(".");
        self.schemas.push((name.into(), schema));
        self.trail.pop();
        Ok(())
    }

    /// The schema of a value; `arc` has its comments.
    pub(super) fn describe(
        &mut self,
        id: VertexId,
        arc: Option<&ArcEntry>,
    ) -> Result<Said, CallError> {
        if self.depth == DEPTH {
            return Err(CallError::permanent("openapi: schema nested too deeply"));
        }
        self.it.tick().map_err(|it| self.fault(it))?;
        self.depth += 1;
        let outer = std::mem::replace(&mut self.alternatives, false);
        let said = self.described(id, arc);
        self.alternatives = outer;
        self.depth -= 1;
        said
    }

    fn described(&mut self, id: VertexId, arc: Option<&ArcEntry>) -> Result<Said, CallError> {
        // What it refers to may lead back here: it is not looked at.
        if self.references == References::Kept {
            if let Some(Part::Named(name, target)) = self.only_reference(id) {
                return Ok(Said::named(&self.name(name, target)));
            }
        }
        let kinds = self.sound(id)?;
        let mut names: Vec<String> = Vec::new();
        let mut own = Vec::new();
        if self.references == References::Kept {
            for part in self.parts(id)? {
                match part {
                    Part::Named(name, target) => {
                        if !names.contains(&name) {
                            names.push(self.name(name, target));
                        }
                    }
                    own_part => own.push(own_part),
                }
            }
        }
        if let ([only], []) = (names.as_slice(), own.as_slice()) {
            return Ok(Said::named(only));
        }
        let mut said = self.begun(kinds);
        let notes = || arc.into_iter().flat_map(|it| it.notes());
        let deprecated = self.it.program.attributes(notes()).into_iter().any(is_deprecated);
        let text = self.it.comment_of(notes());
        if !text.is_empty() {
            said.once("description", Datum::text(text));
        }
        if deprecated {
            said.once("deprecated", Datum::Bool(true));
        }
        names.iter().for_each(|it| said.refer(it));
        let kept = !names.is_empty() || kinds.meets(Kinds::STRUCT);
        match kept && self.references == References::Kept {
            true => self.each(id, &own, kinds, &mut said)?,
            false => self.value(id, &mut said)?,
        }
        if names.is_empty() {
            self.default(id, &mut said);
        }
        // What has fields of its own does not become what it refers to.
        said.apart |= !names.is_empty() && !said.properties.is_empty();
        Ok(said)
    }

    /// A schema that says of which type it is.
    fn begun(&self, kinds: Kinds) -> Said {
        let nullable = kinds.meets(Kinds::NULL) && kinds != Kinds::ANY;
        let kinds = if nullable { kinds.without(Kinds::NULL) } else { kinds };
        let mut said = Said::default();
        said.kind = type_name(kinds);
        if nullable {
            said.once("nullable", Datum::Bool(true));
        }
        said
    }

    /// The kinds of a value that is no error.
    fn sound(&mut self, id: VertexId) -> Result<Kinds, CallError> {
        let real = self.it.unify(id);
        match self.it.heap.get(real).fault {
            Some(fault) => Err(wrong(&self.it.heap.faults[fault])),
            None => Ok(self.it.kinds_of(real)),
        }
    }

    /// A schema that will be described too.
    fn name(&mut self, name: String, target: Option<VertexId>) -> String {
        if !self.named.iter().any(|it| it.0 == name) {
            self.named.push((name.clone(), target));
        }
        name
    }

    /// What the parts of a value say besides its references: those of structs each by itself, others
    /// together.
    fn each(
        &mut self,
        id: VertexId,
        parts: &[Part],
        kinds: Kinds,
        said: &mut Said,
    ) -> Result<(), CallError> {
        let literals: Vec<EnvId> = parts
            .iter()
            .filter_map(|it| if let Part::Literal(env) = it { Some(*env) } else { None })
            .collect();
        if !kinds.meets(Kinds::STRUCT) {
            let mut whole: Option<VertexId> = None;
            for part in parts {
                let (Part::Value(value) | Part::Choice(_, value)) = part else { continue };
                whole = Some(match whole {
                    Some(held) => self.it.both(held, *value),
                    None => *value,
                });
            }
            return whole.map_or(Ok(()), |it| self.value(it, said));
        }
        for part in parts {
            match part {
                Part::Named(..) => {}
                Part::Value(value) => self.value(*value, said)?,
                Part::Choice(alternatives, whole) => match alternatives.as_slice() {
                    [] | [_] => self.value(*whole, said)?,
                    all => self.choice(all, said)?,
                },
                Part::Literal(env) => {
                    let only = (parts.len() > 1 || said.is_said()).then_some((*env, &*literals));
                    self.fields(id, only, said)?;
                }
            }
        }
        Ok(())
    }

    /// What an evaluated value says.
    fn value(&mut self, id: VertexId, said: &mut Said) -> Result<(), CallError> {
        self.sound(id)?;
        let id = self.it.unify(id);
        if let Some(choice) = self.it.choice_of(id) {
            let mut all: Vec<(VertexId, bool)> =
                choice.all.iter().map(|it| (*it, choice.defaults.contains(it))).collect();
            // Defaults change places with those that stand first.
            let marked: Vec<usize> = (0..all.len()).filter(|it| all[*it].1).collect();
            for (first, at) in marked.into_iter().enumerate() {
                all.swap(first, at);
            }
            return self.choice(&all, said);
        }
        let vertex = self.it.heap.get(id);
        if let Some((datum, _)) = self.it.scalar_of(vertex) {
            said.also("enum", Datum::list(vec![datum.clone().into_json()]));
            return Ok(());
        }
        match (vertex.is_struct, vertex.is_list) {
            (true, _) => self.fields(id, None, said)?,
            (_, true) => return self.elements(id, said),
            _ => {}
        }
        self.tests(id, said);
        Ok(())
    }

    /// Alternatives: literals are an enum, the others exclude each other.
    fn choice(&mut self, all: &[(VertexId, bool)], said: &mut Said) -> Result<(), CallError> {
        let mut literals: Vec<Datum> = Vec::new();
        let mut others: Vec<VertexId> = Vec::new();
        for (index, (id, marked)) in all.iter().enumerate() {
            let kinds = self.it.kinds_of(*id);
            if kinds == Kinds::NULL || kinds == Kinds::BOTTOM {
                continue;
            }
            // A default that another alternative allows says nothing more.
            let covered = *marked
                && all.iter().enumerate().any(|(other, (wide, marked))| {
                    other != index
                        && !marked
                        && (kinds != Kinds::STRUCT || self.it.kinds_of(*wide) != Kinds::STRUCT)
                        && !self.is_scalar(*wide)
                        && self.it.subsumes(*wide, *id).is_empty()
                });
            if covered {
                continue;
            }
            let real = self.it.unify(*id);
            match self.it.scalar_at(real) {
                Some((datum, _)) => {
                    let datum = datum.clone().into_json();
                    if !literals.iter().any(|it| crate::compare::same(it, &datum)) {
                        literals.push(datum);
                    }
                }
                None => others.push(*id),
            }
        }
        match others.as_slice() {
            [] if literals.is_empty() => return Ok(()),
            [] => {
                said.also("enum", Datum::list(literals));
                return Ok(());
            }
            [only] if literals.is_empty() => {
                let only = self.alternative(*only)?;
                said.absorb(only);
                return Ok(());
            }
            _ => {}
        }
        let mut each = Vec::new();
        for id in &others {
            let mut one = self.alternative(*id)?;
            if said.kind.is_some() || self.references == References::Expanded {
                one.kind = None;
            }
            if self.references == References::Expanded && said.is_object() {
                for (label, schema) in std::mem::take(&mut one.properties) {
                    let known = said.properties.iter().any(|it| it.0 == label);
                    said.property(&label, if known { Datum::fields(Vec::new()) } else { schema });
                }
            }
            each.push(one.into_datum());
        }
        let mut schemas = Vec::new();
        if !literals.is_empty() {
            schemas.push(Datum::fields(vec![("enum".into(), Datum::list(literals))]));
        }
        for (index, schema) in each.iter().enumerate() {
            let mut without = Vec::new();
            for other in 0..others.len() {
                if other != index && self.admits(others[index], others[other]) {
                    without.push(each[other].clone());
                }
            }
            let schema = schema.clone();
            if without.is_empty() {
                schemas.push(schema);
                continue;
            }
            let any = Datum::fields(vec![("anyOf".into(), Datum::list(without))]);
            let not = Datum::fields(vec![("not".into(), any)]);
            schemas.push(match &schema {
                Datum::Struct(fields) if fields.is_empty() => not,
                _ => Datum::fields(vec![("allOf".into(), Datum::list(vec![schema, not]))]),
            });
        }
        said.also("oneOf", Datum::list(schemas));
        Ok(())
    }

    /// Whether one is an instance of another, whatever is closed.
    fn admits(&mut self, wide: VertexId, narrow: VertexId) -> bool {
        let why = self.it.subsumes(wide, narrow);
        why.first().is_none_or(|it| it.starts_with("field not allowed in closed struct"))
    }

    fn is_scalar(&mut self, id: VertexId) -> bool {
        let id = self.it.unify(id);
        self.it.heap.get(id).scalar.is_some()
    }

    /// One of several: a reference, or as it is evaluated.
    fn alternative(&mut self, id: VertexId) -> Result<Said, CallError> {
        if self.references == References::Kept {
            let mut parts = self.parts(id)?;
            if let (1, Some(Part::Named(..))) = (parts.len(), parts.first()) {
                if let Some(Part::Named(name, target)) = parts.pop() {
                    if self.it.kinds_of(id).meets(Kinds::STRUCT) {
                        let name = self.name(name, target);
                        return Ok(Said::named(&name));
                    }
                }
            }
        }
        let mut kinds = self.sound(id)?;
        let real = self.it.unify(id);
        if self.it.heap.get(real).tests.iter().any(|it| matches!(it.0, Test::Range(_))) {
            kinds = Kinds::NUMBER;
        }
        let mut said = self.begun(kinds);
        let outer = std::mem::replace(&mut self.alternatives, true);
        let result = self.value(id, &mut said);
        self.alternatives = outer;
        result.map(|()| said)
    }

    /// Fields, patterns and definitions of a struct; `only` those of one of its literals.
    fn fields(
        &mut self,
        id: VertexId,
        only: Option<(EnvId, &[EnvId])>,
        said: &mut Said,
    ) -> Result<(), CallError> {
        let id = self.it.unify(id);
        let mut required = Vec::new();
        for mut arc in self.it.ordered(id) {
            if let Some((own, literals)) = only {
                match self.part_of(&arc, own, literals) {
                    Some((vertex, presence)) => (arc.vertex, arc.presence) = (vertex, presence),
                    None => continue,
                }
            }
            match (self.it.labels.kind(arc.label), arc.presence) {
                (LabelKind::Definition, Presence::Member) => self.define(arc.vertex, &arc)?,
                (LabelKind::Regular, presence) => {
                    let name = self.it.labels.name(arc.label);
                    if presence != Presence::Optional {
                        required.push(Datum::text(name.clone()));
                    }
                    self.trail.push(name.clone());
                    let schema = self.describe(arc.vertex, Some(&arc))?;
                    self.trail.pop();
                    said.property(&name, schema.into_datum());
                }
                _ => {}
            }
        }
        if !required.is_empty() {
            said.also("required", Datum::list(required));
        }
        let patterns: Vec<_> = self.it.heap.get(id).patterns.iter().cloned().collect();
        for pattern in &patterns {
            let of = only.is_none_or(|(own, all)| self.owner(pattern.env, all) == Some(own));
            let any = self.it.program.code(pattern.label).clone();
            if of && matches!(any, Code::Type(Kinds::STRING, _)) {
                let value = self.it.value_of_pattern(pattern);
                let schema = self.describe(value, None)?.into_datum();
                let any = matches!(&schema, Datum::Struct(fields) if fields.is_empty());
                if !any || self.references == References::Expanded {
                    said.once("additionalProperties", schema);
                }
                return Ok(());
            }
        }
        if self.references == References::Expanded && self.it.heap.get(id).open {
            said.once("additionalProperties", Datum::fields(Vec::new()));
        }
        Ok(())
    }

    /// What one literal says of a field, if anything.
    fn part_of(
        &mut self,
        arc: &ArcEntry,
        own: EnvId,
        literals: &[EnvId],
    ) -> Option<(VertexId, Presence)> {
        let sources: Vec<Source> =
            self.it.heap.get(arc.vertex).conjuncts.iter().map(|it| it.source()).collect();
        let all = sources.len();
        let is_own = |it: &Source| match it {
            Source::Expr(_, env) => self.owner(*env, literals) == Some(own),
            Source::Data(_) | Source::Vertex(_) => false,
        };
        let mine: Vec<Source> = sources.into_iter().filter(is_own).collect();
        if mine.is_empty() {
            return None;
        }
        if mine.len() == all {
            return Some((arc.vertex, arc.presence));
        }
        let parent = self.it.heap.get(arc.vertex).parent;
        let vertex = self.it.heap.vertex(parent, Some(arc.label));
        let conjuncts = &mut self.it.heap.get_mut(vertex).conjuncts;
        conjuncts.extend(mine.into_iter().map(Conjunct::new));
        let declared: Vec<(At, Presence)> = self.it.declared_as(vertex).collect();
        let presence = declared.into_iter().map(|it| it.1).max();
        Some((vertex, presence.unwrap_or(arc.presence)))
    }

    fn elements(&mut self, id: VertexId, said: &mut Said) -> Result<(), CallError> {
        let elements = self.it.elements(id);
        let rest = match self.it.element_of(id) {
            Some(rest) => self.describe(rest, None)?.into_datum(),
            None => Datum::fields(Vec::new()),
        };
        let open = self.it.heap.get(id).closed_length().is_none();
        if elements.is_empty() {
            if open {
                said.also("items", rest);
            }
            return Ok(());
        }
        if open {
            // Elements of an open list are its default, which has to be one.
            let default = self.it.datum(id).map_err(|it| self.fault(it))?;
            said.once("minItems", Datum::count(elements.len()));
            said.once("default", default.into_json());
            said.once("additionalItems", rest);
        }
        let mut all = Vec::new();
        for element in elements {
            all.push(self.describe(element, None)?.into_datum());
        }
        said.also("items", Datum::list(all));
        Ok(())
    }

    /// The default of a choice, unless it is an empty list.
    fn default(&mut self, id: VertexId, said: &mut Said) {
        let real = self.it.unify(id);
        if self.it.heap.get(real).choice.is_none() {
            return;
        }
        let Some(default) = self.it.default_of(real) else { return };
        match self.it.datum(default) {
            Ok(Datum::List(items)) if items.is_empty() => {}
            Ok(datum) => said.once("default", datum.into_json()),
            Err(_) => {}
        }
    }
}

/// Whether an attribute says so: `@protobuf(5,deprecated)`.
fn is_deprecated((name, body): &(String, String)) -> bool {
    name == "protobuf" && body.split(',').skip(1).any(|it| it.trim() == "deprecated")
}
