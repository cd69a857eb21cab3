//! `def -e`, `def --inline-imports` and `eval -e`: a part of a package, or all of one that imports others, as
//! CUE that stands alone; merged but not evaluated, if it is not `eval`.
//!
//! It is printed in this process: the sandbox has no room for what it takes.

use std::sync::Arc;

use cue_eval::{
    Budget, Concreteness, Evaluation, Names, Profile, Show, Simplified, Style, compile,
};
use cue_session::{NativeRuntime, Package, Runtime, Source};

use crate::Error;
use crate::evaluate::BUDGET;

/// Stack of an evaluation: the limits of its depth are set for it.
const STACK: usize = 512 << 20;

/// The text of the value at a path, if there is one.
pub(crate) fn declared(
    sources: &[Source],
    packages: &[Package],
    path: &str,
    (names, simplified): (Names, Simplified),
) -> Option<String> {
    apart(|| {
        let mut evaluation = started(sources, packages)?;
        evaluation.simplify(simplified);
        printed(&mut evaluation, path, names)
    })
}

/// A value as it is printed where there is room for it.
pub(crate) fn shown(
    work: impl FnOnce(&dyn Runtime) -> Result<Option<String>, Error> + Send,
) -> Result<Option<String>, Error> {
    apart(|| Some(work(&NativeRuntime::default()))).unwrap_or(Ok(None))
}

/// The text of a package with what it imports put in (O-81).
pub(crate) fn inlined(
    sources: &[Source],
    packages: &[Package],
    simplified: Simplified,
) -> Option<String> {
    apart(|| {
        let mut evaluation = started(sources, packages)?;
        evaluation.simplify(simplified);
        let text = evaluation.inlined();
        all_of(&mut evaluation, text)
    })
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
        all.iter().map(cue_eval::Source::from).collect()
    };
    let packages: Vec<_> =
        packages.iter().map(|it| (it.path.clone(), texts(&it.sources))).collect();
    let program = compile(&texts(sources), &packages, Profile::V017).ok()?;
    let budget = Budget { ticks: BUDGET.ticks, depth: DEPTH, bytes: BUDGET.bytes };
    Some(Evaluation::start(Arc::new(program), &[], budget))
}

fn printed(evaluation: &mut Evaluation, path: &str, names: Names) -> Option<String> {
    // All of it first, as where it was asked for.
    let root = evaluation.find("").ok()??;
    evaluation.validate(root, Concreteness::Optional);
    let id = evaluation.find(path).ok()??;
    let parts = Show::DOCS | Show::ATTRIBUTES | Show::OPTIONAL | Show::DEFINITIONS;
    let show = Show::new(Style::Definition, parts);
    let text = evaluation.declared_file(id, show, names);
    all_of(evaluation, text)
}

/// A text that was just written, unless it is not all there is.
fn all_of(evaluation: &mut Evaluation, text: String) -> Option<String> {
    evaluation.unwritten().is_none().then_some(text)
}

/// Nesting of evaluations, as the sandbox has it.
const DEPTH: u32 = 10_000;
