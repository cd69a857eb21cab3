//! Which number a text stands for: CUE literals with bases, `_` and multipliers, and JSON numbers.

use std::fmt;

use num_bigint::BigUint;

use super::arithmetic::EXPONENT_LIMIT;
use super::digits;
use super::{Form, Number, NumberKind, Parts, Written, power_of_ten};

/// What is wrong with a number literal; the text is CUE's.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LiteralError {
    /// The text does not begin like a number.
    Start(String),
    /// Something follows the number, or there is nothing.
    Text(String),
    /// A leading zero.
    Integer(String),
    /// `_` not between digits.
    Underscore,
    /// `e` without digits.
    Exponent(String),
    /// `0x`, `0o` or `0b` without digits; the name of the base.
    Base(&'static str, String),
    /// Digits follow that make it no number.
    Number(String),
    /// A multiplier on a fraction.
    NotIntegral,
}

impl fmt::Display for LiteralError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LiteralError::Start(text) => write!(f, "illegal number start {text:?}"),
            LiteralError::Text(text) => write!(f, "invalid number {text:?}"),
            LiteralError::Integer(text) => write!(f, "illegal integer number {text:?}"),
            LiteralError::Underscore => f.write_str("illegal '_' in number"),
            LiteralError::Exponent(text) => write!(f, "illegal exponent {text:?}"),
            LiteralError::Base(base, text) => write!(f, "illegal {base} number {text:?}"),
            LiteralError::Number(text) => write!(f, "illegal number {text:?}"),
            LiteralError::NotIntegral => f.write_str("number cannot be represented as int"),
        }
    }
}

impl std::error::Error for LiteralError {}

const MULTIPLIERS: &[(u8, u32)] = &[(b'K', 1), (b'M', 2), (b'G', 3), (b'T', 4), (b'P', 5)];

impl Number {
    /// Reads a number literal of CUE, without sign.
    pub fn parse_literal(text: &str) -> Result<Number, LiteralError> {
        let bytes = text.as_bytes();
        let all = || text.to_owned();
        let first = *bytes.first().ok_or_else(|| LiteralError::Text(all()))?;
        if !(first.is_ascii_digit() || first == b'.' && bytes.len() > 1) {
            return Err(LiteralError::Start(all()));
        }
        if first == b'0' && bytes.len() > 1 {
            let base = match bytes[1] {
                b'x' | b'X' => Some((16, "hexadecimal")),
                b'o' | b'O' => Some((8, "octal")),
                b'b' | b'B' => Some((2, "binary")),
                _ => None,
            };
            if let Some((radix, name)) = base {
                return based(text, &text[2..], radix, name);
            }
        }
        let mut digits = Vec::with_capacity(bytes.len());
        let mut at = 0;
        let whole = take_digits(bytes, &mut at, &mut digits)?;
        let mut decimals = 0i64;
        let mut kind = NumberKind::Int;
        if bytes.get(at) == Some(&b'.') {
            kind = NumberKind::Float;
            at += 1;
            if whole > 0 && bytes.get(at) == Some(&b'_') {
                return Err(LiteralError::Underscore);
            }
            let fraction = take_digits(bytes, &mut at, &mut digits)?;
            if whole == 0 && fraction == 0 {
                return Err(LiteralError::Start(all()));
            }
            decimals = fraction as i64;
        }
        let mut exponent = 0i64;
        if matches!(bytes.get(at), Some(b'e' | b'E')) {
            kind = NumberKind::Float;
            at += 1;
            let negative = bytes.get(at) == Some(&b'-');
            if matches!(bytes.get(at), Some(b'+' | b'-')) {
                at += 1;
            }
            let mut exponent_digits = Vec::new();
            if take_digits(bytes, &mut at, &mut exponent_digits)? == 0 {
                return Err(LiteralError::Exponent(all()));
            }
            exponent = exponent_digits
                .iter()
                .fold(0i64, |sum, digit| (sum * 10 + i64::from(digit - b'0')).min(1 << 40));
            if negative {
                exponent = -exponent;
            }
        } else if let Some((_, power)) =
            bytes.get(at).and_then(|letter| MULTIPLIERS.iter().find(|it| it.0 == *letter))
        {
            let binary = bytes.get(at + 1) == Some(&b'i');
            if at + 1 + usize::from(binary) != bytes.len() {
                return Err(LiteralError::Number(all()));
            }
            return multiplied(&digits, decimals, *power, if binary { 1024 } else { 1000 });
        }
        if at != bytes.len() {
            return Err(LiteralError::Number(all()));
        }
        if kind == NumberKind::Int && bytes.len() > 1 && first == b'0' {
            return Err(LiteralError::Integer(all()));
        }
        Ok(assemble(kind, &digits, exponent, decimals))
    }

