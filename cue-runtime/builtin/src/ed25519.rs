//! Package `crypto/ed25519`: checking a signature (RFC 8032), accepting what Go accepts. Nothing
//! here is secret, so time may depend on the data.

use std::ops::{Add, Mul, Sub};

use num_bigint::BigUint;
use sha2::Digest;

use super::arguments as arg;
use super::call::{
    CallContext, CallError, Constant, Kinds, Package, Parameter, constant, function,
};
use super::datum::Datum;

const B: Parameter = Parameter::TEXT;

/// The package.
pub(super) const PACKAGE: Package = Package {
    path: "crypto/ed25519",
    text: "",
    members: &[
        constant("PublicKeySize", Constant::Int(32)),
        function("Valid", &[B, B, B], Kinds::BOOL, valid),
    ],
};

fn valid(cx: &mut CallContext, args: &[Datum]) -> Result<Datum, CallError> {
    let (key, message, signature) =
        (arg::bytes(args, 0)?, arg::bytes(args, 1)?, arg::bytes(args, 2)?);
    let Ok(key) = key.try_into() else {
        return Err(CallError::permanent("ed25519: publicKey must be 32 bytes"));
    };
    cx.spend(message.len().saturating_add(4096))?;
    Ok(Datum::Bool(check(key, message, signature).unwrap_or(false)))
}

/// The order L of the base point, 2^252 + 27742317777372353535851937790883648493 (RFC 8032, 5.1),
/// least word first.
const ORDER: [u32; 8] = [0x5cf5_d3ed, 0x5812_631a, 0xa2f7_9cd6, 0x14de_f9de, 0, 0, 0, 0x1000_0000];

/// Whether the signature, R and S, is the key's for the message (RFC 8032, 5.1.7); `None` where
/// they cannot be read. As in Go the equation is the one without the cofactor, and R is compared
/// as bytes, so it has to be written the one canonical way.
fn check(key: &[u8; 32], message: &[u8], signature: &[u8]) -> Option<bool> {
    let ([r, s], []) = signature.as_chunks::<32>() else { return None };
    let order = BigUint::from_slice(&ORDER);
    let s = BigUint::from_bytes_le(s);
    if s >= order {
        return None;
    }
    let public = Point::decode(key)?;
    let hash = sha2::Sha512::new().chain_update(r).chain_update(key).chain_update(message);
    let hash = BigUint::from_bytes_le(&hash.finalize()) % order;
    // R = S·B − hash·A
    let base = Point::affine(BASE_X, BASE_Y);
    let minus_public = Point::affine(ZERO - public.x, public.y);
    Some(base.multiply_and_add(&s, &minus_public, &hash).encode() == *r)
}

/// A number modulo p = 2^255 − 19 (RFC 8032, 5.1): limbs of 29 bits, least first, so that a sum of
/// nine products fits into 64 bits. The highest limb keeps to `TOP_BITS`, and only the lowest goes
/// beyond its bits, by less than 2^26: the number may be p and a little more.
#[derive(Clone, Copy)]
struct Field([u32; LIMBS]);

const LIMBS: usize = 9;

/// The bits of a limb.
const LIMB_BITS: usize = 29;

const LIMB_MASK: u64 = (1 << LIMB_BITS) - 1;

/// The bits of the highest limb: those below 2^255.
const TOP_BITS: usize = 23;

const TOP_MASK: u64 = (1 << TOP_BITS) - 1;

const ZERO: Field = Field([0; LIMBS]);

const ONE: Field = Field([1, 0, 0, 0, 0, 0, 0, 0, 0]);

/// The d of the curve −x² + y² = 1 + d·x²·y²: −121665/121666 (RFC 8032, 5.1).
const CURVE_D: Field = Field([
    0x135978a3, 0x0f5a6e50, 0x10762add, 0x00149a82, 0x1e898007, 0x003cbbbc, 0x19ce331d, 0x1dc56dff,
    0x0052036c,
]);

