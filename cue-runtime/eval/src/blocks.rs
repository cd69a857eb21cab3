//! Many values in blocks that stay where they are: one array of all would be copied as it grows, and at
//! its largest take thrice what is in it.

use std::ops::{Index, IndexMut};

/// Values by their places; there are only ever more. Inlined only where size does not matter.
#[derive(Debug)]
pub(crate) struct Blocks<T>(Vec<Vec<T>>);

/// Values of a block: a power of two.
const BLOCK: usize = 256;

impl<T> Blocks<T> {
    /// None yet, with room for the first ones.
    pub(crate) fn with_room(first: usize) -> Self {
        Self(vec![Vec::with_capacity(first.min(BLOCK))])
    }

    pub(crate) fn len(&self) -> usize {
        self.0.last().map_or(0, |last| (self.0.len() - 1) * BLOCK + last.len())
    }

    /// One more; how many there are with it.
    pub(crate) fn push(&mut self, value: T) -> usize {
        match self.0.last_mut() {
            Some(last) if last.len() < BLOCK => last.push(value),
            last => {
                let room = if last.is_some() { BLOCK } else { 0 };
                let mut next = Vec::with_capacity(room);
                next.push(value);
                self.0.push(next);
            }
        }
        self.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter().flatten()
    }
}

impl<T> Default for Blocks<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Index<usize> for Blocks<T> {
    type Output = T;

    #[inline]
    fn index(&self, at: usize) -> &T {
        &self.0[at / BLOCK][at % BLOCK]
    }
}

impl<T> IndexMut<usize> for Blocks<T> {
    #[cfg_attr(not(target_family = "wasm"), inline)]
    fn index_mut(&mut self, at: usize) -> &mut T {
        &mut self.0[at / BLOCK][at % BLOCK]
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
            assert!(all.iter().count() == all.len() && all.0.iter().all(|it| it.len() == BLOCK));
        }
    }
}
