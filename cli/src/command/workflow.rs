//! `lateen workflow`: suspend, resume, terminate, restart.

use std::time::{Duration, Instant};

use clap::{Args as ClapArgs, Subcommand};
use lateen_controller::control::{self, Control, Refused};

use crate::Cli;
use crate::exit::{Exit, bad_input};
use crate::follow::Follow;
use crate::target::cue_runtime;

/// `lateen workflow …`
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  lateen workflow suspend shop
  lateen workflow resume shop --step approve
  lateen workflow terminate shop
  lateen workflow restart shop")]
pub struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Stop before the next step.
    Suspend(Which),
    /// Go on.
    Resume(Which),
    /// End it as failed.
    Terminate(Which),
    /// Run it again from the start.
    Restart(Whole),
}

#[derive(Debug, ClapArgs)]
struct Which {
    /// Name of the Application.
    name: String,
    /// Only this step.
    #[arg(long)]
    step: Option<String>,
}

#[derive(Debug, ClapArgs)]
struct Whole {
    /// Name of the Application.
    name: String,
}

/// Longest time a workflow is watched after it goes on.
const PATIENCE: Duration = Duration::from_secs(600);

/// Runs the command.
pub async fn run(args: Args, cli: &Cli) -> anyhow::Result<Exit> {
    let (verb, name, step, done) = match args.verb {
        Verb::Suspend(it) => (Control::Suspend, it.name, it.step, "suspended"),
        Verb::Resume(it) => (Control::Resume, it.name, it.step, "resumed"),
        Verb::Terminate(it) => (Control::Terminate, it.name, it.step, "terminated"),
        Verb::Restart(it) => (Control::Restart, it.name, None, "restarted"),
    };
    let cluster = cli.target.reach().await?;
    match control::control(&cluster.client, &cluster.namespace, &name, verb, step.as_deref()).await
    {
        Ok(()) => {
            cli.out.line(&format!("workflow of {name} {done}"))?;
            if cluster.embedded.is_some() && verb != Control::Suspend {
                // Nobody else is there to go on with it.
                cluster.drive(cue_runtime()?);
                let (client, namespace) = (&cluster.client, cluster.namespace.clone());
                let follow = Follow { client, namespace, name: &name, cli, resume: false };
                follow.to_end(Instant::now() + PATIENCE).await?;
            }
            Ok(Exit::Done)
        }
        Err(Refused::Api(error)) => Err(error.into()),
        Err(refused) => Err(bad_input(refused.to_string())),
    }
}
