//! Values in few words, as messages have them (cue-errors 0.3).

use crate::demand::Concrete;
use crate::error::{Fault, LITERAL};
use crate::evaluator::{Evaluator, Value};
use crate::export::marker;
use crate::heap::{EnvId, EnvKind, Source, State, VertexId};
use crate::program::{Declaration, ExprId, Label, Presence};
use crate::written::separate;

/// How deep values are written.
const DEPTH: usize = 100;

/// Values that are written within each other's messages.
const MOST_TOLD: usize = 8;

/// A `let` of a struct.
struct ShownLet {
    /// The place of the field that comes next.
    before: usize,
    name: Label,
    number: u32,
    written: ExprId,
    value: VertexId,
}

/// What a struct shows.
enum Member {
    Let(ShownLet),
    Field(VertexId, Presence),
}

impl Evaluator {
    /// In few words.
    pub(crate) fn short(&mut self, id: VertexId) -> String {
        let real = self.follow(id);
        // What it refers to may fail with a message that has it in it.
        if self.telling.contains(&real) || self.telling.len() > MOST_TOLD {
            return format!("value at path '{}'", self.path(real));
        }
        self.telling.push(real);
        let mut out = String::new();
        self.write_short(id, &mut out, &mut Vec::new());
        self.telling.pop();
        out
    }

    /// What is said of a value. One that the error is in shows it there, where the value itself is only
    /// named (cue-errors 0.3); `outer` is what stands before it in the end.
    pub(crate) fn about(
        &mut self,
        id: VertexId,
        outer: &str,
        say: impl Fn(&str) -> String,
    ) -> String {
        let (real, place) = (self.follow(id), self.follow(self.place));
        if real == place || self.failing.is_some() || !self.is_ancestor(real, place) {
            return say(&self.short(id));
        }
        let (path, there) = (self.path(real), self.path(place));
        let inner = say(&format!("value at path '{path}'"));
        self.failing = Some((place, format!("_|_({there}: {outer}{inner})")));
        let text = self.short(id);
        self.failing = None;
        say(&text)
    }

    /// The same of what is handed over and stands nowhere else: what is in it is not evaluated, but shown as
    /// it is written.
    pub(crate) fn about_given(
        &mut self,
        value: &Concrete,
        outer: &str,
        say: impl Fn(&str) -> String,
    ) -> String {
        match value {
            Concrete::Datum(datum) => say(&datum.cue_text()),
            Concrete::Vertex(id) if self.stands_alone(*id) => {
                let text = self.as_given(*id);
                say(&text)
            }
            Concrete::Vertex(id) => self.about(*id, outer, say),
        }
    }

    /// Whether it is a list or a struct that is no field.
    pub(crate) fn stands_alone(&self, id: VertexId) -> bool {
        let vertex = self.heap.get(self.follow(id));
        vertex.label.is_none() && (vertex.is_struct || vertex.is_list)
    }

    /// A list or a struct as it is written, but what may be there: that is evaluated by then.
    pub(crate) fn as_given(&mut self, id: VertexId) -> String {
        let real = self.follow(id);
        if self.heap.get(real).is_list {
            let elements = self.heap.get(real).arcs.iter().map(|it| it.vertex);
            let elements: Vec<VertexId> = elements.collect();
            let texts: Vec<String> =
                elements.into_iter().map(|it| self.conjuncts_text(it)).collect();
            return format!("[{}]", texts.join(","));
        }
        let mut out = String::new();
        self.write_members(real, &mut out, &mut |it, member, out| match member {
            Member::Let(shown) => out.push_str(&it.literal_text(shown.written)),
            Member::Field(arc, Presence::Optional) => it.write_short(arc, out, &mut vec![real]),
            Member::Field(arc, _) => out.push_str(&it.conjuncts_text(arc)),
        });
        out
    }

