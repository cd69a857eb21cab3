//! Syntax trees to a program: every identifier is resolved once.

mod structs; // struct literals, fields, comprehensions
mod closing; // comprehensions that bring what may be closed
mod expressions;
mod faults;
mod names; // what names stand for
mod scopes; // where they are declared

use std::sync::Arc;

use cue_map::{Map, Set};
use cue_syntax::ast::{Decl, Expr, File, Ident, Span};
use cue_syntax::{Experiments, Language, LineIndex};

pub(crate) use self::faults::told;
use self::faults::{Lets, Stage, Step};
use self::names::identifier;
pub(crate) use self::names::predeclared;
pub(crate) use self::scopes::Named;
use self::scopes::{Imported, Scopes};
use crate::builtin;
use crate::program::{At, Code, ExprId, Label, LabelKind, Outward, Program};
use crate::sources::{Package, SourceText};

/// What names referred to.
#[derive(Clone, Copy, Default)]
struct Reached {
    /// Environments, a bit each, counted from the outermost.
    environments: u128,
    /// Something else than a field was referred to.
    others: bool,
}

impl Reached {
    /// Of an expression with so many environments around it those that it depends on.
    fn outward(self, here: u32) -> Option<Outward> {
        // More are not told apart.
        if !(1..128).contains(&here) {
            return Some(Outward::default());
        }
        let outside = self.environments & (u128::MAX >> (128 - here));
        let up = here - 1 - outside.checked_ilog2()?;
        Some(Outward { up, fields_there: !self.others && outside.count_ones() == 1 })
    }
}

/// Which CUE a program is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// v0.17.
    V017,
    /// What KubeVela took up to its CUE v0.14.
    KubeVela,
}

/// A source: name and text.
#[derive(Clone, Debug)]
pub struct Source {
    /// For positions.
    pub name: String,
    /// CUE; the program shares it.
    pub text: Arc<str>,
    /// The version of the language it is written in.
    pub language: Language,
    /// It is data beside the files: what these embed is closed for it.
    pub is_data: bool,
}

impl Source {
    /// A source in the newest version.
    pub fn new(name: impl Into<String>, text: impl Into<Arc<str>>) -> Self {
        let language = Language::default();
        Self { name: name.into(), text: text.into(), language, is_data: false }
    }
}

/// What is wrong with a program, and where.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoadError {
    /// CUE's words.
    pub message: String,
    /// Dotted labels of what it is in; empty where that is not known.
    pub path: String,
    /// Source name, line, column.
    pub position: (String, u32, u32),
}

/// Compiles the files of one package; `packages` are what they may import besides the builtin ones.
///
/// # Errors
/// Everything that does not parse or resolve, in source order.
pub fn compile(
    sources: &[Source],
    packages: &[(String, Vec<Source>)],
    profile: Profile,
) -> Result<Program, Vec<LoadError>> {
    let lenient = profile == Profile::KubeVela;
    let mut compiler = Compiler::new(Program { lenient, ..Program::empty() }, packages);
    let roots = compiler.package(sources);
    compiler.program.roots = roots;
    if compiler.closing > 0 {
        compiler.program.note_closing();
    }
    compiler.program.labels.share();
    compiler.program.shrink();
    if compiler.errors.is_empty() { Ok(compiler.program) } else { Err(told(compiler.errors)) }
}

pub(crate) struct Compiler<'a> {
    pub(crate) program: Program,
    available: &'a [(String, Vec<Source>)],
    loaded: Map<String, Option<u32>>,
    pub(crate) errors: Vec<(Stage, LoadError)>,
    /// What is compiled is in.
    path: Vec<Step>,
    lets: Lets,
    /// Lets among declarations so far, as messages number them.
    counted_lets: u32,
    scopes: Scopes,
    source: u32,
    /// Attributes of the file that is next.
    above: Vec<(String, String)>,
    /// What the file asks for.
    experiments: Experiments,
    /// Inside of what a `try` is about.
    trying: bool,
    reached: Reached,
    /// Behind the last code that may close a value.
    closing: usize,
    /// And what embeds another value in each round of a loop.
    varying: usize,
    /// What builtin packages say in CUE, by path.
    texts: Vec<(&'static str, ExprId)>,
}

