//! Arguments to packages and values: what is evaluated, and what is evaluated with it.

use std::path::{Path, PathBuf};

use cue_session::{Diagnostic, Package, Source};
use cue_syntax::Language;

use crate::condition::{Flags, excluded};
use crate::data::{self, Encoding, Value};
use crate::embed::{Spliced, embed};
use crate::filetype::{self, Form, Named, Reading, import_path};
use crate::folder::{self, Found, Place};
use crate::module::Module;
use crate::tags::{self, Variables};
use crate::{Error, diagnostic, error, failed, form, module, read};

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
}

/// What was loaded.
#[derive(Debug, Default)]
pub struct Loaded {
    /// Packages, in order.
    pub packages: Vec<Instance>,
    /// CUE files that were named one by one.
    pub files: Option<Instance>,
    /// Values of the data files that were named, by the names of these.
    pub values: Vec<Value>,
    /// What is wrong with the first data file that cannot be read; the values are of those before it.
    pub broken: Option<Error>,
    /// What is wrong with attributes that ask for files.
    pub unembedded: Vec<Diagnostic>,
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
    /// What is missing, unreadable or not of its form.
    pub fn load(&self, folders: Folders) -> Result<Loaded, Error> {
        let here = [String::from(".")];
        let arguments = if self.arguments.is_empty() { &here[..] } else { &self.arguments };
        let module = module_of(&filetype::arguments(arguments)?)?;
        let arguments: Vec<String> = arguments.iter().map(|it| relative(it)).collect();
        let arguments = filetype::arguments(&arguments)?;
        let flags = Flags::new(&self.tags);
        let mut loaded = Loaded::default();
        for pattern in &arguments.packages {
            let found = packages(pattern, module.as_ref(), folders, &flags)
                .map_err(|it| tags::beside(it, &self.tags, &flags))?;
            loaded.packages.extend(found);
        }
        if !arguments.files.is_empty() {
            let language = module::language_of(module.as_ref());
            let (files, mut values, broken) = named(&arguments.files, language, &flags)
                .map_err(|it| tags::beside(it, &self.tags, &flags))?;
            values.sort_by(|one, other| one.file.cmp(&other.file));
            let broken = broken.into_iter().min_by(|one, other| one.0.cmp(&other.0));
            if let Some((file, _)) = &broken {
                values.retain(|it| it.file <= *file);
            }
            loaded.files = Some(files);
            loaded.values = values;
            loaded.broken = broken.map(|it| it.1);
        }
        for it in loaded.packages.iter_mut().chain(&mut loaded.files) {
            it.packages = match &module {
                Some(module) => module.imports(&it.sources, &flags).map_err(|mut error| {
                    // Files that were named are parsed before what they import is looked for.
                    if let Some(wrong) = unparsed(&it.sources).filter(|_| it.import_path.is_empty())
                    {
                        return wrong;
                    }
                    if let Error::Diagnostics(all) = &mut error {
                        failed::named(all, &it.import_path, &it.sources, &[]);
                        if let Err(Error::Diagnostics(tags)) = tags::placed(&it.sources) {
                            all.extend(tags);
                        }
                    }
                    error
                })?,
                None => module::without(&it.sources)?,
            };
        }
        let mut all: Vec<&mut Instance> =
            loaded.packages.iter_mut().chain(&mut loaded.files).collect();
        tags::inject(&mut all, &self.tags, self.variables, &flags)?;
        if folders == Folders::OfCue {
            loaded.put_in(module.as_ref());
        }
        Ok(loaded)
    }
}

/// What keeps sources from being parsed.
pub(crate) fn unparsed(sources: &[Source]) -> Option<Error> {
    let mut all = Vec::new();
    for source in sources {
        let parsed = cue_syntax::parse_file(&source.text);
        all.extend(error::unparsed(&source.name, &source.text, &parsed.errors));
    }
    if all.is_empty() { None } else { Some(Error::Diagnostics(all)) }
}

