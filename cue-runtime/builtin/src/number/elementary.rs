//! Exponential, logarithm, power and cube root to 34 digits, rounded once.
//!
//! Computed with fixed-point integers of `WORK` digits behind the point, which leaves the error
//! far below the 34th digit.

use num_bigint::{BigInt, Sign};
use num_integer::Integer;
use num_traits::{One, ToPrimitive, Zero};

use super::arithmetic::{ArithmeticError, round, special};
use super::{Form, Number, NumberKind, Parts, power_of_ten, strip_zeros};

/// Decimal places of fixed-point numbers.
const WORK: u32 = 60;

type Computed = Result<Number, ArithmeticError>;

fn unit() -> BigInt {
    BigInt::from(power_of_ten(WORK))
}

fn times(a: &BigInt, b: &BigInt) -> BigInt {
    (a * b) / unit()
}

/// A number as fixed point; digits beyond are cut.
fn fixed(number: &Number) -> Option<BigInt> {
    let parts = number.parts();
    let sign = parts.sign();
    let exponent = i64::from(parts.exponent) + i64::from(WORK);
    let magnitude = if exponent >= 0 {
        if exponent > 1_000 {
            return None;
        }
        parts.coefficient * power_of_ten(exponent as u32)
    } else {
        parts.coefficient / power_of_ten(u32::try_from(-exponent).ok()?.min(400_000))
    };
    Some(BigInt::from_biguint(sign, magnitude))
}

/// Fixed point times `10^exponent`, rounded to 34 digits.
fn float(value: BigInt, exponent: i64) -> Computed {
    let sign = value.sign();
    round(NumberKind::Float, sign, value.into_parts().1, exponent - i64::from(WORK))
}

/// atanh(1/n)·2 = ln((n+1)/(n−1))
fn log_ratio(n: i64) -> BigInt {
    let mut power = unit() / n;
    let square = n * n;
    let mut sum = BigInt::zero();
    let mut k = 1;
    while !power.is_zero() {
        sum += &power / k;
        power /= square;
        k += 2;
    }
    sum * 2
}

/// ln 10 = 46·atanh(1/31) + 34·atanh(1/49) + 20·atanh(1/161)
fn ln_ten() -> BigInt {
    log_ratio(31) * 23 + log_ratio(49) * 17 + log_ratio(161) * 10
}

/// e^x for fixed point x with |x| small.
fn exp_small(x: &BigInt) -> BigInt {
    // Halve until tiny, sum the series, square back.
    let halvings = 12u32;
    let x = x >> halvings;
    let mut term = unit();
    let mut sum = unit();
    let mut k = 1;
    while !term.is_zero() {
        term = times(&term, &x) / k;
        sum += &term;
        k += 1;
    }
    for _ in 0..halvings {
        sum = times(&sum, &sum);
    }
    sum
}

/// Mantissa in fixed point and decimal exponent of e^x, x in fixed point.
fn exp_parts(x: &BigInt) -> Option<(BigInt, i64)> {
    let ten = ln_ten();
    let exponent = Integer::div_floor(&(x + &ten / 2), &ten);
    let rest = x - &exponent * &ten;
    Some((exp_small(&rest), exponent.to_i64()?))
}

/// ln of a positive number, fixed point.
fn ln_fixed(number: &Number) -> BigInt {
    let parts = number.parts();
    let exponent = parts.adjusted();
    // mantissa in [1, 10)
    let shift = i64::from(WORK) - (parts.digits() - 1);
    let coefficient = BigInt::from(parts.coefficient);
    let mantissa = if shift >= 0 {
        coefficient * BigInt::from(power_of_ten(shift as u32))
    } else {
        coefficient / BigInt::from(power_of_ten((-shift) as u32))
    };
    // Newton on e^y = m from the double's logarithm.
    let guess = libm::log(ratio(&mantissa));
    let mut y = BigInt::from((guess * 1e15) as i64) * BigInt::from(power_of_ten(WORK - 15));
    for _ in 0..3 {
        let power = exp_small(&y);
        // y += 2 (m - e^y) / (m + e^y)
        let step = ((&mantissa - &power) * 2 * unit()) / (&mantissa + &power);
        y += step;
    }
    y + ln_ten() * exponent
}

