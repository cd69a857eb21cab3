//! Templates for older CUE, rewritten: lists that are added or multiplied, fields called `error` (kubevela.md 2.10),
//! and what CUE v0.15 knows as functions only.
//!
//! Only what is surely a list is rewritten: a list literal, or a field whose value in this text is one.

use cue_session::Diagnostic;
use cue_syntax::ast::{
    Binary, Clause, Decl, Element, Expr, ExprKind, Field, File, Ident, Label, Span, Unary,
};
use cue_syntax::{Style, SyntaxError, format_tree, parse_older, parse_tree};

use super::refused::{first_of, syntax_in};

/// What is out of date, in KubeVela's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// `+` or `*` between lists.
    ListArithmetic,
    /// A field called `error`.
    ErrorField,
    /// `div`, `mod`, `quo` or `rem` between numbers.
    WordOperator,
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Reason::ListArithmetic => "[cue@0.14] [list-arithmetic] contains deprecated list operators (+ or *) that need upgrading to list.Concat() or list.Repeat()",
            Reason::ErrorField => "[cue@0.14] [error-field-label] contains field named 'error' which conflicts with the CUE 0.14 built-in; must be quoted as \"error\"",
            Reason::WordOperator => "[cue@0.15] [word-operators] contains operators div, mod, quo or rem that need upgrading to functions",
        })
    }
}

/// The text is no CUE.
#[derive(Debug, thiserror::Error)]
#[error("failed to parse CUE for upgrade {VERSION}: {}", first_of(.0))]
pub struct Error(Vec<SyntaxError>);

impl Error {
    /// Each error at its place in `text`, which `file` has.
    pub fn diagnostics(&self, file: &str, text: &str) -> Vec<Diagnostic> {
        syntax_in(file, text, &self.0)
    }
}

/// The KubeVela version whose CUE texts are rewritten for.
pub const VERSION: &str = "1.11";

/// A rewritten text, and why it had to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upgraded {
    /// The text, formatted.
    pub text: String,
    /// Empty if only the format changed.
    pub reasons: Vec<Reason>,
}

/// `source` for today's CUE.
///
/// # Errors
/// When it does not parse.
pub fn upgrade(source: &str) -> Result<Upgraded, Error> {
    let parsed = parse_older(source);
    if !parsed.errors.is_empty() {
        // Nothing in it could be out of date: not ours to refuse.
        if !source.contains(['+', '*']) && !source.contains("error") {
            return Ok(Upgraded { text: source.to_owned(), reasons: Vec::new() });
        }
        return Err(Error(parsed.errors));
    }
    let mut walk = Walk { source, scopes: Vec::new(), reasons: Vec::new() };
    let edits = walk.decls(&parsed.file.decls);
    let mut text = apply(source, Span { start: 0, end: length(source) }, &edits);
    if walk.reasons.contains(&Reason::ListArithmetic)
        && !parsed.file.imports.iter().any(|it| it.path == "list" && it.name.is_none())
    {
        text = import_list(&parsed.file, &text);
    }
    walk.reasons.sort_unstable();
    walk.reasons.dedup();
    Ok(Upgraded { text: formatted(&text), reasons: walk.reasons })
}

fn length(text: &str) -> u32 {
    u32::try_from(text.len()).unwrap_or(u32::MAX)
}

fn formatted(text: &str) -> String {
    let (tree, errors) = parse_tree(text);
    let text = if errors.is_empty() { format_tree(&tree, Style::Plain) } else { text.to_owned() };
    text.trim().to_owned()
}

/// Behind the package clause, where a file has one.
fn import_list(file: &File, text: &str) -> String {
    let at = file.package.as_ref().map_or(0, |it| it.span.end as usize);
    let (head, rest) = text.split_at_checked(at).unwrap_or(("", text));
    let gap = if head.is_empty() { "" } else { "\n\n" };
    format!("{head}{gap}import \"list\"\n\n{}", rest.trim_start_matches('\n'))
}

/// Replacements in order, none inside another.
type Edits = Vec<(Span, String)>;

fn apply(source: &str, within: Span, edits: &[(Span, String)]) -> String {
    let mut out = String::new();
    let mut at = within.start;
    let inside = edits.iter().filter(|it| it.0.start >= within.start && it.0.end <= within.end);
    for (span, text) in inside {
        out.push_str(source.get(at as usize..span.start as usize).unwrap_or_default());
        out.push_str(text);
        at = span.end;
    }
    out.push_str(source.get(at as usize..within.end as usize).unwrap_or_default());
    out
}

struct Walk<'a> {
    source: &'a str,
    /// Declarations in sight, innermost last.
    scopes: Vec<&'a [Decl]>,
    reasons: Vec<Reason>,
}

