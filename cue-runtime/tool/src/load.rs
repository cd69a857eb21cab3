//! Arguments to packages and values: what is evaluated, and what is evaluated with it.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cue_session::{Diagnostic, Package, Source};

use crate::condition::Flags;
use crate::embed::{Spliced, embed};
use crate::error::in_order;
use crate::filetype::{self, import_path};
use crate::folder::{self, Failed, Found, Place};
use crate::module::Module;
use crate::named::{self, Opened};
use crate::plan::OfData;
use crate::tags::{self, Variables};
use crate::{Error, module, read};

pub use crate::module::{language, unspoken};

/// What to load.
#[derive(Clone, Debug, Default)]
pub struct Load {
    /// Packages and files, with qualifiers; `-` is standard input; none means the current folder.
    pub arguments: Vec<String>,
    /// `key=value` or a shorthand, for `@tag`, or a name for `@if`.
    pub tags: Vec<String>,
    /// What `@tag(…,var=…)` gets.
    pub variables: Variables,
}

/// A package, or the CUE files that were named, as one.
#[derive(Clone, Debug, Default)]
pub struct Instance {
    /// How it is told apart from others.
    pub name: String,
    /// Its path, of a package in a module; else empty.
    pub(crate) import_path: String,
    /// Its files.
    pub sources: Vec<Source>,
    /// What they import from their module.
    pub packages: Vec<Package>,
    /// Name of the package.
    pub package: Option<String>,
    /// Other files in its folder that are known by their ending.
    pub data: Vec<PathBuf>,
    /// Sources that data of other files was put into.
    pub(crate) spliced: Vec<Spliced>,
    /// Sources that are schemas in other languages.
    pub(crate) schemas: Vec<Arc<OfData>>,
    /// What is said of it as a file.
    pub(crate) comment: String,
}

/// What was loaded.
#[derive(Debug, Default)]
pub(crate) struct Loaded {
    /// Packages, in order.
    pub(crate) packages: Vec<Instance>,
    /// CUE files that were named one by one.
    pub(crate) files: Option<Instance>,
    /// Data files that were named, in order.
    pub(crate) data: Vec<Opened>,
    /// What is wrong with attributes that ask for files.
    pub(crate) unembedded: Vec<Diagnostic>,
}

/// Whether a folder without CUE files is one that can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Folders {
    /// It is an error.
    OfCue,
    /// Its data is what is wanted.
    OfData,
}

impl Load {
    /// Reads everything.
    ///
    /// # Errors
    /// What is missing, unreadable or not of its form: all of the first package that has such, packages before the
    /// files that were named.
    pub(crate) fn load(&self, folders: Folders) -> Result<Loaded, Error> {
        let here = [String::from(".")];
        let arguments = if self.arguments.is_empty() { &here[..] } else { &self.arguments };
        let module = module_of(&filetype::arguments(arguments)?)?;
        let arguments: Vec<String> = arguments.iter().map(|it| relative(it)).collect();
        let arguments = filetype::arguments(&arguments)?;
        let flags = Flags::new(&self.tags);
        let language = module::language_of(module.as_ref());
        let opened = named::opened(arguments.files)?;
        let mut all: Vec<(usize, Result<Instance, Error>)> = Vec::new();
        for (argument, pattern) in arguments.packages.iter().enumerate() {
            match packages(pattern, module.as_ref(), folders, &flags) {
                Ok(found) => all.extend(found.into_iter().map(|it| (argument, it))),
                Err(Failed::Alone(error)) => all.push((argument, Err(error))),
                Err(Failed::Altogether(error)) => return Err(error),
            }
        }
        named::headed(&opened, language)?;
        let is_named = !opened.is_empty();
        if is_named {
            let files = named::instance(&opened, folders, language, &flags);
            all.push((arguments.packages.len(), files.map_err(Error::Diagnostics)));
        }
        let mut instances = Vec::with_capacity(all.len());
        let mut first = Wrong::default();
        let mut begins = (0, 0);
        for (number, (argument, it)) in all.into_iter().enumerate() {
            if begins.0 != argument {
                begins = (argument, number);
            }
            let is_pattern = arguments.packages.get(argument).is_some_and(|it| it.contains("..."));
            match it {
                Err(error) => first.note((argument, number), error),
                Ok(mut it) => {
                    match (it.import(module.as_ref(), &flags), tags::placed(&it.sources)) {
                        (Ok(()), Ok(())) => {}
                        (Ok(()), Err(error)) => first.note((argument, number), error),
                        (Err(error), _) if is_pattern => first.collect(begins, error),
                        (Err(error), placed) => {
                            let mut all = error.into_diagnostics();
                            all.extend(placed.err().into_iter().flat_map(Error::into_diagnostics));
                            first.note((argument, number), Error::Diagnostics(all));
                        }
                    }
                    // What asks for tags is known of one that is wrong, too.
                    instances.push(it);
                }
            }
        }
        let wrong = first.told();
        let mut injected: Vec<&mut Instance> = instances.iter_mut().collect();
        tags::inject(&mut injected, (&self.tags, self.variables), &flags, wrong)?;
        let files = if is_named { instances.pop() } else { None };
        let data = named::data(opened);
        let mut loaded = Loaded { packages: instances, files, data, unembedded: Vec::new() };
        loaded.put_in(module.as_ref(), folders);
        Ok(loaded)
    }
}

