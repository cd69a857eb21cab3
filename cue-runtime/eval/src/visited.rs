//! In which order places were come to (S-65, S-72): of a struct that has no end the one who refers to it first
//! shows it as it is, who refers to it later only that it fails, and the one that leads back to what is
//! being evaluated has the error itself.

use cue_map::{Map, Set};

use crate::evaluator::Evaluator;
use crate::heap::{Conjunct, Source, VertexId};
use crate::program::{Callee, Code};

/// How a place came to the struct that it refers to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Visit {
    /// Before others.
    First,
    /// When it was known.
    Later,
    /// While it was being evaluated.
    Within,
}

/// What is still to do of a walk.
enum Step {
    Enter(VertexId),
    Leave,
}

/// As many places are looked at.
const MOST_VISITED: usize = 100_000;

impl Evaluator {
    /// How each place that refers to another one came to that, from the root on, in the order of fields.
    fn walked(&mut self) -> Map<VertexId, Visit> {
        let mut visits = Map::default();
        let (mut seen, mut within) = (Set::default(), Vec::new());
        let mut next = vec![Step::Enter(self.root)];
        while let Some(step) = next.pop() {
            let id = match step {
                Step::Enter(id) => id,
                Step::Leave => {
                    within.pop();
                    continue;
                }
            };
            if !seen.insert(id) || seen.len() > MOST_VISITED {
                continue;
            }
            within.push(id);
            next.push(Step::Leave);
            if let Some(target) = self.stands_for(id) {
                let visit = match (within.contains(&target), seen.contains(&target)) {
                    (true, _) => Visit::Within,
                    (false, true) => Visit::Later,
                    (false, false) => Visit::First,
                };
                visits.insert(id, visit);
                next.push(Step::Enter(target));
                continue;
            }
            for arc in self.ordered(id).iter().rev() {
                // The first reference below leads to what is around it.
                if let Some(at) = within.iter().position(|it| *it == arc.vertex) {
                    let leads = within[at..].iter().find(|it| visits.contains_key(*it));
                    visits.extend(leads.map(|it| (*it, Visit::Within)));
                }
                next.push(Step::Enter(arc.vertex));
            }
        }
        visits
    }

    /// How a place came to what it refers to.
    pub(crate) fn visit(&mut self, id: VertexId) -> Option<Visit> {
        if !self.stands_in_literals(self.heap.get(id).parent)
            || !self.stands_in_literals(Some(self.follow(id)))
        {
            return None;
        }
        if self.visits.is_empty() {
            self.visits = self.walked();
        }
        self.visits.get(&id).copied()
    }

    /// Whether a place and all that is around it is written where it is, or closed or unified there: what came by references comes to others once
    /// more for each of these.
    fn stands_in_literals(&self, mut next: Option<VertexId>) -> bool {
        let literal = |it: &Conjunct| match it.source() {
            Source::Expr(expr, _) => {
                let code = self.program.code(expr);
                matches!(code, Code::Struct(_) | Code::List(_) | Code::Call(Callee::Plain(_), _))
            }
            Source::Data(_) | Source::Vertex(_) => false,
        };
        while let Some(id) = next.filter(|it| *it != self.root) {
            let vertex = self.heap.get(id);
            if !vertex.conjuncts.iter().all(literal) {
                return false;
            }
            next = vertex.parent;
        }
        true
    }

    /// The place that another one refers to which is nothing but that reference.
    fn stands_for(&mut self, id: VertexId) -> Option<VertexId> {
        let target = self.path_of(id)?;
        (target != id && self.is_in_tree(target)).then_some(target)
    }
}
