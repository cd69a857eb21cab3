//! Texts that printing left open: marks where sources and `let`s are put in once these are known, and what
//! stands above and before the declarations of the whole (O-64, O-68, O-79).

use cue_syntax::ast::{Decl, ExprKind};
use cue_syntax::scan::{Scanner, T};

const SOURCE: &str = "__source_";
const LETS: &str = "__lets_";

/// The mark where the source of that number is put in.
#[must_use]
pub fn source_mark(number: usize) -> String {
    format!("{SOURCE}{number}__")
}

/// The line, indented as what follows, where the `let`s of the struct of that number are put in.
#[must_use]
pub fn lets_line(number: usize, depth: usize) -> String {
    format!("{}{LETS}{number}__\n", "\t".repeat(depth))
}

/// Whether a text begins with such a line.
#[must_use]
pub fn begins_with_lets(text: &str) -> bool {
    text.starts_with(LETS)
}

/// The text with the sources in their places; `_` for one that is not there.
#[must_use]
#[inline(never)]
pub fn with_sources(text: &str, sources: &[String]) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    let mut rest = text;
    while let Some(at) = rest.find(SOURCE) {
        let (before, after) = rest.split_at(at);
        out.push_str(before);
        let after = &after[SOURCE.len()..];
        let end = after.find("__").unwrap_or(after.len());
        let number: Option<usize> = after[..end].parse().ok();
        out.push_str(number.and_then(|it| sources.get(it)).map_or("_", |it| it));
        rest = after.get(end + 2..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

/// The text with the `let`s in their places, by the number of their struct.
#[must_use]
#[inline(never)]
pub fn with_lets(mut text: String, lets: &[String]) -> String {
    for (number, lines) in lets.iter().enumerate().filter(|it| !it.1.is_empty()) {
        text = text.replacen(&format!("{LETS}{number}__\n"), lines, 1);
    }
    text
}

/// The text without the lines where `let`s could stand.
#[must_use]
#[inline(never)]
pub fn without_lets(text: String) -> String {
    if !text.contains(LETS) {
        return text;
    }
    text.split_inclusive('\n').filter(|it| !it.trim_start().starts_with(LETS)).collect()
}

/// The declarations of a struct that is all of a file.
#[must_use]
#[inline(never)]
pub fn bare(text: &str) -> Option<String> {
    let text = text.trim();
    let inner = text.strip_prefix('{')?.strip_suffix('}')?;
    let only = cue_syntax::parse_expr(text).is_ok_and(|it| matches!(it.kind, ExprKind::Struct(_)));
    only.then(|| format!("{}\n", inner.trim()))
}

/// What names packages, each as it is imported, at the top of a file: in the order in which its text names them.
#[must_use]
#[inline(never)]
pub fn header(imports: &[String], text: &str) -> String {
    match imports {
        [] => String::new(),
        [only] => format!("import {only}\n\n"),
        all => {
            let mut all: Vec<&String> = all.iter().collect();
            let named = names_followed(text);
            let place = |it: &&String| named.iter().position(|name| *name == local_name(it));
            cue_sort::by_key(&mut all, |it| place(it).unwrap_or(named.len()));
            let specs = all.iter().fold(String::new(), |out, it| out + "\n\t" + it);
            format!("import ({specs}\n)\n\n")
        }
    }
}

/// Names of a text that a dot follows, in its order.
fn names_followed(text: &str) -> Vec<&str> {
    let mut scanner = Scanner::new(text);
    // Parentheses that are open in each interpolation.
    let mut open: Vec<usize> = Vec::new();
    let (mut names, mut before) = (Vec::new(), None);
    loop {
        let token = scanner.token();
        let here = text.get(token.start as usize..token.end as usize).unwrap_or_default();
        match (token.kind, open.last_mut()) {
            (T::Eof, _) => return names,
            (T::Interpolation, _) => open.push(0),
            (T::LParen, Some(open)) => *open += 1,
            (T::RParen, Some(1)) => {
                open.pop();
                if scanner.resume().2 == T::Interpolation {
                    open.push(0);
                }
            }
            (T::RParen, Some(open)) => *open -= 1,
            _ => {}
        }
        before = match (token.kind, before) {
            (T::Ident, Some(".")) => None,
            (T::Period, Some(name)) => {
                names.push(name);
                Some(here)
            }
            (T::Ident | T::Period, _) => Some(here),
            _ => None,
        };
    }
}

/// The name of an import within its file.
fn local_name(import: &str) -> &str {
    match import.split_once(' ') {
        Some((alias, _)) => alias,
        None => import.trim_matches('"').rsplit(['/', ':']).next().unwrap_or_default(),
    }
}

/// Whether a file of several declarations begins with an empty line (O-64): if the first of them is a
/// `let`, an expression, or clauses that begin a line of their source, the first one given, but not its
/// first line.
#[must_use]
#[inline(never)]
pub fn is_set_off(text: &str, source: Option<&str>) -> bool {
    let file = cue_syntax::parse_file(text).file;
    let first = match &*file.decls {
        [Decl::Embed(first), _, ..] => first,
        // One of a source.
        [Decl::Let(..), _, ..] => return true,
        _ => return false,
    };
    let begins = |it: &str| it.starts_with('{') || it.starts_with("if ") || it.starts_with("for ");
    match first.kind {
        ExprKind::Comprehension(..) | ExprKind::Struct(_) => source.is_some_and(|it| !begins(it)),
        _ => true,
    }
}

/// The text with four blanks for each tab that a line begins with.
#[must_use]
#[inline(never)]
pub fn spaced(text: &str) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    for line in text.split_inclusive('\n') {
        let rest = line.trim_start_matches('\t');
        out.push_str(&"    ".repeat(line.len() - rest.len()));
        out.push_str(rest);
    }
    out
}