impl<'a> Walk<'a> {
    fn decls(&mut self, decls: &'a [Decl]) -> Edits {
        self.scopes.push(decls);
        let mut edits = Vec::new();
        for decl in decls {
            match decl {
                Decl::Field(field) => edits.extend(self.field(field)),
                Decl::Let(_, value) | Decl::Embed(value) => edits.extend(self.expr(value)),
                Decl::Ellipsis(Some(value), _) => edits.extend(self.expr(value)),
                Decl::Ellipsis(None, _) | Decl::Attribute(_) => {}
            }
        }
        self.scopes.pop();
        edits
    }

    fn field(&mut self, field: &'a Field) -> Edits {
        let mut edits = Vec::new();
        match &field.label {
            Label::Ident(it) if &*it.name == "error" => {
                self.reasons.push(Reason::ErrorField);
                // A new label stands on its own line.
                let before = self.source.get(..it.span.start as usize).unwrap_or_default();
                let own_line = before.trim_end_matches([' ', '\t']).ends_with('\n');
                let gap = if own_line || before.trim().is_empty() { "" } else { "\n" };
                edits.push((it.span, format!("{gap}\"error\"")));
            }
            Label::Ident(_) | Label::String(..) => {}
            Label::Interpolated(it) | Label::Dynamic(it) | Label::Pattern(it, _) => {
                edits.extend(self.expr(it));
            }
        }
        let below = self.expr(&field.value);
        let broken = edits.first().is_some_and(|it| it.1.starts_with('\n'));
        edits.extend(below);
        if broken {
            let end = Span { start: field.span.end, end: field.span.end };
            edits.push((end, "\n".into()));
        }
        edits
    }

    fn all(&mut self, all: impl IntoIterator<Item = &'a Expr>) -> Edits {
        all.into_iter().flat_map(|it| self.expr(it)).collect()
    }

    fn expr(&mut self, expr: &'a Expr) -> Edits {
        match &expr.kind {
            ExprKind::Binary(Binary::Add, ..) => self.sum(expr),
            ExprKind::Binary(Binary::Multiply, left, right) => {
                let edits = self.all([&**left, &**right]);
                let (list, count) = match (self.is_list(left), self.is_list(right)) {
                    (true, false) => (left, right),
                    (false, true) => (right, left),
                    (true, true) | (false, false) => return edits,
                };
                self.reasons.push(Reason::ListArithmetic);
                let list = apply(self.source, list.span, &edits);
                let count = apply(self.source, count.span, &edits);
                vec![(expr.span, format!("list.Repeat({list}, {count})"))]
            }
            ExprKind::Call(callee, arguments) => match arguments.as_slice() {
                // An operator stands between its operands.
                [left, right] if callee.span.start >= left.span.end => {
                    let edits = self.all([left, right]);
                    self.reasons.push(Reason::WordOperator);
                    let word = apply(self.source, callee.span, &[]);
                    let left = apply(self.source, left.span, &edits);
                    let right = apply(self.source, right.span, &edits);
                    vec![(expr.span, format!("{word}({left}, {right})"))]
                }
                _ => self.all(expr.operands()),
            },
            ExprKind::Struct(decls) => self.decls(decls),
            ExprKind::Comprehension(clauses, body) => {
                let mut edits = self.all(clauses.iter().filter_map(|it| match it {
                    Clause::For { source, .. } => Some(source),
                    Clause::If(it) | Clause::Let(_, it) | Clause::Otherwise(it) => Some(it),
                    Clause::Try(_, binding) => binding.as_ref().map(|it| &it.1),
                }));
                edits.extend(self.expr(body));
                edits
            }
            _ => self.all(expr.operands()),
        }
    }

    /// `a + b + c`: one `list.Concat` if all are lists; what one of them already concatenates joins in.
    fn sum(&mut self, expr: &'a Expr) -> Edits {
        let mut operands = Vec::new();
        addends(expr, &mut operands);
        let mut edits = self.all(operands.iter().copied());
        let lists =
            operands.iter().take_while(|it| self.is_list(it) || concatenated(it).is_some()).count();
        if lists < 2 {
            return edits;
        }
        self.reasons.push(Reason::ListArithmetic);
        let (joined, _) = operands.split_at(lists);
        let parts: Vec<String> = joined
            .iter()
            .flat_map(|it| concatenated(it).unwrap_or_else(|| vec![*it]))
            .map(|it| apply(self.source, it.span, &edits))
            .collect();
        let (Some(first), Some(last)) = (joined.first(), joined.last()) else { return edits };
        let whole = first.span.to(last.span);
        edits.retain(|it| it.0.start < whole.start || it.0.start >= whole.end);
        edits.push((whole, format!("list.Concat([{}])", parts.join(", "))));
        edits.sort_by_key(|it| it.0.start);
        edits
    }

    fn is_list(&self, expr: &Expr) -> bool {
        self.known(expr, 0)
    }

    fn known(&self, expr: &Expr, depth: u32) -> bool {
        // References may go in a circle.
        if depth > 20 {
            return false;
        }
        match &expr.kind {
            ExprKind::List(_) => true,
            ExprKind::Ident(_) | ExprKind::Select(..) => {
                self.resolve(expr).is_some_and(|it| self.value(it, depth + 1))
            }
            _ => false,
        }
    }

