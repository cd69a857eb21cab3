//! One expression as it stands: structs in it are merged ones of their own, literals have their
//! canonical spelling (O-71), names of `let`s those of the result.

use std::rc::Rc;

use cue_builtin::Datum;
use cue_builtin::number::Number;
use cue_map::Map;
use cue_syntax::ast::{Binary, Element, Expr, ExprKind, Ident, Marker, Part, Span, Unary};
use cue_syntax::{is_identifier, is_keyword};

use crate::constant::{UNSHARED, is_range, is_type, is_unshared, slice, strip};
use crate::merge::Conjunct;
use crate::out::{Gap, Item, NO_SHARING, Out, PRIMARY};
use crate::printer::{DEPTH, Printer};
use crate::scope::{Bound, Scope};
use crate::sourced::{Docs, key_in};
use crate::written::{above, below};

/// In a path: somewhere in an expression.
pub(crate) const SOMEWHERE: &str = "(expression)";

impl<'a> Printer<'a> {
    /// An expression that is not merged with others.
    pub(crate) fn expr(&mut self, expr: &'a Expr, scope: &Rc<Scope>, file: usize) -> Out {
        if self.depth > DEPTH {
            self.too_deep = true;
            return Out::primary("_");
        }
        self.depth += 1;
        let out = self.expr_inner(expr, scope, file);
        self.depth -= 1;
        out
    }

    /// What a label is that a pattern names, or that was computed.
    pub(crate) fn known_text(&self, label: &Expr, file: usize) -> Option<String> {
        if self.named.is_empty() {
            return None;
        }
        let key = key_in(file, strip(label));
        self.named.iter().rev().find_map(|it| it.get(&key)).cloned()
    }

    /// One that something is computed with: what is not known yet is named there (O-80).
    pub(crate) fn operand(&mut self, expr: &'a Expr, scope: &Rc<Scope>, file: usize) -> Out {
        self.computing += 1;
        let out = self.expr(expr, scope, file);
        self.computing -= 1;
        out
    }

    /// What stands before a comprehension in a list: nothing, or its line and the comment above it, behind
    /// an empty line if the file has one. Of comments of elements only these stay.
    fn element_line(&self, span: Span, last: usize, file: usize) -> String {
        let source = &self.files[file].text;
        let between = source.get(last..span.start as usize).unwrap_or_default();
        let mut line = String::new();
        if between.contains('\n') {
            let (docs, apart) = above(source, span);
            line.push_str(if apart { "\n\n" } else { "\n" });
            for doc in docs.iter().filter(|_| self.docs == Docs::Kept) {
                line.push_str(doc);
                line.push('\n');
            }
        }
        line
    }

    /// What is printed next is a comprehension's body or an element of a list.
    pub(crate) fn enter_bare(&mut self, expr: &Expr) {
        if let ExprKind::Struct(decls) = &expr.kind {
            self.bare = decls.as_ptr() as usize;
        }
    }

