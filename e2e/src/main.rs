//! `lateen-e2e conformance`: runs the recorded cases and compares with the committed scores.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::{Parser, Subcommand};
use lateen_e2e::live::Trouble;
use lateen_e2e::score::Scores;
use lateen_e2e::{
    bench, cue_api, cue_eval, cue_sandbox, cue_syntax, cuex, kubeapi, live, vela, vela_backoff,
};

/// Conformance runners of Lateen.
#[derive(Debug, Parser)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Score recorded cases.
    Conformance {
        /// Folder of the cases.
        #[arg(long)]
        cases: PathBuf,
        /// Only runners of this name: cue, cuex, vela, kubeapi, live, or a prefix of a score.
        /// `cuex.cliffs`, `deaths` and `faults` (live) play only when they are named.
        #[arg(long)]
        only: Option<String>,
        /// The committed scores; a difference is a failure.
        #[arg(long)]
        scores: Option<PathBuf>,
        /// Names the cases of `cue` and `cuex` that may fail; another one that does is a failure.
        #[arg(long)]
        open: Option<PathBuf>,
        /// Write the scores there instead of comparing.
        #[arg(long)]
        update: bool,
        /// Print up to this many failures.
        #[arg(long, default_value_t = 0)]
        verbose: usize,
        /// Folder for logs and reports.
        #[arg(long, default_value = "build/conformance")]
        work: PathBuf,
        /// Only live scenarios whose id matches, or the case of `cuex` with this id.
        #[arg(long)]
        scenario: Option<String>,
        /// Only this live profile.
        #[arg(long)]
        profile: Option<String>,
        /// Play the live scenarios on this cluster, which has controllers and no nodes, not on a plane.
        #[arg(long)]
        kubeconfig: Option<PathBuf>,
        /// Calls that leave a trace, after which the controller dies at the latest; for `deaths`.
        #[arg(long, default_value_t = 24)]
        longest: u64,
        /// Where chance begins; for `faults`.
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
}

/// Which live scenarios are played.
struct Live<'a> {
    profile: Option<&'a str>,
    only: Option<&'a str>,
    kubeconfig: Option<&'a Path>,
    longest: u64,
    seed: u64,
}

impl Live<'_> {
    fn play(&self, cases: &Path, work: &Path, trouble: Trouble) -> anyhow::Result<Scores> {
        let Live { profile, only, kubeconfig, .. } = *self;
        let cases = &cases.join("live");
        live::run(&live::Options { cases, work, profile, only, kubeconfig, trouble })
    }
}

