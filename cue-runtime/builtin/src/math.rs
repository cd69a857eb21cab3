//! Package `math`: decimal functions to 34 digits, the rest in doubles.

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed, Zero};

use super::arguments as arg;
use super::call::{
    CallContext, CallError, Constant, Kinds, Member, Package, Parameter, constant, function,
};
use super::cephes;
use super::datum::Datum;
use crate::number::{ArithmeticError, Form, Number, NumberKind, Parts, power_of_ten};

type Outcome = Result<Datum, CallError>;

const N: Parameter = Parameter::NUMBER;
const I: Parameter = Parameter::INT;

/// The package.
pub(super) const PACKAGE: Package = Package { path: "math", members: MEMBERS, text: "" };

/// A function of doubles.
macro_rules! float {
    ($name:literal, $function:expr) => {
        function($name, &[N], Kinds::NUMBER, |_, a| {
            let apply: fn(f64) -> f64 = $function;
            Ok(Datum::float(apply(arg::float(a, 0)?)))
        })
    };
}

/// A function of two doubles.
macro_rules! float2 {
    ($name:literal, $function:expr) => {
        function($name, &[N, N], Kinds::NUMBER, |_, a| {
            let apply: fn(f64, f64) -> f64 = $function;
            Ok(Datum::float(apply(arg::float(a, 0)?, arg::float(a, 1)?)))
        })
    };
}

/// A function of an order and a double.
macro_rules! bessel {
    ($name:literal, $function:expr) => {
        function($name, &[I, N], Kinds::NUMBER, |_, a| {
            let apply: fn(i32, f64) -> f64 = $function;
            let order = arg::int(a, 0)?.clamp(i64::from(i32::MIN), i64::from(i32::MAX));
            Ok(Datum::float(apply(order as i32, arg::float(a, 1)?)))
        })
    };
}

/// A decimal function.
macro_rules! decimal {
    ($name:literal, $function:expr) => {
        function($name, &[N], Kinds::NUMBER, |_, a| {
            let apply: fn(&Number) -> Result<Number, ArithmeticError> = $function;
            Ok(Datum::Number(apply(arg::number(a, 0)?).map_err(failed)?.settled()))
        })
    };
}

/// Rounding to an integer.
macro_rules! whole {
    ($name:literal, $mode:expr) => {
        function($name, &[N], Kinds::INT, |_, a| {
            Ok(Datum::Number(Number::big(&rounded(arg::number(a, 0)?, $mode))))
        })
    };
}

