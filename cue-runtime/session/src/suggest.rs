//! Hints for names nobody knows: fields that are not allowed, undefined or nowhere to be found, and packages.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use cue_eval::builtin::{self, Package as Builtin};
use cue_eval::value::Selector;
use cue_eval::value::path::{parse_selectors, path_text};
use cue_syntax::LineIndex;
use cue_syntax::ast::{Decl, Expr, ExprKind, File, Import, Label};

use crate::nearest::nearest;
use crate::protocol::{Diagnostic, Field, FieldSelection, Position, ProgramSpec, Source};
use crate::session::Session;
use crate::surroundings::{Surroundings, surroundings};
use crate::written::{Written, written};

/// Names that need no declaration.
const PREDECLARED: &[&str] = &[
    "string", "bytes", "bool", "int", "float", "number", "int8", "int16", "int32", "int64",
    "int128", "uint", "uint8", "uint16", "uint32", "uint64", "uint128", "float32", "float64",
    "rune", "len", "close", "and", "or", "div", "mod", "quo", "rem", "matchN", "matchIf", "error",
    "self",
];

/// Names that are told where none is near: more of them are no help.
const LISTED: usize = 8;

/// As many names are looked at for hints: whoever has thousands of errors reads those of the first.
const MOST_LOOKED_AT: usize = 1_000_000;

/// Adds to each error without a place where its field is written, and to each about a name what was probably meant by
/// it: from the names that can be seen where it stands, and from the fields of the value, for which a session that
/// `start` begins is asked, if any is needed.
pub fn suggest(
    spec: &ProgramSpec,
    start: impl FnOnce() -> Option<Session>,
    wrong: &mut [Diagnostic],
) {
    let refused = wrong.iter().filter(|it| it.message == NOT_ALLOWED).map(|it| it.path.clone());
    let refused: HashSet<String> = refused.collect();
    let mut fields =
        Fields { start: Some(start), session: None, told: HashMap::new(), looked_at: 0 };
    let mut files = Files { spec, parsed: HashMap::new(), looked_at: 0 };
    for it in wrong.iter_mut().filter(|it| it.hints.is_empty()) {
        if fields.looked_at + files.looked_at > MOST_LOOKED_AT {
            return;
        }
        if it.positions.is_empty() && !it.message.contains(" in empty disjunction") {
            it.positions.extend(files.written(&it.path));
        }
        let hint = if it.message == NOT_ALLOWED {
            allowed(&mut fields, &it.path, &refused)
        } else {
            of_a_name(&mut files, &mut fields, it)
        };
        it.hints.extend(hint);
    }
}

/// What is said of a field that a closed struct has no room for.
const NOT_ALLOWED: &str = "field not allowed";

/// The fields of values, each asked for once.
struct Fields<F> {
    start: Option<F>,
    session: Option<Session>,
    told: HashMap<String, Vec<Field>>,
    /// How many.
    looked_at: usize,
}

impl<F: FnOnce() -> Option<Session>> Fields<F> {
    /// Those of the value at a path; none where there are none, or nobody to ask.
    fn of(&mut self, path: String) -> &[Field] {
        if let Some(start) = self.start.take() {
            self.session = start();
        }
        let session = &mut self.session;
        let told = self.told.entry(path).or_insert_with_key(|path| {
            let fields = session.as_mut().map(|it| it.fields(path, FieldSelection::All));
            fields.and_then(Result::ok).flatten().unwrap_or_default()
        });
        self.looked_at += told.len();
        told
    }
}

/// The files of a program, each read once.
struct Files<'a> {
    spec: &'a ProgramSpec,
    /// By where they are: files of two packages may have one name.
    parsed: HashMap<*const Source, Read>,
    /// How many of their names.
    looked_at: usize,
}

/// A file that was read.
struct Read {
    file: Rc<File>,
    lines: LineIndex,
}

impl<'a> Files<'a> {
    fn read(&mut self, source: &'a Source) -> &Read {
        self.parsed.entry(std::ptr::from_ref(source)).or_insert_with(|| Read {
            file: Rc::new(cue_syntax::parse_older(&source.text).file),
            lines: LineIndex::new(&source.text),
        })
    }

    fn file(&mut self, source: &'a Source) -> Rc<File> {
        self.read(source).file.clone()
    }

