//! Package `uuid`.

use num_bigint::{BigInt, Sign};

use super::arguments as arg;
use super::call::{CallError, Constant, Kinds, Member, Package, Parameter, constant, function};
use super::datum::Datum;
use super::digest::{md5, sha1};
use crate::number::Number;

const S: Parameter = Parameter::STRING;
const B: Parameter = Parameter::TEXT;

/// The package.
pub(super) const PACKAGE: Package = Package { path: "uuid", members: MEMBERS, text: TEXT };

const TEXT: &str = r#"{
	ns: {
		DNS:  "6ba7b810-9dad-11d1-80b4-00c04fd430c8"
		URL:  "6ba7b811-9dad-11d1-80b4-00c04fd430c8"
		OID:  "6ba7b812-9dad-11d1-80b4-00c04fd430c8"
		X500: "6ba7b814-9dad-11d1-80b4-00c04fd430c8"
		Nil:  "00000000-0000-0000-0000-000000000000"
	}
	variants: Invalid:   0
	variants: RFC4122:   1
	variants: Reserved:  2
	variants: Microsoft: 3
	variants: Future:    4
}"#;

const MEMBERS: &[Member] = &[
    function("Valid", &[S], Kinds::BOTTOM, |_, a| {
        let text = arg::text(a, 0)?;
        // What parses takes any two characters around one.
        if text.len() == 38 && !(text.starts_with('{') && text.ends_with('}')) {
            return Err(CallError::permanent("invalid bracketed UUID format"));
        }
        parse(text).map(|_| Datum::Bool(true)).map_err(CallError::permanent)
    }),
    function("Parse", &[S], Kinds::STRING, |_, a| {
        parse(arg::text(a, 0)?).map(text).map_err(CallError::permanent)
    }),
    function("URN", &[S], Kinds::STRING, |_, a| {
        let uuid = parse(arg::text(a, 0)?).map_err(CallError::permanent)?;
        Ok(Datum::text(format!("urn:uuid:{}", canonical(&uuid))))
    }),
    function("FromInt", &[Parameter::INT], Kinds::STRING, |_, a| {
        let bytes = arg::integer(a, 0)?.magnitude().to_bytes_be();
        let mut uuid = [0u8; 16];
        match 16usize.checked_sub(bytes.len()) {
            Some(start) => uuid[start..].copy_from_slice(&bytes),
            None => {
                let count = bytes.len();
                return Err(CallError::permanent(format!("invalid UUID (got {count} bytes)")));
            }
        }
        Ok(text(uuid))
    }),
    // Quirk: the bytes of the text, not those of the UUID.
    function("ToInt", &[S], Kinds::INT, |_, a| {
        let value = BigInt::from_bytes_be(Sign::Plus, arg::text(a, 0)?.as_bytes());
        Ok(Datum::Number(Number::big(&value)))
    }),
    function("Variant", &[S], Kinds::INT, |_, a| {
        let uuid = parse(arg::text(a, 0)?).map_err(CallError::permanent)?;
        Ok(Datum::int(match uuid[8] {
            0x80..=0xbf => 1,
            0xc0..=0xdf => 3,
            0xe0..=0xff => 4,
            _ => 2,
        }))
    }),
    function("Version", &[S], Kinds::INT, |_, a| {
        let uuid = parse(arg::text(a, 0)?).map_err(CallError::permanent)?;
        Ok(Datum::int(i64::from(uuid[6] >> 4)))
    }),
    function("SHA1", &[S, B], Kinds::STRING, |cx, a| {
        cx.spend(arg::bytes(a, 1)?.len())?;
        named(a, sha1, 5)
    }),
    function("MD5", &[S, B], Kinds::STRING, |cx, a| {
        cx.spend(arg::bytes(a, 1)?.len())?;
        named(a, md5, 3)
    }),
    constant("ns", Constant::Cue),
    constant("variants", Constant::Cue),
];

fn canonical(uuid: &[u8; 16]) -> String {
    let hex = super::hex::encode(uuid);
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

fn text(uuid: [u8; 16]) -> Datum {
    Datum::text(canonical(&uuid))
}

fn named(args: &[Datum], sum: fn(&[u8]) -> Vec<u8>, version: u8) -> Result<Datum, CallError> {
    let mut data = parse(arg::text(args, 0)?).map_err(CallError::permanent)?.to_vec();
    data.extend_from_slice(arg::bytes(args, 1)?);
    let hash = sum(&data);
    let mut uuid = [0u8; 16];
    uuid.copy_from_slice(&hash[..16]);
    uuid[6] = (uuid[6] & 0x0f) | version << 4;
    uuid[8] = (uuid[8] & 0x3f) | 0x80;
    Ok(text(uuid))
}

fn parse(text: &str) -> Result<[u8; 16], String> {
    let format = || "invalid UUID format".to_owned();
    let bytes = text.as_bytes();
    let digits: Vec<u8> = match bytes.len() {
        36 => dashed(bytes).ok_or_else(format)?,
        45 => {
            if !bytes[..9].eq_ignore_ascii_case(b"urn:uuid:") {
                let prefix = String::from_utf8_lossy(&bytes[..9]).into_owned();
                return Err(format!("invalid urn prefix: {prefix:?}"));
            }
            dashed(&bytes[9..]).ok_or_else(format)?
        }
        38 => dashed(&bytes[1..37]).ok_or_else(format)?,
        32 => bytes.to_vec(),
        other => return Err(format!("invalid UUID length: {other}")),
    };
    let mut uuid = [0u8; 16];
    for (byte, pair) in uuid.iter_mut().zip(digits.chunks_exact(2)) {
        let digit = |at: usize| char::from(pair[at]).to_digit(16);
        match (digit(0), digit(1)) {
            (Some(high), Some(low)) => *byte = (high * 16 + low) as u8,
            _ => return Err(format()),
        }
    }
    Ok(uuid)
}

fn dashed(bytes: &[u8]) -> Option<Vec<u8>> {
    let places = [8, 13, 18, 23];
    if places.iter().any(|at| bytes[*at] != b'-') {
        return None;
    }
    let digits = bytes.iter().enumerate().filter(|(at, _)| !places.contains(at));
    Some(digits.map(|(_, byte)| *byte).collect())
}
