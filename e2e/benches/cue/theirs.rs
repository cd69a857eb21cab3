//! The official side: a command that stays resident while it is asked.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use lateen_e2e::measure::resident;
use serde_json::{Value, json};

use crate::side::{Asked, LONGEST, PATIENCE, Question, ROUNDS, Ran, Side};

pub(crate) struct Theirs {
    program: String,
}

/// A running one.
struct Resident {
    child: Child,
    input: ChildStdin,
    output: BufReader<std::process::ChildStdout>,
}

impl Theirs {
    pub(crate) fn new(program: &str) -> Self {
        Self { program: program.to_owned() }
    }

    /// One worker that may grow to what ours may.
    fn start(&self) -> anyhow::Result<Resident> {
        let mut words = self.program.split_whitespace();
        let mut child = Command::new(words.next().context("CUE_ORACLE is empty")?)
            .args(words)
            .args(["-j", "1", "-memory", "3000"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| self.program.clone())?;
        let input = child.stdin.take().context("no standard input")?;
        let output = BufReader::new(child.stdout.take().context("no standard output")?);
        Ok(Resident { child, input, output })
    }
}

impl Resident {
    /// An answer, and the value in it as text where it is nested deeper than can be read.
    fn ask(&mut self, case: &Value) -> anyhow::Result<(Value, Option<String>)> {
        writeln!(self.input, "{case}")?;
        self.input.flush()?;
        let mut line = String::new();
        if self.output.read_line(&mut line)? == 0 {
            bail!("the official side ended");
        }
        match serde_json::from_str(&line) {
            Ok(answer) => Ok((answer, None)),
            Err(error) => {
                let (rest, value) = without_value(&line).ok_or(error)?;
                Ok((serde_json::from_str(&rest)?, Some(value)))
            }
        }
    }

    /// The peak of whatever evaluates for it.
    fn peak(&self) -> u64 {
        let id = self.child.id();
        let mut most = resident(id);
        let tasks = std::fs::read_dir(format!("/proc/{id}/task"));
        for task in tasks.into_iter().flatten().flatten() {
            let children = std::fs::read_to_string(task.path().join("children"));
            let children = children.unwrap_or_default();
            for child in children.split_whitespace().filter_map(|it| it.parse().ok()) {
                most = most.max(resident(child));
            }
        }
        most
    }
}

/// An answer with null for its value, and the value.
fn without_value(line: &str) -> Option<(String, String)> {
    let ends = [("\"json\":", "}],\"micros\":"), ("\"value\":", ",\"text\":")];
    ends.into_iter().find_map(|(before, after)| {
        let from = line.find(before)? + before.len();
        let to = line.rfind(after).filter(|to| *to > from)?;
        Some((format!("{}null{}", &line[..from], &line[to..]), line[from..to].to_owned()))
    })
}

impl Drop for Resident {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Side for Theirs {
    fn ask(&mut self, asked: &Asked) -> anyhow::Result<Ran> {
        let mut resident = self.start()?;
        resident.ask(&json!({"id": 0, "files": {"w.cue": "a: 1"}, "ops": ["export"]}))?;
        let files: serde_json::Map<String, Value> =
            asked.files.iter().map(|(name, text)| (name.clone(), json!(text))).collect();
        let operation = match &asked.question {
            Question::Errors => json!("export"),
            Question::Value(path) if path.is_empty() => json!("export"),
            Question::Value(path) => json!({"op": "lookup", "path": path}),
            Question::Format => json!("syntax"),
        };
        let longest = LONGEST.as_millis() as u64;
        let case = json!({"id": 1, "files": files, "ops": [operation], "timeout_ms": longest});
        let (mut best, mut most, mut value) = (f64::INFINITY, 0, String::new());
        let (began, mut quiet) = (Instant::now(), Duration::ZERO);
        for round in 0..ROUNDS {
            if round > 0 && quiet > PATIENCE {
                break;
            }
            let (answer, deep) = resident.ask(&case)?;
            quiet = began.elapsed();
            if answer["status"] != "ok" {
                let status = answer["status"].as_str().unwrap_or("no status");
                return Ok(Ran::Over(match status {
                    "timeout" => "> 10 s".to_owned(),
                    other => other.to_owned(),
                }));
            }
            best = best.min(answer["micros"].as_f64().context("micros")? / 1e3);
            if round == 0 {
                most = resident.peak();
            }
            let result = &answer["results"][0];
            let got = match &asked.question {
                Question::Errors => &result["json"],
                Question::Value(path) if path.is_empty() => &result["json"],
                Question::Value(_) => &result["facts"]["value"],
                Question::Format => &result["ok"],
            };
            value = match deep {
                Some(deep) => deep,
                None if got.is_null() => String::new(),
                None => got.to_string(),
            };
        }
        Ok(Ran::Done { ms: best, peak: most, value })
    }
}
