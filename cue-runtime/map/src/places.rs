//! Where in an array of somebody else's is this key?

use std::hash::Hash;

use crate::table::{self, FREE, ROOM, hash, slots_for};

/// Places by the hash of their keys, which are not kept: who asks knows them. Nothing is removed.
///
/// Slots are those of a [`crate::Map`]: a place in the low bits, in the others those of the hash, so that keys with
/// another hash, each of which is somewhere else in memory, are seldom looked at.
#[derive(Clone, Debug)]
pub struct Places {
    /// Open addressing with linear probing; a power of two of them.
    slots: Box<[u32]>,
    /// How many places there are.
    count: u32,
}

impl Places {
    /// None, with room for those below `count` and one more.
    #[must_use]
    pub fn with_room(count: usize) -> Self {
        Self { slots: vec![FREE; slots_for(count + 1)].into(), count: 0 }
    }

    /// The places of these keys, with room for one more at least; `None` if there are no keys.
    pub fn of<K: Hash>(keys: impl Iterator<Item = (usize, K)> + Clone) -> Option<Self> {
        let largest = keys.clone().map(|it| it.0).max()?;
        let mut made = Self::with_room(largest + 1);
        for (place, key) in keys {
            made.push(&key, place);
        }
        Some(made)
    }

    /// The place with this key that is the one, as `is` says.
    pub fn find<K: Hash + ?Sized>(&self, key: &K, is: impl Fn(usize) -> bool) -> Option<usize> {
        table::find(&self.slots, hash(key), is)
    }

    /// One more; `false` if there is no room for it, and all have to be found anew.
    pub fn push<K: Hash + ?Sized>(&mut self, key: &K, place: usize) -> bool {
        let slots = self.slots.len();
        // A place that is all ones beside such a hash would be a free slot.
        if (self.count.max(place as u32) as usize + 1) * ROOM.1 > slots * ROOM.0 {
            return false;
        }
        table::put(&mut self.slots, hash(key), place as u32);
        self.count += 1;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_is_found_at_its_place_however_many_there_are() {
        let mut keys: Vec<u32> = Vec::new();
        assert!(Places::of(keys.iter().enumerate()).is_none());
        let mut places: Option<Places> = None;
        for key in (0..1_000_u32).map(|it| it.wrapping_mul(2_654_435_761)) {
            keys.push(key);
            let noted = places.as_mut().is_some_and(|it| it.push(&key, keys.len() - 1));
            if !noted {
                places = Places::of(keys.iter().enumerate());
            }
            let found = places.as_ref().expect("there are some");
            for (at, key) in keys.iter().enumerate() {
                assert_eq!(found.find(key, |it| keys[it] == *key), Some(at));
            }
            assert_eq!(found.find(&1, |it| keys[it] == 1), None);
        }
    }
}