/// A square root of −1: 2^((p − 1)/4) (RFC 8032, 5.1.3).
const ROOT_OF_MINUS_ONE: Field = Field([
    0x0a0ea0b0, 0x0770d93a, 0x0bf91e31, 0x06300d5a, 0x1d7a72f4, 0x004c9efd, 0x1c2cad34, 0x1009f83b,
    0x002b8324,
]);

/// The x of the base point: the even one (RFC 8032, 5.1).
const BASE_X: Field = Field([
    0x0f25d51a, 0x0ab16b04, 0x0969ecb2, 0x198ec12a, 0x0dc5c692, 0x1118feeb, 0x0ffb0293, 0x1a79adca,
    0x00216936,
]);

/// The y of the base point: 4/5 (RFC 8032, 5.1).
const BASE_Y: Field = Field([
    0x06666658, 0x13333333, 0x19999999, 0x0ccccccc, 0x06666666, 0x13333333, 0x19999999, 0x0ccccccc,
    0x00666666,
]);

/// Leaves a limb's bits in each limb but the last, which takes the rest.
fn carry(limbs: &mut [u64; LIMBS]) {
    for at in 1..LIMBS {
        limbs[at] += limbs[at - 1] >> LIMB_BITS;
        limbs[at - 1] &= LIMB_MASK;
    }
}

impl Field {
    /// From limbs below 2^44. What is above 2^255 counts 19 times; it is below 2^21.1, so the lowest
    /// limb grows by less than 2^26.
    fn reduce(mut limbs: [u64; LIMBS]) -> Field {
        carry(&mut limbs);
        limbs[0] += 19 * (limbs[LIMBS - 1] >> TOP_BITS);
        limbs[LIMBS - 1] &= TOP_MASK;
        Field(limbs.map(|limb| limb as u32))
    }

    /// The number that is written least byte first (RFC 8032, 5.1.2), be it below p or not.
    fn from_bytes(bytes: &[u8; 32]) -> Field {
        let mut limbs = [0; LIMBS];
        for (at, byte) in bytes.iter().enumerate() {
            limbs[8 * at / LIMB_BITS] += u64::from(*byte) << (8 * at % LIMB_BITS);
        }
        Field::reduce(limbs)
    }

    /// The one canonical way to write the number (RFC 8032, 5.1.2), as what is below p.
    fn to_bytes(self) -> [u8; 32] {
        // Reduced once more it is below 2^255, and not below p only if 19 more reaches that: p less
        // is then what there is besides.
        let mut limbs = Field::reduce(self.0.map(u64::from)).0.map(u64::from);
        let mut above = limbs;
        above[0] += 19;
        carry(&mut above);
        if above[LIMBS - 1] >> TOP_BITS != 0 {
            above[LIMBS - 1] &= TOP_MASK;
            limbs = above;
        }
        std::array::from_fn(|at| {
            let (limb, shift) = (8 * at / LIMB_BITS, 8 * at % LIMB_BITS);
            let next = limbs.get(limb + 1).map_or(0, |next| next << LIMB_BITS);
            ((limbs[limb] | next) >> shift) as u8
        })
    }

    /// Squared so many times.
    fn square(self, times: usize) -> Field {
        (0..times).fold(self, |power, _| power * power)
    }

    /// The power (p − 5)/8 = 2^252 − 3, which roots are made of (RFC 8032, 5.1.3), and inverses.
    fn power(self) -> Field {
        // 2^250 − 1 is 250 = 5·5·5·2 ones: each time so many copies of those before.
        let mut ones = self;
        for (bits, copies) in [(1, 5), (5, 5), (25, 5), (125, 2)] {
            ones = (1..copies).fold(ones, |all, _| all.square(bits) * ones);
        }
        ones.square(2) * self
    }

    /// 1/self, which is the power p − 2 = 8·(2^252 − 3) + 3 (RFC 8032, 5.1.1).
    fn invert(self) -> Field {
        self.power().square(3) * self * self * self
    }
}

impl Add for Field {
    type Output = Field;

