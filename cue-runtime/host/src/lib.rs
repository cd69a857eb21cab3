//! Runs the CUE interpreter in a wasm sandbox: the runtime everybody uses.
//!
//! ~~~text
//! guest.wasm (in the binary) ─compile once, cached on disk─▶ InstancePre ─▶ warm instances ─▶ Session
//! ~~~
//! Invariants
//! 1. No wasmtime type leaves this crate.
//! 2. The module has no imports: it can compute and nothing else. (tests/sandbox.rs)
//! 3. An instance that trapped or grew too large is thrown away, never reused. (tests/sandbox.rs)
//! 4. Every call has enough stack, whatever thread it comes from. (tests/sandbox.rs)

mod meter; // what bounds a call: loops and recursion count
mod module; // the compiled module and its file
mod sandbox; // one instance: memory, limits, calls
mod pool; // warm instances

pub use crate::module::Error;
pub use crate::pool::{MEMORY, Options, SandboxRuntime, compile, is_compiled};
