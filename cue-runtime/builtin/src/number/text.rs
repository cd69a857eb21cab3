//! How a number is written: the decimal text of JSON and interpolation, and what CUE and YAML add.

use std::fmt;

use super::{Form, Number, NumberKind, Parts, Repr};

impl fmt::Display for Number {
    /// Plain digits if the exponent is small, else `d.dddE+x`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::Small(value) => value.fmt(f),
            Repr::Wide(wide) => match wide.written() {
                Some(it) => {
                    f.write_str(if it.negative { "-" } else { "" })?;
                    write_finite(f, &it.digits, i64::from(it.exponent))
                }
                None => write_decimal(f, wide),
            },
        }
    }
}

impl Number {
    /// What `Display` shows: most numbers are small ones, which have a shorter way.
    pub fn text(&self) -> String {
        match &self.0 {
            Repr::Small(value) => value.to_string(),
            Repr::Wide(_) => self.to_string(),
        }
    }

    /// The text in CUE syntax: a float always has a point or an exponent.
    pub fn cue_text(&self) -> String {
        let text = self.text();
        if self.kind() == NumberKind::Float && !text.contains(['.', 'E']) {
            return text + ".0";
        }
        text.replace('E', "e")
    }

    /// The text in YAML output: a float without point or exponent gets a bare point.
    pub fn yaml_text(&self) -> String {
        let text = self.text();
        match self.kind() {
            NumberKind::Float if !text.contains(['.', 'E']) => text + ".",
            NumberKind::Float => text,
            // One with more digits than are kept is written as Go writes its own.
            NumberKind::Int => text.replace('E', "e"),
        }
    }
}

fn write_decimal(f: &mut fmt::Formatter<'_>, parts: &Parts) -> fmt::Result {
    if parts.negative {
        f.write_str("-")?;
    }
    match parts.form {
        Form::Finite => {}
        Form::Infinite => return f.write_str("Infinity"),
        Form::NaN => return f.write_str("NaN"),
    }
    write_finite(f, &parts.coefficient.to_string(), i64::from(parts.exponent))
}

fn write_finite(f: &mut fmt::Formatter<'_>, digits: &str, exponent: i64) -> fmt::Result {
    let mut count = digits.len() as i64;
    if digits == "0" && (-2000..0).contains(&exponent) {
        count = 1 - exponent;
    }
    let adjusted = exponent + count - 1;
    if exponent <= 0 && adjusted >= -6 {
        if exponent == 0 {
            return f.write_str(digits);
        }
        let decimals = exponent.unsigned_abs() as usize;
        return match digits.len().checked_sub(decimals) {
            Some(whole) if whole > 0 => {
                write!(f, "{}.{}", &digits[..whole], &digits[whole..])
            }
            // A width in a format string may not exceed 16 bits.
            _ => write!(f, "0.{}{digits}", "0".repeat(decimals.saturating_sub(digits.len()))),
        };
    }
    f.write_str(&digits[..1])?;
    if digits.len() > 1 {
        write!(f, ".{}", &digits[1..])?;
    }
    write!(f, "E{adjusted:+}")
}
