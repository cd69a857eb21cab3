//! The scopes around what is being compiled, and what names stand for in them.
//!
//! A name is looked up in one step however deep it is: what each name is declared as is kept with
//! the scope that does, the innermost last, as long as that is open.

use std::sync::Arc;

use cue_map::{Map, Set};

use crate::builtin;
use crate::program::{ExprId, Label};

#[derive(Clone)]
pub(crate) enum Named {
    Field(Label),
    /// The alias of a field whose label is computed.
    Computed(ExprId),
    /// `K` of `label~(K,V)`: the label as a string.
    Key(Arc<str>),
    ComputedKey(ExprId),
    /// Which of its struct, which of the program.
    Let(u32, u32),
    /// The alias of a computed label that is not compiled yet.
    Pending,
    Variable(u32),
    PatternName,
}

#[derive(Clone)]
pub(crate) enum Imported {
    Builtin(&'static builtin::Package),
    Package(u32),
    /// It is not there.
    Missing,
}

/// What a name stands for.
#[derive(Clone)]
pub(crate) enum Meaning {
    Named(Named),
    Imported(Imported),
}

/// What opens a scope.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Opener {
    /// A comprehension's clause, or a pattern's value.
    Clause,
    /// A struct literal.
    Struct,
    /// A list with `self` in it.
    List,
    /// The imports of a file: no environment.
    Imports,
}

struct Scope {
    opener: Opener,
    /// How many environments there are up to here, its own included.
    environments: u32,
    names: Vec<Arc<str>>,
    /// Names of it that were referred to.
    used: Set<Arc<str>>,
}

struct Declared {
    scope: u32,
    meaning: Meaning,
}

/// The scopes that are open, the innermost last.
#[derive(Default)]
pub(crate) struct Scopes {
    open: Vec<Scope>,
    declared: Map<Arc<str>, Vec<Declared>>,
}

impl Scopes {
    /// Opens a scope that declares these names.
    pub(super) fn enter(&mut self, opener: Opener, names: Map<Arc<str>, Named>) {
        self.open(opener);
        for (name, it) in names {
            self.declare(name, Meaning::Named(it));
        }
    }

    /// Opens the scope of a file's imports.
    pub(super) fn enter_imports(&mut self, names: Map<Arc<str>, Imported>) {
        self.open(Opener::Imports);
        for (name, it) in names {
            self.declare(name, Meaning::Imported(it));
        }
    }

    fn open(&mut self, opener: Opener) {
        let environments = self.environments() + u32::from(opener != Opener::Imports);
        let scope = Scope { opener, environments, names: Vec::new(), used: Set::default() };
        self.open.push(scope);
    }

    /// One more name of the innermost scope, or what one of it stands for from now on.
    pub(super) fn declare(&mut self, name: Arc<str>, meaning: Meaning) {
        let Some(innermost) = self.open.len().checked_sub(1) else { return };
        let scope = innermost as u32;
        let all = self.declared.entry(name.clone()).or_default();
        match all.last_mut().filter(|it| it.scope == scope) {
            Some(known) => known.meaning = meaning,
            None => {
                all.push(Declared { scope, meaning });
                self.open[innermost].names.push(name);
            }
        }
    }

    /// Takes a name from the innermost scope, until it is declared there again.
    pub(super) fn hide(&mut self, name: &str) -> Option<Meaning> {
        let scope = self.open.len().checked_sub(1)? as u32;
        let all = self.declared.get_mut(name)?;
        all.pop_if(|it| it.scope == scope).map(|it| it.meaning)
    }

    /// Closes the innermost scope; the names of it that were referred to.
    pub(super) fn leave(&mut self) -> Set<Arc<str>> {
        let Some(scope) = self.open.pop() else { return Set::default() };
        let closed = self.open.len() as u32;
        for name in &scope.names {
            if let Some(all) = self.declared.get_mut(name) {
                all.pop_if(|it| it.scope == closed);
            }
        }
        scope.used
    }

    /// How many environments there are here.
    pub(super) fn environments(&self) -> u32 {
        self.open.last().map_or(0, |it| it.environments)
    }

    /// What a name stands for, and how many environments out; it was referred to with that.
    pub(super) fn find(&mut self, name: &Arc<str>) -> Option<(Meaning, u32)> {
        let found = self.declared.get(name)?.last()?;
        let meaning = found.meaning.clone();
        let scope = &mut self.open[found.scope as usize];
        scope.used.insert(name.clone());
        let out = scope.environments;
        Some((meaning, self.environments() - out))
    }

    /// Whether the nearest scope outside that has the name has it as a `let`; of fields `false`.
    pub(super) fn bound_to_let(&self, name: &str) -> Option<bool> {
        let within = |it: &&Declared| self.open[it.scope as usize].opener == Opener::Struct;
        let all = self.declared.get(name)?.iter().rev();
        all.filter(within).find_map(|it| match it.meaning {
            Meaning::Named(Named::Let(..)) => Some(true),
            Meaning::Named(Named::Field(_)) => Some(false),
            _ => None,
        })
    }

    /// What `self` stands for: the nearest struct or list, and how many environments out that is.
    pub(super) fn enclosing(&self) -> Option<(Opener, u32)> {
        let is = |it: &&Scope| matches!(it.opener, Opener::Struct | Opener::List);
        let found = self.open.iter().rev().find(is)?;
        Some((found.opener, self.environments() - found.environments))
    }
}
