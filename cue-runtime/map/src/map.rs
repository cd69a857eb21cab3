//! Which value has this key?

use std::borrow::Borrow;
use std::fmt;
use std::hash::Hash;
use std::ops::Index;

use crate::table::{self, Table};

/// A hash map, as in the standard library.
#[derive(Clone)]
pub struct Map<K, V> {
    /// There once there are more than a few; boxed, since most maps are empty.
    table: Option<Box<Table>>,
    entries: Vec<(K, V)>,
}

impl<K, V> Default for Map<K, V> {
    #[inline]
    fn default() -> Self {
        Self::new()
    }
}

impl<K, V> Map<K, V> {
    /// Without entries.
    #[must_use]
    #[inline]
    pub const fn new() -> Self {
        Self { table: None, entries: Vec::new() }
    }

    /// With room for so many entries.
    #[must_use]
    pub fn with_capacity(count: usize) -> Self {
        let table = (count > table::FEW).then(|| Box::new(Table::with_room(count)));
        Self { table, entries: Vec::with_capacity(count) }
    }

    /// How many entries there are.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Removes all entries; their room stays.
    pub fn clear(&mut self) {
        if !self.entries.is_empty() {
            self.free();
            self.entries.clear();
        }
    }

    fn free(&mut self) {
        if let Some(table) = &mut self.table {
            table.clear();
        }
    }

    /// The entries.
    #[inline]
    pub fn iter(&self) -> Iter<'_, K, V> {
        Iter(self.entries.iter())
    }

    /// The entries, their values to be changed.
    #[inline]
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&K, &mut V)> {
        self.entries.iter_mut().map(|(key, value)| (&*key, value))
    }

    /// The keys.
    #[inline]
    pub fn keys(&self) -> impl Iterator<Item = &K> {
        self.entries.iter().map(|it| &it.0)
    }

    /// The values.
    #[inline]
    pub fn values(&self) -> impl Iterator<Item = &V> {
        self.entries.iter().map(|it| &it.1)
    }

    /// Takes out all entries; their room stays.
    pub fn drain(&mut self) -> impl Iterator<Item = (K, V)> {
        self.free();
        self.entries.drain(..)
    }

    /// Keeps the entries that `keep` says, in their order.
    pub fn retain(&mut self, mut keep: impl FnMut(&K, &mut V) -> bool) {
        let Some(table) = &mut self.table else {
            return self.entries.retain_mut(|(key, value)| keep(key, value));
        };
        let entries = &mut self.entries;
        let mut kept = 0;
        table.retain(entries.len(), &mut |place| {
            let (key, value) = &mut entries[place];
            let stays = keep(key, value);
            if stays {
                entries.swap(kept, place);
                kept += 1;
            }
            stays
        });
        entries.truncate(kept);
    }
}

impl<K, V> Map<K, V> {
    /// Room for some more entries.
    pub(crate) fn reserve(&mut self, more: usize) {
        self.entries.reserve(more);
    }
}

impl<K: Hash + Eq, V> Map<K, V> {
    /// What `find` asks for: entries without a table are found without a hash.
    #[inline]
    fn hash<Q: Hash + ?Sized>(&self, key: &Q) -> u32 {
        if self.table.is_none() { 0 } else { table::hash(key) }
    }

    #[inline]
    fn find<Q: Eq + ?Sized>(&self, hash: u32, key: &Q) -> Option<usize>
    where
        K: Borrow<Q>,
    {
        match &self.table {
            None => self.entries.iter().position(|it| it.0.borrow() == key),
            Some(table) => table.find(hash, |place| self.entries[place].0.borrow() == key),
        }
    }

    #[inline]
    pub(crate) fn place<Q: Hash + Eq + ?Sized>(&self, key: &Q) -> Option<usize>
    where
        K: Borrow<Q>,
    {
        if self.entries.is_empty() { None } else { self.find(self.hash(key), key) }
    }

    #[inline]
    fn push(&mut self, hash: u32, key: K, value: V) -> &mut V {
        let place = self.entries.len();
        self.entries.push((key, value));
        if let Some(table) = &mut self.table {
            table.push(hash, place);
        } else if place == table::FEW {
            self.index();
        }
        &mut self.entries[place].1
    }

    #[cold]
    fn index(&mut self) {
        let mut table = Table::with_room(self.entries.len());
        for (place, it) in self.entries.iter().enumerate() {
            table.push(table::hash(&it.0), place);
        }
        self.table = Some(Box::new(table));
    }

