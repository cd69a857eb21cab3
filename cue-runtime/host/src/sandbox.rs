//! One instance of the interpreter: how bytes get in and out, and what limits it.

use corosensei::stack::DefaultStack;
use cue_session::{Answer, Call, Fault};
use wasmtime::{Global, Memory, ResourceLimiter, Store, TypedFunc, Val};

/// Stack the sandbox may use on the host: each instance brings its own, so that calls may come from
/// any thread and map nothing. What is not used is never backed by memory.
pub(crate) const STACK: usize = 512 << 20;

/// The module's own stack, at the bottom of its memory: as build.rs links it.
pub(crate) const OWN_STACK: usize = 256 << 20;

/// How much of its own stack a kept instance may have touched.
const SHALLOW: usize = 24 << 20;

/// Rounds of loops and calls that one call may take, a minute or less: a backstop. Budgets come first, and within them
/// nothing known takes a fifth of it.
pub(crate) const ROUNDS: i64 = 1 << 33;

/// Memory an instance may hold at the end of a session and still be kept.
const WARM: usize = 96 << 20;

/// Caps the memory of one instance.
pub(crate) struct Limits {
    pub(crate) memory: usize,
}

impl ResourceLimiter for Limits {
    fn memory_growing(
        &mut self,
        _current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        if desired > self.memory + OWN_STACK {
            return Err(wasmtime::Error::msg(format!(
                "memory limit of {} MiB exceeded",
                self.memory >> 20
            )));
        }
        Ok(true)
    }

    fn table_growing(
        &mut self,
        _current: usize,
        _desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        Ok(true)
    }
}

/// An instance with its exports.
pub(crate) struct Sandbox {
    pub(crate) store: Store<Limits>,
    pub(crate) memory: Memory,
    /// How many are left.
    pub(crate) rounds: Global,
    pub(crate) input: TypedFunc<u32, u32>,
    pub(crate) run: TypedFunc<(), u32>,
    pub(crate) output: TypedFunc<(), u32>,
    pub(crate) panicked: TypedFunc<(), u32>,
    pub(crate) panic_text: TypedFunc<(), u32>,
    /// Where calls run; absent only while one does.
    pub(crate) stack: Option<DefaultStack>,
    /// After a trap nothing in here can be trusted.
    pub(crate) broken: bool,
}

/// A stack for one instance.
///
/// # Errors
/// When the system has no address space left for it.
pub(crate) fn stack() -> std::io::Result<DefaultStack> {
    DefaultStack::new(STACK + (4 << 20))
}

impl Sandbox {
    /// Whether it may serve another session.
    pub(crate) fn is_reusable(&self) -> bool {
        !self.broken && self.memory.data_size(&self.store) <= WARM + OWN_STACK && self.is_shallow()
    }

    /// Whether recursion was never so deep that its pages are worth giving back.
    fn is_shallow(&self) -> bool {
        // Frames are far smaller than the window: recursion leaves a trace in any.
        static UNTOUCHED: [u8; 16 << 10] = [0; 16 << 10];
        let from = OWN_STACK - SHALLOW;
        self.memory.data(&self.store).get(from..from + UNTOUCHED.len()) == Some(&UNTOUCHED)
    }

    /// Carries out one call.
    pub(crate) fn call(&mut self, call: &Call) -> Result<Answer, Fault> {
        if self.broken {
            return Err(Fault("the instance broke earlier".into()));
        }
        let bytes = postcard::to_allocvec(call).map_err(|error| Fault(error.to_string()))?;
        let Some(mut stack) = self.stack.take() else {
            return Err(Fault("the instance is in a call".into()));
        };
        let answer = corosensei::on_stack(&mut stack, || self.exchange(bytes));
        self.stack = Some(stack);
        match answer {
            Ok(answer) => Ok(answer),
            Err(error) => {
                self.broken = true;
                let text = match self.rounds.get(&mut self.store) {
                    Val::I64(0) => format!("no answer within {ROUNDS} rounds of loops and calls"),
                    _ => self.panic_text().unwrap_or_else(|| format!("{error:#}")),
                };
                tracing::warn!(%text, "CUE sandbox failed");
                Err(Fault(text))
            }
        }
    }

    fn exchange(&mut self, bytes: Vec<u8>) -> wasmtime::Result<Answer> {
        self.rounds.set(&mut self.store, Val::I64(ROUNDS))?;
        let len = u32::try_from(bytes.len())?;
        let at = self.input.call(&mut self.store, len)?;
        self.memory.write(&mut self.store, at as usize, &bytes)?;
        drop(bytes);
        let len = self.run.call(&mut self.store, ())?;
        let at = self.output.call(&mut self.store, ())?;
        let answer = slice(self.memory.data(&self.store), at, len)
            .ok_or_else(|| wasmtime::Error::msg("answer outside of memory"))?;
        postcard::from_bytes(answer).map_err(|error| wasmtime::Error::msg(error.to_string()))
    }

    fn panic_text(&mut self) -> Option<String> {
        self.rounds.set(&mut self.store, Val::I64(ROUNDS)).ok()?;
        let len = self.panicked.call(&mut self.store, ()).ok().filter(|len| *len > 0)?;
        let at = self.panic_text.call(&mut self.store, ()).ok()?;
        let text = slice(self.memory.data(&self.store), at, len)?;
        Some(String::from_utf8_lossy(text).into_owned())
    }
}

fn slice(memory: &[u8], at: u32, len: u32) -> Option<&[u8]> {
    let at = at as usize;
    memory.get(at..at.checked_add(len as usize)?)
}
