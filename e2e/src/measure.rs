//! One command run to its end or its limit: what it printed, how long it computed, how large it grew.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What a command may use.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Time from start to end.
    pub wall: Duration,
    /// Resident memory, in bytes.
    pub memory: u64,
}

/// What came of a command.
#[derive(Clone, Debug)]
pub struct Measured {
    /// Exit code; `None` after a signal or when a limit ended it.
    pub exit: Option<i32>,
    /// The limit that ended it.
    pub exceeded: Option<&'static str>,
    /// User and system time, in seconds.
    pub cpu: f64,
    /// Peak resident memory seen, in bytes.
    pub peak: u64,
    /// Standard output.
    pub stdout: Vec<u8>,
    /// Standard error, its beginning.
    pub stderr: String,
    /// Length of standard error.
    pub stderr_bytes: u64,
}

/// How often a running command is looked at.
const LOOK: Duration = Duration::from_millis(3);
/// Bytes of standard error that are kept.
const KEPT: u64 = 64 << 10;
/// Clock ticks of `/proc/PID/stat`: 100 on every Linux.
const HERTZ: f64 = 100.0;

/// Runs `program` in `folder`; `logs` takes what it prints.
///
/// # Errors
/// When it cannot be started or its output cannot be read.
pub fn run(
    program: &Path,
    arguments: &[String],
    folder: &Path,
    logs: &Path,
    limits: Limits,
) -> anyhow::Result<Measured> {
    let (out, err) = (logs.join("stdout"), logs.join("stderr"));
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder).env("NO_COLOR", "1").stdin(Stdio::null());
    let started = Instant::now();
    let mut child = command.stdout(File::create(&out)?).stderr(File::create(&err)?).spawn()?;
    let id = child.id();
    let mut peak = 0;
    let mut exceeded = None;
    let cpu = loop {
        let (ended, cpu) = times(id);
        peak = peak.max(resident(id));
        if ended {
            break cpu;
        }
        if started.elapsed() > limits.wall {
            exceeded = Some("time");
        } else if peak > limits.memory {
            exceeded = Some("memory");
        }
        if exceeded.is_some() {
            child.kill()?;
            break cpu;
        }
        std::thread::sleep(LOOK);
    };
    let status = child.wait()?;
    let mut text = Vec::new();
    File::open(&err)?.take(KEPT).read_to_end(&mut text)?;
    Ok(Measured {
        exit: status.code().filter(|_| exceeded.is_none()),
        exceeded,
        cpu,
        peak,
        stdout: std::fs::read(&out)?,
        stderr: String::from_utf8_lossy(&text).into_owned(),
        stderr_bytes: std::fs::metadata(&err)?.len(),
    })
}

/// Whether the process has ended (and waits for its parent), and its time until now.
fn times(id: u32) -> (bool, f64) {
    let Ok(text) = std::fs::read_to_string(format!("/proc/{id}/stat")) else { return (true, 0.0) };
    // The name may hold anything, parentheses too.
    let rest = text.rsplit_once(") ").map_or("", |it| it.1);
    let fields: Vec<&str> = rest.split(' ').collect();
    let ticks = |at: usize| fields.get(at).and_then(|it| it.parse::<f64>().ok()).unwrap_or(0.0);
    (matches!(fields.first(), Some(&"Z" | &"X")), (ticks(11) + ticks(12)) / HERTZ)
}

/// Peak of the resident memory of a process so far, in bytes.
pub fn resident(id: u32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("");
    let kilobytes = line.trim().trim_end_matches(" kB").parse::<u64>().unwrap_or(0);
    kilobytes << 10
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, limits: Limits) -> Measured {
        let folder = tempfile::tempdir().unwrap();
        let arguments = ["-c".to_owned(), script.to_owned()];
        run(Path::new("/bin/sh"), &arguments, folder.path(), folder.path(), limits).unwrap()
    }

    const LIMITS: Limits = Limits { wall: Duration::from_secs(20), memory: 1 << 30 };

    #[test]
    fn output_and_code_are_told() {
        let it = shell("echo a; echo b >&2; exit 3", LIMITS);
        assert_eq!(
            (it.exit, it.stdout.as_slice(), it.stderr.as_str()),
            (Some(3), &b"a\n"[..], "b\n")
        );
    }

    #[test]
    fn time_is_limited() {
        let it = shell("sleep 30", Limits { wall: Duration::from_millis(50), ..LIMITS });
        assert_eq!((it.exit, it.exceeded), (None, Some("time")));
    }

    #[test]
    fn a_signal_is_no_exit_code() {
        assert_eq!(shell("kill -9 $$", LIMITS).exit, None);
    }
}
