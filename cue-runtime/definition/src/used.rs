//! Names that a `let` or an alias of the result cannot have without another: labels of fields,
//! variables of `for`, aliases of values (O-79); a name that is bound to a place outside cannot be one that is
//! referred to either (O-80).

use cue_syntax::ast::{Clause, Decl, Expr, ExprKind, Label};
use cue_syntax::is_identifier;

use crate::printer::DEPTH;
use crate::taken::Taken;

/// Those of a file.
pub(crate) fn names(decls: &[Decl], out: &mut Taken) {
    Used { out, refers: None, depth: 0 }.decls(decls);
}

/// Notes names.
pub(crate) struct Used<'u> {
    pub(crate) out: &'u mut Taken,
    /// Whether a name that is referred to is taken, too; `None` if none is.
    pub(crate) refers: Option<&'u dyn Fn(&Expr) -> bool>,
    pub(crate) depth: u32,
}

impl Used<'_> {
    fn note(&mut self, name: &str) {
        if is_identifier(name) {
            self.out.note(name);
        }
    }

    pub(crate) fn decls(&mut self, decls: &[Decl]) {
        for decl in decls {
            match decl {
                Decl::Field(field) => {
                    match &field.label {
                        Label::Ident(name) => self.note(&name.name),
                        Label::String(text, _) => self.note(text),
                        Label::Dynamic(it) | Label::Interpolated(it) | Label::Pattern(it, _) => {
                            self.expr(it);
                        }
                    }
                    if let Some(alias) = &field.value_alias {
                        self.note(&alias.name);
                    }
                    self.expr(&field.value);
                }
                Decl::Let(_, value) | Decl::Embed(value) | Decl::Ellipsis(Some(value), _) => {
                    self.expr(value);
                }
                Decl::Ellipsis(None, _) | Decl::Attribute(_) => {}
            }
        }
    }

    /// Those of an expression.
    pub(crate) fn expr(&mut self, expr: &Expr) {
        if self.depth > DEPTH {
            return;
        }
        self.depth += 1;
        self.expr_inner(expr);
        self.depth -= 1;
    }

    fn expr_inner(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Struct(decls) => self.decls(decls),
            ExprKind::Comprehension(clauses, body) => {
                clauses.iter().for_each(|it| self.clause(it));
                self.expr(body);
            }
            ExprKind::Ident(name) if self.refers.is_some_and(|refers| refers(expr)) => {
                self.note(name);
            }
            ExprKind::Select(it) if self.refers.is_some() => {
                self.note(&it.1.name);
                self.expr(&it.0);
            }
            _ => expr.operands().into_iter().for_each(|it| self.expr(it)),
        }
    }

    fn clause(&mut self, clause: &Clause) {
        match clause {
            Clause::For { key, value, source } => {
                for it in key.iter().chain([value]) {
                    self.note(&it.name);
                }
                self.expr(source);
            }
            Clause::Let(name, it) | Clause::Try(_, Some((name, it))) => {
                if self.refers.is_some() {
                    self.note(&name.name);
                }
                self.expr(it);
            }
            Clause::If(it) | Clause::Otherwise(it) => self.expr(it),
            Clause::Try(_, None) => {}
        }
    }
}
