//! The CUE that is made: nodes of a concrete tree with the bytes of the schema that they stand for, so that the printer
//! lays them out as what a program made, and errors name the places in the schema.

use cue_syntax::scan::T;
use cue_syntax::tree::{Distance, Extras, Group, Kind, Mark, NodeId, Nodes, Tree};
use cue_syntax::unquote::quote;

use super::data::Value;

/// The place of what stands for nothing in the schema.
pub(crate) const NOWHERE: u32 = u32::MAX;

const MARK: Mark = Mark { at: NOWHERE, distance: Distance::Absent, after_comma: false };

/// A tree that is being made, and which of its names are those of packages.
#[derive(Default)]
pub(crate) struct Made {
    pub(crate) tree: Tree,
    /// Names of packages with their paths.
    pub(crate) packages: Vec<(NodeId, String)>,
}

/// Whether a field must be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Marker {
    None,
    Optional,
    Required,
}

impl Marker {
    fn token(self) -> Option<T> {
        match self {
            Marker::None => None,
            Marker::Optional => Some(T::Option),
            Marker::Required => Some(T::Not),
        }
    }
}

impl Made {
    pub(crate) fn add(&mut self, kind: Kind) -> NodeId {
        self.tree.add(MARK, 0, kind)
    }

    pub(crate) fn name(&mut self, text: &str) -> NodeId {
        self.add(Kind::Ident(text.into()))
    }

    /// `_`
    pub(crate) fn top(&mut self) -> NodeId {
        self.name("_")
    }

    pub(crate) fn is_top(&self, id: NodeId) -> bool {
        matches!(&self.tree[id].kind, Kind::Ident(name) if &**name == "_")
    }

    /// A text in quotes.
    pub(crate) fn text(&mut self, text: &str) -> NodeId {
        self.add(Kind::Literal(T::String, quote(text).into()))
    }

    pub(crate) fn null(&mut self) -> NodeId {
        self.add(Kind::Literal(T::Null, "null".into()))
    }

    /// A whole number.
    pub(crate) fn count(&mut self, count: u64) -> NodeId {
        self.add(Kind::Literal(T::Int, count.to_string().into()))
    }

    pub(crate) fn literal(&mut self, kind: T, text: String) -> NodeId {
        self.add(Kind::Literal(kind, text.into()))
    }

    pub(crate) fn unary(&mut self, op: T, operand: NodeId) -> NodeId {
        self.add(Kind::Unary(op, operand))
    }

    /// All operands joined, with parentheses around those that bind more weakly.
    pub(crate) fn joined(&mut self, op: T, operands: &[NodeId]) -> Option<NodeId> {
        let (first, rest) = operands.split_first()?;
        if rest.is_empty() {
            return Some(*first);
        }
        let mut left = self.operand(op, *first, Side::Left);
        for right in rest {
            let right = self.operand(op, *right, Side::Right);
            left = self.add(Kind::Binary { left, op, at: MARK, right });
        }
        Some(left)
    }

    fn operand(&mut self, op: T, id: NodeId, side: Side) -> NodeId {
        let Kind::Binary { op: inner, .. } = self.tree[id].kind else { return id };
        let weaker = match side {
            Side::Left => op == T::And && inner == T::Or,
            Side::Right => inner == op || inner == T::Or,
        };
        if !weaker {
            return id;
        }
        self.add(Kind::Paren { inner: id, close: MARK })
    }

    pub(crate) fn call(&mut self, name: &str, arguments: &[NodeId]) -> NodeId {
        let callee = self.name(name);
        self.call_of(callee, arguments)
    }

    fn call_of(&mut self, callee: NodeId, arguments: &[NodeId]) -> NodeId {
        let arguments = arguments.iter().copied().collect();
        self.add(Kind::Call { callee, open: MARK, arguments, close: MARK })
    }

    /// `package.name`, of a package of the standard library.
    pub(crate) fn of_package(&mut self, path: &str, name: &str) -> NodeId {
        let package = self.package(path, path);
        let name = self.name(name);
        self.add(Kind::Selector(package, name))
    }