impl Loaded {
    /// Puts in what files ask for by `@embed`. Those that are named one by one are in no module.
    fn put_in(&mut self, module: Option<&Module>) {
        let wrong = &mut self.unembedded;
        let packages = self.packages.iter_mut().map(|it| (it, module));
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
    let name = folder::shown_name(Path::new(argument));
    if name.starts_with("..") { name } else { format!("./{name}") }
}

/// The module that counts: around the working folder, or around what lies elsewhere.
fn module_of(arguments: &filetype::Arguments) -> Result<Option<Module>, Error> {
    let mut names = arguments.packages.iter().map(|it| local(it)).chain(
        arguments.files.iter().filter(|it| it.name != "-").map(|it| Some(PathBuf::from(&it.name))),
    );
    let here = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
    if here.ancestors().any(|it| it.ends_with("cue.mod")) {
        let text = "cannot load packages inside the cue.mod directory";
        return Err(Error::Request(text.into()));
    }
    let first = names.next().flatten().unwrap_or_else(|| PathBuf::from("."));
    let first = std::path::absolute(&first).unwrap_or(first);
    if first.starts_with(&here) { module::around(&here) } else { module::around(&first) }
}

/// The folder of a package that is named by where it is.
fn local(pattern: &str) -> Option<PathBuf> {
    let path = import_path(pattern).path;
    let path = path.split("...").next().unwrap_or_default();
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
) -> Result<Vec<Instance>, Error> {
    let parts = import_path(pattern);
    if parts.qualifier == Some("_") {
        let message = format!("invalid import path qualifier _ in {pattern:?}");
        return Err(Error::Request(message));
    }
    if let Some(message) = no_pattern(pattern, module) {
        return Err(Error::Request(message));
    }
    let qualifier = parts.qualifier.filter(|it| !it.is_empty());
    let root = module.map(|it| it.root.as_path());
    let Some(folder) = local(pattern) else {
        return imported(pattern, module, flags).map(|it| vec![it]);
    };
    if parts.path.contains("...") {
        let mut all = Vec::new();
        for path in folder::below(&folder)? {
            let shown = folder::shown_name(&path);
            let place = Place {
                folder: &path,
                root,
                language: module::language_of(module),
                package: qualifier,
                shown: if shown.is_empty() { "." } else { &shown },
            };
            let found = folder::package(&place, flags)?;
            let wanted = match folders {
                Folders::OfCue => !found.sources.is_empty(),
                Folders::OfData => !found.sources.is_empty() || !found.data.is_empty(),
            };
            if wanted {
                all.push(instance(found, &path, module));
            }
        }
        if all.is_empty() {
            return Err(Error::Request(format!("cue: {:?} matched no packages", parts.path)));
        }
        return Ok(all);
    }
    if folder.is_file() {
        let message = format!("{pattern} is a file and not a package directory");
        return Err(Error::Request(message));
    }
    if !folder.is_dir() {
        return Err(Error::Request(format!("cannot find package {:?}", parts.path)));
    }
    if module.is_some_and(|it| it.is_around_another(&folder)) {
        let text = "(directory is in a nested module)";
        let text = format!("cannot determine import path for {:?} {text}", parts.path);
        return Err(Error::Request(text));
    }
    let shown = match parts.path.trim_end_matches('/') {
        "" => ".",
        path => path,
    };
    let language = module::language_of(module);
    let place = Place { folder: &folder, root, package: qualifier, shown, language };
    let found = folder::package(&place, flags)?;
    if !found.wrong.is_empty() {
        return Err(Error::Diagnostics(found.wrong));
    }
    if found.sources.is_empty() && folders == Folders::OfCue {
        return Err(found.nothing(shown));
    }
    Ok(vec![instance(found, &folder, module)])
}

/// Why import paths with `...` and those that stand for many are nothing that is looked for.
fn no_pattern(pattern: &str, module: Option<&Module>) -> Option<String> {
    let parts = import_path(pattern);
    let nothing = || Some(format!("cue: {:?} matched no packages", parts.path));
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
        Some(_) => nothing(),
        None => Some(format!("pattern not allowed in external package path {pattern:?}")),
    }
}

/// A package that is named by its import path.
fn imported(pattern: &str, module: Option<&Module>, flags: &Flags<'_>) -> Result<Instance, Error> {
    let refused = |text: String| Err(Error::Request(text));
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
    let fits = |it: &module::Found<'_>| it.of.is_some() || !module.is_around_another(&it.folder);
    let found = places.into_iter().next().filter(fits);
    let Some(module::Found { folder, root, of }) = found else {
        let at = parts.version.map(|it| format!("@{it}")).unwrap_or_default();
        let path = format!("{}{at}", parts.path);
        return refused(format!(
            "cannot find package {path:?}: cannot find module providing package {path}"
        ));
    };
    let root = Some(root.as_path());
    let language = of.map_or(&module.language, |it| &it.language);
    let place = Place { folder: &folder, root, package: Some(name), shown: parts.path, language };
    let found = folder::package(&place, flags)?;
    if found.sources.is_empty() {
        return refused(folder::no_files(parts.path, name, found.excluded));
    }
    Ok(instance(found, &folder, Some(module)))
}

