//! The printer: the concrete tree to the layout machine, node by node (rules 6.3 to 6.5).

use crate::columns;
use crate::grammar::precedence;
use crate::machine::{COMMA, CUT, FREEZE, GAP, IN, LINE, Machine, NOTRAIL, OUT, SEP, SPACE, STOP, TIGHT};
use crate::scan::T;
use crate::simplify;
use crate::tree::{Distance, Group, Kind, Mark, NodeId, Tree};
use crate::unquote;

/// How to print.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// As `cue fmt`.
    Plain,
    /// As `cue fmt -s`.
    Simplified,
}

/// The text of a tree.
pub fn format_tree(tree: &Tree, style: Style) -> String {
    let simplified;
    let mut tree = tree;
    if style == Style::Simplified {
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
    let mut text = columns::align(&it.m.items);
    text.truncate(text.trim_end_matches('\n').len());
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
        let comments = self.comments(id).to_vec();
        self.m.push(comments, narrow);
    }

    fn anonymous(&mut self) {
        self.m.push(Vec::new(), false);
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
        !self.comments(id).is_empty()
            || match &self.tree[id].kind {
                Kind::Field { label, .. } => !self.comments(*label).is_empty(),
                Kind::Let { name, .. } => !self.comments(*name).is_empty(),
                _ => false,
            }
    }

    fn defines(&self, id: NodeId) -> bool {
        let Kind::Field { label, .. } = &self.tree[id].kind else { return false };
        let mut label = *label;
        while let Kind::Alias { value, .. } = &self.tree[label].kind {
            label = *value;
        }
        matches!(&self.tree[label].kind,
            Kind::Ident(name) if name.starts_with('#') || name.starts_with("_#"))
    }

    fn decls(&mut self, list: &[NodeId]) {
        let tree = self.tree;
        self.anonymous();
        for (index, &id) in list.iter().enumerate() {
            if let Some(&previous) = index.checked_sub(1).and_then(|it| list.get(it)) {
                self.m.wish(SEP);
                let before = self.depth(previous);
                if self.m.outer() == LINE && (before == 0 || before != self.depth(id)) {
                    self.m.hard_break();
                }
                let field = matches!(tree[previous].kind, Kind::Field { .. });
                if self.commented(id) && (!field || self.defines(previous)) {
                    self.m.wish(GAP);
                }
            }
            self.decl(id);
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
        self.m.pop();
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
        let Kind::Field { label, alias, constraint, value, attributes, .. } = &tree[id].kind else {
            return;
        };
        self.push(*label);
        self.label(*label);
        self.m.pop();
        if let Some(alias) = alias {
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
        if let Some((op, mark)) = constraint {
            self.op(*mark, *op);
        }
        self.m.wish(TIGHT | FREEZE);
        self.m.op(T::Colon);
        self.m.due_now();
        if let Some(inner) = self.nested(id, *value, attributes) {
            if breaks(tree.start(inner)) && self.style == Style::Plain {
                self.m.wish(IN | CUT);
                self.decl(inner);
                self.m.level = self.m.level.saturating_sub(1);
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
        let Kind::Field { attributes: inner, .. } = &self.tree[*only].kind else { return None };
        if !attributes.is_empty() || !inner.is_empty() || self.commented(*only) {
            return None;
        }
        let drop = self.style == Style::Simplified
            && !self.commented(id)
            && self.comments(value).is_empty();
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

    fn expr(&mut self, id: NodeId, depth: u32) {
        self.push(id);
        self.raw(id, depth);
        self.m.pop();
    }

    /// An expression without its frame.
    fn raw(&mut self, id: NodeId, depth: u32) {
        let tree = self.tree;
        let node = &tree[id];
        let mark = node.mark;
        match &node.kind {
            Kind::Ident(text) => {
                self.start(mark);
                self.m.word(text);
            }
            Kind::Literal(kind, text) => {
                self.start(mark);
                let text = literal(*kind, text, self.m.level);
                self.m.word(&text);
            }
            Kind::Bottom => {
                self.start(mark);
                self.m.op(T::Bottom);
            }
            Kind::Interpolation(pieces) => self.interpolation(pieces, depth),
            Kind::Struct { braces, decls } => self.structure(id, *braces, decls),
            Kind::List { open, close, elements } => self.list(id, *open, *close, elements),
            Kind::Ellipsis(of) => self.ellipsis(mark, *of),
            Kind::Unary(op, x) => {
                self.start(mark);
                self.m.op(*op);
                self.m.wish(FREEZE);
                self.expr(*x, depth);
            }
            Kind::Binary { .. } => self.binary(id, depth),
            Kind::Selector(base, name) => {
                self.expr(*base, depth);
                self.m.op(T::Period);
                if breaks(tree.start(*name)) {
                    self.m.wish(IN | CUT);
                    self.expr(*name, depth);
                    self.m.wish(OUT);
                } else {
                    self.m.wish(TIGHT);
                    self.expr(*name, depth);
                }
            }
            Kind::Index { base, open, index, close } => {
                self.expr(*base, 1);
                self.op(*open, T::LBrack);
                self.expr(*index, depth + 1);
                self.op(*close, T::RBrack);
            }
            Kind::Slice { base, open, low, colon, high, close } => {
                self.expr(*base, 1);
                self.op(*open, T::LBrack);
                let binary = |it: &Option<NodeId>| {
                    it.is_some_and(|it| matches!(tree[it].kind, Kind::Binary { .. }))
                };
                let blanks = low.is_some()
                    && high.is_some()
                    && (binary(low) || binary(high))
                    && depth <= 1;
                if let Some(low) = low {
                    self.expr(*low, depth + 1);
                }
                if blanks {
                    self.m.wish(SPACE);
                }
                self.op(*colon, T::Colon);
                if blanks {
                    self.m.wish(SPACE);
                }
                if let Some(high) = high {
                    self.expr(*high, depth + 1);
                }
                self.op(*close, T::RBrack);
            }
            Kind::Call { callee, open, arguments, close } => {
                let inner = if arguments.len() > 1 { depth + 1 } else { depth };
                self.expr(*callee, 1);
                self.op(*open, T::LParen);
                self.anonymous();
                for argument in arguments {
                    self.push(*argument);
                    self.raw(*argument, inner);
                    self.m.wish(COMMA | SPACE);
                    self.m.pop();
                }
                self.m.pop();
                self.m.wish(NOTRAIL | TIGHT);
                self.op(*close, T::RParen);
            }
            Kind::Paren { inner, close } => {
                if matches!(tree[*inner].kind, Kind::Paren { .. }) {
                    self.expr(*inner, depth);
                    return;
                }
                self.start(mark);
                self.m.op(T::LParen);
                self.expr(*inner, depth.saturating_sub(1).max(1));
                self.op(*close, T::RParen);
            }
            Kind::Postfix(x, op, at) => {
                self.expr(*x, depth);
                self.op(*at, *op);
            }
            Kind::Alias { name, equal, value } => {
                self.expr(*name, 1);
                self.op(*equal, T::Bind);
                self.expr(*value, 1);
            }
            Kind::Comprehension { .. } => self.comprehension(id),
            _ => self.start(mark),
        }
    }

    fn binary(&mut self, id: NodeId, depth: u32) {
        let tree = self.tree;
        let mut spine = Vec::new();
        let (mut at, mut depth) = (id, depth.max(1));
        while let Kind::Binary { left, op, at: mark, right } = &tree[at].kind {
            if at != id {
                self.push(at);
            }
            let blanks = precedence(*op) < self.cutoff(at, depth);
            spine.push((*op, *mark, *right, blanks, depth));
            let same = matches!(&tree[*left].kind,
                Kind::Binary { op: inner, .. } if precedence(*inner) == precedence(*op));
            depth += u32::from(!same);
            at = *left;
        }
        self.expr(at, depth);
        let outermost = spine.len();
        for (index, (op, mark, right, blanks, depth)) in spine.into_iter().rev().enumerate() {
            let space = if blanks { SPACE } else { 0 };
            self.m.wish(FREEZE | space);
            self.op(mark, op);
            if breaks(tree.start(right)) && self.flat == 0 {
                self.m.wish(CUT);
            } else {
                self.m.wish(FREEZE | space);
            }
            self.expr(right, depth + 1);
            if index + 1 < outermost {
                self.m.pop();
            }
        }
    }

    /// Operators of a lower precedence than this have blanks around (rule 6.4).
    fn cutoff(&self, id: NodeId, depth: u32) -> u8 {
        let (mut six, mut seven, mut problem) = (false, false, 0);
        let mut work = vec![id];
        while let Some(id) = work.pop() {
            let Kind::Binary { left, op, right, .. } = &self.tree[id].kind else { continue };
            let own = precedence(*op);
            six |= own == 6;
            seven |= own == 7;
            if let Kind::Binary { op, .. } = &self.tree[*left].kind {
                if precedence(*op) >= own {
                    work.push(*left);
                }
            }
            match &self.tree[*right].kind {
                Kind::Binary { op, .. } if precedence(*op) > own => work.push(*right),
                Kind::Unary(unary, _) => match (op, unary) {
                    (T::Quo, T::Mul) => problem = 8,
                    (T::Add, T::Add) | (T::Sub, T::Sub) => problem = problem.max(6),
                    _ => {}
                },
                _ => {}
            }
        }
        match (problem, six && seven, depth) {
            (1.., _, _) => problem + 1,
            (_, true, 1) => 7,
            (_, false, 1) => 8,
            _ => 6,
        }
    }

    fn structure(&mut self, id: NodeId, braces: Option<(Mark, Mark)>, decls: &[NodeId]) {
        let (open, close) = braces.unwrap_or_default();
        self.start(open);
        self.m.op(T::LBrace);
        let before = self.m.breaks;
        self.m.wish(IN | TIGHT);
        match decls.first() {
            None if self.comments(id).iter().any(|it| it.slot == 1) => self.m.hard_break(),
            None => self.m.wish(SPACE | FREEZE),
            Some(first) => {
                self.m.hard_break();
                let first = self.tree.start(*first).distance;
                if close.distance == Distance::Absent || first == Distance::Absent {
                    self.m.wish(LINE | FREEZE);
                }
            }
        }
        self.m.after_brace = true;
        self.decls(decls);
        self.m.wish(OUT | TIGHT);
        if self.m.breaks > before {
            self.m.wish(LINE);
            if !self.m.closed {
                self.m.wish(FREEZE);
            }
        }
        self.op(close, T::RBrace);
    }

    fn list(&mut self, id: NodeId, open: Mark, close: Mark, elements: &[NodeId]) {
        let tree = self.tree;
        self.start(open);
        self.m.op(T::LBrack);
        self.m.wish(TIGHT | IN);
        if elements.is_empty() && !self.comments(id).iter().any(|it| it.slot == 1) {
            self.m.wish(SPACE | FREEZE);
        }
        let known = close.distance != Distance::Absent;
        let free = known
            && match elements {
                [] => false,
                [_] => !close.after_comma,
                [_, rest @ ..] => rest.iter().any(|it| !tree.start(*it).after_comma),
            };
        self.anonymous();
        for (index, &id) in elements.iter().enumerate() {
            if free && index > 0 {
                self.m.wish(SEP);
            }
            self.push(id);
            let start = tree.start(id).at;
            // Comments of elements come behind the comma.
            let mut more = self.m.frames.last_mut().map(|it| std::mem::take(&mut it.comments));
            let more = more.get_or_insert_default();
            match &tree[id].kind {
                Kind::Ellipsis(Some(of)) => {
                    more.extend(self.comments(*of).to_vec());
                    self.start(tree[id].mark);
                    self.m.op(T::Ellipsis);
                    if !matches!(&tree[*of].kind, Kind::Ident(name) if &**name == "_") {
                        self.raw(*of, 1);
                    }
                }
                _ => self.raw(id, 1),
            }
            if !free {
                self.m.wish(COMMA | SPACE);
            }
            if let Some(frame) = self.m.frames.last_mut() {
                frame.comments.append(more);
                frame.comments.retain(|it| it.at > start);
            }
            self.m.pop();
        }
        self.m.pop();
        self.m.wish(NOTRAIL | TIGHT);
        self.m.due_now();
        self.m.wish(OUT | TIGHT);
        self.op(close, T::RBrack);
    }

    fn interpolation(&mut self, pieces: &[NodeId], depth: u32) {
        let tree = self.tree;
        let multiline = pieces.first().is_some_and(|it| match &tree[*it].kind {
            Kind::Literal(_, text) => {
                let text = text.trim_start_matches('#');
                text.starts_with("\"\"\"") || text.starts_with("'''")
            }
            _ => false,
        });
        self.anonymous();
        if let Some(first) = pieces.first() {
            self.expr(*first, 1);
        }
        self.flat += u32::from(!multiline);
        for pair in pieces.get(1..).unwrap_or_default().chunks(2) {
            let [hole, piece] = pair else { continue };
            let after = breaks(tree.start(*hole));
            let before = breaks(tree.start(*piece));
            if multiline && before && !after {
                self.m.wish(LINE | FREEZE);
            }
            self.expr(*hole, depth + 1);
            if multiline && after && !before {
                self.m.wish(LINE | FREEZE);
            }
            self.expr(*piece, 1);
        }
        self.flat -= u32::from(!multiline);
        self.m.pop();
    }
}

/// A literal as it is printed (rule 6.5).
fn literal(kind: T, text: &str, level: usize) -> String {
    let mut out = text.to_owned();
    match kind {
        T::Int => {
            if let Some(at) = text.find('.') {
                if at > 0 && !text[at + 1..].starts_with(|c: char| c.is_ascii_digit()) {
                    out.insert(at + 1, '0');
                }
            }
            if text.find('E').is_some_and(|at| at + 1 < text.len()) {
                out = out.to_lowercase();
            }
        }
        T::Float => {
            if text.starts_with('.') {
                out.insert(0, '0');
            }
            if let Some(at) = out.find('.') {
                if !out[at + 1..].starts_with(|c: char| c.is_ascii_digit()) {
                    out.insert(at + 1, '0');
                }
            }
            out = out.to_lowercase();
        }
        T::String if level < 6 => {
            let Some((form, _)) = unquote::Form::of(text) else { return out };
            if form.triple {
                let body = out.find('\n').unwrap_or(0);
                out = format!("{}{}", &out[..body], out[body..].replace('\r', ""));
                let end = out.len().saturating_sub(form.closing());
                let indent = unquote::indentation(out.get(..end).unwrap_or(""), form);
                let tabs = format!("\n{}", "\t".repeat(level + 1));
                out = out.replace(&format!("\n{indent}"), &tabs);
            }
        }
        T::Interpolation => out = out.replace('\r', ""),
        _ => {}
    }
    out
}
