//! `@if(…)` and `@ignore()` above the package clause: whether a file belongs to its package.

use std::cell::RefCell;
use std::collections::BTreeSet;

use cue_session::{Diagnostic, Source};
use cue_syntax::LineIndex;
use cue_syntax::ast::{Attribute, Binary, Expr, ExprKind, File, Unary};

use crate::diagnostic;
use crate::error::unparsed;

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

/// Nesting of a condition.
const DEPTH: u32 = 1_000;

/// Why a file is left out, if it is.
///
/// # Errors
/// What its condition, or that there are two, is wrong with.
pub(crate) fn excluded(
    source: &Source,
    file: &File,
    flags: &Flags<'_>,
) -> Result<Option<String>, Vec<Diagnostic>> {
    let clause = file.package.as_ref().map_or(u32::MAX, |it| it.span.start);
    let mut condition: Option<&Attribute> = None;
    for attribute in file.attributes.iter().filter(|it| it.span.start < clause) {
        match (attribute.name.as_str(), condition) {
            ("ignore", _) => return Ok(Some("@ignore() attribute found".into())),
            ("if", Some(first)) => {
                let lines = LineIndex::new(&source.text);
                let told = |text: &str, it: &Attribute| {
                    let (line, column) = lines.at(it.span.start);
                    diagnostic(text, Some((&source.name, line, column)))
                };
                return Err(vec![
                    told("previous declaration here", first),
                    told("multiple @if attributes", attribute),
                ]);
            }
            ("if", None) => condition = Some(attribute),
            _ => {}
        }
    }
    let Some(attribute) = condition else { return Ok(None) };
    // It is read as a text of its own, which has no name.
    let expr = cue_syntax::parse_expr(&attribute.body)
        .map_err(|all| unparsed("", &attribute.body, &all))?;
    if holds(&expr, flags, DEPTH).map_err(|text| vec![diagnostic(text, None)])? {
        return Ok(None);
    }
    Ok(Some(format!("@if({}) did not match", attribute.body)))
}

fn holds(expr: &Expr, flags: &Flags<'_>, depth: u32) -> Result<bool, String> {
    let Some(depth) = depth.checked_sub(1) else { return Err("build attribute too deep".into()) };
    let operator = |it: &str| Err(format!("invalid operator {it} in build attribute"));
    let kind = match &expr.kind {
        ExprKind::Ident(name) => return Ok(flags.is_set(name)),
        ExprKind::Top => return Ok(flags.is_set("_")),
        ExprKind::Paren(inner) => return holds(inner, flags, depth),
        ExprKind::Unary(Unary::Not, inner) => return Ok(!holds(inner, flags, depth)?),
        // Both sides are asked: each tag in them counts as used.
        ExprKind::Binary(Binary::And, left, right) => {
            let (left, right) = (holds(left, flags, depth)?, holds(right, flags, depth)?);
            return Ok(left && right);
        }
        ExprKind::Binary(Binary::Or, left, right) => {
            let (left, right) = (holds(left, flags, depth)?, holds(right, flags, depth)?);
            return Ok(left || right);
        }
        ExprKind::Binary(other, ..) => return operator(other.symbol()),
        ExprKind::Unary(Unary::Plus, _) => return operator("+"),
        ExprKind::Unary(Unary::Minus, _) => return operator("-"),
        ExprKind::Unary(Unary::Default, _) => return operator("*"),
        ExprKind::Unary(Unary::Bound(it), _) => return operator(it.symbol()),
        // In the words of the library that cue is made of.
        ExprKind::Null
        | ExprKind::Bool(_)
        | ExprKind::Number(_)
        | ExprKind::String(_)
        | ExprKind::Bytes(_) => "BasicLit",
        ExprKind::Interpolation { .. } => "Interpolation",
        ExprKind::Bottom => "BottomLit",
        ExprKind::Struct(_) => "StructLit",
        ExprKind::List(_) => "ListLit",
        ExprKind::Unary(Unary::Attempt | Unary::Open, _) => "PostfixExpr",
        ExprKind::Select(_) => "SelectorExpr",
        ExprKind::Index(..) => "IndexExpr",
        ExprKind::Slice(_) => "SliceExpr",
        ExprKind::Call(..) => "CallExpr",
        ExprKind::Comprehension(..) => "Comprehension",
        ExprKind::Bad => "BadExpr",
    };
    Err(format!("invalid type *ast.{kind} in build attribute"))
}
