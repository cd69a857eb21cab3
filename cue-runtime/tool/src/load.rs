//! Arguments to sources and data: files, a folder as a package, the packages of its module.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use std::sync::Arc;

use cue_eval::builtin::Datum;
use cue_session::{Package, Source};
use cue_syntax::ast::{Decl, ExprKind, Label};

use crate::data::{self, Encoding};
use crate::located::Places;
use crate::{Error, diagnostic, tags};

/// What to load.
#[derive(Clone, Debug, Default)]
pub struct Load {
    /// Files and folders; `-` is CUE on standard input; none means the current folder.
    pub arguments: Vec<String>,
    /// Which package of a folder.
    pub package: Option<String>,
    /// `key=value` or a shorthand, for `@tag`.
    pub tags: Vec<String>,
}

/// What was loaded.
#[derive(Debug, Default)]
pub struct Loaded {
    /// Files of one package.
    pub sources: Vec<Source>,
    /// What they import from their module.
    pub packages: Vec<Package>,
    /// Values of data files.
    pub data: Vec<Value>,
    /// Name of the package.
    pub package: Option<String>,
    /// Whether all CUE was named file by file.
    pub files: bool,
}

/// A value out of a data file.
#[derive(Clone, Debug)]
pub struct Value {
    /// The file's name.
    pub file: String,
    /// The value.
    pub datum: Datum,
    /// Its text, where that is CUE too (JSON): errors then say where in it.
    pub text: Option<String>,
    /// The same of YAML, and where the pieces of that text stand in the file: for what is checked only.
    pub checked: Option<Arc<(String, Places)>>,
}

/// What data is read for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// It is checked only: errors are to name places in it.
    Checks,
    /// It is part of what comes out.
    Values,
}

/// Largest file that is read.
const LARGEST: u64 = 256 << 20;

impl Load {
    /// Reads everything.
    ///
    /// # Errors
    /// What is missing, unreadable or not of its form.
    pub fn load(&self, purpose: Purpose) -> Result<Loaded, Error> {
        let mut loaded = Loaded { files: true, ..Loaded::default() };
        let here = [String::from(".")];
        let arguments = if self.arguments.is_empty() { &here[..] } else { &self.arguments };
        for argument in arguments {
            let path = Path::new(argument);
            if argument == "-" {
                let text = std::io::read_to_string(std::io::stdin())
                    .map_err(|source| Error::File { file: argument.clone(), source })?;
                loaded.sources.push(Source::new("-", text));
            } else if path.is_dir() {
                loaded.files = false;
                self.folder(path, &mut loaded)?;
            } else {
                match Encoding::of_file(argument) {
                    Some(Encoding::Cue) => {
                        loaded.sources.push(source(path)?);
                    }
                    Some(encoding) => {
                        let bytes = bytes(path)?;
                        let values = data::read(encoding, argument, &bytes)
                            .map_err(|wrong| Error::Diagnostics(vec![wrong]))?;
                        let checked =
                            (purpose == Purpose::Checks).then(|| data::checked(encoding, &bytes));
                        let mut checked = checked.into_iter().flatten();
                        // What JSON has that CUE has not are pairs of surrogates.
                        let text = String::from_utf8(bytes)
                            .ok()
                            .filter(|_| encoding == Encoding::Json)
                            .filter(|it| cue_syntax::parse_expr(it).is_ok());
                        loaded.data.extend(values.into_iter().map(|datum| Value {
                            file: argument.clone(),
                            datum,
                            text: text.clone(),
                            checked: checked.next(),
                        }));
                    }
                    None => {
                        return Err(Error::Request(format!("unknown file extension {argument}")));
                    }
                }
            }
        }
        if let Some(module) = module_of(arguments)? {
            module.imports(&mut loaded)?;
        }
        loaded.package = loaded.sources.iter().find_map(|it| package(&it.text));
        let tagged = tags::source(&loaded.sources, &self.tags, loaded.package.as_deref())?;
        loaded.sources.extend(tagged);
        Ok(loaded)
    }

