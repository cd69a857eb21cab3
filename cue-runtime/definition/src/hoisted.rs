//! Names that lead out of a printed part: what they stand for is put in, or bound to a name below it
//! (O-80). A part is printed twice, first to count how often each place is named.

use std::rc::Rc;

use cue_map::Map;
use cue_syntax::ast::{At, Expr, ExprKind};

use crate::expr::label_text;
use crate::merge::Conjunct;
use crate::out::Out;
use crate::printer::Printer;
use crate::scope::{Bound, Scope};
use crate::sourced::{Index, key};
use crate::taken::Taken;
use crate::used;

/// The places of the value, by path.
pub type Places = Map<String, Place>;

/// A place, and the expressions that make it.
pub struct Place {
    /// Where they stand.
    pub exprs: Vec<At>,
    /// What its value is.
    pub of: PlaceOf,
    /// It is a closed struct.
    pub is_closed: bool,
}

/// What the value of a place is.
pub enum PlaceOf {
    /// Something else.
    Any,
    /// A scalar: what it is made of is put in wherever it is named.
    Scalar,
    /// Closed by a definition, which must stay so.
    Closed,
    /// Not known, or wrong: it is named.
    Unknown,
}

/// The places that are named in a part.
pub(crate) struct Counted<'p> {
    places: &'p Places,
    part: String,
    /// Places that are being printed.
    open: Vec<String>,
    taken: Taken,
    /// Paths in the order they are named in, how often, and whether by an operand of a computation.
    uses: Vec<(String, usize, Operand)>,
    /// Once they are counted, those that get a name, and their names.
    names: Option<Map<String, Option<String>>>,
    /// Those that were named by now.
    met: Vec<String>,
}

/// Where an expression stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Operand {
    /// On its own, of `&` or `|`, or anywhere else.
    #[default]
    No,
    /// Of what is computed: of an operator, a call, a text.
    Yes,
}

/// What names that lead out of a printed part are replaced by.
pub(crate) struct Outside<'a> {
    pub(crate) index: Rc<Index<'a>>,
    pub(crate) counted: Counted<'a>,
}

impl<'p> Counted<'p> {
    /// Of a part that is still to be printed.
    pub(crate) fn of(places: &'p Places, part: &str) -> Self {
        let mut taken = Taken::default();
        taken.selections = true;
        let part = part.to_owned();
        Self {
            places,
            part,
            open: Vec::new(),
            taken,
            uses: Vec::new(),
            names: None,
            met: Vec::new(),
        }
    }

    /// What makes the part.
    pub(crate) fn own(&self) -> &'p [At] {
        self.places.get(&self.part).map_or(&[], |it| &it.exprs)
    }

    fn count(&mut self, path: &str, operand: Operand) -> bool {
        match self.uses.iter_mut().find(|it| it.0 == path) {
            Some(known) => {
                known.1 += 1;
                false
            }
            None => {
                self.uses.push((path.to_owned(), 1, operand));
                true
            }
        }
    }

    /// Decides which of the places get a name.
    pub(crate) fn planned(mut self) -> Self {
        let closed = self.places.get(&self.part).is_some_and(|it| it.is_closed);
        let uses = std::mem::take(&mut self.uses);
        let mut names = Map::default();
        for (path, own, operand) in &uses {
            if outer(path, &uses).is_some() {
                continue;
            }
            // What is below it is reached through it.
            let below = uses.iter().filter(|it| outer(&it.0, &uses) == Some(path));
            let count = own + below.map(|it| it.1).sum::<usize>();
            let named = match self.places.get(path).map(|it| &it.of) {
                None | Some(PlaceOf::Scalar) => false,
                Some(PlaceOf::Unknown) => true,
                Some(PlaceOf::Closed) if !closed => true,
                Some(PlaceOf::Closed | PlaceOf::Any) => count > 1 || *operand == Operand::Yes,
            };
            if named {
                names.insert(path.clone(), None);
            }
        }
        self.names = Some(names);
        self
    }

    /// The name of a place, if it or one around it has one.
    fn name(&mut self, path: &str) -> Option<String> {
        let names = self.names.as_mut()?;
        let ends = path.match_indices('.').map(|it| it.0).chain([path.len()]);
        let (at, known) = ends.into_iter().find_map(|at| {
            let known = names.get(&path[..at])?.clone();
            Some((at, known))
        })?;
        let (around, rest) = path.split_at(at);
        let mut name = match known {
            Some(name) => name,
            None => {
                let name = self.taken.unique(&base(around));
                names.insert(around.to_owned(), Some(name.clone()));
                self.met.push(around.to_owned());
                name
            }
        };
        if self.is_wrapped(around) {
            name.push_str(".#x");
        }
        Some(name + &selectors(rest))
    }

    /// Whether a place stands in a definition of its own: it stays closed there.
    fn is_wrapped(&self, path: &str) -> bool {
        self.places.get(path).is_some_and(|it| matches!(it.of, PlaceOf::Closed))
    }
}

/// The outermost of the places around another that are named, too.
fn outer<'u>(path: &str, uses: &'u [(String, usize, Operand)]) -> Option<&'u String> {
    let around = |it: &&(String, usize, Operand)| {
        path.strip_prefix(it.0.as_str()).is_some_and(|it| it.starts_with('.'))
    };
    uses.iter().filter(around).map(|it| &it.0).min_by_key(|it| it.len())
}

