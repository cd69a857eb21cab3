//! Expressions: operators, operands, lists, interpolations (rule 2).

use thin_vec::thin_vec;

use super::{DEEPEST, Grammar, Words, precedence, too_deep};
use crate::ast::Span;
use crate::language::Experiment;
use crate::parser::SyntaxError;
use crate::scan::T;
use crate::stack::OPERATORS;
use crate::tree::{Kind, NodeId, Nodes, Slice};

impl Grammar<'_> {
    pub(super) fn rhs(&mut self) -> NodeId {
        self.expr()
    }

    pub(super) fn expr(&mut self) -> NodeId {
        self.open();
        let id = self.binary(1);
        self.close(id)
    }

    pub(super) fn binary(&mut self, lowest: u8) -> NodeId {
        self.open_list();
        let left = self.unary();
        let id = self.binary_tail(lowest, left);
        self.close_list();
        id
    }

    pub(super) fn binary_tail(&mut self, lowest: u8, mut left: NodeId) -> NodeId {
        let mut operators = 0;
        loop {
            operators += 1;
            if operators > OPERATORS {
                self.error(self.token.start, too_deep());
                self.stop();
            }
            let op = self.token.kind;
            let word = self.is_word_operator();
            let precedence = precedence(if word { T::Mul } else { op });
            if precedence < lowest {
                return left;
            }
            if word {
                left = self.word_operation(left, precedence);
                continue;
            }
            let frame = self.open();
            self.frames.set_slot(frame, 1);
            let at = self.expect(op);
            let right = self.binary(precedence + 1);
            let (mark, end) = (self.tree.began(left), self.end_of(right));
            let id = self.tree.add(mark, end, Kind::Binary { left, op, at, right });
            left = self.close(id);
        }
    }

    fn is_word_operator(&self) -> bool {
        self.dialect.words == Words::Operators
            && self.is(T::Ident)
            && matches!(self.text(), "div" | "mod" | "quo" | "rem")
    }

    /// `x div y` is the call of the function of that name, whatever else has the name here.
    fn word_operation(&mut self, left: NodeId, precedence: u8) -> NodeId {
        let frame = self.open();
        self.frames.set_slot(frame, 1);
        let at = self.mark();
        let name = Kind::Ident(format!("__{}", self.text()).into());
        let callee = self.tree.add(at, self.token.end, name);
        self.next();
        let right = self.binary(precedence + 1);
        let (mark, end) = (self.tree.began(left), self.end_of(right));
        let arguments = thin_vec![left, right];
        let id = self.tree.add(mark, end, Kind::Call { callee, open: at, arguments, close: at });
        self.close(id)
    }

    pub(super) fn unary(&mut self) -> NodeId {
        self.depth += 1;
        if self.depth > DEEPEST {
            self.error(self.token.start, too_deep());
            self.stop();
        }
        let op = self.token.kind;
        let prefix = matches!(
            op,
            T::Add
                | T::Sub
                | T::Not
                | T::Mul
                | T::Lss
                | T::Leq
                | T::Gtr
                | T::Geq
                | T::Neq
                | T::Mat
                | T::NMat
        ) || op == T::Eql && self.experiments.has(Experiment::StructCmp);
        let id = if prefix {
            self.open();
            let mark = self.mark();
            self.next();
            let operand = self.unary();
            let id = self.tree.add(mark, self.end_of(operand), Kind::Unary(op, operand));
            self.close(id)
        } else {
            self.primary()
        };
        self.depth -= 1;
        id
    }

    pub(super) fn primary(&mut self) -> NodeId {
        let mut x = self.operand();
        let mut depth = self.depth;
        loop {
            depth += 1;
            if depth > 2 * DEEPEST {
                self.error(self.token.start, too_deep());
                self.stop();
            }
            let mark = self.tree.began(x);
            x = match self.token.kind {
                T::Period => {
                    let frame = self.open();
                    self.frames.set_slot(frame, 1);
                    self.next();
                    let text = self.text();
                    let name = match self.token.kind {
                        T::Ident => self.ident(),
                        T::String if text.starts_with('"') && !text.starts_with("\"\"") => {
                            let mark = self.mark();
                            let kind = Kind::Literal(T::String, text.into());
                            let id = self.tree.add(mark, self.token.end, kind);
                            self.next();
                            id
                        }
                        kind if kind.is_keyword() => self.keyword(),
                        _ => {
                            let mark = self.mark();
                            self.expected(mark.at, "selector");
                            self.next();
                            self.tree.add(mark, mark.at, Kind::Ident("_".into()))
                        }
                    };
                    let id = self.tree.add(mark, self.end_of(name), Kind::Selector(x, name));
                    let id = self.close(id);
                    self.attempt(id)
                }
                T::LBrack => self.index(x),
                T::LParen => {
                    self.open();
                    self.open_list();
                    let open = self.mark();
                    self.next();
                    let mut arguments = Nodes::new();
                    while !self.is(T::RParen) && !self.is(T::Eof) {
                        arguments.push(self.rhs());
                        if !self.at_comma("argument list", &[T::RParen]) {
                            break;
                        }
                        self.next();
                    }
                    let (close, end) = self.expect_closing(T::RParen, "argument list");
                    self.close_list();
                    let kind = Kind::Call { callee: x, open, arguments, close };
                    let id = self.tree.add(mark, end, kind);
                    self.close(id)
                }
                T::Ellipsis => {
                    if !self.experiments.has(Experiment::ExplicitOpen) {
                        let at = self.token.start;
                        let message =
                            "postfix ... operator requires @experiment(explicitopen)".to_owned();
                        let span = Span { start: at, end: self.token.end };
                        self.errors.push(SyntaxError { message, span });
                    }
                    self.postfix(x)
                }
                _ => return x,
            };
        }
    }

    pub(super) fn postfix(&mut self, x: NodeId) -> NodeId {
        let frame = self.open();
        self.frames.set_slot(frame, 1);
        let (end, op) = (self.token.end, self.token.kind);
        self.next();
        let id = self.tree.add(self.tree.began(x), end, Kind::Postfix(x, op));
        self.close(id)
    }

    /// `x?` of a name, unless a colon follows: that is an optional field.
    pub(super) fn question(&mut self, x: NodeId) -> NodeId {
        if self.is(T::Option) && self.peek() != T::Colon { self.postfix(x) } else { x }
    }

    /// `x?` of a selection, which is no label.
    pub(super) fn attempt(&mut self, x: NodeId) -> NodeId {
        if self.is(T::Option) { self.postfix(x) } else { x }
    }

    pub(super) fn index(&mut self, base: NodeId) -> NodeId {
        let frame = self.open();
        self.frames.set_slot(frame, 1);
        let mark = self.tree.began(base);
        let open = self.expect(T::LBrack);
        let low = (!self.is(T::Colon)).then(|| self.rhs());
        let sliced = self.is(T::Colon);
        let mut high = None;
        if sliced {
            self.next();
            if !matches!(self.token.kind, T::RBrack | T::Eof) {
                high = Some(self.rhs());
            }
        }
        if !sliced && self.is(T::Comma) {
            self.next();
        }
        let end = self.token.end;
        let close = self.expect(T::RBrack);
        let kind = match low {
            Some(index) if !sliced => Kind::Index { base, open, index, close },
            low => Kind::Slice(Box::new(Slice { base, open, low, high, close })),
        };
        let id = self.tree.add(mark, end, kind);
        let id = self.close(id);
        if sliced { id } else { self.attempt(id) }
    }

    pub(super) fn operand(&mut self) -> NodeId {
        let text = self.text();
        match self.token.kind {
            T::Ident => {
                let id = self.ident();
                self.question(id)
            }
            T::LBrace => self.structure(),
            T::LBrack => self.list(),
            T::Bottom => self.leaf(Kind::Bottom),
            kind @ (T::Null | T::True | T::False | T::Int | T::Float | T::String) => {
                self.leaf(Kind::Literal(kind, text.into()))
            }
            T::Interpolation => self.interpolation(),
            T::LParen => {
                self.open();
                let mark = self.mark();
                self.next();
                self.open_list();
                let inner = self.rhs();
                self.close_list();
                let end = self.token.end;
                let close = self.expect(T::RParen);
                let id = self.tree.add(mark, end, Kind::Paren { inner, close });
                self.close(id)
            }
            kind if kind.is_keyword() => self.keyword(),
            _ => {
                self.open();
                let mark = self.mark();
                self.expected(mark.at, "operand");
                self.sync();
                let id = self.tree.add(mark, self.token.start, Kind::Bad);
                self.close(id)
            }
        }
    }

    pub(super) fn structure(&mut self) -> NodeId {
        let open = self.expect(T::LBrace);
        self.structs += 1;
        if self.structs > DEEPEST {
            self.error(open.at, too_deep());
            self.stop();
        }
        let mut decls = if self.is(T::RBrace) { self.no_decls() } else { self.decls() };
        self.structs -= 1;
        let (close, end) = self.expect_closing(T::RBrace, "struct literal");
        self.lower(&mut decls);
        decls.lowered.shrink_to_fit();
        let kind = Kind::Struct { braces: Some((open, close)), decls: decls.nodes };
        let id = self.tree.add(open, end, kind);
        if let (Some(lowering), false) = (&mut self.lowering, decls.lowered.is_empty()) {
            lowering.done.structs.insert(id, decls.lowered);
        }
        id
    }

    pub(super) fn list(&mut self) -> NodeId {
        let open = self.expect(T::LBrack);
        let mut elements = Nodes::new();
        self.open_list();
        while !matches!(self.token.kind, T::RBrack | T::Ellipsis | T::Eof) {
            self.open();
            let (element, more) = self.element();
            elements.push(self.close(element));
            if !more {
                break;
            }
        }
        self.close_list();
        if self.is(T::Ellipsis) {
            let mark = self.mark();
            let mut end = self.token.end;
            self.next();
            let mut of = None;
            if !matches!(self.token.kind, T::Comma | T::RBrack) {
                let id = self.rhs();
                end = self.end_of(id);
                of = Some(id);
            }
            elements.push(self.tree.add(mark, end, Kind::Ellipsis(of)));
            if self.at_comma("list literal", &[T::RBrack]) {
                self.next();
            }
        }
        let (close, end) = self.expect_closing(T::RBrack, "list literal");
        self.tree.add(open, end, Kind::List { open, close, elements })
    }

    pub(super) fn element(&mut self) -> (NodeId, bool) {
        let mark = self.mark();
        let id = match self.token.kind {
            T::For | T::If | T::Try => match self.clauses() {
                Ok(clauses) => {
                    let (body, fallback) = self.comprehension_body(&clauses);
                    let end = self.end_of(fallback.unwrap_or(body));
                    self.tree.add(mark, end, Kind::Comprehension { clauses, body, fallback })
                }
                Err(name) => {
                    let id = self.binary_tail(1, name);
                    self.alias(id)
                }
            },
            _ => {
                // Comments in it are the element's (rule 4.2).
                let id = self.unary();
                let id = self.binary_tail(1, id);
                self.alias(id)
            }
        };
        // Up to v0.16 the end of a line separates no elements, but those of comprehensions.
        let explicit = self.dialect.language.is_before([0, 17, 0])
            && !matches!(self.tree[id].kind, Kind::Comprehension { .. });
        if explicit && self.is(T::Comma) && self.token.inserted {
            self.next();
            if matches!(self.token.kind, T::RBrack | T::For | T::If) {
                return (id, false);
            }
            self.error(self.token.start, "missing ',' before newline in list literal");
        } else if !self.at_comma("list literal", &[T::RBrack]) {
            return (id, false);
        }
        self.next();
        (id, true)
    }

    pub(super) fn interpolation(&mut self) -> NodeId {
        let frame = self.open();
        self.open_list();
        let mark = self.mark();
        self.open();
        let kind = Kind::Literal(T::Interpolation, self.text().into());
        let mut piece = self.tree.add(mark, self.token.end, kind);
        self.next();
        let mut pieces = thin_vec![piece];
        let mut more = true;
        let mut end = self.token.end;
        while more && self.is(T::LParen) {
            self.frames.set_slot(frame, 1);
            self.next();
            self.close(piece);
            pieces.push(self.rhs());
            self.open();
            if self.token.inserted {
                self.next();
            }
            if !self.is(T::RParen) {
                self.expected(self.token.start, "')' for string interpolation");
            }
            let mark = self.mark();
            let (from, to, kind) = self.scanner.resume();
            self.take_errors();
            more = kind == T::Interpolation;
            end = to as u32;
            let text = self.src.get(from..to).unwrap_or("");
            piece = self.tree.add(mark, end, Kind::Literal(T::Interpolation, text.into()));
            pieces.push(piece);
            self.next();
        }
        self.close(piece);
        self.close_list();
        let id = self.tree.add(mark, end, Kind::Interpolation(pieces));
        self.close(id)
    }
}
