//! Nodes and edges between them: an order that follows the edges, and what leads round.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use smallvec::SmallVec;

/// Nodes, of which there is mostly one.
pub(crate) type Nodes = SmallVec<[usize; 2]>;

/// Nodes in topological order, the smallest name first; none if edges lead round, or names repeat.
pub(crate) fn without_rounds(edges: &[Nodes], names: &[(u64, Arc<str>)]) -> Option<Vec<usize>> {
    let mut waits = vec![0_u32; edges.len()];
    edges.iter().flatten().for_each(|to| waits[*to] += 1);
    let key = |node: usize| Reverse((&names[node], node));
    let mut ready: BinaryHeap<_> = (0..edges.len()).filter(|it| waits[*it] == 0).map(key).collect();
    let mut out: Vec<usize> = Vec::with_capacity(edges.len());
    while let Some(Reverse((name, node))) = ready.pop() {
        if ready.peek().is_some_and(|it| it.0.0 == name) {
            return None;
        }
        out.push(node);
        for next in &edges[node] {
            waits[*next] -= 1;
            if waits[*next] == 0 {
                ready.push(key(*next));
            }
        }
    }
    (out.len() == edges.len()).then_some(out)
}

/// The strongly connected component of each node (Tarjan, with a stack of its own).
pub(crate) fn components(edges: &[Nodes]) -> Vec<usize> {
    const NEW: usize = usize::MAX;
    let count = edges.len();
    let (mut index, mut low) = (vec![NEW; count], vec![0; count]);
    let mut component = vec![NEW; count];
    let (mut open, mut counter, mut found) = (Vec::new(), 0, 0);
    for root in 0..count {
        if index[root] != NEW {
            continue;
        }
        let mut calls = vec![(root, 0usize)];
        while let Some((node, edge)) = calls.pop() {
            if edge == 0 {
                (index[node], low[node]) = (counter, counter);
                counter += 1;
                open.push(node);
            }
            match edges[node].get(edge) {
                Some(next) => {
                    calls.push((node, edge + 1));
                    if index[*next] == NEW {
                        calls.push((*next, 0));
                    } else if component[*next] == NEW {
                        low[node] = low[node].min(index[*next]);
                    }
                }
                None => {
                    if low[node] == index[node] {
                        while let Some(member) = open.pop() {
                            component[member] = found;
                            if member == node {
                                break;
                            }
                        }
                        found += 1;
                    }
                    if let Some((above, _)) = calls.last() {
                        low[*above] = low[*above].min(low[node]);
                    }
                }
            }
        }
    }
    component
}
