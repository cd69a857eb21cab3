//! Workflow: which step may run, what its outcome means, when to look again.
//!
//! ~~~text
//! steps, status ─ round: for every step that may run ─ step ─ actions ─▶ World
//!                    └─▶ status, variables, when to look again
//! ~~~
//! 1. Retries, timers and resume marks live in the context ConfigMap: a restart forgets nothing.
//! 2. An owner is a name, steps and a status; what a component is, only `actions::Host` knows.

pub mod backoff; // how long to wait before trying again
pub mod condition; // `if` expressions and what they see
pub mod literal; // values as CUE text
pub mod variables; // inputs, outputs, the context ConfigMap
pub mod actions; // provider and #do -> what is done
mod rows; // rows of a status
mod look; // where a round looks for the next step
pub mod partial; // what steps before rendering give
pub mod plan; // a round: begun, step by step, ended; what outcomes mean
mod ahead; // what steps that follow are going to apply
pub mod step; // runs one template against a World
pub mod round; // one pass over all steps

pub use self::actions::Host;
pub use self::round::{Round, round};
pub use self::step::Outcome;
