//! `lateen local`: the embedded control plane.

mod background; // start, stop, status
mod snapshot; // saving and putting back

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args as ClapArgs, Subcommand};
use lateen_controller::{install, observe::Metrics, run};
use local_server::{AuditLog, Tokens};

use crate::Cli;
use crate::command::controller::interrupted;
use crate::embedded::{self, Embedded};
use crate::exit::{Exit, bad_input};
use crate::target::{bundle, cue_runtime};
use background::Place;

/// `lateen local …`
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  lateen local start && export KUBECONFIG=$(lateen local status --kubeconfig-path)
  kubectl get applications
  lateen local start --name east
  lateen local snapshot save before.snapshot
  lateen local serve --ephemeral --insecure --listen 127.0.0.1:8080")]
pub struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Serve the plane in the background, with definitions and the controller.
    Start {
        #[command(flatten)]
        which: Which,
        /// Address to listen on; without, a plane with a name takes a free port.
        #[arg(long, value_name = "ADDRESS")]
        listen: Option<SocketAddr>,
    },
    /// Stop the plane in the background.
    Stop {
        #[command(flatten)]
        which: Which,
    },
    /// Say whether the plane runs in the background.
    Status {
        #[command(flatten)]
        which: Which,
        /// Print only the path of its kubeconfig.
        #[arg(long)]
        kubeconfig_path: bool,
    },
    /// Save everything a plane holds, or put it back.
    Snapshot {
        #[command(subcommand)]
        verb: snapshot::Verb,
    },
    /// Serve an empty plane in the foreground.
    Serve(Box<Serve>),
}

/// Which of several planes.
#[derive(Debug, Default, ClapArgs)]
struct Which {
    /// Name of the plane, if there is more than one.
    #[arg(long, value_name = "NAME", value_parser = plane_name)]
    name: Option<String>,
}

fn plane_name(text: &str) -> Result<String, String> {
    let good = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if text.is_empty() || text.len() > 63 || !text.chars().all(good) {
        return Err("expected lower case letters, digits and dashes".into());
    }
    Ok(text.to_owned())
}

#[derive(Debug, ClapArgs)]
struct Serve {
    /// Address to listen on.
    #[arg(long, default_value = "127.0.0.1:16443", value_name = "ADDRESS")]
    listen: SocketAddr,
    /// Keep everything in memory.
    #[arg(long, conflicts_with = "state")]
    ephemeral: bool,
    /// Keep everything in this file.
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
    /// Run Kubernetes' own controllers.
    #[arg(long, default_value = "on", value_name = "on|off", value_parser = on_off)]
    controllers: Switch,
    /// Play scheduler and kubelet.
    #[arg(long, default_value = "on", value_name = "on|off", value_parser = on_off)]
    simulate_pods: Switch,
    /// Write a kubeconfig there.
    #[arg(long, value_name = "FILE")]
    write_kubeconfig: Option<PathBuf>,
    /// Plain HTTP, on loopback only.
    #[arg(long)]
    insecure: bool,
    /// Ask for tokens and heed RBAC: lines `token,user,uid,"group,group"`.
    #[arg(long, value_name = "FILE")]
    tokens: Option<PathBuf>,
    /// Append a line for each request: who asked for what, and what came of it (audit.k8s.io/v1).
    #[arg(long, value_name = "FILE")]
    audit_log_path: Option<PathBuf>,
    /// Install definitions and run Lateen's controller too.
    #[arg(long, hide = true)]
    with_lateen: bool,
    #[command(flatten)]
    which: Which,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Switch {
    On,
    Off,
}

fn on_off(text: &str) -> Result<Switch, String> {
    match text {
        "on" => Ok(Switch::On),
        "off" => Ok(Switch::Off),
        _ => Err("expected on or off".into()),
    }
}

impl Args {
    /// Whether it runs until it is stopped.
    pub fn is_service(&self) -> bool {
        matches!(self.verb, Verb::Serve(_))
    }
}

/// Runs the command.
pub async fn run(args: Args, cli: &Cli) -> anyhow::Result<Exit> {
    match args.verb {
        Verb::Start { which, listen } => background::start(&which, listen, cli),
        Verb::Stop { which } => background::stop(&which, cli),
        Verb::Status { which, kubeconfig_path: true } => background::kubeconfig_path(&which, cli),
        Verb::Status { which, kubeconfig_path: false } => background::status(&which, cli),
        Verb::Snapshot { verb } => snapshot::run(verb, cli).await,
        Verb::Serve(serve) => self::serve(*serve, cli).await,
    }
}

async fn serve(args: Serve, cli: &Cli) -> anyhow::Result<Exit> {
    if args.insecure && !args.listen.ip().is_loopback() {
        return Err(bad_input("--insecure is for loopback addresses only"));
    }
    let state = match (args.ephemeral, args.state) {
        (true, _) => None,
        (false, Some(file)) => Some(file),
        (false, None) => Some(Place::of(&args.which).state()),
    };
    let plane = Embedded::open(&embedded::Options {
        state,
        controllers: args.controllers == Switch::On,
        pods: args.simulate_pods == Switch::On,
        address: args.listen,
    })?;
    let tokens = args.tokens.as_deref().map(read_tokens).transpose()?;
    let audit_log = args.audit_log_path.as_deref().map(AuditLog::open).transpose();
    let audit_log = audit_log.map_err(|error| bad_input(error.to_string()))?.map(Arc::new);
    let listening = plane
        .plane
        .serve(&local_server::Serve {
            listen: args.listen,
            insecure: args.insecure,
            kubeconfig: args.write_kubeconfig.clone(),
            tokens,
            name: args.which.name.clone().unwrap_or_default(),
            audit_log,
        })
        .await
        .map_err(|error| bad_input(format!("cannot listen on {}: {error}", args.listen)))?;
    cli.out.note(&format!("serving on {}", listening.address));
    if args.with_lateen {
        let runtime = cue_runtime()?;
        let client = plane.client("default");
        install::install(&client, &bundle(&runtime)?).await?;
        std::fs::write(Place::of(&args.which).ready(), "")?;
        let stop = plane.stop.clone();
        tokio::spawn(run::run(
            client,
            Arc::new(runtime),
            Arc::new(Metrics::default()),
            run::Options::default(),
            stop,
        ));
    }
    interrupted().await;
    plane.stop.cancel();
    Ok(Exit::Done)
}

fn read_tokens(file: &Path) -> anyhow::Result<Tokens> {
    let text = std::fs::read_to_string(file)
        .map_err(|error| bad_input(format!("{}: {error}", file.display())))?;
    Tokens::parse(&text)
        .map_err(|line| bad_input(format!("{}:{line}: expected token,user,uid", file.display())))
}
