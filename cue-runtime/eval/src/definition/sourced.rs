//! Sources of values that wait for more, as the value printer shows them (O-68).

use std::rc::Rc;
use std::sync::Arc;

use cue_map::{Map, Set};
use cue_syntax::ast::{Clause, Decl, Expr, ExprKind, File, Ident, Label as AstLabel};

use crate::definition::expr::{STRUCT, class, label_text};
use crate::definition::found::Found;
use crate::definition::heading::Heading;
use crate::definition::merge::Conjunct;
use crate::definition::out::Out;
use crate::definition::scope::{Bound, LetValue, Scope};
use crate::definition::{Printer, import_text, used};
use crate::export::Style;
use crate::printed::Show;
use crate::program::{At, ExprId, Program};

/// The expressions of one value.
pub(crate) struct Wanted {
    pub(crate) exprs: Vec<ExprId>,
    /// How deep it stands: lines of texts are indented by one more.
    pub(crate) level: usize,
}

/// What the printed text consists of, in its order.
pub(crate) enum Mark {
    /// A struct begins that is made of these literals.
    Enter(Vec<At>),
    /// The source of a wanted value.
    Source(usize),
    /// The struct of that number ends.
    Leave(usize),
}

/// What was found.
pub(crate) struct Sources {
    /// A text for each that was wanted.
    pub(crate) texts: Vec<String>,
    /// Lines of the `let`s of each struct that the texts refer to.
    pub(crate) lets: Vec<String>,
    /// Packages that the texts name.
    pub(crate) imports: Vec<(usize, String)>,
}

/// A place of the value, by path, and the expressions that make each.
pub(crate) type Places = Map<String, Vec<ExprId>>;

/// What names that lead out of a printed part are replaced by (O-80).
pub(super) struct Outside<'a> {
    index: Rc<Index<'a>>,
    program: &'a Program,
    places: &'a Places,
    /// Path of the part.
    part: String,
}

/// File, first byte, end.
type Key = (usize, u32, u32);

/// Every expression of the files by its place.
#[derive(Default)]
pub(super) struct Index<'a> {
    exprs: Map<Key, (&'a Expr, Rc<Scope>)>,
    lets: Map<Key, Vec<LetValue<'a>>>,
    /// Scopes of structs that name fields anew.
    aliases: Map<Key, Rc<Scope>>,
}

/// Which attributes are printed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Attributes {
    Kept,
    /// Those of the fields of the value, not of what these have.
    Outermost,
    Dropped,
}

impl Attributes {
    fn all(show: Show, otherwise: Self) -> Self {
        if show.has(Show::ATTRIBUTES) { Self::Kept } else { otherwise }
    }
}

/// What the comments above fields become.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Docs {
    Kept,
    Dropped,
}

/// The sources of a program as trees, each with its text.
fn parsed(program: &Program) -> Vec<(File, Arc<str>)> {
    let sources = program.sources.iter();
    let mut files: Vec<_> =
        sources.map(|it| (program.parsed(&it.text).file, it.text.clone())).collect();
    for (number, path) in &program.filled {
        if let Some((file, _)) = files.get_mut(*number) {
            let decls = std::mem::take(&mut file.decls);
            file.decls = crate::attach::put(decls, path, &[]);
        }
    }
    files
}

fn printer<'a>(
    program: &'a Program,
    files: &'a [(File, Arc<str>)],
    found: &'a Found,
) -> Printer<'a> {
    Printer::new(files, program.sources.iter().map(|it| &it.name).collect(), found)
}

