//! What a plain scalar of YAML means, which decides both reading and quoting.

use crate::number::{LiteralError, Number};

/// Meaning of a plain scalar.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Meaning {
    Null,
    Bool(bool),
    /// An integer within 64 bits.
    Int(i128),
    /// A decimal within the range of doubles.
    Float,
    /// `.inf`, `.nan`: the text of the number in CUE, behind a minus if it has one.
    Special(&'static str),
    Timestamp,
    String,
}

/// Resolves plain text as go-yaml does.
pub(super) fn meaning(text: &str) -> Meaning {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Meaning::Null,
        "true" | "True" | "TRUE" => return Meaning::Bool(true),
        "false" | "False" | "FALSE" => return Meaning::Bool(false),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => return Meaning::Special("+Inf"),
        "-.inf" | "-.Inf" | "-.INF" => return Meaning::Special("Inf"),
        ".nan" | ".NaN" | ".NAN" => return Meaning::Special("NaN"),
        _ => {}
    }
    match text.as_bytes().first() {
        Some(b'0'..=b'9' | b'+' | b'-') => {}
        Some(b'.') => {
            return if is_float(text) { Meaning::Float } else { Meaning::String };
        }
        _ => return Meaning::String,
    }
    if is_timestamp(text) {
        return Meaning::Timestamp;
    }
    let plain = text.replace('_', "");
    if let Some(value) = integer(&plain) {
        return Meaning::Int(value);
    }
    if is_float(&plain) { Meaning::Float } else { Meaning::String }
}

/// An integer in Go's base 0, or with `0b`/`0o` behind a minus, within int64 or uint64.
fn integer(text: &str) -> Option<i128> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let prefix = digits.get(..2).unwrap_or("");
    let (radix, digits) = match prefix {
        "0x" | "0X" => (16, &digits[2..]),
        "0o" | "0O" => (8, &digits[2..]),
        "0b" | "0B" => (2, &digits[2..]),
        _ if digits.len() > 1 && digits.starts_with('0') => (8, &digits[1..]),
        _ => (10, digits),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| char::from(byte).is_digit(radix)) {
        return None;
    }
    let value = i128::from_str_radix(digits, radix).ok()?;
    let value = if negative { -value } else { value };
    (i128::from(i64::MIN)..=i128::from(u64::MAX)).contains(&value).then_some(value)
}

/// `[-+]?(\.\d+|\d+(\.\d*)?)([eE][-+]?\d+)?`, finite as a double.
fn is_float(text: &str) -> bool {
    let body = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (mantissa, exponent) = match body.find(['e', 'E']) {
        Some(at) => (&body[..at], Some(&body[at + 1..])),
        None => (body, None),
    };
    let all_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let fits = match mantissa.split_once('.') {
        Some(("", fraction)) => !fraction.is_empty() && all_digits(fraction),
        Some((whole, fraction)) => all_digits(whole) && all_digits(fraction),
        None => !mantissa.is_empty() && all_digits(mantissa),
    };
    let exponent_fits = exponent.is_none_or(|digits| {
        let digits = digits.strip_prefix(['-', '+']).unwrap_or(digits);
        !digits.is_empty() && all_digits(digits)
    });
    fits && exponent_fits && text.parse::<f64>().is_ok_and(f64::is_finite)
}

