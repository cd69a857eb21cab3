//! The printer: the concrete tree to the layout machine, node by node (rules 6.3 to 6.5).

use crate::machine::{CUT, FREEZE, GAP, IN, LINE, Machine, OUT, SEP, SPACE, STOP, TIGHT};
use crate::scan::T;
use crate::simplify;
use crate::stack;
use crate::tree::{Distance, Group, Kind, Mark, NodeId, Tree};
use crate::unquote;

mod exprs; // values

/// How to print.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// As `cue fmt`.
    Plain,
    /// The same for who makes four spaces of each tab (`cue eval`): tabs that lead to a column are as wide.
    Spaced,
    /// As `cue fmt -s`.
    Simplified,
    /// As `cue fmt -s` of v0.14, which KubeVela's tools have: a `...` that is alone stays where it is on its line.
    Former,
    /// The same for what a program made, which has no braces too many.
    Made,
    /// A value simplified: definitions and hidden fields keep their braces (O-85).
    Value,
    /// The same for data that is imported: braces stay, too, where something is said of the field that has them.
    Data,
}

impl Style {
    /// Whether braces around the only field of a struct go, whatever has the struct.
    pub(crate) fn drops_braces(self) -> bool {
        matches!(self, Style::Simplified | Style::Former | Style::Value | Style::Data)
    }

    /// Whether it is printed as it is written.
    fn is_as_written(self) -> bool {
        matches!(self, Style::Plain | Style::Spaced)
    }

    /// How wide a tab is where columns are made of them.
    pub fn tab(self) -> usize {
        if self == Style::Spaced { 4 } else { 8 }
    }
}

/// The text of a tree.
pub fn format_tree(tree: &Tree, style: Style) -> String {
    let length = tree.nodes.len();
    stack::enough(length, || printed(tree, style))
}

fn printed(tree: &Tree, style: Style) -> String {
    let simplified;
    let mut tree = tree;
    if !style.is_as_written() {
        simplified = simplify::simplified(tree);
        tree = &simplified;
    }
    let Some(root) = tree.root else { return "\n".into() };
    let mut it = Layout { tree, m: Machine::new(), flat: 0, style };
    let file = matches!(tree[root].kind, Kind::File(_));
    if let Kind::File(decls) = &tree[root].kind {
        it.push(root);
        it.decls(decls);
        it.m.pop();
        it.m.wishes = LINE;
        it.m.text("");
    } else {
        it.expr(root, 1);
    }
    let mut text = it.m.out.aligned(style.tab());
    text.truncate(text.trim_end_matches('\n').len());
    // A selector on a line of its own leaves its indentation behind.
    let last = text.trim_end_matches('\t');
    if last.ends_with('\n') {
        text.truncate(last.trim_end_matches('\n').len());
    }
    if file {
        text.push('\n');
    }
    if text.is_empty() && file { "\n".into() } else { text }
}

struct Layout<'a> {
    tree: &'a Tree,
    m: Machine,
    /// How many one-line strings are open around us.
    flat: u32,
    style: Style,
}

fn breaks(mark: Mark) -> bool {
    matches!(mark.distance, Distance::Line | Distance::Gap)
}

