//! Sets of closing values, shared by all that belong to the same ones.

use std::cmp::Ordering;
use std::ops::Deref;
use std::sync::Arc;

use cue_map::Map;
use smallvec::SmallVec;

/// Closing values that a conjunct belongs to (C rules). Most are in none, and what a literal declares
/// is in the same ones as the literal: a copy is the same set until it is changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Groups(Option<Arc<Members>>);

type Members = SmallVec<[u32; 4]>;

/// What is known of the order of groups.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    Sorted,
    Unknown,
}

/// As many are gone through without being counted as work.
pub(crate) const FEW_COUNTED: usize = 64;

/// As many are put in order anew with each that comes.
const FEW_GROUPS: usize = 8;

impl Groups {
    /// The empty set.
    pub(crate) const fn new() -> Self {
        Self(None)
    }

    fn members(&mut self) -> &mut Members {
        Arc::make_mut(self.0.get_or_insert_default())
    }

    /// One more, at the end: see [`Groups::settle`].
    pub(crate) fn push(&mut self, group: u32) {
        self.members().push(group);
    }

    /// One more, unless it is there.
    pub(crate) fn add(&mut self, group: u32) {
        if !self.contains(&group) {
            self.push(group);
        }
    }

    /// Without those that `keep` refuses.
    pub(crate) fn retain(&mut self, keep: impl Fn(&u32) -> bool) {
        if !self.iter().all(&keep) {
            self.members().retain(|it| keep(it));
        }
    }

    /// Sorted, each once.
    pub(crate) fn settle(&mut self) {
        if !self.is_sorted_by(|one, other| one < other) {
            let members = self.members();
            cue_sort::ascending(members);
            members.dedup();
        }
    }

    /// Those of `more` too, sorted; whether any was new.
    pub(crate) fn join(&mut self, more: &Self) -> bool {
        if self.is_empty() && ascends(more, |one, other| one < other) {
            self.0.clone_from(&more.0);
            return !more.is_empty();
        }
        let before = self.len();
        let sorted = before > FEW_GROUPS && self.order() == Order::Sorted;
        // A few are searched for, of many both are gone through once.
        let lacking: Members = match sorted {
            true if more.len() * 8 < before || more.order() == Order::Unknown => {
                more.iter().filter(|it| self.binary_search(it).is_err()).copied().collect()
            }
            true => lacking(self, more),
            false if before <= FEW_GROUPS && self.includes(more) => return false,
            false => more.0.as_deref().cloned().unwrap_or_default(),
        };
        if sorted && lacking.is_empty() {
            return false;
        }
        let members = self.members();
        // New groups are the largest.
        let behind = sorted && ascends(&lacking, |one, other| one < other);
        let behind = behind && members.last() < lacking.first();
        members.extend(lacking);
        if !behind {
            cue_sort::ascending(members);
            members.dedup();
        }
        members.len() > before
    }

    /// Whether a group is in it; of what is known to be in order it is searched for.
    pub(crate) fn has(&self, group: u32, order: Order) -> bool {
        match order {
            Order::Sorted if self.len() > FEW_GROUPS => self.binary_search(&group).is_ok(),
            Order::Sorted | Order::Unknown => self.contains(&group),
        }
    }

    /// Whether they are in order.
    pub(crate) fn order(&self) -> Order {
        match ascends(self, |one, other| one <= other) {
            true => Order::Sorted,
            false => Order::Unknown,
        }
    }

    /// Whether it has all of `others`. Mostly both are in one order: then each is gone through once.
    pub(crate) fn includes(&self, others: &Self) -> bool {
        let (mut rest, mut others) = (&self[..], &others[..]);
        while !others.is_empty() {
            skip_alike(&mut rest, &mut others);
            let (block, behind) = others.split_at(others.len().min(BLOCK));
            let all = block.iter().all(|group| match rest.iter().position(|it| it == group) {
                Some(at) => {
                    rest = &rest[at + 1..];
                    true
                }
                None => self.contains(group),
            });
            if !all {
                return false;
            }
            others = behind;
        }
        true
    }

    /// Whether others have all of it, taken together.
    pub(crate) fn is_covered<'a>(&self, others: impl Iterator<Item = &'a Self>) -> bool {
        let mut left = self.clone();
        for other in others {
            let order = other.order();
            left.retain(|it| !other.has(*it, order));
            if left.is_empty() {
                return true;
            }
        }
        false
    }

    /// The same of a large set alone, as those are that structs have which embed by the thousand: each is counted with
    /// what has it.
    pub(crate) fn counted(&self) -> usize {
        const LARGE: usize = 16 << 10;
        Some(self.spilled()).filter(|it| *it > LARGE).unwrap_or(0)
    }

    /// Whether both are one set, not two that are equal.
    pub(crate) fn is(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (None, None) => true,
            _ => false,
        }
    }

    /// Bytes it takes that are not counted with what holds it.
    pub(crate) fn spilled(&self) -> usize {
        match &self.0 {
            Some(members) if members.spilled() => members.len() * size_of::<u32>(),
            _ => 0,
        }
    }
}

