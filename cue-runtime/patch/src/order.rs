//! Order of fields that two structs bring: each keeps its own order, and among those that may come next the first by name does.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::tree::Field;

/// `fields` in the order that both sides ask for. Where they contradict each other the labels between
/// which they do stand together, by name (cue-output.md O-8).
/// One side's are the first `left` of them, in its order; `right` has the places of the other's, in its.
pub(crate) fn merged(fields: Vec<Field>, left: usize, right: &[usize]) -> Vec<Field> {
    if right.is_empty() || left == 0 {
        return fields;
    }
    let group = groups(fields.len(), left, right);
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); fields.len()];
    for (at, which) in group.iter().enumerate() {
        members[*which].push(at);
    }
    for each in &mut members {
        cue_sort::by(each, |one, other| fields[*one].label.cmp(&fields[*other].label));
    }
    let mut waits_for = vec![0_usize; fields.len()];
    let mut after: Vec<[Option<usize>; 2]> = vec![[None; 2]; fields.len()];
    let mut chain = |side: usize, places: &mut dyn Iterator<Item = usize>| {
        let mut before = None;
        for next in places.map(|at| group[at]) {
            if let Some(before) = before.filter(|it| *it != next) {
                // A group is left once only: its members follow each other on either side.
                let slot: &mut [Option<usize>; 2] = &mut after[before];
                slot[side] = Some(next);
                waits_for[next] += 1;
            }
            before = Some(next);
        }
    };
    chain(0, &mut (0..left));
    chain(1, &mut right.iter().copied());
    let name = |which: usize| members[which].first().map(|it| &*fields[*it].label);
    let mut ready: BinaryHeap<Reverse<(Option<&str>, usize)>> = (0..fields.len())
        .filter(|it| waits_for[*it] == 0 && !members[*it].is_empty())
        .map(|it| Reverse((name(it), it)))
        .collect();
    let mut order: Vec<usize> = Vec::with_capacity(fields.len());
    while let Some(Reverse((_, which))) = ready.pop() {
        order.extend(&members[which]);
        for next in after[which].into_iter().flatten() {
            waits_for[next] -= 1;
            if waits_for[next] == 0 {
                ready.push(Reverse((name(next), next)));
            }
        }
    }
    let mut fields: Vec<Option<Field>> = fields.into_iter().map(Some).collect();
    order.into_iter().filter_map(|at| fields[at].take()).collect()
}

/// For each place the smallest place of those it must stand with: the two sides order the labels of
/// a group in a circle.
///
/// Labels that both sides have fall into runs of the left order after which everything on the right
/// comes later too; a run of several is a circle, with whatever either side has in between.
fn groups(count: usize, left: usize, right: &[usize]) -> Vec<usize> {
    let mut group: Vec<usize> = (0..count).collect();
    let mut on_right = vec![None; count];
    for (rank, at) in right.iter().enumerate() {
        on_right[*at] = Some(rank);
    }
    // Places on the left, and ranks on the right, of what both have.
    let common: Vec<(usize, usize)> =
        (0..left).filter_map(|at| on_right[at].map(|rank| (at, rank))).collect();
    let mut least_after = vec![usize::MAX; common.len() + 1];
    for (at, (_, rank)) in common.iter().enumerate().rev() {
        least_after[at] = least_after[at + 1].min(*rank);
    }
    let (mut start, mut greatest) = (0, 0);
    for (at, (last, rank)) in common.iter().enumerate() {
        greatest = greatest.max(*rank);
        if greatest > least_after[at + 1] {
            continue;
        }
        let first = common[start].0;
        if start < at {
            let least = least_after[start];
            group[first..=*last].fill(first);
            for place in &right[least..=greatest] {
                group[*place] = first;
            }
        }
        start = at + 1;
        greatest = 0;
    }
    group
}

#[cfg(test)]
mod tests {
    use super::merged;
    use crate::tree::{Field, Tree};

    fn fields(names: &str) -> Vec<Field> {
        names.split(' ').map(|it| Field::new(it, Tree::Null)).collect()
    }

    #[track_caller]
    fn check(left: &str, right: &str, expected: &str) {
        let mut all = fields(left);
        let left = all.len();
        let mut places = Vec::new();
        for field in fields(right) {
            let there = all.iter().position(|it| it.label == field.label);
            places.push(there.unwrap_or(all.len()));
            if there.is_none() {
                all.push(field);
            }
        }
        let merged = merged(all, left, &places);
        let names: Vec<&str> = merged.iter().map(|it| &*it.label).collect();
        assert_eq!(names.join(" "), expected);
    }

    #[test]
    fn each_side_keeps_its_order_and_names_break_ties() {
        check("z", "a b", "a b z");
        check("n m s", "r t", "n m r s t");
        check("b a", "a b", "a b");
        check("x b m a y", "w a n b z", "w x a b m n y z");
        check("b a d c", "a b c d", "a b c d");
        check("c b a", "a z", "c b a z");
    }
}
