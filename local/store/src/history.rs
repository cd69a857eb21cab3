//! What changed, newest last, and how the state was before.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use crate::{Entry, Error, Result, Stored};

/// One change of one key.
#[derive(Clone, Debug)]
pub struct Event {
    /// The revision of the change.
    pub revision: u64,
    /// The key.
    pub key: String,
    /// The value after it; none if the key was removed.
    pub value: Option<Arc<Stored>>,
    /// The value before it with its revision; none if the key is new.
    pub previous: Option<(u64, Arc<Stored>)>,
}

/// The newest events; everything up to and including `compacted` is forgotten.
pub(crate) struct History {
    pub(crate) compacted: u64,
    limit: usize,
    events: VecDeque<Arc<Event>>,
}

impl History {
    pub(crate) fn new(revision: u64, limit: usize) -> History {
        History { compacted: revision, limit: limit.max(1), events: VecDeque::new() }
    }

    pub(crate) fn push(&mut self, event: Event) {
        if self.events.len() >= self.limit {
            if let Some(oldest) = self.events.pop_front() {
                self.compacted = oldest.revision;
            }
        }
        let previous = event.previous.map(|(revision, value)| (revision, value.lean()));
        self.events.push_back(Arc::new(Event { previous, ..event }));
    }

    pub(crate) fn compact(&mut self, revision: u64) {
        self.events.retain(|event| event.revision > revision);
        self.compacted = self.compacted.max(revision);
    }

    fn check(&self, revision: u64) -> Result<()> {
        if revision < self.compacted {
            return Err(Error::Compacted { wanted: revision, oldest: self.compacted });
        }
        Ok(())
    }

    pub(crate) fn after(&self, prefix: &str, revision: u64) -> Result<Vec<Arc<Event>>> {
        self.check(revision)?;
        // Most who ask have seen almost all.
        let new = self.events.iter().rev().take_while(|event| event.revision > revision).count();
        let new = self.events.range(self.events.len() - new..);
        Ok(new.filter(|event| event.key.starts_with(prefix)).cloned().collect())
    }

    /// Turns the state of now into that of an earlier revision.
    pub(crate) fn undo(
        &self,
        prefix: &str,
        revision: u64,
        state: &mut BTreeMap<String, Entry>,
    ) -> Result<()> {
        self.check(revision)?;
        for event in self.events.iter().rev() {
            if event.revision <= revision {
                break;
            }
            if !event.key.starts_with(prefix) {
                continue;
            }
            match &event.previous {
                Some((revision, value)) => {
                    let entry =
                        Entry { key: event.key.clone(), revision: *revision, value: value.clone() };
                    state.insert(event.key.clone(), entry);
                }
                None => {
                    state.remove(&event.key);
                }
            }
        }
        Ok(())
    }
}
