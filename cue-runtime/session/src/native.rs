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
