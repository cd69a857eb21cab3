//! What callers ask: a file or an expression as a tree, and what is wrong with it.

use crate::ast::{Expr, File, Span};
use crate::grammar::{self, Words};
use crate::lower::Lower;
use crate::stack;
use crate::tree::Tree;

/// What is wrong with a source text, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// CUE's words.
    pub message: String,
    /// Where.
    pub span: Span,
}

/// A file's tree and the errors in it.
#[derive(Debug, Default)]
pub struct Parsed {
    /// The tree; complete if there are no errors.
    pub file: File,
    /// In source order.
    pub errors: Vec<SyntaxError>,
}

/// Parses a file.
pub fn parse_file(text: &str) -> Parsed {
    parse(text, Words::Names)
}

/// Parses a file as CUE up to v0.14 does, which has the operators `div`, `mod`, `quo` and `rem`.
pub fn parse_older(text: &str) -> Parsed {
    parse(text, Words::Operators)
}

/// Parses the attributes, the package clause and the imports of a file, which have no declarations
/// before them; what follows is not looked at.
pub fn parse_header(text: &str) -> File {
    stack::enough(text.len(), || {
        let (tree, errors) = grammar::header(text);
        Lower { tree: &tree, errors }.file()
    })
}

fn parse(text: &str, words: Words) -> Parsed {
    stack::enough(text.len(), || {
        let (tree, mut errors) = grammar::file(text, words);
        let mut lower = Lower { tree: &tree, errors: Vec::new() };
        let mut file = lower.file();
        file.length = text.len();
        if errors.is_empty() {
            errors = lower.errors;
        }
        Parsed { file, errors }
    })
}

/// Parses a file to the tree that keeps comments and layout, for the printer.
pub fn parse_tree(text: &str) -> (Tree, Vec<SyntaxError>) {
    stack::enough(text.len(), || grammar::file(text, Words::Names))
}

/// Parses an expression.
///
/// # Errors
/// What is wrong with it.
pub fn parse_expr(text: &str) -> Result<Expr, Vec<SyntaxError>> {
    stack::enough(text.len(), || {
        let (tree, errors) = grammar::expression(text);
        if !errors.is_empty() {
            return Err(errors);
        }
        let Some(root) = tree.root else { return Err(errors) };
        let mut lower = Lower { tree: &tree, errors };
        let expr = lower.expr(root);
        if lower.errors.is_empty() { Ok(expr) } else { Err(lower.errors) }
    })
}
