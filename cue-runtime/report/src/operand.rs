//! Which alternative of a choice a place is in.

use cue_syntax::ast::{Binary, Clause, Decl, Element, Expr, ExprKind, Span};

/// The operand of a choice around the byte at `offset`, by preference the one from which `fields` labels lead there;
/// else the outermost.
pub(crate) fn operand(decls: &[Decl], offset: u32, fields: usize) -> Option<Span> {
    // Operands on the way in, each with the labels between it and what is looked at.
    let mut passed: Vec<(Span, usize)> = Vec::new();
    let mut here = in_decls(decls, offset, &mut passed);
    while let Some(expr) = here {
        here = match &expr.kind {
            ExprKind::Binary(Binary::Disjoin, ..) => {
                let operand = alternatives(expr).into_iter().find(|it| holds(it.span, offset));
                if let Some(operand) = operand {
                    passed.push((operand.span, 0));
                }
                operand
            }
            ExprKind::Struct(decls) => in_decls(decls, offset, &mut passed),
            ExprKind::List(elements) => {
                let of = |it: &Element| match it {
                    Element::Expr(it) => Some(it.span),
                    Element::Ellipsis(it) => it.as_ref().map(|it| it.span),
                };
                if elements.iter().filter_map(of).any(|it| holds(it, offset)) {
                    passed.iter_mut().for_each(|it| it.1 += 1);
                }
                expr.operands().into_iter().find(|it| holds(it.span, offset))
            }
            ExprKind::Comprehension(clauses, body) => {
                let sources = clauses.iter().filter_map(|it| match it {
                    Clause::For { source: it, .. }
                    | Clause::If(it)
                    | Clause::Let(_, it)
                    | Clause::Otherwise(it)
                    | Clause::Try(_, Some((_, it))) => Some(it),
                    Clause::Try(_, None) => None,
                });
                sources.chain([&**body]).find(|it| holds(it.span, offset))
            }
            _ => expr.operands().into_iter().find(|it| holds(it.span, offset)),
        };
    }
    let wanted = passed.iter().find(|it| it.1 == fields);
    wanted.or(passed.first()).map(|it| it.0)
}

/// The operands of `a | b | c`, in order.
fn alternatives(expr: &Expr) -> Vec<&Expr> {
    let mut all = Vec::new();
    let mut rest = expr;
    // A chain leans to the left.
    while let ExprKind::Binary(Binary::Disjoin, left, right) = &rest.kind {
        all.push(&**right);
        rest = left;
    }
    all.push(rest);
    all.reverse();
    all
}

fn in_decls<'a>(decls: &'a [Decl], offset: u32, passed: &mut [(Span, usize)]) -> Option<&'a Expr> {
    for decl in decls {
        match decl {
            Decl::Field(field) if holds(field.span, offset) => {
                passed.iter_mut().for_each(|it| it.1 += 1);
                return Some(&field.value);
            }
            Decl::Let(_, it) | Decl::Ellipsis(Some(it), _) | Decl::Embed(it)
                if holds(it.span, offset) =>
            {
                return Some(it);
            }
            _ => {}
        }
    }
    None
}

fn holds(span: Span, offset: u32) -> bool {
    span.start <= offset && offset < span.end
}

#[cfg(test)]
mod tests {
    use super::operand;

    #[test]
    fn the_alternative_around_a_place() {
        let text = "a: {k: \"x\" | \"y\", v: int} | #B | [{c: 1}]\nb: 1\n";
        let file = cue_syntax::parse_file(text).file;
        let of = |what: &str, fields| {
            let offset = u32::try_from(text.find(what).expect("a part")).expect("short");
            let span = operand(&file.decls, offset, fields)?;
            Some(&text[span.start as usize..span.end as usize])
        };
        assert_eq!(of("\"y\"", 1), Some("{k: \"x\" | \"y\", v: int}"));
        assert_eq!(of("\"y\"", 0), Some("\"y\""));
        assert_eq!(of("int", 1), Some("{k: \"x\" | \"y\", v: int}"));
        assert_eq!(of("#B", 3), Some("#B"));
        assert_eq!(of("1}", 2), Some("[{c: 1}]"));
        assert_eq!(of("b: 1", 0), None);
    }
}