    /// Where the field at a path is written, or the nearest one around it.
    fn written(&mut self, path: &str) -> Option<Position> {
        let path = parse_selectors(path).ok()?;
        let mut found: Option<(Written, &Source)> = None;
        for source in &self.spec.sources {
            let file = self.file(source);
            self.looked_at += file.decls.len();
            let it = written(&file.decls, &path);
            let further = |it: &Written| found.is_none_or(|(known, _)| it.depth > known.depth);
            if let Some(it) = it.filter(further) {
                found = Some((it, source));
            }
        }
        let (it, source) = found?;
        let (line, column) = self.read(source).lines.at(it.start);
        Some(Position { file: source.name.clone(), line, column })
    }

    fn place(&mut self, at: &Position) -> Option<Place<'a>> {
        let spec = self.spec;
        let packages = spec.packages.iter().map(|it| &it.sources);
        let mut all = std::iter::once(&spec.sources).chain(packages);
        let beside = all.find(|it| it.iter().any(|it| it.name == at.file))?;
        let source = beside.iter().find(|it| it.name == at.file)?;
        let read = self.read(source);
        let offset = read.lines.offset(at.line, at.column)?;
        Some(Place { source, beside, file: read.file.clone(), offset })
    }
}

/// What may stand where a field may not.
fn allowed<F: FnOnce() -> Option<Session>>(
    fields: &mut Fields<F>,
    path: &str,
    refused: &HashSet<String>,
) -> Option<String> {
    let mut selectors = parse_selectors(path).ok()?;
    let Selector::Field { name: label, .. } = selectors.pop()? else { return None };
    let known = fields.of(path_text(&selectors)).iter().filter(|it| !refused.contains(&it.path));
    among(&label, known.map(|it| it.label.as_str()), "allowed")
}

/// The name that was meant, or the few there are.
fn among<'a>(name: &str, known: impl Iterator<Item = &'a str>, that_are: &str) -> Option<String> {
    let known: Vec<&str> = known.filter(|it| alike(name, it)).collect();
    if let Some(near) = nearest(name, known.iter().copied()) {
        return Some(meant(near));
    }
    let shown = !known.is_empty() && known.len() <= LISTED;
    shown.then(|| format!("fields that are {that_are}: {}", known.join(", ")))
}

/// Whether both are data, hidden, or definitions.
fn alike(one: &str, other: &str) -> bool {
    let prefix =
        |it: &str| -> usize { it.bytes().take_while(|it| matches!(it, b'_' | b'#')).count() };
    one[..prefix(one)] == other[..prefix(other)]
}

fn meant(name: &str) -> String {
    format!("did you mean {name:?}?")
}

/// A place in a file.
struct Place<'a> {
    source: &'a Source,
    /// The other files of its package.
    beside: &'a [Source],
    file: Rc<File>,
    offset: u32,
}

impl Place<'_> {
    /// The package that a name stands for.
    fn import(&self, name: &str) -> Option<&Import> {
        self.file.imports.iter().find(|it| local_name(it) == name)
    }
}

/// The name by which a file knows a package.
fn local_name(import: &Import) -> &str {
    match &import.name {
        Some(name) => &name.name,
        None => import.path.rsplit(['/', ':']).next().unwrap_or_default(),
    }
}

/// What was meant by a name that an expression refers to, selects or calls.
fn of_a_name<F: FnOnce() -> Option<Session>>(
    files: &mut Files<'_>,
    fields: &mut Fields<F>,
    wrong: &Diagnostic,
) -> Option<String> {
    let message = wrong.message.as_str();
    let between = |start: &str, end: &str| message.strip_prefix(start)?.strip_suffix(end);
    let at = wrong.positions.first();
    if let Some(name) = between("reference \"", "\" not found") {
        let place = files.place(at?)?;
        return referred_to(files, &place, name);
    }
    if let Some(name) = message.strip_prefix("undefined field: ") {
        let name = name.trim_matches('"');
        let place = files.place(at?)?;
        return selected(files, fields, &place, name);
    }
    if let Some(name) = between("cannot call non-function ", " (type _|_)") {
        let (package, name) = name.split_once('.')?;
        let place = files.place(at?)?;
        return of_package(files, place.import(package)?, name);
    }
    let path = message
        .strip_prefix("import failed: cannot find package \"")
        .or_else(|| between("builtin package \"", "\" undefined"))?;
    let path = path.split('"').next()?;
    let known = builtin::packages().iter().map(|it| it.path);
    let known = known.chain(files.spec.packages.iter().map(|it| it.path.as_str()));
    nearest(path, known).map(meant)
}

