//! The ResourceTrackers of an Application: what it owns, written before it exists (E-46, E-47).

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};

use super::rules::Lifetime;
use crate::api::application::AppliedResource;
use crate::api::names::{annotation, finalizer, is_local, label};
use crate::api::object;
use crate::api::{Application, ManagedResource, ResourceTracker, TrackerKind, V1BETA1};
use crate::world::{Error, ObjectRef, PatchKind, World};

/// One tracker.
#[derive(Clone, Debug)]
pub struct Tracker {
    pub(super) content: ResourceTracker,
    /// Whether the cluster has it.
    pub(super) exists: bool,
    changed: bool,
}

/// All trackers of an Application.
#[derive(Clone, Debug)]
pub struct Trackers {
    /// What stays as long as the Application.
    pub(super) root: Tracker,
    /// What this version asks for.
    pub(super) current: Tracker,
    /// What earlier versions asked for, oldest first.
    pub(super) history: Vec<Tracker>,
}

/// What trackers say of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Recorded {
    /// None names it.
    Never,
    /// One does, perhaps otherwise, perhaps as one that is gone.
    Named,
    /// This version asks for exactly this.
    Exactly,
}

impl Trackers {
    /// As the cluster has them.
    ///
    /// # Errors
    /// A read failed, a tracker belongs to another Application of this name, or a newer version
    /// than the published one has been delivered already.
    pub async fn load(world: &dyn World, app: &Application) -> Result<Self, Error> {
        let of = ObjectRef::local(V1BETA1, "ResourceTracker", "", "");
        let found = world.list(&of, &selector(app.namespace(), &app.metadata.name)).await?;
        let found = found.into_iter().filter_map(|it| serde_json::from_value(it).ok());
        Self::sort(app, found.collect())
    }

    /// None yet.
    pub fn empty(app: &Application) -> Self {
        let (root, current) =
            (Tracker::new(app, TrackerKind::Root), Tracker::new(app, TrackerKind::Versioned));
        Self { root, current, history: Vec::new() }
    }

