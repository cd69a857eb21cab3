//! `cue fmt -s`: plain labels without quotes (rule 6.7). Braces around single fields are dropped by the printer, which
//! writes what opens a struct as `...` at its end, too.

use cue_map::Map;

use crate::scan::{self, T};
use crate::tree::{Distance, Kind, NodeId, Slice, Tree};
use crate::unquote;

/// The simplified tree.
pub(crate) fn simplified(tree: &Tree) -> Tree {
    let mut it = Simplify { tree, scopes: Vec::new(), plain: Vec::new() };
    if let Some(root) = tree.root {
        it.visit(root);
    }
    let plain = it.plain;
    let mut tree = tree.clone();
    for (id, name) in plain {
        tree[id].kind = name;
        tree[id].mark.distance = Distance::Absent;
    }
    tree
}

struct Simplify<'a> {
    tree: &'a Tree,
    /// Labels of the declaration lists around us, and whether something refers to them.
    scopes: Vec<Map<String, bool>>,
    plain: Vec<(NodeId, Kind)>,
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

    fn decls(&mut self, decls: &[NodeId]) {
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
            self.visit(*decl);
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
                Kind::Field { label, .. } => tree.is_name(*label, &[&name]),
                _ => false,
            };
            let plain = identifier(&name) || decls.iter().any(bare);
            if (double || single) && plain && scope.get(&name) == Some(&false) {
                self.plain.push((*label, Kind::Ident(name.into())));
            }
        }
    }

    fn visit(&mut self, id: NodeId) {
        let tree = self.tree;
        let mut children: Vec<NodeId> = Vec::new();
        match &tree[id].kind {
            Kind::Ident(name) => {
                let scope = self.scopes.iter_mut().rev().find_map(|it| it.get_mut(&**name));
                if let Some(used) = scope {
                    *used = true;
                }
            }
            Kind::File(decls) | Kind::Struct { decls, .. } => self.decls(decls),
            Kind::Field { value, .. } => children.push(*value),
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
                    self.visit(at.1);
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
            self.visit(child);
        }
    }
}
