//! Which field of a template a position belongs to.

use cue_session::Position;
use cue_syntax::ast::{ExprKind, Label};
use cue_syntax::{Around, LineIndex, around, parse_older};

/// Dotted path of the innermost field around `at`; empty if there is none.
pub(crate) fn path(template: &str, at: Option<&Position>) -> String {
    let offset = at.and_then(|at| LineIndex::new(template).offset(at.line, at.column));
    let Some(offset) = offset else { return String::new() };
    let parsed = parse_older(template);
    let mut path = Vec::new();
    for it in around(&parsed.file.decls, offset) {
        match it {
            Around::Field(field) => match &field.label {
                Label::Ident(it) => path.push(it.name.to_string()),
                Label::String(it, _) => path.push(cue_syntax::unquote::quote(it)),
                Label::Interpolated(_) | Label::Dynamic(_) | Label::Pattern(..) => break,
            },
            Around::Element(index) => path.push(index.to_string()),
            Around::Decls(_) => {}
            Around::Expr(expr) => match &expr.kind {
                ExprKind::Struct(_)
                | ExprKind::List(_)
                | ExprKind::Binary(..)
                | ExprKind::Unary(..)
                | ExprKind::Paren(_)
                | ExprKind::Comprehension(..) => {}
                _ => break,
            },
            // Where nothing is a field of the template.
            Around::Label(_) | Around::Aside(_) | Around::Clause(_) => break,
        }
    }
    path.join(".")
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
