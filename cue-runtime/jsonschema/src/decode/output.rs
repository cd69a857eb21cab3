//! The file that a schema becomes: laid out, or as a line with the places that its pieces stand for.

use std::collections::HashMap;

use cue_syntax::scan::T;
use cue_syntax::tree::{Distance, Group, Kind, Mark, NodeId, Tree};
use cue_syntax::unquote::quote;
use cue_syntax::{Style, format_tree};

use super::made::{Made, Marker, NOWHERE};
use super::package::{Import, import};
use super::reference::package_name;
use super::state::Info;
use super::{Decoder, Problem, builder};

/// A schema as CUE.
#[derive(Debug)]
pub struct Decoded {
    pub(super) tree: Tree,
    pub(super) imports: Vec<Import>,
    /// Said of the file.
    pub(super) comment: Vec<String>,
    /// It is said of no part of the file.
    pub(super) apart: bool,
    pub(super) decls: Vec<NodeId>,
    /// Names of packages with their paths.
    packages: HashMap<NodeId, String>,
}

/// Schemas at a place in a file.
#[derive(Clone, Debug)]
pub struct Placed<'a> {
    /// Labels around each, as CUE has them.
    pub labels: &'a [String],
    /// Whether they are elements of a list.
    pub listed: bool,
    /// The schemas.
    pub schemas: Vec<&'a Decoded>,
}

/// CUE on a line.
#[derive(Clone, Debug, Default)]
pub struct Line {
    /// What is imported: lines.
    pub imports: Vec<String>,
    /// Declarations.
    pub text: String,
    /// Bytes of the text, and those of the schema that they stand for.
    pub places: Vec<(u32, u32)>,
    /// Those bytes of the text for which white space before them in the schema counts, too: officially such a place is
    /// not the same as that without.
    pub spaced: Vec<u32>,
    /// Lines of a comment about the file, and whether it is about no part of that.
    pub comment: (Vec<String>, bool),
    /// Whether it is one expression and no struct.
    pub is_expression: bool,
}

impl Decoded {
    /// What a decoder has made.
    ///
    /// # Errors
    /// Names in it mean two things.
    pub(super) fn of(decoder: Decoder<'_>, info: &Info) -> Result<Self, Vec<Problem>> {
        let Decoder { mut made, builder, .. } = decoder;
        let (mut decls, comment) = builder.file(&mut made);
        let imports = import(&mut made, &decls).map_err(|why| {
            let text = "cannot sanitize jsonschema resulting syntax";
            vec![Problem::nowhere(format!("{text}: {why}"))]
        })?;
        let mut said = Vec::new();
        if info.says_version {
            let version = info.version.text();
            said.push(made.attribute(format!("@jsonschema(schema={version:?})")));
        }
        if info.deprecated {
            said.push(made.attribute("@deprecated()".into()));
        }
        decls.splice(..0, said);
        let packages = made.packages.into_iter().collect();
        Ok(Self { tree: made.tree, imports, comment, apart: false, decls, packages })
    }

    /// That this white space stands before a declaration.
    pub(super) fn set_apart(&mut self, id: NodeId, distance: Distance) {
        let mut made = Made { tree: std::mem::take(&mut self.tree), packages: Vec::new() };
        made.set_apart(id, distance);
        self.tree = made.tree;
    }

    /// The file, laid out.
    pub fn text(&self, package: Option<&str>) -> String {
        text(&[Placed { labels: &[], listed: false, schemas: vec![self] }], package)
    }

    /// The paths of the packages that it imports, each with the name of that package.
    pub fn packages(&self) -> Vec<(String, String)> {
        let name = |it: &Import| package_name(&it.path).unwrap_or_default();
        self.imports.iter().map(|it| (it.path.clone(), name(it))).collect()
    }

    /// Whether it is one expression and no struct.
    pub fn is_expression(&self) -> bool {
        matches!(self.decls.as_slice(), [only] if matches!(self.tree[*only].kind, Kind::Embed(_)))
    }

    /// The same on a line, or a few.
    pub fn line(&self) -> Line {
        self.written(&self.decls, &HashMap::new())
    }

