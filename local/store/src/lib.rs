//! Storage of the local plane: keys and JSON values under one revision counter, with a watchable past.
//!
//! ~~~text
//! put / delete -> file (if any) -> map + history ring -> readers, watches
//! ~~~
//! Invariants
//! 1. A write that returned is on the disk, when there is a disk. (tests/file.rs)
//! 2. Every write has its own revision; revisions only grow, also over restarts. (tests/file.rs)
//! 3. A reader of the past gets the exact past or [`Error::Compacted`], never a guess. (tests/memory.rs)
//! 4. One file belongs to one process.
//! 5. A watch hands out every change once, in order, or says that it cannot. (tests/model.rs)
//! 6. A restored snapshot is the state that was saved, at a later revision. (tests/snapshot.rs)
#![forbid(unsafe_code)]

mod error; // what can go wrong
mod file; // the redb file: load, write through
mod history; // the ring of events, and states rebuilt from it
mod snapshot; // a state saved as text, and put back
mod stored; // a value and its JSON
mod store; // the present state
mod watch; // being told of changes

pub use error::{Error, Result};
pub use history::Event;
pub use snapshot::Snapshot;
pub use store::{DEFAULT_HISTORY, Entry, Expect, Store};
pub use stored::Stored;
pub use watch::Watch;
