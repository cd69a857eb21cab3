//! The plane without HTTP, for controllers in the same process.

use serde_json::Value;

use crate::list::{Changes, ListOptions, Page};
use crate::plane::{DeleteOptions, Deleted, Plane, Shown, Target, WriteOptions};
use crate::status::{ApiError, Result};

/// A client of a plane in the same process. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Handle {
    plane: Plane,
    manager: String,
}

fn owned(object: Shown) -> Value {
    Value::clone(&object)
}

impl Plane {
    /// A handle that writes as this field manager.
    #[must_use]
    pub fn handle(&self, manager: &str) -> Handle {
        Handle { plane: self.clone(), manager: manager.to_owned() }
    }
}

impl Handle {
    /// The plane.
    #[must_use]
    pub fn plane(&self) -> &Plane {
        &self.plane
    }

    /// A target: apiVersion (`v1`, `apps/v1`), plural, namespace (or empty), name (or empty).
    pub fn target(
        &self,
        api_version: &str,
        plural: &str,
        namespace: &str,
        name: &str,
    ) -> Result<Target> {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let resource =
            self.plane.registry().get(group, version, plural).ok_or_else(ApiError::no_route)?;
        Ok(Target {
            resource,
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            subresource: String::new(),
        })
    }

    /// Reads an object.
    pub fn get(&self, target: &Target) -> Result<Value> {
        self.plane.get(target).map(owned)
    }

    /// All objects of a target (its name is ignored).
    pub async fn list(&self, target: &Target, options: &ListOptions) -> Result<Page> {
        self.plane.list(target, options).await
    }

    /// Creates an object.
    pub fn create(&self, target: &Target, object: Value) -> Result<Value> {
        self.plane.create(target, object, &mut WriteOptions::by(&self.manager)).map(owned)
    }

    /// Replaces an object; with a resourceVersion in it only if it still has that version.
    pub fn update(&self, target: &Target, object: Value) -> Result<Value> {
        self.plane.update(target, object, &mut WriteOptions::by(&self.manager)).map(owned)
    }

    /// Replaces the status of an object.
    pub fn update_status(&self, target: &Target, object: Value) -> Result<Value> {
        let target = Target { subresource: "status".to_owned(), ..target.clone() };
        self.plane.update(&target, object, &mut WriteOptions::by(&self.manager)).map(owned)
    }

    /// Replaces another part of an object, such as `finalize` of a namespace or `binding` of a pod's node.
    pub fn update_part(&self, target: &Target, part: &str, object: Value) -> Result<Value> {
        let target = Target { subresource: part.to_owned(), ..target.clone() };
        self.plane.update(&target, object, &mut WriteOptions::by(&self.manager)).map(owned)
    }

    /// Reads, changes, writes; again when somebody else was quicker.
    pub fn modify(&self, target: &Target, mut change: impl FnMut(&mut Value)) -> Result<Value> {
        let written =
            self.plane.modify(target, &mut WriteOptions::by(&self.manager), |current, _| {
                let mut next = current.clone();
                change(&mut next);
                Ok(next)
            });
        written.map(owned)
    }

    /// The same for the status.
    pub fn modify_status(&self, target: &Target, change: impl FnMut(&mut Value)) -> Result<Value> {
        self.modify(&Target { subresource: "status".to_owned(), ..target.clone() }, change)
    }

    /// Deletes an object.
    pub fn delete(&self, target: &Target, options: &DeleteOptions) -> Result<Deleted> {
        self.plane.delete(target, options)
    }

    /// Watches the objects of a target; with default options the present objects come first as ADDED.
    pub fn watch(&self, target: &Target, options: &ListOptions) -> Result<Changes> {
        self.plane.watch(target, options)
    }

    /// Every resource that can be listed and deleted, one version each.
    #[must_use]
    pub fn resources(&self) -> Vec<std::sync::Arc<crate::resource::Resource>> {
        let registry = self.plane.registry();
        let mut seen: Vec<&str> = Vec::new();
        let mut found = Vec::new();
        for one in registry.iter().filter(|one| one.verbs.iter().any(|verb| verb == "delete")) {
            if !seen.contains(&one.prefix.as_str()) {
                seen.push(&one.prefix);
                found.push(one.clone());
            }
        }
        found
    }
}
