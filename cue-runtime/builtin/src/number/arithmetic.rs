//! How numbers are added, multiplied and divided: 34 significant digits, rounded half up.

use std::fmt;

use num_bigint::{BigInt, BigUint, Sign};
use num_integer::Integer;
use num_traits::Zero;

use super::{
    Form, Number, NumberKind, Parts, Repr, Written, count_digits, digits, power_of_ten, strip_zeros,
};

/// Significant digits of a result.
pub const PRECISION: u32 = 34;

/// Largest and, negated, smallest exponent of a first digit.
pub(crate) const EXPONENT_LIMIT: i64 = 100_000;

/// Why a number could not be computed. The text is CUE's, without `failed arithmetic: `.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ArithmeticError {
    /// `x / 0`
    DivisionByZero,
    /// `0 / 0`
    DivisionUndefined,
    /// The result is too large or too small.
    ExponentOutOfRange,
    /// The function is not defined there.
    InvalidOperation,
    /// The result of a function is too large.
    Overflow,
    /// The result of a function is too small.
    Underflow,
}

impl fmt::Display for ArithmeticError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ArithmeticError::DivisionByZero => "division by zero",
            ArithmeticError::DivisionUndefined => "division undefined",
            ArithmeticError::ExponentOutOfRange => "exponent out of range",
            ArithmeticError::InvalidOperation => "invalid operation",
            ArithmeticError::Overflow => "overflow",
            ArithmeticError::Underflow => "underflow, subnormal",
        })
    }
}

impl std::error::Error for ArithmeticError {}

type Computed = Result<Number, ArithmeticError>;

impl Number {
    /// `self + other`
    pub fn add(&self, other: &Number) -> Computed {
        if let (Repr::Small(a), Repr::Small(b)) = (&self.0, &other.0)
            && let Some(sum) = a.checked_add(*b)
        {
            return Ok(Number::int(sum));
        }
        sum(self.parts(), other.parts())
    }

    /// `self - other`
    pub fn sub(&self, other: &Number) -> Computed {
        if let (Repr::Small(a), Repr::Small(b)) = (&self.0, &other.0)
            && let Some(difference) = a.checked_sub(*b)
        {
            return Ok(Number::int(difference));
        }
        let mut right = other.parts();
        right.negative = !right.negative;
        sum(self.parts(), right)
    }

    /// `self * other`
    pub fn mul(&self, other: &Number) -> Computed {
        if let (Repr::Small(a), Repr::Small(b)) = (&self.0, &other.0)
            && let Some(product) = a.checked_mul(*b)
            && product != 0
        {
            return Ok(Number::int(product));
        }
        let (a, b) = (self.parts(), other.parts());
        let sign = product_sign(&a, &b);
        let kind = joined_kind(a.kind, b.kind);
        if a.form != Form::Finite || b.form != Form::Finite {
            let unknown = a.form == Form::NaN || b.form == Form::NaN;
            return match unknown {
                true => Ok(special(kind, Form::NaN, sign)),
                false if is_zero(&a) || is_zero(&b) => Err(ArithmeticError::InvalidOperation),
                false => Ok(special(kind, Form::Infinite, sign)),
            };
        }
        let exponent = i64::from(a.exponent) + i64::from(b.exponent);
        round(kind, sign, a.coefficient * b.coefficient, exponent)
    }

    /// `self / other`, always a float.
    pub fn quo(&self, other: &Number) -> Computed {
        let (a, b) = (self.parts(), other.parts());
        let sign = product_sign(&a, &b);
        match (a.form, b.form) {
            (Form::Finite, Form::Finite) => {}
            (Form::Finite, Form::Infinite) => return Ok(float_zero(sign, 0)),
            (Form::Infinite, Form::Finite) => {
                return Ok(special(NumberKind::Float, Form::Infinite, sign));
            }
            (Form::Infinite, Form::Infinite) => return Err(ArithmeticError::InvalidOperation),
            (Form::NaN, _) | (_, Form::NaN) => {
                return Ok(special(NumberKind::Float, Form::NaN, Sign::Plus));
            }
        }
        if b.coefficient.is_zero() {
            return Err(if a.coefficient.is_zero() {
                ArithmeticError::DivisionUndefined
            } else {
                ArithmeticError::DivisionByZero
            });
        }
        let difference = i64::from(a.exponent) - i64::from(b.exponent);
        if a.coefficient.is_zero() {
            return Ok(float_zero(sign, if difference < 0 { -1 } else { 0 }));
        }
        let rounded = divide(&a, &b)?.parts();
        let (coefficient, exponent) = strip_zeros(&rounded.coefficient, rounded.exponent);
        let adjusted = i64::from(exponent) + count_digits(&coefficient) - 1;
        // The one zero CUE puts back.
        let (coefficient, exponent) = if exponent >= 0 && adjusted <= 32 {
            (coefficient * 10u32, exponent - 1)
        } else {
            (coefficient, exponent)
        };
        Ok(Number::build(Parts {
            kind: NumberKind::Float,
            form: Form::Finite,
            negative: sign == Sign::Minus,
            coefficient,
            exponent,
        }))
    }

