//! Kubernetes API vectors: a fresh `lateen local serve`, controllers off and on, played by the
//! cases' own player.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::Context;
use serde_json::Value;

use crate::process::{self, Running};
use crate::score::Scores;

/// The users of the recorded server.
const TOKENS: &str =
    "admintoken,admin,admin-uid,\"system:masters\"\nlimitedtoken,alice,alice-uid,\"dev\"\n";
const PATIENCE: Duration = Duration::from_secs(20);

/// Plays both sets of `cases` (the folder `kubeapi`); logs go to `work`.
///
/// # Errors
/// When the server or the player cannot be run.
pub fn run(cases: &Path, work: &Path, kubectl: Option<&Path>) -> anyhow::Result<Scores> {
    let mut scores = Scores::default();
    for controllers in ["off", "on"] {
        let report = play(cases, work, controllers, kubectl)?;
        count(&report, controllers, &mut scores);
    }
    Ok(scores)
}

fn play(
    cases: &Path,
    work: &Path,
    controllers: &str,
    kubectl: Option<&Path>,
) -> anyhow::Result<Value> {
    let port = process::free_port()?;
    let mut command = Command::new(process::lateen()?);
    command.args(["local", "serve", "--ephemeral", "--simulate-pods", "off"]);
    // kubectl sends tokens over TLS only.
    let tokens = work.join("kubeapi-tokens.csv");
    std::fs::write(&tokens, TOKENS)?;
    command.args(["--listen", &format!("127.0.0.1:{port}")]).arg("--tokens").arg(&tokens);
    command.args(["--controllers", controllers]);
    let log = work.join(format!("kubeapi-{controllers}-server.log"));
    let _server = Running::start("lateen local serve", &mut command, &log)?;
    process::wait_for_port(port, PATIENCE)
        .with_context(|| format!("the server says:\n{}", process::tail(&log, 20)))?;
    let report = work.join(format!("kubeapi-{controllers}.json"));
    let player = cases.join("vectors.py");
    let server = format!("https://127.0.0.1:{port}");
    let mut arguments = vec![
        player.to_str().context("paths are UTF-8")?,
        "replay",
        "--server",
        &server,
        "--token",
        "admintoken",
        "--controllers",
        controllers,
        "-v",
        "--json",
        report.to_str().context("paths are UTF-8")?,
    ];
    match kubectl.and_then(Path::to_str) {
        Some(kubectl) => arguments.extend(["--kubectl", kubectl]),
        None => arguments.push("--no-kubectl"),
    }
    let log = work.join(format!("kubeapi-{controllers}.log"));
    // It exits with 1 unless every assertion holds.
    process::python(&arguments, &[], &log)?;
    let text = std::fs::read_to_string(&report)
        .with_context(|| format!("the player says:\n{}", process::tail(&log, 20)))?;
    Ok(serde_json::from_str(&text)?)
}

fn count(report: &Value, controllers: &str, scores: &mut Scores) {
    let total = format!("kubeapi.{controllers}");
    for (group, pair) in report["groups"].as_object().into_iter().flatten() {
        let (passed, made) = (pair[0].as_u64().unwrap_or(0), pair[1].as_u64().unwrap_or(0));
        if group.starts_with("kubectl") {
            scores.add_many("kubectl", passed, made);
        } else {
            scores.add_many(&total, passed, made);
            scores.add_many(&format!("kubeapi.{group}"), passed, made);
        }
    }
}
