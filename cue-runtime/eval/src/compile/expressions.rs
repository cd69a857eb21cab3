//! Expressions.

use std::sync::Arc;

use cue_map::Map;
use cue_syntax::ast::{Binary, Element, Expr, ExprKind, Ident, Part, Span, Unary};
use cue_syntax::{Experiment, format_expr};

use super::scopes::{Imported, Opener};
use super::{Compiler, NO_MARKER};
use crate::builtin::{Builtin, Constant, Datum, Item, Member, Package};
use crate::number::Number;
use crate::program::{
    Arithmetic, At, Callee, Code, DeclLabel, Declaration, ExprId, Interpolated, LabelKind,
    ListElement, PartCode, Presence, Quotes, StructLiteral,
};
use crate::spots;

impl Compiler<'_> {
    /// Compiles an expression. What large literals in it declare is let go on the way: see [`Compiler::literal`].
    pub(super) fn expr(&mut self, expr: &mut Expr) -> ExprId {
        let span = expr.span;
        let code = match &mut expr.kind {
            ExprKind::Ident(name) => return self.identifier(name, span),
            ExprKind::Null => Code::Scalar(Datum::Null),
            ExprKind::Bool(it) => Code::Scalar(Datum::Bool(*it)),
            ExprKind::Number(text) => match Number::parse_literal(text) {
                Ok(number) => Code::Scalar(Datum::Number(number)),
                Err(error) => {
                    self.error(span, format!("parse error: {error}"));
                    Code::Bottom
                }
            },
            ExprKind::String(text) => Code::Scalar(Datum::text(text.clone())),
            ExprKind::Bytes(bytes) => Code::Scalar(Datum::Bytes(bytes.clone())),
            ExprKind::Interpolation { parts, bytes } => {
                let parts = parts
                    .iter_mut()
                    .map(|part| match part {
                        Part::Text(text) => PartCode::Text(text.as_slice().into()),
                        Part::Expr(inner) => PartCode::Value(self.expr(inner)),
                    })
                    .collect();
                let quotes = if *bytes { Quotes::Single } else { Quotes::Double };
                Code::Interpolation(Arc::new(Interpolated { parts, quotes }))
            }
            ExprKind::Bottom | ExprKind::Bad => Code::Bottom,
            ExprKind::Top => Code::Top,
            ExprKind::Struct(decls) => {
                let names = Map::with_capacity(decls.len());
                return self.literal(decls, names, span);
            }
            ExprKind::List(elements)
                if self.experiments.has(Experiment::AliasV2)
                    && self.text_of(span).contains("self") =>
            {
                self.scopes.enter(Opener::List, Map::default());
                let list = self.list(elements);
                self.scopes.leave();
                Code::Aliased(self.push(list, span))
            }
            ExprKind::List(elements) => self.list(elements),
            ExprKind::Unary(op, operand) => {
                // Nothing is said of what is behind a misplaced mark.
                let operand = match op {
                    Unary::Default => self.push(Code::Bottom, span),
                    Unary::Attempt => {
                        self.check_marker(span);
                        self.expr(operand)
                    }
                    _ => self.expr(operand),
                };
                match op {
                    Unary::Plus => Code::Positive(operand),
                    Unary::Minus => Code::Negative(operand),
                    Unary::Not => Code::Not(operand),
                    Unary::Bound(compare) => Code::Bound(*compare, operand),
                    Unary::Attempt => Code::Attempt(operand),
                    Unary::Open => Code::Opened(operand),
                    Unary::Default => {
                        self.error(span, "preference mark not allowed at this position");
                        Code::Bottom
                    }
                }
            }
            ExprKind::Binary(Binary::Disjoin, ..) => {
                let mut all = Vec::new();
                self.disjuncts(expr, &mut all);
                Code::Disjoin(all.into())
            }
            ExprKind::Binary(op, left, right) => {
                // What is compared with bottom is a value of its own, as what is selected from.
                let asked = matches!(right.kind, ExprKind::Bottom);
                let operands = match op {
                    Binary::Unify => None,
                    _ => Some([bound_as_written(left), bound_as_written(right)]),
                };
                let (first, second) = (left, right);
                let left = if asked { self.base(first) } else { self.expr(first) };
                let right = self.expr(second);
                if let Some([bound, other]) = operands {
                    self.concrete_operand(*op, first, bound, left);
                    self.concrete_operand(*op, second, other, right);
                }
                match op {
                    Binary::Unify | Binary::Disjoin => Code::Unify(left, right),
                    Binary::And => Code::And(left, right),
                    Binary::Or => Code::Or(left, right),
                    Binary::Compare(compare) => Code::Compare(*compare, left, right),
                    Binary::Add => Code::Arithmetic(Arithmetic::Add, left, right),
                    Binary::Subtract => Code::Arithmetic(Arithmetic::Subtract, left, right),
                    Binary::Multiply => Code::Arithmetic(Arithmetic::Multiply, left, right),
                    Binary::Divide => Code::Arithmetic(Arithmetic::Divide, left, right),
                }
            }
            ExprKind::Select(it) => return self.select(&mut it.0, &it.1, span),
            ExprKind::Index(operand, index) => Code::Index(self.base(operand), self.expr(index)),
            ExprKind::Slice(it) => Code::Slice(
                self.expr(&mut it.0),
                it.1.as_mut().map(|it| self.expr(it)),
                it.2.as_mut().map(|it| self.expr(it)),
            ),
            ExprKind::Call(callee, arguments) => {
                let callee = self.expr(callee);
                let arguments = Arc::new(arguments.iter_mut().map(|it| self.expr(it)).collect());
                match self.program.code(callee) {
                    Code::Function(callee) => Code::Call(*callee, arguments),
                    _ => Code::CallOf(callee, arguments),
                }
            }
            ExprKind::Paren(inner) => return self.expr(inner),
            ExprKind::Comprehension(clauses, body) => {
                let index = self.comprehension(clauses, body, span);
                self.program.add_struct(StructLiteral {
                    declarations: vec![Declaration::Comprehension(index)],
                    has_embeds: true,
                    explicit: self.experiments.has(Experiment::ExplicitOpen),
                    ..StructLiteral::default()
                })
            }
        };
        self.push(code, span)
    }

    /// Where a marker stands that is not allowed there: told before what is wrong with its operand.
    fn check_marker(&mut self, span: Span) {
        if !self.experiments.has(Experiment::Try) {
            self.error(span, NO_MARKER);
        } else if !self.trying {
            self.error(span, "optional marker (?) is only valid within a try clause");
        }
    }

    pub(super) fn disjuncts(&mut self, expr: &mut Expr, all: &mut Vec<(ExprId, bool)>) {
        match &mut expr.kind {
            ExprKind::Binary(Binary::Disjoin, left, right) => {
                self.disjuncts(left, all);
                self.disjuncts(right, all);
            }
            ExprKind::Unary(Unary::Default, inner) => {
                let inner = self.alternative(unmarked(inner));
                all.push((inner, true));
            }
            _ => {
                let inner = self.alternative(expr);
                all.push((inner, false));
            }
        }
    }

    pub(super) fn select(&mut self, operand: &mut Expr, selector: &Ident, span: Span) -> ExprId {
        let (name, name_span) = (&selector.name, selector.span);
        if let ExprKind::Ident(package) = &operand.kind {
            if let Some(Imported::Builtin(package)) = self.imported(package) {
                let Some(member) = package.member(name) else {
                    // As of a struct that has nothing.
                    let empty = self.program.add_struct(StructLiteral::default());
                    let empty = self.push(empty, operand.span);
                    self.program.name_package(empty, package.reference());
                    let label = self.label(name);
                    return self.push(Code::Select(empty, label), span);
                };
                return self.member(package, member, span);
            }
        }
        let source = self.program.sources.get(self.source as usize);
        let quoted =
            source.and_then(|it| it.text.as_bytes().get(name_span.start as usize)) == Some(&b'"');
        let label = if quoted {
            self.program.labels.of(LabelKind::Regular, name)
        } else {
            self.label(name)
        };
        let operand = self.base(operand);
        self.push(Code::Select(operand, label), span)
    }

    /// What a name of a builtin package stands for.
    fn member(&mut self, package: &'static Package, member: &'static Member, span: Span) -> ExprId {
        match &member.item {
            Item::Function(_) => {
                let function = Builtin::named(package.path, member.name).map(Callee::Package);
                self.push(function.map_or(Code::Bottom, Code::Function), span)
            }
            Item::Constant(constant) => self.constant(package, member.name, constant, span),
        }
    }

    /// A builtin package where it is a value itself: a struct of all that it has.
    pub(super) fn whole(&mut self, package: &'static Package, span: Span) -> ExprId {
        let at = At { source: self.source, span };
        let mut literal = StructLiteral::default();
        for member in package.members {
            let label = DeclLabel::Fixed(self.label(&member.name.into()));
            let value = self.member(package, member, span);
            let presence = Presence::Member;
            literal.declarations.push(Declaration::Field { label, presence, value, notes: 0, at });
        }
        let literal = self.program.add_struct(literal);
        let literal = self.push(literal, span);
        self.program.name_package(literal, package.reference());
        literal
    }

    /// The struct that has what a package says in CUE.
    fn package_text(&mut self, package: &'static Package) -> ExprId {
        let known = self.texts.iter().find(|it| it.0 == package.path);
        if let Some((_, known)) = known {
            return *known;
        }
        let outside = std::mem::take(&mut self.scopes);
        let source = std::mem::replace(&mut self.source, spots::source_of(package));
        let text = match cue_syntax::parse_expr(package.text) {
            Ok(mut expr) => self.expr(&mut expr),
            Err(_) => self.push(Code::Bottom, Span::default()),
        };
        self.scopes = outside;
        self.source = source;
        self.texts.push((package.path, text));
        text
    }

    fn constant(
        &mut self,
        package: &'static Package,
        name: &str,
        constant: &Constant,
        span: Span,
    ) -> ExprId {
        let value = match constant {
            Constant::Int(value) => Code::Scalar(Datum::Number(Number::int(*value))),
            Constant::Number(text) => match Number::parse_literal(text) {
                Ok(number) => Code::Scalar(Datum::Number(number)),
                Err(_) => Code::Bottom,
            },
            Constant::String(text) => Code::Scalar(Datum::text(*text)),
            Constant::Cue => {
                let text = self.package_text(package);
                let label = self.label(&name.into());
                return self.push(Code::Select(text, label), span);
            }
        };
        // A constant is a field of its package: it stands there.
        let at = At { source: spots::source_of(package), span: spots::constant(package, name) };
        let value = self.program.push(value, at);
        let label = self.label(&name.into());
        let notes = 0;
        let field = Declaration::Field {
            label: DeclLabel::Fixed(label),
            presence: Presence::Member,
            value,
            notes,
            at,
        };
        let literal = StructLiteral { declarations: vec![field], ..StructLiteral::default() };
        let literal = self.program.add_struct(literal);
        let literal = self.program.push(literal, at);
        self.push(Code::Select(literal, label), span)
    }

    fn list(&mut self, elements: &mut [Element]) -> Code {
        let mut list = Vec::with_capacity(elements.len());
        for element in elements {
            list.push(match element {
                Element::Expr(inner) => match &mut inner.kind {
                    ExprKind::Comprehension(clauses, body) => {
                        ListElement::Comprehension(self.comprehension(clauses, body, inner.span))
                    }
                    _ => ListElement::Value(self.expr(inner)),
                },
                Element::Ellipsis(inner) => {
                    ListElement::Rest(inner.as_mut().map(|it| self.expr(it)))
                }
            });
            // As what is declared in a literal.
            *element = Element::Ellipsis(None);
        }
        Code::List(list.into())
    }
}

/// What is behind marks.
fn unmarked(expr: &mut Expr) -> &mut Expr {
    match expr {
        Expr { kind: ExprKind::Unary(Unary::Default, inner), .. } => unmarked(inner),
        it => it,
    }
}

/// A bound as messages show it; compiling may let go of what it stands before.
fn bound_as_written(mut operand: &Expr) -> Option<String> {
    let whole = operand;
    while let ExprKind::Paren(inner) = &operand.kind {
        operand = inner;
    }
    matches!(operand.kind, ExprKind::Unary(Unary::Bound(_), _)).then(|| format_expr(whole))
}