    /// Reads a number as JSON has it, or a CUE literal behind a sign. Zero loses its sign.
    pub fn parse_signed(text: &str) -> Result<Number, LiteralError> {
        match text.as_bytes().first() {
            Some(b'-') => Number::parse_literal(&text[1..]).map(|number| number.neg()),
            Some(b'+') => Number::parse_literal(&text[1..]),
            _ => Number::parse_literal(text),
        }
    }

    /// Reads decimal text as `Display` writes it, with its kind given.
    pub fn parse_decimal(text: &str, kind: NumberKind) -> Option<Number> {
        let (negative, body) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let number = Number::parse_literal(body).ok()?;
        if number.kind() == kind && !number.is_zero() {
            return Some(if negative { number.neg() } else { number });
        }
        let mut parts = number.parts();
        parts.kind = kind;
        parts.negative = negative;
        Some(Number::build(parts))
    }
}

/// Digits with single `_` between them; how many there were.
fn take_digits(bytes: &[u8], at: &mut usize, out: &mut Vec<u8>) -> Result<usize, LiteralError> {
    let before = out.len();
    while let Some(byte) = bytes.get(*at) {
        if byte.is_ascii_digit() {
            out.push(*byte);
        } else if *byte == b'_' {
            let between = out.len() > before
                && bytes[*at - 1] != b'_'
                && bytes.get(*at + 1).is_some_and(u8::is_ascii_digit);
            if !between {
                return Err(LiteralError::Underscore);
            }
        } else {
            break;
        }
        *at += 1;
    }
    Ok(out.len() - before)
}

fn based(text: &str, body: &str, radix: u32, name: &'static str) -> Result<Number, LiteralError> {
    let wrong = || LiteralError::Base(name, text.to_owned());
    let bytes = body.as_bytes();
    let mut digits = Vec::with_capacity(bytes.len());
    for (at, byte) in bytes.iter().enumerate() {
        if *byte == b'_' {
            let next = bytes.get(at + 1).is_some_and(|next| (*next as char).is_digit(radix));
            if !next {
                return Err(LiteralError::Underscore);
            }
            continue;
        }
        if !(*byte as char).is_digit(radix) {
            return Err(if digits.is_empty() {
                wrong()
            } else {
                LiteralError::Number(text.to_owned())
            });
        }
        digits.push(*byte);
    }
    let value = BigUint::parse_bytes(&digits, radix).ok_or_else(wrong)?;
    Ok(Number::build(Parts {
        kind: NumberKind::Int,
        form: Form::Finite,
        negative: false,
        coefficient: value,
        exponent: 0,
    }))
}

fn multiplied(
    digits: &[u8],
    decimals: i64,
    power: u32,
    factor: u32,
) -> Result<Number, LiteralError> {
    let digits = digits::read(digits).unwrap_or_default();
    let product = digits * BigUint::from(factor).pow(power);
    let scale = power_of_ten(u32::try_from(decimals).unwrap_or(u32::MAX).min(1 << 20));
    let whole = &product / &scale;
    if &whole * scale != product {
        return Err(LiteralError::NotIntegral);
    }
    let build = |coefficient| {
        let (kind, form) = (NumberKind::Int, Form::Finite);
        Number::build(Parts { kind, form, negative: false, coefficient, exponent: 0 })
    };
    // A product, of as many digits as any.
    let rounded = build(whole).rounded().map_err(|_| LiteralError::NotIntegral)?.parts();
    let zeros = u32::try_from(rounded.exponent).unwrap_or(0);
    Ok(build(rounded.coefficient * power_of_ten(zeros)))
}

fn assemble(kind: NumberKind, digits: &[u8], exponent: i64, decimals: i64) -> Number {
    if kind == NumberKind::Int
        && digits.len() < 19
        && let Some(small) = std::str::from_utf8(digits).ok().and_then(|text| text.parse().ok())
    {
        return Number::int(small);
    }
    let mut scale = exponent - decimals;
    // What the original does with a literal beyond its limits: the exponent is forgotten.
    if exponent.abs() > EXPONENT_LIMIT {
        scale = -decimals;
    }
    let exponent = i32::try_from(scale).unwrap_or(0);
    if digits.len() > digits::FEW
        && let Ok(text) = std::str::from_utf8(digits)
        && let significant = text.trim_start_matches('0')
        && significant.len() > digits::FEW
    {
        let digits = significant.into();
        return Number::written(Written { kind, negative: false, digits, exponent });
    }
    let coefficient = digits::read(digits).unwrap_or_default();
    Number::build(Parts { kind, form: Form::Finite, negative: false, coefficient, exponent })
}