/// The declarations of one place, merged; `places` are what names that lead out are replaced by.
pub(crate) fn merged(
    program: &Program,
    exprs: &[ExprId],
    part: &str,
    show: Show,
    places: Option<&Places>,
) -> Merged {
    let files = parsed(program);
    let found = Found::default();
    let mut printer = printer(program, &files, &found);
    printer.docs = if show.has(Show::DOCS) { Docs::Kept } else { Docs::Dropped };
    printer.attributes = Attributes::all(show, Attributes::Dropped);
    let (index, scopes) = printer.index_files(&files);
    let mut conjuncts = Vec::new();
    for expr in exprs {
        let at = program.at(*expr);
        let number = at.source as usize;
        let key = (number, at.span.start, at.span.end);
        if let Some((expr, scope)) = index.exprs.get(&key) {
            conjuncts.push(Conjunct::Expr { expr, scope: scope.clone(), file: number });
        } else if let (0, Some((file, _)), Some(scope)) =
            (at.span.end, files.get(number), scopes.get(number))
        {
            conjuncts.push(Conjunct::File { file, index: number, scope: scope.clone() });
        }
    }
    if let (Some(places), false) = (places, part.is_empty()) {
        let index = Rc::new(index);
        printer.outside = Some(Outside { index, program, places, part: part.to_owned() });
    }
    let whole = part.is_empty() && printer.docs == Docs::Kept;
    let first = files.first().filter(|_| whole).map(|it| &*it.1);
    let heading = Heading::of(first.into_iter()).of_file();
    let value = printer.merge(conjuncts);
    let fields = matches!(value, Out::Struct(_)).then(|| value.fields());
    let imports = printer.imports.iter().map(import_text).collect();
    Merged { text: value.text(), fields, imports, heading }
}

/// A place, merged.
pub(crate) struct Merged {
    pub(crate) text: String,
    /// Of a struct, what is in its braces.
    pub(crate) fields: Option<String>,
    /// Packages that it names.
    pub(crate) imports: Vec<String>,
    /// The comment at the top of the file, if this is the whole.
    pub(crate) heading: String,
}

/// The texts of expressions, and what they need.
pub(crate) fn sources(program: &Program, wanted: &[Wanted], marks: &[Mark], show: Show) -> Sources {
    let files = parsed(program);
    let found = Found::default();
    let mut printer = printer(program, &files, &found);
    printer.docs = if show.has(Show::DOCS) { Docs::Kept } else { Docs::Dropped };
    // Of a value as it is written its own fields keep theirs (O-68).
    printer.attributes = Attributes::all(show, Attributes::Outermost);
    // What is exported is simplified, what is evaluated not (O-62).
    printer.spread = show.style == Style::Eval || show.has(Show::SPREAD);
    printer.shown = Some(Set::default());
    for (file, _) in &files {
        used::names(&file.decls, &mut printer.taken);
    }
    let (index, scopes) = printer.index_files(&files);
    let mut texts = vec![String::new(); wanted.len()];
    let (mut lets, mut imported) = (Vec::new(), Vec::new());
    let mut around: Vec<Entered<'_>> = Vec::new();
    for mark in marks {
        match mark {
            Mark::Enter(literals) => {
                let entered = printer.entered(literals, &index, &around);
                around.push(entered);
                lets.push(String::new());
            }
            Mark::Source(number) => {
                let before = printer.imports.len();
                texts[*number] = printer.source(program, &wanted[*number], &index, &scopes);
                imported.extend(printer.imports[before..].iter().map(|it| (*number, it.0.clone())));
            }
            Mark::Leave(number) => {
                let Some(left) = around.pop() else { continue };
                let mut items = Vec::new();
                for (known, _) in left.lets.iter().rev() {
                    printer.add_lets(known, &mut items);
                }
                if !items.is_empty() {
                    lets[*number] = Out::Struct(items).fields();
                }
                for (known, names) in left.lets.iter().filter(|it| !it.1.is_empty()) {
                    for (it, name) in known.iter().zip(names) {
                        it.scope.rename_let(it.index, name.clone());
                    }
                }
            }
        }
    }
    // Those that only lets name come last.
    let of_lets = printer.imports.into_iter().map(|it| (wanted.len(), it.0));
    imported.extend(of_lets);
    Sources { texts, lets, imports: imported }
}

/// A struct that is being printed: the `let`s of its literals, and the names they had, if a struct
/// around it has them too.
struct Entered<'a> {
    lets: Vec<(Vec<LetValue<'a>>, Vec<Option<String>>)>,
}

impl<'a> Printer<'a> {
    fn entered(
        &mut self,
        literals: &[At],
        index: &Index<'a>,
        around: &[Entered<'a>],
    ) -> Entered<'a> {
        let mut lets = Vec::new();
        for at in literals {
            // A file has its own from its beginning.
            let end = if at.span.end == 0 { (0, 0) } else { (at.span.start, at.span.end) };
            let key = (at.source as usize, end.0, end.1);
            if let Some(scope) = index.aliases.get(&key) {
                self.enter_aliases(scope);
            }
            let Some(known) = index.lets.get(&key) else { continue };
            let again = known.first().is_some_and(|it| {
                let same = |other: &LetValue<'_>| Rc::ptr_eq(&it.scope, &other.scope);
                around.iter().flat_map(|it| &it.lets).any(|it| it.0.first().is_some_and(same))
            });
            let names = self.enter_lets(known);
            lets.push((known.clone(), if again { names } else { Vec::new() }));
        }
        Entered { lets }
    }