    fn sort(app: &Application, found: Vec<ResourceTracker>) -> Result<Self, Error> {
        let mut all = Self::empty(app);
        for content in found {
            let name = &content.metadata.name;
            let owner = content.metadata.labels.get(label::APP_UID).map_or("", String::as_str);
            if !owner.is_empty() && owner != app.metadata.uid {
                return Err(Error::Conflict(format!(
                    "resourcetracker {name} exists but controlled by another application (uid: {owner}), this could probably be cased by some mistakes while garbage collecting outdated resource. Please check this resourcetrakcer and delete it manually"
                )));
            }
            if *name == all.root.content.metadata.name {
                all.root.found(content);
            } else if *name == all.current.content.metadata.name {
                all.current.found(content);
            } else if content.spec.r#type != TrackerKind::ComponentRevision.as_str() {
                let mut past = Tracker::new(app, TrackerKind::Versioned);
                past.content = content;
                past.exists = true;
                all.history.push(past);
            }
        }
        all.history.sort_by_key(|it| it.content.spec.application_generation);
        let newest = all.history.last().map_or(0, Tracker::generation);
        if all.current.exists && all.current.generation() < newest {
            return Err(Error::Conflict(format!(
                "current publish version {}(gen-{}) is in-use and outdated, found newer gen-{newest}",
                app.annotation(annotation::PUBLISH_VERSION),
                all.current.generation(),
            )));
        }
        Ok(all)
    }

    /// The revision that was delivered under this generation, if any was.
    pub fn delivered(&self) -> Option<&str> {
        self.current.content.metadata.labels.get(label::APP_REVISION).map(String::as_str)
    }

    /// Whether another revision than this was delivered since a generation, or by a run that began after
    /// `start`: the process died before it said so in the status, or the Application was changed under it.
    /// What failed since then may have told of a newer generation, hence the starts.
    pub fn went_on(&self, generation: i64, start: Option<&str>, revision: &str) -> bool {
        let start = start.and_then(time);
        self.of_others(revision)
            .any(|it| it.generation() > generation || start.is_some() && it.run_started() > start)
    }

    /// When a run of this revision that begins now begins: later than those that others recorded.
    pub fn start(&self, now: DateTime<Utc>, revision: &str) -> DateTime<Utc> {
        let last = self.of_others(revision).filter_map(Tracker::run_started).max();
        last.map_or(now, |it| now.max(it + TimeDelta::seconds(1)))
    }

    fn of_others(&self, revision: &str) -> impl Iterator<Item = &Tracker> {
        let label = |it: &Tracker| it.content.metadata.labels.get(label::APP_REVISION).cloned();
        self.existing().filter(move |it| label(it).is_some_and(|it| it != revision))
    }

    /// What is recorded from now on is recorded by the run that began then.
    pub fn run_since(&mut self, start: Option<&str>) {
        let Some(start) = start else { return };
        for tracker in [&mut self.current, &mut self.root] {
            let annotations = &mut tracker.content.metadata.annotations;
            annotations.insert(annotation::RUN_STARTED.into(), start.into());
        }
    }

    /// A new generation of the same revision: what was recorded for the one before is still wanted.
    pub fn go_on(&mut self, revision: &str) {
        let same = |it: &mut Tracker| {
            it.content.metadata.labels.get(label::APP_REVISION).is_some_and(|it| it == revision)
        };
        if !self.current.exists {
            if let Some(latest) = self.history.pop_if(same) {
                self.current = latest;
            }
        }
    }

    /// What is recorded from now on is recorded for this revision.
    pub fn deliver_as(&mut self, revision: &str) {
        for tracker in [&mut self.current, &mut self.root] {
            let labels = &mut tracker.content.metadata.labels;
            let before = labels.insert(label::APP_REVISION.into(), revision.into());
            tracker.changed |= tracker.exists && before.as_deref() != Some(revision);
        }
    }

    /// Records an object; where depends on how long it lives.
    pub(super) fn record(&mut self, object: &Value, cluster: &str, lifetime: Lifetime) {
        let mut entry = entry(object, cluster);
        entry.skip_gc = lifetime == Lifetime::Forever;
        let tracker = match lifetime {
            Lifetime::Version => &mut self.current,
            Lifetime::Application | Lifetime::Forever => &mut self.root,
        };
        tracker.record(entry);
    }

    /// Stops recording an object that is gone and stays gone.
    pub(super) fn forget(&mut self, resource: &ManagedResource) {
        for tracker in [&mut self.current, &mut self.root] {
            let all = &mut tracker.content.spec.managed_resources;
            let before = all.len();
            all.retain(|it| it.key() != resource.key());
            tracker.changed |= all.len() != before;
        }
    }

    /// The tracker of this version is there from the first delivery on, empty or not.
    pub(super) fn begin(&mut self) {
        self.current.changed |= !self.current.exists;
    }

    /// Trackers as they are to be written, if they differ from what the cluster has.
    pub(super) fn unwritten(&mut self) -> Vec<Unwritten> {
        let own = [&mut self.root, &mut self.current].into_iter();
        own.filter_map(|it| {
            let changed = std::mem::take(&mut it.changed);
            let there = it.exists;
            it.exists |= changed;
            changed.then(|| Unwritten { object: it.object(), there })
        })
        .collect()
    }

    /// A tracker could not be written.
    pub(super) fn unsettle(&mut self, unwritten: &Unwritten) {
        for tracker in [&mut self.current, &mut self.root] {
            if tracker.content.metadata.name == object::name(&unwritten.object) {
                tracker.changed = true;
                tracker.exists = unwritten.there;
            }
        }
    }

    /// Whether this version asks for an object, however it is to be.
    pub(super) fn want(&self, at: &ObjectRef) -> bool {
        let key = reference(at).key();
        self.wanted().any(|it| it.key() == key)
    }

    /// The manifest that was recorded for an object.
    pub(super) fn manifest(&self, at: &ObjectRef) -> Option<&Value> {
        let key = reference(at).key();
        self.wanted().find(|it| it.key() == key && !it.deleted)?.raw.as_ref()
    }

    /// An object was deleted on purpose; true if a tracker names it.
    pub(super) fn deleted(&mut self, at: &ObjectRef) -> bool {
        let key = reference(at).key();
        let mut any = false;
        for tracker in [&mut self.current, &mut self.root] {
            let all = &mut tracker.content.spec.managed_resources;
            if let Some(entry) = all.iter_mut().find(|it| it.key() == key && !it.deleted) {
                // Only the reference stays (E-47).
                *entry = ManagedResource { deleted: true, ..reference(at) };
                tracker.changed = true;
                any = true;
            }
        }
        any
    }

    /// What is recorded of an object.
    pub(super) fn recorded(&self, object: &Value, cluster: &str) -> Recorded {
        let wanted = entry(object, cluster).key();
        let same = |it: &ManagedResource| !it.deleted && it.raw.as_ref() == Some(object);
        if self.wanted().any(|it| same(it) && it.key() == wanted) {
            return Recorded::Exactly;
        }
        let mut all = self.existing().flat_map(|it| &it.content.spec.managed_resources);
        match all.any(|it| it.key() == wanted) {
            true => Recorded::Named,
            false => Recorded::Never,
        }
    }

    /// What this version asks for, and what stays with the Application; an object that is in both
    /// is said once, as the latter has it.
    pub fn wanted(&self) -> impl Iterator<Item = &ManagedResource> {
        let root = &self.root.content.spec.managed_resources;
        let current = self.current.content.spec.managed_resources.iter();
        current.filter(|it| root.iter().all(|other| other.key() != it.key())).chain(root)
    }

    /// Whether anything of the Application is on another cluster.
    pub fn reach_elsewhere(&self) -> bool {
        let all = self.existing().flat_map(|it| &it.content.spec.managed_resources);
        all.into_iter().any(|it| !is_local(&it.cluster))
    }

    /// All trackers the cluster has, in the order in which the last one that names an object is
    /// the one to collect it.
    pub(super) fn existing(&self) -> impl Iterator<Item = &Tracker> {
        let own = [&self.current, &self.root];
        self.history.iter().chain(own).filter(|it| it.exists)
    }
}

