//! Removing what is not asked for any more (E-55 to E-59).
//!
//! ~~~text
//! mark: trackers that are over are deleted; their finalizer keeps them
//! sweep: each of their objects that no later tracker names is removed; none left, the finalizer goes
//! ~~~
//! 1. An object goes only with the last tracker that names it, and only if it is ours.
//! 2. What cannot be removed now is told and tried again; it keeps nothing else from going.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::Delivery;
use super::rules::Rules;
use super::trackers::{Tracker, Trackers, place};
use crate::api::names::{annotation, finalizer, is_local, label};
use crate::api::{Application, ManagedResource, object};
use crate::world::{Error, ObjectRef, PatchKind, World};

/// How far collecting has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Collected {
    /// Nothing is left to collect.
    All,
    /// Nothing but these, which were given up: their clusters do not answer.
    Abandoned(Vec<String>),
    /// Objects are still going; what to tell about them.
    Waiting(String),
}

/// Which trackers are over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Only those that were marked before.
    Marked,
    /// Those of earlier versions.
    History,
    /// All of them: the Application goes.
    Everything,
}

type Key = (String, String, String, String, String);

/// Collects for one Application during one reconcile.
pub struct Collector<'a> {
    world: &'a dyn World,
    objects: &'a dyn World,
    app: &'a Application,
    rules: &'a Rules,
    trackers: &'a Trackers,
    /// Objects stay, and stop being ours.
    orphan: bool,
    live: HashMap<Key, Option<Value>>,
    wrong: Vec<String>,
    /// What is on other clusters that do not let us is left behind.
    abandons: bool,
    abandoned: Vec<String>,
}

impl<'a> Collector<'a> {
    /// For `app`, whose trackers are `trackers`.
    pub fn new(
        (world, objects): (&'a dyn World, &'a dyn World),
        app: &'a Application,
        rules: &'a Rules,
        trackers: &'a Trackers,
    ) -> Self {
        let orphan = app.metadata.finalizers.iter().any(|it| it == finalizer::ORPHAN);
        Self {
            world,
            objects,
            app,
            rules,
            trackers,
            orphan,
            live: HashMap::new(),
            wrong: Vec::new(),
            abandons: false,
            abandoned: Vec::new(),
        }
    }

    /// Leaves behind what is on clusters that do not answer, or do not let us.
    pub fn abandoning(self) -> Self {
        Self { abandons: true, ..self }
    }

    /// Marks, removes, sweeps; to be called again until nothing is left.
    ///
    /// # Errors
    /// What could not be read or removed, all of it in one text; the rest was done.
    pub async fn run(mut self, extent: Extent) -> Result<Collected, Error> {
        let mut over = Vec::new();
        let existing: Vec<&'a Tracker> = self.trackers.existing().collect();
        for tracker in existing {
            let marked = tracker.is_going();
            if !marked && !self.ends(tracker, extent).await {
                continue;
            }
            if !marked {
                self.world.delete(&tracker.place()).await?;
            }
            over.push(tracker);
        }
        let mut waiting = Vec::new();
        for tracker in &over {
            if let Some(left) = self.empty(tracker, &over).await {
                waiting.push(left);
            } else if let Err(error) = drop_tracker(self.world, &tracker.place()).await {
                self.wrong.push(error.to_string());
            }
        }
        if !self.wrong.is_empty() {
            return Err(Error::Unavailable(format!(
                "error encountered during garbage collection: {}",
                self.wrong.join("; ")
            )));
        }
        let Some(first) = waiting.first() else {
            let none = self.abandoned.is_empty();
            return Ok(if none { Collected::All } else { Collected::Abandoned(self.abandoned) });
        };
        Ok(Collected::Waiting(format!(
            "Waiting for {first} to delete. (At least {} resources are deleting.)",
            waiting.len()
        )))
    }

    /// Whether a tracker that is not marked yet is over.
    async fn ends(&mut self, tracker: &Tracker, extent: Extent) -> bool {
        let own = &self.trackers;
        let name = &tracker.content.metadata.name;
        let past =
            *name != own.current.content.metadata.name && *name != own.root.content.metadata.name;
        match extent {
            Extent::Marked => false,
            Extent::Everything => true,
            Extent::History if !past => false,
            Extent::History if !self.rules.keeps_legacy() => true,
            // Kept as long as it still has anything of its own.
            Extent::History => {
                for resource in &tracker.content.spec.managed_resources {
                    let own = self.collector(resource, &[]) == Some(name.as_str());
                    if own && !matches!(self.ours(resource).await, Ok(None)) {
                        return false;
                    }
                }
                true
            }
        }
    }