    /// The name of a package.
    pub(crate) fn package(&mut self, path: &str, name: &str) -> NodeId {
        let package = self.name(name);
        self.packages.push((package, path.to_owned()));
        package
    }

    /// `package.name(arguments)`
    pub(crate) fn call_in(&mut self, path: &str, name: &str, arguments: &[NodeId]) -> NodeId {
        let callee = self.of_package(path, name);
        self.call_of(callee, arguments)
    }

    pub(crate) fn list(&mut self, elements: &[NodeId]) -> NodeId {
        let elements = elements.iter().copied().collect();
        self.add(Kind::List { open: MARK, close: MARK, elements })
    }

    pub(crate) fn ellipsis(&mut self, of: Option<NodeId>) -> NodeId {
        self.add(Kind::Ellipsis(of))
    }

    /// `{…}` whose braces go where it is the only thing in a field.
    pub(crate) fn structure(&mut self, decls: &[NodeId]) -> NodeId {
        self.add(Kind::Struct { braces: None, decls: decls.iter().copied().collect() })
    }

    /// `{…}` whose braces stay.
    pub(crate) fn braced(&mut self, decls: &[NodeId]) -> NodeId {
        let open = Mark { distance: Distance::None, ..MARK };
        let decls = decls.iter().copied().collect();
        self.tree.add(open, 0, Kind::Struct { braces: Some((open, MARK)), decls })
    }

    /// `[label]: value` on one line in braces.
    pub(crate) fn pattern(&mut self, label: NodeId, value: NodeId) -> NodeId {
        let label = self.list(&[label]);
        let field = self.field(label, Marker::None, value);
        self.set_apart(field, Distance::None);
        let open = Mark { distance: Distance::Line, ..MARK };
        let close = Mark { distance: Distance::None, ..MARK };
        let decls = Nodes::from_iter([field]);
        let inner = self.tree.add(open, 0, Kind::Struct { braces: Some((open, close)), decls });
        self.add(Kind::Embed(inner))
    }

    pub(crate) fn field(&mut self, label: NodeId, marker: Marker, value: NodeId) -> NodeId {
        let extras = Extras::new(None, marker.token(), Nodes::new());
        self.add(Kind::Field { label, value, extras })
    }

    pub(crate) fn embed(&mut self, expr: NodeId) -> NodeId {
        self.add(Kind::Embed(expr))
    }

    pub(crate) fn attribute(&mut self, text: String) -> NodeId {
        self.add(Kind::Attribute(text.into()))
    }

    /// Says of a field whether it must be there.
    pub(crate) fn mark(&mut self, field: NodeId, marker: Marker) {
        if let Kind::Field { extras, .. } = &mut self.tree[field].kind {
            let attributes = extras.attributes().iter().copied().collect();
            *extras = Extras::new(None, marker.token(), attributes);
        }
    }

    /// Puts an attribute behind a field.
    pub(crate) fn tag(&mut self, field: NodeId, text: &str) {
        let attribute = self.attribute(text.to_owned());
        if let Kind::Field { extras, .. } = &mut self.tree[field].kind {
            let constraint = extras.constraint();
            let attributes = extras.attributes().iter().copied().chain([attribute]).collect();
            *extras = Extras::new(None, constraint, attributes);
        }
    }

    pub(crate) fn marker(&self, field: NodeId) -> Marker {
        match &self.tree[field].kind {
            Kind::Field { extras, .. } => match extras.constraint() {
                Some(T::Option) => Marker::Optional,
                Some(T::Not) => Marker::Required,
                _ => Marker::None,
            },
            _ => Marker::None,
        }
    }

    /// The declarations of a struct.
    pub(crate) fn decls(&self, id: NodeId) -> &[NodeId] {
        match &self.tree[id].kind {
            Kind::Struct { decls, .. } => decls,
            _ => &[],
        }
    }