/// The name for a place: its own, in capital letters.
fn base(path: &str) -> String {
    let last = path.rsplit('.').next().unwrap_or_default().trim_matches('"');
    if last.starts_with(|it: char| it.is_ascii_digit()) {
        return format!("Index{last}");
    }
    let bare = last.trim_start_matches(['_', '#']).to_uppercase();
    if cue_syntax::is_identifier(&bare) { bare } else { "X".to_owned() }
}

/// A path as it is selected.
fn selectors(path: &str) -> String {
    let mut text = String::new();
    for label in path.split('.').filter(|it| !it.is_empty()) {
        if label.starts_with(|it: char| it.is_ascii_digit()) {
            text.push_str(&format!("[{label}]"));
        } else {
            text.push('.');
            text.push_str(label);
        }
    }
    text
}

/// What a name or a selection of one stands for, at the level of the package.
enum OuterPath {
    Place(String),
    Let(*const Scope, usize),
}

fn outer_path(expr: &Expr, scope: &Rc<Scope>) -> Option<OuterPath> {
    let below = |base: &Expr, label: &str| match outer_path(base, scope)? {
        OuterPath::Place(path) => Some(OuterPath::Place(format!("{path}.{label}"))),
        OuterPath::Let(..) => None,
    };
    match &expr.kind {
        ExprKind::Ident(name) => match scope.find(name)? {
            (there, Bound::Field) if there.is_outermost() => {
                Some(OuterPath::Place(name.to_string()))
            }
            (there, Bound::Let(number)) if there.is_outermost() => {
                Some(OuterPath::Let(&raw const *there, *number))
            }
            _ => None,
        },
        ExprKind::Select(it) => below(&it.0, &label_text(&it.1.name)),
        ExprKind::Index(base, index) => match &index.kind {
            ExprKind::Number(number) => below(base, number),
            _ => None,
        },
        _ => None,
    }
}

impl<'a> Printer<'a> {
    /// What a name that leads out of the printed part becomes.
    pub(crate) fn replaced(
        &mut self,
        expr: &'a Expr,
        scope: &Rc<Scope>,
        operand: Operand,
    ) -> Option<Out> {
        let counted = &mut self.outside.as_mut()?.counted;
        let path = match outer_path(expr, scope)? {
            OuterPath::Let(there, number) => {
                let it = self.let_value(there, number)?;
                return Some(self.expr(it.value, &it.scope, it.file));
            }
            OuterPath::Place(path) => path,
        };
        if let Some(inside) = path.strip_prefix(&counted.part) {
            if inside.is_empty() {
                return None;
            }
            if inside.starts_with('.') && counted.places.contains_key(&path) {
                let inner = selectors(inside);
                return inner.strip_prefix('.').map(Out::primary);
            }
        }
        // What names itself keeps its name.
        if counted.open.contains(&path) {
            return None;
        }
        counted.places.get(&path)?;
        if counted.names.is_some() {
            return match counted.name(&path) {
                Some(name) => Some(Out::primary(name)),
                None => self.place_text(&path),
            };
        }
        if counted.count(&path, operand) {
            let places = counted.places;
            self.note_names(places.get(&path).map_or(&[], |it| &it.exprs));
            self.place_text(&path);
        }
        Some(Out::primary("_"))
    }

    /// No name of the part is given to what it names.
    pub(crate) fn note_names(&mut self, exprs: &[At]) {
        let Some(Outside { index, counted }) = &mut self.outside else { return };
        for at in exprs {
            if let Some((expr, _)) = index.exprs.get(&key(at)) {
                used::of_expr(expr, &mut counted.taken, 0);
            }
        }
    }

    /// What a place is made of.
    fn place_text(&mut self, path: &str) -> Option<Out> {
        let outside = self.outside.as_mut()?;
        outside.counted.open.push(path.to_owned());
        let mut conjuncts = Vec::new();
        let places = outside.counted.places;
        for at in places.get(path).map_or(&[][..], |it| &it.exprs) {
            let key = key(at);
            let Some((expr, scope)) = outside.index.exprs.get(&key) else { continue };
            conjuncts.push(Conjunct::Expr { expr, scope: scope.clone(), file: key.0 });
        }
        let text = (!conjuncts.is_empty()).then(|| self.merge(conjuncts));
        self.outside.as_mut()?.counted.open.pop();
        text
    }

    /// The places that got names, one below the other.
    pub(crate) fn hoisted(&mut self) -> String {
        let mut text = String::new();
        let mut done = 0;
        loop {
            let Some(outside) = &self.outside else { return text };
            let Some(path) = outside.counted.met.get(done).cloned() else { return text };
            let wrapped = outside.counted.is_wrapped(&path);
            let names = outside.counted.names.as_ref();
            let name = names.and_then(|it| it.get(&path)?.clone()).unwrap_or_default();
            let value = self.place_text(&path).unwrap_or_else(|| Out::primary("_")).text();
            let value = if wrapped { format!("{{\n#x: {value}\n}}") } else { value };
            text.push_str(&format!("\n//cue:path: {path}\nlet {name} = {value}\n"));
            done += 1;
        }
    }
}
