//! The built `lateen` as a child process, and the players that come with the cases.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

/// A child that is stopped when dropped.
pub struct Running {
    child: Child,
    /// What it is, for messages.
    pub name: &'static str,
}

impl Running {
    /// Starts `command`, its output into `log`.
    ///
    /// # Errors
    /// When the program cannot be started.
    pub fn start(name: &'static str, command: &mut Command, log: &Path) -> anyhow::Result<Self> {
        let log = std::fs::File::create(log).with_context(|| log.display().to_string())?;
        let child = command
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .with_context(|| format!("starting {name}"))?;
        Ok(Self { child, name })
    }

    /// Whether it has ended by itself.
    pub fn ended(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(Some(_)))
    }

    /// Process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Already gone is as good.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The `lateen` that was built beside this program.
///
/// # Errors
/// When there is none.
pub fn lateen() -> anyhow::Result<PathBuf> {
    let here = std::env::current_exe()?;
    let folder = here.parent().context("a program is in a folder")?;
    for folder in [folder, folder.parent().unwrap_or(folder)] {
        let binary = folder.join("lateen");
        if binary.exists() {
            return Ok(binary);
        }
    }
    bail!("no lateen beside {}: build it with `cargo build -p lateen` first", here.display())
}

/// A loopback port nobody uses now.
///
/// # Errors
/// When the system has none.
pub fn free_port() -> anyhow::Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

/// Waits until something listens on the port.
///
/// # Errors
/// When nothing does in time.
pub fn wait_for_port(port: u16, patience: Duration) -> anyhow::Result<()> {
    let start = Instant::now();
    while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
        if start.elapsed() > patience {
            bail!("nothing listens on port {port} after {patience:?}");
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}

/// Runs a Python player to its end, its output into `log`; `None` where there is no Python.
///
/// # Errors
/// When it cannot be started though Python is there.
pub fn python(
    arguments: &[&str],
    environment: &[(&str, &str)],
    log: &Path,
) -> anyhow::Result<bool> {
    let file = std::fs::File::create(log)?;
    let mut command = Command::new("python3");
    command.args(arguments).envs(environment.iter().copied());
    let status = command.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file).status()?;
    Ok(status.success())
}

/// CPU time of a process so far, all threads, ended ones too, in seconds (Linux).
///
/// # Panics
/// When it does not run.
pub fn cpu(pid: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("it runs");
    let rest = stat.rsplit_once(')').expect("a name in brackets").1;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let ticks = |index: usize| fields[index].parse::<f64>().expect("a number");
    (ticks(11) + ticks(12)) / 100.0
}

/// Resident memory of a process, in MiB (Linux).
///
/// # Panics
/// When it does not run.
pub fn resident(pid: u32) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("it runs");
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("memory");
    line.split_whitespace().nth(1).expect("a number").parse::<f64>().expect("a number") / 1024.0
}

/// Last lines of a log, for an error.
pub fn tail(log: &Path, lines: usize) -> String {
    let Ok(file) = std::fs::File::open(log) else { return String::new() };
    let all: Vec<String> = BufReader::new(file).lines().map_while(Result::ok).collect();
    all[all.len().saturating_sub(lines)..].join("\n")
}
