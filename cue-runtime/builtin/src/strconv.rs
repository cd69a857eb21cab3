//! Package `strconv`: numbers and quoted text as Go and CUE write them.

use num_bigint::{BigInt, Sign};
use num_traits::Signed;

use super::arguments as arg;
use super::call::{
    CallContext, CallError, Constant, Kinds, Member, Package, Parameter, constant, function,
};
use super::datum::Datum;
use super::floats::{Width, format_float, parse_float};
use super::quoting::{Plain, go_quote, is_graphic, is_print};
use super::unquote::unquote;
use crate::number::{LiteralError, Number};

type Outcome = Result<Datum, CallError>;

const S: Parameter = Parameter::STRING;
const I: Parameter = Parameter::INT;

/// The package.
pub(super) const PACKAGE: Package = Package { path: "strconv", members: MEMBERS, text: "" };

const MEMBERS: &[Member] = &[
    function("Unquote", &[S], Kinds::STRING, |cx, a| {
        let text = arg::text(a, 0)?;
        cx.spend(text.len())?;
        unquote(text).map(Datum::text).map_err(CallError::permanent)
    }),
    function("ParseBool", &[S], Kinds::BOOL, |_, a| {
        let text = arg::text(a, 0)?;
        match text {
            "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(Datum::Bool(true)),
            "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(Datum::Bool(false)),
            _ => Err(refused("ParseBool", text, "invalid syntax")),
        }
    }),
    function("FormatBool", &[Parameter::BOOL], Kinds::STRING, |_, a| {
        Ok(Datum::text(if arg::boolean(a, 0)? { "true" } else { "false" }))
    }),
    function("ParseFloat", &[S, I], Kinds::NUMBER, |_, a| {
        let text = arg::text(a, 0)?;
        match parse_float(text, width(arg::int(a, 1)?).unwrap_or(Width::Double)) {
            Ok(value) => Ok(Datum::float(value)),
            Err(reason) => Err(refused("ParseFloat", text, reason)),
        }
    }),
    function("ParseNumber", &[S], Kinds::NUMBER, parse_number),
    constant("IntSize", Constant::Int(64)),
    function("ParseUint", &[S, I, I], Kinds::INT, |_, a| {
        parse_int("ParseUint", arg::text(a, 0)?, arg::int(a, 1)?, arg::int(a, 2)?)
    }),
    function("ParseInt", &[S, I, I], Kinds::INT, |_, a| {
        parse_int("ParseInt", arg::text(a, 0)?, arg::int(a, 1)?, arg::int(a, 2)?)
    }),
    function("Atoi", &[S], Kinds::INT, |_, a| parse_int("Atoi", arg::text(a, 0)?, 10, 0)),
    function("FormatFloat", &[Parameter::NUMBER, Parameter::DATA, I, I], Kinds::STRING, float_text),
    function("FormatUint", &[I, I], Kinds::STRING, format_int),
    function("FormatInt", &[I, I], Kinds::STRING, format_int),
    function("Quote", &[S], Kinds::STRING, |cx, a| quote(cx, a, Plain::Print)),
    function("QuoteToASCII", &[S], Kinds::STRING, |cx, a| quote(cx, a, Plain::Ascii)),
    function("QuoteToGraphic", &[S], Kinds::STRING, |cx, a| quote(cx, a, Plain::Graphic)),
    function("QuoteRune", &[I], Kinds::STRING, |_, a| rune(a, Plain::Print)),
    function("QuoteRuneToASCII", &[I], Kinds::STRING, |_, a| rune(a, Plain::Ascii)),
    function("QuoteRuneToGraphic", &[I], Kinds::STRING, |_, a| rune(a, Plain::Graphic)),
    function("IsPrint", &[I], Kinds::BOOL, |_, a| {
        let code = arg::int32(a, 0, "rune")?;
        Ok(Datum::Bool(u32::try_from(code).is_ok_and(is_print)))
    }),
    function("IsGraphic", &[I], Kinds::BOOL, |_, a| {
        let code = arg::int32(a, 0, "rune")?;
        Ok(Datum::Bool(u32::try_from(code).is_ok_and(is_graphic)))
    }),
];

fn refused(function: &str, text: &str, reason: &str) -> CallError {
    let quoted = go_quote(text, '"', Plain::Print);
    CallError::permanent(format!("strconv.{function}: parsing {quoted}: {reason}"))
}

fn width(bits: i64) -> Option<Width> {
    match bits {
        32 => Some(Width::Single),
        64 => Some(Width::Double),
        _ => None,
    }
}

fn parse_number(_: &mut CallContext, args: &[Datum]) -> Outcome {
    let text = arg::text(args, 0)?;
    let body = text.strip_prefix(['-', '+']).unwrap_or(text);
    match Number::parse_literal(body) {
        Ok(number) => {
            let number = if text.starts_with('-') { number.neg() } else { number };
            Ok(Datum::Number(number.settled()))
        }
        Err(error) => {
            let reason = match error {
                LiteralError::Text(_) if !text.is_empty() => {
                    LiteralError::Start(text.to_owned()).to_string()
                }
                LiteralError::Text(_) => "invalid number \"\"".to_owned(),
                other => other.to_string(),
            };
            Err(refused("ParseNumber", text, &reason))
        }
    }
}

fn digit(byte: u8, base: u32) -> Option<u32> {
    let value = match byte {
        b'0'..=b'9' => u32::from(byte - b'0'),
        b'a'..=b'z' => u32::from(byte - b'a') + 10,
        b'A'..=b'Z' if base <= 36 => u32::from(byte - b'A') + 10,
        b'A'..=b'Z' => u32::from(byte - b'A') + 36,
        _ => return None,
    };
    (value < base).then_some(value)
}