    /// The package in a folder: all files of the one package, or of the one that was asked for.
    fn folder(&self, folder: &Path, loaded: &mut Loaded) -> Result<(), Error> {
        let mut by_package: BTreeMap<String, Vec<Source>> = BTreeMap::new();
        for file in cue_files(folder)? {
            let source = source(&file)?;
            by_package.entry(package(&source.text).unwrap_or_default()).or_default().push(source);
        }
        let chosen = match &self.package {
            Some(name) => by_package.remove(name),
            None => {
                by_package.remove("");
                let names: Vec<&str> = by_package.keys().map(String::as_str).collect();
                if names.len() > 1 {
                    let message = format!(
                        "found packages {} in \"{}\"",
                        names
                            .iter()
                            .map(|it| format!("\"{it}\""))
                            .collect::<Vec<_>>()
                            .join(" and "),
                        folder.display()
                    );
                    return Err(Error::Request(message));
                }
                by_package.into_values().next()
            }
        };
        match chosen {
            Some(sources) => loaded.sources.extend(sources),
            None => return Err(Error::Request("no CUE files in .".replace('.', &display(folder)))),
        }
        Ok(())
    }
}

fn display(path: &Path) -> String {
    path.display().to_string()
}

fn bytes(path: &Path) -> Result<Vec<u8>, Error> {
    let failed = |source: std::io::Error| {
        if source.kind() != std::io::ErrorKind::NotFound {
            return Error::File { file: display(path), source };
        }
        // In cue's words.
        let path = std::path::absolute(path).map_or_else(|_| display(path), |it| display(&it));
        Error::Request(format!("stat {path}: no such file or directory"))
    };
    let size = fs::metadata(path).map_err(failed)?.len();
    if size > LARGEST {
        return Err(Error::Request(format!("{}: larger than {LARGEST} bytes", display(path))));
    }
    fs::read(path).map_err(failed)
}

/// A CUE file; bytes that are not UTF-8 may stand in comments only.
fn source(path: &Path) -> Result<Source, Error> {
    let name = display(path);
    let bytes = bytes(path)?;
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let bytes = error.as_bytes();
            let at = error.utf8_error().valid_up_to();
            let (line, column) = cue_eval::encode::line_column(bytes, at);
            let start = bytes[..at].iter().rposition(|it| *it == b'\n').map_or(0, |it| it + 1);
            if !bytes[start..at].starts_with(b"//") {
                let wrong = diagnostic("illegal UTF-8 encoding", Some((&name, line, column)));
                return Err(Error::Diagnostics(vec![wrong]));
            }
            String::from_utf8_lossy(bytes).into_owned()
        }
    };
    Ok(Source::new(name.trim_start_matches("./"), text))
}

