//! From the tree that is evaluated back to a concrete one, for printing what a program made.

use thin_vec::thin_vec;

use crate::ast::{
    Binary, Clause, Compare, Decl, Element, Expr, ExprKind, Field, File, Ident, Label, Marker,
    Part, Unary,
};
use crate::layout::{Style, format_tree};
use crate::scan::T;
use crate::tree::{Distance, Extras, Group, Kind, Mark, NodeId, Nodes, Slice, Tree};
use crate::unquote::quote;

/// A file as `cue fmt` writes it; docs are kept, other comments were not in the tree.
pub fn format_file(file: &File) -> String {
    let mut raise = Raise::default();
    let mut decls = Nodes::new();
    decls.extend(file.attributes.iter().map(|it| raise.attribute(&it.name, &it.body)));
    if let Some(name) = &file.package {
        let name = raise.ident(&name.name);
        decls.push(raise.add(Kind::Package(name)));
    }
    let mut specs = Nodes::new();
    for import in &file.imports {
        let name = import.name.as_ref().map(|it| raise.ident(&it.name));
        let path = raise.add(Kind::Literal(T::String, quote(&import.path).into()));
        specs.push(raise.add(Kind::Spec { name, path }));
    }
    if !specs.is_empty() {
        let parens = (specs.len() > 1).then(Default::default);
        decls.push(raise.add(Kind::Import { parens, specs }));
    }
    decls.extend(raise.decls(&file.decls));
    let root = raise.add(Kind::File(decls));
    raise.tree.root = Some(root);
    format_tree(&raise.tree, Style::Plain)
}

/// An expression as `cue fmt` writes it.
pub fn format_expr(expr: &Expr) -> String {
    let mut raise = Raise::default();
    let root = raise.expr(expr);
    raise.tree.root = Some(root);
    format_tree(&raise.tree, Style::Plain)
}

#[derive(Default)]
struct Raise {
    tree: Tree,
}

impl Raise {
    fn add(&mut self, kind: Kind) -> NodeId {
        self.tree.add(Mark::default(), 0, kind)
    }

    fn ident(&mut self, name: &str) -> NodeId {
        self.add(Kind::Ident(name.into()))
    }

    fn literal(&mut self, kind: T, text: impl Into<Box<str>>) -> NodeId {
        self.add(Kind::Literal(kind, text.into()))
    }

    fn attribute(&mut self, name: &str, body: &str) -> NodeId {
        self.add(Kind::Attribute(format!("@{name}({body})").into()))
    }

    fn decls(&mut self, decls: &[Decl]) -> Nodes {
        decls.iter().map(|it| self.decl(it)).collect()
    }

    fn decl(&mut self, decl: &Decl) -> NodeId {
        match decl {
            Decl::Field(field) => self.field(field),
            Decl::Let(name, value) => self.binding(name, value),
            Decl::Ellipsis(of, _) => {
                let of = of.as_ref().map(|it| self.expr(it));
                self.add(Kind::Ellipsis(of))
            }
            Decl::Embed(expr) => {
                let id = self.expr(expr);
                match self.tree[id].kind {
                    Kind::Comprehension { .. } => id,
                    _ => self.add(Kind::Embed(id)),
                }
            }
            Decl::Attribute(it) => self.attribute(&it.name, &it.body),
        }
    }

    fn binding(&mut self, name: &Ident, value: &Expr) -> NodeId {
        let name = self.ident(&name.name);
        let value = self.expr(value);
        self.add(Kind::Let { name, equal: Mark::default(), value })
    }

    fn alias(&mut self, name: Option<&Ident>, value: NodeId) -> NodeId {
        let Some(name) = name else { return value };
        let name = self.ident(&name.name);
        self.add(Kind::Alias { name, equal: Mark::default(), value })
    }

