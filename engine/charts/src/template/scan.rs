//! What of a template is text, and what is an action.

/// A piece of a template.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    Text(&'a str),
    /// Between the braces, without trim marks, and the line it starts in.
    Action(&'a str, usize),
}

/// Cuts a text into pieces.
///
/// # Errors
/// The line of an action or a comment that has no end.
pub(super) fn pieces(text: &str) -> Result<Vec<Piece<'_>>, (usize, String)> {
    let mut all = Vec::new();
    let mut at = 0;
    let mut trims = false;
    loop {
        let rest = &text[at..];
        let open = rest.find("{{");
        let mut plain = &rest[..open.unwrap_or(rest.len())];
        if trims {
            plain = plain.trim_start_matches(is_space);
        }
        let Some(open) = open else {
            push(&mut all, plain);
            return Ok(all);
        };
        let mut start = at + open + 2;
        let inside = &text[start..];
        if inside.starts_with('-') && inside[1..].starts_with(is_space) {
            plain = plain.trim_end_matches(is_space);
            start += 1;
        }
        push(&mut all, plain);
        let line = text[..start].matches('\n').count() + 1;
        let lead = text[start..].len() - text[start..].trim_start_matches(is_space).len();
        if text[start + lead..].starts_with("/*") {
            let Some(end) = text[start..].find("*/") else {
                return Err((line, "unclosed comment".into()));
            };
            let after = &text[start + end + 2..];
            let lean = after.trim_start_matches(is_space);
            let spaces = after.len() - lean.len();
            trims = spaces > 0 && lean.starts_with("-}}");
            let close = if trims { "-}}" } else { "}}" };
            if !lean.starts_with(close) {
                return Err((line, "comment ends before closing delimiter".into()));
            }
            at = start + end + 2 + spaces + close.len();
            continue;
        }
        let end = end_of(text, start).map_err(|reason| (line, reason))?;
        let mut body = &text[start..end];
        trims = body.strip_suffix('-').is_some_and(|it| it.ends_with(is_space));
        if trims {
            body = &body[..body.len() - 1];
        }
        all.push(Piece::Action(body, line));
        at = end + 2;
    }
}

fn push<'a>(all: &mut Vec<Piece<'a>>, text: &'a str) {
    if !text.is_empty() {
        all.push(Piece::Text(text));
    }
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n')
}

/// Where the action that starts here ends, past quoted text.
fn end_of(text: &str, start: usize) -> Result<usize, String> {
    let bytes = text.as_bytes();
    let mut at = start;
    let mut quote = None;
    while let Some(byte) = bytes.get(at) {
        match quote {
            Some(open) => {
                if *byte == b'\\' && open != b'`' {
                    at += 1;
                } else if *byte == b'\n' && open != b'`' {
                    return Err("unterminated quoted string".into());
                } else if *byte == open {
                    quote = None;
                }
            }
            None => match byte {
                b'"' | b'`' | b'\'' => quote = Some(*byte),
                b'}' if bytes.get(at + 1) == Some(&b'}') => return Ok(at),
                _ => {}
            },
        }
        at += 1;
    }
    Err("unclosed action".into())
}
