//! One node of an evaluation as a whole: its class, kinds, value, default, members and errors.
//! What the conformance runners and the introspection of values ask for.

mod composed; // how a value is put together

use std::sync::Arc;

use crate::builtin::{Datum, Kinds};
use crate::error::{Fault, Kind};
use crate::evaluation::{Concreteness, Diagnostic, Evaluation};
use crate::evaluator::Evaluator;
use crate::export::Style;
use crate::heap::{FaultId, VertexId};
use crate::printed::Show;
use crate::program::{LabelKind, Presence};
use crate::report;
use crate::visited::Visit;

pub use composed::Composition;

/// How the error of `_|_` in a source ends.
const LITERAL: &str = "literal) in source";

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Data all the way down, defaults taken.
    Concrete,
    /// A type, a bound, a choice, or a struct with one.
    Open,
    /// An error.
    Error(Kind),
}

/// A node.
#[derive(Clone, Debug)]
pub struct Node {
    /// What it is.
    pub class: Class,
    /// Kinds it has or may get; nothing for errors.
    pub kinds: Kinds,
    /// A scalar's value.
    pub value: Option<Datum>,
    /// Whether alternatives are left.
    pub choice: bool,
    /// The default of a choice.
    pub default: Option<Box<Node>>,
    /// Types, bounds and choices as CUE text.
    pub syntax: Option<String>,
    /// Elements of a list.
    pub length: Option<usize>,
    /// More elements may follow.
    pub open_list: bool,
    /// Members, in order: text with its marker, kind of label, presence, vertex.
    pub members: Vec<(String, LabelKind, Presence, VertexId)>,
    /// Import paths of the packages that hidden members belong to; empty for the main package.
    pub packages: Vec<Arc<str>>,
    /// Whether the struct is closed.
    pub closed: bool,
    /// Whether the error is only one of a member.
    pub child_error: bool,
    /// Of an error: whether it is nothing but `_|_` in a source.
    pub literal: bool,
    /// The errors of the node itself.
    pub errors: Vec<Diagnostic>,
}

impl Node {
    /// Nothing is known but kinds that it may have.
    fn open(kinds: Kinds) -> Node {
        Node {
            class: Class::Open,
            kinds,
            value: None,
            choice: false,
            default: None,
            syntax: None,
            length: None,
            open_list: false,
            members: Vec::new(),
            packages: Vec::new(),
            closed: false,
            child_error: false,
            literal: false,
            errors: Vec::new(),
        }
    }
}

impl Evaluator {
    /// A node of which only is known what is in it.
    fn with_members(&mut self, id: VertexId) -> Node {
        let mut node = Node::open(Kinds::BOTTOM);
        let arcs = self.ordered(id);
        if self.heap.get(id).is_list {
            node.length = Some(self.elements(id).len());
            node.open_list = self.heap.get(id).closed_length().is_none();
        }
        for arc in arcs {
            let kind = self.labels.kind(arc.label);
            let mut text = self.label_text(arc.label);
            text.push_str(match arc.presence {
                Presence::Optional => "?",
                Presence::Required => "!",
                Presence::Member => "",
            });
            node.packages.push(self.labels.package(arc.label).cloned().unwrap_or_default());
            node.members.push((text, kind, arc.presence, arc.vertex));
        }
        node
    }

    /// A value as CUE over several lines.
    fn spread(&mut self, id: VertexId) -> String {
        self.shown(id, Show::new(Style::Definition, Show::SPREAD)).trim().to_owned()
    }
}

