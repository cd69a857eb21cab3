//! The attributes of a file that ask for others, and where what they ask for is put.

use cue_syntax::ast::{Attribute, Clause, Decl, Element, Expr, ExprKind, Field, File, Label, Part};

use super::EMBED;
use super::splice::{Data, Piece};

/// An attribute.
pub(super) struct Found<'a> {
    pub(super) attribute: &'a Attribute,
    pub(super) place: Place,
}

/// Where its data goes.
pub(super) enum Place {
    /// In place of a value that is anything.
    Instead { start: usize },
    /// Behind the field, as another one of that label.
    Again { end: usize, label: String },
    /// Beside the value, where the label binds a name.
    Beside { start: usize, end: usize },
    /// At the end of its struct.
    Last { end: usize, comma: &'static str },
}

impl Place {
    pub(super) fn pieces(&self, data: Data) -> Vec<Piece> {
        let piece = |start, removed, before: String, data| Piece { start, removed, before, data };
        match self {
            Place::Instead { start } => vec![piece(*start, 1, String::new(), data)],
            Place::Again { end, label } => vec![piece(*end, 0, format!(", {label}"), data)],
            Place::Beside { start, end } => vec![
                piece(*start, 0, "(".into(), Data::default()),
                piece(*end, 0, ") & ".into(), data),
            ],
            Place::Last { end, comma } => vec![piece(*end, 0, (*comma).into(), data)],
        }
    }
}

/// Those of a file, in order.
pub(super) fn attributes<'a>(file: &'a File, text: &'a str) -> Vec<Found<'a>> {
    let mut search = Search { text, found: Vec::new(), work: Vec::new() };
    search.decls(&file.decls, text.len(), None);
    // Those above the first declaration are attributes of the file, though they are in it.
    let clause = file.package.as_ref().map_or(0, |it| it.span.start);
    for attribute in file.attributes.iter().filter(|it| it.span.start > clause) {
        search.last(attribute, text.len());
    }
    while let Some(expr) = search.work.pop() {
        search.expr(expr, None);
    }
    search.found.sort_by_key(|it| it.attribute.span.start);
    search.found
}

struct Search<'a> {
    text: &'a str,
    found: Vec<Found<'a>>,
    work: Vec<&'a Expr>,
}

impl<'a> Search<'a> {
    /// Those of a struct that ends there; `label` is where the label begins that it is a value of
    /// without braces.
    fn decls(&mut self, decls: &'a [Decl], end: usize, label: Option<usize>) {
        for decl in decls {
            match decl {
                Decl::Field(field) => self.field(field, label),
                Decl::Attribute(it) => self.last(it, end),
                Decl::Let(_, it) | Decl::Embed(it) | Decl::Ellipsis(Some(it), _) => {
                    self.work.push(it);
                }
                Decl::Ellipsis(None, _) => {}
            }
        }
    }

    fn last(&mut self, attribute: &'a Attribute, end: usize) {
        if attribute.name != EMBED {
            return;
        }
        let before = self.text.get(..end).unwrap_or_default();
        let inner = before.trim_end_matches([' ', '\t']);
        let follows = |it: &Found<'_>| matches!(it.place, Place::Last { end: at, .. } if at == end);
        let comma = match inner.chars().last() {
            _ if self.found.iter().any(follows) => ", ",
            Some('\n' | ',' | '{') => "",
            _ if end == self.text.len() => "\n",
            _ => ", ",
        };
        self.found.push(Found { attribute, place: Place::Last { end, comma } });
    }

    fn field(&mut self, field: &'a Field, outer: Option<usize>) {
        let label = outer.unwrap_or(field.span.start as usize);
        match &field.label {
            Label::Interpolated(it) | Label::Dynamic(it) | Label::Pattern(it, _) => {
                self.work.push(it);
            }
            Label::Ident(_) | Label::String(..) => {}
        }
        let value = &field.value;
        let (start, end) = (value.span.start as usize, value.span.end as usize);
        let last = field.attributes.last().map_or(end, |it| it.span.end as usize);
        let mut first = true;
        for attribute in field.attributes.iter().filter(|it| it.name == EMBED) {
            let written = self.text.get(label..start).unwrap_or_default();
            let binds = field.alias.is_some()
                || field.value_alias.is_some()
                || field.key_alias.is_some()
                || written.contains(['=', '~', '\n']);
            let place = if matches!(value.kind, ExprKind::Top) && first {
                Place::Instead { start }
            } else if binds {
                Place::Beside { start, end }
            } else {
                Place::Again { end: last, label: written.to_owned() }
            };
            first = false;
            self.found.push(Found { attribute, place });
        }
        self.expr(value, Some(label));
    }

    fn expr(&mut self, expr: &'a Expr, label: Option<usize>) {
        match &expr.kind {
            ExprKind::Struct(decls) => {
                let start = expr.span.start as usize;
                let braced = self.text.get(start..).is_some_and(|it| it.starts_with('{'));
                let end = (expr.span.end as usize).saturating_sub(1);
                self.decls(decls, end, label.filter(|_| !braced));
            }
            ExprKind::Comprehension(clauses, body) => {
                self.work.push(body);
                self.work.extend(clauses.iter().filter_map(Clause::expr));
            }
            ExprKind::List(elements) => {
                self.work.extend(elements.iter().filter_map(Element::expr));
            }
            ExprKind::Interpolation { parts, .. } => {
                self.work.extend(parts.iter().filter_map(|it| match it {
                    Part::Expr(it) => Some(it),
                    Part::Text(_) => None,
                }));
            }
            _ => self.work.extend(expr.operands()),
        }
    }
}
