//! The scopes around what is being compiled, and what names stand for in them.
//!
//! A name is looked up in one step however deep it is: declarations are a stack, as scopes are, and each knows the one
//! it hides.

use std::num::NonZeroU32;
use std::sync::Arc;

use cue_map::{Map, Set};

use crate::builtin;
use crate::program::{ExprId, Label};

#[derive(Clone, Copy)]
pub(crate) enum Named {
    Field(Label),
    /// The alias of a field whose label is computed.
    Computed(ExprId),
    /// `K` of `label~(K,V)`: the name of the label as a string.
    Key(Label),
    ComputedKey(ExprId),
    /// Which of its struct, which of the program.
    Let(u32, u32),
    /// The alias of a computed label that is not compiled yet.
    Pending,
    Variable(u32),
    PatternName,
}

#[derive(Clone, Copy)]
pub(crate) enum Imported {
    Builtin(&'static builtin::Package),
    Package(u32),
    /// It is not there.
    Missing,
}

/// What a name stands for.
#[derive(Clone, Copy)]
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
    /// How many declarations there are without its own.
    outside: usize,
    /// Names of it that were referred to.
    used: Set<Arc<str>>,
}

struct Declared {
    scope: u32,
    /// What the name was declared as before.
    hides: Option<Index>,
    name: Arc<str>,
    meaning: Meaning,
}

/// Which declaration, from 1.
type Index = NonZeroU32;

/// The scopes that are open, the innermost last.
#[derive(Default)]
pub(crate) struct Scopes {
    open: Vec<Scope>,
    declared: Vec<Declared>,
    /// The declaration that is seen, of every name that ever was declared.
    seen: Map<Arc<str>, Option<Index>>,
}

impl Scopes {
    /// Opens a scope that declares these names.
    pub(super) fn enter(&mut self, opener: Opener, names: Map<Arc<str>, Named>) {
        self.open(opener);
        self.declared.reserve(names.len());
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
        let outside = self.declared.len();
        let scope = Scope { opener, environments, outside, used: Set::default() };
        self.open.push(scope);
    }

    /// One more name of the innermost scope, or what one of it stands for from now on.
    pub(super) fn declare(&mut self, name: Arc<str>, meaning: Meaning) {
        let Some(innermost) = self.open.len().checked_sub(1) else { return };
        let scope = innermost as u32;
        let seen = self.seen.entry(name.clone()).or_default();
        match seen.map(|it| &mut self.declared[it.get() as usize - 1]) {
            Some(known) if known.scope == scope => known.meaning = meaning,
            _ => {
                self.declared.push(Declared { scope, hides: *seen, name, meaning });
                *seen = Index::new(self.declared.len() as u32);
            }
        }
    }

    /// Takes a name from the innermost scope, until it is declared there again.
    pub(super) fn hide(&mut self, name: &str) -> Option<Meaning> {
        let scope = self.open.len().checked_sub(1)? as u32;
        let seen = self.seen.get_mut(name)?;
        let it = &self.declared[(*seen)?.get() as usize - 1];
        if it.scope != scope {
            return None;
        }
        *seen = it.hides;
        Some(it.meaning)
    }

    /// Closes the innermost scope; the names of it that were referred to.
    pub(super) fn leave(&mut self) -> Set<Arc<str>> {
        let Some(scope) = self.open.pop() else { return Set::default() };
        while self.declared.len() > scope.outside {
            let at = Index::new(self.declared.len() as u32);
            let Some(closed) = self.declared.pop() else { break };
            // Unless it was taken away.
            if let Some(seen) = self.seen.get_mut(&closed.name).filter(|it| **it == at) {
                *seen = closed.hides;
            }
        }
        scope.used
    }

    /// What a name is declared as, the nearest first.
    fn all(&self, name: &str) -> impl Iterator<Item = &Declared> {
        let seen = self.seen.get(name).copied().flatten();
        let at = |it: Index| &self.declared[it.get() as usize - 1];
        std::iter::successors(seen.map(at), move |it| it.hides.map(at))
    }

    /// How many environments there are here.
    pub(super) fn environments(&self) -> u32 {
        self.open.last().map_or(0, |it| it.environments)
    }

    /// What a name stands for, and how many environments out; it was referred to with that.
    pub(super) fn find(&mut self, name: &Arc<str>) -> Option<(Meaning, u32)> {
        let found = self.all(name).next()?;
        let (meaning, scope) = (found.meaning, found.scope);
        let scope = &mut self.open[scope as usize];
        scope.used.insert(name.clone());
        let out = scope.environments;
        Some((meaning, self.environments() - out))
    }

    /// What `self` stands for: the nearest struct or list, and how many environments out that is.
    pub(super) fn enclosing(&self) -> Option<(Opener, u32)> {
        let is = |it: &&Scope| matches!(it.opener, Opener::Struct | Opener::List);
        let found = self.open.iter().rev().find(is)?;
        Some((found.opener, self.environments() - found.environments))
    }
}
