//! What a package says, as text: its declarations merged by label but not evaluated, as `cue def`
//! prints them (O-73 to O-86), and the sources of values that wait for more (O-68).
//!
//! ~~~text
//! sources ─parse─▶ conjuncts of the root ─merge─▶ Out ─text─▶ formatter
//! ~~~
//! Invariants
//! 1. Works on the syntax trees of the sources; only what refers to nothing is evaluated, by who asks
//!    for the text (`Evaluate`), who also tells what only an evaluation knows (`Found`).
//! 2. A crate of its own, because the guest has it built for size. Its entries are not inlined: within code that is
//!    built for speed they would be, too.
#![forbid(unsafe_code)]

mod printer; // the files of a package, and what printing them has found out
mod scope; // what a name in an expression stands for
mod merge; // conjuncts of one place -> one value
mod named; // what structs and fields have names for
mod clauses; // comprehensions
mod expr; // one expression as it stands
mod written; // declarations as they stand
mod constant; // values that refer to nothing
mod out; // what is printed: structs and texts
mod sourced; // sources of values that wait for more
mod hoisted; // names that lead out of a printed part
mod remark; // bottom literals and the comment behind them
mod found; // what only an evaluation tells
mod used; // names that sources have
mod taken; // names that nothing else has
mod heading; // what stands above the declarations
mod linked; // names that mean something else in the result
pub mod left_open; // texts that are completed once all is written
pub mod texts; // scalars as CUE text

use std::sync::Arc;

use cue_syntax::ast::File;

pub use crate::constant::{Constant, Evaluate, is_plain_type};
pub use crate::found::{Found, LabelKey, left_of};
pub use crate::hoisted::{Label, Outward, Place, PlaceOf, Room};
pub use crate::printer::package;
pub use crate::remark::{Simplified, laid_out};
pub use crate::sourced::{
    Attributes, Docs, Key, Manner, Mark, Merged, Sources, Wanted, merged, sources,
};
pub use crate::taken::Suffixed;

/// A source as a tree.
pub struct Source {
    /// Its name: labels that were computed are known by it.
    pub name: String,
    /// The tree.
    pub file: File,
    /// The text that it is of.
    pub text: Arc<str>,
    /// The number of the package that it is of; 0 is the main one.
    pub package: usize,
    /// What hidden names of that package end with in the result (O-81).
    pub suffix: String,
    /// Whether it is data that the files are merged with, which comes before them.
    pub is_data: bool,
}

impl Source {
    /// What files of a package are sorted by: data stays in its order, those further up come first, what is no file
    /// last.
    pub(crate) fn rank(&self) -> Option<(bool, usize, &str)> {
        let name = Some(&*self.name).filter(|_| !self.is_data)?;
        Some((name.starts_with('\0'), name.matches('/').count(), name))
    }
}

/// What the places of another package begin with.
pub fn root_of(package: usize) -> String {
    format!("\"{package}\"")
}
