//! Long lists that functions are given again and again: as data they are made once.

use crate::builtin::Datum;
use crate::evaluator::Evaluator;
use crate::heap::{FaultId, State, VertexId};

/// Shorter lists are made anew.
const LONG: usize = 16;

/// Data of a vertex, and how often vertices had been evaluated anew by then.
pub(crate) struct Kept {
    resets: u32,
    datum: Datum,
}

impl Evaluator {
    /// [`Evaluator::datum`], remembered for a long list as long as nothing is evaluated anew.
    pub(crate) fn datum_again(&mut self, id: VertexId) -> Result<Datum, FaultId> {
        if let Some(kept) = self.kept.get(&id).filter(|it| it.resets == self.heap.resets) {
            return Ok(kept.datum.clone());
        }
        let datum = self.datum(id)?;
        if matches!(&datum, Datum::List(items) if items.len() >= LONG) && self.is_done(id) {
            let kept = Kept { resets: self.heap.resets, datum: datum.clone() };
            self.kept.insert(id, kept);
        }
        Ok(datum)
    }

    /// Whether nothing at or below a vertex is still being evaluated.
    fn is_done(&self, id: VertexId) -> bool {
        let mut open = vec![id];
        while let Some(id) = open.pop() {
            let vertex = self.heap.get(self.follow(id));
            if vertex.state != State::Done {
                return false;
            }
            open.extend(vertex.arcs.iter().map(|it| it.vertex));
            open.extend(vertex.choice.iter().flat_map(|it| it.all.iter().copied()));
        }
        true
    }
}
