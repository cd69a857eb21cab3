//! Where each literal of a vertex counts (O-7 to O-12): the last contribution decides, through references the
//! outermost one.

use cue_map::Map;
use smallvec::SmallVec;

use super::Ranked;
use super::literals::{Literals, valid};
use crate::components::Nodes;
use crate::copied::Reach;
use crate::evaluator::Evaluator;
use crate::heap::{ArcEntry, Conjunct, Contribution, Placed, Source, Vertex, VertexId};
use crate::program::{At, Code, DeclLabel, Declaration, ExprId, Label, Program};

/// Literals by the expression that brings them in: few, as a rule, which are found as fast in a row.
#[derive(Default)]
struct Owners {
    few: SmallVec<[(ExprId, Nodes); 4]>,
    more: Map<ExprId, Nodes>,
}

impl Owners {
    /// More are looked up.
    const FEW: usize = 16;

    fn of(&mut self, expr: ExprId) -> &mut Nodes {
        match self.few.iter().position(|it| it.0 == expr) {
            Some(at) => &mut self.few[at].1,
            None if self.few.len() < Self::FEW => {
                self.few.push((expr, Nodes::new()));
                let last = self.few.len() - 1;
                &mut self.few[last].1
            }
            None => self.more.entry(expr).or_default(),
        }
    }
}

/// Where the literals of a vertex count, after some of the contributions.
struct Ranking<'a> {
    program: &'a Program,
    reach: Reach,
    /// The one place where all of them count.
    here: Option<At>,
    owners: Owners,
    ranked: Vec<Ranked>,
}

impl Ranking<'_> {
    /// One more contribution: it decides where its literal counts, and all that came by the same reference.
    fn contribute(&mut self, by: &Contribution) {
        let literal = by.placed as usize;
        if let Some(ranked) = self.ranked.get_mut(literal) {
            ranked.at = valid(by.at);
            ranked.through.extend(by.outer.filter(|it| ranked.through.last() != Some(it)));
            if self.here.is_some() {
                ranked.at = self.here;
                return;
            }
        }
        let Some(outer) = by.outer.filter(|it| self.reach != Reach::Without(*it)) else { return };
        let own = self.owners.of(outer);
        if !own.contains(&literal) {
            own.push(literal);
        }
        for each in own.iter() {
            if let Some(ranked) = self.ranked.get_mut(*each) {
                ranked.at = valid(self.program.at(outer));
            }
        }
    }
}

impl Evaluator {
    /// Step A: the last contribution decides where a literal counts; through references the
    /// outermost one.
    pub(super) fn positions(
        &self,
        id: VertexId,
        literals: &Literals<'_>,
        reach: Reach,
    ) -> Vec<Ranked> {
        let vertex = self.heap.get(id);
        let mut ranking = self.ranking(vertex, literals, reach);
        if self.program.lenient {
            let arcs = vertex.arcs.iter().enumerate();
            let all: Vec<Contribution> = arcs.flat_map(|it| literals.contributions(it)).collect();
            let visited = self.visited(id, literals, &all);
            visited.iter().for_each(|at| ranking.contribute(&all[*at]));
            let outer = visited.into_iter().filter_map(|at| all[at].outer);
            let mut ranked = ranking.ranked;
            self.mark_embedded(vertex, &mut ranked, &outer.collect::<Vec<_>>());
            return ranked;
        }
        let patterns = self.patterns_of(vertex);
        for (node, arc) in vertex.arcs.iter().enumerate() {
            let contributions = literals.contributions((node, arc));
            match patterns.is_empty() {
                true => contributions.for_each(|by| ranking.contribute(&by)),
                false => {
                    let all: SmallVec<[Contribution; 4]> = contributions.collect();
                    self.contribute_with_patterns(&all, arc, &patterns, &mut ranking);
                }
            }
        }
        let mut ranked = ranking.ranked;
        self.move_behind_labels(vertex, literals, &mut ranked);
        self.move_behind_lets(vertex, &mut ranked);
        ranked
    }

