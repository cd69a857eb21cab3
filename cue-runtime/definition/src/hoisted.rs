//! References that lead out of a printed part: what they stand for is put in, or bound to a name below it
//! (O-80), also of other packages (O-81).

use std::rc::Rc;

use cue_map::{Map, Set};
use cue_syntax::ast::{At, Expr, ExprKind};

use crate::expr::SOMEWHERE;
use crate::out::{Item, Out};
use crate::printer::{LetKey, Printer};
use crate::scope::{Bound, Scope};
use crate::sourced::{Index, Key, key, key_in};
use crate::taken::Taken;
use crate::used::Used;

/// Room for printing parts. The sandbox has none, so that nothing of it is compiled there.
#[derive(Clone, Copy)]
pub struct Room(Here);

#[cfg(not(target_family = "wasm"))]
type Here = ();
#[cfg(target_family = "wasm")]
type Here = std::convert::Infallible;

impl Room {
    /// If there is some.
    pub fn here() -> Option<Self> {
        #[cfg(not(target_family = "wasm"))]
        return Some(Self(()));
        #[cfg(target_family = "wasm")]
        None
    }
}

/// The places that a part leads to.
pub struct Outward {
    /// They are printed.
    pub room: Room,
    /// Numbers of places, by the references that lead there.
    pub references: Map<Key, usize>,
    /// In the order they were found in.
    pub places: Vec<Place>,
    /// Where the part is, as [`Found`] has places.
    ///
    /// [`Found`]: crate::Found
    pub path: Vec<String>,
    /// What makes it.
    pub exprs: Vec<At>,
    /// Texts of labels that patterns name in it.
    pub matched: Map<Key, String>,
    /// A definition closes it.
    pub is_closed: bool,
}

/// A place that something leads to.
pub struct Place {
    /// What makes it.
    pub exprs: Vec<At>,
    /// Its text, if no expression does.
    pub data: Option<String>,
    /// Texts of labels that patterns name in it.
    pub matched: Map<Key, String>,
    /// Its path in the outermost value.
    pub labels: Vec<Label>,
    /// Where it is among the places of its package, as [`Found`] has them.
    ///
    /// [`Found`]: crate::Found
    pub path: Option<Vec<String>>,
    /// Where the package is named that it is of.
    pub package: Option<Key>,
    /// The outermost of the places that it is in, and how many labels lead from there.
    pub outer: Option<usize>,
    /// See there.
    pub steps: usize,
    /// It is in the printed part.
    pub is_within: bool,
    /// How many references lead to it, and to what is in it.
    pub uses: usize,
    /// What its value is.
    pub of: PlaceOf,
    /// A definition closes it.
    pub is_closed: bool,
}

/// A label of a path.
pub struct Label {
    /// As it is selected.
    pub text: String,
    /// It is that of an element.
    pub is_index: bool,
    /// As it is called in the result, if it is hidden in another package.
    pub hidden: Option<String>,
}

/// What the value of a place is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum PlaceOf {
    /// An error, of what waits for more too.
    Wrong,
    /// Not known yet.
    Any,
    /// Known, and nothing in it.
    Bare,
    /// Known, with fields or elements.
    Filled,
}

/// What references that lead out of a printed part are replaced by.
pub(crate) struct Outside<'a> {
    #[allow(dead_code, reason = "there is none where it has no value")]
    room: Room,
    pub(crate) index: Rc<Index<'a>>,
    outward: &'a Outward,
    /// Of places that have one of their own.
    names: Vec<Option<String>>,
    /// Places that were named, until they are printed.
    wanted: Set<usize>,
    printed: Set<usize>,
    /// Places that are being put in, and the place that is printed.
    open: Vec<usize>,
    current: Option<usize>,
    /// The place that is printed under its name.
    named: Option<usize>,
    /// Lets of structs that are printed.
    lets: Set<LetKey>,
}

