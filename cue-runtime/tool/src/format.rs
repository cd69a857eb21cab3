//! fmt: files written again as `cue fmt` writes them.

use std::path::{Path, PathBuf};

use cue_session::Source;
use cue_syntax::tree::Tree;
use cue_syntax::{Language, LineIndex, Style, format_tree, parse_tree_as};

use crate::data::Encoding;
use crate::difference::hunks;
use crate::error::{diagnostic, unparsed};
use crate::experiments;
use crate::filetype::{self, Form};
use crate::folder::{self, shown_name};
use crate::{Error, form, load, module, read, tags};

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
    Ok(format_tree(&parsed(name, text, &Language::NEWEST)?, style))
}

/// The tree of a text, or what keeps it from being parsed.
pub(crate) fn parsed(name: &str, text: &str, language: &Language) -> Result<Tree, Error> {
    let (tree, errors) = parse_tree_as(text, language);
    if errors.is_empty() {
        return Ok(tree);
    }
    Err(Error::Diagnostics(unparsed(name, text, &errors)))
}

/// A file as it should be, which can be parsed as well as it could before.
fn rewritten(name: &str, text: &str, style: Style, language: &Language) -> Result<String, Error> {
    let tree = parsed(name, text, language)?;
    let formatted = format_tree(&tree, style);
    match broken_by(&tree, &formatted, language) {
        Some((at, message)) => {
            let (line, column) = LineIndex::new(text).at(at);
            let message = format!("comment cannot stand here: formatted, {message}");
            Err(diagnostic(message, Some((name, line, column))).into())
        }
        None => Ok(formatted),
    }
}

/// The comment that breaks the text which is made of a tree, and how: behind what ends on its line it ends it, where
/// a parenthesis or a colon follows. The official formatter writes such a text all the same.
fn broken_by(tree: &Tree, formatted: &str, language: &Language) -> Option<(u32, String)> {
    if tree.comments.is_empty() {
        return None;
    }
    let (again, errors) = parse_tree_as(formatted, language);
    let error = errors.into_iter().next()?;
    let said = |tree: &Tree| {
        let mut all: Vec<u32> = tree.comments.values().flatten().map(|it| it.at).collect();
        all.sort_unstable();
        all
    };
    // They stay in order, so that the last one before the error is as far in the text as it was.
    let (before, after) = (said(tree), said(&again));
    let last = after.partition_point(|it| *it <= error.span.start).saturating_sub(1);
    Some((before.get(last).or(before.last()).copied()?, error.message))
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
        let Changed { file, before, after } = self;
        let hunks = hunks(before, after);
        format!("diff {file}.orig {file}\n--- {file}.orig\n+++ {file}\n{hunks}")
    }
}

/// What the arguments are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wanted {
    /// Packages and files, as for the other commands.
    #[default]
    Packages,
    /// `--files`: files and folders, which are looked through.
    Files,
}

/// What is formatted, and how.
#[derive(Clone, Debug)]
pub struct Request {
    /// Files, folders, packages; `-` is standard input.
    pub arguments: Vec<String>,
    /// What they are.
    pub wanted: Wanted,
    /// `-s`
    pub style: Style,
    /// What becomes of it.
    pub action: Action,
}

/// What came of it.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Standard input, formatted, where that is what was asked for.
    pub output: String,
    /// What was not formatted.
    pub changed: Vec<Changed>,
}

/// Formats files; the packages before the first that fails are done.
///
/// # Errors
/// A file that cannot be read, parsed or written, and what was done before.
pub fn files(request: &Request) -> Result<Outcome, (Outcome, Error)> {
    let mut outcome = Outcome::default();
    let found = experiments::check().and_then(|()| match request.wanted {
        Wanted::Packages => packages(&request.arguments),
        Wanted::Files => walked(&request.arguments).map(|it| (it, None)),
    });
    let done = found.and_then(|(found, failed)| {
        found.iter().try_for_each(|it| group(it, request, &mut outcome))?;
        failed.map_or(Ok(()), Err)
    });
    match done {
        Ok(()) => Ok(outcome),
        Err(error) => Err((outcome, error)),
    }
}

/// A file, and what may stand in it where that was said.
type Wished = (PathBuf, Option<Form>);

/// Files of which none is touched if one cannot be parsed.
fn group(paths: &[Wished], request: &Request, outcome: &mut Outcome) -> Result<(), Error> {
    let mut made = Vec::with_capacity(paths.len());
    let mut wrong = Vec::new();
    for (path, form) in paths {
        let mut name = shown_name(path);
        let bytes = read::bytes(path)?;
        let before = match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
        };
        // Files that are looked for are taken as in no module.
        let module = match request.wanted {
            // One that does not say its language is taken as it is.
            Wanted::Packages => module::around(folder_of(path)).ok().flatten(),
            Wanted::Files => None,
        };
        let language = module::language_of(module.as_ref());
        // Files that were looked for are told without the folder before them.
        let told = if request.wanted == Wanted::Files { "\0" } else { "" };
        name.insert_str(0, told);
        let source = || Source::new(name.as_str(), before.as_str());
        if request.wanted == Wanted::Packages {
            match tags::placed(&[source()]) {
                Err(Error::Diagnostics(all)) => wrong.extend(all),
                placed => placed?,
            }
        }
        let unfit = form.map_or_else(Vec::new, |form| {
            form::unfit(&source(), &cue_syntax::parse_as(&before, language).file, form)
        });
        match rewritten(&name, &before, request.style, language) {
            Ok(_) if !unfit.is_empty() => wrong.extend(unfit),
            Ok(after) => {
                made.push((path, Changed { file: name.split_off(told.len()), before, after }));
            }
            Err(Error::Diagnostics(all)) => wrong.extend(all),
            Err(other) => return Err(other),
        }
    }
    if !wrong.is_empty() {
        return Err(Error::Diagnostics(wrong));
    }
    for (path, it) in made {
        let input = it.file == "-";
        if input && request.action == Action::Write {
            outcome.output.clone_from(&it.after);
        }
        if it.after == it.before {
            continue;
        }
        if request.action == Action::Write && !input {
            std::fs::write(path, &it.after)
                .map_err(|source| Error::File { file: it.file.clone(), source })?;
        }
        outcome.changed.push(it);
    }
    Ok(())
}

