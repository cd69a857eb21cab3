//! What a CUE number is: an exact decimal of any length that knows whether it is an int or a float.
//!
//! ~~~text
//! literal text -parse-> Number -arithmetic (34 digits, half up)-> Number -text-> CUE, JSON, YAML
//! ~~~
//! Invariants
//! 1. A value is `± coefficient · 10^exponent`; digits are never lost except by arithmetic.
//! 2. Small integers have one representation, `Repr::Small`. (`Number::build`)
//! 3. Equality is kind and value; comparison is value alone. (tests below)

mod arithmetic; // + - * / and div mod quo rem, rounding
mod elementary; // exp, ln, pow, cbrt to 34 digits
mod digits; // many digits at once
mod literal; // CUE number literals, JSON numbers
mod text; // decimal text and its CUE and YAML variants
mod written; // many digits as they are written

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use num_bigint::{BigInt, BigUint, Sign};
use num_traits::{ToPrimitive, Zero};

pub use self::arithmetic::{ArithmeticError, PRECISION};
pub use self::literal::LiteralError;
use self::written::{Wide, Written};

/// Whether a number was written, or computed, as an integer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum NumberKind {
    /// `int`
    Int,
    /// `float`
    Float,
}

/// A number is finite unless a float function left the range of numbers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Form {
    /// An ordinary number.
    Finite,
    /// `±Infinity`
    Infinite,
    /// `NaN`
    NaN,
}

/// An exact decimal number of CUE.
#[derive(Clone, Debug)]
pub struct Number(Repr);

#[derive(Clone, Debug)]
enum Repr {
    /// An int without exponent; never a negative zero.
    Small(i64),
    Wide(Arc<Wide>),
}

/// The parts of a number: `sign coefficient · 10^exponent`.
#[derive(Clone, Debug)]
pub struct Parts {
    /// Int or float.
    pub kind: NumberKind,
    /// Finite, infinite or not a number; the latter two ignore the digits.
    pub form: Form,
    /// The sign; zero may carry it as well.
    pub negative: bool,
    /// The digits.
    pub coefficient: BigUint,
    /// The power of ten the digits are multiplied by.
    pub exponent: i32,
}

impl Parts {
    /// Number of decimal digits of the coefficient; 1 for zero.
    pub fn digits(&self) -> i64 {
        count_digits(&self.coefficient)
    }

    /// Plus or minus, also for zero.
    pub fn sign(&self) -> Sign {
        if self.negative { Sign::Minus } else { Sign::Plus }
    }

    /// Exponent of the first digit.
    pub fn adjusted(&self) -> i64 {
        i64::from(self.exponent) + self.digits() - 1
    }
}

impl Number {
    /// The int `value`.
    pub const fn int(value: i64) -> Number {
        Number(Repr::Small(value))
    }

    /// The int `value`, of any size.
    pub fn big(value: &BigInt) -> Number {
        match value.to_i64() {
            Some(small) => Number::int(small),
            None => Number::build(Parts {
                kind: NumberKind::Int,
                form: Form::Finite,
                negative: value.sign() == Sign::Minus,
                coefficient: value.magnitude().clone(),
                exponent: 0,
            }),
        }
    }

    /// The number with these many digits.
    fn written(written: Written) -> Number {
        Number(Repr::Wide(Arc::new(Wide::of_text(written))))
    }

    /// The number with these parts.
    pub fn build(parts: Parts) -> Number {
        if parts.kind == NumberKind::Int
            && parts.form == Form::Finite
            && parts.exponent == 0
            && !(parts.negative && parts.coefficient.is_zero())
        {
            let signed = if parts.negative {
                parts.coefficient.to_i128().map(|value| -value)
            } else {
                parts.coefficient.to_i128()
            };
            if let Some(small) = signed.and_then(|value| i64::try_from(value).ok()) {
                return Number(Repr::Small(small));
            }
        }
        Number(Repr::Wide(Arc::new(Wide::Parts(parts))))
    }

