//! The CUE runtime as its users speak to it: programs, inputs and sessions, in bytes or in types.
//!
//! ~~~text
//! engine, cli ── Runtime / Session (typed) ── Call ─▶ Instance ─▶ Answer
//!                                                      ├─ native::NativeInstance   in this process
//!                                                      └─ cue-host                 in a wasm sandbox, the same `Machine` inside
//! ~~~
//! Invariants
//! 1. A call and its answer are plain data; native and wasm give the same bytes. (e2e parity test)
//! 2. A user's mistake is a `Diagnostic`, exceeding a budget too; only a broken sandbox is a `Fault`.
//! 3. A session owns its instance: dropping it frees every value of it.
//!
//! Start at `protocol`, then `session`; `machine` carries calls out.
#![forbid(unsafe_code)]

pub mod protocol; // what crosses the boundary: calls, answers, diagnostics
pub mod session; // the typed face: Runtime, Program, Session
mod machine; // carries out calls on cue-eval and cue-patch
mod actions; // finding the next `#do`
mod tree; // values with their comments, for patches
mod schema; // OpenAPI of a value
pub mod nearest; // the known name nearest to one nobody knows
mod surroundings; // names that can be seen from a place
mod written; // where fields are
mod suggest; // hints for names nobody knows
#[cfg(not(target_arch = "wasm32"))]
pub mod native; // the runtime without a sandbox

pub use crate::machine::Machine;
#[cfg(not(target_arch = "wasm32"))]
pub use crate::native::NativeRuntime;
pub use crate::nearest::nearest;
pub use crate::protocol::{
    Action, Answer, Base, Budget, Call, Composition, Concreteness, Diagnostic, Effort, Field,
    FieldSelection, Filling, Given, Input, Kind, Kinds, Package, PatchForm, PatchMode, Position,
    Presence, Profile, ProgramSpec, Shown, Source, SyntaxStyle,
};
pub use crate::session::{Error, Fault, Instance, Program, Runtime, Session};
pub use crate::suggest::suggest;
