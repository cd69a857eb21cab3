//! Doubles as Go's `strconv` reads and writes them.

/// Bits of a number.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Width {
    /// 32
    Single,
    /// 64
    Double,
}

/// Reads a double, rounded to the width. The error is Go's reason.
pub(super) fn parse_float(text: &str, width: Width) -> Result<f64, &'static str> {
    const SYNTAX: &str = "invalid syntax";
    let lower = text.to_ascii_lowercase();
    let (negative, body) = match lower.as_bytes().first() {
        Some(b'-') => (true, &lower[1..]),
        Some(b'+') => (false, &lower[1..]),
        _ => (false, lower.as_str()),
    };
    let value = match body {
        "inf" | "infinity" => f64::INFINITY,
        "nan" if lower.len() == 3 => f64::NAN,
        _ if body.starts_with("0x") => hexadecimal(&body[2..]).ok_or(SYNTAX)?,
        _ => {
            let bytes = body.as_bytes();
            let known = bytes.iter().all(|byte| {
                byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'+' | b'-' | b'_')
            });
            if !known || !separated(bytes) {
                return Err(SYNTAX);
            }
            let plain = body.replace('_', "");
            let value: f64 = plain.parse().map_err(|_| SYNTAX)?;
            let value = if width == Width::Single {
                f64::from(plain.parse::<f32>().map_err(|_| SYNTAX)?)
            } else {
                value
            };
            if value.is_infinite() {
                return Err("value out of range");
            }
            value
        }
    };
    let value = if width == Width::Single { f64::from(value as f32) } else { value };
    Ok(if negative { -value } else { value })
}

/// `_` only between digits.
fn separated(bytes: &[u8]) -> bool {
    bytes.iter().enumerate().all(|(at, byte)| {
        let digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_hexdigit);
        *byte != b'_' || (digit(bytes.get(at + 1)) && at > 0 && digit(bytes.get(at - 1)))
    })
}

