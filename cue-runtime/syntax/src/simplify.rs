//! `cue fmt -s`: plain labels without quotes, open structs with `...` (rule 6.7).
//! Braces around single fields are dropped by the printer.

use cue_map::Map;

use crate::layout::Style;
use crate::scan::{self, T};
use crate::tree::{Distance, Kind, Mark, NodeId, Nodes, Slice, Tree};
use crate::unquote;

/// The simplified tree.
pub(crate) fn simplified(tree: &Tree, style: Style) -> Tree {
    let mut it = Simplify { tree, style, scopes: Vec::new(), plain: Vec::new(), lists: Vec::new() };
    if let Some(root) = tree.root {
        it.visit(root, Nesting::Braces);
    }
    let (plain, lists) = (it.plain, it.lists);
    let mut tree = tree.clone();
    for (id, name) in plain {
        tree[id].kind = name;
        tree[id].mark.distance = Distance::Absent;
    }
    for (id, mut kept, last) in lists {
        let alone = kept.is_empty() && matches!(tree[last].kind, Kind::Ellipsis(_));
        let ellipsis = if alone {
            last
        } else {
            let (at, end) = (tree[last].mark.at, tree[last].end);
            let mut mark = Mark { at, ..Mark::default() };
            if kept.is_empty() && tree[last].mark.distance < Distance::Line {
                mark.distance = tree[last].mark.distance;
            }
            let id = tree.add(mark, end, Kind::Ellipsis(None));
            if let Some(comments) = tree.comments.remove(&last) {
                tree.comments.insert(id, comments);
            }
            id
        };
        kept.push(ellipsis);
        match &mut tree[id].kind {
            Kind::Struct { decls, .. } | Kind::File(decls) => *decls = kept,
            _ => {}
        }
    }
    tree
}

/// Whether a single field may be printed behind the label, without braces.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Nesting {
    Label,
    Braces,
}

struct Simplify<'a> {
    tree: &'a Tree,
    style: Style,
    /// Labels of the declaration lists around us, and whether something refers to them.
    scopes: Vec<Map<String, bool>>,
    plain: Vec<(NodeId, Kind)>,
    lists: Vec<(NodeId, Nodes, NodeId)>,
}

/// Whether text may stand as a label without quotes.
fn identifier(text: &str) -> bool {
    let start = text.chars().next().is_some_and(|c| scan::is_letter(c) || c == '$');
    start && text.chars().all(|c| scan::is_letter(c) || scan::is_digit(c) || "_$".contains(c))
}

