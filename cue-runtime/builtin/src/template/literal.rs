//! Literals of Go templates: texts in quotes, characters and numbers.

use crate::datum::Datum;
use crate::floats::{Width, format_float, parse_float};
use crate::go_value::{Form, Value};
use crate::number::Number;
use crate::quoting::{Plain, go_quote};

const SYNTAX: &str = "invalid syntax";

/// A text in its quotes.
pub(super) fn text(literal: &str) -> Result<String, String> {
    let inner = literal.get(1..literal.len().saturating_sub(1)).unwrap_or("");
    if literal.starts_with('`') {
        return Ok(inner.replace('\r', ""));
    }
    let mut bytes = Vec::with_capacity(inner.len());
    let mut rest = inner;
    while !rest.is_empty() {
        let (code, after) = character_of(rest, '"').ok_or(SYNTAX)?;
        match code {
            Code::Byte(byte) => bytes.push(byte),
            Code::Char(c) => bytes.extend(c.encode_utf8(&mut [0; 4]).bytes()),
        }
        rest = after;
    }
    let text = String::from_utf8(bytes);
    Ok(text.unwrap_or_else(|it| String::from_utf8_lossy(it.as_bytes()).into_owned()))
}

/// `'a'`, a number.
pub(super) fn character(literal: &str) -> Result<Value, String> {
    let (code, rest) = character_of(&literal[1..], '\'').ok_or(SYNTAX)?;
    if rest != "'" {
        return Err(format!("malformed character constant: {literal}"));
    }
    let code = match code {
        Code::Byte(byte) => i64::from(byte),
        Code::Char(c) => i64::from(u32::from(c)),
    };
    Ok(Value { datum: Datum::int(code), form: Form::Int })
}

/// What an escape stands for.
enum Code {
    Byte(u8),
    Char(char),
}

/// The first character of what stands in quotes, and what follows.
fn character_of(text: &str, quote: char) -> Option<(Code, &str)> {
    let mut rest = text.chars();
    let first = rest.next().filter(|c| *c != quote)?;
    if first != '\\' {
        return Some((Code::Char(first), rest.as_str()));
    }
    let escape = rest.next()?;
    let (digits, base) = match escape {
        'x' => (2, 16),
        'u' => (4, 16),
        'U' => (8, 16),
        '0'..='7' => (3, 8),
        _ => {
            let c = match escape {
                'a' => '\x07',
                'b' => '\x08',
                'f' => '\x0c',
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                'v' => '\x0b',
                '\\' => '\\',
                c if c == quote => c,
                _ => return None,
            };
            return Some((Code::Char(c), rest.as_str()));
        }
    };
    let rest = if base == 8 { &text[1..] } else { rest.as_str() };
    let (number, rest) = rest.split_at_checked(digits)?;
    let number = number.bytes().all(|it| it.is_ascii_hexdigit()).then_some(number)?;
    let number = u32::from_str_radix(number, base).ok()?;
    let code = match digits {
        2 | 3 => Code::Byte(u8::try_from(number).ok()?),
        _ => Code::Char(char::from_u32(number)?),
    };
    Some((code, rest))
}

const UNSCANNED: &str = "syntax error scanning complex number";

/// Where the second part of a complex number begins: at a sign that is not that of an exponent.
pub(crate) fn complex_sign(text: &str) -> usize {
    let marks = if text.contains(['x', 'X']) { ['p', 'P'] } else { ['e', 'E'] };
    let mut signs = text.rmatch_indices(['+', '-']).map(|it| it.0);
    signs.find(|at| *at > 0 && !text[..*at].ends_with(marks)).unwrap_or(0)
}

/// A number: an `int` where it is whole and written so.
pub(super) fn number(literal: &str) -> Result<Value, String> {
    let quoted = || go_quote(literal, '"', Plain::Print);
    let illegal = || format!("illegal number syntax: {}", quoted());
    if let Some(parts) = literal.strip_suffix('i') {
        let (real, imaginary) = parts.split_at(complex_sign(parts));
        let float = |text: &str| {
            parse_float(text, Width::Double).map_err(|reason| match text.get(1..) {
                _ if real.is_empty() => illegal(),
                _ if text.contains(['o', 'O']) => UNSCANNED.to_owned(),
                _ if text.contains(['b', 'B']) && !text.contains(['x', 'X']) => {
                    UNSCANNED.to_owned()
                }
                Some("") if text == imaginary => UNSCANNED.to_owned(),
                _ => format!("strconv.ParseFloat: parsing \"{text}\": {reason}"),
            })
        };
        let parts = [if real.is_empty() { 0.0 } else { float(real)? }, float(imaginary)?];
        let [real, imaginary] = parts.map(|it| {
            let text = format_float(it, b'g', None, Width::Double);
            if text.starts_with(['+', '-']) { text } else { ["+", &text].concat() }
        });
        let real = real.strip_prefix('+').unwrap_or(&real);
        let text = format!("({real}{imaginary}i)");
        return Ok(Value { datum: Datum::text(text), form: Form::Complex });
    }
    if let Some(number) = whole(literal) {
        let datum = Datum::Number(Number::big(&number.into()));
        return Ok(Value { datum, form: Form::Int });
    }
    let value = parse_float(literal, Width::Double).map_err(|_| illegal())?;
    if !literal.contains(['.', 'e', 'E', 'p', 'P']) {
        return Err(format!("integer overflow: {}", quoted()));
    }
    Ok(Value { datum: Datum::float(value), form: Form::Plain })
}

/// A whole number that fits into 64 bits, with a sign or without.
fn whole(literal: &str) -> Option<i128> {
    let size = literal.trim_start_matches(['+', '-']);
    let lower = size.to_ascii_lowercase();
    let (base, digits) = match lower.get(..2) {
        Some("0x") => (16, &lower[2..]),
        Some("0o") => (8, &lower[2..]),
        Some("0b") => (2, &lower[2..]),
        Some(_) if lower.starts_with('0') => (8, &lower[1..]),
        _ => (10, &lower[..]),
    };
    // One may stand after the mark of the base.
    let digits = if base == 10 { digits } else { digits.strip_prefix('_').unwrap_or(digits) };
    if digits.starts_with('_') || digits.ends_with('_') || digits.contains("__") {
        return None;
    }
    let number = i128::from_str_radix(&digits.replace('_', ""), base).ok()?;
    let number = if literal.starts_with('-') { -number } else { number };
    let most = if literal.starts_with('+') { i128::from(i64::MAX) } else { i128::from(u64::MAX) };
    (i128::from(i64::MIN)..=most).contains(&number).then_some(number)
}
