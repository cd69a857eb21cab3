//! Bytes of files and of standard input.

use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, OnceLock};

use cue_session::Source;
use cue_syntax::Language;

use crate::Error;
use crate::folder::shown_name;

/// Largest file that is read.
const LARGEST: u64 = 256 << 20;

/// Standard input is kept up to this size, for errors that show it.
const KEPT: usize = 4 << 20;

/// What standard input held.
static STDIN: OnceLock<Arc<str>> = OnceLock::new();

/// The text of a file that was read already; none if it is there no longer, or no plain file.
pub(crate) fn again(path: &Path) -> Option<Arc<str>> {
    if path == Path::new("-") {
        return STDIN.get().cloned();
    }
    // What is no file, a pipe say, may be read only once.
    let known = fs::metadata(path).ok().filter(|it| it.is_file() && it.len() <= LARGEST)?;
    let bytes = fs::read(path).ok().filter(|it| it.len() as u64 == known.len())?;
    Some(String::from_utf8_lossy(&bytes).into())
}

/// A file's bytes; `-` is standard input.
///
/// # Errors
/// It is not there, too large or unreadable.
pub fn bytes(path: &Path) -> Result<Vec<u8>, Error> {
    let name = || path.display().to_string();
    if path == Path::new("-") {
        let mut bytes = Vec::new();
        let limited = std::io::Read::take(std::io::stdin(), LARGEST + 1);
        std::io::Read::read_to_end(&mut { limited }, &mut bytes)
            .map_err(|source| Error::File { file: name(), source })?;
        if bytes.len() as u64 > LARGEST {
            return Err(too_large("-"));
        }
        if bytes.len() <= KEPT {
            // Whoever reads it once more finds nothing; it stays what it was first.
            let _ = STDIN.set(String::from_utf8_lossy(&bytes).into());
        }
        return Ok(bytes);
    }
    let failed = |source: std::io::Error| {
        // In cue's words.
        match source.kind() {
            std::io::ErrorKind::NotFound => {
                Error::Request(format!("stat {}: no such file or directory", absolute(path)))
            }
            std::io::ErrorKind::IsADirectory => {
                Error::Request(format!("read {}: is a directory", absolute(path)))
            }
            _ => Error::File { file: name(), source },
        }
    };
    if fs::metadata(path).map_err(failed)?.len() > LARGEST {
        return Err(too_large(&name()));
    }
    fs::read(path).map_err(failed)
}

fn too_large(name: &str) -> Error {
    Error::Request(format!("{name}: larger than {LARGEST} bytes"))
}

/// A path from the root on, as some messages have it.
pub fn absolute(path: &Path) -> String {
    if path == Path::new("-") {
        return "-".into();
    }
    std::path::absolute(path)
        .map_or_else(|_| path.display().to_string(), |it| cleaned(&it).display().to_string())
}

/// A path without `.` and `..`, by its text alone.
pub(crate) fn cleaned(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if clean.file_name().is_some() => {
                clean.pop();
            }
            Component::ParentDir if clean.has_root() => {}
            Component::ParentDir
            | Component::Prefix(_)
            | Component::RootDir
            | Component::Normal(_) => clean.push(part),
        }
    }
    clean
}

/// A CUE file; bytes that are not UTF-8 count as U+FFFD.
///
/// # Errors
/// It cannot be read.
pub(crate) fn source(path: &Path, language: &Language) -> Result<Source, Error> {
    Ok(text(shown_name(path), &bytes(path)?, language))
}

/// The bytes of a CUE file as its text.
pub(crate) fn text(name: String, bytes: &[u8], language: &Language) -> Source {
    let source = Source::new(name, String::from_utf8_lossy(bytes).into_owned());
    Source { language: language.text().to_owned(), ..source }
}
