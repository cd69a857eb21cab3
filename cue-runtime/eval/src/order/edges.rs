//! Which field stands before which: what the literals say in the order of their positions, and the sort of
//! that.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use smallvec::smallvec;

use super::Ranked;
use super::literals::Literals;
use crate::attach::NOWHERE;
use crate::components::{Nodes, components, without_rounds};
use crate::evaluator::Evaluator;
use crate::heap::VertexId;
use crate::program::{At, DeclLabel, Declaration, ExprId, Label, LabelKind};

/// Labels that the dynamic fields of each literal gave and that were not placed yet.
type Produced = Vec<Vec<(ExprId, Label)>>;

impl Evaluator {
    /// Steps C to E: batches of literals in order of position, and the edges they give.
    pub(super) fn edges(
        &self,
        id: VertexId,
        literals: &Literals<'_>,
        mut ranked: Vec<Ranked>,
    ) -> Vec<Nodes> {
        let vertex = self.heap.get(id);
        let file = |at: &At| self.in_file(*at).0;
        let literal = |it: &Ranked| vertex.placed.get(it.placed);
        let places: Vec<Option<At>> = ranked.iter().map(|it| it.at).collect();
        let dynamic = |it: &Ranked| literal(it).is_some_and(|it| !it.produced.is_empty());
        cue_sort::by(&mut ranked, |left, right| {
            let key = |it: &Ranked| match &it.at {
                Some(at) => {
                    let (file, place) = self.in_file(*at);
                    (false, file, place, dynamic(it), it.placed)
                }
                None => (true, "", (0, 0), dynamic(it), it.placed),
            };
            key(left).cmp(&key(right))
        });
        // Bodies one execution made are visited round by round.
        let mut visits: Vec<&Ranked> = Vec::new();
        let mut next = 0;
        while next < ranked.len() {
            let fired = |it: &Ranked| literal(it).map(|it| it.firing).filter(|it| *it != 0);
            let firing = fired(&ranked[next]);
            let mut end = next + 1;
            while firing.is_some() && end < ranked.len() && fired(&ranked[end]) == firing {
                end += 1;
            }
            for _ in 0..=literal(&ranked[next]).map_or(0, |it| it.repeats) {
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
                let mut current = frontier.clone();
                for label in self.declared(literals, ranked.placed, &mut produced) {
                    let Some(node) = vertex.arcs.place(label) else {
                        continue;
                    };
                    if owner[node] == Some(ranked.placed) {
                        continue;
                    }
                    if let (Some(other), false, Some(at)) = (owner[node], *explicit, &ranked.at) {
                        if places[other].as_ref().is_some_and(|it| file(it) == file(at)) {
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
            if literals.contributions((node, arc)).next().is_none() {
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
    fn declared(
        &self,
        literals: &Literals<'_>,
        which: usize,
        produced: &mut Produced,
    ) -> Vec<Label> {
        if let Some(labels) = literals.labels(which) {
            return labels.to_vec();
        }
        let placed = &literals.placed[which];
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
    pub(super) fn sorted(&self, id: VertexId, edges: &[Nodes]) -> Vec<usize> {
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
