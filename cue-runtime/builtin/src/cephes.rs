//! Functions of doubles by the approximations of Moshier's Cephes library, which Go's `math` uses: the
//! last digit of a result is that of the official implementation. The C library's functions, which
//! are as exact, differ there.

#![allow(clippy::excessive_precision, reason = "coefficients are as they were published")]

use core::f64::consts::{FRAC_PI_2, FRAC_PI_4, LOG2_E, PI};

/// The value of a polynomial, its highest coefficient first.
fn polynomial(x: f64, coefficients: &[f64]) -> f64 {
    coefficients.iter().fold(0.0, |sum, it| sum * x + it)
}

/// From here on a quarter of π has too few digits to be taken away.
const LARGE: f64 = (1_u64 << 29) as f64;

const SIN: [f64; 6] = [
    1.58962301576546568060e-10,
    -2.50507477628578072866e-8,
    2.75573136213857245213e-6,
    -1.98412698295895385996e-4,
    8.33333333332211858878e-3,
    -1.66666666666666307295e-1,
];
const COS: [f64; 6] = [
    -1.13585365213876817300e-11,
    2.08757008419747316778e-9,
    -2.75573141792967388112e-7,
    2.48015872888517045348e-5,
    -1.38888888888730564116e-3,
    4.16666666666665929218e-2,
];
const TAN_ABOVE: [f64; 3] =
    [-1.30936939181383734205e4, 1.15351664838587416140e6, -1.79565251976484877988e7];
const TAN_BELOW: [f64; 5] = [
    1.0,
    1.36812963470692954678e4,
    -1.32089234440210967447e6,
    2.50083801823357915839e7,
    -5.38695755929454629881e7,
];

/// The even eighth of the circle (of 0 to 7) nearest to a positive angle, and the angle from there.
fn octant(x: f64) -> (u64, f64) {
    // A quarter of π in three parts.
    const PARTS: [f64; 3] =
        [7.85398125648498535156e-1, 3.77489470793079817668e-8, 2.69515142907905952645e-15];
    let mut octant = (x * (4.0 / PI)) as u64;
    octant += octant & 1;
    let times = octant as f64;
    let rest = PARTS.iter().fold(x, |rest, part| rest - times * part);
    (octant & 7, rest)
}

fn sine(z: f64) -> f64 {
    let square = z * z;
    z + z * square * polynomial(square, &SIN)
}

fn cosine(z: f64) -> f64 {
    let square = z * z;
    1.0 - 0.5 * square + square * square * polynomial(square, &COS)
}

pub(super) fn sin(x: f64) -> f64 {
    if x == 0.0 || !x.is_finite() || x.abs() >= LARGE {
        return libm::sin(x);
    }
    let (octant, z) = octant(x.abs());
    let value = if matches!(octant & 3, 1 | 2) { cosine(z) } else { sine(z) };
    if (octant > 3) != (x < 0.0) { -value } else { value }
}

pub(super) fn cos(x: f64) -> f64 {
    if !x.is_finite() || x.abs() >= LARGE {
        return libm::cos(x);
    }
    let (octant, z) = octant(x.abs());
    let value = if matches!(octant & 3, 1 | 2) { sine(z) } else { cosine(z) };
    if matches!(octant, 2..=5) { -value } else { value }
}

pub(super) fn tan(x: f64) -> f64 {
    if x == 0.0 || !x.is_finite() || x.abs() >= LARGE {
        return libm::tan(x);
    }
    let (octant, z) = octant(x.abs());
    let square = z * z;
    let mut value = z;
    if square > 1e-14 {
        let above = square * polynomial(square, &TAN_ABOVE);
        value = z + z * (above / polynomial(square, &TAN_BELOW));
    }
    if octant & 2 == 2 {
        value = -1.0 / value;
    }
    if x < 0.0 { -value } else { value }
}

/// Of at most 0.66.
fn small_atan(x: f64) -> f64 {
    const ABOVE: [f64; 5] = [
        -8.750608600031904122785e-01,
        -1.615753718733365076637e+01,
        -7.500855792314704667340e+01,
        -1.228866684490136173410e+02,
        -6.485021904942025371773e+01,
    ];
    const BELOW: [f64; 6] = [
        1.0,
        2.485846490142306297962e+01,
        1.650270098316988542046e+02,
        4.328810604912902668951e+02,
        4.853903996359136964868e+02,
        1.945506571482613964425e+02,
    ];
    let square = x * x;
    let part = square * polynomial(square, &ABOVE) / polynomial(square, &BELOW);
    x * part + x
}

/// Of no less than 0.
fn positive_atan(x: f64) -> f64 {
    // What half of π has more than a double.
    const MORE: f64 = 6.123233995736765886130e-17;
    const TAN_3_PI_8: f64 = 2.41421356237309504880;
    if x <= 0.66 {
        small_atan(x)
    } else if x > TAN_3_PI_8 {
        FRAC_PI_2 - small_atan(1.0 / x) + MORE
    } else {
        FRAC_PI_4 + small_atan((x - 1.0) / (x + 1.0)) + 0.5 * MORE
    }
}

pub(super) fn atan(x: f64) -> f64 {
    if x == 0.0 || x.is_nan() {
        return x;
    }
    if x > 0.0 { positive_atan(x) } else { -positive_atan(-x) }
}

pub(super) fn atan2(y: f64, x: f64) -> f64 {
    if x == 0.0 || y == 0.0 || !x.is_finite() || !y.is_finite() {
        return libm::atan2(y, x);
    }
    let angle = atan(y / x);
    match (x < 0.0, angle <= 0.0) {
        (false, _) => angle,
        (true, true) => angle + PI,
        (true, false) => angle - PI,
    }
}

