//! Package `encoding/base64`: the standard alphabet with padding.

use base64::Engine as _;

use super::arguments as arg;
use super::call::{CallError, Kinds, Member, Package, Parameter, function};
use super::datum::Datum;

const ENCODING: Parameter = Parameter::DATA.wants(Kinds::NULL, "base64: unsupported encoding: ");

/// The package.
pub(super) const PACKAGE: Package = Package { path: "encoding/base64", members: MEMBERS, text: "" };

const MEMBERS: &[Member] = &[
    function("EncodedLen", &[ENCODING, Parameter::INT], Kinds::INT, |_, a| {
        standard(a)?;
        let n = arg::int(a, 1)?;
        Ok(Datum::int(n.saturating_add(2).wrapping_div(3).saturating_mul(4)))
    }),
    function("DecodedLen", &[ENCODING, Parameter::INT], Kinds::INT, |_, a| {
        standard(a)?;
        Ok(Datum::int(arg::int(a, 1)? / 4 * 3))
    }),
    function("Encode", &[ENCODING, Parameter::TEXT], Kinds::STRING, |cx, a| {
        standard(a)?;
        let bytes = arg::bytes(a, 1)?;
        cx.spend(bytes.len() / 3 * 4 + 4)?;
        Ok(Datum::text(base64::engine::general_purpose::STANDARD.encode(bytes)))
    }),
    function("Decode", &[ENCODING, Parameter::STRING], Kinds::TEXT, |cx, a| {
        standard(a)?;
        let text = arg::text(a, 1)?;
        cx.spend(text.len())?;
        decode(text.as_bytes())
            .map(Datum::bytes)
            .map_err(|at| CallError::permanent(format!("illegal base64 data at input byte {at}")))
    }),
];

fn standard(args: &[Datum]) -> Result<(), CallError> {
    match args.first() {
        Some(Datum::Null) | None => Ok(()),
        Some(other) => Err(CallError::permanent(format!(
            "base64: unsupported encoding: cannot use value {} (type {}) as null",
            other.cue_text(),
            other.kind_name()
        ))
        .of_argument(0)),
    }
}

fn digit(byte: u8) -> Option<u8> {
    match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    }
}

/// Decodes; line ends are skipped, padding is required. The error is a byte offset.
fn decode(text: &[u8]) -> Result<Vec<u8>, usize> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let mut at = 0;
    let skip = |at: &mut usize| {
        while matches!(text.get(*at), Some(b'\n' | b'\r')) {
            *at += 1;
        }
    };
    loop {
        let mut group = [0u8; 4];
        let mut have = 0;
        let mut last = false;
        while have < 4 {
            skip(&mut at);
            let Some(byte) = text.get(at) else {
                return if have == 0 { Ok(out) } else { Err(at - have) };
            };
            at += 1;
            if let Some(value) = digit(*byte) {
                group[have] = value;
                have += 1;
                continue;
            }
            if *byte != b'=' || have < 2 {
                return Err(at - 1);
            }
            if have == 2 {
                skip(&mut at);
                match text.get(at) {
                    None => return Err(text.len()),
                    Some(b'=') => at += 1,
                    Some(_) => return Err(at - 1),
                }
            }
            skip(&mut at);
            if at < text.len() {
                return Err(at);
            }
            last = true;
            break;
        }
        let bits = group.iter().fold(0u32, |bits, value| (bits << 6) | u32::from(*value));
        let bytes = bits.to_be_bytes();
        out.extend_from_slice(&bytes[1..if last { have } else { 4 }]);
        if last {
            return Ok(out);
        }
    }
}