    /// Adds a declaration to a struct.
    pub(crate) fn push(&mut self, id: NodeId, decl: NodeId) {
        if let Kind::Struct { decls, .. } = &mut self.tree[id].kind {
            decls.push(decl);
        }
    }

    /// The same before all others.
    pub(crate) fn put_first(&mut self, id: NodeId, decl: NodeId) {
        if let Kind::Struct { decls, .. } = &mut self.tree[id].kind {
            decls.insert(0, decl);
        }
    }

    /// That the braces of a struct stay, whatever has it.
    pub(crate) fn keep_braces(&mut self, id: NodeId) {
        if let Kind::Struct { braces: braces @ None, .. } = &mut self.tree[id].kind {
            *braces = Some((MARK, MARK));
        }
    }

    pub(crate) fn is_struct(&self, id: NodeId) -> bool {
        matches!(self.tree[id].kind, Kind::Struct { .. })
    }

    pub(crate) fn is_list(&self, id: NodeId) -> bool {
        matches!(self.tree[id].kind, Kind::List { .. })
    }

    /// Sets comments above something, apart from what stands before it.
    pub(crate) fn document(&mut self, id: NodeId, lines: &[String], first: Distance) {
        let apart = |at: usize| if at == 0 { first } else { Distance::Absent };
        let lines = lines.iter().enumerate().map(|(at, it)| (apart(at), it.as_str().into()));
        let lines = lines.collect();
        let group =
            Group { slot: 0, doc: true, line: false, distance: Distance::Absent, at: 0, lines };
        self.tree.comments.insert(id, vec![group]);
    }

    /// The node whose first token is that of another, parentheses aside, and whether such stand before it.
    fn first(&self, id: NodeId) -> (NodeId, bool) {
        let mut at = id;
        let mut within = false;
        loop {
            within |= matches!(self.tree[at].kind, Kind::Paren { .. });
            let inner = match &self.tree[at].kind {
                Kind::Binary { left: it, .. }
                | Kind::Selector(it, _)
                | Kind::Index { base: it, .. }
                | Kind::Call { callee: it, .. }
                | Kind::Field { label: it, .. }
                | Kind::Alias { name: it, .. }
                | Kind::Paren { inner: it, .. }
                | Kind::Embed(it) => Some(*it),
                Kind::Struct { braces: None, decls } => decls.first().copied(),
                Kind::Comprehension { clauses, .. } => clauses.first().copied(),
                _ => None,
            };
            match inner {
                Some(it) => at = it,
                None => return (at, within),
            }
        }
    }

    fn change_first(&mut self, id: NodeId, change: impl Fn(&mut Mark)) {
        let (first, within) = self.first(id);
        let node = &mut self.tree[first];
        change(&mut node.mark);
        if within {
            // What stands before it is the parenthesis.
            node.mark.distance = Distance::Absent;
        }
        let mark = node.mark;
        match &mut node.kind {
            Kind::List { open, .. } => *open = mark,
            // Braces of what is empty are there from now on.
            Kind::Struct { braces, .. } => {
                *braces = Some((mark, braces.map_or(MARK, |it| it.1)));
            }
            _ => {}
        }
    }

    /// Where something begins, if it stands for a part of the schema.
    pub(crate) fn place(&self, id: NodeId) -> u32 {
        self.tree[self.first(id).0].mark.at
    }

    /// That something stands for a value, where that is.
    pub(crate) fn stands_for(&mut self, id: NodeId, value: &Value) {
        self.change_first(id, |it| (it.at, it.distance) = (value.at, value.distance));
    }

    /// That this white space stands before something.
    pub(crate) fn set_apart(&mut self, id: NodeId, distance: Distance) {
        self.change_first(id, |it| it.distance = distance);
    }

    /// That a comma stands before something.
    pub(crate) fn follows_comma(&mut self, id: NodeId) {
        self.change_first(id, |it| it.after_comma = true);
    }

    /// That the printer decides what white space stands before something.
    pub(crate) fn flow(&mut self, id: NodeId) {
        self.set_apart(id, Distance::Absent);
    }
}

/// A side of an operator.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
}