/// As many are compared at once.
const BLOCK: usize = 64;

/// Goes on behind what both have in front, to the block: what embeds much has the same many groups in all that it
/// is made of.
fn skip_alike(one: &mut &[u32], other: &mut &[u32]) {
    let blocks = one.chunks_exact(BLOCK).zip(other.chunks_exact(BLOCK));
    let alike = blocks.take_while(|(one, other)| one == other).count() * BLOCK;
    (*one, *other) = (&one[alike..], &other[alike..]);
}

/// Those of `more` that `known` has not; both are in order.
fn lacking(mut known: &[u32], mut more: &[u32]) -> Members {
    let mut lacking = Members::new();
    while !more.is_empty() {
        skip_alike(&mut known, &mut more);
        let (block, behind) = more.split_at(more.len().min(BLOCK));
        for group in block {
            let before = known.iter().take_while(|it| *it < group).count();
            known = &known[before..];
            if known.first() != Some(group) {
                lacking.push(*group);
            }
        }
        more = behind;
    }
    lacking
}

/// Whether each of two neighbours is before the other one, as `before` says.
fn ascends(groups: &[u32], before: impl Fn(u32, u32) -> bool) -> bool {
    let next = groups.get(1..).unwrap_or_default();
    // Without an end within a block several are compared in one step.
    groups.chunks(BLOCK).zip(next.chunks(BLOCK)).all(|(these, next)| {
        these.iter().zip(next).fold(true, |all, (one, other)| all & before(*one, *other))
    })
}

impl Deref for Groups {
    type Target = [u32];

    #[inline]
    fn deref(&self) -> &[u32] {
        self.0.as_deref().map_or(&[], |it| it)
    }
}

impl FromIterator<u32> for Groups {
    fn from_iter<I: IntoIterator<Item = u32>>(groups: I) -> Self {
        let members: Members = groups.into_iter().collect();
        Self((!members.is_empty()).then(|| Arc::new(members)))
    }
}

impl<'a> IntoIterator for &'a Groups {
    type Item = &'a u32;
    type IntoIter = std::slice::Iter<'a, u32>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// Groups that something came with, and what tells most others apart from them.
pub(crate) struct Known {
    groups: Groups,
    sum: u64,
}

impl Known {
    pub(crate) fn new(groups: &Groups) -> Self {
        let mut groups = groups.clone();
        groups.settle();
        let sum = groups.iter().map(|it| u64::from(*it)).sum();
        Self { groups, sum }
    }

    pub(crate) fn groups(&self) -> &Groups {
        &self.groups
    }

    /// Whether it has all of the others.
    pub(crate) fn includes(&self, others: &Self) -> bool {
        match self.groups.len().cmp(&others.groups.len()) {
            Ordering::Less => false,
            Ordering::Equal => self.sum == others.sum && self.groups == others.groups,
            Ordering::Greater => self.groups.includes(&others.groups),
        }
    }
}

/// Groups that something holds of. They are numbered as they come, so that a bit says it of each.
#[derive(Default)]
pub(crate) struct GroupSet {
    bits: Vec<u64>,
    count: usize,
}

impl GroupSet {
    fn place(group: u32) -> (usize, u64) {
        (group as usize / 64, 1 << (group % 64))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    #[inline]
    pub(crate) fn contains(&self, group: &u32) -> bool {
        let (word, bit) = Self::place(*group);
        self.bits.get(word).is_some_and(|it| it & bit != 0)
    }

    /// One more; whether it is new.
    pub(crate) fn insert(&mut self, group: u32) -> bool {
        let (word, bit) = Self::place(group);
        if word >= self.bits.len() {
            self.bits.resize(word + 1, 0);
        }
        let new = self.bits[word] & bit == 0;
        self.bits[word] |= bit;
        self.count += usize::from(new);
        new
    }

    pub(crate) fn remove(&mut self, group: &u32) {
        if self.contains(group) {
            let (word, bit) = Self::place(*group);
            self.bits[word] &= !bit;
            self.count -= 1;
        }
    }
}

/// Groups that close in an embedding, and the marks of what they say nothing of.
#[derive(Default)]
pub(crate) struct Joined {
    marks: Map<u32, Groups>,
    /// All that are a mark of some group.
    known: GroupSet,
}

impl Joined {
    /// The marks of a group, in order.
    pub(crate) fn get(&self, group: u32) -> Option<&Groups> {
        self.marks.get(&group)
    }

    /// More marks of a group.
    pub(crate) fn extend(&mut self, group: u32, marks: &Groups) {
        for mark in marks {
            self.known.insert(*mark);
        }
        self.marks.entry(group).or_default().join(marks);
    }
}

/// Groups that something belongs to, as closing values are held against it: of embeddings within embeddings there are
/// as many of both as these are deep.
pub(crate) struct Membership<'a> {
    pub(crate) groups: &'a Groups,
    pub(crate) order: Order,
    /// Those that are marks of others.
    marks: SmallVec<[u32; 4]>,
}

impl<'a> Membership<'a> {
    pub(crate) fn new(groups: &'a Groups, joined: &Joined) -> Self {
        let marks = groups.iter().copied().filter(|it| joined.known.contains(it)).collect();
        Self { groups, order: groups.order(), marks }
    }

