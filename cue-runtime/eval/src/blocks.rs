//! Many values in blocks that stay where they are, behind a first array of few: one array of all would be copied as it
//! grows, and at its largest take thrice what is in it.

use std::ops::{Index, IndexMut};

/// Values by their places; there are only ever more.
#[derive(Debug)]
pub(crate) struct Blocks<T> {
    /// The first ones, which are all there are in most programs: found by one comparison.
    first: Vec<T>,
    /// Those behind them.
    blocks: Vec<Vec<T>>,
    len: usize,
}

/// How many stand in the first array, which is copied as it grows.
const FIRST: usize = 1024;

/// Values of a block: a power of two.
const BLOCK: usize = 256;

impl<T> Blocks<T> {
    /// None yet, with room for the first ones.
    pub(crate) fn with_room(first: usize) -> Self {
        Self { first: Vec::with_capacity(first.min(FIRST)), blocks: Vec::new(), len: 0 }
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// One more; how many there are with it. Inlined: what is made there need not be moved.
    #[inline]
    pub(crate) fn push(&mut self, value: T) -> usize {
        if self.len < FIRST {
            self.first.push(value);
        } else {
            self.push_later(value);
        }
        self.len += 1;
        self.len
    }

    #[inline(never)]
    fn push_later(&mut self, value: T) {
        match self.blocks.last_mut() {
            Some(last) if last.len() < BLOCK => last.push(value),
            _ => {
                let mut next = Vec::with_capacity(BLOCK);
                next.push(value);
                self.blocks.push(next);
            }
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.first.iter().chain(self.blocks.iter().flatten())
    }

    #[inline(never)]
    fn later(&self, at: usize) -> &T {
        let at = at - FIRST;
        &self.blocks[at / BLOCK][at % BLOCK]
    }

    #[inline(never)]
    fn later_mut(&mut self, at: usize) -> &mut T {
        let at = at - FIRST;
        &mut self.blocks[at / BLOCK][at % BLOCK]
    }
}

impl<T> Default for Blocks<T> {
    fn default() -> Self {
        Self { first: Vec::new(), blocks: Vec::new(), len: 0 }
    }
}

impl<T> Index<usize> for Blocks<T> {
    type Output = T;

    #[inline]
    fn index(&self, at: usize) -> &T {
        match self.first.get(at) {
            Some(it) => it,
            None => self.later(at),
        }
    }
}

impl<T> IndexMut<usize> for Blocks<T> {
    #[inline]
    fn index_mut(&mut self, at: usize) -> &mut T {
        if at < self.first.len() { &mut self.first[at] } else { self.later_mut(at) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_stay_as_there_are_more() {
        for mut all in [Blocks::default(), Blocks::with_room(3)] {
            assert_eq!((all.len(), all.iter().next()), (0, None));
            for value in 0..FIRST + 2 * BLOCK {
                assert_eq!(all.push(value), value + 1);
            }
            (all[FIRST], all[1]) = (7, 8);
            assert_eq!((all[FIRST - 1], all[FIRST], all[1]), (FIRST - 1, 7, 8));
            assert_eq!(all[FIRST + 2 * BLOCK - 1], FIRST + 2 * BLOCK - 1);
            assert!(
                all.iter().count() == all.len() && all.blocks.iter().all(|it| it.len() == BLOCK)
            );
        }
    }
}
