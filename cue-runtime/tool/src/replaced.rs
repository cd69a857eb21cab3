//! Modules that folders stand for: `replaceWith` in `cue.mod/local-module.cue`.

use std::fs;
use std::path::{Path, PathBuf};

use cue_syntax::Language;
use cue_syntax::ast::{Decl, ExprKind};

use crate::Error;
use crate::module::{declared, language};

/// A module that is found in a folder of this machine.
pub(crate) struct Replaced {
    /// Its path without the major version.
    pub(crate) path: String,
    /// That version.
    pub(crate) major: String,
    /// Whether it is meant where no version is named.
    is_default: bool,
    /// The folder.
    pub(crate) root: PathBuf,
    /// The language its files are written in.
    pub(crate) language: Language,
    /// Default versions of the modules it depends on.
    defaults: Vec<(String, String)>,
    /// Why its packages cannot be read, if its module file is missing.
    pub(crate) missing: Option<String>,
}

/// A dependency as a module file has it.
#[derive(Default)]
struct Dependency {
    /// Its path with the major version.
    path: String,
    version: Option<String>,
    with: Option<String>,
    is_default: bool,
}

/// What a module file says of its dependencies; a later declaration of one adds to the earlier.
fn dependencies(text: &str) -> Vec<Dependency> {
    let mut all: Vec<Dependency> = Vec::new();
    for (path, fields) in fields_of(&cue_syntax::parse_file(text).file.decls, "deps") {
        let at = all.iter().position(|it| it.path == path).unwrap_or_else(|| {
            all.push(Dependency { path, ..Dependency::default() });
            all.len() - 1
        });
        let Some(it) = all.get_mut(at) else { continue };
        it.version = it.version.take().or(declared(fields, &["v"]));
        it.with = it.with.take().or(declared(fields, &["replaceWith"]));
        it.is_default |= fields.iter().any(|it| {
            matches!(it, Decl::Field(it) if it.label.name() == Some("default")
                && matches!(it.value.kind, ExprKind::Bool(true)))
        });
    }
    all.sort_by(|one, other| one.path.cmp(&other.path));
    all
}

/// The structs that are fields of `name`, with their names.
fn fields_of<'a>(decls: &'a [Decl], name: &str) -> Vec<(String, &'a [Decl])> {
    let structs = |decls: &'a [Decl]| {
        decls.iter().filter_map(|it| {
            let Decl::Field(field) = it else { return None };
            let ExprKind::Struct(inner) = &field.value.kind else { return None };
            Some((field.label.name()?, &inner[..]))
        })
    };
    let named = structs(decls).filter(|it| it.0 == name);
    named.flat_map(|it| structs(it.1)).map(|it| (it.0.to_owned(), it.1)).collect()
}

/// Default versions of what a module depends on: what it says, else the only one.
fn defaults(all: &[Dependency]) -> Vec<(String, String)> {
    let split = |it: &Dependency| {
        let (path, major) = it.path.split_once('@')?;
        Some((path.to_owned(), major.to_owned(), it.is_default))
    };
    let split: Vec<_> = all.iter().filter_map(split).collect();
    let alone = |path: &str| split.iter().filter(|it| it.0 == path).count() == 1;
    let meant = split.iter().filter(|it| it.2 || alone(&it.0));
    meant.map(|it| (it.0.clone(), it.1.clone())).collect()
}

