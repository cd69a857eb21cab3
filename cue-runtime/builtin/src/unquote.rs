//! The text a CUE string or bytes literal stands for.

/// Reads a whole literal; interpolation is not taken.
pub(super) fn unquote(text: &str) -> Result<String, String> {
    let syntax = || "invalid syntax".to_owned();
    let unmatched = || "invalid string: unmatched quote".to_owned();
    let hashes = text.bytes().take_while(|byte| *byte == b'#').count();
    let body = &text[hashes..];
    let quote = match body.chars().next() {
        Some(quote @ ('"' | '\'')) => quote,
        _ => return Err(syntax()),
    };
    let triple: String = std::iter::repeat_n(quote, 3).collect();
    let fence = "#".repeat(hashes);
    let multi_line = body.starts_with(&triple) && {
        let rest = &body[3..];
        hashes == 0 || !rest.starts_with(&fence)
    };
    if !multi_line {
        let close = format!("{quote}{fence}");
        let inner = body[1..].strip_suffix(close.as_str()).ok_or_else(unmatched)?;
        return unescape(inner, quote, &fence, Lines::One);
    }
    let close = format!("{triple}{fence}");
    let inner = body[3..].strip_suffix(close.as_str()).ok_or_else(unmatched)?;
    let inner =
        inner.strip_prefix("\r\n").or_else(|| inner.strip_prefix('\n')).ok_or_else(|| {
            "invalid string: opening quote of multiline string must be followed by newline"
                .to_owned()
        })?;
    // The white space before the closing quotes is taken off each line.
    let (lines, indent) = match inner.rfind('\n') {
        Some(at) => (&inner[..at], &inner[at + 1..]),
        None => ("", inner),
    };
    if !indent.bytes().all(|byte| matches!(byte, b' ' | b'\t')) {
        return Err(syntax());
    }
    if !inner.contains('\n') {
        return Ok(String::new());
    }
    let mut plain = String::with_capacity(lines.len());
    for (at, line) in lines.split('\n').enumerate() {
        if at > 0 {
            plain.push('\n');
        }
        let line = line.strip_suffix('\r').unwrap_or(line);
        if line.is_empty() {
            continue;
        }
        match line.strip_prefix(indent) {
            Some(rest) => plain.push_str(rest),
            None => return Err("invalid string: invalid whitespace".to_owned()),
        }
    }
    unescape(&plain, quote, &fence, Lines::Many)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Lines {
    One,
    Many,
}

fn unescape(text: &str, quote: char, fence: &str, lines: Lines) -> Result<String, String> {
    let syntax = || "invalid syntax".to_owned();
    let marker = format!("\\{fence}");
    let mut out: Vec<u8> = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if !rest.starts_with(marker.as_str()) {
            if lines == Lines::One && (c == '\n' || (c == quote && fence.is_empty())) {
                return Err(if c == quote {
                    "invalid string: unmatched quote".to_owned()
                } else {
                    syntax()
                });
            }
            out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            rest = &rest[c.len_utf8()..];
            continue;
        }
        rest = &rest[marker.len()..];
        let escape = rest.chars().next().ok_or_else(syntax)?;
        rest = &rest[escape.len_utf8()..];
        let byte = match escape {
            'a' => 7,
            'b' => 8,
            'f' => 12,
            'n' => b'\n',
            'r' => b'\r',
            't' => b'\t',
            'v' => 11,
            '/' => b'/',
            '\\' => b'\\',
            '"' | '\'' if escape == quote => quote as u8,
            '\n' if lines == Lines::Many => continue,
            'u' | 'U' => {
                let length = if escape == 'u' { 4 } else { 8 };
                let digits = rest.get(..length).ok_or_else(syntax)?;
                let code = u32::from_str_radix(digits, 16).map_err(|_| syntax())?;
                let c = char::from_u32(code).ok_or_else(syntax)?;
                out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                rest = &rest[length..];
                continue;
            }
            'x' if quote == '\'' => {
                let digits = rest.get(..2).ok_or_else(syntax)?;
                rest = &rest[2..];
                u8::from_str_radix(digits, 16).map_err(|_| syntax())?
            }
            '0'..='7' if quote == '\'' => {
                let digits = rest.get(..2).ok_or_else(syntax)?;
                let code =
                    u32::from_str_radix(&format!("{escape}{digits}"), 8).map_err(|_| syntax())?;
                rest = &rest[2..];
                u8::try_from(code).map_err(|_| syntax())?
            }
            _ => return Err(syntax()),
        };
        out.push(byte);
    }
    Ok(crate::datum::valid_text(&out).into_owned())
}
