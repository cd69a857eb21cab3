//! Sources of values that wait for more, as the value printer shows them (O-68).

use std::rc::Rc;

use cue_map::{Map, Set};
use cue_syntax::ast::{At, Binary, Clause, Decl, Expr, ExprKind, Ident, Label as AstLabel};

use crate::expr::{SOMEWHERE, STRUCT, class, label_text};
use crate::found::Found;
use crate::heading::Heading;
use crate::hoisted::{Outside, Outward};
use crate::linked::Links;
use crate::merge::Conjunct;
use crate::named::{matched_scope, named_scope};
use crate::out::{Gap, Item, Out};
use crate::printer::{Printer, embeds_definition, import_text};
use crate::scope::{Bound, LetValue, Scope};
use crate::written::matched;
use crate::{Evaluate, Source, root_of, used};

/// The expressions of one value.
pub struct Wanted {
    /// Where they stand.
    pub exprs: Vec<At>,
    /// Labels that patterns name, by where they are named.
    pub named: Map<Key, String>,
    /// How deep it stands: lines of texts are indented by one more.
    pub level: usize,
}

/// What the printed text consists of, in its order.
pub enum Mark {
    /// A struct begins that is made of these literals, in which patterns name labels.
    Enter {
        /// Where they stand.
        literals: Vec<At>,
        /// As [`Wanted::named`].
        named: Map<Key, String>,
    },
    /// The source of a wanted value.
    Source(usize),
    /// The struct of that number ends.
    Leave(usize),
}

/// What was found.
pub struct Sources {
    /// A text for each that was wanted.
    pub texts: Vec<String>,
    /// Lines of the `let`s of each struct that the texts refer to.
    pub lets: Vec<String>,
    /// Packages that the texts name.
    pub imports: Vec<String>,
    /// What names that lead out are bound to.
    pub hoisted: String,
    /// Something nests too deeply, and is not all there.
    pub too_deep: bool,
}

/// File, first byte, end.
pub type Key = (usize, u32, u32);

pub(crate) fn key(at: &At) -> Key {
    (at.source as usize, at.span.start, at.span.end)
}

/// Where an expression of a file stands.
pub(crate) fn key_in(file: usize, expr: &Expr) -> Key {
    (file, expr.span.start, expr.span.end)
}

/// Every expression of the files by its place.
pub(crate) struct Index<'a> {
    pub(crate) files: &'a [Source],
    /// The outermost scope of each file.
    scopes: Vec<Rc<Scope>>,
    pub(crate) exprs: Map<Key, (&'a Expr, Rc<Scope>)>,
    lets: Map<Key, Vec<LetValue<'a>>>,
    /// Scopes of structs that name fields anew.
    aliases: Map<Key, Rc<Scope>>,
}

impl<'a> Index<'a> {
    /// What a file says.
    pub(crate) fn file(&self, number: usize) -> Option<Conjunct<'a>> {
        let (source, scope) = (self.files.get(number)?, self.scopes.get(number)?);
        Some(Conjunct::File { file: &source.file, index: number, scope: scope.clone() })
    }

    /// What an expression says, or a file.
    pub(crate) fn conjunct(&self, at: &At) -> Option<Conjunct<'a>> {
        let key = key(at);
        match self.exprs.get(&key) {
            Some((expr, scope)) => Some(Conjunct::Expr { expr, scope: scope.clone(), file: key.0 }),
            None if at.span.end == 0 => self.file(key.0),
            None => None,
        }
    }
}

/// Which attributes are printed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Attributes {
    /// All.
    Kept,
    /// Those of the fields of the value, not of what these have.
    Outermost,
    /// None.
    Dropped,
}

/// What the comments above fields become.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Docs {
    /// They stay.
    Kept,
    /// They are left out.
    Dropped,
}

/// How sources are printed.
#[derive(Clone, Copy)]
pub struct Manner {
    /// Comments above fields.
    pub docs: Docs,
    /// Attributes of fields.
    pub attributes: Attributes,
    /// Structs have braces, however short.
    pub spread: bool,
}

fn printer<'a>(
    files: &'a [Source],
    evaluate: Evaluate,
    found: &'a Found,
    manner: Manner,
) -> Printer<'a> {
    let mut printer = Printer::new(files, evaluate, found);
    printer.docs = manner.docs;
    printer.attributes = manner.attributes;
    printer.spread = manner.spread;
    printer
}