type Runner = fn(&Path, &Path, &Live<'_>) -> anyhow::Result<Scores>;

/// What runs only when it is named: half an hour of growing inputs, and scenarios whose controller keeps dying,
/// or hardly reaches its plane.
const APART: &[&str] = &["cuex.cliffs", "deaths", "faults"];

/// Name, and what runs it: cases, work folder, filter.
const RUNNERS: &[(&str, Runner)] = &[
    ("kubeapi", |cases, work, _| {
        kubeapi::run(&cases.join("kubeapi"), work, bench::kubectl().as_deref())
    }),
    ("cue.parse", |cases, _, _| cue_syntax::parsed(cases)),
    ("cue.fmt", |cases, _, _| cue_syntax::formatted(cases)),
    ("cue.eval", |cases, _, _| cue_eval::run(cases, "eval")),
    ("cue.pkg", |cases, _, _| cue_eval::run(cases, "pkg")),
    ("cue.idioms", |cases, _, _| cue_eval::run(cases, "idioms")),
    ("cue.api", |cases, _, _| cue_api::run(cases)),
    ("cue.sandbox", |cases, work, _| cue_sandbox::run(cases, work)),
    ("cue.compat014", |cases, _, _| cue_eval::run_compat(cases)),
    ("cuex.confluence", |cases, work, live| {
        cuex::run(&cases.join("cuex"), work, "confluence", live.only)
    }),
    ("cuex.robust", |cases, work, live| cuex::run(&cases.join("cuex"), work, "robust", live.only)),
    ("cuex.cliffs", |cases, work, live| cuex::run(&cases.join("cuex"), work, "cliffs", live.only)),
    ("vela", |cases, _, _| {
        let mut scores = vela::run(&cases.join("vela"))?;
        scores.merge(vela_backoff::run(&cases.join("vela"))?);
        Ok(scores)
    }),
    ("live", |cases, work, live| live.play(cases, work, Trouble::None)),
    ("deaths", |cases, work, live| live.play(cases, work, Trouble::Deaths(live.longest))),
    ("faults", |cases, work, live| live.play(cases, work, Trouble::Faults(live.seed))),
];

/// Whether a runner plays: all but those apart, one by the name of a score of it, or those of a
/// family (`cue`).
fn is_wanted(name: &str, only: Option<&str>) -> bool {
    let below = |long: &str, short: &str| {
        long.strip_prefix(short).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    match only {
        None => !APART.contains(&name),
        Some(only) => below(only, name) || below(name, only) && !APART.contains(&name),
    }
}

/// Whether any runner goes by this name: a check that plays nothing checks nothing.
fn plays_anything(only: &str) -> bool {
    RUNNERS.iter().any(|(name, _)| is_wanted(name, Some(only)))
}

fn main() -> anyhow::Result<ExitCode> {
    let Command::Conformance {
        cases,
        only,
        scores,
        open,
        update,
        verbose,
        work,
        scenario,
        profile,
        kubeconfig,
        longest,
        seed,
    } = Arguments::parse().command;
    std::fs::create_dir_all(&work).with_context(|| work.display().to_string())?;
    let live = Live {
        profile: profile.as_deref(),
        only: scenario.as_deref(),
        kubeconfig: kubeconfig.as_deref(),
        longest: longest.max(1),
        seed,
    };
    if let Some(unknown) = only.as_deref().filter(|it| !plays_anything(it)) {
        let names: Vec<&str> = RUNNERS.iter().map(|it| it.0).collect();
        anyhow::bail!("no runner is called {unknown:?}; there are {}", names.join(", "));
    }
    let mut fresh = Scores::default();
    let mut played = ExitCode::SUCCESS;
    for (name, runner) in RUNNERS {
        if !is_wanted(name, only.as_deref()) {
            continue;
        }
        let started = std::time::Instant::now();
        match runner(&cases, &work, &live) {
            Ok(scores) => fresh.merge(scores),
            Err(error) => {
                eprintln!("{name}: {error:#}");
                played = ExitCode::FAILURE;
            }
        }
        eprintln!("{name}: {:.1} s", started.elapsed().as_secs_f64());
    }
    for failure in fresh.failures.iter().take(verbose) {
        eprintln!("{failure}");
    }
    print!("{}", fresh.text());
    if let Some(file) = open {
        let named = std::fs::read_to_string(&file).with_context(|| file.display().to_string())?;
        for case in fresh.unnamed(&named) {
            eprintln!("{case} fails and is not named in {}", file.display());
            played = ExitCode::FAILURE;
        }
    }
    let Some(file) = scores else { return Ok(played) };
    let committed = Scores::parse(&std::fs::read_to_string(&file).unwrap_or_default());
    if update {
        let mut all = committed.clone();
        all.replace(&fresh);
        std::fs::write(&file, all.text())?;
        return Ok(played);
    }
    let differences = fresh.differences(&committed);
    for line in &differences {
        eprintln!("differs from {}: {line}", file.display());
    }
    Ok(if differences.is_empty() { played } else { ExitCode::FAILURE })
}

#[cfg(test)]
mod tests {
    use super::{is_wanted, plays_anything};

    #[test]
    fn a_name_that_no_runner_has_is_told() {
        assert!(plays_anything("cue.parse") && plays_anything("vela.patch"));
        assert!(!plays_anything("cue-syntax"));
    }

    #[test]
    fn runners_by_name() {
        assert!(is_wanted("cue.eval", None) && is_wanted("cue.eval", Some("cue")));
        assert!(is_wanted("cue.eval", Some("cue.eval.order")));
        assert!(!is_wanted("cuex.robust", Some("cue")) && !is_wanted("cue.eval", Some("cue.pkg")));
        assert!(!is_wanted("cuex.cliffs", None) && !is_wanted("cuex.cliffs", Some("cuex")));
        assert!(is_wanted("cuex.cliffs", Some("cuex.cliffs")));
    }
}