    /// The source of one value.
    fn source(
        &mut self,
        program: &Program,
        wanted: &Wanted,
        index: &Index<'a>,
        scopes: &[Rc<Scope>],
    ) -> String {
        self.level = wanted.level;
        // The root: its files.
        let whole: Vec<Conjunct<'a>> = wanted
            .exprs
            .iter()
            .filter_map(|expr| {
                let at = program.at(*expr);
                let number = at.source as usize;
                let (file, _) = self.files.get(number).filter(|_| at.span.end == 0)?;
                Some(Conjunct::File { file, index: number, scope: scopes.get(number)?.clone() })
            })
            .collect();
        if !whole.is_empty() {
            return self.merge(whole).fields();
        }
        let mut parts: Vec<(u8, Key, &'a Expr, Rc<Scope>)> = Vec::new();
        for expr in &wanted.exprs {
            let at = program.at(*expr);
            let key = (at.source as usize, at.span.start, at.span.end);
            if let Some((expr, scope)) = index.exprs.get(&key) {
                parts.push((class(expr, scope), key, expr, scope.clone()));
            }
        }
        // In the order of O-70.
        cue_sort::by_key(&mut parts, |it| (it.0, it.1));
        // Literals are not merged: each stands as it is written.
        let structs = parts.iter().any(|it| it.0 == STRUCT);
        self.level += usize::from(structs);
        let all: Vec<Out> = parts
            .into_iter()
            .map(|(class, key, expr, scope)| match class {
                STRUCT => self.merge(vec![Conjunct::Expr { expr, scope, file: key.0 }]),
                _ => self.expr(expr, &scope, key.0),
            })
            .collect();
        match all.as_slice() {
            [] => "_".to_owned(),
            [only] => only.text(),
            all => Out::joined(all, "&", 2).text(),
        }
    }
}

/// What a name or a selection of one stands for, at the level of the package.
enum OuterPath {
    Place(String),
    Let(*const Scope, usize),
}

fn outer_path(expr: &Expr, scope: &Rc<Scope>) -> Option<OuterPath> {
    match &expr.kind {
        ExprKind::Ident(name) => match scope.find(name)? {
            (there, Bound::Field) if there.is_outermost() => {
                Some(OuterPath::Place(name.to_string()))
            }
            (there, Bound::Let(number)) if there.is_outermost() => {
                Some(OuterPath::Let(&raw const *there, *number))
            }
            _ => None,
        },
        ExprKind::Select(it) => match outer_path(&it.0, scope)? {
            OuterPath::Place(path) => {
                Some(OuterPath::Place(format!("{path}.{}", label_text(&it.1.name))))
            }
            OuterPath::Let(..) => None,
        },
        _ => None,
    }
}

impl<'a> Printer<'a> {
    /// What a name that leads out of the printed part stands for.
    pub(super) fn replaced(&mut self, expr: &'a Expr, scope: &Rc<Scope>) -> Option<Out> {
        let outside = self.outside.as_ref()?;
        let path = outer_path(expr, scope)?;
        match path {
            OuterPath::Let(there, number) => {
                let it = self.let_value(there, number)?;
                Some(self.expr(it.value, &it.scope, it.file))
            }
            OuterPath::Place(path) => {
                let inside = path.strip_prefix(&outside.part);
                if inside.is_some_and(|it| it.is_empty() || it.starts_with('.')) {
                    return None;
                }
                let exprs = outside.places.get(&path)?;
                let mut conjuncts = Vec::new();
                for expr in exprs {
                    let at = outside.program.at(*expr);
                    let key = (at.source as usize, at.span.start, at.span.end);
                    let (expr, scope) = outside.index.exprs.get(&key)?;
                    conjuncts.push(Conjunct::Expr { expr, scope: scope.clone(), file: key.0 });
                }
                (!conjuncts.is_empty()).then(|| self.merge(conjuncts))
            }
        }
    }

    fn let_value(&self, there: *const Scope, number: usize) -> Option<LetValue<'a>> {
        let held = self.scopes.values().find(|it| Rc::as_ptr(&it.0) == there)?;
        held.1.get(number).cloned()
    }