fn parse_int(function: &str, text: &str, base: i64, bits: i64) -> Outcome {
    let syntax = || refused(function, text, "invalid syntax");
    let (sign, mut digits) = match text.as_bytes().first() {
        Some(b'-') => (Sign::Minus, &text[1..]),
        Some(b'+') => (Sign::Plus, &text[1..]),
        _ => (Sign::Plus, text),
    };
    let base = match u32::try_from(base) {
        Ok(base @ 2..=62) => base,
        Ok(0) => {
            let prefix = digits.get(..2).unwrap_or("");
            let (base, skip): (u32, usize) = match prefix {
                "0x" | "0X" => (16, 2),
                "0o" | "0O" => (8, 2),
                "0b" | "0B" => (2, 2),
                _ if digits.len() > 1 && digits.starts_with('0') => (8, 1),
                _ => (10, 0),
            };
            let fits = underscores_fit(&digits[skip.saturating_sub(1)..]);
            digits = &digits[skip..];
            if !fits {
                return Err(syntax());
            }
            return number(function, text, sign, &digits.replace('_', ""), base, bits);
        }
        _ => return Err(CallError::permanent(format!("invalid number base {base}"))),
    };
    number(function, text, sign, digits, base, bits)
}

/// `_` only between digits; the last character of a prefix counts as one.
fn underscores_fit(digits: &str) -> bool {
    let bytes = digits.as_bytes();
    bytes.iter().enumerate().all(|(at, byte)| {
        *byte != b'_'
            || (at > 0
                && bytes[at - 1] != b'_'
                && bytes.get(at + 1).is_some_and(|next| *next != b'_'))
    })
}

fn number(function: &str, text: &str, sign: Sign, digits: &str, base: u32, bits: i64) -> Outcome {
    let values: Option<Vec<u8>> =
        digits.bytes().map(|byte| digit(byte, base).map(|value| value as u8)).collect();
    let magnitude = match values {
        Some(values) if !values.is_empty() => {
            num_bigint::BigUint::from_radix_be(&values, base).unwrap_or_default()
        }
        _ => return Err(refused(function, text, "invalid syntax")),
    };
    let value = BigInt::from_biguint(sign, magnitude);
    let range = || refused(function, text, "value out of range");
    let Ok(bits) = u64::try_from(bits) else { return Err(range()) };
    let fits = if function == "ParseUint" {
        !value.is_negative() && (bits == 0 || value.bits() <= bits)
    } else if bits == 0 {
        true
    } else if value.is_negative() {
        // −2^(bits−1) itself fits.
        (value.clone() + 1i32).bits() < bits
    } else {
        value.bits() < bits
    };
    if fits { Ok(Datum::Number(Number::big(&value))) } else { Err(range()) }
}

fn format_int(cx: &mut CallContext, args: &[Datum]) -> Outcome {
    let value = arg::integer(args, 0)?;
    let base = match u32::try_from(arg::int(args, 1)?) {
        Ok(base @ 2..=62) => base,
        _ => return Err(CallError::permanent("invalid base")),
    };
    cx.spend(usize::try_from(value.bits()).unwrap_or(usize::MAX))?;
    let (sign, digits) = value.to_radix_be(base);
    let mut out = String::with_capacity(digits.len() + 1);
    if sign == Sign::Minus {
        out.push('-');
    }
    out.extend(digits.iter().map(|digit| match digit {
        0..=9 => char::from(b'0' + digit),
        10..=35 => char::from(b'a' + digit - 10),
        _ => char::from(b'A' + digit - 36),
    }));
    Ok(Datum::text(out))
}

fn float_text(cx: &mut CallContext, args: &[Datum]) -> Outcome {
    let value = arg::float(args, 0)?;
    let (precision, bits) = (arg::int(args, 2)?, arg::int(args, 3)?);
    let format = match args.get(1) {
        Some(Datum::String(text)) => match text.as_bytes() {
            [one] => *one,
            _ => return Err(CallError::permanent("expected single character string")),
        },
        Some(Datum::Number(number)) if number.is_int() => {
            let code = number.to_i64();
            code.and_then(|code| u8::try_from(code).ok()).ok_or_else(|| {
                CallError::permanent(format!("format value {number} out of range [0, 255]"))
            })?
        }
        Some(other) => {
            return Err(CallError::permanent(format!("unexpected kind {}", other.kind_name())));
        }
        None => b'g',
    };
    let width = width(bits)
        .ok_or_else(|| CallError::permanent("strconv: illegal AppendFloat/FormatFloat bitSize"))?;
    let precision = usize::try_from(precision).ok();
    cx.spend(precision.unwrap_or(0).saturating_add(400))?;
    Ok(Datum::text(format_float(value, format, precision, width)))
}

fn quote(cx: &mut CallContext, args: &[Datum], plain: Plain) -> Outcome {
    let text = go_quote(arg::text(args, 0)?, '"', plain);
    cx.spend(text.len())?;
    Ok(Datum::text(text))
}

fn rune(args: &[Datum], plain: Plain) -> Outcome {
    let code = arg::int32(args, 0, "rune")?;
    let c = u32::try_from(code).ok().and_then(char::from_u32).unwrap_or('\u{fffd}');
    Ok(Datum::text(go_quote(c.encode_utf8(&mut [0; 4]), '\'', plain)))
}
