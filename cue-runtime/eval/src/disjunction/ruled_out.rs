//! Alternatives that cannot hold beside what is there already, as far as that shows without trying them: of six hundred
//! names beside `"b"` all but one. They are tried last, where nothing else holds, to tell why.

use std::cell::Cell;

use smallvec::SmallVec;

use crate::builtin::{Datum, Kinds};
use crate::evaluator::Evaluator;
use crate::heap::{Disjunction, EnvId, EnvKind, Source, VertexId};
use crate::program::{Code, DeclLabel, Declaration, ExprId, Presence};

/// Names that are followed to what alternatives are.
const MOST_NAMED: usize = 4;

/// Expressions that are compared with a scalar.
const COMPARED_IN_A_TICK: u64 = 16;

/// So many more than there are alternatives: names lead to names, and each may stand a thousand times.
const MOST_COMPARED: usize = 1 << 14;

/// Names that may be followed, and comparisons that may be made.
type Left<'a> = (usize, &'a Cell<usize>);

impl Evaluator {
    /// Whether one alternative that fails tells of all, until each is asked for: something else of what is chosen around
    /// comes after it.
    pub(super) fn one_tells(&self, id: VertexId) -> bool {
        self.ways.after && !self.ways.in_full && self.shortcuts_at(id).is_some()
    }

    /// Of one choice those that contradict what is there already, as they are written, of several those that cannot be
    /// the scalar that is there; none if that is all of them. Where one that fails tells of all, all but the first then.
    pub(super) fn ruled_out(
        &self,
        id: VertexId,
        disjunctions: &[Disjunction],
    ) -> SmallVec<[bool; 8]> {
        let mut out = SmallVec::new();
        match disjunctions {
            [only] => out.extend(self.contradicting(id, only)),
            // How results become defaults is known by all that were tried.
            [first, ..] if !self.ways.wanted => out.extend(self.no_such_scalar(id, first)),
            _ => {}
        }
        if !out.contains(&false) {
            match out.first_mut().filter(|_| self.one_tells(id)) {
                Some(first) => *first = false,
                None => out.clear(),
            }
        }
        out
    }

    /// Which alternatives contradict, as they are written, a scalar that is written or the kinds that are left.
    fn contradicting(&self, id: VertexId, of: &Disjunction) -> SmallVec<[bool; 8]> {
        if self.heap.get(id).scalar.is_some() {
            return self.no_such_scalar(id, of);
        }
        let contradicts = |it| {
            let declarations = self.declarations(it, of).unwrap_or_default();
            let kinds = self.written_kinds(it);
            kinds.is_some_and(|it| !it.meets(self.heap.get(id).kinds))
                || self.contradict(id, declarations)
        };
        let declares = |it: &VertexId| self.declarations_at(*it, MOST_NAMED).unwrap_or_default();
        let elements = of.elements.iter().map(|it| self.contradict(id, declares(it)));
        elements.chain(self.alternatives(of).map(contradicts)).collect()
    }

    /// What a vertex declares that is a struct literal, or is nothing but the name of one.
    fn declarations_at(&self, id: VertexId, names: usize) -> Option<&[Declaration]> {
        let [conjunct] = self.heap.get(id).conjuncts.as_slice() else { return None };
        let Source::Expr(expr, env) = conjunct.source() else { return None };
        let named = |(expr, within)| {
            let vertex = self.named_in((expr, env), within).filter(|_| names > 0)?;
            self.declarations_at(vertex, names - 1)
        };
        match self.program.code(expr) {
            Code::Struct(literal) => match &*self.program.structs[*literal as usize].declarations {
                [Declaration::Embed(only)] => named((*only, 1)),
                all => Some(all),
            },
            _ => named((expr, 0)),
        }
    }

    /// Which alternatives cannot be the scalar that is there, if one is.
    fn no_such_scalar(&self, id: VertexId, of: &Disjunction) -> SmallVec<[bool; 8]> {
        let Some((datum, _)) = self.scalar_of(self.heap.get(id)) else { return SmallVec::new() };
        let most = of.marks.len() + MOST_COMPARED;
        let left = &Cell::new(most);
        let elements =
            of.elements.iter().map(|it| self.vertex_excludes(*it, datum, (MOST_NAMED, left)));
        let written = of.env().into_iter().flat_map(|env| {
            self.alternatives(of).map(move |it| self.excludes((it, env), datum, (MOST_NAMED, left)))
        });
        let out = elements.chain(written).collect();
        let compared = (most - left.get()) as u64;
        self.climbed.set(self.climbed.get() + compared / COMPARED_IN_A_TICK);
        out
    }

