//! The `lateen` binary: arguments in, one command's `run`, an exit code out.
//!
//! ~~~text
//! main ─▶ command::<name>::run(args, &Cli) ─▶ engine | controller | local | cue-session
//!                                └─▶ output: stdout is the answer, stderr the talk
//! ~~~
//! One command, one file of the same name under `command/`; what decides anything lives in a
//! library. Start at `command`.
#![forbid(unsafe_code)]

mod command; // the commands
mod target; // which cluster is meant
mod embedded; // the plane in this process
mod manifest; // reading YAML and JSON
mod output; // answers and talk
mod notes; // what to do next
mod jsonpath; // kubectl's dialect
mod exit; // exit codes
mod existing; // what becomes of what is there already
mod follow; // an Application while it is delivered
mod explain; // the lines that errors of rendering are about

use std::process::ExitCode;

use clap::Parser;

use crate::command::Command;
use crate::exit::Exit;
use crate::output::{Color, Out};
use crate::target::TargetArgs;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const EXAMPLES: &str = "\
Examples:
  lateen up -f app.yaml                  deliver an Application and watch it
  lateen status shop --tree              what it created, and how that is doing
  lateen workflow resume shop            go on after a suspend step
  lateen dry-run --offline -f app.yaml   render without a cluster
  lateen cue export config.cue           evaluate CUE

Without --kubeconfig or --context, and outside a cluster, commands use the control plane
embedded in lateen; its state is kept under the user's data directory.";

/// Application delivery for Kubernetes, driven by CUE.
#[derive(Debug, Parser)]
#[command(name = "lateen", version, about, after_help = EXAMPLES, propagate_version = true)]
struct Arguments {
    #[command(flatten)]
    target: TargetArgs,
    /// When to use colours.
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    color: Color,
    /// Say more: -v for progress of the engine, -vv for every request, -vvv for what libraries say.
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    verbose: u8,
    #[command(subcommand)]
    command: Command,
}

/// What every command is given.
pub struct Cli {
    /// Where output goes.
    pub out: Out,
    /// Which cluster is meant.
    pub target: TargetArgs,
}

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) if command::cue::is_meant() && error.use_stderr() => {
            eprintln!("{}", command::cue::refused(&error));
            return Exit::NotSo.into();
        }
        Err(error) => error.exit(),
    };
    start_log(arguments.verbose, &arguments.command);
    let out = Out::new(arguments.color);
    let cli = Cli { out, target: arguments.target };
    let exit = match command::run(arguments.command, &cli) {
        Ok(exit) => exit,
        Err(error) => {
            match error.downcast_ref::<exit::Refusal>() {
                Some(it) if it.begins == exit::Begins::Labelled => cli.out.note(&it.text),
                _ => {
                    let label = cli.out.paint(output::Tone::Bad, "error:");
                    cli.out.note(&format!("{label} {error:#}"));
                }
            }
            exit::of(&error)
        }
    };
    exit.into()
}

fn start_log(verbose: u8, command: &Command) {
    let default = match (verbose, command.is_service()) {
        // What is told as the error of the command is not told twice.
        (0, false) => "error,kube_client=off",
        (0, true) => "info",
        (1, _) => "info,lateen=debug,lateen_engine=debug,lateen_controller=debug",
        // Of requests what is asked and how long it takes, not what connections do meanwhile.
        (2, _) => "info,lateen=trace,lateen_engine=trace,lateen_controller=trace",
        (_, _) => "debug,lateen=trace,lateen_engine=trace,lateen_controller=trace",
    };
    let filter = tracing_subscriber::EnvFilter::try_from_env("LATEEN_LOG")
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new(default));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
}
