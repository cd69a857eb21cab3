//! Declarations lowered as soon as nothing more can come to them, so that of a large file there is
//! never the whole concrete tree.
//!
//! A declaration is complete when the next one begins or the braces are closed: until then comments
//! may be added to it. Structs in it have been lowered before.

use thin_vec::ThinVec;

use super::{Dialect, Grammar};
use crate::ast::{Decl, File};
use crate::bound::{self, Misbound};
use crate::lower::{Done, Lower};
use crate::names::{self, Names, Redeclared};
use crate::parser::Parsed;
use crate::tree::Nodes;

/// What has been lowered.
#[derive(Default)]
pub(crate) struct Lowering {
    pub(crate) done: Done,
    redeclared: Redeclared,
}

/// Declarations of a struct.
pub(super) struct Decls {
    /// As nodes: all, or the last one.
    pub(super) nodes: Nodes,
    /// The others.
    pub(super) lowered: ThinVec<Decl>,
    names: Names,
    /// Nodes that were there before.
    first: usize,
    /// Structs that were there before and are not taken yet.
    structs: usize,
}

/// Parses a file. Nothing if lowering finds errors: these are in the order of the whole tree.
pub(crate) fn lowered(src: &str, dialect: &Dialect) -> Option<Parsed> {
    let mut it = Grammar::new(src, -1);
    it.dialect = dialect.clone();
    it.lowering = Some(Lowering::default());
    it.next();
    let mut decls = ThinVec::new();
    if it.errors.is_empty() {
        let (root, lowered) = it.file();
        it.tree.root = Some(root);
        decls = lowered;
    }
    // Of a text that is not read to its end no declarations are known: nobody resolves their names.
    if it.stopped {
        decls = ThinVec::new();
    }
    let lowering = it.lowering.take().unwrap_or_default();
    let mut lower = Lower { tree: &it.tree, done: lowering.done };
    let mut file = lower.file();
    let Done { errors: of_literals, suspect, .. } = lower.done;
    file.add(decls);
    let misbound = if suspect { bound::misbound(&file, src) } else { Misbound::new() };
    it.of_names(lowering.redeclared, misbound);
    let (tree, errors) = it.finish();
    file.experiments = tree.experiments;
    if errors.is_empty() && !of_literals.is_empty() {
        return None;
    }
    Some(Parsed { file, errors })
}

impl File {
    /// Adds declarations; attributes before the first other one are the file's.
    fn add(&mut self, mut decls: ThinVec<Decl>) {
        let own = |it: &Decl| matches!(it, Decl::Attribute(_));
        let count = decls.iter().take_while(|it| own(it)).count();
        self.attributes.extend(decls.drain(..count).filter_map(|it| match it {
            Decl::Attribute(it) => Some(*it),
            _ => None,
        }));
        self.decls = decls;
    }
}

impl Grammar<'_> {
    /// None so far.
    pub(super) fn no_decls(&self) -> Decls {
        Decls {
            nodes: Nodes::new(),
            lowered: ThinVec::new(),
            names: Names::default(),
            first: self.tree.nodes.len(),
            structs: self.lowering.as_ref().map_or(0, |it| it.done.structs.len()),
        }
    }

    /// Lowers the declaration that came last, if that is wanted.
    pub(super) fn lower(&mut self, decls: &mut Decls) {
        let Some(lowering) = &mut self.lowering else { return };
        let Some(id) = decls.nodes.pop() else { return };
        self.frames.settle(&mut self.tree);
        self.frames.forget();
        if self.stopped {
            self.tree.cut(decls.first);
            return;
        }
        decls.names.declare(&self.tree, id, &mut lowering.redeclared);
        names::redeclared(&self.tree, decls.first, &mut lowering.redeclared);
        let mut lower = Lower { tree: &self.tree, done: std::mem::take(&mut lowering.done) };
        decls.lowered.extend(lower.decl(id));
        lowering.done = lower.done;
        if lowering.done.structs.len() > decls.structs {
            // What could not be parsed has not taken its own.
            lowering.done.structs.retain(|it, _| (it.0 as usize) < decls.first);
        }
        self.tree.cut(decls.first);
    }
}
