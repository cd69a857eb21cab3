//! Names of the places that a schema refers to: each has the shortest end of its path that no other one has.

use std::collections::BTreeMap;

use super::item::Target;

/// How much of a path a name says.
#[derive(Clone)]
struct Naming {
    /// So many labels from its end.
    labels: usize,
    /// Whether the marks of definitions stay.
    marks: Marks,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Marks {
    Dropped,
    Kept,
}

/// A name for each place. Two may get the same one where they are of different packages; the caller has to look.
pub(super) fn names(targets: &[Target]) -> BTreeMap<Target, String> {
    let mut namings = vec![Naming { labels: 1, marks: Marks::Dropped }; targets.len()];
    loop {
        let named: Vec<String> =
            targets.iter().zip(&namings).map(|(it, by)| name(it, by)).collect();
        let mut alike: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (index, name) in named.iter().enumerate() {
            alike.entry(name).or_default().push(index);
        }
        let mut changed = false;
        for group in alike.values().filter(|it| it.len() > 1) {
            let longer = |it: &&usize| namings[**it].labels < targets[**it].labels.len();
            let growing: Vec<usize> = group.iter().filter(longer).copied().collect();
            changed |= !growing.is_empty();
            growing.iter().for_each(|it| namings[*it].labels += 1);
            if growing.is_empty() {
                for it in group {
                    changed |= namings[*it].marks == Marks::Dropped;
                    namings[*it].marks = Marks::Kept;
                }
            }
        }
        if !changed {
            return targets.iter().cloned().zip(named).collect();
        }
    }
}

fn name(target: &Target, by: &Naming) -> String {
    let labels = &target.labels[target.labels.len().saturating_sub(by.labels)..];
    let unmarked = |label: &String| match label.strip_prefix('_').unwrap_or(label).strip_prefix('#')
    {
        Some(name) if by.marks == Marks::Dropped => name.to_owned(),
        _ => label.clone(),
    };
    labels.iter().map(unmarked).collect::<Vec<_>>().join(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_as_short_as_they_can_be() {
        let target = |path: &str| Target {
            package: String::new(),
            labels: path.split('.').map(str::to_owned).collect(),
        };
        let targets: Vec<Target> =
            ["#A", "A", "#x.#B", "#y.#B", "_#C", "c.d"].map(target).into_iter().collect();
        let names = names(&targets);
        let named: Vec<&str> = targets.iter().map(|it| names[it].as_str()).collect();
        assert_eq!(named, ["#A", "A", "x.B", "y.B", "C", "d"]);
    }
}
