//! What the text of a path says: selectors, or why it is none.

use std::sync::Arc;

use cue_syntax::ast::{Expr, ExprKind, Ident};

use crate::builtin::Datum;
use crate::program::{LabelKind, Presence};
use cue_syntax::is_identifier;

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selector {
    /// A field; with a marker, the constraint of that name.
    Field {
        /// Kind of label.
        kind: LabelKind,
        /// Name without quotes.
        name: Arc<str>,
        /// `a`, `a?`, `a!`
        presence: Presence,
    },
    /// An element of a list.
    Index(u64),
    /// `[string]`: what holds for any field.
    AnyField,
}

/// Why a text is no path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathError {
    /// CUE's words.
    pub message: String,
    /// Line and column.
    pub position: Option<(u32, u32)>,
}

impl PathError {
    fn plain(message: impl Into<String>) -> Self {
        Self { message: message.into(), position: None }
    }
}

impl Selector {
    /// A field by a name as written without quotes.
    pub fn identifier(name: &str) -> Self {
        let kind = LabelKind::of_identifier(name);
        Selector::Field { kind, name: name.into(), presence: Presence::Member }
    }

    /// A regular field of any name.
    pub fn string(name: &str) -> Self {
        let kind = LabelKind::Regular;
        Selector::Field { kind, name: name.into(), presence: Presence::Member }
    }

    /// As it stands in a path.
    pub fn text(&self) -> String {
        match self {
            Selector::Field { kind: LabelKind::Regular, name, .. } if !is_identifier(name) => {
                Datum::text(name.clone()).cue_text()
            }
            Selector::Field { name, .. } => name.to_string(),
            Selector::Index(index) => index.to_string(),
            Selector::AnyField => "[_]".into(),
        }
    }
}

/// A path as text.
pub fn path_text(path: &[Selector]) -> String {
    let mut out = String::new();
    for selector in path {
        match selector {
            Selector::Index(index) => out.push_str(&format!("[{index}]")),
            Selector::Field { .. } | Selector::AnyField => {
                if !out.is_empty() {
                    out.push('.');
                }
                out.push_str(&selector.text());
            }
        }
    }
    out
}

/// Reads a path as CUE's `ParsePath` does: no hidden fields, no constraints.
///
/// # Errors
/// What is wrong with it.
pub fn parse_path(text: &str) -> Result<Vec<Selector>, PathError> {
    if text.is_empty() {
        return Ok(Vec::new());
    }
    if let Some(rest) = text.strip_suffix('?') {
        if cue_syntax::parse_expr(rest).is_ok() {
            return Err(PathError::plain(format!("invalid label {text} ")));
        }
    }
    let expr = cue_syntax::parse_expr(text).map_err(|errors| match errors.first() {
        Some(first) => PathError {
            message: first.message.clone(),
            position: Some(cue_syntax::LineIndex::new(text).at(first.span.start)),
        },
        None => PathError::plain("invalid path"),
    })?;
    let mut path = Vec::new();
    steps(&expr, text, &mut path)?;
    Ok(path)
}

fn steps(expr: &Expr, text: &str, path: &mut Vec<Selector>) -> Result<(), PathError> {
    match &expr.kind {
        ExprKind::Select(it) => {
            let (base, Ident { name, span }) = &**it;
            steps(base, text, path)?;
            if text.as_bytes().get(span.start as usize) == Some(&b'"') {
                path.push(Selector::string(name));
                return Ok(());
            }
            path.push(named(name)?);
        }
        ExprKind::Index(base, index) => {
            steps(base, text, path)?;
            path.push(element(index, text)?);
        }
        ExprKind::Ident(name) => path.push(named(name)?),
        ExprKind::String(name) => path.push(Selector::string(name)),
        ExprKind::Top => path.push(named("_")?),
        _ => {
            let at = expr.span.start as usize..expr.span.end as usize;
            let shown = text.get(at).unwrap_or_default();
            return Err(PathError::plain(format!("invalid label {shown} ")));
        }
    }
    Ok(())
}

fn named(name: &str) -> Result<Selector, PathError> {
    if name.starts_with('_') {
        return Err(PathError::plain(format!(
            "invalid path: hidden label {name} not allowed; use Hid to construct a selector for hidden fields"
        )));
    }
    Ok(Selector::identifier(name))
}

fn element(index: &Expr, text: &str) -> Result<Selector, PathError> {
    match &index.kind {
        ExprKind::String(name) => Ok(Selector::string(name)),
        ExprKind::Number(digits) => match digits.replace('_', "").parse() {
            Ok(index) => Ok(Selector::Index(index)),
            Err(_) => Err(PathError::plain(format!("invalid literal {digits}"))),
        },
        _ => {
            let at = index.span.start as usize..index.span.end as usize;
            let shown = text.get(at).unwrap_or_default();
            Err(PathError::plain(format!("non-constant expression {shown}")))
        }
    }
}

/// Reads a path with everything a selector can be: also `_hidden`, `a?`, `a!` and `[string]`.
///
/// # Errors
/// What is wrong with it.
pub fn parse_selectors(text: &str) -> Result<Vec<Selector>, PathError> {
    let mut path = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let taken = if let Some(after) = rest.strip_prefix("[string]") {
            path.push(Selector::AnyField);
            after
        } else if let Some(inner) = rest.strip_prefix('[') {
            let end = inner.find(']').ok_or_else(|| PathError::plain("missing ]"))?;
            let index = inner[..end].trim();
            path.extend(parse_path(&format!("_x[{index}]").replacen("_x", "x", 1))?.pop());
            &inner[end + 1..]
        } else {
            let end = label_end(rest);
            let (label, after) = rest.split_at(end);
            let (after, presence) = match after.as_bytes().first() {
                Some(b'?') => (&after[1..], Presence::Optional),
                Some(b'!') => (&after[1..], Presence::Required),
                _ => (after, Presence::Member),
            };
            let mut selector = if label.starts_with('_') {
                Selector::identifier(label)
            } else {
                parse_path(label)?.pop().ok_or_else(|| PathError::plain("empty label"))?
            };
            if let Selector::Field { presence: place, .. } = &mut selector {
                *place = presence;
            }
            path.push(selector);
            after
        };
        rest = taken.strip_prefix('.').unwrap_or(taken);
    }
    Ok(path)
}

/// Where the first label of a path ends.
fn label_end(text: &str) -> usize {
    let mut quoted = false;
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            '.' | '[' | '?' | '!' if !quoted => return at,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strict_paths() {
        let shown = |text: &str| match parse_path(text) {
            Ok(path) => path_text(&path),
            Err(error) => format!("{:?} {}", error.position, error.message),
        };
        assert_eq!(shown("a[0].\"b c\".#D"), "a[0].\"b c\".#D");
        assert_eq!(shown("a[\"x-y\"]"), "a.\"x-y\"");
        assert_eq!(shown("a[-1]"), "None non-constant expression -1");
        assert!(shown("_h").contains("hidden label _h not allowed"));
        assert_eq!(shown("a.b?"), "None invalid label a.b? ");
    }

    #[test]
    fn every_selector() {
        let path = parse_selectors("a._h.b?.[string].\"c.d\"!").map(|it| it.len());
        assert_eq!(path, Ok(5));
        assert_eq!(parse_selectors("l[2]"), Ok(vec![Selector::string("l"), Selector::Index(2)]));
        assert!(parse_selectors("l[").is_err());
    }
}