    /// Before any contribution.
    fn ranking(&self, vertex: &Vertex, literals: &Literals<'_>, reach: Reach) -> Ranking<'_> {
        let rank = |(placed, at)| Ranked {
            placed,
            at: valid(at),
            explicit: false,
            through: SmallVec::new(),
        };
        let ranked = literals.positions().enumerate().map(rank).collect();
        let mut owners: Owners = Owners::default();
        for (index, placed) in vertex.placed.iter().enumerate() {
            if self.comes_apart(placed) {
                continue;
            }
            for declaration in &self.program.structs[placed.literal as usize].declarations {
                if let Declaration::Embed(expr) = declaration {
                    owners.of(*expr).push(index);
                }
            }
        }
        let here = literals.positions().find_map(valid).filter(|_| reach == Reach::OnePlace);
        Ranking { program: &self.program, reach, here, owners, ranked }
    }

    /// What contributes to a field, and the patterns that apply to it: each once the field is there and the literal of
    /// the pattern, too, which is behind so many contributions.
    fn contribute_with_patterns(
        &self,
        all: &[Contribution],
        arc: &ArcEntry,
        patterns: &[(usize, ExprId, ExprId)],
        ranking: &mut Ranking<'_>,
    ) {
        let conjuncts = &self.heap.get(arc.vertex).conjuncts;
        let applied = patterns.iter().filter_map(|(literal, label, value)| {
            let says =
                |it: &&Conjunct| matches!(it.source(), Source::Expr(expr, _) if expr == *value);
            let said = conjuncts.iter().find(says)?;
            let known = all.iter().take_while(|it| it.placed as usize <= *literal).count();
            let at = self.program.at(*label);
            let by = Contribution { placed: *literal as u32, at, outer: said.outer };
            Some((known.max(1).min(all.len()), by))
        });
        let applied: SmallVec<[(usize, Contribution); 2]> = applied.collect();
        for turn in 0..=all.len() {
            for (_, by) in applied.iter().filter(|it| it.0 == turn) {
                ranking.contribute(by);
            }
            if let Some(by) = all.get(turn) {
                ranking.contribute(by);
            }
        }
    }

    /// Computed labels and what is embedded take their turns as they are written (O-5), while here the labels
    /// are known last: an embedded value that comes behind them decides.
    fn move_behind_labels(&self, vertex: &Vertex, literals: &Literals<'_>, ranked: &mut [Ranked]) {
        for (placed, ranked) in vertex.placed.iter().zip(ranked) {
            if placed.produced.is_empty() {
                continue;
            }
            let code = &self.program.structs[placed.literal as usize];
            // What is declared here, too, was there before.
            let brings = |expr: ExprId| {
                vertex.arcs.iter().enumerate().any(|it| {
                    literals.contributions(it).any(|by| by.outer == Some(expr))
                        && literals.contributions(it).all(|by| by.outer.is_some())
                })
            };
            // What a loop brings again embeds nothing new, but may have more labels.
            let more = placed.repeats > 0 && names_more(&placed.produced);
            let last = code.declarations.iter().rev().find_map(|it| match it {
                Declaration::Field { label: DeclLabel::Computed(_), .. } => Some(None),
                Declaration::Embed(expr) => (!more && brings(*expr)).then_some(Some(*expr)),
                _ => None,
            });
            // A field of its own is waited for until all labels are there.
            let own = code.declarations.iter().rev().find_map(|it| match it {
                Declaration::Embed(expr) if self.names_own(*expr, vertex) && brings(*expr) => {
                    Some(*expr)
                }
                _ => None,
            });
            if let Some(expr) = own.or(last.flatten()) {
                ranked.at = valid(self.program.at(expr));
            }
        }
    }

    /// A `let` contributes as a field does, which is before what references bring that are embedded.
    fn move_behind_lets(&self, vertex: &Vertex, ranked: &mut [Ranked]) {
        for (placed, ranked) in vertex.placed.iter().zip(ranked) {
            let code = &self.program.structs[placed.literal as usize];
            let embeds = |at: At| {
                let mut all = code.declarations.iter();
                all.any(|it| matches!(it, Declaration::Embed(it) if self.program.at(*it) == at))
            };
            let last =
                code.lets.iter().map(|it| self.program.at(it.value)).max_by_key(|it| it.span.start);
            if let (Some(last), Some(at)) = (last, &mut ranked.at) {
                if embeds(*at) {
                    continue;
                }
                let own = last.source == at.source && placed.at.span.start <= at.span.start;
                if own && at.span.start < last.span.start {
                    *at = last;
                }
            }
        }
    }

    /// Whether the fields of a literal count apart from what it embeds, as up to v0.14 those of bodies do.
    fn comes_apart(&self, placed: &Placed) -> bool {
        self.program.structs[placed.literal as usize].apart && placed.produced.is_empty()
    }

    /// What such a literal embeds last stands at one place with the rest of it, as operands do.
    fn mark_embedded(&self, vertex: &Vertex, ranked: &mut [Ranked], visited: &[ExprId]) {
        for placed in vertex.placed.iter().filter(|it| self.comes_apart(it)) {
            let all = &self.program.structs[placed.literal as usize].declarations;
            let embeds = |expr: &ExprId| {
                all.iter().any(|it| matches!(it, Declaration::Embed(it) if it == expr))
            };
            let Some(last) = visited.iter().rev().find(|it| embeds(it)) else { continue };
            let at = valid(self.program.at(*last));
            for each in ranked.iter_mut().filter(|it| it.at == at) {
                each.explicit = true;
            }
        }
    }

    /// Whether an expression is a field of the value itself, or a part of one.
    fn names_own(&self, expr: ExprId, vertex: &Vertex) -> bool {
        match self.program.code(expr) {
            Code::Field { label, .. } => vertex.arcs.place(*label).is_some(),
            Code::Select(operand, _) => self.names_own(*operand, vertex),
            _ => false,
        }
    }

    /// The patterns of the literals, if there are several: one that applies to a field contributes to it
    /// like a declaration of that field (O-12). Each with its literal, its label and its value.
    fn patterns_of(&self, vertex: &Vertex) -> Vec<(usize, ExprId, ExprId)> {
        let mut found = Vec::new();
        for (index, placed) in vertex.placed.iter().enumerate() {
            for it in &self.program.structs[placed.literal as usize].declarations {
                if let Declaration::Pattern { label, value, .. } = it {
                    found.push((index, *label, *value));
                }
            }
        }
        found
    }

    /// Contributions in the order they count in up to v0.14: what is embedded by name comes where it stands, not
    /// behind the literal.
    fn visited(&self, id: VertexId, literals: &Literals<'_>, all: &[Contribution]) -> Vec<usize> {
        let named = |mut it: ExprId| {
            while let Code::Select(operand, _) = self.program.code(it) {
                it = *operand;
            }
            matches!(self.program.code(it), Code::Field { .. } | Code::Variable { .. })
        };
        let place = |by: &Contribution| {
            let at = by.outer.map_or(by.at, |it| self.program.at(it));
            (by.outer.is_some_and(|it| !named(it)), at.source, at.span.start)
        };
        let mut keys = Vec::with_capacity(all.len());
        for (arc, entry) in self.heap.get(id).arcs.iter().enumerate() {
            let contributions = || literals.contributions((arc, entry)).map(|it| place(&it));
            let first = contributions().min();
            keys.extend(contributions().map(|it| (first, arc, it)));
        }
        cue_sort::order(all.len(), &mut |one, other| keys[one].cmp(&keys[other]))
    }
}

/// Whether later rounds of a loop have given labels that the first one has not.
fn names_more(produced: &[(ExprId, Label)]) -> bool {
    let first = |it: &(ExprId, Label)| produced.iter().find(|first| first.0 == it.0);
    produced.iter().any(|it| first(it).is_some_and(|first| first.1 != it.1))
}
