//! What a vertex has met already, by what it is: few are looked at one by one, many are found by hash.

use std::hash::Hash;

use cue_map::Places;

/// As many are found fastest by looking at each.
const FEW: usize = 12;

/// No further entry.
const NONE: u32 = u32::MAX;

/// Entries in order, found by key; keys may repeat.
pub(crate) struct Met<K, V> {
    entries: Vec<Entry<K, V>>,
    /// Where the first entry of each key is, once one is looked for among more than [`FEW`].
    places: Option<Places>,
    /// As many entries are in `places`: of what a loop brings, a million rounds of it, nothing is looked for.
    noted: usize,
}

struct Entry<K, V> {
    key: K,
    value: V,
    /// The next of this key.
    next: u32,
    /// Of the first of a key: the last one.
    last: u32,
}

impl<K, V> Default for Met<K, V> {
    fn default() -> Self {
        Self { entries: Vec::new(), places: None, noted: 0 }
    }
}

impl<K: Copy + Eq + Hash, V> Met<K, V> {
    pub(crate) fn push(&mut self, key: K, value: V) -> usize {
        let at = self.entries.len();
        self.entries.push(Entry { key, value, next: NONE, last: at as u32 });
        at
    }

    /// Notes where all entries are, unless they are few.
    fn note_all(&mut self) {
        if self.entries.len() > FEW || self.places.is_some() {
            while self.noted < self.entries.len() {
                self.note(self.noted);
            }
        }
    }

    /// Notes where an entry is, those before it are noted already.
    fn note(&mut self, at: usize) {
        let Some(places) = &mut self.places else { return self.find_places() };
        let entries = &mut self.entries;
        let key = entries[at].key;
        match places.find(&key, |it| entries[it].key == key) {
            Some(first) => {
                let last = std::mem::replace(&mut entries[first].last, at as u32);
                entries[last as usize].next = at as u32;
            }
            None if places.push(&key, at) => {}
            None => return self.find_places(),
        }
        self.noted = at + 1;
    }

    #[cold]
    fn find_places(&mut self) {
        self.places = Some(Places::with_room(self.entries.len()));
        for (at, it) in self.entries.iter_mut().enumerate() {
            (it.next, it.last) = (NONE, at as u32);
        }
        (0..self.entries.len()).for_each(|at| self.note(at));
    }

    /// What came last.
    pub(crate) fn last(&self) -> Option<&V> {
        self.entries.last().map(|it| &it.value)
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(crate) fn clear(&mut self) {
        self.entries.clear();
        self.places = None;
        self.noted = 0;
    }

    /// All of a key, the oldest first.
    pub(crate) fn of(&mut self, key: K) -> impl Iterator<Item = &V> {
        self.note_all();
        let (each, first) = match &self.places {
            None => (&self.entries[..], None),
            Some(places) => (&[][..], places.find(&key, |at| self.entries[at].key == key)),
        };
        let placed = std::iter::successors(first, |at| {
            let next = self.entries[*at].next;
            (next != NONE).then_some(next as usize)
        });
        let each = each.iter().filter(move |it| it.key == key);
        each.chain(placed.map(|at| &self.entries[at])).map(|it| &it.value)
    }

    /// The place of the first of a key.
    pub(crate) fn place(&mut self, key: K) -> Option<usize> {
        self.note_all();
        match &self.places {
            None => self.entries.iter().position(|it| it.key == key),
            Some(places) => places.find(&key, |at| self.entries[at].key == key),
        }
    }

    /// Forgets the newest of a key whose value passes.
    pub(crate) fn forget(&mut self, key: K, which: impl Fn(&V) -> bool) {
        let at = self.entries.iter().rposition(|it| it.key == key && which(&it.value));
        if let Some(at) = at {
            self.entries.remove(at);
            (self.places, self.noted) = (None, 0);
        }
    }

    /// What is at a place that [`Met::push`] or [`Met::place`] gave.
    pub(crate) fn at_mut(&mut self, place: usize) -> &mut V {
        &mut self.entries[place].value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_and_many_are_found_alike() {
        for most in [3_u32, 13, 100, 1_000] {
            let mut met: Met<u32, u32> = Met::default();
            for at in 0..most {
                assert_eq!(met.push(at % 50, at), at as usize);
            }
            let all: Vec<u32> = (1..most).step_by(50).collect();
            assert_eq!(met.of(1).copied().collect::<Vec<_>>(), all);
            assert_eq!(met.place(2), Some(2));
            assert_eq!(met.place(70), None);
            *met.at_mut(2) = 7;
            assert_eq!(met.of(2).next(), Some(&7));
            met.forget(1, |it| *it == 1);
            assert_eq!(met.of(1).copied().collect::<Vec<_>>(), all[1..]);
            assert_eq!(met.place(2), Some(1), "those behind it have moved up");
        }
    }
}