/// The modules that `cue.mod/local-module.cue` of `root` replaces by folders.
///
/// # Errors
/// A replacement where none may be; one that is of another module, or of nothing that is known.
pub(crate) fn of(root: &Path, module: &str, path: &str) -> Result<Vec<Replaced>, Error> {
    let refused = |text: String| Err(Error::Request(text));
    let declares = dependencies(module);
    if let Some(it) = declares.iter().find(|it| it.with.is_some()) {
        if language(module).is_before([0, 17, 0]) {
            let text = "module replace is not allowed at this language version";
            return refused(format!("invalid module file: {text}; need at least v0.17.0"));
        }
        let text = "is not allowed in module.cue; move it to cue.mod/local-module.cue";
        return refused(format!("module replace for {:?} {text}", it.path));
    }
    let file = root.join("cue.mod/local-module.cue");
    let Ok(text) = fs::read_to_string(&file) else { return Ok(Vec::new()) };
    let file = file.display();
    let mut all = dependencies(&text);
    let replaces = all.iter().any(|it| it.with.is_some());
    if replaces && language(module).is_before([0, 17, 0]) {
        let text = "module replace is not allowed at this language version";
        return refused(format!("invalid module file: {text}; need at least v0.17.0"));
    }
    let own = declared(&cue_syntax::parse_file(&text).file.decls, &["module"]);
    if let Some(own) = own.filter(|it| it != path && format!("{it}@v0") != path) {
        return refused(format!(
            "module path {own:?} in {file} does not match module path {path:?} in module.cue"
        ));
    }
    for it in &mut all {
        let same = declares.iter().find(|other| other.path == it.path);
        it.is_default |= same.is_some_and(|it| it.is_default);
        it.version = it.version.take().or(same.and_then(|it| it.version.clone()));
        if it.version.is_none() && it.with.is_none() {
            let text = "has no version and is not present in module.cue";
            return refused(format!("dependency {:?} in {file} {text}", it.path));
        }
    }
    let meant = defaults(&all);
    let mut found = Vec::new();
    for it in &all {
        let Some(with) = it.with.as_deref() else { continue };
        if !with.starts_with(['.', '/']) {
            // Another module of a registry.
            let first = with.split('/').next().unwrap_or_default();
            if !with.contains('@') && !first.contains('.') {
                return refused(format!(
                    "invalid replace value for {}: invalid replacement module path {with:?}: \
                     missing dot in first path element",
                    it.path
                ));
            }
            continue;
        }
        let Some((path, major)) = it.path.split_once('@') else { continue };
        found.push(Replaced {
            path: path.to_owned(),
            major: major.to_owned(),
            is_default: meant.iter().any(|it| it.0 == path && it.1 == major),
            ..in_folder(root, it, with)?
        });
    }
    Ok(found)
}

fn with_version(it: &Dependency) -> String {
    let path = it.path.split('@').next().unwrap_or_default();
    it.version.as_ref().map_or_else(|| it.path.clone(), |version| format!("{path}@{version}"))
}

/// What is known of a module by its folder.
fn in_folder(root: &Path, of: &Dependency, with: &str) -> Result<Replaced, Error> {
    let folder = crate::read::cleaned(&root.join(with));
    let file = folder.join("cue.mod/module.cue");
    let text = fs::read_to_string(&file);
    let missing = text.is_err().then(|| {
        let version = of.version.as_ref().map(|_| format!("{}: ", with_version(of)));
        let (version, file) = (version.unwrap_or_default(), file.display());
        let text = "cannot read module file in replacement directory";
        format!(
            "cannot expand module graph: {version}{text}: open {file}: no such file or directory"
        )
    });
    let text = text.unwrap_or_default();
    let own = declared(&cue_syntax::parse_file(&text).file.decls, &["module"]);
    let own = own.map(|it| if it.contains('@') { it } else { format!("{it}@v0") });
    if let Some(own) = own.filter(|it| *it != of.path) {
        let text = "replacement directory";
        return Err(Error::Request(format!(
            "{text} {with} has module path {own:?}, want {:?}",
            of.path
        )));
    }
    Ok(Replaced {
        path: String::new(),
        major: String::new(),
        is_default: false,
        root: folder,
        language: language(&text),
        defaults: defaults(&dependencies(&text)),
        missing,
    })
}

impl Replaced {
    /// Whether this is the module that a package comes from which a file of `importer` asks for.
    pub(crate) fn has(&self, path: &str, version: &str, importer: Option<&Replaced>) -> bool {
        let below = path.strip_prefix(&self.path);
        if !below.is_some_and(|it| it.is_empty() || it.starts_with('/')) {
            return false;
        }
        if !version.is_empty() {
            return version == self.major;
        }
        let of_importer = importer.and_then(|it| {
            let own = std::iter::once((&it.path, &it.major));
            let all = own.chain(it.defaults.iter().map(|(path, major)| (path, major)));
            all.into_iter().find(|(path, _)| **path == self.path).map(|it| it.1)
        });
        of_importer.map_or(self.is_default, |it| *it == self.major)
    }

    /// The folder of a package that the module has, if files of CUE are in it.
    pub(crate) fn folder(&self, path: &str) -> Option<PathBuf> {
        let below = path.strip_prefix(&self.path)?.trim_start_matches('/');
        let folder = self.root.join(below);
        let inside = below.split('/').all(|it| it != "..");
        let mut above = folder.ancestors().take_while(|it| *it != self.root);
        let another = above.any(|it| it.join("cue.mod/module.cue").is_file());
        let files = || crate::folder::files(&folder).unwrap_or_default();
        let cue = |it: &PathBuf| it.extension().is_some_and(|it| it == "cue");
        (inside && !another && files().iter().any(cue)).then_some(folder)
    }
}
