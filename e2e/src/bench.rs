//! What the end-to-end tests stand on: the built `lateen`, a plane of their own, and kubectl.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context;
use http::Method;
use kube::config::{KubeConfigOptions, Kubeconfig};
use lateen_controller::rest::{self, ActAs, Body};
use serde_json::Value;

use crate::process::{self, Running};

/// A folder for one test's state, beside the cache that all share.
pub struct Home {
    /// Data, kubeconfigs, logs.
    pub folder: tempfile::TempDir,
}

/// What a command answered.
#[derive(Debug)]
pub struct Answer {
    /// Exit code.
    pub code: i32,
    /// The answer.
    pub out: String,
    /// The talk.
    pub err: String,
}

impl Answer {
    /// The answer of a command that must have worked.
    ///
    /// # Panics
    /// If it did not.
    #[track_caller]
    pub fn ok(self) -> String {
        assert_eq!(self.code, 0, "{}{}", self.out, self.err);
        self.out
    }

    /// Asserts a refusal: its code, and words that are said.
    ///
    /// # Panics
    /// If it was not refused so.
    #[track_caller]
    pub fn refused(self, code: i32, words: &[&str]) {
        assert_eq!(self.code, code, "{}{}", self.out, self.err);
        for word in words {
            let said = self.err.contains(word) || self.out.contains(word);
            assert!(said, "no {word:?} in:\n{}{}", self.out, self.err);
        }
    }
}

/// The top of the repository.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A client of the API that a kubeconfig leads to.
///
/// # Panics
/// When there is none.
pub async fn client(kubeconfig: &str) -> kube::Client {
    let file = Kubeconfig::read_from(kubeconfig).expect("a kubeconfig");
    let options = KubeConfigOptions::default();
    let config = kube::Config::from_custom_kubeconfig(file, &options).await;
    kube::Client::try_from(config.expect("a configuration")).expect("a client")
}

/// A kubectl to talk with: `$KUBECTL`, or the one `make kubectl` fetched.
pub fn kubectl() -> Option<PathBuf> {
    let given = std::env::var_os("KUBECTL").map(PathBuf::from);
    given.or_else(|| Some(repository().join("build/kubectl"))).filter(|it| it.exists())
}

impl Home {
    /// A new, empty one.
    ///
    /// # Panics
    /// When there is no room for it.
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a temporary folder") }
    }

    /// A file in it.
    ///
    /// # Panics
    /// When it cannot be written.
    pub fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, text).expect("the folder is ours");
        path
    }

    /// `lateen` with this state, and the cache that outlives the test.
    ///
    /// # Panics
    /// When it was not built.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let lateen = process::lateen().expect("make build comes first");
        let cache = lateen.with_file_name("e2e-cache");
        let mut command = Command::new(lateen);
        command.args(arguments).current_dir(repository());
        command.env_remove("LATEEN_HOME").env_remove("KUBECONFIG").env("NO_COLOR", "1");
        command.env("HOME", self.folder.path()).env("XDG_CACHE_HOME", cache);
        command.env("XDG_DATA_HOME", self.folder.path());
        command
    }

    /// Starts a plane in memory, with more flags: it, its kubeconfig and its port.
    ///
    /// # Errors
    /// When it does not come up; its log is in the message.
    pub fn serve(&self, more: &[&str]) -> anyhow::Result<(Running, String, u16)> {
        let port = process::free_port()?;
        let file = self.folder.path().join("kubeconfig.yaml");
        let kubeconfig = file.to_str().context("paths are UTF-8")?.to_owned();
        let listen = format!("127.0.0.1:{port}");
        let mut command = self.command(&["local", "serve", "--ephemeral", "--listen", &listen]);
        command.args(["--write-kubeconfig", &kubeconfig]).args(more);
        let log = self.folder.path().join("plane.log");
        let plane = Running::start("lateen local serve", &mut command, &log)?;
        process::wait_for_port(port, PATIENCE)
            .with_context(|| format!("the plane says:\n{}", process::tail(&log, 20)))?;
        let started = Instant::now();
        while !file.exists() && started.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok((plane, kubeconfig, port))
    }

    /// Runs `lateen` to its end.
    ///
    /// # Panics
    /// When it cannot be started.
    pub fn lateen(&self, arguments: &[&str]) -> Answer {
        run(&mut self.command(arguments), "")
    }
}

