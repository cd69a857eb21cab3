//! fmt: files written again as `cue fmt` writes them.

use std::path::{Path, PathBuf};

use cue_syntax::{LineIndex, Style, format_tree, parse_tree};

use crate::{Error, diagnostic};

/// What to do with what is not formatted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Write the file.
    Write,
    /// `--check`: only name it.
    Check,
    /// `-d`: show the difference, which is for the caller.
    Show,
}

/// One text as it should be.
///
/// # Errors
/// What keeps it from being parsed.
pub fn text(name: &str, text: &str, style: Style) -> Result<String, Error> {
    let (tree, errors) = parse_tree(text);
    if errors.is_empty() {
        return Ok(format_tree(&tree, style));
    }
    let lines = LineIndex::new(text);
    let all = errors.iter().map(|it| {
        let (line, column) = lines.at(it.span.start);
        diagnostic(it.message.as_str(), Some((name, line, column)))
    });
    Err(Error::Diagnostics(all.collect()))
}

/// A file that was not formatted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// Its name.
    pub file: String,
    /// What it held.
    pub before: String,
    /// What it should hold.
    pub after: String,
}

impl Changed {
    /// The lines that differ, old ones after `-`, new ones after `+`.
    pub fn difference(&self) -> String {
        similar::TextDiff::from_lines(&self.before, &self.after)
            .unified_diff()
            .header(&format!("{}.orig", self.file), &self.file)
            .to_string()
    }
}

/// Formats files and the CUE files of folders; `dir/...` is a folder and all below.
///
/// # Errors
/// A file that cannot be read, parsed or written; those before it are done.
pub fn files(arguments: &[String], style: Style, action: Action) -> Result<Vec<Changed>, Error> {
    let mut changed = Vec::new();
    for file in found(arguments)? {
        let name = file.display().to_string();
        let failed = |source| Error::File { file: name.clone(), source };
        let before = std::fs::read_to_string(&file).map_err(failed)?;
        let after = text(name.trim_start_matches("./"), &before, style)?;
        if after == before {
            continue;
        }
        if action == Action::Write {
            std::fs::write(&file, &after).map_err(failed)?;
        }
        changed.push(Changed { file: name, before, after });
    }
    Ok(changed)
}

fn found(arguments: &[String]) -> Result<Vec<PathBuf>, Error> {
    let mut all = Vec::new();
    let here = [String::from(".")];
    for argument in if arguments.is_empty() { &here[..] } else { arguments } {
        let (folder, depth) = match argument.strip_suffix("...") {
            Some(folder) => (if folder.is_empty() { "." } else { folder }, Depth::All),
            None => (argument.as_str(), Depth::One),
        };
        let path = Path::new(folder);
        if path.is_dir() {
            walk(path, depth, &mut all)?;
        } else {
            all.push(path.to_owned());
        }
    }
    Ok(all)
}

/// How far below a folder files are looked for.
#[derive(Clone, Copy, PartialEq)]
enum Depth {
    One,
    All,
}

fn walk(folder: &Path, depth: Depth, all: &mut Vec<PathBuf>) -> Result<(), Error> {
    let failed = |source| Error::File { file: folder.display().to_string(), source };
    let mut paths: Vec<PathBuf> = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        paths.push(entry.map_err(failed)?.path());
    }
    paths.sort();
    for path in paths {
        let name = path.file_name().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
        if path.is_dir() {
            // A link to a folder could lead back here.
            if depth == Depth::All
                && !name.starts_with(['.', '_'])
                && name != "cue.mod"
                && !path.is_symlink()
            {
                walk(&path, depth, all)?;
            }
        } else if name.ends_with(".cue") {
            all.push(path);
        }
    }
    Ok(())
}