    /// The definitions in what the schema is, where that has a name of its own.
    pub fn inner_definitions(&self) -> Vec<String> {
        let whole = self.decls.iter().find_map(|it| match &self.tree[*it].kind {
            Kind::Field { label, value, .. } if self.tree_name(*label) == builder::ROOT => {
                Some(*value)
            }
            _ => None,
        });
        let Some(Kind::Struct { decls, .. }) = whole.map(|it| &self.tree[it].kind) else {
            return Vec::new();
        };
        let names = decls.iter().filter_map(|it| match &self.tree[*it].kind {
            Kind::Field { label, .. } => Some(self.tree_name(*label).to_owned()),
            _ => None,
        });
        names.filter(|it| it.starts_with('#')).collect()
    }

    fn tree_name(&self, id: NodeId) -> &str {
        if let Kind::Ident(name) = &self.tree[id].kind { name } else { "" }
    }

    /// The same with definitions before what is embedded beside them: so are fields of values ordered.
    pub fn line_in_order(&self) -> Line {
        let place = |it: &NodeId| match self.tree[*it].kind {
            Kind::Attribute(_) => 0,
            Kind::Embed(_) => 2,
            Kind::Ellipsis(_) => 3,
            _ => 1,
        };
        let mut decls = self.decls.clone();
        let named = |it: &NodeId| match &self.tree[*it].kind {
            Kind::Field { label, .. } => self.tree_name(*label) == builder::ROOT,
            _ => false,
        };
        if decls.iter().any(|it| place(it) == 2) && !decls.iter().any(named) {
            decls.sort_by_key(place);
        }
        self.written(&decls, &HashMap::new())
    }

    /// The same with these names for packages by their paths.
    pub fn line_with(&self, names: &HashMap<String, String>) -> Line {
        self.written(&self.decls, names)
    }

    fn written(&self, decls: &[NodeId], names: &HashMap<String, String>) -> Line {
        let imports = self.imports.iter().map(|it| match &it.name {
            Some(name) => format!("import {name} {}", quote(&it.path)),
            None => format!("import {}", quote(&it.path)),
        });
        let mut writer = Writer { of: self, names, tree: &self.tree, line: Line::default() };
        let only = match decls {
            [only] => match self.tree[*only].kind {
                Kind::Embed(expr) => Some(expr),
                _ => None,
            },
            _ => None,
        };
        match only {
            Some(expr) => writer.expr(expr),
            None => writer.decls(decls),
        }
        Line {
            imports: imports.collect(),
            comment: (self.comment.clone(), self.apart),
            is_expression: only.is_some(),
            ..writer.line
        }
    }
}

