//! Namespaces: what is in a new one, emptying an old one.

use serde_json::{Value, json};

use crate::Cx;
use crate::cluster::{Deletion, Id, Part};
use crate::object::{Times, deleting, name, put_condition, set};

pub(crate) fn reconcile(cx: &mut Cx<'_>, id: &Id, object: &Value) {
    if deleting(object) {
        empty(cx, id, object);
    } else {
        furnish(cx, &id.name);
    }
}

fn furnish(cx: &Cx<'_>, namespace: &str) {
    let account = Id::new("", "serviceaccounts", namespace, "default");
    if cx.cluster.get(&account).is_none() {
        let body = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default", "namespace": namespace}});
        let _exists = cx.cluster.create(&account, body);
    }
}

fn empty(cx: &Cx<'_>, id: &Id, object: &Value) {
    let mut remaining = Vec::new();
    let mut held: std::collections::BTreeMap<String, usize> = std::collections::BTreeMap::new();
    for (group, plural, namespaced) in cx.cluster.resources() {
        if !namespaced || (group == "events.k8s.io") {
            continue;
        }
        let all = cx.cluster.list(&group, &plural, &id.name);
        for one in &all {
            if !deleting(one) {
                let how = Deletion { propagation: "Background", ..Deletion::default() };
                let _gone = cx.cluster.delete(&Id::new(&group, &plural, &id.name, name(one)), &how);
            }
        }
        let all = if all.is_empty() { all } else { cx.cluster.list(&group, &plural, &id.name) };
        if !all.is_empty() {
            remaining.push(format!("{plural}.{group} has {} resource instances", all.len()));
        }
        for one in all {
            for finalizer in
                one.pointer("/metadata/finalizers").and_then(Value::as_array).into_iter().flatten()
            {
                *held.entry(finalizer.as_str().unwrap_or_default().to_owned()).or_default() += 1;
            }
        }
    }
    let done = remaining.is_empty();
    let held: Vec<_> =
        held.iter().map(|(name, count)| format!("{name} in {count} resource instances")).collect();
    let _gone = cx.cluster.modify(id, Part::Status, &mut |object| {
        let mut status = object["status"].clone();
        let mut put = |kind: &str, value: &str, reason: &str, message: &str| {
            put_condition(&mut status, kind, value, reason, message, Times::Transitions);
        };
        put(
            "NamespaceDeletionDiscoveryFailure",
            "False",
            "ResourcesDiscovered",
            "All resources successfully discovered",
        );
        put(
            "NamespaceDeletionGroupVersionParsingFailure",
            "False",
            "ParsedGroupVersions",
            "All legacy kube types successfully parsed",
        );
        put(
            "NamespaceDeletionContentFailure",
            "False",
            "ContentDeleted",
            "All content successfully deleted, may be waiting on finalization",
        );
        if done {
            put(
                "NamespaceContentRemaining",
                "False",
                "ContentRemoved",
                "All content successfully removed",
            );
        } else {
            let text = format!("Some resources are remaining: {}", remaining.join(", "));
            put("NamespaceContentRemaining", "True", "SomeResourcesRemain", &text);
        }
        if held.is_empty() {
            put(
                "NamespaceFinalizersRemaining",
                "False",
                "ContentHasNoFinalizers",
                "All content-preserving finalizers finished",
            );
        } else {
            let text = format!(
                "Some content in the namespace has finalizers remaining: {}",
                held.join(", ")
            );
            put("NamespaceFinalizersRemaining", "True", "SomeFinalizersRemain", &text);
        }
        set(object, &["status"], status);
    });
    let finalized =
        object.pointer("/spec/finalizers").and_then(Value::as_array).is_none_or(Vec::is_empty);
    if done && !finalized {
        let _gone = cx.cluster.modify(id, Part::Finalize, &mut |object| {
            if let Some(Value::Array(all)) = object.pointer_mut("/spec/finalizers") {
                all.retain(|it| it != "kubernetes");
            }
        });
    }
}
