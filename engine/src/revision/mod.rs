//! What was delivered: ApplicationRevision, hashes, and the ConfigMap of rendered resources.

pub mod build; // the revision object itself
pub mod canonical; // JSON text as the API server's clients write it
pub mod hash; // structural hashes, equal to KubeVela's
pub mod resources; // ConfigMap of rendered resources

pub use self::build::{Captured, build, name_of, next_name};
pub use self::hash::{component_hash, definition_hash, object_hash, revision_hash, spec_hash};