fn ratio(mantissa: &BigInt) -> f64 {
    let short = mantissa / BigInt::from(power_of_ten(WORK - 17));
    short.to_f64().unwrap_or(1.0) / 1e17
}

/// What is no finite number is told without a fraction.
fn endless(form: Form, sign: Sign) -> Number {
    special(NumberKind::Int, form, sign)
}

fn integral_result(value: BigInt) -> Computed {
    Ok(Number::big(&value).with_kind(NumberKind::Float))
}

impl Number {
    /// e to the power of `self`.
    pub fn exp(&self) -> Computed {
        if !self.is_finite() {
            return Ok(match self.parts().form {
                Form::Infinite if self.is_negative() => Number::int(0),
                form => endless(form, Sign::Plus),
            });
        }
        if self.is_zero() {
            return integral_result(BigInt::one());
        }
        // As far as the original goes.
        let most = Number::int(23_000);
        if self.compare(&most).is_ge() {
            return Err(ArithmeticError::Overflow);
        }
        if self.compare(&most.neg()).is_le() {
            return Err(ArithmeticError::Underflow);
        }
        let x = fixed(self).ok_or(ArithmeticError::Overflow)?;
        let (mantissa, exponent) = exp_parts(&x).ok_or(ArithmeticError::Overflow)?;
        if exponent.abs() > 100_000 {
            return Err(ArithmeticError::Overflow);
        }
        float(mantissa, exponent)
    }

    /// Natural logarithm.
    pub fn ln(&self) -> Computed {
        if let Some(known) = self.outside_of_logarithm() {
            return known;
        }
        if self.compare(&Number::int(1)).is_eq() {
            return integral_result(BigInt::zero());
        }
        float(ln_fixed(self), 0)
    }

    /// Logarithm to base 10.
    pub fn log10(&self) -> Computed {
        if let Some(known) = self.outside_of_logarithm() {
            return known;
        }
        let parts = self.parts();
        let (digits, exponent) = strip_zeros(&parts.coefficient, parts.exponent);
        if digits.is_one() {
            return integral_result(BigInt::from(exponent));
        }
        float(ln_fixed(self) * unit() / ln_ten(), 0)
    }

    /// Logarithm to base 2: the quotient of two rounded logarithms.
    pub fn log2(&self) -> Computed {
        if let Some(known) = self.outside_of_logarithm() {
            return known;
        }
        self.ln()?.quo_plain(&Number::int(2).ln()?)
    }

    fn outside_of_logarithm(&self) -> Option<Computed> {
        if self.is_zero() {
            return Some(Ok(endless(Form::Infinite, Sign::Minus)));
        }
        let form = if self.is_finite() { Form::Finite } else { self.parts().form };
        if self.is_negative() && form != Form::NaN {
            return Some(Err(ArithmeticError::InvalidOperation));
        }
        (form != Form::Finite).then(|| Ok(endless(form, Sign::Plus)))
    }

