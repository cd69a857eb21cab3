//! The controllers on a plane of this process: its handle and its events, in their words.

use std::sync::Arc;
use std::time::Duration;

use local_server::handle::Handle;
use local_server::plane::{DeleteOptions, Plane, Target};
use local_server::resource::Resource;
use local_server::status::ApiError;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::cluster::{Cluster, Deletion, Event, Id, Part, Refused};
use crate::{Options, run};

/// Events that may wait for the controllers.
const BACKLOG: usize = 4_096;

/// Starts the controllers on `plane`; with `pods`, scheduler and kubelet are played too.
pub fn start(plane: &Plane, pods: bool, stop: CancellationToken) {
    let options = Options { pods, ready_after: Duration::from_millis(150), ..Options::default() };
    let (sender, receiver) = mpsc::channel(BACKLOG);
    tokio::spawn(forward(plane.clone(), sender, stop.clone()));
    let cluster: Arc<dyn Cluster> = Arc::new(OnPlane { handle: plane.handle("kube-controller-manager") });
    tokio::spawn(run(cluster, receiver, options, stop));
}

/// Every object there is as created, then every change.
async fn forward(plane: Plane, sender: mpsc::Sender<Event>, stop: CancellationToken) {
    let (revision, entries) = plane.store().list("");
    for entry in entries {
        if let Some(id) = place(&plane, &entry.key) {
            let event = Event { id, old: None, new: Some((*entry.value).clone()) };
            if sender.send(event).await.is_err() {
                return;
            }
        }
    }
    let mut watch = plane.store().watch("", revision);
    loop {
        let events = tokio::select! {
            () = stop.cancelled() => return,
            events = watch.next() => events,
        };
        let Ok(events) = events else {
            // History was compacted under us: everything is looked at again.
            Box::pin(forward(plane, sender, stop)).await;
            return;
        };
        for event in events {
            let Some(id) = place(&plane, &event.key) else { continue };
            let event = Event {
                id,
                old: event.previous.map(|it| (*it.1).clone()),
                new: event.value.map(|it| (*it).clone()),
            };
            if sender.send(event).await.is_err() {
                return;
            }
        }
    }
}

/// Which object a key of the store is.
fn place(plane: &Plane, key: &str) -> Option<Id> {
    let registry = plane.registry();
    let resource = registry.iter().find(|it| key.starts_with(&it.range("")))?;
    let rest = &key[resource.range("").len()..];
    let (namespace, name) = rest.split_once('/').unwrap_or(("", rest));
    Some(Id::new(&resource.group, &resource.plural, namespace, name))
}

struct OnPlane {
    handle: Handle,
}

impl OnPlane {
    fn resource(&self, group: &str, plural: &str) -> Option<Arc<Resource>> {
        let registry = self.handle.plane().registry();
        let found = registry.iter().find(|it| it.group == group && it.plural == plural).cloned();
        found
    }

    fn target(&self, id: &Id) -> Result<Target, Refused> {
        let resource = self.resource(&id.group, &id.plural).ok_or_else(|| Refused {
            code: 404,
            message: format!("no resource {} in {:?}", id.plural, id.group),
        })?;
        Ok(Target {
            resource,
            namespace: id.namespace.clone(),
            name: id.name.clone(),
            subresource: String::new(),
        })
    }
}

fn refused(error: ApiError) -> Refused {
    Refused { code: error.code, message: error.message }
}

impl Cluster for OnPlane {
    fn get(&self, id: &Id) -> Option<Value> {
        self.handle.get(&self.target(id).ok()?).ok()
    }

    fn list(&self, group: &str, plural: &str, namespace: &str) -> Vec<Value> {
        let Some(resource) = self.resource(group, plural) else { return Vec::new() };
        let (_, entries) = self.handle.plane().store().list(&resource.range(namespace));
        entries.into_iter().map(|it| (*it.value).clone()).collect()
    }

    fn create(&self, id: &Id, object: Value) -> Result<Value, Refused> {
        let mut target = self.target(id)?;
        target.name = String::new();
        self.handle.create(&target, object).map_err(refused)
    }

    fn modify(
        &self,
        id: &Id,
        part: Part,
        change: &mut dyn FnMut(&mut Value),
    ) -> Result<Value, Refused> {
        let mut target = self.target(id)?;
        match part {
            Part::Main => {}
            Part::Status => target.subresource = "status".into(),
            Part::Finalize => target.subresource = "finalize".into(),
        }
        self.handle.modify(&target, change).map_err(refused)
    }

    fn delete(&self, id: &Id, how: &Deletion) -> Result<(), Refused> {
        let options = DeleteOptions {
            grace: how.now.then_some(0),
            propagation: (!how.propagation.is_empty()).then(|| how.propagation.to_owned()),
            uid: how.uid.clone(),
            ..DeleteOptions::default()
        };
        self.handle.delete(&self.target(id)?, &options).map(|_| ()).map_err(refused)
    }

    fn resources(&self) -> Vec<(String, String, bool)> {
        let all = self.handle.resources();
        all.iter().map(|it| (it.group.clone(), it.plural.clone(), it.namespaced)).collect()
    }
}

