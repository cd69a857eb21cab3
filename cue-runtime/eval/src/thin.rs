//! A list that most have nothing in: it takes one word, and one allocation once something is in it.

use std::ops::{Deref, DerefMut};

use thin_vec::ThinVec;

/// A list that is allocated with its first item, for that one.
#[derive(Clone, Debug)]
pub(crate) struct Thin<T>(ThinVec<T>);

impl<T> Default for Thin<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Thin<T> {
    /// Nothing.
    pub(crate) const fn new() -> Self {
        Self(ThinVec::new())
    }

    /// Room for one more: what is not empty mostly has one item, and what grows further by half is rarely half empty.
    fn make_room(&mut self) {
        if self.0.len() == self.0.capacity() {
            self.0.reserve_exact(1 + self.0.len() / 2);
        }
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    pub(crate) fn pop(&mut self) {
        self.0.pop();
    }

    pub(crate) fn push(&mut self, item: T) {
        self.make_room();
        self.0.push(item);
    }

    pub(crate) fn insert(&mut self, place: usize, item: T) {
        self.make_room();
        self.0.insert(place, item);
    }

    pub(crate) fn reserve(&mut self, more: usize) {
        match self.0.is_empty() {
            true => self.0.reserve_exact(more),
            false => self.0.reserve(more),
        }
    }
}

impl<T> Deref for Thin<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T> DerefMut for Thin<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}

impl<T> From<Vec<T>> for Thin<T> {
    fn from(all: Vec<T>) -> Self {
        Self(all.into())
    }
}

impl<T> IntoIterator for Thin<T> {
    type Item = T;
    type IntoIter = thin_vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a, T> IntoIterator for &'a Thin<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_one_takes_a_word_and_a_full_one_is_a_list() {
        assert_eq!(size_of::<Thin<[u64; 9]>>(), size_of::<usize>());
        let mut list = Thin::default();
        list.reserve(0);
        assert!(list.is_empty() && list.0.capacity() == 0);
        list.push(2);
        list.insert(0, 1);
        list.push(3);
        list[0] = 7;
        assert_eq!(list.iter().sum::<i32>(), 12);
        assert_eq!(list.into_iter().collect::<Vec<_>>(), [7, 2, 3]);
    }
}
