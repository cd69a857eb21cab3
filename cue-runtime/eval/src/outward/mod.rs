//! Where the references of a part lead that lead out of it (O-80), to other packages too (O-81).
//!
//! The declarations of the part are looked through as they are written: a name that a literal around it has
//! leads nowhere. Those of a place that something leads to are looked through next, and where a value without
//! a place is selected from, what that is made of.

mod places; // what the places are

use cue_definition::{Key, Outward, Room};
use cue_map::{Map, Set};

pub(crate) use self::places::suffix;
use crate::builtin::Datum;
use crate::evaluator::{Evaluator, Value};
use crate::found;
use crate::heap::{self, EnvId, EnvKind, Source, VertexId};
use crate::program::{ClauseCode, Code, DeclLabel, Declaration, ExprId, ListElement, PartCode};
use crate::program::{Label, LabelKind};
use crate::spots;

/// What becomes of names of other packages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packages {
    /// They stay.
    Named,
    /// What they stand for is put in.
    PutIn,
}

/// Whether fields of literals are looked through.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fields {
    Seen,
    Passed,
}

/// A place that something leads to.
#[derive(Clone, Copy)]
struct Found {
    id: VertexId,
    /// Where the package is named that it is of.
    package: Option<ExprId>,
    uses: usize,
}

struct Search<'e> {
    it: &'e mut Evaluator,
    packages: Packages,
    /// References are not followed.
    stays: bool,
    /// What literals around a name hold.
    nowhere: VertexId,
    /// What is looked through.
    place: VertexId,
    package: Option<ExprId>,
    fields: Fields,
    /// Selections from values without a place, what these are made of is looked through.
    selections: Vec<(EnvId, ExprId)>,
    /// The reference that led here.
    first: Option<ExprId>,
    /// How many references were counted.
    count: usize,
    seen: Set<(EnvId, ExprId)>,
    looked_behind: Set<ExprId>,
    references: Map<Key, usize>,
    found: Vec<Found>,
    numbers: Map<VertexId, usize>,
    /// Values without a place of their own, and the places that have them.
    lent: Map<VertexId, VertexId>,
    /// Texts of labels that patterns name, by what is looked through.
    matched: Map<VertexId, Map<Key, String>>,
}

impl Evaluator {
    /// The places that a part leads to, if there is room for printing one.
    pub(crate) fn outward(&mut self, part: VertexId, packages: Packages) -> Option<Outward> {
        let room = Room::here()?;
        let mut search = Search::new(self, part, packages);
        search.conjuncts(part);
        Some(search.finish(part, room))
    }

    /// The texts of labels that a value names by its pattern's alias, which is not there where it is printed as
    /// written.
    pub(crate) fn labels_named(&mut self, id: VertexId) -> Map<Key, String> {
        let named = |env: &EnvId| {
            let mut envs = std::iter::successors(Some(*env), |it| self.heap.envs[*it].parent);
            envs.any(|it| matches!(self.heap.envs[it].kind, EnvKind::PatternName(Some(_))))
        };
        let conjuncts = self.heap.get(id).conjuncts.iter();
        let mut envs = conjuncts.filter_map(|it| match it.source() {
            Source::Expr(_, env) => Some(env),
            Source::Data(_) | Source::Vertex(_) => None,
        });
        match envs.any(|it| named(&it)) {
            true => self.labels_written(id),
            false => Map::default(),
        }
    }

    /// The same for a value that is printed as written, and what computed labels in it come to that are no names.
    pub(crate) fn labels_written(&mut self, id: VertexId) -> Map<Key, String> {
        let mut search = Search::new(self, id, Packages::Named);
        search.stays = true;
        search.conjuncts(id);
        search.matched.remove(&id).unwrap_or_default()
    }
}

impl<'e> Search<'e> {
    fn new(it: &'e mut Evaluator, place: VertexId, packages: Packages) -> Self {
        let nowhere = it.heap.vertex(None, None);
        it.unify(nowhere);
        Self {
            it,
            packages,
            stays: false,
            nowhere,
            place,
            package: None,
            fields: Fields::Seen,
            selections: Vec::new(),
            first: None,
            count: 0,
            seen: Set::default(),
            looked_behind: Set::default(),
            references: Map::default(),
            found: Vec::new(),
            numbers: Map::default(),
            lent: Map::default(),
            matched: Map::default(),
        }
    }
}

