//! Aliases and lets that are declared twice (rule 3.5, the part that needs no evaluation).

use cue_map::Set;

use crate::tree::{Kind, NodeId, Tree};

/// Offsets and messages.
pub(crate) type Redeclared = Vec<(u32, String)>;

/// Those in the structs among the nodes from `first` on.
pub(crate) fn redeclared(tree: &Tree, first: usize, errors: &mut Redeclared) {
    for node in &tree.nodes[first..] {
        match &node.kind {
            Kind::File(decls) | Kind::Struct { decls, .. } => {
                let mut names = Names::default();
                decls.iter().for_each(|it| names.declare(tree, *it, errors));
            }
            _ => {}
        }
    }
}

/// Names that the declarations of a struct bring beside those of fields.
#[derive(Default)]
pub(crate) struct Names(Set<Box<str>>);

impl Names {
    /// Takes in those of one declaration.
    pub(crate) fn declare(&mut self, tree: &Tree, decl: NodeId, errors: &mut Redeclared) {
        let mut add = |name: NodeId, at: u32| {
            let Kind::Ident(text) = &tree[name].kind else { return };
            if &**text != "_" && !self.0.insert(text.clone()) {
                errors.push((at, format!("alias {text:?} redeclared in same scope")));
            }
        };
        // Where cue reports it: the label alias of `~(K,V)` at its own place.
        match &tree[decl].kind {
            Kind::Let { name, .. } => add(*name, tree[decl].mark.at),
            Kind::Field { label, extras, .. } => {
                if let Kind::Alias { name, .. } = &tree[*label].kind {
                    add(*name, tree.start(*label).at);
                }
                if let Some(alias) = extras.alias() {
                    if let Some((name, _)) = alias.label {
                        add(name, tree[name].mark.at);
                    }
                    add(alias.field, tree.start(*label).at);
                }
            }
            _ => {}
        }
    }
}
