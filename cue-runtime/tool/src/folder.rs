//! Packages in folders: which files of a folder and of those above it make up a package.

use std::fs;
use std::path::{Component, Path, PathBuf};

use cue_session::{Diagnostic, Source};
use cue_syntax::Language;

use crate::Error;
use crate::condition::{Flags, excluded};
use crate::error::unparsed;
use crate::read;

/// A package as it was found.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) package: Option<String>,
    pub(crate) sources: Vec<Source>,
    /// Names of the other files of the folder whose ending is known.
    pub(crate) data: Vec<PathBuf>,
    /// Files that were left out, and why.
    left_out: Vec<(String, String)>,
    /// How many files of the package were left out.
    pub(crate) excluded: usize,
    /// What keeps files of the folder, and of those above it, from being parsed, of whichever package they are.
    pub(crate) wrong: Vec<Diagnostic>,
}

impl Found {
    /// Whether there are files of CUE, of whichever package and even if all are left out.
    pub(crate) fn has_cue(&self) -> bool {
        !self.sources.is_empty() || !self.left_out.is_empty() || self.excluded > 0
    }

    /// Why there is nothing.
    pub(crate) fn nothing(&self, shown: &str) -> Error {
        let hidden = |name: &str| name.rsplit('/').next().is_some_and(|it| it.starts_with('_'));
        if self.left_out.is_empty() && self.data.is_empty() {
            return Error::Request(unmatched(shown));
        }
        if self.left_out.iter().all(|it| hidden(&it.0)) {
            return Error::Request(format!("no CUE files in {shown}"));
        }
        let mut text = format!("build constraints exclude all CUE files in {shown}:");
        for (file, reason) in &self.left_out {
            text.push_str(&format!("\n    {}: {reason}", dotted(file)));
        }
        Error::Request(text)
    }
}

/// That there is no package where an argument looks for some.
pub(crate) fn unmatched(path: &str) -> String {
    format!("cue: {path:?} matched no packages")
}

/// That a package is not in the folders where it should be.
pub(crate) fn no_files(path: &str, name: &str, excluded: usize) -> String {
    let excluded = match excluded {
        0 => String::new(),
        many => format!(" ({many} files were excluded)"),
    };
    format!(
        "cannot find package {path:?}: no files in package directory with package name \
         {name:?}{excluded}"
    )
}

/// A relative name as it is told.
pub(crate) fn dotted(name: &str) -> String {
    if name.starts_with(['/', '.', '-']) { name.to_owned() } else { format!("./{name}") }
}

/// Where a package is looked for.
pub(crate) struct Place<'a> {
    /// The folder.
    pub(crate) folder: &'a Path,
    /// Its module: files of the same package above it, up to there, belong to it.
    pub(crate) root: Option<&'a Path>,
    /// The package, where one was named.
    pub(crate) package: Option<&'a str>,
    /// How the folder is told in messages.
    pub(crate) shown: &'a str,
    /// Whether it is one of all below a folder.
    pub(crate) is_sought: bool,
    /// The language its files are written in.
    pub(crate) language: &'a Language,
}

/// Reads a package. Nothing found is no error yet.
///
/// # Errors
/// Files of several packages; one that cannot be read or parsed.
pub(crate) fn package(place: &Place<'_>, flags: &Flags<'_>) -> Result<Found, Failed> {
    let mut found = Found { package: place.package.map(str::to_owned), ..Found::default() };
    let mut first: Option<String> = None;
    let mut own = true;
    for here in upwards(place) {
        let here = here.as_path();
        let mut added = false;
        for path in files(here)? {
            let base = base(&path);
            if !base.ends_with(".cue") {
                if own {
                    found.data.push(path);
                }
                continue;
            }
            let name = shown_name(&path);
            if base.starts_with(['.', '_']) {
                if own {
                    let prefix = &base[..1];
                    found.left_out.push((name, format!("filename starts with a '{prefix}'")));
                }
                continue;
            }
            let source = read::source(&path, place.language)?;
            let parsed = cue_syntax::parse_as(&source.text, place.language);
            if !parsed.errors.is_empty() {
                found.wrong.extend(unparsed(&source.name, &source.text, &parsed.errors));
            }
            let named = parsed.file.package.as_ref().map(|it| it.name.to_string());
            let Some(named) = named.filter(|it| it != "_") else {
                if own {
                    found.left_out.push((name, "no package name".into()));
                }
                continue;
            };
            let other = found.package.as_ref().is_some_and(|it| *it != named);
            match excluded(&source, &parsed.file, flags) {
                Ok(None) => {}
                Ok(Some(reason)) => {
                    found.excluded += usize::from(!other);
                    if own {
                        found.left_out.push((name, reason));
                    }
                    added |= !other;
                    continue;
                }
                Err(wrong) => return Err(Error::Diagnostics(wrong).into()),
            }
            match &found.package {
                Some(wanted) if other => {
                    if let (true, None, Some(first)) = (own, place.package, &first) {
                        let folder = place.folder.file_name().unwrap_or_default();
                        let (one, other) = ((&**wanted, &**first), (&*named, &*base));
                        // In a module a package named after the folder is the one that is meant.
                        let after = folder == wanted.as_str() || folder == named.as_str();
                        if place.root.is_some() && (place.is_sought || !after) {
                            let shown = place.shown.trim_start_matches("./");
                            let text = several(one, other, shown);
                            return Err(Failed::Altogether(Error::Request(text)));
                        }
                        return Err(Error::Request(several(one, other, place.shown)).into());
                    }
                    if own {
                        let reason = format!("package is {named}, want {wanted}");
                        found.left_out.push((name, reason));
                    }
                    continue;
                }
                Some(_) => {}
                None => {
                    found.package = Some(named);
                    first = Some(base.clone());
                }
            }
            added = true;
            match of_other_commands(&base) {
                None => found.sources.push(source),
                Some(reason) => {
                    found.excluded += 1;
                    found.left_out.push((name, reason.into()));
                }
            }
        }
        // What is above belongs to the package only if there is one.
        if own && (!added || found.package.is_none()) {
            break;
        }
        own = false;
    }
    found.sources.sort_by_key(|it| place_of(&it.name));
    Ok(found)
}

