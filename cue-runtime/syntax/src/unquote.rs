//! String and bytes literals to their values (rule 5.1).

/// How a string was opened.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// `"` or `'`.
    pub quote: u8,
    /// Three quotes.
    pub triple: bool,
    /// Hashes before and behind.
    pub hashes: usize,
}

impl Form {
    /// Of a literal or of the first piece of an interpolation, and where its content starts.
    pub fn of(text: &str) -> Option<(Form, usize)> {
        let hashes = text.bytes().take_while(|it| *it == b'#').count();
        let rest = text.get(hashes..)?;
        let quote = rest.bytes().next().filter(|it| matches!(it, b'"' | b'\''))?;
        let quotes = rest.bytes().take_while(|it| *it == quote).count();
        let after = rest.get(3..).unwrap_or("");
        let triple = quotes >= 3 && (after.starts_with('\n') || after.starts_with("\r\n"));
        let start = hashes + if triple { 3 + after.find('\n').unwrap_or(0) + 1 } else { 1 };
        Some((Form { quote, triple, hashes }, start))
    }

    /// Bytes of the closing quotes and hashes.
    pub fn closing(&self) -> usize {
        self.hashes + if self.triple { 3 } else { 1 }
    }
}

/// The value of a string literal.
///
/// # Errors
/// As CUE's decoder says it.
pub fn text(literal: &str) -> Result<String, String> {
    String::from_utf8(bytes(literal)?).map_err(|_| "invalid string: invalid UTF-8 encoding".into())
}

/// The value of a string or bytes literal.
///
/// # Errors
/// As CUE's decoder says it.
pub fn bytes(literal: &str) -> Result<Vec<u8>, String> {
    let (form, start) = Form::of(literal).ok_or("invalid syntax")?;
    let end = literal.len().checked_sub(form.closing()).ok_or("invalid syntax")?;
    let tail = literal.get(end..).ok_or("invalid syntax")?;
    if tail.bytes().filter(|it| *it == form.quote).count() != form.closing() - form.hashes {
        return Err("invalid string: unmatched quote".into());
    }
    if end < start {
        // `""` is empty; of `"""` and a newline the content is cut away with the closing line.
        return if form.triple { Ok(Vec::new()) } else { Err("invalid syntax".into()) };
    }
    let content = literal.get(start..end).ok_or("invalid syntax")?;
    let indent = indentation(content, form);
    piece(content, form, &indent, Place { first: true, last: true })
}

/// White space before the closing quotes of multi-line `content`.
pub fn indentation(content: &str, form: Form) -> String {
    if !form.triple {
        return String::new();
    }
    let line = content.rfind('\n').map_or(0, |it| it + 1);
    content[line..].chars().filter(|it| *it != '\r').collect()
}

/// Which piece of an interpolation.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Its content starts a line.
    pub first: bool,
    /// The closing quotes follow.
    pub last: bool,
}

/// The value of one piece of content.
///
/// # Errors
/// As CUE's decoder says it.
pub fn piece(content: &str, form: Form, indent: &str, place: Place) -> Result<Vec<u8>, String> {
    let mut content = content;
    let joined;
    if form.triple {
        if place.last {
            match content.rfind('\n') {
                Some(at) => content = &content[..at],
                None if place.first => return Ok(Vec::new()),
                None => content = "",
            }
        }
        let mut lines = String::with_capacity(content.len());
        for (index, line) in content.split('\n').enumerate() {
            if index > 0 {
                lines.push('\n');
            }
            if index == 0 && !place.first {
                lines.push_str(line);
            } else {
                lines.push_str(line.strip_prefix(indent).unwrap_or(match line.trim() {
                    "" => "",
                    _ => line,
                }));
            }
        }
        joined = lines.replace('\r', "");
        content = &joined;
    }
    unescape(content, form)
}

