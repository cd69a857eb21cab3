//! Drift: what others changed is put back, as far as the policies want that (E-54).

use futures::stream::{self, StreamExt};

use super::Delivery;
use super::rules::Moment;
use super::send::joined;
use super::trackers::{Recorded, place};
use crate::api::ManagedResource;
use crate::world::{Call, Error};

/// Objects looked at at once.
const PARALLEL: usize = 10;

/// What became of an object.
enum Kept {
    /// It is as it should be now.
    Yes,
    /// It is gone, and a rule says that it stays gone.
    Gone,
}

impl Delivery<'_> {
    /// Looks at everything that was delivered and puts back what differs.
    ///
    /// # Errors
    /// All that could not be put back, in one.
    pub async fn keep_state(&self) -> Result<(), Error> {
        if !self.rules.corrects_drift() {
            return Ok(());
        }
        let wanted: Vec<ManagedResource> = self.state().trackers.wanted().cloned().collect();
        let mut calls: Vec<Call<'_, Kept>> = Vec::with_capacity(wanted.len());
        for resource in &wanted {
            calls.push(Box::pin(self.keep_one(resource)));
        }
        let looked: Vec<_> = stream::iter(calls).buffered(PARALLEL).collect().await;
        let mut results = Vec::with_capacity(looked.len());
        for (resource, result) in wanted.iter().zip(looked) {
            match result {
                Ok(Kept::Yes) => {}
                Ok(Kept::Gone) => self.state().trackers.forget(resource),
                Err(error) => results.push(Err(error)),
            }
        }
        results.push(self.write_trackers().await);
        joined(results).map(drop)
    }

    async fn keep_one(&self, resource: &ManagedResource) -> Result<Kept, Error> {
        let Some(raw) = resource.raw.as_ref().filter(|_| !resource.deleted) else {
            return Ok(Kept::Yes);
        };
        let explain = |error: Error| {
            let (group, kind, cluster, namespace, name) = resource.key();
            let text = format!(
                "failed to re-apply resource {group}/{kind}/{cluster}/{namespace}/{name}: {error}"
            );
            match error {
                Error::Unavailable(_) => Error::Unavailable(text),
                _ => Error::Invalid(text),
            }
        };
        let ruled = self.rules.kept_paths(raw, Moment::StateKeep).is_some();
        if ruled && self.objects.get(&place(resource)).await.map_err(explain)?.is_none() {
            return Ok(Kept::Gone);
        }
        let live =
            self.apply(raw.clone(), &resource.cluster, Recorded::Exactly, Moment::StateKeep).await;
        self.saw(resource, live.map_err(explain)?);
        Ok(Kept::Yes)
    }
}
