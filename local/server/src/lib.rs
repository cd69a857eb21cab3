//! The local plane's API server: Kubernetes' HTTP API over a store, driven by schemas.
//!
//! ~~~text
//! http -> Target + options -> plane (create, update, modify, delete, list, watch) -> local-store
//!           negotiation          kinds, admit, meta, validate, ownership (local-merge)
//! in-process: Plane::service() for kube::Client, Plane::handle() for controllers
//! ~~~
//! Invariants
//! 1. HTTP and the handle give the same semantics: both call `plane`.
//! 2. No kind has code of its own outside `kinds`, `admit`, `custom` and `table`.
//! 3. Nothing here knows OAM.
//! 4. Every answer that is an error is a Status object.
#![forbid(unsafe_code)]

pub mod status; // errors as Status objects
pub mod resource; // which resources there are, their schemas
pub mod published; // the packed OpenAPI documents
mod go; // how Go says it
mod meta; // rules of names, labels, finalizers
mod json; // bodies, and the keys they have twice
mod shape; // published schemas, compiled
mod reading; // objects of built-in kinds: typing, defaults
mod decode; // custom resources: pruning, defaults
mod quantity; // amounts, canonically
pub mod quota; // what is used, and whether one more is too many
mod validate; // schema errors of custom resources
pub mod custom; // CustomResourceDefinitions
mod kinds; // what single kinds have of their own
mod builtin; // what is refused of built-in kinds
mod admit; // admission plugins, allocators
mod ownership; // managedFields
pub mod selector; // label and field selectors
pub mod auth; // who asks, and whether they may
pub mod plane; // the verbs
pub mod list; // lists and watches
mod told; // the lines of watches
mod patch; // the four patch types
mod posted; // what is posted to a part of an object
mod scale; // how many there are to be
mod discovery; // /api, /apis, /openapi, /version
mod table; // Tables for kubectl
mod protobuf; // objects in protobuf
mod audit; // who asked for what
mod http; // routes, negotiation, answers
pub mod handle; // the same in the process, without HTTP
pub mod serve; // sockets, TLS, kubeconfig

pub use crate::audit::AuditLog;
pub use crate::auth::Tokens;
pub use crate::handle::Handle;
pub use crate::plane::{Options, Plane};
pub use crate::serve::{Listening, Serve};
pub use crate::status::ApiError;
