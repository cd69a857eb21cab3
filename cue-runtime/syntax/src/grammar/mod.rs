//! Tokens to the concrete tree, by recursive descent; recovers from every error (rules 2 and 3).

use thin_vec::ThinVec;

use crate::ast::{Decl, Span};
use crate::bound::{self, Misbound};
use crate::frames::Frames;
use crate::language::{Experiments, Language};
use crate::lower::{Done, Lower};
use crate::names::{self, Redeclared};
use crate::parser::SyntaxError;
use crate::position::LineIndex;
use crate::scan::{Scanner, T, Token};
use crate::stack::DEEPEST;
use crate::tree::{Distance, Group, Kind, Mark, NodeId, Nodes, Tree};

use self::piecemeal::Lowering;
pub(crate) use self::piecemeal::lowered;

mod decls; // fields, clauses, lets
mod exprs; // operators, operands, literals
mod piecemeal; // declarations lowered as they come

/// Parser errors after which parsing stops.
const ERRORS: usize = 10;

pub(crate) struct Grammar<'a> {
    src: &'a str,
    scanner: Scanner<'a>,
    token: Token,
    pub(crate) tree: Tree,
    frames: Frames,
    pub(crate) errors: Vec<SyntaxError>,
    depth: u32,
    /// Bodies of clauses nest without an expression between them.
    structs: u32,
    stopped: bool,
    pub(super) dialect: Dialect,
    pub(super) experiments: Experiments,
    /// There if the tree is not wanted, only what it is lowered to.
    lowering: Option<Lowering>,
}

/// What `div`, `mod`, `quo` and `rem` between two operands are.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Words {
    /// Names, as everywhere else.
    #[default]
    Names,
    /// Operators, as up to v0.14 (rule 2.6).
    Operators,
}

/// Which CUE a text is written in.
#[derive(Clone, Default)]
pub(crate) struct Dialect {
    pub(crate) words: Words,
    pub(crate) language: Language,
}

/// Parses a file: tree and errors, sorted.
pub(crate) fn file(src: &str, dialect: &Dialect) -> (Tree, Vec<SyntaxError>) {
    let mut it = Grammar::new(src, -1);
    it.dialect = dialect.clone();
    it.next();
    if it.errors.is_empty() {
        let (root, _) = it.file();
        it.tree.root = Some(root);
        let mut redeclared = Vec::new();
        names::redeclared(&it.tree, 0, &mut redeclared);
        let mut misbound = Misbound::new();
        if !it.stopped && bound::is_suspect(&it.tree) {
            let file = Lower { tree: &it.tree, done: Done::default() }.file();
            misbound = bound::misbound(&file, src);
        }
        it.of_names(redeclared, misbound);
    } else {
        let mark = it.mark();
        it.tree.root = Some(it.tree.add(mark, 0, Kind::File(Nodes::new())));
    }
    it.finish()
}

/// Parses what stands before the declarations of a file: attributes, package clause, imports, attributes.
pub(crate) fn header(src: &str) -> (Tree, Vec<SyntaxError>) {
    let mut it = Grammar::new(src, -1);
    it.next();
    let mark = it.mark();
    it.open_list();
    let mut decls = Nodes::new();
    // As of a file.
    if it.errors.is_empty() {
        decls = it.preamble();
        it.attributes(&mut decls);
    }
    it.close_list();
    it.tree.root = Some(it.tree.add(mark, it.token.start, Kind::File(decls)));
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
            structs: 0,
            stopped: false,
            dialect: Dialect::default(),
            experiments: Experiments::of(&Language::default()),
            lowering: None,
        }
    }

    fn finish(mut self) -> (Tree, Vec<SyntaxError>) {
        cue_sort::by(&mut self.errors, |a, b| {
            (a.span.start, &a.message).cmp(&(b.span.start, &b.message))
        });
        self.errors.dedup();
        self.tree.experiments = self.experiments;
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
        if !self.scanner.errors.is_empty() {
            self.take_errors();
        }
    }

    #[cold]
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
        if self.stopped {
            return;
        }
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

    /// Skips to the end. Official parsers mean to stop at a comma, but count none as further on than
    /// where they have not stopped yet (rule 3.2).
    fn sync(&mut self) {
        while !self.is(T::Eof) {
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

    /// The tree, and what of it was lowered.
    fn file(&mut self) -> (NodeId, ThinVec<Decl>) {
        let mark = self.mark();
        self.open_list();
        let mut nodes = self.preamble();
        let mut decls = self.decls();
        self.expect(T::Eof);
        self.close_list();
        self.lower(&mut decls);
        decls.lowered.shrink_to_fit();
        nodes.extend(decls.nodes);
        let id = self.tree.add(mark, self.src.len() as u32, Kind::File(nodes));
        (self.close(id), decls.lowered)
    }

    /// What is wrong with names: of those on one line the first is told.
    fn of_names(&mut self, mut redeclared: Redeclared, misbound: Misbound) {
        cue_sort::by(&mut redeclared, Ord::cmp);
        for (at, message) in redeclared.into_iter().chain(misbound) {
            self.error(at, message);
        }
    }

    /// What stands before the declarations.
    fn preamble(&mut self) -> Nodes {
        let mut decls = Nodes::new();
        let mut experiments = Vec::new();
        while self.is(T::Attribute) {
            experiments.push(self.text());
            decls.push(self.attribute());
            self.decl_comma();
        }
        match Experiments::read(&experiments, &self.dialect.language) {
            Ok(read) => self.experiments = read,
            Err(message) => {
                self.error(self.token.start, message);
                self.stop();
            }
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
        self.attributes(&mut decls);
        while self.is(T::Ident) && self.text() == "import" {
            decls.push(self.import());
        }
        decls
    }

    fn attributes(&mut self, decls: &mut Nodes) {
        while self.is(T::Attribute) {
            decls.push(self.attribute());
            self.decl_comma();
        }
    }

    fn import(&mut self) -> NodeId {
        self.open();
        let mark = self.mark();
        self.expect(T::Ident);
        let mut specs = Nodes::new();
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
        } else {
            kind = Kind::Literal(T::String, "\"\"".into());
            self.expect(T::String);
        }
        self.expect_comma();
        let path = self.tree.add(path_mark, end, kind);
        let id = self.tree.add(mark, end, Kind::Spec { name, path });
        self.close(id)
    }
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
            !c.is_control()
                && !c.is_whitespace()
                && !"!\"#$%&'()*,:;<=>?[\\]^{|}`\u{fffd}".contains(c)
        })
}