/// Why a file is left out that only tests or `cue cmd` read.
pub(crate) fn of_other_commands(name: &str) -> Option<&'static str> {
    if name.ends_with("_test.cue") {
        return Some("_test.cue files excluded in non-test mode");
    }
    name.ends_with("_tool.cue").then_some("_tool.cue files excluded in non-cmd mode")
}

/// The folder, and those above it up to the root of its module.
fn upwards(place: &Place<'_>) -> Vec<PathBuf> {
    let below = place.root.zip(fs::canonicalize(place.folder).ok());
    let below = below.and_then(|(root, it)| Some(it.strip_prefix(root).ok()?.components().count()));
    let folder = std::path::absolute(place.folder).unwrap_or_else(|_| place.folder.to_owned());
    let folder = read::cleaned(&folder);
    folder.ancestors().take(below.unwrap_or_default() + 1).map(Path::to_owned).collect()
}

/// Where a file stands among others: standard input comes first, then those of folders further up, those of one folder
/// by name.
pub(crate) fn place_of(name: &str) -> (bool, usize, String) {
    let dotted = dotted(name);
    (name != "-", dotted.matches('/').count(), dotted)
}

/// That files are of several packages.
pub(crate) fn several(one: (&str, &str), other: (&str, &str), shown: &str) -> String {
    let ((one, file), (other, second)) = (one, other);
    format!("found packages {one:?} ({file}) and {other:?} ({second}) in {shown:?}")
}

/// Why a package cannot be loaded.
pub(crate) enum Failed {
    /// Nothing else is loaded either: it cannot be told which packages are meant.
    Altogether(Error),
    /// It alone is not.
    Alone(Error),
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Failed::Alone(error)
    }
}

impl From<Failed> for Error {
    fn from(failed: Failed) -> Self {
        let (Failed::Altogether(error) | Failed::Alone(error)) = failed;
        error
    }
}

/// The files of a folder by name.
pub(crate) fn files(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let failed = |source| Error::File { file: folder.display().to_string(), source };
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Most folders that one pattern looks into.
const FOLDERS: usize = 100_000;

/// A folder and all below it that packages are looked for in, parents first.
///
/// # Errors
/// A folder that cannot be read.
pub(crate) fn below(top: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut found = Vec::new();
    let mut open = vec![top.to_owned()];
    while let Some(folder) = open.pop() {
        if found.len() >= FOLDERS {
            return Err(Error::Request(format!(
                "more than {FOLDERS} folders below {}",
                top.display()
            )));
        }
        let failed = |source| Error::File { file: folder.display().to_string(), source };
        let mut inner: Vec<PathBuf> = Vec::new();
        for entry in fs::read_dir(&folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            let name = base(&path);
            let skipped = name.starts_with(['.', '_'])
                || name == "testdata"
                || name == "cue.mod"
                || path.is_symlink();
            // A folder with a module of its own is not part of this one.
            if !skipped && path.is_dir() && !path.join("cue.mod").is_dir() {
                inner.push(path);
            }
        }
        inner.sort();
        open.extend(inner.into_iter().rev());
        found.push(folder);
    }
    Ok(found)
}

pub(crate) fn base(path: &Path) -> String {
    path.file_name().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default()
}

/// A path as messages have it: relative to the working folder.
pub(crate) fn shown_name(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    if path == Path::new("-") || !here.has_root() {
        return path.display().to_string();
    }
    let clean = read::cleaned(&here.join(path));
    let both = here.components().zip(clean.components());
    let shared = both.take_while(|(one, other)| one == other).count();
    let up = here.components().skip(shared).map(|_| Component::ParentDir);
    let relative: PathBuf = up.chain(clean.components().skip(shared)).collect();
    relative.display().to_string()
}
