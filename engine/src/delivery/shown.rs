//! What a debug policy shows of steps: a ConfigMap for each, named by the step's id (E-135).
//!
//! Ids are made up when a step first runs, and only the status keeps them: what a process has shown that died
//! before it wrote the status belongs to no step.

use serde_json::{Value, json};

use super::Delivery;
use crate::api::V1BETA1;
use crate::api::object;
use crate::api::workflow::WorkflowStatus;
use crate::world::{Error, ObjectRef};

impl Delivery<'_> {
    fn is_shown(&self) -> bool {
        self.app.spec.policies.iter().any(|it| it.r#type == "debug")
    }

    /// How names of ConfigMaps begin and end, around the id.
    fn around_id(&self) -> (String, String) {
        let (name, uid) = (&self.app.metadata.name, &self.app.metadata.uid);
        let tail = uid.get(uid.len().saturating_sub(5)..).unwrap_or_default();
        (format!("{name}-"), format!("-debug-{tail}"))
    }

    /// The ConfigMap of a step, without what it shows; `None` if nothing is to be shown.
    pub(super) fn shown(&self, step_id: &str) -> Option<Value> {
        let (before, after) = self.is_shown().then(|| self.around_id())?;
        Some(json!({
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {
                "name": format!("{before}{step_id}{after}"),
                "namespace": self.app.namespace(),
                "ownerReferences": [{
                    "apiVersion": V1BETA1,
                    "kind": "Application",
                    "name": self.app.metadata.name,
                    "uid": self.app.metadata.uid,
                    "controller": true,
                }],
            },
        }))
    }

    /// Removes what is shown of no step of `run`.
    ///
    /// # Errors
    /// As a request failed.
    pub async fn forget_shown(&self, run: Option<&WorkflowStatus>) -> Result<(), Error> {
        if !self.is_shown() {
            return Ok(());
        }
        let (before, after) = self.around_id();
        let rows = run.into_iter().flat_map(|it| &it.steps);
        let ids: Vec<&str> = rows
            .flat_map(|it| {
                std::iter::once(it.id.as_str()).chain(it.sub_steps.iter().map(|it| it.id.as_str()))
            })
            .collect();
        let all = ObjectRef::local("v1", "ConfigMap", self.app.namespace(), "");
        for found in self.world.list(&all, "").await? {
            let name = object::name(&found);
            let id = name.strip_prefix(&before).and_then(|it| it.strip_suffix(&after));
            let is_own = found["metadata"]["ownerReferences"][0]["uid"] == *self.app.metadata.uid;
            if is_own && id.is_some_and(|it| !ids.contains(&it)) {
                self.world.delete(&ObjectRef { name: name.to_owned(), ..all.clone() }).await?;
            }
        }
        Ok(())
    }
}
