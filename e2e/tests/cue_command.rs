//! `lateen cue` beside the official command: the same command lines in folders of the same files, what
//! they print, how they end and which files they leave.
//!
//! `CUE_ORACLE` names what asks the official implementation, as for `make differ`; without it nothing
//! is compared. A line behind `~` is answered differently and known to be (cue-runtime/DIVERGENCES.md).
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use lateen_e2e::bench::{Answer, Home, run};

const CASES: &str = include_str!("cue_command/cases.txt");

/// Command lines and the files they find.
fn cases() -> (Vec<(bool, Vec<String>)>, BTreeMap<&'static str, String>) {
    let mut lines = Vec::new();
    let mut files = BTreeMap::new();
    let mut open: Option<&'static str> = None;
    for line in CASES.lines() {
        let heading = line.strip_prefix("-- ").and_then(|it| it.strip_suffix(" --"));
        match (heading, open) {
            (Some(name), _) => {
                open = Some(name);
                files.insert(name, String::new());
            }
            (None, Some(name)) => {
                let text: &mut String = files.get_mut(name).unwrap();
                text.push_str(line);
                text.push('\n');
            }
            (None, None) if line.is_empty() || line.starts_with('#') => {}
            (None, None) => {
                let known = line.starts_with('~');
                lines.push((known, words(line.trim_start_matches('~'))));
            }
        }
    }
    (lines, files)
}

/// Words of a line, those with blanks in single quotes.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for letter in line.chars() {
        match letter {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            _ => words.last_mut().unwrap().push(letter),
        }
    }
    words.retain(|it| !it.is_empty());
    words
}

/// What a command line did.
#[derive(Debug, PartialEq, Eq)]
struct Done {
    code: i32,
    out: String,
    err: Vec<String>,
    files: BTreeMap<String, String>,
}

/// Runs a command in a folder of its own with the files of the cases.
fn done(mut command: Command, files: &BTreeMap<&str, String>) -> Done {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().canonicalize().unwrap();
    for (name, text) in files {
        let file = place.join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }
    command.current_dir(&place).env("PWD", &place);
    let Answer { code, out, err } = run(&mut command, "");
    let here = place.display().to_string();
    let plain = |text: &str| text.replace(&here, "$WORK");
    let err = plain(err.trim()).lines().map(|it| it.trim_end().to_owned()).collect();
    let mut left = BTreeMap::new();
    let mut open = vec![place.clone()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(&place).unwrap().display().to_string();
                left.insert(name, std::fs::read_to_string(path).unwrap_or_default());
            }
        }
    }
    left.retain(|name, text| files.get(Path::new(name).to_str().unwrap()) != Some(text));
    Done { code, out: plain(&out), err, files: left }
}

#[test]
fn answers_as_the_official_command() {
    let Ok(oracle) = std::env::var("CUE_ORACLE") else {
        eprintln!("CUE_ORACLE names no program to compare with");
        return;
    };
    let home = Home::new();
    let program = oracle.trim().trim_end_matches(" ask").to_owned();
    let (lines, files) = cases();
    assert!(lines.len() > 100, "{} lines", lines.len());
    let mut wrong = Vec::new();
    for (known, line) in &lines {
        let arguments: Vec<&str> =
            std::iter::once("cue").chain(line.iter().map(String::as_str)).collect();
        let mut official = Command::new(&program);
        official.args(&arguments).env("CUE_REGISTRY", "none");
        let official = done(official, &files);
        let ours = done(home.command(&arguments), &files);
        let shown = line.join(" ");
        if (official == ours) == *known {
            wrong.push(match known {
                true => format!("cue {shown}: the same now; take the ~ away"),
                false => format!("cue {shown}\n official {official:#?}\n ours {ours:#?}"),
            });
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), lines.len(), wrong.join("\n"));
}