fn unescape(content: &str, form: Form) -> Result<Vec<u8>, String> {
    let introducer = format!("\\{}", "#".repeat(form.hashes));
    let mut out = Vec::with_capacity(content.len());
    let mut rest = content;
    while let Some(at) = rest.find(&introducer) {
        out.extend_from_slice(&rest.as_bytes()[..at]);
        rest = &rest[at + introducer.len()..];
        let Some(c) = rest.chars().next() else { return Err("invalid syntax".into()) };
        let simple = match c {
            'a' => Some(7),
            'b' => Some(8),
            'f' => Some(12),
            'n' => Some(b'\n'),
            'r' => Some(b'\r'),
            't' => Some(b'\t'),
            'v' => Some(11),
            '\\' | '/' => Some(c as u8),
            c if c as u32 == u32::from(form.quote) => Some(form.quote),
            _ => None,
        };
        if let Some(byte) = simple {
            out.push(byte);
            rest = &rest[1..];
            continue;
        }
        match c {
            '\n' if form.triple => rest = &rest[1..],
            'u' | 'U' => {
                let digits = if c == 'u' { 4 } else { 8 };
                let (mut code, after) = digits_of(&rest[1..], digits, 16)?;
                rest = after;
                if (0xD800..0xDC00).contains(&code) {
                    let low = rest.strip_prefix(&introducer).and_then(|it| {
                        let digits = if it.starts_with('u') { 4 } else { 8 };
                        let it = it.strip_prefix(['u', 'U'])?;
                        digits_of(it, digits, 16).ok()
                    });
                    match low {
                        Some((low, after)) if (0xDC00..0xE000).contains(&low) => {
                            code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
                            rest = after;
                        }
                        _ => return Err("invalid string: unmatched surrogate pair".into()),
                    }
                }
                let c = char::from_u32(code).ok_or("invalid string: unmatched surrogate pair")?;
                out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            }
            'x' if form.quote == b'\'' => {
                let (code, after) = digits_of(&rest[1..], 2, 16)?;
                out.push(code as u8);
                rest = after;
            }
            '0'..='7' if form.quote == b'\'' => {
                let (code, after) = digits_of(rest, 3, 8)?;
                out.push(u8::try_from(code).map_err(|_| "invalid syntax")?);
                rest = after;
            }
            _ => return Err("invalid syntax".into()),
        }
    }
    out.extend_from_slice(rest.as_bytes());
    Ok(out)
}

fn digits_of(text: &str, count: usize, base: u32) -> Result<(u32, &str), String> {
    let digits = text.get(..count).ok_or("invalid syntax")?;
    let code = u32::from_str_radix(digits, base).map_err(|_| "invalid syntax")?;
    Ok((code, &text[count..]))
}

/// A string as a literal on one line (rule 5.3).
pub fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{b}' => out.push_str("\\v"),
            c if c.is_control() || (c.is_whitespace() && c != ' ') => {
                let code = c as u32;
                out.push_str(&if code > 0xFFFF {
                    format!("\\U{code:08x}")
                } else {
                    format!("\\u{code:04x}")
                });
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Bytes as a literal on one line (rule 5.3).
pub fn quote_bytes(bytes: &[u8]) -> String {
    let mut out = String::from("'");
    for chunk in bytes.utf8_chunks() {
        let quoted = quote(chunk.valid());
        let inner = quoted.len().checked_sub(1).and_then(|to| quoted.get(1..to));
        let inner = inner.unwrap_or_default().replace("\\\"", "\"").replace('\'', "\\'");
        let mut rest = inner.as_str();
        // Control characters are bytes here.
        while let Some(at) = rest.find("\\u00") {
            let escaped = rest[..at].bytes().rev().take_while(|it| *it == b'\\').count() % 2 == 1;
            let code = rest.get(at + 4..at + 6).unwrap_or_default();
            let control = code.starts_with(['0', '1']) && !escaped;
            out.push_str(&rest[..at]);
            out.push_str(if control { "\\x" } else { "\\u00" });
            rest = &rest[at + 4..];
        }
        out.push_str(rest);
        out.extend(chunk.invalid().iter().map(|it| format!("\\x{it:02x}")));
    }
    out.push('\'');
    out
}