    /// `self` to the power of `exponent`.
    pub fn pow(&self, exponent: &Number) -> Computed {
        let (base, by) = (self.parts(), exponent.parts());
        if base.form == Form::NaN || by.form == Form::NaN {
            return Ok(endless(Form::NaN, Sign::Plus));
        }
        if self.is_zero() {
            if exponent.is_zero() {
                return Err(ArithmeticError::InvalidOperation);
            }
            if exponent.is_negative() {
                return Ok(endless(Form::Infinite, Sign::Plus));
            }
            return Ok(Number::int(0));
        }
        let whole = exponent.to_bigint().filter(|_| by.form == Form::Finite);
        if self.is_negative() && whole.is_none() {
            return Err(ArithmeticError::InvalidOperation);
        }
        if base.form == Form::Infinite && (by.form == Form::Infinite || !exponent.is_zero()) {
            let odd = whole.as_ref().is_some_and(Integer::is_odd);
            let sign = if base.negative && odd { Sign::Minus } else { Sign::Plus };
            return Ok(match by.negative {
                true => Number::int(0),
                false => endless(Form::Infinite, sign),
            });
        }
        if exponent.is_zero() {
            return Ok(Number::int(1));
        }
        if let Some(n) = whole.as_ref().and_then(BigInt::to_u32)
            && let Some(exact) = self.pow_exact(n)
        {
            return exact;
        }
        let negative = self.is_negative() && whole.is_some_and(|n| n.is_odd());
        let base = Number::build(Parts { negative: false, ..base });
        // y·ln x with the digits the size of the result takes away still there.
        let ln = ln_fixed(&base);
        let scaled = ln * BigInt::from(by.coefficient);
        let shift = i64::from(by.exponent);
        let product = if shift >= 0 {
            if shift > 1_000 {
                return Err(ArithmeticError::ExponentOutOfRange);
            }
            scaled * BigInt::from(power_of_ten(shift as u32))
        } else {
            scaled
                / BigInt::from(power_of_ten(u32::try_from(-shift).unwrap_or(u32::MAX).min(200_000)))
        };
        let product = if by.negative { -product } else { product };
        let (mantissa, decimal) = exp_parts(&product).ok_or(ArithmeticError::ExponentOutOfRange)?;
        let power = float(mantissa, decimal)?;
        // Inexact results carry all 34 digits.
        let mut parts = power.parts();
        parts.negative = negative;
        while parts.digits() < 34 {
            parts.coefficient *= 10u32;
            parts.exponent -= 1;
        }
        Ok(Number::build(parts))
    }

    /// Exact power if it is not too long, rounded.
    fn pow_exact(&self, n: u32) -> Option<Computed> {
        let parts = self.parts();
        let kind = parts.kind;
        let sign = if n % 2 == 1 { parts.sign() } else { Sign::Plus };
        let (digits, exponent) = strip_zeros(&parts.coefficient, parts.exponent);
        let bits = digits.bits().checked_mul(u64::from(n))?;
        if bits > 1 << 16 && !digits.is_one() {
            return None;
        }
        // Digits stay as they were written: 1.10 squared has four places.
        let (digits, exponent) = if u64::from(n) * parts.coefficient.bits() < 1 << 16 {
            (parts.coefficient, parts.exponent)
        } else {
            (digits, exponent)
        };
        let power = digits.pow(n);
        Some(round(kind, sign, power, i64::from(exponent) * i64::from(n)))
    }

    /// Cube root.
    pub fn cbrt(&self) -> Computed {
        let parts = self.parts();
        match parts.form {
            Form::NaN => return Ok(endless(Form::NaN, Sign::Plus)),
            Form::Infinite if parts.negative => return Err(ArithmeticError::InvalidOperation),
            Form::Infinite => return Ok(endless(Form::Infinite, Sign::Plus)),
            Form::Finite if parts.coefficient.is_zero() => return Ok(self.clone()),
            Form::Finite => {}
        }
        // c·10^e with e made divisible by 3 and enough digits for 40 in the root.
        let mut exponent = i64::from(parts.exponent);
        let wanted = (120 - parts.digits()).max(0);
        let mut scale = wanted;
        while (exponent - scale) % 3 != 0 {
            scale += 1;
        }
        exponent -= scale;
        let sign = parts.sign();
        let coefficient = parts.coefficient * power_of_ten(scale as u32);
        let root = coefficient.cbrt();
        let exact = &root * &root * &root == coefficient;
        let rounded = round(NumberKind::Float, sign, root, exponent / 3)?;
        if !exact {
            return Ok(rounded);
        }
        let settled = rounded.parts();
        let (coefficient, exponent) = strip_zeros(&settled.coefficient, settled.exponent);
        if exponent >= 0 {
            return Ok(Number::build(Parts { coefficient, exponent, ..settled }));
        }
        Ok(rounded)
    }
}
