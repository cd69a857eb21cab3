//! What can go wrong with a store.

/// What can go wrong.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The state asked for is older than the history that is kept.
    #[error("revision {wanted} is compacted, the oldest kept is {oldest}")]
    Compacted {
        /// What was asked for.
        wanted: u64,
        /// The oldest revision that can still be read.
        oldest: u64,
    },
    /// The entry is not at the expected revision.
    #[error("{key} is at revision {current:?}")]
    Conflict {
        /// The key.
        key: String,
        /// Its revision now; none if there is no such key.
        current: Option<u64>,
    },
    /// Another process has the file open.
    #[error("{path} is in use by another process")]
    InUse {
        /// The file.
        path: String,
    },
    /// The file cannot be read as a store.
    #[error("{path} is damaged: {cause}")]
    Damaged {
        /// The file.
        path: String,
        /// What was found.
        cause: String,
    },
    /// Reading or writing the file failed.
    #[error("cannot write {path}: {cause}")]
    Io {
        /// The file.
        path: String,
        /// What the system said.
        cause: String,
    },
}

/// A result of the store.
pub type Result<T, E = Error> = std::result::Result<T, E>;
