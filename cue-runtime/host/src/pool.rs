//! Warm instances: compiled once, given out, taken back.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use cue_session::{Answer, Call, Fault, Instance, Runtime};
use wasmtime::{Config, Engine, InstancePre, Linker, Module, Store, Val};

use crate::meter;
use crate::module::{self, Error};
use crate::sandbox::{Limits, ROUNDS, STACK, Sandbox, stack};

/// What an instance may grow to: a backstop. Budgets count what values take and come first; behind what
/// they count, tables that grow take up to three times as much for a moment.
pub const MEMORY: usize = 3 << 30;

/// How the sandbox is set up.
#[derive(Clone, Debug)]
pub struct Options {
    /// Folder for the compiled interpreter; `None` compiles in each process.
    pub cache: Option<PathBuf>,
    /// Instances kept warm.
    pub warm: usize,
    /// Bytes one instance may grow to.
    pub memory: usize,
}

/// The CUE runtime in a wasm sandbox. Cheap to clone; clones share instances.
#[derive(Clone)]
pub struct SandboxRuntime {
    shared: Arc<Shared>,
}

struct Shared {
    engine: Engine,
    pre: InstancePre<Limits>,
    idle: Mutex<Vec<Sandbox>>,
    options: Options,
}

impl SandboxRuntime {
    /// Loads or compiles the interpreter.
    ///
    /// # Errors
    /// When wasmtime refuses, or the binary was built without the interpreter.
    pub fn new(options: Options) -> Result<Self, Error> {
        let setup = |error: wasmtime::Error| Error::Setup(format!("{error:#}"));
        let (engine, module) = loaded(options.cache.as_deref())?;
        let pre = Linker::new(&engine).instantiate_pre(&module).map_err(setup)?;
        let shared = Arc::new(Shared { engine, pre, idle: Mutex::new(Vec::new()), options });
        Ok(Self { shared })
    }
}

/// An engine and the interpreter in it: the file in `cache` if that may be used, else compiled, and left there.
fn loaded(cache: Option<&Path>) -> Result<(Engine, Module), Error> {
    if let Some(cache) = cache {
        let engine = engine(Compiler::Without)?;
        if let Some(module) = module::cached(&engine, cache) {
            return Ok((engine, module));
        }
    }
    let engine = engine(Compiler::With)?;
    let module = module::compile(&engine, cache)?;
    Ok((engine, module))
}

/// Whether an engine can compile: setting that up costs more than mapping what is compiled.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Compiler {
    With,
    Without,
}

fn engine(compiler: Compiler) -> Result<Engine, Error> {
    let mut config = Config::new();
    config.enable_compiler(compiler == Compiler::With);
    config.max_wasm_stack(STACK).async_stack_size(2 * STACK);
    Engine::new(&config).map_err(|error| Error::Setup(format!("{error:#}")))
}

/// Whether `cache` holds this binary's interpreter, compiled.
pub fn is_compiled(cache: &Path) -> bool {
    module::is_cached(cache)
}

/// Compiles the interpreter into `cache`: for a process of its own, whose memory goes with it.
///
/// # Errors
/// When wasmtime refuses, or the binary was built without the interpreter.
pub fn compile(cache: &Path) -> Result<(), Error> {
    module::compile(&engine(Compiler::With)?, Some(cache)).map(drop)
}

impl Shared {
    fn fresh(&self) -> wasmtime::Result<Sandbox> {
        let mut store = Store::new(&self.engine, Limits { memory: self.options.memory });
        store.limiter(|limits| limits);
        let instance = self.pre.instantiate(&mut store)?;
        let memory = instance
            .get_memory(&mut store, "memory")
            .ok_or_else(|| wasmtime::Error::msg("the interpreter exports no memory"))?;
        let rounds = instance
            .get_global(&mut store, meter::ROUNDS)
            .ok_or_else(|| wasmtime::Error::msg("the interpreter counts no rounds"))?;
        rounds.set(&mut store, Val::I64(ROUNDS))?;
        instance.get_typed_func::<(), ()>(&mut store, "start")?.call(&mut store, ())?;
        Ok(Sandbox {
            memory,
            rounds,
            input: instance.get_typed_func(&mut store, "input")?,
            run: instance.get_typed_func(&mut store, "run")?,
            output: instance.get_typed_func(&mut store, "output")?,
            panicked: instance.get_typed_func(&mut store, "panicked")?,
            panic_text: instance.get_typed_func(&mut store, "panic_text")?,
            store,
            stack: Some(stack()?),
            broken: false,
        })
    }
}

/// An instance on loan from the pool.
struct Loan {
    sandbox: Option<Sandbox>,
    home: Arc<Shared>,
}

impl Instance for Loan {
    fn call(&mut self, call: &Call) -> Result<Answer, Fault> {
        match &mut self.sandbox {
            Some(sandbox) => sandbox.call(call),
            None => Err(Fault("the instance was given back".into())),
        }
    }
}

impl Drop for Loan {
    fn drop(&mut self) {
        let Some(sandbox) = self.sandbox.take().filter(Sandbox::is_reusable) else { return };
        if let Ok(mut idle) = self.home.idle.lock() {
            if idle.len() < self.home.options.warm {
                idle.push(sandbox);
            }
        }
    }
}

impl Runtime for SandboxRuntime {
    fn instance(&self) -> Result<Box<dyn Instance>, Fault> {
        let warm = self.shared.idle.lock().ok().and_then(|mut idle| idle.pop());
        let sandbox = match warm {
            Some(sandbox) => sandbox,
            None => self.shared.fresh().map_err(|error| Fault(format!("{error:#}")))?,
        };
        Ok(Box::new(Loan { sandbox: Some(sandbox), home: self.shared.clone() }))
    }
}