/// The declarations of one place, merged; of a part it is known where it leads.
#[inline(never)]
pub fn merged(
    files: &[Source],
    evaluate: Evaluate,
    (exprs, part): (&[At], &str),
    found: &Found,
    manner: Manner,
    outward: Option<&Outward>,
) -> Merged {
    let mut printer = printer(files, evaluate, found, manner);
    printer.links = outward.map(|_| Links::default());
    let index = Rc::new(printer.index_files(files));
    let conjuncts: Vec<Conjunct<'_>> = exprs.iter().filter_map(|at| index.conjunct(at)).collect();
    printer.lead_out(outward, &index);
    let whole = part.is_empty() && printer.docs == Docs::Kept;
    let first = files.first().filter(|_| whole).map(|it| &*it.text);
    let heading = Heading::of(first.into_iter()).of_file();
    printer.path = outward.map(|it| it.path.clone()).unwrap_or_default();
    let value = printer.merge(conjuncts);
    let mut parts = [value, Out::Struct(printer.hoisted())];
    let imports = printer.imports.iter().map(import_text).collect();
    let embeds_definition = embeds_definition(&parts[0]);
    let begins_apart = begins_apart(&parts);
    let ([text, mut lets], more) = match &printer.links {
        Some(links) => links.settle(&mut parts),
        None => (parts.each_ref().map(Out::fields), Vec::new()),
    };
    for it in more {
        lets.push_str(&format!("\n{it}\n"));
    }
    let is_struct = matches!(parts[0], Out::Struct(_));
    let too_deep = printer.too_deep;
    Merged { text, is_struct, imports, heading, lets, embeds_definition, begins_apart, too_deep }
}

/// Whether a file of several declarations begins with an empty line: if the first is an expression, a `let`, or
/// clauses that begin a line (O-64).
fn begins_apart([body, hoisted]: &[Out; 2]) -> bool {
    let count = |it: &Out| if let Out::Struct(items) = it { items.len() } else { 1 };
    let first = match body {
        Out::Struct(items) => items.first(),
        Out::Text(..) => None,
    };
    let begins = match first {
        Some(Item::Comprehension { gap, .. }) => *gap != Gap::Comma,
        Some(Item::Embed(_) | Item::Let(..)) => true,
        Some(_) => false,
        None => matches!(body, Out::Text(..)),
    };
    begins && count(body) + count(hoisted) > 1
}

/// A place, merged.
#[derive(Default)]
pub struct Merged {
    /// As an expression; of a struct what is in its braces.
    pub text: String,
    /// It is a struct.
    pub is_struct: bool,
    /// Packages that it names.
    pub imports: Vec<String>,
    /// The comment at the top of the file, if this is the whole.
    pub heading: String,
    /// What names that lead out are bound to.
    pub lets: String,
    /// A reference to a definition is embedded: it closes the whole.
    pub embeds_definition: bool,
    /// As a file it begins with an empty line.
    pub begins_apart: bool,
    /// It nests too deeply, and is not all there.
    pub too_deep: bool,
}

