//! Which field of a template a position belongs to.

use cue_session::Position;
use cue_syntax::ast::{Decl, Element, Expr, ExprKind, Label};
use cue_syntax::parse_older;

/// Dotted path of the innermost field around `at`; empty if there is none.
pub(crate) fn path(template: &str, at: Option<&Position>) -> String {
    let Some(offset) = at.and_then(|at| offset(template, at)) else { return String::new() };
    let parsed = parse_older(template);
    let mut path = Vec::new();
    decls(&parsed.file.decls, offset, &mut path);
    path.join(".")
}

fn offset(template: &str, at: &Position) -> Option<u32> {
    let line = usize::try_from(at.line).ok()?.checked_sub(1)?;
    let before: usize = template.split_inclusive('\n').take(line).map(str::len).sum();
    u32::try_from(before + usize::try_from(at.column).ok()?.checked_sub(1)?).ok()
}

fn decls(all: &[Decl], offset: u32, path: &mut Vec<String>) {
    for decl in all {
        match decl {
            Decl::Field(field) if field.span.start <= offset && offset < field.span.end => {
                let label = match &field.label {
                    Label::Ident(it) => it.name.to_string(),
                    Label::String(it, _) => cue_syntax::unquote::quote(it),
                    Label::Interpolated(_) | Label::Dynamic(_) | Label::Pattern(..) => return,
                };
                path.push(label);
                expr(&field.value, offset, path);
                return;
            }
            Decl::Embed(value) => expr(value, offset, path),
            Decl::Field(_) | Decl::Let(..) | Decl::Ellipsis(..) | Decl::Attribute(_) => {}
        }
    }
}

fn expr(value: &Expr, offset: u32, path: &mut Vec<String>) {
    if offset < value.span.start || offset >= value.span.end {
        return;
    }
    match &value.kind {
        ExprKind::Struct(all) => decls(all, offset, path),
        ExprKind::List(elements) => {
            for (index, element) in elements.iter().enumerate() {
                let Element::Expr(element) = element else { continue };
                if element.span.start <= offset && offset < element.span.end {
                    path.push(index.to_string());
                    expr(element, offset, path);
                    return;
                }
            }
        }
        ExprKind::Binary(_, left, right) => {
            expr(left, offset, path);
            expr(right, offset, path);
        }
        ExprKind::Unary(_, inner) | ExprKind::Paren(inner) => expr(inner, offset, path),
        ExprKind::Comprehension(_, body) => expr(body, offset, path),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use cue_session::Position;

    use super::path;

    #[test]
    fn the_innermost_field_is_named() {
        let text = "output: {\n\tspec: a: [1, {b: nowhere}]\n}\n";
        let at = |line, column| path(text, Some(&Position { file: "t.cue".into(), line, column }));
        assert_eq!(at(2, 20), "output.spec.a.1.b");
        assert_eq!(at(2, 12), "output.spec.a.0");
        assert_eq!(at(9, 1), "");
    }
}
