//! The CUE front end: text to tokens to a tree with positions; never fails. And back to text.
//!
//! ~~~text
//! text ─scan─▶ tokens ─grammar, frames─▶ tree::Tree + errors ─lower─▶ ast::File
//!                           (declaration by declaration where only ast::File is wanted)
//!                                             └─layout, columns─▶ text as `cue fmt` writes it
//! ~~~
//! Invariants
//! 1. Any text gives a tree; nesting is bounded. (tests/fuzz.rs)
//! 2. Formatting keeps the tree. (tests/fuzz.rs)
#![forbid(unsafe_code)]

pub mod ast; // the tree that is evaluated
mod stack; // room for recursion
pub mod scan; // text -> tokens
mod frames; // which node a comment belongs to
mod grammar; // tokens -> concrete tree
mod label; // names without quotes
mod language; // its versions, and experiments in them
mod names; // aliases declared twice
mod bound; // names that stand for an alias and for a field
pub mod tree; // the concrete tree
mod shared; // texts that come again
mod lower; // concrete tree -> ast
mod parser; // entry points
mod machine; // white space that is wished and settled
mod layout; // concrete tree -> machine
mod raise; // ast -> concrete tree, for printing
mod simplify; // what `-s` changes
mod columns; // stops -> aligned text
pub mod path; // `a.b[0]`
mod around; // what a place is in
mod position; // offsets -> lines and columns
pub mod unquote; // string literals -> values

pub use crate::around::{Around, around};
pub use crate::label::{is_identifier, is_keyword};
pub use crate::language::{Experiment, Experiments, Language};
pub use crate::layout::{Style, format_tree};
pub use crate::parser::{
    Parsed, SyntaxError, parse_as, parse_expr, parse_file, parse_header, parse_older, parse_tree,
    parse_tree_as,
};
pub use crate::path::parse_path;
pub use crate::position::LineIndex;
pub use crate::raise::{format_expr, format_file};
