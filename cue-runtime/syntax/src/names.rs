//! Aliases and lets that are declared twice (rule 3.5, the part that needs no evaluation).

use cue_map::Map;

use crate::tree::{Kind, NodeId, Tree};

/// Offsets and messages, in source order.
pub(crate) fn redeclared(tree: &Tree) -> Vec<(u32, String)> {
    let mut errors = Vec::new();
    for node in &tree.nodes {
        match &node.kind {
            Kind::File(decls) | Kind::Struct { decls, .. } => list(tree, decls, &mut errors),
            _ => {}
        }
    }
    cue_sort::by(&mut errors, Ord::cmp);
    errors
}

fn list(tree: &Tree, decls: &[NodeId], errors: &mut Vec<(u32, String)>) {
    let mut seen = Map::default();
    for &decl in decls {
        // The name, and where cue reports it: the label alias of `~(K,V)` at its own place.
        let mut declared: Vec<(NodeId, u32)> = Vec::new();
        match &tree[decl].kind {
            Kind::Let { name, .. } => declared.push((*name, tree[decl].mark.at)),
            Kind::Field { label, extras, .. } => {
                if let Kind::Alias { name, .. } = &tree[*label].kind {
                    declared.push((*name, tree.start(*label).at));
                }
                if let Some(alias) = extras.alias() {
                    if let Some((name, _)) = alias.label {
                        declared.push((name, tree[name].mark.at));
                    }
                    declared.push((alias.field, tree.start(*label).at));
                }
            }
            _ => {}
        }
        for (name, at) in declared {
            let Kind::Ident(text) = &tree[name].kind else { continue };
            if &**text != "_" && seen.insert(&**text, ()).is_some() {
                errors.push((at, format!("alias {text:?} redeclared in same scope")));
            }
        }
    }
}