impl Default for Home {
    fn default() -> Self {
        Self::new()
    }
}

/// Runs a command with `input` to its end.
///
/// # Panics
/// When it cannot be started.
pub fn run(command: &mut Command, input: &str) -> Answer {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it can be started");
    if let Some(mut pipe) = child.stdin.take() {
        // A command that does not read its input may be gone already.
        let _ = pipe.write_all(input.as_bytes());
    }
    let output = child.wait_with_output().expect("it ends");
    Answer {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// A plane and a controller in processes of their own, with definitions.
pub struct Plane {
    /// Its state and kubeconfig.
    pub home: Home,
    /// Its kubeconfig.
    pub kubeconfig: String,
    /// Its address.
    pub port: u16,
    _controller: Running,
    _plane: Running,
}

/// Longest wait for anything in these tests; the first start also compiles the sandbox.
const PATIENCE: Duration = Duration::from_secs(120);

impl Plane {
    /// Starts one and waits until the definitions are there.
    ///
    /// # Errors
    /// When it does not come up; its log is in the message.
    pub fn start() -> anyhow::Result<Self> {
        let home = Home::new();
        let (plane, kubeconfig, port) = home.serve(&[])?;
        let installed = home.lateen(&["install", "--kubeconfig", &kubeconfig]);
        anyhow::ensure!(installed.code == 0, "lateen install: {}", installed.err);
        let mut command = home.command(&["controller", "--kubeconfig", &kubeconfig]);
        command.args(["--leader-elect=false", "--allow-file-repositories"]);
        let log = home.folder.path().join("controller.log");
        let controller = Running::start("lateen controller", &mut command, &log)?;
        Ok(Self { home, kubeconfig, port, _plane: plane, _controller: controller })
    }

    /// `lateen` on this plane.
    pub fn lateen(&self, arguments: &[&str]) -> Answer {
        self.lateen_with(arguments, "")
    }

    /// `lateen` on this plane, with something on stdin.
    pub fn lateen_with(&self, arguments: &[&str], input: &str) -> Answer {
        let mut command = self.home.command(arguments);
        run(command.args(["--kubeconfig", &self.kubeconfig]), input)
    }

    /// What its API has at a path; null if there is nothing.
    ///
    /// # Panics
    /// When its kubeconfig does not make a client.
    pub async fn look(&self, path: &str) -> Value {
        let none = ActAs::default();
        rest::send(&self.client().await.into(), Method::GET, path, None, &none)
            .await
            .unwrap_or_default()
    }

    /// Creates or changes the object at a path, by server-side apply.
    ///
    /// # Panics
    /// When that is refused.
    pub async fn write(&self, path: &str, object: &Value) {
        let path = rest::with_query(path.to_owned(), "fieldManager", "test");
        let (body, none) = (Some((Body::Apply, object)), ActAs::default());
        rest::send(&self.client().await.into(), Method::PATCH, &path, body, &none)
            .await
            .expect("written");
    }

    /// A client of its API.
    ///
    /// # Panics
    /// When its kubeconfig does not make one.
    pub async fn client(&self) -> kube::Client {
        client(&self.kubeconfig).await
    }

    /// `kubectl` on this plane.
    pub fn kubectl(&self, kubectl: &Path, arguments: &[&str], input: &str) -> Answer {
        let mut command = Command::new(kubectl);
        command.args(["--kubeconfig", &self.kubeconfig]).args(arguments);
        command.env("HOME", self.home.folder.path()).current_dir(repository());
        run(&mut command, input)
    }

    /// Waits until `lateen status NAME -o jsonpath=TEMPLATE` is `wanted`.
    ///
    /// # Panics
    /// When it does not become so in time.
    #[track_caller]
    pub fn until(&self, name: &str, template: &str, wanted: &str) {
        let started = Instant::now();
        let form = format!("jsonpath={template}");
        loop {
            let answer = self.lateen(&["status", name, "-o", &form]);
            if answer.out == wanted {
                return;
            }
            let late = started.elapsed() > PATIENCE / 4;
            assert!(!late, "{template} of {name} is {:?}, not {wanted:?}", answer.out);
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}