/// Dates and times of YAML 1.1, calendar checked.
fn is_timestamp(text: &str) -> bool {
    let bytes = text.as_bytes();
    if bytes.len() < 8 || !bytes[..4].iter().all(u8::is_ascii_digit) || bytes[4] != b'-' {
        return false;
    }
    let mut at = 5;
    let Some(month) = one_or_two(bytes, &mut at) else { return false };
    if bytes.get(at) != Some(&b'-') {
        return false;
    }
    at += 1;
    let Some(day) = one_or_two(bytes, &mut at) else { return false };
    let year = bytes[..4].iter().fold(0, |sum, byte| sum * 10 + i32::from(byte - b'0'));
    if chrono::NaiveDate::from_ymd_opt(year, month, day).is_none() {
        return false;
    }
    let zoned = match bytes.get(at) {
        None => return true,
        Some(b'T' | b't') => true,
        Some(b' ') => false,
        Some(_) => return false,
    };
    at += 1;
    let limits = [24, 60, 60];
    for (index, limit) in limits.into_iter().enumerate() {
        match one_or_two(bytes, &mut at) {
            Some(value) if value < limit => {}
            _ => return false,
        }
        if index < 2 {
            if bytes.get(at) != Some(&b':') {
                return false;
            }
            at += 1;
        }
    }
    if bytes.get(at) == Some(&b'.') {
        at += 1;
        let start = at;
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        if at == start {
            return false;
        }
    }
    if !zoned {
        return at == bytes.len();
    }
    match &bytes[at..] {
        [b'Z'] => true,
        [b'+' | b'-', h1, h2, b':', m1, m2] => [h1, h2, m1, m2].into_iter().all(u8::is_ascii_digit),
        _ => false,
    }
}

fn one_or_two(bytes: &[u8], at: &mut usize) -> Option<u32> {
    let start = *at;
    let mut value = 0;
    while *at < start + 2
        && let Some(byte) = bytes.get(*at)
        && byte.is_ascii_digit()
    {
        value = value * 10 + u32::from(byte - b'0');
        *at += 1;
    }
    (*at > start).then_some(value)
}

/// The number a plain scalar of the given meaning stands for, as CUE reads its text.
pub(super) fn number(text: &str) -> Result<Number, String> {
    let (sign, body) = match text.as_bytes().first() {
        Some(b'-') => ("-", &text[1..]),
        Some(b'+') => ("", &text[1..]),
        _ => ("", text),
    };
    let octal = body.len() > 1
        && body.starts_with('0')
        && body.as_bytes()[1].is_ascii_digit()
        && body.len() == text.len();
    let spelled = if octal { format!("0o{}", &body[1..]) } else { format!("{sign}{body}") };
    Number::parse_signed(&spelled).map_err(|error| match error {
        LiteralError::Integer(_) => LiteralError::Integer(text.to_owned()).to_string(),
        other => other.to_string(),
    })
}

/// Words of YAML 1.1 that other readers take for something else than a string.
pub(super) fn is_legacy(text: &str) -> bool {
    const WORDS: &[&str] = &[
        "y", "Y", "yes", "Yes", "YES", "n", "N", "no", "No", "NO", "t", "T", "f", "F", "true",
        "True", "TRUE", "false", "False", "FALSE", "on", "On", "ON", "off", "Off", "OFF", ".Nan",
    ];
    if WORDS.contains(&text) {
        return true;
    }
    if let Some(digits) = text.strip_prefix("0x") {
        return !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    }
    let bytes = text.as_bytes();
    like_date(bytes)
        || matches!(bytes.last(), Some(b'z' | b'Z')) && like_date(&bytes[..bytes.len() - 1])
}

/// `^[\-+0-9:\. \t]+([-:]|[tT])[\-+0-9:\. \t]+$`
fn like_date(bytes: &[u8]) -> bool {
    let ordinary =
        |byte: &u8| matches!(byte, b'-' | b'+' | b'0'..=b'9' | b':' | b'.' | b' ' | b'\t');
    let Some(inner) = bytes.len().checked_sub(1).and_then(|last| bytes.get(1..last)) else {
        return false;
    };
    let letters: Vec<usize> =
        (0..bytes.len()).filter(|at| !ordinary(&bytes[*at])).take(2).collect();
    match letters.as_slice() {
        [] => inner.iter().any(|byte| matches!(byte, b'-' | b':')),
        [at] => *at > 0 && *at + 1 < bytes.len() && matches!(bytes[*at], b't' | b'T'),
        _ => false,
    }
}
