//! The order errors are told in (cue-errors 4.2): by place, by path and then by text.

use std::cmp::Ordering;

use crate::evaluation::Diagnostic;
use crate::interpolation::INVALID;
use crate::spots::is_read;

/// Those without a position of their own come first; then by place, then by path.
pub(crate) fn order(one: &Diagnostic, other: &Diagnostic) -> Ordering {
    let paths = || labels(&one.path).cmp(labels(&other.path));
    place(one).cmp(&place(other)).then_with(paths).then_with(|| one.message.cmp(&other.message))
}

/// How much of a message is its own, not that of the error which it wraps: no more is told of the one error
/// that is left of several (cue-errors 4.2).
pub(crate) fn outer(message: &str) -> usize {
    let end = |from: &str, until: &str| {
        let from = message.find(from)?;
        let end = message.get(from..)?.find(until)?;
        Some(from + end + until.len() - ": ".len())
    };
    let wrapped = [INVALID, "error in call to "];
    let found = match wrapped.iter().any(|it| message.starts_with(it)) {
        true => end("", ": "),
        false if message.starts_with("invalid value ") => end(" (does not satisfy ", "): "),
        false => None,
    };
    found.unwrap_or(message.len())
}

/// A message's own words, and those of the error that it wraps.
pub(crate) fn parts(message: &str) -> (&str, Option<&str>) {
    let (own, rest) = message.split_at_checked(outer(message)).unwrap_or((message, ""));
    (own, rest.strip_prefix(": "))
}

/// What functions have read comes after the files.
fn place(it: &Diagnostic) -> Option<(bool, &(String, u32, u32))> {
    it.positions.first().filter(|_| it.placed).map(|it| (is_read(&it.0), it))
}

/// The bytes of a path with nothing sorting before what ends a label, so that labels are compared one by one,
/// as they are written, and the shorter path is the smaller one.
fn labels(path: &str) -> impl Iterator<Item = u8> + '_ {
    let mut quoted = false;
    let mut escaped = false;
    path.bytes().map(move |byte| {
        match byte {
            b'"' if !escaped => quoted = !quoted,
            b'.' | b'[' if !quoted => return 0,
            _ => {}
        }
        escaped = quoted && byte == b'\\' && !escaped;
        byte
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Kind;

    fn told(path: &str, line: Option<u32>) -> Diagnostic {
        let positions = vec![("in.cue".to_owned(), line.unwrap_or(9), 1)];
        let (kind, message) = (Kind::Permanent, String::new());
        Diagnostic { kind, message, path: path.into(), positions, placed: line.is_some() }
    }

    #[test]
    fn by_place_and_then_label_by_label() {
        let all = [
            told("a", None),
            told("a.x", None),
            told("a$.b", None),
            told("a10", None),
            told("a2", None),
            told("z", Some(1)),
            told("b", Some(2)),
        ];
        for pair in all.windows(2) {
            assert_eq!(order(&pair[0], &pair[1]), Ordering::Less, "{pair:?}");
        }
    }
}
