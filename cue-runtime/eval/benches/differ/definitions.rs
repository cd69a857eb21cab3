//! Programs as `def` prints them, with an official command that does the same.

use std::process::{Command, Stdio};
use std::sync::Arc;

use cue_eval::Evaluation;
use cue_eval::evaluation::compile_text;

use crate::{BUDGET, shrink};

/// Prints where texts differ of what the official command prints; `shown` of them, cut down.
pub(crate) fn run(command: &str, texts: &[String], mut shown: u64) -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(|it| it.to_string())?;
    let file = folder.path().join("in.cue");
    let official = |text: &str| -> Result<Option<String>, String> {
        std::fs::write(&file, text).map_err(|it| it.to_string())?;
        let mut words = command.split_whitespace();
        let output = Command::new(words.next().unwrap_or_default())
            .args(words)
            .arg(&file)
            .stderr(Stdio::null())
            .output()
            .map_err(|it| format!("{command}: {it}"))?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        Ok(output.status.success().then_some(text))
    };
    let otherwise = |text: &str, theirs: &str| ours(text).filter(|it| it != theirs);
    let (mut printed, mut found) = (0, 0);
    for text in texts {
        let Some(theirs) = official(text)? else { continue };
        printed += 1;
        if otherwise(text, &theirs).is_none() {
            continue;
        }
        found += 1;
        if shown == 0 {
            continue;
        }
        shown -= 1;
        let text = shrink::cut(text, |texts| {
            for (at, text) in texts.iter().enumerate() {
                if official(text)?.is_some_and(|it| otherwise(text, &it).is_some()) {
                    return Ok(Some(at));
                }
            }
            Ok(None)
        })?;
        let (ours, theirs) =
            (ours(&text).unwrap_or_default(), official(&text)?.unwrap_or_default());
        println!("== {}\n-- ours:\n{ours}-- official:\n{theirs}", text.trim());
    }
    println!("{} programs, {printed} that def prints, {found} otherwise here", texts.len());
    Ok(())
}

/// What is printed, of a program that has no errors of its own.
fn ours(text: &str) -> Option<String> {
    let program = compile_text(text).ok()?;
    let mut it = Evaluation::start(Arc::new(program), &[], BUDGET);
    it.find("").ok()??;
    Some(it.definition())
}
