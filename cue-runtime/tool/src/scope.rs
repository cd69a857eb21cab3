//! What expressions of the command line see: names, and built-in packages without an import.

use cue_eval::builtin;
use cue_session::Source;
use cue_syntax::ast::{Clause, Decl, Element, Expr, ExprKind, Label, Part};

use crate::Error;
use crate::error::unparsed;

/// Whether the text of a flag is an expression.
///
/// # Errors
/// What is wrong with it, and where.
pub(crate) fn parsed(flag: &str, text: &str) -> Result<(), Error> {
    let Err(all) = cue_syntax::parse_expr(text) else { return Ok(()) };
    Err(Error::Diagnostics(unparsed(flag, text, &all)))
}

/// The names that an expression refers to, each once.
pub(crate) fn names(expr: &Expr) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut work = vec![expr];
    while let Some(expr) = work.pop() {
        match &expr.kind {
            ExprKind::Ident(name) if found.iter().all(|it| **it != **name) => {
                found.push(name.to_string());
            }
            ExprKind::Struct(decls) => {
                for decl in decls {
                    match decl {
                        Decl::Field(field) => {
                            work.push(&field.value);
                            match &field.label {
                                Label::Interpolated(it)
                                | Label::Dynamic(it)
                                | Label::Pattern(it, _) => {
                                    work.push(it);
                                }
                                Label::Ident(_) | Label::String(..) => {}
                            }
                        }
                        Decl::Let(_, it) | Decl::Embed(it) | Decl::Ellipsis(Some(it), _) => {
                            work.push(it);
                        }
                        Decl::Ellipsis(None, _) | Decl::Attribute(_) => {}
                    }
                }
            }
            ExprKind::Comprehension(clauses, body) => {
                work.push(body);
                work.extend(clauses.iter().filter_map(Clause::expr));
            }
            ExprKind::List(elements) => work.extend(elements.iter().filter_map(Element::expr)),
            ExprKind::Interpolation { parts, .. } => {
                work.extend(parts.iter().filter_map(|it| match it {
                    Part::Expr(it) => Some(it),
                    Part::Text(_) => None,
                }));
            }
            _ => work.extend(expr.operands()),
        }
    }
    found
}

/// Import clauses for the built-in packages among names, but for those that are declared.
pub(crate) fn imports(names: &[String], declared: impl Fn(&str) -> bool) -> String {
    let mut text = String::new();
    for name in names {
        let mut found = builtin::packages().iter().map(|it| it.path);
        let found = found.find(|it| it.rsplit('/').next() == Some(name));
        if let Some(path) = found.filter(|_| !declared(name)) {
            text.push_str(&format!("import {path:?}\n"));
        }
    }
    text
}

/// Whether a package declares a name for all its files.
pub(crate) fn declares(sources: &[Source], name: &str) -> bool {
    sources.iter().filter(|it| it.text.contains(name)).any(|source| {
        cue_syntax::parse_file(&source.text).file.decls.iter().any(|it| match it {
            Decl::Field(field) => match &field.label {
                Label::Ident(label) => *label.name == *name,
                _ => field.alias.as_ref().is_some_and(|it| *it.name == *name),
            },
            _ => false,
        })
    })
}

/// Whether a package has a field of that name that only selections reach: its label is quoted, or what is embedded
/// brings it.
pub(crate) fn selects(sources: &[Source], name: &str) -> bool {
    let is = |label: &Label| match label {
        Label::Ident(it) => *it.name == *name,
        Label::String(it, _) => **it == *name,
        Label::Interpolated(_) | Label::Dynamic(_) | Label::Pattern(..) => false,
    };
    sources.iter().filter(|it| it.text.contains(name)).any(|source| {
        let file = cue_syntax::parse_file(&source.text).file;
        let mut work: Vec<(&Decl, bool)> = file.decls.iter().map(|it| (it, false)).collect();
        while let Some((decl, embedded)) = work.pop() {
            match decl {
                Decl::Field(field) => {
                    if is(&field.label) && (embedded || matches!(field.label, Label::String(..))) {
                        return true;
                    }
                }
                Decl::Embed(it) => {
                    let yielded = match &it.kind {
                        ExprKind::Comprehension(_, body) => &body.kind,
                        other => other,
                    };
                    if let ExprKind::Struct(decls) = yielded {
                        work.extend(decls.iter().map(|it| (it, true)));
                    }
                }
                Decl::Let(..) | Decl::Ellipsis(..) | Decl::Attribute(_) => {}
            }
        }
        false
    })
}
