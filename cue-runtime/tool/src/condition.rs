//! `@if(…)` and `@ignore()` above the package clause: whether a file belongs to its package.

use std::cell::RefCell;
use std::collections::BTreeSet;

use cue_syntax::ast::{Binary, Expr, ExprKind, File, Unary};

/// The tags without a value that were given, and which of them a file asked for.
pub(crate) struct Flags<'a> {
    given: &'a [String],
    asked: RefCell<BTreeSet<String>>,
}

impl<'a> Flags<'a> {
    pub(crate) fn new(given: &'a [String]) -> Self {
        Self { given, asked: RefCell::default() }
    }

    fn is_set(&self, name: &str) -> bool {
        self.asked.borrow_mut().insert(name.to_owned());
        self.given.iter().any(|it| it == name)
    }

    /// Whether some file asked for it.
    pub(crate) fn was_asked(&self, name: &str) -> bool {
        self.asked.borrow().contains(name)
    }
}

/// Why a file is left out, and where that is written.
pub(crate) struct Excluded {
    pub(crate) reason: String,
    pub(crate) at: u32,
}

/// Nesting of a condition.
const DEPTH: u32 = 1_000;

/// Whether a file is left out; an error where its condition cannot be read.
pub(crate) fn excluded(file: &File, flags: &Flags<'_>) -> Result<Option<Excluded>, Excluded> {
    let clause = file.package.as_ref().map_or(u32::MAX, |it| it.span.start);
    let mut condition = None;
    for attribute in file.attributes.iter().filter(|it| it.span.start < clause) {
        let at = attribute.span.start;
        match attribute.name.as_str() {
            "ignore" => {
                let reason = "@ignore() attribute found".to_owned();
                return Ok(Some(Excluded { reason, at }));
            }
            "if" if condition.is_some() => {
                return Err(Excluded { reason: "multiple @if attributes".into(), at });
            }
            "if" => condition = Some(attribute),
            _ => {}
        }
    }
    let Some(attribute) = condition else { return Ok(None) };
    let at = attribute.span.start;
    let wrong = |reason: String| Excluded { reason, at };
    let expr = cue_syntax::parse_expr(&attribute.body)
        .map_err(|all| wrong(all.into_iter().next().map_or_else(String::new, |it| it.message)))?;
    if holds(&expr, flags, DEPTH).map_err(wrong)? {
        return Ok(None);
    }
    Ok(Some(Excluded { reason: format!("@if({}) did not match", attribute.body), at }))
}

fn holds(expr: &Expr, flags: &Flags<'_>, depth: u32) -> Result<bool, String> {
    let Some(depth) = depth.checked_sub(1) else { return Err("build attribute too deep".into()) };
    match &expr.kind {
        ExprKind::Ident(name) => Ok(flags.is_set(name)),
        ExprKind::Paren(inner) => holds(inner, flags, depth),
        ExprKind::Unary(Unary::Not, inner) => Ok(!holds(inner, flags, depth)?),
        // Both sides are asked: each tag in them counts as used.
        ExprKind::Binary(Binary::And, left, right) => {
            let (left, right) = (holds(left, flags, depth)?, holds(right, flags, depth)?);
            Ok(left && right)
        }
        ExprKind::Binary(Binary::Or, left, right) => {
            let (left, right) = (holds(left, flags, depth)?, holds(right, flags, depth)?);
            Ok(left || right)
        }
        _ => Err("invalid expression in build attribute".into()),
    }
}
