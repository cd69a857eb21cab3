//! Order of fields that two structs bring: each keeps its own order, and among those that may come next the first by name does.

use std::collections::{BTreeSet, HashMap};

use crate::tree::Field;

/// `fields` in the order that `left` and `right` ask for; where they contradict each other, `fields` as it is.
pub(crate) fn merged(fields: Vec<Field>, left: &[Field], right: &[Field]) -> Vec<Field> {
    let place: HashMap<&str, usize> =
        fields.iter().enumerate().map(|(at, it)| (it.label.as_str(), at)).collect();
    let mut after: Vec<Vec<usize>> = vec![Vec::new(); fields.len()];
    let mut waits_for = vec![0_usize; fields.len()];
    for side in [left, right] {
        for pair in side.windows(2) {
            let [before, next] = pair else { continue };
            let (Some(before), Some(next)) =
                (place.get(before.label.as_str()), place.get(next.label.as_str()))
            else {
                continue;
            };
            after[*before].push(*next);
            waits_for[*next] += 1;
        }
    }
    let mut ready: BTreeSet<(&str, usize)> = waits_for
        .iter()
        .enumerate()
        .filter(|(_, count)| **count == 0)
        .map(|(at, _)| (fields[at].label.as_str(), at))
        .collect();
    let mut order = Vec::with_capacity(fields.len());
    while let Some((_, at)) = ready.pop_first() {
        order.push(at);
        for next in &after[at] {
            waits_for[*next] -= 1;
            if waits_for[*next] == 0 {
                ready.insert((fields[*next].label.as_str(), *next));
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
        let (left, right) = (fields(left), fields(right));
        let mut all = left.clone();
        all.extend(
            right.iter().filter(|it| !left.iter().any(|own| own.label == it.label)).cloned(),
        );
        let merged = merged(all, &left, &right);
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
