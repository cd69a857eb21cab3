//! Package `encoding/json`.

use super::arguments as arg;
use super::call::{
    CallContext, CallError, Kinds, Member, Package, Parameter, Special, function, special,
};
use super::datum::Datum;
use crate::encode::json::{Layout, Values, check, decode, encode};

type Outcome = Result<Datum, CallError>;

const B: Parameter = Parameter::TEXT;
const S: Parameter = Parameter::STRING;

/// The package.
pub(super) const PACKAGE: Package = Package { path: "encoding/json", members: MEMBERS, text: "" };

const MEMBERS: &[Member] = &[
    function("Valid", &[B], Kinds::BOOL, |_, a| Ok(Datum::Bool(check(arg::bytes(a, 0)?).is_ok()))),
    function("Compact", &[B], Kinds::STRING, compact),
    function("Indent", &[B, S, S], Kinds::STRING, indent),
    function("HTMLEscape", &[B], Kinds::STRING, html_escape),
    function("Marshal", &[Parameter::DATA], Kinds::STRING, |cx, a| {
        let text = encode(a.first().unwrap_or(&Datum::Null), Layout::Compact);
        cx.spend(text.len())?;
        Ok(Datum::text(text))
    }),
    function(
        "MarshalStream",
        &[Parameter::DATA.wants(Kinds::LIST, "")],
        Kinds::STRING,
        marshal_stream,
    ),
    function("UnmarshalStream", &[B], Kinds::LIST, unmarshal_stream),
    function("Unmarshal", &[B], Kinds::ANY, unmarshal),
    special("Validate", &[B, Parameter::SCHEMA], Kinds::BOOL, Special::ValidateJson),
];

fn marshal_stream(cx: &mut CallContext, args: &[Datum]) -> Outcome {
    let Some(Datum::List(items)) = args.first() else {
        return Err(arg::not_a_list(args));
    };
    let mut out = String::new();
    for item in items.iter() {
        let text = encode(item, Layout::Compact);
        cx.spend(text.len() + 1)?;
        out.push_str(&text);
        out.push('\n');
    }
    Ok(Datum::text(out))
}

fn unmarshal(cx: &mut CallContext, args: &[Datum]) -> Outcome {
    let text = arg::bytes(args, 0)?;
    cx.spend(text.len().saturating_mul(4))?;
    check(text).map_err(|_| CallError::permanent("json: invalid JSON"))?;
    match decode(text, Values::One) {
        Ok(tree) => Ok(arg::read(cx, "json", tree.build(cx.base))),
        Err(error) if error.message.starts_with("could not") => {
            Err(CallError::permanent(format!("json: {}", error.message)))
        }
        Err(error) => Err(CallError::permanent(error.message)),
    }
}

fn unmarshal_stream(cx: &mut CallContext, args: &[Datum]) -> Outcome {
    let text = arg::bytes(args, 0)?;
    cx.spend(text.len().saturating_mul(4))?;
    match decode(text, Values::Stream) {
        Ok(tree) => Ok(arg::read_all(cx, "stream", tree.build(cx.base))),
        Err(error) => {
            let message = match error.message.as_str() {
                "unexpected end of JSON input" => "unexpected EOF",
                other => other,
            };
            let message = format!("invalid JSON for file \"\": {message}");
            // The end is told as its last byte.
            Err(CallError::permanent(message).at(error.offset.min(text.len().saturating_sub(1))))
        }
    }
}

/// A text that ends too early is refused where the blank stands that could follow it.
fn valid(text: &[u8]) -> Result<(), CallError> {
    let Err(error) = check(text) else { return Ok(()) };
    let longer = check(&[text, b" "].concat());
    let error = longer.err().unwrap_or(error);
    Err(CallError::permanent(error.message))
}

/// Calls `take` for every byte, with whether it is inside a string.
fn scan(text: &[u8], mut take: impl FnMut(u8, bool)) {
    let (mut quoted, mut escaped) = (false, false);
    for byte in text {
        let inside = quoted || *byte == b'"';
        take(*byte, inside);
        if quoted {
            if escaped {
                escaped = false;
            } else if *byte == b'\\' {
                escaped = true;
            } else if *byte == b'"' {
                quoted = false;
            }
        } else if *byte == b'"' {
            quoted = true;
        }
    }
}

fn compact(cx: &mut CallContext, args: &[Datum]) -> Outcome {
    let text = arg::bytes(args, 0)?;
    valid(text)?;
    cx.spend(text.len())?;
    let mut out = Vec::with_capacity(text.len());
    scan(text, |byte, quoted| {
        if quoted || !byte.is_ascii_whitespace() {
            out.push(byte);
        }
    });
    Ok(Datum::lossy(&out))
}

fn indent(cx: &mut CallContext, args: &[Datum]) -> Outcome {
    let text = arg::bytes(args, 0)?;
    let (prefix, step) = (arg::text(args, 1)?, arg::text(args, 2)?);
    valid(text)?;
    let mut out: Vec<u8> = Vec::new();
    let mut depth = 0usize;
    let mut opened = false;
    let mut failed = None;
    scan(text, |byte, quoted| {
        if failed.is_some() || (!quoted && byte.is_ascii_whitespace()) {
            return;
        }
        let mut line = |out: &mut Vec<u8>, depth: usize| {
            if let Err(error) = cx.spend(1 + prefix.len() + step.len().saturating_mul(depth)) {
                failed = Some(error);
                return;
            }
            out.push(b'\n');
            out.extend_from_slice(prefix.as_bytes());
            for _ in 0..depth {
                out.extend_from_slice(step.as_bytes());
            }
        };
        if opened && !matches!(byte, b']' | b'}') {
            opened = false;
            depth += 1;
            line(&mut out, depth);
        }
        match byte {
            _ if quoted => out.push(byte),
            b'{' | b'[' => {
                opened = true;
                out.push(byte);
            }
            b',' => {
                out.push(byte);
                line(&mut out, depth);
            }
            b':' => out.extend_from_slice(b": "),
            b'}' | b']' => {
                if opened {
                    opened = false;
                } else {
                    depth = depth.saturating_sub(1);
                    line(&mut out, depth);
                }
                out.push(byte);
            }
            _ => out.push(byte),
        }
    });
    match failed {
        Some(error) => Err(error),
        None => {
            // Space behind the value stays, as in the original.
            let tail = text.len() - text.trim_ascii_end().len();
            out.extend_from_slice(&text[text.len() - tail..]);
            Ok(Datum::lossy(&out))
        }
    }
}

fn html_escape(cx: &mut CallContext, args: &[Datum]) -> Outcome {
    let text = crate::datum::valid_text(arg::bytes(args, 0)?);
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("\\u003c"),
            '>' => out.push_str("\\u003e"),
            '&' => out.push_str("\\u0026"),
            '\u{2028}' => out.push_str("\\u2028"),
            '\u{2029}' => out.push_str("\\u2029"),
            _ => out.push(c),
        }
    }
    cx.spend(out.len())?;
    Ok(Datum::text(out))
}