pub(super) fn asin(x: f64) -> f64 {
    if x == 0.0 {
        return x;
    }
    let size = x.abs();
    if size.is_nan() || size > 1.0 {
        return f64::NAN;
    }
    let other = libm::sqrt(1.0 - size * size);
    let angle = if size > 0.7 {
        FRAC_PI_2 - positive_atan(other / size)
    } else {
        positive_atan(size / other)
    };
    if x < 0.0 { -angle } else { angle }
}

pub(super) fn acos(x: f64) -> f64 {
    FRAC_PI_2 - asin(x)
}

/// A power of e by the series of Shibata (2010): of a sixteenth of what is left beside a power of 2, squared four
/// times as `e^2x - 1 = (e^x - 1)(e^x + 1)`. Go evaluates it so where products and sums are one instruction.
fn exp(x: f64) -> f64 {
    const HIGH: f64 = 0.693_147_180_559_662_956_511_601_805_686_950_683_593_75;
    const LOW: f64 = 0.282_352_905_630_315_771_225_884_481_750_134_360_255_254_120_68e-12;
    // Beyond these it takes more than one power of 2.
    if !(-700.0..=709.782_712_893_384).contains(&x) {
        return libm::exp(x);
    }
    let power = libm::rint(x * LOG2_E);
    let left = libm::fma(-power, LOW, libm::fma(-power, HIGH, x)) / 16.0;
    let mut factorial = 40_320.0;
    let mut series = 1.0 / factorial;
    for divisor in (2..=8).rev() {
        factorial /= f64::from(divisor);
        series = libm::fma(series, left, 1.0 / factorial);
    }
    let mut more = left * series;
    for _ in 0..3 {
        more *= more + 2.0;
    }
    libm::scalbn(libm::fma(more, more + 2.0, 1.0), power as i32)
}

pub(super) fn sinh(x: f64) -> f64 {
    const ABOVE: [f64; 4] = [
        -0.2630563213397497062819489e+2,
        -0.2894211355989563807284660366e+4,
        -0.8991272022039509355398013511e+5,
        -0.6307673640497716991184787251e+6,
    ];
    const BELOW: [f64; 4] = [
        1.0,
        -0.173678953558233699533450911e+3,
        0.1521517378790019070696485176e+5,
        -0.6307673640497716991212077277e+6,
    ];
    let size = x.abs();
    let value = if size > 21.0 {
        exp(size) * 0.5
    } else if size > 0.5 {
        let power = exp(size);
        (power - 1.0 / power) * 0.5
    } else {
        let square = size * size;
        polynomial(square, &ABOVE) * size / polynomial(square, &BELOW)
    };
    if x < 0.0 { -value } else { value }
}

pub(super) fn cosh(x: f64) -> f64 {
    let size = x.abs();
    if size > 21.0 {
        return exp(size) * 0.5;
    }
    let power = exp(size);
    (power + 1.0 / power) * 0.5
}

pub(super) fn tanh(x: f64) -> f64 {
    const ABOVE: [f64; 3] =
        [-9.64399179425052238628e-1, -9.92877231001918586564e1, -1.61468768441708447952e3];
    const BELOW: [f64; 4] =
        [1.0, 1.12811678491632931402e2, 2.23548839060100448583e3, 4.84406305325125486048e3];
    let size = x.abs();
    if x == 0.0 {
        x
    } else if size < 0.625 {
        let square = x * x;
        x + x * square * polynomial(square, &ABOVE) / polynomial(square, &BELOW)
    } else {
        (1.0 - 2.0 / (exp(2.0 * size) + 1.0)).copysign(x)
    }
}

pub(super) fn hypot(x: f64, y: f64) -> f64 {
    if x == 0.0 || y == 0.0 || !x.is_finite() || !y.is_finite() {
        return libm::hypot(x, y);
    }
    let (long, short) = (x.abs().max(y.abs()), x.abs().min(y.abs()));
    let ratio = short / long;
    long * libm::sqrt(1.0 + ratio * ratio)
}

/// Above this the gamma function is found by Stirling's series.
const STIRLING: f64 = 33.0;

pub(super) fn gamma(x: f64) -> f64 {
    const ABOVE: [f64; 7] = [
        1.60119522476751861407e-04,
        1.19135147006586384913e-03,
        1.04213797561761569935e-02,
        4.76367800457137231464e-02,
        2.07448227648435975150e-01,
        4.94214826801497100753e-01,
        9.99999999999999996796e-01,
    ];
    const BELOW: [f64; 8] = [
        -2.31581873324120129819e-05,
        5.39605580493303397842e-04,
        -4.45641913851797240494e-03,
        1.18139785222060435552e-02,
        3.58236398605498653373e-02,
        -2.34591795718243348568e-01,
        7.14304917030273074085e-02,
        1.00000000000000000320e+00,
    ];
    if x.is_nan() || x == 0.0 || x.is_infinite() || x.abs() > STIRLING || x < 0.0 && x == x.trunc()
    {
        return libm::tgamma(x);
    }
    let (mut x, mut product) = (x, 1.0);
    while x >= 3.0 {
        x -= 1.0;
        product *= x;
    }
    while x < 2.0 {
        if x.abs() < 1e-9 {
            const EULER: f64 = 0.57721566490153286060651209008240243104215933593992;
            return product / ((1.0 + EULER * x) * x);
        }
        product /= x;
        x += 1.0;
    }
    if x == 2.0 {
        return product;
    }
    x -= 2.0;
    product * polynomial(x, &ABOVE) / polynomial(x, &BELOW)
}
