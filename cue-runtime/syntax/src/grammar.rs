//! Tokens to the concrete tree, by recursive descent; recovers from every error (rules 2 and 3).

use crate::frames::Frames;
use crate::names;
use crate::parser::SyntaxError;
use crate::position::LineIndex;
use crate::ast::Span;
use crate::scan::{Scanner, T, Token};
use crate::tree::{Distance, Group, Kind, Mark, NodeId, PostAlias, Tree};

/// Deepest nesting of expressions: what a small stack bears in a debug build. (cue: 10,000)
const DEEPEST: u32 = 400;
/// Parser errors after which parsing stops.
const ERRORS: usize = 10;

/// Which experiments the file asks for.
#[derive(Clone, Copy, Default)]
struct Experiments {
    aliasv2: bool,
    explicitopen: bool,
    attempts: bool,
}

pub(crate) struct Grammar<'a> {
    src: &'a str,
    scanner: Scanner<'a>,
    token: Token,
    pub(crate) tree: Tree,
    frames: Frames,
    pub(crate) errors: Vec<SyntaxError>,
    depth: u32,
    stopped: bool,
    synced: (u32, u32),
    experiments: Experiments,
}

/// Parses a file: tree and errors, sorted.
pub(crate) fn file(src: &str) -> (Tree, Vec<SyntaxError>) {
    let mut it = Grammar::new(src, -1);
    it.next();
    if it.errors.is_empty() {
        let root = it.file();
        it.tree.root = Some(root);
        for (at, message) in names::redeclared(&it.tree) {
            it.error(at, message);
        }
    } else {
        let mark = it.mark();
        it.tree.root = Some(it.tree.add(mark, 0, Kind::File(Vec::new())));
    }
    it.finish()
}

/// Parses an expression: tree and errors, sorted.
pub(crate) fn expression(src: &str) -> (Tree, Vec<SyntaxError>) {
    let mut it = Grammar::new(src, 0);
    it.next();
    let root = it.rhs();
    it.tree.root = Some(root);
    if it.token.inserted {
        it.next();
    }
    if it.token.kind != T::Eof {
        it.expected(it.token.start, "'EOF'");
    }
    it.finish()
}

impl<'a> Grammar<'a> {
    fn new(src: &'a str, slot: i32) -> Self {
        let tree = Tree { lines: LineIndex::new(src), ..Tree::default() };
        let token = Token {
            kind: T::Eof,
            start: 0,
            end: 0,
            distance: Distance::None,
            after_comma: false,
            inserted: false,
        };
        Grammar {
            src,
            scanner: Scanner::new(src),
            token,
            tree,
            frames: Frames::new(slot),
            errors: Vec::new(),
            depth: 0,
            stopped: false,
            synced: (0, 0),
            experiments: Experiments::default(),
        }
    }

    fn finish(mut self) -> (Tree, Vec<SyntaxError>) {
        self.errors.sort_by(|a, b| {
            (a.span.start, &a.message).cmp(&(b.span.start, &b.message))
        });
        self.errors.dedup();
        (self.tree, self.errors)
    }

    // Tokens and comments.

    fn scan(&mut self) {
        if self.stopped {
            self.token.kind = T::Eof;
            self.token.inserted = false;
            return;
        }
        self.token = self.scanner.token();
        self.take_errors();
    }

    fn take_errors(&mut self) {
        for (at, message) in self.scanner.errors.drain(..) {
            self.errors.push(SyntaxError { message, span: Span { start: at, end: at + 1 } });
        }
    }

    fn next(&mut self) {
        self.frames.advance();
        let before = (self.token.end > 0).then_some(self.token.start);
        self.scan();
        self.frames.count();
        if self.token.kind == T::Comment {
            let line = before.map_or(0, |it| self.tree.lines.line(it));
            self.comments(line);
        }
    }

    /// The comments between two tokens (rule 4.1).
    fn comments(&mut self, before: u32) {
        let mut last = None;
        if self.line() == before {
            let (mut group, end) = self.group(before, before);
            group.line = self.line() != end;
            last = Some((group, None));
        }
        let mut previous = before;
        while self.token.kind == T::Comment {
            if let Some((group, _)) = last.take() {
                self.frames.store(group);
            }
            let first = self.line();
            let (group, end) = self.group(previous, first + 1);
            previous = before.min(first.saturating_sub(2));
            last = Some((group, Some(end)));
        }
        match last {
            Some((mut group, Some(end))) if end + 1 == self.line() && self.token.kind != T::Eof => {
                group.doc = true;
                self.frames.parked = Some(group);
            }
            Some((group, _)) => self.frames.store(group),
            None => {}
        }
    }

