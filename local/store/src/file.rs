//! The file behind a store: one redb table of entries, one of counters.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use redb::{Database, DatabaseError, ReadableTable, StorageError, TableDefinition};
use serde_json::Value;

use crate::{Entry, Error, Result, Stored};

/// Key to revision (8 bytes, big endian) and JSON.
const ENTRIES: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("entries");
/// `revision` and `format`.
const COUNTERS: TableDefinition<'_, &str, u64> = TableDefinition::new("counters");
const FORMAT: u64 = 1;

pub(crate) struct File {
    path: String,
    database: Database,
}

type Entries = BTreeMap<String, (u64, Arc<Stored>)>;

impl File {
    pub(crate) fn open(path: &Path) -> Result<(File, u64, Entries)> {
        let name = path.display().to_string();
        let database = Database::create(path).map_err(|error| match error {
            DatabaseError::DatabaseAlreadyOpen => Error::InUse { path: name.clone() },
            DatabaseError::Storage(StorageError::Io(error))
                if error.kind() != std::io::ErrorKind::InvalidData =>
            {
                Error::Io { path: name.clone(), cause: error.to_string() }
            }
            other => Error::Damaged { path: name.clone(), cause: other.to_string() },
        })?;
        let file = File { path: name, database };
        let (revision, entries) = file.load()?;
        Ok((file, revision, entries))
    }

    fn load(&self) -> Result<(u64, Entries)> {
        let mut entries = BTreeMap::new();
        let write = self.database.begin_write().map_err(|error| self.damaged(&error))?;
        let revision = {
            let mut counters = write.open_table(COUNTERS).map_err(|error| self.damaged(&error))?;
            let format = counters.get("format").map_err(|error| self.damaged(&error))?;
            let format = format.map(|found| found.value());
            match format {
                None => {
                    counters.insert("format", FORMAT).map_err(|error| self.damaged(&error))?;
                    counters.insert("revision", 1).map_err(|error| self.damaged(&error))?;
                }
                Some(FORMAT) => {}
                Some(other) => return Err(self.damaged(&format!("unknown format {other}"))),
            }
            let revision = counters.get("revision").map_err(|error| self.damaged(&error))?;
            let revision = revision.map(|found| found.value());
            revision.ok_or_else(|| self.damaged(&"it has no revision"))?
        };
        {
            let table = write.open_table(ENTRIES).map_err(|error| self.damaged(&error))?;
            for row in table.iter().map_err(|error| self.damaged(&error))? {
                let (key, bytes) = row.map_err(|error| self.damaged(&error))?;
                let key = key.value().to_owned();
                let Some((revision, json)) = bytes.value().split_first_chunk::<8>() else {
                    return Err(self.damaged(&format!("entry {key} is cut short")));
                };
                let value: Value = serde_json::from_slice(json)
                    .map_err(|error| self.damaged(&format!("entry {key}: {error}")))?;
                let value = Arc::new(Stored::written(&value));
                entries.insert(key, (u64::from_be_bytes(*revision), value));
            }
        }
        write.commit().map_err(|error| self.io(&error))?;
        Ok((revision, entries))
    }

    pub(crate) fn put(&self, key: &str, revision: u64, value: &Stored) -> Result<()> {
        let bytes = [revision.to_be_bytes().as_slice(), value.text()].concat();
        self.write(key, revision, Some(&bytes))
    }

    pub(crate) fn delete(&self, key: &str, revision: u64) -> Result<()> {
        self.write(key, revision, None)
    }

    /// One transaction; redb syncs it to the disk before it returns.
    fn write(&self, key: &str, revision: u64, bytes: Option<&[u8]>) -> Result<()> {
        let write = self.database.begin_write().map_err(|error| self.io(&error))?;
        {
            let mut entries = write.open_table(ENTRIES).map_err(|error| self.io(&error))?;
            match bytes {
                Some(bytes) => entries.insert(key, bytes).map_err(|error| self.io(&error))?,
                None => entries.remove(key).map_err(|error| self.io(&error))?,
            };
            let mut counters = write.open_table(COUNTERS).map_err(|error| self.io(&error))?;
            counters.insert("revision", revision).map_err(|error| self.io(&error))?;
        }
        write.commit().map_err(|error| self.io(&error))
    }

    /// Many entries at once.
    pub(crate) fn fill(&self, revision: u64, all: &[Entry]) -> Result<()> {
        let write = self.database.begin_write().map_err(|error| self.io(&error))?;
        {
            let mut entries = write.open_table(ENTRIES).map_err(|error| self.io(&error))?;
            for entry in all {
                let bytes = [entry.revision.to_be_bytes().as_slice(), entry.value.text()].concat();
                let key = entry.key.as_str();
                entries.insert(key, bytes.as_slice()).map_err(|error| self.io(&error))?;
            }
            let mut counters = write.open_table(COUNTERS).map_err(|error| self.io(&error))?;
            counters.insert("revision", revision).map_err(|error| self.io(&error))?;
        }
        write.commit().map_err(|error| self.io(&error))
    }

    fn damaged(&self, cause: &dyn std::fmt::Display) -> Error {
        Error::Damaged { path: self.path.clone(), cause: cause.to_string() }
    }

    fn io(&self, cause: &dyn std::fmt::Display) -> Error {
        Error::Io { path: self.path.clone(), cause: cause.to_string() }
    }
}
