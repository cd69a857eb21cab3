//! The known name that is nearest to one nobody knows.

/// Nobody slips in a longer name and is helped by that.
const LONGEST: usize = 200;

/// The name among `known` that was probably meant by `wanted`; the first of several that are as near.
pub fn nearest<'a>(wanted: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let (mut lower, mut other) = (Vec::new(), Vec::new());
    lowered(wanted, &mut lower);
    // Of one or two letters any other word is near.
    let most = match lower.len() {
        0..=2 => 0,
        3..=5 => 1,
        6..=8 => 2,
        _ => 3,
    };
    let mut rows = Rows::default();
    let mut found = None;
    // The greatest distance that is nearer than what was found.
    let mut nearer = Some(most);
    for name in known.filter(|it| *it != wanted && it.len() <= 4 * LONGEST) {
        let Some(most) = nearer else { break };
        lowered(name, &mut other);
        if let Some(distance) = rows.distance(&lower, &other, most) {
            (found, nearer) = (Some(name), distance.checked_sub(1));
        }
    }
    found
}

/// The letters of a word, none of them a capital.
fn lowered(word: &str, out: &mut Vec<char>) {
    out.clear();
    match word.is_ascii() {
        true => out.extend(word.bytes().map(|it| char::from(it.to_ascii_lowercase()))),
        false => out.extend(word.chars().flat_map(char::to_lowercase)),
    }
}

/// What is known of the beginnings of two words: the changes that turn one into the other.
#[derive(Default)]
struct Rows {
    above: Vec<usize>,
    row: Vec<usize>,
    next: Vec<usize>,
}

impl Rows {
    /// Letters that are put in, left out, replaced, or swapped with their neighbours to turn one word into the
    /// other, if these are no more than `most`: beginnings whose lengths differ by more are not looked at.
    fn distance(&mut self, left: &[char], right: &[char], most: usize) -> Option<usize> {
        let far = most + 1;
        if left.len().abs_diff(right.len()) > most || left.len().max(right.len()) > LONGEST {
            return None;
        }
        self.row.clear();
        self.row.extend((0..=right.len()).map(|it| it.min(far)));
        self.above.clone_from(&self.row);
        for (index, c) in left.iter().enumerate() {
            self.next.clear();
            self.next.resize(right.len() + 1, far);
            self.next[0] = (index + 1).min(far);
            let band = index.saturating_sub(most)..right.len().min(index + most + 1);
            for at in band {
                let other = &right[at];
                let change = self.row[at] + usize::from(c != other);
                let mut best = change.min(self.row[at + 1] + 1).min(self.next[at] + 1);
                let swapped =
                    at > 0 && index > 0 && *c == right[at - 1] && *other == left[index - 1];
                if swapped {
                    best = best.min(self.above[at - 1] + 1);
                }
                self.next[at + 1] = best.min(far);
            }
            let over = |row: &[usize]| row.iter().all(|it| *it > most);
            if over(&self.next) && over(&self.row) {
                return None;
            }
            std::mem::swap(&mut self.above, &mut self.row);
            std::mem::swap(&mut self.row, &mut self.next);
        }
        self.row.last().copied().filter(|it| *it <= most)
    }
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
            ("Prot", Some("port")),
            ("webservcie", Some("webservice")),
            ("ebservic", Some("webservice")),
            ("webbservices", Some("webservice")),
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
        assert_eq!(nearest("abservixx", ["webservice"].into_iter()), None);
        let long = "x".repeat(100_000);
        assert_eq!(nearest(&long, [&*format!("{long}y")].into_iter()), None);
    }

    #[test]
    fn the_nearest_is_meant_and_the_first_of_those() {
        let known = ["webservic", "webserviced", "webservice2", "webservices"];
        assert_eq!(nearest("webservices1", known.into_iter()), Some("webservices"));
        assert_eq!(nearest("webservicx", known.into_iter()), Some("webservic"));
        assert_eq!(nearest("Webservices", known.into_iter()), Some("webservices"));
    }
}
