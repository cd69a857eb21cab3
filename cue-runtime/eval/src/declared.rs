//! Where fields are declared: looked up only when an error is told (cue-errors 1.3, 2.2).

use cue_map::Map;

use crate::error::{Fault, Kind};
use crate::evaluator::Evaluator;
use crate::heap::{Source, VertexId};
use crate::program::{At, Declaration, ExprId, LabelKind, Presence};
use crate::validators::REQUIRED;

/// Values that are said of one as a whole, and are looked at for references.
const MOST_SAID: usize = 100;

/// The places of declarations by their values.
#[derive(Default)]
pub(crate) struct Declared {
    places: Map<ExprId, (At, Presence)>,
    /// How many struct literals are known.
    known: usize,
}

impl Evaluator {
    /// The places of all declarations that a vertex has its value from: labels of fields, and the
    /// brackets of patterns.
    pub(crate) fn declarations_of(&mut self, id: VertexId) -> Vec<At> {
        self.declared_as(id).map(|it| it.0).collect()
    }

    /// The places that say that a field is required.
    fn required_at(&mut self, id: VertexId) -> Vec<At> {
        self.declared_as(id).filter(|it| it.1 == Presence::Required).map(|it| it.0).collect()
    }

    /// Where and how firmly each conjunct of a field declares it; an element stands where it is written.
    pub(crate) fn declared_as(
        &mut self,
        id: VertexId,
    ) -> impl Iterator<Item = (At, Presence)> + '_ {
        self.learn_declarations();
        let it = &*self;
        let vertex = it.heap.get(id);
        let element = vertex.label.is_some_and(|label| it.labels.kind(label) == LabelKind::Index);
        vertex.conjuncts.iter().filter_map(move |conjunct| match conjunct.source() {
            Source::Expr(value, _) => {
                let written = || element.then(|| (it.program.at(value), Presence::Member));
                it.declared.places.get(&value).copied().or_else(written)
            }
            Source::Data(_) | Source::Vertex(_) => None,
        })
    }

    /// That a field is required, and nothing gives it: told where it is required.
    pub(crate) fn not_given(&mut self, id: VertexId) -> Fault {
        let mut fault = Fault::spread(Kind::Incomplete, REQUIRED);
        fault.positions = self.required_at(id);
        fault.place = Some(id);
        fault
    }

    /// The same of a value that is held against another one: told with the references by which what requires it has
    /// come to be said of what is around it.
    pub(crate) fn not_given_to_test(&mut self, id: VertexId) -> Fault {
        let mut fault = self.not_given(id);
        let mut around = self.heap.get(id).parent;
        let mut way = Vec::new();
        for conjunct in &self.heap.get(id).conjuncts {
            self.heap.way_in(conjunct.via, &mut way);
        }
        while let Some(outer) = around.filter(|_| !way.is_empty()) {
            let named = self.references_said_of(outer);
            let by: Vec<At> = way.iter().filter(|it| named.contains(it)).copied().collect();
            if !by.is_empty() {
                fault.positions.extend(by);
                break;
            }
            around = self.heap.get(outer).parent;
        }
        fault
    }

    /// The references that are said of a value and of those that are said of it as a whole.
    fn references_said_of(&self, id: VertexId) -> Vec<At> {
        let mut named = Vec::new();
        let mut said = vec![id];
        for _ in 0..MOST_SAID {
            let Some(id) = said.pop() else { break };
            named.extend(self.all_said(id).filter_map(|it| self.refers_at(it)));
            said.extend(self.heap.get(id).conjuncts.iter().filter_map(|it| match it.source() {
                Source::Vertex(of) => Some(of),
                Source::Expr(..) | Source::Data(_) => None,
            }));
        }
        named
    }

    fn learn_declarations(&mut self) {
        let program = self.program.clone();
        for literal in program.structs.iter().skip(self.declared.known) {
            for declaration in &literal.declarations {
                let (value, at) = match declaration {
                    Declaration::Field { value, at, presence, .. } => (*value, (*at, *presence)),
                    Declaration::Pattern { label, value, .. } => {
                        let at = self.bracket_before(program.at(*label));
                        (*value, (at, Presence::Optional))
                    }
                    Declaration::Embed(_) | Declaration::Comprehension(_) | Declaration::Open => {
                        continue;
                    }
                };
                self.declared.places.insert(value, at);
            }
        }
        self.declared.known = program.structs.len();
    }

    /// Where the bracket stands that a pattern is in.
    fn bracket_before(&self, label: At) -> At {
        let source = self.program.sources.get(label.source as usize);
        let before = source.and_then(|it| it.text.get(..label.span.start as usize));
        let mut at = label;
        if let Some(start) = before.and_then(|it| it.rfind('[')) {
            at.span.start = start as u32;
        }
        at
    }
}