impl Instance {
    /// Finds what it imports.
    ///
    /// # Errors
    /// What keeps that from being found.
    fn import(&mut self, module: Option<&Module>, flags: &Flags<'_>) -> Result<(), Error> {
        self.packages = match module {
            Some(module) => module.imports(&self.import_path, &self.sources, flags)?,
            None => module::without(&self.sources)?,
        };
        Ok(())
    }
}

/// What is wrong with the first argument that something is wrong with, and with which package of all that is.
#[derive(Default)]
struct Wrong {
    at: Option<(usize, usize)>,
    error: Option<Error>,
    /// Imports that failed in packages that one pattern means: those are one error.
    imports: Vec<Diagnostic>,
}

impl Wrong {
    /// Whether something is of the first argument that something is wrong with.
    fn is_of_first(&mut self, at: (usize, usize)) -> bool {
        self.at.get_or_insert(at).0 == at.0
    }

    fn note(&mut self, at: (usize, usize), error: Error) {
        if self.is_of_first(at) && self.error.is_none() {
            self.error = Some(error);
        }
    }

    /// Of a pattern, whose packages begin there.
    fn collect(&mut self, begins: (usize, usize), error: Error) {
        if self.is_of_first(begins) {
            self.at = Some(begins);
            self.imports.extend(error.into_diagnostics());
        }
    }

    fn told(self) -> Option<(usize, Error)> {
        let number = self.at?.1;
        if self.imports.is_empty() {
            return Some((number, self.error?));
        }
        Some((number, Error::Diagnostics(in_order(self.imports))))
    }
}

impl Loaded {
    /// Puts in what files ask for by `@embed`. Those that are named one by one are in no module; of folders whose data
    /// is wanted the packages are not looked at.
    fn put_in(&mut self, module: Option<&Module>, folders: Folders) {
        let wrong = &mut self.unembedded;
        let looked_at = self.packages.iter_mut().filter(|_| folders == Folders::OfCue);
        let packages = looked_at.map(|it| (it, module));
        for (it, of) in packages.chain(self.files.as_mut().map(|it| (it, None))) {
            let Instance { sources, packages, spliced, .. } = it;
            embed(sources, of, spliced, wrong);
            for it in packages {
                embed(&mut it.sources, module, spliced, wrong);
            }
        }
    }
}

/// An argument as it is from the working folder.
fn relative(argument: &str) -> String {
    if !argument.starts_with('/') {
        return argument.to_owned();
    }
    format!("./{}", folder::shown_name(Path::new(argument)))
}

