//! What stands around a place in a text: the names that can be seen there, and where they stand.

use cue_eval::value::Selector;
use cue_syntax::ast::{Clause, Decl, Element, Expr, ExprKind, Ident, Label, Part, Span};

/// What can be seen from a place.
#[derive(Default)]
pub(crate) struct Surroundings<'a> {
    /// The outermost first.
    scopes: Vec<Scope<'a>>,
    /// The value of which a field is selected there.
    pub(crate) selection: Option<&'a Expr>,
}

/// Names that are declared together.
struct Scope<'a> {
    names: Names<'a>,
    /// Where the struct stands; none where that is not written.
    path: Option<Vec<Selector>>,
}

enum Names<'a> {
    Decls(&'a [Decl]),
    Clauses(&'a [Clause]),
}

impl<'a> Names<'a> {
    /// Each name, and whether it is that of a field.
    fn all(&self) -> Vec<(&'a str, bool)> {
        let mut all = Vec::new();
        match self {
            Names::Decls(decls) => {
                for decl in *decls {
                    match decl {
                        Decl::Field(field) => {
                            if let Label::Ident(it) = &field.label {
                                all.push((&*it.name, true));
                            }
                            let aliases = [&field.alias, &field.key_alias, &field.value_alias];
                            all.extend(aliases.into_iter().flatten().map(|it| (&*it.name, false)));
                        }
                        Decl::Let(name, _) => all.push((&*name.name, false)),
                        Decl::Ellipsis(..) | Decl::Embed(_) | Decl::Attribute(_) => {}
                    }
                }
            }
            Names::Clauses(clauses) => {
                let mut bound = |it: &'a Ident| all.push((&*it.name, false));
                for clause in *clauses {
                    match clause {
                        Clause::For { key, value, .. } => {
                            key.iter().for_each(&mut bound);
                            bound(value);
                        }
                        Clause::Let(name, _) | Clause::Try(_, Some((name, _))) => bound(name),
                        Clause::If(_) | Clause::Try(_, None) | Clause::Otherwise(_) => {}
                    }
                }
            }
        }
        all
    }
}

impl<'a> Surroundings<'a> {
    /// All names, the nearest first.
    pub(crate) fn names(&self) -> Vec<&'a str> {
        self.scopes.iter().rev().flat_map(|it| it.names.all()).map(|it| it.0).collect()
    }

    /// Whether a name is declared in the file.
    pub(crate) fn declares(&self, name: &str) -> bool {
        self.names().contains(&name)
    }

    /// Where the field stands that a name refers to; one that the file does not declare may be of another file.
    pub(crate) fn path_of(&self, name: &str) -> Option<Vec<Selector>> {
        for scope in self.scopes.iter().rev() {
            let Some((_, is_field)) = scope.names.all().into_iter().find(|it| it.0 == name) else {
                continue;
            };
            let mut path = scope.path.clone().filter(|_| is_field)?;
            path.push(Selector::identifier(name));
            return Some(path);
        }
        Some(vec![Selector::identifier(name)])
    }
}

fn holds(span: Span, offset: u32) -> bool {
    span.start <= offset && offset < span.end
}

/// Where the search is.
enum Here<'a> {
    Decls(&'a [Decl]),
    Expr(&'a Expr),
}

/// What stands around the byte at `offset` of a file of these declarations.
pub(crate) fn surroundings(decls: &[Decl], offset: u32) -> Surroundings<'_> {
    let mut found = Surroundings::default();
    let mut path = Some(Vec::new());
    let mut here = Here::Decls(decls);
    // Not by recursion: texts nest as deeply as they like.
    loop {
        let next = match here {
            Here::Decls(decls) => {
                found.scopes.push(Scope { names: Names::Decls(decls), path: path.clone() });
                decls.iter().find_map(|it| in_decl(it, offset, &mut path))
            }
            Here::Expr(expr) => match &expr.kind {
                ExprKind::Struct(decls) => Some(Here::Decls(decls)),
                ExprKind::Select(it) if holds(it.1.span, offset) => {
                    found.selection = Some(&it.0);
                    return found;
                }
                ExprKind::Comprehension(clauses, body) => {
                    found.scopes.push(Scope { names: Names::Clauses(clauses), path: None });
                    in_comprehension(clauses, body, offset).map(Here::Expr)
                }
                ExprKind::List(elements) => in_list(elements, offset, &mut path).map(Here::Expr),
                ExprKind::Interpolation { parts, .. } => parts
                    .iter()
                    .filter_map(|it| match it {
                        Part::Expr(it) => Some(it),
                        Part::Text(_) => None,
                    })
                    .find(|it| holds(it.span, offset))
                    .map(Here::Expr),
                _ => {
                    let merged = matches!(
                        expr.kind,
                        ExprKind::Binary(..) | ExprKind::Paren(_) | ExprKind::Unary(..)
                    );
                    if !merged {
                        path = None;
                    }
                    expr.operands().into_iter().find(|it| holds(it.span, offset)).map(Here::Expr)
                }
            },
        };
        match next {
            Some(next) => here = next,
            None => return found,
        }
    }
}

fn in_decl<'a>(decl: &'a Decl, offset: u32, path: &mut Option<Vec<Selector>>) -> Option<Here<'a>> {
    match decl {
        Decl::Field(field) if holds(field.span, offset) => {
            let label = match &field.label {
                Label::Ident(it) => Some(Selector::identifier(&it.name)),
                Label::String(it, _) => Some(Selector::string(it)),
                Label::Interpolated(it) | Label::Dynamic(it) | Label::Pattern(it, _) => {
                    if holds(it.span, offset) {
                        return Some(Here::Expr(it));
                    }
                    None
                }
            };
            match (path.as_mut(), label) {
                (Some(path), Some(label)) => path.push(label),
                (_, None) => *path = None,
                (None, Some(_)) => {}
            }
            Some(Here::Expr(&field.value))
        }
        Decl::Let(_, value) | Decl::Ellipsis(Some(value), _) if holds(value.span, offset) => {
            *path = None;
            Some(Here::Expr(value))
        }
        Decl::Embed(value) if holds(value.span, offset) => Some(Here::Expr(value)),
        _ => None,
    }
}

fn in_comprehension<'a>(clauses: &'a [Clause], body: &'a Expr, offset: u32) -> Option<&'a Expr> {
    let sources = clauses.iter().filter_map(|it| match it {
        Clause::For { source: it, .. }
        | Clause::If(it)
        | Clause::Let(_, it)
        | Clause::Otherwise(it)
        | Clause::Try(_, Some((_, it))) => Some(it),
        Clause::Try(_, None) => None,
    });
    sources.chain([body]).find(|it| holds(it.span, offset))
}

fn in_list<'a>(
    elements: &'a [Element],
    offset: u32,
    path: &mut Option<Vec<Selector>>,
) -> Option<&'a Expr> {
    for (index, element) in elements.iter().enumerate() {
        let it = match element {
            Element::Expr(it) => it,
            Element::Ellipsis(Some(it)) => &**it,
            Element::Ellipsis(None) => continue,
        };
        if holds(it.span, offset) {
            if let Some(path) = path {
                path.push(Selector::Index(index as u64));
            }
            return Some(it);
        }
    }
    None
}
