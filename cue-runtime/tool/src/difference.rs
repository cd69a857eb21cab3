//! Which lines of two texts differ, in hunks: anchored at lines that each text has once, as cue shows it.

use std::collections::BTreeMap;

/// Equal lines around a hunk.
const AROUND: usize = 3;

/// A line of the old text and one of the new text, from 0.
type Pair = (usize, usize);

/// The hunks in which `old` and `new` differ, old lines after `-`, new ones after `+`.
pub(crate) fn hunks(old: &str, new: &str) -> String {
    let (old, new) = (lines(old), lines(new));
    let mut out = String::new();
    let mut hunk = Hunk::default();
    // Lines before this are in a hunk or need none.
    let mut done: Pair = (0, 0);
    for anchor in anchors(&old, &new) {
        if anchor.0 < done.0 {
            continue;
        }
        // As many equal lines around the anchor as there are.
        let (mut start, mut end) = (anchor, anchor);
        while start.0 > done.0 && start.1 > done.1 && old[start.0 - 1] == new[start.1 - 1] {
            start = (start.0 - 1, start.1 - 1);
        }
        while end.0 < old.len() && end.1 < new.len() && old[end.0] == new[end.1] {
            end = (end.0 + 1, end.1 + 1);
        }
        hunk.add('-', &old[done.0..start.0]);
        hunk.add('+', &new[done.1..start.1]);
        let last = end == (old.len(), new.len());
        let equal = end.0 - start.0;
        if !last && (equal < AROUND || !hunk.text.is_empty() && equal < 2 * AROUND) {
            hunk.add(' ', &old[start.0..end.0]);
            done = end;
            continue;
        }
        if !hunk.text.is_empty() {
            hunk.add(' ', &old[start.0..start.0 + equal.min(AROUND)]);
            out.push_str(&hunk.finish());
        }
        if last {
            break;
        }
        hunk = Hunk { start: (end.0 - AROUND, end.1 - AROUND), ..Hunk::default() };
        hunk.add(' ', &old[end.0 - AROUND..end.0]);
        done = end;
    }
    out
}

/// Changes that are shown together.
#[derive(Default)]
struct Hunk {
    start: Pair,
    count: Pair,
    text: String,
}

impl Hunk {
    fn add(&mut self, sign: char, lines: &[String]) {
        for line in lines {
            self.text.push(sign);
            self.text.push_str(line);
        }
        self.count.0 += if sign == '+' { 0 } else { lines.len() };
        self.count.1 += if sign == '-' { 0 } else { lines.len() };
    }

    /// The text below its head, which counts from 1, but from 0 where there are no lines.
    fn finish(&self) -> String {
        let (old, new) = self.count;
        let at = |start: usize, count: usize| if count > 0 { start + 1 } else { start };
        let (from, to) = (at(self.start.0, old), at(self.start.1, new));
        format!("@@ -{from},{old} +{to},{new} @@\n{}", self.text)
    }
}

/// Lines with their ends.
fn lines(text: &str) -> Vec<String> {
    let line = |it: &str| match it.ends_with('\n') {
        true => it.to_owned(),
        false => format!("{it}\n\\ No newline at end of file\n"),
    };
    text.split_inclusive('\n').map(line).collect()
}

/// The longest row of lines that each text has once and both have in that order, between the beginnings
/// and the ends of the texts.
fn anchors(old: &[String], new: &[String]) -> Vec<Pair> {
    // How often each line is there, and where last.
    let mut counts: BTreeMap<&str, (Pair, Pair)> = BTreeMap::new();
    for (at, line) in old.iter().enumerate() {
        let it = counts.entry(line).or_default();
        (it.0.0, it.1.0) = (it.0.0 + 1, at);
    }
    for (at, line) in new.iter().enumerate() {
        let it = counts.entry(line).or_default();
        (it.0.1, it.1.1) = (it.0.1 + 1, at);
    }
    let once = |line: &String| counts.get(line.as_str()).filter(|it| it.0 == (1, 1)).map(|it| it.1);
    let pairs: Vec<Pair> = old.iter().filter_map(once).collect();
    // Of each length the least line of the new text that a row of it ends with, and each pair's length.
    let mut ends: Vec<usize> = Vec::new();
    let lengths: Vec<usize> = pairs
        .iter()
        .map(|pair| {
            let at = ends.partition_point(|end| *end < pair.1);
            match ends.get_mut(at) {
                Some(end) => *end = pair.1,
                None => ends.push(pair.1),
            }
            at + 1
        })
        .collect();
    let mut row = vec![(old.len(), new.len())];
    let mut length = ends.len();
    for (pair, own) in pairs.iter().zip(lengths).rev() {
        if own == length && length > 0 {
            row.push(*pair);
            length -= 1;
        }
    }
    row.push((0, 0));
    row.reverse();
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hunks_are_anchored_at_lines_that_are_there_once() {
        let old = "a\n}\nb\n}\nc\n}\n";
        let new = "a\n}\nx\n}\nb\n}\nc\n}\n";
        let shown = "@@ -1,5 +1,7 @@\n a\n }\n+x\n+}\n b\n }\n c\n";
        assert_eq!(hunks(old, new), shown);
        assert_eq!(hunks("", "a"), "@@ -0,0 +1,1 @@\n+a\n\\ No newline at end of file\n");
    }
}
