//! What is done to a map by chance does to it what it does to one of the standard library.

use std::collections::HashMap;

use cue_map::{Entry, Map, Set};
use proptest::prelude::*;

/// One thing done to a map. Keys are few, so that they come again.
#[derive(Clone, Debug)]
enum Act {
    Insert(u16, u32),
    Count(u16),
    Remove(u16),
    Retain(u16),
    Clear,
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let key = prop_oneof![0..12_u16, 0..300_u16];
    let act = prop_oneof![
        8 => (key.clone(), any::<u32>()).prop_map(|(key, value)| Act::Insert(key, value)),
        4 => key.clone().prop_map(Act::Count),
        5 => key.prop_map(Act::Remove),
        1 => (1..20_u16).prop_map(Act::Retain),
        1 => prop_oneof![9 => Just(Act::Count(0)), 1 => Just(Act::Clear)],
    ];
    prop::collection::vec(act, 1..600)
}

/// Keys with other hashes than their numbers have.
trait Key: Clone + Eq + std::hash::Hash + std::fmt::Debug {
    fn new(number: u16) -> Self;
    fn number(&self) -> u16;
}

impl Key for u32 {
    fn new(number: u16) -> Self {
        number.into()
    }

    fn number(&self) -> u16 {
        *self as u16
    }
}

impl Key for String {
    fn new(number: u16) -> Self {
        format!("key {number}")
    }

    fn number(&self) -> u16 {
        self[4..].parse().expect("a number")
    }
}

/// A key whose hash is that of many.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Alike(u16);

impl std::hash::Hash for Alike {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        state.write_u16(self.0 % 3);
    }
}

impl Key for Alike {
    fn new(number: u16) -> Self {
        Self(number)
    }

    fn number(&self) -> u16 {
        self.0
    }
}

fn same<K: Key>(acts: &[Act]) {
    let mut map: Map<K, u32> = Map::default();
    let mut model: HashMap<K, u32> = HashMap::new();
    for act in acts {
        match *act {
            Act::Insert(key, value) => {
                assert_eq!(map.insert(K::new(key), value), model.insert(K::new(key), value));
            }
            Act::Count(key) => {
                let counted = match map.entry(K::new(key)) {
                    Entry::Occupied(mut it) => it.insert(it.get().wrapping_add(1)),
                    Entry::Vacant(it) => *it.insert(1),
                };
                let other = model.entry(K::new(key));
                let mut before = None;
                let now = *other
                    .and_modify(|it| {
                        before = Some(*it);
                        *it = it.wrapping_add(1);
                    })
                    .or_insert(1);
                assert_eq!(counted, before.unwrap_or(now));
            }
            Act::Remove(key) => {
                assert_eq!(map.remove(&K::new(key)), model.remove(&K::new(key)));
            }
            Act::Retain(key) => {
                map.retain(|it, _| it.number() % key != 0);
                model.retain(|it, _| it.number() % key != 0);
            }
            Act::Clear => {
                map.clear();
                model.clear();
            }
        }
        assert_eq!(map.len(), model.len());
    }
    for number in 0..300 {
        let key = K::new(number);
        assert_eq!(map.get(&key), model.get(&key));
        assert_eq!(map.contains_key(&key), model.contains_key(&key));
    }
    assert_eq!(map.iter().map(|(k, v)| (k.clone(), *v)).collect::<HashMap<_, _>>(), model);
    let keys: Set<K> = map.keys().cloned().collect();
    assert_eq!(keys.len(), map.len());
    assert!(model.keys().all(|it| keys.contains(it)));
    let copy: Map<K, u32> = map.clone().into_iter().rev().collect();
    assert_eq!(copy, map);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn does_what_the_standard_map_does(acts in acts()) {
        same::<u32>(&acts);
        same::<String>(&acts);
        same::<Alike>(&acts);
    }
}

#[test]
fn is_walked_in_the_order_of_insertion() {
    let mut map: Map<String, usize> = Map::default();
    for at in 0..100 {
        map.insert(format!("{}", at * 7 % 100), at);
    }
    assert!(map.values().copied().eq(0..100));
    map.retain(|_, at| *at % 3 == 0);
    assert!(map.values().copied().eq((0..100).step_by(3)));
    assert_eq!(map.remove("0"), Some(0));
    assert_eq!(map.values().next(), Some(&99), "the last one takes the place of what is removed");
    assert_eq!(map["21"], 3);
}

#[test]
fn holds_many() {
    let mut map: Map<(u32, u32), u32> = Map::default();
    for at in 0..200_000 {
        *map.entry((at % 1_000, at / 1_000)).or_default() += at;
    }
    for at in (0..200_000).step_by(2) {
        assert_eq!(map.remove(&(at % 1_000, at / 1_000)), Some(at));
    }
    for at in 0..200_000 {
        let known = map.get(&(at % 1_000, at / 1_000));
        assert_eq!(known, (at % 2 == 1).then_some(&at));
    }
    assert_eq!(map.drain().count(), 100_000);
    assert!(map.is_empty() && map.get(&(1, 1)).is_none());
}

#[test]
fn keys_of_a_set_have_places() {
    for count in [0, 3, 40] {
        let set: Set<u32> = (0..count).map(|it| it * 7).chain(0..count.min(1)).collect();
        let places: Vec<Option<usize>> = set.iter().map(|it| set.place(it)).collect();
        assert_eq!(places, (0..count as usize).map(Some).collect::<Vec<_>>());
        assert_eq!(set.place(&1), None);
    }
}
