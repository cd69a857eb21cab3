//! Style as a test: one function per rule of docs/STYLE.md that a lint cannot hold.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a folder").to_path_buf()
}

/// Files of the repository with this ending, as (path from the root, text).
fn files(ending: &str) -> Vec<(String, String)> {
    let root = root();
    let mut found = Vec::new();
    let mut open = vec![root.clone()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).expect("a folder").flatten() {
            let path = entry.path();
            let name = entry.file_name().to_string_lossy().into_owned();
            if path.is_dir() {
                if !matches!(name.as_str(), "target" | "build" | ".git") {
                    open.push(path);
                }
            } else if name.ends_with(ending) {
                let short =
                    path.strip_prefix(&root).expect("it is below").to_string_lossy().into_owned();
                found.push((short, fs::read_to_string(&path).unwrap_or_default()));
            }
        }
    }
    found.sort();
    assert!(!found.is_empty(), "no {ending} files: the walk is broken");
    found
}

#[track_caller]
fn none(rule: &str, broken: &[String]) {
    assert!(broken.is_empty(), "{rule}:\n  {}", broken.join("\n  "));
}

/// Lines before the tests of a file.
fn lines_without_tests(text: &str) -> usize {
    text.split("#[cfg(test)]").next().unwrap_or(text).lines().count()
}

/// Files that are overdue for a split; the list only gets shorter.
const OVERDUE: &[&str] = &["definitions/src/lib.rs"];

#[test]
fn rust_files_open_with_their_question() {
    let broken: Vec<String> = files(".rs")
        .into_iter()
        .filter(|(_, text)| !text.starts_with("//!"))
        .map(|(path, _)| path)
        .collect();
    none("a file opens with //!: which question it answers (style 1)", &broken);
}

#[test]
fn no_file_is_longer_than_900_lines() {
    let broken: Vec<String> = files(".rs")
        .into_iter()
        .map(|(path, text)| (path, lines_without_tests(&text)))
        .filter(|(path, lines)| *lines > 900 && !OVERDUE.contains(&path.as_str()))
        .map(|(path, lines)| format!("{path}: {lines}"))
        .collect();
    none("over 900 lines there is a second subject (style 1)", &broken);
}

#[test]
fn crate_roots_are_short() {
    let broken: Vec<String> = files("lib.rs")
        .into_iter()
        .map(|(path, text)| (path, lines_without_tests(&text)))
        .filter(|(path, lines)| *lines > 120 && !OVERDUE.contains(&path.as_str()))
        .map(|(path, lines)| format!("{path}: {lines}"))
        .collect();
    none("a crate root is docs, modules, re-exports, at most 120 lines (style 1)", &broken);
}

#[test]
fn rooms_have_a_subject_in_their_name() {
    let vague = ["util", "utils", "helper", "helpers", "common", "misc"];
    let broken: Vec<String> = files(".rs")
        .into_iter()
        .map(|(path, _)| path)
        .filter(|path| {
            Path::new(path).components().any(|part| {
                let part = part.as_os_str().to_string_lossy();
                vague.contains(&part.trim_end_matches(".rs"))
            })
        })
        .collect();
    none("no utils, helpers, common, misc (style 1)", &broken);
}

#[test]
fn tests_are_not_switched_off() {
    let marks = [concat!("#[", "ignore"), concat!("#[should_", "panic")];
    let broken: Vec<String> = files(".rs")
        .into_iter()
        .filter(|(_, text)| marks.iter().any(|mark| text.contains(mark)))
        .map(|(path, _)| path)
        .collect();
    none("no ignored tests, no should_panic (style 6)", &broken);
}

#[test]
fn the_engine_has_no_client_and_no_runtime() {
    let manifest = fs::read_to_string(root().join("engine/Cargo.toml")).unwrap();
    let broken: Vec<String> = ["kube", "tokio", "wasmtime", "cue-host", "reqwest"]
        .into_iter()
        .filter(|name| {
            manifest
                .lines()
                .any(|line| line.split(['.', ' ', '=']).next().is_some_and(|it| it == *name))
        })
        .map(str::to_owned)
        .collect();
    none("engine depends on neither clients nor runtimes (style 7)", &broken);
}

#[test]
fn cue_is_never_async() {
    let broken: Vec<String> = files(".rs")
        .into_iter()
        .filter(|(path, text)| {
            (path.starts_with("cue-runtime/") || path.starts_with("local/merge/"))
                && text.contains("async fn")
        })
        .map(|(path, _)| path)
        .collect();
    none("cue-* and local-merge are synchronous (style 7)", &broken);
}

#[test]
fn make_targets_are_short() {
    let makefile = fs::read_to_string(root().join("Makefile")).unwrap();
    let mut broken = Vec::new();
    let mut target = String::new();
    let mut lines = 0;
    for line in makefile.lines() {
        if line.starts_with('\t') {
            lines += 1;
            if lines > 3 {
                broken.push(target.clone());
            }
        } else {
            target = line.to_owned();
            lines = 0;
        }
    }
    none("make targets have three lines at most (style 10)", &broken);
}
