//! Declarations as they are written, with the comments around them.

use std::rc::Rc;

use cue_builtin::Datum;
use cue_map::Map;
use cue_syntax::ast::{Attribute, Decl, Expr, ExprKind, Field, Ident, Label as AstLabel, Span};

use crate::constant::{slice, strip};
use crate::expr::{label_text, marker};
use crate::found::left_of;
use crate::linked::{Frame, Links};
use crate::merge::{Braces, Conjunct, has_old_alias};
use crate::named::named_scope;
use crate::out::{Declared, Gap, Item, Note, Out};
use crate::printer::Printer;
use crate::scope::{Bound, LetValue, Scope};
use crate::sourced::{Attributes, Docs};

impl<'a> Printer<'a> {
    /// A struct whose declarations are not merged (O-76).
    pub(crate) fn as_written(
        &mut self,
        decls: &'a [Decl],
        scope: &Rc<Scope>,
        file: usize,
        braces: Braces,
    ) -> (Out, Rc<Frame>) {
        // Its lets will stand outside of it.
        let (scope, lets) = self.struct_scope(decls, scope, file);
        let outer = self.frame.clone();
        let frame = Frame::within(outer.clone());
        self.frame = Some(frame.clone());
        let mut items = self.written_items(decls, &scope, &lets, file, &frame, braces);
        self.frame = outer;
        self.add_lets(&lets, Vec::new(), &mut items);
        (Out::Struct(items), frame)
    }

