//! Names of imported packages: one that is taken, by a field or another package, is replaced by a new one.
//!
//! New names are those that Go's generator of random numbers gives, which begins the same way each time.

use std::collections::{HashMap, HashSet};

use cue_syntax::tree::{Kind, NodeId, Tree};

use super::made::Made;

/// A package that is imported, with a name where that is not its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Import {
    pub(super) name: Option<String>,
    pub(super) path: String,
}

/// What a name stands for.
#[derive(Clone, PartialEq, Eq)]
enum Meaning {
    Field,
    Package(String),
}

/// Finds names for all packages; the tree has those then.
pub(super) fn import(made: &mut Made, decls: &[NodeId]) -> Vec<Import> {
    let packages: HashMap<NodeId, String> = made.packages.iter().cloned().collect();
    let mut taken = HashSet::new();
    walk(&made.tree, decls, &mut |_, it| {
        if let Seen::Scope(names) = it {
            taken.extend(names);
        }
    });
    let mut naming = Naming {
        packages,
        taken,
        renamed: HashMap::new(),
        imports: Vec::new(),
        random: Random::new(),
        scopes: vec![HashMap::new()],
        changes: Vec::new(),
    };
    walk(&made.tree, decls, &mut |tree, it| naming.see(tree, it));
    for (id, name) in naming.changes {
        made.tree[id].kind = Kind::Ident(name.into());
    }
    naming.imports
}

struct Naming {
    packages: HashMap<NodeId, String>,
    taken: HashSet<String>,
    /// Packages that got a new name.
    renamed: HashMap<String, String>,
    imports: Vec<Import>,
    random: Random,
    /// Names that are bound, the file's packages first.
    scopes: Vec<HashMap<String, Meaning>>,
    changes: Vec<(NodeId, String)>,
}

impl Naming {
    fn see(&mut self, tree: &Tree, seen: Seen) {
        match seen {
            Seen::Scope(names) => {
                self.scopes.push(names.into_iter().map(|it| (it, Meaning::Field)).collect());
            }
            Seen::End => {
                self.scopes.pop();
            }
            Seen::Name(id) => {
                let Some(path) = self.packages.get(&id).cloned() else { return };
                let Kind::Ident(name) = &tree[id].kind else { return };
                self.package(id, name, path);
            }
        }
    }

    fn package(&mut self, id: NodeId, name: &str, path: String) {
        let there = self.scopes.iter().rev().find_map(|it| it.get(name));
        match there {
            Some(Meaning::Package(other)) if *other == path => {}
            None => {
                self.add(name.to_owned(), Import { name: None, path });
            }
            Some(_) => {
                let new = match self.renamed.get(&path) {
                    Some(new) => new.clone(),
                    None => {
                        let new = self.unique(name);
                        self.renamed.insert(path.clone(), new.clone());
                        self.add(new.clone(), Import { name: Some(new.clone()), path });
                        new
                    }
                };
                self.changes.push((id, new));
            }
        }
    }

    fn add(&mut self, name: String, import: Import) {
        if let Some(file) = self.scopes.first_mut() {
            file.insert(name, Meaning::Package(import.path.clone()));
        }
        self.imports.push(import);
    }

    /// A name that nothing has.
    fn unique(&mut self, base: &str) -> String {
        let mut bits = 4;
        loop {
            let number = self.random.below_power(bits);
            let name = format!("{base}_{number:01X}");
            if self.taken.insert(name.clone()) {
                return name;
            }
            bits = (bits + 4).min(56);
        }
    }
}

/// What is met on a walk.
enum Seen {
    /// A struct begins, which binds these names.
    Scope(Vec<String>),
    End,
    Name(NodeId),
}

/// Walks declarations in the order of their text.
fn walk(tree: &Tree, decls: &[NodeId], see: &mut dyn FnMut(&Tree, Seen)) {
    enum Step {
        Visit(NodeId),
        Leave,
    }
    see(tree, Seen::Scope(bound(tree, decls)));
    let mut work: Vec<Step> = vec![Step::Leave];
    work.extend(decls.iter().rev().map(|it| Step::Visit(*it)));
    while let Some(step) = work.pop() {
        let id = match step {
            Step::Leave => {
                see(tree, Seen::End);
                continue;
            }
            Step::Visit(id) => id,
        };
        let mut children: Vec<NodeId> = Vec::new();
        match &tree[id].kind {
            Kind::Ident(_) => see(tree, Seen::Name(id)),
            Kind::Struct { decls, .. } => {
                see(tree, Seen::Scope(bound(tree, decls)));
                work.push(Step::Leave);
                children.extend(decls);
            }
            Kind::Field { label, value, .. } => {
                if let Kind::List { .. } = tree[*label].kind {
                    children.push(*label);
                }
                children.push(*value);
            }
            Kind::List { elements, .. } => children.extend(elements),
            Kind::Ellipsis(of) => children.extend(of),
            Kind::Unary(_, it) | Kind::Embed(it) | Kind::If(it) | Kind::Selector(it, _) => {
                children.push(*it);
            }
            Kind::Paren { inner, .. } => children.push(*inner),
            Kind::Binary { left, right, .. } => children.extend([*left, *right]),
            Kind::Call { callee, arguments, .. } => {
                children.push(*callee);
                children.extend(arguments);
            }
            Kind::Comprehension { clauses, body, .. } => {
                children.extend(clauses);
                children.push(*body);
            }
            // Nothing else is made.
            _ => {}
        }
        work.extend(children.into_iter().rev().map(Step::Visit));
    }
}

/// The names that declarations bind.
fn bound(tree: &Tree, decls: &[NodeId]) -> Vec<String> {
    let mut names = Vec::new();
    for decl in decls {
        let Kind::Field { label, .. } = &tree[*decl].kind else { continue };
        let label = match &tree[*label].kind {
            Kind::Alias { name, .. } => *name,
            _ => *label,
        };
        if let Kind::Ident(name) = &tree[label].kind {
            names.push(name.to_string());
        }
    }
    names
}

/// Go's PCG with the seed 123, 456 (math/rand/v2).
struct Random(u128);

impl Random {
    fn new() -> Self {
        Self(123 << 64 | 456)
    }

    fn next(&mut self) -> u64 {
        const TIMES: u128 = 2_549_297_995_355_413_924 << 64 | 4_865_540_595_714_422_341;
        const PLUS: u128 = 6_364_136_223_846_793_005 << 64 | 1_442_695_040_888_963_407;
        self.0 = self.0.wrapping_mul(TIMES).wrapping_add(PLUS);
        let (mut high, low) = ((self.0 >> 64) as u64, self.0 as u64);
        high ^= high >> 32;
        high = high.wrapping_mul(0xda94_2042_e4dd_58b5);
        high ^= high >> 48;
        high.wrapping_mul(low | 1)
    }

    /// A number of so many bits.
    fn below_power(&mut self, bits: u32) -> u64 {
        self.next() & ((1 << bits) - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn new_names_begin_the_same_way() {
        let mut random = Random::new();
        assert_eq!(random.below_power(4), 9);
    }
}
