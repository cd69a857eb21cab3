//! Scenarios recorded from the official controller, played against `lateen controller` on the
//! local plane, or on the cluster of a kubeconfig.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::Context;
use serde_json::Value;

use crate::deaths::Mortal;
use crate::faults::Faulty;
use crate::process::{self, Running};
use crate::proxy;
use crate::score::Scores;

const PATIENCE: Duration = Duration::from_secs(20);

/// Flags all profiles share (conformance/live/README.md).
const SHARED: &[&str] = &[
    "--system-definition-namespace=vela-system",
    "--application-revision-limit=2",
    "--definition-revision-limit=2",
    "--concurrent-reconciles=4",
    "--kube-api-qps=400",
    "--kube-api-burst=600",
    "--optimize-disable-component-revision",
    "--enable-external-package-for-default-compiler=true",
    "--application-re-sync-period=12s",
    "--optimize-mark-with-prob=1",
];

/// Name, gates, further flags.
const PROFILES: &[(&str, &str, &[&str])] = &[
    ("std", "", &[]),
    ("retry2", "", &["--max-workflow-step-error-retry-times=2"]),
    ("suspfail", ",EnableSuspendOnFailure=true", &["--max-workflow-step-error-retry-times=2"]),
    (
        "strict",
        "",
        &[
            "--max-workflow-step-error-retry-times=2",
            "--allow-cross-namespace-resource=false",
            "--allow-resource-types=blacklist:Secret.v1",
        ],
    ),
    ("alpha", ",EnableApplicationScopedPolicies=true,EnableGlobalPolicies=true", &[]),
];

/// What to play.
pub struct Options<'a> {
    /// The folder `live`.
    pub cases: &'a Path,
    /// Where logs and reports go.
    pub work: &'a Path,
    /// Only this profile.
    pub profile: Option<&'a str>,
    /// Only scenarios whose id matches.
    pub only: Option<&'a str>,
    /// The cluster to play on, without nodes: the player's fake node plays kubelet. Otherwise a plane is started.
    pub kubeconfig: Option<&'a Path>,
    /// What befalls the controller.
    pub trouble: Trouble,
}

/// What may befall a controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// Nothing.
    None,
    /// It dies after at most so many calls that leave a trace.
    Deaths(u64),
    /// The network to its plane has faults, by chance from this seed.
    Faults(u64),
}

impl Trouble {
    fn name(self) -> &'static str {
        match self {
            Trouble::None => "live",
            Trouble::Deaths(_) => "deaths",
            Trouble::Faults(_) => "faults",
        }
    }
}

