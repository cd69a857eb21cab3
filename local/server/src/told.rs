//! The lines of a watch, which are written once where many watch the same.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::Bytes;

use crate::list::Change;
use crate::resource::Resource;

/// What a crowd of watches was told last. What is kept is as big as what comes within a moment.
#[derive(Debug, Default)]
pub struct Told(Mutex<Last>);

#[derive(Debug, Default)]
struct Last {
    changes: Vec<Change>,
    lines: Bytes,
    beat: Beat,
    upto: u64,
    span: Option<(Span, Bytes)>,
}

/// A moment at which crowds are told: so long between them, and the how manieth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Beat {
    /// The time between two of them.
    pub every: Duration,
    /// Its number.
    pub number: u128,
}

/// All changes of a resource between two revisions, the first exclusive.
#[derive(Clone, Debug)]
pub struct Span {
    /// The resource.
    pub resource: Arc<Resource>,
    /// What the keys start with.
    pub prefix: String,
    /// After this revision.
    pub from: u64,
    /// Up to this one.
    pub upto: u64,
}

impl Span {
    fn same(&self, other: &Span) -> bool {
        (self.from, self.upto) == (other.from, other.upto)
            && self.prefix == other.prefix
            && Arc::ptr_eq(&self.resource, &other.resource)
    }
}

fn same(a: &[Change], b: &[Change]) -> bool {
    let equal = |(a, b): (&Change, &Change)| a.kind == b.kind && Arc::ptr_eq(&a.object, &b.object);
    a.len() == b.len() && a.iter().zip(b).all(equal)
}

impl Told {
    fn last(&self) -> MutexGuard<'_, Last> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The lines of these changes, told to a crowd.
    pub fn lines(&self, changes: &[Change]) -> Bytes {
        let mut last = self.last();
        if !same(&last.changes, changes) {
            (last.changes, last.lines) = (changes.to_vec(), written(changes));
        }
        last.lines.clone()
    }

    /// Up to which revision everybody is told at a moment: that of the first who asks.
    pub fn upto(&self, beat: Beat, revision: impl FnOnce() -> u64) -> u64 {
        let mut last = self.last();
        if last.beat != beat {
            (last.beat, last.upto) = (beat, revision());
        }
        last.upto
    }

    /// The lines of a span, if it is the last that was told.
    pub fn known(&self, span: &Span) -> Option<Bytes> {
        let last = self.last();
        last.span.as_ref().filter(|(known, _)| known.same(span)).map(|(_, lines)| lines.clone())
    }

    /// Keeps the lines of a span for the others.
    pub fn keep(&self, span: Span, lines: Bytes) {
        self.last().span = Some((span, lines));
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
