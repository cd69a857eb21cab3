//! What the controllers need of a plane.

use serde_json::Value;

/// Where an object is kept.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Id {
    /// The API group, empty for core.
    pub group: String,
    /// The plural name.
    pub plural: String,
    /// The namespace, empty for objects of the cluster.
    pub namespace: String,
    /// The name; `*` in the work queue means all of the namespace.
    pub name: String,
}

impl Id {
    /// An object in a namespace.
    #[must_use]
    pub fn new(group: &str, plural: &str, namespace: &str, name: &str) -> Id {
        Id {
            group: group.into(),
            plural: plural.into(),
            namespace: namespace.into(),
            name: name.into(),
        }
    }

    /// An object of the cluster.
    #[must_use]
    pub fn cluster(group: &str, plural: &str, name: &str) -> Id {
        Id::new(group, plural, "", name)
    }

    /// Another object in the same namespace.
    #[must_use]
    pub fn beside(&self, group: &str, plural: &str, name: &str) -> Id {
        Id::new(group, plural, &self.namespace, name)
    }
}

/// A change of an object.
#[derive(Clone, Debug)]
pub struct Event {
    /// Which.
    pub id: Id,
    /// The state before, none if it was created.
    pub old: Option<Value>,
    /// The state after, none if it is gone.
    pub new: Option<Value>,
}

/// How to delete.
#[derive(Clone, Debug, Default)]
pub struct Deletion {
    /// `Background`, `Foreground`, `Orphan` or empty for the default.
    pub propagation: &'static str,
    /// At once, whatever the grace period.
    pub now: bool,
    /// Only the object with this uid.
    pub uid: Option<String>,
}

/// Which part of an object is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// All but the status.
    Main,
    /// The status.
    Status,
    /// The finalizers of a namespace.
    Finalize,
    /// The node of a pod.
    Binding,
}

/// Why the plane refused.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct Refused {
    /// Status code.
    pub code: u16,
    /// What it said.
    pub message: String,
}

/// The reads and writes of the controllers.
pub trait Cluster: Send + Sync {
    /// An object.
    fn get(&self, id: &Id) -> Option<Value>;
    /// All objects of a resource; an empty namespace means all.
    fn list(&self, group: &str, plural: &str, namespace: &str) -> Vec<Value>;
    /// Creates.
    ///
    /// # Errors
    /// What the plane says, 409 if it exists.
    fn create(&self, id: &Id, object: Value) -> Result<Value, Refused>;
    /// Reads, changes, writes, again after a conflict. Writing the same changes nothing.
    ///
    /// # Errors
    /// What the plane says, 404 if it is gone.
    fn modify(
        &self,
        id: &Id,
        part: Part,
        change: &mut dyn FnMut(&mut Value),
    ) -> Result<Value, Refused>;
    /// Deletes.
    ///
    /// # Errors
    /// What the plane says.
    fn delete(&self, id: &Id, how: &Deletion) -> Result<(), Refused>;
    /// Group, plural, whether namespaced: everything that can be listed and deleted.
    fn resources(&self) -> Vec<(String, String, bool)>;
}
