//! The ResourceTracker of the current generation: what we own, written before it exists.

use serde_json::{Value, json};

use crate::api::application::AppliedResource;
use crate::api::names::{finalizer, label};
use crate::api::object;
use crate::api::{Application, ManagedResource, ResourceTracker, TrackerKind, V1BETA1};
use crate::world::ObjectRef;

/// What is owned.
#[derive(Clone, Debug, Default)]
pub struct Inventory {
    tracker: ResourceTracker,
}

impl Inventory {
    /// Where the inventory of an Application's current generation is.
    pub fn at(app: &Application) -> ObjectRef {
        let name = TrackerKind::Versioned.tracker_name(app);
        ObjectRef::local(V1BETA1, "ResourceTracker", "", &name)
    }

    /// As it stands in the cluster, or empty.
    pub fn read(app: &Application, live: Option<Value>) -> Self {
        let mut tracker: ResourceTracker =
            live.and_then(|it| serde_json::from_value(it).ok()).unwrap_or_default();
        tracker.api_version = V1BETA1.into();
        tracker.kind = "ResourceTracker".into();
        tracker.metadata.name = TrackerKind::Versioned.tracker_name(app);
        tracker.spec.r#type = TrackerKind::Versioned.as_str().into();
        tracker.spec.application_generation = app.metadata.generation;
        let mut label = |key: &str, value: &str| {
            tracker.metadata.labels.insert(key.to_owned(), value.to_owned());
        };
        label(label::APP_NAME, &app.metadata.name);
        label(label::APP_NAMESPACE, app.namespace());
        label(label::APP_UID, &app.metadata.uid);
        Self { tracker }
    }

    /// The object to apply.
    pub fn object(&self) -> Value {
        json!({
            "apiVersion": V1BETA1,
            "kind": "ResourceTracker",
            "metadata": {
                "name": self.tracker.metadata.name,
                "labels": self.tracker.metadata.labels,
                "finalizers": [finalizer::TRACKER],
            },
            "spec": self.tracker.spec,
        })
    }

    /// Whether exactly this object is recorded.
    pub fn has(&self, object: &Value, cluster: &str) -> bool {
        let wanted = entry(object, cluster, "");
        self.tracker
            .spec
            .managed_resources
            .iter()
            .any(|it| it.key() == wanted.key() && !it.deleted && it.raw.as_ref() == Some(object))
    }

    /// Records an object; true if that changed the inventory.
    pub fn record(&mut self, object: &Value, cluster: &str, creator: &str) -> bool {
        let new = entry(object, cluster, creator);
        let all = &mut self.tracker.spec.managed_resources;
        match all.iter_mut().find(|it| it.key() == new.key()) {
            Some(old) if *old == new => false,
            Some(old) => {
                *old = new;
                true
            }
            None => {
                all.push(new);
                true
            }
        }
    }

    /// The manifest that was recorded for an object.
    pub fn manifest(&self, at: &ObjectRef) -> Option<&Value> {
        let wanted = reference(at).key();
        let found = self.tracker.spec.managed_resources.iter().find(|it| it.key() == wanted);
        found.filter(|it| !it.deleted)?.raw.as_ref()
    }

    /// An object was deleted on purpose; true if that changed the inventory.
    pub fn forget(&mut self, at: &ObjectRef) -> bool {
        let wanted = reference(at).key();
        let all = &mut self.tracker.spec.managed_resources;
        match all.iter_mut().find(|it| it.key() == wanted && !it.deleted) {
            Some(entry) => {
                entry.deleted = true;
                entry.raw = None;
                true
            }
            None => false,
        }
    }

    /// Whether the inventory names this resource.
    pub fn names(&self, resource: &ManagedResource) -> bool {
        self.tracker.spec.managed_resources.iter().any(|it| it.key() == resource.key())
    }

    /// Everything in it.
    pub fn resources(&self) -> &[ManagedResource] {
        &self.tracker.spec.managed_resources
    }

    /// What belongs to a component.
    pub fn of_component(&self, component: &str) -> Vec<&ManagedResource> {
        self.tracker.spec.managed_resources.iter().filter(|it| it.component == component).collect()
    }
}

fn reference(at: &ObjectRef) -> ManagedResource {
    ManagedResource {
        cluster: at.cluster.clone(),
        api_version: at.api_version.clone(),
        kind: at.kind.clone(),
        name: at.name.clone(),
        namespace: at.namespace.clone(),
        ..ManagedResource::default()
    }
}

fn entry(object: &Value, cluster: &str, creator: &str) -> ManagedResource {
    let at = ObjectRef::of(object, cluster);
    ManagedResource {
        cluster: at.cluster,
        creator: creator.into(),
        api_version: at.api_version,
        kind: at.kind,
        name: at.name,
        namespace: at.namespace,
        component: object::label(object, label::APP_COMPONENT).unwrap_or_default().to_owned(),
        r#trait: object::label(object, label::TRAIT_TYPE).unwrap_or_default().to_owned(),
        raw: Some(object.clone()),
        ..ManagedResource::default()
    }
}

/// The row in `status.appliedResources`.
pub fn applied(object: &Value, cluster: &str, creator: &str) -> AppliedResource {
    let at = ObjectRef::of(object, cluster);
    let row = json!({
        "cluster": at.cluster,
        "creator": creator,
        "apiVersion": at.api_version,
        "kind": at.kind,
        "name": at.name,
        "namespace": at.namespace,
    });
    serde_json::from_value(row).unwrap_or_default()
}

/// Where a recorded resource is.
pub fn place(resource: &ManagedResource) -> ObjectRef {
    ObjectRef {
        cluster: resource.cluster.clone(),
        api_version: resource.api_version.clone(),
        kind: resource.kind.clone(),
        namespace: resource.namespace.clone(),
        name: resource.name.clone(),
    }
}