fn instance(found: Found, folder: &Path, module: Option<&Module>) -> Instance {
    let path = std::fs::canonicalize(folder).ok();
    let below = module.zip(path).and_then(|(module, path)| {
        let below = path.strip_prefix(&module.root).ok()?.display().to_string();
        let slash = if below.is_empty() { "" } else { "/" };
        let Module { path, major, .. } = module;
        let import_path = format!("{path}{slash}{below}@{major}");
        Some((format!("{path}@{major}{slash}{below}"), import_path))
    });
    let package = found.package;
    let none = || (package.clone().unwrap_or_default(), String::new());
    let (name, import_path) = below.unwrap_or_else(none);
    Instance {
        name,
        import_path,
        sources: found.sources,
        package,
        data: found.data,
        ..Instance::default()
    }
}

/// Data files that cannot be read, and why.
type Broken = Vec<(String, Error)>;

/// Files one by one: CUE together, and the values of the others.
fn named(
    files: &[Named],
    language: &Language,
    flags: &Flags<'_>,
) -> Result<(Instance, Vec<Value>, Broken), Error> {
    let mut broken = Broken::new();
    let mut it = Instance::default();
    let mut values = Vec::new();
    let mut left_out: Vec<String> = Vec::new();
    // Standard input can be read once only.
    let mut input: Option<Vec<u8>> = None;
    for Named { name, kind } in files {
        let path = Path::new(name);
        let bytes = match (name.as_str(), &input) {
            ("-", Some(bytes)) => bytes.clone(),
            ("-", None) => input.insert(read::bytes(path)?).clone(),
            _ if kind.encoding == Encoding::Cue => Vec::new(),
            _ => read::bytes(path)?,
        };
        if kind.encoding != Encoding::Cue {
            let shown = folder::shown_name(path);
            let data::Read { values: read, wrong } = match data::read(kind.encoding, &shown, &bytes)
            {
                Ok(read) => read,
                Err(wrong) => data::Read { values: Vec::new(), wrong },
            };
            if !wrong.is_empty() {
                broken.push((shown, Error::Diagnostics(wrong)));
            }
            let schema = read.iter().find_map(|it| data::schema_in(&it.datum));
            if let Some(schema) = schema.filter(|_| kind.reading == Reading::Auto) {
                return Err(unread(name, schema, kind.encoding));
            }
            values.extend(read);
            continue;
        }
        let source = match name.as_str() {
            "-" => read::text("-".into(), &bytes, language),
            _ => read::source(path, language)?,
        };
        let file = if kind.form == Form::Schema {
            cue_syntax::parse_header(&source.text)
        } else {
            let file = cue_syntax::parse_as(&source.text, language).file;
            form::check(&source, &file, kind.form)?;
            file
        };
        let at = |at: u32| cue_syntax::LineIndex::new(&source.text).at(at);
        match excluded(&file, flags) {
            Ok(None) => {}
            Ok(Some(it)) => {
                left_out.push(format!("\n    {}: {}", folder::dotted(&source.name), it.reason));
                continue;
            }
            Err(wrong) => {
                let (line, column) = at(wrong.at);
                return Err(diagnostic(wrong.reason, Some((&source.name, line, column))).into());
            }
        }
        let package = file.package.as_ref().map(|it| it.name.to_string());
        if let Some(package) = package.filter(|it| it != "_") {
            match &it.package {
                None => {
                    it.name = folder::base(path);
                    it.package = Some(package);
                }
                Some(one) if *one != package => {
                    let (first, base) = (it.name.clone(), folder::base(path));
                    return Err(folder::several((one, &first), (&package, &base), "."));
                }
                Some(_) => {}
            }
        }
        match folder::of_other_commands(name) {
            None => it.sources.push(source),
            Some(reason) => {
                left_out.push(format!("\n    {}: {reason}", folder::dotted(&source.name)));
            }
        }
    }
    let data = !values.is_empty() || !broken.is_empty();
    if it.sources.is_empty() && !data && !left_out.is_empty() {
        let text = "build constraints exclude all CUE files in command-line-arguments:";
        return Err(Error::Request(format!("{text}{}", left_out.concat())));
    }
    it.name = it.package.clone().unwrap_or_default();
    folder::in_order(&mut it.sources);
    Ok((it, values, broken))
}

/// That a file of data says it is a schema in a language that is not read here.
pub(crate) fn unread(file: &str, schema: &str, encoding: Encoding) -> Error {
    let (name, qualifier) = match schema {
        "openapi" => ("OpenAPI", encoding.name()),
        _ => ("a JSON Schema", encoding.name()),
    };
    Error::Request(format!(
        "{file} says that it is {name}, which is not read by this command; \
         with \"{qualifier}: {file}\" it is read as data"
    ))
}
