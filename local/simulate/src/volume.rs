//! Claims: bound at once, unless they wait for a consumer that never comes.

use serde_json::{Value, json};

use crate::Cx;
use crate::cluster::{Id, Part};
use crate::object::{deleting, ended, set, text};

/// The finalizer of claims in use.
const PROTECTION: &str = "kubernetes.io/pvc-protection";

pub(crate) fn bind(cx: &mut Cx<'_>, id: &Id, object: &Value) {
    if deleting(object) {
        let used = cx.cluster.list("", "pods", &id.namespace).iter().any(|pod| {
            let volumes = pod["spec"]["volumes"].as_array();
            !ended(pod)
                && volumes
                    .into_iter()
                    .flatten()
                    .any(|it| it["persistentVolumeClaim"]["claimName"] == json!(id.name))
        });
        if used {
            cx.queue.after(std::time::Duration::from_secs(1), id);
            return;
        }
        let _gone = cx.cluster.modify(id, Part::Main, &mut |it| {
            if let Some(Value::Array(all)) = it.pointer_mut("/metadata/finalizers") {
                all.retain(|it| it != PROTECTION);
            }
        });
        return;
    }
    if !cx.options.pods || text(object, "/status/phase") == "Bound" {
        return;
    }
    let _gone = cx.cluster.modify(id, Part::Status, &mut |it| {
        let storage = it["spec"]["resources"]["requests"]["storage"].clone();
        let modes = it["spec"]["accessModes"].clone();
        set(it, &["status", "phase"], json!("Bound"));
        if !modes.is_null() {
            set(it, &["status", "accessModes"], modes);
        }
        if !storage.is_null() {
            set(it, &["status", "capacity", "storage"], storage);
        }
    });
}