    /// The tracker that a resource goes with: the last one that stays and names it, else the last.
    fn collector(&self, resource: &ManagedResource, over: &[&Tracker]) -> Option<&'a str> {
        let key = resource.key();
        let mut last = None;
        let mut last_staying = None;
        for tracker in self.trackers.existing() {
            if !tracker.content.spec.managed_resources.iter().any(|it| it.key() == key) {
                continue;
            }
            let name = tracker.content.metadata.name.as_str();
            last = Some(name);
            if !tracker.is_going() && !over.iter().any(|it| it.content.metadata.name == name) {
                last_staying = Some(name);
            }
        }
        last_staying.or(last)
    }

    /// Removes what goes with a tracker; the first resource that is still there, if any.
    async fn empty(&mut self, tracker: &Tracker, over: &[&Tracker]) -> Option<String> {
        let name = tracker.content.metadata.name.as_str();
        let all = &tracker.content.spec.managed_resources;
        let mut left = Vec::new();
        for resource in all {
            if self.collector(resource, over) != Some(name) {
                continue;
            }
            match self.ours(resource).await {
                Ok(Some(_)) => left.push(resource),
                Ok(None) => {}
                Err(error) => self.report(resource, &error, &mut left),
            }
        }
        let components: Vec<&str> = left.iter().map(|it| it.component.as_str()).collect();
        let mut waiting = None;
        for resource in &left {
            let held = self.rules.collects_by_dependency()
                && components.iter().any(|it| self.depends(it, &resource.component));
            let mut there = true;
            if !held {
                match self.remove(resource).await {
                    Ok(gone) => there = !gone,
                    Err(error) if self.gives_up(resource, &error) => there = false,
                    Err(error) => {
                        let text = self.text(resource);
                        self.wrong.push(format!("failed to delete resource {text}: {error}"));
                    }
                }
            }
            if there && waiting.is_none() {
                waiting = Some(self.display(resource));
            }
        }
        waiting
    }

    fn report<'r>(
        &mut self,
        resource: &'r ManagedResource,
        error: &Error,
        left: &mut Vec<&'r ManagedResource>,
    ) {
        // A kind that is not served any more has no objects.
        if !matches!(error, Error::Invalid(_)) && !self.gives_up(resource, error) {
            left.push(resource);
            let text = self.text(resource);
            self.wrong.push(format!("failed to get resource {text}: {error}"));
        }
    }

    /// Whether a resource is left behind because of an error, which is noted then.
    fn gives_up(&mut self, resource: &ManagedResource, error: &Error) -> bool {
        let elsewhere = !is_local(&resource.cluster);
        let closed = matches!(error, Error::Unavailable(_) | Error::Forbidden(_));
        let leaves = self.abandons && elsewhere && closed;
        if leaves {
            self.abandoned.push(self.display(resource));
        }
        leaves
    }

    /// Whether component `it` needs component `other` (dependsOn, or inputs from its outputs).
    fn depends(&self, it: &str, other: &str) -> bool {
        let find = |name: &str| self.app.spec.components.iter().find(|it| it.name == name);
        let (Some(one), Some(two)) = (find(it), find(other)) else { return false };
        it != other
            && (one.depends_on.iter().any(|it| it == other)
                || one
                    .inputs
                    .iter()
                    .any(|input| two.outputs.iter().any(|it| it.name == input.from)))
    }

    /// The live object, if it is ours (E-59).
    async fn ours(&mut self, resource: &ManagedResource) -> Result<Option<Value>, Error> {
        let key = resource.key();
        if let Some(known) = self.live.get(&key) {
            return Ok(known.clone());
        }
        let found = match self.objects.get(&place(resource)).await {
            Err(Error::NotFound(_)) => None,
            other => other?,
        };
        let found = found.filter(|live| self.owns(live) || self.shares(live));
        self.live.insert(key, found.clone());
        Ok(found)
    }

    fn owns(&self, live: &Value) -> bool {
        is_of(live, self.app.namespace(), &self.app.metadata.name)
    }

    fn sharers<'v>(&self, live: &'v Value) -> Vec<&'v str> {
        let text = object::annotation(live, annotation::SHARED_BY).unwrap_or_default();
        text.split(',').map(str::trim).filter(|it| !it.is_empty()).collect()
    }

    fn key(&self) -> String {
        format!("{}/{}", self.app.namespace(), self.app.metadata.name)
    }

    fn shares(&self, live: &Value) -> bool {
        self.sharers(live).contains(&self.key().as_str())
    }

    /// Removes one object, or what makes it ours (E-56); true if nothing is left to wait for.
    async fn remove(&mut self, resource: &ManagedResource) -> Result<bool, Error> {
        let at = place(resource);
        let Some(live) = self.ours(resource).await? else { return Ok(true) };
        let own = self.key();
        if self.shares(&live) {
            let others: Vec<&str> =
                self.sharers(&live).into_iter().filter(|it| *it != own).collect();
            if let Some((namespace, name)) = others.first().and_then(|it| it.split_once('/')) {
                let body = json!({"metadata": {
                    "annotations": {annotation::SHARED_BY: others.join(",")},
                    "labels": {label::APP_NAME: name, label::APP_NAMESPACE: namespace},
                }});
                return self.let_go(&at, &body).await;
            }
        }
        let raw = resource.raw.clone().unwrap_or_default();
        if resource.skip_gc
            || self.orphan
            || self.rules.orphans(&raw)
            || self.rules.only_reads(&raw)
        {
            let body = json!({"metadata": {
                "labels": {label::APP_NAME: null, label::APP_NAMESPACE: null},
            }});
            return self.let_go(&at, &body).await;
        }
        if object::text(&live, "/metadata/deletionTimestamp").is_empty() {
            self.objects.delete(&at).await?;
        }
        let left = self.objects.get(&at).await?;
        Ok(left.is_none_or(|it| !self.owns(&it)))
    }

    async fn let_go(&self, at: &ObjectRef, body: &Value) -> Result<bool, Error> {
        match self.objects.patch(at, PatchKind::Merge, body).await {
            Ok(_) | Err(Error::NotFound(_)) => Ok(true),
            Err(error) => Err(error),
        }
    }

    /// `<group>/<Kind>/<cluster>/<namespace>/<name>`
    fn text(&self, resource: &ManagedResource) -> String {
        let (group, kind, cluster, namespace, name) = resource.key();
        format!("{group}/{kind}/{cluster}/{namespace}/{name}")
    }

    /// As people are told (E-9).
    fn display(&self, resource: &ManagedResource) -> String {
        let mut parts = Vec::new();
        if !resource.cluster.is_empty() {
            parts.push(format!("Cluster: {}", resource.cluster));
        }
        if !resource.namespace.is_empty() {
            parts.push(format!("Namespace: {}", resource.namespace));
        }
        let place =
            if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) };
        format!("{} {}{place}", resource.kind, resource.name)
    }
}

/// Whether a live object says that it is an Application's.
pub(super) fn is_of(live: &Value, namespace: &str, name: &str) -> bool {
    object::label(live, label::APP_NAME) == Some(name)
        && object::label(live, label::APP_NAMESPACE) == Some(namespace)
}

/// Takes the finalizer off a tracker that is marked.
pub(super) async fn drop_tracker(world: &dyn World, at: &ObjectRef) -> Result<(), Error> {
    let none = json!({"metadata": {"finalizers": null}});
    match world.patch(at, PatchKind::Merge, &none).await {
        Ok(_) | Err(Error::NotFound(_)) => Ok(()),
        Err(error) => Err(error),
    }
}

impl Delivery<'_> {
    /// Collects what earlier versions left.
    ///
    /// # Errors
    /// As [`Collector::run`].
    pub async fn collect(&self, extent: Extent) -> Result<Collected, Error> {
        match extent {
            // A version that asks for nothing has a tracker too: it says that the rest is over.
            Extent::History => self.write_trackers().await?,
            Extent::Marked | Extent::Everything => {}
        }
        let trackers = self.state().trackers.clone();
        Collector::new((self.world, self.objects), self.app, &self.rules, &trackers)
            .run(extent)
            .await
    }
}
