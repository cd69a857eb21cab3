//! Sorting where the size of the interpreter counts for more than speed.
//!
//! The standard library compiles its sort anew for every type and comparison, 4 to 11 KB in the
//! sandbox each time. Here places are sorted, by one piece of code that calls the comparison; the
//! items are swapped to where they belong once that is known. What is equal stays in its order.
#![forbid(unsafe_code)]

use std::cmp::Ordering;

/// Sorts by a comparison.
pub fn by<T>(items: &mut [T], mut compare: impl FnMut(&T, &T) -> Ordering) {
    let compare = &mut |left: usize, right: usize| compare(&items[left], &items[right]);
    if stand_in_order(items.len(), compare) {
        return;
    }
    let order = order(items.len(), compare);
    arrange(order, &mut |one, other| items.swap(one, other));
}

/// Whether `count` items need no sorting: then nothing is allocated.
fn stand_in_order(count: usize, compare: &mut dyn FnMut(usize, usize) -> Ordering) -> bool {
    (1..count).all(|at| compare(at - 1, at).is_le())
}

/// What is moved to its place one by one, which takes no memory.
const FEW: usize = 32;

/// How many items are put in order before runs of them are merged.
const RUN: usize = 8;

/// Sorts small values, of which there are mostly few.
pub fn ascending<T: Ord + Copy>(items: &mut [T]) {
    if items.len() > FEW {
        return by(items, |left, right| left.cmp(right));
    }
    insert(items, |before, item| before > item);
}

/// Moves each item to before those that come `after` it.
fn insert<T: Copy>(items: &mut [T], mut after: impl FnMut(T, T) -> bool) {
    for end in 1..items.len() {
        let item = items[end];
        let mut at = end;
        while at > 0 && after(items[at - 1], item) {
            items[at] = items[at - 1];
            at -= 1;
        }
        items[at] = item;
    }
}

/// Sorts by a key, which is asked for once an item.
pub fn by_key<T, K: Ord>(items: &mut [T], key: impl FnMut(&T) -> K) {
    if items.len() < 2 {
        return;
    }
    let keys: Vec<K> = items.iter().map(key).collect();
    let compare = &mut |left: usize, right: usize| keys[left].cmp(&keys[right]);
    if stand_in_order(keys.len(), compare) {
        return;
    }
    let order = order(keys.len(), compare);
    arrange(order, &mut |one, other| items.swap(one, other));
}

/// The places of `count` items, in the order that the comparison of two places gives them.
///
/// Runs of a few are sorted in place, then merged two by two; what is in order already is only looked at.
pub fn order(count: usize, compare: &mut dyn FnMut(usize, usize) -> Ordering) -> Vec<usize> {
    let mut places: Vec<usize> = (0..count).collect();
    for run in places.chunks_mut(RUN) {
        insert(run, |before, item| compare(before, item).is_gt());
    }
    let mut left: Vec<usize> = Vec::new();
    let mut width = RUN;
    while width < count {
        for run in places.chunks_mut(2 * width) {
            if run.len() > width && compare(run[width - 1], run[width]).is_gt() {
                left.clear();
                left.extend_from_slice(&run[..width]);
                merge(&left, run, compare);
            }
        }
        width *= 2;
    }
    places
}

/// Merges `left`, a copy of how `run` begins, with what follows that in `run`, into `run`.
fn merge(left: &[usize], run: &mut [usize], compare: &mut dyn FnMut(usize, usize) -> Ordering) {
    let (mut to, mut right) = (0, left.len());
    for item in left {
        while right < run.len() && compare(*item, run[right]).is_gt() {
            run[to] = run[right];
            (to, right) = (to + 1, right + 1);
        }
        run[to] = *item;
        to += 1;
    }
}

/// Brings what is at `order[n]` to `n`, for all of them, by swaps.
pub fn arrange(order: Vec<usize>, swap: &mut dyn FnMut(usize, usize)) {
    let mut target = vec![0; order.len()];
    for (to, from) in order.into_iter().enumerate() {
        target[from] = to;
    }
    for at in 0..target.len() {
        while target[at] != at {
            let to = target[at];
            swap(at, to);
            target.swap(at, to);
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn sorts_as_the_stable_sort_does() {
        let mut state = 7_u32;
        for count in 0..300 {
            let mut items: Vec<(u32, usize)> = Vec::new();
            for at in 0..count {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                items.push((state >> 28, at));
            }
            let mut want = items.clone();
            want.sort_by_key(|it| it.0);
            let mut by_key = items.clone();
            super::by_key(&mut by_key, |it| it.0);
            assert_eq!(by_key, want);
            super::by(&mut items, |left, right| left.0.cmp(&right.0));
            assert_eq!(items, want);
            want.sort_unstable();
            for each in [&mut items, &mut by_key] {
                each.reverse();
                super::ascending(each);
                assert_eq!(each, &want);
            }
        }
    }
}
