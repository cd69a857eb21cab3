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

    /// The changes there are now, perhaps none.
    pub fn ready(&mut self) -> Result<Vec<Arc<Event>>> {
        let state = self.store.lock();
        let unread = self.listener.unread.load(Relaxed);
        let events = match unread {
            0 => Vec::new(),
            // What lies between is not for this watch, and may be forgotten by now.
            _ => state.history.after(&self.listener.prefix, self.after.max(unread - 1))?,
        };
        self.listener.unread.store(0, Relaxed);
        self.after = self.after.max(state.revision);
        Ok(events)
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
