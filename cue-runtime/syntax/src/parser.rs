//! Tokens to tree; never fails: what cannot be parsed is an error and a `Bad` expression.

use std::sync::Arc;

use crate::ast::{
    Attribute, Binary, Clause, Compare, Decl, Element, Expr, ExprKind, Field, File, Ident, Import,
    Label, Marker, Part, Span, Unary,
};
use crate::lexer::{self, Kind, TextPart, Token};

/// What is wrong with a source text, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// CUE's words.
    pub message: String,
    /// Where.
    pub span: Span,
}

/// A file's tree and the errors in it.
#[derive(Clone, Debug, Default)]
pub struct Parsed {
    /// The tree; complete if there are no errors.
    pub file: File,
    /// In source order.
    pub errors: Vec<SyntaxError>,
}

/// Deepest nesting of expressions.
const NESTING: u32 = 2_000;

/// Most errors kept for one file.
const ERRORS: usize = 20;

/// Parses a file.
pub fn parse_file(text: &str) -> Parsed {
    let (tokens, errors) = lexer::tokens(text);
    let mut parser = Parser { tokens, at: 0, errors, depth: 0, text };
    let file = parser.file();
    let mut errors = parser.errors;
    errors.sort_by_key(|it| it.span.start);
    errors.truncate(ERRORS);
    Parsed { file, errors }
}

/// Parses an expression.
///
/// # Errors
/// What is wrong with it.
pub fn parse_expr(text: &str) -> Result<Expr, Vec<SyntaxError>> {
    let (tokens, errors) = lexer::tokens(text);
    let mut parser = Parser { tokens, at: 0, errors, depth: 0, text };
    let expr = parser.expr();
    parser.skip_commas();
    if parser.peek() != &Kind::End {
        parser.unexpected("end of expression");
    }
    if parser.errors.is_empty() { Ok(expr) } else { Err(parser.errors) }
}

struct Parser<'a> {
    tokens: Vec<Token>,
    at: usize,
    errors: Vec<SyntaxError>,
    depth: u32,
    text: &'a str,
}