/// The texts of expressions, and what they need; of a part it is known where it leads.
#[inline(never)]
pub fn sources(
    files: &[Source],
    evaluate: Evaluate,
    wanted: &[Wanted],
    marks: &[Mark],
    manner: Manner,
    outward: Option<&Outward>,
) -> Sources {
    let found = Found::default();
    let mut printer = printer(files, evaluate, &found, manner);
    printer.shown = Some(Set::default());
    for it in files {
        used::names(&it.file.decls, &mut printer.taken);
    }
    let index = Rc::new(printer.index_files(files));
    printer.lead_out(outward, &index);
    let mut texts = vec![String::new(); wanted.len()];
    let mut lets = Vec::new();
    let mut around: Vec<Entered<'_>> = Vec::new();
    for mark in marks {
        match mark {
            Mark::Enter { literals, named } => {
                let entered = printer.entered(literals, &index, &around);
                printer.named.push(named);
                around.push(entered);
                lets.push(String::new());
            }
            Mark::Source(number) => {
                printer.named.push(&wanted[*number].named);
                texts[*number] = printer.source(&wanted[*number], &index);
                printer.named.pop();
            }
            Mark::Leave(number) => {
                let Some(left) = around.pop() else { continue };
                let mut items = Vec::new();
                for (known, _) in left.lets.iter().rev() {
                    printer.add_lets(known, Vec::new(), &mut items);
                }
                printer.named.pop();
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
    let hoisted = Out::Struct(printer.hoisted()).fields();
    let imports = printer.imports.iter().map(import_text).collect();
    Sources { texts, lets, imports, hoisted, too_deep: printer.too_deep }
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
    fn source(&mut self, wanted: &Wanted, index: &Index<'a>) -> String {
        self.level = wanted.level;
        // The root: its files.
        let whole: Vec<Conjunct<'a>> = wanted
            .exprs
            .iter()
            .filter(|at| at.span.end == 0)
            .filter_map(|at| index.file(at.source as usize))
            .collect();
        if let [_] = whole.as_slice() {
            return self.merge(whole).fields();
        }
        // Several are not merged, as literals below are not.
        if !whole.is_empty() {
            self.level += 1;
            let all: Vec<Out> = whole.into_iter().map(|it| self.merge(vec![it])).collect();
            return Out::joined(&all, "&", 2).text();
        }
        let mut parts: Vec<(u8, Key, &'a Expr, Rc<Scope>)> = Vec::new();
        for at in &wanted.exprs {
            let key = key(at);
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

impl<'a> Printer<'a> {
    pub(crate) fn let_value(&self, there: *const Scope, number: usize) -> Option<LetValue<'a>> {
        let held = self.scopes.values().find(|it| Rc::as_ptr(&it.0) == there)?;
        held.1.get(number).cloned()
    }

    /// The `let` of a name that no struct of an evaluated value has had, or no file: what it holds stands for it.
    pub(crate) fn unshown_let(&self, name: &str, scope: &Rc<Scope>) -> Option<LetValue<'a>> {
        let (there, bound) = scope.find(name)?;
        let Bound::Let(number) = bound else { return None };
        let there = &raw const *there;
        let key = (there, *number);
        let is_shown = match (&self.shown, &self.outside) {
            (Some(shown), _) => shown.contains(&key),
            (None, Some(outside)) => outside.has_let(&key),
            (None, None) => true,
        };
        let held = self.let_value(there, *number)?;
        (!is_shown || self.is_merged && self.is_of_file(&held)).then_some(held)
    }

    /// Whether a `let` stands beside the fields of a package: with what else they are merged they are in no file.
    fn is_of_file(&self, it: &LetValue<'a>) -> bool {
        let Some(source) = self.files.get(it.file).filter(|it| it.package == 0) else {
            return false;
        };
        let scope = self.scopes.get(&(it.file, source.file.decls.as_ptr() as usize));
        scope.is_some_and(|own| Rc::ptr_eq(&own.0, &it.scope))
    }

    /// What is printed is a part that leads there.
    pub(crate) fn lead_out(&mut self, outward: Option<&'a Outward>, index: &Rc<Index<'a>>) {
        let outside = outward.map(|it| Outside::new(it, index.clone()));
        for name in outside.iter().flat_map(Outside::names) {
            self.taken.note(name);
        }
        self.outside = outside;
        self.in_definition = usize::from(outward.is_some_and(|it| it.is_closed));
    }

    /// Every expression of the files, and the outermost scope of each file.
    pub(crate) fn index_files(&mut self, files: &'a [Source]) -> Index<'a> {
        let scopes = self.file_scopes();
        let (exprs, lets, aliases) = Default::default();
        let mut index = Index { files, scopes: scopes.clone(), exprs, lets, aliases };
        for (number, (source, scope)) in files.iter().zip(&scopes).enumerate() {
            let root = (source.package > 0).then(|| root_of(source.package));
            let path = std::mem::replace(&mut self.path, root.into_iter().collect());
            self.index_decls(&source.file.decls, scope, number, (number, 0, 0), &mut index);
            self.path = path;
        }
        index
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
                    // What names a label that is known is told from its struct.
                    let is_known = matches!(field.label, AstLabel::Ident(_) | AstLabel::String(..));
                    if let Some(alias) = field.alias.as_ref().filter(|_| !is_known) {
                        names.insert(alias.name.clone(), Bound::Field);
                    }
                    let mut scope = scope.clone();
                    for alias in [matched(field), field.value_alias.as_deref()] {
                        match (&self.shown, alias) {
                            (None, _) => {
                                scope = named_scope(&mut self.scopes, alias, &scope, file);
                            }
                            // Of evaluated values they stay; a pattern that is printed as written has another one.
                            (Some(_), Some(it)) if field.value_alias.as_deref() != alias => {
                                scope = matched_scope(&mut self.scopes, it, &scope, file);
                            }
                            (Some(_), Some(alias)) => {
                                names.insert(alias.name.clone(), Bound::Field);
                            }
                            (Some(_), None) => {}
                        }
                    }
                    let scope = Scope::new(Some(scope), names);
                    self.path.push(match &field.label {
                        AstLabel::Ident(name) => self.hidden(&name.name, file),
                        AstLabel::String(text, _) => label_text(text),
                        _ => SOMEWHERE.to_owned(),
                    });
                    self.index(&field.value, &scope, file, index);
                    self.path.pop();
                }
                Decl::Let(_, value) | Decl::Embed(value) | Decl::Ellipsis(Some(value), _) => {
                    self.index(value, &scope, file, index);
                }
                Decl::Ellipsis(None, _) | Decl::Attribute(_) => {}
            }
        }
    }

    fn index(&mut self, expr: &'a Expr, scope: &Rc<Scope>, file: usize, index: &mut Index<'a>) {
        let key = key_in(file, expr);
        index.exprs.entry(key).or_insert_with(|| (expr, scope.clone()));
        match &expr.kind {
            ExprKind::Struct(decls) => self.index_decls(decls, scope, file, key, index),
            ExprKind::Paren(_) | ExprKind::Binary(Binary::Unify, ..) => {
                self.index_parts(expr, scope, file, index);
            }
            _ => {
                self.path.push(SOMEWHERE.to_owned());
                self.index_parts(expr, scope, file, index);
                self.path.pop();
            }
        }
    }

    fn index_parts(
        &mut self,
        expr: &'a Expr,
        scope: &Rc<Scope>,
        file: usize,
        index: &mut Index<'a>,
    ) {
        match &expr.kind {
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