    /// The float nearest to `value`, with the fewest digits that read back as `value`.
    pub fn float(value: f64) -> Number {
        let mut parts = Parts {
            kind: NumberKind::Float,
            form: Form::Finite,
            negative: value.is_sign_negative(),
            coefficient: BigUint::zero(),
            exponent: 0,
        };
        if value.is_nan() {
            parts.form = Form::NaN;
            parts.negative = false;
        } else if value.is_infinite() {
            parts.form = Form::Infinite;
        } else {
            let text = format!("{:e}", value.abs());
            let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
            let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
            let digits = format!("{whole}{fraction}");
            parts.coefficient = BigUint::parse_bytes(digits.as_bytes(), 10).unwrap_or_default();
            parts.exponent =
                exponent.parse::<i32>().unwrap_or(0) - i32::try_from(fraction.len()).unwrap_or(0);
        }
        Number::build(parts)
    }

    /// The parts, whatever the representation.
    pub fn parts(&self) -> Parts {
        match &self.0 {
            Repr::Small(value) => Parts {
                kind: NumberKind::Int,
                form: Form::Finite,
                negative: *value < 0,
                coefficient: BigUint::from(value.unsigned_abs()),
                exponent: 0,
            },
            Repr::Wide(parts) => Parts::clone(parts),
        }
    }

    /// Int or float.
    pub fn kind(&self) -> NumberKind {
        match &self.0 {
            Repr::Small(_) => NumberKind::Int,
            Repr::Wide(wide) => wide.written().map_or_else(|| wide.kind, |it| it.kind),
        }
    }

    /// Whether this is an `int` of CUE.
    pub fn is_int(&self) -> bool {
        self.kind() == NumberKind::Int
    }

    /// Whether this is neither infinite nor NaN.
    pub fn is_finite(&self) -> bool {
        match &self.0 {
            Repr::Small(_) => true,
            Repr::Wide(wide) => wide.written().is_some() || wide.form == Form::Finite,
        }
    }

    /// Whether the value is zero, of any sign and scale.
    pub fn is_zero(&self) -> bool {
        match &self.0 {
            Repr::Small(value) => *value == 0,
            Repr::Wide(wide) if wide.written().is_some() => false,
            Repr::Wide(parts) => parts.form == Form::Finite && parts.coefficient.is_zero(),
        }
    }

    /// Whether the sign is set; also true for `-0`.
    pub fn is_negative(&self) -> bool {
        match &self.0 {
            Repr::Small(value) => *value < 0,
            Repr::Wide(wide) => wide.written().map_or_else(|| wide.negative, |it| it.negative),
        }
    }

    /// The same value with another kind; nothing is checked.
    pub fn with_kind(&self, kind: NumberKind) -> Number {
        if self.kind() == kind {
            return self.clone();
        }
        let mut parts = self.parts();
        parts.kind = kind;
        Number::build(parts)
    }

    /// The value as `i64`, if it is integral and fits.
    pub fn to_i64(&self) -> Option<i64> {
        match &self.0 {
            Repr::Small(value) => Some(*value),
            Repr::Wide(_) => self.to_bigint()?.to_i64(),
        }
    }

    /// The value as an integer, if it is integral. The exponent is expanded.
    pub fn to_bigint(&self) -> Option<BigInt> {
        let parts = match &self.0 {
            Repr::Small(value) => return Some(BigInt::from(*value)),
            Repr::Wide(parts) => parts,
        };
        if parts.form != Form::Finite {
            return None;
        }
        let magnitude = if parts.exponent >= 0 {
            &parts.coefficient * power_of_ten(parts.exponent.unsigned_abs())
        } else if parts.coefficient.is_zero() {
            BigUint::zero()
        } else if parts.digits() <= -i64::from(parts.exponent) {
            return None;
        } else {
            let scale = power_of_ten(parts.exponent.unsigned_abs());
            let whole = &parts.coefficient / &scale;
            if &whole * scale != parts.coefficient {
                return None;
            }
            whole
        };
        Some(BigInt::from_biguint(parts.sign(), magnitude))
    }

