//! A state saved as text, one entry a line, and put back into a file.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::file::File;
use crate::{Entry, Error, Result, Store};

const FORMAT: &str = "lateen-snapshot";
const VERSION: u64 = 1;

/// Everything a store held at one revision.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The revision of that state.
    pub revision: u64,
    /// The entries, in the order of their keys.
    pub entries: Vec<Entry>,
}

impl Store {
    /// What is there now.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        let (revision, entries) = self.list("");
        Snapshot { revision, entries }
    }
}

impl Snapshot {
    /// As text: a line that says what it is, then a line for each entry.
    #[must_use]
    pub fn text(&self) -> String {
        let head = json!({"format": FORMAT, "version": VERSION, "revision": self.revision, "entries": self.entries.len()});
        let mut text = format!("{head}\n");
        for entry in &self.entries {
            let line = json!({"key": entry.key, "revision": entry.revision, "value": Value::clone(&entry.value)});
            text.push_str(&line.to_string());
            text.push('\n');
        }
        text
    }

    /// Reads the text again; `name` is told in errors.
    ///
    /// # Errors
    /// When it is no whole snapshot.
    pub fn parse(name: &str, text: &str) -> Result<Snapshot> {
        let damaged = |cause: String| Error::Damaged { path: name.to_owned(), cause };
        let mut lines = text.lines();
        let read = |line: &str| -> Result<Value> {
            serde_json::from_str(line).map_err(|error| damaged(error.to_string()))
        };
        let head = read(lines.next().unwrap_or_default())?;
        if head["format"] != json!(FORMAT) || head["version"] != json!(VERSION) {
            return Err(damaged("it is no snapshot of this version".to_owned()));
        }
        let number =
            |value: &Value| value.as_u64().ok_or_else(|| damaged("a number is missing".to_owned()));
        let revision = number(&head["revision"])?;
        let mut entries = Vec::new();
        for line in lines {
            let mut line = read(line)?;
            let key = line["key"].as_str().map(str::to_owned);
            let key = key.ok_or_else(|| damaged("an entry has no key".to_owned()))?;
            let revision = number(&line["revision"])?;
            entries.push(Entry { key, revision, value: Arc::new(line["value"].take().into()) });
        }
        if json!(entries.len()) != head["entries"] {
            return Err(damaged(format!("it is cut short after {} entries", entries.len())));
        }
        Ok(Snapshot { revision, entries })
    }

    /// Puts the state into a file, in place of what is there. Revisions go on from the later of both, so that
    /// nobody who watched takes old for new.
    ///
    /// # Errors
    /// When the file is in use or cannot be written.
    pub fn restore(&self, path: &Path) -> Result<u64> {
        let before = if path.exists() { File::open(path)?.1 } else { 0 };
        let revision = self.revision.max(before) + 1;
        let beside = path.with_extension("restoring");
        let io = |error: std::io::Error| Error::Io {
            path: beside.display().to_string(),
            cause: error.to_string(),
        };
        if beside.exists() {
            std::fs::remove_file(&beside).map_err(io)?;
        }
        let (file, _, _) = File::open(&beside)?;
        file.fill(revision, &self.entries)?;
        drop(file);
        std::fs::rename(&beside, path).map_err(io)?;
        Ok(revision)
    }
}