    /// Whether it is in a group, or stands beside what that closes.
    pub(crate) fn counts_for(&self, group: u32, joined: &Joined) -> bool {
        self.groups.has(group, self.order)
            || !self.marks.is_empty()
                && joined
                    .get(group)
                    .is_some_and(|marks| self.marks.iter().any(|it| marks.has(*it, Order::Sorted)))
    }
}

/// Groups within each other, as definitions are that name themselves: in lines, of which each group is within
/// the one before.
#[derive(Default)]
pub(crate) struct Lines {
    lines: Vec<Vec<u32>>,
    /// In which line a group is, and at which place.
    places: Map<u32, (u32, u32)>,
}

impl Lines {
    /// Those within a group, each within the one before.
    pub(crate) fn within(&self, group: u32) -> &[u32] {
        match self.places.get(&group) {
            Some((line, place)) => &self.lines[*line as usize][*place as usize + 1..],
            None => &[],
        }
    }

    /// `group` is within `last`, the last of its line or the first of a new one.
    pub(crate) fn push(&mut self, last: u32, group: u32) {
        let next = (self.lines.len() as u32, 0);
        let (line, place) = *self.places.entry(last).or_insert(next);
        if line == next.0 {
            self.lines.push(vec![last]);
        }
        self.lines[line as usize].push(group);
        self.places.insert(group, (line, place + 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_of_groups_has_what_was_put_in() {
        let mut set = GroupSet::default();
        assert!(set.is_empty() && !set.contains(&70));
        assert!(set.insert(70) && !set.insert(70) && set.insert(0));
        assert!(set.contains(&70) && set.contains(&0) && !set.contains(&6));
        set.remove(&70);
        set.remove(&700);
        assert!(!set.contains(&70) && !set.is_empty());
        set.remove(&0);
        assert!(set.is_empty());
    }

    #[test]
    fn groups_stand_in_lines() {
        let mut lines = Lines::default();
        for (last, group) in [(1, 4), (2, 5), (4, 6), (5, 7), (6, 9)] {
            assert!(lines.within(last).is_empty());
            lines.push(last, group);
        }
        assert_eq!(lines.within(1), [4, 6, 9]);
        assert_eq!((lines.within(6), lines.within(2)), (&[9][..], &[5, 7][..]));
    }

    #[test]
    fn a_copy_is_the_same_set_until_it_is_changed() {
        assert_eq!(size_of::<Groups>(), size_of::<usize>());
        let mut one: Groups = [1, 3].into_iter().collect();
        let two = one.clone();
        assert!(!one.join(&two) && one.join(&[2].into_iter().collect()));
        assert_eq!((&*one, &*two), (&[1, 2, 3][..], &[1, 3][..]));
        one.retain(|it| *it != 2);
        assert_eq!(one, two);
        one.push(0);
        one.add(0);
        one.settle();
        assert_eq!(&*one, [0, 1, 3]);
        let mut none = Groups::new();
        assert!(none.join(&two) && none == two);
        assert_eq!(Groups::new(), [].into_iter().collect());
    }

    #[test]
    fn many_are_joined_in_order() {
        let mut all = Groups::new();
        for group in (0..40).rev() {
            assert!(all.join(&[group, 50].into_iter().collect()));
        }
        assert!(all.is_sorted() && all.len() == 41);
        assert!(all.spilled() >= 41 * 4);
    }
    #[test]
    fn sets_of_any_size_and_order_are_joined_as_sets_are() {
        use std::collections::BTreeSet;
        // Numbers by chance, the same in each run.
        let mut seed = 1_u32;
        let mut chance = |below: u32| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 8) % below
        };
        for round in 0..400 {
            let (length, left_out) = (chance(400), chance(300));
            // Much in common in front, one in a row left out, and a few of its own behind.
            let shared = (0..length).filter(|it| *it != left_out);
            let mut more: Groups = shared.chain((0..chance(4)).map(|it| 1_000 + it)).collect();
            for _ in 0..chance(3) {
                more.push(chance(2_000));
            }
            let mut all: Groups = match round % 3 {
                0 => (0..length).collect(),
                1 => (0..chance(12)).map(|_| chance(2_000)).collect(),
                _ => (length / 2..length + chance(200)).rev().collect(),
            };
            let set = |groups: &Groups| groups.iter().copied().collect::<BTreeSet<u32>>();
            let (before, wanted) = (set(&all), &set(&all) | &set(&more));
            assert_eq!(all.includes(&more), before == wanted, "round {round}");
            assert_eq!(all.join(&more), before != wanted, "round {round}");
            assert_eq!(set(&all), wanted, "round {round}");
            assert!(all.includes(&more) && !all.join(&more), "round {round}");
        }
    }
}