    /// The quotient rounded to 34 digits, without trailing zeros.
    pub fn quo_plain(&self, other: &Number) -> Computed {
        let (a, b) = (self.parts(), other.parts());
        if b.coefficient.is_zero() {
            return Err(if a.coefficient.is_zero() {
                ArithmeticError::DivisionUndefined
            } else {
                ArithmeticError::DivisionByZero
            });
        }
        if a.coefficient.is_zero() {
            return Ok(float_zero(product_sign(&a, &b), 0));
        }
        let rounded = divide(&a, &b)?.parts();
        let (coefficient, exponent) = strip_zeros(&rounded.coefficient, rounded.exponent);
        Ok(Number::build(Parts { coefficient, exponent, ..rounded }))
    }

    /// `-self`; zero stays positive.
    pub fn neg(&self) -> Number {
        if let Repr::Small(value) = &self.0
            && let Some(negated) = value.checked_neg()
        {
            return Number::int(negated);
        }
        if let Repr::Wide(wide) = &self.0
            && let Some(written) = wide.written()
        {
            return Number::written(Written { negative: !written.negative, ..written.clone() });
        }
        let mut parts = self.parts();
        parts.negative =
            !(parts.negative || parts.form == Form::Finite && parts.coefficient.is_zero());
        Number::build(parts)
    }

    /// The value rounded to 34 digits.
    pub fn rounded(&self) -> Computed {
        match &self.0 {
            Repr::Small(_) => Ok(self.clone()),
            Repr::Wide(parts) if parts.form != Form::Finite => Ok(self.clone()),
            Repr::Wide(parts) => round(
                parts.kind,
                parts.sign(),
                parts.coefficient.clone(),
                i64::from(parts.exponent),
            ),
        }
    }

    /// As builtin functions return decimals: an int if the value is integral, else a float.
    pub fn settled(&self) -> Number {
        if let Some(padded) = self.padded() {
            return padded;
        }
        match self.to_bigint() {
            Some(whole) => {
                if whole.is_zero() && self.is_negative() {
                    return self.with_kind(NumberKind::Int);
                }
                Number::big(&whole)
            }
            None if self.is_finite() => self.with_kind(NumberKind::Float),
            None => self.clone(),
        }
    }

    /// A decimal with many zeros behind its digits as the int it is: written, since that is quicker than computed.
    fn padded(&self) -> Option<Number> {
        let Repr::Wide(parts) = &self.0 else { return None };
        let zeros = usize::try_from(parts.exponent).ok()?;
        if zeros < digits::FEW || parts.form != Form::Finite || parts.coefficient.is_zero() {
            return None;
        }
        let digits = (parts.coefficient.to_string() + &"0".repeat(zeros)).into();
        let negative = parts.negative;
        Some(Number::written(Written { kind: NumberKind::Int, negative, digits, exponent: 0 }))
    }

    /// Integer division with a remainder that is never negative: `div(a, b)`, `mod(a, b)`.
    pub fn div_mod(&self, other: &Number) -> Result<(Number, Number), ArithmeticError> {
        let (a, b) = integers(self, other)?;
        let (mut quotient, mut remainder) = a.div_rem(&b);
        if remainder.sign() == Sign::Minus {
            if b.sign() == Sign::Minus {
                remainder -= &b;
                quotient += 1;
            } else {
                remainder += &b;
                quotient -= 1;
            }
        }
        Ok((Number::big(&quotient), Number::big(&remainder)))
    }

    /// Integer division that truncates: `quo(a, b)`, `rem(a, b)`.
    pub fn quo_rem(&self, other: &Number) -> Result<(Number, Number), ArithmeticError> {
        let (a, b) = integers(self, other)?;
        let (quotient, remainder) = a.div_rem(&b);
        Ok((Number::big(&quotient), Number::big(&remainder)))
    }
}

fn integers(a: &Number, b: &Number) -> Result<(BigInt, BigInt), ArithmeticError> {
    match (a.to_bigint(), b.to_bigint()) {
        (Some(_), Some(b)) if b.is_zero() => Err(ArithmeticError::DivisionByZero),
        (Some(a), Some(b)) => Ok((a, b)),
        _ => Err(ArithmeticError::InvalidOperation),
    }
}