/// Hexadecimal mantissa with a mandatory binary exponent, rounded to nearest even.
fn hexadecimal(body: &str) -> Option<f64> {
    let (mantissa, exponent) = body.split_once('p')?;
    // One may follow the prefix.
    let body = mantissa.strip_prefix('_').unwrap_or(mantissa);
    if !separated(body.as_bytes()) {
        return None;
    }
    let mantissa = mantissa.replace('_', "");
    let mut exponent: i64 = exponent.parse().ok()?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((&mantissa, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let mut bits: u64 = 0;
    let mut sticky = false;
    for c in whole.chars().chain(fraction.chars()) {
        let digit = u64::from(c.to_digit(16)?);
        if bits >> 59 == 0 {
            bits = bits << 4 | digit;
        } else {
            sticky |= digit != 0;
            exponent += 4;
        }
    }
    exponent -= 4 * fraction.len() as i64;
    if sticky {
        bits |= 1;
    }
    let mut value = bits as f64;
    let mut left = exponent.clamp(-5000, 5000);
    while left != 0 && value != 0.0 && value.is_finite() {
        let step = left.clamp(-500, 500);
        value *= 2f64.powi(step as i32);
        left -= step;
    }
    Some(value)
}

/// Places behind the point of which each can be another digit than 0: a double has no more.
const PLACES: usize = 1_100;

/// The places that are computed of so many, and how many zeros follow them.
fn places(precision: usize) -> (usize, usize) {
    (precision.min(PLACES), precision.saturating_sub(PLACES))
}

/// Digits `d.ddd` without the point, and the exponent of the first digit.
fn scientific(value: f64, precision: Option<usize>, width: Width) -> (String, i32) {
    let (precision, zeros) = precision.map(places).unzip();
    let text = match precision {
        Some(precision) => format!("{value:.precision$e}"),
        None if width == Width::Single => format!("{:e}", value as f32),
        None => format!("{value:e}"),
    };
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    (mantissa.replace('.', "") + &"0".repeat(zeros.unwrap_or(0)), exponent.parse().unwrap_or(0))
}

fn exponent_form(digits: &str, exponent: i32, letter: u8) -> String {
    let (first, rest) = digits.split_at(1);
    let point = if rest.is_empty() { "" } else { "." };
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{first}{point}{rest}{}{sign}{:02}", char::from(letter), exponent.abs())
}

/// A double in the fewest digits that read back, as Go's `%g` has it.
pub fn shortest(value: f64) -> String {
    format_float(value, b'g', None, Width::Double)
}

/// Go's `FormatFloat`; no precision means the fewest digits that read back.
pub(super) fn format_float(
    value: f64,
    format: u8,
    precision: Option<usize>,
    width: Width,
) -> String {
    let value = if width == Width::Single { f64::from(value as f32) } else { value };
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    let sign = if value.is_sign_negative() { "-" } else { "" };
    let size = value.abs();
    let body = match format {
        b'e' | b'E' => {
            let (digits, exponent) = scientific(size, precision, width);
            exponent_form(&digits, exponent, format)
        }
        b'f' => match precision {
            Some(precision) => {
                let (precision, zeros) = places(precision);
                format!("{size:.precision$}") + &"0".repeat(zeros)
            }
            None if width == Width::Single => format!("{}", size as f32),
            None => format!("{size}"),
        },
        b'g' | b'G' => general(size, format, precision, width),
        b'x' | b'X' => hex_form(size, format, precision),
        b'b' => binary_form(size, width),
        other => return format!("%{}", char::from(other)),
    };
    format!("{sign}{body}")
}

fn general(size: f64, format: u8, precision: Option<usize>, width: Width) -> String {
    let shortest = precision.is_none();
    let precision = precision.map(|it| it.max(1));
    let (digits, exponent) = scientific(size, precision.map(|it| it - 1), width);
    let digits = match digits.trim_end_matches('0') {
        "" => "0",
        trimmed => trimmed,
    };
    let mut limit = precision.map_or(6, |it| it as i64);
    // As many digits as stand before the point fit anyway.
    if !shortest && limit > digits.len() as i64 && digits.len() as i64 > i64::from(exponent) {
        limit = digits.len() as i64;
    }
    if shortest {
        limit = 6;
    }
    if exponent < -4 || i64::from(exponent) >= limit.max(if shortest { 21.min(limit) } else { 0 }) {
        if shortest
            && (-4..21).contains(&exponent)
            && (digits.len() as i32) > exponent
            && exponent < 6
        {
            return plain_form(digits, exponent);
        }
        let letter = if format == b'g' { b'e' } else { b'E' };
        return exponent_form(digits, exponent, letter);
    }
    plain_form(digits, exponent)
}

fn plain_form(digits: &str, exponent: i32) -> String {
    if exponent < 0 {
        return format!("0.{}{digits}", "0".repeat((-exponent - 1) as usize));
    }
    let whole = exponent as usize + 1;
    if digits.len() <= whole {
        return format!("{digits}{}", "0".repeat(whole - digits.len()));
    }
    format!("{}.{}", &digits[..whole], &digits[whole..])
}

fn parts(size: f64) -> (u64, i32) {
    let bits = size.to_bits();
    let exponent = ((bits >> 52) & 0x7ff) as i32;
    let mantissa = bits & ((1 << 52) - 1);
    if exponent == 0 { (mantissa, -1074) } else { (mantissa | 1 << 52, exponent - 1075) }
}

fn binary_form(size: f64, width: Width) -> String {
    if width == Width::Single {
        let bits = (size as f32).to_bits();
        let exponent = ((bits >> 23) & 0xff) as i32;
        let mantissa = bits & ((1 << 23) - 1);
        let (mantissa, exponent) =
            if exponent == 0 { (mantissa, -149) } else { (mantissa | 1 << 23, exponent - 150) };
        return format!("{mantissa}p{exponent:+}");
    }
    let (mantissa, exponent) = parts(size);
    format!("{mantissa}p{exponent:+}")
}

fn hex_form(size: f64, format: u8, precision: Option<usize>) -> String {
    let (mut mantissa, mut exponent) = parts(size);
    if mantissa != 0 {
        let shift = mantissa.leading_zeros() - 11;
        mantissa <<= shift;
        exponent += 52 - shift as i32;
    } else {
        exponent = 0;
    }
    if let Some(precision) = precision.filter(|it| *it < 13) {
        let drop = 52 - 4 * precision as u32;
        let rest = mantissa & ((1 << drop) - 1);
        mantissa >>= drop;
        let half = 1u64 << (drop - 1);
        if rest > half || (rest == half && mantissa & 1 == 1) {
            mantissa += 1;
        }
        mantissa <<= drop;
        if mantissa >> 53 != 0 {
            mantissa >>= 1;
            exponent += 1;
        }
    }
    let fraction = format!("{:013x}", mantissa & ((1 << 52) - 1));
    let fraction = match precision {
        None => fraction.trim_end_matches('0').to_owned(),
        Some(precision) if precision <= 13 => fraction[..precision].to_owned(),
        Some(precision) => format!("{fraction}{}", "0".repeat(precision - 13)),
    };
    let point = if fraction.is_empty() { "" } else { "." };
    let sign = if exponent < 0 { '-' } else { '+' };
    let text = format!("0x{}{point}{fraction}p{sign}{:02}", mantissa >> 52, exponent.abs());
    if format == b'X' { text.to_uppercase() } else { text }
}