/// The module that counts: around the working folder, or around what lies elsewhere, if that one has no path.
fn module_of(arguments: &filetype::Arguments) -> Result<Option<Module>, Error> {
    let mut names = arguments.packages.iter().map(|it| local(it)).chain(
        arguments.files.iter().filter(|it| it.name != "-").map(|it| Some(PathBuf::from(&it.name))),
    );
    let here = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
    if module::is_within_cue_mod(&here) {
        let text = "cannot load packages inside the cue.mod directory";
        return Err(Error::Request(text.into()));
    }
    let first = names.next().flatten().unwrap_or_else(|| PathBuf::from("."));
    let first = std::path::absolute(&first).unwrap_or(first);
    let own = module::around(&here)?;
    let is_own = first.starts_with(&here) || own.as_ref().is_some_and(|it| !it.path.is_empty());
    if is_own {
        return Ok(own);
    }
    let within = first.ancestors().find(|it| it.ends_with("cue.mod")).and_then(Path::parent);
    module::around(within.unwrap_or(&first))
}

/// The folder of a package that is named by where it is.
fn local(pattern: &str) -> Option<PathBuf> {
    let path = import_path(pattern).path;
    // What stands in the last name before the dots is not looked at.
    let path = match path.split_once("...") {
        Some((above, _)) => above.rfind('/').map_or(above, |it| &above[..=it]),
        None => path,
    };
    match path {
        "" | "." | ".." => Some(PathBuf::from(if path.is_empty() { "." } else { path })),
        _ if path.starts_with(['/']) || path.starts_with("./") || path.starts_with("../") => {
            Some(PathBuf::from(path))
        }
        _ => None,
    }
}

/// The packages that an argument means.
fn packages(
    pattern: &str,
    module: Option<&Module>,
    folders: Folders,
    flags: &Flags<'_>,
) -> Result<Vec<Result<Instance, Error>>, Failed> {
    let given = pattern;
    let pattern = &canonical(pattern);
    let parts = import_path(pattern);
    let refused = |text: String| Err(Error::Request(text).into());
    if parts.qualifier == Some("_") {
        return refused(format!("invalid import path qualifier _ in {pattern:?}"));
    }
    if let Some(failed) = no_pattern(pattern, module) {
        return Err(failed);
    }
    let qualifier = parts.qualifier.filter(|it| !it.is_empty());
    let root = module.map(|it| it.root.as_path());
    let named = local(pattern);
    if let Some(why) = named.as_ref().and_then(|it| module?.has_none_in(it)) {
        let path = as_given(given, parts.path);
        return refused(format!("cannot determine import path for {path:?} ({why})"));
    }
    let Some(folder) = named.or_else(|| below_module(parts.path, module?)) else {
        return imported(pattern, module, flags).map(|it| vec![Ok(it)]);
    };
    if parts.path.contains("...") {
        if root.is_some_and(|root| is_within(&folder, &root.join("cue.mod"))) {
            let text = format!("pattern not allowed in external package path {given:?}");
            return Err(Failed::Altogether(Error::Request(text)));
        }
        let mut all = Vec::new();
        let below = if folder.is_dir() { folder::below(&folder)? } else { Vec::new() };
        for path in below {
            let shown = folder::shown_name(&path);
            let place = Place {
                folder: &path,
                root,
                language: module::language_of(module),
                package: qualifier,
                shown: if shown.is_empty() { "." } else { &shown },
                is_sought: true,
            };
            let mut found = folder::package(&place, flags)?;
            let wrong = std::mem::take(&mut found.wrong);
            let wanted = match folders {
                Folders::OfCue => !found.sources.is_empty(),
                Folders::OfData => !found.sources.is_empty() || !found.data.is_empty(),
            };
            if wanted && !wrong.is_empty() {
                all.push(Err(Error::Diagnostics(wrong)));
            } else if wanted {
                all.push(Ok(instance(found, &path, module)));
            }
        }
        if all.is_empty() {
            return refused(folder::unmatched(parts.path));
        }
        return Ok(all);
    }
    if folder.is_file() {
        return refused(format!("{given} is a file and not a package directory"));
    }
    if !folder.is_dir() {
        return refused(format!("cannot find package {:?}", parts.path));
    }
    let shown = parts.path;
    let language = module::language_of(module);
    let is_sought = false;
    let place = Place { folder: &folder, root, package: qualifier, shown, is_sought, language };
    let found = folder::package(&place, flags)?;
    if !found.wrong.is_empty() {
        return Err(Error::Diagnostics(found.wrong).into());
    }
    if found.sources.is_empty() && folders == Folders::OfCue {
        return Err(found.nothing(shown).into());
    }
    Ok(vec![Ok(instance(found, &folder, module))])
}

