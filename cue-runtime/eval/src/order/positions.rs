//! Where each literal of a vertex counts (O-7 to O-12): the last contribution decides, through references the
//! outermost one.

use cue_map::Map;
use smallvec::SmallVec;

use super::Ranked;
use super::literals::{Literals, valid};
use crate::components::Nodes;
use crate::copied::Reach;
use crate::evaluator::Evaluator;
use crate::heap::{Conjunct, Contribution, Placed, Source, Vertex, VertexId};
use crate::program::{At, Code, DeclLabel, Declaration, ExprId, Label};

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
        let rank = |(placed, at)| Ranked {
            placed,
            at: valid(at),
            explicit: false,
            through: SmallVec::new(),
        };
        let mut ranked: Vec<Ranked> = literals.positions().enumerate().map(rank).collect();
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
        let mut visit = |ranked: &mut [Ranked], by: &Contribution| {
            let literal = by.placed as usize;
            if let Some(ranked) = ranked.get_mut(literal) {
                ranked.at = valid(by.at);
                ranked.through.extend(by.outer.filter(|it| ranked.through.last() != Some(it)));
            }
            if let (Some(_), Some(ranked)) = (here, ranked.get_mut(literal)) {
                ranked.at = here;
                return;
            }
            let Some(outer) = by.outer.filter(|it| reach != Reach::Without(*it)) else { return };
            let own = owners.of(outer);
            if !own.contains(&literal) {
                own.push(literal);
            }
            for each in own.iter() {
                if let Some(ranked) = ranked.get_mut(*each) {
                    ranked.at = valid(self.program.at(outer));
                }
            }
        };
        if self.program.lenient {
            let arcs = vertex.arcs.iter().enumerate();
            let all: Vec<Contribution> = arcs.flat_map(|it| literals.contributions(it)).collect();
            let visited = self.visited(id, literals, &all);
            visited.iter().for_each(|at| visit(&mut ranked, &all[*at]));
            let outer = visited.into_iter().filter_map(|at| all[at].outer);
            self.mark_embedded(vertex, &mut ranked, &outer.collect::<Vec<_>>());
            return ranked;
        }
        let patterns = self.patterns_of(vertex);
        for (node, arc) in vertex.arcs.iter().enumerate() {
            let contributions = || literals.contributions((node, arc));
            if patterns.is_empty() {
                contributions().for_each(|by| visit(&mut ranked, &by));
                continue;
            }
            // A pattern applies to a field once that is there and the literal of the pattern, too: behind so many
            // contributions.
            let conjuncts = &self.heap.get(arc.vertex).conjuncts;
            let all: SmallVec<[Contribution; 4]> = contributions().collect();
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
                    visit(&mut ranked, by);
                }
                if let Some(by) = all.get(turn) {
                    visit(&mut ranked, by);
                }
            }
        }
        // Computed labels and what is embedded take their turns as they are written (O-5), while here the labels
        // are known last: an embedded value that comes behind them decides.
        for (placed, ranked) in vertex.placed.iter().zip(&mut ranked) {
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
        // A `let` contributes as a field does, which is before what references bring that are embedded.
        for (placed, ranked) in vertex.placed.iter().zip(&mut ranked) {
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
        ranked
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
