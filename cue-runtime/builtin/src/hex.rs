//! Package `encoding/hex`.

use std::fmt::Write;

use super::arguments as arg;
use super::call::{CallContext, CallError, Kinds, Member, Package, Parameter, function};
use super::datum::Datum;

type Outcome = Result<Datum, CallError>;

/// The package.
pub(super) const PACKAGE: Package = Package { path: "encoding/hex", members: MEMBERS, text: "" };

const MEMBERS: &[Member] = &[
    function("EncodedLen", &[Parameter::INT], Kinds::INT, |_, a| {
        Ok(Datum::int(arg::int(a, 0)?.wrapping_mul(2)))
    }),
    function("DecodedLen", &[Parameter::INT], Kinds::INT, |_, a| {
        Ok(Datum::int(arg::int(a, 0)? / 2))
    }),
    function("Decode", &[Parameter::STRING], Kinds::TEXT, decode),
    function("Dump", &[Parameter::TEXT], Kinds::STRING, dump),
    function("Encode", &[Parameter::TEXT], Kinds::STRING, |cx, a| {
        let bytes = arg::bytes(a, 0)?;
        cx.spend(bytes.len().saturating_mul(2))?;
        Ok(Datum::text(encode(bytes)))
    }),
];

/// Lower-case hexadecimal.
pub(super) fn encode(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}

fn decode(cx: &mut CallContext, args: &[Datum]) -> Outcome {
    let text = arg::text(args, 0)?;
    cx.spend(text.len())?;
    let mut digits = Vec::with_capacity(text.len());
    for byte in text.bytes() {
        let Some(digit) = char::from(byte).to_digit(16) else {
            let c = char::from(byte);
            let code = u32::from(c);
            let quoted = super::quote_rune(c);
            let shown = if super::quoting::is_print(code) { quoted } else { String::new() };
            let text = format!("encoding/hex: invalid byte: U+{code:04X} {shown}");
            return Err(CallError::permanent(text.trim_end().to_owned()));
        };
        digits.push(digit as u8);
    }
    if digits.len() % 2 == 1 {
        return Err(CallError::permanent("encoding/hex: odd length hex string"));
    }
    let bytes: Vec<u8> = digits.chunks_exact(2).map(|pair| pair[0] * 16 + pair[1]).collect();
    Ok(Datum::bytes(bytes))
}

fn dump(cx: &mut CallContext, args: &[Datum]) -> Outcome {
    let bytes = arg::bytes(args, 0)?;
    cx.spend(bytes.len().saturating_mul(5))?;
    let mut out = String::new();
    for (row, line) in bytes.chunks(16).enumerate() {
        let _ = write!(out, "{:08x} ", row * 16);
        for at in 0..16 {
            match line.get(at) {
                Some(byte) => {
                    let _ = write!(out, " {byte:02x}");
                }
                None => out.push_str("   "),
            }
            if at == 7 {
                out.push(' ');
            }
        }
        out.push_str("  |");
        out.extend(line.iter().map(|byte| match byte {
            0x20..=0x7e => char::from(*byte),
            _ => '.',
        }));
        out.push_str("|\n");
    }
    Ok(Datum::text(out))
}