impl<'a> Outside<'a> {
    pub(crate) fn new(outward: &'a Outward, index: Rc<Index<'a>>) -> Self {
        let mut taken = Taken::default();
        let all = outward.places.iter().map(|it| &it.exprs).chain([&outward.exprs]);
        for at in all.flatten() {
            let file = at.source as usize;
            // A `let` has a name of its own, an alias stands for a label.
            let refers = |it: &Expr| {
                let scope = index.exprs.get(&key_in(file, it));
                let ExprKind::Ident(name) = &it.kind else { return false };
                let bound = scope.and_then(|it| it.1.find(name));
                bound.is_some_and(|it| {
                    matches!(it.1, Bound::Field | Bound::Variable | Bound::Import(..))
                })
            };
            let mut used = Used { out: &mut taken, refers: Some(&refers), depth: 0 };
            if let Some((expr, _)) = index.exprs.get(&key(at)) {
                used.expr(expr);
            } else if let Some(it) = index.files.get(file) {
                used.decls(&it.file.decls);
            }
        }
        let mut names = Vec::new();
        for place in &outward.places {
            let own = place.outer.is_none() && !place.is_within;
            let base = if own { base(place, &index) } else { None };
            names.push(base.map(|it| taken.unique(&it)));
        }
        let (wanted, printed, lets) = Default::default();
        let (open, current, named) = (Vec::new(), None, None);
        let room = outward.room;
        Self { room, index, outward, names, wanted, printed, open, current, named, lets }
    }

    /// The names that places have.
    pub(crate) fn names(&self) -> impl Iterator<Item = &String> {
        self.names.iter().flatten()
    }

    /// A struct with these lets is printed.
    pub(crate) fn enter(&mut self, lets: impl Iterator<Item = LetKey>) {
        self.lets.extend(lets);
    }

    /// Whether what is printed is no part of the part.
    pub(crate) fn is_elsewhere(&self) -> bool {
        self.current.is_some()
    }

    pub(crate) fn has_let(&self, it: &LetKey) -> bool {
        self.lets.contains(it)
    }
}

/// What a place is called in a definition of its own: it stays closed there.
const INNER: &str = "#x";

/// The name for a place: its own, in capital letters; of a package that of its import.
fn base(place: &Place, index: &Index<'_>) -> Option<String> {
    let Some(last) = place.labels.last() else {
        let (expr, _) = index.exprs.get(&place.package?)?;
        let ExprKind::Ident(name) = &expr.kind else { return None };
        return Some(name.to_uppercase());
    };
    if last.is_index {
        return Some(format!("Index{}", last.text));
    }
    let bare = last.text.trim_matches('"').trim_start_matches(['_', '#']).to_uppercase();
    Some(if cue_syntax::is_identifier(&bare) { bare } else { "X".to_owned() })
}

/// How many selections a reference consists of, the name it begins with counted, and whether that is a
/// package's.
fn length(expr: &Expr, scope: &Rc<Scope>) -> (usize, bool) {
    match &expr.kind {
        ExprKind::Paren(it) => length(it, scope),
        ExprKind::Ident(name) => match scope.find(name) {
            Some((_, Bound::Import(..))) => (0, true),
            _ => (1, false),
        },
        ExprKind::Select(it) => step(&it.0, scope),
        ExprKind::Index(base, _) => step(base, scope),
        _ => (0, false),
    }
}

fn step(base: &Expr, scope: &Rc<Scope>) -> (usize, bool) {
    let (steps, of_package) = length(base, scope);
    (steps + 1, of_package)
}

impl<'a> Printer<'a> {
    /// Whether a reference leads out of the printed part.
    pub(crate) fn leads_out(&self, expr: &Expr, file: usize) -> bool {
        let key = key_in(file, expr);
        self.outside.as_ref().is_some_and(|it| it.outward.references.contains_key(&key))
    }

    /// What a reference that leads out of the printed part becomes.
    pub(crate) fn replaced(
        &mut self,
        expr: &'a Expr,
        scope: &Rc<Scope>,
        file: usize,
    ) -> Option<Out> {
        let outside = self.outside.as_ref()?;
        let outward = outside.outward;
        let key = key_in(file, expr);
        let current = outside.current.and_then(|it| outward.places.get(it));
        let matched = current.map_or(&outward.matched, |it| &it.matched);
        if let Some(text) = matched.get(&key) {
            return Some(Out::primary(text.clone()));
        }
        let number = *outward.references.get(&key)?;
        let place = outward.places.get(number)?;
        let outermost = place.outer.and_then(|it| outward.places.get(it)).unwrap_or(place);
        let computed = self.computing > 0;
        let kept = place.is_within
            || place.is_closed && self.in_definition == 0
            || outermost.uses == 0
            || place.of == PlaceOf::Wrong
            || place.of == PlaceOf::Any && computed
            || outside.open.contains(&number);
        if !kept && (outermost.uses == 1 && !computed || place.of == PlaceOf::Bare) {
            return Some(self.put_in(number));
        }
        let name = self.name_of(number, length(expr, scope))?;
        let named = place.outer.unwrap_or(number);
        self.outside.as_mut()?.wanted.insert(named);
        Some(Out::primary(name))
    }