    /// The nearest `f64`; infinite when too large.
    pub fn to_f64(&self) -> f64 {
        match &self.0 {
            Repr::Small(value) => *value as f64,
            Repr::Wide(parts) => match parts.form {
                Form::NaN => f64::NAN,
                Form::Infinite if parts.negative => f64::NEG_INFINITY,
                Form::Infinite => f64::INFINITY,
                Form::Finite => {
                    let sign = if parts.negative { "-" } else { "" };
                    format!("{sign}{}e{}", parts.coefficient, parts.exponent)
                        .parse()
                        .unwrap_or(f64::NAN)
                }
            },
        }
    }

    /// Order by value, across kinds. NaN equals NaN and is above everything.
    pub fn compare(&self, other: &Number) -> Ordering {
        if let (Repr::Small(a), Repr::Small(b)) = (&self.0, &other.0) {
            return a.cmp(b);
        }
        if let Some(order) = self.compare_written(other) {
            return order;
        }
        compare_parts(&self.parts(), &other.parts())
    }

    /// The order, where signs, places of first digits, or texts decide it.
    fn compare_written(&self, other: &Number) -> Option<Ordering> {
        let (one, two) = (self.outline()?, other.outline()?);
        if one.negative != two.negative {
            return Some(two.negative.cmp(&one.negative));
        }
        let by_magnitude = match one.adjusted.cmp(&two.adjusted) {
            Ordering::Equal => one.written?.compare_digits(two.written?),
            order => order,
        };
        Some(if one.negative { by_magnitude.reverse() } else { by_magnitude })
    }

    /// What is seen of a number without reading its digits: not of what is computed. Zero has no first digit.
    fn outline(&self) -> Option<Outline<'_>> {
        match &self.0 {
            Repr::Small(value) => Some(Outline {
                negative: *value < 0,
                adjusted: value.unsigned_abs().checked_ilog10().map_or(i64::MIN, i64::from),
                written: None,
            }),
            Repr::Wide(wide) => wide.written().map(|it| Outline {
                negative: it.negative,
                adjusted: it.adjusted(),
                written: Some(it),
            }),
        }
    }
}

struct Outline<'a> {
    negative: bool,
    /// Exponent of the first digit.
    adjusted: i64,
    written: Option<&'a Written>,
}

fn compare_parts(a: &Parts, b: &Parts) -> Ordering {
    match (a.form, b.form) {
        (Form::NaN, Form::NaN) => return Ordering::Equal,
        (Form::NaN, _) => return Ordering::Greater,
        (_, Form::NaN) => return Ordering::Less,
        (Form::Finite | Form::Infinite, Form::Finite | Form::Infinite) => {}
    }
    let sign = |it: &Parts| match (it.form, it.negative) {
        (Form::Finite, _) if it.coefficient.is_zero() => 0,
        (_, true) => -1,
        (_, false) => 1,
    };
    let (sign_a, sign_b) = (sign(a), sign(b));
    if sign_a != sign_b {
        return sign_a.cmp(&sign_b);
    }
    let by_magnitude = match (a.form, b.form) {
        (Form::Infinite, Form::Infinite) => Ordering::Equal,
        (Form::Infinite, _) => Ordering::Greater,
        (_, Form::Infinite) => Ordering::Less,
        _ if sign_a == 0 => Ordering::Equal,
        _ => a.adjusted().cmp(&b.adjusted()).then_with(|| {
            // Equal first digit: the scales differ by no more than the digits.
            let low = a.exponent.min(b.exponent);
            let scaled = |it: &Parts| &it.coefficient * power_of_ten(it.exponent.abs_diff(low));
            scaled(a).cmp(&scaled(b))
        }),
    };
    if sign_a < 0 { by_magnitude.reverse() } else { by_magnitude }
}