    fn expr_inner(&mut self, expr: &'a Expr, scope: &Rc<Scope>, file: usize) -> Out {
        if let Some(text) = self.known_text(expr, file) {
            return Out::primary(text);
        }
        if self.outside.is_some() {
            if let Some(out) = self.replaced(expr, scope, file) {
                return out;
            }
        }
        let again = |it: &mut Self, expr| it.expr(expr, scope, file);
        let computed = |it: &mut Self, expr| it.operand(expr, scope, file);
        match &expr.kind {
            ExprKind::Paren(inner) => again(self, inner),
            ExprKind::Ident(name) => self.named(expr, name, scope, file),
            ExprKind::Null
            | ExprKind::Bool(_)
            | ExprKind::Top
            | ExprKind::Bottom
            | ExprKind::Bad
            | ExprKind::Number(_)
            | ExprKind::String(_)
            | ExprKind::Bytes(_) => literal(expr, &self.files[file].text),
            ExprKind::Interpolation { parts, .. } => {
                Out::primary(self.interpolation(expr, parts, scope, file))
            }
            ExprKind::Struct(_) => {
                let scope = scope.clone();
                self.path.push(SOMEWHERE.to_owned());
                self.level += 1;
                let out = self.merge(vec![Conjunct::Expr { expr, scope, file }]);
                self.level -= 1;
                self.path.pop();
                out
            }
            ExprKind::List(elements) => self.list(expr, elements, scope, file),
            ExprKind::Unary(operator, inner) => {
                let inner = match operator {
                    Unary::Default => again(self, inner),
                    _ => computed(self, inner),
                };
                unary(*operator, &inner)
            }
            ExprKind::Binary(Binary::Unify, ..) => self.conjunction(expr, scope, file),
            ExprKind::Binary(operator, left, right) => {
                let (left, right) = match operator {
                    Binary::Disjoin => (again(self, left), again(self, right)),
                    _ => (computed(self, left), computed(self, right)),
                };
                let (operator, strength) = (operator.symbol(), strength(*operator));
                Out::joined(&[left, right], operator, strength)
            }
            ExprKind::Select(it) => {
                let (base, name) = &**it;
                let base = computed(self, base).operand(PRIMARY);
                let name = self.selector(name, file);
                Out::primary(format!("{base}.{name}"))
            }
            ExprKind::Index(base, index) => {
                let base = computed(self, base).operand(PRIMARY);
                Out::primary(format!("{base}[{}]", computed(self, index).text()))
            }
            ExprKind::Slice(it) => {
                let (base, low, high) = &**it;
                let base = computed(self, base).operand(PRIMARY);
                let low = low.as_ref().map(|it| computed(self, it).text()).unwrap_or_default();
                let high = high.as_ref().map(|it| computed(self, it).text()).unwrap_or_default();
                Out::primary(format!("{base}[{low}:{high}]"))
            }
            ExprKind::Call(callee, arguments) => {
                let callee = match is_error(callee, scope) {
                    true => self.name("error", scope, file),
                    false => computed(self, callee).operand(PRIMARY),
                };
                let arguments: Vec<String> =
                    arguments.iter().map(|it| computed(self, it).text()).collect();
                Out::primary(format!("{callee}({})", arguments.join(", ")))
            }
            ExprKind::Comprehension(clauses, body) => {
                let (clauses, body) = self.clauses(clauses, body, scope, file);
                let gap = Gap::Line;
                Out::Struct(vec![Item::Comprehension { clauses, body, gap, docs: Vec::new() }])
            }
        }
    }

    /// A name where it stands as a value.
    fn named(&mut self, expr: &'a Expr, name: &str, scope: &Rc<Scope>, file: usize) -> Out {
        let builtin = |it: &str| name == it && scope.find(name).is_none();
        if builtin(UNSHARED) {
            return Out::primary(NO_SHARING);
        }
        // It has no name of its own (O-69).
        if builtin("rune") {
            let bounds = ["uint", "<=1114111"].map(Out::primary);
            return Out::joined(&bounds, "&", 2);
        }
        match self.unshown_let(name, scope) {
            Some(it) => self.expr(it.value, &it.scope, it.file),
            // Alone it is one that validates.
            None if self.shown.is_some() && is_error(expr, scope) => Out::primary("error()"),
            None => Out::primary(self.name(name, scope, file)),
        }
    }