    fn field(&mut self, field: &Field) -> NodeId {
        let mark = Mark::default();
        let label = match &field.label {
            Label::Ident(name) => self.ident(&name.name),
            Label::String(text, _) => self.literal(T::String, quote(text)),
            Label::Interpolated(expr) => self.expr(expr),
            Label::Dynamic(expr) => {
                let inner = self.expr(expr);
                self.add(Kind::Paren { inner, close: mark })
            }
            Label::Pattern(expr, alias) => {
                let inner = self.expr(expr);
                let element = self.alias(alias.as_deref(), inner);
                self.add(Kind::List { open: mark, close: mark, elements: thin_vec![element] })
            }
        };
        let label = self.alias(field.alias.as_deref(), label);
        let constraint = match field.marker {
            Marker::None => None,
            Marker::Optional => Some(T::Option),
            Marker::Required => Some(T::Not),
        };
        let value = self.expr(&field.value);
        let value = self.alias(field.value_alias.as_deref(), value);
        let attributes = field.attributes.iter();
        let attributes = attributes.map(|it| self.attribute(&it.name, &it.body)).collect();
        let extras = Extras::new(None, constraint, attributes);
        let kind = Kind::Field { label, value, extras };
        let id = self.add(kind);
        if let Some(docs) = &field.docs {
            let line = |text: &String| match text.as_str() {
                "" => "//".to_owned(),
                text => format!("// {text}"),
            };
            let lines = docs.lines.iter().map(|it| (Distance::Line, line(it).into()));
            let group = Group {
                slot: 0,
                doc: true,
                line: false,
                distance: Distance::Line,
                at: 0,
                lines: lines.collect(),
            };
            self.tree.comments.insert(id, vec![group]);
        }
        id
    }

    fn expr(&mut self, expr: &Expr) -> NodeId {
        let mark = Mark::default();
        let kind = match &expr.kind {
            ExprKind::Ident(name) => Kind::Ident((**name).into()),
            ExprKind::Top => Kind::Ident("_".into()),
            ExprKind::Null => Kind::Literal(T::Null, "null".into()),
            ExprKind::Bool(true) => Kind::Literal(T::True, "true".into()),
            ExprKind::Bool(false) => Kind::Literal(T::False, "false".into()),
            ExprKind::Number(text) => {
                let radix = text.starts_with("0x") || text.starts_with("0X");
                let float = !radix
                    && text.contains(['.', 'e', 'E'])
                    && !text.ends_with(['K', 'M', 'G', 'T', 'P', 'i']);
                Kind::Literal(if float { T::Float } else { T::Int }, (**text).into())
            }
            ExprKind::String(text) => Kind::Literal(T::String, quote(text).into()),
            ExprKind::Bytes(bytes) => {
                Kind::Literal(T::String, crate::unquote::quote_bytes(bytes).into())
            }
            ExprKind::Bottom | ExprKind::Bad => Kind::Bottom,
            ExprKind::Interpolation { parts, bytes } => {
                return self.interpolation(parts, if *bytes { '\'' } else { '"' });
            }
            ExprKind::Struct(decls) => {
                let decls = self.decls(decls);
                Kind::Struct { braces: Some((mark, mark)), decls }
            }
            ExprKind::List(elements) => {
                let elements = elements.iter().map(|it| match it {
                    Element::Expr(expr) => self.expr(expr),
                    Element::Ellipsis(of) => {
                        let of = of.as_ref().map(|it| self.expr(it));
                        self.add(Kind::Ellipsis(of))
                    }
                });
                Kind::List { open: mark, elements: elements.collect(), close: mark }
            }
            ExprKind::Unary(Unary::Attempt, x) => Kind::Postfix(self.expr(x), T::Option),
            ExprKind::Unary(Unary::Open, x) => Kind::Postfix(self.expr(x), T::Ellipsis),
            ExprKind::Unary(op, x) => Kind::Unary(unary(*op), self.expr(x)),
            ExprKind::Binary(..) => return self.binary(expr),
            ExprKind::Select(it) => {
                let (base, Ident { name, .. }) = &**it;
                let base = self.expr(base);
                let plain = !name.is_empty()
                    && !name.starts_with(|c: char| c.is_ascii_digit())
                    && name.chars().all(|c| c.is_alphanumeric() || "_$#".contains(c));
                let name = match plain {
                    true => self.ident(name),
                    false => self.literal(T::String, quote(name)),
                };
                Kind::Selector(base, name)
            }
            ExprKind::Index(base, index) => {
                let base = self.expr(base);
                Kind::Index { base, open: mark, index: self.expr(index), close: mark }
            }
            ExprKind::Slice(it) => {
                let (base, low, high) = &**it;
                let base = self.expr(base);
                let low = low.as_ref().map(|it| self.expr(it));
                let high = high.as_ref().map(|it| self.expr(it));
                let slice = Slice { base, open: mark, low, high, close: mark };
                Kind::Slice(Box::new(slice))
            }
            ExprKind::Call(callee, arguments) => {
                let callee = self.expr(callee);
                let arguments = arguments.iter().map(|it| self.expr(it)).collect();
                Kind::Call { callee, open: mark, arguments, close: mark }
            }
            ExprKind::Paren(inner) => Kind::Paren { inner: self.expr(inner), close: mark },
            ExprKind::Comprehension(clauses, body) => {
                let fallback = clauses.iter().find_map(|it| match it {
                    Clause::Otherwise(body) => Some(body),
                    _ => None,
                });
                let given: Vec<&Clause> =
                    clauses.iter().filter(|it| !matches!(it, Clause::Otherwise(_))).collect();
                let single = matches!(given[..], [Clause::If(_) | Clause::Try(..)]);
                let clauses = given.into_iter().map(|it| self.clause(it)).collect();
                let body = self.expr(body);
                let word = if single { T::Else } else { T::Otherwise };
                let fallback = fallback.map(|it| {
                    let body = self.expr(it);
                    self.add(Kind::Fallback(word, body))
                });
                Kind::Comprehension { clauses, body, fallback }
            }
        };
        self.add(kind)
    }