const MEMBERS: &[Member] = &[
    constant("MaxExp", Constant::Int(2_147_483_647)),
    constant("MinExp", Constant::Int(-2_147_483_648)),
    constant("MaxPrec", Constant::Int(4_294_967_295)),
    constant("ToNearestEven", Constant::Int(0)),
    constant("ToNearestAway", Constant::Int(1)),
    constant("ToZero", Constant::Int(2)),
    constant("AwayFromZero", Constant::Int(3)),
    constant("ToNegativeInf", Constant::Int(4)),
    constant("ToPositiveInf", Constant::Int(5)),
    constant("Below", Constant::Int(-1)),
    constant("Exact", Constant::Int(0)),
    constant("Above", Constant::Int(1)),
    function("Jacobi", &[I, I], Kinds::INT, jacobi),
    constant("MaxBase", Constant::Int(62)),
    whole!("Floor", Mode::Floor),
    whole!("Ceil", Mode::Ceil),
    whole!("Trunc", Mode::Trunc),
    whole!("Round", Mode::HalfAway),
    whole!("RoundToEven", Mode::HalfEven),
    function("MultipleOf", &[N, N], Kinds::BOOL, |_, a| {
        let quotient = arg::number(a, 0)?.quo_plain(arg::number(a, 1)?).map_err(failed)?;
        Ok(Datum::Bool(quotient.to_bigint().is_some()))
    }),
    decimal!("Abs", |x| {
        let mut parts = x.parts();
        parts.negative = false;
        Number::build(parts).rounded()
    }),
    float!("Acosh", libm::acosh),
    float!("Asin", cephes::asin),
    float!("Acos", cephes::acos),
    float!("Asinh", libm::asinh),
    float!("Atan", cephes::atan),
    float2!("Atan2", cephes::atan2),
    float!("Atanh", libm::atanh),
    decimal!("Cbrt", Number::cbrt),
    constant(
        "E",
        Constant::Number("2.71828182845904523536028747135266249775724709369995957496696763"),
    ),
    constant(
        "Pi",
        Constant::Number("3.14159265358979323846264338327950288419716939937510582097494459"),
    ),
    constant(
        "Phi",
        Constant::Number("1.61803398874989484820458683436563811772030917980576286213544861"),
    ),
    constant(
        "Sqrt2",
        Constant::Number("1.41421356237309504880168872420969807856967187537694807317667974"),
    ),
    constant(
        "SqrtE",
        Constant::Number("1.64872127070012814684865078781416357165377610071014801157507931"),
    ),
    constant(
        "SqrtPi",
        Constant::Number("1.77245385090551602729816748334114518279754945612238712821380779"),
    ),
    constant(
        "SqrtPhi",
        Constant::Number("1.27201964951406896425242246173749149171560804184009624861664038"),
    ),
    constant(
        "Ln2",
        Constant::Number("0.693147180559945309417232121458176568075500134360255254120680009"),
    ),
    constant(
        "Log2E",
        Constant::Number("1.442695040888963407359924681001892137426645954152985934135449408"),
    ),
    constant(
        "Ln10",
        Constant::Number("2.3025850929940456840179914546843642076011014886287729760333278"),
    ),
    constant(
        "Log10E",
        Constant::Number("0.43429448190325182765112891891660508229439700580366656611445378"),
    ),
    function("Copysign", &[N, N], Kinds::NUMBER, |_, a| {
        let mut parts = arg::number(a, 0)?.parts();
        parts.negative = arg::number(a, 1)?.is_negative();
        Ok(Datum::Number(Number::build(parts).settled()))
    }),
    function("Dim", &[N, N], Kinds::NUMBER, |_, a| {
        let difference = arg::number(a, 0)?.sub(arg::number(a, 1)?).map_err(failed)?;
        if difference.is_negative() {
            return Ok(Datum::int(0));
        }
        Ok(Datum::Number(difference.settled()))
    }),
    float!("Erf", libm::erf),
    float!("Erfc", libm::erfc),
    float!("Erfinv", erf_inverse),
    float!("Erfcinv", |x| erf_inverse(1.0 - x)),
    decimal!("Exp", Number::exp),
    decimal!("Exp2", |x| Number::int(2).pow(x)),
    float!("Expm1", libm::expm1),
    float!("Gamma", cephes::gamma),
    float2!("Hypot", cephes::hypot),
    float!("J0", libm::j0),
    float!("Y0", libm::y0),
    float!("J1", libm::j1),
    float!("Y1", libm::y1),
    bessel!("Jn", libm::jn),
    bessel!("Yn", libm::yn),
    function("Ldexp", &[N, I], Kinds::NUMBER, |_, a| {
        let by = arg::int(a, 1)?.clamp(-5000, 5000) as i32;
        Ok(Datum::float(libm::ldexp(arg::float(a, 0)?, by)))
    }),
    decimal!("Log", Number::ln),
    decimal!("Log10", Number::log10),
    decimal!("Log2", Number::log2),
    float!("Log1p", libm::log1p),
    float!("Logb", |x| {
        if x == 0.0 {
            f64::NEG_INFINITY
        } else if !x.is_finite() {
            x.abs()
        } else {
            f64::from(libm::ilogb(x))
        }
    }),
    function("Ilogb", &[N], Kinds::INT, |_, a| {
        let x = arg::float(a, 0)?;
        let exponent = if x == 0.0 {
            i64::from(i32::MIN)
        } else if x.is_finite() {
            i64::from(libm::ilogb(x))
        } else {
            i64::from(i32::MAX)
        };
        Ok(Datum::int(exponent))
    }),
    float2!("Mod", libm::fmod),
    function("Pow", &[N, N], Kinds::NUMBER, |_, a| {
        let power = arg::number(a, 0)?.pow(arg::number(a, 1)?).map_err(failed)?;
        Ok(Datum::Number(power.settled()))
    }),
    function("Pow10", &[I], Kinds::NUMBER, |_, a| {
        let exponent = arg::int32(a, 0, "int32")? as i32;
        if exponent.unsigned_abs() > 100_000 {
            return Err(failed(ArithmeticError::ExponentOutOfRange));
        }
        let power = Parts {
            kind: NumberKind::Float,
            form: Form::Finite,
            negative: false,
            coefficient: power_of_ten(0),
            exponent,
        };
        Ok(Datum::Number(Number::build(power).settled()))
    }),
    float2!("Remainder", |x, y| {
        if y.is_infinite() && x.is_finite() { x } else { libm::remainder(x, y) }
    }),
    function("Signbit", &[N], Kinds::BOOL, |_, a| {
        Ok(Datum::Bool(arg::number(a, 0)?.is_negative()))
    }),
    float!("Cos", cephes::cos),
    float!("Sin", cephes::sin),
    float!("Sinh", cephes::sinh),
    float!("Cosh", cephes::cosh),
    float!("Sqrt", libm::sqrt),
    float!("Tan", cephes::tan),
    float!("Tanh", cephes::tanh),
];

