//! Paths: `a.#b."c-d"[0]`, as callers name a place in a value.

use std::sync::Arc;

use crate::ast::{Expr, ExprKind, Ident};
use crate::parser::parse_expr;

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// An identifier as written: regular, `#definition`, `_hidden`.
    Ident(Arc<str>),
    /// A quoted label, unquoted; always regular.
    String(Arc<str>),
    /// An element of a list.
    Index(u64),
}

/// Parses a path; an empty text is the root.
///
/// # Errors
/// What is wrong with it.
pub fn parse_path(text: &str) -> Result<Vec<Step>, String> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    // An index at the root: give it something to index.
    let rooted = text.trim_start().starts_with('[');
    let source = if rooted { format!("_{text}") } else { text.to_owned() };
    let expr = parse_expr(&source)
        .map_err(|errors| errors.first().map_or_else(String::new, |it| it.message.clone()))?;
    let mut steps = Vec::new();
    let mut at = &expr;
    loop {
        at = match &at.kind {
            ExprKind::Select(it) => {
                let (base, Ident { name, span }) = &**it;
                let quoted = source.as_bytes().get(span.start as usize) == Some(&b'"');
                let name = name.clone();
                steps.push(if quoted { Step::String(name) } else { Step::Ident(name) });
                base
            }
            ExprKind::Index(base, index) => {
                steps.push(index_step(index)?);
                base
            }
            ExprKind::Ident(name) => {
                steps.push(Step::Ident(name.clone()));
                break;
            }
            ExprKind::String(name) => {
                steps.push(Step::String(name.clone()));
                break;
            }
            ExprKind::Top if rooted => break,
            ExprKind::Top => {
                steps.push(Step::Ident("_".into()));
                break;
            }
            _ => return Err("invalid path".into()),
        };
    }
    steps.reverse();
    Ok(steps)
}

fn index_step(index: &Expr) -> Result<Step, String> {
    match &index.kind {
        ExprKind::Number(text) => match text.replace('_', "").parse() {
            Ok(index) => Ok(Step::Index(index)),
            Err(_) => Err(format!("invalid index {text}")),
        },
        ExprKind::String(name) => Ok(Step::String(name.clone())),
        _ => Err("invalid index in path".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_in_order() {
        let ident = |it: &str| Step::Ident(it.into());
        let want = vec![ident("a"), ident("#b"), Step::String("c-d".into()), Step::Index(0)];
        assert_eq!(parse_path("a.#b.\"c-d\"[0]"), Ok(want));
        assert_eq!(parse_path("[1].x"), Ok(vec![Step::Index(1), ident("x")]));
        assert_eq!(parse_path(""), Ok(Vec::new()));
        assert!(parse_path("a+b").is_err());
    }
}