/// What was meant by a reference.
fn referred_to<'a>(files: &mut Files<'a>, place: &Place<'a>, name: &str) -> Option<String> {
    let here = surroundings(&place.file.decls, place.offset);
    let mut known = here.names();
    let others = place.beside.iter().filter(|it| it.name != place.source.name);
    let others: Vec<Rc<File>> = others.map(|it| files.file(it)).collect();
    known.extend(others.iter().flat_map(|it| top_level(&it.decls)));
    known.extend(place.file.imports.iter().map(local_name));
    known.extend(PREDECLARED.iter().copied());
    files.looked_at += known.len();
    known.retain(|it| alike(name, it));
    if let Some(package) = builtin::packages().iter().find(|it| last(it) == name) {
        return Some(format!("{name:?} is a builtin package: import {:?}", package.path));
    }
    let declared = known.len();
    known.extend(builtin::packages().iter().map(last));
    let near = nearest(name, known.iter().copied())?;
    let import = known[declared..].iter().position(|it| *it == near);
    Some(match import.filter(|_| !known[..declared].contains(&near)) {
        Some(at) => format!("{} import {:?}", meant(near), builtin::packages()[at].path),
        None => meant(near),
    })
}

/// The name of a builtin package where nothing else is said.
fn last(package: &Builtin) -> &str {
    package.path.rsplit('/').next().unwrap_or(package.path)
}

/// Names that a file declares for all files of its package.
fn top_level(decls: &[Decl]) -> impl Iterator<Item = &str> {
    decls.iter().filter_map(|it| match it {
        Decl::Field(field) => match &field.label {
            Label::Ident(label) => Some(&*label.name),
            Label::String(..) | Label::Interpolated(_) | Label::Dynamic(_) | Label::Pattern(..) => {
                None
            }
        },
        Decl::Let(..) | Decl::Ellipsis(..) | Decl::Embed(_) | Decl::Attribute(_) => None,
    })
}

/// What was meant by a selection.
fn selected<F: FnOnce() -> Option<Session>>(
    files: &mut Files<'_>,
    fields: &mut Fields<F>,
    place: &Place<'_>,
    name: &str,
) -> Option<String> {
    let here = surroundings(&place.file.decls, place.offset);
    let base = here.selection?;
    if let ExprKind::Ident(package) = &base.kind {
        if let Some(import) = place.import(package).filter(|_| !here.declares(package)) {
            return of_package(files, import, name);
        }
    }
    let known = fields.of(path_of(base, &here)?);
    among(name, known.iter().map(|it| it.label.as_str()), "there")
}

/// What was meant by a member of a package.
fn of_package(files: &mut Files<'_>, import: &Import, name: &str) -> Option<String> {
    if let Some(package) = builtin::package(&import.path) {
        return nearest(name, package.members.iter().map(|it| it.name)).map(meant);
    }
    let package = files.spec.packages.iter().find(|it| it.path == import.path)?;
    let read: Vec<Rc<File>> = package.sources.iter().map(|it| files.file(it)).collect();
    let known: Vec<&str> = read.iter().flat_map(|it| top_level(&it.decls)).collect();
    files.looked_at += known.len();
    nearest(name, known.into_iter().filter(|it| alike(name, it))).map(meant)
}

/// Where the value of a reference stands, if it is a field that is written there.
fn path_of(base: &Expr, here: &Surroundings<'_>) -> Option<String> {
    let mut steps = Vec::new();
    let mut base = base;
    loop {
        match &base.kind {
            ExprKind::Select(it) => {
                steps.push(Selector::identifier(&it.1.name));
                base = &it.0;
            }
            ExprKind::Index(of, index) => {
                steps.push(match &index.kind {
                    ExprKind::Number(it) => Selector::Index(it.parse().ok()?),
                    ExprKind::String(it) => Selector::string(it),
                    _ => return None,
                });
                base = of;
            }
            ExprKind::Paren(it) => base = it,
            ExprKind::Ident(name) => {
                let mut path = here.path_of(name)?;
                path.extend(steps.into_iter().rev());
                return Some(path_text(&path));
            }
            _ => return None,
        }
    }
}