/// An arithmetic error as that of a call.
pub(super) fn failed(error: ArithmeticError) -> CallError {
    CallError::permanent(error.to_string())
}

/// The least whole number that is not below.
pub fn next_above(number: &Number) -> Number {
    Number::big(&rounded(number, Mode::Ceil))
}

/// The greatest whole number that is not above.
pub fn next_below(number: &Number) -> Number {
    Number::big(&rounded(number, Mode::Floor))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Floor,
    Ceil,
    Trunc,
    HalfAway,
    HalfEven,
}

fn rounded(number: &Number, mode: Mode) -> BigInt {
    let parts = number.parts();
    if parts.form != Form::Finite {
        return BigInt::zero();
    }
    // Quirk: with more than 34 digits in front of the point these two give up.
    let wide = parts.adjusted() >= 34 && !parts.coefficient.is_zero();
    if wide && (mode == Mode::Floor || mode == Mode::Ceil) {
        return BigInt::zero();
    }
    if let Some(whole) = number.to_bigint() {
        return whole;
    }
    let sign = if parts.negative { -1 } else { 1 };
    // Far behind the point: everything is less than a half.
    if parts.adjusted() < -1 {
        return match mode {
            Mode::Floor if parts.negative => BigInt::from(-1),
            Mode::Ceil if !parts.negative => BigInt::one(),
            _ => BigInt::zero(),
        };
    }
    let scale = power_of_ten(parts.exponent.unsigned_abs());
    let (whole, rest) = parts.coefficient.div_rem(&scale);
    let twice = (rest.clone() * 2u32).cmp(&scale);
    let away = match mode {
        Mode::Trunc => false,
        Mode::Floor => parts.negative && !rest.is_zero(),
        Mode::Ceil => !parts.negative && !rest.is_zero(),
        Mode::HalfAway => twice.is_ge(),
        Mode::HalfEven => twice.is_gt() || (twice.is_eq() && whole.is_odd()),
    };
    let whole = if away { whole + 1u32 } else { whole };
    BigInt::from(whole) * sign
}

fn jacobi(_: &mut CallContext, args: &[Datum]) -> Outcome {
    let (mut a, mut n) = (arg::integer(args, 0)?, arg::integer(args, 1)?);
    if n.is_even() {
        return Err(CallError::permanent(format!(
            "big: invalid 2nd argument to Int.Jacobi: need odd integer but got {n}"
        )));
    }
    let mut sign = 1;
    if n.is_negative() {
        if a.is_negative() {
            sign = -1;
        }
        n = -n;
    }
    loop {
        if n.is_one() {
            return Ok(Datum::int(sign));
        }
        if a.is_zero() {
            return Ok(Datum::int(0));
        }
        a = a.mod_floor(&n);
        if a.is_zero() {
            return Ok(Datum::int(0));
        }
        let twos = a.trailing_zeros().unwrap_or(0);
        if twos % 2 == 1 {
            let eighth = (&n % 8u32).magnitude().iter_u32_digits().next().unwrap_or(0);
            if eighth == 3 || eighth == 5 {
                sign = -sign;
            }
        }
        let odd = &a >> twos;
        let quarter = |it: &BigInt| (it % 4u32).magnitude().iter_u32_digits().next().unwrap_or(0);
        if quarter(&n) == 3 && quarter(&odd) == 3 {
            sign = -sign;
        }
        a = n;
        n = odd;
    }
}

/// Inverse error function: a first guess by Winitzki, then Newton steps.
fn erf_inverse(x: f64) -> f64 {
    if x.is_nan() || x.abs() > 1.0 {
        return f64::NAN;
    }
    if x.abs() == 1.0 {
        return x * f64::INFINITY;
    }
    if x == 0.0 {
        return x;
    }
    let log = libm::log(1.0 - x * x);
    let a = 0.147;
    let first = 2.0 / (std::f64::consts::PI * a) + log / 2.0;
    let mut guess = libm::sqrt(libm::sqrt(first * first - log / a) - first).copysign(x);
    for _ in 0..4 {
        let error = if x.abs() < 0.5 {
            libm::erf(guess) - x
        } else {
            // erf(g) - x, computed through the complement to keep digits.
            let gap = (1.0 - x.abs()) - libm::erfc(guess.abs());
            if x < 0.0 { -gap } else { gap }
        };
        let slope = 2.0 / libm::sqrt(std::f64::consts::PI) * libm::exp(-guess * guess);
        guess -= error / slope;
    }
    guess
}
