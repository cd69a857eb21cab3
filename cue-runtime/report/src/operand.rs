//! Which alternative of a choice a place is in.

use cue_syntax::ast::{Binary, Decl, ExprKind, Span};
use cue_syntax::{Around, around};

/// The operand of a choice around the byte at `offset`, by preference the one from which `fields` labels lead there;
/// else the outermost.
pub(crate) fn operand(decls: &[Decl], offset: u32, fields: usize) -> Option<Span> {
    // Operands on the way in, each with the labels between it and what is looked at.
    let mut passed: Vec<(Span, usize)> = Vec::new();
    let mut of_choice = false;
    for it in around(decls, offset) {
        match it {
            Around::Expr(expr) => {
                let is_choice = matches!(expr.kind, ExprKind::Binary(Binary::Disjoin, ..));
                // Of `a | b | c` the first operand is `a`, not `a | b`.
                if of_choice && !is_choice {
                    passed.push((expr.span, 0));
                }
                of_choice = is_choice;
            }
            Around::Field(_) | Around::Label(_) | Around::Element(_) => {
                passed.iter_mut().for_each(|it| it.1 += 1);
            }
            Around::Decls(_) | Around::Aside(_) | Around::Clause(_) => {}
        }
    }
    let wanted = passed.iter().find(|it| it.1 == fields);
    wanted.or(passed.first()).map(|it| it.0)
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