impl PartialEq for Number {
    fn eq(&self, other: &Number) -> bool {
        self.kind() == other.kind() && self.compare(other) == Ordering::Equal
    }
}

impl Eq for Number {}

impl Hash for Number {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.kind().hash(state);
        match &self.0 {
            Repr::Small(value) => value.hash(state),
            Repr::Wide(parts) => {
                if let Some(small) = self.to_i64_cheap() {
                    return small.hash(state);
                }
                parts.form.hash(state);
                parts.negative.hash(state);
                let (coefficient, exponent) = strip_zeros(&parts.coefficient, parts.exponent);
                coefficient.hash(state);
                exponent.hash(state);
            }
        }
    }
}

impl Number {
    /// `to_i64` without expanding large exponents.
    fn to_i64_cheap(&self) -> Option<i64> {
        match &self.0 {
            Repr::Small(value) => Some(*value),
            Repr::Wide(parts) if parts.exponent.abs() <= 4_000 => self.to_i64(),
            Repr::Wide(_) => None,
        }
    }
}

impl From<i64> for Number {
    fn from(value: i64) -> Number {
        Number::int(value)
    }
}

/// 10 to the power of `exponent`.
pub fn power_of_ten(exponent: u32) -> BigUint {
    if exponent < 20 {
        return BigUint::from(10u64.pow(exponent.min(19)));
    }
    num_traits::pow(BigUint::from(10u32), exponent as usize)
}

/// Decimal digits of `value`; 1 for zero.
pub(crate) fn count_digits(value: &BigUint) -> i64 {
    if let Some(small) = value.to_u64() {
        return small.checked_ilog10().map_or(1, |log| i64::from(log) + 1);
    }
    // bits · log10(2), then one comparison decides.
    let bits = value.bits();
    let guess = ((bits - 1) as f64 * std::f64::consts::LOG10_2) as u32;
    let guess = guess.saturating_sub(1);
    let mut power = power_of_ten(guess);
    let mut digits = i64::from(guess);
    while &power <= value {
        power *= 10u32;
        digits += 1;
    }
    digits
}

