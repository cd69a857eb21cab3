//! What watches and our own writes have shown: reads that need no request.
//!
//! 1. What is here may be old by as much as a watch lags; whoever writes names the version it read,
//!    or looks at what is live first. What is not here is asked for.
//! 2. An older version never takes the place of a newer one.
//! 3. Answers to writes may come later than what a watch tells of them: an object that is not here and is
//!    no newer than what the watch has reached was deleted since.
//! 4. Objects are kept as texts without `managedFields`: a tenth of the memory of trees, for a parse
//!    in place of a copy when one is read.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use lateen_engine::world::ObjectRef;
use serde::{Serialize, Serializer};
use serde_json::Value;

/// `apiVersion` and `kind`.
type Kind = (String, String);

/// Objects by namespace and name.
type Objects = HashMap<(String, String), Known>;

/// An object as it was seen last.
struct Known {
    version: u64,
    labels: Value,
    /// JSON.
    text: Box<[u8]>,
}

impl Known {
    fn of(object: &Value) -> Known {
        let labels = object["metadata"]["labels"].clone();
        let text = serde_json::to_vec(&Kept(object)).unwrap_or_default();
        Known { version: version(object), labels, text: text.into() }
    }

    /// Whether `object` is a later version; where versions are no numbers, everything is.
    fn precedes(&self, object: &Value) -> bool {
        let version = version(object);
        self.version < version || version == u64::MAX
    }

    /// The object; `None` never for what [`Known::of`] was given.
    fn object(&self) -> Option<Value> {
        serde_json::from_slice(&self.text).ok()
    }
}

/// What of an object is kept: all but who owns which field, often half of it and never read from here.
struct Kept<'a>(&'a Value);

impl Serialize for Kept<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let fields = self.0.as_object().into_iter().flatten();
        to.collect_map(fields.map(|(name, value)| match name.as_str() {
            "metadata" => (name, Part::Metadata(value)),
            _ => (name, Part::Whole(value)),
        }))
    }
}

enum Part<'a> {
    Whole(&'a Value),
    Metadata(&'a Value),
}

impl Serialize for Part<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Part::Whole(value) => value.serialize(to),
            Part::Metadata(value) => {
                let fields = value.as_object().into_iter().flatten();
                to.collect_map(fields.filter(|(name, _)| *name != "managedFields"))
            }
        }
    }
}

/// What is known of one kind.
#[derive(Default)]
struct Store {
    objects: Objects,
    coverage: Coverage,
    /// The newest version that the watch has told of.
    reached: u64,
}

/// Which objects of a kind a watch shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Coverage {
    /// All: it selects nothing.
    Whole,
    /// Those of a selector, or of a namespace.
    #[default]
    Part,
}

/// Objects of the watched kinds.
#[derive(Default)]
pub struct Mirror {
    kinds: RwLock<HashMap<Kind, Store>>,
}

