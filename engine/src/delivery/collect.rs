//! Removing what no inventory wants: after a new revision is delivered, and when the Application goes.

use serde_json::{Value, json};

use super::inventory::{Inventory, place};
use crate::api::names::label;
use crate::api::policies::GarbageCollect;
use crate::api::{Application, ManagedResource, ResourceTracker, V1BETA1, object};
use crate::policy;
use crate::world::{Error, ObjectRef, PatchKind, World};

async fn trackers(world: &dyn World, app: &Application) -> Result<Vec<ResourceTracker>, Error> {
    let of = ObjectRef::local(V1BETA1, "ResourceTracker", "", "");
    let labels = format!(
        "{}={},{}={}",
        label::APP_NAME,
        app.metadata.name,
        label::APP_NAMESPACE,
        app.namespace()
    );
    let all = world.list(&of, &labels).await?;
    Ok(all.into_iter().filter_map(|it| serde_json::from_value(it).ok()).collect())
}

/// Collects older generations' resources that the current inventory does not name.
///
/// # Errors
/// As a write failed; the rest is tried all the same.
pub async fn collect_old(
    world: &dyn World,
    app: &Application,
    current: &Inventory,
) -> Result<(), Error> {
    let options = options(app);
    let own = Inventory::at(app).name;
    let mut wrong = None;
    for tracker in trackers(world, app).await?.into_iter().filter(|it| it.metadata.name != own) {
        let mut kept = options.keep_legacy_resource;
        for resource in &tracker.spec.managed_resources {
            if current.names(resource) || resource.skip_gc {
                continue;
            }
            if options.keep_legacy_resource || rule(&options, resource) == Some("onAppDelete") {
                kept = true;
                continue;
            }
            if rule(&options, resource) == Some("never") {
                continue;
            }
            if let Err(error) = remove(world, app, resource).await {
                wrong = Some(error);
                kept = true;
            }
        }
        if !kept {
            drop_tracker(world, &tracker.metadata.name).await?;
        }
    }
    wrong.map_or(Ok(()), Err)
}

/// Deletes everything the Application owns; true once all of it is gone.
///
/// # Errors
/// As a write failed.
pub async fn remove_all(world: &dyn World, app: &Application) -> Result<bool, Error> {
    let options = options(app);
    let mut gone = true;
    for tracker in trackers(world, app).await? {
        let mut left = false;
        for resource in tracker.spec.managed_resources.iter().filter(|it| !it.skip_gc) {
            if rule(&options, resource) == Some("never") {
                continue;
            }
            remove(world, app, resource).await?;
            left |= world.get(&place(resource)).await?.is_some();
        }
        if left {
            gone = false;
        } else {
            drop_tracker(world, &tracker.metadata.name).await?;
        }
    }
    Ok(gone)
}

async fn remove(
    world: &dyn World,
    app: &Application,
    resource: &ManagedResource,
) -> Result<(), Error> {
    let at = place(resource);
    let Some(live) = world.get(&at).await? else { return Ok(()) };
    let ours = object::label(&live, label::APP_NAME) == Some(&app.metadata.name)
        && object::label(&live, label::APP_NAMESPACE) == Some(app.namespace());
    if !ours || live["metadata"]["deletionTimestamp"].is_string() {
        return Ok(());
    }
    world.delete(&at).await
}

async fn drop_tracker(world: &dyn World, name: &str) -> Result<(), Error> {
    let at = ObjectRef::local(V1BETA1, "ResourceTracker", "", name);
    let none: Value = json!({"metadata": {"finalizers": null}});
    match world.patch(&at, PatchKind::Merge, &none).await {
        Ok(_) | Err(Error::NotFound(_)) => world.delete(&at).await,
        Err(error) => Err(error),
    }
}

fn options(app: &Application) -> GarbageCollect {
    let policy = app.spec.policies.iter().find(|it| it.r#type == "garbage-collect");
    policy.and_then(|it| policy::read(it.properties.as_ref()).ok()).unwrap_or_default()
}

/// The strategy of the first rule that selects the resource.
fn rule<'a>(options: &'a GarbageCollect, resource: &ManagedResource) -> Option<&'a str> {
    let raw = resource.raw.clone().unwrap_or_default();
    options
        .rules
        .iter()
        .find(|it| policy::selector::selects(&it.selector, &raw))
        .map(|it| it.strategy.as_str())
}
