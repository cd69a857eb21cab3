//! Escapes in strings and the form of numbers.

/// Decodes the escape after a backslash at the start of `rest`: bytes taken, bytes meant.
pub(crate) fn escape(
    rest: &str,
    bytes: bool,
    multiline: bool,
) -> Result<(usize, Vec<u8>), String> {
    let Some(c) = rest.chars().next() else { return Err("string literal not terminated".into()) };
    let one = |byte: u8| Ok((1, vec![byte]));
    match c {
        'a' => one(7),
        'b' => one(8),
        'f' => one(12),
        'n' => one(b'\n'),
        'r' => one(b'\r'),
        't' => one(b'\t'),
        'v' => one(11),
        '/' => one(b'/'),
        '\\' => one(b'\\'),
        '"' if !bytes || multiline => one(b'"'),
        '\'' if bytes || multiline => one(b'\''),
        '\n' if multiline => Ok((1, Vec::new())),
        'u' => unicode(rest, 4),
        'U' => unicode(rest, 8),
        'x' if bytes => number(rest, 1, 2, 16),
        '0'..='7' if bytes => number(rest, 0, 3, 8),
        _ => Err(format!("unknown escape sequence")),
    }
}

fn unicode(rest: &str, digits: usize) -> Result<(usize, Vec<u8>), String> {
    let hex = rest.get(1..=digits).filter(|it| it.bytes().all(|b| b.is_ascii_hexdigit()));
    let Some(hex) = hex else {
        return Err("illegal character in escape sequence".into());
    };
    let code = u32::from_str_radix(hex, 16).unwrap_or(u32::MAX);
    // A surrogate pair written as two escapes is one character.
    if (0xD800..0xDC00).contains(&code) && digits == 4 {
        let low = rest.get(5..11).and_then(|it| it.strip_prefix("\\u"));
        let low = low.and_then(|it| u32::from_str_radix(it, 16).ok());
        if let Some(low) = low.filter(|it| (0xDC00..0xE000).contains(it)) {
            let code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
            let text = char::from_u32(code).map(String::from).unwrap_or_default();
            return Ok((11, text.into_bytes()));
        }
    }
    match char::from_u32(code) {
        Some(c) => Ok((1 + digits, c.to_string().into_bytes())),
        None => Err("escape sequence is invalid Unicode code point".into()),
    }
}

fn number(
    rest: &str,
    skip: usize,
    digits: usize,
    radix: u32,
) -> Result<(usize, Vec<u8>), String> {
    let text = rest.get(skip..skip + digits).unwrap_or_default();
    match u32::from_str_radix(text, radix) {
        Ok(value) if value < 256 && text.len() == digits => Ok((skip + digits, vec![value as u8])),
        _ => Err("illegal character in escape sequence".into()),
    }
}

/// Whether a number is written as the spec allows.
pub(crate) fn check_number(text: &str) -> Result<(), String> {
    let bad = |why: &str| Err(format!("illegal number {text}: {why}"));
    if text.contains("__") || text.ends_with('_') || text.contains("_.") || text.contains("._") {
        return bad("misplaced '_'");
    }
    if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        return if digits.is_empty() { bad("no digits") } else { Ok(()) };
    }
    if let Some(digits) = text.strip_prefix("0o") {
        let fine = !digits.is_empty() && digits.bytes().all(|it| matches!(it, b'0'..=b'7' | b'_'));
        return if fine { Ok(()) } else { bad("octal digits are 0 to 7") };
    }
    if let Some(digits) = text.strip_prefix("0b") {
        let fine = !digits.is_empty() && digits.bytes().all(|it| matches!(it, b'0' | b'1' | b'_'));
        return if fine { Ok(()) } else { bad("binary digits are 0 and 1") };
    }
    let bytes = text.as_bytes();
    if bytes.len() > 1 && bytes[0] == b'0' && bytes[1].is_ascii_digit() {
        let fraction = text.contains(['.', 'e', 'E']);
        if !fraction {
            return bad("leading zero");
        }
    }
    Ok(())
}