fn joined_kind(a: NumberKind, b: NumberKind) -> NumberKind {
    if a == NumberKind::Int && b == NumberKind::Int { NumberKind::Int } else { NumberKind::Float }
}

fn is_zero(parts: &Parts) -> bool {
    parts.form == Form::Finite && parts.coefficient.is_zero()
}

/// The sign of a product or quotient, also of zero.
fn product_sign(a: &Parts, b: &Parts) -> Sign {
    if a.negative == b.negative { Sign::Plus } else { Sign::Minus }
}

pub(crate) fn special(kind: NumberKind, form: Form, sign: Sign) -> Number {
    let negative = sign == Sign::Minus && form != Form::NaN;
    Number::build(Parts { kind, form, negative, coefficient: BigUint::zero(), exponent: 0 })
}

fn float_zero(sign: Sign, exponent: i32) -> Number {
    Number::build(Parts {
        kind: NumberKind::Float,
        form: Form::Finite,
        negative: sign == Sign::Minus,
        coefficient: BigUint::zero(),
        exponent,
    })
}

fn sum(a: Parts, b: Parts) -> Computed {
    let kind = joined_kind(a.kind, b.kind);
    match (a.form, b.form) {
        (Form::Finite, Form::Finite) => {}
        (Form::NaN, _) | (_, Form::NaN) => return Ok(special(kind, Form::NaN, Sign::Plus)),
        (Form::Infinite, Form::Infinite) if a.negative != b.negative => {
            return Err(ArithmeticError::InvalidOperation);
        }
        (Form::Infinite, _) => return Ok(special(kind, Form::Infinite, a.sign())),
        (_, Form::Infinite) => return Ok(special(kind, Form::Infinite, b.sign())),
    }
    let low = a.exponent.min(b.exponent);
    if a.exponent.abs_diff(low).max(b.exponent.abs_diff(low)) > 2 * EXPONENT_LIMIT as u32 {
        return Err(ArithmeticError::ExponentOutOfRange);
    }
    let signed = |it: &Parts| {
        let sign = it.sign();
        let scale = it.exponent.abs_diff(low);
        if scale == 0 {
            return BigInt::from_biguint(sign, it.coefficient.clone());
        }
        BigInt::from_biguint(sign, &it.coefficient * power_of_ten(scale))
    };
    let total = signed(&a) + signed(&b);
    let sign = total.sign();
    round(kind, sign, total.into_parts().1, i64::from(low))
}

/// A float quotient of at least 35 digits, rounded.
fn divide(a: &Parts, b: &Parts) -> Computed {
    let scale = (i64::from(PRECISION) + 1 + b.digits() - a.digits()).max(0);
    let scale = u32::try_from(scale).map_err(|_| ArithmeticError::ExponentOutOfRange)?;
    let quotient = (&a.coefficient * power_of_ten(scale)) / &b.coefficient;
    let exponent = i64::from(a.exponent) - i64::from(b.exponent) - i64::from(scale);
    round(NumberKind::Float, product_sign(a, b), quotient, exponent)
}

/// Rounds to 34 digits, half up, and checks the exponent.
pub(crate) fn round(
    kind: NumberKind,
    sign: Sign,
    mut coefficient: BigUint,
    mut exponent: i64,
) -> Computed {
    let precision = i64::from(PRECISION);
    // 10^34 has 113 bits: fewer bits cannot be too many digits.
    let mut digits = if coefficient.bits() < 113 { 0 } else { count_digits(&coefficient) };
    if digits > precision {
        let drop = digits - precision;
        let scale = power_of_ten(drop as u32);
        let (mut kept, rest) = coefficient.div_rem(&scale);
        if rest * 2u32 >= scale {
            kept += 1u32;
        }
        coefficient = kept;
        exponent += drop;
        if count_digits(&coefficient) > precision {
            coefficient /= 10u32;
            exponent += 1;
        }
        digits = precision;
    } else if digits == 0 {
        digits = count_digits(&coefficient);
    }
    if !coefficient.is_zero() && (exponent + digits - 1).abs() > EXPONENT_LIMIT
        || i32::try_from(exponent).is_err()
    {
        return Err(ArithmeticError::ExponentOutOfRange);
    }
    Ok(Number::build(Parts {
        kind,
        form: Form::Finite,
        negative: sign == Sign::Minus,
        coefficient,
        exponent: exponent as i32,
    }))
}
