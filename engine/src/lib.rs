//! The delivery engine: what an Application becomes, how it is delivered, and what is remembered of it.
//!
//! ~~~text
//! api ◀── render ◀── revision
//!   ▲        │ runtime (CUE)
//!   └── validate
//! ~~~
//! Invariants
//! 1. Nothing here reads a clock or talks to a cluster; `render`, `revision`, `policy` and `validate` are pure.
//! 2. Wire names are KubeVela's; what we do not know survives reading and writing. (`api::object`, tests)
//! 3. Generated names and hashes equal KubeVela's byte for byte. (`revision::hash`, `render::names`)
//!
//! Start at `api`, then `render`.
#![forbid(unsafe_code)]

pub mod api; // the kinds, as they stand in a cluster
pub mod authoring; // definition sources become objects
pub mod policy; // override, topology, replication, selectors
pub mod render; // definitions and parameters become objects
pub mod revision; // what was delivered, and its hashes
pub mod runtime; // what the engine needs of a CUE runtime
pub mod schema; // OpenAPI of parameters
pub mod settings; // limits, gates, what may be delivered
pub mod validate; // what admission refuses
pub mod world; // every effect of the engine
mod records; // what the engine writes for itself
pub mod workflow; // which step may run, what its outcome means
pub mod delivery; // inventory, dispatch, health, collecting
pub mod reconcile; // the order of all this for one Application
