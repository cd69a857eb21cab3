//! What a CUE file that is to be data must not have: `data:`, `graph:`.

use cue_session::{Diagnostic, Source};
use cue_syntax::LineIndex;
use cue_syntax::ast::{Decl, Element, Expr, ExprKind, Field, File, Label, Marker, Span, Unary};

use crate::filetype::Form;
use crate::{Error, diagnostic};

/// Most errors told of a file.
const MOST: usize = 10;

/// What is still to look at.
enum Part<'a> {
    Decl(&'a Decl),
    Expr(&'a Expr),
}

/// Whether a file has only what its form allows.
///
/// # Errors
/// What it does not allow, and where.
pub(crate) fn check(source: &Source, file: &File, form: Form) -> Result<(), Error> {
    let mode = if form == Form::Graph { "graph" } else { "data" };
    let mut found: Vec<(&str, Span)> = Vec::new();
    found.extend(file.imports.iter().map(|it| ("imports", it.span)));
    let mut work: Vec<Part<'_>> = file.decls.iter().rev().map(Part::Decl).collect();
    while let Some(part) = work.pop() {
        match part {
            Part::Decl(decl) => of_decl(decl, form, &mut found, &mut work),
            Part::Expr(expr) => of_expr(expr, form, &mut found, &mut work),
        }
    }
    let lines = LineIndex::new(&source.text);
    let told = |(what, span): (&str, Span)| -> Diagnostic {
        let (line, column) = lines.at(span.start);
        let message = format!("{what} not allowed in {mode} mode");
        diagnostic(message, Some((&source.name, line, column)))
    };
    if found.is_empty() {
        return Ok(());
    }
    Err(Error::Diagnostics(found.into_iter().take(MOST).map(told).collect()))
}

fn of_decl<'a>(
    decl: &'a Decl,
    form: Form,
    found: &mut Vec<(&'static str, Span)>,
    work: &mut Vec<Part<'a>>,
) {
    match decl {
        Decl::Field(field) => of_field(field, found, work),
        Decl::Let(name, _) if form == Form::Data => found.push(("references", name.span)),
        Decl::Let(_, value) => work.push(Part::Expr(value)),
        Decl::Ellipsis(_, span) => found.push(("ellipsis", *span)),
        Decl::Embed(value) => work.push(Part::Expr(value)),
        Decl::Attribute(_) => {}
    }
}

fn of_field<'a>(field: &'a Field, found: &mut Vec<(&'static str, Span)>, work: &mut Vec<Part<'a>>) {
    let span = field.label_span;
    match &field.label {
        Label::Ident(name) if name.name.starts_with('#') || name.name.starts_with("_#") => {
            found.push(("definitions", span));
        }
        Label::Ident(_) | Label::String(..) => {}
        Label::Interpolated(_) | Label::Dynamic(_) | Label::Pattern(..) => {
            found.push(("optional fields", span));
        }
    }
    if field.marker != Marker::None {
        found.push(("optional fields", span));
    }
    work.push(Part::Expr(&field.value));
}

fn of_expr<'a>(
    expr: &'a Expr,
    form: Form,
    found: &mut Vec<(&'static str, Span)>,
    work: &mut Vec<Part<'a>>,
) {
    let what = match &expr.kind {
        ExprKind::Struct(decls) => {
            work.extend(decls.iter().rev().map(Part::Decl));
            return;
        }
        ExprKind::List(elements) => {
            for element in elements.iter().rev() {
                match element {
                    Element::Expr(it) => work.push(Part::Expr(it)),
                    Element::Ellipsis(it) => {
                        // The three dots have no place of their own.
                        let start = match it {
                            Some(it) => it.span.start.saturating_sub(3),
                            None => expr.span.end.saturating_sub(4),
                        };
                        found.push(("ellipsis", Span { start, end: expr.span.end }));
                    }
                }
            }
            return;
        }
        ExprKind::Null
        | ExprKind::Bool(_)
        | ExprKind::Number(_)
        | ExprKind::String(_)
        | ExprKind::Bytes(_)
        | ExprKind::Bottom
        | ExprKind::Top
        | ExprKind::Bad => return,
        ExprKind::Unary(Unary::Plus | Unary::Minus, it)
            if matches!(it.kind, ExprKind::Number(_)) =>
        {
            return;
        }
        ExprKind::Ident(_) | ExprKind::Select(..) if form == Form::Graph => return,
        ExprKind::Ident(_) | ExprKind::Select(..) => "references",
        ExprKind::Unary(Unary::Bound(_), _) => "constraints",
        ExprKind::Unary(Unary::Default, _) => "default values",
        ExprKind::Unary(..)
        | ExprKind::Binary(..)
        | ExprKind::Paren(_)
        | ExprKind::Index(..)
        | ExprKind::Slice(..)
        | ExprKind::Call(..)
        | ExprKind::Comprehension(..)
        | ExprKind::Interpolation { .. } => "expressions",
    };
    found.push((what, expr.span));
}