/// Moves trailing zeros of the coefficient into the exponent; zero becomes `0 · 10^0`.
pub(crate) fn strip_zeros(coefficient: &BigUint, exponent: i32) -> (BigUint, i32) {
    if coefficient.is_zero() {
        return (BigUint::zero(), 0);
    }
    let mut digits = coefficient.clone();
    let mut exponent = exponent;
    // Large steps first, so that long runs of zeros stay cheap.
    for step in [1024u32, 128, 16, 1] {
        let scale = power_of_ten(step);
        loop {
            let whole = &digits / &scale;
            if whole.is_zero() || &whole * &scale != digits {
                break;
            }
            digits = whole;
            exponent = exponent.saturating_add(step as i32);
        }
    }
    (digits, exponent)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn n(text: &str) -> Number {
        Number::parse_signed(text).unwrap()
    }

    #[test]
    fn literals_keep_their_digits() {
        for (source, text) in [
            ("100000", "100000"),
            ("1e5", "1E+5"),
            ("1.5e3", "1.5E+3"),
            ("123e2", "1.23E+4"),
            ("1e0", "1"),
            ("10e-1", "1.0"),
            ("1e-6", "0.000001"),
            ("1e-7", "1E-7"),
            ("0.000001234", "0.000001234"),
            ("1.", "1"),
            (".5", "0.5"),
            ("1.0e5", "1.0E+5"),
            ("0x1F", "31"),
            ("1Ki", "1024"),
            ("1.5K", "1500"),
            ("0.5Ki", "512"),
            (
                "12345678901234567890123456789012345678901K",
                "12345678901234567890123456789012350000000000",
            ),
            ("1_000", "1000"),
            ("-0", "0"),
            ("-0.0", "0.0"),
            ("0.00", "0.00"),
            ("1e100001", "1"),
        ] {
            assert_eq!(n(source).to_string(), text, "{source}");
        }
        assert_eq!(Number::parse_literal("1.3Ki"), Err(LiteralError::NotIntegral));
        for wrong in ["", "01", "0x", "1__0", "1e", "1k", "abc", "1_", "."] {
            assert!(Number::parse_literal(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn arithmetic_rounds_to_34_digits() {
        for (a, op, b, text) in [
            ("1.50", "+", "1.50", "3.00"),
            ("1.5", "-", "1.5", "0.0"),
            ("1e3", "+", "1", "1001"),
            ("1e3", "+", "0.5", "1000.5"),
            ("1e34", "+", "1", "1.000000000000000000000000000000000E+34"),
            ("1.10", "*", "1.10", "1.2100"),
            ("1.50", "*", "2", "3.00"),
            ("1e3", "*", "1", "1E+3"),
            ("0", "*", "-1", "-0"),
            ("0.0", "*", "-1", "-0.0"),
            ("10", "/", "2", "5.0"),
            ("100", "/", "10", "10"),
            ("1000", "/", "10", "1.0E+2"),
            ("500", "/", "1", "5.0E+2"),
            ("2.50", "/", "1", "2.5"),
            ("1e32", "/", "1", "1.0E+32"),
            ("1e33", "/", "1", "1E+33"),
            ("1", "/", "3", "0.3333333333333333333333333333333333"),
            ("2", "/", "3", "0.6666666666666666666666666666666667"),
            ("0", "/", "5", "0"),
            ("0.000", "/", "3", "0.0"),
            (
                "12345678901234567890123456789012345",
                "*",
                "1",
                "1.234567890123456789012345678901235E+34",
            ),
        ] {
            let (a, b) = (n(a), n(b));
            let result = match op {
                "+" => a.add(&b),
                "-" => a.sub(&b),
                "*" => a.mul(&b),
                _ => a.quo(&b),
            };
            assert_eq!(result.unwrap().to_string(), text, "{a} {op} {b}");
        }
        assert_eq!(n("5").quo(&n("0")).unwrap_err(), ArithmeticError::DivisionByZero);
        assert_eq!(n("0").quo(&n("0")).unwrap_err(), ArithmeticError::DivisionUndefined);
        assert!(n("1e100000").mul(&n("10")).is_err());
    }

    #[test]
    fn integer_division() {
        for (a, b, div, rem) in
            [(-7, 2, (-4, 1), (-3, -1)), (7, -2, (-3, 1), (-3, 1)), (-7, -2, (4, 1), (3, -1))]
        {
            let pair = |it: (i64, i64)| (Number::int(it.0), Number::int(it.1));
            assert_eq!(Number::int(a).div_mod(&Number::int(b)).unwrap(), pair(div));
            assert_eq!(Number::int(a).quo_rem(&Number::int(b)).unwrap(), pair(rem));
        }
    }

    #[test]
    fn comparison_is_by_value_and_equality_also_by_kind() {
        assert_eq!(n("1.10").compare(&n("1.1")), Ordering::Equal);
        assert_eq!(n("1").compare(&n("1.5")), Ordering::Less);
        assert_eq!(n("-1e50").compare(&n("1e-50")), Ordering::Less);
        assert_eq!(n("1e100000").compare(&n("3")), Ordering::Greater);
        assert_ne!(n("1"), n("1.0"));
        assert_eq!(n("1.50"), n("1.5"));
    }

    #[test]
    fn floats_have_the_fewest_digits() {
        for (value, text, cue) in [
            (2.0, "2", "2.0"),
            (100.0, "1E+2", "1e+2"),
            (0.01, "0.01", "0.01"),
            (1e25, "1E+25", "1e+25"),
            (1500.0, "1.5E+3", "1.5e+3"),
            (f64::NAN, "NaN", "NaN.0"),
            (f64::NEG_INFINITY, "-Infinity", "-Infinity.0"),
        ] {
            assert_eq!(Number::float(value).to_string(), text);
            assert_eq!(Number::float(value).cue_text(), cue);
        }
    }
}