/// Whether a folder is another, or below it.
fn is_within(folder: &Path, other: &Path) -> bool {
    std::fs::canonicalize(folder).is_ok_and(|it| it.starts_with(other))
}

/// The shortest form of a path as messages tell it: one that begins in the working folder keeps its dot.
fn as_given<'a>(given: &str, path: &'a str) -> Cow<'a, str> {
    match given.starts_with("./") && path.starts_with("..") {
        true => Cow::Owned(format!("./{path}")),
        false => Cow::Borrowed(path),
    }
}

/// An argument with its path in its shortest form.
fn canonical(pattern: &str) -> String {
    let path = import_path(pattern).path;
    let clean = read::cleaned(Path::new(path)).display().to_string();
    let clean = match clean.as_str() {
        "" => ".".to_owned(),
        _ if path.starts_with("./") && !clean.starts_with("../") && clean != ".." => {
            format!("./{clean}")
        }
        _ => clean,
    };
    match pattern.strip_prefix(path) {
        Some(rest) => format!("{clean}{rest}"),
        None => pattern.to_owned(),
    }
}

/// Why an argument that names no folder means nothing to what knows of no module.
pub(crate) fn unknown(pattern: &str) -> Option<Error> {
    if local(pattern).is_some() && !pattern.starts_with("...") {
        return None;
    }
    let refused = no_pattern(pattern, None);
    refused.or_else(|| imported(pattern, None, &Flags::new(&[])).err()).map(Error::from)
}

/// Why import paths with `...` and those that stand for many are nothing that is looked for.
fn no_pattern(pattern: &str, module: Option<&Module>) -> Option<Failed> {
    let parts = import_path(pattern);
    let nothing = || Some(Failed::Alone(Error::Request(folder::unmatched(parts.path))));
    if matches!(parts.path, "all" | "std" | "cmd") {
        return nothing();
    }
    let local = parts.path.starts_with("./") || parts.path.starts_with("../");
    if local || !parts.path.contains("...") {
        return None;
    }
    let own = module.map_or("", |it| it.path.as_str());
    let below = parts.path.strip_prefix(own).filter(|it| own.is_empty() || it.starts_with('/'));
    match below {
        Some(_) if own.is_empty() => nothing(),
        Some(_) => None,
        None => {
            let text = format!("pattern not allowed in external package path {pattern:?}");
            Some(Failed::Altogether(Error::Request(text)))
        }
    }
}

/// The folder whose packages, of all below it, a pattern of import paths of the module means.
fn below_module(path: &str, module: &Module) -> Option<PathBuf> {
    let (above, _) = path.split_once("...")?;
    let below = above.strip_prefix(module.path.as_str()).filter(|_| !module.path.is_empty())?;
    Some(module.root.join(below.trim_start_matches('/')))
}

