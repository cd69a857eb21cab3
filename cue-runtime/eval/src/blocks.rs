//! Many values in blocks that stay where they are: one array of all would be copied as it grows, and at
//! its largest take thrice what is in it.

use std::ops::{Index, IndexMut};

/// Values by their places; there are only ever more. Inlined only where size does not matter.
#[derive(Debug)]
pub(crate) struct Blocks<T> {
    blocks: Vec<Vec<T>>,
    len: usize,
}

/// Values of a block: a power of two.
const BLOCK: usize = 256;

impl<T> Blocks<T> {
    /// None yet, with room for the first ones.
    pub(crate) fn with_room(first: usize) -> Self {
        Self { blocks: vec![Vec::with_capacity(first.min(BLOCK))], len: 0 }
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// One more; how many there are with it.
    pub(crate) fn push(&mut self, value: T) -> usize {
        match self.blocks.last_mut() {
            Some(last) if last.len() < BLOCK => last.push(value),
            last => {
                let room = if last.is_some() { BLOCK } else { 0 };
                let mut next = Vec::with_capacity(room);
                next.push(value);
                self.blocks.push(next);
            }
        }
        self.len += 1;
        self.len
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.blocks.iter().flatten()
    }
}

impl<T> Default for Blocks<T> {
    fn default() -> Self {
        Self { blocks: Vec::new(), len: 0 }
    }
}

impl<T> Index<usize> for Blocks<T> {
    type Output = T;

    #[inline]
    fn index(&self, at: usize) -> &T {
        &self.blocks[at / BLOCK][at % BLOCK]
    }
}

impl<T> IndexMut<usize> for Blocks<T> {
    #[inline]
    fn index_mut(&mut self, at: usize) -> &mut T {
        &mut self.blocks[at / BLOCK][at % BLOCK]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_stay_as_there_are_more() {
        for mut all in [Blocks::default(), Blocks::with_room(3)] {
            assert_eq!((all.len(), all.iter().next()), (0, None));
            for value in 0..3 * BLOCK {
                assert_eq!(all.push(value), value + 1);
            }
            all[BLOCK] = 7;
            assert_eq!((all[BLOCK - 1], all[BLOCK], all[2 * BLOCK]), (BLOCK - 1, 7, 2 * BLOCK));
            assert!(
                all.iter().count() == all.len() && all.blocks.iter().all(|it| it.len() == BLOCK)
            );
        }
    }
}
