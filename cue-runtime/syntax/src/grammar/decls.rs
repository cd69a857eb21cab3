//! Declarations: fields and their labels, lets, comprehensions (rules 2.1 and 2.2).

use thin_vec::thin_vec;

use super::piecemeal::Decls;
use super::{DEEPEST, Grammar, too_deep};
use crate::language::Experiment;
use crate::scan::T;
use crate::tree::{Extras, Kind, Mark, NodeId, Nodes, PostAlias};

/// Where a label stands in `a: b: c`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Position {
    Outer,
    Inner,
}

enum Label {
    /// What may stand before a colon.
    Fits(NodeId),
    /// Another expression, parsed or to be parsed.
    Expr(Option<NodeId>),
    /// A whole declaration.
    Decl(NodeId),
}

impl Grammar<'_> {
    /// Declarations up to a closing brace. The last one is not lowered: comments above the brace are its.
    pub(super) fn decls(&mut self) -> Decls {
        let mut list = self.no_decls();
        self.open_list();
        while !self.is(T::RBrace) && !self.is(T::Eof) {
            self.lower(&mut list);
            match self.token.kind {
                T::Attribute => {
                    list.nodes.push(self.attribute());
                    self.decl_comma();
                }
                T::Ellipsis => {
                    list.nodes.push(self.leaf(Kind::Ellipsis(None)));
                    self.decl_comma();
                }
                _ => list.nodes.push(self.field()),
            }
        }
        self.close_list();
        list
    }

    pub(super) fn attribute(&mut self) -> NodeId {
        self.leaf(Kind::Attribute(self.text().into()))
    }

    pub(super) fn ident(&mut self) -> NodeId {
        if self.is(T::Ident) {
            return self.leaf(Kind::Ident(self.text().into()));
        }
        self.open();
        let mark = self.mark();
        self.expect(T::Ident);
        let id = self.tree.add(mark, mark.at, Kind::Ident("_".into()));
        self.close(id)
    }

    pub(super) fn declared(&mut self) -> NodeId {
        if self.is(T::Ident) && self.text().starts_with("__") {
            self.error(self.token.start, "identifiers starting with '__' are reserved");
        }
        self.ident()
    }

    pub(super) fn keyword(&mut self) -> NodeId {
        let text = self.text();
        self.leaf(Kind::Ident(text.into()))
    }

    /// `let x = e`, or the word as a name.
    pub(super) fn let_decl(&mut self) -> Result<NodeId, NodeId> {
        self.open();
        let mark = self.mark();
        let end = self.token.end;
        self.expect(T::Let);
        if !self.is(T::Ident) {
            let id = self.tree.add(mark, end, Kind::Ident("let".into()));
            return Err(self.close(id));
        }
        let name = self.declared();
        let equal = self.bind();
        let value = self.rhs();
        self.decl_comma();
        let id = self.tree.add(mark, self.end_of(value), Kind::Let { name, equal, value });
        Ok(self.close(id))
    }

    pub(super) fn bind(&mut self) -> Mark {
        self.expect(T::Bind)
    }

    /// A comprehension, or its first word as a name. Takes the comma of a declaration.
    pub(super) fn comprehension(&mut self) -> Result<NodeId, NodeId> {
        self.open();
        let mark = self.mark();
        match self.clauses() {
            Err(name) => Err(self.close(name)),
            Ok(clauses) => {
                let (body, fallback) = self.comprehension_body(&clauses);
                if self.at_comma("struct literal", &[T::RBrace, T::Eof]) {
                    self.next();
                }
                let end = self.end_of(fallback.unwrap_or(body));
                let kind = Kind::Comprehension { clauses, body, fallback };
                let id = self.tree.add(mark, end, kind);
                Ok(self.close(id))
            }
        }
    }

    pub(super) fn comprehension_body(&mut self, clauses: &[NodeId]) -> (NodeId, Option<NodeId>) {
        self.open();
        let body = self.structure();
        self.close(body);
        if !matches!(self.token.kind, T::Else | T::Otherwise | T::Fallback) {
            return (body, None);
        }
        self.open();
        let mark = self.mark();
        let word = self.token.kind;
        let single = matches!(clauses, [only]
            if matches!(self.tree[*only].kind, Kind::If(_) | Kind::Try(_)));
        if !self.experiments.has(Experiment::Try) {
            self.error(mark.at, format!("{} requires @experiment(try)", word.text()));
        } else if single && word != T::Else {
            self.error(mark.at, "use 'else' with single 'if' or 'try' clause");
        } else if !single && word == T::Else {
            let message =
                "use 'otherwise' for comprehensions with multiple clauses or 'for' clauses";
            self.error(mark.at, message);
        }
        self.next();
        let otherwise = self.structure();
        let id = self.tree.add(mark, self.end_of(otherwise), Kind::Fallback(word, otherwise));
        (body, Some(self.close(id)))
    }

    /// Clauses; the first word as a name if it is no clause (rule 2.2).
    pub(super) fn clauses(&mut self) -> Result<Nodes, NodeId> {
        let mut clauses = Nodes::new();
        loop {
            let first = clauses.is_empty();
            let mark = self.mark();
            let word = self.token.kind;
            let end = self.token.end;
            let id = match word {
                T::For | T::If => {
                    let frame = self.open();
                    self.expect(word);
                    let mut name = matches!(
                        self.token.kind,
                        T::Colon | T::Bind | T::Option | T::Comma | T::Eof
                    );
                    if self.is(T::Not) {
                        name = word == T::For || self.peek() == T::Colon;
                    }
                    if first && name {
                        let id = self.tree.add(mark, end, Kind::Ident(word.text().into()));
                        return Err(self.close(id));
                    }
                    if word == T::If {
                        let condition = self.rhs();
                        self.tree.add(mark, self.end_of(condition), Kind::If(condition))
                    } else {
                        let mut value = self.declared();
                        let mut key = None;
                        if self.is(T::Comma) {
                            let comma = self.mark();
                            self.next();
                            key = Some((value, comma));
                            value = self.declared();
                        }
                        self.frames.set_slot(frame, 4);
                        let at = self.expect(T::In);
                        let source = self.rhs();
                        let kind = Kind::For { key, value, at, source };
                        self.tree.add(mark, self.end_of(source), kind)
                    }
                }
                T::Let if !first => {
                    self.open();
                    self.next();
                    let name = self.declared();
                    let equal = self.bind();
                    let value = self.rhs();
                    self.tree.add(mark, self.end_of(value), Kind::Let { name, equal, value })
                }
                T::Try => {
                    self.open();
                    self.next();
                    let mut binding = None;
                    let mut until = end;
                    if self.is(T::Ident) {
                        let name = self.declared();
                        let equal = self.bind();
                        let value = self.rhs();
                        until = self.end_of(value);
                        binding = Some((name, equal, value));
                    }
                    self.tree.add(mark, until, Kind::Try(binding))
                }
                _ => return Ok(clauses),
            };
            clauses.push(self.close(id));
            if self.is(T::Comma) {
                self.next();
            }
        }
    }

    /// A field, embedding, let or comprehension with the comma behind it (rule 2.1).
    pub(super) fn field(&mut self) -> NodeId {
        self.open();
        let id = self.field_inner();
        self.close(id)
    }

    pub(super) fn field_inner(&mut self) -> NodeId {
        let mark = self.mark();
        let (label, expr) = match self.label(Position::Outer) {
            Label::Decl(id) => return id,
            Label::Fits(id) => (Some(id), id),
            Label::Expr(Some(id)) => (None, id),
            Label::Expr(None) => (None, self.rhs()),
        };
        let Some(label) = label else {
            if matches!(self.tree[expr].kind, Kind::Alias { .. }) {
                self.expected(self.token.start, "label or ':'");
                self.decl_comma();
                return self.tree.add(mark, mark.at, Kind::Bad);
            }
            self.decl_comma();
            return self.tree.add(mark, self.end_of(expr), Kind::Embed(expr));
        };
        let alias = self.post_alias();
        let constraint = self.constraint();
        match self.token.kind {
            T::Colon => {}
            T::Comma | T::RBrace | T::Eof => {
                if self.is(T::Comma) {
                    self.next();
                }
                let plain = alias.is_none() && constraint.is_none();
                if plain && !matches!(self.tree[label].kind, Kind::Alias { .. }) {
                    return self.tree.add(mark, self.end_of(expr), Kind::Embed(expr));
                }
                self.expected(self.token.start, "label or ':'");
                return self.tree.add(mark, mark.at, Kind::Bad);
            }
            _ => {
                self.expected(self.token.start, "label or ':'");
                return self.tree.add(mark, mark.at, Kind::Bad);
            }
        }
        // Labels from the outside in, then the value, then fields from the inside out.
        let mut chain = vec![(label, alias, constraint)];
        self.next();
        let value = loop {
            let outer = chain.last().map_or(label, |it| it.0);
            self.check_pattern(outer);
            match self.label(Position::Inner) {
                Label::Fits(inner)
                    if matches!(self.token.kind, T::Colon | T::Option | T::Not | T::Tilde) =>
                {
                    if chain.len() as u32 + self.depth > DEEPEST {
                        self.error(self.token.start, too_deep());
                        self.stop();
                        break inner;
                    }
                    let alias = self.post_alias();
                    let constraint = self.constraint();
                    if !self.is(T::Colon) {
                        self.expected(self.token.start, "':'");
                    }
                    chain.push((inner, alias, constraint));
                    self.next();
                }
                Label::Fits(value) | Label::Expr(Some(value)) | Label::Decl(value) => break value,
                Label::Expr(None) => break self.rhs(),
            }
        };
        let mut attributes = Nodes::new();
        self.open_list();
        while self.is(T::Attribute) {
            attributes.push(self.attribute());
        }
        self.close_list();
        self.decl_comma();
        let mut value = value;
        let mut attributes = Some(attributes);
        let outermost = chain.len();
        for (index, (label, alias, constraint)) in chain.into_iter().enumerate().rev() {
            let mark = self.tree.began(label);
            let attributes = attributes.take().unwrap_or_default();
            let end = self.end_of(attributes.last().copied().unwrap_or(value));
            let extras = Extras::new(alias, constraint, attributes);
            let kind = Kind::Field { label, value, extras };
            let field = self.tree.add(mark, end, kind);
            value = field;
            if index > 0 && outermost > 1 {
                let kind = Kind::Struct { braces: None, decls: thin_vec![field] };
                value = self.tree.add(mark, end, kind);
            }
        }
        value
    }

    pub(super) fn check_pattern(&mut self, label: NodeId) {
        let node = &self.tree[label];
        let mut node = node;
        while let Kind::Alias { value, .. } = &node.kind {
            node = &self.tree[*value];
        }
        if let Kind::List { elements, .. } = &node.kind {
            if elements.len() != 1 {
                let at = node.mark.at;
                self.error(at, "square bracket must have exactly one element");
            }
        }
    }

    pub(super) fn constraint(&mut self) -> Option<T> {
        let kind = self.token.kind;
        matches!(kind, T::Option | T::Not).then(|| {
            self.next();
            kind
        })
    }

    /// `~X`, `~(K,V)` (rule 2.5)
    pub(super) fn post_alias(&mut self) -> Option<PostAlias> {
        if !self.is(T::Tilde) {
            return None;
        }
        let tilde = self.mark();
        if !self.experiments.has(Experiment::AliasV2) {
            self.error(tilde.at, "postfix alias syntax requires @experiment(aliasv2)");
        }
        self.next();
        if self.is(T::Ident) {
            let field = self.declared();
            return Some(PostAlias { tilde, parens: None, label: None, field });
        }
        if !self.is(T::LParen) {
            self.expected(self.token.start, "identifier or '('");
            return None;
        }
        let open = self.mark();
        self.next();
        if !self.is(T::Ident) {
            self.expected(self.token.start, "identifier for label alias");
        }
        let mut field = self.declared();
        let mut label = None;
        if self.is(T::Comma) {
            let comma = self.mark();
            self.next();
            if !self.is(T::Ident) {
                self.expected(self.token.start, "identifier for field alias");
            }
            label = Some((field, comma));
            field = self.declared();
        } else if !self.is(T::RParen) {
            self.expected(self.token.start, "','");
            return Some(PostAlias { tilde, parens: None, label, field });
        }
        let close = self.expect(T::RParen);
        Some(PostAlias { tilde, parens: Some((open, close)), label, field })
    }

    fn label(&mut self, position: Position) -> Label {
        let inner = position == Position::Inner;
        let token = self.token.kind;
        let expr = match token {
            T::For | T::If | T::Try if !inner => match self.comprehension() {
                Ok(decl) => return Label::Decl(decl),
                Err(name) => name,
            },
            T::Let if !inner => match self.let_decl() {
                Ok(decl) => return Label::Decl(decl),
                Err(name) => name,
            },
            T::Ident | T::String | T::Interpolation | T::LParen | T::LBrack => self.expr(),
            kind if kind.is_keyword() => self.expr(),
            _ => return Label::Expr(None),
        };
        match &self.tree[expr].kind {
            Kind::Literal(T::String | T::Null | T::True | T::False, _) => Label::Fits(expr),
            Kind::Interpolation(_) | Kind::Paren { .. } | Kind::List { .. } => Label::Fits(expr),
            Kind::Ident(name) => {
                let reserved = name.starts_with("__");
                let alias = self.is(T::Bind);
                let label = !inner
                    && (self.is(T::Colon)
                        || matches!(self.token.kind, T::Option | T::Not | T::Tilde));
                if reserved && (alias || label) {
                    let at = self.tree[expr].mark.at;
                    self.error(at, "identifiers starting with '__' are reserved");
                }
                let expr = self.alias(expr);
                match &self.tree[expr].kind {
                    Kind::Alias { value, .. } => match self.tree[*value].kind {
                        Kind::Ident(_)
                        | Kind::Literal(..)
                        | Kind::Interpolation(_)
                        | Kind::Alias { .. }
                        | Kind::List { .. }
                        | Kind::Paren { .. } => Label::Fits(expr),
                        _ => Label::Expr(Some(expr)),
                    },
                    _ => Label::Fits(expr),
                }
            }
            _ => Label::Expr(Some(expr)),
        }
    }

    pub(super) fn alias(&mut self, name: NodeId) -> NodeId {
        if !self.is(T::Bind) {
            return name;
        }
        let equal = self.mark();
        if self.experiments.has(Experiment::AliasV2) {
            let message = "old-style alias syntax (=) is not allowed with @experiment(aliasv2); use postfix syntax (~X or ~(K,V))";
            self.error(equal.at, message);
        }
        self.next();
        let value = self.rhs();
        if !matches!(self.tree[name].kind, Kind::Ident(_)) {
            self.expected(self.token.start, "identifier for alias");
            return value;
        }
        let (mark, end) = (self.tree.began(name), self.end_of(value));
        self.tree.add(mark, end, Kind::Alias { name, equal, value })
    }
}
