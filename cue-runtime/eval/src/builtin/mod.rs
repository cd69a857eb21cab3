//! The builtin packages: a table of functions and constants over plain data.
//!
//! ~~~text
//! import path -package()-> Package -member()-> Function
//! evaluator: checks count and kinds, turns values into `Datum` as `Parameter::pass` says,
//! calls `run`, turns the `Datum` or `CallError` back
//! ~~~
//! Invariants
//! 1. A function reads its arguments and nothing else: no clock, no I/O. (clippy.toml)
//! 2. What a function produces is counted against `CallContext` before it is made. (tests)
//! 3. Message texts are CUE's, without `error in call to …: `, which the evaluator puts before.

pub mod call; // contexts, errors, kinds, the types of the table
pub mod datum; // plain data in and out of functions
mod arguments; // reading arguments, with CUE's texts for those that do not fit
mod strings;
mod quoting; // Go's string quoting

pub use self::call::{
    CallContext, CallError, Code, Constant, Function, Item, Kinds, Member, Package, Parameter, Pass,
    Position, Run, Special,
};
pub use self::datum::{Datum, Fields, Items};

const PACKAGES: &[Package] = &[
    strings::PACKAGE,
];

/// The package of an import path, `encoding/json` say.
pub fn package(path: &str) -> Option<&'static Package> {
    PACKAGES.iter().find(|package| package.path == path)
}

/// All packages, sorted by path only within their group.
pub fn packages() -> &'static [Package] {
    PACKAGES
}

/// A character in single quotes, as Go's messages have it.
pub(crate) fn quote_rune(c: char) -> String {
    quoting::go_quote(c.encode_utf8(&mut [0; 4]), '\'', quoting::Plain::Print)
}