/// Schemas at their places in one file, laid out.
pub fn text(all: &[Placed<'_>], package: Option<&str>) -> String {
    let mut made = Made::default();
    let mut imports: Vec<Import> = Vec::new();
    let mut decls = Vec::new();
    for placed in all {
        let mut exprs = Vec::new();
        for it in &placed.schemas {
            let own = adopt(&mut made, it);
            for import in &it.imports {
                if !imports.contains(import) {
                    imports.push(import.clone());
                }
            }
            match placed.labels.is_empty() && !placed.listed {
                true => decls.extend(own),
                false => exprs.push(builder::whole(&mut made, &own)),
            }
        }
        if placed.listed {
            let list = listed(&mut made, &exprs);
            decls.push(match placed.labels {
                [] => made.embed(list),
                labels => around(&mut made, labels, list),
            });
            continue;
        }
        for expr in exprs {
            decls.push(around(&mut made, placed.labels, expr));
        }
    }
    let mut file = Vec::new();
    if let Some(package) = package {
        let name = made.name(package);
        file.push(made.add(Kind::Package(name)));
    }
    file.extend(imported(&mut made, &imports));
    file.extend(decls);
    let first = all.first().and_then(|it| it.schemas.first());
    if let (true, Some(next)) =
        (first.is_some_and(|it| it.apart) && package.is_none(), file.first())
    {
        made.set_apart(*next, Distance::Gap);
    }
    let comment = first.map_or(&[][..], |it| &it.comment);
    let root = made.add(Kind::File(file.into_iter().collect()));
    if !comment.is_empty() {
        let lines = comment.iter().map(|it| (Distance::Absent, it.as_str().into())).collect();
        let distance = Distance::Absent;
        let group = Group { slot: 0, doc: false, line: false, distance, at: 0, lines };
        made.tree.comments.insert(root, vec![group]);
    }
    made.tree.root = Some(root);
    format_tree(&made.tree, Style::Data)
}

/// The nodes of a schema in another tree: its declarations.
fn adopt(made: &mut Made, from: &Decoded) -> Vec<NodeId> {
    if made.tree.nodes.is_empty() {
        made.tree = from.tree.clone();
        return from.decls.clone();
    }
    let shift = made.tree.nodes.len() as u32;
    let moved = |id: NodeId| NodeId(id.0 + shift);
    for node in &from.tree.nodes {
        let mut node = node.clone();
        shifted(&mut node.kind, shift);
        made.tree.nodes.push(node);
    }
    for (id, groups) in from.tree.comments.iter() {
        made.tree.comments.insert(moved(*id), groups.clone());
    }
    from.decls.iter().map(|it| moved(*it)).collect()
}

/// Shifts the nodes that a node has in it.
fn shifted(kind: &mut Kind, shift: u32) {
    let all = |list: &mut cue_syntax::tree::Nodes| list.iter_mut().for_each(|it| it.0 += shift);
    match kind {
        Kind::Struct { decls, .. } => all(decls),
        Kind::List { elements, .. } => all(elements),
        Kind::Ellipsis(Some(it))
        | Kind::Unary(_, it)
        | Kind::Embed(it)
        | Kind::If(it)
        | Kind::Paren { inner: it, .. } => it.0 += shift,
        Kind::Binary { left, right, .. } => {
            left.0 += shift;
            right.0 += shift;
        }
        Kind::Selector(base, name) => {
            base.0 += shift;
            name.0 += shift;
        }
        Kind::Call { callee, arguments, .. } => {
            callee.0 += shift;
            all(arguments);
        }
        Kind::Alias { name, value, .. } => {
            name.0 += shift;
            value.0 += shift;
        }
        Kind::Comprehension { clauses, body, .. } => {
            all(clauses);
            body.0 += shift;
        }
        Kind::Field { label, value, extras } => {
            label.0 += shift;
            value.0 += shift;
            let attributes = extras.attributes().iter().map(|it| NodeId(it.0 + shift)).collect();
            *extras = cue_syntax::tree::Extras::new(None, extras.constraint(), attributes);
        }
        // Nothing else is made.
        _ => {}
    }
}

/// An expression below labels.
fn around(made: &mut Made, labels: &[String], expr: NodeId) -> NodeId {
    let mut value = expr;
    let mut field = expr;
    for (depth, label) in labels.iter().enumerate().rev() {
        if label.starts_with(['#', '_']) {
            made.keep_braces(value);
        }
        let label = match label.starts_with('"') {
            true => made.literal(T::String, label.clone()),
            false => made.name(label),
        };
        field = made.field(label, Marker::None, value);
        if depth > 0 {
            value = made.braced(&[field]);
        }
    }
    field
}

fn listed(made: &mut Made, elements: &[NodeId]) -> NodeId {
    let list = made.list(elements);
    let open = Mark { at: NOWHERE, distance: Distance::None, after_comma: false };
    made.tree[list].mark = open;
    for it in elements {
        made.follows_comma(*it);
    }
    let mark = Mark { after_comma: true, ..open };
    if let Kind::List { open: at, close, .. } = &mut made.tree[list].kind {
        (*at, *close) = (open, mark);
    }
    list
}

fn imported(made: &mut Made, imports: &[Import]) -> Option<NodeId> {
    if imports.is_empty() {
        return None;
    }
    let specs = imports.iter().map(|it| {
        let name = it.name.as_ref().map(|it| made.name(it));
        let path = made.text(&it.path);
        made.add(Kind::Spec { name, path })
    });
    let specs: Vec<NodeId> = specs.collect();
    let parens = (specs.len() > 1).then(Default::default);
    let id = made.add(Kind::Import { parens, specs: specs.into_iter().collect() });
    made.tree[id].mark.distance = Distance::Gap;
    Some(id)
}

/// Writes nodes on a line.
struct Writer<'a> {
    of: &'a Decoded,
    names: &'a HashMap<String, String>,
    tree: &'a Tree,
    line: Line,
}

