//! The store: the present state, written through to the file, and the way to the past.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use crate::file::File;
use crate::history::History;
use crate::watch::Listeners;
use crate::{Error, Event, Result, Stored, Watch};

/// How many events are kept when nothing else is said.
pub const DEFAULT_HISTORY: usize = 20_000;

/// One stored value.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The whole key.
    pub key: String,
    /// The revision of the last write.
    pub revision: u64,
    /// What was written.
    pub value: Arc<Stored>,
}

/// What a write expects to find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// No such key.
    Absent,
    /// The key at this revision.
    Revision(u64),
}

/// A store in memory, written through to a file if it has one.
pub struct Store {
    state: Mutex<State>,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").field("revision", &self.revision()).finish_non_exhaustive()
    }
}

pub(crate) struct State {
    pub(crate) revision: u64,
    pub(crate) entries: BTreeMap<String, (u64, Arc<Stored>)>,
    pub(crate) history: History,
    pub(crate) listeners: Listeners,
    file: Option<File>,
}

impl Store {
    /// An empty store that is lost with the process.
    #[must_use]
    pub fn memory() -> Store {
        Store::with(1, BTreeMap::new(), None, DEFAULT_HISTORY)
    }

    /// An empty store in memory that keeps this many events.
    #[must_use]
    pub fn memory_with_history(events: usize) -> Store {
        Store::with(1, BTreeMap::new(), None, events)
    }

    /// The store in a file, which is made if it is not there.
    pub fn open(path: &Path) -> Result<Store> {
        let (file, revision, entries) = File::open(path)?;
        Ok(Store::with(revision, entries, Some(file), DEFAULT_HISTORY))
    }

    fn with(
        revision: u64,
        entries: BTreeMap<String, (u64, Arc<Stored>)>,
        file: Option<File>,
        events: usize,
    ) -> Store {
        let history = History::new(revision, events);
        let listeners = Listeners::default();
        Store { state: Mutex::new(State { revision, entries, history, listeners, file }) }
    }

    // A panic elsewhere cannot leave the state half changed: it is changed after the file, in one go.
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The revision of the last write.
    #[must_use]
    pub fn revision(&self) -> u64 {
        self.lock().revision
    }

    /// The oldest revision whose state can still be read.
    #[must_use]
    pub fn oldest(&self) -> u64 {
        self.lock().history.compacted
    }

    /// The value of a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<Entry> {
        let state = self.lock();
        let (revision, value) = state.entries.get(key)?;
        Some(Entry { key: key.to_owned(), revision: *revision, value: value.clone() })
    }

    /// All entries whose key starts so, in the order of keys, and the revision of this state.
    #[must_use]
    pub fn list(&self, prefix: &str) -> (u64, Vec<Entry>) {
        let state = self.lock();
        (state.revision, state.range(prefix).collect())
    }

    /// Whether there is any key that starts so.
    #[must_use]
    pub fn any(&self, prefix: &str) -> bool {
        self.lock().span(prefix).next().is_some()
    }

    /// The values alone.
    #[must_use]
    pub fn values(&self, prefix: &str) -> (u64, Vec<Arc<Stored>>) {
        let state = self.lock();
        (state.revision, state.span(prefix).map(|(_, (_, value))| value.clone()).collect())
    }

    /// The same at an earlier revision.
    pub fn list_at(&self, prefix: &str, revision: u64) -> Result<Vec<Entry>> {
        let state = self.lock();
        if revision >= state.revision {
            return Ok(state.range(prefix).collect());
        }
        let mut then: BTreeMap<String, Entry> =
            state.range(prefix).map(|entry| (entry.key.clone(), entry)).collect();
        state.history.undo(prefix, revision, &mut then)?;
        Ok(then.into_values().collect())
    }

    /// Writes a value; `make` gets the revision it will have.
    pub fn put(&self, key: &str, expect: Expect, make: impl FnOnce(u64) -> Value) -> Result<Entry> {
        let mut state = self.lock();
        let previous = state.check(key, expect)?;
        let revision = state.revision + 1;
        let made = make(revision);
        let value = Arc::new(Stored::written(&made));
        if let Some(file) = &state.file {
            file.put(key, revision, &value)?;
        }
        state.entries.insert(key.to_owned(), (revision, value.clone()));
        state.record(Event { revision, key: key.to_owned(), value: Some(value.clone()), previous });
        // Others need not wait until what was made is taken apart.
        drop(state);
        Ok(Entry { key: key.to_owned(), revision, value })
    }

    /// Removes a key that is at this revision; gives the revision of the removal.
    pub fn delete(&self, key: &str, expect: u64) -> Result<u64> {
        let mut state = self.lock();
        let previous = state.check(key, Expect::Revision(expect))?;
        let revision = state.revision + 1;
        if let Some(file) = &state.file {
            file.delete(key, revision)?;
        }
        state.entries.remove(key);
        state.record(Event { revision, key: key.to_owned(), value: None, previous });
        Ok(revision)
    }

    /// Forgets the history up to now.
    pub fn compact(&self) {
        let mut state = self.lock();
        let now = state.revision;
        state.history.compact(now);
    }

    /// The changes of keys that start so, after a revision.
    #[must_use]
    pub fn watch(self: &Arc<Self>, prefix: &str, after: u64) -> Watch {
        Watch::new(self.clone(), prefix, after)
    }
}

/// The first key after all that start so, where there is a simple one: comparing every key would cost more than what
/// is done with it.
fn end(prefix: &str) -> Option<String> {
    let mut end = prefix.to_owned();
    let last = end.pop().filter(|last| *last < '~')?;
    end.push(char::from(u8::try_from(last).ok()? + 1));
    Some(end)
}

impl State {
    fn span<'s>(
        &'s self,
        prefix: &'s str,
    ) -> impl Iterator<Item = (&'s String, &'s (u64, Arc<Stored>))> + 's {
        let end = end(prefix);
        let exact = end.is_some();
        let upper = end.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
        let from = self.entries.range::<str, _>((Bound::Included(prefix), upper));
        from.take_while(move |(key, _)| exact || key.starts_with(prefix))
    }

    fn range<'s>(&'s self, prefix: &'s str) -> impl Iterator<Item = Entry> + 's {
        self.span(prefix).map(|(key, (revision, value))| Entry {
            key: key.clone(),
            revision: *revision,
            value: value.clone(),
        })
    }

    fn check(&self, key: &str, expect: Expect) -> Result<Option<(u64, Arc<Stored>)>> {
        let found = self.entries.get(key);
        let current = found.map(|(revision, _)| *revision);
        let holds = match expect {
            Expect::Absent => current.is_none(),
            Expect::Revision(wanted) => current == Some(wanted),
        };
        if holds {
            Ok(found.cloned())
        } else {
            Err(Error::Conflict { key: key.to_owned(), current })
        }
    }

    fn record(&mut self, event: Event) {
        self.revision = event.revision;
        self.listeners.tell(&event.key, event.revision);
        self.history.push(event);
    }
}
