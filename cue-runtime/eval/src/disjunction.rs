//! Alternatives: which can hold, which is the default (D rules).

use crate::error::{Fault, Kind};
use crate::evaluator::Evaluator;
use crate::heap::{Choice, Disjunction, VertexId};
use crate::program::ExprId;

impl Evaluator {
    pub(crate) fn pick(&self, id: VertexId, expr: ExprId) -> Option<usize> {
        self.heap.get(id).picks.iter().find(|it| it.0 == expr).map(|it| it.1 as usize)
    }

    /// Tries the alternatives of the first disjunction; a candidate with more of them does the
    /// same with its next one, so that every combination that can hold is found (D rules).
    pub(crate) fn choose(&mut self, id: VertexId, disjunctions: &[Disjunction]) {
        let Some(disjunction) = disjunctions.first() else { return };
        let marked = disjunction.marks.contains(&true);
        let mut choice = Choice::default();
        let mut failures: Vec<Fault> = Vec::new();
        let mut unknown: Vec<VertexId> = Vec::new();
        for (pick, mark) in disjunction.marks.iter().enumerate() {
            if let Err(fault) = self.tick() {
                self.heap.get_mut(id).fault = Some(fault);
                return;
            }
            let (parent, label) = (self.heap.get(id).parent, self.heap.get(id).label);
            let candidate = self.heap.vertex(parent, label);
            let conjuncts = self.heap.get(id).conjuncts.clone();
            let mut picks = self.heap.get(id).picks.clone();
            picks.push((disjunction.expr, pick as u32));
            let vertex = self.heap.get_mut(candidate);
            vertex.conjuncts = conjuncts;
            vertex.picks = picks;
            if let Some(group) = self.definitions.get(&id).copied() {
                self.definitions.insert(candidate, group);
            }
            let candidate = self.unify(candidate);
            if let Some(fault) = self.permanent(candidate, 0) {
                failures.push(fault);
                continue;
            }
            let default = *mark || !marked;
            if self.is_unknown(candidate) {
                unknown.push(candidate);
            }
            match self.heap.get(candidate).choice.clone() {
                Some(inner) => {
                    for each in &inner.all {
                        let default =
                            default && (inner.defaults.is_empty() || inner.defaults.contains(each));
                        self.add_alternative(&mut choice, *each, default);
                    }
                }
                None => {
                    let default = default && !self.heap.get(candidate).demoted;
                    self.add_alternative(&mut choice, candidate, default);
                }
            }
        }
        // What may never resolve gives way to what already holds: `*status.ready | false`.
        if unknown.len() < choice.all.len() {
            choice.all.retain(|it| !unknown.contains(it));
            choice.defaults.retain(|it| !unknown.contains(it));
        }
        let demoted = choice.defaults.is_empty() && !choice.all.is_empty();
        if choice.defaults.len() == choice.all.len() {
            choice.defaults.clear();
        }
        match choice.all.as_slice() {
            [] => {
                failures.dedup();
                let fault = if failures.len() == 1 {
                    failures.remove(0)
                } else {
                    let message = format!("{} errors in empty disjunction:", failures.len());
                    let mut fault = Fault::new(Kind::Permanent, message, disjunction.at);
                    fault.causes = failures;
                    fault
                };
                self.raise(id, fault);
            }
            [only] => {
                let only = *only;
                self.heap.get_mut(only).demoted |= demoted;
                if self.follow(only) != id {
                    self.heap.get_mut(id).forward = Some(only);
                }
            }
            _ => self.heap.get_mut(id).choice = Some(choice),
        }
    }

    /// Whether the value itself is an incomplete error; a cycle may still close.
    pub(crate) fn is_unknown(&self, id: VertexId) -> bool {
        let fault = self.heap.get(id).fault.map(|it| self.heap.faults[it.0 as usize].kind);
        fault == Some(Kind::Incomplete)
    }

    pub(crate) fn add_alternative(&mut self, choice: &mut Choice, vertex: VertexId, default: bool) {
        let same = choice.all.iter().copied().find(|other| self.equal_scalars(*other, vertex));
        let kept = same.unwrap_or(vertex);
        if same.is_none() {
            choice.all.push(vertex);
        }
        if default && !choice.defaults.contains(&kept) {
            choice.defaults.push(kept);
        }
    }

    pub(crate) fn equal_scalars(&self, left: VertexId, right: VertexId) -> bool {
        let (left, right) = (self.heap.get(left), self.heap.get(right));
        match (&left.scalar, &right.scalar) {
            (Some((left, _)), Some((right, _))) => crate::compare::same(left, right),
            _ => false,
        }
    }
}