impl Search<'_> {
    fn conjuncts(&mut self, id: VertexId) {
        for (expr, env) in self.made_of(id) {
            self.expr(expr, env);
        }
    }

    /// The expressions that make a value.
    fn made_of(&self, id: VertexId) -> Vec<(ExprId, EnvId)> {
        let of = |it: &heap::Conjunct| match it.source() {
            Source::Expr(expr, env) => Some((expr, env)),
            Source::Data(_) | Source::Vertex(_) => None,
        };
        self.it.heap.get(id).conjuncts.iter().filter_map(of).collect()
    }

    fn expr(&mut self, expr: ExprId, env: EnvId) {
        if self.it.tick().is_err() || self.it.go_in(self.place).is_err() {
            return;
        }
        let program = self.it.program.clone();
        match program.code(expr) {
            Code::Select(base, _) if self.stays => self.expr(*base, env),
            Code::Index(base, index) if self.stays => {
                self.expr(*base, env);
                self.expr(*index, env);
            }
            Code::Field { .. }
            | Code::Let { .. }
            | Code::Variable { .. }
            | Code::ComputedField { .. }
            | Code::Enclosing { .. }
            | Code::Import(_)
            | Code::Select(..)
            | Code::Index(..) => {
                if !self.stays {
                    self.reference(expr, env);
                }
            }
            Code::Attempt(inner) => self.expr(*inner, env),
            Code::PatternName { .. } => _ = self.known(expr, env),
            code => {
                let first = self.first.take();
                self.parts(code, env);
                self.first = first;
            }
        }
        self.it.go_out();
    }

    /// What an expression that is no reference is made of.
    fn parts(&mut self, code: &Code, env: EnvId) {
        match code {
            Code::Struct(number) => self.literal(*number, env),
            Code::List(elements) => {
                for element in elements.iter() {
                    match element {
                        ListElement::Value(it) => self.below(*it, env),
                        ListElement::Comprehension(it) => self.comprehension(*it, env),
                        ListElement::Rest(it) => it.iter().for_each(|it| self.below(*it, env)),
                    }
                }
            }
            Code::Aliased(inner) => {
                let env = self.clause(env);
                self.expr(*inner, env);
            }
            Code::Interpolation(said) => {
                for part in &said.parts {
                    if let PartCode::Value(it) = part {
                        self.expr(*it, env);
                    }
                }
            }
            Code::Disjoin(all) => all.iter().for_each(|it| self.expr(it.0, env)),
            Code::Call(_, arguments) => self.arguments(arguments, env),
            Code::CallOf(callee, arguments) => {
                self.expr(*callee, env);
                self.arguments(arguments, env);
            }
            Code::Unify(left, right)
            | Code::And(left, right)
            | Code::Or(left, right)
            | Code::Compare(_, left, right)
            | Code::Arithmetic(_, left, right) => {
                self.expr(*left, env);
                self.expr(*right, env);
            }
            Code::Not(it)
            | Code::Negative(it)
            | Code::Positive(it)
            | Code::Bound(_, it)
            | Code::Opened(it)
            | Code::Attempt(it) => self.expr(*it, env),
            Code::Slice(base, low, high) => {
                self.expr(*base, env);
                low.iter().chain(high).for_each(|it| self.expr(*it, env));
            }
            Code::Scalar(_)
            | Code::Bottom
            | Code::Top
            | Code::Type(..)
            | Code::PatternName { .. }
            | Code::Outer { .. }
            | Code::Function(_)
            | Code::Field { .. }
            | Code::Let { .. }
            | Code::Variable { .. }
            | Code::ComputedField { .. }
            | Code::Enclosing { .. }
            | Code::Import(_)
            | Code::Select(..)
            | Code::Index(..) => {}
        }
    }

    fn arguments(&mut self, arguments: &[ExprId], env: EnvId) {
        let fields = std::mem::replace(&mut self.fields, Fields::Seen);
        arguments.iter().for_each(|it| self.expr(*it, env));
        self.fields = fields;
    }

    /// What stands in a field or an element.
    fn below(&mut self, expr: ExprId, env: EnvId) {
        if self.fields == Fields::Seen {
            self.expr(expr, env);
        }
    }

    fn literal(&mut self, number: u32, env: EnvId) {
        let program = self.it.program.clone();
        let Some(literal) = program.structs.get(number as usize) else { return };
        let env = self.it.heap.envs.enter_struct(env, self.nowhere, number, literal.lets.len());
        self.it.heap.envs.fill_lets(env, Some(self.nowhere));
        if self.stays {
            literal.lets.iter().for_each(|it| self.below(it.value, env));
        }
        for declaration in &literal.declarations {
            match declaration {
                Declaration::Field { label, value, .. } => {
                    if let DeclLabel::Computed(label) = label {
                        self.computed(*label, env);
                    }
                    self.below(*value, env);
                }
                Declaration::Pattern { label, value, .. } => {
                    self.expr(*label, env);
                    let env = self.it.heap.envs.enter(Some(env), EnvKind::PatternName(None));
                    self.below(*value, env);
                }
                Declaration::Embed(it) => self.expr(*it, env),
                Declaration::Comprehension(it) => self.comprehension(*it, env),
                Declaration::Open => {}
            }
        }
    }

    fn computed(&mut self, label: ExprId, env: EnvId) {
        // A name gives a value with a place, not a text.
        if !(self.stays && self.known(label, env)) {
            self.expr(label, env);
        }
    }

    /// Notes the text that an expression is, if it is one.
    fn known(&mut self, expr: ExprId, env: EnvId) -> bool {
        let Value::Datum(text @ Datum::String(_)) = self.it.eval(expr, env) else { return false };
        let key = self.key(expr);
        self.matched.entry(self.place).or_default().insert(key, text.cue_text());
        true
    }

    fn comprehension(&mut self, number: u32, outside: EnvId) {
        let program = self.it.program.clone();
        let Some(comprehension) = program.comprehensions.get(number as usize) else { return };
        let mut env = outside;
        for clause in &comprehension.clauses {
            match clause {
                ClauseCode::If(it) => self.expr(*it, env),
                ClauseCode::For { source: it, .. } | ClauseCode::Let(it) | ClauseCode::Try(it) => {
                    self.expr(*it, env);
                    env = self.clause(env);
                }
            }
        }
        self.expr(comprehension.body, env);
        if let Some(otherwise) = comprehension.otherwise {
            self.expr(otherwise, outside);
        }
    }

    /// Inside of what names a value.
    fn clause(&mut self, env: EnvId) -> EnvId {
        let kind = EnvKind::Variables(self.nowhere, heap::Key::Vertex(self.nowhere));
        self.it.heap.envs.enter(Some(env), kind)
    }

    fn reference(&mut self, expr: ExprId, env: EnvId) {
        if !self.seen.insert((env, expr)) {
            return;
        }
        if let Some(id) = self.target(expr, env) {
            self.report(expr, env, id);
            return;
        }
        let program = self.it.program.clone();
        match program.code(expr) {
            Code::Select(base, _) => self.expr(*base, env),
            Code::Index(base, index) => {
                self.expr(*base, env);
                self.expr(*index, env);
            }
            _ => {}
        }
    }

    /// The place that a reference leads to. What has its value from another place has its fields there.
    fn target(&mut self, expr: ExprId, env: EnvId) -> Option<VertexId> {
        let program = self.it.program.clone();
        if let Code::Select(base, _) | Code::Index(base, _) = program.code(expr) {
            // A constant stays the name that it has in its package.
            if spots::is_builtin(program.at(*base)) {
                return None;
            }
            let base = self.target(*base, env);
            let field = base.filter(|it| self.it.heap.get(*it).parent.is_some());
            if field.is_some_and(|it| self.is_withheld(it)) {
                return None;
            }
            let shared = base.and_then(|it| found::target(self.it, it));
            let shared = shared.filter(|it| self.is_rooted(*it));
            let label = shared.and_then(|_| self.selector(expr, env));
            if let (Some(shared), Some(label)) = (shared, label) {
                let real = self.it.unify(shared);
                let real = self.it.default_of(real).unwrap_or(real);
                return self.it.heap.arc(real, label).map(|it| it.vertex);
            }
            if let Some(base) = base.filter(|it| self.is_rooted(*it)) {
                let real = self.it.unify(base);
                if !self.is_rooted(real) {
                    self.lent.entry(real).or_insert(base);
                }
            }
        }
        match self.it.eval(expr, env) {
            Value::Vertex(id) => Some(id),
            Value::Fault(_) | Value::Datum(_) => None,
        }
    }

    /// Whether a value fails or waits: nothing is selected from it (cue-errors 4.1).
    fn is_withheld(&mut self, id: VertexId) -> bool {
        let real = self.it.unify(id);
        self.it.heap.fault_of(id, real).is_some() || self.it.fails_for_good(real)
    }

    /// The label that a selection asks for.
    fn selector(&mut self, expr: ExprId, env: EnvId) -> Option<Label> {
        let program = self.it.program.clone();
        match program.code(expr) {
            Code::Select(_, label) => Some(*label),
            Code::Index(_, index) => match self.it.scalar(*index, env).ok()? {
                Datum::String(name) => Some(self.it.labels.intern(LabelKind::Regular, &name)),
                Datum::Number(number) => {
                    let index = number.to_i64().and_then(|it| usize::try_from(it).ok())?;
                    Some(self.it.labels.index(index))
                }
                _ => None,
            },
            _ => None,
        }
    }

    fn report(&mut self, expr: ExprId, env: EnvId, mut id: VertexId) {
        if id == self.place || id == self.nowhere {
            return;
        }
        let outer = (self.first, self.package);
        if self.selections.is_empty() {
            self.first = self.first.or(Some(expr));
        }
        self.found(expr, env, &mut id);
        (self.first, self.package) = outer;
    }

    fn found(&mut self, expr: ExprId, env: EnvId, id: &mut VertexId) {
        let loose = !self.is_rooted(*id);
        if loose {
            let before = self.count;
            self.look_behind(expr, env, *id);
            let by_name =
                matches!(self.it.program.code(expr), Code::Field { .. } | Code::Variable { .. });
            if !by_name && self.is_nowhere(expr, env) || self.count > before {
                return;
            }
        }
        if self.is_let(*id) {
            return;
        }
        let mut reference = expr;
        for (at, (env, selection)) in self.selections.clone().into_iter().enumerate().rev() {
            let label = self.selector(selection, env);
            let real = self.it.follow(*id);
            let Some(field) = label.and_then(|it| self.it.heap.arc(real, it)) else { break };
            *id = field.vertex;
            reference = self.first.filter(|_| at == 0).unwrap_or(selection);
        }
        if loose && self.selections.is_empty() {
            reference = self.first.unwrap_or(reference);
        }
        self.package = self.named_package(expr).or(self.package);
        self.count += 1;
        self.it.unify(*id);
        self.note(reference, *id);
    }

    fn note(&mut self, reference: ExprId, id: VertexId) {
        let key = self.key(reference);
        if !self.is_put_in() || self.references.contains_key(&key) {
            return;
        }
        let known = self.numbers.get(&id).copied();
        let number = known.unwrap_or(self.found.len());
        self.references.insert(key, number);
        match self.found.get_mut(number) {
            Some(found) => found.uses += 1,
            None => {
                self.numbers.insert(id, number);
                self.found.push(Found { id, package: self.package, uses: 1 });
                let fields = std::mem::replace(&mut self.fields, Fields::Seen);
                let place = std::mem::replace(&mut self.place, id);
                self.conjuncts(id);
                (self.fields, self.place) = (fields, place);
            }
        }
    }

    fn key(&self, expr: ExprId) -> Key {
        let at = self.it.program.at(expr);
        (at.source as usize, at.span.start, at.span.end)
    }

    /// Whether what is being looked through, and stands in another package if there is one, is put in. Those of
    /// builtin packages stay where they are.
    fn is_put_in(&self) -> bool {
        let Some(package) = self.package else { return true };
        let Code::Import(number) = self.it.program.code(package) else { return true };
        let package = self.it.program.packages.get(*number as usize);
        self.packages == Packages::PutIn && package.is_some_and(|it| it.folder().contains('.'))
    }

    /// What a value is in.
    fn parent(&self, id: VertexId) -> Option<VertexId> {
        let vertex = self.it.heap.get(id);
        let parent = vertex.label.and(vertex.parent)?;
        Some(self.lent.get(&parent).copied().unwrap_or(parent))
    }

    fn outermost(&self, id: VertexId) -> VertexId {
        std::iter::successors(Some(id), |it| self.parent(*it)).last().unwrap_or(id)
    }

    /// Whether a value is that of a `let`, or in it.
    fn is_let(&self, id: VertexId) -> bool {
        self.it.let_name(self.outermost(id)).is_some()
    }

    /// Whether a value is a place of a package.
    fn is_rooted(&self, id: VertexId) -> bool {
        self.it.is_rooted(self.outermost(id))
    }

    /// What a value without a place is made of, and what it is selected from.
    fn look_behind(&mut self, expr: ExprId, env: EnvId, id: VertexId) {
        if !self.looked_behind.insert(expr) {
            return;
        }
        self.conjuncts(id);
        let fields = std::mem::replace(&mut self.fields, Fields::Passed);
        let program = self.it.program.clone();
        if let Code::Select(base, _) | Code::Index(base, _) = program.code(expr) {
            if let Value::Vertex(base) = self.it.eval(*base, env) {
                self.it.unify(base);
                self.selections.push((env, expr));
                self.conjuncts(base);
                self.selections.pop();
            }
        }
        self.fields = fields;
    }

    /// Whether a reference begins in a literal that is looked through.
    fn is_nowhere(&self, expr: ExprId, env: EnvId) -> bool {
        let env = match self.it.program.code(expr) {
            Code::Field { up, .. } => self.it.env_up(env, *up),
            Code::Select(base, _) | Code::Index(base, _) => return self.is_nowhere(*base, env),
            _ => env,
        };
        match self.it.heap.envs[env].kind {
            EnvKind::Struct(id, ..) | EnvKind::Variables(id, _) => id == self.nowhere,
            EnvKind::PatternName(_) => true,
        }
    }

    /// The name of the package that a reference begins with.
    fn named_package(&self, expr: ExprId) -> Option<ExprId> {
        match self.it.program.code(expr) {
            Code::Import(_) => Some(expr),
            Code::Select(base, _) | Code::Index(base, _) => self.named_package(*base),
            _ => None,
        }
    }
}
