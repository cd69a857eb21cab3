//! Command lines of `lateen cue` and of the official command: which there are, and what each did.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use crate::bench::{Answer, Home, run};

/// Command lines and the files that they find.
#[derive(Clone, Debug, Default)]
pub struct Cases {
    /// Their words, and whether they are known to be answered differently: those behind `~`.
    pub lines: Vec<(bool, Vec<String>)>,
    /// Names and texts.
    pub files: BTreeMap<String, String>,
}

impl Cases {
    /// Reads them: a line each, then the files behind `-- name --`.
    pub fn parse(text: &str) -> Self {
        let mut cases = Self::default();
        let mut open: Option<&mut String> = None;
        for line in text.lines() {
            let heading = line.strip_prefix("-- ").and_then(|it| it.strip_suffix(" --"));
            match (heading, &mut open) {
                (Some(name), _) => open = Some(cases.files.entry(name.to_owned()).or_default()),
                (None, Some(text)) => {
                    text.push_str(line);
                    text.push('\n');
                }
                (None, None) if line.is_empty() || line.starts_with('#') => {}
                (None, None) => {
                    let known = line.starts_with('~');
                    cases.lines.push((known, words(line.trim_start_matches('~'))));
                }
            }
        }
        cases
    }
}

/// Words of a line, those with blanks in single quotes.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut quoted = false;
    for letter in line.chars() {
        match letter {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(std::mem::take(&mut word)),
            _ => word.push(letter),
        }
    }
    words.push(word);
    words.retain(|it| !it.is_empty());
    words
}

/// The command that `CUE_ORACLE` names, which takes `cue` and its arguments; none if it is not set.
pub fn official() -> Option<String> {
    let oracle = std::env::var("CUE_ORACLE").ok()?;
    Some(oracle.trim().trim_end_matches(" ask").to_owned())
}

/// What a command line did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    /// Exit code.
    pub code: i32,
    /// The answer.
    pub out: String,
    /// The talk, by lines.
    pub err: Vec<String>,
    /// Files that are others than before.
    pub files: BTreeMap<String, String>,
}

impl Done {
    /// Runs a command in a folder of its own with `files`, which is `$WORK` in what it says.
    ///
    /// # Panics
    /// If the folder cannot be made or the command not be started.
    pub fn of(mut command: Command, files: &BTreeMap<String, String>, input: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let place = folder.path().canonicalize().expect("it is there");
        for (name, text) in files {
            let file = place.join(name);
            std::fs::create_dir_all(file.parent().unwrap_or(&place)).expect("a folder");
            std::fs::write(file, text).expect("a file");
        }
        command.current_dir(&place).env("PWD", &place);
        let Answer { code, out, err } = run(&mut command, input);
        let here = place.display().to_string();
        let plain = |text: &str| text.replace(&here, "$WORK");
        let err = plain(err.trim()).lines().map(|it| it.trim_end().to_owned()).collect();
        let mut left = held(&place);
        left.retain(|name, text| files.get(name) != Some(text));
        Self { code, out: plain(&out), err, files: left }
    }
}

/// What the official `program` and `lateen cue` do with the same words, files and input.
///
/// # Panics
/// As [`Done::of`].
pub fn both(
    (program, home): (&str, &Home),
    words: &[String],
    files: &BTreeMap<String, String>,
    input: &str,
) -> (Done, Done) {
    let arguments: Vec<&str> =
        std::iter::once("cue").chain(words.iter().map(String::as_str)).collect();
    let mut official = Command::new(program);
    official.args(&arguments).env("CUE_REGISTRY", "none");
    (Done::of(official, files, input), Done::of(home.command(&arguments), files, input))
}

/// The files in a folder.
fn held(place: &Path) -> BTreeMap<String, String> {
    let mut held = BTreeMap::new();
    let mut open = vec![place.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
                continue;
            }
            let name = path.strip_prefix(place).unwrap_or(&path).display().to_string();
            held.insert(name, std::fs::read_to_string(path).unwrap_or_default());
        }
    }
    held
}