impl<'a> Compiler<'a> {
    pub(crate) fn new(program: Program, available: &'a [(String, Vec<Source>)]) -> Self {
        Compiler {
            program,
            available,
            loaded: Map::default(),
            errors: Vec::new(),
            path: Vec::new(),
            lets: Lets::default(),
            counted_lets: 0,
            scopes: Scopes::default(),
            source: 0,
            above: Vec::new(),
            experiments: Experiments::default(),
            trying: false,
            reached: Reached::default(),
            closing: 0,
            varying: 0,
            texts: Vec::new(),
        }
    }
}

impl Compiler<'_> {
    pub(crate) fn parse(&mut self, source: &Source) -> File {
        self.source = self.program.sources.len() as u32;
        let parsed = self.program.parsed(&source.text, &source.language);
        self.program.sources.push(SourceText {
            name: source.name.clone(),
            lines: LineIndex::new(&source.text),
            text: source.text.clone(),
            language: source.language.clone(),
            is_data: source.is_data,
            experiments: parsed.file.experiments,
        });
        for error in parsed.errors {
            self.fault(Stage::Parse, self.source, error.span, String::new(), error.message);
        }
        parsed.file
    }

    fn package(&mut self, sources: &[Source]) -> Vec<ExprId> {
        let outermost = self.program.sources.is_empty();
        let mut files = Vec::new();
        for source in sources {
            let file = self.parse(source);
            files.push((self.source, file));
        }
        // That of a file is one more.
        self.program.reserve(files.iter().map(|it| it.1.expressions + 1).sum());
        if outermost && !self.program.lenient {
            self.one_package(&files);
        }
        if outermost {
            let named = files.iter().filter_map(|it| it.1.package.as_ref());
            let named = named.map(|it| it.name.clone()).find(|it| **it != *"_");
            self.program.package = named;
        }
        let all = self.names(files.iter().map(|it| &it.1));
        // Nobody sees the fields of files without a package but themselves (C-20), and what the command
        // line asks.
        let packaged = |file: &File| file.package.as_ref().is_some_and(|it| &*it.name != "_");
        let apart = outermost && !self.program.lenient && files.len() > 1;
        let shared = match apart && files.iter().any(|it| !packaged(&it.1)) {
            true => self.names(files.iter().map(|it| &it.1).filter(|it| packaged(it))),
            false => all.clone(),
        };
        let outside = std::mem::take(&mut self.scopes);
        let mut roots = Vec::new();
        let path = std::mem::take(&mut self.path);
        for (source, file) in &mut files {
            self.source = *source;
            let asked = |it: &SourceText| it.name.starts_with("--");
            let asked = self.program.sources.get(*source as usize).is_some_and(asked);
            let own = apart && !asked && !packaged(file);
            let own = own.then(|| {
                let mut names = self.names(std::iter::once(&*file));
                names.extend(shared.iter().map(|(name, label)| (name.clone(), *label)));
                names
            });
            let names = if asked { &all } else { own.as_ref().unwrap_or(&shared) };
            roots.push(self.file(file, names));
        }
        self.path = path;
        self.scopes = outside;
        roots
    }

    /// The names of fields that files declare.
    fn names<'f>(&mut self, files: impl Iterator<Item = &'f File>) -> Map<Arc<str>, Label> {
        let mut names = Map::default();
        for decl in files.flat_map(|it| &it.decls) {
            if let Decl::Field(field) = decl {
                if let Some(name) = identifier(&field.label) {
                    let label = self.label(&name);
                    names.insert(name, label);
                }
            }
        }
        names
    }

    /// Files that are compiled together are of one package (cue-errors 1.15).
    fn one_package(&mut self, files: &[(u32, File)]) {
        let mut found: Vec<(&str, u32)> = Vec::new();
        for (source, file) in files {
            let Some(package) = &file.package else { continue };
            if &*package.name != "_" && found.iter().all(|it| it.0 != &*package.name) {
                found.push((&package.name, *source));
            }
        }
        if found.len() < 2 {
            return;
        }
        let told: Vec<String> = (found.iter())
            .filter_map(|(name, source)| {
                let source = self.program.sources.get(*source as usize)?;
                Some(format!("{name:?} ({})", source.name))
            })
            .collect();
        let message = format!("found packages {} in \".\"", told.join(" and "));
        self.errors.push((Stage::Parse, LoadError { message, ..LoadError::default() }));
    }

    /// What is said of an import that is not there, or that leads back to itself.
    fn not_imported(&self, path: &str) -> String {
        // Those that are being loaded lead here.
        let loading = self.loaded.values().filter(|it| it.is_none()).count();
        let named = |it: &str| it == path || it.rsplit_once(':').is_some_and(|it| it.0 == path);
        if self.loaded.iter().any(|(it, known)| known.is_none() && named(it)) {
            let outer = "import failed: ".repeat(loading + 1);
            return format!("{outer}package import cycle not allowed");
        }
        match path.split('/').next() {
            Some(first) if first.contains('.') => {
                let outer = "import failed: ".repeat(loading + 1);
                format!(
                    "{outer}cannot find package {path:?}: cannot find module providing package \
                     {path}"
                )
            }
            _ => format!("builtin package {path:?} undefined"),
        }
    }

    pub(crate) fn file(&mut self, file: &mut File, shared: &Map<Arc<str>, Label>) -> ExprId {
        let source = self.source;
        let mut imports = Map::default();
        let mut places: Map<Arc<str>, Span> = Map::default();
        let mut redeclared = Vec::new();
        self.experiments = file.experiments;
        for import in &file.imports {
            let path = import.path.rsplit_once(':').map_or(&*import.path, |it| it.0);
            let name: Arc<str> = match &import.name {
                Some(name) => name.name.clone(),
                None => import.package().into(),
            };
            let name_span = import.name.as_ref().map_or(import.span, |it| it.span);
            if shared.contains_key(&name) || imports.contains_key(&name) {
                let earlier = places.get(&name).copied();
                redeclared.push((name.clone(), earlier, name_span));
            }
            places.entry(name.clone()).or_insert(name_span);
            match self.import(path, import.package()) {
                Some(imported) => {
                    imports.insert(name, imported);
                }
                None => {
                    self.source = source;
                    // Without a dot it can only be one of those that are built in (C-20).
                    let message = self.not_imported(path);
                    self.error(import.span, message);
                    imports.insert(name, Imported::Missing);
                }
            }
            self.source = source;
        }
        for (name, earlier, again) in &redeclared {
            // The import is the wrong one, whatever else has its name.
            let field = file.decls.iter().find_map(|it| match it {
                Decl::Field(field) if identifier(&field.label).as_ref() == Some(name) => {
                    Some(field.label_span)
                }
                _ => None,
            });
            let span = *again;
            let previous = field.or(*earlier).unwrap_or(span);
            let it = &self.program.sources[source as usize];
            let (line, column) = it.lines.at(previous.start);
            let place = format!("./{}:{line}:{column}", it.name);
            let message = format!(
                "{name} redeclared as imported package name\n\tprevious declaration at {place}"
            );
            self.error(span, message);
        }
        self.scopes.enter_imports(imports);
        let names = shared.iter().map(|(name, label)| (name.clone(), Named::Field(*label)));
        // What stands above the clause says something of the file only.
        let clause = file.package.as_ref().map_or(0, |it| it.span.end);
        for it in file.attributes.iter().filter(|it| it.span.start >= clause) {
            self.above.push((it.name.clone(), it.body.clone()));
        }
        let root = self.literal(&mut file.decls, names.collect(), Span::default());
        let used = self.scopes.leave();
        self.cyclic_lets();
        if !self.program.lenient {
            for import in &file.imports {
                let name = import.called();
                let redeclared = redeclared.iter().any(|it| &*it.0 == name);
                if used.contains(name) || redeclared {
                    continue;
                }
                let suffix = match &import.name {
                    Some(name) => format!(" as {}", name.name),
                    None => String::new(),
                };
                let message = format!("imported and not used: {:?}{suffix}", import.path);
                self.error(import.span, message);
            }
        }
        root
    }

    /// A package by its path, or by path and name where it is one of several in a folder.
    fn import(&mut self, path: &str, name: &str) -> Option<Imported> {
        let named = format!("{path}:{name}");
        let folder = path;
        let path = match self.available.iter().any(|it| it.0 == named) {
            true => named.as_str(),
            false => path,
        };
        if let Some((_, sources)) = self.available.iter().find(|it| it.0 == path) {
            if let Some(known) = self.loaded.get(path) {
                return known.map(Imported::Package);
            }
            self.loaded.insert(path.into(), None);
            let outside = self.program.labels.go_to(folder);
            let roots = self.package(sources);
            self.program.labels.return_to(outside);
            let index = self.program.packages.len() as u32;
            self.program.packages.push(Package { path: path.into(), roots });
            self.loaded.insert(path.into(), Some(index));
            return Some(Imported::Package(index));
        }
        builtin::package(path).map(Imported::Builtin)
    }

    /// A `let` or alias that nothing refers to (cue-errors 1.14).
    fn unreferenced(&mut self, name: &Ident, span: Span, used: &Set<Arc<str>>) {
        if !used.contains(&name.name) && &*name.name != "_" {
            let message = format!("unreferenced alias or let clause {}", name.name);
            self.error(span, message);
        }
    }

    /// The label of an identifier.
    fn label(&mut self, name: &Arc<str>) -> Label {
        self.program.labels.of(LabelKind::of_identifier(name), name)
    }

    /// What is selected from, or compared with bottom; notes how far out the nearest environment is that it depends on.
    fn base(&mut self, operand: &mut Expr) -> ExprId {
        let (id, outward) = self.reaching(operand);
        let code = self.program.code(id);
        let made = matches!(code, Code::Unify(..) | Code::Struct(_) | Code::Disjoin(_));
        let up = match outward {
            Some(outward) => outward.up,
            // The outermost one, as far as they are counted.
            None => self.scopes.environments().saturating_sub(1),
        };
        if made && up > 0 {
            self.program.lifts.insert(id, up);
        }
        id
    }

    /// An alternative of a disjunction; notes which environments it depends on.
    fn alternative(&mut self, expr: &mut Expr) -> ExprId {
        let (id, outward) = self.reaching(expr);
        if let Some(outward) = outward {
            self.program.outward.insert(id, outward);
        }
        id
    }

    /// An expression, and which of the environments around it it depends on, if any.
    fn reaching(&mut self, expr: &mut Expr) -> (ExprId, Option<Outward>) {
        let before = std::mem::take(&mut self.reached);
        let id = self.expr(expr);
        let outward = self.reached.outward(self.scopes.environments());
        self.reached.environments |= before.environments;
        self.reached.others |= before.others;
        (id, outward)
    }

    fn push(&mut self, code: Code, span: Span) -> ExprId {
        if self.program.may_close(&code) {
            self.closing = self.program.codes.len() + 1;
        }
        self.program.push(code, At { source: self.source, span })
    }
}

const NO_TRY: &str = "try clause requires the try experiment (language version v0.16.0 or later)";
const NO_MARKER: &str =
    "optional marker (?) requires the try experiment (language version v0.16.0 or later)";
const NOT_LAST: &str = "struct-form try clause must be the last clause in a comprehension";
