//! The concrete tree: every token's distance and every comment, for errors and for the printer.
//!
//! Nodes stand in one arena; `Tree::comments` says which comments a node carries.

use cue_map::Map;

use crate::language::Experiments;
use crate::scan::T;

/// White space before a token (rule 1.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Distance {
    /// Made by a program: the printer decides.
    #[default]
    Absent,
    /// Nothing.
    None,
    /// Blanks.
    Space,
    /// One newline.
    Line,
    /// An empty line.
    Gap,
}

/// Where a token stands; offset and distance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// First byte.
    pub at: u32,
    /// White space before.
    pub distance: Distance,
    /// Whether an explicit comma stood before it.
    pub after_comma: bool,
}

/// Children of a node: most have none.
pub type Nodes = thin_vec::ThinVec<NodeId>;

/// Index of a node in its tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u32);

/// One node.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its first token.
    pub mark: Mark,
    /// One past its last byte.
    pub end: u32,
    /// Which.
    pub kind: Kind,
}

/// `~X`, `~(K,V)`
#[derive(Clone, Debug)]
pub struct PostAlias {
    /// The tilde.
    pub tilde: Mark,
    /// `(` and `)`, if written.
    pub parens: Option<(Mark, Mark)>,
    /// Name of the label; its comma follows.
    pub label: Option<(NodeId, Mark)>,
    /// Name of the field.
    pub field: NodeId,
}

/// `base[low:high]`
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Slice {
    pub base: NodeId,
    pub open: Mark,
    pub low: Option<NodeId>,
    pub high: Option<NodeId>,
    pub close: Mark,
}

/// What few fields have.
#[derive(Clone, Debug, Default)]
pub struct Extras(Option<Box<Extra>>);

#[derive(Clone, Debug)]
struct Extra {
    alias: Option<PostAlias>,
    constraint: Option<T>,
    attributes: Nodes,
}

impl Extras {
    /// Of a field.
    pub fn new(alias: Option<PostAlias>, constraint: Option<T>, attributes: Nodes) -> Self {
        let any = alias.is_some() || constraint.is_some() || !attributes.is_empty();
        Self(any.then(|| Box::new(Extra { alias, constraint, attributes })))
    }

    /// What stands behind a tilde.
    pub fn alias(&self) -> Option<&PostAlias> {
        self.0.as_ref()?.alias.as_ref()
    }

    /// `?` or `!`
    pub fn constraint(&self) -> Option<T> {
        self.0.as_ref()?.constraint
    }

    /// What stands behind the value.
    pub fn attributes(&self) -> &[NodeId] {
        self.0.as_ref().map_or(&[], |it| &it.attributes)
    }
}

/// Which node.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum Kind {
    // Expressions.
    Bad,
    Ident(Box<str>),
    /// A literal as written; also a piece of an interpolation.
    Literal(T, Box<str>),
    Bottom,
    /// Pieces and expressions in turn.
    Interpolation(Nodes),
    /// Without braces for `a: b: c`.
    Struct {
        braces: Option<(Mark, Mark)>,
        decls: Nodes,
    },
    List {
        open: Mark,
        close: Mark,
        elements: Nodes,
    },
    Ellipsis(Option<NodeId>),
    Unary(T, NodeId),
    Binary {
        left: NodeId,
        op: T,
        at: Mark,
        right: NodeId,
    },
    Selector(NodeId, NodeId),
    Index {
        base: NodeId,
        open: Mark,
        index: NodeId,
        close: Mark,
    },
    Slice(Box<Slice>),
    Call {
        callee: NodeId,
        open: Mark,
        arguments: Nodes,
        close: Mark,
    },
    Paren {
        inner: NodeId,
        close: Mark,
    },
    Postfix(NodeId, T),
    Alias {
        name: NodeId,
        equal: Mark,
        value: NodeId,
    },
    Comprehension {
        clauses: Nodes,
        body: NodeId,
        fallback: Option<NodeId>,
    },
    // Clauses.
    For {
        key: Option<(NodeId, Mark)>,
        value: NodeId,
        at: Mark,
        source: NodeId,
    },
    If(NodeId),
    Try(Option<(NodeId, Mark, NodeId)>),
    Fallback(T, NodeId),
    // Declarations.
    Let {
        name: NodeId,
        equal: Mark,
        value: NodeId,
    },
    Field {
        label: NodeId,
        value: NodeId,
        extras: Extras,
    },
    Embed(NodeId),
    Attribute(Box<str>),
    Package(NodeId),
    Import {
        parens: Option<(Mark, Mark)>,
        specs: Nodes,
    },
    Spec {
        name: Option<NodeId>,
        path: NodeId,
    },
    File(Nodes),
}

