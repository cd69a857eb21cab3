//! The controllers on a plane in the same process.

use std::sync::{Arc, Mutex, PoisonError};

use local_server::plane::{DeleteOptions, Plane, Target};
use local_server::resource::Resource;
use local_server::{ApiError, Handle};
use rustc_hash::FxHashMap;
use serde_json::Value;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::Options;
use crate::cluster::{Cluster, Deletion, Event, Id, Part, Refused};

/// Events on their way to the controllers.
const MOST_EVENTS: usize = 1024;

/// Runs the controllers on a plane until stopped.
pub async fn run(plane: &Plane, options: Options, stop: CancellationToken) {
    let cluster = OnPlane::new(plane);
    let (sender, receiver): (Sender<Event>, Receiver<Event>) = channel(MOST_EVENTS);
    let mut tasks = JoinSet::new();
    tasks.spawn(follow(cluster.clone(), sender));
    tasks.spawn(crate::run(Arc::new(cluster), receiver, options, stop));
    // Either ends the other: the channel closes, or the events end.
    tasks.join_next().await;
    tasks.shutdown().await;
}

/// A plane as the controllers see it.
#[derive(Clone)]
pub struct OnPlane {
    handle: Handle,
    known: Arc<Mutex<FxHashMap<String, Arc<Resource>>>>,
}

impl From<ApiError> for Refused {
    fn from(error: ApiError) -> Refused {
        let status = error.status();
        let code = status["code"].as_u64().and_then(|it| u16::try_from(it).ok()).unwrap_or(500);
        Refused { code, message: status["message"].as_str().unwrap_or_default().to_owned() }
    }
}

impl OnPlane {
    /// The plane, written to as `kube-controller-manager`.
    #[must_use]
    pub fn new(plane: &Plane) -> OnPlane {
        OnPlane { handle: plane.handle("kube-controller-manager"), known: Arc::default() }
    }

    // By `group/plural` and by the place in the store; looked up again when it is new.
    fn resource(&self, name: &str) -> Option<Arc<Resource>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if !known.contains_key(name) {
            known.clear();
            for one in self.handle.resources() {
                known.insert(format!("{}/{}", one.group, one.plural), one.clone());
                known.insert(one.prefix.clone(), one);
            }
        }
        known.get(name).cloned()
    }

    fn target(&self, id: &Id) -> Option<Target> {
        let resource = self.resource(&format!("{}/{}", id.group, id.plural))?;
        Some(Target {
            resource,
            namespace: id.namespace.clone(),
            name: id.name.clone(),
            subresource: String::new(),
        })
    }

    fn placed(&self, id: &Id) -> Result<Target, Refused> {
        self.target(id).ok_or_else(|| Refused {
            code: 404,
            message: format!("no resource {}/{}", id.group, id.plural),
        })
    }

    fn id(&self, key: &str) -> Option<Id> {
        let mut parts = key.splitn(3, '/');
        let prefix = format!("{}/{}/", parts.next()?, parts.next()?);
        let resource = self.resource(&prefix)?;
        let rest = parts.next()?;
        let (namespace, name) =
            if resource.namespaced { rest.split_once('/')? } else { ("", rest) };
        Some(Id::new(&resource.group, &resource.plural, namespace, name))
    }
}

impl Cluster for OnPlane {
    fn get(&self, id: &Id) -> Option<Value> {
        self.handle.get(&self.target(id)?).ok()
    }

    fn list(&self, group: &str, plural: &str, namespace: &str) -> Vec<Value> {
        let Some(resource) = self.resource(&format!("{group}/{plural}")) else { return Vec::new() };
        let (_, entries) = self.handle.plane().store().list(&resource.range(namespace));
        entries.into_iter().map(|entry| entry.value.glance().into_owned()).collect()
    }

    fn create(&self, id: &Id, object: Value) -> Result<Value, Refused> {
        Ok(self.handle.create(&self.placed(id)?, object)?)
    }

    fn modify(
        &self,
        id: &Id,
        part: Part,
        change: &mut dyn FnMut(&mut Value),
    ) -> Result<Value, Refused> {
        let target = self.placed(id)?;
        let subresource = match part {
            Part::Main => "",
            Part::Status => "status",
            Part::Finalize => "finalize",
            Part::Binding => "binding",
        };
        Ok(self.handle.modify(&Target { subresource: subresource.to_owned(), ..target }, change)?)
    }

    fn delete(&self, id: &Id, how: &Deletion) -> Result<(), Refused> {
        let options = DeleteOptions {
            grace: how.now.then_some(0),
            propagation: Some(how.propagation.to_owned()).filter(|it| !it.is_empty()),
            uid: how.uid.clone(),
            ..DeleteOptions::default()
        };
        self.handle.delete(&self.placed(id)?, &options)?;
        Ok(())
    }

    fn resources(&self) -> Vec<(String, String, bool)> {
        self.handle
            .resources()
            .iter()
            .map(|it| (it.group.clone(), it.plural.clone(), it.namespaced))
            .collect()
    }
}

// Everything that is there, then every change; again from the start when the past is forgotten.
async fn follow(cluster: OnPlane, events: Sender<Event>) {
    let store = cluster.handle.plane().store().clone();
    loop {
        let (revision, entries) = store.list("");
        for entry in entries {
            let Some(id) = cluster.id(&entry.key) else { continue };
            // Nobody else may look into it again: what is kept of it is its text.
            let new = Some(entry.value.glance().into_owned());
            if events.send(Event { id, old: None, new }).await.is_err() {
                return;
            }
        }
        let mut watch = store.watch("", revision);
        while let Ok(changes) = watch.next().await {
            for change in changes {
                let Some(id) = cluster.id(&change.key) else { continue };
                let event = Event {
                    id,
                    old: change.previous.as_ref().map(|(_, value)| value.glance().into_owned()),
                    new: change.value.as_ref().map(|value| value.glance().into_owned()),
                };
                if events.send(event).await.is_err() {
                    return;
                }
            }
        }
    }
}
