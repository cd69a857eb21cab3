//! The order of a struct's fields where it is printed (O-1 to O-16): a topological sort of the
//! order inside each literal, by name where nothing decides. `for` iterates insertion order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use cue_map::Map;
use smallvec::{SmallVec, smallvec};

use crate::attach::NOWHERE;
use crate::components::{Nodes, components, without_rounds};
use crate::copied::Reach;
use crate::evaluator::Evaluator;
use crate::heap::{ArcEntry, Conjunct, Contribution, Placed, Source, Vertex, VertexId};
use crate::program::{At, Code, DeclLabel, Declaration, ExprId, Label, LabelKind, Presence};

/// What the default of a field is for the order of its own fields.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Defaults {
    /// A value: in JSON, and where fields are listed.
    Values,
    /// One of the alternatives: in YAML and CUE.
    Alternatives,
}

/// A literal with its position and whether an operand of `&` brought it.
struct Ranked {
    placed: usize,
    at: Option<At>,
    explicit: bool,
}

/// Labels that the dynamic fields of each literal gave and that were not placed yet.
type Produced = Vec<Vec<(ExprId, Label)>>;

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
    /// Members in the order they are printed in.
    pub(crate) fn ordered(&self, id: VertexId) -> Vec<ArcEntry> {
        let arcs = &self.heap.get(id).arcs;
        match self.order_of(id) {
            Some(order) => order.into_iter().map(|at| arcs[at].clone()).collect(),
            None => arcs.to_vec(),
        }
    }

    /// Labels, vertices and presence of members in the order they are printed in.
    pub(crate) fn ordered_members(&self, id: VertexId) -> Vec<(Label, VertexId, Presence)> {
        let arcs = &self.heap.get(id).arcs;
        let member = |it: &ArcEntry| (it.label, it.vertex, it.presence);
        match self.order_of(id) {
            Some(order) => order.into_iter().map(|at| member(&arcs[at])).collect(),
            None => arcs.iter().map(member).collect(),
        }
    }

    /// Places of arcs in the order they are printed in; `None` if they stand in it already.
    fn order_of(&self, id: VertexId) -> Option<Vec<usize>> {
        let order =
            || self.order_as_shared(id).or_else(|| self.order_of_own(id, self.reach_of(id)));
        if self.stands_in_order(id) { None } else { order() }
    }

    /// Whether a vertex is a list, or of one literal.
    fn stands_in_order(&self, id: VertexId) -> bool {
        let vertex = self.heap.get(id);
        let single = vertex.placed.len() <= 1
            && vertex.placed.iter().all(|it| it.produced.is_empty() && !self.may_name(it))
            && vertex.arcs.iter().all(|it| it.is_declared() != vertex.placed.is_empty());
        vertex.is_list || vertex.arcs.len() < 2 || single
    }

    /// The order that what is said of the vertex itself gives.
    pub(crate) fn order_of_own(&self, id: VertexId, reach: Reach) -> Option<Vec<usize>> {
        if self.stands_in_order(id) {
            return None;
        }
        let mut ranked = self.positions(id, reach);
        self.mark_explicit(id, &mut ranked);
        if let Some(order) = self.in_a_row(id, &mut ranked) {
            return Some(order);
        }
        Some(self.sorted(id, &self.edges(id, ranked)))
    }

    /// Whether a comprehension of the literal may have named fields ahead of it (O-4): what it brought
    /// nothing of stands where the literal has it.
    fn may_name(&self, placed: &Placed) -> bool {
        let mut all = self.program.structs[placed.literal as usize].declarations.iter();
        all.any(|it| matches!(it, Declaration::Comprehension(_)))
    }

    /// The order of the common case: literals of one file of which each adds what those before it have
    /// not (all of them declarations), or of which one has all fields and the others have some in the
    /// same order (all of them operands of `&`). The edges below say the same then.
    fn in_a_row(&self, id: VertexId, ranked: &mut [Ranked]) -> Option<Vec<usize>> {
        let vertex = self.heap.get(id);
        let plain = |it: &Placed| {
            let round = it.is_computed() || it.firing != 0 && it.repeats > 0;
            it.produced.is_empty() && !round && it.at.span != NOWHERE
        };
        if !vertex.placed.iter().all(plain) {
            return None;
        }
        let source = ranked.first()?.at?.source;
        let explicit = ranked.iter().all(|it| it.explicit);
        if ranked
            .iter()
            .any(|it| it.explicit != explicit || it.at.is_none_or(|at| at.source != source))
        {
            return None;
        }
        let nodes = |it: &Ranked| {
            let literal = vertex.placed[it.placed].literal;
            let declarations = self.program.structs[literal as usize].declarations.iter();
            declarations.filter_map(|it| match it {
                Declaration::Field { label: DeclLabel::Fixed(label), .. } => {
                    vertex.arcs.place(*label)
                }
                _ => None,
            })
        };
        let mut order: Vec<usize> = Vec::with_capacity(vertex.arcs.len());
        let mut seen: SmallVec<[bool; 32]> = smallvec![false; vertex.arcs.len()];
        let mut add = |order: &mut Vec<usize>, node: usize| {
            if !std::mem::replace(&mut seen[node], true) {
                order.push(node);
            }
        };
        if explicit {
            let longest = ranked.iter().max_by_key(|it| nodes(it).count())?;
            nodes(longest).for_each(|node| add(&mut order, node));
            let mut rank: SmallVec<[usize; 32]> = smallvec![usize::MAX; vertex.arcs.len()];
            order.iter().enumerate().for_each(|(at, node)| rank[*node] = at);
            let follows = |it: &Ranked| nodes(it).is_sorted_by_key(|node| rank[node]);
            if !ranked.iter().all(follows) {
                return None;
            }
        } else {
            let start = |it: &Ranked| it.at.map(|at| at.span.start);
            cue_sort::by_key(ranked, start);
            // Two at one place count as operands.
            if ranked.windows(2).any(|it| it[0].at == it[1].at) {
                return None;
            }
            for it in ranked.iter() {
                nodes(it).for_each(|node| add(&mut order, node));
            }
        }
        let data = vertex.arcs.iter().enumerate().filter(|it| !it.1.is_declared());
        data.for_each(|(node, _)| add(&mut order, node));
        (order.len() == vertex.arcs.len()).then_some(order)
    }

    /// Step A: the last contribution decides where a literal counts; through references the
    /// outermost one.
    fn positions(&self, id: VertexId, reach: Reach) -> Vec<Ranked> {
        let vertex = self.heap.get(id);
        let mut ranked: Vec<Ranked> = Vec::with_capacity(vertex.placed.len());
        ranked.extend(vertex.placed.iter().enumerate().map(|(placed, it)| {
            let at = valid(it.at);
            Ranked { placed, at, explicit: false }
        }));
        let mut owners: Owners = Owners::default();
        for (index, placed) in vertex.placed.iter().enumerate() {
            for declaration in &self.program.structs[placed.literal as usize].declarations {
                if let Declaration::Embed(expr) = declaration {
                    owners.of(*expr).push(index);
                }
            }
        }
        let here =
            vertex.placed.iter().find_map(|it| valid(it.at)).filter(|_| reach == Reach::OnePlace);
        let mut visit = |ranked: &mut [Ranked], by: &Contribution| {
            let literal = by.placed as usize;
            if let Some(ranked) = ranked.get_mut(literal) {
                ranked.at = valid(by.at);
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
            let all: Vec<Contribution> =
                vertex.arcs.iter().flat_map(ArcEntry::contributions).collect();
            self.visited(id, &all).into_iter().for_each(|at| visit(&mut ranked, &all[at]));
            return ranked;
        }
        let patterns = self.patterns_of(vertex);
        for arc in &vertex.arcs {
            if patterns.is_empty() {
                arc.contributions().for_each(|by| visit(&mut ranked, &by));
                continue;
            }
            // A pattern applies to a field once that is there and the literal of the pattern, too: behind so many
            // contributions.
            let conjuncts = &self.heap.get(arc.vertex).conjuncts;
            let all: SmallVec<[Contribution; 4]> = arc.contributions().collect();
            let applied = patterns.iter().filter_map(|(literal, label, value)| {
                let says =
                    |it: &&Conjunct| matches!(it.source(), Source::Expr(expr, _) if expr == *value);
                let said = conjuncts.iter().find(says)?;
                let outer = said.outer.filter(|it| reach != Reach::Without(*it));
                let known = all.iter().take_while(|it| it.placed as usize <= *literal).count();
                let at = valid(self.program.at(outer.unwrap_or(*label)));
                Some((known.max(1).min(all.len()), *literal, at))
            });
            let applied: SmallVec<[(usize, usize, Option<At>); 2]> = applied.collect();
            for turn in 0..=all.len() {
                for (_, literal, at) in applied.iter().filter(|it| it.0 == turn) {
                    ranked[*literal].at = *at;
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
                vertex.arcs.iter().any(|it| {
                    it.contributions().any(|by| by.outer == Some(expr))
                        && it.contributions().all(|by| by.outer.is_some())
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
    fn visited(&self, id: VertexId, all: &[Contribution]) -> Vec<usize> {
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
            let first = entry.contributions().map(|it| place(&it)).min();
            keys.extend(entry.contributions().map(|it| (first, arc, place(&it))));
        }
        cue_sort::order(all.len(), &mut |one, other| keys[one].cmp(&keys[other]))
    }

    /// Step B: literals that are operands of `&`, or come through a reference that is one.
    fn mark_explicit(&self, id: VertexId, ranked: &mut [Ranked]) {
        let vertex = self.heap.get(id);
        let mut expressions: SmallVec<[ExprId; 8]> = SmallVec::new();
        for placed in &vertex.placed {
            for declaration in &self.program.structs[placed.literal as usize].declarations {
                if let Declaration::Embed(expr) = declaration {
                    expressions.push(*expr);
                }
            }
        }
        // What a choice was made of counts as several declarations, unless it has come down to one
        // alternative or its default is looked at as a value of its own: that stands for the choice.
        let field = self.field_of(id);
        let defaults = field.and_then(|it| self.heap.get(it).choice.as_deref());
        let default = defaults.is_some_and(|it| matches!(*it.defaults, [it] if it == id));
        let taken = default && self.defaults == Defaults::Values;
        let picked = |expr: ExprId| {
            let pick = vertex.picks.iter().find(|it| it.0 == expr)?;
            self.program.alternative(*pick)
        };
        let says = |it: ExprId| !matches!(self.program.code(it), Code::Top);
        let chosen = field != Some(id)
            && !taken
            && vertex.picks.iter().any(|it| picked(it.0).is_some_and(says));
        let embedded = expressions.len();
        for conjunct in vertex.conjuncts.iter().filter(|_| !chosen) {
            if let Source::Expr(expr, _) = conjunct.source() {
                expressions.push(expr);
            }
        }
        // Few, as a rule: sorted they are found as fast as in a set.
        let mut operands: SmallVec<[ExprId; 8]> = SmallVec::new();
        while let Some(expr) = expressions.pop() {
            let of_field = expressions.len() >= embedded;
            if let Code::Unify(left, right) = self.program.code(expr) {
                for side in [*left, *right] {
                    operands.push(side);
                    expressions.push(side);
                }
            } else if let Code::Aliased(inner) = self.program.code(expr) {
                expressions.push(*inner);
            } else if let Some(it) = picked(expr).filter(|_| taken && of_field) {
                // It is an operand where the choice is one.
                if operands.contains(&expr) {
                    operands.push(it);
                }
                expressions.push(it);
            }
        }
        if operands.is_empty() {
            return;
        }
        cue_sort::ascending(&mut operands);
        let mut literals: SmallVec<[u32; 8]> = SmallVec::new();
        for operand in &operands {
            if let Code::Struct(literal) = self.program.code(*operand) {
                literals.push(*literal);
            }
        }
        cue_sort::ascending(&mut literals);
        let mut through: SmallVec<[bool; 16]> = smallvec![false; vertex.placed.len()];
        for by in vertex.arcs.iter().flat_map(ArcEntry::contributions) {
            if by.outer.is_some_and(|it| operands.binary_search(&it).is_ok()) {
                through[by.placed as usize] = true;
            }
        }
        for each in ranked {
            let literal = vertex.placed[each.placed].literal;
            each.explicit |= through[each.placed] || literals.binary_search(&literal).is_ok();
        }
    }

    /// What the field of a vertex has come to: the vertex, or the choice that it is an alternative of.
    fn field_of(&self, id: VertexId) -> Option<VertexId> {
        let vertex = self.heap.get(id);
        Some(self.follow(self.heap.arc(vertex.parent?, vertex.label?)?.vertex))
    }

    /// Steps C to E: batches of literals in order of position, and the edges they give.
    fn edges(&self, id: VertexId, mut ranked: Vec<Ranked>) -> Vec<Nodes> {
        let vertex = self.heap.get(id);
        // Data that came of one file is named by it, and told apart behind a NUL.
        let file = |at: &At| {
            let source = self.program.sources.get(at.source as usize);
            source.and_then(|it| it.name.split('\0').next()).unwrap_or_default()
        };
        let dynamic = |it: &Ranked| !vertex.placed[it.placed].produced.is_empty();
        cue_sort::by(&mut ranked, |left, right| {
            let key = |it: &Ranked| match &it.at {
                Some(at) => (false, file(at), (at.source, at.span.start), dynamic(it), it.placed),
                None => (true, "", (0, 0), dynamic(it), it.placed),
            };
            key(left).cmp(&key(right))
        });
        // Bodies one execution made are visited round by round.
        let mut visits: Vec<&Ranked> = Vec::new();
        let mut next = 0;
        while next < ranked.len() {
            let placed = &vertex.placed[ranked[next].placed];
            let mut end = next + 1;
            while placed.firing != 0
                && end < ranked.len()
                && vertex.placed[ranked[end].placed].firing == placed.firing
            {
                end += 1;
            }
            for _ in 0..=placed.repeats {
                visits.extend(&ranked[next..end]);
            }
            next = end;
        }
        let mut batches: Vec<(bool, Vec<&Ranked>)> = Vec::new();
        let mut at = 0;
        while at < visits.len() {
            let mut end = at + 1;
            while end < visits.len() && visits[end].at == visits[at].at && !dynamic(visits[end]) {
                end += 1;
            }
            let explicit = end - at > 1 || visits[at].explicit;
            let same_file =
                |last: &Ranked| last.at.as_ref().map(file) == visits[at].at.as_ref().map(file);
            match batches.last_mut() {
                Some((true, last)) if explicit && last.last().is_some_and(|it| same_file(it)) => {
                    last.extend(&visits[at..end]);
                }
                _ => batches.push((explicit, visits[at..end].to_vec())),
            }
            at = end;
        }
        let mut edges: Vec<Nodes> = vec![Nodes::new(); vertex.arcs.len()];
        let mut owner: Vec<Option<usize>> = vec![None; vertex.arcs.len()];
        let mut produced = self.produced(id);
        let mut frontier = Nodes::new();
        let mut previous: Option<&str> = None;
        for (explicit, batch) in &batches {
            let own = batch.first().and_then(|it| it.at.as_ref()).map(file);
            if previous != own {
                frontier.clear();
                previous = own;
            }
            let mut next = Nodes::new();
            for ranked in batch {
                let placed = &vertex.placed[ranked.placed];
                let mut current = frontier.clone();
                for label in self.declared(placed, ranked.placed, &mut produced) {
                    let Some(node) = vertex.arcs.place(label) else {
                        continue;
                    };
                    if owner[node] == Some(ranked.placed) {
                        continue;
                    }
                    if let (Some(other), false, Some(at)) = (owner[node], *explicit, &ranked.at) {
                        let there = vertex.placed[other].at;
                        if file(&there) == file(at) {
                            continue;
                        }
                    }
                    owner[node] = Some(ranked.placed);
                    for before in &current {
                        if *before != node && !edges[*before].contains(&node) {
                            edges[*before].push(node);
                        }
                    }
                    current = smallvec![node];
                }
                next.extend(current);
            }
            next.dedup();
            frontier = next;
        }
        // Data without source stands last, in its own order.
        let mut current = frontier;
        for (node, arc) in vertex.arcs.iter().enumerate() {
            if !arc.is_declared() {
                for before in &current {
                    if *before != node {
                        edges[*before].push(node);
                    }
                }
                current = smallvec![node];
            }
        }
        edges
    }

    /// What the dynamic fields of each literal gave, in the order in which these fields came to be: one
    /// that is declared otherwise too is there before (O-4).
    fn produced(&self, id: VertexId) -> Produced {
        let vertex = self.heap.get(id);
        let mut found = Produced::with_capacity(vertex.placed.len());
        for placed in &vertex.placed {
            let all = &placed.produced;
            let places: Vec<_> = all.iter().map(|it| vertex.arcs.place(it.1)).collect();
            let order =
                cue_sort::order(all.len(), &mut |one, other| places[one].cmp(&places[other]));
            // The next one last.
            found.push(order.into_iter().rev().map(|at| all[at]).collect());
        }
        found
    }

    /// Labels a visit of a literal places; a dynamic field gives its next one.
    fn declared(&self, placed: &Placed, which: usize, produced: &mut Produced) -> Vec<Label> {
        let mut labels = Vec::new();
        for declaration in &self.program.structs[placed.literal as usize].declarations {
            match declaration {
                Declaration::Field { label: DeclLabel::Fixed(label), .. } => labels.push(*label),
                Declaration::Field { label: DeclLabel::Computed(expr), .. } => {
                    let left = &mut produced[which];
                    if let Some(next) = left.iter().rposition(|it| it.0 == *expr) {
                        labels.push(left.remove(next).1);
                    }
                }
                Declaration::Pattern { .. }
                | Declaration::Embed(_)
                | Declaration::Comprehension(_)
                | Declaration::Open => {}
            }
        }
        // The path of a fill declares one field; the others only give names.
        if placed.at.span == NOWHERE {
            labels.truncate(1);
        }
        labels
    }

    /// Step F: components in topological order, the smallest name first.
    fn sorted(&self, id: VertexId, edges: &[Nodes]) -> Vec<usize> {
        let arcs = &self.heap.get(id).arcs;
        let names: Vec<(u64, Arc<str>)> = arcs
            .iter()
            .map(|arc| {
                let name = self.labels.name(arc.label);
                let index = match self.labels.kind(arc.label) {
                    LabelKind::Index => name.parse::<u64>().unwrap_or(u64::MAX),
                    _ => u64::MAX,
                };
                (index, name)
            })
            .collect();
        if let Some(order) = without_rounds(edges, &names) {
            return order;
        }
        let by_name = cue_sort::order(names.len(), &mut |one, other| names[one].cmp(&names[other]));
        // Equal names have one rank.
        let mut rank = vec![0_usize; names.len()];
        for at in 1..by_name.len() {
            let (before, this) = (by_name[at - 1], by_name[at]);
            rank[this] = rank[before] + usize::from(names[before] != names[this]);
        }
        let component = components(edges);
        let count = component.iter().max().map_or(0, |it| it + 1);
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); count];
        for node in by_name {
            members[component[node]].push(node);
        }
        let mut waits = vec![0usize; count];
        let mut follow: Vec<Vec<usize>> = vec![Vec::new(); count];
        for (from, all) in edges.iter().enumerate() {
            for to in all {
                let (from, to) = (component[from], component[*to]);
                if from != to {
                    follow[from].push(to);
                    waits[to] += 1;
                }
            }
        }
        let key = |which: usize| Reverse((rank[members[which][0]], which));
        let mut ready: BinaryHeap<_> = (0..count).filter(|it| waits[*it] == 0).map(key).collect();
        let mut out = Vec::with_capacity(arcs.len());
        while let Some(Reverse((_, which))) = ready.pop() {
            out.extend(&members[which]);
            for next in &follow[which] {
                waits[*next] -= 1;
                if waits[*next] == 0 {
                    ready.push(key(*next));
                }
            }
        }
        out
    }
}

/// Whether later rounds of a loop have given labels that the first one has not.
fn names_more(produced: &[(ExprId, Label)]) -> bool {
    let first = |it: &(ExprId, Label)| produced.iter().find(|first| first.0 == it.0);
    produced.iter().any(|it| first(it).is_some_and(|first| first.1 != it.1))
}

/// The position, unless it is that of a declaration without source (a fill's path).
fn valid(at: At) -> Option<At> {
    (at.span != NOWHERE).then_some(at)
}
