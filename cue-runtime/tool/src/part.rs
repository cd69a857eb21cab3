//! `def -e`: a part of a package as CUE that stands alone, merged but not evaluated.
//!
//! It is printed in this process: the sandbox has no room for what it takes.

use std::sync::Arc;

use cue_eval::{Budget, Evaluation, Names, Profile, Show, Style, compile};
use cue_session::{Package, Source};
use cue_syntax::Style as Layout;
use cue_syntax::ast::{Decl, ExprKind};

use crate::evaluate::BUDGET;
use crate::format;

/// Stack of an evaluation: the limits of its depth are set for it.
const STACK: usize = 512 << 20;

/// The text of the value at a path, if there is one.
pub(crate) fn declared(
    sources: &[Source],
    packages: &[Package],
    path: &str,
    names: Names,
) -> Option<String> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK);
        thread.spawn_scoped(scope, || printed(sources, packages, path, names)).ok()?.join().ok()?
    })
}

fn printed(sources: &[Source], packages: &[Package], path: &str, names: Names) -> Option<String> {
    let texts = |all: &[Source]| -> Vec<cue_eval::Source> {
        let text = |it: &Source| (it.name.clone(), it.text.clone());
        all.iter().map(text).map(|(name, text)| cue_eval::Source { name, text }).collect()
    };
    let packages: Vec<_> =
        packages.iter().map(|it| (it.path.clone(), texts(&it.sources))).collect();
    let program = compile(&texts(sources), &packages, Profile::V017).ok()?;
    let budget = Budget { ticks: BUDGET.ticks, depth: DEPTH, bytes: BUDGET.bytes };
    let mut evaluation = Evaluation::start(Arc::new(program), &[], budget);
    let id = evaluation.find(path).ok()??;
    let parts = Show::DOCS | Show::ATTRIBUTES | Show::OPTIONAL | Show::DEFINITIONS;
    let show = Show::new(Style::Definition, parts);
    let text = evaluation.declared(id, show, names);
    // A struct is a file; what closes it stands apart.
    let opened = fields(&text)?;
    // A definition closes what it holds, be it open (O-77).
    let last = path.rsplit(['.', '[']).next().unwrap_or_default();
    let defines = last.starts_with('#') || last.starts_with("_#");
    let opened = match defines && opened != text && !opened.trim_start().starts_with("_#def") {
        true => format!("_#def\n_#def: {{\n{opened}\n}}"),
        false => opened,
    };
    let embeds = |text: &str| {
        let file = cue_syntax::parse_file(text).file;
        matches!(file.decls.as_slice(), [Decl::Embed(_), _, ..])
    };
    let gap = if embeds(&opened) { "\n" } else { "" };
    Some(format!("{gap}{}", format::text("-", &opened, Layout::Plain).ok()?))
}

/// Nesting of evaluations, as the sandbox has it.
const DEPTH: u32 = 10_000;

/// What stands in the braces of a struct; other values as they are.
fn fields(text: &str) -> Option<String> {
    let file = cue_syntax::parse_file(text);
    if !file.errors.is_empty() {
        return None;
    }
    let [Decl::Embed(only)] = file.file.decls.as_slice() else { return Some(text.to_owned()) };
    let inner = match &only.kind {
        ExprKind::Struct(decls) if !decls.is_empty() => {
            let (start, end) = (only.span.start as usize + 1, only.span.end as usize - 1);
            text.get(start..end)
        }
        _ => None,
    };
    Some(inner.unwrap_or(text).trim_matches('\n').to_owned())
}
