//! The module that files are in: its name, its language, and the packages it holds.

use std::fs;
use std::path::{Path, PathBuf};

use cue_session::{Package, Source};
use cue_syntax::ast::{Decl, ExprKind};
use cue_syntax::{Language, LineIndex};

use crate::condition::Flags;
use crate::filetype::import_path;
use crate::folder::{self, Place};
use crate::replaced::{self, Replaced};
use crate::way::{Way, is_outside};
use crate::{Error, diagnostic, modpath, read, tasks};

/// A module on disk.
pub(crate) struct Module {
    /// The folder with `cue.mod`.
    pub(crate) root: PathBuf,
    /// Its path without the major version, which import paths need not have; empty where the module
    /// does not say.
    pub(crate) path: String,
    /// That version.
    pub(crate) major: String,
    /// The language its files are written in.
    pub(crate) language: Language,
    /// Modules it depends on that are folders.
    pub(crate) replaced: Vec<Replaced>,
}

/// Where files of a package are.
pub(crate) struct Found<'a> {
    pub(crate) folder: PathBuf,
    /// How far up files of the same package belong to it.
    pub(crate) root: PathBuf,
    /// The module they are from, if it is not the one that is asked.
    pub(crate) of: Option<&'a Replaced>,
}

/// Why the language that a module file names is not spoken here, if it is not.
pub fn unspoken(module: &str) -> Option<String> {
    let file = cue_syntax::parse_file(module).file;
    let Some(version) = declared(&file.decls, &["language", "version"]) else {
        return Some("no language version declared in module.cue; run 'cue mod fix'".to_owned());
    };
    let Some(language) = Language::parse(&version) else {
        let message = "in module.cue is not valid semantic version";
        return Some(format!("language version {version:?} {message}"));
    };
    language.is_unspoken().then(|| {
        format!(
            "language version {version:?} declared in module.cue is too new for current \
             language version {:?}",
            Language::NEWEST.text()
        )
    })
}

/// The language that a module file names; the newest, if it names none.
pub fn language(module: &str) -> Language {
    let file = cue_syntax::parse_file(module).file;
    let version = declared(&file.decls, &["language", "version"]);
    version.and_then(|it| Language::parse(&it)).unwrap_or_default()
}

/// The module a folder is in, if any.
///
/// # Errors
/// It does not say which language it is written in, or says a later one (cue-errors 1.15).
pub(crate) fn around(folder: &Path) -> Result<Option<Module>, Error> {
    let Ok(start) = fs::canonicalize(folder) else { return Ok(None) };
    let Some(root) = root_of(&start) else { return Ok(None) };
    let root = root.to_owned();
    let Ok(text) = fs::read_to_string(root.join("cue.mod/module.cue")) else {
        let (path, major) = Default::default();
        let (language, replaced) = Default::default();
        return Ok(Some(Module { root, path, major, language, replaced }));
    };
    if let Some(message) = unspoken(&text) {
        return Err(Error::Request(message));
    }
    let file = cue_syntax::parse_file(&text).file;
    let path = declared(&file.decls, &["module"]).unwrap_or_default();
    named(&root, &path)?;
    let (path, major) = path.split_once('@').unwrap_or((&path, "v0"));
    let language = language(&text);
    let replaced = replaced::of(&root, &text, &format!("{path}@{major}"))?;
    let (path, major) = (path.to_owned(), major.to_owned());
    Ok(Some(Module { root, path, major, language, replaced }))
}

/// The folder with `cue.mod` around a folder; what lies within a `cue.mod` is in no module.
fn root_of(folder: &Path) -> Option<&Path> {
    let mut outside = folder.ancestors().take_while(|it| !it.ends_with("cue.mod"));
    outside.find(|it| it.join("cue.mod").is_dir())
}

