//! Backoff of workflows: counters of steps and caps in, seconds out.

use std::path::Path;

use anyhow::Context;
use lateen_engine::workflow::backoff::{After, Caps};
use serde_json::Value;

use crate::score::Scores;

/// Scores `vela.backoff` on the cases of the folder `vela`.
///
/// # Errors
/// A file of cases cannot be read.
pub fn run(vela: &Path) -> anyhow::Result<Scores> {
    let path = vela.join("durations-backoff/cases.jsonl");
    let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let mut scores = Scores::default();
    for line in text.lines().filter(|it| !it.is_empty()) {
        let case: Value = serde_json::from_str(line)?;
        let number = |key: &str| case[key].as_i64().unwrap_or_default();
        let caps = Caps { wait: number("maxWait"), failed: number("maxFailed") };
        let counters = ["counters", "subCounters"]
            .into_iter()
            .flat_map(|key| case[key].as_array().into_iter().flatten())
            .filter_map(Value::as_i64);
        let after = if case["failedStep"] == true { After::Failure } else { After::Wait };
        let got = caps.seconds(counters, after);
        let want = case["expected"]["seconds"].as_i64();
        let id = case["id"].as_str().unwrap_or_default();
        scores.check("vela.backoff", id, want == Some(got), || format!("{want:?} but {got}"));
    }
    Ok(scores)
}