impl Writer<'_> {
    fn add(&mut self, text: &str) {
        self.line.text.push_str(text);
    }

    /// That what comes next stands for that place.
    fn mark(&mut self, mark: Mark) {
        if mark.at != NOWHERE {
            let here = u32::try_from(self.line.text.len()).unwrap_or(u32::MAX);
            self.line.places.push((here, mark.at));
            if mark.distance != Distance::Absent {
                self.line.spaced.push(here);
            }
        }
    }

    fn decls(&mut self, decls: &[NodeId]) {
        for (number, id) in decls.iter().enumerate() {
            if number > 0 {
                self.add(if self.line.text.ends_with('\n') { "" } else { "\n" });
            }
            self.decl(*id);
        }
    }

    fn decl(&mut self, id: NodeId) {
        let tree = self.tree;
        if let Some(groups) = tree.comments.get(&id) {
            let apart = |it: &Group| it.lines.first().is_some_and(|it| it.0 == Distance::Gap);
            self.add(if groups.iter().any(apart) { "\n" } else { "" });
            for (_, line) in groups.iter().flat_map(|it| &it.lines) {
                self.add(line);
                self.add("\n");
            }
        }
        let Kind::Field { label, value, extras } = &tree[id].kind else { return self.expr(id) };
        self.expr(*label);
        self.add(match extras.constraint() {
            Some(T::Option) => "?: ",
            Some(T::Not) => "!: ",
            _ => ": ",
        });
        self.expr(*value);
        for it in extras.attributes() {
            self.add(" ");
            self.expr(*it);
        }
    }

    fn expr(&mut self, id: NodeId) {
        stacker::maybe_grow(64 << 10, 1 << 20, || self.written(id));
    }

    fn separated(&mut self, all: &[NodeId]) {
        for (number, id) in all.iter().enumerate() {
            self.add(if number > 0 { ", " } else { "" });
            self.expr(*id);
        }
    }

    fn written(&mut self, id: NodeId) {
        let tree = self.tree;
        let node = &tree[id];
        match &node.kind {
            Kind::Ident(text) | Kind::Literal(_, text) | Kind::Attribute(text) => {
                self.mark(node.mark);
                let renamed = self.of.packages.get(&id).and_then(|it| self.names.get(it));
                self.add(renamed.map_or(&**text, String::as_str));
            }
            Kind::Bottom => self.add("_|_"),
            Kind::Struct { decls, .. } => {
                self.mark(node.mark);
                let several =
                    decls.len() > 1 || decls.iter().any(|it| tree.comments.contains_key(it));
                self.add(if several { "{\n" } else { "{" });
                self.decls(decls);
                self.add(if several { "\n}" } else { "}" });
            }
            Kind::List { elements, .. } => {
                self.mark(node.mark);
                self.add("[");
                self.separated(elements);
                self.add("]");
            }
            Kind::Ellipsis(of) => {
                self.mark(node.mark);
                self.add("...");
                if let Some(of) = of {
                    self.expr(*of);
                }
            }
            Kind::Unary(op, it) => {
                self.mark(node.mark);
                self.add(op.text());
                self.expr(*it);
            }
            Kind::Binary { .. } => self.chain(id),
            Kind::Selector(base, name) => {
                self.expr(*base);
                self.add(".");
                self.expr(*name);
            }
            Kind::Call { callee, arguments, .. } => {
                self.expr(*callee);
                self.add("(");
                self.separated(arguments);
                self.add(")");
            }
            Kind::Paren { inner, .. } => {
                self.add("(");
                self.expr(*inner);
                self.add(")");
            }
            Kind::Alias { name, value, .. } => {
                self.expr(*name);
                self.add("=");
                self.expr(*value);
            }
            Kind::Comprehension { clauses, body, .. } => {
                for it in clauses {
                    self.expr(*it);
                }
                self.add(" ");
                self.expr(*body);
            }
            Kind::If(condition) => {
                self.add("if ");
                self.expr(*condition);
            }
            Kind::Embed(it) => self.expr(*it),
            Kind::Field { .. } => self.decl(id),
            // Nothing else is made.
            _ => {}
        }
    }

    /// Operands one behind the other, of which there may be many.
    fn chain(&mut self, id: NodeId) {
        // Alternatives within alternatives are alternatives.
        let flat = |op: T, right: NodeId| match &self.tree[right].kind {
            Kind::Paren { inner, .. } if op == T::Or => match &self.tree[*inner].kind {
                Kind::Binary { op: T::Or, .. } => *inner,
                _ => right,
            },
            _ => right,
        };
        let mut rights = Vec::new();
        let mut at = id;
        while let Kind::Binary { left, op, right, .. } = &self.tree[at].kind {
            rights.push((*op, flat(*op, *right)));
            at = *left;
        }
        self.expr(at);
        for (op, right) in rights.into_iter().rev() {
            self.add(" ");
            self.add(op.text());
            self.add(" ");
            self.expr(right);
        }
    }
}