    /// What is said of a value, as it is written.
    fn conjuncts_text(&mut self, id: VertexId) -> String {
        let sources = self.heap.get(id).conjuncts.iter().map(|it| it.source());
        let sources: Vec<Source> = sources.collect();
        let texts: Vec<String> = (sources.into_iter())
            .map(|source| match source {
                Source::Expr(expr, _) => self.literal_text(expr),
                Source::Data(datum) => self.heap.data(datum).cue_text(),
                Source::Vertex(id) => self.short(id),
            })
            .collect();
        if texts.is_empty() { self.short(id) } else { texts.join(" & ") }
    }

    /// The same of an operand.
    pub(crate) fn about_operand(
        &mut self,
        value: &Concrete,
        say: impl Fn(&str) -> String,
    ) -> String {
        match value {
            Concrete::Datum(datum) => say(&datum.cue_text()),
            Concrete::Vertex(id) => self.about(*id, "", say),
        }
    }

    /// `within` are the values that are being written.
    fn write_short(&mut self, id: VertexId, out: &mut String, within: &mut Vec<VertexId>) {
        if self.heap.get(self.follow(id)).state == State::New && within.len() < DEPTH {
            self.unify(id);
        }
        let real = self.follow(id);
        if let Some((_, text)) = self.failing.as_ref().filter(|it| it.0 == real) {
            out.push_str(text);
            return;
        }
        if within.contains(&real) {
            let path = self.path(real);
            out.push_str(&format!("value at path '{path}'"));
            return;
        }
        let spent = self.tick().is_err();
        if within.len() > DEPTH || spent {
            out.push_str("...");
            return;
        }
        if let Some(fault) = self.heap.fault_of(id, real) {
            let text = self.brief_fault(&self.heap.faults[fault], id);
            out.push_str(&text);
            return;
        }
        // A value that another field has too is named (cue-errors 0.3).
        let shares = if id == real { self.shares_of(id, id).map(|it| it.1) } else { Some(real) };
        if let Some(real) = shares.filter(|it| !within.is_empty() && self.is_in_tree(*it)) {
            let real = self.follow(real);
            let vertex = self.heap.get(real);
            if vertex.choice.is_none() && (vertex.is_struct || vertex.is_list) {
                let path = self.path(real);
                match self.heap.get(real).arcs.is_empty() {
                    false => out.push_str(&format!("~({path})")),
                    true => out.push_str(&format!("value at path '{path}'")),
                }
                return;
            }
        }
        // Who has a failed member has failed; deeper ones were found from above.
        if within.len() == 1 {
            if let Some(first) = Fault::listed(self.first_failing(real)) {
                out.push_str(&self.brief_fault(&first, id));
                return;
            }
        }
        within.push(real);
        self.write_plainly(real, out, within);
        within.pop();
    }