/// Whether nothing is loaded from a folder, as it is within a `cue.mod`: packages may be in three folders of that.
pub(crate) fn is_within_cue_mod(folder: &Path) -> bool {
    let places = ["pkg", "usr", "gen"];
    let of_packages = |it: &Path| {
        let below = folder.strip_prefix(it).ok().and_then(|it| it.components().next());
        below.is_some_and(|it| places.iter().any(|place| it.as_os_str() == *place))
    };
    folder.ancestors().find(|it| it.ends_with("cue.mod")).is_some_and(|it| !of_packages(it))
}

/// Whether the module around a folder, if there is one, has a path that can be one.
///
/// # Errors
/// It has another.
pub(crate) fn named_around(folder: &Path) -> Result<(), Error> {
    let Ok(start) = fs::canonicalize(folder) else { return Ok(()) };
    let Some(root) = root_of(&start) else { return Ok(()) };
    let text = fs::read_to_string(root.join("cue.mod/module.cue")).unwrap_or_default();
    let path = declared(&cue_syntax::parse_file(&text).file.decls, &["module"]);
    named(root, &path.unwrap_or_default())
}

/// Whether the path that the module there gives itself can be one.
fn named(root: &Path, path: &str) -> Result<(), Error> {
    let Some(why) = modpath::check(path).err().filter(|_| !path.is_empty()) else { return Ok(()) };
    let file = root.join("cue.mod/module.cue");
    Err(Error::Request(format!("invalid module file {}: {why}", file.display())))
}

/// The language of files in a module, or in none.
pub(crate) fn language_of(module: Option<&Module>) -> &Language {
    static NEWEST: Language = Language::NEWEST;
    module.map_or(&NEWEST, |it| &it.language)
}

/// The string at a path of plain labels.
pub(crate) fn declared(decls: &[Decl], path: &[&str]) -> Option<String> {
    let (label, rest) = path.split_first()?;
    decls.iter().find_map(|it| {
        let Decl::Field(field) = it else { return None };
        match &field.value.kind {
            _ if field.label.name() != Some(label) => None,
            ExprKind::String(text) if rest.is_empty() => Some(text.to_string()),
            ExprKind::Struct(inner) => declared(inner, rest),
            _ => None,
        }
    })
}

