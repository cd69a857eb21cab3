//! What callers ask: a file or an expression as a tree, and what is wrong with it.

use crate::ast::{Expr, File, Span};
use crate::grammar::{self, Dialect, Words};
use crate::language::Language;
use crate::lower::{Done, Lower};
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
    /// The tree; complete if there are no errors, without declarations if reading ended early.
    pub file: File,
    /// In source order.
    pub errors: Vec<SyntaxError>,
}

/// Parses a file.
pub fn parse_file(text: &str) -> Parsed {
    parse(text, &Dialect::default())
}

/// Parses a file of a module that says which version of the language it is written in.
pub fn parse_as(text: &str, language: &Language) -> Parsed {
    parse(text, &Dialect { language: language.clone(), ..Dialect::default() })
}

/// Parses a file as CUE up to v0.14 does, which has the operators `div`, `mod`, `quo` and `rem`.
pub fn parse_older(text: &str) -> Parsed {
    parse(text, &Dialect { words: Words::Operators, ..Dialect::default() })
}

/// Parses the attributes, the package clause and the imports of a file, which have no declarations
/// before them; what follows is not looked at.
pub fn parse_header(text: &str) -> File {
    stack::enough(text.len(), || {
        let (tree, _) = grammar::header(text);
        Lower { tree: &tree, done: Done::default() }.file()
    })
}

fn parse(text: &str, dialect: &Dialect) -> Parsed {
    stack::enough(text.len(), || {
        let mut parsed = grammar::lowered(text, dialect).unwrap_or_else(|| whole(text, dialect));
        parsed.file.length = text.len();
        parsed
    })
}

/// Parses a file whose literals are wrong.
fn whole(text: &str, dialect: &Dialect) -> Parsed {
    let (tree, mut errors) = grammar::file(text, dialect);
    let mut lower = Lower { tree: &tree, done: Done::default() };
    let file = lower.file();
    if errors.is_empty() {
        errors = lower.done.errors;
    }
    Parsed { file, errors }
}

/// Parses a file to the tree that keeps comments and layout, for the printer.
pub fn parse_tree(text: &str) -> (Tree, Vec<SyntaxError>) {
    stack::enough(text.len(), || grammar::file(text, &Dialect::default()))
}

/// As [`parse_tree`], of a module that says which version of the language it is written in.
pub fn parse_tree_as(text: &str, language: &Language) -> (Tree, Vec<SyntaxError>) {
    let dialect = Dialect { language: language.clone(), ..Dialect::default() };
    stack::enough(text.len(), || grammar::file(text, &dialect))
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
        let mut lower = Lower { tree: &tree, done: Done::default() };
        let expr = lower.expr(root);
        if lower.done.errors.is_empty() { Ok(expr) } else { Err(lower.done.errors) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn piece_by_piece_is_as_the_whole() {
        let texts = [
            "",
            "// a\n\n// b\npackage p // c\n\nimport \"x\"\n@a(1)\n// d\nb: 1 // e\n@f()\n// g\n",
            "a: {\n\t// one\n\n\t// two\n\tb: 1\n\n\t// below\n}\n// c\nc: {d: e: {f: 1, // g\n}} & {}\n",
            "a: [{b: 1}, // c\n{d: [{}, {e: 2}]}]\nif a {b: c} else {d: e}\n...\n",
            "X=a: {let y = 1, let y = 2\nb~(K,K): c~K: {X=d: 1, X=e: 2}}\nX=f: 3\n",
            "a: {b: } c: {d: \"\\(e)\"}\n}\n// f\ng: 1",
            "(a.b): {[c]: d, \"\\(e)\": {f!: 1, g?: {...}}}\n// h\n",
        ];
        let dialect = Dialect::default();
        for text in texts {
            let (one, other) = (grammar::lowered(text, &dialect), whole(text, &dialect));
            assert_eq!(format!("{one:?}"), format!("{:?}", Some(other)), "{text}");
        }
        // What lowering finds is told in the order of the whole tree.
        let wrong = "\"\\ud800\": {b: \"\\ud800\"}";
        assert!(grammar::lowered(wrong, &dialect).is_none());
        let told = parse_file(wrong).errors;
        assert_eq!(told.iter().map(|it| it.span.start).collect::<Vec<_>>(), [0, 14]);
    }
}
