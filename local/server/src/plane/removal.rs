//! How objects are deleted: at once, or when those who hold them let go.

use std::sync::Arc;

use local_store::Expect;
use serde_json::Value;

use super::{DeleteOptions, Deleted, Plane, Target, versioned};
use crate::status::{ApiError, Result};
use crate::{admit, kinds};

impl Plane {
    /// Deletes an object, or begins to.
    pub fn delete(&self, target: &Target, options: &DeleteOptions) -> Result<Deleted> {
        self.delete_warned(target, options, &mut Vec::new())
    }

    /// The same, with what webhooks warn of.
    pub fn delete_warned(
        &self,
        target: &Target,
        options: &DeleteOptions,
        warnings: &mut Vec<String>,
    ) -> Result<Deleted> {
        let entry = self.store().get(&target.key()).ok_or_else(|| target.not_found())?;
        unmet(target, options, &entry.value)?;
        admit::on_delete(target)?;
        let current = kinds::shown(&target.resource, &entry.value);
        self.ask_webhooks_of_deletion(target, &current, options, warnings)?;
        self.remove(target, options)
    }

    /// Deletes an object, or begins to, without asking webhooks.
    pub(crate) fn remove(&self, target: &Target, options: &DeleteOptions) -> Result<Deleted> {
        let resource = &target.resource;
        let mut marked = false;
        for _ in 0..64 {
            let entry = self.store().get(&target.key()).ok_or_else(|| target.not_found())?;
            let current = &entry.value;
            if !marked {
                unmet(target, options, current)?;
            }
            admit::on_delete(target)?;
            let mut next = Value::clone(current);
            let gone = kinds::begin_deletion(resource, &mut next, options);
            if gone {
                if options.dry_run {
                    return Ok(Deleted::Gone(kinds::shown(resource, current)));
                }
                // A pod without grace is marked first, so that watchers see it end.
                if resource.is("", "pods") && current["metadata"]["deletionTimestamp"].is_null() {
                    kinds::mark_deleted(&mut next);
                    let expect = Expect::Revision(entry.revision);
                    match self.store().put(&entry.key, expect, |revision| versioned(next, revision))
                    {
                        Ok(_) => {
                            marked = true;
                            continue;
                        }
                        Err(local_store::Error::Conflict { .. }) => continue,
                        Err(other) => return Err(other.into()),
                    }
                }
                match self.store().delete(&entry.key, entry.revision) {
                    Ok(revision) => {
                        self.after_delete(resource, current);
                        let last = Arc::new(versioned(next, revision).into());
                        return Ok(Deleted::Gone(kinds::shown(resource, &last)));
                    }
                    Err(local_store::Error::Conflict { .. }) => continue,
                    Err(other) => return Err(other.into()),
                }
            }
            if **current == next || options.dry_run {
                return Ok(Deleted::Waiting(kinds::shown(resource, &Arc::new(next.into()))));
            }
            let expect = Expect::Revision(entry.revision);
            match self.store().put(&entry.key, expect, |revision| versioned(next, revision)) {
                Ok(entry) => {
                    let answer = kinds::shown(resource, &entry.value);
                    self.after_write(resource, &entry.value);
                    return Ok(Deleted::Waiting(answer));
                }
                Err(local_store::Error::Conflict { .. }) => {}
                Err(other) => return Err(other.into()),
            }
        }
        Err(target.conflict())
    }
}

// Refuses the deletion of an object that is not the one meant.
fn unmet(target: &Target, options: &DeleteOptions, current: &Value) -> Result<()> {
    let conditions = [
        ("UID", "uid", &options.uid, "deleted and then recreated"),
        ("ResourceVersion", "resourceVersion", &options.version, "modified"),
    ];
    for (what, key, wanted, perhaps) in conditions {
        let have = current["metadata"][key].as_str().unwrap_or_default();
        let Some(wanted) = wanted.as_ref().filter(|wanted| *wanted != have) else { continue };
        let why = format!(
            "the {what} in the precondition ({wanted}) does not match the {what} in record ({have}). The object might have been {perhaps}"
        );
        let resource = &target.resource;
        return Err(ApiError::conflict_because(
            &resource.group,
            &resource.kind,
            &target.name,
            &why,
        ));
    }
    Ok(())
}
