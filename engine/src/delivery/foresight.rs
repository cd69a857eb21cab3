//! Objects that are recorded before their turn, so that one write of a tracker does for all of them.
//!
//! 1. Only what this version does not ask for yet is foreseen; it is applied by what trackers said before.
//! 2. What was not applied in the round after all is not recorded any more when it ends. A process that died
//!    may have left such records: who comes after it forgets those that nothing is there of.

use serde_json::Value;

use super::trackers::{self, Recorded, place};
use super::{Delivery, State};
use crate::api::ManagedResource;
use crate::workflow::round::State as Standing;
use crate::world::{Error, ObjectRef};

impl Delivery<'_> {
    /// Records objects with the next ones that are sent.
    pub(super) async fn expect(&self, objects: Vec<(Value, String)>) {
        for (object, cluster) in objects {
            let object = self.as_sent(object, &cluster).await;
            let refused = self.admission.check(&object, self.app.namespace()).is_err();
            if refused || self.rules.only_reads(&object) {
                return;
            }
            let mut state = self.state();
            let at = ObjectRef::of(&object, &cluster);
            if !state.trackers.want(&at) {
                let before = state.trackers.recorded(&object, &cluster);
                state.trackers.record(&object, &cluster, self.rules.lifetime(&object));
                state.foreseen.push((at, before));
            }
        }
    }

    /// The round is over, and stands like this: what was foreseen in vain is not recorded any more. After a round
    /// of which nobody knows how it ended neither is what is not there.
    ///
    /// # Errors
    /// As a request failed.
    pub async fn forget_foreseen(&self, standing: Standing, before: Before) -> Result<(), Error> {
        let foreseen = std::mem::take(&mut self.state().foreseen);
        let mut vain: Vec<ManagedResource> =
            foreseen.iter().map(|it| trackers::reference(&it.0)).collect();
        if before == Before::Doubtful && standing != Standing::Succeeded {
            let unsure: Vec<ManagedResource> = {
                let state = self.state();
                let new = |it: &&ManagedResource| !it.deleted && !state.has_applied(it);
                state.trackers.wanted().filter(new).cloned().collect()
            };
            for resource in unsure {
                if self.objects.get(&place(&resource)).await == Ok(None) {
                    vain.push(resource);
                }
            }
        }
        if vain.is_empty() {
            return Ok(());
        }
        vain.iter().for_each(|it| self.state().trackers.forget(it));
        self.write_trackers().await
    }
}

/// What is known of how the round before ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Before {
    /// It ended here.
    Known,
    /// Somebody else may have died in it.
    Doubtful,
}

impl State {
    /// What trackers said of an object before it was foreseen; it is no more.
    pub(super) fn recorded(&mut self, object: &Value, cluster: &str) -> Recorded {
        let at = ObjectRef::of(object, cluster);
        match self.foreseen.iter().position(|it| it.0 == at) {
            Some(index) => self.foreseen.swap_remove(index).1,
            None => self.trackers.recorded(object, cluster),
        }
    }

    /// Whether the status says that a resource was applied.
    fn has_applied(&self, it: &ManagedResource) -> bool {
        self.applied.iter().any(|row| {
            (&row.cluster, &row.kind, &row.namespace, &row.name)
                == (&it.cluster, &it.kind, &it.namespace, &it.name)
                && row.api_version == it.api_version
        })
    }
}
