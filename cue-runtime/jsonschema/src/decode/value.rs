//! Keywords about values of any kind: types, constants and alternatives of them.

use cue_builtin::number::NumberKind;
use cue_syntax::scan::T;
use cue_syntax::tree::NodeId;

use super::Decoder;
use super::data::{Content, Data, Id};
use super::kinds::{Core, Kinds};
use super::made::Marker;
use super::state::State;
use super::version::Versions;

impl Decoder<'_> {
    /// `type`
    pub(super) fn types(&mut self, of: Id, state: &mut State) {
        let data: &Data = self.data;
        let mut kinds = Kinds::NONE;
        match &data[of].content {
            Content::String(_) => kinds |= self.named_type(of, state),
            Content::List(_) if state.is(Versions::LIKE_OPEN_API) => {
                let version = state.info.version.text();
                self.problem(of, format!("value of \"type\" must be a string in {version}"));
                return;
            }
            Content::List(all) => {
                for it in all {
                    kinds |= self.named_type(*it, state);
                }
            }
            _ => self.problem(of, "value of \"type\" must be a string or list of strings"),
        }
        state.info.allowed &= kinds;
    }

    fn named_type(&mut self, of: Id, state: &mut State) -> Kinds {
        let name = self.text(of);
        if name.is_none() {
            self.problem(of, "type value should be a string");
        }
        match name.as_deref().unwrap_or_default() {
            "null" => Kinds::NULL,
            "boolean" => Kinds::BOOL,
            "string" => Kinds::STRING,
            "number" => Kinds::NUMBER,
            "integer" => {
                let int = self.made.name("int");
                self.add(state, of, Core::Number, int);
                Kinds::INT
            }
            "array" => {
                state.is_array = true;
                Kinds::LIST
            }
            "object" => Kinds::STRUCT,
            _ => {
                let shown = name.map_or_else(|| self.shown(of), |it| it.to_string());
                self.problem(of, format!("unknown type {shown:?}"));
                Kinds::NONE
            }
        }
    }

    /// `x-kubernetes-int-or-string`
    pub(super) fn int_or_string(&mut self, of: Id, state: &mut State) {
        let int = self.made.name("int");
        self.add(state, of, Core::Number, int);
        state.info.allowed &= Kinds::STRING | Kinds::INT;
    }

    /// `const`
    pub(super) fn constant(&mut self, of: Id, state: &mut State) {
        let value = self.value(of);
        self.add_to_all(state, of, value);
        let kind = self.data.kind(of);
        state.info.allowed &= kind;
        state.info.known &= kind;
    }

    /// `enum`
    pub(super) fn enumeration(&mut self, of: Id, state: &mut State) {
        let mut kinds = Kinds::NONE;
        let mut values = Vec::new();
        for it in self.elements("enum", of) {
            let kind = self.data.kind(it);
            // What cannot be anyway is left out.
            if state.info.allowed.meets(kind) {
                values.push(self.value(it));
                kinds |= kind;
            }
        }
        state.info.known &= kinds;
        state.info.allowed &= kinds;
        if let Some(expr) = self.made.joined(T::Or, &values) {
            self.add_to_all(state, of, expr);
        }
    }

    /// `nullable`: whatever it says.
    pub(super) fn nullable(&mut self, of: Id, state: &mut State) {
        let null = self.made.null();
        let data = self.data;
        self.made.stands_for(null, &data[of]);
        state.nullable = Some(null);
    }

    /// `examples`
    pub(super) fn examples(&mut self, of: Id) {
        let kind = self.data.kind(of);
        if kind != Kinds::LIST {
            self.problem(of, format!("value of \"examples\" must be an array, found {kind}"));
        }
    }

    /// The elements of a list; something else is told.
    pub(super) fn elements(&mut self, key: &str, of: Id) -> Vec<Id> {
        let kind = self.data.kind(of);
        if kind != Kinds::LIST {
            self.problem(of, format!("value of {key:?} must be an array, found {kind}"));
        }
        self.data.elements_of(of).to_vec()
    }

    /// The same of a list that must not be empty.
    pub(super) fn some_elements(&mut self, key: &str, of: Id) -> Vec<Id> {
        let elements = self.elements(key, of);
        if elements.is_empty() {
            self.problem(of, format!("array for {key:?} must be non-empty"));
        }
        elements
    }

    /// A value as it is: lists and structs have nothing but what they say.
    fn value(&mut self, of: Id) -> NodeId {
        let data: &Data = self.data;
        if self.depth >= super::DEEPEST {
            self.problem(of, "schemas nest too deeply");
            return self.made.top();
        }
        self.depth += 1;
        let made =
            stacker::maybe_grow(super::LEVEL, super::LEVEL * 64, || match &data[of].content {
                Content::List(elements) => {
                    let elements: Vec<NodeId> = elements.iter().map(|it| self.value(*it)).collect();
                    let list = self.made.list(&elements);
                    self.made.stands_for(list, &data[of]);
                    list
                }
                Content::Struct(fields) => {
                    let mut decls = Vec::with_capacity(fields.len());
                    for (label, it) in fields {
                        let value = self.value(*it);
                        let label = self.made.text(label);
                        decls.push(self.made.field(label, Marker::Required, value));
                    }
                    let inner = self.made.structure(&decls);
                    let closed = self.made.call("close", &[inner]);
                    self.made.stands_for(closed, &data[of]);
                    closed
                }
                _ => self.scalar(of),
            });
        self.depth -= 1;
        made
    }

    /// A scalar: as an element of a list it is spelled as it is in the file.
    pub(super) fn scalar(&mut self, of: Id) -> NodeId {
        let data: &Data = self.data;
        let value = &data[of];
        let own = value.spelled.as_deref().filter(|it| !it.starts_with('-'));
        match &value.content {
            Content::Null => self.made.null(),
            Content::Bool(true) => self.made.literal(T::True, "true".into()),
            Content::Bool(false) => self.made.literal(T::False, "false".into()),
            Content::Number(number) => {
                let kind = match number.kind() {
                    NumberKind::Int => T::Int,
                    NumberKind::Float => T::Float,
                };
                let text = own.map_or_else(|| number.cue_text(), str::to_owned);
                self.made.literal(kind, text)
            }
            Content::String(text) => {
                let text = own.map_or_else(|| spelled(text), str::to_owned);
                self.made.literal(T::String, text)
            }
            Content::Bytes(text) => self.made.literal(T::String, text.clone()),
            Content::List(_) | Content::Struct(_) => self.made.top(),
        }
    }
}

/// A text as a literal: over several lines if it has such.
fn spelled(text: &str) -> String {
    let quote = cue_syntax::unquote::quote;
    if !text.contains('\n') {
        return quote(text);
    }
    let mut out = String::from("\"\"\"\n");
    for line in text.split('\n') {
        let quoted = quote(line);
        let inner = quoted.get(1..quoted.len() - 1).unwrap_or_default();
        let inner = inner.replace("\\\"", "\"").replace("\"\"\"", "\\\"\"\"");
        out.push_str(if inner.is_empty() { "" } else { "\t" });
        out.push_str(&inner);
        out.push('\n');
    }
    out.push_str("\t\"\"\"");
    out
}
