//! The runtime in this process, without a sandbox: for tests and tools.

use std::sync::{Arc, Mutex};

use crate::machine::Machine;
use crate::protocol::{Answer, Call};
use crate::session::{Fault, Instance, Runtime};

/// Stack a call may use: the evaluator's depth limits are set for it.
const STACK: usize = 512 << 20;

/// Keeps idle machines with their compiled programs.
#[derive(Clone, Default)]
pub struct NativeRuntime {
    idle: Arc<Mutex<Vec<Machine>>>,
}

impl NativeRuntime {
    /// Does `work` on a thread that has the stack of all its calls: they take it as it is, where on another thread
    /// each maps its own, which takes longer than a small call itself.
    ///
    /// # Errors
    /// When no such thread can be had.
    ///
    /// # Panics
    /// As `work` does.
    pub fn on_deep_stack<T: Send>(work: impl FnOnce() -> T + Send) -> std::io::Result<T> {
        std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().stack_size(STACK + (2 << 20));
            let done = thread.spawn_scoped(scope, work)?.join();
            Ok(done.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        })
    }
}

struct NativeInstance {
    machine: Option<Machine>,
    home: Arc<Mutex<Vec<Machine>>>,
}

impl Instance for NativeInstance {
    fn call(&mut self, call: &Call) -> Result<Answer, Fault> {
        match &mut self.machine {
            Some(machine) => {
                Ok(stacker::maybe_grow(STACK, STACK + (1 << 20), || machine.call(call)))
            }
            None => Err(Fault("instance was given back".into())),
        }
    }
}

impl Drop for NativeInstance {
    fn drop(&mut self) {
        if let (Some(machine), Ok(mut idle)) = (self.machine.take(), self.home.lock()) {
            idle.push(machine);
        }
    }
}

impl Runtime for NativeRuntime {
    fn instance(&self) -> Result<Box<dyn Instance>, Fault> {
        let machine = self.idle.lock().ok().and_then(|mut idle| idle.pop()).unwrap_or_default();
        Ok(Box::new(NativeInstance { machine: Some(machine), home: self.idle.clone() }))
    }
}
