//! Keywords about structs.

use std::collections::HashMap;

use cue_syntax::scan::T;
use cue_syntax::tree::{Distance, Kind, NodeId};
use cue_syntax::unquote;

use super::Decoder;
use super::data::{Content, Data, Id};
use super::keywords::Bound;
use super::kinds::{Core, Kinds};
use super::made::Marker;
use super::state::{Asked, Openness, State};
use super::version::Version;

impl Decoder<'_> {
    /// `properties`
    pub(super) fn properties(&mut self, of: Id, state: &mut State) {
        let object = self.object(state, of);
        let data: &Data = self.data;
        if !matches!(data[of].content, Content::Struct(_)) {
            let kind = data.kind(of);
            self.problem(of, format!("\"properties\" expected an object, found {kind}"));
        }
        let (mut has_kind, mut has_version) = (false, false);
        for (name, value) in data.fields_of(of) {
            let (expr, info) = self.schema_of(*value, &state.outer(), Asked::of_field());
            let label = self.made.text(name);
            let given = match &**name {
                "kind" => Some(&state.resource.0),
                "apiVersion" => Some(&state.resource.1),
                _ => None,
            };
            // What a resource says of itself is a field with that value.
            let given = given.filter(|it| !it.is_empty()).cloned();
            let (marker, said) = match given {
                Some(text) => (Marker::None, self.made.text(&text)),
                None => (Marker::Optional, expr),
            };
            has_kind |= marker == Marker::None && &**name == "kind";
            has_version |= marker == Marker::None && &**name == "apiVersion";
            let field = self.made.field(label, marker, said);
            let comment = info.comment();
            if !comment.is_empty() {
                let first = self.made.decls(object).is_empty();
                let apart = if first { Distance::Absent } else { Distance::Gap };
                self.made.document(field, &comment, apart);
            }
            if info.deprecated && self.made.is_struct(expr) {
                let label = self.made.text(name);
                let top = self.made.top();
                let tagged = self.made.field(label, Marker::None, top);
                self.made.tag(tagged, "@deprecated()");
                self.made.push(object, tagged);
            } else if info.deprecated {
                self.made.tag(field, "@deprecated()");
            }
            self.made.push(object, field);
        }
        let (kind, version) = state.resource.clone();
        for (name, given, has) in [("apiVersion", version, has_version), ("kind", kind, has_kind)] {
            if !given.is_empty() && !has {
                let (label, given) = (self.made.text(name), self.made.text(&given));
                let field = self.made.field(label, Marker::None, given);
                self.made.push(object, field);
            }
        }
        state.has_properties = true;
    }

    /// `required`
    pub(super) fn required(&mut self, of: Id, state: &mut State) {
        let kind = self.data.kind(of);
        if kind != Kinds::LIST {
            let text = "value of \"required\" must be list of strings";
            self.problem(of, format!("{text}, found {kind}"));
            return;
        }
        let object = self.object(state, of);
        let mut fields: HashMap<String, NodeId> = HashMap::new();
        for decl in self.made.decls(object) {
            if let Some(name) = self.name_of(*decl) {
                fields.insert(name, *decl);
            }
        }
        for it in self.elements("required", of) {
            let Some(name) = self.text(it) else { continue };
            match fields.get(&*name) {
                Some(field) if self.made.marker(*field) == Marker::Required => {
                    self.problem(it, format!("duplicate required field {name:?}"));
                }
                Some(field) => self.made.mark(*field, Marker::Required),
                None => {
                    let (label, top) = (self.made.text(&name), self.made.top());
                    let field = self.made.field(label, Marker::Required, top);
                    fields.insert(name.to_string(), field);
                    self.made.push(object, field);
                }
            }
        }
    }

    /// The name of a field.
    fn name_of(&self, decl: NodeId) -> Option<String> {
        let Kind::Field { label, .. } = &self.made.tree[decl].kind else { return None };
        let label = match &self.made.tree[*label].kind {
            Kind::Alias { value, .. } => *value,
            _ => *label,
        };
        match &self.made.tree[label].kind {
            Kind::Ident(name) => Some(name.to_string()),
            Kind::Literal(T::String, text) => unquote::text(text).ok(),
            _ => None,
        }
    }

    /// `additionalProperties`
    pub(super) fn additional_properties(&mut self, of: Id, state: &mut State) {
        match self.data[of].content {
            Content::Bool(true) => state.openness = Openness::Open,
            Content::Bool(false) if state.info.version == Version::KubernetesCrd => {
                let text = "additionalProperties may not be set to false in a CRD schema";
                self.problem(of, text);
                return;
            }
            Content::Bool(false) => state.openness = Openness::Closed,
            Content::Struct(_) => {
                self.other_fields(of, state);
                return;
            }
            _ => {
                let text = "value of \"additionalProperties\" must be an object or boolean";
                self.problem(of, text);
                return;
            }
        }
        self.object(state, of);
        state.has_additional = true;
    }

    /// What fields are that are not named.
    fn other_fields(&mut self, of: Id, state: &mut State) {
        let object = self.object(state, of);
        state.openness = Openness::Covered;
        if self.made.decls(object).is_empty() {
            let string = self.made.name("string");
            let label = self.made.list(&[string]);
            let value = self.schema(of, &state.outer());
            let field = self.made.field(label, Marker::None, value);
            self.made.push(object, field);
            return;
        }
        let mut others = state.patterns.clone();
        let names = self.names_in(object);
        let names = self.made.text(&names);
        others.push(self.made.unary(T::NMat, names));
        let (value, _) = self.schema_of(of, &state.outer(), Asked::of_field());
        if let Some(label) = self.made.joined(T::And, &others) {
            let pattern = self.made.pattern(label, value);
            self.made.push(object, pattern);
        }
        state.has_additional = true;
    }

    /// A pattern that the names of all fields match.
    fn names_in(&self, object: NodeId) -> String {
        let decls = self.made.decls(object);
        let names = decls.iter().filter_map(|it| self.name_of(*it)).filter(|it| !it.is_empty());
        let names: Vec<String> = names.map(|it| literally(&it)).collect();
        format!("^({})$", names.join("|"))
    }

    /// `patternProperties`
    pub(super) fn pattern_properties(&mut self, of: Id, state: &mut State) {
        let data: &Data = self.data;
        if !matches!(data[of].content, Content::Struct(_)) {
            let kind = data.kind(of);
            let text = "value of \"patternProperties\" must be an object";
            self.problem(of, format!("{text}, found {kind}"));
        }
        let object = self.object(state, of);
        for (pattern, value) in data.fields_of(of) {
            if !self.is_pattern(*value, pattern) {
                continue;
            }
            let text = self.made.text(pattern);
            state.patterns.push(self.made.unary(T::NMat, text));
            let text = self.made.text(pattern);
            let label = self.made.unary(T::Mat, text);
            let value = self.schema(*value, &state.outer());
            let field = self.made.pattern(label, value);
            self.made.set_apart(field, Distance::Gap);
            self.made.push(object, field);
        }
    }

    /// `propertyNames`
    pub(super) fn property_names(&mut self, of: Id, state: &mut State) {
        let (names, _) = self.schema_of(of, &state.outer(), Asked::of(Kinds::STRING));
        if self.made.is_top(names) {
            return;
        }
        let (label, top) = (self.made.list(&[names]), self.made.top());
        let field = self.made.field(label, Marker::None, top);
        let expr = self.made.braced(&[field]);
        self.add(state, of, Core::Object, expr);
    }

    /// `minProperties`, `maxProperties`
    pub(super) fn property_count(&mut self, bound: Bound, of: Id, state: &mut State) {
        let name = match bound {
            Bound::Least => "MinFields",
            Bound::Most => "MaxFields",
        };
        self.count_in(of, Core::Object, state, ("struct", name));
    }
}

/// A pattern that a text alone matches.
fn literally(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if "\\.+*?()|[]{}^$".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}
