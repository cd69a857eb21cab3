//! Expressions and literals (rules 6.3 to 6.5).

use super::{Layout, breaks};
use crate::grammar::precedence;
use crate::machine::{COMMA, CUT, FREEZE, IN, LINE, NOTRAIL, OUT, SEP, SPACE, TIGHT};
use crate::scan::T;
use crate::tree::{Distance, Kind, Mark, NodeId, Slice};
use crate::unquote;

impl Layout<'_> {
    pub(super) fn expr(&mut self, id: NodeId, depth: u32) {
        self.push(id);
        self.raw(id, depth);
        self.m.pop();
    }

    /// An expression without its frame.
    pub(super) fn raw(&mut self, id: NodeId, depth: u32) {
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
                let text = literal(*kind, text, self.m.tabs());
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
                if matches!(tree[*base].kind, Kind::Literal(T::Int, _)) {
                    // Without the blank the dot would be the number's.
                    self.m.wish(SPACE);
                }
                self.m.op(T::Period);
                if breaks(tree.start(*name)) && self.flat == 0 {
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
            Kind::Slice(slice) => {
                let Slice { base, open, low, high, close, .. } = &**slice;
                self.expr(*base, 1);
                self.op(*open, T::LBrack);
                let binary = |it: &Option<NodeId>| {
                    it.is_some_and(|it| matches!(tree[it].kind, Kind::Binary { .. }))
                };
                let blanks =
                    low.is_some() && high.is_some() && (binary(low) || binary(high)) && depth <= 1;
                if let Some(low) = low {
                    self.expr(*low, depth + 1);
                }
                if blanks {
                    self.m.wish(SPACE);
                }
                self.m.op(T::Colon);
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
                // What is said behind the dot would separate the name from its arguments: it comes behind them.
                let said = match &tree[*callee].kind {
                    Kind::Selector(..) => self.comments(*callee).to_vec(),
                    _ => Vec::new(),
                };
                match said.is_empty() {
                    true => self.expr(*callee, 1),
                    false => self.raw(*callee, 1),
                }
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
                if let Some(frame) = self.m.frames.last_mut() {
                    frame.comments.extend(said);
                }
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
            Kind::Postfix(x, op) => {
                self.expr(*x, depth);
                self.m.op(*op);
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

    pub(super) fn binary(&mut self, id: NodeId, depth: u32) {
        let tree = self.tree;
        let mut spine = Vec::new();
        let (mut at, mut depth) = (id, depth.max(1));
        while let Kind::Binary { left, op, at: mark, right } = &tree[at].kind {
            if at != id {
                self.push(at);
            }
            spine.push((at, *op, *mark, *right, depth));
            let same = matches!(&tree[*left].kind,
                Kind::Binary { op: inner, .. } if precedence(*inner) == precedence(*op));
            depth += u32::from(!same);
            at = *left;
        }
        self.expr(at, depth);
        let outermost = spine.len();
        let mut below = Signs::default();
        for (index, (at, op, mark, right, depth)) in spine.into_iter().rev().enumerate() {
            below = self.signs(at, below);
            let blanks = precedence(op) < below.cutoff(depth);
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

    /// The operators of a binary expression that count for its blanks (rule 6.4), where those of its
    /// left operand are known: of a long chain each is looked at once.
    fn signs(&self, id: NodeId, below: Signs) -> Signs {
        let Kind::Binary { left, op, right, .. } = &self.tree[id].kind else { return below };
        let own = precedence(*op);
        let mut signs = match &self.tree[*left].kind {
            Kind::Binary { op, .. } if precedence(*op) >= own => below,
            _ => Signs::default(),
        };
        signs.six |= own == 6;
        signs.seven |= own == 7;
        match &self.tree[*right].kind {
            // Only what is written without parentheses: the right one binds tighter, seven levels at most.
            Kind::Binary { op, left, .. } if precedence(*op) > own => {
                let inner = self.signs_below(*left);
                signs = signs.and(self.signs(*right, inner));
            }
            Kind::Unary(unary, _) => match (op, unary) {
                (T::Quo, T::Mul) => signs.problem = 8,
                (T::Add, T::Add) | (T::Sub, T::Sub) => signs.problem = signs.problem.max(6),
                _ => {}
            },
            _ => {}
        }
        signs
    }

    /// The same for a left operand of which nothing is known.
    fn signs_below(&self, id: NodeId) -> Signs {
        let mut spine = Vec::new();
        let mut at = id;
        while let Kind::Binary { left, .. } = &self.tree[at].kind {
            spine.push(at);
            at = *left;
        }
        spine.into_iter().rev().fold(Signs::default(), |below, it| self.signs(it, below))
    }

    pub(super) fn structure(&mut self, id: NodeId, braces: Option<(Mark, Mark)>, decls: &[NodeId]) {
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

    pub(super) fn list(&mut self, id: NodeId, open: Mark, close: Mark, elements: &[NodeId]) {
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

    pub(super) fn interpolation(&mut self, pieces: &[NodeId], depth: u32) {
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

/// Which operators that count for blanks a binary expression has (rule 6.4).
#[derive(Clone, Copy, Default)]
struct Signs {
    /// `+`, `-`
    six: bool,
    /// `*`, `/`
    seven: bool,
    /// Operators that would read as another one: from that precedence on they need blanks.
    problem: u8,
}

impl Signs {
    fn and(self, other: Signs) -> Signs {
        Signs {
            six: self.six || other.six,
            seven: self.seven || other.seven,
            problem: self.problem.max(other.problem),
        }
    }

    /// Operators of a lower precedence than this have blanks around.
    fn cutoff(self, depth: u32) -> u8 {
        match (self.problem, self.six && self.seven, depth) {
            (1.., _, _) => self.problem + 1,
            (_, true, 1) => 7,
            (_, false, 1) => 8,
            _ => 6,
        }
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
