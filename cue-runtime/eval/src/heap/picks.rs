//! The alternatives that a vertex is tried with, or that are left of its choices.

use smallvec::{SmallVec, smallvec};

use crate::blocks::Blocks;
use crate::heap::{Heap, VertexId};
use crate::program::ExprId;

/// A disjunction, and which of its alternatives.
pub(crate) type Pick = (ExprId, u32);

/// Those of a vertex: number `n` is at `n - 1`, 0 is none. A copy is the same ones until there are more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Picks(u32);

impl Picks {
    /// None.
    pub(crate) const NONE: Self = Self(0);

    /// Whether there is none.
    #[inline]
    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// All that were made.
#[derive(Default)]
pub(crate) struct AllPicks(Blocks<SmallVec<[Pick; 1]>>);

impl Heap {
    /// The alternatives that a vertex is tried with.
    pub(crate) fn picks(&self, id: VertexId) -> &[Pick] {
        self.picked(self.get(id).picks)
    }

    /// The alternatives themselves.
    pub(crate) fn picked(&self, picks: Picks) -> &[Pick] {
        match picks.0 {
            0 => &[],
            number => &self.picks.0[number as usize - 1],
        }
    }

    /// Some more, behind those that are there.
    pub(crate) fn pick_more(&mut self, id: VertexId, more: &[Pick]) {
        if more.is_empty() {
            return;
        }
        let all = match (self.picks(id), more) {
            ([], [only]) => smallvec![*only],
            (known, more) => known.iter().chain(more).copied().collect(),
        };
        let made = self.picks.0.push(all);
        self.get_mut(id).picks = Picks(made as u32);
    }

    /// Those of another vertex, too.
    pub(crate) fn pick_as(&mut self, id: VertexId, other: VertexId) {
        if self.get(id).picks.is_empty() {
            self.get_mut(id).picks = self.get(other).picks;
        } else {
            let more: SmallVec<[Pick; 4]> = SmallVec::from_slice(self.picks(other));
            self.pick_more(id, &more);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::ExprId;

    #[test]
    fn what_a_copy_gets_more_the_other_has_not() {
        let mut heap = Heap::new();
        let pick = |number| (ExprId::at(0), number);
        let [one, other] = [(); 2].map(|()| heap.vertex(None, None));
        heap.pick_more(one, &[pick(1)]);
        heap.get_mut(other).picks = heap.get(one).picks;
        heap.pick_more(other, &[pick(2), pick(3)]);
        heap.pick_more(one, &[]);
        let third = heap.vertex(None, None);
        heap.pick_as(third, one);
        heap.pick_as(third, other);
        assert_eq!(heap.picks(third), [pick(1), pick(1), pick(2), pick(3)]);
        assert_eq!(heap.picks(one), [pick(1)]);
        assert_eq!(heap.picks(other), [pick(1), pick(2), pick(3)]);
        assert!(!heap.get(one).picks.is_empty() && Picks::NONE.is_empty());
    }
}
