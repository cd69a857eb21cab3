//! client-go's informers beside kube-rs's reflectors, where there is Go to build them: what they hold in the end
//! must be what a list gives, and what their handlers were told must be what they hold.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use lateen_e2e::process;
use serde::Deserialize;

/// The program of `client-go/main.go`, running.
pub struct Informers {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    how: &'static str,
    log: PathBuf,
}

/// What one informer says of itself.
#[derive(Deserialize)]
struct State {
    name: String,
    selector: String,
    store: BTreeMap<String, String>,
    told: BTreeMap<String, String>,
    wrong: Vec<String>,
}

/// Builds the program and starts it twice, streaming its first lists and paging them; none where Go is not at hand
/// or cannot build it, which is said.
pub fn start(port: u16, folder: &Path) -> Vec<Informers> {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/soak/client-go");
    let program = folder.join("client-go");
    let mut build = Command::new("go");
    build.args(["build", "-o"]).arg(&program).arg(".").current_dir(sources);
    match build.status() {
        Ok(status) if status.success() => {}
        Ok(status) => {
            println!("client-go's informers take no part: go build: {status}");
            return Vec::new();
        }
        Err(error) => {
            println!("client-go's informers take no part: go: {error}");
            return Vec::new();
        }
    }
    [("true", "streamed"), ("false", "paged")]
        .into_iter()
        .map(|(streams, how)| {
            let log = folder.join(format!("client-go-{how}.log"));
            let mut child = Command::new(&program)
                .arg(format!("http://127.0.0.1:{port}"))
                .env("KUBE_FEATURE_WatchListClient", streams)
                .env("KUBE_WATCHLIST_INCONSISTENCY_DETECTOR", "true")
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(std::fs::File::create(&log).unwrap())
                .spawn()
                .unwrap();
            let input = child.stdin.take().unwrap();
            let output = BufReader::new(child.stdout.take().unwrap());
            Informers { child, input, output, how, log }
        })
        .collect()
}

impl Informers {
    fn states(&mut self) -> Result<Vec<State>, String> {
        let mut answer = String::new();
        let asked = writeln!(self.input).and_then(|()| self.output.read_line(&mut answer));
        match asked {
            Ok(read) if read > 0 => serde_json::from_str(&answer).map_err(|it| it.to_string()),
            // It panics when its first list and a second one differ.
            _ => Err(format!("it ended: {}", process::tail(&self.log, 40))),
        }
    }

    /// What is wrong once `patience` is over, and how much each informer holds: `list` gives what is there, by key
    /// and revision, for a selector.
    pub async fn check(
        &mut self,
        list: impl AsyncFn(&str) -> Option<BTreeMap<String, u64>>,
        patience: Instant,
    ) -> (Vec<String>, String) {
        loop {
            let states = match self.states() {
                Ok(states) => states,
                Err(error) => {
                    return (vec![format!("client-go, {}: {error}", self.how)], String::new());
                }
            };
            let mut wrong = Vec::new();
            let mut held = Vec::new();
            for state in &states {
                let who = format!("client-go, {}, {}", self.how, state.name.trim_end());
                wrong.extend(state.wrong.iter().map(|what| format!("{who}: {what}")));
                if state.told != state.store {
                    wrong.push(format!("{who}: its handler was told of another state"));
                }
                let listed = list(&state.selector).await.unwrap_or_default().into_iter();
                let listed: BTreeMap<_, _> =
                    listed.map(|(key, at)| (key, at.to_string())).collect();
                if listed != state.store {
                    wrong.push(format!("{who}: its store is not what a list gives"));
                }
                held.push(format!("{} {}", state.name.trim_end(), state.store.len()));
            }
            if wrong.is_empty() || Instant::now() > patience {
                return (wrong, format!("client-go ({}): {}", self.how, held.join(", ")));
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }
}

impl Drop for Informers {
    fn drop(&mut self) {
        // Already gone is as good.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
