//! What stands around a place in a text: the names that can be seen there, and where they stand.

use cue_eval::value::Selector;
use cue_syntax::ast::{Clause, Decl, Expr, ExprKind, Ident, Label};
use cue_syntax::{Around, around};

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

/// What can be seen from the byte at `offset` of a file with these declarations.
pub(crate) fn surroundings(decls: &[Decl], offset: u32) -> Surroundings<'_> {
    let mut found = Surroundings::default();
    let mut path = Some(Vec::new());
    for it in around(decls, offset) {
        match it {
            Around::Decls(decls) => {
                found.scopes.push(Scope { names: Names::Decls(decls), path: path.clone() });
            }
            Around::Field(field) => {
                path = path.zip(selector(&field.label)).map(|(mut path, label)| {
                    path.push(label);
                    path
                });
            }
            Around::Element(index) => {
                if let Some(path) = &mut path {
                    path.push(Selector::Index(index as u64));
                }
            }
            Around::Aside(_) => path = None,
            Around::Expr(expr) => match &expr.kind {
                ExprKind::Comprehension(clauses, _) => {
                    found.scopes.push(Scope { names: Names::Clauses(clauses), path: None });
                }
                ExprKind::Select(it) if it.1.span.contains(offset) => {
                    found.selection = Some(&it.0);
                }
                ExprKind::Struct(_)
                | ExprKind::List(_)
                | ExprKind::Interpolation { .. }
                | ExprKind::Binary(..)
                | ExprKind::Paren(_)
                | ExprKind::Unary(..) => {}
                _ => path = None,
            },
            Around::Label(_) | Around::Clause(_) => {}
        }
    }
    found
}

/// The label as a step of a path, if it is written.
fn selector(label: &Label) -> Option<Selector> {
    match label {
        Label::Ident(it) => Some(Selector::identifier(&it.name)),
        Label::String(it, _) => Some(Selector::string(it)),
        Label::Interpolated(_) | Label::Dynamic(_) | Label::Pattern(..) => None,
    }
}