    /// The `let` of a name that no struct of an evaluated value has had: what it holds stands for it.
    pub(super) fn unshown_let(&self, name: &str, scope: &Rc<Scope>) -> Option<LetValue<'a>> {
        let shown = self.shown.as_ref()?;
        let (there, bound) = scope.find(name)?;
        let Bound::Let(number) = bound else { return None };
        let there = &raw const *there;
        (!shown.contains(&(there, *number))).then(|| self.let_value(there, *number)).flatten()
    }

    /// Every expression of the files, and the outermost scope of each file.
    fn index_files(&mut self, files: &'a [(File, Arc<str>)]) -> (Index<'a>, Vec<Rc<Scope>>) {
        let mut index = Index::default();
        let scopes = self.file_scopes();
        for (number, ((file, _), scope)) in files.iter().zip(&scopes).enumerate() {
            self.index_decls(&file.decls, scope, number, (number, 0, 0), &mut index);
        }
        (index, scopes)
    }

    fn index_decls(
        &mut self,
        decls: &'a [Decl],
        scope: &Rc<Scope>,
        file: usize,
        key: Key,
        index: &mut Index<'a>,
    ) {
        let (scope, lets) = self.struct_scope(decls, scope, file);
        if !lets.is_empty() {
            index.lets.insert(key, lets);
        }
        if decls.iter().any(|it| matches!(it, Decl::Field(field) if field.alias.is_some())) {
            index.aliases.insert(key, scope.clone());
        }
        for decl in decls {
            match decl {
                Decl::Field(field) => {
                    match &field.label {
                        AstLabel::Pattern(it, _)
                        | AstLabel::Dynamic(it)
                        | AstLabel::Interpolated(it) => {
                            self.index(it, &scope, file, index);
                        }
                        AstLabel::Ident(_) | AstLabel::String(..) => {}
                    }
                    let mut names = Map::default();
                    if let AstLabel::Pattern(_, Some(alias)) = &field.label {
                        names.insert(alias.name.clone(), Bound::Field);
                    }
                    // What names a label is told from its struct.
                    let key = field.key_alias.as_ref();
                    let key = key.filter(|_| matches!(field.label, AstLabel::Pattern(..)));
                    let aliases = [field.alias.as_ref(), key, field.value_alias.as_ref()];
                    for alias in aliases.into_iter().flatten() {
                        names.insert(alias.name.clone(), Bound::Field);
                    }
                    let scope = Scope::new(Some(scope.clone()), names);
                    self.index(&field.value, &scope, file, index);
                }
                Decl::Let(_, value) | Decl::Embed(value) | Decl::Ellipsis(Some(value), _) => {
                    self.index(value, &scope, file, index);
                }
                Decl::Ellipsis(None, _) | Decl::Attribute(_) => {}
            }
        }
    }

    fn index(&mut self, expr: &'a Expr, scope: &Rc<Scope>, file: usize, index: &mut Index<'a>) {
        let key = (file, expr.span.start, expr.span.end);
        index.exprs.entry(key).or_insert_with(|| (expr, scope.clone()));
        match &expr.kind {
            ExprKind::Struct(decls) => self.index_decls(decls, scope, file, key, index),
            ExprKind::Comprehension(clauses, body) => {
                let mut scope = scope.clone();
                let inner = Scope::of_variables;
                let outside = &scope.clone();
                for clause in clauses {
                    match clause {
                        Clause::Try(_, None) => {}
                        Clause::Try(_, Some((name, value))) => {
                            self.index(value, &scope, file, index);
                            scope = inner(&scope, &[name]);
                        }
                        Clause::Otherwise(it) => self.index(it, outside, file, index),
                        Clause::For { key, value, source } => {
                            self.index(source, &scope, file, index);
                            let names: Vec<&Ident> = key.iter().chain([value]).collect();
                            scope = inner(&scope, &names);
                        }
                        Clause::If(it) => self.index(it, &scope, file, index),
                        Clause::Let(name, value) => {
                            self.index(value, &scope, file, index);
                            scope = inner(&scope, &[name]);
                        }
                    }
                }
                self.index(body, &scope, file, index);
            }
            _ => {
                for it in expr.operands() {
                    self.index(it, scope, file, index);
                }
            }
        }
    }
}
