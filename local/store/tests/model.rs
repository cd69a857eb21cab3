//! Random traffic against a plain map: writers, watchers, readers of the past, compaction, restarts. Every watch
//! must hand out every change of its keys once and in order, or say that it cannot; what was listed and what came
//! after must be what is there.
use std::collections::BTreeMap;
use std::sync::Arc;

use local_store::{Error, Expect, Snapshot, Store, Watch};
use proptest::prelude::*;
use serde_json::{Value, json};

const PREFIXES: [&str; 3] = ["", "a/", "b/"];
const KEYS: [&str; 6] = ["a/1", "a/2", "a/3", "b/1", "b/2", "c"];

#[derive(Clone, Debug)]
enum Act {
    Put(usize, u8),
    Stale(usize),
    Delete(usize),
    Watch(usize),
    Read(usize),
    Past(usize, u8),
    Compact,
    Reopen,
    Restore,
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let key = 0..KEYS.len();
    let act = prop_oneof![
        12 => (key.clone(), any::<u8>()).prop_map(|(key, value)| Act::Put(key, value)),
        2 => key.clone().prop_map(Act::Stale),
        5 => key.prop_map(Act::Delete),
        2 => (0..PREFIXES.len()).prop_map(Act::Watch),
        6 => (0..8_usize).prop_map(Act::Read),
        3 => (0..PREFIXES.len(), any::<u8>()).prop_map(|(prefix, back)| Act::Past(prefix, back)),
        1 => Just(Act::Compact),
        1 => Just(Act::Reopen),
        1 => Just(Act::Restore),
    ];
    proptest::collection::vec(act, 1..120)
}

type State = BTreeMap<String, (u64, Value)>;

struct Seen {
    prefix: &'static str,
    watch: Watch,
    /// What the watcher believes there is.
    state: State,
    last: u64,
    lost: bool,
}

fn below(state: &State, prefix: &str) -> State {
    state
        .iter()
        .filter(|(key, _)| key.starts_with(prefix))
        .map(|(k, v)| (k.clone(), v.clone()))
        .collect()
}

fn listed(store: &Store, prefix: &str) -> (u64, State) {
    let (revision, entries) = store.list(prefix);
    let all = entries.into_iter().map(|it| (it.key, (it.revision, Value::clone(&it.value))));
    (revision, all.collect())
}

fn read(seen: &mut Seen) -> Result<(), TestCaseError> {
    match seen.watch.ready() {
        Err(Error::Compacted { .. }) => seen.lost = true,
        Err(other) => return Err(TestCaseError::fail(other.to_string())),
        Ok(events) => {
            for event in events {
                prop_assert!(event.revision > seen.last, "again or out of order: {event:?}");
                prop_assert!(event.key.starts_with(seen.prefix));
                seen.last = event.revision;
                let before = seen.state.get(&event.key).cloned();
                let said = event.previous.as_ref();
                let said = said.map(|(revision, value)| (*revision, Value::clone(value)));
                prop_assert_eq!(before, said, "something was left out before {}", event.revision);
                match &event.value {
                    Some(value) => {
                        seen.state.insert(event.key.clone(), (event.revision, Value::clone(value)));
                    }
                    None => {
                        seen.state.remove(&event.key);
                    }
                }
            }
        }
    }
    Ok(())
}

/// Where the store keeps what it has.
#[derive(Clone, Copy, PartialEq)]
enum Kept {
    InMemory,
    OnDisk,
}

fn play(acts: &[Act], kept: Kept) -> Result<(), TestCaseError> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("plane.redb");
    let open = || {
        Arc::new(if kept == Kept::OnDisk {
            Store::open(&path).expect("a store")
        } else {
            Store::memory_with_history(24)
        })
    };
    let mut store = open();
    let mut model = State::new();
    // What was, by revision: as far back as this process knows.
    let mut past: BTreeMap<u64, State> = BTreeMap::from([(store.revision(), State::new())]);
    let mut watchers: Vec<Seen> = Vec::new();
    for act in acts {
        match act {
            Act::Put(key, value) => {
                let key = KEYS[*key];
                let expect = model.get(key).map_or(Expect::Absent, |(at, _)| Expect::Revision(*at));
                let entry = store
                    .put(key, expect, |at| json!({"value": value, "at": at}))
                    .expect("it is as expected");
                prop_assert!(entry.revision > past.keys().last().copied().unwrap_or(0));
                model.insert(key.to_owned(), (entry.revision, Value::clone(&entry.value)));
                past.insert(entry.revision, model.clone());
            }
            Act::Stale(key) => {
                let key = KEYS[*key];
                let expect =
                    model.get(key).map_or(Expect::Revision(1), |(at, _)| Expect::Revision(at + 1));
                let revision = store.revision();
                let refused =
                    matches!(store.put(key, expect, |_| json!(0)), Err(Error::Conflict { .. }));
                prop_assert!(refused);
                prop_assert_eq!(store.revision(), revision);
            }
            Act::Delete(key) => {
                if let Some((at, _)) = model.remove(KEYS[*key]) {
                    let revision = store.delete(KEYS[*key], at).expect("it is there");
                    past.insert(revision, model.clone());
                }
            }
            Act::Watch(prefix) => {
                let prefix = PREFIXES[*prefix];
                let (revision, state) = listed(&store, prefix);
                let watch = store.watch(prefix, revision);
                watchers.push(Seen { prefix, watch, state, last: revision, lost: false });
            }
            Act::Read(which) => {
                if let Some(seen) = watchers.get_mut(*which).filter(|seen| !seen.lost) {
                    read(seen)?;
                }
            }
            Act::Past(prefix, back) => {
                let known: Vec<u64> = past.keys().copied().collect();
                let at = known[known.len() - 1 - usize::from(*back) % known.len()];
                match store.list_at(PREFIXES[*prefix], at) {
                    Ok(entries) => {
                        let found: State = entries
                            .into_iter()
                            .map(|it| (it.key, (it.revision, Value::clone(&it.value))))
                            .collect();
                        prop_assert_eq!(found, below(&past[&at], PREFIXES[*prefix]));
                    }
                    Err(Error::Compacted { .. }) => prop_assert!(at < store.oldest()),
                    Err(other) => return Err(TestCaseError::fail(other.to_string())),
                }
            }
            Act::Compact => store.compact(),
            Act::Reopen | Act::Restore if kept == Kept::InMemory => {}
            Act::Reopen | Act::Restore => {
                // Watchers end with the process.
                watchers.clear();
                let revision = store.revision();
                let saved = store.snapshot().text();
                drop(store);
                if matches!(act, Act::Restore) {
                    let snapshot = Snapshot::parse("saved", &saved).expect("whole");
                    let restored = snapshot.restore(&path).expect("restored");
                    prop_assert!(restored > revision);
                    past.insert(restored, model.clone());
                }
                store = open();
                prop_assert!(store.revision() >= revision);
            }
        }
        let (_, now) = listed(&store, "");
        prop_assert_eq!(&now, &model);
    }
    for seen in watchers.iter_mut().filter(|seen| !seen.lost) {
        read(seen)?;
        if !seen.lost {
            prop_assert_eq!(&seen.state, &below(&model, seen.prefix));
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn memory_behaves_as_a_map_with_a_past(acts in acts()) {
        play(&acts, Kept::InMemory)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_file_behaves_as_a_map_with_a_past(acts in acts()) {
        play(&acts, Kept::OnDisk)?;
    }
}
