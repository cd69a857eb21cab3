//! What to look at next, now or later.

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use rustc_hash::FxHashSet;
use tokio::time::Instant;

use crate::cluster::Id;

/// Ids to reconcile, each at most once among the present ones.
#[derive(Default)]
pub(crate) struct Queue {
    now: VecDeque<Id>,
    queued: FxHashSet<Id>,
    later: BTreeSet<(Instant, Id)>,
    gathered: FxHashSet<Id>,
}

impl Queue {
    pub(crate) fn push(&mut self, id: Id) {
        if self.queued.insert(id.clone()) {
            self.now.push_back(id);
        }
    }

    pub(crate) fn after(&mut self, delay: Duration, id: &Id) {
        self.later.insert((Instant::now() + delay, id.clone()));
    }

    /// As [`Queue::after`], once for all that asks for it until then.
    pub(crate) fn gather(&mut self, delay: Duration, id: Id) {
        if self.gathered.insert(id.clone()) {
            self.after(delay, &id);
        }
    }

    pub(crate) fn pop(&mut self) -> Option<Id> {
        while let Some((at, _)) = self.later.first() {
            if *at > Instant::now() {
                break;
            }
            if let Some((_, id)) = self.later.pop_first() {
                self.gathered.remove(&id);
                self.push(id);
            }
        }
        let id = self.now.pop_front()?;
        self.queued.remove(&id);
        Some(id)
    }

    /// Whether time alone will bring work.
    pub(crate) fn waits(&self) -> bool {
        !self.now.is_empty() || !self.later.is_empty()
    }

    pub(crate) fn wake(&self) -> Instant {
        if !self.now.is_empty() {
            return Instant::now();
        }
        self.later.first().map_or_else(Instant::now, |(at, _)| *at)
    }
}