    fn add(self, other: Field) -> Field {
        Field::reduce(std::array::from_fn(|at| u64::from(self.0[at]) + u64::from(other.0[at])))
    }
}

impl Sub for Field {
    type Output = Field;

    fn sub(self, other: Field) -> Field {
        // 4·p, in limbs that are each more than any limb that is subtracted.
        let mut limbs = [2 * LIMB_MASK; LIMBS];
        limbs[0] -= 4 * 19 - 2;
        limbs[LIMBS - 1] = (4 << TOP_BITS) - 2;
        for (at, limb) in limbs.iter_mut().enumerate() {
            *limb = *limb + u64::from(self.0[at]) - u64::from(other.0[at]);
        }
        Field::reduce(limbs)
    }
}

impl Mul for Field {
    type Output = Field;

    fn mul(self, other: Field) -> Field {
        let mut columns = [0; 2 * LIMBS];
        for (low, limb) in self.0.iter().enumerate() {
            for (column, other) in columns[low..].iter_mut().zip(&other.0) {
                *column += u64::from(*limb) * u64::from(*other);
            }
        }
        // Each hands on once what is beyond its bits, and is then below 2^33.
        let mut below = 0;
        for column in &mut columns {
            let above = *column >> LIMB_BITS;
            *column = (*column & LIMB_MASK) + below;
            below = above;
        }
        // What is above 2^261 counts 64·19 times.
        Field::reduce(std::array::from_fn(|at| columns[at] + 1216 * columns[at + LIMBS]))
    }
}

/// A point in extended coordinates (RFC 8032, 5.1.4): x/z and y/z, with t = x·y/z.
#[derive(Clone, Copy)]
struct Point {
    x: Field,
    y: Field,
    z: Field,
    t: Field,
}

impl Point {
    /// The point with these coordinates.
    fn affine(x: Field, y: Field) -> Point {
        Point { x, y, z: ONE, t: x * y }
    }

    /// The sum of any two points, named as in RFC 8032, 5.1.4.
    fn add(&self, other: &Point) -> Point {
        let a = (self.y - self.x) * (other.y - other.x);
        let b = (self.y + self.x) * (other.y + other.x);
        let c = self.t * CURVE_D * other.t;
        let d = self.z * other.z;
        let (c, d) = (c + c, d + d);
        Point::from_quotients(b - a, d - c, d + c, b + a)
    }

    /// The sum of a point and itself, named as in RFC 8032, 5.1.4.
    fn double(&self) -> Point {
        let a = self.x * self.x;
        let b = self.y * self.y;
        let c = self.z * self.z;
        let h = a + b;
        let sum = self.x + self.y;
        let g = a - b;
        Point::from_quotients(h - sum * sum, c + c + g, g, h)
    }

    /// The point at e/g and h/f, which is how both of the above end.
    fn from_quotients(e: Field, f: Field, g: Field, h: Field) -> Point {
        Point { x: e * f, y: g * h, z: f * g, t: e * h }
    }

    /// times·self + other_times·other, both in one pass over the bits from the highest: the sum so
    /// far doubles, and takes one of the points or what both are together.
    fn multiply_and_add(&self, times: &BigUint, other: &Point, other_times: &BigUint) -> Point {
        let both = self.add(other);
        let mut sum = Point::affine(ZERO, ONE);
        for at in (0..times.bits().max(other_times.bits())).rev() {
            sum = sum.double();
            sum = match (times.bit(at), other_times.bit(at)) {
                (true, true) => sum.add(&both),
                (true, false) => sum.add(self),
                (false, true) => sum.add(other),
                (false, false) => sum,
            };
        }
        sum
    }