    fn write_plainly(&mut self, id: VertexId, out: &mut String, within: &mut Vec<VertexId>) {
        if let Some(choice) = self.choice_of(id) {
            for (index, each) in choice.defaults_first().iter().enumerate() {
                if index > 0 {
                    out.push_str(" | ");
                }
                if choice.defaults.contains(each) {
                    out.push('*');
                }
                self.write_short(*each, out, within);
            }
            return;
        }
        let vertex = self.heap.get(id);
        if let Some((datum, _)) = self.scalar_of(vertex) {
            out.push_str(&datum.cue_text());
            return;
        }
        if vertex.is_list {
            let arcs = self.elements(id);
            out.push('[');
            for (index, arc) in arcs.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                self.write_short(*arc, out, within);
            }
            out.push(']');
            return;
        }
        if vertex.is_struct {
            self.write_members(id, out, &mut |it, member, out| match member {
                Member::Let(shown) => it.write_short(shown.value, out, within),
                Member::Field(arc, _) => it.write_short(arc, out, within),
            });
            return;
        }
        out.push_str(&self.constraint(id));
    }

    /// A struct, its fields and lets as they stand, each with what `write` says of it.
    fn write_members(
        &mut self,
        id: VertexId,
        out: &mut String,
        write: &mut dyn FnMut(&mut Self, Member, &mut String),
    ) {
        let arcs = self.heap.get(id).arcs.iter().map(|it| (it.label, it.vertex, it.presence));
        let arcs: Vec<(Label, VertexId, Presence)> = arcs.collect();
        let mut lets = self.lets_of(id).into_iter().peekable();
        out.push('{');
        for (index, arc) in arcs.into_iter().map(Some).chain([None]).enumerate() {
            while let Some(it) = lets.next_if(|it| it.before <= index || arc.is_none()) {
                self.begin_let(it.name, it.number, out);
                write(self, Member::Let(it), out);
            }
            let Some((label, arc, presence)) = arc else { break };
            separate(out);
            out.push_str(&self.qualified(label));
            out.push_str(marker(presence));
            out.push(':');
            write(self, Member::Field(arc, presence), out);
        }
        out.push('}');
    }

    /// The lets of the literals of a struct, in the order in which they are written with its fields.
    fn lets_of(&mut self, id: VertexId) -> Vec<ShownLet> {
        let program = self.program.clone();
        let mut found: Vec<ShownLet> = Vec::new();
        for at in 0..self.heap.get(id).placed.len() {
            let vertex = self.heap.get(id);
            let placed = &vertex.placed[at];
            let code = &program.structs[placed.literal as usize];
            if code.lets.is_empty() {
                continue;
            }
            let computed = placed.is_computed();
            let Some(env) = self.environment_of(id, placed.literal) else { continue };
            for (index, known) in code.lets.iter().enumerate() {
                if found.iter().any(|it| it.number == known.number) {
                    continue;
                }
                // Before the first field that comes after it; what a comprehension brings comes last.
                let arcs = &self.heap.get(id).arcs;
                let after = code.declarations.iter().skip(known.place as usize);
                let mut places = after.filter_map(|it| match it {
                    Declaration::Field { at, .. } => arcs.iter().position(|arc| arc.at() == *at),
                    _ => None,
                });
                let before = places.next().filter(|_| !computed).unwrap_or(arcs.len());
                let Value::Vertex(value) = self.let_value(0, index as u32, env) else { continue };
                let (name, number, written) = (known.name, known.number, known.value);
                found.push(ShownLet { before, name, number, written, value });
            }
        }
        cue_sort::by(&mut found, |it, other| it.before.cmp(&other.before));
        found
    }

    /// The environment of a literal that a struct is made of, known by its fields.
    fn environment_of(&self, id: VertexId, literal: u32) -> Option<EnvId> {
        let members = self.heap.get(id).arcs.iter();
        let mut conjuncts = members.flat_map(|it| &self.heap.get(it.vertex).conjuncts);
        conjuncts.find_map(|it| match it.source() {
            Source::Expr(_, env) => match self.heap.envs[env].kind {
                EnvKind::Struct(of, _, from) if of == id && from == literal => Some(env),
                _ => None,
            },
            Source::Data(_) | Source::Vertex(_) => None,
        })
    }

    /// An error within a value: the first, and how many more there are (cue-errors 0.2).
    pub(crate) fn brief_fault(&self, fault: &Fault, id: VertexId) -> String {
        let told = fault.message != LITERAL;
        let path = if told { self.path(fault.place.unwrap_or(id)) } else { String::new() };
        let colon = if path.is_empty() { "" } else { ": " };
        format!("_|_({path}{colon}{})", fault.in_short())
    }

    /// Whether it is a place in the tree, not a value that stands by itself.
    pub(crate) fn is_in_tree(&self, id: VertexId) -> bool {
        self.outermost(id) == self.root
    }

    /// The value that has no place in another one, and `id` a place in it.
    pub(crate) fn outermost(&self, id: VertexId) -> VertexId {
        let mut outer = id;
        while outer != self.root {
            let vertex = self.heap.get(outer);
            let (Some(_), Some(parent)) = (vertex.label, vertex.parent) else { break };
            outer = parent;
        }
        outer
    }
}
