//! Being told of changes.

use std::sync::Arc;

use tokio::sync::watch;

use crate::{Event, Result, Store};

/// A cursor over the changes of a store.
#[derive(Debug)]
pub struct Watch {
    store: Arc<Store>,
    prefix: String,
    after: u64,
    latest: watch::Receiver<u64>,
}

impl Watch {
    pub(crate) fn new(
        store: Arc<Store>,
        prefix: &str,
        after: u64,
        latest: watch::Receiver<u64>,
    ) -> Watch {
        Watch { store, prefix: prefix.to_owned(), after, latest }
    }

    /// Up to which revision everything was handed out.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.after
    }

    /// The changes there are now, perhaps none.
    pub fn ready(&mut self) -> Result<Vec<Arc<Event>>> {
        let state = self.store.lock();
        let events = state.history.after(&self.prefix, self.after)?;
        self.after = self.after.max(state.revision);
        Ok(events)
    }

    /// Waits for the next changes. Dropping the future loses nothing.
    pub async fn next(&mut self) -> Result<Vec<Arc<Event>>> {
        loop {
            self.latest.borrow_and_update();
            let events = self.ready()?;
            if !events.is_empty() {
                return Ok(events);
            }
            if self.latest.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }
}
