//! The commands, one file each.

use anyhow::Context as _;
use clap::Subcommand;

use crate::Cli;
use crate::exit::Exit;

mod cluster;
mod completion;
mod controller;
pub mod cue;
mod def;
mod delete;
mod dry_run;
mod install;
mod local;
mod ls;
mod revision;
pub mod status;
mod types;
mod up;
mod version;
mod workflow;

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Deliver Applications and watch them until they are done.
    Up(up::Args),
    /// Show how an Application is doing.
    Status(status::Args),
    /// List Applications.
    Ls(ls::Args),
    /// Delete an Application and what it created.
    Delete(delete::Args),
    /// Suspend, resume, terminate or restart a workflow.
    Workflow(workflow::Args),
    /// Render an Application without applying it.
    DryRun(dry_run::Args),
    /// Check, render, apply, list and show definitions.
    Def(def::Args),
    /// Join, list and detach clusters.
    Cluster(cluster::Args),
    /// List the revisions of an Application.
    Revision(revision::Args),
    /// Put CRDs and definitions into a cluster.
    Install(install::Args),
    /// Run the controller.
    Controller(Box<controller::Args>),
    /// The control plane embedded in lateen.
    Local(local::Args),
    /// Evaluate, export and check CUE.
    Cue(cue::Args),
    /// Show the version.
    Version(version::Args),
    /// Print a completion script.
    Completion(completion::Args),
    /// Compile the CUE interpreter into the cache of this user.
    #[command(name = crate::target::COMPILE, hide = true)]
    CompileInterpreter,
}

impl Command {
    /// Whether it runs until it is stopped: such commands log what they do.
    pub fn is_service(&self) -> bool {
        match self {
            Command::Controller(_) => true,
            Command::Local(args) => args.is_service(),
            Command::Up(_)
            | Command::Status(_)
            | Command::Ls(_)
            | Command::Delete(_)
            | Command::Workflow(_)
            | Command::DryRun(_)
            | Command::Def(_)
            | Command::Cluster(_)
            | Command::Revision(_)
            | Command::Install(_)
            | Command::Cue(_)
            | Command::Version(_)
            | Command::Completion(_)
            | Command::CompileInterpreter => false,
        }
    }
}

/// Stack of a worker thread: more than the CUE sandbox asks for, so that calls stay on it.
const THREAD_STACK: usize = 24 << 20;

/// Runs one command, with the threads that it needs.
pub fn run(command: Command, cli: &Cli) -> anyhow::Result<Exit> {
    match command {
        Command::Up(args) => together(None, up::run(args, cli)),
        Command::Status(args) => together(None, status::run(args, cli)),
        Command::Ls(args) => together(None, ls::run(args, cli)),
        Command::Delete(args) => together(None, delete::run(args, cli)),
        Command::Workflow(args) => together(None, workflow::run(args, cli)),
        Command::DryRun(args) => together(None, dry_run::run(args, cli)),
        Command::Def(args) => together(None, def::run(args, cli)),
        Command::Cluster(args) => together(None, cluster::run(args, cli)),
        Command::Revision(args) => together(None, revision::run(args, cli)),
        Command::Install(args) => together(None, install::run(args, cli)),
        Command::Controller(args) => together(Some(args.threads()), controller::run(*args, cli)),
        Command::Local(args) => together(None, local::run(args, cli)),
        Command::Cue(args) => alone(|| cue::run(args, cli)),
        Command::Version(args) => version::run(&args, cli),
        Command::Completion(args) => Ok(completion::run(&args)),
        Command::CompileInterpreter => {
            cue_host::compile(&crate::target::directories().cache)?;
            Ok(Exit::Done)
        }
    }
}

/// Runs what evaluates and talks to nobody, in a thread with room for that.
fn alone(run: impl FnOnce() -> anyhow::Result<Exit> + Send) -> anyhow::Result<Exit> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(THREAD_STACK);
        let spawned = thread.spawn_scoped(scope, run).context("starting a thread failed")?;
        spawned.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Runs what may ask a cluster; with a thread for every core, if it does not say how many.
fn together(
    threads: Option<usize>,
    run: impl Future<Output = anyhow::Result<Exit>>,
) -> anyhow::Result<Exit> {
    // kube and rustls must agree on one provider; the first installed one wins.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime.enable_all().thread_stack_size(THREAD_STACK);
    if let Some(threads) = threads {
        runtime.worker_threads(threads);
    }
    let runtime = runtime.build().context("starting threads failed")?;
    let done = runtime.block_on(run);
    // Watches and simulated controllers need no farewell.
    runtime.shutdown_background();
    done
}
