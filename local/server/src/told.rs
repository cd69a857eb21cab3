//! The lines of a watch, which are written once where many watch the same.

use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Bytes;

use crate::list::Change;

/// The last changes that a crowd was told of, and their lines. What is kept is as big as what comes within a
/// moment.
#[derive(Debug, Default)]
pub struct Told(Mutex<(Vec<Change>, Bytes)>);

fn same(a: &[Change], b: &[Change]) -> bool {
    let equal = |(a, b): (&Change, &Change)| a.kind == b.kind && Arc::ptr_eq(&a.object, &b.object);
    a.len() == b.len() && a.iter().zip(b).all(equal)
}

impl Told {
    /// The lines of these changes, told to a crowd.
    pub fn lines(&self, changes: &[Change]) -> Bytes {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !same(&last.0, changes) {
            *last = (changes.to_vec(), written(changes));
        }
        last.1.clone()
    }
}

/// The lines of changes.
pub fn written(changes: &[Change]) -> Bytes {
    let mut out = Vec::with_capacity(changes.iter().map(|one| one.object.text().len() + 40).sum());
    for change in changes {
        line(change, change.object.text(), &mut out);
    }
    Bytes::from(out)
}

/// One line: what happened to an object, in JSON already.
pub fn line(change: &Change, object: &[u8], out: &mut Vec<u8>) {
    out.reserve(object.len() + 40);
    out.extend_from_slice(b"{\"type\":\"");
    out.extend_from_slice(change.kind.as_bytes());
    out.extend_from_slice(b"\",\"object\":");
    out.extend_from_slice(object);
    out.extend_from_slice(b"}\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_same_changes_are_written_once_and_others_anew() {
        let change = |kind, number: u64| Change { kind, object: Arc::new(json!(number).into()) };
        let (first, second) = (change("ADDED", 1), change("MODIFIED", 2));
        let told = Told::default();
        let both = told.lines(&[first.clone(), second.clone()]);
        assert_eq!(
            &both[..],
            b"{\"type\":\"ADDED\",\"object\":1}\n{\"type\":\"MODIFIED\",\"object\":2}\n"
        );
        let again = told.lines(&[first.clone(), second.clone()]);
        assert!(std::ptr::eq(both.as_ptr(), again.as_ptr()));
        assert_eq!(&told.lines(&[first])[..], b"{\"type\":\"ADDED\",\"object\":1}\n");
        assert_eq!(&told.lines(&[second])[..], b"{\"type\":\"MODIFIED\",\"object\":2}\n");
    }
}