    fn line(&self) -> u32 {
        self.tree.lines.line(self.token.start)
    }

    /// Comments up to line `limit`, which moves on with each unless they stand on `previous`.
    fn group(&mut self, previous: u32, limit: u32) -> (Group, u32) {
        let mut end = self.line();
        let distance = match end.saturating_sub(previous) {
            0 => Distance::Space,
            1 => Distance::Line,
            _ => Distance::Gap,
        };
        let mut group = Group {
            slot: 0,
            doc: false,
            line: false,
            distance,
            at: self.token.start,
            lines: Vec::new(),
        };
        let step = u32::from(limit > end);
        while self.token.kind == T::Comment && self.line() <= end + step {
            end = self.line();
            let text = self.text().replace('\r', "");
            let own = if group.lines.is_empty() { distance } else { self.token.distance };
            group.lines.push((own, text.into()));
            self.scan();
        }
        (group, end)
    }

    fn text(&self) -> &'a str {
        self.src.get(self.token.start as usize..self.token.end as usize).unwrap_or("")
    }

    fn mark(&self) -> Mark {
        Mark {
            at: self.token.start,
            distance: self.token.distance,
            after_comma: self.token.after_comma,
        }
    }

    fn is(&self, kind: T) -> bool {
        self.token.kind == kind
    }

    fn peek(&self) -> T {
        let mut scanner = self.scanner.clone();
        loop {
            let token = scanner.token();
            if token.kind != T::Comment {
                return token.kind;
            }
        }
    }

    fn end_of(&self, id: NodeId) -> u32 {
        self.tree[id].end
    }

    // Errors.

    fn error(&mut self, at: u32, message: impl Into<String>) {
        if self.stopped {
            return;
        }
        let line = self.tree.lines.line(at);
        if self.errors.last().is_some_and(|it| self.tree.lines.line(it.span.start) == line) {
            return;
        }
        if self.errors.len() > ERRORS {
            self.stop();
            return;
        }
        let end = if at == self.token.start { self.token.end } else { at + 1 };
        self.errors.push(SyntaxError { message: message.into(), span: Span { start: at, end } });
    }

    fn stop(&mut self) {
        self.stopped = true;
        self.token.kind = T::Eof;
        self.token.inserted = false;
    }

    fn expected(&mut self, at: u32, what: &str) {
        let mut message = format!("expected {what}");
        if at == self.token.start {
            if self.token.inserted {
                message += ", found newline";
            } else {
                message += &format!(", found '{}'", self.token.kind.text());
                if self.token.kind.shows_text() {
                    message += &format!(" {}", self.text());
                }
            }
        }
        self.error(at, message);
    }

    fn expect(&mut self, kind: T) -> Mark {
        let mark = self.mark();
        if !self.is(kind) {
            self.expected(mark.at, &format!("'{}'", kind.text()));
        }
        self.next();
        mark
    }

    fn expect_closing(&mut self, kind: T, context: &str) -> (Mark, u32) {
        if !self.is(kind) && self.token.inserted {
            let at = self.token.start;
            self.error(at, format!("missing ',' before newline in {context}"));
            self.next();
        }
        let end = self.token.end;
        (self.expect(kind), end)
    }

    /// Skips to a comma (rule 3.2).
    fn sync(&mut self) {
        loop {
            match self.token.kind {
                T::Comma => {
                    let at = self.token.start;
                    if at == self.synced.0 && self.synced.1 < 10 {
                        self.synced.1 += 1;
                        return;
                    }
                    if self.synced.0 < at {
                        self.synced = (at, 0);
                        return;
                    }
                }
                T::Eof => return,
                _ => {}
            }
            self.next();
        }
    }

    fn expect_comma(&mut self) {
        match self.token.kind {
            T::RParen | T::RBrace | T::Eof => {}
            T::Comma => self.next(),
            _ => {
                self.expected(self.token.start, "','");
                self.sync();
            }
        }
    }

    fn at_comma(&mut self, context: &str, follow: &[T]) -> bool {
        if self.is(T::Comma) {
            return true;
        }
        if follow.contains(&self.token.kind) || self.is(T::Eof) && self.stopped {
            return false;
        }
        self.error(self.token.start, format!("missing ',' in {context}"));
        true
    }

    fn decl_comma(&mut self) {
        if self.at_comma("struct literal", &[T::RBrace, T::Eof]) {
            self.next();
        }
    }

    // Nodes and frames.

    fn open(&mut self) -> usize {
        self.frames.open(&mut self.tree)
    }

    fn close(&mut self, id: NodeId) -> NodeId {
        self.frames.close(&mut self.tree, id);
        id
    }

    fn open_list(&mut self) {
        self.frames.open_list();
    }

    fn close_list(&mut self) {
        self.frames.close_list(&mut self.tree);
    }

    /// A node of one token.
    fn leaf(&mut self, kind: Kind) -> NodeId {
        self.open();
        let id = self.tree.add(self.mark(), self.token.end, kind);
        self.next();
        self.close(id)
    }

    // Files.

    fn file(&mut self) -> NodeId {
        let mark = self.mark();
        let mut decls = Vec::new();
        self.open_list();
        let mut experiments = Vec::new();
        while self.is(T::Attribute) {
            experiments.push(self.text());
            decls.push(self.attribute());
            self.decl_comma();
        }
        if let Err(message) = self.experiments.read(&experiments) {
            self.error(self.token.start, message);
            self.stop();
        }
        if self.is(T::Ident) && self.text() == "package" {
            self.open();
            let mark = self.mark();
            self.expect(T::Ident);
            let name = self.ident();
            if let Kind::Ident(text) = &self.tree[name].kind {
                if text.starts_with('#') || text.starts_with("_#") {
                    let message = format!("invalid package name {text}");
                    self.error(self.token.start, message);
                }
            }
            let id = self.tree.add(mark, self.end_of(name), Kind::Package(name));
            self.expect_comma();
            decls.push(self.close(id));
        }
        while self.is(T::Attribute) {
            decls.push(self.attribute());
            self.decl_comma();
        }
        while self.is(T::Ident) && self.text() == "import" {
            decls.push(self.import());
        }
        decls.extend(self.decls());
        self.expect(T::Eof);
        self.close_list();
        let id = self.tree.add(mark, self.src.len() as u32, Kind::File(decls));
        self.close(id)
    }

    fn import(&mut self) -> NodeId {
        self.open();
        let mark = self.mark();
        self.expect(T::Ident);
        let mut specs = Vec::new();
        let mut parens = None;
        let end;
        if self.is(T::LParen) {
            let open = self.mark();
            self.next();
            self.open_list();
            while !self.is(T::RParen) && !self.is(T::Eof) {
                specs.push(self.spec());
            }
            self.close_list();
            end = self.token.end;
            let close = self.expect(T::RParen);
            parens = Some((open, close));
            self.expect_comma();
        } else {
            let spec = self.spec();
            end = self.end_of(spec);
            specs.push(spec);
        }
        let id = self.tree.add(mark, end, Kind::Import { parens, specs });
        self.close(id)
    }

    fn spec(&mut self) -> NodeId {
        self.open();
        let mark = self.mark();
        let mut name = None;
        if self.is(T::Ident) {
            let id = self.declared();
            if let Kind::Ident(text) = &self.tree[id].kind {
                if text.starts_with('#') || text.starts_with("_#") {
                    let message = "cannot import package as definition identifier";
                    self.error(self.token.start, message);
                }
            }
            name = Some(id);
        }
        let path_mark = self.mark();
        let end = self.token.end;
        let kind;
        if self.is(T::String) {
            let text = self.text();
            if !valid_import(text) {
                self.error(self.token.start, format!("invalid import path: {text}"));
            }
            kind = Kind::Literal(T::String, text.into());
            self.next();
            self.expect_comma();
        } else {
            kind = Kind::Literal(T::String, "\"\"".into());
            self.expect(T::String);
            if self.is(T::Comma) {
                self.expect_comma();
            }
        }
        let path = self.tree.add(path_mark, end, kind);
        let id = self.tree.add(mark, end, Kind::Spec { name, path });
        self.close(id)
    }

    // Declarations.

    fn decls(&mut self) -> Vec<NodeId> {
        let mut list = Vec::new();
        self.open_list();
        while !self.is(T::RBrace) && !self.is(T::Eof) {
            match self.token.kind {
                T::Attribute => {
                    list.push(self.attribute());
                    self.decl_comma();
                }
                T::Ellipsis => {
                    list.push(self.leaf(Kind::Ellipsis(None)));
                    self.decl_comma();
                }
                _ => list.push(self.field()),
            }
        }
        self.close_list();
        list
    }

    fn attribute(&mut self) -> NodeId {
        self.leaf(Kind::Attribute(self.text().into()))
    }

    fn ident(&mut self) -> NodeId {
        if self.is(T::Ident) {
            return self.leaf(Kind::Ident(self.text().into()));
        }
        self.open();
        let mark = self.mark();
        self.expect(T::Ident);
        let id = self.tree.add(mark, mark.at, Kind::Ident("_".into()));
        self.close(id)
    }

    fn declared(&mut self) -> NodeId {
        if self.is(T::Ident) && self.text().starts_with("__") {
            self.error(self.token.start, "identifiers starting with '__' are reserved");
        }
        self.ident()
    }

    fn keyword(&mut self) -> NodeId {
        let text = self.text();
        self.leaf(Kind::Ident(text.into()))
    }

    /// `let x = e`, or the word as a name.
    fn let_decl(&mut self) -> Result<NodeId, NodeId> {
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

    fn bind(&mut self) -> Mark {
        self.expect(T::Bind)
    }

    /// A comprehension, or its first word as a name. Takes the comma of a declaration.
    fn comprehension(&mut self) -> Result<NodeId, NodeId> {
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

    fn comprehension_body(&mut self, clauses: &[NodeId]) -> (NodeId, Option<NodeId>) {
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
        if !self.experiments.attempts {
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
    fn clauses(&mut self) -> Result<Vec<NodeId>, NodeId> {
        let mut clauses = Vec::new();
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
    fn field(&mut self) -> NodeId {
        self.open();
        let id = self.field_inner();
        self.close(id)
    }

    fn field_inner(&mut self) -> NodeId {
        let mark = self.mark();
        let (label, expr) = match self.label(false) {
            Label::Decl(id) => return id,
            Label::Label(id) => (Some(id), id),
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
        let mut chain = vec![(label, alias, constraint, self.mark())];
        self.next();
        let value = loop {
            let outer = chain.last().map_or(label, |it| it.0);
            self.check_pattern(outer);
            match self.label(true) {
                Label::Label(inner)
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
                    chain.push((inner, alias, constraint, self.mark()));
                    self.next();
                }
                Label::Label(value) | Label::Expr(Some(value)) | Label::Decl(value) => break value,
                Label::Expr(None) => break self.rhs(),
            }
        };
        let mut attributes = Vec::new();
        self.open_list();
        while self.is(T::Attribute) {
            attributes.push(self.attribute());
        }
        self.close_list();
        self.decl_comma();
        let mut value = value;
        let mut attributes = Some(attributes);
        let outermost = chain.len();
        for (index, (label, alias, constraint, colon)) in chain.into_iter().enumerate().rev() {
            let mark = self.tree.start(label);
            let attributes = attributes.take().unwrap_or_default();
            let end = self.end_of(attributes.last().copied().unwrap_or(value));
            let kind = Kind::Field { label, alias, constraint, colon, value, attributes };
            let field = self.tree.add(mark, end, kind);
            value = field;
            if index > 0 && outermost > 1 {
                let kind = Kind::Struct { braces: None, decls: vec![field] };
                value = self.tree.add(mark, end, kind);
            }
        }
        value
    }

    fn check_pattern(&mut self, label: NodeId) {
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

    fn constraint(&mut self) -> Option<(T, Mark)> {
        let kind = self.token.kind;
        matches!(kind, T::Option | T::Not).then(|| {
            let mark = self.mark();
            self.next();
            (kind, mark)
        })
    }

    /// `~X`, `~(K,V)` (rule 2.5)
    fn post_alias(&mut self) -> Option<Box<PostAlias>> {
        if !self.is(T::Tilde) {
            return None;
        }
        let tilde = self.mark();
        if !self.experiments.aliasv2 {
            self.error(tilde.at, "postfix alias syntax requires @experiment(aliasv2)");
        }
        self.next();
        if self.is(T::Ident) {
            let field = self.declared();
            return Some(Box::new(PostAlias { tilde, parens: None, label: None, field }));
        }
        if !self.is(T::LParen) {
            self.error(self.token.start, "expected identifier or '('");
            return None;
        }
        let open = self.mark();
        self.next();
        if !self.is(T::Ident) {
            self.error(self.token.start, "expected identifier for label alias");
        }
        let mut field = self.declared();
        let mut label = None;
        if self.is(T::Comma) {
            let comma = self.mark();
            self.next();
            if !self.is(T::Ident) {
                self.error(self.token.start, "expected identifier for field alias");
            }
            label = Some((field, comma));
            field = self.declared();
        }
        let close = self.expect(T::RParen);
        Some(Box::new(PostAlias { tilde, parens: Some((open, close)), label, field }))
    }

    fn label(&mut self, inner: bool) -> Label {
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
            Kind::Literal(T::String | T::Null | T::True | T::False, _) => Label::Label(expr),
            Kind::Interpolation(_) | Kind::Paren { .. } | Kind::List { .. } => Label::Label(expr),
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
                        | Kind::Paren { .. } => Label::Label(expr),
                        _ => Label::Expr(Some(expr)),
                    },
                    _ => Label::Label(expr),
                }
            }
            _ => Label::Expr(Some(expr)),
        }
    }

    fn alias(&mut self, name: NodeId) -> NodeId {
        if !self.is(T::Bind) {
            return name;
        }
        let equal = self.mark();
        if self.experiments.aliasv2 {
            let message = "old-style alias syntax (=) is not allowed with @experiment(aliasv2); use postfix syntax (~X or ~(K,V))";
            self.error(equal.at, message);
        }
        self.next();
        let value = self.rhs();
        if !matches!(self.tree[name].kind, Kind::Ident(_)) {
            self.expected(self.token.start, "identifier for alias");
            return value;
        }
        let (mark, end) = (self.tree.start(name), self.end_of(value));
        self.tree.add(mark, end, Kind::Alias { name, equal, value })
    }

    // Expressions.

    fn rhs(&mut self) -> NodeId {
        self.expr()
    }

    fn expr(&mut self) -> NodeId {
        self.open();
        let id = self.binary(1);
        self.close(id)
    }

    fn binary(&mut self, lowest: u8) -> NodeId {
        self.open_list();
        let left = self.unary();
        let id = self.binary_tail(lowest, left);
        self.close_list();
        id
    }

    fn binary_tail(&mut self, lowest: u8, mut left: NodeId) -> NodeId {
        loop {
            let op = self.token.kind;
            let precedence = precedence(op);
            if precedence < lowest {
                return left;
            }
            let frame = self.open();
            self.frames.set_slot(frame, 1);
            let at = self.expect(op);
            let right = self.binary(precedence + 1);
            let (mark, end) = (self.tree.start(left), self.end_of(right));
            let id = self.tree.add(mark, end, Kind::Binary { left, op, at, right });
            left = self.close(id);
        }
    }

    fn unary(&mut self) -> NodeId {
        self.depth += 1;
        if self.depth > DEEPEST {
            self.error(self.token.start, too_deep());
            self.stop();
        }
        let op = self.token.kind;
        let prefix = matches!(
            op,
            T::Add | T::Sub | T::Not | T::Mul | T::Lss | T::Leq | T::Gtr | T::Geq | T::Neq | T::Mat
                | T::NMat | T::Eql
        );
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

    fn primary(&mut self) -> NodeId {
        let mut x = self.operand();
        let mut depth = self.depth;
        loop {
            depth += 1;
            if depth > 2 * DEEPEST {
                self.error(self.token.start, too_deep());
                self.stop();
            }
            let mark = self.tree.start(x);
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
                    self.question(id)
                }
                T::LBrack => self.index(x),
                T::LParen => {
                    self.open();
                    self.open_list();
                    let open = self.mark();
                    self.next();
                    let mut arguments = Vec::new();
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
                    if !self.experiments.explicitopen {
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

    fn postfix(&mut self, x: NodeId) -> NodeId {
        let frame = self.open();
        self.frames.set_slot(frame, 1);
        let (at, end, op) = (self.mark(), self.token.end, self.token.kind);
        self.next();
        let id = self.tree.add(self.tree.start(x), end, Kind::Postfix(x, op, at));
        self.close(id)
    }

    /// `x?`, unless a colon follows.
    fn question(&mut self, x: NodeId) -> NodeId {
        if self.is(T::Option) && self.peek() != T::Colon { self.postfix(x) } else { x }
    }

    fn index(&mut self, base: NodeId) -> NodeId {
        let frame = self.open();
        self.frames.set_slot(frame, 1);
        let mark = self.tree.start(base);
        let open = self.expect(T::LBrack);
        let low = (!self.is(T::Colon)).then(|| self.rhs());
        let mut colon = None;
        let mut high = None;
        if self.is(T::Colon) {
            colon = Some(self.mark());
            self.next();
            if !matches!(self.token.kind, T::RBrack | T::Eof) {
                high = Some(self.rhs());
            }
        }
        if self.is(T::Comma) {
            self.next();
        }
        let end = self.token.end;
        let close = self.expect(T::RBrack);
        let kind = match (colon, low) {
            (None, Some(index)) => Kind::Index { base, open, index, close },
            (colon, low) => {
                let colon = colon.unwrap_or_default();
                Kind::Slice { base, open, low, colon, high, close }
            }
        };
        let slice = matches!(kind, Kind::Slice { .. });
        let id = self.tree.add(mark, end, kind);
        let id = self.close(id);
        if slice { id } else { self.question(id) }
    }

    fn operand(&mut self) -> NodeId {
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

    fn structure(&mut self) -> NodeId {
        let open = self.expect(T::LBrace);
        self.depth += 1;
        if self.depth > DEEPEST {
            self.error(open.at, too_deep());
            self.stop();
        }
        let decls = if self.is(T::RBrace) { Vec::new() } else { self.decls() };
        self.depth -= 1;
        let (close, end) = self.expect_closing(T::RBrace, "struct literal");
        self.tree.add(open, end, Kind::Struct { braces: Some((open, close)), decls })
    }

    fn list(&mut self) -> NodeId {
        let open = self.expect(T::LBrack);
        let mut elements = Vec::new();
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

    fn element(&mut self) -> (NodeId, bool) {
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
                let id = self.binary(1);
                self.alias(id)
            }
        };
        if !self.at_comma("list literal", &[T::RBrack]) {
            return (id, false);
        }
        self.next();
        (id, true)
    }

    fn interpolation(&mut self) -> NodeId {
        let frame = self.open();
        self.open_list();
        let mark = self.mark();
        self.open();
        let kind = Kind::Literal(T::Interpolation, self.text().into());
        let mut piece = self.tree.add(mark, self.token.end, kind);
        self.next();
        let mut pieces = vec![piece];
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

enum Label {
    /// What may stand before a colon.
    Label(NodeId),
    /// Another expression, parsed or to be parsed.
    Expr(Option<NodeId>),
    /// A whole declaration.
    Decl(NodeId),
}

fn too_deep() -> String {
    format!("expression exceeds maximum nesting depth of {DEEPEST}")
}

pub(crate) fn precedence(op: T) -> u8 {
    match op {
        T::Or => 1,
        T::And => 2,
        T::LOr => 3,
        T::LAnd => 4,
        T::Eql | T::Neq | T::Lss | T::Leq | T::Gtr | T::Geq | T::Mat | T::NMat => 5,
        T::Add | T::Sub => 6,
        T::Mul | T::Quo => 7,
        _ => 0,
    }
}

fn valid_import(literal: &str) -> bool {
    let Ok(text) = crate::unquote::text(literal) else { return false };
    let path = text.rsplit_once(':').map_or(text.as_str(), |it| it.0);
    !path.is_empty()
        && path.chars().all(|c| {
            !c.is_control() && !c.is_whitespace() && !"!\"#$%&'()*,:;<=>?[\\]^{|}`\u{fffd}".contains(c)
        })
}

impl Experiments {
    /// Reads `@experiment(a,b)` (rule 2.5).
    fn read(&mut self, attributes: &[&str]) -> Result<(), String> {
        let mut bad = Vec::new();
        for text in attributes {
            let Some(body) = text.strip_prefix("@experiment(") else { continue };
            for name in body.trim_end_matches(')').split(',') {
                match name.trim() {
                    "aliasv2" => self.aliasv2 = true,
                    "explicitopen" => self.explicitopen = true,
                    "try" => self.attempts = true,
                    "structcmp" | "shortcircuit" | "testing" | "accepted_" | "" => {}
                    name => bad.push(format!(
                        "parsing experiments for version \"v0.17.1\": unknown experiment {name:?}"
                    )),
                }
            }
        }
        if bad.is_empty() { Ok(()) } else { Err(bad.join("\n")) }
    }
}