    /// The point that is written so (RFC 8032, 5.1.3); as in Go y may also be p or more, and the
    /// sign be set where x is zero.
    fn decode(bytes: &[u8; 32]) -> Option<Point> {
        let mut bytes = *bytes;
        let sign = bytes[31] >> 7;
        bytes[31] &= 0x7f;
        let y = Field::from_bytes(&bytes);
        let u = y * y - ONE;
        let v = y * y * CURVE_D + ONE;
        let uv3 = u * v * v * v;
        let mut x = uv3 * (uv3 * v.square(2)).power();
        let vxx = (v * x * x).to_bytes();
        if vxx == (ZERO - u).to_bytes() {
            x = x * ROOT_OF_MINUS_ONE;
        } else if vxx != u.to_bytes() {
            return None;
        }
        if x.to_bytes()[0] & 1 != sign {
            x = ZERO - x;
        }
        Some(Point::affine(x, y))
    }

    /// y, with the lowest bit of x as the highest (RFC 8032, 5.1.2).
    fn encode(&self) -> [u8; 32] {
        let inverse = self.z.invert();
        let mut bytes = (self.y * inverse).to_bytes();
        bytes[31] |= (self.x * inverse).to_bytes()[0] << 7;
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(decimal: &str) -> BigUint {
        decimal.parse().unwrap()
    }

    fn prime() -> BigUint {
        (BigUint::from(1u32) << 255u32) - 19u32
    }

    fn order() -> BigUint {
        (BigUint::from(1u32) << 252u32) + number("27742317777372353535851937790883648493")
    }

    /// 32 bytes, least first.
    fn written(number: &BigUint) -> [u8; 32] {
        let mut bytes = number.to_bytes_le();
        bytes.resize(32, 0);
        bytes.try_into().unwrap()
    }

    fn field(number: &BigUint) -> Field {
        Field::from_bytes(&written(number))
    }

    fn hex<const N: usize>(text: &str) -> [u8; N] {
        std::array::from_fn(|at| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).unwrap())
    }

    fn sha512(parts: &[&[u8]]) -> BigUint {
        BigUint::from_bytes_le(&sha2::Sha512::digest(parts.concat()))
    }

    fn accepts(key: &[u8; 32], message: &[u8], signature: &[u8]) -> bool {
        check(key, message, signature).unwrap_or(false)
    }

    /// The same check with numbers of any size and nothing done at once.
    mod reference {
        use super::*;

        /// X, Y and Z: the point X/Z, Y/Z.
        pub type Point = [BigUint; 3];

        fn curve_d() -> BigUint {
            number("37095705934669439343138083508754565189542113879843219016388785533085940283555")
        }

        pub fn minus(x: &BigUint) -> BigUint {
            prime() - x % prime()
        }

        pub fn base() -> Point {
            let x = "15112221349535400772501151409588531511454012693041857206046113283949847762202";
            let y = "46316835694926478169428394003475163141307993866256225615783033603165251855960";
            [number(x), number(y), 1u32.into()]
        }

        /// Projective addition, complete on this curve (add-2008-bbjlp with a = −1).
        pub fn add([x1, y1, z1]: &Point, [x2, y2, z2]: &Point) -> Point {
            let p = &prime();
            let zz = z1 * z2 % p;
            let (xx, yy) = (x1 * x2 % p, y1 * y2 % p);
            let e = curve_d() * &xx % p * &yy % p;
            let f = &zz * &zz + minus(&e);
            let g = &zz * &zz + e;
            let x = &zz * &f % p * (x1 * y2 + y1 * x2) % p;
            let y = zz * &g % p * (xx + yy) % p;
            [x, y, f * g % p]
        }

        pub fn multiply(point: &Point, by: &BigUint) -> Point {
            let mut sum = [0u32.into(), 1u32.into(), 1u32.into()];
            for at in (0..by.bits()).rev() {
                sum = add(&sum, &sum);
                if by.bit(at) {
                    sum = add(&sum, point);
                }
            }
            sum
        }

        pub fn decode(bytes: &[u8; 32]) -> Option<Point> {
            let p = &prime();
            let mut y = BigUint::from_bytes_le(bytes);
            let sign = y.bit(255);
            y.set_bit(255, false);
            let yy = &y * &y % p;
            let below = (curve_d() * &yy + 1u32).modpow(&(p - 2u32), p);
            let xx = (yy + p - 1u32) * below % p;
            let mut x = xx.modpow(&((p + 3u32) >> 3u32), p);
            if &x * &x % p != xx {
                x = x * BigUint::from(2u32).modpow(&(p >> 2u32), p) % p;
            }
            if &x * &x % p != xx {
                return None;
            }
            if x.bit(0) != sign {
                x = minus(&x) % p;
            }
            Some([x, y % p, 1u32.into()])
        }

