//! What watches and our own writes have shown: reads that need no request.
//!
//! 1. What is here may be old by as much as a watch lags; whoever writes names the version it read,
//!    or looks at what is live first. What is not here is asked for.
//! 2. An older version never takes the place of a newer one.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use lateen_engine::world::ObjectRef;
use serde_json::Value;

/// `apiVersion` and `kind`.
type Kind = (String, String);

/// Objects by namespace and name.
type Objects = HashMap<(String, String), Value>;

/// What is known of one kind.
#[derive(Default)]
struct Store {
    objects: Objects,
    /// All objects of the kind are here: it is watched without a selector, and the watch runs.
    complete: bool,
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

    /// A watch starts with these; `complete` if it selects nothing.
    pub fn start(&self, api_version: &str, kind: &str, objects: &[Value], complete: bool) {
        let mut store = Store { objects: Objects::new(), complete };
        for object in objects {
            store.objects.insert(key(object), typed(object, api_version, kind));
        }
        self.write().insert((api_version.to_owned(), kind.to_owned()), store);
    }

    /// The watch of a kind broke: nothing of it is known any more.
    pub fn stop(&self, api_version: &str, kind: &str) {
        self.write().remove(&(api_version.to_owned(), kind.to_owned()));
    }

    /// An object was seen, in a watch or as the answer to a write. Only watched kinds are kept.
    pub fn saw(&self, object: &Value) {
        let mut kinds = self.write();
        let Some(store) = kinds.get_mut(&kind(object)) else { return };
        let key = key(object);
        let newer = store.objects.get(&key).is_none_or(|old| version(old) <= version(object));
        if newer {
            store.objects.insert(key, object.clone());
        }
    }

    /// An object is gone, or is on its way.
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
        store.objects.get(&(at.namespace.clone(), at.name.clone())).cloned()
    }

    /// Whether an object of a kind that is known as a whole is not there.
    pub fn lacks(&self, at: &ObjectRef) -> bool {
        let kinds = self.read();
        let store = kinds.get(&(at.api_version.clone(), at.kind.clone()));
        let key = (at.namespace.clone(), at.name.clone());
        store.is_some_and(|it| it.complete && !it.objects.contains_key(&key))
    }

    /// All objects of a kind, a namespace (all if empty) and labels (`a=b,c`), if all are here.
    pub fn list(&self, of: &ObjectRef, labels: &str) -> Option<Vec<Value>> {
        let kinds = self.read();
        let store = kinds.get(&(of.api_version.clone(), of.kind.clone()))?;
        if !store.complete {
            return None;
        }
        let wanted = |object: &Value| {
            let own = &object["metadata"]["labels"];
            labels.split(',').filter(|it| !it.is_empty()).all(|it| match it.split_once('=') {
                Some((name, value)) => own[name] == value,
                None => own.get(it).is_some(),
            })
        };
        let inside = |namespace: &str| of.namespace.is_empty() || of.namespace == namespace;
        let found = store.objects.iter().filter(|(key, it)| inside(&key.0) && wanted(it));
        Some(found.map(|it| it.1.clone()).collect())
    }
}

fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

fn kind(object: &Value) -> Kind {
    (text(object, "/apiVersion").to_owned(), text(object, "/kind").to_owned())
}

fn key(object: &Value) -> (String, String) {
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
        mirror.start("v1", "ConfigMap", &[object("a", 3, "x")], false);
        mirror.saw(&object("a", 2, "old"));
        assert_eq!(mirror.get(&at("a")), Some(object("a", 3, "x")));
        mirror.saw(&object("a", 4, "new"));
        assert_eq!(mirror.get(&at("a")), Some(object("a", 4, "new")));
        mirror.lost(&at("a"));
        assert_eq!(mirror.get(&at("a")), None);
        assert_eq!(mirror.list(&at(""), ""), None, "a selecting watch does not see all");
    }

    #[test]
    fn a_complete_kind_can_be_listed() {
        let mirror = Mirror::default();
        mirror.start("v1", "ConfigMap", &[object("a", 1, "x"), object("b", 2, "y")], true);
        assert_eq!(mirror.list(&at(""), "app=y").unwrap().len(), 1);
        assert_eq!(mirror.list(&at(""), "app").unwrap().len(), 2);
        assert!(mirror.lacks(&at("c")) && !mirror.lacks(&at("a")));
        mirror.stop("v1", "ConfigMap");
        assert_eq!(mirror.list(&at(""), ""), None);
    }
}