fn cue_files(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let failed = |source| Error::File { file: display(folder), source };
    let mut files: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let name = path.file_name().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
        let skipped = name.starts_with(['.', '_'])
            || name.ends_with("_test.cue")
            || name.ends_with("_tool.cue");
        if name.ends_with(".cue") && !skipped && path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// The name in a package clause.
pub(crate) fn package(text: &str) -> Option<String> {
    let mut lines = text.trim_start_matches('\u{feff}').lines().map(str::trim);
    let first = lines.find(|it| !it.is_empty() && !it.starts_with("//") && !it.starts_with('@'))?;
    let name = first.strip_prefix("package")?;
    let name = name.split("//").next().unwrap_or_default().trim();
    let named =
        !name.is_empty() && name.chars().all(|it| it.is_alphanumeric() || "_#$".contains(it));
    (named && name != "_").then(|| name.to_owned())
}

/// A module on disk: its folder and its path.
struct Module {
    root: PathBuf,
    path: String,
}

/// The language that is spoken here: major, minor and patch.
const LANGUAGE: [u64; 3] = [0, 17, 1];

/// Why the language that a module file names is not spoken here, if it is not.
pub fn unspoken(module: &str) -> Option<String> {
    let file = cue_syntax::parse_file(module).file;
    let Some(version) = declared(&file.decls, &["language", "version"]) else {
        return Some("no language version declared in module.cue; run 'cue mod fix'".to_owned());
    };
    let numbers = version.strip_prefix('v').unwrap_or_default().split(['.', '-', '+']);
    let numbers: Vec<u64> = numbers.map_while(|it| it.parse().ok()).collect();
    if numbers.is_empty() {
        let message = "in module.cue is not valid semantic version";
        return Some(format!("language version {version:?} {message}"));
    }
    let [major, minor, patch] = LANGUAGE;
    (numbers.as_slice() > LANGUAGE.as_slice()).then(|| {
        format!(
            "language version {version:?} declared in module.cue is too new for current \
             language version \"v{major}.{minor}.{patch}\""
        )
    })
}

/// The module the arguments are in, if any.
///
/// # Errors
/// It does not say which language it is written in, or says a later one (cue-errors 1.15).
fn module_of(arguments: &[String]) -> Result<Option<Module>, Error> {
    let first = arguments.iter().find(|it| *it != "-").map_or(".", String::as_str);
    let Ok(start) = fs::canonicalize(first) else { return Ok(None) };
    let Some(root) = start.ancestors().find(|it| it.join("cue.mod").is_dir()) else {
        return Ok(None);
    };
    let Ok(text) = fs::read_to_string(root.join("cue.mod/module.cue")) else { return Ok(None) };
    if let Some(message) = unspoken(&text) {
        return Err(Error::Request(message));
    }
    let file = cue_syntax::parse_file(&text).file;
    let Some(path) = declared(&file.decls, &["module"]) else { return Ok(None) };
    // The major version is not part of import paths.
    let path = path.split('@').next().unwrap_or(&path).to_owned();
    Ok(Some(Module { root: root.to_owned(), path }))
}

/// The string at a path of plain labels.
fn declared(decls: &[Decl], path: &[&str]) -> Option<String> {
    let (label, rest) = path.split_first()?;
    decls.iter().find_map(|it| {
        let Decl::Field(field) = it else { return None };
        let name = match &field.label {
            Label::Ident(it) => &*it.name,
            Label::String(it, _) => it,
            _ => return None,
        };
        match &field.value.kind {
            _ if name != *label => None,
            ExprKind::String(text) if rest.is_empty() => Some(text.to_string()),
            ExprKind::Struct(inner) => declared(inner, rest),
            _ => None,
        }
    })
}

impl Module {
    /// Reads the packages of the module that `loaded` imports, and what those import.
    fn imports(&self, loaded: &mut Loaded) -> Result<(), Error> {
        let mut wanted = imported(&loaded.sources);
        let mut seen: Vec<String> = Vec::new();
        while let Some(import) = wanted.pop() {
            if seen.contains(&import) {
                continue;
            }
            seen.push(import.clone());
            let (path, name) = import.rsplit_once(':').unwrap_or((&import, ""));
            let Some(below) = path.strip_prefix(&self.path) else { continue };
            if !(below.is_empty() || below.starts_with('/'))
                || below.split('/').any(|it| it == "..")
            {
                continue;
            }
            let folder = self.root.join(below.trim_start_matches('/'));
            if !folder.is_dir() {
                continue;
            }
            let last = path.rsplit('/').next().unwrap_or_default();
            let name = if name.is_empty() { last } else { name };
            let mut sources = Vec::new();
            for file in cue_files(&folder)? {
                let source = source(&file)?;
                if package(&source.text).as_deref() == Some(name) {
                    sources.push(source);
                }
            }
            wanted.extend(imported(&sources));
            if !sources.is_empty() {
                loaded.packages.push(Package { path: import, sources });
            }
        }
        Ok(())
    }
}

fn imported(sources: &[Source]) -> Vec<String> {
    let mut paths = Vec::new();
    for source in sources {
        paths.extend(
            cue_syntax::parse_file(&source.text).file.imports.iter().map(|it| it.path.clone()),
        );
    }
    paths
}
