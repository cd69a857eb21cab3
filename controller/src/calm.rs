//! Reconciles that came to nothing are not run again while they would read the same.
//!
//! 1. Only reads that watches answer count: whoever asked a server, told an event or changed anything is
//!    run again at the next look.
//! 2. What has a time to look again is looked at then.
//! 3. What templates may import counts as read.
//! 4. Of those whose last reconcile did not end well here, all is doubted.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};

use lateen_engine::world::ObjectRef;
use serde_json::Value;

use crate::mirror::{self, Mirror};

/// One read, and what tells its answer from every other.
#[derive(Debug, PartialEq, Eq)]
enum Read {
    /// Version of an object; 0: it is not there.
    Object(Place, u64),
    /// Versions of those that labels select.
    List(Place, Box<str>, Box<[u64]>),
}

/// `apiVersion`, kind, namespace and name as lines: there are many, and they are kept.
#[derive(Debug, PartialEq, Eq)]
struct Place(Box<str>);

impl Place {
    fn of(at: &ObjectRef) -> Self {
        let ObjectRef { api_version, kind, namespace, name, .. } = at;
        Self(format!("{api_version}\n{kind}\n{namespace}\n{name}").into())
    }

    fn at(&self) -> ObjectRef {
        let mut lines = self.0.split('\n');
        let mut next = || lines.next().unwrap_or_default();
        ObjectRef::local(next(), next(), next(), next())
    }
}

impl Read {
    fn is_same(&self, mirror: &Mirror) -> bool {
        match self {
            Read::Object(place, version) => mirror.version_of(&place.at()) == *version,
            Read::List(place, labels, versions) => {
                mirror.versions_of(&place.at(), labels).is_some_and(|it| *it == **versions)
            }
        }
    }
}

/// What one reconcile has read, nothing once it did anything else; and which versions it wrote.
pub(crate) struct Notes {
    reads: Mutex<Option<Vec<Read>>>,
    written: Mutex<Vec<u64>>,
}