impl Module {
    /// Why a folder, as its path is written, has none of this module's packages, if the module has a path.
    pub(crate) fn has_none_in(&self, folder: &Path) -> Option<&'static str> {
        let folder = read::cleaned(&std::path::absolute(folder).ok()?);
        if self.path.is_empty() {
            return None;
        }
        if !folder.starts_with(&self.root) {
            return Some("dir outside of root");
        }
        let mut below = folder.ancestors().take_while(|it| *it != self.root);
        let is_nested = below.any(|it| it.join("cue.mod/module.cue").is_file());
        is_nested.then_some("directory is in a nested module")
    }

    /// The folder of an import path of this module.
    fn folder(&self, path: &str) -> Option<PathBuf> {
        let below = path.strip_prefix(&self.path).filter(|_| !self.path.is_empty())?;
        let inside = below.is_empty() || below.starts_with('/');
        let folder = self.root.join(below.trim_start_matches('/'));
        (inside && below.split('/').all(|it| it != "..") && folder.is_dir()).then_some(folder)
    }

    /// Reads the packages that the package `root` of these sources imports from the module, and what those import.
    ///
    /// # Errors
    /// A file that cannot be read or parsed; a package that is not there, or that imports itself.
    pub(crate) fn imports(
        &self,
        root: &str,
        sources: &[Source],
        flags: &Flags<'_>,
    ) -> Result<Vec<Package>, Error> {
        let mut packages: Vec<Package> = Vec::new();
        // Each with the module that asks for it, if it is another.
        let mut wanted: Vec<(Way, Option<&Replaced>)> =
            in_order(imported(sources)).map(|it| (Way::from(it), None)).collect();
        let mut seen: Vec<String> = Vec::new();
        while let Some((way, importer)) = wanted.pop() {
            let import = &way.import.path;
            if way.leads_round() {
                return Err(way.refused("package import cycle not allowed"));
            }
            if seen.contains(import) {
                continue;
            }
            seen.push(import.clone());
            if let Some(package) = tasks::package(import) {
                packages.push(package);
                continue;
            }
            if let Some(error) = way.unlike_any() {
                return Err(error);
            }
            let parts = import_path(import);
            let refused = |text: &str| Err(way.failed(root, text));
            let version = parts.version.unwrap_or_default();
            if version.contains('/') {
                return refused(&format!(
                    "cannot find package {import:?}: malformed import path {import:?}: import \
                     paths can only contain a major version specifier"
                ));
            }
            if parts.qualifier == Some("_") {
                let text = format!("_ is not a valid import path qualifier in {import:?}");
                let missing = format!("cannot find package {:?}: {text}", parts.path);
                let told = [text, missing].map(|it| way.failed(root, &it).into_diagnostics());
                return Err(Error::Diagnostics(told.concat()));
            }
            let places = match self.places(parts.path, version, importer) {
                Ok(places) => places,
                Err(text) => return refused(&format!("cannot find package {import:?}: {text}")),
            };
            let own = import.rsplit_once(':').map_or(import.as_str(), |it| it.0);
            let missing = format!(
                "cannot find package {own:?}: cannot find module providing package {import}"
            );
            let may_be_missing = is_outside(import) && !self.path.is_empty();
            let name = match parts.package(import) {
                Ok(name) => name,
                Err(text) if places.is_empty() && may_be_missing => {
                    let told = [text, missing].map(|it| way.failed(root, &it).into_diagnostics());
                    return Err(Error::Diagnostics(told.concat()));
                }
                Err(_) if places.is_empty() => continue,
                Err(text) => return refused(&text),
            };
            let (mut sources, mut excluded, mut has_cue) = (Vec::new(), 0, false);
            let of = places.first().and_then(|it| it.of);
            for Found { folder, root, of } in &places {
                let shown = parts.path;
                let language = of.map_or(&self.language, |it| &it.language);
                let root = Some(&**root);
                let is_sought = false;
                let place = Place { folder, root, package: Some(name), shown, is_sought, language };
                // What is asked for with `-t` is asked of this module only.
                let none = Flags::new(&[]);
                let flags = if of.is_some() { &none } else { flags };
                let found = folder::package(&place, flags)
                    .map_err(|it| way.unread(Error::from(it).into_diagnostics()))?;
                if !found.wrong.is_empty() {
                    return Err(way.unread(found.wrong));
                }
                has_cue |= found.has_cue();
                excluded += found.excluded;
                sources.extend(found.sources);
            }
            if !has_cue && may_be_missing {
                return refused(&missing);
            }
            if sources.is_empty() && !places.is_empty() {
                return refused(&folder::no_files(parts.path, name, excluded));
            }
            wanted.extend(in_order(imported(&sources)).map(|it| (way.to(it), of)));
            if !sources.is_empty() {
                packages.push(Package { path: import.clone(), sources });
            }
        }
        Ok(packages)
    }

    /// Where the files of a package are: in the module, in what was put below `cue.mod`, or in a
    /// folder that another module is replaced by.
    ///
    /// # Errors
    /// That other module cannot be read.
    pub(crate) fn places<'a>(
        &'a self,
        path: &str,
        version: &str,
        importer: Option<&Replaced>,
    ) -> Result<Vec<Found<'a>>, String> {
        let own = version.is_empty() || version == self.major;
        if let Some(folder) = self.folder(path).filter(|_| own) {
            return Ok(vec![Found { folder, root: self.root.clone(), of: None }]);
        }
        for of in self.replaced.iter().filter(|it| it.has(path, version, importer)) {
            if let Some(text) = &of.missing {
                return Err(text.clone());
            }
            if let Some(folder) = of.folder(path) {
                return Ok(vec![Found { folder, root: of.root.clone(), of: Some(of) }]);
            }
        }
        if path.split('/').any(|it| it == "..") || !path.contains('.') {
            return Ok(Vec::new());
        }
        let kept = ["gen", "pkg", "usr"].map(|it| self.root.join("cue.mod").join(it));
        let places = kept.into_iter().map(|root| Found { folder: root.join(path), root, of: None });
        Ok(places.filter(|it| it.folder.is_dir()).collect())
    }
}