impl Parser<'_> {
    fn token(&self) -> &Token {
        &self.tokens[self.at.min(self.tokens.len() - 1)]
    }

    fn peek(&self) -> &Kind {
        &self.token().kind
    }

    fn peek_at(&self, ahead: usize) -> &Kind {
        &self.tokens[(self.at + ahead).min(self.tokens.len() - 1)].kind
    }

    fn span(&self) -> Span {
        self.token().span
    }

    fn last_span(&self) -> Span {
        self.tokens[self.at.saturating_sub(1).min(self.tokens.len() - 1)].span
    }

    fn bump(&mut self) -> Token {
        let token = self.token().clone();
        if self.at < self.tokens.len() - 1 {
            self.at += 1;
        }
        token
    }

    fn is(&self, op: &str) -> bool {
        matches!(self.peek(), Kind::Op(it) if *it == op)
    }

    fn eat(&mut self, op: &str) -> bool {
        let found = self.is(op);
        if found {
            self.bump();
        }
        found
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Kind::Ident(it) if it == word)
    }

    fn error(&mut self, span: Span, message: impl Into<String>) {
        self.errors.push(SyntaxError { message: message.into(), span });
    }

    fn found(&self) -> String {
        match self.peek() {
            Kind::End => "'EOF'".into(),
            Kind::Comma(true) => "newline".into(),
            Kind::Comma(false) => "','".into(),
            Kind::Ident(name) => format!("'IDENT' {name}"),
            Kind::Number(text) => format!("'INT' {text}"),
            Kind::Text { .. } => {
                let span = self.span();
                let text = self.text.get(span.start as usize..span.end as usize);
                format!("'STRING' {}", text.unwrap_or_default())
            }
            Kind::Attribute { .. } => "'ATTRIBUTE'".into(),
            Kind::Op(op) => format!("'{op}'"),
            Kind::Bad => "'ILLEGAL'".into(),
        }
    }

    fn unexpected(&mut self, wanted: &str) {
        // The lexer has said what is wrong with a bad token.
        if self.peek() != &Kind::Bad {
            let message = format!("expected {wanted}, found {}", self.found());
            self.error(self.span(), message);
        }
    }

    fn expect(&mut self, op: &'static str) {
        if !self.eat(op) {
            self.unexpected(&format!("'{op}'"));
        }
    }

    fn skip_commas(&mut self) {
        while matches!(self.peek(), Kind::Comma(_)) {
            self.bump();
        }
    }

    fn skip_newlines(&mut self) {
        while matches!(self.peek(), Kind::Comma(true)) {
            self.bump();
        }
    }

    fn file(&mut self) -> File {
        let mut file = File::default();
        self.skip_commas();
        while let Kind::Attribute { .. } = self.peek() {
            file.attributes.push(self.attribute());
            self.skip_commas();
        }
        if self.is_word("package") && matches!(self.peek_at(1), Kind::Ident(_)) {
            self.bump();
            file.package = self.ident();
            self.separator();
        }
        while self.is_word("import") && matches!(self.peek_at(1), Kind::Text { .. } | Kind::Ident(_) | Kind::Op("(")) {
            self.bump();
            if self.eat("(") {
                self.skip_commas();
                while !self.is(")") && self.peek() != &Kind::End {
                    let before = self.at;
                    self.import(&mut file.imports);
                    self.skip_commas();
                    if self.at == before {
                        self.bump();
                    }
                }
                self.expect(")");
            } else {
                self.import(&mut file.imports);
            }
            self.separator();
        }
        while self.peek() != &Kind::End {
            self.decls(&mut file.decls, None);
            if self.peek() != &Kind::End {
                self.unexpected("declaration");
                self.bump();
            }
        }
        file
    }

    fn import(&mut self, imports: &mut Vec<Import>) {
        let start = self.span();
        let name = match self.peek() {
            Kind::Ident(_) => self.ident(),
            _ => None,
        };
        match self.bump().kind {
            Kind::Text { parts, bytes: false } => {
                let path = plain(&parts).unwrap_or_default();
                imports.push(Import { name, path, span: start.to(self.last_span()) });
            }
            _ => self.error(start, "missing import path; require quoted string"),
        }
    }

    fn ident(&mut self) -> Option<Ident> {
        match self.peek() {
            Kind::Ident(name) => {
                let name: Arc<str> = name.as_str().into();
                let span = self.span();
                self.bump();
                Some(Ident { name, span })
            }
            _ => {
                self.unexpected("identifier");
                None
            }
        }
    }

    fn attribute(&mut self) -> Attribute {
        let span = self.span();
        match self.bump().kind {
            Kind::Attribute { name, body } => Attribute { name, body, span },
            _ => Attribute { name: String::new(), body: String::new(), span },
        }
    }

    /// A comma, or the end of what encloses.
    fn separator(&mut self) {
        match self.peek() {
            Kind::Comma(_) => self.skip_commas(),
            Kind::End | Kind::Op("}") => {}
            _ => {
                self.unexpected("','");
                self.recover();
            }
        }
    }

    /// Skips to where a declaration may start.
    fn recover(&mut self) {
        let mut open = 0u32;
        loop {
            match self.peek() {
                Kind::End => return,
                Kind::Comma(_) if open == 0 => {
                    self.skip_commas();
                    return;
                }
                Kind::Op("}") if open == 0 => return,
                Kind::Op("{" | "[" | "(") => open += 1,
                Kind::Op("}" | "]" | ")") => open = open.saturating_sub(1),
                _ => {}
            }
            self.bump();
        }
    }

    fn decls(&mut self, decls: &mut Vec<Decl>, close: Option<&str>) {
        loop {
            self.skip_commas();
            if self.peek() == &Kind::End || close.is_some_and(|it| self.is(it)) {
                return;
            }
            if close.is_none() && self.is("}") {
                return;
            }
            let before = self.at;
            if let Some(decl) = self.decl() {
                decls.push(decl);
            }
            if self.at == before {
                self.unexpected("declaration");
                self.bump();
                self.recover();
                continue;
            }
            self.separator();
        }
    }

    fn decl(&mut self) -> Option<Decl> {
        let start = self.span();
        if let Kind::Attribute { .. } = self.peek() {
            return Some(Decl::Attribute(self.attribute()));
        }
        if self.eat("...") {
            let value = (!self.ends()).then(|| Box::new(self.expr()));
            return Some(Decl::Ellipsis(value, start.to(self.last_span())));
        }
        if self.is_word("let") && matches!(self.peek_at(1), Kind::Ident(_)) {
            self.bump();
            let name = self.ident()?;
            self.expect("=");
            return Some(Decl::Let(name, Box::new(self.expr())));
        }
        if self.starts_comprehension() {
            let comprehension = self.comprehension();
            return Some(Decl::Embed(Box::new(comprehension)));
        }
        match self.field() {
            Some(field) => Some(Decl::Field(Box::new(field))),
            None => Some(Decl::Embed(Box::new(self.expr()))),
        }
    }

    fn ends(&self) -> bool {
        matches!(self.peek(), Kind::Comma(_) | Kind::End | Kind::Op("}" | "]" | ")"))
    }

    /// A field if one starts here; nothing is consumed otherwise.
    fn field(&mut self) -> Option<Field> {
        let start = self.at;
        let errors = self.errors.len();
        let docs = self.token().docs.clone();
        let span = self.span();
        let mut alias = None;
        if matches!(self.peek(), Kind::Ident(_)) && matches!(self.peek_at(1), Kind::Op("=")) {
            alias = self.ident();
            self.bump();
        }
        let label_span = self.span();
        let label = self.label();
        let marker = if self.is("?") {
            self.bump();
            Marker::Optional
        } else if self.is("!") {
            self.bump();
            Marker::Required
        } else {
            Marker::None
        };
        if label.is_some() && self.eat("~") {
            alias = self.ident();
        }
        let (Some(label), true) = (label, self.is(":")) else {
            self.at = start;
            self.errors.truncate(errors);
            return None;
        };
        let label_span = label_span.to(self.last_span());
        self.bump();
        let mut value_alias = None;
        if matches!(self.peek(), Kind::Ident(_)) && matches!(self.peek_at(1), Kind::Op("=")) {
            let name = self.tokens[self.at].clone();
            // `a: b=c` is an alias of the value, `a: b=c: d` one of the inner label.
            let here = self.at;
            self.at += 2;
            let inner = matches!(self.peek(), Kind::Ident(_) | Kind::Text { .. } | Kind::Op("(" | "["))
                && self.inner_field_follows();
            self.at = here;
            if !inner {
                if let Kind::Ident(text) = name.kind {
                    value_alias = Some(Ident { name: text.as_str().into(), span: name.span });
                }
                self.at += 2;
            }
        }
        self.depth += 1;
        let value = if self.depth > NESTING {
            self.error(self.span(), "nesting too deep");
            self.recover();
            Expr { kind: ExprKind::Bad, span: self.span() }
        } else {
            match self.chained_field(&docs) {
                Some(inner) => {
                    let span = inner.span;
                    Expr { kind: ExprKind::Struct(vec![Decl::Field(Box::new(inner))]), span }
                }
                None => self.expr(),
            }
        };
        self.depth -= 1;
        let chained = matches!(&value.kind, ExprKind::Struct(decls) if self.is_chain(decls, value.span));
        let mut attributes = Vec::new();
        while let Kind::Attribute { .. } = self.peek() {
            attributes.push(self.attribute());
        }
        let span = span.to(value.span);
        // In `a: b: c` the comment belongs to the innermost field.
        let docs = if chained { Vec::new() } else { docs };
        Some(Field { alias, label, marker, value_alias, value, attributes, docs, span, label_span })
    }

    /// Whether a struct was written as `a: b: c`, without braces.
    fn is_chain(&self, decls: &[Decl], span: Span) -> bool {
        decls.len() == 1 && self.text.as_bytes().get(span.start as usize) != Some(&b'{')
    }

    fn inner_field_follows(&mut self) -> bool {
        let here = self.at;
        let errors = self.errors.len();
        let found = self.label().is_some() && {
            if self.is("?") || self.is("!") {
                self.bump();
            }
            self.is(":")
        };
        self.at = here;
        self.errors.truncate(errors);
        found
    }

    fn chained_field(&mut self, docs: &[String]) -> Option<Field> {
        let labelled = match self.peek() {
            Kind::Ident(_) | Kind::Text { .. } | Kind::Op("(" | "[") => true,
            _ => false,
        };
        if !labelled {
            return None;
        }
        let mut field = self.field()?;
        if field.docs.is_empty() && !matches!(&field.value.kind, ExprKind::Struct(decls) if self.is_chain(decls, field.value.span))
        {
            field.docs = docs.to_vec();
        } else if field.docs.is_empty() {
            hand_down(&mut field, docs);
        }
        Some(field)
    }

    fn label(&mut self) -> Option<Label> {
        match self.peek().clone() {
            Kind::Ident(name) => {
                let span = self.span();
                self.bump();
                Some(Label::Ident(Ident { name: name.as_str().into(), span }))
            }
            Kind::Text { parts, bytes: false } => {
                let span = self.span();
                if let Some(text) = plain(&parts) {
                    self.bump();
                    return Some(Label::String(text.as_str().into(), span));
                }
                Some(Label::Interpolated(Box::new(self.operand())))
            }
            Kind::Op("(") => {
                self.bump();
                self.skip_newlines();
                let inner = self.expr();
                self.skip_newlines();
                self.eat(")").then(|| Label::Dynamic(Box::new(inner)))
            }
            Kind::Op("[") => {
                self.bump();
                self.skip_newlines();
                let mut alias = None;
                if matches!(self.peek(), Kind::Ident(_)) && matches!(self.peek_at(1), Kind::Op("=")) {
                    alias = self.ident();
                    self.bump();
                }
                if self.is("]") {
                    return None;
                }
                let inner = self.expr();
                self.skip_newlines();
                self.eat("]").then(|| Label::Pattern(Box::new(inner), alias))
            }
            _ => None,
        }
    }

    fn starts_comprehension(&self) -> bool {
        match self.peek() {
            Kind::Ident(word) if word == "for" => {
                matches!(self.peek_at(1), Kind::Ident(_)) && !matches!(self.peek_at(1), Kind::Op(":"))
            }
            Kind::Ident(word) if word == "if" => {
                !matches!(self.peek_at(1), Kind::Op(":" | "?" | "!" | "=") | Kind::Comma(_) | Kind::End)
                    || (matches!(self.peek_at(1), Kind::Op("!")) && !matches!(self.peek_at(2), Kind::Op(":")))
            }
            _ => false,
        }
    }

    fn comprehension(&mut self) -> Expr {
        let start = self.span();
        let mut clauses = Vec::new();
        loop {
            if self.is_word("for") {
                self.bump();
                let Some(first) = self.ident() else { break };
                let (key, value) = if matches!(self.peek(), Kind::Comma(false)) {
                    self.bump();
                    let Some(second) = self.ident() else { break };
                    (Some(first), second)
                } else {
                    (None, first)
                };
                if self.is_word("in") {
                    self.bump();
                } else {
                    self.unexpected("'in'");
                }
                let source = self.expr();
                clauses.push(Clause::For { key, value, source });
            } else if self.is_word("if") {
                self.bump();
                clauses.push(Clause::If(self.expr()));
            } else if self.is_word("let") {
                self.bump();
                let Some(name) = self.ident() else { break };
                self.expect("=");
                clauses.push(Clause::Let(name, self.expr()));
            } else {
                break;
            }
            if matches!(self.peek(), Kind::Comma(_))
                && matches!(self.peek_at(1), Kind::Ident(word) if matches!(word.as_str(), "for" | "if" | "let"))
            {
                self.skip_commas();
            }
        }
        let body = if self.is("{") {
            self.operand()
        } else {
            self.unexpected("'{'");
            Expr { kind: ExprKind::Bad, span: self.span() }
        };
        let span = start.to(self.last_span());
        Expr { kind: ExprKind::Comprehension(clauses, Box::new(body)), span }
    }

    pub(crate) fn expr(&mut self) -> Expr {
        self.depth += 1;
        if self.depth > NESTING {
            self.error(self.span(), "nesting too deep");
            self.recover();
            self.depth -= 1;
            return Expr { kind: ExprKind::Bad, span: self.span() };
        }
        let expr = self.binary(1);
        self.depth -= 1;
        expr
    }

    fn binary(&mut self, lowest: u8) -> Expr {
        let mut left = self.unary();
        loop {
            let Some((operator, precedence)) = self.operator() else { return left };
            if precedence < lowest {
                return left;
            }
            self.bump();
            let right = self.binary(precedence + 1);
            let span = left.span.to(right.span);
            left = Expr {
                kind: ExprKind::Binary(operator, Box::new(left), Box::new(right)),
                span,
            };
        }
    }

    fn operator(&self) -> Option<(Binary, u8)> {
        let Kind::Op(op) = self.peek() else { return None };
        Some(match *op {
            "|" => (Binary::Disjoin, 1),
            "&" => (Binary::Unify, 2),
            "||" => (Binary::Or, 3),
            "&&" => (Binary::And, 4),
            "+" => (Binary::Add, 6),
            "-" => (Binary::Subtract, 6),
            "*" => (Binary::Multiply, 7),
            "/" => (Binary::Divide, 7),
            other => (Binary::Compare(compare(other)?), 5),
        })
    }

    fn unary(&mut self) -> Expr {
        let start = self.span();
        let operator = match self.peek() {
            Kind::Op("+") => Unary::Plus,
            Kind::Op("-") => Unary::Minus,
            Kind::Op("!") => Unary::Not,
            Kind::Op("*") => Unary::Default,
            Kind::Op(op) => match compare(op) {
                Some(bound) => Unary::Bound(bound),
                None => return self.primary(),
            },
            _ => return self.primary(),
        };
        self.bump();
        self.depth += 1;
        if self.depth > NESTING {
            self.error(start, "nesting too deep");
            self.recover();
            self.depth -= 1;
            return Expr { kind: ExprKind::Bad, span: start };
        }
        let operand = self.unary();
        self.depth -= 1;
        let span = start.to(operand.span);
        Expr { kind: ExprKind::Unary(operator, Box::new(operand)), span }
    }

    fn primary(&mut self) -> Expr {
        let mut expr = self.operand();
        loop {
            let start = expr.span;
            let kind = match self.peek() {
                Kind::Op(".") => {
                    self.bump();
                    let span = self.span();
                    match self.peek().clone() {
                        Kind::Ident(name) => {
                            self.bump();
                            ExprKind::Select(Box::new(expr), name.as_str().into(), span)
                        }
                        Kind::Text { parts, bytes: false } if plain(&parts).is_some() => {
                            self.bump();
                            let name = plain(&parts).unwrap_or_default();
                            ExprKind::Select(Box::new(expr), name.as_str().into(), span)
                        }
                        _ => {
                            self.unexpected("selector");
                            ExprKind::Bad
                        }
                    }
                }
                Kind::Op("[") => {
                    self.bump();
                    self.skip_newlines();
                    let low = (!self.is(":")).then(|| Box::new(self.expr()));
                    self.skip_newlines();
                    if self.eat(":") {
                        let high = (!self.is("]")).then(|| Box::new(self.expr()));
                        self.skip_newlines();
                        self.expect("]");
                        ExprKind::Slice(Box::new(expr), low, high)
                    } else {
                        self.expect("]");
                        match low {
                            Some(index) => ExprKind::Index(Box::new(expr), index),
                            None => ExprKind::Bad,
                        }
                    }
                }
                Kind::Op("(") => {
                    self.bump();
                    let mut arguments = Vec::new();
                    self.skip_newlines();
                    while !self.is(")") && self.peek() != &Kind::End {
                        let before = self.at;
                        arguments.push(self.expr());
                        self.skip_newlines();
                        if matches!(self.peek(), Kind::Comma(_)) {
                            self.bump();
                            self.skip_newlines();
                        } else if !self.is(")") {
                            self.unexpected("')'");
                            self.recover();
                            break;
                        }
                        if self.at == before {
                            break;
                        }
                    }
                    self.expect(")");
                    ExprKind::Call(Box::new(expr), arguments)
                }
                _ => return expr,
            };
            expr = Expr { kind, span: start.to(self.last_span()) };
        }
    }

    fn operand(&mut self) -> Expr {
        let start = self.span();
        let kind = match self.peek().clone() {
            Kind::Ident(name) => {
                self.bump();
                match name.as_str() {
                    "null" => ExprKind::Null,
                    "true" => ExprKind::Bool(true),
                    "false" => ExprKind::Bool(false),
                    "_" => ExprKind::Top,
                    name => ExprKind::Ident(name.into()),
                }
            }
            Kind::Number(text) => {
                self.bump();
                ExprKind::Number(text.as_str().into())
            }
            Kind::Text { parts, bytes } => {
                self.bump();
                self.text(parts, bytes)
            }
            Kind::Op("_|_") => {
                self.bump();
                ExprKind::Bottom
            }
            Kind::Op("(") => {
                self.bump();
                self.skip_newlines();
                let inner = self.expr();
                self.skip_newlines();
                self.expect(")");
                ExprKind::Paren(Box::new(inner))
            }
            Kind::Op("{") => {
                self.bump();
                let mut decls = Vec::new();
                self.depth += 1;
                if self.depth > NESTING {
                    self.error(start, "nesting too deep");
                    self.recover();
                } else {
                    self.decls(&mut decls, Some("}"));
                }
                self.depth -= 1;
                self.expect("}");
                ExprKind::Struct(decls)
            }
            Kind::Op("[") => {
                self.bump();
                let elements = self.elements();
                self.expect("]");
                ExprKind::List(elements)
            }
            _ => {
                self.unexpected("operand");
                if !self.ends() {
                    self.bump();
                }
                ExprKind::Bad
            }
        };
        Expr { kind, span: start.to(self.last_span()) }
    }

    fn elements(&mut self) -> Vec<Element> {
        let mut elements = Vec::new();
        loop {
            self.skip_newlines();
            if self.is("]") || self.peek() == &Kind::End {
                return elements;
            }
            let before = self.at;
            if self.eat("...") {
                let value = (!self.ends()).then(|| Box::new(self.expr()));
                elements.push(Element::Ellipsis(value));
            } else if self.starts_comprehension() {
                elements.push(Element::Expr(self.comprehension()));
            } else {
                elements.push(Element::Expr(self.expr()));
            }
            match self.peek() {
                Kind::Comma(_) => {
                    self.bump();
                }
                Kind::Op("]") => return elements,
                _ => {
                    self.unexpected("']'");
                    self.recover();
                    if self.at == before {
                        return elements;
                    }
                }
            }
        }
    }

    fn text(&mut self, parts: Vec<TextPart>, bytes: bool) -> ExprKind {
        if parts.len() == 1 {
            if let Some(TextPart::Literal(text)) = parts.into_iter().next() {
                return if bytes {
                    ExprKind::Bytes(text.into())
                } else {
                    ExprKind::String(String::from_utf8_lossy(&text).into())
                };
            }
            return ExprKind::Bad;
        }
        let parts = parts
            .into_iter()
            .map(|part| match part {
                TextPart::Literal(text) => Part::Text(text),
                TextPart::Tokens(tokens) => {
                    let mut inner = Parser {
                        tokens,
                        at: 0,
                        errors: Vec::new(),
                        depth: self.depth + 1,
                        text: self.text,
                    };
                    let expr = inner.expr();
                    inner.skip_commas();
                    if inner.peek() != &Kind::End {
                        inner.unexpected("')' for string interpolation");
                    }
                    self.errors.append(&mut inner.errors);
                    Part::Expr(expr)
                }
            })
            .collect();
        ExprKind::Interpolation { parts, bytes }
    }
}

fn hand_down(field: &mut Field, docs: &[String]) {
    let mut field = field;
    loop {
        let next = match &mut field.value.kind {
            ExprKind::Struct(decls) if decls.len() == 1 => match decls.first_mut() {
                Some(Decl::Field(inner)) => inner,
                _ => return,
            },
            _ => return,
        };
        let innermost = !matches!(&next.value.kind, ExprKind::Struct(decls) if decls.len() == 1);
        if innermost {
            if next.docs.is_empty() {
                next.docs = docs.to_vec();
            }
            return;
        }
        field = next;
    }
}

fn compare(op: &str) -> Option<Compare> {
    Some(match op {
        "==" => Compare::Equal,
        "!=" => Compare::NotEqual,
        "<" => Compare::Less,
        "<=" => Compare::LessEqual,
        ">" => Compare::Greater,
        ">=" => Compare::GreaterEqual,
        "=~" => Compare::Match,
        "!~" => Compare::NotMatch,
        _ => return None,
    })
}

/// The text of a string without interpolations.
fn plain(parts: &[TextPart]) -> Option<String> {
    match parts {
        [TextPart::Literal(text)] => Some(String::from_utf8_lossy(text).into_owned()),
        _ => None,
    }
}
