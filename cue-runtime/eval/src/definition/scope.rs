//! What a name in an expression stands for.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use cue_map::Map;
use cue_syntax::ast::Expr;

/// What a name stands for.
#[derive(Clone)]
pub(super) enum Bound {
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
pub(super) struct LetValue<'a> {
    /// Number among the lets of its scope.
    pub(super) index: usize,
    pub(super) value: &'a Expr,
    pub(super) scope: Rc<Scope>,
    pub(super) file: usize,
}

/// Names, and the scope around them.
pub(super) struct Scope {
    /// How many scopes are around it.
    level: u32,
    parent: Option<Rc<Scope>>,
    names: Map<Arc<str>, Bound>,
    /// Lets of this scope by number: name as written, and in the result once it is referred to.
    pub(super) lets: Vec<(Arc<str>, RefCell<Option<String>>)>,
    /// Where its fields are in the result, if that is one place.
    place: Option<String>,
    /// It is printed as written.
    written: bool,
}

impl Scope {
    pub(super) fn new(parent: Option<Rc<Scope>>, names: Map<Arc<str>, Bound>) -> Rc<Self> {
        Self::with_lets(parent, names, Vec::new())
    }

    pub(super) fn with_lets(
        parent: Option<Rc<Scope>>,
        names: Map<Arc<str>, Bound>,
        lets: Vec<Arc<str>>,
    ) -> Rc<Self> {
        let lets = lets.into_iter().map(|it| (it, RefCell::new(None))).collect();
        let level = parent.as_ref().map_or(0, |it| it.level + 1);
        Rc::new(Self { level, parent, names, lets, place: None, written: false })
    }

    /// The same names, of the fields of that place.
    pub(super) fn at(self: Rc<Self>, place: Option<String>) -> Rc<Self> {
        Self::changed(self, |it| it.place = place)
    }

    /// The same names, of a struct that is printed as written.
    pub(super) fn as_written(self: Rc<Self>) -> Rc<Self> {
        Self::changed(self, |it| it.written = true)
    }

    fn changed(mut it: Rc<Self>, change: impl FnOnce(&mut Self)) -> Rc<Self> {
        if let Some(it) = Rc::get_mut(&mut it) {
            change(it);
        }
        it
    }

    /// Where the field of that name is in the result, and whether its struct is as written.
    pub(super) fn place_of(&self, name: &str) -> Option<(String, bool)> {
        let dot = if self.place.as_ref()?.is_empty() { "" } else { "." };
        Some((format!("{}{dot}{name}", self.place.as_ref()?), self.written))
    }

    /// Whether its names are those of the package, not of a value in it.
    pub(super) fn is_outermost(&self) -> bool {
        self.level <= 2
    }

    /// The name of a let in the result, if it was referred to.
    pub(super) fn let_name(&self, index: usize) -> Option<String> {
        self.lets.get(index)?.1.borrow().clone()
    }

    /// Has a let named anew where it is referred to next; gives the name it had.
    pub(super) fn rename_let(&self, index: usize, name: Option<String>) -> Option<String> {
        std::mem::replace(&mut *self.lets.get(index)?.1.borrow_mut(), name)
    }

    /// The scope that has a name, and what it is there.
    pub(super) fn find(&self, name: &str) -> Option<(&Scope, &Bound)> {
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
