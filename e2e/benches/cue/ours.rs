//! Our side: this program again, as a process of its own, natively.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context;
use cue_session::{
    Budget, Concreteness, Error, NativeRuntime, Profile, ProgramSpec, Runtime, Source,
};
use cue_syntax::{Style, format_tree, parse_tree};
use lateen_e2e::measure::resident;
use serde_json::{Value, json};

use crate::side::{Asked, LONGEST, PATIENCE, Question, ROUNDS, Ran, Side};

/// The argument that makes this program play one input.
pub(crate) const PLAY: &str = "--play";

/// What a command line may use (cue-tool), and more memory.
const BUDGET: Budget = Budget { ticks: 100_000_000, depth: 100_000, bytes: 2 << 30 };

pub(crate) struct Ours {
    program: PathBuf,
    folder: tempfile::TempDir,
}

impl Ours {
    pub(crate) fn new() -> anyhow::Result<Self> {
        Ok(Self { program: std::env::current_exe()?, folder: tempfile::tempdir()? })
    }
}

impl Side for Ours {
    fn ask(&mut self, asked: &Asked) -> anyhow::Result<Ran> {
        let file = self.folder.path().join("asked.json");
        let (path, errors) = match &asked.question {
            Question::Value(path) => (json!(path), false),
            Question::Errors => (json!(""), true),
            Question::Format => (Value::Null, false),
        };
        let asked = json!({"files": asked.files, "path": path, "errors": errors});
        std::fs::write(&file, asked.to_string())?;
        let answer = self.folder.path().join("answer.json");
        let mut child = Command::new(&self.program)
            .arg(PLAY)
            .arg(&file)
            .stdout(std::fs::File::create(&answer)?)
            .stderr(Stdio::null())
            .spawn()?;
        let started = Instant::now();
        while child.try_wait()?.is_none() {
            if started.elapsed() > 2 * LONGEST {
                child.kill()?;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        let told = std::fs::read_to_string(&answer)?;
        let Ok(told) = serde_json::from_str::<Value>(&told) else {
            return Ok(Ran::Over("no answer".into()));
        };
        let ms = told["ms"].as_f64().context("a time")?;
        if ms > LONGEST.as_secs_f64() * 1e3 {
            return Ok(Ran::Over("> 10 s".into()));
        }
        let value = told["value"].as_str().unwrap_or_default().to_owned();
        Ok(Ran::Done { ms, peak: told["peak"].as_u64().unwrap_or(0), value })
    }
}

/// Plays the input in a file and prints what came of it.
pub(crate) fn play(file: &Path) -> ExitCode {
    match NativeRuntime::on_deep_stack(|| played(file)).map_err(Into::into).flatten() {
        Ok(told) => {
            println!("{told}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn played(file: &Path) -> anyhow::Result<Value> {
    let asked: Value = serde_json::from_str(&std::fs::read_to_string(file)?)?;
    let files: Vec<(String, String)> = serde_json::from_value(asked["files"].clone())?;
    let path = asked["path"].as_str().map(str::to_owned);
    let wanted = if asked["errors"] == json!(true) { Wanted::Errors } else { Wanted::Value };
    drop(asked);
    let runtime = NativeRuntime::default();
    evaluate(&runtime, &[("w.cue".to_owned(), "a: 1".to_owned())], "", Wanted::Value);
    let started = Instant::now();
    let (mut best, mut most, mut value) = (f64::INFINITY, 0, String::new());
    for round in 0..ROUNDS {
        if round > 0 && started.elapsed() > PATIENCE {
            break;
        }
        let began = Instant::now();
        let got = match &path {
            Some(path) => evaluate(&NativeRuntime::default(), &files, path, wanted),
            None => format(&files),
        };
        best = best.min(began.elapsed().as_secs_f64() * 1e3);
        if round == 0 {
            most = resident(std::process::id());
        }
        value = got;
    }
    Ok(json!({"ms": best, "peak": most, "value": value}))
}

/// What is told of a program.
#[derive(Clone, Copy)]
enum Wanted {
    Value,
    /// All that is wrong, before the value.
    Errors,
}

/// JSON of the value, empty for an error.
fn evaluate(
    runtime: &NativeRuntime,
    files: &[(String, String)],
    path: &str,
    wanted: Wanted,
) -> String {
    let spec = ProgramSpec {
        sources: files.iter().map(|(name, text)| Source::new(name, text)).collect(),
        packages: Vec::new(),
        profile: Profile::V017,
    };
    let answer = runtime
        .compile(spec)
        .and_then(|program| runtime.start(&program, Vec::new(), BUDGET))
        .and_then(|mut session| {
            if let Wanted::Errors = wanted {
                let wrong = session.validate(path, Concreteness::Required)?;
                if !wrong.is_empty() {
                    return Err(Error::Diagnostics(wrong));
                }
            }
            session.json(path)
        });
    match answer {
        Ok(text) => text.unwrap_or_default(),
        Err(error) => {
            // In one piece: what is measured is telling it, not writing it bit by bit.
            let told = error.to_string();
            eprintln!("{told}");
            String::new()
        }
    }
}

fn format(files: &[(String, String)]) -> String {
    let mut all = 0;
    for (_, text) in files {
        let (tree, _) = parse_tree(text);
        all += format_tree(&tree, Style::Plain).len();
    }
    all.to_string()
}