/// The CUE files of packages, whatever stands above their clauses, and files; up to the first argument that is none,
/// and why it is not.
///
/// # Errors
/// What keeps all from being looked for.
fn packages(arguments: &[String]) -> Result<(Vec<Vec<Wished>>, Option<Error>), Error> {
    let here = [String::from(".")];
    let arguments = if arguments.is_empty() { &here[..] } else { arguments };
    let arguments = filetype::arguments(arguments)?;
    // Data is left as it is, but all that is named has to be a file.
    for it in &arguments.files {
        let path = Path::new(&it.name);
        if it.name != "-" && !path.is_file() {
            read::bytes(path)?;
        }
    }
    module::named_around(Path::new("."))?;
    let mut all = Vec::new();
    for pattern in &arguments.packages {
        match of_package(pattern) {
            Ok(groups) => all.extend(groups),
            Err(error) => return Ok((all, Some(error))),
        }
    }
    let named = arguments.files.iter().filter(|it| it.kind.encoding == Encoding::Cue);
    let mut named: Vec<Wished> = named.map(|it| (PathBuf::from(&it.name), it.kind.form)).collect();
    named.sort_by_key(|it| folder::place_of(&shown_name(&it.0)));
    all.push(named);
    Ok((all, None))
}

/// The CUE files of the packages that an argument means.
fn of_package(pattern: &str) -> Result<Vec<Vec<Wished>>, Error> {
    if let Some(error) = load::unknown(pattern) {
        return Err(error);
    }
    let path = filetype::import_path(pattern).path;
    let folder = path.split("...").next().unwrap_or_default();
    let folder = Path::new(if folder.is_empty() { "." } else { folder });
    if folder.is_file() {
        let text = "is a file and not a package directory";
        return Err(Error::Request(format!("{pattern} {text}")));
    }
    if !folder.is_dir() {
        return Err(Error::Request(format!("cannot find package {path:?}")));
    }
    let folders =
        if path.contains("...") { folder::below(folder)? } else { vec![folder.to_owned()] };
    let mut all = Vec::new();
    for folder in folders {
        let files = folder::files(&folder)?;
        let files = files.into_iter().filter(|it| {
            let name = folder::base(it);
            name.ends_with(".cue") && !name.starts_with(['.', '_'])
        });
        // One package after the other, files without one first.
        let mut files: Vec<(String, PathBuf)> = files
            .map(|it| Ok((package(&String::from_utf8_lossy(&read::bytes(&it)?)), it)))
            .collect::<Result<_, Error>>()?;
        files.sort();
        let of_one = files.chunk_by(|one, next| one.0 == next.0);
        all.extend(of_one.map(|it| it.iter().map(|it| wished(it.1.clone())).collect()));
    }
    if all.is_empty() {
        return Err(Error::Request(folder::unmatched(path)));
    }
    Ok(all)
}

/// A file of which nothing was said.
fn wished(path: PathBuf) -> Wished {
    (path, None)
}

/// The folder that a file is in; of standard input where the command runs.
fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The package of a file, `_` for none.
fn package(text: &str) -> String {
    let package = cue_syntax::parse_header(text).package.as_ref().map(|it| it.name.to_string());
    package.unwrap_or_else(|| "_".into())
}

/// All CUE files below folders, and files.
fn walked(arguments: &[String]) -> Result<Vec<Vec<Wished>>, Error> {
    if arguments.iter().any(|it| it.contains("...")) {
        return Err(Error::Request("cannot use \"...\" in --files mode".into()));
    }
    let here = [String::from(".")];
    let mut all = Vec::new();
    for argument in if arguments.is_empty() { &here[..] } else { arguments } {
        let path = Path::new(argument);
        if argument != "-" && !path.exists() {
            let text = "no such file or directory";
            let name = read::cleaned(path);
            return Err(Error::Request(format!("lstat {}: {text}", name.display())));
        }
        if argument == "-" {
            all.push(vec![wished(path.to_owned())]);
            continue;
        }
        let mut open = vec![path.to_owned()];
        while let Some(next) = open.pop() {
            if next.is_file() {
                let is_cue = folder::base(&next).ends_with(".cue");
                all.extend(is_cue.then(|| vec![wished(next)]));
                continue;
            }
            let failed = |source| Error::File { file: next.display().to_string(), source };
            let mut inner = Vec::new();
            for entry in std::fs::read_dir(&next).map_err(failed)? {
                let path = entry.map_err(failed)?.path();
                let name = folder::base(&path);
                let skipped = name.starts_with(['.', '_']) || name == "cue.mod";
                // A link to a folder could lead back here.
                if path.is_file() || (path.is_dir() && !skipped && !path.is_symlink()) {
                    inner.push(path);
                }
            }
            inner.sort();
            open.extend(inner.into_iter().rev());
        }
    }
    Ok(all)
}