    /// `[…]`: its environment has the fields of the value that is being printed (O-78).
    fn list(
        &mut self,
        list: &'a Expr,
        elements: &'a [Element],
        scope: &Rc<Scope>,
        file: usize,
    ) -> Out {
        let scope = Scope::new(Some(scope.clone()), Map::default());
        let scope = &scope.at(self.place()).entered();
        let mut text = String::from("[");
        let mut last = list.span.start as usize + 1;
        for (index, element) in elements.iter().enumerate() {
            let shown = match element {
                Element::Expr(inner) => {
                    let before = last;
                    last = inner.span.end as usize;
                    self.element(inner, before, scope, file)
                }
                Element::Ellipsis(None) => "...".into(),
                Element::Ellipsis(Some(inner)) => match self.expr(inner, scope, file) {
                    top if top.is_top() => "...".into(),
                    inner => format!("...{}", inner.text()),
                },
            };
            if index > 0 {
                text.push_str(if shown.starts_with('\n') { "," } else { ", " });
            }
            text.push_str(&shown);
        }
        if let Some(Element::Expr(last)) = elements.last() {
            let kept = self.docs == Docs::Kept && matches!(last.kind, ExprKind::Comprehension(..));
            let source = &self.files[file].text;
            let lines = if kept { below(source, last.span) } else { Vec::new() };
            if !lines.is_empty() {
                text.push_str(&format!(",\n{}\n", lines.join("\n")));
            }
        }
        Out::primary(text + "]")
    }

    /// An element, with what stands before it behind byte `last`.
    fn element(&mut self, it: &'a Expr, last: usize, scope: &Rc<Scope>, file: usize) -> String {
        let ExprKind::Comprehension(clauses, body) = &it.kind else {
            self.enter_bare(it);
            return self.expr(it, scope, file).text();
        };
        let line = self.element_line(it.span, last, file);
        let (clauses, body) = self.clauses(clauses, body, scope, file);
        format!("{line}{clauses} {}", body.text())
    }

    /// `a & b & …`, in the order of O-70.
    fn conjunction(&mut self, expr: &'a Expr, scope: &Rc<Scope>, file: usize) -> Out {
        let mut operands = Vec::new();
        unified(expr, &mut operands);
        let tops = operands.iter().filter(|it| matches!(it.kind, ExprKind::Top)).count();
        if tops < operands.len() {
            operands.retain(|it| !matches!(it.kind, ExprKind::Top));
        }
        if let [only] = operands.as_slice() {
            return self.expr(only, scope, file);
        }
        cue_sort::by_key(&mut operands, |it| class(it, scope));
        let all: Vec<Out> = operands.into_iter().map(|it| self.operand(it, scope, file)).collect();
        Out::joined(&all, "&", 2)
    }

    /// What stands behind the dot of a selection.
    fn selector(&self, Ident { name, span }: &Ident, file: usize) -> String {
        let quoted = slice(&self.files[file].text, *span).starts_with('"') || &**name == "_";
        let plain = is_identifier(name) || is_keyword(name);
        match quoted {
            true if plain => name.to_string(),
            true => Datum::text(name.clone()).cue_text(),
            false => self.hidden(name, file),
        }
    }

    /// A name as it is in the result.
    fn name(&mut self, name: &str, scope: &Rc<Scope>, file: usize) -> String {
        match scope.find(name) {
            Some((there, Bound::Let(index))) => match there.lets.get(*index) {
                Some((base, known)) => {
                    there.use_let(*index, scope, &self.path);
                    let had = known.borrow().is_some();
                    let name =
                        known.borrow_mut().get_or_insert_with(|| self.taken.unique(base)).clone();
                    if !had {
                        self.print_let(there, *index);
                    }
                    name
                }
                None => name.to_owned(),
            },
            Some((_, Bound::Import(path, alias))) => {
                let import = (path.clone(), alias.clone());
                if !self.imports.contains(&import) {
                    self.imports.push(import);
                }
                name.to_owned()
            }
            Some((_, Bound::Renamed(renamed))) => renamed.clone(),
            Some((there, Bound::Alias(label))) if !self.knows_aliases(there) => label.clone(),
            Some((there, Bound::Field)) if there.aliases.borrow().contains_key(name) => {
                let mut aliases = there.aliases.borrow_mut();
                let known = aliases
                    .get_mut(name)
                    .map(|it| it.get_or_insert_with(|| self.taken.unique(name)));
                known.map_or(name.to_owned(), |it| it.clone())
            }
            Some((_, Bound::Field | Bound::Alias(_))) => {
                let place = scope.place_of(name);
                match (&mut self.links, place) {
                    (Some(links), Some(place)) if self.found.presence.contains_key(&place) => {
                        let shared = self.found.shared.get(&place);
                        links.name(name, shared.unwrap_or(&place), self.frame.clone())
                    }
                    _ => self.hidden(name, file),
                }
            }
            Some((_, Bound::Variable)) => self.hidden(name, file),
            None => {
                let name = name.strip_prefix("__").unwrap_or(name);
                // A function keeps away from all that is called the same.
                let hidden = !is_type(name) && self.taken.has(name);
                format!("{}{name}", if hidden { "__" } else { "" })
            }
        }
    }

