//! Is this key one of them?

use std::borrow::Borrow;
use std::fmt;
use std::hash::Hash;

use crate::map::Map;

/// A hash set, as in the standard library.
#[derive(Clone)]
pub struct Set<K>(Map<K, ()>);

impl<K> Default for Set<K> {
    #[inline]
    fn default() -> Self {
        Self(Map::default())
    }
}

impl<K> Set<K> {
    /// How many keys there are.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Removes all keys; their room stays.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// The keys.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = &K> {
        self.0.keys()
    }

    /// Keeps the keys that `keep` says, in their order.
    pub fn retain(&mut self, mut keep: impl FnMut(&K) -> bool) {
        self.0.retain(|key, ()| keep(key));
    }
}

impl<K: Hash + Eq> Set<K> {
    /// Whether the key is there.
    #[inline]
    pub fn contains<Q: Hash + Eq + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.0.contains_key(key)
    }

    /// Its place among the keys, in the order they came, where none was removed.
    #[inline]
    pub fn place<Q: Hash + Eq + ?Sized>(&self, key: &Q) -> Option<usize>
    where
        K: Borrow<Q>,
    {
        self.0.place(key)
    }

    /// Takes in a key; whether it is new.
    #[inline]
    pub fn insert(&mut self, key: K) -> bool {
        self.0.insert(key, ()).is_none()
    }

    /// Removes the key; the last one takes its place. Whether it was there.
    #[inline]
    pub fn remove<Q: Hash + Eq + ?Sized>(&mut self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.0.remove(key).is_some()
    }
}

impl<K: Hash + Eq> PartialEq for Set<K> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<K: Hash + Eq> Eq for Set<K> {}

impl<K: fmt::Debug> fmt::Debug for Set<K> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_set().entries(self.iter()).finish()
    }
}

impl<K: Hash + Eq> Extend<K> for Set<K> {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        let keys = keys.into_iter();
        self.0.reserve(keys.size_hint().0);
        for key in keys {
            self.insert(key);
        }
    }
}

impl<K: Hash + Eq> FromIterator<K> for Set<K> {
    fn from_iter<I: IntoIterator<Item = K>>(keys: I) -> Self {
        let mut set = Self::default();
        set.extend(keys);
        set
    }
}
