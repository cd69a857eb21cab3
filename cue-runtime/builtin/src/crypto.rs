//! Packages `crypto/*`: sums and HMAC, always as bytes.

use sha2::Digest;

use super::arguments as arg;
use super::call::{
    CallContext, CallError, Constant, Kinds, Package, Parameter, constant, function,
};
use super::datum::Datum;
use super::digest::{md5, sha1};

type Outcome = Result<Datum, CallError>;

const B: Parameter = Parameter::TEXT;

/// A sum of the only argument.
macro_rules! sum {
    ($name:literal, $sum:expr) => {
        function($name, &[B], Kinds::TEXT, |cx, a| {
            let data = arg::bytes(a, 0)?;
            cx.spend(data.len())?;
            let sum: fn(&[u8]) -> Vec<u8> = $sum;
            Ok(Datum::bytes(sum(data)))
        })
    };
}

pub(super) const MD5: Package = Package {
    path: "crypto/md5",
    text: "",
    members: &[
        constant("Size", Constant::Int(16)),
        constant("BlockSize", Constant::Int(64)),
        sum!("Sum", md5),
    ],
};

pub(super) const SHA1: Package = Package {
    path: "crypto/sha1",
    text: "",
    members: &[
        constant("Size", Constant::Int(20)),
        constant("BlockSize", Constant::Int(64)),
        sum!("Sum", sha1),
    ],
};

pub(super) const SHA256: Package = Package {
    path: "crypto/sha256",
    text: "",
    members: &[
        constant("Size", Constant::Int(32)),
        constant("Size224", Constant::Int(28)),
        constant("BlockSize", Constant::Int(64)),
        sum!("Sum256", |data| sha2::Sha256::digest(data).to_vec()),
        sum!("Sum224", |data| sha2::Sha224::digest(data).to_vec()),
    ],
};

pub(super) const SHA512: Package = Package {
    path: "crypto/sha512",
    text: "",
    members: &[
        constant("Size", Constant::Int(64)),
        constant("Size224", Constant::Int(28)),
        constant("Size256", Constant::Int(32)),
        constant("Size384", Constant::Int(48)),
        constant("BlockSize", Constant::Int(128)),
        sum!("Sum512", |data| sha2::Sha512::digest(data).to_vec()),
        sum!("Sum384", |data| sha2::Sha384::digest(data).to_vec()),
        sum!("Sum512_224", |data| sha2::Sha512_224::digest(data).to_vec()),
        sum!("Sum512_256", |data| sha2::Sha512_256::digest(data).to_vec()),
    ],
};

pub(super) const HMAC: Package = Package {
    path: "crypto/hmac",
    text: "",
    members: &[
        constant("MD5", Constant::String("MD5")),
        constant("SHA1", Constant::String("SHA1")),
        constant("SHA224", Constant::String("SHA224")),
        constant("SHA256", Constant::String("SHA256")),
        constant("SHA384", Constant::String("SHA384")),
        constant("SHA512", Constant::String("SHA512")),
        constant("SHA512_224", Constant::String("SHA512_224")),
        constant("SHA512_256", Constant::String("SHA512_256")),
        function("Sign", &[Parameter::STRING, B, B], Kinds::TEXT, sign),
    ],
};

fn sign(cx: &mut CallContext, args: &[Datum]) -> Outcome {
    let (sum, block): (fn(&[u8]) -> Vec<u8>, usize) = match arg::text(args, 0)? {
        "MD5" => (md5, 64),
        "SHA1" => (sha1, 64),
        "SHA224" => (|data| sha2::Sha224::digest(data).to_vec(), 64),
        "SHA256" => (|data| sha2::Sha256::digest(data).to_vec(), 64),
        "SHA384" => (|data| sha2::Sha384::digest(data).to_vec(), 128),
        "SHA512" => (|data| sha2::Sha512::digest(data).to_vec(), 128),
        "SHA512_224" => (|data| sha2::Sha512_224::digest(data).to_vec(), 128),
        "SHA512_256" => (|data| sha2::Sha512_256::digest(data).to_vec(), 128),
        _ => return Err(CallError::permanent("unsupported hash function")),
    };
    let (key, data) = (arg::bytes(args, 1)?, arg::bytes(args, 2)?);
    cx.spend(key.len().saturating_add(data.len()))?;
    let mut key = if key.len() > block { sum(key) } else { key.to_vec() };
    key.resize(block, 0);
    let mut inner: Vec<u8> = key.iter().map(|byte| byte ^ 0x36).collect();
    inner.extend_from_slice(data);
    let mut outer: Vec<u8> = key.iter().map(|byte| byte ^ 0x5c).collect();
    outer.extend(sum(&inner));
    Ok(Datum::bytes(sum(&outer)))
}