    /// A `let` of a package is printed where something refers to it first: what it needs comes before
    /// what else does.
    fn print_let(&mut self, there: &Scope, index: usize) {
        let there = &raw const *there;
        let Some((lets, frame, level)) = self.lets.get(&there) else { return };
        let Some(it) = lets.iter().find(|it| it.index == index).cloned() else { return };
        let outer = (std::mem::replace(&mut self.frame, frame.clone()), self.level);
        self.level = *level;
        let (scope, _) = Scope::of_let(&it.scope, index);
        let value = self.expr(it.value, &scope, it.file);
        self.ready.insert((there, index), value);
        (self.frame, self.level) = outer;
    }

    fn interpolation(
        &mut self,
        whole: &'a Expr,
        parts: &'a [Part],
        scope: &Rc<Scope>,
        file: usize,
    ) -> String {
        let source = self.files[file].text.clone();
        let mut out = String::new();
        let bytes = slice(&source, whole.span).trim_start_matches('#').starts_with('\'');
        let lines = parts.iter().any(|it| matches!(it, Part::Text(it) if it.contains(&b'\n')));
        if lines || !bytes {
            let indent = format!("\n{}", "\t".repeat(self.level + 1));
            let quotes = match (lines, bytes) {
                (true, true) => "'''",
                (true, false) => "\"\"\"",
                (false, _) => "\"",
            };
            out.push_str(quotes);
            if lines {
                out.push_str(&indent);
            }
            for (index, part) in parts.iter().enumerate() {
                match part {
                    Part::Text(text) => {
                        let text = String::from_utf8_lossy(text);
                        for (number, line) in text.split('\n').enumerate() {
                            if number > 0 {
                                // Lines that are empty have no indentation, the first has.
                                let last = number == text.matches('\n').count();
                                let empty = line.is_empty() && !(last && index + 1 < parts.len());
                                out.push_str(if empty { "\n" } else { &indent });
                            }
                            let quoted = Datum::text(line).cue_text();
                            let inner = quoted.get(1..quoted.len().saturating_sub(1));
                            let inner = inner.unwrap_or_default();
                            match lines {
                                true => out.push_str(&inner.replace("\\\"", "\"")),
                                false => out.push_str(inner),
                            }
                        }
                    }
                    Part::Expr(inner) => {
                        let text = self.operand(inner, scope, file).text();
                        out.push_str(&format!("\\({text})"));
                    }
                }
            }
            if lines {
                out.push_str(&indent);
            }
            return out + quotes;
        }
        let mut at = whole.span.start as usize;
        for part in parts {
            let Part::Expr(inner) = part else { continue };
            let start = inner.span.start as usize;
            let text = self.operand(inner, scope, file).text();
            // A value in parentheses of its own begins before what is in them.
            out.push_str(source.get(at..start).unwrap_or_default());
            out.push_str(&text);
            at = inner.span.end as usize;
        }
        out.push_str(source.get(at..whole.span.end as usize).unwrap_or_default());
        out
    }
}