    /// A place as it is named, by a reference of that length.
    fn name_of(&self, number: usize, (length, of_package): (usize, bool)) -> Option<String> {
        let outside = self.outside.as_ref()?;
        let place = outside.outward.places.get(number)?;
        let root = place.outer.unwrap_or(number);
        let outermost = outside.outward.places.get(root)?;
        let wrapped = outermost.is_closed && outside.names.get(root)?.is_some();
        if outside.named == Some(number) && place.outer.is_none() && wrapped {
            return Some(INNER.to_owned());
        }
        if place.outer.is_some() {
            let short = match place.is_within {
                true => place.steps > length,
                false => !of_package && place.steps >= length,
            };
            if short {
                return None;
            }
        }
        let mut text = outside.names.get(root)?.clone().unwrap_or_default();
        if wrapped {
            text.push('.');
            text.push_str(INNER);
        }
        let from = place.labels.len().saturating_sub(place.steps);
        for label in place.labels.get(from..)? {
            match label.is_index {
                true => text.push_str(&format!("[{}]", label.text)),
                false => {
                    text.push('.');
                    text.push_str(label.hidden.as_ref().unwrap_or(&label.text));
                }
            }
        }
        let text = text.strip_prefix('.').unwrap_or(&text);
        // The part itself has no name.
        Some(if text.is_empty() { "ROOT".to_owned() } else { text.to_owned() })
    }

    fn put_in(&mut self, number: usize) -> Out {
        if let Some(outside) = &mut self.outside {
            outside.open.push(number);
        }
        let out = self.place_out(number);
        if let Some(outside) = &mut self.outside {
            outside.open.pop();
        }
        out
    }

    /// What a place is made of.
    fn place_out(&mut self, number: usize) -> Out {
        let Some(outside) = &self.outside else { return Out::primary("_") };
        let Some(place) = outside.outward.places.get(number) else { return Out::primary("_") };
        if let Some(text) = &place.data {
            return Out::primary(text.clone());
        }
        let index = &outside.index;
        let conjuncts = place.exprs.iter().filter_map(|it| index.conjunct(it)).collect();
        // What is no place of a package has none.
        let path = place.path.clone().unwrap_or_else(|| vec![SOMEWHERE.to_owned()]);
        let path = std::mem::replace(&mut self.path, path);
        let outer = self.now_in(Some(number));
        let out = self.merge(conjuncts);
        self.now_in(outer);
        self.path = path;
        out
    }

    /// What is printed is of that place; gives what it was of.
    fn now_in(&mut self, place: Option<usize>) -> Option<usize> {
        std::mem::replace(&mut self.outside.as_mut()?.current, place)
    }

    /// The places that got names, one below the other, in the order they were found in.
    pub(crate) fn hoisted(&mut self) -> Vec<Item> {
        let mut items = Vec::new();
        // They stand beside the part.
        self.in_definition = 0;
        loop {
            let before = items.len();
            let count = self.outside.as_ref().map_or(0, |it| it.names.len());
            for number in 0..count {
                let Some(outside) = &mut self.outside else { return items };
                if !outside.wanted.contains(&number) || !outside.printed.insert(number) {
                    continue;
                }
                let Some(name) = outside.names.get(number).cloned().flatten() else { continue };
                let Some(place) = outside.outward.places.get(number) else { continue };
                outside.named = Some(number);
                let value = self.place_out(number);
                let Some(outside) = &mut self.outside else { return items };
                outside.named = None;
                let (path, within) =
                    (path_of(place, &outside.index), place.is_closed.then_some(INNER));
                items.push(Item::Hoisted { path, name, within, value });
            }
            if items.len() == before {
                return items;
            }
        }
    }
}

/// The path of a place as the comment above its name has it.
fn path_of(place: &Place, index: &Index<'_>) -> String {
    let mut parts = Vec::new();
    if let Some((expr, scope)) = place.package.and_then(|it| index.exprs.get(&it)) {
        let ExprKind::Ident(name) = &expr.kind else { return String::new() };
        if let Some((_, Bound::Import(path, _))) = scope.find(name) {
            parts.push(format!("{path:?}"));
        }
    }
    parts.extend(place.labels.iter().map(|it| it.text.clone()));
    parts.join(".")
}
