//! The errors of a choice of which nothing is left, by its alternatives: the closest first.

use cue_eval::evaluation::split_path;
use cue_session::{Diagnostic, nearest};

use crate::report::{Alternative, Files, Language, Report, language, report};

/// What the error of such a choice ends in.
const EMPTY: &str = " errors in empty disjunction:";

/// Values of a choice that are listed.
const LISTED: usize = 20;

/// The longest text of an alternative.
const LONGEST: usize = 60;

/// As many of the errors told before a choice may tell of its alternatives.
const LOOKED_BACK: usize = 200;

/// Each error with those that tell of its alternatives. They stand behind it; what a guard meets of a choice has a place
/// and is told by that, behind them and others.
pub(crate) fn grouped(wrong: &[Diagnostic]) -> Vec<(&Diagnostic, Vec<&Diagnostic>)> {
    let mut all: Vec<(&Diagnostic, Vec<&Diagnostic>)> = Vec::new();
    let mut rest = wrong;
    while let Some((head, others)) = rest.split_first() {
        let count = alternatives(head);
        let below = |it: &&Diagnostic| labels(&head.path, &it.path).is_some();
        let mut causes: Vec<&Diagnostic> = others.iter().take(count).take_while(below).collect();
        rest = &others[causes.len()..];
        let mut at = all.len();
        if causes.is_empty() && count > 0 {
            let oldest = at.saturating_sub(LOOKED_BACK);
            let of_it = |it: &&(&Diagnostic, Vec<_>)| {
                it.1.is_empty() && alternatives(it.0) == 0 && below(&it.0)
            };
            let found = (oldest..at).rev().filter(|it| of_it(&&all[*it])).take(count);
            for it in found.collect::<Vec<_>>() {
                causes.insert(0, all.remove(it).0);
                at = it;
            }
        }
        all.insert(at, (head, causes));
    }
    all
}

/// How many alternatives an error says that a choice has, of which nothing is left.
fn alternatives(head: &Diagnostic) -> usize {
    head.message.strip_suffix(EMPTY).and_then(|it| it.parse().ok()).unwrap_or_default()
}

/// How many labels lead from a path to another one below it.
fn labels(path: &str, below: &str) -> Option<usize> {
    let rest = below.strip_prefix(path)?;
    let apart = path.is_empty() || rest.is_empty() || rest.starts_with(['.', '[']);
    split_path(rest.trim_start_matches('.')).ok().filter(|_| apart).map(|it| it.len())
}

/// How far what was given is from an alternative, by what is wrong with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Distance {
    /// A field of it is missing, of another type, or one too many.
    Field,
    /// A field has another value: where each alternative has its own, that tells them apart.
    Value,
    /// It is something else as a whole.
    Whole,
}

fn distance(labels: usize, message: &str) -> Distance {
    if labels == 0 {
        return Distance::Whole;
    }
    let two = message.strip_prefix("conflicting values ");
    match two.is_some_and(|it| !it.ends_with(')')) {
        true => Distance::Value,
        false => Distance::Field,
    }
}

/// The alternatives and what is wrong with each.
pub(crate) fn sorted(
    head: &Diagnostic,
    causes: &[&Diagnostic],
    files: &mut Files<'_>,
) -> Vec<Alternative> {
    let mut all: Vec<(Distance, String, Vec<Report>)> = Vec::new();
    for wrong in causes {
        let fields = labels(&head.path, &wrong.path).unwrap_or_default();
        let far = distance(fields, &wrong.message);
        let text = of(wrong, fields, files);
        let told = report(wrong, files);
        match all.iter_mut().find(|it| !text.is_empty() && it.1 == text) {
            Some(known) => {
                known.0 = known.0.max(far);
                known.2.push(told);
            }
            None => all.push((far, text, vec![told])),
        }
    }
    // Of those as far the one with less against it.
    all.sort_by_key(|it| (it.0, it.2.len()));
    all.into_iter().map(|(distance, text, errors)| Alternative { text, errors, distance }).collect()
}

/// Of a choice between values of which none is the one that was given: which ones there are, and which was probably
/// meant.
pub(crate) fn choices(all: &[Alternative]) -> Vec<String> {
    let values = all.iter().all(|it| it.distance == Distance::Whole && !it.text.is_empty());
    if !values || all.len() < 2 {
        return Vec::new();
    }
    let given = all.iter().find_map(|it| {
        let message = &it.errors.first()?.message;
        let values = message.strip_prefix("conflicting values ")?;
        values.strip_prefix(it.text.as_str())?.strip_prefix(" and ")
    });
    let texts = || all.iter().map(|it| it.text.as_str());
    let mut hints = Vec::new();
    let unquoted =
        |it: &str| -> Option<String> { Some(it.strip_prefix('"')?.strip_suffix('"')?.to_owned()) };
    let known: Vec<String> = texts().filter_map(unquoted).collect();
    let given = given.and_then(unquoted).unwrap_or_default();
    if let Some(near) = nearest(&given, known.iter().map(String::as_str)) {
        hints.push(format!("did you mean {near:?}?"));
    }
    let mut listed: Vec<&str> = texts().take(LISTED).collect();
    if all.len() > LISTED {
        listed.push("…");
    }
    hints.push(format!("what it may be: {}", listed.join(", ")));
    hints
}

/// The alternative that an error is of, as it is written.
fn of(wrong: &Diagnostic, fields: usize, files: &mut Files<'_>) -> String {
    for at in wrong.positions.iter().filter(|it| language(&it.file) == Language::Cue) {
        let Some(file) = files.get(&at.file) else { continue };
        let Some(offset) = file.lines.offset(at.line, at.column) else { continue };
        let Some(span) = crate::operand::operand(file.decls(), offset, fields) else { continue };
        let text = file.text.get(span.start as usize..span.end as usize).unwrap_or_default();
        return shortened(text.trim_start_matches('*'));
    }
    String::new()
}

/// On one line, and not too long.
fn shortened(text: &str) -> String {
    let mut short = String::new();
    for word in text.split_whitespace() {
        if !short.is_empty() {
            short.push(' ');
        }
        short.push_str(word);
        if let Some((end, _)) = short.char_indices().nth(LONGEST) {
            short.truncate(end);
            short.push('…');
            break;
        }
    }
    short
}

#[cfg(test)]
mod tests {
    use super::{Distance, distance, labels, shortened};

    #[test]
    fn paths_below_others() {
        assert_eq!(labels("a.b", "a.b.c.0"), Some(2));
        assert_eq!(labels("a.b", "a.bc"), None);
        assert_eq!(labels("", "a.\"x.y\""), Some(2));
        assert_eq!(labels("a", "a"), Some(0));
    }

    #[test]
    fn another_value_is_further_than_another_type() {
        let value = distance(1, "conflicting values \"a\" and \"b\"");
        let kind =
            distance(1, "conflicting values \"a\" and int (mismatched types string and int)");
        assert!(kind < value && value < Distance::Whole);
        assert!(distance(0, "anything") == Distance::Whole);
    }

    #[test]
    fn long_texts_end_in_dots() {
        assert_eq!(shortened("{\n\ta: 1\n}"), "{ a: 1 }");
        assert_eq!(shortened(&"é".repeat(90)).chars().count(), 61);
    }
}
