//! Definitions as the watches last saw them, so that a reconcile does not ask for each again.
//!
//! Invariant: that there is no such object is answered only after the cluster said so once: what
//! was created a moment ago must not be missed because its event is still on the way.

use std::collections::{HashMap, HashSet};
use std::sync::RwLock;

use lateen_engine::api::{DefinitionKind, V1BETA1};
use lateen_engine::world::ObjectRef;
use serde_json::Value;

use crate::kinds::Resource;
use crate::watch::Seen;

/// Namespace and name.
type Key = (String, String);

/// Objects of the kinds that are listed.
#[derive(Debug, Default)]
pub struct Cache {
    kinds: RwLock<HashMap<&'static str, HashMap<Key, Value>>>,
    absent: RwLock<HashSet<(String, Key)>>,
}

/// What is known to be absent at most.
const ABSENT_LIMIT: usize = 10_000;

/// Kinds that are kept.
pub const KINDS: [DefinitionKind; 5] = [
    DefinitionKind::Component,
    DefinitionKind::Trait,
    DefinitionKind::Policy,
    DefinitionKind::WorkflowStep,
    DefinitionKind::Workload,
];

/// Where a kind is served.
pub fn resource(kind: DefinitionKind) -> Resource {
    Resource::new(V1BETA1, kind.kind(), kind.plural(), true)
}

fn key(object: &Value) -> Key {
    let text = |it: &Value| it.as_str().unwrap_or_default().to_owned();
    (text(&object["metadata"]["namespace"]), text(&object["metadata"]["name"]))
}

impl Cache {
    /// Notes what a watch saw.
    pub fn note(&self, kind: DefinitionKind, seen: Seen) {
        let Ok(mut kinds) = self.kinds.write() else { return };
        let named = |mut object: Value| {
            // Items of a list come without.
            object["apiVersion"] = V1BETA1.into();
            object["kind"] = kind.kind().into();
            (key(&object), object)
        };
        match seen {
            Seen::All(items) => {
                kinds.insert(kind.kind(), items.into_iter().map(named).collect());
            }
            Seen::Changed(object) => {
                let (key, object) = named(object);
                kinds.entry(kind.kind()).or_default().insert(key, object);
            }
            Seen::Gone(object) => {
                if let Some(objects) = kinds.get_mut(kind.kind()) {
                    objects.remove(&key(&object));
                }
            }
        }
    }

    /// The object, or that there is none; `None` if that must be asked.
    pub fn get(&self, at: &ObjectRef) -> Option<Option<Value>> {
        if at.api_version != V1BETA1 || !matches!(at.cluster.as_str(), "" | "local") {
            return None;
        }
        let key = (at.namespace.clone(), at.name.clone());
        if let Some(object) = self.kinds.read().ok()?.get(at.kind.as_str())?.get(&key) {
            return Some(Some(object.clone()));
        }
        let absent = self.absent.read().ok()?;
        absent.contains(&(at.kind.clone(), key)).then_some(None)
    }

    /// The cluster says there is none; a watch tells when one comes.
    pub fn note_absent(&self, at: &ObjectRef) {
        let watched = self.kinds.read().is_ok_and(|it| it.contains_key(at.kind.as_str()));
        if !watched || at.api_version != V1BETA1 || !matches!(at.cluster.as_str(), "" | "local") {
            return;
        }
        if let Ok(mut absent) = self.absent.write() {
            if absent.len() >= ABSENT_LIMIT {
                absent.clear();
            }
            absent.insert((at.kind.clone(), (at.namespace.clone(), at.name.clone())));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn absence_is_answered_only_once_it_is_known() {
        let cache = Cache::default();
        let at = ObjectRef::local(V1BETA1, "TraitDefinition", "vela-system", "scaler");
        assert_eq!(cache.get(&at), None);
        let object = json!({"metadata": {"namespace": "vela-system", "name": "scaler"}});
        cache.note(DefinitionKind::Trait, Seen::All(vec![object.clone()]));
        assert_eq!(cache.get(&at).unwrap().unwrap()["kind"], "TraitDefinition");
        cache.note(DefinitionKind::Trait, Seen::Gone(object.clone()));
        assert_eq!(cache.get(&at), None);
        cache.note_absent(&at);
        assert_eq!(cache.get(&at), Some(None));
        cache.note(DefinitionKind::Trait, Seen::Changed(object));
        assert!(cache.get(&at).unwrap().is_some());
        let other = ObjectRef { cluster: "far".into(), ..at };
        assert_eq!(cache.get(&other), None);
    }
}