impl Evaluation {
    /// Everything about a node.
    pub fn inspect(&mut self, id: VertexId) -> Node {
        let it = self.writer();
        let real = it.unify(id);
        let shown = it.default_of(real).unwrap_or(real);
        let mut node = it.with_members(shown);
        node.closed = it.counts_as_closed(shown) || it.shares_in_closed(id);
        let fault = it.heap.fault_of(id, real);
        // The error of what is shared is told there (S-72).
        let open = fault.is_some_and(|at| it.heap.faults[at].kind.is_incomplete());
        if open && it.shares(id).is_some() {
            (node.length, node.open_list, node.closed) = (None, false, false);
            node.members.clear();
            node.syntax = Some(it.spread(id));
            return node;
        }
        let goes_on = open && fault.is_some_and(|at| it.goes_on(real, at));
        let within = if fault.is_none() || goes_on { self.permanent_within(real) } else { None };
        let below = goes_on && within.is_some();
        if let Some(fault) = fault.filter(|_| !below) {
            self.tell_own(&mut node, fault, id, real);
            return node;
        }
        let it = &mut self.evaluator;
        if let Some(fault) = within.filter(|_| it.heap.get(real).choice.is_none()) {
            self.tell_within(&mut node, fault, id, real);
            return node;
        }
        node.kinds = it.kinds_of(real);
        if it.heap.get(real).choice.is_some() {
            node.choice = true;
            node.closed = false;
            if let Some(default) = it.default_of(real).filter(|default| *default != real) {
                let mut default = self.inspect(default);
                default.default = None;
                node.default = Some(Box::new(default));
            } else {
                node.default = self.several_defaults(real).map(Box::new);
            }
            node.syntax = Some(self.evaluator.spread(real));
            return node;
        }
        let scalar = it.scalar_at(real).map(|it| it.0.clone());
        if let Some(Datum::Function(name)) = &scalar {
            (node.kinds, node.syntax) = (Kinds::BOTTOM, Some(name.text()));
            return node;
        }
        if scalar.is_some() {
            (node.class, node.value) = (Class::Concrete, scalar);
            return node;
        }
        if it.heap.get(real).is_struct || it.heap.get(real).is_list {
            let concrete = self.validated(real, Concreteness::Required).is_empty();
            node.class = if concrete { Class::Concrete } else { Class::Open };
            return node;
        }
        // What may still be anything is no closed struct.
        node.closed &= node.kinds == Kinds::STRUCT;
        node.syntax = Some(it.spread(real));
        node
    }

    /// The error of a value itself.
    fn tell_own(&mut self, node: &mut Node, fault: FaultId, id: VertexId, real: VertexId) {
        let it = &mut self.evaluator;
        node.class = Class::Error(it.heap.faults[fault].kind);
        (node.length, node.open_list) = (None, false);
        let fault = it.placed(fault, id);
        if it.gives_nothing(&it.heap.faults[fault], real) {
            node.members.clear();
            node.packages.clear();
        }
        let beside = it.fails_beside(real, fault);
        node.errors = self.diagnostic(fault);
        node.literal = node.errors.iter().all(|it| it.message.ends_with(LITERAL));
        if !beside.is_empty() {
            for fault in beside {
                let fault = self.evaluator.heap.fault(fault);
                node.errors.extend(self.diagnostic(fault));
            }
            cue_sort::by(&mut node.errors, report::order);
        }
        node.errors
            .dedup_by(|it, other| it.message == other.message && report::order(it, other).is_eq());
        let repeated = self.evaluator.is_of_each(fault, real);
        if let ([only], true) = (node.errors.as_mut_slice(), repeated) {
            only.message.truncate(report::outer(&only.message));
        }
    }

    /// That something in a value has failed.
    fn tell_within(&mut self, node: &mut Node, fault: Fault, id: VertexId, real: VertexId) {
        let it = &mut self.evaluator;
        node.class = Class::Error(it.worst(real).unwrap_or(fault.kind));
        (node.length, node.open_list) = (None, false);
        // Who refers to what has no end has none either.
        if fault.kind == Kind::StructuralCycle && it.refers_to_endless(id, &fault) {
            match it.visit(id) {
                Some(Visit::First) => {
                    let open = self.validated(real, Concreteness::Required);
                    let open = open.iter().any(|it| it.kind == Kind::Incomplete);
                    node.class = if open { Class::Open } else { Class::Concrete };
                }
                Some(Visit::Later) => {
                    node.members.clear();
                    node.child_error = true;
                }
                Some(Visit::Within) | None => {
                    let fault = it.heap.fault(fault);
                    node.errors = self.diagnostic(fault);
                }
            }
            return;
        }
        let mut all = Vec::new();
        it.permanent_all(real, &mut all, 0);
        let mut words = all.iter().filter(|it| it.kind == Kind::User);
        node.literal = words.all(|it| it.message.ends_with(LITERAL));
        node.child_error = true;
    }

    /// The first error for good at or below a value, with all of it evaluated.
    fn permanent_within(&mut self, id: VertexId) -> Option<Fault> {
        let passed = self.evaluator.passed_over;
        let found = self.evaluator.permanent(id, 0);
        if found.is_some() || self.evaluator.passed_over == passed {
            return found;
        }
        // What waited for the value itself goes on now that it is asked for.
        self.validated(id, Concreteness::Optional);
        self.evaluator.permanent(id, 0)
    }

    /// Of a choice with several defaults: what is left of it is a choice between these (D-2).
    fn several_defaults(&mut self, id: VertexId) -> Option<Node> {
        let it = &mut self.evaluator;
        let defaults = it.choice_of(id)?.defaults;
        let kinds = defaults.iter().map(|each| it.kinds_of(*each)).reduce(Kinds::or)?;
        Some(Node { choice: true, ..Node::open(kinds) })
    }
}
