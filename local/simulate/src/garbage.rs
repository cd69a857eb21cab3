//! Owner references and their three deletion policies.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use serde_json::{Value, json};

use crate::Cx;
use crate::cluster::{Deletion, Id, Part};
use crate::object::{deleting, set, uid};

const FOREGROUND: &str = "foregroundDeletion";
const ORPHAN: &str = "orphan";

/// Which object owns which, by uid.
#[derive(Default)]
pub(crate) struct Graph {
    ids: FxHashMap<String, Id>,
    dependents: FxHashMap<String, BTreeSet<Id>>,
}

fn owners(object: &Value) -> impl Iterator<Item = &str> {
    let all = object.pointer("/metadata/ownerReferences").and_then(Value::as_array);
    all.into_iter().flatten().filter_map(|it| it["uid"].as_str())
}

impl Graph {
    /// Takes the change in; returns who has to look.
    pub(crate) fn observe(&mut self, id: &Id, old: Option<&Value>, new: Option<&Value>) -> Vec<Id> {
        let mut affected = Vec::new();
        for owner in old.into_iter().flat_map(owners) {
            if let Some(all) = self.dependents.get_mut(owner) {
                all.remove(id);
                if all.is_empty() {
                    self.dependents.remove(owner);
                }
            }
            affected.extend(self.ids.get(owner).cloned());
        }
        for owner in new.into_iter().flat_map(owners) {
            self.dependents.entry(owner.to_owned()).or_default().insert(id.clone());
            affected.extend(self.ids.get(owner).cloned());
        }
        match (old, new) {
            (Some(old), None) => {
                if self.ids.get(uid(old)) == Some(id) {
                    self.ids.remove(uid(old));
                }
                affected.extend(self.dependents.get(uid(old)).into_iter().flatten().cloned());
            }
            (_, Some(new)) => {
                self.ids.insert(uid(new).to_owned(), id.clone());
            }
            (None, None) => {}
        }
        affected
    }
}

fn has_finalizer(object: &Value, name: &str) -> bool {
    object
        .pointer("/metadata/finalizers")
        .and_then(Value::as_array)
        .is_some_and(|all| all.iter().any(|it| it == name))
}

fn drop_finalizer(cx: &Cx<'_>, id: &Id, name: &str) {
    let _gone = cx.cluster.modify(id, Part::Main, &mut |object| {
        if let Some(Value::Array(all)) = object.pointer_mut("/metadata/finalizers") {
            all.retain(|it| it != name);
        }
    });
}

fn policy(object: &Value) -> &'static str {
    if has_finalizer(object, ORPHAN) {
        "Orphan"
    } else if has_finalizer(object, FOREGROUND) {
        "Foreground"
    } else {
        "Background"
    }
}

/// Looks at one object as an owner that goes and as a dependent whose owners are gone.
pub(crate) fn collect(cx: &mut Cx<'_>, id: &Id, object: &Value) {
    if deleting(object) && has_finalizer(object, ORPHAN) {
        for dependent in dependents(cx, object) {
            disown(cx, &dependent, &[uid(object).to_owned()]);
        }
        drop_finalizer(cx, id, ORPHAN);
        return;
    }
    if deleting(object) && has_finalizer(object, FOREGROUND) {
        foreground(cx, id, object);
        return;
    }
    let refs = object
        .pointer("/metadata/ownerReferences")
        .and_then(Value::as_array)
        .cloned()
        .unwrap_or_default();
    if refs.is_empty() || deleting(object) {
        return;
    }
    let (mut absent, mut solid, mut waiting) = (Vec::new(), false, false);
    for owner in &refs {
        let owner_uid = owner["uid"].as_str().unwrap_or_default();
        let found = cx
            .graph
            .ids
            .get(owner_uid)
            .filter(|it| it.namespace.is_empty() || it.namespace == id.namespace);
        match found.and_then(|it| cx.cluster.get(it)).filter(|it| uid(it) == owner_uid) {
            None => absent.push(owner_uid.to_owned()),
            Some(owner) if deleting(&owner) && has_finalizer(&owner, FOREGROUND) => waiting = true,
            Some(_) => solid = true,
        }
    }
    if solid {
        if !absent.is_empty() {
            disown(cx, id, &absent);
        }
        return;
    }
    if absent.is_empty() && !waiting {
        return;
    }
    let propagation =
        if waiting && !dependents(cx, object).is_empty() { "Foreground" } else { policy(object) };
    let how = Deletion { propagation, now: false, uid: Some(uid(object).to_owned()) };
    if let Err(error) = cx.cluster.delete(id, &how) {
        tracing::debug!(?id, %error, "collecting");
    }
}

fn dependents(cx: &Cx<'_>, owner: &Value) -> Vec<Id> {
    cx.graph.dependents.get(uid(owner)).into_iter().flatten().cloned().collect()
}

fn disown(cx: &Cx<'_>, id: &Id, gone: &[String]) {
    let _gone = cx.cluster.modify(id, Part::Main, &mut |object| {
        let mut left = object
            .pointer("/metadata/ownerReferences")
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default();
        left.retain(|it| !gone.iter().any(|uid| it["uid"] == json!(uid)));
        if left.is_empty() {
            crate::object::unset(object, "/metadata", "ownerReferences");
        } else {
            set(object, &["metadata", "ownerReferences"], Value::Array(left));
        }
    });
}

// The owner waits until nobody that blocks is left; every dependent that is told to go is told once.
fn foreground(cx: &mut Cx<'_>, id: &Id, owner: &Value) {
    let mut blocked = false;
    for dependent in dependents(cx, owner) {
        let Some(object) = cx.cluster.get(&dependent) else { continue };
        let refs = object
            .pointer("/metadata/ownerReferences")
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default();
        let Some(mine) = refs.iter().find(|it| it["uid"] == json!(uid(owner))) else { continue };
        blocked |= mine["blockOwnerDeletion"] == json!(true);
        if !deleting(&object) {
            cx.queue.push(dependent);
        }
    }
    if !blocked {
        drop_finalizer(cx, id, FOREGROUND);
    }
}