impl Mirror {
    fn read(&self) -> RwLockReadGuard<'_, HashMap<Kind, Store>> {
        self.kinds.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, HashMap<Kind, Store>> {
        self.kinds.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// A watch starts with a list.
    pub fn start(&self, api_version: &str, kind: &str, list: &Value, coverage: Coverage) {
        let mut store = Store { objects: Objects::new(), coverage, reached: version(list) };
        for object in list["items"].as_array().into_iter().flatten() {
            store.objects.insert(key(object), Known::of(&typed(object, api_version, kind)));
        }
        self.write().insert((api_version.to_owned(), kind.to_owned()), store);
    }

    /// The watch of a kind broke: nothing of it is known any more.
    pub fn stop(&self, api_version: &str, kind: &str) {
        self.write().remove(&(api_version.to_owned(), kind.to_owned()));
    }

    /// A watch told of an object.
    pub fn saw(&self, object: &Value) {
        let mut kinds = self.write();
        let Some(store) = kinds.get_mut(&kind(object)) else { return };
        store.reached = store.reached.max(version(object));
        let key = key(object);
        if store.objects.get(&key).is_none_or(|old| old.precedes(object)) {
            store.objects.insert(key, Known::of(object));
        }
    }

    /// A watch told that an object is gone.
    pub fn saw_gone(&self, object: &Value) {
        let mut kinds = self.write();
        let Some(store) = kinds.get_mut(&kind(object)) else { return };
        store.reached = store.reached.max(version(object));
        store.objects.remove(&key(object));
    }

    /// A write was answered with this. Only watched kinds are kept.
    pub fn answered(&self, object: &Value) {
        let mut kinds = self.write();
        let Some(store) = kinds.get_mut(&kind(object)) else { return };
        let key = key(object);
        let newer = match store.objects.get(&key) {
            Some(old) => old.precedes(object),
            None => store.reached < version(object),
        };
        if newer {
            store.objects.insert(key, Known::of(object));
        }
    }

    /// An object is about to go.
    pub fn lost(&self, at: &ObjectRef) {
        let mut kinds = self.write();
        if let Some(store) = kinds.get_mut(&(at.api_version.clone(), at.kind.clone())) {
            store.objects.remove(&(at.namespace.clone(), at.name.clone()));
        }
    }

    /// An object, if it was seen.
    pub fn get(&self, at: &ObjectRef) -> Option<Value> {
        let kinds = self.read();
        let store = kinds.get(&(at.api_version.clone(), at.kind.clone()))?;
        store.objects.get(&(at.namespace.clone(), at.name.clone()))?.object()
    }

    /// Whether an object of a kind that is known as a whole is not there.
    pub fn lacks(&self, at: &ObjectRef) -> bool {
        let kinds = self.read();
        let store = kinds.get(&(at.api_version.clone(), at.kind.clone()));
        let key = (at.namespace.clone(), at.name.clone());
        store.is_some_and(|it| it.coverage == Coverage::Whole && !it.objects.contains_key(&key))
    }

    /// All objects of a kind, a namespace (all if empty) and labels (`a=b,c`), if all are here.
    pub fn list(&self, of: &ObjectRef, labels: &str) -> Option<Vec<Value>> {
        let kinds = self.read();
        let store = kinds.get(&(of.api_version.clone(), of.kind.clone()))?;
        if store.coverage == Coverage::Part {
            return None;
        }
        let wanted = |own: &Value| {
            labels.split(',').filter(|it| !it.is_empty()).all(|it| match it.split_once('=') {
                Some((name, value)) => own[name] == value,
                None => own.get(it).is_some(),
            })
        };
        let inside = |namespace: &str| of.namespace.is_empty() || of.namespace == namespace;
        let found = store.objects.iter().filter(|(key, it)| inside(&key.0) && wanted(&it.labels));
        Some(found.filter_map(|it| it.1.object()).collect())
    }
}

fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

fn kind(object: &Value) -> Kind {
    (text(object, "/apiVersion").to_owned(), text(object, "/kind").to_owned())
}

/// Namespace and name.
pub(crate) fn key(object: &Value) -> (String, String) {
    (text(object, "/metadata/namespace").to_owned(), text(object, "/metadata/name").to_owned())
}

/// Items of a list do not say their kind.
fn typed(object: &Value, api_version: &str, kind: &str) -> Value {
    let mut object = object.clone();
    object["apiVersion"] = api_version.into();
    object["kind"] = kind.into();
    object
}

/// Versions are numbers that grow (KEP-5504); one that is none counts as the newest.
fn version(object: &Value) -> u64 {
    text(object, "/metadata/resourceVersion").parse().unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn object(name: &str, version: u64, app: &str) -> Value {
        json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": name, "namespace": "ns", "resourceVersion": version.to_string(),
                "labels": {"app": app}},
        })
    }

    fn at(name: &str) -> ObjectRef {
        ObjectRef::local("v1", "ConfigMap", "ns", name)
    }

    #[test]
    fn the_newest_version_stays() {
        let mirror = Mirror::default();
        mirror.saw(&object("a", 1, "x"));
        assert_eq!(mirror.get(&at("a")), None, "kinds that nobody watches are not kept");
        let list = json!({"metadata": {"resourceVersion": "3"}, "items": [object("a", 3, "x")]});
        mirror.start("v1", "ConfigMap", &list, Coverage::Part);
        mirror.saw(&object("a", 2, "old"));
        assert_eq!(mirror.get(&at("a")), Some(object("a", 3, "x")));
        mirror.saw(&object("a", 4, "new"));
        assert_eq!(mirror.get(&at("a")), Some(object("a", 4, "new")));
        mirror.lost(&at("a"));
        assert_eq!(mirror.get(&at("a")), None);
        assert_eq!(mirror.list(&at(""), ""), None, "a selecting watch does not see all");
    }

    #[test]
    fn an_answer_that_comes_late_brings_nothing_back() {
        let mirror = Mirror::default();
        let list = json!({"metadata": {"resourceVersion": "5"}, "items": [object("a", 3, "x")]});
        mirror.start("v1", "ConfigMap", &list, Coverage::Whole);
        mirror.saw_gone(&object("a", 7, "x"));
        mirror.answered(&object("a", 7, "x"));
        assert!(mirror.lacks(&at("a")), "it went with the last finalizer that was taken off");
        mirror.answered(&object("b", 4, "x"));
        assert!(mirror.lacks(&at("b")), "the list was made after it went");
        mirror.answered(&object("c", 8, "x"));
        assert!(mirror.get(&at("c")).is_some(), "the watch will tell of it");
        mirror.saw_gone(&object("c", 9, "x"));
        assert!(mirror.lacks(&at("c")));
    }

    #[test]
    fn a_complete_kind_can_be_listed() {
        let mirror = Mirror::default();
        let items = [object("a", 1, "x"), object("b", 2, "y")];
        let list = json!({"metadata": {"resourceVersion": "2"}, "items": items});
        mirror.start("v1", "ConfigMap", &list, Coverage::Whole);
        assert_eq!(mirror.list(&at(""), "app=y").unwrap().len(), 1);
        assert_eq!(mirror.list(&at(""), "app").unwrap().len(), 2);
        assert!(mirror.lacks(&at("c")) && !mirror.lacks(&at("a")));
        mirror.stop("v1", "ConfigMap");
        assert_eq!(mirror.list(&at(""), ""), None);
    }
}
