//! A list that most have nothing in: then it takes one word.

use std::ops::{Deref, DerefMut};

/// A list, allocated with its first item.
#[derive(Clone, Debug)]
pub(crate) struct Thin<T>(
    #[allow(clippy::box_collection, reason = "the point of it")] Option<Box<Vec<T>>>,
);

impl<T> Default for Thin<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> Thin<T> {
    fn all(&mut self) -> &mut Vec<T> {
        // What is not empty mostly has one item.
        self.0.get_or_insert_with(|| Box::new(Vec::with_capacity(1)))
    }

    pub(crate) fn push(&mut self, item: T) {
        self.all().push(item);
    }

    pub(crate) fn insert(&mut self, place: usize, item: T) {
        self.all().insert(place, item);
    }

    pub(crate) fn extend(&mut self, items: impl IntoIterator<Item = T>) {
        let mut items = items.into_iter().peekable();
        if items.peek().is_some() {
            self.all().extend(items);
        }
    }
}

impl<T> Deref for Thin<T> {
    type Target = [T];

    #[cfg_attr(not(target_family = "wasm"), inline)]
    fn deref(&self) -> &[T] {
        self.0.as_ref().map_or(&[], |it| it)
    }
}

impl<T> DerefMut for Thin<T> {
    #[cfg_attr(not(target_family = "wasm"), inline)]
    fn deref_mut(&mut self) -> &mut [T] {
        self.0.as_mut().map_or(&mut [], |it| it)
    }
}

impl<T> From<Vec<T>> for Thin<T> {
    fn from(all: Vec<T>) -> Self {
        Self((!all.is_empty()).then(|| Box::new(all)))
    }
}

impl<T> IntoIterator for Thin<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.map_or_else(Vec::new, |it| *it).into_iter()
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
        list.extend([]);
        assert!(list.is_empty() && list.0.is_none());
        list.push(2);
        list.insert(0, 1);
        list.extend([3]);
        list[0] = 7;
        assert_eq!(list.iter().sum::<i32>(), 12);
        assert_eq!(list.into_iter().collect::<Vec<_>>(), [7, 2, 3]);
    }
}
