//! Which entry has this hash? The part that knows no types.
//!
//! Open addressing with linear probing. A slot holds a place in its low bits and in the others
//! those of the hash, so that entries with another hash are seldom looked at.
//! 1. A slot is free at any time, or looking for what is missing would not end. (`ROOM`)
//! 2. A place is below the number of slots, and so fits into its bits. (`ROOM`)

use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;

/// A slot without an entry: no place is as large as all its bits.
pub(crate) const FREE: u32 = u32::MAX;

/// Up to so many entries are looked at one by one, without hashes.
pub(crate) const FEW: usize = 8;

/// So many entries at most for so many slots.
pub(crate) const ROOM: (usize, usize) = (3, 4);

/// Slots for so many entries: a power of two.
pub(crate) fn slots_for(count: usize) -> usize {
    (count * ROOM.1).div_ceil(ROOM.0).next_power_of_two()
}

/// The place with this hash that is the `same`; a free slot ends the search.
#[inline]
pub(crate) fn find(slots: &[u32], hash: u32, mut same: impl FnMut(usize) -> bool) -> Option<usize> {
    let mask = slots.len() as u32 - 1;
    let mut at = hash;
    loop {
        let slot = slots[(at & mask) as usize];
        if slot == FREE {
            return None;
        }
        let place = slot ^ (hash & !mask);
        if place <= mask && same(place as usize) {
            return Some(place as usize);
        }
        at = at.wrapping_add(1);
    }
}

/// Gives a place its slot.
pub(crate) fn put(slots: &mut [u32], hash: u32, place: u32) {
    let mask = slots.len() as u32 - 1;
    let mut at = hash & mask;
    while slots[at as usize] != FREE {
        at = (at + 1) & mask;
    }
    slots[at as usize] = (hash & !mask) | place;
}

/// The hash of a key.
#[inline]
pub(crate) fn hash<Q: Hash + ?Sized>(key: &Q) -> u32 {
    let mut hasher = Words(FxHasher::default());
    key.hash(&mut hasher);
    // Where words have 32 bits, those of numbers that follow each other are near each other: they are spread
    // (the last steps of MurmurHash3), or large tables would be walked slot by slot.
    let mut hash = hasher.finish();
    hash ^= hash >> 32;
    let mut hash = hash as u32;
    hash = (hash ^ hash >> 16).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ hash >> 13).wrapping_mul(0xc2b2_ae35);
    hash ^ hash >> 16
}

/// `FxHasher`, with what it does to bytes compiled once.
struct Words(FxHasher);

impl Hasher for Words {
    #[inline(never)]
    fn write(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }

    #[inline]
    fn write_u8(&mut self, it: u8) {
        self.0.write_u8(it);
    }

    #[inline]
    fn write_u16(&mut self, it: u16) {
        self.0.write_u16(it);
    }

    #[inline]
    fn write_u32(&mut self, it: u32) {
        self.0.write_u32(it);
    }

    #[inline]
    fn write_u64(&mut self, it: u64) {
        self.0.write_u64(it);
    }

    #[inline]
    fn write_usize(&mut self, it: usize) {
        self.0.write_usize(it);
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0.finish()
    }
}

/// From hashes to places.
#[derive(Clone)]
pub(crate) struct Table {
    /// The slots, then the hash of each place, with room for more of them.
    words: Box<[u32]>,
    /// How many slots there are: a power of two.
    slots: u32,
}

impl Table {
    /// With room for so many entries, at least.
    pub(crate) fn with_room(count: usize) -> Self {
        let slots = slots_for(count).max(ROOM.1);
        Self { words: vec![FREE; slots + slots / ROOM.1 * ROOM.0].into(), slots: slots as u32 }
    }

    /// The place with this hash that is the `same`.
    #[inline]
    pub(crate) fn find(&self, hash: u32, same: impl FnMut(usize) -> bool) -> Option<usize> {
        find(&self.words[..self.slots as usize], hash, same)
    }

    /// Takes in the place `len`.
    pub(crate) fn push(&mut self, hash: u32, len: usize) {
        if self.slots as usize + len == self.words.len() {
            self.grow(len);
        }
        self.words[self.slots as usize + len] = hash;
        self.put(hash, len as u32);
    }

    #[cold]
    fn grow(&mut self, len: usize) {
        let mut larger = Self::with_room(len + 1);
        let slots = larger.slots as usize;
        larger.words[slots..slots + len].copy_from_slice(&self.words[self.slots as usize..]);
        *self = larger;
        self.fill(len);
    }

    /// Gives `len` places their slots, when all slots are free.
    fn fill(&mut self, len: usize) {
        for place in 0..len {
            self.put(self.words[self.slots as usize + place], place as u32);
        }
    }

    fn put(&mut self, hash: u32, place: u32) {
        put(&mut self.words[..self.slots as usize], hash, place);
    }

    /// Takes out one of `len` places; the last one takes its place.
    pub(crate) fn swap_remove(&mut self, place: usize, len: usize) {
        let slots = self.slots as usize;
        let last = len - 1;
        let moved = self.words[slots + last];
        self.free(self.slot(place as u32));
        if place != last {
            let at = self.slot(last as u32);
            self.words[at as usize] = (moved & !(self.slots - 1)) | place as u32;
            self.words[slots + place] = moved;
        }
    }

    /// The slot of a place.
    fn slot(&self, place: u32) -> u32 {
        let mask = self.slots - 1;
        let hash = self.words[(self.slots + place) as usize];
        let mut at = hash & mask;
        while self.words[at as usize] != (hash & !mask) | place {
            at = (at + 1) & mask;
        }
        at
    }

    /// Frees a slot: what was put further down because it was taken moves up.
    fn free(&mut self, slot: u32) {
        let mask = self.slots - 1;
        let mut hole = slot;
        let mut at = slot;
        loop {
            at = (at + 1) & mask;
            let slot = self.words[at as usize];
            if slot == FREE {
                break;
            }
            let home = self.words[(self.slots + (slot & mask)) as usize];
            if at.wrapping_sub(home) & mask >= at.wrapping_sub(hole) & mask {
                self.words[hole as usize] = slot;
                hole = at;
            }
        }
        self.words[hole as usize] = FREE;
    }

    /// Keeps those of `len` places that `keep` says, in their order.
    pub(crate) fn retain(&mut self, len: usize, keep: &mut dyn FnMut(usize) -> bool) {
        let slots = self.slots as usize;
        let mut kept = 0;
        for place in 0..len {
            if keep(place) {
                self.words[slots + kept] = self.words[slots + place];
                kept += 1;
            }
        }
        if kept < len {
            self.clear();
            self.fill(kept);
        }
    }

    /// Frees all slots.
    pub(crate) fn clear(&mut self) {
        self.words[..self.slots as usize].fill(FREE);
    }
}
