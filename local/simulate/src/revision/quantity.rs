//! A quantity as Go prints its struct: a number of 64 bits with a decimal exponent, or one of any size when the text is
//! too long for that.

use std::fmt::Write;

use serde_json::Value;

/// What a quantity is at most when its suffix is binary.
const MOST: u64 = i64::MAX as u64;
/// Decimal places of numbers of any size.
const PLACES: u32 = 9;
/// Digits that surely fit.
const DIGITS: i64 = 18;

/// A quantity's parts; the text is its canonical one.
struct Parts<'a> {
    negative: bool,
    /// The digits before the point without zeros before them, and those after it.
    whole: &'a str,
    rest: &'a str,
    format: &'static str,
    /// Of ten, or of two.
    exponent: i64,
}

fn split(text: &str) -> Option<Parts<'_>> {
    let (negative, text) = match text.strip_prefix('-') {
        Some(text) => (true, text),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let end = text.find(|it: char| !it.is_ascii_digit() && it != '.').unwrap_or(text.len());
    let (number, suffix) = text.split_at(end);
    let (whole, rest) = number.split_once('.').unwrap_or((number, ""));
    let (format, exponent) = match suffix {
        "n" => ("DecimalSI", -9),
        "u" => ("DecimalSI", -6),
        "m" => ("DecimalSI", -3),
        "" => ("DecimalSI", 0),
        "k" => ("DecimalSI", 3),
        "M" => ("DecimalSI", 6),
        "G" => ("DecimalSI", 9),
        "T" => ("DecimalSI", 12),
        "P" => ("DecimalSI", 15),
        "E" => ("DecimalSI", 18),
        "Ki" => ("BinarySI", 10),
        "Mi" => ("BinarySI", 20),
        "Gi" => ("BinarySI", 30),
        "Ti" => ("BinarySI", 40),
        "Pi" => ("BinarySI", 50),
        "Ei" => ("BinarySI", 60),
        _ => ("DecimalExponent", suffix.strip_prefix(['e', 'E'])?.parse().ok()?),
    };
    let whole = whole.trim_start_matches('0');
    Some(Parts { negative, whole, rest, format, exponent })
}

pub(super) fn print(out: &mut String, value: &Value) {
    let owned;
    let text = match value {
        Value::String(text) => text.as_str(),
        // One that is not there is sent all the same.
        Value::Null => "0",
        other => {
            owned = other.to_string();
            &owned
        }
    };
    let (value, scale, kept, big, format) = parts(text);
    let _infallible = write!(
        out,
        "{{i:(resource.int64Amount){{value:(int64){value} scale:(resource.Scale){scale}}} d:(resource.infDecAmount){{Dec:(*inf.Dec){big}}} s:(string){kept} Format:(resource.Format){format}}}",
    );
}

// The number, its scale, the text if it is kept, the number of any size, the format.
fn parts(text: &str) -> (i64, i64, &str, String, &'static str) {
    let nil = || "<nil>".to_owned();
    if text == "0" {
        return (0, 0, text, nil(), "DecimalSI");
    }
    let Some(parts) = split(text) else { return (0, 0, "", nil(), "") };
    let whole = if parts.whole.is_empty() { "0" } else { parts.whole };
    let lengths = |it: &str| i64::try_from(it.len()).unwrap_or(i64::MAX);
    let binary = parts.format == "BinarySI";
    let fits = if binary {
        parts.rest.is_empty() && 14 - lengths(whole) - parts.exponent * 3 / 10 >= 0
    } else {
        DIGITS - lengths(whole) - lengths(parts.rest) >= 0
    };
    let scale = if binary { 0 } else { parts.exponent } - lengths(parts.rest);
    let shifted = format!("{whole}{}", parts.rest);
    if let (true, true, Ok(digits)) = (fits, scale >= -9, shifted.parse::<i64>()) {
        let number = if binary { digits << parts.exponent.clamp(0, 60) } else { digits };
        let kept = if binary {
            digits & 7 != 0
        } else {
            scale % 3 == 0 && !shifted.ends_with("000") && !shifted.starts_with('0')
        };
        let number = if parts.negative { -number } else { number };
        return (number, scale, if kept { text } else { "" }, nil(), parts.format);
    }
    (0, 0, "", big(&parts, &shifted, scale), parts.format)
}

// Numbers of any size are kept with nine decimal places.
fn big(parts: &Parts<'_>, digits: &str, scale: i64) -> String {
    let binary = parts.format == "BinarySI";
    let mut number = vec![0u64];
    for digit in digits.bytes() {
        grow(&mut number, 10, u64::from(digit.wrapping_sub(b'0')));
    }
    if binary {
        for _ in 0..parts.exponent {
            grow(&mut number, 2, 0);
        }
    }
    // Exponents beyond this have no place in memory.
    let shift = (scale + i64::from(PLACES)).clamp(-1000, 1000);
    for _ in 0..shift {
        grow(&mut number, 10, 0);
    }
    let mut lost = false;
    for _ in shift..0 {
        lost |= shrink(&mut number) != 0;
    }
    if lost {
        grow(&mut number, 1, 1);
    }
    let mut most = vec![MOST];
    for _ in 0..PLACES {
        grow(&mut most, 10, 0);
    }
    let more =
        number.len().cmp(&most.len()).then_with(|| number.iter().rev().cmp(most.iter().rev()));
    let mut places = PLACES;
    if binary && more.is_gt() {
        (number, places) = (vec![MOST], 0);
    }
    let words: Vec<String> = number.iter().map(u64::to_string).collect();
    format!(
        "{{unscaled:(big.Int){{neg:(bool){} abs:(big.nat)[{}]}} scale:(inf.Scale){places}}}",
        parts.negative,
        words.join(" "),
    )
}

// number * by + plus, least word first.
fn grow(number: &mut Vec<u64>, by: u64, plus: u64) {
    let mut carry = u128::from(plus);
    for word in number.iter_mut() {
        carry += u128::from(*word) * u128::from(by);
        *word = u64::try_from(carry & u128::from(u64::MAX)).unwrap_or_default();
        carry >>= 64;
    }
    if carry > 0 {
        number.push(u64::try_from(carry).unwrap_or_default());
    }
}

// number / 10; the digit that is lost.
fn shrink(number: &mut Vec<u64>) -> u128 {
    let mut rest = 0u128;
    for word in number.iter_mut().rev() {
        let now = (rest << 64) | u128::from(*word);
        *word = u64::try_from(now / 10).unwrap_or_default();
        rest = now % 10;
    }
    while number.len() > 1 && number.last() == Some(&0) {
        number.pop();
    }
    rest
}
