//! Where schemas are put in the file that is made, and what is written to refer to them.
//!
//! A definition is at a path of labels. All are kept in a tree, and written in the order of their labels, below what the
//! schema as a whole is.

use std::collections::BTreeMap;
use std::fmt;

use cue_syntax::tree::{Distance, Kind, NodeId};
use cue_syntax::unquote::quote;

use super::data::is_name;
use super::made::{Made, Marker};

/// A label on the path of a definition; in the order in which they are written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Label {
    /// A field, which has quotes where it needs them.
    Field(String),
    /// `#name`
    Definition(String),
    /// `_name`
    Hidden(String),
    /// `_#name`
    HiddenDefinition(String),
}

impl Label {
    /// A field by its name.
    pub(crate) fn field(name: &str) -> Self {
        let quoted = name.starts_with(['#', '_']) || !is_name(name);
        Label::Field(if quoted { quote(name) } else { name.to_owned() })
    }

    /// A name as it is written.
    pub(crate) fn named(name: &str) -> Self {
        match name {
            _ if name.starts_with("_#") => Label::HiddenDefinition(name.to_owned()),
            _ if name.starts_with('_') => Label::Hidden(name.to_owned()),
            _ if name.starts_with('#') => Label::Definition(name.to_owned()),
            _ => Label::field(name),
        }
    }

    fn text(&self) -> &str {
        match self {
            Label::Field(text)
            | Label::Definition(text)
            | Label::Hidden(text)
            | Label::HiddenDefinition(text) => text,
        }
    }

    fn node(&self, made: &mut Made) -> NodeId {
        let text = self.text();
        match text.starts_with('"') {
            true => made.literal(cue_syntax::scan::T::String, text.to_owned()),
            false => made.name(text),
        }
    }
}

/// A path.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Path(pub(crate) Vec<Label>);

impl fmt::Display for Path {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let labels: Vec<&str> = self.0.iter().map(Label::text).collect();
        out.write_str(&labels.join("."))
    }
}

/// What is at a place.
#[derive(Default)]
struct Place {
    schema: Option<NodeId>,
    comment: Vec<String>,
    below: BTreeMap<Label, Place>,
}

/// All schemas that have a place.
#[derive(Default)]
pub(crate) struct Builder {
    root: Place,
    /// Whether something refers to the schema as a whole.
    rooted: bool,
}

/// What the schema as a whole is called.
pub(super) const ROOT: &str = "_schema";

impl Builder {
    /// Puts a schema at a place; whether there was none yet.
    pub(crate) fn put(&mut self, path: &Path, schema: NodeId, comment: Vec<String>) -> bool {
        let mut place = &mut self.root;
        for label in &path.0 {
            place = place.below.entry(label.clone()).or_default();
        }
        if place.schema.is_some() {
            return false;
        }
        place.schema = Some(schema);
        place.comment = comment;
        true
    }

    /// A reference to a place; none where that begins with a label in quotes.
    pub(crate) fn reference(&mut self, made: &mut Made, path: &Path) -> Option<NodeId> {
        let Some((first, rest)) = path.0.split_first() else {
            self.rooted = true;
            return Some(made.name(ROOT));
        };
        if first.text().starts_with('"') {
            return None;
        }
        let base = made.name(first.text());
        Some(selected(made, base, rest))
    }

    /// The declarations of the file, and the comment above it.
    pub(crate) fn file(self, made: &mut Made) -> (Vec<NodeId>, Vec<String>) {
        let Self { root, rooted } = self;
        let comment = root.comment.clone();
        let mut decls = Vec::new();
        declare(made, &root, &mut Vec::new(), &mut decls);
        if rooted {
            let whole = whole(made, &decls);
            // The braces of what has a name of its own stay.
            made.keep_braces(whole);
            let name = made.name(ROOT);
            let embedded = made.embed(name);
            let label = made.name(ROOT);
            decls = vec![embedded, made.field(label, Marker::None, whole)];
        }
        (decls, comment)
    }
}

/// What is selected from a base by labels.
pub(crate) fn selected(made: &mut Made, base: NodeId, labels: &[Label]) -> NodeId {
    labels.iter().fold(base, |base, label| {
        let name = label.node(made);
        made.add(Kind::Selector(base, name))
    })
}

/// Adds the declarations of a place and of all below it.
fn declare(made: &mut Made, place: &Place, path: &mut Vec<Label>, decls: &mut Vec<NodeId>) {
    match place.schema {
        Some(schema) if !place.below.is_empty() => {
            // What is no struct cannot have definitions in it but in braces.
            let mut inner = Vec::new();
            append(made, &[], schema, &[], &mut inner);
            declare_below(made, place, &mut Vec::new(), &mut inner);
            let whole = whole(made, &inner);
            append(made, path, whole, &place.comment, decls);
        }
        Some(schema) => append(made, path, schema, &place.comment, decls),
        None => declare_below(made, place, path, decls),
    }
}

fn declare_below(made: &mut Made, place: &Place, path: &mut Vec<Label>, decls: &mut Vec<NodeId>) {
    for (label, below) in &place.below {
        path.push(label.clone());
        declare(made, below, path, decls);
        path.pop();
    }
}

/// Declarations as an expression.
pub(crate) fn whole(made: &mut Made, decls: &[NodeId]) -> NodeId {
    match decls {
        [only] => match made.tree[*only].kind {
            Kind::Embed(expr) => expr,
            _ => made.structure(decls),
        },
        _ => made.structure(decls),
    }
}

/// Adds a schema at a path to declarations.
fn append(
    made: &mut Made,
    path: &[Label],
    schema: NodeId,
    comment: &[String],
    decls: &mut Vec<NodeId>,
) {
    if path.is_empty() {
        if made.is_struct(schema) {
            decls.extend_from_slice(made.decls(schema));
        } else {
            let embedded = made.embed(schema);
            made.set_apart(embedded, Distance::Gap);
            decls.push(embedded);
        }
        return;
    }
    let mut value = schema;
    // A struct that is all there is loses its braces, unless something is said of it.
    if let Kind::Struct { braces, decls } = &mut made.tree[value].kind {
        if decls.len() == 1 && comment.is_empty() {
            *braces = None;
        }
    }
    let mut field = value;
    for (depth, label) in path.iter().enumerate().rev() {
        let label = label.node(made);
        field = made.field(label, Marker::None, value);
        made.set_apart(field, if depth == 0 { Distance::Gap } else { Distance::Space });
        value = made.structure(&[field]);
    }
    if !comment.is_empty() {
        made.document(field, comment, Distance::Absent);
    }
    decls.push(field);
}