    /// Whether a value, as it is written, is another one than a scalar, by way of so many names and with so many
    /// comparisons left.
    fn excludes(
        &self,
        (expr, env): (ExprId, EnvId),
        datum: &Datum,
        (names, left): Left<'_>,
    ) -> bool {
        let Some(rest) = left.get().checked_sub(1) else { return false };
        left.set(rest);
        let name_excludes = |expr, within| {
            let vertex = self.named_in((expr, env), within).filter(|_| names > 0);
            vertex.is_some_and(|it| self.vertex_excludes(it, datum, (names - 1, left)))
        };
        match self.program.code(expr) {
            Code::Unify(one, other) => {
                [*one, *other].into_iter().any(|it| self.excludes((it, env), datum, (names, left)))
            }
            Code::Disjoin(all) => {
                all.iter().all(|it| self.excludes((it.0, env), datum, (names, left)))
            }
            Code::Struct(literal) => match &*self.program.structs[*literal as usize].declarations {
                [Declaration::Embed(only)] => name_excludes(*only, 1),
                _ => self.is_of_other_kinds(expr, datum),
            },
            Code::Field { .. } | Code::Variable { .. } => name_excludes(expr, 0),
            // One that fails late counts among those that are marked.
            Code::Bound(compare, limit) if !self.ways.wanted => {
                let limit = self.program.code(*limit).scalar();
                let limit = limit.filter(|it| !matches!(it, Datum::Null));
                limit.is_some_and(|it| crate::compare::holds(*compare, datum, it) == Some(false))
            }
            _ => {
                self.program.admits(expr, datum) == Some(false)
                    || self.is_of_other_kinds(expr, datum)
            }
        }
    }

    fn is_of_other_kinds(&self, expr: ExprId, datum: &Datum) -> bool {
        let kinds = self.written_kinds(expr);
        kinds.is_some_and(|it| !it.meets(crate::compare::kinds(datum)))
    }

    /// What a field or a variable names, so many environments further in than this one.
    fn named_in(&self, (expr, env): (ExprId, EnvId), within: u32) -> Option<VertexId> {
        let Code::Variable { up, index: 0 } = self.program.code(expr) else {
            return self.field_named((expr, env), within).map(|it| it.1.vertex);
        };
        match self.heap.envs[self.env_up(env, up.checked_sub(within)?)].kind {
            EnvKind::Variables(value, _) => Some(value),
            _ => None,
        }
    }

    /// Whether what is said of a vertex is another value than a scalar: more of that does not help.
    fn vertex_excludes(&self, id: VertexId, datum: &Datum, left: Left<'_>) -> bool {
        let vertex = self.heap.get(id);
        let other = self.scalar_of(vertex).is_some_and(|it| !crate::compare::same(it.0, datum));
        other
            || vertex.conjuncts.iter().any(|it| match it.source() {
                Source::Expr(expr, env) => self.excludes((expr, env), datum, left),
                Source::Data(it) => !crate::compare::same(self.heap.data(it), datum),
                Source::Vertex(_) => false,
            })
    }

    /// The kinds of what says them as it is written.
    fn written_kinds(&self, expr: ExprId) -> Option<Kinds> {
        match self.program.code(expr) {
            Code::Type(kinds, _) => Some(*kinds),
            Code::Struct(literal) => {
                let embeds = self.program.structs[*literal as usize].has_embeds;
                (!embeds).then_some(Kinds::STRUCT)
            }
            Code::List(_) => Some(Kinds::LIST),
            code => code.scalar().map(crate::compare::kinds),
        }
    }

    /// Whether one of these is a scalar or a type for a field that is written with another one.
    pub(crate) fn contradict(&self, id: VertexId, declarations: &[Declaration]) -> bool {
        declarations.iter().any(|it| {
            let Declaration::Field { label: DeclLabel::Fixed(label), presence, value, .. } = it
            else {
                return false;
            };
            if *presence == Presence::Optional {
                return false;
            }
            let arc = self.heap.arc(id, *label).filter(|it| it.presence == Presence::Member);
            let Some(arc) = arc else { return false };
            self.heap.get(arc.vertex).conjuncts.iter().any(|it| match it.source() {
                Source::Expr(expr, _) => self.program.exclude(expr, *value),
                Source::Data(datum) => {
                    self.program.admits(*value, self.heap.data(datum)) == Some(false)
                }
                Source::Vertex(_) => false,
            })
        })
    }
}