impl Notes {
    /// Of a reconcile that has not begun.
    pub(crate) fn begin() -> Self {
        Self { reads: Mutex::new(Some(Vec::new())), written: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Vec<Read>>> {
        self.reads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn versions(&self) -> MutexGuard<'_, Vec<u64>> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A write of what is reconciled, or of what belongs to it, made this version.
    pub(crate) fn wrote(&self, version: u64) {
        self.versions().push(version);
    }

    /// All versions that were written.
    pub(crate) fn written(&self) -> Vec<u64> {
        std::mem::take(&mut *self.versions())
    }

    /// A watch answered a read.
    pub(crate) fn object(&self, at: &ObjectRef, found: Option<&Value>) {
        let version = found.map_or(0, mirror::version);
        self.note(version, || Read::Object(Place::of(at), version));
    }

    /// A watch answered a list.
    pub(crate) fn list(&self, of: &ObjectRef, labels: &str, found: &[Value]) {
        let mut versions: Vec<u64> = found.iter().map(mirror::version).collect();
        versions.sort_unstable();
        let newest = versions.last().copied().unwrap_or_default();
        self.note(newest, || Read::List(Place::of(of), labels.into(), versions.into()));
    }

    fn note(&self, version: u64, read: impl FnOnce() -> Read) {
        match &mut *self.lock() {
            // Versions that are no numbers tell nothing.
            reads if version == u64::MAX => *reads = None,
            Some(reads) => reads.push(read()),
            None => {}
        }
    }

    /// Something else was done.
    pub(crate) fn spoil(&self) {
        *self.lock() = None;
    }
}

/// What the last reconcile of each key has read, of those that came to nothing; and which ended well.
pub(crate) struct Calm<K> {
    state: Mutex<State<K>>,
}

struct State<K> {
    reads: HashMap<K, Box<[Read]>>,
    /// Those whose last reconcile ended well.
    sure: HashSet<K>,
    /// How often all was forgotten.
    epoch: u64,
}

impl<K> Default for Calm<K> {
    fn default() -> Self {
        Self { state: Mutex::new(State { reads: HashMap::new(), sure: HashSet::new(), epoch: 0 }) }
    }
}

impl<K: Hash + Eq + Clone> Calm<K> {
    fn lock(&self) -> MutexGuard<'_, State<K>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a reconcile of `key` would read what the last one has, which came to nothing.
    pub(crate) fn holds(&self, key: &K, mirror: &Mirror) -> bool {
        let state = self.lock();
        state.reads.get(key).is_some_and(|all| all.iter().all(|it| it.is_same(mirror)))
    }

    /// To be given to [`Self::settle`] afterwards.
    pub(crate) fn epoch(&self) -> u64 {
        self.lock().epoch
    }

    /// A reconcile of `key` that began in `epoch` came to nothing, if `notes` say so.
    pub(crate) fn settle(&self, key: &K, epoch: u64, notes: &Notes) {
        let mut state = self.lock();
        match notes.lock().take() {
            Some(reads) if state.epoch == epoch && !reads.is_empty() => {
                state.reads.insert(key.clone(), reads.into());
            }
            _ => drop(state.reads.remove(key)),
        }
    }

    /// Whether nothing is known of how the last reconcile of `key` ended, or nothing good.
    pub(crate) fn doubts(&self, key: &K) -> bool {
        !self.lock().sure.contains(key)
    }

    /// A reconcile of `key` ended well.
    pub(crate) fn trust(&self, key: &K) {
        let mut state = self.lock();
        if !state.sure.contains(key) {
            state.sure.insert(key.clone());
        }
    }

    /// A reconcile of `key` failed, or there is no such thing any more.
    pub(crate) fn doubt(&self, key: &K) {
        self.lock().sure.remove(key);
    }

    /// `key` is to be reconciled whatever it reads.
    pub(crate) fn forget(&self, key: &K) {
        self.lock().reads.remove(key);
    }

    /// So is everything: what no watch shows has changed.
    pub(crate) fn forget_all(&self) {
        let mut state = self.lock();
        state.epoch += 1;
        state.reads.clear();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::mirror::Coverage;

    fn object(name: &str, version: u64) -> Value {
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {
            "name": name, "namespace": "ns", "resourceVersion": version.to_string(),
            "labels": {"app.oam.dev/name": "web"},
        }})
    }

    fn at(name: &str) -> ObjectRef {
        ObjectRef::local("v1", "ConfigMap", "ns", name)
    }

    const OF_WEB: &str = "app.oam.dev/name=web";

    fn shown() -> Mirror {
        let mirror = Mirror::default();
        let list = json!({"metadata": {"resourceVersion": "3"}, "items": [object("a", 3)]});
        mirror.start("v1", "ConfigMap", &list, Coverage::Whole);
        mirror
    }

    /// A reconcile that reads an object, another that is not there, and a list.
    fn reads(mirror: &Mirror) -> Notes {
        let notes = Notes::begin();
        notes.object(&at("a"), mirror.get(&at("a")).as_ref());
        notes.object(&at("b"), mirror.get(&at("b")).as_ref());
        notes.list(&at(""), OF_WEB, &mirror.list(&at(""), OF_WEB).unwrap_or_default());
        notes
    }

    #[test]
    fn what_would_read_the_same_is_not_run() {
        let (mirror, calm) = (shown(), Calm::default());
        assert!(!calm.holds(&"web", &mirror), "it never ran");
        calm.settle(&"web", calm.epoch(), &reads(&mirror));
        assert!(calm.holds(&"web", &mirror) && !calm.holds(&"other", &mirror));
        mirror.saw(&object("a", 4));
        assert!(!calm.holds(&"web", &mirror), "another version");
        calm.settle(&"web", calm.epoch(), &reads(&mirror));
        mirror.saw(&object("b", 5));
        assert!(!calm.holds(&"web", &mirror), "it was not there");
        calm.settle(&"web", calm.epoch(), &reads(&mirror));
        mirror.saw(&object("c", 6));
        assert!(!calm.holds(&"web", &mirror), "the list is longer");
        calm.settle(&"web", calm.epoch(), &reads(&mirror));
        assert!(calm.holds(&"web", &mirror));
        mirror.stop("v1", "ConfigMap");
        assert!(!calm.holds(&"web", &mirror), "nobody watches");
    }

    #[test]
    fn what_did_not_end_well_is_doubted() {
        let calm = Calm::default();
        assert!(calm.doubts(&"web"), "it never ran here");
        calm.trust(&"web");
        assert!(!calm.doubts(&"web") && calm.doubts(&"other"));
        calm.forget_all();
        assert!(!calm.doubts(&"web"), "what it wrote is there, whatever it is to read");
        calm.doubt(&"web");
        assert!(calm.doubts(&"web"));
    }

    #[test]
    fn who_did_more_than_read_is_run_again() {
        let (mirror, calm) = (shown(), Calm::default());
        let notes = reads(&mirror);
        notes.spoil();
        notes.object(&at("a"), mirror.get(&at("a")).as_ref());
        calm.settle(&"web", calm.epoch(), &notes);
        assert!(!calm.holds(&"web", &mirror));
        let before = calm.epoch();
        calm.forget_all();
        calm.settle(&"web", before, &reads(&mirror));
        assert!(!calm.holds(&"web", &mirror), "it ran with what was forgotten meanwhile");
    }
}