/// A tracker as it is to be written.
pub(super) struct Unwritten {
    object: Value,
    /// The cluster has one of the name.
    there: bool,
}

impl Unwritten {
    /// Makes it, or changes the one that is there.
    pub(super) async fn write(&self, world: &dyn World) -> Result<(), Error> {
        let made =
            if self.there { self.change(world).await } else { world.create(&self.object).await };
        match made {
            // A process that died has made it.
            Err(Error::Conflict(_)) if !self.there => self.change(world).await,
            Err(Error::NotFound(_)) if self.there => world.create(&self.object).await,
            other => other,
        }
    }

    async fn change(&self, world: &dyn World) -> Result<(), Error> {
        let (meta, spec) = (&self.object["metadata"], &self.object["spec"]);
        let mut body = json!({
            "metadata": {"labels": meta["labels"], "annotations": meta["annotations"]},
            "spec": spec,
        });
        // What is not said would stay.
        body["spec"]["managedResources"] = spec["managedResources"].clone();
        world.patch(&ObjectRef::of(&self.object, ""), PatchKind::Merge, &body).await.map(drop)
    }
}

impl Tracker {
    fn new(app: &Application, kind: TrackerKind) -> Self {
        let mut content = ResourceTracker {
            api_version: V1BETA1.into(),
            kind: "ResourceTracker".into(),
            ..ResourceTracker::default()
        };
        content.metadata.name = kind.tracker_name(app);
        content.spec.r#type = kind.as_str().into();
        let mut label = |key: &str, value: &str| {
            content.metadata.labels.insert(key.to_owned(), value.to_owned());
        };
        label(label::APP_NAME, &app.metadata.name);
        label(label::APP_NAMESPACE, app.namespace());
        label(label::APP_UID, &app.metadata.uid);
        let version = app.annotation(annotation::PUBLISH_VERSION);
        if kind == TrackerKind::Versioned {
            content.spec.application_generation = app.metadata.generation;
            if !version.is_empty() {
                let annotations = &mut content.metadata.annotations;
                annotations.insert(annotation::PUBLISH_VERSION.into(), version.into());
            }
        }
        Self { content, exists: false, changed: false }
    }

