//! Trackers of an Application that went before it had our finalizer.
//!
//! They are written beside it, and what they name only after it. So a process that dies in between leaves
//! trackers of nothing, if the Application is deleted before another process looks at it. What such a tracker
//! names is looked for: is anything of it there, somebody took the finalizer off, and it stays as it is.

use super::collect::{drop_tracker, is_of};
use super::trackers::{place, selector};
use crate::api::names::label;
use crate::api::{ResourceTracker, V1BETA1, object};
use crate::world::{Error, ObjectRef, World};

/// Removes trackers of nothing; `uid` is that of the Application that has the name now, if there is one.
///
/// # Errors
/// As a request failed.
pub async fn remove_strays(
    world: &dyn World,
    namespace: &str,
    name: &str,
    uid: Option<&str>,
) -> Result<(), Error> {
    let of = ObjectRef::local(V1BETA1, "ResourceTracker", "", "");
    for found in world.list(&of, &selector(namespace, name)).await? {
        if object::label(&found, label::APP_UID) == uid {
            continue;
        }
        let at = ObjectRef::local(V1BETA1, "ResourceTracker", "", object::name(&found));
        let Ok(tracker) = serde_json::from_value::<ResourceTracker>(found) else { continue };
        let mut names_nothing = true;
        for resource in &tracker.spec.managed_resources {
            names_nothing &= match world.get(&place(resource)).await {
                Ok(live) => !live.is_some_and(|it| is_of(&it, namespace, name)),
                // A kind that is not served has no objects.
                Err(Error::NotFound(_) | Error::Invalid(_)) => true,
                Err(_) => false,
            };
        }
        if names_nothing {
            if tracker.metadata.deletion_timestamp.is_empty() {
                world.delete(&at).await?;
            }
            drop_tracker(world, &at).await?;
        }
    }
    Ok(())
}
