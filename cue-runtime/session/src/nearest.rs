//! The known name that is nearest to one nobody knows.

/// The name among `known` that was probably meant by `wanted`; the first of several that are as near.
pub fn nearest<'a>(wanted: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let lower: Vec<char> = wanted.to_lowercase().chars().collect();
    // Of one or two letters any other word is near.
    let most = match lower.len() {
        0..=2 => 0,
        3..=5 => 1,
        6..=8 => 2,
        _ => 3,
    };
    known
        .filter(|it| *it != wanted && it.len() <= 4 * (wanted.len() + most))
        .map(|it| (distance(&lower, &it.to_lowercase().chars().collect::<Vec<_>>()), it))
        .min_by_key(|it| it.0)
        .filter(|it| it.0 <= most)
        .map(|it| it.1)
}

/// Letters that are put in, left out, replaced, or swapped with their neighbours to turn one word into the other.
fn distance(left: &[char], right: &[char]) -> usize {
    let mut above: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (index, c) in left.iter().enumerate() {
        let mut next = vec![index + 1];
        for (at, other) in right.iter().enumerate() {
            let change = row[at] + usize::from(c != other);
            let mut best = change.min(row[at + 1] + 1).min(next[at] + 1);
            let swapped = at > 0 && index > 0 && *c == right[at - 1] && *other == left[index - 1];
            if swapped {
                best = best.min(above[at - 1] + 1);
            }
            next.push(best);
        }
        above = std::mem::replace(&mut row, next);
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_slip_of_the_fingers_is_understood() {
        let known = ["webservice", "worker", "port", "Host"];
        for (wanted, meant) in [
            ("webservce", Some("webservice")),
            ("prot", Some("port")),
            ("host", Some("Host")),
            ("wroker", Some("worker")),
            ("prt", Some("port")),
        ] {
            assert_eq!(nearest(wanted, known.into_iter()), meant, "{wanted}");
        }
    }

    #[test]
    fn another_word_is_not() {
        assert_eq!(nearest("zzz", ["webservice", "a"].into_iter()), None);
        assert_eq!(nearest("a", ["b", "ab"].into_iter()), None);
        assert_eq!(nearest("port", ["port"].into_iter()), None);
        assert_eq!(nearest("", [""].into_iter()), None);
    }
}