impl Layout<'_> {
    fn comments(&self, id: NodeId) -> &[Group] {
        self.tree.comments.get(&id).map(Vec::as_slice).unwrap_or_default()
    }

    fn push(&mut self, id: NodeId) {
        let node = &self.tree[id];
        let narrow = match &node.kind {
            Kind::Struct { decls, .. } if decls.len() <= 1 => {
                let lines = &self.tree.lines;
                let end = node.end.saturating_sub(1);
                node.end > 0 && lines.line(self.tree.start(id).at) == lines.line(end)
            }
            _ => false,
        };
        let comments = self.comments(id);
        let comments = if comments.is_empty() { Vec::new() } else { comments.to_vec() };
        self.m.push(comments, narrow.then_some(SPACE));
    }

    fn anonymous(&mut self) {
        self.m.push(Vec::new(), None);
    }

    /// Distance of a token that starts a node.
    fn start(&mut self, mark: Mark) {
        if self.flat == 0 || !breaks(mark) {
            self.m.distance(mark.distance);
        }
    }

    fn op(&mut self, mark: Mark, op: T) {
        self.m.distance(mark.distance);
        self.m.op(op);
    }

    fn cut_rule(&mut self, id: NodeId) {
        let mark = self.tree.start(id);
        if breaks(mark) || mark.distance == Distance::Absent {
            self.m.wish(CUT);
        }
    }

    fn depth(&self, id: NodeId) -> u32 {
        let mut id = id;
        let mut depth = 0;
        while let Kind::Field { value, .. } = &self.tree[id].kind {
            depth += 1;
            let Kind::Struct { decls, .. } = &self.tree[*value].kind else { return depth };
            let [only] = decls.as_slice() else { return depth - 1 };
            id = *only;
        }
        depth
    }

    fn commented(&self, id: NodeId) -> bool {
        // What a program says behind a field is said of its value.
        let counts = |it: &Group| match self.style {
            Style::Made => it.doc,
            Style::Data => it.doc || it.at < self.value_at(id),
            _ => true,
        };
        self.comments(id).iter().any(counts)
            || match &self.tree[id].kind {
                Kind::Field { label, .. } => !self.comments(*label).is_empty(),
                Kind::Let { name, .. } => !self.comments(*name).is_empty(),
                _ => false,
            }
    }

    /// Where the value of a field begins.
    fn value_at(&self, id: NodeId) -> u32 {
        match &self.tree[id].kind {
            Kind::Field { value, .. } => self.tree.start(*value).at,
            _ => 0,
        }
    }

    /// The name of a field, without an alias.
    fn name(&self, id: NodeId) -> &str {
        let Kind::Field { label, .. } = &self.tree[id].kind else { return "" };
        let mut label = *label;
        while let Kind::Alias { value, .. } = &self.tree[label].kind {
            label = *value;
        }
        if let Kind::Ident(name) = &self.tree[label].kind { name } else { "" }
    }

    fn defines(&self, id: NodeId) -> bool {
        self.name(id).starts_with('#') || self.name(id).starts_with("_#")
    }

    /// Whether a field is a definition or hidden.
    fn is_no_data(&self, id: NodeId) -> bool {
        self.name(id).starts_with(['#', '_'])
    }

    fn decls(&mut self, list: &[NodeId]) {
        let tree = self.tree;
        self.anonymous();
        let (mut before, mut ellipsis, mut printed) = (0, None, false);
        for (index, &id) in list.iter().enumerate() {
            if let Some(&previous) = index.checked_sub(1).and_then(|it| list.get(it)) {
                // Where `...` stood in front, no comma is left over.
                if printed {
                    self.m.wish(SEP);
                }
                if self.m.outer() == LINE && (before == 0 || before != self.depth(id)) {
                    self.m.hard_break();
                }
                let field = matches!(tree[previous].kind, Kind::Field { .. });
                if self.commented(id) && (!field || self.defines(previous)) {
                    self.m.wish(GAP);
                }
            }
            if !self.style.is_as_written() && self.opens(id) {
                ellipsis = Some(id);
                continue;
            }
            self.decl(id);
            (before, printed) = (self.depth(id), true);
            let big = list.get(index + 1).is_some_and(|it| match &tree[*it].kind {
                Kind::Field { value, .. } => match &tree[*value].kind {
                    Kind::List { .. } => true,
                    Kind::Struct { braces, decls } => braces.is_some() || decls.len() != 1,
                    _ => false,
                },
                _ => false,
            });
            if big {
                self.m.hard_break();
            } else {
                self.m.wish(self.m.outer());
            }
        }
        // As one that was never written, with the comments of the last one.
        if let Some(id) = ellipsis {
            self.push(id);
            if self.style == Style::Former && !printed {
                self.start(tree.start(id));
            }
            self.m.op(T::Ellipsis);
            self.m.pop();
            self.m.wish(self.m.outer());
        }
        self.m.pop();
    }

    /// `...`, `[string]: _`, `[_]: _`
    fn opens(&self, id: NodeId) -> bool {
        let name = |id, names: &[&str]| self.tree.is_name(id, names);
        match &self.tree[id].kind {
            Kind::Ellipsis(None) => true,
            Kind::Field { label, value, extras, .. } if extras.constraint().is_none() => {
                name(*value, &["_"])
                    && match &self.tree[*label].kind {
                        Kind::List { elements, .. } => {
                            matches!(elements.as_slice(), [only] if name(*only, &["_", "string"]))
                        }
                        _ => false,
                    }
            }
            _ => false,
        }
    }

    fn decl(&mut self, id: NodeId) {
        let tree = self.tree;
        let mark = tree.start(id);
        self.push(id);
        match &tree[id].kind {
            Kind::Field { .. } => self.field(id),
            Kind::Package(name) => {
                self.m.distance(mark.distance);
                self.m.word("package");
                self.m.wish(SPACE | FREEZE);
                self.expr(*name, 1);
                self.m.wish(GAP | FREEZE);
            }
            Kind::Import { parens, specs } => self.import(mark, *parens, specs),
            Kind::Let { name, equal: _, value } => {
                self.cut_rule(id);
                self.start(mark);
                self.binding(T::Let, *name, *value);
                self.m.wish(SEP);
            }
            Kind::Embed(expr) => {
                self.cut_rule(id);
                self.expr(*expr, 1);
                self.m.wish(LINE);
            }
            Kind::Attribute(text) => {
                self.start(mark);
                self.m.word(text);
            }
            Kind::Ellipsis(of) => self.ellipsis(mark, *of),
            Kind::Comprehension { .. } => {
                self.cut_rule(id);
                self.comprehension(id);
            }
            _ => self.raw(id, 1),
        }
        self.m.pop();
    }

    fn binding(&mut self, word: T, name: NodeId, value: NodeId) {
        self.m.op(word);
        self.m.wish(SPACE | FREEZE);
        self.expr(name, 1);
        self.m.wish(SPACE | FREEZE);
        self.m.op(T::Bind);
        self.m.wish(SPACE);
        self.expr(value, 1);
    }

    fn ellipsis(&mut self, mark: Mark, of: Option<NodeId>) {
        self.start(mark);
        self.m.op(T::Ellipsis);
        if let Some(of) = of {
            if !matches!(&self.tree[of].kind, Kind::Ident(name) if &**name == "_") {
                self.expr(of, 1);
            }
        }
    }

    fn import(&mut self, mark: Mark, parens: Option<(Mark, Mark)>, specs: &[NodeId]) {
        self.m.distance(mark.distance);
        self.m.word("import");
        self.m.wish(SPACE);
        let (open, close) = parens.unwrap_or_default();
        match specs {
            [] => {
                self.op(open, T::LParen);
                self.op(close, T::RParen);
                self.m.wish(LINE);
                return;
            }
            [spec] if parens.is_none() && self.comments(*spec).iter().all(|it| it.slot > 1) => {
                self.spec(*spec);
            }
            _ => {
                self.op(open, T::LParen);
                self.m.wish(LINE | IN);
                self.anonymous();
                for spec in specs {
                    self.spec(*spec);
                }
                self.m.pop();
                self.m.wish(OUT | LINE);
                self.op(close, T::RParen);
                self.m.wish(LINE);
            }
        }
        self.m.wish(GAP | FREEZE);
    }

    fn spec(&mut self, id: NodeId) {
        let tree = self.tree;
        self.push(id);
        if let Kind::Spec { name, path } = &tree[id].kind {
            match name {
                Some(name) => {
                    self.expr(*name, 1);
                    self.m.wish(SPACE);
                }
                None => self.m.count(),
            }
            self.expr(*path, 1);
            self.m.wish(LINE);
        }
        self.m.pop();
    }

    fn field(&mut self, id: NodeId) {
        let tree = self.tree;
        let Kind::Field { label, value, extras, .. } = &tree[id].kind else { return };
        let attributes = extras.attributes();
        self.push(*label);
        self.label(*label);
        self.m.pop();
        if let Some(alias) = extras.alias() {
            let (open, close) = alias.parens.unwrap_or_default();
            self.op(alias.tilde, T::Tilde);
            self.m.wish(TIGHT);
            self.op(open, T::LParen);
            self.m.wish(TIGHT);
            if let Some((name, comma)) = alias.label {
                self.expr(name, 1);
                self.op(comma, T::Comma);
                self.m.wish(TIGHT);
            }
            self.expr(alias.field, 1);
            self.op(close, T::RParen);
            self.m.wish(TIGHT);
        }
        if let Some(op) = extras.constraint() {
            self.m.op(op);
        }
        self.m.wish(TIGHT | FREEZE);
        self.m.op(T::Colon);
        self.m.due_now();
        if let Some(inner) = self.nested(id, *value, attributes) {
            if breaks(tree.start(inner)) && self.style.is_as_written() {
                self.m.wish(IN | CUT);
                self.decl(inner);
                self.m.level -= 1;
            } else {
                self.m.wish(SPACE | FREEZE);
                self.decl(inner);
            }
            return;
        }
        let bulky = self.bulky(*value);
        let mut gap = if bulky || self.m.after_brace { SPACE } else { STOP };
        self.m.wish(gap);
        if matches!(tree[*value].kind, Kind::Struct { .. } | Kind::List { .. }) {
            self.expr(*value, 1);
        } else {
            self.m.wish(IN);
            self.expr(*value, 1);
            self.m.pop_mark();
        }
        for id in attributes {
            self.push(*id);
            if let Kind::Attribute(text) = &tree[*id].kind {
                self.m.wish(gap);
                self.m.distance(tree[*id].mark.distance);
                self.m.word(text);
                gap = SPACE;
            }
            self.m.pop();
        }
        if bulky {
            self.m.wish(CUT);
        }
    }

    /// The inner field of `a: b: c`, if it may be printed so.
    fn nested(&self, id: NodeId, value: NodeId, attributes: &[NodeId]) -> Option<NodeId> {
        let Kind::Struct { braces, decls } = &self.tree[value].kind else { return None };
        let [only] = decls.as_slice() else { return None };
        let Kind::Field { extras, .. } = &self.tree[*only].kind else { return None };
        let inner = extras.attributes();
        if !attributes.is_empty() || !inner.is_empty() || self.commented(*only) {
            return None;
        }
        let kept = match self.style {
            Style::Value => self.is_no_data(id),
            Style::Data => self.is_no_data(id) || self.commented(id),
            _ => self.commented(id),
        };
        let drop = self.style.drops_braces() && !kept && self.comments(value).is_empty();
        (braces.is_none() || drop).then_some(*only)
    }

    fn label(&mut self, id: NodeId) {
        let tree = self.tree;
        match &tree[id].kind {
            Kind::Literal(_, text) => {
                self.start(tree[id].mark);
                if text.starts_with("\"\"\"") || text.starts_with('#') {
                    let quoted = unquote::text(text).map(|it| unquote::quote(&it));
                    self.m.word(&quoted.unwrap_or_else(|_| text.to_string()));
                } else {
                    self.m.word(text);
                }
            }
            Kind::Ident(text) => {
                self.start(tree[id].mark);
                self.m.word(text);
            }
            _ => self.raw(id, 1),
        }
    }

    /// Whether a struct, list or literal over several lines is in the value.
    fn bulky(&self, id: NodeId) -> bool {
        let mut work = vec![id];
        while let Some(id) = work.pop() {
            match &self.tree[id].kind {
                Kind::Struct { .. } | Kind::List { .. } => return true,
                Kind::Literal(_, text) if text.contains('\n') => return true,
                Kind::Paren { inner: x, .. } | Kind::Unary(_, x) | Kind::Postfix(x, ..) => {
                    work.push(*x);
                }
                Kind::Binary { left, right, .. } => work.extend([*right, *left]),
                Kind::Index { base, .. } | Kind::Selector(base, _) => work.push(*base),
                Kind::Call { arguments, .. } => work.extend(arguments),
                _ => {}
            }
        }
        false
    }

    fn comprehension(&mut self, id: NodeId) {
        let tree = self.tree;
        let Kind::Comprehension { clauses, body, fallback } = &tree[id].kind else { return };
        self.anonymous();
        for (index, &clause) in clauses.iter().enumerate() {
            self.push(clause);
            if index > 0 {
                self.m.wish(SPACE);
            }
            self.clause(clause);
            self.m.pop();
        }
        self.m.pop();
        self.m.wish(SPACE | FREEZE);
        self.expr(*body, 1);
        if let Some(id) = fallback {
            self.push(*id);
            if let Kind::Fallback(_, body) = &tree[*id].kind {
                let single = matches!(clauses.as_slice(), [only]
                    if matches!(tree[*only].kind, Kind::If(_) | Kind::Try(_)));
                self.m.wish(SPACE);
                self.op(tree[*id].mark, if single { T::Else } else { T::Otherwise });
                self.m.wish(SPACE);
                self.expr(*body, 1);
            }
            self.m.pop();
        }
    }

    fn clause(&mut self, id: NodeId) {
        let tree = self.tree;
        let mark = tree[id].mark;
        self.start(mark);
        match &tree[id].kind {
            Kind::For { key, value, at, source } => {
                self.m.word("for");
                self.m.wish(SPACE | IN);
                match key {
                    Some((key, comma)) => {
                        self.expr(*key, 1);
                        self.op(*comma, T::Comma);
                        self.m.wish(SPACE);
                    }
                    None => self.m.count(),
                }
                self.expr(*value, 1);
                self.m.wish(SPACE);
                self.m.distance(at.distance);
                self.m.word("in");
                self.m.wish(SPACE);
                self.expr(*source, 1);
                self.m.pop_mark();
            }
            Kind::If(condition) => {
                self.m.word("if");
                self.m.wish(SPACE | IN);
                self.expr(*condition, 1);
                self.m.pop_mark();
            }
            Kind::Let { name, value, .. } => {
                self.m.op(T::Let);
                self.m.wish(SPACE | FREEZE | IN);
                self.expr(*name, 1);
                self.m.wish(SPACE | FREEZE);
                self.m.op(T::Bind);
                self.m.wish(SPACE);
                self.expr(*value, 1);
                self.m.pop_mark();
            }
            Kind::Try(binding) => {
                self.m.op(T::Try);
                if let Some((name, _, value)) = binding {
                    self.m.wish(SPACE | FREEZE | IN);
                    self.expr(*name, 1);
                    self.m.wish(SPACE | FREEZE);
                    self.m.op(T::Bind);
                    self.m.wish(SPACE);
                    self.expr(*value, 1);
                    self.m.pop_mark();
                }
            }
            _ => {}
        }
    }
}
