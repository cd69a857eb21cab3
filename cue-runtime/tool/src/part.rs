//! `def -e`, `def --inline-imports` and `eval -e`: a part of a package, or all of one that imports others, as
//! CUE that stands alone; merged but not evaluated, if it is not `eval`.
//!
//! It is printed in this process: the sandbox has no room for what it takes.

use std::sync::Arc;

use cue_eval::{Budget, Evaluation, Names, Profile, Show, Style, compile};
use cue_session::{NativeRuntime, Package, Runtime, Source};
use cue_syntax::Style as Layout;
use cue_syntax::ast::{Decl, ExprKind};

use crate::evaluate::BUDGET;
use crate::{Error, format};

/// Stack of an evaluation: the limits of its depth are set for it.
const STACK: usize = 512 << 20;

/// The text of the value at a path, if there is one.
pub(crate) fn declared(
    sources: &[Source],
    packages: &[Package],
    path: &str,
    names: Names,
) -> Option<String> {
    apart(|| printed(&mut started(sources, packages)?, path, names))
}

/// A value as it is printed where there is room for it.
pub(crate) fn shown(
    work: impl FnOnce(&dyn Runtime) -> Result<Option<String>, Error> + Send,
) -> Result<Option<String>, Error> {
    apart(|| Some(work(&NativeRuntime::default()))).unwrap_or(Ok(None))
}

/// The text of a package with what it imports put in (O-81).
pub(crate) fn inlined(sources: &[Source], packages: &[Package]) -> Option<String> {
    apart(|| Some(started(sources, packages)?.inlined()))
}

/// Has something done where there is room for it.
fn apart<T: Send>(work: impl FnOnce() -> Option<T> + Send) -> Option<T> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK);
        thread.spawn_scoped(scope, work).ok()?.join().ok()?
    })
}

fn started(sources: &[Source], packages: &[Package]) -> Option<Evaluation> {
    let texts = |all: &[Source]| -> Vec<cue_eval::Source> {
        let text = |it: &Source| (it.name.clone(), it.text.clone());
        all.iter().map(text).map(|(name, text)| cue_eval::Source { name, text }).collect()
    };
    let packages: Vec<_> =
        packages.iter().map(|it| (it.path.clone(), texts(&it.sources))).collect();
    let program = compile(&texts(sources), &packages, Profile::V017).ok()?;
    let budget = Budget { ticks: BUDGET.ticks, depth: DEPTH, bytes: BUDGET.bytes };
    Some(Evaluation::start(Arc::new(program), &[], budget))
}

fn printed(evaluation: &mut Evaluation, path: &str, names: Names) -> Option<String> {
    let id = evaluation.find(path).ok()??;
    let parts = Show::DOCS | Show::ATTRIBUTES | Show::OPTIONAL | Show::DEFINITIONS;
    let show = Show::new(Style::Definition, parts);
    let text = evaluation.declared(id, show, names);
    // A struct is a file; what closes it stands apart.
    let (header, opened) = fields(&text)?;
    let embeds = |text: &str| {
        let file = cue_syntax::parse_file(text).file;
        matches!(file.decls.as_slice(), [Decl::Embed(_) | Decl::Let(..), _, ..])
    };
    let gap = if header.is_empty() && embeds(&opened) { "\n" } else { "" };
    let text = format::text("-", &format!("{header}{opened}"), Layout::Made).ok()?;
    Some(format!("{gap}{text}"))
}

/// Nesting of evaluations, as the sandbox has it.
const DEPTH: u32 = 10_000;

/// What is imported, and what stands in the braces of a struct; other values as they are.
fn fields(text: &str) -> Option<(String, String)> {
    let file = cue_syntax::parse_file(text);
    if !file.errors.is_empty() {
        return None;
    }
    let whole = || Some((String::new(), text.to_owned()));
    let [Decl::Embed(only)] = file.file.decls.as_slice() else { return whole() };
    let (start, end) = (only.span.start as usize, only.span.end as usize);
    match &only.kind {
        ExprKind::Struct(_) => {
            let inner = text.get(start + 1..end - 1)?.trim_matches('\n');
            Some((text.get(..start)?.to_owned(), inner.to_owned()))
        }
        _ => whole(),
    }
}