impl Simplify<'_> {
    fn label_text(&self, label: NodeId) -> Option<String> {
        match &self.tree[label].kind {
            Kind::Ident(name) => Some(name.to_string()),
            Kind::Literal(T::String, text) => {
                let value = unquote::bytes(text).ok()?;
                String::from_utf8(value).ok()
            }
            _ => None,
        }
    }

    fn decls(&mut self, id: NodeId, decls: &[NodeId], nesting: Nesting) {
        let tree = self.tree;
        let mut scope = Map::default();
        for decl in decls {
            if let Kind::Field { label, .. } = &tree[*decl].kind {
                if let Some(name) = self.label_text(*label) {
                    scope.insert(name, false);
                }
            }
        }
        self.scopes.push(scope);
        for decl in decls {
            self.visit(*decl, Nesting::Braces);
        }
        let scope = self.scopes.pop().unwrap_or_default();
        for decl in decls {
            let Kind::Field { label, .. } = &tree[*decl].kind else { continue };
            let Kind::Literal(T::String, text) = &tree[*label].kind else { continue };
            let double = text.starts_with('"') && !text.starts_with("\"\"");
            let Some(name) = self.label_text(*label) else { continue };
            let single = text.starts_with('\'') && name.chars().count() == 1;
            // A label that needs quotes loses them beside one that has none.
            let bare = |it: &NodeId| match &tree[*it].kind {
                Kind::Field { label, .. } => self.is_name(*label, &[&name]),
                _ => false,
            };
            let plain = identifier(&name) || decls.iter().any(bare);
            if (double || single) && plain && scope.get(&name) == Some(&false) {
                self.plain.push((*label, Kind::Ident(name.into())));
            }
        }
        let open = |it: &&NodeId| self.opens(**it);
        if let Some(last) = decls.iter().rev().find(open).filter(|_| nesting == Nesting::Braces) {
            let kept = decls.iter().filter(|it| !self.opens(**it)).copied().collect();
            self.lists.push((id, kept, *last));
        }
    }

    fn is_name(&self, id: NodeId, names: &[&str]) -> bool {
        matches!(&self.tree[id].kind, Kind::Ident(name) if names.contains(&&**name))
    }

    /// `...`, `[string]: _`, `[_]: _`
    fn opens(&self, id: NodeId) -> bool {
        let name = |id, names: &[&str]| self.is_name(id, names);
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

    fn visit(&mut self, id: NodeId, nesting: Nesting) {
        let tree = self.tree;
        let mut children: Vec<NodeId> = Vec::new();
        match &tree[id].kind {
            Kind::Ident(name) => {
                let scope = self.scopes.iter_mut().rev().find_map(|it| it.get_mut(&**name));
                if let Some(used) = scope {
                    *used = true;
                }
            }
            Kind::File(decls) => self.decls(id, decls, Nesting::Braces),
            Kind::Struct { braces, decls } => {
                let single = nesting == Nesting::Label
                    && self.style.drops_braces()
                    && matches!(decls.as_slice(), [only]
                    if matches!(&tree[*only].kind, Kind::Field { extras, .. } if extras.attributes().is_empty())
                        && !tree.comments.contains_key(only));
                let label = braces.is_none() || single;
                let nesting = if label { Nesting::Label } else { Nesting::Braces };
                self.decls(id, decls, nesting);
            }
            Kind::Field { value, extras, .. } => {
                let free = extras.attributes().is_empty() && !tree.comments.contains_key(&id);
                self.visit(*value, if free { Nesting::Label } else { Nesting::Braces });
            }
            Kind::Selector(base, _) => children.push(*base),
            Kind::Interpolation(list) | Kind::List { elements: list, .. } => children.extend(list),
            Kind::Ellipsis(of) => children.extend(of),
            Kind::Unary(_, x)
            | Kind::Postfix(x, ..)
            | Kind::Embed(x)
            | Kind::If(x)
            | Kind::Fallback(_, x)
            | Kind::Paren { inner: x, .. } => children.push(*x),
            Kind::Binary { left, right, .. } => {
                let mut at = (*left, *right);
                loop {
                    self.visit(at.1, Nesting::Braces);
                    match &tree[at.0].kind {
                        Kind::Binary { left, right, .. } => at = (*left, *right),
                        _ => break,
                    }
                }
                children.push(at.0);
            }
            Kind::Index { base, index, .. } => children.extend([*base, *index]),
            Kind::Slice(slice) => {
                let Slice { base, low, high, .. } = &**slice;
                children.push(*base);
                children.extend(low);
                children.extend(high);
            }
            Kind::Call { callee, arguments, .. } => {
                children.push(*callee);
                children.extend(arguments);
            }
            Kind::Alias { name, value, .. } | Kind::Let { name, value, .. } => {
                children.extend([*name, *value]);
            }
            Kind::Comprehension { clauses, body, fallback } => {
                children.extend(clauses);
                children.push(*body);
                children.extend(fallback);
            }
            Kind::For { key, value, source, .. } => {
                children.extend(key.map(|it| it.0));
                children.extend([*value, *source]);
            }
            Kind::Try(binding) => {
                children.extend(binding.iter().flat_map(|(name, _, value)| [*name, *value]));
            }
            Kind::Bad
            | Kind::Literal(..)
            | Kind::Bottom
            | Kind::Attribute(_)
            | Kind::Package(_)
            | Kind::Import { .. }
            | Kind::Spec { .. } => {}
        }
        for child in children {
            self.visit(child, Nesting::Braces);
        }
    }
}
