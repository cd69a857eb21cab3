//! What a vertex has met already, by what it is: few are looked at one by one, many are found by hash.

use std::hash::Hash;

use cue_map::Map;
use smallvec::SmallVec;

/// As many are found fastest by looking at each.
const FEW: usize = 12;

/// Entries in order, found by key; keys may repeat.
pub(crate) struct Met<K, V> {
    entries: Vec<(K, V)>,
    /// Places by key, once there were more than [`FEW`].
    places: Map<K, SmallVec<[u32; 1]>>,
}

impl<K, V> Default for Met<K, V> {
    fn default() -> Self {
        Self { entries: Vec::new(), places: Map::default() }
    }
}

impl<K: Copy + Eq + Hash, V> Met<K, V> {
    pub(crate) fn push(&mut self, key: K, value: V) -> usize {
        let at = self.entries.len();
        self.entries.push((key, value));
        if at + 1 > FEW {
            if self.places.is_empty() {
                for (at, (key, _)) in self.entries[..at].iter().enumerate() {
                    self.places.entry(*key).or_default().push(at as u32);
                }
            }
            self.places.entry(key).or_default().push(at as u32);
        }
        at
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn clear(&mut self) {
        self.entries.clear();
        if !self.places.is_empty() {
            self.places.clear();
        }
    }

    /// All of a key, the oldest first.
    pub(crate) fn of(&self, key: K) -> impl Iterator<Item = &V> {
        let few = self.places.is_empty();
        let each = if few { &self.entries[..] } else { &[] };
        let placed = if few { &[][..] } else { self.places.get(&key).map_or(&[][..], |it| it) };
        let each = each.iter().filter(move |it| it.0 == key);
        each.chain(placed.iter().map(|at| &self.entries[*at as usize])).map(|it| &it.1)
    }

    /// The place of the first of a key.
    pub(crate) fn place(&self, key: K) -> Option<usize> {
        if self.places.is_empty() {
            return self.entries.iter().position(|it| it.0 == key);
        }
        self.places.get(&key).and_then(|all| all.first()).map(|at| *at as usize)
    }

    /// Forgets the newest of a key whose value passes.
    pub(crate) fn forget(&mut self, key: K, which: impl Fn(&V) -> bool) {
        let at = self.entries.iter().rposition(|it| it.0 == key && which(&it.1));
        if let Some(at) = at {
            self.entries.remove(at);
            self.places.clear();
            if self.entries.len() > FEW {
                for (at, (key, _)) in self.entries.iter().enumerate() {
                    self.places.entry(*key).or_default().push(at as u32);
                }
            }
        }
    }

    /// What is at a place that [`Met::push`] or [`Met::place`] gave.
    pub(crate) fn at_mut(&mut self, place: usize) -> &mut V {
        &mut self.entries[place].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_and_many_are_found_alike() {
        for most in [3_u32, 100] {
            let mut met: Met<u32, u32> = Met::default();
            for at in 0..most {
                assert_eq!(met.push(at % 50, at), at as usize);
            }
            assert_eq!(
                met.of(1).copied().collect::<Vec<_>>(),
                if most > 50 { vec![1, 51] } else { vec![1] }
            );
            assert_eq!(met.place(2), Some(2));
            assert_eq!(met.place(70), None);
            *met.at_mut(2) = 7;
            assert_eq!(met.of(2).next(), Some(&7));
            met.forget(1, |it| *it == 1);
            assert_eq!(met.of(1).count(), usize::from(most > 50));
            assert_eq!(met.place(2), Some(1), "those behind it have moved up");
        }
    }
}