/// A package that is named by its import path.
fn imported(pattern: &str, module: Option<&Module>, flags: &Flags<'_>) -> Result<Instance, Failed> {
    let refused = |text: String| Err(Error::Request(text).into());
    let parts = import_path(pattern);
    let module = module.filter(|it| !it.path.is_empty());
    if parts.qualifier.is_some_and(|it| it.contains('@')) {
        let text =
            "package qualifier must not contain a version; use path@version:qualifier syntax";
        let text = format!("malformed import path {pattern:?}: {text}");
        return refused(match module {
            Some(_) => format!("cannot find package {:?}: {text}", parts.path),
            None => text,
        });
    }
    let major = |it: &&str| it.strip_prefix('v').is_some_and(|it| it.parse::<u64>().is_ok());
    if let (None, Some(version)) = (module, parts.version.filter(major)) {
        return refused(format!(
            "package {pattern}: {version} is not a valid version to use as an argument; use a \
             fully qualified version like {version}.0.0, {version}.latest, or @latest"
        ));
    }
    let name = match parts.package(pattern) {
        Ok(name) => name,
        Err(text) => return refused(text),
    };
    if !parts.path.split('/').next().unwrap_or_default().contains('.') {
        let text = "cannot be imported as a CUE package";
        return refused(format!("standard library import path {pattern:?} {text}"));
    }
    let Some(module) = module else {
        return refused(module::UNAVAILABLE.into());
    };
    let places = match module.places(parts.path, parts.version.unwrap_or_default(), None) {
        Ok(places) => places,
        Err(text) => return refused(format!("cannot find package {:?}: {text}", parts.path)),
    };
    let fits = |it: &module::Found<'_>| it.of.is_some() || module.has_none_in(&it.folder).is_none();
    let mut places: Vec<module::Found<'_>> = places.into_iter().filter(fits).collect();
    let Some(last) = places.pop() else {
        let at = parts.version.map(|it| format!("@{it}")).unwrap_or_default();
        let path = format!("{}{at}", parts.path);
        return refused(format!(
            "cannot find package {path:?}: cannot find module providing package {path}"
        ));
    };
    let package = |it: &module::Found<'_>| {
        let module::Found { folder, root, of } = it;
        let (root, shown, is_sought) = (Some(root.as_path()), parts.path, false);
        let language = of.map_or(&module.language, |it| &it.language);
        let place = Place { folder, root, package: Some(name), shown, is_sought, language };
        folder::package(&place, flags)
    };
    let mut found = package(&last)?;
    for it in &places {
        let other = package(it)?;
        found.sources.extend(other.sources);
        found.excluded += other.excluded;
    }
    found.sources.sort_by_key(|it| folder::place_of(&it.name));
    if found.sources.is_empty() {
        return refused(folder::no_files(parts.path, name, found.excluded));
    }
    let folder = last.folder;
    let at = parts.version.map(|it| format!("@{it}")).unwrap_or_default();
    let name = qualified(&format!("{}{at}", parts.path), Some(name));
    Ok(Instance { name, ..instance(found, &folder, Some(module)) })
}

/// An import path with the name of the package where that is not its last element.
fn qualified(path: &str, package: Option<&str>) -> String {
    let own = import_path(path).path.rsplit('/').next().unwrap_or_default();
    let other = package.filter(|it| *it != own);
    other.map_or_else(|| path.to_owned(), |it| format!("{path}:{it}"))
}

fn instance(found: Found, folder: &Path, module: Option<&Module>) -> Instance {
    let path = std::fs::canonicalize(folder).ok();
    let below = module.zip(path).and_then(|(module, path)| {
        let below = path.strip_prefix(&module.root).ok()?.display().to_string();
        let slash = if below.is_empty() { "" } else { "/" };
        let Module { path, major, .. } = module;
        Some(format!("{path}{slash}{below}@{major}"))
    });
    let package = found.package;
    let import_path = below.unwrap_or_default();
    let name = match import_path.is_empty() {
        true => package.clone().unwrap_or_default(),
        false => qualified(&import_path, package.as_deref()),
    };
    Instance {
        name,
        import_path,
        sources: found.sources,
        package,
        data: found.data,
        ..Instance::default()
    }
}
