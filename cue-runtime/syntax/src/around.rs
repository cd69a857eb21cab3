//! What stands around a place in a file, from the outside in.

use crate::ast::{Clause, Decl, Element, Expr, ExprKind, Field, Label};

/// Something that a place is in.
#[derive(Clone, Copy, Debug)]
pub enum Around<'a> {
    /// The declarations of the file or of a struct.
    Decls(&'a [Decl]),
    /// A field, its computed label apart.
    Field(&'a Field),
    /// The computed label of a field.
    Label(&'a Field),
    /// What a `let` stands for, or an ellipsis.
    Aside(&'a Expr),
    /// An element of a list, from 0.
    Element(usize),
    /// A clause of a comprehension.
    Clause(&'a Clause),
    /// An expression.
    Expr(&'a Expr),
}

/// Everything around the byte at `offset` of a file with these declarations.
pub fn around(decls: &[Decl], offset: u32) -> Vec<Around<'_>> {
    let mut way = Vec::new();
    // Not by recursion: texts nest as deeply as they like.
    let mut inside = in_decls(decls, offset, &mut way);
    while let Some(expr) = inside {
        way.push(Around::Expr(expr));
        let holds = |it: &&Expr| it.span.contains(offset);
        inside = match &expr.kind {
            ExprKind::Struct(decls) => in_decls(decls, offset, &mut way),
            ExprKind::List(elements) => {
                let begins = |it: &Element| it.expr().is_some_and(|it| it.span.start <= offset);
                let index = elements.partition_point(begins).checked_sub(1);
                index.and_then(|index| {
                    let it = elements[index].expr().filter(holds)?;
                    way.push(Around::Element(index));
                    Some(it)
                })
            }
            ExprKind::Comprehension(clauses, body) => {
                let mut clauses = clauses.iter();
                let clause = clauses.find_map(|clause| {
                    let it = clause.expr().filter(holds)?;
                    way.push(Around::Clause(clause));
                    Some(it)
                });
                clause.or(Some(&**body).filter(holds))
            }
            _ => expr.operands().into_iter().find(holds),
        };
    }
    way
}

/// The declaration around a place, and the expression of it to look into.
fn in_decls<'a>(decls: &'a [Decl], offset: u32, way: &mut Vec<Around<'a>>) -> Option<&'a Expr> {
    way.push(Around::Decls(decls));
    let holds = |it: &&Expr| it.span.contains(offset);
    // They stand one behind the other.
    let before = decls.partition_point(|it| start(it) <= offset);
    match decls.get(before.checked_sub(1)?)? {
        Decl::Field(field) if field.span.contains(offset) => {
            let label = match &field.label {
                Label::Interpolated(it) | Label::Dynamic(it) | Label::Pattern(it, _) => {
                    Some(&**it).filter(holds)
                }
                Label::Ident(_) | Label::String(..) => None,
            };
            let within = if label.is_some() { Around::Label } else { Around::Field };
            way.push(within(field));
            label.or(Some(&field.value).filter(holds))
        }
        Decl::Let(_, it) | Decl::Ellipsis(Some(it), _) if it.span.contains(offset) => {
            way.push(Around::Aside(it));
            Some(it)
        }
        Decl::Embed(it) => Some(&**it).filter(holds),
        Decl::Field(_) | Decl::Let(..) | Decl::Ellipsis(..) | Decl::Attribute(_) => None,
    }
}

/// Where a declaration begins.
fn start(decl: &Decl) -> u32 {
    match decl {
        Decl::Field(it) => it.span.start,
        Decl::Let(name, _) => name.span.start,
        Decl::Ellipsis(_, span) => span.start,
        Decl::Embed(it) => it.span.start,
        Decl::Attribute(it) => it.span.start,
    }
}

#[cfg(test)]
mod tests {
    use super::{Around, around};

    fn way(text: &str, what: &str) -> String {
        let offset = u32::try_from(text.find(what).expect("a part")).expect("a short text");
        let parsed = crate::parse_file(text);
        let shown = around(&parsed.file.decls, offset).into_iter().filter_map(|it| match it {
            Around::Decls(_) => Some("{".to_owned()),
            Around::Field(it) => it.label.name().map(str::to_owned),
            Around::Label(_) => Some("label".to_owned()),
            Around::Aside(_) => Some("aside".to_owned()),
            Around::Element(index) => Some(index.to_string()),
            Around::Clause(_) => Some("clause".to_owned()),
            Around::Expr(_) => None,
        });
        shown.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn what_a_place_is_in() {
        let text = "a: \"b c\": [1, {d: x}]\n\"\\(e)\": f\nlet g = h\nfor i in j {k: l}\n";
        assert_eq!(way(text, "x"), "{ a { b c 1 { d");
        assert_eq!(way(text, "e)"), "{ label");
        assert_eq!(way(text, "f\n"), "{");
        assert_eq!(way(text, "h\n"), "{ aside");
        assert_eq!(way(text, "j {"), "{ clause");
        assert_eq!(way(text, "l}"), "{ { k");
    }

    #[test]
    fn depth_is_no_limit() {
        let deep = format!("{}x{}", "a: {".repeat(5_000), "}".repeat(5_000));
        assert_eq!(way(&deep, "x").split(' ').filter(|it| *it == "a").count(), 5_000);
    }
}
