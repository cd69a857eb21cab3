//! Being told of changes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

use tokio::sync::Notify;

use crate::{Event, Result, Store};

/// What the store knows of a watch. Everything in it is written and read under the store's lock; only
/// `crowd` is read outside, where any recent value will do.
#[derive(Debug)]
pub(crate) struct Listener {
    prefix: String,
    /// The revision of the first change that was not handed out, or one before it; 0 when there is none.
    unread: AtomicU64,
    /// How many watches the last change was for.
    crowd: AtomicUsize,
    wake: Notify,
}

/// All watches of a store.
#[derive(Default)]
pub(crate) struct Listeners(Vec<Arc<Listener>>);

impl Listeners {
    /// Wakes who watches the key, and nobody else.
    pub(crate) fn tell(&self, key: &str, revision: u64) {
        let told = || self.0.iter().filter(|one| key.starts_with(one.prefix.as_str()));
        let crowd = told().count();
        for listener in told() {
            listener.crowd.store(crowd, Relaxed);
            if listener.unread.load(Relaxed) == 0 {
                listener.unread.store(revision, Relaxed);
                listener.wake.notify_one();
            }
        }
    }
}

/// A cursor over the changes of a store.
#[derive(Debug)]
pub struct Watch {
    store: Arc<Store>,
    after: u64,
    listener: Arc<Listener>,
}

impl Watch {
    pub(crate) fn new(store: Arc<Store>, prefix: &str, after: u64) -> Watch {
        let mut state = store.lock();
        let listener = Arc::new(Listener {
            prefix: prefix.to_owned(),
            unread: AtomicU64::new(if after < state.revision { after + 1 } else { 0 }),
            crowd: AtomicUsize::new(1),
            wake: Notify::new(),
        });
        state.listeners.0.push(listener.clone());
        drop(state);
        Watch { store, after, listener }
    }

    /// Up to which revision everything was handed out.
    #[must_use]
    pub fn position(&self) -> u64 {
        let state = self.store.lock();
        match self.listener.unread.load(Relaxed) {
            0 => self.after.max(state.revision),
            _ => self.after,
        }
    }

    /// How many watches, this one among them, the last change was for.
    #[must_use]
    pub fn crowd(&self) -> usize {
        self.listener.crowd.load(Relaxed)
    }

    /// What keys start with.
    #[must_use]
    pub fn prefix(&self) -> &str {
        &self.listener.prefix
    }

    /// After which revision the changes are that were not handed out; none if there are none.
    #[must_use]
    pub fn waiting(&self) -> Option<u64> {
        let _state = self.store.lock();
        let unread = self.listener.unread.load(Relaxed);
        // What lies between is not for this watch, and may be forgotten by now.
        (unread > 0).then(|| self.after.max(unread - 1))
    }

    /// The changes there are now, perhaps none.
    pub fn ready(&mut self) -> Result<Vec<Arc<Event>>> {
        self.ready_until(u64::MAX)
    }

    /// The changes there are now, up to a revision.
    pub fn ready_until(&mut self, upto: u64) -> Result<Vec<Arc<Event>>> {
        let Some(from) = self.waiting() else { return Ok(Vec::new()) };
        let mut events = self.store.lock().history.after(&self.listener.prefix, from)?;
        events.truncate(events.partition_point(|event| event.revision <= upto));
        // What came meanwhile is not among them.
        let upto = match events.last() {
            Some(last) if upto == u64::MAX => last.revision,
            _ => upto,
        };
        self.pass(upto)?;
        Ok(events)
    }

    /// Takes the changes up to a revision, which was reached before, as handed out.
    pub fn pass(&mut self, upto: u64) -> Result<()> {
        let state = self.store.lock();
        let rest = state.history.after(&self.listener.prefix, upto)?;
        let (unread, after) = match rest.first() {
            Some(first) => (first.revision, first.revision - 1),
            None => (0, state.revision),
        };
        self.listener.unread.store(unread, Relaxed);
        self.after = self.after.max(after);
        Ok(())
    }

    /// Waits for the next changes. Dropping the future loses nothing.
    pub async fn next(&mut self) -> Result<Vec<Arc<Event>>> {
        loop {
            let events = self.ready()?;
            if !events.is_empty() {
                return Ok(events);
            }
            self.listener.wake.notified().await;
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let gone = |one: &Arc<Listener>| Arc::ptr_eq(one, &self.listener);
        self.store.lock().listeners.0.retain(|one| !gone(one));
    }
}
