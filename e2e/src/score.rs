//! Scores: assertions passed of those made, and the file that keeps them.

use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Passed and made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Assertions that hold.
    pub passed: u64,
    /// Assertions made.
    pub total: u64,
}

/// Scores by name, and what failed.
#[derive(Clone, Debug, Default)]
pub struct Scores {
    counts: BTreeMap<String, Count>,
    /// Failures, as `name: case: what`.
    pub failures: Vec<String>,
}

impl Scores {
    /// One assertion.
    #[allow(clippy::fn_params_excessive_bools, reason = "the outcome itself")]
    pub fn add(&mut self, name: &str, passed: bool) {
        self.add_many(name, u64::from(passed), 1);
    }

    /// Several assertions.
    pub fn add_many(&mut self, name: &str, passed: u64, total: u64) {
        let count = self.counts.entry(name.to_owned()).or_default();
        count.passed += passed;
        count.total += total;
    }

    /// One assertion that says what it wanted if it fails.
    #[allow(clippy::fn_params_excessive_bools, reason = "the outcome itself")]
    pub fn check(&mut self, name: &str, case: &str, passed: bool, what: impl FnOnce() -> String) {
        self.add(name, passed);
        if !passed {
            self.failures.push(format!("{name}: {case}: {}", what()));
        }
    }

    /// Cases of `cue` and `cuex` that fail and are not named in `open`, without repeats.
    pub fn unnamed(&self, open: &str) -> Vec<&str> {
        let mut all: Vec<&str> = self
            .failures
            .iter()
            .filter(|it| it.starts_with("cue"))
            .filter_map(|it| it.split_once(": "))
            .map(|(_, rest)| rest.split([' ', ':', '#']).next().unwrap_or(rest))
            .map(|it| it.strip_suffix(".txtar").unwrap_or(it))
            .filter(|it| !open.contains(&format!("`{it}`")))
            .collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Takes in the scores of another runner.
    pub fn merge(&mut self, other: Scores) {
        for (name, count) in other.counts {
            self.add_many(&name, count.passed, count.total);
        }
        self.failures.extend(other.failures);
    }

    /// Sets every score that `fresh` has to what it has there.
    pub fn replace(&mut self, fresh: &Scores) {
        self.counts.extend(fresh.counts.iter().map(|(name, count)| (name.clone(), *count)));
    }

    /// Names and counts in order.
    pub fn counts(&self) -> &BTreeMap<String, Count> {
        &self.counts
    }

    /// The file: a line `name passed/total` each.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for (name, count) in &self.counts {
            let _ = writeln!(text, "{name} {}/{}", count.passed, count.total);
        }
        text
    }

    /// Reads such a file; lines that are none are left out.
    pub fn parse(text: &str) -> Self {
        let mut scores = Self::default();
        for line in text.lines() {
            let Some((name, count)) = line.split_once(' ') else { continue };
            let Some((passed, total)) = count.split_once('/') else { continue };
            if let (Ok(passed), Ok(total)) = (passed.trim().parse(), total.trim().parse()) {
                scores.add_many(name, passed, total);
            }
        }
        scores
    }

    /// How a fresh run differs from the committed scores: every difference, except that
    /// timing-dependent scores may only not fall.
    pub fn differences(&self, committed: &Scores) -> Vec<String> {
        let mut lines = Vec::new();
        for (name, fresh) in &self.counts {
            // A score is kept from the day it is committed.
            let Some(old) = committed.counts.get(name).copied() else { continue };
            let timing = ["live.", "deaths.", "faults."].iter().any(|it| name.starts_with(it));
            let floor = timing || name == "cuex.cliffs";
            let same = if floor { fresh.passed >= old.passed } else { *fresh == old };
            if !same {
                lines.push(format!(
                    "{name}: committed {}/{}, now {}/{}",
                    old.passed, old.total, fresh.passed, fresh.total
                ));
            }
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fails_has_to_be_named() {
        let mut scores = Scores::default();
        for (name, case) in
            [("cue.eval.main", "cycle/a.txtar"), ("cue.fmt.main", "b_test.go#3"), ("vela.x", "c")]
        {
            scores.check(name, case, false, || "another".to_owned());
        }
        scores.check("cuex.robust", "d same", false, String::new);
        assert_eq!(scores.unnamed("| `cycle/a` |"), ["b_test.go", "d"]);
        assert!(scores.unnamed("`cycle/a`, `b_test.go`, `d`").is_empty());
    }

    #[test]
    fn a_file_is_read_back() {
        let mut scores = Scores::default();
        scores.add_many("b.c", 3, 4);
        scores.add("a", true);
        assert_eq!(scores.text(), "a 1/1\nb.c 3/4\n");
        assert_eq!(Scores::parse(&scores.text()).text(), scores.text());
    }

    #[test]
    fn rising_is_a_difference_too_except_for_floors() {
        let old = Scores::parse("a 1/2\nlive.status 5/9\n");
        let new = Scores::parse("a 2/2\nlive.status 6/9\n");
        assert_eq!(new.differences(&old), ["a: committed 1/2, now 2/2"]);
        assert_eq!(Scores::parse("live.status 4/9").differences(&old).len(), 1);
    }
}
