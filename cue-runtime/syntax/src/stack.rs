//! Room for recursion: as much as a text can nest, wherever the caller's stack ends.
//!
//! Parser, lowering, printer and drop recurse on nesting, which is bounded by [`DEEPEST`] and by
//! the length of the text. Pages of a stack that are not used cost nothing. Inside the sandbox
//! this does nothing: its stack is large from the start.

/// Deepest nesting of expressions, cue's own limit.
pub(crate) const DEEPEST: u32 = 10_000;
/// What one level takes at most, in a debug build.
#[cfg(not(target_family = "wasm"))]
const LEVEL: usize = 20 << 10;
/// What is needed besides.
#[cfg(not(target_family = "wasm"))]
const BASE: usize = 256 << 10;
/// Operators in a row, which only drop recurses on.
pub(crate) const OPERATORS: u32 = 1_000_000;
#[cfg(not(target_family = "wasm"))]
const OPERATOR: usize = 256;

/// Runs `work` with a stack that is enough for anything in a text of this length.
#[cfg(not(target_family = "wasm"))]
pub(crate) fn enough<R>(length: usize, work: impl FnOnce() -> R) -> R {
    let nested = length.min(DEEPEST as usize) * LEVEL;
    let need = BASE + nested + (length / 2).min(OPERATORS as usize) * OPERATOR;
    stacker::maybe_grow(need, need + BASE, work)
}

/// The host has seen to it.
#[cfg(target_family = "wasm")]
pub(crate) fn enough<R>(_: usize, work: impl FnOnce() -> R) -> R {
    work()
}