/// The controller that is played against.
enum Controller {
    Whole(#[expect(dead_code, reason = "it ends when this is dropped")] Running),
    Mortal(Mortal),
    Harried(#[expect(dead_code, reason = "it ends when this is dropped")] Running, Faulty),
}

/// How much longer everything may take when the controller has to begin anew all the time.
const SLOWER: &str = "3";

/// Plays the profiles one after the other, each on a fresh plane, or all on one cluster.
///
/// # Errors
/// When plane, controller or player cannot be run.
pub fn run(options: &Options<'_>) -> anyhow::Result<Scores> {
    let mut scores = Scores::default();
    let name = options.trouble.name();
    for (profile, gates, flags) in PROFILES {
        if options.profile.is_some_and(|it| it != *profile) {
            continue;
        }
        let report = play(options, profile, gates, flags)?;
        for (category, counts) in report["total"].as_object().into_iter().flatten() {
            let passed = counts[0].as_u64().unwrap_or(0);
            let total = counts[1].as_u64().unwrap_or(0);
            scores.add_many(&format!("{name}.{category}"), passed, total);
        }
    }
    Ok(scores)
}

/// A plane of its own for a profile, its kubeconfig, and where it listens.
fn plane(options: &Options<'_>, profile: &str) -> anyhow::Result<(Running, PathBuf, u16)> {
    let work = options.work;
    let port = process::free_port()?;
    let kubeconfig = work.join(format!("live-{profile}.kubeconfig"));
    // That of a run before would lead to another port.
    if kubeconfig.exists() {
        std::fs::remove_file(&kubeconfig)?;
    }
    let mut plane = Command::new(process::lateen()?);
    plane.args(["local", "serve", "--ephemeral", "--insecure", "--controllers", "on"]);
    plane.args(["--simulate-pods", "on", "--listen", &format!("127.0.0.1:{port}")]);
    plane.arg("--write-kubeconfig").arg(&kubeconfig);
    let log = work.join(format!("live-{profile}-plane.log"));
    let running = Running::start("lateen local serve", &mut plane, &log)?;
    process::wait_for_port(port, PATIENCE)
        .with_context(|| format!("the plane says:\n{}", process::tail(&log, 20)))?;
    // It listens before it has said how to reach it.
    let started = std::time::Instant::now();
    while !kubeconfig.exists() && started.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok((running, kubeconfig, port))
}

/// The node the recordings were made with, for a cluster that has none.
fn fake_node(options: &Options<'_>, kubeconfig: &Path) -> anyhow::Result<Running> {
    let mut node = Command::new("python3");
    node.arg(options.cases.join("velaconf.py")).arg("fakenode").arg("--kubeconfig").arg(kubeconfig);
    Running::start("velaconf.py fakenode", &mut node, &options.work.join("live-fakenode.log"))
}

fn play(
    options: &Options<'_>,
    profile: &str,
    gates: &str,
    flags: &[&str],
) -> anyhow::Result<Value> {
    let work = options.work;
    let lateen = process::lateen()?;
    let (_cluster, kubeconfig, port) = match options.kubeconfig {
        Some(kubeconfig) => (fake_node(options, kubeconfig)?, kubeconfig.to_owned(), None),
        None => {
            let (plane, kubeconfig, port) = plane(options, profile)?;
            (plane, kubeconfig, Some(port))
        }
    };
    let kubeconfig = kubeconfig.to_str().context("paths are UTF-8")?;
    let installed = Command::new(&lateen)
        .args(["install", "--kubeconfig", kubeconfig])
        .status()
        .context("lateen install")?;
    anyhow::ensure!(installed.success(), "lateen install failed");
    let log = work.join(format!("live-{profile}-controller.log"));
    let controller = |kubeconfig: &str| {
        let mut controller = Command::new(&lateen);
        controller.args(["controller", "--kubeconfig", kubeconfig]).args(SHARED).args(flags);
        controller.args(["--leader-elect=false", "--health-addr=", "--metrics-addr="]);
        controller.arg(format!(
            "--feature-gates=ZstdResourceTracker=true,ZstdApplicationRevision=true{gates}"
        ));
        controller
    };
    // A network of its own, and the kubeconfig that leads through it.
    let network = |port: u16| {
        let (listener, through) = proxy::between(&std::fs::read_to_string(kubeconfig)?, port)?;
        let file = work.join(format!("{}-{profile}.kubeconfig", options.trouble.name()));
        std::fs::write(&file, through)?;
        anyhow::Ok((listener, controller(file.to_str().context("paths are UTF-8")?)))
    };
    let start = |command: &mut Command| Running::start("lateen controller", command, &log);
    let controller = match (options.trouble, port) {
        (Trouble::None, _) => Controller::Whole(start(&mut controller(kubeconfig))?),
        (_, None) => anyhow::bail!("{} are played on a plane alone", options.trouble.name()),
        (Trouble::Deaths(longest), Some(port)) => {
            let (listener, mut command) = network(port)?;
            let log = log.clone();
            let birth = Box::new(move || Running::start("lateen controller", &mut command, &log));
            let calls = work.join(format!("deaths-{profile}.log"));
            Controller::Mortal(Mortal::start(listener, (port, longest), &calls, birth)?)
        }
        (Trouble::Faults(seed), Some(port)) => {
            let (listener, mut command) = network(port)?;
            let network = Faulty::start(listener, port, seed);
            Controller::Harried(start(&mut command)?, network)
        }
    };
    let player = options.cases.join("velaconf.py");
    let report = work.join(format!("live-{profile}.json"));
    let cases = options.cases.join("cases");
    let recordings = options.cases.join("recordings");
    let path = |path: &Path| path.to_str().map(str::to_owned).context("paths are UTF-8");
    let mut arguments = vec![
        path(&player)?,
        "replay".into(),
        "--kubeconfig".into(),
        kubeconfig.into(),
        "--cases".into(),
        path(&cases)?,
        "--recordings".into(),
        path(&recordings)?,
        "--profile".into(),
        profile.into(),
        "--workers".into(),
        if options.trouble == Trouble::None { "8" } else { "2" }.into(),
        "--verbose".into(),
        "1000000".into(),
        "--report".into(),
        path(&report)?,
    ];
    if let Some(only) = options.only {
        arguments.extend(["--only".into(), only.into()]);
    }
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    // That of a run before must not pass for this one's.
    if report.exists() {
        std::fs::remove_file(&report)?;
    }
    let log = work.join(format!("live-{profile}.log"));
    let slower: &[(&str, &str)] = match controller {
        Controller::Mortal(_) | Controller::Harried(..) => &[("VELACONF_TIMEOUT_SCALE", SLOWER)],
        Controller::Whole(_) => &[],
    };
    process::python(&arguments, slower, &log)?;
    match &controller {
        Controller::Whole(_) => {}
        Controller::Mortal(it) => {
            let (deaths, calls) = it.deaths();
            eprintln!("{profile}: {deaths} deaths in {calls} calls");
        }
        Controller::Harried(_, it) => {
            let (faults, requests) = it.faults();
            eprintln!("{profile}: {faults} faults in {requests} requests");
        }
    }
    let text = std::fs::read_to_string(&report)
        .with_context(|| format!("the player says:\n{}", process::tail(&log, 20)))?;
    Ok(serde_json::from_str(&text)?)
}
