//! The commands, one file each.

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
    /// Threads it is to have, if not one for every core.
    pub fn threads(&self) -> Option<usize> {
        if let Command::Controller(args) = self { Some(args.threads()) } else { None }
    }

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

/// Runs one command.
pub async fn run(command: Command, cli: &Cli) -> anyhow::Result<Exit> {
    match command {
        Command::Up(args) => up::run(args, cli).await,
        Command::Status(args) => status::run(args, cli).await,
        Command::Ls(args) => ls::run(args, cli).await,
        Command::Delete(args) => delete::run(args, cli).await,
        Command::Workflow(args) => workflow::run(args, cli).await,
        Command::DryRun(args) => dry_run::run(args, cli).await,
        Command::Def(args) => def::run(args, cli).await,
        Command::Cluster(args) => cluster::run(args, cli).await,
        Command::Revision(args) => revision::run(args, cli).await,
        Command::Install(args) => install::run(args, cli).await,
        Command::Controller(args) => controller::run(*args, cli).await,
        Command::Local(args) => local::run(args, cli).await,
        Command::Cue(args) => tokio::task::block_in_place(|| cue::run(args, cli)),
        Command::Version(args) => version::run(&args, cli),
        Command::Completion(args) => Ok(completion::run(&args)),
        Command::CompileInterpreter => {
            cue_host::compile(&crate::target::directories().cache)?;
            Ok(Exit::Done)
        }
    }
}
