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
///
/// # Errors
/// A name in a pattern for fields that could be one of them.
pub(super) fn import(made: &mut Made, decls: &[NodeId]) -> Result<Vec<Import>, String> {
    let packages: HashMap<NodeId, String> = made.packages.iter().cloned().collect();
    let mut taken = HashSet::new();
    let mut declared: Vec<Vec<String>> = Vec::new();
    let mut ambiguous: Vec<String> = Vec::new();
    walk(&made.tree, decls, &mut |_, it| match it {
        Seen::Scope(names) => {
            taken.extend(names.iter().cloned());
            declared.push(names);
        }
        Seen::End => {
            declared.pop();
        }
        Seen::Name(_) => {}
        Seen::Pattern(name, reached) => {
            let scopes = declared.iter().rev().take(reached);
            let bound = scopes.filter(|it| it.contains(&name)).count();
            ambiguous.extend(std::iter::repeat_n(name.clone(), bound));
        }
    });
    refused(&ambiguous)?;
    let mut naming = Naming {
        packages,
        taken,
        renamed: HashMap::new(),
        imports: Vec::new(),
        random: Random::new(),
        scopes: vec![HashMap::new()],
        changes: Vec::new(),
        ambiguous: Vec::new(),
    };
    walk(&made.tree, decls, &mut |tree, it| naming.see(tree, it));
    refused(&naming.ambiguous)?;
    for (id, name) in naming.changes {
        made.tree[id].kind = Kind::Ident(name.into());
    }
    Ok(naming.imports)
}

/// That names in patterns could be those of fields.
fn refused(names: &[String]) -> Result<(), String> {
    let [first, rest @ ..] = names else { return Ok(()) };
    let more = match rest.len() {
        0 => String::new(),
        count => format!(" (and {count} more errors)"),
    };
    let text = "in label expression refers to field against which it would be matched";
    Err(format!("reference {first:?} {text}{more}"))
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
    /// Names in patterns that are bound where these are matched.
    ambiguous: Vec<String>,
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
            Seen::Pattern(name, reached) => {
                // Packages are bound in the file, beside its own declarations.
                let file = self.scopes.len() <= reached + 1;
                let scopes = self.scopes.iter().rev().take(reached + usize::from(file));
                let bound = scopes.filter(|it| it.contains_key(&name)).count();
                self.ambiguous.extend(std::iter::repeat_n(name, bound));
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
    /// A name in a pattern for fields, and how many scopes around are not within the value of a field.
    Pattern(String, usize),
}

/// Walks declarations in the order of their text.
fn walk(tree: &Tree, decls: &[NodeId], see: &mut dyn FnMut(&Tree, Seen)) {
    enum Step {
        Visit(NodeId),
        /// What comes next is the value of a field, or no longer.
        Within(bool),
        Leave,
    }
    see(tree, Seen::Scope(bound(tree, decls)));
    // Of each scope whether this is within the value of a field of it.
    let mut within = vec![false];
    let mut work: Vec<Step> = vec![Step::Leave];
    work.extend(decls.iter().rev().map(|it| Step::Visit(*it)));
    while let Some(step) = work.pop() {
        let id = match step {
            Step::Leave => {
                within.pop();
                see(tree, Seen::End);
                continue;
            }
            Step::Within(it) => {
                if let Some(last) = within.last_mut() {
                    *last = it;
                }
                continue;
            }
            Step::Visit(id) => id,
        };
        let mut children: Vec<NodeId> = Vec::new();
        match &tree[id].kind {
            Kind::Ident(_) => see(tree, Seen::Name(id)),
            Kind::Struct { decls, .. } => {
                see(tree, Seen::Scope(bound(tree, decls)));
                within.push(false);
                work.push(Step::Leave);
                children.extend(decls);
            }
            Kind::Field { label, value, .. } => {
                let pattern = matches!(tree[*label].kind, Kind::List { .. });
                if pattern {
                    see(tree, Seen::Scope(Vec::new()));
                    within.push(false);
                    work.push(Step::Leave);
                    let reached = within.iter().rev().take_while(|it| !**it).count();
                    for name in names_in(tree, *label) {
                        see(tree, Seen::Pattern(name, reached));
                    }
                }
                work.extend([Step::Within(false), Step::Visit(*value), Step::Within(true)]);
                work.extend(pattern.then_some(Step::Visit(*label)));
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

/// The names in an expression without structs, in order.
fn names_in(tree: &Tree, id: NodeId) -> Vec<String> {
    let mut names = Vec::new();
    let mut work = vec![id];
    while let Some(id) = work.pop() {
        match &tree[id].kind {
            Kind::Ident(name) => names.push(name.to_string()),
            Kind::List { elements, .. } => work.extend(elements.iter().rev()),
            Kind::Unary(_, it) | Kind::Selector(it, _) | Kind::Paren { inner: it, .. } => {
                work.push(*it);
            }
            Kind::Binary { left, right, .. } => work.extend([*right, *left]),
            Kind::Call { callee, arguments, .. } => {
                work.extend(arguments.iter().rev());
                work.push(*callee);
            }
            _ => {}
        }
    }
    names
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
