//! From the concrete tree to the tree that is evaluated: strings unquoted, comments to docs.

use std::sync::Arc;

use cue_map::Map;
use thin_vec::ThinVec;

use crate::ast::{
    Attribute, Binary, Clause, Compare, Decl, Docs, Element, Expr, ExprKind, Field, File, Ident,
    Import, Label, Marker, Part, Rare, Span, Unary,
};
use crate::bound;
use crate::parser::SyntaxError;
use crate::scan::T;
use crate::shared::Shared;
use crate::tree::{Distance, Kind, NodeId, Slice, Tree};
use crate::unquote::{self, Form, Place};

pub(crate) struct Lower<'a> {
    pub(crate) tree: &'a Tree,
    pub(crate) done: Done,
}

/// What lowering has come to.
#[derive(Default)]
pub(crate) struct Done {
    /// Structs whose declarations are lowered already.
    pub(crate) structs: Map<NodeId, ThinVec<Decl>>,
    pub(crate) errors: Vec<SyntaxError>,
    /// Whether a name may be bound wrongly.
    pub(crate) suspect: bool,
    expressions: usize,
    texts: Shared,
}

impl Lower<'_> {
    pub(crate) fn file(&mut self) -> File {
        let mut file = self.items();
        file.expressions = self.done.expressions;
        file.experiments = self.tree.experiments;
        file
    }

    fn items(&mut self) -> File {
        let mut file = File::default();
        let Some(root) = self.tree.root else { return file };
        let tree = self.tree;
        let Kind::File(decls) = &tree[root].kind else { return file };
        for &id in decls {
            match &tree[id].kind {
                Kind::Package(name) => file.package = Some(self.ident(*name)),
                Kind::Import { specs, .. } => {
                    for &spec in specs {
                        let Kind::Spec { name, path } = &tree[spec].kind else { continue };
                        let name = name.map(|it| self.ident(it));
                        let path = self.string(*path);
                        file.imports.push(Import { name, path, span: self.span(spec) });
                    }
                }
                Kind::Attribute(text) if file.decls.is_empty() => {
                    file.attributes.push(self.attribute(id, text));
                }
                _ => file.decls.extend(self.decl(id)),
            }
        }
        file
    }

    fn span(&self, id: NodeId) -> Span {
        Span { start: self.tree.began(id).at, end: self.tree[id].end }
    }

    fn error(&mut self, id: NodeId, message: impl Into<String>) {
        let span = self.span(id);
        self.done.errors.push(SyntaxError { message: message.into(), span });
    }

    fn name(&mut self, id: NodeId) -> Arc<str> {
        self.done.texts.text(match &self.tree[id].kind {
            Kind::Ident(text) | Kind::Literal(_, text) => text,
            _ => "_",
        })
    }

    fn ident(&mut self, id: NodeId) -> Ident {
        Ident { name: self.name(id), span: self.span(id) }
    }

    fn string(&mut self, id: NodeId) -> String {
        let Kind::Literal(_, text) = &self.tree[id].kind else { return String::new() };
        match unquote::text(text) {
            Ok(text) => text,
            Err(message) => {
                self.error(id, message);
                String::new()
            }
        }
    }

    fn shared_string(&mut self, id: NodeId) -> Arc<str> {
        let text = self.string(id);
        self.done.texts.text(&text)
    }

    fn attribute(&self, id: NodeId, text: &str) -> Attribute {
        let (name, body) = text.split_once('(').unwrap_or((text, ""));
        Attribute {
            name: name.trim_start_matches('@').trim().to_owned(),
            body: body.strip_suffix(')').unwrap_or(body).to_owned(),
            span: self.span(id),
        }
    }

    /// The comments that belong to a node, added to those that stand above it.
    fn add_docs(&self, id: NodeId, to: &mut Docs) {
        let groups = self.tree.comments.get(&id).map(Vec::as_slice).unwrap_or_default();
        for group in groups.iter().filter(|it| it.doc) {
            match to.lines.is_empty() {
                true => to.apart = group.distance == Distance::Gap,
                false => to.breaks.push(to.lines.len() as u32),
            }
            let comments = &mut to.comments;
            let lines = match group.slot > 0 {
                true => {
                    comments.gap |= comments.below.is_empty() && group.distance == Distance::Gap;
                    &mut comments.below
                }
                false => &mut comments.above,
            };
            lines.extend(group.lines.iter().map(|(_, text)| text.clone().into_string()));
            to.lines.extend(group.lines.iter().map(|(_, text)| {
                let text = text.strip_prefix("//").unwrap_or(text);
                text.strip_prefix(' ').unwrap_or(text).to_owned()
            }));
        }
    }

    fn is_pattern(&self, id: NodeId) -> bool {
        let Kind::Field { label, .. } = &self.tree[id].kind else { return false };
        matches!(self.tree[*label].kind, Kind::List { .. })
    }

    fn decls(&mut self, ids: &[NodeId]) -> ThinVec<Decl> {
        let mut all = ThinVec::with_capacity(ids.len());
        all.extend(ids.iter().filter_map(|id| self.decl(*id)));
        all
    }

    pub(crate) fn decl(&mut self, id: NodeId) -> Option<Decl> {
        let tree = self.tree;
        Some(match &tree[id].kind {
            Kind::Field { .. } => Decl::Field(Box::new(self.field(id, Docs::default())?)),
            Kind::Let { name, value, .. } => {
                self.done.suspect = true;
                Decl::Let(self.ident(*name), Box::new(self.expr(*value)))
            }
            Kind::Ellipsis(of) => {
                let of = of.map(|it| Box::new(self.expr(it)));
                Decl::Ellipsis(of, self.span(id))
            }
            Kind::Embed(expr) => Decl::Embed(Box::new(self.expr(*expr))),
            Kind::Comprehension { .. } => Decl::Embed(Box::new(self.expr(id))),
            Kind::Attribute(text) => Decl::Attribute(Box::new(self.attribute(id, text))),
            _ => return None,
        })
    }

    fn field(&mut self, id: NodeId, mut docs: Docs) -> Option<Field> {
        let tree = self.tree;
        let Kind::Field { label, value, extras, .. } = &tree[id].kind else { return None };
        let alias = extras.alias();
        docs.comments.outer = !docs.lines.is_empty();
        self.add_docs(id, &mut docs);
        let named = |it: &Ident| &*it.name != "_";
        let mut name = alias.map(|it| self.ident(it.field)).filter(named);
        let key = alias.and_then(|it| it.label.map(|(key, _)| key));
        let key_alias = key.map(|it| self.ident(it)).filter(named);
        let label_span = self.span(*label);
        let mut label = *label;
        if let Kind::Alias { name: it, value, .. } = &tree[label].kind {
            name = Some(self.ident(*it));
            label = *value;
        }
        let label = self.label(label);
        let marker = match extras.constraint() {
            Some(T::Option) => Marker::Optional,
            Some(_) => Marker::Required,
            None => Marker::None,
        };
        let mut value = *value;
        let mut value_alias: Option<Box<Ident>> = None;
        if let Kind::Alias { name, value: it, .. } = &tree[value].kind {
            value_alias = Some(Box::new(self.ident(*name)));
            value = *it;
        }
        let value = match &tree[value].kind {
            // In `a: b: c` the comment belongs to the innermost field (rule 4.4).
            Kind::Struct { braces: None, decls } => {
                let span = self.span(value);
                let inner = decls.first().copied();
                // A pattern is no field: what stands above it is about what has it.
                let pattern = inner.is_some_and(|it| self.is_pattern(it));
                let given = if pattern { Docs::default() } else { std::mem::take(&mut docs) };
                let inner = inner.and_then(|it| self.field(it, given));
                let decls = inner.into_iter().map(|it| Decl::Field(Box::new(it))).collect();
                self.done.expressions += 1;
                Expr { kind: ExprKind::Struct(decls), span }
            }
            _ => self.expr(value),
        };
        let attributes = extras.attributes().iter().filter_map(|it| match &tree[*it].kind {
            Kind::Attribute(text) => Some(self.attribute(*it, text)),
            _ => None,
        });
        let attributes = attributes.collect();
        let span = self.span(id);
        self.done.suspect |= name.is_some() || key_alias.is_some() || value_alias.is_some();
        let docs = (!docs.lines.is_empty()).then(|| Box::new(docs));
        let (alias, key_alias) = (name.map(Box::new), key_alias.map(Box::new));
        let rare = Rare { alias, key_alias, value_alias, attributes, docs }.boxed();
        Some(Field { label, marker, value, rare, span, label_span })
    }

    fn label(&mut self, id: NodeId) -> Label {
        let tree = self.tree;
        match &tree[id].kind {
            Kind::Literal(T::String, _) => Label::String(self.shared_string(id), self.span(id)),
            Kind::Interpolation(_) => Label::Interpolated(Box::new(self.expr(id))),
            Kind::Paren { inner, .. } => Label::Dynamic(Box::new(self.expr(*inner))),
            Kind::List { elements, .. } => {
                let mut alias = None;
                let mut element = elements.first().copied();
                if let Some(Kind::Alias { name, value, .. }) = element.map(|it| &tree[it].kind) {
                    alias = Some(Box::new(self.ident(*name)));
                    element = Some(*value);
                }
                let span = self.span(id);
                let bad = Expr { kind: ExprKind::Bad, span };
                let label = element.map_or(bad, |it| self.expr(it));
                self.done.suspect |= alias.is_some() || bound::may_name(&label);
                Label::Pattern(Box::new(label), alias)
            }
            _ => {
                let name = self.ident(id);
                self.done.suspect |= *name.name == *bound::USUAL;
                Label::Ident(name)
            }
        }
    }

    fn boxed(&mut self, id: NodeId) -> Box<Expr> {
        Box::new(self.expr(id))
    }

    pub(crate) fn expr(&mut self, id: NodeId) -> Expr {
        let tree = self.tree;
        let span = self.span(id);
        self.done.expressions += 1;
        let kind = match &tree[id].kind {
            Kind::Ident(name) if &**name == "_" => ExprKind::Top,
            Kind::Ident(name) => ExprKind::Ident(self.done.texts.text(name)),
            Kind::Literal(kind, text) => match kind {
                T::Null => ExprKind::Null,
                T::True => ExprKind::Bool(true),
                T::False => ExprKind::Bool(false),
                T::Int | T::Float => ExprKind::Number(self.done.texts.text(text)),
                _ if text.trim_start_matches('#').starts_with('\'') => match unquote::bytes(text) {
                    Ok(value) => ExprKind::Bytes(value.into()),
                    Err(message) => {
                        self.error(id, message);
                        ExprKind::Bad
                    }
                },
                _ => ExprKind::String(self.shared_string(id)),
            },
            Kind::Bottom => ExprKind::Bottom,
            Kind::Interpolation(pieces) => self.interpolation(pieces),
            Kind::Struct { decls, .. } => ExprKind::Struct(match decls.is_empty() {
                true => self.done.structs.remove(&id).unwrap_or_default(),
                false => self.decls(decls),
            }),
            Kind::List { elements, .. } => ExprKind::List(
                elements
                    .iter()
                    .map(|it| match &tree[*it].kind {
                        Kind::Ellipsis(of) => Element::Ellipsis(of.map(|it| self.boxed(it))),
                        _ => Element::Expr(self.expr(*it)),
                    })
                    .collect(),
            ),
            Kind::Unary(op, x) => match unary(*op) {
                Some(op) => ExprKind::Unary(op, self.boxed(*x)),
                None => ExprKind::Bad,
            },
            Kind::Binary { .. } => return self.binary(id),
            Kind::Selector(base, name) => {
                let at = self.span(*name);
                let text: Arc<str> = match &tree[*name].kind {
                    Kind::Literal(..) => self.shared_string(*name),
                    _ => self.name(*name),
                };
                ExprKind::Select(Box::new((self.expr(*base), Ident { name: text, span: at })))
            }
            Kind::Index { base, index, .. } => {
                ExprKind::Index(self.boxed(*base), self.boxed(*index))
            }
            Kind::Slice(slice) => {
                let Slice { base, low, high, .. } = &**slice;
                let base = self.expr(*base);
                let low = low.map(|it| self.expr(it));
                ExprKind::Slice(Box::new((base, low, high.map(|it| self.expr(it)))))
            }
            Kind::Call { callee, arguments, .. } => {
                let callee = self.boxed(*callee);
                ExprKind::Call(callee, arguments.iter().map(|it| self.expr(*it)).collect())
            }
            Kind::Paren { inner, .. } => ExprKind::Paren(self.boxed(*inner)),
            Kind::Postfix(x, op) => {
                let op = if *op == T::Option { Unary::Attempt } else { Unary::Open };
                ExprKind::Unary(op, self.boxed(*x))
            }
            Kind::Alias { value, .. } => return self.expr(*value),
            Kind::Comprehension { clauses, body, fallback } => {
                let mut all = ThinVec::with_capacity(clauses.len() + fallback.iter().len());
                all.extend(clauses.iter().filter_map(|it| self.clause(*it)));
                if let Some(Kind::Fallback(_, body)) = fallback.map(|it| &tree[it].kind) {
                    all.push(Clause::Otherwise(self.expr(*body)));
                }
                ExprKind::Comprehension(all, self.boxed(*body))
            }
            _ => ExprKind::Bad,
        };
        Expr { kind, span }
    }

    /// Long chains of operators lean to the left, so that side is walked, not recursed.
    fn binary(&mut self, id: NodeId) -> Expr {
        let tree = self.tree;
        let mut spine = Vec::new();
        let mut at = id;
        while let Kind::Binary { left, op, right, .. } = &tree[at].kind {
            spine.push((at, *op, *right));
            at = *left;
        }
        let mut left = self.expr(at);
        for (at, op, right) in spine.into_iter().rev() {
            let span = self.span(at);
            let right = self.boxed(right);
            self.done.expressions += 1;
            let kind = match binary(op) {
                Some(op) => ExprKind::Binary(op, Box::new(left), right),
                None => ExprKind::Bad,
            };
            left = Expr { kind, span };
        }
        left
    }

    fn clause(&mut self, id: NodeId) -> Option<Clause> {
        let tree = self.tree;
        Some(match &tree[id].kind {
            Kind::For { key, value, source, .. } => Clause::For {
                key: key.map(|it| self.ident(it.0)),
                value: self.ident(*value),
                source: self.expr(*source),
            },
            Kind::If(condition) => Clause::If(self.expr(*condition)),
            Kind::Let { name, value, .. } => Clause::Let(self.ident(*name), self.expr(*value)),
            Kind::Try(binding) => Clause::Try(
                self.span(id),
                binding.map(|(name, _, value)| (self.ident(name), self.expr(value))),
            ),
            _ => return None,
        })
    }

    fn interpolation(&mut self, pieces: &[NodeId]) -> ExprKind {
        let tree = self.tree;
        let text = |id: &NodeId| match &tree[*id].kind {
            Kind::Literal(_, text) => text,
            _ => "",
        };
        let first = pieces.first().map(text).unwrap_or("");
        let last = pieces.last().map(text).unwrap_or("");
        let Some((form, start)) = Form::of(first) else { return ExprKind::Bad };
        let indent = last.len().checked_sub(form.closing()).and_then(|it| last.get(1..it));
        let indent = unquote::indentation(indent.unwrap_or(""), form);
        let mut parts = ThinVec::new();
        for (index, id) in pieces.iter().enumerate() {
            if index % 2 == 1 {
                parts.push(Part::Expr(self.expr(*id)));
                continue;
            }
            let place = Place { first: index == 0, last: index + 1 == pieces.len() };
            let text = text(id);
            let from = if place.first { start } else { 1 };
            let cut = if place.last { form.closing() } else { 2 + form.hashes };
            let content = text.len().checked_sub(cut).and_then(|to| text.get(from..to));
            match unquote::piece(content.unwrap_or(""), form, &indent, place) {
                Ok(value) => parts.push(Part::Text(value)),
                Err(message) => self.error(*id, message),
            }
        }
        ExprKind::Interpolation { parts, bytes: form.quote == b'\'' }
    }
}

fn compare(op: T) -> Option<Compare> {
    Some(match op {
        T::Eql => Compare::Equal,
        T::Neq => Compare::NotEqual,
        T::Lss => Compare::Less,
        T::Leq => Compare::LessEqual,
        T::Gtr => Compare::Greater,
        T::Geq => Compare::GreaterEqual,
        T::Mat => Compare::Match,
        T::NMat => Compare::NotMatch,
        _ => return None,
    })
}

fn unary(op: T) -> Option<Unary> {
    Some(match op {
        T::Add => Unary::Plus,
        T::Sub => Unary::Minus,
        T::Not => Unary::Not,
        T::Mul => Unary::Default,
        op => Unary::Bound(compare(op)?),
    })
}

fn binary(op: T) -> Option<Binary> {
    Some(match op {
        T::And => Binary::Unify,
        T::Or => Binary::Disjoin,
        T::LAnd => Binary::And,
        T::LOr => Binary::Or,
        T::Add => Binary::Add,
        T::Sub => Binary::Subtract,
        T::Mul => Binary::Multiply,
        T::Quo => Binary::Divide,
        op => Binary::Compare(compare(op)?),
    })
}
