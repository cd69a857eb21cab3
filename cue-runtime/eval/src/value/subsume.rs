//! Whether one value is an instance of another, and if not, why.

use cue_syntax::ast::Compare;

use crate::builtin::{Datum, Kinds};
use crate::compare;
use crate::evaluation::Evaluation;
use crate::evaluator::Evaluator;
use crate::heap::{Test, VertexId};
use crate::operators::range;
use crate::program::{Label, LabelKind, Presence};

impl Evaluation {
    /// Why `special` is no instance of `general`; nothing if it is one.
    pub fn subsumes(&mut self, general: VertexId, special: VertexId) -> Vec<String> {
        self.evaluator.subsumes(general, special)
    }

    /// Whether two values are the same: scalars, and structs and lists of them.
    pub fn equals(&mut self, left: VertexId, right: VertexId) -> bool {
        match (self.datum(left), self.datum(right)) {
            (Ok(left), Ok(right)) => compare::equal(&left, &right),
            _ => false,
        }
    }
}

impl Evaluator {
    pub(crate) fn subsumes(&mut self, general: VertexId, special: VertexId) -> Vec<String> {
        let mut why = Vec::new();
        if !self.covers(general, special, &mut why, 0) && why.is_empty() {
            why.push("value not an instance".into());
        }
        why
    }

    fn covers(
        &mut self,
        general: VertexId,
        special: VertexId,
        why: &mut Vec<String>,
        depth: u32,
    ) -> bool {
        let it = &mut *self;
        if it.tick().is_err() || depth > it.budget.depth {
            why.push(crate::budget::TOO_DEEP.into());
            return false;
        }
        let (general, special) = (it.unify(general), it.unify(special));
        if it.heap.get(special).fault.is_some() {
            return true;
        }
        if it.heap.get(general).fault.is_some() {
            return false;
        }
        if let Some(choice) = it.choice_of(special) {
            return choice.all.iter().all(|each| self.covers(general, *each, why, depth + 1));
        }
        if let Some(choice) = it.choice_of(general) {
            let mut tried = Vec::new();
            return choice
                .all
                .iter()
                .any(|each| self.covers(*each, special, &mut tried, depth + 1));
        }
        let (wide, narrow) = (it.kinds_of(general), it.kinds_of(special));
        if narrow.without(wide) != Kinds::BOTTOM {
            return false;
        }
        let special_scalar = it.scalar_at(special).map(|it| it.0.clone());
        if let Some((wanted, _)) = it.scalar_at(general) {
            return special_scalar.is_some_and(|it| compare::same(&it, wanted));
        }
        let tests = it.heap.get(general).tests.clone();
        for (test, at) in tests {
            let kept = match &special_scalar {
                Some(_) => it.passes(special, &test, at).is_ok(),
                None => it.heap.get(special).tests.iter().any(|own| implies(&own.0, &test)),
            };
            if !kept {
                return false;
            }
        }
        if it.heap.get(general).is_list {
            return self.covers_list(general, special, why, depth);
        }
        if it.heap.get(general).is_struct {
            return self.covers_struct(general, special, why, depth);
        }
        true
    }

    fn covers_list(
        &mut self,
        general: VertexId,
        special: VertexId,
        why: &mut Vec<String>,
        depth: u32,
    ) -> bool {
        let (wide, narrow) = (self.elements(general), self.elements(special));
        let open = self.heap.get(general).closed_length().is_none();
        let longer = self.heap.get(special).closed_length().is_none();
        if narrow.len() < wide.len() || !open && (longer || narrow.len() > wide.len()) {
            why.push("list length mismatch".into());
            return false;
        }
        let rest = if narrow.len() > wide.len() { self.element_of(general) } else { None };
        narrow.iter().enumerate().all(|(index, element)| match wide.get(index).copied().or(rest) {
            Some(wide) => self.covers(wide, *element, why, depth + 1),
            None => true,
        })
    }

    fn covers_struct(
        &mut self,
        general: VertexId,
        special: VertexId,
        why: &mut Vec<String>,
        depth: u32,
    ) -> bool {
        let it = &*self;
        let arcs: Vec<(Label, VertexId, Presence)> =
            it.heap.get(general).arcs.iter().map(|it| (it.label, it.vertex, it.presence)).collect();
        for (label, wide, presence) in arcs {
            let it = &*self;
            let name = it.label_text(label);
            let found = it.heap.arc(special, label).map(|it| (it.vertex, it.presence));
            match (found, presence) {
                (None, Presence::Optional) => {}
                (None, Presence::Required | Presence::Member) => {
                    why.push(format!("regular field is constraint in subsumed value: {name}"));
                    why.push("value not an instance".into());
                    return false;
                }
                (Some((_, Presence::Optional)), Presence::Member | Presence::Required) => {
                    why.push(format!("field {name} is optional in subsumed value"));
                    why.push("value not an instance".into());
                    return false;
                }
                (Some((narrow, _)), _) => {
                    if !self.covers(wide, narrow, why, depth + 1) {
                        if why.is_empty() {
                            why.push(format!(
                                "field {name} not present in {}",
                                self.short(special)
                            ));
                            why.push(format!("missing field {name:?}"));
                        }
                        return false;
                    }
                }
            }
        }
        if !self.is_closed_struct(general) {
            return true;
        }
        let arcs: Vec<Label> = self.heap.get(special).arcs.iter().map(|it| it.label).collect();
        for label in arcs {
            let it = &mut *self;
            if it.labels.kind(label) != LabelKind::Regular || it.heap.arc(general, label).is_some()
            {
                continue;
            }
            let patterns = it.heap.get(general).patterns.clone();
            if !patterns.iter().any(|pattern| it.pattern_matches(pattern, label)) {
                why.push(format!("field not allowed in closed struct: {}", it.label_text(label)));
                why.push("value not an instance".into());
                return false;
            }
        }
        true
    }
}

/// Whether what passes `own` passes `wanted`.
fn implies(own: &Test, wanted: &Test) -> bool {
    match (own, wanted) {
        (Test::Bound(own, limit), Test::Bound(wanted, other)) => {
            if own == wanted && compare::same(limit, other) {
                return true;
            }
            let holds = |compare| compare::holds(compare, limit, other) == Some(true);
            match (own, wanted) {
                (Compare::Less | Compare::LessEqual, Compare::LessEqual)
                | (Compare::Less, Compare::Less) => holds(Compare::LessEqual),
                (Compare::LessEqual, Compare::Less) => holds(Compare::Less),
                (Compare::Greater | Compare::GreaterEqual, Compare::GreaterEqual)
                | (Compare::Greater, Compare::Greater) => holds(Compare::GreaterEqual),
                (Compare::GreaterEqual, Compare::Greater) => holds(Compare::Greater),
                (Compare::Less, Compare::NotEqual) => holds(Compare::LessEqual),
                (Compare::Greater, Compare::NotEqual) => holds(Compare::GreaterEqual),
                _ => false,
            }
        }
        (Test::Range(own), Test::Range(wanted)) => {
            own == wanted
                || match (range(own), range(wanted)) {
                    (Some((from, to)), Some((least, most))) => {
                        from.compare(&least).is_ge() && to.compare(&most).is_le()
                    }
                    _ => false,
                }
        }
        (Test::Call(package, own, rest, _), Test::Call(other, wanted, arguments, _)) => {
            package == other
                && own.name == wanted.name
                && Datum::list(rest.clone()).cue_text() == Datum::list(arguments.clone()).cue_text()
        }
        _ => false,
    }
}
