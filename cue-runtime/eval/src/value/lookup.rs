//! Places by selectors, and what counts as being there.

use std::sync::Arc;

use crate::error::Kind;
use crate::evaluation::{Diagnostic, Evaluation};
use crate::heap::VertexId;
use crate::program::{LabelKind, Presence};
use crate::value::path::Selector;

impl Evaluation {
    /// The place a path leads to. A selector with a marker also finds constraints: optional and
    /// required fields, and what patterns say of the name.
    ///
    /// # Errors
    /// There is none; whether there may be one some day is the kind of the error.
    pub fn lookup(&mut self, path: &[Selector]) -> Result<VertexId, Diagnostic> {
        let mut id = self.evaluator.root;
        for selector in path {
            let Some(next) = self.step(id, selector) else {
                return Err(self.not_found(id, selector));
            };
            id = next;
        }
        Ok(id)
    }

    fn step(&mut self, id: VertexId, selector: &Selector) -> Option<VertexId> {
        let it = &mut self.evaluator;
        let real = it.unify(id);
        let real = it.default_of(real).unwrap_or(real);
        let (label, wanted) = match selector {
            Selector::AnyField => return self.pattern(real),
            Selector::Index(index) => {
                (it.labels.intern(LabelKind::Index, &index.to_string()), Presence::Member)
            }
            Selector::Field { kind, name, presence } => (it.labels.intern(*kind, name), *presence),
        };
        if let Some(arc) = it.heap.arc(real, label) {
            let there = arc.presence == Presence::Member || wanted != Presence::Member;
            return there.then_some(arc.vertex);
        }
        if wanted == Presence::Member {
            return None;
        }
        let patterns = it.heap.get(real).patterns.clone();
        let fits = patterns.iter().find(|pattern| it.pattern_matches(pattern, label))?;
        Some(it.anonymous(fits.value, fits.env))
    }

    fn not_found(&mut self, id: VertexId, selector: &Selector) -> Diagnostic {
        let it = &mut self.evaluator;
        let real = it.unify(id);
        let vertex = it.heap.get(real);
        let open = vertex.is_struct && vertex.fault.is_none() && !it.is_closed_struct(real);
        let scalar = it.scalar_of(vertex).map(|it| it.1);
        let kind = if open { Kind::Incomplete } else { Kind::Permanent };
        let message = format!("field not found: {}", selector.text());
        let path = it.path(id);
        let positions = scalar.into_iter().filter_map(|at| self.place(at)).collect();
        Diagnostic { kind, message, path, positions, placed: false }
    }

    /// Names that can be referred to among the fields of a struct.
    pub(crate) fn identifiers(&mut self, id: VertexId) -> Vec<Arc<str>> {
        let it = &mut self.evaluator;
        let real = it.unify(id);
        let arcs = &it.heap.get(real).arcs;
        let kept = arcs.iter().filter(|arc| it.labels.kind(arc.label) != LabelKind::Index);
        let names = kept.map(|arc| it.labels.name(arc.label));
        names.filter(|it| cue_syntax::is_identifier(it) || it.starts_with(['#', '_'])).collect()
    }

    /// Whether a struct takes one more regular field (or definition) of that name.
    pub fn allows(&mut self, id: VertexId, selector: &Selector) -> bool {
        let it = &mut self.evaluator;
        let real = it.unify(id);
        let label = match selector {
            Selector::AnyField => return !it.is_closed_struct(real),
            Selector::Index(index) => {
                let vertex = it.heap.get(real);
                let Some(length) = vertex.closed_length() else { return true };
                return *index < u64::from(length);
            }
            // Definitions and hidden fields do not close (C rules).
            Selector::Field { kind, .. } if *kind != LabelKind::Regular => return true,
            Selector::Field { kind, name, .. } => it.labels.intern(*kind, name),
        };
        if !it.is_closed_struct(real) || it.heap.arc(real, label).is_some() {
            return true;
        }
        let patterns = it.heap.get(real).patterns.clone();
        patterns.iter().any(|pattern| it.pattern_matches(pattern, label))
    }
}
