//! The CUE front end: text to tokens to a tree with positions; never fails.
//!
//! ~~~text
//! text ─lexer─▶ tokens (commas inserted, strings unquoted) ─parser─▶ ast::File + errors
//! ~~~
//! Invariants
//! 1. Any text gives a tree. (tests/fuzz.rs)
//! 2. Nesting is bounded: deeper text is an error, not a stack overflow. (tests/fuzz.rs)
#![forbid(unsafe_code)]

pub mod ast; // the tree
mod literal; // escapes and numbers
mod lexer; // text -> tokens
mod parser; // tokens -> tree
mod position; // offsets -> lines and columns

pub use crate::parser::{Parsed, SyntaxError, parse_expr, parse_file};
pub use crate::position::LineIndex;
