//! ResourceQuotas: what of them is used.

use serde_json::{Map, Value, json};

use crate::Cx;
use crate::cluster::{Id, Part};
use crate::object::set;

/// Counts what a quota limits and writes it into its status.
pub(crate) fn reconcile(cx: &Cx<'_>, id: &Id, object: &Value) {
    let Some(hard) = object.pointer("/spec/hard").and_then(Value::as_object) else { return };
    let plane = cx.cluster.resources();
    let list = |group: &str, plural: &str| cx.cluster.list(group, plural, &id.namespace);
    let mut used = Map::new();
    for name in hard.keys() {
        let amount = local_server::quota::used(name, &plane, &list);
        used.insert(name.clone(), json!(amount));
    }
    let _gone = cx.cluster.modify(id, Part::Status, &mut |it| {
        set(it, &["status"], json!({"hard": hard, "used": used}));
    });
}
