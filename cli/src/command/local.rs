//! `lateen local`: the embedded control plane.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command as Process, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::{Args as ClapArgs, Subcommand};
use lateen_controller::{install, observe::Metrics, run};
use local_server::Tokens;
use serde_json::json;

use crate::Cli;
use crate::command::controller::interrupted;
use crate::embedded::{self, Embedded};
use crate::exit::{Exit, bad_input};
use crate::notes::Note;
use crate::target::{bundle, cue_runtime, directories};

/// `lateen local …`
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  lateen local start && export KUBECONFIG=$(lateen local status --kubeconfig-path)
  kubectl get applications
  lateen local serve --ephemeral --insecure --listen 127.0.0.1:8080")]
pub struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Serve the plane in the background, with definitions and the controller.
    Start {
        /// Address to listen on.
        #[arg(long, default_value = "127.0.0.1:16443", value_name = "ADDRESS")]
        listen: SocketAddr,
    },
    /// Stop the plane in the background.
    Stop,
    /// Say whether the plane runs in the background.
    Status {
        /// Print only the path of its kubeconfig.
        #[arg(long)]
        kubeconfig_path: bool,
    },
    /// Serve an empty plane in the foreground.
    Serve(Box<Serve>),
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
    /// Install definitions and run Lateen's controller too.
    #[arg(long, hide = true)]
    with_lateen: bool,
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
        Verb::Start { listen } => start(listen, cli),
        Verb::Stop => stop(cli),
        Verb::Status { kubeconfig_path } => status(kubeconfig_path, cli),
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
        (false, None) => Some(directories().data.join("plane.redb")),
    };
    let plane = Embedded::open(&embedded::Options {
        state,
        controllers: args.controllers == Switch::On,
        pods: args.simulate_pods == Switch::On,
        address: args.listen,
    })?;
    let tokens = args.tokens.as_deref().map(read_tokens).transpose()?;
    let listening = plane
        .plane
        .serve(&local_server::Serve {
            listen: args.listen,
            insecure: args.insecure,
            kubeconfig: args.write_kubeconfig.clone(),
            tokens,
        })
        .await
        .map_err(|error| bad_input(format!("cannot listen on {}: {error}", args.listen)))?;
    cli.out.note(&format!("serving on {}", listening.address));
    if args.with_lateen {
        let runtime = cue_runtime()?;
        let client = plane.client("default");
        install::install(&client, &bundle(&runtime)?).await?;
        std::fs::write(ready_file(), "")?;
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

fn pid_file() -> PathBuf {
    directories().data.join("plane.pid")
}

/// There once CRDs and definitions are in place.
fn ready_file() -> PathBuf {
    directories().data.join("plane.ready")
}

fn running() -> Option<u32> {
    let pid: u32 = std::fs::read_to_string(pid_file()).ok()?.trim().parse().ok()?;
    std::path::Path::new(&format!("/proc/{pid}")).exists().then_some(pid)
}

fn start(listen: SocketAddr, cli: &Cli) -> anyhow::Result<Exit> {
    let kubeconfig = embedded::kubeconfig();
    if let Some(pid) = running() {
        cli.out.line(&format!("already running (process {pid})"))?;
        return Ok(Exit::Done);
    }
    let data = directories().data;
    std::fs::create_dir_all(&data)
        .map_err(|error| bad_input(format!("{}: {error}", data.display())))?;
    for old in [&kubeconfig, &ready_file()] {
        let _ = std::fs::remove_file(old);
    }
    let log = data.join("plane.log");
    let file = std::fs::File::create(&log)?;
    let mut process = Process::new(std::env::current_exe()?);
    process.args(["local", "serve", "--with-lateen", "--listen", &listen.to_string()]);
    process.arg("--write-kubeconfig").arg(&kubeconfig);
    process.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file);
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt;
        process.process_group(0);
    }
    let mut child = process.spawn()?;
    let started = Instant::now();
    while !ready_file().exists() {
        if let Some(status) = child.try_wait()? {
            let text = std::fs::read_to_string(&log).unwrap_or_default();
            let last = text.lines().last().unwrap_or("no word").to_owned();
            return Err(bad_input(format!("the plane ended at once ({status}): {last}")));
        }
        if started.elapsed() > Duration::from_secs(20) {
            return Err(bad_input(format!("the plane does not answer; see {}", log.display())));
        }
        std::thread::sleep(Duration::from_millis(30));
    }
    std::fs::write(pid_file(), child.id().to_string())?;
    cli.out.line(&format!("serving on {listen}"))?;
    cli.out.line(&format!("export KUBECONFIG={}", kubeconfig.display()))?;
    let exported = std::env::var_os("KUBECONFIG").is_some_and(|it| it == *kubeconfig.as_os_str());
    cli.out.note(&Note::Started.fill(&json!({ "exported": exported }))?);
    Ok(Exit::Done)
}

fn stop(cli: &Cli) -> anyhow::Result<Exit> {
    let Some(pid) = running() else {
        cli.out.line("not running")?;
        return Ok(Exit::Done);
    };
    Process::new("kill").arg(pid.to_string()).status()?;
    let started = Instant::now();
    while running().is_some() && started.elapsed() < Duration::from_secs(5) {
        std::thread::sleep(Duration::from_millis(30));
    }
    let _ = std::fs::remove_file(pid_file());
    let _ = std::fs::remove_file(embedded::kubeconfig());
    cli.out.line("stopped")?;
    Ok(Exit::Done)
}

fn status(path_only: bool, cli: &Cli) -> anyhow::Result<Exit> {
    let kubeconfig = embedded::kubeconfig();
    match running() {
        Some(_) if path_only => {
            cli.out.line(&kubeconfig.display().to_string())?;
            Ok(Exit::Done)
        }
        Some(pid) => {
            cli.out
                .line(&format!("running (process {pid}), kubeconfig {}", kubeconfig.display()))?;
            Ok(Exit::Done)
        }
        None => {
            cli.out.note("not running; `lateen local start` starts it");
            Ok(Exit::NotSo)
        }
    }
}