        pub fn encode([x, y, z]: &Point) -> [u8; 32] {
            let p = &prime();
            let inverse = z.modpow(&(p - 2u32), p);
            let mut y = y * &inverse % p;
            y.set_bit(255, (x * inverse % p).bit(0));
            written(&y)
        }

        pub fn accepts(key: &[u8; 32], message: &[u8], signature: &[u8; 64]) -> bool {
            let (r, s) = signature.split_at(32);
            let s = BigUint::from_bytes_le(s);
            let Some([x, y, z]) = decode(key) else { return false };
            let hash = sha512(&[r, key, message]) % order();
            let minus_public = [minus(&x), y, z];
            let sum = add(&multiply(&base(), &s), &multiply(&minus_public, &hash));
            s < order() && encode(&sum) == *r
        }
    }

    /// RFC 8032, 7.1, tests 1 to 3.
    const VECTORS: [(&str, &[u8], &str); 3] = [
        (
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
            &[],
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39\
             701cf9b46bd25bf5f0595bbe24655141438e7a100b",
        ),
        (
            "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
            &[0x72],
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f36\
             13d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
        ),
        (
            "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
            &[0xaf, 0x82],
            "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f7\
             60984dc6594a7c15e9716ed28dc027beceea1ec40a",
        ),
    ];

    /// The points of order 1, 2, 4, 4, 8, 8, 8 and 8, then six other ways to write the first four,
    /// not canonical, and last a y with no x.
    const SMALL_ORDER: [&str; 15] = [
        "0100000000000000000000000000000000000000000000000000000000000000",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0000000000000000000000000000000000000000000000000000000000000080",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
        "0100000000000000000000000000000000000000000000000000000000000080",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "0200000000000000000000000000000000000000000000000000000000000000",
    ];

    #[test]
    fn constants_are_the_numbers_of_the_standard() {
        let [x, y, _] = reference::base();
        assert_eq!(BASE_X.to_bytes(), written(&x));
        assert_eq!(BASE_Y.to_bytes(), written(&y));
        assert_eq!(BigUint::from_slice(&ORDER), order());
        let [above, below] = [field(&121_665u32.into()), field(&121_666u32.into())];
        assert_eq!((CURVE_D * below).to_bytes(), (ZERO - above).to_bytes());
        let root = BigUint::from(2u32).modpow(&(prime() >> 2u32), &prime());
        assert_eq!(ROOT_OF_MINUS_ONE.to_bytes(), written(&root));
    }

    #[test]
    fn field_arithmetic_is_that_of_big_numbers_modulo_p() {
        let p = &prime();
        let full: BigUint = (BigUint::from(1u32) << 255u32) - 1u32;
        let mut numbers: Vec<BigUint> = [0u32, 1, 2, 18, 19, 20].map(BigUint::from).to_vec();
        numbers.extend([p - 2u32, p - 1u32, p.clone(), p + 1u32, p + 17u32, full.clone()]);
        numbers.extend((1..LIMBS).map(|at| p - (BigUint::from(1u32) << (LIMB_BITS * at))));
        numbers.extend((0u8..100).map(|seed| sha512(&[&[seed]]) >> 257u32));
        let mut forms: Vec<_> = numbers.into_iter().map(|whole| (field(&whole), whole)).collect();
        // The most that a form may be.
        let mut most = field(&full);
        most.0[0] += (1 << 26) - 1;
        forms.push((most, full + ((1u32 << 26) - 1)));
        assert!(Field::reduce([(1 << 44) - 1; LIMBS]).0[0] <= most.0[0]);
        for (a, whole_a) in &forms {
            assert_eq!(a.to_bytes(), written(&(whole_a % p)));
            assert_eq!(a.invert().to_bytes(), written(&whole_a.modpow(&(p - 2u32), p)));
            for (b, whole_b) in &forms {
                assert_eq!((*a + *b).to_bytes(), written(&((whole_a + whole_b) % p)));
                assert_eq!((*a - *b).to_bytes(), written(&((whole_a + p + p - whole_b) % p)));
                assert_eq!((*a * *b).to_bytes(), written(&(whole_a * whole_b % p)));
            }
        }
    }

