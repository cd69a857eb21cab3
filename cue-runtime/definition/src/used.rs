//! Names that a `let` or an alias of the result cannot have without another: labels of fields,
//! variables of `for`, aliases of values (O-79).

use cue_syntax::ast::{Clause, Decl, Expr, ExprKind, Label};
use cue_syntax::is_identifier;

use crate::printer::DEPTH;
use crate::taken::Taken;

/// Those of a file.
pub(crate) fn names(decls: &[Decl], out: &mut Taken) {
    of_decls(decls, out, 0);
}

fn note(name: &str, out: &mut Taken) {
    if is_identifier(name) {
        out.note(name);
    }
}

fn of_decls(decls: &[Decl], out: &mut Taken, depth: u32) {
    for decl in decls {
        match decl {
            Decl::Field(field) => {
                match &field.label {
                    Label::Ident(name) => note(&name.name, out),
                    Label::String(text, _) => note(text, out),
                    Label::Dynamic(it) | Label::Interpolated(it) | Label::Pattern(it, _) => {
                        of_expr(it, out, depth);
                    }
                }
                if let Some(alias) = &field.value_alias {
                    note(&alias.name, out);
                }
                of_expr(&field.value, out, depth);
            }
            Decl::Let(_, value) | Decl::Embed(value) | Decl::Ellipsis(Some(value), _) => {
                of_expr(value, out, depth);
            }
            Decl::Ellipsis(None, _) | Decl::Attribute(_) => {}
        }
    }
}

/// Those of an expression.
pub(crate) fn of_expr(expr: &Expr, out: &mut Taken, depth: u32) {
    if depth > DEPTH {
        return;
    }
    let depth = depth + 1;
    match &expr.kind {
        ExprKind::Struct(decls) => of_decls(decls, out, depth),
        ExprKind::Comprehension(clauses, body) => {
            for clause in clauses {
                match clause {
                    Clause::For { key, value, source } => {
                        for it in key.iter().chain([value]) {
                            note(&it.name, out);
                        }
                        of_expr(source, out, depth);
                    }
                    Clause::If(it)
                    | Clause::Let(_, it)
                    | Clause::Try(_, Some((_, it)))
                    | Clause::Otherwise(it) => of_expr(it, out, depth),
                    Clause::Try(_, None) => {}
                }
            }
            of_expr(body, out, depth);
        }
        ExprKind::Select(it) if out.selections => {
            note(&it.1.name, out);
            of_expr(&it.0, out, depth);
        }
        _ => expr.operands().into_iter().for_each(|it| of_expr(it, out, depth)),
    }
}