    fn written_items(
        &mut self,
        decls: &'a [Decl],
        scope: &Rc<Scope>,
        lets: &[LetValue<'a>],
        file: usize,
        frame: &Frame,
        braces: Braces,
    ) -> Vec<Item> {
        self.enter_aliases(scope);
        self.enter_lets(lets);
        let mut numbers = Vec::new();
        for decl in decls {
            let Decl::Field(field) = decl else { continue };
            let AstLabel::Ident(name) = &field.label else { continue };
            let number = self.links.as_mut().map_or(0, Links::field);
            frame.add(&name.name, number);
            numbers.push((field.span.start, number));
        }
        let mut items = Vec::new();
        let mut last = None;
        let mut open = false;
        let bare = self.bare == decls.as_ptr() as usize;
        scope.aliases.borrow_mut().clear();
        for decl in decls {
            match decl {
                Decl::Attribute(it) if self.attributes == Attributes::Kept => {
                    let number = items.iter().take_while(|it| matches!(it, Item::Attribute(_)));
                    items.insert(number.count(), Item::Attribute(self.note(it, file)));
                }
                Decl::Let(..) | Decl::Attribute(_) => {}
                // Of a value that waits it stays where it is (O-68).
                Decl::Ellipsis(None, at) if self.shown.is_some() => {
                    items.push(Item::Ellipsis(None));
                    last = Some(at.end);
                }
                Decl::Ellipsis(None, _) => open = true,
                Decl::Ellipsis(Some(inner), _) => {
                    items.push(Item::Ellipsis(Some(self.expr(inner, scope, file))));
                }
                Decl::Field(field) => {
                    if let Some(alias) = computed_alias(field) {
                        scope.aliases.borrow_mut().insert(alias.name.clone(), None);
                    }
                    let number = numbers.iter().find(|it| it.0 == field.span.start);
                    let number = number.map_or(usize::MAX, |it| it.1);
                    items.push(self.field_as_written(field, scope, file, number, braces));
                    // What becomes `...` is not there.
                    if self.spread || !is_ellipsis(field) {
                        last = Some(field.span.end);
                    }
                }
                Decl::Embed(value) => {
                    if let ExprKind::Comprehension(clauses, body) = &value.kind {
                        let source = self.files[file].text.clone();
                        let between =
                            last.and_then(|it| source.get(it as usize..value.span.start as usize));
                        let (docs, empty) = above(&source, value.span);
                        let before = source.get(..value.span.start as usize).unwrap_or_default();
                        let before = before.trim_end_matches([' ', '\t']);
                        let behind = before.ends_with('{') || before.is_empty();
                        let gap = match between {
                            Some(it) if !it.contains('\n') => Gap::Comma,
                            _ if behind || begins(before) => Gap::Comma,
                            _ if empty && (docs.is_empty() || self.docs == Docs::Kept) => {
                                Gap::Empty
                            }
                            _ => Gap::Line,
                        };
                        let docs = if self.docs == Docs::Kept { docs } else { Vec::new() };
                        let (mut clauses, body) = self.clauses(clauses, body, scope, file);
                        // The comment below the last one stands before its braces (O-82).
                        let kept = self.docs == Docs::Kept && !bare;
                        for line in kept.then(|| below(&source, value.span)).into_iter().flatten() {
                            clauses.push('\n');
                            clauses.push_str(&line);
                        }
                        if clauses.contains("\n//") {
                            clauses.push('\n');
                        }
                        items.push(Item::Comprehension { clauses, body, gap, docs });
                    } else {
                        items.push(Item::Embed(self.expr(value, scope, file)));
                    }
                    last = Some(value.span.end);
                }
            }
        }
        if open {
            items.push(Item::Ellipsis(None));
        }
        let fields = decls.iter().filter_map(|it| match it {
            Decl::Field(field) => Some(computed_alias(field)),
            _ => None,
        });
        let printed = items.iter_mut().filter_map(|it| match it {
            Item::Field(field) => Some(field),
            _ => None,
        });
        for (alias, printed) in fields.zip(printed) {
            let aliases = scope.aliases.borrow();
            if let Some(Some(name)) = alias.and_then(|it| aliases.get(&it.name)) {
                printed.label.insert_str(0, &format!("{name}="));
            }
        }
        items
    }

    /// A declaration that is an attribute.
    pub(crate) fn note(&self, it: &Attribute, file: usize) -> Note {
        let source = &self.files[file].text;
        let (mut docs, empty) = above(source, it.span);
        if self.docs == Docs::Dropped {
            docs.clear();
        }
        let before = source.get(..it.span.start as usize).unwrap_or_default();
        let line = before.rsplit('\n').next().unwrap_or_default();
        let gap = match line.trim().is_empty() && !begins(before) {
            true if empty => Gap::Empty,
            true => Gap::Line,
            false => Gap::Comma,
        };
        let rest = source.get(it.span.end as usize..).unwrap_or_default();
        let line = rest.lines().next().unwrap_or_default().trim();
        let kept = self.docs == Docs::Kept;
        let mut behind = String::new();
        if kept && line.starts_with("//") {
            behind = format!(" {line}");
        }
        if kept && (line.is_empty() || line.starts_with("//")) {
            behind.push_str(&ending(rest));
        }
        Note { text: format!("@{}({})", it.name, it.body), gap, docs, behind }
    }

    /// The label that a computed field got, if it is one for all its evaluations.
    fn computed(&self, label: &Expr, scope: &Rc<Scope>, file: usize) -> Option<String> {
        if crate::clauses::is_variable(label, scope) {
            return None;
        }
        let name = &self.files.get(file)?.name;
        let key = (name.clone(), label.span.start, label.span.end);
        let known = match self.place() {
            Some(place) if place.is_empty() || self.found.presence.contains_key(&place) => {
                self.found.labels_at.get(&(key, place))
            }
            _ => self.found.labels.get(&key),
        };
        // One of several lines is no label.
        known.filter(|it| !it.contains('\n')).map(|it| label_text(it))
    }

    /// The field that has the comment above another one: that may be what is left of `a: b: 1`.
    pub(crate) fn commented(&self, field: &'a Field, file: usize) -> &'a Field {
        let (mut commented, mut next) = (field, field);
        while let Some(inner) = self.shorthand(next, file) {
            if inner.comments().outer || !inner.comments().below.is_empty() {
                commented = inner;
            }
            next = inner;
        }
        commented
    }

    /// The field `b` of `a: b: 1`.
    pub(crate) fn shorthand(&self, field: &'a Field, file: usize) -> Option<&'a Field> {
        let ExprKind::Struct(decls) = &field.value.kind else { return None };
        let [Decl::Field(inner)] = decls.as_slice() else { return None };
        let braces = slice(&self.files[file].text, field.value.span).starts_with('{');
        (!braces).then_some(inner)
    }

    /// A label `(…)`, and what it came to unless it is a name.
    fn label_in_parentheses(
        &mut self,
        field: &Field,
        label: &'a Expr,
        scope: &Rc<Scope>,
        file: usize,
    ) -> String {
        match (&strip(label).kind, self.computed(label, scope, file)) {
            (ExprKind::String(text), _) => behind(field, label_text(text)),
            (ExprKind::Interpolation { .. }, None) => self.operand(label, scope, file).text(),
            // What is only a reference stays one, or is what stands for it.
            (ExprKind::Ident(_) | ExprKind::Select(..) | ExprKind::Index(..), known) => {
                let text = self.operand(label, scope, file).text();
                match known.filter(|_| self.leads_out(label, file) && is_text(&text)) {
                    Some(known) => behind(field, known),
                    None => format!("({text})"),
                }
            }
            (_, None) => format!("({})", self.operand(label, scope, file).text()),
            (_, Some(known)) => behind(field, known),
        }
    }

    fn field_as_written(
        &mut self,
        field: &'a Field,
        scope: &Rc<Scope>,
        file: usize,
        number: usize,
        braces: Braces,
    ) -> Item {
        let mut names = Map::default();
        let mut inner = scope.clone();
        let label = match &field.label {
            AstLabel::Pattern(label, _) => {
                let label = self.operand(label, scope, file).text();
                match matched(field) {
                    Some(alias) => {
                        let name = self.taken.unique(&alias.name);
                        inner = named_scope(&mut self.scopes, Some(alias), scope, file);
                        inner.rename_let(0, Some(name.clone()));
                        inner.aliases.borrow_mut().insert(alias.name.clone(), Some(name.clone()));
                        format!("[{name}={label}]")
                    }
                    None => format!("[{label}]"),
                }
            }
            AstLabel::Dynamic(label) => match self.known_text(label, file) {
                Some(text) => text,
                None => self.label_in_parentheses(field, label, scope, file),
            },
            AstLabel::Interpolated(label) => match self.computed(label, scope, file) {
                Some(known) => behind(field, known),
                None => self.operand(label, scope, file).text(),
            },
            AstLabel::Ident(name) => self.hidden(&name.name, file),
            AstLabel::String(text, _) => behind(field, label_text(text)),
        };
        let mut lets = Vec::new();
        let mut alias = match (&field.alias, &field.label) {
            (Some(alias), AstLabel::Pattern(..)) => {
                // It is printed if something refers to it (O-78).
                let bound = if has_old_alias(field) { Bound::Let(0) } else { Bound::Field };
                names.insert(alias.name.clone(), bound);
                lets.push(alias.name.clone());
                String::new()
            }
            (Some(_), AstLabel::Ident(_)) if !has_old_alias(field) => String::new(),
            (Some(_), AstLabel::Dynamic(_) | AstLabel::Interpolated(_)) => String::new(),
            (Some(alias), _) if field.key_alias.is_none() => format!("{}=", alias.name),
            (Some(_), _) | (None, _) => String::new(),
        };
        let value_alias = field.value_alias.as_ref().map(|it| {
            // It is not told from others.
            names.insert(it.name.clone(), Bound::Renamed(it.name.to_string()));
            it.name.to_string()
        });
        let scope = Scope::with_lets(Some(inner.clone()), names, lets);
        // Only of a literal it is known which field it is.
        let fixed = match (&field.label, &strip(&field.value).kind) {
            (AstLabel::Ident(name), ExprKind::Struct(_)) => Some(name.name.to_string()),
            (AstLabel::String(text, _), ExprKind::Struct(_)) => Some(label_text(text)),
            _ => None,
        };
        let value = match &fixed {
            None => self.expr(&field.value, &scope, file),
            Some(label) => {
                self.path.push(label.clone());
                self.level += 1;
                let expr = &field.value;
                let value = self.merge(vec![Conjunct::Expr { expr, scope: scope.clone(), file }]);
                self.level -= 1;
                self.path.pop();
                value
            }
        };
        if matched(field).is_some() {
            inner.aliases.borrow_mut().clear();
        }
        let place = fixed.and_then(|it| self.place_of(&it));
        if let (Some(links), Some(place)) = (&mut self.links, &place) {
            if self.found.presence.contains_key(place) {
                let left = left_of(place);
                let place = if self.found.shared.get(place) == Some(&left) { &left } else { place };
                // Of a value with a name of its own no name after it is recognized.
                match field.value_alias {
                    None => links.printed(place, number),
                    Some(_) if links.is_named(place) => {}
                    Some(_) => links.printed(place, usize::MAX),
                }
            }
        }
        if let Some(name) = scope.let_name(0) {
            alias = format!("{name}=");
        }
        // The comment above `a: b: 1` stands there alone.
        let commented = self.commented(field, file);
        let comments = commented.comments();
        let kept = |it: &[String]| !it.is_empty() && self.docs == Docs::Kept;
        let own = braces == Braces::Written && kept(&comments.above);
        let docs = own.then(|| comments.above.clone()).into_iter().collect();
        let below = kept(&comments.below).then(|| (comments.below.clone(), comments.gap));
        let kept = self.keeps_attributes();
        let attributes = field.attributes.iter().filter(|_| kept);
        let attributes = attributes.map(|it| format!("@{}({})", it.name, it.body)).collect();
        // What a pattern matches need not be there anyway.
        let mark = match field.label {
            AstLabel::Pattern(..) => "",
            _ => marker(field.marker),
        };
        let label = format!("{alias}{label}{mark}");
        Item::Field(Declared {
            docs,
            below: below.into_iter().collect(),
            apart: commented.is_apart(),
            label,
            alias: value_alias,
            value,
            attributes,
            place,
            spread: self.spread,
            documented: braces == Braces::Written && field.docs.is_some(),
        })
    }
}

/// The name of a label that a pattern matches.
pub(crate) fn matched(field: &Field) -> Option<&Ident> {
    match &field.label {
        AstLabel::Pattern(_, alias) => alias.as_deref().or(field.key_alias.as_deref()),
        _ => None,
    }
}

/// `[string]: _`, which the layout makes `...`.
fn is_ellipsis(field: &Field) -> bool {
    let AstLabel::Pattern(label, None) = &field.label else { return false };
    let any = matches!(&label.kind, ExprKind::Ident(it) if &**it == "string");
    any && matches!(strip(&field.value).kind, ExprKind::Top)
}

/// The alias of a computed field, which is printed if something behind it refers to it.
fn computed_alias(field: &Field) -> Option<&Ident> {
    let computed = matches!(field.label, AstLabel::Dynamic(_) | AstLabel::Interpolated(_));
    let old = computed && field.key_alias.is_none() && has_old_alias(field);
    field.alias.as_deref().filter(|_| old)
}

/// Whether an expression is one text in quotes.
fn is_text(expr: &str) -> bool {
    cue_syntax::parse_expr(expr).is_ok_and(|it| matches!(it.kind, ExprKind::String(_)))
}

/// A label that was in quotes, which stay behind an alias.
fn behind(field: &Field, label: String) -> String {
    let aliased = match field.label {
        AstLabel::Dynamic(_) | AstLabel::Interpolated(_) => has_old_alias(field),
        _ => field.alias.is_some(),
    };
    match aliased && !label.starts_with('"') {
        true => Datum::text(label).cue_text(),
        false => label,
    }
}

/// Whether a file begins with what stands behind a text.
fn begins(before: &str) -> bool {
    before.trim().is_empty() && !before.contains('\n')
}

/// The comment directly above a declaration, and whether an empty line stands above it.
pub(crate) fn above(source: &str, span: Span) -> (Vec<String>, bool) {
    let before = source.get(..span.start as usize).unwrap_or_default();
    let mut lines = before.lines().rev();
    // What stands before it on its line has the comment.
    if !before.ends_with('\n') && lines.next().is_some_and(|it| !it.trim().is_empty()) {
        return (Vec::new(), false);
    }
    let mut docs = Vec::new();
    while let Some(line) = lines.next() {
        match line.trim_start().starts_with("//") {
            true => docs.insert(0, line.trim().to_owned()),
            // The beginning of the file is no line.
            false => return (docs, line.trim().is_empty() && lines.next().is_some()),
        }
    }
    (docs, false)
}

/// The last comment below the last declaration of a struct or the last element of a list, with the empty
/// line above it.
pub(crate) fn below(source: &str, span: Span) -> Vec<String> {
    let after = source.get(span.end as usize..).unwrap_or_default();
    let mut lines = after.lines();
    if lines.next().is_none_or(|rest| !matches!(rest.trim(), "" | ",")) {
        return Vec::new();
    }
    let (mut comment, mut ended) = (Vec::new(), false);
    for line in lines.map(str::trim) {
        if line.starts_with("//") {
            if std::mem::take(&mut ended) {
                comment = vec![String::new()];
            }
            comment.push(line.to_owned());
        } else if line.is_empty() {
            ended = true;
        } else if line.starts_with(['}', ']']) && !ended {
            return comment;
        } else {
            break;
        }
    }
    Vec::new()
}

/// The comments on the lines behind a declaration, if nothing follows these: they are said of it.
fn ending(rest: &str) -> String {
    let mut found = String::new();
    let mut gap = "\n";
    for line in rest.lines().skip(1).map(str::trim) {
        if line.starts_with("//") {
            found.push_str(gap);
            found.push_str(line);
            gap = "\n";
        } else if line.is_empty() {
            gap = "\n\n";
        } else if line.starts_with('}') {
            break;
        } else {
            return String::new();
        }
    }
    found
}
