//! Package `crypto/ed25519`: checking a signature (RFC 8032), with big integers: not fast, and
//! nothing here is secret.

use num_bigint::BigUint;
use num_traits::{One, Zero};
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
    if key.len() != 32 {
        return Err(CallError::permanent("ed25519: publicKey must be 32 bytes"));
    }
    cx.spend(message.len().saturating_add(4096))?;
    Ok(Datum::Bool(signature.len() == 64 && check(key, message, signature).unwrap_or(false)))
}

/// x and y on the curve.
type Point = (BigUint, BigUint, BigUint);

struct Curve {
    p: BigUint,
    d: BigUint,
}

impl Curve {
    fn new() -> Curve {
        let p = (BigUint::one() << 255u32) - 19u32;
        let inverse = BigUint::from(121_666u32).modpow(&(&p - 2u32), &p);
        // −121665/121666
        let d = &p - (BigUint::from(121_665u32) * inverse) % &p;
        Curve { p, d }
    }

    fn sub(&self, a: &BigUint, b: &BigUint) -> BigUint {
        (a + &self.p - b % &self.p) % &self.p
    }

    /// Projective addition; complete on this curve.
    fn add(&self, a: &Point, b: &Point) -> Point {
        let p = &self.p;
        let zz = &a.2 * &b.2 % p;
        let zz2 = &zz * &zz % p;
        let xx = &a.0 * &b.0 % p;
        let yy = &a.1 * &b.1 % p;
        let e = &self.d * &xx % p * &yy % p;
        let f = self.sub(&zz2, &e);
        let g = (&zz2 + &e) % p;
        let cross = (&a.0 + &a.1) * (&b.0 + &b.1) % p;
        let cross = self.sub(&self.sub(&cross, &xx), &yy);
        let x = &zz * &f % p * cross % p;
        let y = &zz * &g % p * ((&yy + &xx) % p) % p;
        (x, y, f * g % p)
    }

    fn multiply(&self, point: &Point, by: &BigUint) -> Point {
        let mut sum = (BigUint::zero(), BigUint::one(), BigUint::one());
        for at in (0..by.bits()).rev() {
            sum = self.add(&sum, &sum);
            if by.bit(at) {
                sum = self.add(&sum, point);
            }
        }
        sum
    }

    fn decode(&self, bytes: &[u8]) -> Option<Point> {
        let p = &self.p;
        let mut bytes = bytes.to_vec();
        let odd = bytes.last()? >> 7 == 1;
        *bytes.last_mut()? &= 0x7f;
        let y = BigUint::from_bytes_le(&bytes) % p;
        let yy = &y * &y % p;
        let u = self.sub(&yy, &BigUint::one());
        let v = (&self.d * &yy + 1u32) % p;
        let v3 = v.modpow(&BigUint::from(3u32), p);
        let v7 = v.modpow(&BigUint::from(7u32), p);
        let power = (&u * v7 % p).modpow(&((p - 5u32) >> 3u32), p);
        let mut x = &u * v3 % p * power % p;
        let vxx = &v * &x % p * &x % p;
        if vxx != u {
            if vxx != self.sub(&BigUint::zero(), &u) {
                return None;
            }
            let root = BigUint::from(2u32).modpow(&((p - 1u32) >> 2u32), p);
            x = x * root % p;
        }
        if x.bit(0) != odd {
            x = self.sub(&BigUint::zero(), &x);
        }
        Some((x, y, BigUint::one()))
    }

    fn encode(&self, point: &Point) -> Vec<u8> {
        let p = &self.p;
        let inverse = point.2.modpow(&(p - 2u32), p);
        let x = &point.0 * &inverse % p;
        let y = &point.1 * &inverse % p;
        let mut bytes = y.to_bytes_le();
        bytes.resize(32, 0);
        bytes[31] |= u8::from(x.bit(0)) << 7;
        bytes
    }
}

fn check(key: &[u8], message: &[u8], signature: &[u8]) -> Option<bool> {
    let curve = Curve::new();
    let order = (BigUint::one() << 252u32)
        + BigUint::parse_bytes(b"27742317777372353535851937790883648493", 10)?;
    let s = BigUint::from_bytes_le(&signature[32..]);
    if s >= order {
        return Some(false);
    }
    let public = curve.decode(key)?;
    let mut hash = sha2::Sha512::new();
    hash.update(&signature[..32]);
    hash.update(key);
    hash.update(message);
    let h = BigUint::from_bytes_le(&hash.finalize()) % &order;
    // 4/5, with x even: the base point.
    let mut base =
        (BigUint::from(5u32).modpow(&(&curve.p - 2u32), &curve.p) * 4u32 % &curve.p).to_bytes_le();
    base.resize(32, 0);
    let base = curve.decode(&base)?;
    // R = s·B − h·A
    let minus = (curve.sub(&BigUint::zero(), &public.0), public.1.clone(), public.2.clone());
    let sum = curve.add(&curve.multiply(&base, &s), &curve.multiply(&minus, &h));
    Some(curve.encode(&sum) == signature[..32])
}
