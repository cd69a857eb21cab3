//! Comprehensions as they stand: clauses on their lines, bodies as structs.

use std::rc::Rc;

use cue_syntax::ast::{Clause, Expr, ExprKind, Ident, Part};

use crate::out::{Item, Out};
use crate::printer::Printer;
use crate::scope::{Bound, Scope};
use crate::sourced::Docs;

impl<'a> Printer<'a> {
    /// The clauses of a comprehension, and its body.
    pub(crate) fn clauses(
        &mut self,
        clauses: &'a [Clause],
        body: &'a Expr,
        scope: &Rc<Scope>,
        file: usize,
    ) -> (String, Out) {
        let outside = scope;
        let mut scope = scope.clone();
        let source = self.files[file].text.clone();
        let mut texts: Vec<String> = Vec::new();
        let mut end: Option<u32> = None;
        let inner =
            |scope: &Rc<Scope>, names: &[&Ident]| Scope::of_variables(scope, names).entered();
        // The environment of a clause is there for its source already.
        let within = |scope: &Rc<Scope>| Scope::seen_from(scope, inner(scope, &[]));
        for clause in clauses {
            if let Clause::Otherwise(_) = clause {
                continue;
            }
            let (from, to) = extent(clause);
            let line = |end| source.get(end as usize..from as usize);
            let between = end.and_then(line).and_then(|it| it.split_once('\n'));
            if let Some((_, between)) = between {
                texts.push(apart(between, self.docs));
            } else if !texts.is_empty() {
                texts.push(" ".to_owned());
            }
            end = Some(to);
            texts.push(match clause {
                Clause::For { key, value, source } => {
                    let source = self.operand(source, &within(&scope), file).text();
                    let names: Vec<&Ident> = key.iter().chain([value]).collect();
                    let shown = names.iter().map(|it| self.hidden(&it.name, file));
                    let shown: Vec<String> = shown.collect();
                    scope = inner(&scope, &names);
                    format!("for {} in {source}", shown.join(", "))
                }
                Clause::If(condition) => {
                    format!("if {}", self.operand(condition, &scope, file).text())
                }
                Clause::Let(name, value) => {
                    let value = self.operand(value, &within(&scope), file).text();
                    scope = inner(&scope, &[name]);
                    format!("let {} = {value}", self.hidden(&name.name, file))
                }
                Clause::Try(_, None) => "try".to_owned(),
                Clause::Try(_, Some((name, value))) => {
                    let value = self.operand(value, &within(&scope), file).text();
                    scope = inner(&scope, &[name]);
                    format!("try {} = {value}", self.hidden(&name.name, file))
                }
                Clause::Otherwise(_) => continue,
            });
        }
        self.enter_bare(body);
        let body = match self.expr(body, &scope, file) {
            Out::Struct(items) => Out::Struct(items),
            other => Out::Struct(vec![Item::Embed(other)]),
        };
        let body = match clauses {
            [before @ .., Clause::Otherwise(other)] => {
                let word = match before {
                    [Clause::If(_) | Clause::Try(..)] => "else",
                    _ => "otherwise",
                };
                match self.expr(other, outside, file) {
                    // One that is nothing but a value is not printed.
                    Out::Text(..) => body,
                    Out::Struct(items)
                        if matches!(items.as_slice(), [Item::Embed(Out::Text(..))]) =>
                    {
                        body
                    }
                    other => Out::primary(format!("{} {word} {}", body.text(), other.text())),
                }
            }
            _ => body,
        };
        (texts.concat(), body)
    }
}

/// What stands between clauses on lines of their own: an empty line, the comment directly above.
fn apart(between: &str, docs: Docs) -> String {
    let mut above: Vec<&str> = between.split('\n').map(str::trim).collect();
    above.pop();
    let start = above.iter().rposition(|it| !it.starts_with("//")).map_or(0, |it| it + 1);
    let comment = above.split_off(start);
    let kept = docs == Docs::Kept || comment.is_empty();
    let gap = kept && above.last().is_some_and(|it| it.is_empty());
    let mut text = String::from(if gap { "\n\n" } else { "\n" });
    for line in comment.iter().filter(|_| kept) {
        text.push_str(line);
        text.push('\n');
    }
    text
}

/// Whether an expression depends on a variable of a comprehension.
pub(crate) fn is_variable(expr: &Expr, scope: &Rc<Scope>) -> bool {
    let again = |it: &Expr| is_variable(it, scope);
    match &expr.kind {
        ExprKind::Ident(name) => matches!(scope.find(name), Some((_, Bound::Variable))),
        ExprKind::Paren(it) | ExprKind::Unary(_, it) => again(it),
        ExprKind::Select(it) => again(&it.0),
        ExprKind::Binary(_, left, right) | ExprKind::Index(left, right) => {
            again(left) || again(right)
        }
        ExprKind::Slice(it) => {
            let (base, low, high) = &**it;
            again(base) || [low, high].into_iter().flatten().any(again)
        }
        ExprKind::Call(callee, arguments) => again(callee) || arguments.iter().any(again),
        ExprKind::Interpolation { parts, .. } => {
            parts.iter().any(|it| matches!(it, Part::Expr(it) if again(it)))
        }
        _ => false,
    }
}

/// From its first name to its end.
fn extent(clause: &Clause) -> (u32, u32) {
    match clause {
        Clause::For { key, value, source } => {
            (key.as_ref().unwrap_or(value).span.start, source.span.end)
        }
        Clause::If(it) | Clause::Otherwise(it) => (it.span.start, it.span.end),
        Clause::Let(name, value) | Clause::Try(_, Some((name, value))) => {
            (name.span.start, value.span.end)
        }
        Clause::Try(span, None) => (span.start, span.end),
    }
}
