//! How long programs take on both sides: those of which ours takes longer are shown.

use std::sync::Arc;
use std::time::{Duration, Instant};

use cue_eval::{Concreteness, Evaluation};

/// What takes less says nothing.
const WORTH: Duration = Duration::from_millis(2);

/// Lines of a program that are shown, and how much of each.
const LINES: usize = 14;
const WIDTH: usize = 150;

/// Shows up to `shown` of the programs that take more than `times` as long as officially, the worst last.
pub fn run(oracle: &str, texts: &[String], times: u64, shown: u64) -> Result<(), String> {
    let mut slower = Vec::new();
    let mut asked = 0;
    for texts in texts.chunks(crate::BATCH) {
        for (text, answer) in texts.iter().zip(crate::asked(oracle, texts, &["export"])?) {
            // No answer, or none in its time.
            if answer["status"] != "ok" {
                continue;
            }
            let theirs = Duration::from_micros(answer["micros"].as_u64().unwrap_or(u64::MAX));
            let is_slower = |ours: &Duration| *ours > WORTH && *ours > theirs * times as u32;
            asked += 1;
            // Once may be an accident.
            let twice = |once: Duration| once.min(took(text));
            let ours = Some(took(text)).filter(is_slower).map(twice).filter(is_slower);
            if let Some(ours) = ours {
                slower.push((ours.as_secs_f64() / theirs.as_secs_f64(), ours, theirs, text));
            }
        }
    }
    slower.sort_by(|one, other| one.0.total_cmp(&other.0));
    println!("{asked} programs, {} of them slower", slower.len());
    let first = slower.len().saturating_sub(shown as usize);
    for (factor, ours, theirs, text) in &slower[first..] {
        println!("== {factor:.1} times as long: {ours:?}, officially {theirs:?}");
        if std::env::var_os("WHOLE").is_some() {
            println!("{text}");
            continue;
        }
        let lines: Vec<&str> = text.trim().lines().collect();
        let cut = |line: &str| line.chars().take(WIDTH).collect::<String>();
        for line in lines.iter().take(LINES) {
            println!("{}", cut(line));
        }
        if let Some(more) = lines.len().checked_sub(LINES).filter(|it| *it > 0) {
            println!("… and {more} more, the last: {}", cut(lines[lines.len() - 1]));
        }
    }
    Ok(())
}

/// How long it takes from the text to the value or its errors.
fn took(text: &str) -> Duration {
    let started = Instant::now();
    if let Ok(program) = crate::compiled(text) {
        let asked = std::panic::catch_unwind(|| {
            let mut it = Evaluation::start(Arc::new(program), &[], crate::BUDGET);
            let Ok(Some(root)) = it.find("") else { return };
            if it.validate(root, Concreteness::Required).is_empty() {
                drop(it.datum(root));
            }
        });
        if asked.is_err() {
            println!("== panic\n{text}");
        }
    }
    started.elapsed()
}
