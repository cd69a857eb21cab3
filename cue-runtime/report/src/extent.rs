//! How far what begins at a place goes: to the end of the value, of the label, or of the line.

use cue_syntax::scan::{Scanner, T, Token};

/// Values that are marked as a whole; of a longer one only where it begins.
const MOST: usize = 100;

/// The end of the CUE that begins at the byte `start`, on its line.
pub(crate) fn of_cue(text: &str, start: usize) -> usize {
    let rest = line_from(text, start);
    let mut scanner = Scanner::new(rest);
    let mut next = scanner.token();
    let mut end = next.end as usize;
    // `-1`, `>=5`, `!a`: the operand belongs to it.
    while is_prefix(next.kind) && end < rest.len() {
        next = scanner.token();
        end = next.end as usize;
    }
    end = match next.kind {
        T::LBrace | T::LBrack | T::LParen => {
            closed(&mut scanner, next).filter(|it| *it <= MOST).unwrap_or(end)
        }
        T::Interpolation => rest.rfind('"').map_or(end, |it| it + 1),
        T::Ident | T::String => postfix(&mut scanner, rest, end),
        _ => end,
    };
    start + end.clamp(first_char(rest), rest.len().max(1))
}

/// The end of data that begins at the byte `start`, on its line.
pub(crate) fn of_data(text: &str, start: usize) -> usize {
    let rest = line_from(text, start);
    let quote = rest.chars().next().filter(|it| matches!(it, '"' | '\''));
    let end = match quote {
        Some(quote) => rest[1..].find(quote).map_or(rest.len(), |it| it + 2),
        None if rest.starts_with(['{', '[']) => 1,
        None => rest.find([',', ']', '}', '#']).unwrap_or(rest.len()),
    };
    let end = rest[..end].trim_end().len();
    start + end.max(first_char(rest))
}

fn line_from(text: &str, start: usize) -> &str {
    text.get(start..).and_then(|it| it.lines().next()).unwrap_or_default()
}

/// Bytes of the first character: something is marked also where the line ends.
fn first_char(rest: &str) -> usize {
    rest.chars().next().map_or(1, char::len_utf8)
}

fn is_prefix(kind: T) -> bool {
    matches!(
        kind,
        T::Sub
            | T::Add
            | T::Not
            | T::Mul
            | T::Lss
            | T::Gtr
            | T::Leq
            | T::Geq
            | T::Neq
            | T::Eql
            | T::Mat
            | T::NMat
    )
}

/// The end of what `open` opens, if it ends on the line.
fn closed(scanner: &mut Scanner<'_>, open: Token) -> Option<usize> {
    let mut depth = 1;
    let mut end = open.end;
    while depth > 0 {
        let next = scanner.token();
        match next.kind {
            T::LBrace | T::LBrack | T::LParen => depth += 1,
            T::RBrace | T::RBrack | T::RParen => depth -= 1,
            T::Eof => return None,
            _ => {}
        }
        end = next.end;
    }
    Some(end as usize)
}

/// What is selected, indexed or called follows without a blank.
fn postfix(scanner: &mut Scanner<'_>, rest: &str, mut end: usize) -> usize {
    loop {
        let next = scanner.token();
        if next.start as usize != end {
            return end;
        }
        end = match next.kind {
            T::Period => {
                let name = scanner.token();
                if !matches!(name.kind, T::Ident | T::String) || name.start != next.end {
                    return end;
                }
                name.end as usize
            }
            T::LBrack | T::LParen => match closed(scanner, next) {
                Some(closed) => closed.min(rest.len()),
                None => return end,
            },
            _ => return end,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::{of_cue, of_data};

    #[test]
    fn a_value_goes_to_its_end() {
        for (text, marked) in [
            ("a.b.c + 1", "a.b.c"),
            ("strings.Join([\"a\"], \",\")", "strings.Join([\"a\"], \",\")"),
            ("port: 1", "port"),
            ("{a: 1} | {b: 2}", "{a: 1}"),
            ("{\n a: 1\n}", "{"),
            (">=5 & <3", ">=5"),
            ("-1", "-1"),
            ("\"a b\", 2", "\"a b\""),
            ("\"a \\(b) c\"", "\"a \\(b) c\""),
            ("f(\n1)", "f"),
            ("é", "é"),
        ] {
            assert_eq!(&text[..of_cue(text, 0)], marked, "{text}");
        }
        assert_eq!(of_cue("a", 1), 2, "where a text ends something is missing");
    }

    #[test]
    fn data_goes_to_its_end() {
        for (text, marked) in [
            ("80 # port", "80"),
            ("\"a, b\", 1", "\"a, b\""),
            ("plain text\nb: 1", "plain text"),
            ("[1, 2]", "["),
        ] {
            assert_eq!(&text[..of_data(text, 0)], marked, "{text}");
        }
    }
}
