//! Values that refer to nothing: evaluated, and printed as the value they are.

use std::rc::Rc;
use std::sync::Arc;

use cue_syntax::ast::{Binary, Expr, ExprKind, Span, Unary};

use crate::out::{Out, PRIMARY};
use crate::scope::Scope;

/// Evaluates an expression that refers to nothing; takes the text of the file that it is of, too.
pub type Evaluate = fn(text: &str, file: &str) -> Constant;

/// What such an expression is.
#[derive(Debug)]
pub enum Constant {
    /// Not to be evaluated alone.
    Unread,
    /// `_|_` as it is written.
    Bottom,
    /// An error, and what it says.
    Failed(String),
    /// A value as text.
    Value(String),
}

/// Whether an expression is a value or made of values only; calls, lists, structs and choices are
/// not.
pub(crate) fn is_constant(expr: &Expr, scope: &Rc<Scope>) -> bool {
    match &expr.kind {
        ExprKind::Bottom | ExprKind::Top => true,
        kind if kind.is_scalar() => true,
        ExprKind::Ident(name) => {
            (is_type(name) || **name == *UNSHARED) && scope.find(name).is_none()
        }
        ExprKind::Paren(inner) | ExprKind::Unary(Unary::Default, inner) => {
            is_constant(inner, scope)
        }
        ExprKind::Unary(Unary::Open | Unary::Attempt, _) => false,
        ExprKind::Unary(_, inner) => is_constant(inner, scope),
        ExprKind::Binary(Binary::Disjoin, ..) => false,
        ExprKind::Binary(_, left, right) => is_constant(left, scope) && is_constant(right, scope),
        _ => false,
    }
}

/// What is `_`, except that it keeps a value from being shared.
pub(crate) const UNSHARED: &str = "__no_sharing";

/// Whether a value says `__no_sharing`.
pub(crate) fn is_unshared(expr: &Expr) -> bool {
    matches!(&strip(expr).kind, ExprKind::Ident(name) if **name == *UNSHARED)
}

/// Whether a predeclared name is that of a kind, not of a range of numbers.
pub fn is_plain_type(name: &str) -> bool {
    matches!(name, "string" | "bytes" | "bool" | "int" | "float" | "number")
}

/// Whether a name is a type of numbers within limits: bounds to CUE, not a kind.
pub(crate) fn is_range(name: &str) -> bool {
    let name = name.strip_prefix("__").unwrap_or(name);
    is_type(name) && !is_plain_type(name)
}

/// Names of types.
pub(crate) fn is_type(name: &str) -> bool {
    let name = name.strip_prefix("__").unwrap_or(name);
    matches!(
        name,
        "string"
            | "bytes"
            | "bool"
            | "int"
            | "float"
            | "number"
            | "uint"
            | "uint8"
            | "uint16"
            | "uint32"
            | "uint64"
            | "uint128"
            | "int8"
            | "int16"
            | "int32"
            | "int64"
            | "int128"
            | "rune"
            | "float32"
            | "float64"
    )
}

/// The source of a span.
pub(crate) fn slice(text: &str, span: Span) -> &str {
    text.get(span.start as usize..span.end as usize).unwrap_or_default()
}

/// All of them together, as one value; a literal that is the value keeps its spelling.
pub(crate) fn together(values: &[(&Expr, &Arc<str>)], evaluate: Evaluate) -> Out {
    let said: Vec<&(&Expr, &Arc<str>)> = values
        .iter()
        .filter(|(it, _)| !matches!(strip(it).kind, ExprKind::Top) && !is_unshared(it))
        .collect();
    match said.as_slice() {
        [] => return Out::primary("_"),
        [(only, source)] => {
            let only = strip(only);
            if let Some(text) = literal(only, source) {
                return text;
            }
            // A bound is printed as it is, without the types it implies.
            if let ExprKind::Unary(Unary::Bound(compare), limit) = &only.kind {
                let limit = value(slice(source, limit.span), source, evaluate).text();
                return Out::Text(format!("{}{limit}", compare.symbol()), 8);
            }
        }
        _ => {}
    }
    let parts: Vec<String> =
        said.iter().map(|(it, source)| format!("({})", slice(source, it.span))).collect();
    let file: &str = said.first().map_or("", |it| it.1);
    let evaluated = value(&parts.join(" & "), file, evaluate);
    // The literal whose value it is.
    for (each, source) in &said {
        if let Some(text) = literal(strip(each), source) {
            let concrete = !matches!(strip(each).kind, ExprKind::Ident(_) | ExprKind::Top);
            if concrete && value(&text.text(), file, evaluate).text() == evaluated.text() {
                return text;
            }
        }
    }
    evaluated
}

/// The value of an expression.
fn value(text: &str, file: &str, evaluate: Evaluate) -> Out {
    match evaluate(text, file) {
        Constant::Unread => Out::primary(text),
        Constant::Bottom => Out::bottom(),
        Constant::Failed(message) => Out::primary(format!("_|_ // {message}")),
        Constant::Value(text) => {
            let strength = if text.contains(" & ") { 2 } else { PRIMARY };
            Out::Text(text, strength)
        }
    }
}

/// Without parentheses around it.
pub(crate) fn strip(expr: &Expr) -> &Expr {
    let mut expr = expr;
    while let ExprKind::Paren(inner) = &expr.kind {
        expr = inner;
    }
    expr
}

/// A literal as it is written.
pub(crate) fn literal(expr: &Expr, source: &Arc<str>) -> Option<Out> {
    match &expr.kind {
        ExprKind::Bottom => Some(Out::bottom()),
        kind if kind.is_scalar() || matches!(kind, ExprKind::Top) => {
            Some(Out::primary(slice(source, expr.span)))
        }
        // No name but a range (O-69).
        ExprKind::Ident(name) if &**name == "rune" => None,
        ExprKind::Ident(name) => {
            Some(Out::primary(name.strip_prefix("__").unwrap_or(name).to_owned()))
        }
        _ => None,
    }
}