    /// The value of a key.
    #[inline]
    pub fn get<Q: Hash + Eq + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.place(key).map(|place| &self.entries[place].1)
    }

    /// The value of a key, to be changed.
    #[inline]
    pub fn get_mut<Q: Hash + Eq + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        self.place(key).map(|place| &mut self.entries[place].1)
    }

    /// Whether the key has a value.
    #[inline]
    pub fn contains_key<Q: Hash + Eq + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.place(key).is_some()
    }

    /// Gives the key a value; the one it had.
    #[inline]
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        let hash = self.hash(&key);
        if let Some(place) = self.find(hash, &key) {
            return Some(std::mem::replace(&mut self.entries[place].1, value));
        }
        self.push(hash, key, value);
        None
    }

    /// Removes the key; the last entry takes its place. The value it had.
    #[inline]
    pub fn remove<Q: Hash + Eq + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let place = self.place(key)?;
        if let Some(table) = &mut self.table {
            table.swap_remove(place, self.entries.len());
        }
        Some(self.entries.swap_remove(place).1)
    }

    /// What there is of the key.
    #[inline]
    pub fn entry(&mut self, key: K) -> Entry<'_, K, V> {
        let hash = self.hash(&key);
        match self.find(hash, &key) {
            Some(place) => Entry::Occupied(Occupied { map: self, place }),
            None => Entry::Vacant(Vacant { map: self, hash, key }),
        }
    }
}

/// A key with its value, or without one.
pub enum Entry<'a, K, V> {
    /// There is a value.
    Occupied(Occupied<'a, K, V>),
    /// There is none.
    Vacant(Vacant<'a, K, V>),
}

/// A key with its value.
pub struct Occupied<'a, K, V> {
    map: &'a mut Map<K, V>,
    place: usize,
}

/// A key without a value.
pub struct Vacant<'a, K, V> {
    map: &'a mut Map<K, V>,
    hash: u32,
    key: K,
}

impl<'a, K: Hash + Eq, V> Entry<'a, K, V> {
    /// The value; if there is none, this one.
    #[inline]
    pub fn or_insert(self, value: V) -> &'a mut V {
        self.or_insert_with(|| value)
    }

    /// The value; if there is none, what `make` gives.
    #[inline]
    pub fn or_insert_with(self, make: impl FnOnce() -> V) -> &'a mut V {
        match self {
            Self::Occupied(it) => it.into_mut(),
            Self::Vacant(it) => it.insert(make()),
        }
    }

    /// The value; if there is none, the default.
    #[inline]
    pub fn or_default(self) -> &'a mut V
    where
        V: Default,
    {
        self.or_insert_with(V::default)
    }
}

impl<'a, K, V> Occupied<'a, K, V> {
    /// The value.
    #[inline]
    #[must_use]
    pub fn get(&self) -> &V {
        &self.map.entries[self.place].1
    }

    /// The value, to be changed.
    #[inline]
    pub fn get_mut(&mut self) -> &mut V {
        &mut self.map.entries[self.place].1
    }

    /// The value, to be changed for as long as the map is there.
    #[inline]
    #[must_use]
    pub fn into_mut(self) -> &'a mut V {
        &mut self.map.entries[self.place].1
    }

    /// Gives the key another value; the one it had.
    #[inline]
    pub fn insert(&mut self, value: V) -> V {
        std::mem::replace(self.get_mut(), value)
    }
}

impl<'a, K: Hash + Eq, V> Vacant<'a, K, V> {
    /// Gives the key a value.
    #[inline]
    pub fn insert(self, value: V) -> &'a mut V {
        self.map.push(self.hash, self.key, value)
    }
}

impl<K: Hash + Eq + Borrow<Q>, Q: Hash + Eq + ?Sized, V> Index<&Q> for Map<K, V> {
    type Output = V;

    #[inline]
    fn index(&self, key: &Q) -> &V {
        self.get(key).expect("the key has a value")
    }
}

impl<K: Hash + Eq, V: PartialEq> PartialEq for Map<K, V> {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().all(|(key, it)| other.get(key) == Some(it))
    }
}

impl<K: Hash + Eq, V: Eq> Eq for Map<K, V> {}

impl<K: fmt::Debug, V: fmt::Debug> fmt::Debug for Map<K, V> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_map().entries(self).finish()
    }
}

impl<K: Hash + Eq, V> Extend<(K, V)> for Map<K, V> {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, entries: I) {
        for (key, value) in entries {
            self.insert(key, value);
        }
    }
}

impl<K: Hash + Eq, V> FromIterator<(K, V)> for Map<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let mut map = Self::default();
        map.extend(entries);
        map
    }
}

/// The entries of a map, one after the other.
pub struct Iter<'a, K, V>(std::slice::Iter<'a, (K, V)>);

impl<'a, K, V> Iterator for Iter<'a, K, V> {
    type Item = (&'a K, &'a V);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|(key, value)| (key, value))
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

/// The entries of a map that is no more.
pub type IntoIter<K, V> = std::vec::IntoIter<(K, V)>;

impl<'a, K, V> IntoIterator for &'a Map<K, V> {
    type Item = (&'a K, &'a V);
    type IntoIter = Iter<'a, K, V>;

    #[inline]
    fn into_iter(self) -> Iter<'a, K, V> {
        self.iter()
    }
}

impl<K, V> IntoIterator for Map<K, V> {
    type Item = (K, V);
    type IntoIter = IntoIter<K, V>;

    #[inline]
    fn into_iter(self) -> IntoIter<K, V> {
        self.entries.into_iter()
    }
}