/// Comment lines without an empty line between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// After which of the node's tokens and children (rule 4.2).
    pub slot: i32,
    /// Directly above something.
    pub doc: bool,
    /// Behind something, on its line.
    pub line: bool,
    /// White space before.
    pub distance: Distance,
    /// Where the first one starts.
    pub at: u32,
    /// Texts with `//`, each with its own distance.
    pub lines: Vec<(Distance, Box<str>)>,
}

/// A parsed file or expression.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    /// All nodes.
    pub nodes: Vec<Node>,
    /// Comments of nodes, in slot order.
    pub comments: Map<NodeId, Vec<Group>>,
    /// The outermost node.
    pub root: Option<NodeId>,
    /// Where lines start.
    pub lines: crate::position::LineIndex,
    /// What the file asks for.
    pub(crate) experiments: Experiments,
}

impl Tree {
    /// Whether a node is one of these names.
    pub(crate) fn is_name(&self, id: NodeId, names: &[&str]) -> bool {
        matches!(&self[id].kind, Kind::Ident(name) if names.contains(&&**name))
    }

    /// A new node.
    pub fn add(&mut self, mark: Mark, end: u32, kind: Kind) -> NodeId {
        self.nodes.push(Node { mark, end, kind });
        NodeId((self.nodes.len() - 1) as u32)
    }

    /// Takes out all nodes from `first` on: nothing refers to them any more.
    pub(crate) fn cut(&mut self, first: usize) {
        if !self.comments.is_empty() {
            for id in first..self.nodes.len() {
                self.comments.remove(&NodeId(id as u32));
            }
        }
        self.nodes.truncate(first);
    }

    /// Where a node began when it was parsed: [`Tree::start`] without walking down operands, of
    /// which there may be many.
    pub(crate) fn began(&self, id: NodeId) -> Mark {
        match &self[id].kind {
            Kind::Binary { .. }
            | Kind::Selector(..)
            | Kind::Index { .. }
            | Kind::Slice(_)
            | Kind::Call { .. }
            | Kind::Postfix(..) => self[id].mark,
            _ => self.start(id),
        }
    }

    /// The first token of a node; that of the leftmost child if it has none of its own.
    pub fn start(&self, id: NodeId) -> Mark {
        let mut node = &self[id];
        loop {
            let first = match &node.kind {
                Kind::Binary { left: x, .. }
                | Kind::Selector(x, _)
                | Kind::Index { base: x, .. }
                | Kind::Call { callee: x, .. }
                | Kind::Postfix(x, ..)
                | Kind::Alias { name: x, .. }
                | Kind::Field { label: x, .. }
                | Kind::Embed(x) => *x,
                Kind::Struct { braces: None, decls } => match decls.first() {
                    Some(x) => *x,
                    None => return node.mark,
                },
                Kind::Interpolation(pieces) => match pieces.first() {
                    Some(x) => *x,
                    None => return node.mark,
                },
                Kind::Slice(slice) => slice.base,
                _ => return node.mark,
            };
            node = &self[first];
        }
    }
}

impl std::ops::Index<NodeId> for Tree {
    type Output = Node;
    fn index(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }
}

impl std::ops::IndexMut<NodeId> for Tree {
    fn index_mut(&mut self, id: NodeId) -> &mut Node {
        &mut self.nodes[id.0 as usize]
    }
}
