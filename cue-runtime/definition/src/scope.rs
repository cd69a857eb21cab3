//! What a name in an expression stands for.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use cue_map::Map;
use cue_syntax::ast::{Expr, Ident};

/// What a name stands for.
#[derive(Clone)]
pub(crate) enum Bound {
    /// A field or an alias: printed as it is.
    Field,
    /// The alias of a field with that label.
    Alias(String),
    /// A variable of a comprehension.
    Variable,
    /// What has another name in the result.
    Renamed(String),
    Let(usize),
    /// A package: path and name given to it.
    Import(String, Option<String>),
}

/// A `let` of a struct that is being merged.
#[derive(Clone)]
pub(crate) struct LetValue<'a> {
    /// Number among the lets of its scope.
    pub(crate) index: usize,
    pub(crate) value: &'a Expr,
    pub(crate) scope: Rc<Scope>,
    pub(crate) file: usize,
}

/// Names, and the scope around them.
pub(crate) struct Scope {
    parent: Option<Rc<Scope>>,
    names: Map<Arc<str>, Bound>,
    /// Lets of this scope by number: name as written, and in the result once it is referred to.
    pub(crate) lets: Vec<(Arc<str>, RefCell<Option<String>>)>,
    /// From where each was referred to first, and in which place.
    users: RefCell<Map<usize, (Rc<Scope>, Vec<String>)>>,
    /// Aliases of computed fields that were printed, and their names once they are referred to.
    pub(crate) aliases: RefCell<Map<Arc<str>, Option<String>>>,
    /// Where its fields are in the result, if that is one place.
    place: Option<String>,
    /// Evaluation has an environment for it.
    is_environment: bool,
    /// Where environments go on, if that is not the scope around it: the official printer puts an
    /// environment too many around some expressions, and so finds other fields there (O-78).
    environment: Option<Rc<Scope>>,
}

impl Scope {
    pub(crate) fn new(parent: Option<Rc<Scope>>, names: Map<Arc<str>, Bound>) -> Rc<Self> {
        Self::with_lets(parent, names, Vec::new())
    }

    pub(crate) fn with_lets(
        parent: Option<Rc<Scope>>,
        names: Map<Arc<str>, Bound>,
        lets: Vec<Arc<str>>,
    ) -> Rc<Self> {
        let lets = lets.into_iter().map(|it| (it, RefCell::new(None))).collect();
        let (place, environment) = (None, None);
        let (users, aliases) = (RefCell::default(), RefCell::default());
        let is_environment = false;
        Rc::new(Self { parent, names, lets, users, aliases, place, is_environment, environment })
    }

    /// The variables of a clause.
    pub(crate) fn of_variables(parent: &Rc<Self>, names: &[&Ident]) -> Rc<Self> {
        let names = names.iter().map(|it| (it.name.clone(), Bound::Variable));
        Self::new(Some(parent.clone()), names.collect())
    }

    /// The same names, of the fields of that place.
    pub(crate) fn at(self: Rc<Self>, place: Option<String>) -> Rc<Self> {
        Self::changed(self, |it| it.place = place)
    }

    /// The same names, of what has an environment.
    pub(crate) fn entered(self: Rc<Self>) -> Rc<Self> {
        Self::changed(self, |it| it.is_environment = true)
    }

    /// The names of a scope, as seen from the environment of another.
    pub(crate) fn seen_from(scope: &Rc<Self>, environment: Rc<Self>) -> Rc<Self> {
        let seen = Self::new(Some(scope.clone()), Map::default());
        Self::changed(seen, |it| it.environment = Some(environment))
    }

    fn changed(mut it: Rc<Self>, change: impl FnOnce(&mut Self)) -> Rc<Self> {
        if let Some(it) = Rc::get_mut(&mut it) {
            change(it);
        }
        it
    }

    /// Where the field that a name leads to is in the result.
    pub(crate) fn place_of(&self, name: &str) -> Option<String> {
        let mut up = 0;
        let mut next = self;
        while !next.names.contains_key(name) {
            up += usize::from(next.is_environment);
            next = next.parent.as_deref()?;
        }
        let mut there = self;
        while up > 0 || !there.is_environment {
            up -= usize::from(there.is_environment);
            there = there.environment.as_deref().or(there.parent.as_deref())?;
        }
        Some(field_at(there.place.as_ref()?, name))
    }

    /// The name of a let in the result, if it was referred to.
    pub(crate) fn let_name(&self, index: usize) -> Option<String> {
        self.lets.get(index)?.1.borrow().clone()
    }

    /// A let is referred to from a scope, in a place.
    pub(crate) fn use_let(&self, index: usize, from: &Rc<Self>, place: &[String]) {
        let mut users = self.users.borrow_mut();
        users.entry(index).or_insert_with(|| (from.clone(), place.to_vec()));
    }

    /// The scope of the value of a let, and the place where it is used first.
    pub(crate) fn of_let(it: &Rc<Self>, index: usize) -> (Rc<Self>, Option<Vec<String>>) {
        match it.users.borrow_mut().remove(&index) {
            Some((user, place)) => (Self::seen_from(it, user), Some(place)),
            None => (it.clone(), None),
        }
    }

    /// Has a let named anew where it is referred to next; gives the name it had.
    pub(crate) fn rename_let(&self, index: usize, name: Option<String>) -> Option<String> {
        std::mem::replace(&mut *self.lets.get(index)?.1.borrow_mut(), name)
    }

    /// The scope that has a name, and what it is there.
    pub(crate) fn find(&self, name: &str) -> Option<(&Scope, &Bound)> {
        let mut next = Some(self);
        while let Some(scope) = next {
            if let Some(bound) = scope.names.get(name) {
                return Some((scope, bound));
            }
            next = scope.parent.as_deref();
        }
        None
    }
}

/// The path of a field of a place.
pub(crate) fn field_at(place: &str, label: &str) -> String {
    let dot = if place.is_empty() { "" } else { "." };
    format!("{place}{dot}{label}")
}