    /// Whether what stands behind a field's colon is a list.
    fn value(&self, expr: &Expr, depth: u32) -> bool {
        match &expr.kind {
            ExprKind::List(_) => true,
            ExprKind::Unary(Unary::Default, it) => self.value(it, depth),
            ExprKind::Binary(Binary::Disjoin | Binary::Unify, left, right) => {
                self.value(left, depth) || self.value(right, depth)
            }
            ExprKind::Binary(Binary::Add, left, right) => {
                let sum = |it: &Expr| self.known(it, depth) || self.value(it, depth);
                sum(left) && sum(right)
            }
            ExprKind::Binary(Binary::Multiply, left, right) => {
                self.known(left, depth) || self.known(right, depth)
            }
            ExprKind::Call(..) => concatenated(expr).is_some(),
            _ => false,
        }
    }

    /// The value of the field that a name, or names with dots between, stands for.
    fn resolve(&self, expr: &Expr) -> Option<&'a Expr> {
        match &expr.kind {
            ExprKind::Ident(name) => self.scopes.iter().rev().find_map(|decls| member(decls, name)),
            ExprKind::Select(it) => match &self.resolve(&it.0)?.kind {
                ExprKind::Struct(decls) => member(decls, &it.1.name),
                _ => None,
            },
            _ => None,
        }
    }
}

fn member<'a>(decls: &'a [Decl], name: &str) -> Option<&'a Expr> {
    decls.iter().find_map(|decl| match decl {
        Decl::Field(field) => match &field.label {
            Label::Ident(it) if &*it.name == name => Some(&field.value),
            Label::String(it, _) if &**it == name => Some(&field.value),
            _ => None,
        },
        Decl::Let(..) | Decl::Ellipsis(..) | Decl::Embed(_) | Decl::Attribute(_) => None,
    })
}

fn addends<'a>(expr: &'a Expr, out: &mut Vec<&'a Expr>) {
    match &expr.kind {
        ExprKind::Binary(Binary::Add, left, right) => {
            addends(left, out);
            out.push(right);
        }
        _ => out.push(expr),
    }
}

/// What a `list.Concat([…])` joins.
fn concatenated(expr: &Expr) -> Option<Vec<&Expr>> {
    let ExprKind::Call(callee, arguments) = &expr.kind else { return None };
    let ExprKind::Select(it) = &callee.kind else { return None };
    let (base, Ident { name, .. }) = &**it;
    let ExprKind::Ident(package) = &base.kind else { return None };
    let [argument] = arguments.as_slice() else { return None };
    let ExprKind::List(elements) = &argument.kind else { return None };
    if &**package != "list" || &**name != "Concat" {
        return None;
    }
    elements
        .iter()
        .map(|it| match it {
            Element::Expr(it) => Some(it),
            Element::Ellipsis(_) => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{Reason, upgrade};

    #[track_caller]
    fn check(source: &str, expected: &str, reasons: &[Reason]) {
        let upgraded = upgrade(source).unwrap();
        assert_eq!(upgraded.text, expected);
        assert_eq!(upgraded.reasons, reasons);
        let again = upgrade(&upgraded.text).unwrap();
        assert_eq!((again.text.as_str(), again.reasons.len()), (expected, 0));
    }

    #[test]
    fn sums_of_lists_become_one_call() {
        check(
            "parameter: args?: [...string]\nall: parameter.args + [\"-v\"] + base\nbase: [\"-q\"]\n",
            "import \"list\"\n\nparameter: args?: [...string]\nall: list.Concat([parameter.args, [\"-v\"], base])\nbase: [\"-q\"]",
            &[Reason::ListArithmetic],
        );
        check(
            "package p\n\nx: 3 * [1]\n",
            "package p\n\nimport \"list\"\n\nx: list.Repeat([1], 3)",
            &[Reason::ListArithmetic],
        );
    }

    #[test]
    fn what_may_be_no_list_stays() {
        check("a: b + [1]\nb: _", "a: b + [1]\nb: _", &[]);
        check("a: 1 + 2", "a: 1 + 2", &[]);
        check("a: b + b\nb: b", "a: b + b\nb: b", &[]);
    }

    #[test]
    fn words_between_numbers_become_functions() {
        check(
            "a: 7 div 2\nb: (a mod 3 + 1) quo (2 rem 5)\nc: div(7, 2)",
            "a: div(7, 2)\nb: quo((mod(a, 3) + 1), (rem(2, 5)))\nc: div(7, 2)",
            &[Reason::WordOperator],
        );
    }

    #[test]
    fn fields_called_error_are_quoted() {
        check(
            "a: {error: \"x\"}\nb: a.error",
            "a: {\n\t\"error\": \"x\"\n}\nb: a.error",
            &[Reason::ErrorField],
        );
    }

    #[test]
    fn a_broken_text_is_refused() {
        assert!(upgrade("a: { + ").unwrap_err().to_string().starts_with("failed to parse CUE"));
    }
}
