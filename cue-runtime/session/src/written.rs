//! Where a field is written: errors of what is found only on the way round, such as structural cycles, have no place
//! of their own.

use cue_eval::value::Selector;
use cue_syntax::ast::{Binary, Decl, Element, Expr, ExprKind, Field, Label, Unary};

/// The label of the field at a path, or of the nearest one around it that is written among `decls`: its first byte.
pub(crate) fn written(decls: &[Decl], path: &[Selector]) -> Option<Written> {
    let mut found = None;
    let mut literals = vec![Literal::Struct(decls)];
    for (depth, step) in path.iter().enumerate() {
        let mut values = Vec::new();
        let mut first = None;
        for literal in &literals {
            literal.each(step, &mut |start, value| {
                first = first.or(Some(start));
                values.push(value);
            });
        }
        let Some(start) = first else { break };
        found = Some(Written { start, depth });
        literals.clear();
        values.into_iter().for_each(|it| within(it, &mut literals));
    }
    found
}

/// Where something is written, and how many labels around it are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) start: u32,
    pub(crate) depth: usize,
}

/// What has fields or elements.
enum Literal<'a> {
    Struct(&'a [Decl]),
    List(&'a [Element]),
}

impl<'a> Literal<'a> {
    /// What is written of this name or index: where it begins, and the value.
    fn each(&self, step: &Selector, found: &mut impl FnMut(u32, &'a Expr)) {
        match (self, step) {
            (Literal::Struct(decls), Selector::Field { .. }) => {
                let fields = decls.iter().filter_map(|it| match it {
                    Decl::Field(field) => Some(field),
                    _ => None,
                });
                for field in fields.filter(|it| is_called(it, step)) {
                    found(field.label_span.start, &field.value);
                }
            }
            (Literal::List(elements), Selector::Index(at)) => {
                let element = usize::try_from(*at).ok().and_then(|at| elements.get(at));
                if let Some(Element::Expr(value)) = element {
                    found(value.span.start, value);
                }
            }
            _ => {}
        }
    }
}

/// Whether a field has the label that a path goes by.
fn is_called(field: &Field, step: &Selector) -> bool {
    let label = match &field.label {
        Label::Ident(it) => Selector::identifier(&it.name),
        Label::String(it, _) => Selector::string(it),
        Label::Interpolated(_) | Label::Dynamic(_) | Label::Pattern(..) => return false,
    };
    match (&label, step) {
        (
            Selector::Field { kind, name, .. },
            Selector::Field { kind: wanted, name: called, .. },
        ) => (kind, name) == (wanted, called),
        _ => false,
    }
}

/// The literals whose fields the value has.
fn within<'a>(value: &'a Expr, literals: &mut Vec<Literal<'a>>) {
    let mut left = vec![value];
    while let Some(it) = left.pop() {
        match &it.kind {
            ExprKind::Struct(decls) => {
                literals.push(Literal::Struct(decls));
                left.extend(decls.iter().filter_map(|it| match it {
                    Decl::Embed(it) => Some(&**it),
                    _ => None,
                }));
            }
            ExprKind::List(elements) => literals.push(Literal::List(elements)),
            ExprKind::Comprehension(_, body) => left.push(body),
            ExprKind::Paren(it) | ExprKind::Unary(Unary::Default | Unary::Open, it) => {
                left.push(it)
            }
            ExprKind::Binary(Binary::Unify | Binary::Disjoin, one, other) => {
                left.extend([&**other, &**one]);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use cue_eval::value::path::parse_selectors;

    use super::written;

    #[test]
    fn the_nearest_field_that_is_written() {
        let text = "a: b\nc: a & {d: {e: 1} | {f: a}}\nif true {g: h: [1, {i: c}]}\n#D: {#E, \"x y\": #D}\n";
        let file = cue_syntax::parse_file(text).file;
        let at = |path: &str| {
            let it = written(&file.decls, &parse_selectors(path).expect("a path"))?;
            Some((&text[it.start as usize..][..2], it.depth))
        };
        assert_eq!(at("c.d"), Some(("d:", 1)));
        assert_eq!(at("c.d.f.d"), Some(("f:", 2)), "further in nothing is written");
        assert_eq!(at("a.z"), Some(("a:", 0)));
        assert_eq!(at("#D.\"x y\""), Some(("\"x", 1)));
        assert_eq!(at("z"), None);
    }
}
