//! Hints for names nobody knows: fields that are not allowed, undefined or nowhere to be found, and packages.

use cue_eval::builtin::{self, Package as Builtin};
use cue_eval::value::Selector;
use cue_eval::value::path::{parse_selectors, path_text};
use cue_syntax::LineIndex;
use cue_syntax::ast::{Decl, Expr, ExprKind, File, Import, Label};

use crate::nearest::nearest;
use crate::protocol::{Diagnostic, FieldSelection, Position, ProgramSpec, Source};
use crate::session::Session;
use crate::surroundings::{Surroundings, surroundings};

/// Names that need no declaration.
const PREDECLARED: &[&str] = &[
    "string", "bytes", "bool", "int", "float", "number", "int8", "int16", "int32", "int64",
    "int128", "uint", "uint8", "uint16", "uint32", "uint64", "uint128", "float32", "float64",
    "rune", "len", "close", "and", "or", "div", "mod", "quo", "rem", "matchN", "matchIf", "error",
    "self",
];

/// Names that are told where none is near: more of them are no help.
const LISTED: usize = 8;

/// Adds to each error about a name what was probably meant by it: from the names that can be seen where it stands,
/// and from the fields of the value, for which `session` is asked.
pub fn suggest(spec: &ProgramSpec, mut session: Option<&mut Session>, wrong: &mut [Diagnostic]) {
    let refused: Vec<String> = wrong
        .iter()
        .filter(|it| it.message == "field not allowed")
        .map(|it| it.path.clone())
        .collect();
    for it in wrong.iter_mut().filter(|it| it.hints.is_empty()) {
        let hint = if it.message == "field not allowed" {
            session.as_deref_mut().and_then(|session| allowed(session, &it.path, &refused))
        } else {
            of_a_name(spec, session.as_deref_mut(), it)
        };
        it.hints.extend(hint);
    }
}

/// What may stand where a field may not.
fn allowed(session: &mut Session, path: &str, refused: &[String]) -> Option<String> {
    let mut selectors = parse_selectors(path).ok()?;
    let Selector::Field { name: label, .. } = selectors.pop()? else { return None };
    let fields = session.fields(&path_text(&selectors), FieldSelection::All).ok()??;
    let known = fields.iter().filter(|it| !refused.contains(&it.path) && alike(&label, &it.label));
    let known: Vec<&str> = known.map(|it| it.label.as_str()).collect();
    if let Some(near) = nearest(&label, known.iter().copied()) {
        return Some(meant(near));
    }
    let shown = !known.is_empty() && known.len() <= LISTED;
    shown.then(|| format!("fields that are allowed: {}", known.join(", ")))
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

/// A file, read once more, and the place in it.
struct Place<'a> {
    source: &'a Source,
    /// The other files of its package.
    beside: &'a [Source],
    file: File,
    offset: u32,
}

impl<'a> Place<'a> {
    fn new(spec: &'a ProgramSpec, at: &Position) -> Option<Self> {
        let packages = spec.packages.iter().map(|it| &it.sources);
        let mut all = std::iter::once(&spec.sources).chain(packages);
        let beside = all.find(|it| it.iter().any(|it| it.name == at.file))?;
        let source = beside.iter().find(|it| it.name == at.file)?;
        let offset = LineIndex::new(&source.text).offset(at.line, at.column)?;
        let file = cue_syntax::parse_older(&source.text).file;
        Some(Self { source, beside, file, offset })
    }

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
fn of_a_name(
    spec: &ProgramSpec,
    session: Option<&mut Session>,
    wrong: &Diagnostic,
) -> Option<String> {
    let message = wrong.message.as_str();
    let between = |start: &str, end: &str| message.strip_prefix(start)?.strip_suffix(end);
    let at = wrong.positions.first();
    if let Some(name) = between("reference \"", "\" not found") {
        return referred_to(&Place::new(spec, at?)?, name);
    }
    if let Some(name) = message.strip_prefix("undefined field: ") {
        let name = name.trim_matches('"');
        return selected(spec, session, &Place::new(spec, at?)?, name);
    }
    if let Some(name) = between("cannot call non-function ", " (type _|_)") {
        let (package, name) = name.split_once('.')?;
        return of_package(spec, Place::new(spec, at?)?.import(package)?, name);
    }
    let path = message
        .strip_prefix("import failed: cannot find package \"")
        .or_else(|| between("builtin package \"", "\" undefined"))?;
    let path = path.split('"').next()?;
    let known = builtin::packages().iter().map(|it| it.path);
    let known = known.chain(spec.packages.iter().map(|it| it.path.as_str()));
    nearest(path, known).map(meant)
}

/// What was meant by a reference.
fn referred_to(place: &Place<'_>, name: &str) -> Option<String> {
    let here = surroundings(&place.file.decls, place.offset);
    let mut known = here.names();
    let others = place.beside.iter().filter(|it| it.name != place.source.name);
    let others: Vec<File> = others.map(|it| cue_syntax::parse_older(&it.text).file).collect();
    known.extend(others.iter().flat_map(|it| top_level(&it.decls)));
    known.extend(place.file.imports.iter().map(local_name));
    known.extend(PREDECLARED.iter().copied());
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
fn selected(
    spec: &ProgramSpec,
    session: Option<&mut Session>,
    place: &Place<'_>,
    name: &str,
) -> Option<String> {
    let here = surroundings(&place.file.decls, place.offset);
    let base = here.selection?;
    if let ExprKind::Ident(package) = &base.kind {
        if let Some(import) = place.import(package).filter(|_| !here.declares(package)) {
            return of_package(spec, import, name);
        }
    }
    let path = path_of(base, &here)?;
    let fields = session?.fields(&path, FieldSelection::All).ok()??;
    let known = fields.iter().map(|it| it.label.as_str()).filter(|it| alike(name, it));
    let known: Vec<&str> = known.collect();
    if let Some(near) = nearest(name, known.iter().copied()) {
        return Some(meant(near));
    }
    let shown = !known.is_empty() && known.len() <= LISTED;
    shown.then(|| format!("fields that are there: {}", known.join(", ")))
}

/// What was meant by a member of a package.
fn of_package(spec: &ProgramSpec, import: &Import, name: &str) -> Option<String> {
    if let Some(package) = builtin::package(&import.path) {
        return nearest(name, package.members.iter().map(|it| it.name)).map(meant);
    }
    let package = spec.packages.iter().find(|it| it.path == import.path)?;
    let files: Vec<File> =
        package.sources.iter().map(|it| cue_syntax::parse_older(&it.text).file).collect();
    let known = files.iter().flat_map(|it| top_level(&it.decls)).filter(|it| alike(name, it));
    nearest(name, known).map(meant)
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