    /// The cluster has it, like this; labels are ours.
    fn found(&mut self, found: ResourceTracker) {
        let labels = std::mem::take(&mut self.content.metadata.labels);
        self.content = found;
        self.content.metadata.labels.extend(labels);
        self.exists = true;
    }

    fn record(&mut self, entry: ManagedResource) {
        let all = &mut self.content.spec.managed_resources;
        match all.iter_mut().find(|it| it.key() == entry.key()) {
            Some(old) if *old == entry => return,
            Some(old) => *old = entry,
            None => all.push(entry),
        }
        self.changed = true;
    }

    fn run_started(&self) -> Option<DateTime<Utc>> {
        self.content.metadata.annotations.get(annotation::RUN_STARTED).and_then(|it| time(it))
    }

    pub(super) fn generation(&self) -> i64 {
        self.content.spec.application_generation
    }

    pub(super) fn is_going(&self) -> bool {
        !self.content.metadata.deletion_timestamp.is_empty()
    }

    pub(super) fn place(&self) -> ObjectRef {
        ObjectRef::local(V1BETA1, "ResourceTracker", "", &self.content.metadata.name)
    }

    fn object(&self) -> Value {
        json!({
            "apiVersion": V1BETA1,
            "kind": "ResourceTracker",
            "metadata": {
                "name": self.content.metadata.name,
                "labels": self.content.metadata.labels,
                "annotations": self.content.metadata.annotations,
                "finalizers": [finalizer::TRACKER],
            },
            "spec": self.content.spec,
        })
    }
}

fn time(text: &str) -> Option<DateTime<Utc>> {
    DateTime::parse_from_rfc3339(text).ok().map(|it| it.to_utc())
}

/// Selects the trackers of Applications of a name.
pub(super) fn selector(namespace: &str, name: &str) -> String {
    format!("{}={name},{}={namespace}", label::APP_NAME, label::APP_NAMESPACE)
}

/// An entry without a manifest.
pub(super) fn reference(at: &ObjectRef) -> ManagedResource {
    ManagedResource {
        cluster: at.cluster.clone(),
        api_version: at.api_version.clone(),
        kind: at.kind.clone(),
        name: at.name.clone(),
        namespace: at.namespace.clone(),
        ..ManagedResource::default()
    }
}

fn entry(object: &Value, cluster: &str) -> ManagedResource {
    ManagedResource {
        component: object::label(object, label::APP_COMPONENT).unwrap_or_default().to_owned(),
        r#trait: object::label(object, label::TRAIT_TYPE).unwrap_or_default().to_owned(),
        raw: Some(object.clone()),
        ..reference(&ObjectRef::of(object, cluster))
    }
}

/// The row in `status.appliedResources`.
pub(super) fn applied(object: &Value, cluster: &str, creator: &str) -> AppliedResource {
    let at = ObjectRef::of(object, cluster);
    AppliedResource {
        cluster: at.cluster,
        creator: creator.into(),
        api_version: at.api_version,
        kind: at.kind,
        name: at.name,
        namespace: at.namespace,
        ..AppliedResource::default()
    }
}

/// Where a recorded resource is.
pub(super) fn place(resource: &ManagedResource) -> ObjectRef {
    ObjectRef {
        cluster: resource.cluster.clone(),
        api_version: resource.api_version.clone(),
        kind: resource.kind.clone(),
        namespace: resource.namespace.clone(),
        name: resource.name.clone(),
    }
}
