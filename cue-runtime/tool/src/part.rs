//! `def -e`: a part of a package as CUE that stands alone, merged but not evaluated.
//!
//! It is printed in this process: the sandbox has no room for what it takes.

use std::sync::Arc;

use cue_eval::evaluation::compile_text;
use cue_eval::{Budget, Evaluation, LoadError, Names, Profile, Show, Style, compile};
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
        all.iter().map(cue_eval::Source::from).collect()
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
    // What a loop around it has bound has no name here: only its values say what it is.
    let unbound = |all: Vec<LoadError>| {
        let names = all.iter().filter_map(|it| {
            let rest = it.message.strip_prefix("reference \"")?;
            rest.split_once('"').map(|it| it.0)
        });
        // A name that was given here may be used in what it stands for; a definition leads to itself, as
        // the part may.
        let first = path.split(['.', '[']).next();
        let known = |it: &str| {
            it.contains('#') || Some(it) == first || text.contains(&format!("let {it} = "))
        };
        names.filter(|it| !known(it)).count() > 0
    };
    if names == Names::Replaced && compile_text(&text).err().is_some_and(unbound) {
        return None;
    }
    // A struct is a file; what closes it stands apart.
    let (header, opened) = fields(&text)?;
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
    let gap = if header.is_empty() && embeds(&opened) { "\n" } else { "" };
    let text = format::text("-", &format!("{header}{opened}"), Layout::Plain).ok()?;
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
