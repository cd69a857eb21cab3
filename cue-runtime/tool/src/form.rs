//! What a CUE file that is to be data must not have: `data:`, `graph:`.

use cue_session::{Diagnostic, Source};
use cue_syntax::LineIndex;
use cue_syntax::ast::{Decl, Element, Expr, ExprKind, Field, File, Label, Span, Unary};

use crate::diagnostic;
use crate::filetype::Form;

/// Most errors told of a file.
const MOST: usize = 10;

/// What is still to look at.
enum Part<'a> {
    Decl(&'a Decl),
    Expr(&'a Expr),
}

/// What a file has that its form does not allow, and where.
pub(crate) fn unfit(source: &Source, file: &File, form: Form) -> Vec<Diagnostic> {
    let mode = match form {
        Form::Schema => return Vec::new(),
        Form::Graph => "graph",
        Form::Data => "data",
    };
    let mut found: Vec<(&str, u32)> = Vec::new();
    // The name of a package is a reference like others.
    let package = file.package.as_ref().filter(|_| form == Form::Data);
    found.extend(package.map(|it| ("references", it.span.start)));
    // An import is told where the declaration begins that may have others too.
    let imports = file.imports.iter();
    found.extend(imports.map(|it| ("imports", begins(&source.text, "import", it.span.start))));
    found.dedup();
    let mut inside: Vec<(&str, Span)> = Vec::new();
    let mut work: Vec<Part<'_>> = file.decls.iter().rev().map(Part::Decl).collect();
    while let Some(part) = work.pop() {
        match part {
            Part::Decl(decl) => of_decl(decl, (form, &source.text), &mut inside, &mut work),
            Part::Expr(expr) => of_expr(expr, form, &mut inside, &mut work),
        }
    }
    found.extend(inside.into_iter().map(|it| (it.0, it.1.start)));
    let lines = LineIndex::new(&source.text);
    let told = |(what, at): (&str, u32)| -> Diagnostic {
        let (line, column) = lines.at(at);
        let message = format!("{what} not allowed in {mode} mode");
        diagnostic(message, Some((&source.name, line, column)))
    };
    found.into_iter().take(MOST).map(told).collect()
}

/// Where a declaration begins whose `keyword` stands before what is at `at`.
pub(crate) fn begins(text: &str, keyword: &str, at: u32) -> u32 {
    let before = text.get(..at as usize).and_then(|it| it.rfind(keyword));
    before.map_or(at, |it| it as u32)
}

fn of_decl<'a>(
    decl: &'a Decl,
    (form, text): (Form, &str),
    found: &mut Vec<(&'static str, Span)>,
    work: &mut Vec<Part<'a>>,
) {
    match decl {
        Decl::Field(field) => of_field(field, found, work),
        Decl::Let(name, _) if form == Form::Data => {
            let start = begins(text, "let", name.span.start);
            found.push(("references", Span { start, end: name.span.end }));
        }
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