    #[test]
    fn signatures_of_the_standard_are_valid_and_any_others_are_not() {
        for (key, message, signature) in VECTORS {
            let (key, signature) = (hex::<32>(key), hex::<64>(signature));
            assert!(accepts(&key, message, &signature));
            assert!(reference::accepts(&key, message, &signature));
            let flipped = |bytes: &[u8], bit: usize| {
                let mut bytes = bytes.to_vec();
                bytes[bit / 8] ^= 1 << (bit % 8);
                bytes
            };
            for bit in (0..256).step_by(5) {
                let key = flipped(&key, bit).try_into().unwrap();
                assert!(!accepts(&key, message, &signature), "key, bit {bit}");
            }
            for bit in 0..8 * message.len() {
                let message = flipped(message, bit);
                assert!(!accepts(&key, &message, &signature), "message, bit {bit}");
            }
            for bit in (0..512).step_by(5) {
                let signature = flipped(&signature, bit);
                assert!(!accepts(&key, message, &signature), "signature, bit {bit}");
            }
            assert!(!accepts(&key, message, &signature[..63]));
            assert!(!accepts(&key, message, &[&signature[..], &[0]].concat()));
            let more = written(&(BigUint::from_bytes_le(&signature[32..]) + order()));
            assert!(!accepts(&key, message, &[&signature[..32], &more].concat()));
        }
    }

    #[test]
    fn keys_of_small_order_may_be_written_in_any_way_but_r_only_in_one() {
        let mut valid = Vec::new();
        for (at_key, key) in SMALL_ORDER.map(hex::<32>).iter().enumerate() {
            for (at_r, r) in SMALL_ORDER.map(hex::<32>).into_iter().enumerate() {
                let signature: [u8; 64] = [r, [0; 32]].concat().try_into().unwrap();
                let accepted = accepts(key, b"any", &signature);
                assert_eq!(accepted, reference::accepts(key, b"any", &signature));
                valid.extend(accepted.then_some((at_key, at_r)));
            }
        }
        // With S = 0, R = −hash·A is met by the key of order 1 whatever the hash, and by others
        // where that happens to suit.
        for at_key in [0, 8, 10, 11] {
            assert!(valid.contains(&(at_key, 0)));
        }
        assert!(valid.len() > 4 && valid.iter().all(|at| at.0 < 14 && at.1 < 8), "{valid:?}");
    }

    #[test]
    fn the_equation_is_the_one_without_the_cofactor() {
        let (secret, nonce) = (sha512(&[b"secret"]) % order(), sha512(&[b"nonce"]) % order());
        let eighth = reference::decode(&hex(SMALL_ORDER[4])).unwrap();
        let public = reference::multiply(&reference::base(), &secret);
        let key = reference::encode(&reference::add(&public, &eighth));
        let r = reference::encode(&reference::multiply(&reference::base(), &nonce));
        let mut valid = 0;
        for message in 0u8..50 {
            let hash = sha512(&[&r, &key, &[message]]) % order();
            let s = written(&((&nonce + &hash * &secret) % order()));
            let signature: [u8; 64] = [r, s].concat().try_into().unwrap();
            let accepted = accepts(&key, &[message], &signature);
            assert_eq!(accepted, hash % 8u32 == BigUint::ZERO);
            assert_eq!(accepted, reference::accepts(&key, &[message], &signature));
            valid += u32::from(accepted);
        }
        assert!(valid > 0 && valid < 50, "{valid}");
    }
}
