//! The known name that is nearest to one nobody knows.

/// `; did you mean X?`, or nothing.
pub fn nearest<'a>(wanted: &str, known: impl Iterator<Item = &'a str>) -> String {
    let best = known
        .map(|it| (distance(&wanted.to_lowercase(), &it.to_lowercase()), it))
        .min_by_key(|it| it.0);
    match best {
        Some((distance, name)) if distance <= 1 + wanted.chars().count() / 3 => {
            format!("; did you mean {name}?")
        }
        Some(_) | None => String::new(),
    }
}

/// Changes that turn one word into the other.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (index, c) in left.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = index + 1;
        for (at, other) in right.iter().enumerate() {
            let change = diagonal + usize::from(c != *other);
            diagonal = row[at + 1];
            row[at + 1] = change.min(diagonal + 1).min(row[at] + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn near_names_are_offered() {
        let known = ["webservice", "worker"];
        assert_eq!(nearest("webservce", known.into_iter()), "; did you mean webservice?");
        assert_eq!(nearest("zzz", known.into_iter()), "");
    }
}
