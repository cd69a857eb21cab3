//! Planes in the background: where they keep what, starting, stopping.

use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Command as Process, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use super::Which;
use crate::Cli;
use crate::embedded;
use crate::exit::{Exit, bad_input};
use crate::notes::Note;
use crate::target::directories;

/// The files of one plane.
pub(super) struct Place {
    folder: PathBuf,
    name: Option<String>,
}

impl Place {
    /// The plane without a name lives in the data folder itself.
    pub(super) fn of(which: &Which) -> Place {
        let data = directories().data;
        let folder = match &which.name {
            Some(name) => data.join("planes").join(name),
            None => data,
        };
        Place { folder, name: which.name.clone() }
    }

    pub(super) fn state(&self) -> PathBuf {
        self.folder.join("plane.redb")
    }

    pub(super) fn kubeconfig(&self) -> PathBuf {
        match self.name {
            Some(_) => self.folder.join("kubeconfig"),
            None => embedded::kubeconfig(),
        }
    }

    /// There once CRDs and definitions are in place.
    pub(super) fn ready(&self) -> PathBuf {
        self.folder.join("plane.ready")
    }

    fn pid(&self) -> PathBuf {
        self.folder.join("plane.pid")
    }

    /// Its process, if it runs.
    pub(super) fn running(&self) -> Option<u32> {
        let pid: u32 = std::fs::read_to_string(self.pid()).ok()?.trim().parse().ok()?;
        Path::new(&format!("/proc/{pid}")).exists().then_some(pid)
    }

    fn address(&self, asked: Option<SocketAddr>) -> anyhow::Result<SocketAddr> {
        match (asked, &self.name) {
            (Some(asked), _) => Ok(asked),
            (None, None) => Ok(SocketAddr::from(([127, 0, 0, 1], 16443))),
            (None, Some(_)) => Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?),
        }
    }
}

pub(super) fn start(which: &Which, listen: Option<SocketAddr>, cli: &Cli) -> anyhow::Result<Exit> {
    let place = Place::of(which);
    let kubeconfig = place.kubeconfig();
    if let Some(pid) = place.running() {
        cli.out.line(&format!("already running (process {pid})"))?;
        return Ok(Exit::Done);
    }
    let data = &place.folder;
    std::fs::create_dir_all(data)
        .map_err(|error| bad_input(format!("{}: {error}", data.display())))?;
    for old in [&kubeconfig, &place.ready()] {
        let _ = std::fs::remove_file(old);
    }
    let listen = place.address(listen)?;
    let log = data.join("plane.log");
    let file = std::fs::File::create(&log)?;
    let mut process = Process::new(std::env::current_exe()?);
    process.args(["local", "serve", "--with-lateen", "--listen", &listen.to_string()]);
    process.arg("--write-kubeconfig").arg(&kubeconfig);
    if let Some(name) = &which.name {
        process.args(["--name", name]);
    }
    process.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file);
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt;
        process.process_group(0);
    }
    let mut child = process.spawn()?;
    let started = Instant::now();
    while !place.ready().exists() {
        if let Some(status) = child.try_wait()? {
            let text = std::fs::read_to_string(&log).unwrap_or_default();
            let last = text.lines().last().unwrap_or("no word").to_owned();
            return Err(bad_input(format!("the plane ended at once ({status}): {last}")));
        }
        // The very first start on a machine compiles the interpreter.
        if started.elapsed() > Duration::from_secs(60) {
            let _ = child.kill();
            return Err(bad_input(format!("the plane does not answer; see {}", log.display())));
        }
        std::thread::sleep(Duration::from_millis(30));
    }
    std::fs::write(place.pid(), child.id().to_string())?;
    cli.out.line(&format!("serving on {listen}"))?;
    cli.out.line(&format!("export KUBECONFIG={}", kubeconfig.display()))?;
    let exported = std::env::var_os("KUBECONFIG").is_some_and(|it| it == *kubeconfig.as_os_str());
    cli.out.note(&Note::Started.fill(&json!({ "exported": exported, "name": which.name }))?);
    Ok(Exit::Done)
}

pub(super) fn stop(which: &Which, cli: &Cli) -> anyhow::Result<Exit> {
    let place = Place::of(which);
    let Some(pid) = place.running() else {
        cli.out.line("not running")?;
        return Ok(Exit::Done);
    };
    Process::new("kill").arg(pid.to_string()).status()?;
    let started = Instant::now();
    while place.running().is_some() && started.elapsed() < Duration::from_secs(5) {
        std::thread::sleep(Duration::from_millis(30));
    }
    let _ = std::fs::remove_file(place.pid());
    let _ = std::fs::remove_file(place.kubeconfig());
    cli.out.line("stopped")?;
    Ok(Exit::Done)
}

pub(super) fn status(which: &Which, cli: &Cli) -> anyhow::Result<Exit> {
    told(which, cli, |pid, path| format!("running (process {pid}), kubeconfig {path}"))
}

/// Only the path of the kubeconfig, for scripts.
pub(super) fn kubeconfig_path(which: &Which, cli: &Cli) -> anyhow::Result<Exit> {
    told(which, cli, |_, path| path.to_owned())
}

fn told(which: &Which, cli: &Cli, line: impl Fn(u32, &str) -> String) -> anyhow::Result<Exit> {
    let place = Place::of(which);
    let Some(pid) = place.running() else {
        cli.out.note("not running; `lateen local start` starts it");
        return Ok(Exit::NotSo);
    };
    cli.out.line(&line(pid, &place.kubeconfig().display().to_string()))?;
    Ok(Exit::Done)
}