    fn binary(&mut self, expr: &Expr) -> NodeId {
        let mut spine = Vec::new();
        let mut at = expr;
        while let ExprKind::Binary(op, left, right) = &at.kind {
            spine.push((binary(*op), right));
            at = left;
        }
        let mut left = self.expr(at);
        for (op, right) in spine.into_iter().rev() {
            let right = self.expr(right);
            left = self.add(Kind::Binary { left, op, at: Mark::default(), right });
        }
        left
    }

    fn clause(&mut self, clause: &Clause) -> NodeId {
        let mark = Mark::default();
        let kind = match clause {
            Clause::For { key, value, source } => Kind::For {
                key: key.as_ref().map(|it| (self.ident(&it.name), mark)),
                value: self.ident(&value.name),
                at: mark,
                source: self.expr(source),
            },
            Clause::If(condition) => Kind::If(self.expr(condition)),
            Clause::Let(name, value) => return self.binding(name, value),
            Clause::Try(_, binding) => Kind::Try(binding.as_ref().map(|(name, value)| {
                let name = self.ident(&name.name);
                (name, mark, self.expr(value))
            })),
            Clause::Otherwise(body) => {
                let body = self.expr(body);
                Kind::Fallback(T::Otherwise, body)
            }
        };
        self.add(kind)
    }

    fn interpolation(&mut self, parts: &[Part], mark: char) -> NodeId {
        let mut pieces = Nodes::new();
        let mut text = String::from(mark);
        for part in parts {
            match part {
                Part::Text(bytes) => {
                    let quoted = match mark {
                        '"' => quote(&String::from_utf8_lossy(bytes)),
                        _ => crate::unquote::quote_bytes(bytes),
                    };
                    let inner = quoted.len().checked_sub(1).and_then(|to| quoted.get(1..to));
                    text.push_str(inner.unwrap_or_default());
                }
                Part::Expr(expr) => {
                    text.push_str("\\(");
                    pieces.push(self.literal(T::Interpolation, std::mem::take(&mut text)));
                    pieces.push(self.expr(expr));
                    text.push(')');
                }
            }
        }
        text.push(mark);
        pieces.push(self.literal(T::Interpolation, text));
        self.add(Kind::Interpolation(pieces))
    }
}

fn compare(op: Compare) -> T {
    match op {
        Compare::Equal => T::Eql,
        Compare::NotEqual => T::Neq,
        Compare::Less => T::Lss,
        Compare::LessEqual => T::Leq,
        Compare::Greater => T::Gtr,
        Compare::GreaterEqual => T::Geq,
        Compare::Match => T::Mat,
        Compare::NotMatch => T::NMat,
    }
}

fn unary(op: Unary) -> T {
    match op {
        Unary::Plus => T::Add,
        Unary::Minus => T::Sub,
        Unary::Not => T::Not,
        Unary::Default => T::Mul,
        Unary::Bound(op) => compare(op),
        Unary::Attempt => T::Option,
        Unary::Open => T::Ellipsis,
    }
}

fn binary(op: Binary) -> T {
    match op {
        Binary::Unify => T::And,
        Binary::Disjoin => T::Or,
        Binary::And => T::LAnd,
        Binary::Or => T::LOr,
        Binary::Compare(op) => compare(op),
        Binary::Add => T::Add,
        Binary::Subtract => T::Sub,
        Binary::Multiply => T::Mul,
        Binary::Divide => T::Quo,
    }
}
