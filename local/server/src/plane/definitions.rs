//! What definitions do to the registry, and how they end.

use std::sync::{Arc, PoisonError};

use local_store::Stored;
use serde_json::{Value, json};

use super::{DeleteOptions, Deleted, Plane, Target, WriteOptions, now};
use crate::resource::{Registry, Resource};
use crate::{custom, kinds};

impl Plane {
    pub(super) fn change_registry(&self, change: impl FnOnce(&mut Registry)) {
        let mut registry = self.inner.registry.write().unwrap_or_else(PoisonError::into_inner);
        let mut next = Registry::clone(&registry);
        change(&mut next);
        *registry = Arc::new(next);
    }

    pub(super) fn serve_definition(&self, definition: &Value) {
        let name = definition["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        let served = custom::is_true(&definition["status"], "Established");
        self.change_registry(|registry| {
            registry.remove_definition(&name);
            if served {
                custom::resources(definition).into_iter().for_each(|one| registry.insert(one));
            }
        });
    }

    // Definitions act on the registry at once.
    pub(super) fn after_write(&self, resource: &Resource, object: &Stored) {
        if !resource.is("apiextensions.k8s.io", "customresourcedefinitions") {
            return;
        }
        let name = object["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        if !object["metadata"]["deletionTimestamp"].is_null() {
            self.end_definition(object);
            return;
        }
        let Some(status) = custom::accepted(object, &self.registry(), &now()) else {
            self.serve_definition(object);
            return;
        };
        let target = Target {
            resource: Arc::new(resource.clone()),
            namespace: String::new(),
            name,
            subresource: "status".to_owned(),
        };
        let written =
            self.modify(&target, &mut WriteOptions::by("kube-apiserver"), |current, _| {
                let mut next = current.clone();
                next["status"] = status.clone();
                Ok(next)
            });
        match written {
            Ok(object) => self.serve_definition(&object),
            Err(error) => tracing::warn!(%error, "the status of a definition was not written"),
        }
    }

    // Instances go first, then the finalizer, then the definition.
    fn end_definition(&self, object: &Value) {
        let name = object["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        let mut waiting = false;
        for one in custom::resources(object).into_iter().take(1) {
            let one = Arc::new(one);
            for entry in self.store().list(&one.prefix).1 {
                let metadata = &entry.value["metadata"];
                let target = Target {
                    resource: one.clone(),
                    namespace: metadata["namespace"].as_str().unwrap_or_default().to_owned(),
                    name: metadata["name"].as_str().unwrap_or_default().to_owned(),
                    subresource: String::new(),
                };
                waiting |= matches!(
                    self.delete(&target, &DeleteOptions::default()),
                    Ok(Deleted::Waiting(_))
                );
            }
        }
        if waiting {
            return;
        }
        let Some(resource) =
            self.registry().get("apiextensions.k8s.io", "v1", "customresourcedefinitions")
        else {
            return;
        };
        let target =
            Target { resource, namespace: String::new(), name, subresource: String::new() };
        let cleanup = json!(kinds::CLEANUP);
        if !object["metadata"]["finalizers"].as_array().is_some_and(|all| all.contains(&cleanup)) {
            return;
        }
        let ended = self.modify(&target, &mut WriteOptions::by("kube-apiserver"), |current, _| {
            let mut next = current.clone();
            if let Some(all) = next["metadata"]["finalizers"].as_array_mut() {
                all.retain(|one| *one != cleanup);
            }
            Ok(next)
        });
        if let Err(error) = ended {
            tracing::warn!(%error, "a definition was not ended");
        }
    }

    pub(super) fn after_delete(&self, resource: &Resource, object: &Value) {
        if resource.is("apiextensions.k8s.io", "customresourcedefinitions") {
            let name = object["metadata"]["name"].as_str().unwrap_or_default().to_owned();
            self.change_registry(|registry| registry.remove_definition(&name));
        }
        if let Some(custom) = &resource.custom {
            let key =
                format!("apiextensions.k8s.io/customresourcedefinitions/{}", custom.definition);
            if let Some(entry) = self.store().get(&key) {
                if !entry.value["metadata"]["deletionTimestamp"].is_null() {
                    self.end_definition(&entry.value);
                }
            }
        }
    }
}