/// A scalar as it is written, in its canonical spelling.
fn literal(expr: &Expr, source: &str) -> Out {
    match &expr.kind {
        ExprKind::Null => Out::primary("null"),
        ExprKind::Bool(it) => Out::primary(it.to_string()),
        ExprKind::Top => Out::primary("_"),
        ExprKind::Number(text) => Out::primary(match Number::parse_literal(text) {
            Ok(number) => number.cue_text(),
            Err(_) => text.to_string(),
        }),
        ExprKind::String(text) if text.contains('\n') => {
            Out::primary(crate::texts::multiline(text, 0))
        }
        ExprKind::String(text) => Out::primary(Datum::text(text.clone()).cue_text()),
        ExprKind::Bytes(_) => Out::primary(slice(source, expr.span)),
        _ => Out::bottom(),
    }
}

/// An operator and what it is of.
fn unary(operator: Unary, inner: &Out) -> Out {
    let (before, after) = match operator {
        Unary::Attempt => ("", "?"),
        Unary::Open => ("", "..."),
        Unary::Plus => ("+", ""),
        Unary::Minus => ("-", ""),
        Unary::Not => ("!", ""),
        Unary::Default => ("*", ""),
        Unary::Bound(compare) => (compare.symbol(), ""),
    };
    match after.is_empty() {
        true => Out::Text(format!("{before}{}", inner.operand(8)), 8),
        false => Out::primary(inner.operand(PRIMARY) + after),
    }
}

/// The function of that name.
pub(crate) fn is_error(expr: &Expr, scope: &Rc<Scope>) -> bool {
    matches!(&expr.kind, ExprKind::Ident(it) if &**it == "error" && scope.find(it).is_none())
}

/// The operands of `&`.
fn unified<'a>(expr: &'a Expr, out: &mut Vec<&'a Expr>) {
    match &expr.kind {
        ExprKind::Binary(Binary::Unify, left, right) => {
            unified(left, out);
            unified(right, out);
        }
        ExprKind::Paren(inner) if matches!(inner.kind, ExprKind::Binary(Binary::Unify, ..)) => {
            unified(inner, out);
        }
        _ => out.push(expr),
    }
}

/// The class of literals.
pub(crate) const STRUCT: u8 = 6;

/// Where an operand of `&` stands: types, references, scalars, bounds and other expressions, ranges,
/// literals.
pub(crate) fn class(expr: &Expr, scope: &Rc<Scope>) -> u8 {
    match &strip(expr).kind {
        ExprKind::Top => 0,
        ExprKind::Ident(name) if is_range(name) && scope.find(name).is_none() => 5,
        ExprKind::Ident(name) if is_type(name) && scope.find(name).is_none() => 0,
        // A `let` is an expression like others.
        ExprKind::Ident(name) if matches!(scope.find(name), Some((_, Bound::Let(_)))) => 4,
        ExprKind::Ident(_) if is_unshared(expr) => 4,
        ExprKind::Ident(_) => 1,
        kind if kind.is_scalar() => 2,
        ExprKind::Struct(_) | ExprKind::List(_) => STRUCT,
        // Bounds and what has to be computed stand in the order they are written in.
        _ => 4,
    }
}

pub(crate) fn marker(marker: Marker) -> &'static str {
    match marker {
        Marker::None => "",
        Marker::Optional => "?",
        Marker::Required => "!",
    }
}

/// A regular label.
pub(crate) fn label_text(name: &str) -> String {
    if is_identifier(name) || is_keyword(name) {
        name.to_owned()
    } else {
        Datum::text(name).cue_text()
    }
}

/// How strongly an operator holds its operands together.
fn strength(operator: Binary) -> u8 {
    match operator {
        Binary::Disjoin => 1,
        Binary::Unify => 2,
        Binary::Or => 3,
        Binary::And => 4,
        Binary::Compare(_) => 5,
        Binary::Add | Binary::Subtract => 6,
        Binary::Multiply | Binary::Divide => 7,
    }
}
