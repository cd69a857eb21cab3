//! Order of fields that two structs bring: each keeps its own order, and among those that may come next the first by name does.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::tree::Field;

/// `fields` in the order that both sides ask for; where they contradict each other, `fields` as it is.
/// One side's are the first `left` of them, in its order; `right` has the places of the other's, in its.
pub(crate) fn merged(fields: Vec<Field>, left: usize, right: &[usize]) -> Vec<Field> {
    if right.is_empty() || left == 0 {
        return fields;
    }
    let mut after_in_right: Vec<Option<usize>> = vec![None; fields.len()];
    let mut waits_for = vec![0_usize; fields.len()];
    for pair in right.windows(2) {
        if let [before, next] = *pair {
            after_in_right[before] = Some(next);
            waits_for[next] += 1;
        }
    }
    for count in waits_for.iter_mut().take(left).skip(1) {
        *count += 1;
    }
    let mut ready: BinaryHeap<Reverse<(&str, usize)>> = BinaryHeap::new();
    for (at, count) in waits_for.iter().enumerate() {
        if *count == 0 {
            ready.push(Reverse((fields[at].label.as_str(), at)));
        }
    }
    let mut order = Vec::with_capacity(fields.len());
    while let Some(Reverse((_, at))) = ready.pop() {
        order.push(at);
        let after_in_left = (at + 1 < left).then_some(at + 1);
        for next in [after_in_left, after_in_right[at]].into_iter().flatten() {
            waits_for[next] -= 1;
            if waits_for[next] == 0 {
                ready.push(Reverse((fields[next].label.as_str(), next)));
            }
        }
    }
    if order.len() < fields.len() {
        return fields;
    }
    let mut fields: Vec<Option<Field>> = fields.into_iter().map(Some).collect();
    order.into_iter().filter_map(|at| fields[at].take()).collect()
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
        let names: Vec<&str> = merged.iter().map(|it| it.label.as_str()).collect();
        assert_eq!(names.join(" "), expected);
    }

    #[test]
    fn each_side_keeps_its_order_and_names_break_ties() {
        check("z", "a b", "a b z");
        check("n m s", "r t", "n m r s t");
        check("b a", "a b", "b a");
    }
}
