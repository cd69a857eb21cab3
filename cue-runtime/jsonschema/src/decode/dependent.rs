//! `dependencies` and its successors: what holds where a field is there.

use cue_syntax::scan::T;
use cue_syntax::tree::{Kind, Mark, NodeId};

use super::Decoder;
use super::data::{Content, Data, Id, is_name};
use super::made::Marker;
use super::state::State;

impl Decoder<'_> {
    /// Each field may be there, and a comprehension looks whether it is.
    pub(super) fn dependencies(&mut self, key: &str, of: Id, state: &mut State) {
        let data: &Data = self.data;
        if !matches!(data[of].content, Content::Struct(_)) {
            let kind = data.kind(of);
            self.problem(of, format!("\"{key:?} expected an object, found {kind}"));
            return;
        }
        let object = self.object(state, of);
        let mut unnamed = 0;
        for (label, value) in data.fields_of(of) {
            let name = self.declared(label, object, &mut unnamed);
            let Some(consequence) = self.consequence(key, *value, state) else { continue };
            let name = self.made.name(&name);
            let bottom = self.made.add(Kind::Bottom);
            let Some(there) = self.made.joined(T::Neq, &[name, bottom]) else { continue };
            let clause = self.made.add(Kind::If(there));
            let clauses = [clause].into_iter().collect();
            let kind = Kind::Comprehension { clauses, body: consequence, fallback: None };
            let comprehension = self.made.add(kind);
            self.made.push(object, comprehension);
        }
        // It is a struct also where nothing else says so.
        let empty = self.made.structure(&[]);
        self.made.push(object, empty);
    }

    /// Declares a field that may be there; the name that stands for it.
    fn declared(&mut self, label: &str, object: NodeId, unnamed: &mut usize) -> String {
        let (name, node) = match is_name(label) {
            true => (label.to_owned(), self.made.name(label)),
            false => {
                let name = format!("_t{unnamed}");
                *unnamed += 1;
                let (alias, value) = (self.made.name(&name), self.made.text(label));
                let kind = Kind::Alias { name: alias, equal: Mark::default(), value };
                (name, self.made.add(kind))
            }
        };
        let top = self.made.top();
        let field = self.made.field(node, Marker::Optional, top);
        self.made.push(object, field);
        name
    }

    /// What holds then: fields that must be there, or a schema.
    fn consequence(&mut self, key: &str, value: Id, state: &State) -> Option<NodeId> {
        let data: &Data = self.data;
        let kind = data.kind(value);
        let refused = match &data[value].content {
            Content::List(_) => key == "dependentSchemas",
            Content::Struct(_) | Content::Bool(_) => key == "dependentRequired",
            _ => {
                let text = "dependency value must be array or schema. found";
                self.problem(value, format!("{text} {kind}"));
                return None;
            }
        };
        if refused {
            self.problem(value, format!("expected schema but got {kind}"));
            return None;
        }
        let Content::List(names) = &data[value].content else {
            let schema = self.schema(value, &state.outer());
            if self.made.is_struct(schema) {
                return Some(schema);
            }
            let embedded = self.made.embed(schema);
            return Some(self.made.structure(&[embedded]));
        };
        let mut fields = Vec::with_capacity(names.len());
        for it in names {
            let name = self.text(*it)?;
            let (label, top) = (self.made.text(&name), self.made.top());
            fields.push(self.made.field(label, Marker::Required, top));
        }
        Some(self.made.structure(&fields))
    }
}