/// What is said of imports where there is no module.
pub(crate) const UNAVAILABLE: &str =
    "imports are unavailable because there is no cue.mod/module.cue file";

/// The packages that `sources` import where there is no module: none but those that are built in.
///
/// # Errors
/// They import others; the first by its path is told of. Files that do not parse are not looked at.
pub(crate) fn without(sources: &[Source]) -> Result<Vec<Package>, Error> {
    let wanted = imported(sources);
    let first = wanted.iter().filter(|it| is_outside(&it.path)).min_by(|a, b| a.path.cmp(&b.path));
    let parses = |it: &Source| cue_syntax::parse_file(&it.text).errors.is_empty();
    let parses = sources.iter().all(parses);
    if let Some(error) = in_order(imported(sources)).find_map(|it| Way::from(it).unlike_any()) {
        if parses {
            return Err(error);
        }
    }
    let Some(first) = first.filter(|_| parses) else {
        let mut paths: Vec<&str> = wanted.iter().map(|it| it.path.as_str()).collect();
        paths.sort_unstable();
        paths.dedup();
        return Ok(paths.into_iter().filter_map(tasks::package).collect());
    };
    let nameless = import_path(&first.path).package(&first.path).err();
    let at = (first.at.0.as_str(), first.at.1, first.at.2);
    let told = |text: String| diagnostic(format!("import failed: {text}"), Some(at));
    Err(Error::Diagnostics(nameless.into_iter().chain([UNAVAILABLE.into()]).map(told).collect()))
}

/// What a file imports, and where it says so.
#[derive(Clone)]
pub(crate) struct Imported {
    pub(crate) path: String,
    pub(crate) at: (String, u32, u32),
}

/// The last to be looked for first: by their paths, the first file that asks for one.
fn in_order(mut all: Vec<Imported>) -> impl Iterator<Item = Imported> {
    all.sort_by(|one, other| one.path.cmp(&other.path));
    all.into_iter().rev()
}

pub(crate) fn imported(sources: &[Source]) -> Vec<Imported> {
    let mut all = Vec::new();
    // Most import nothing, and are parsed where they are compiled.
    for source in sources.iter().filter(|it| it.text.contains("import")) {
        let file = cue_syntax::parse_header(&source.text);
        let lines = LineIndex::new(&source.text);
        all.extend(file.imports.iter().map(|it| {
            let (line, column) = lines.at(it.span.start);
            Imported { path: it.path.clone(), at: (source.name.clone(), line, column) }
        }));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_in_the_module_that_is_asked_and_in_no_other() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = fs::canonicalize(folder.path()).expect("a folder");
        fs::create_dir_all(root.join("own/nested/cue.mod")).expect("a folder");
        let why = |path: &str, below: &str| {
            let (root, path) = (root.join("own"), path.to_owned());
            let (major, language, replaced) = Default::default();
            let module = Module { root: root.clone(), path, major, language, replaced };
            module.has_none_in(&root.join(below))
        };
        assert_eq!(why("own.test", "nested/x"), None, "no module file");
        fs::write(root.join("own/nested/cue.mod/module.cue"), "").expect("a file");
        assert_eq!(why("own.test", "nested/x"), Some("directory is in a nested module"));
        assert_eq!(why("own.test", "nothing"), None);
        assert_eq!(why("own.test", "../other"), Some("dir outside of root"));
        assert_eq!(why("", "nested/x"), None, "a module without a path");
        assert_eq!(why("", "../other"), None);
    }

    #[test]
    fn packages_below_cue_mod_are_in_three_folders() {
        let is_refused = |path: &str| is_within_cue_mod(Path::new(path));
        assert!(is_refused("/m/cue.mod") && is_refused("/m/cue.mod/sub/pkg"));
        assert!(!is_refused("/m") && !is_refused("/m/cue.mod/pkg/a.test/b"));
        assert_eq!(root_of(Path::new("/m/cue.mod/pkg/a.test/b")), None);
    }
}
