//! Package `net`: addresses, prefixes, host names and URLs, by their text alone.

use num_bigint::BigInt;
use num_traits::{Signed, Zero};

use super::address::{Address, join, parse_address, parse_prefix};
use super::arguments as arg;
use super::call::{
    CallContext, CallError, Constant, Kinds, Member, Package, Parameter, constant, function,
};
use super::datum::Datum;
use super::quoting::{Plain, go_quote};
use super::url;

type Outcome = Result<Datum, CallError>;

const S: Parameter = Parameter::STRING;
const IP: Parameter = Parameter::DATA;
const I: Parameter = Parameter::INT;

/// The package.
pub(super) const PACKAGE: Package = Package { path: "net", members: MEMBERS, text: "" };

/// A question about an address.
macro_rules! asks {
    ($name:literal, $question:expr) => {
        function($name, &[IP], Kinds::BOOL, |_, a| {
            let question: fn(&Address) -> bool = $question;
            Ok(Datum::Bool(question(&address(a, 0)?)))
        })
    };
}

/// An escape or its reverse.
macro_rules! escapes {
    ($name:literal, $function:expr) => {
        function($name, &[S], Kinds::STRING, |cx, a| {
            let apply: fn(&str) -> Result<String, String> = $function;
            let text = apply(arg::text(a, 0)?).map_err(CallError::permanent)?;
            cx.spend(text.len())?;
            Ok(Datum::text(text))
        })
    };
}

const MEMBERS: &[Member] = &[
    function("SplitHostPort", &[S], Kinds::LIST, split_host_port),
    function("JoinHostPort", &[IP, IP], Kinds::STRING, join_host_port),
    function("FQDN", &[S], Kinds::BOOL, |_, a| Ok(Datum::Bool(is_host_name(arg::text(a, 0)?)))),
    constant("IPv4len", Constant::Int(4)),
    constant("IPv6len", Constant::Int(16)),
    function("ParseIP", &[S], Kinds::LIST, |_, a| {
        let text = arg::text(a, 0)?;
        match parse_address(text) {
            Ok(address) => Ok(octets(&address)),
            Err(_) => {
                let quoted = go_quote(text, '"', Plain::Print);
                Err(CallError::permanent(format!("invalid IP address {quoted}")))
            }
        }
    }),
    asks!("IPv4", |it| it.v4),
    asks!("IPv6", |it| !it.v4),
    asks!("IP", |_| true),
    function("IPCIDR", &[IP], Kinds::BOOL, |_, a| prefix(a, 0).map(|_| Datum::Bool(true))),
    asks!("LoopbackIP", |it| {
        let it = it.unmapped();
        if it.v4 { it.octets()[0] == 127 } else { it.value() == 1 }
    }),
    asks!("MulticastIP", |it| {
        let it = it.unmapped();
        if it.v4 { it.octets()[0] & 0xf0 == 224 } else { it.bytes[0] == 0xff }
    }),
    asks!("InterfaceLocalMulticastIP", |it| {
        !it.v4 && it.bytes[0] == 0xff && it.bytes[1] & 0xf == 1
    }),
    asks!("LinkLocalMulticastIP", |it| {
        let it = it.unmapped();
        if it.v4 {
            it.octets()[..3] == [224, 0, 0]
        } else {
            it.bytes[0] == 0xff && it.bytes[1] & 0xf == 2
        }
    }),
    asks!("LinkLocalUnicastIP", |it| link_local(&it.unmapped())),
    asks!("GlobalUnicastIP", |it| {
        let it = it.unmapped();
        if it.v4 {
            let first = it.octets()[0];
            it.value() != 0
                && it.value() != 0xffff_ffff
                && first != 127
                && first & 0xf0 != 224
                && !link_local(&it)
        } else {
            it.value() > 1 && it.bytes[0] != 0xff && !link_local(&it)
        }
    }),
    asks!("UnspecifiedIP", |it| it.value() == 0 && it.zone.is_empty()),
    function("ToIP4", &[IP], Kinds::LIST, |_, a| {
        let address = address(a, 0)?;
        if !address.v4 {
            let quoted = go_quote(&address.to_string(), '"', Plain::Print);
            return Err(CallError::permanent(format!("cannot convert {quoted} to IPv4")));
        }
        Ok(octets(&address))
    }),
    function("ToIP16", &[IP], Kinds::LIST, |_, a| Ok(list(&address(a, 0)?.bytes))),
    function("IPString", &[IP], Kinds::STRING, |_, a| Ok(Datum::text(address(a, 0)?.to_string()))),
    function("AddIP", &[IP, I], Kinds::STRING, |_, a| {
        let by = arg::integer(a, 1)?;
        if let Some(Datum::String(text)) = a.first()
            && let Ok((network, bits)) = parse_prefix(text)
        {
            return Ok(Datum::text(format!("{}/{bits}", moved(&network, &by)?)));
        }
        Ok(Datum::text(moved(&address(a, 0)?, &by)?.to_string()))
    }),
    function("AddIPCIDR", &[IP, I], Kinds::STRING, |_, a| {
        let (network, bits) = prefix(a, 0)?;
        let host_bits = if network.v4 { 32 } else { 128 } - bits;
        let by = arg::integer(a, 1)? << host_bits;
        Ok(Datum::text(format!("{}/{bits}", moved(&network, &by)?)))
    }),
    function("ParseCIDR", &[S], Kinds::STRUCT, |_, a| {
        let (network, bits) = prefix(a, 0)?;
        let mask = mask(&network, bits);
        let text = |value: u128| Datum::text(network.with_value(value).to_string());
        let mut fields = vec![
            ("prefix_mask".into(), text(mask)),
            ("prefix_len".into(), Datum::int(i64::from(bits))),
            ("prefix_addr".into(), text(network.value() & mask)),
        ];
        if network.v4 {
            let broadcast = network.value() | (!mask & 0xffff_ffff);
            fields.push(("broadcast_addr".into(), text(broadcast)));
        }
        Ok(Datum::fields(fields))
    }),
    function("InCIDR", &[IP, IP], Kinds::BOOL, |_, a| {
        let (address, (network, bits)) = (address(a, 0)?, prefix(a, 1)?);
        let same = address.v4 == network.v4
            && address.zone.is_empty()
            && address.value() & mask(&address, bits) == network.value() & mask(&network, bits);
        Ok(Datum::Bool(same))
    }),
    function("CompareIP", &[IP, IP], Kinds::INT, |_, a| {
        let (a, b) = (address(a, 0)?, address(a, 1)?);
        let order = b.v4.cmp(&a.v4).then(a.value().cmp(&b.value())).then(a.zone.cmp(&b.zone));
        Ok(Datum::int(order as i64))
    }),
    escapes!("PathEscape", |text| Ok(url::escape(text, url::Part::Path))),
    escapes!("PathUnescape", |text| url::unescape(text, url::Part::Path)),
    escapes!("QueryEscape", |text| Ok(url::escape(text, url::Part::Query))),
    escapes!("QueryUnescape", |text| url::unescape(text, url::Part::Query)),
    function("URL", &[S], Kinds::BOOL, |_, a| {
        url::check(arg::text(a, 0)?).map(|_| Datum::Bool(true)).map_err(CallError::permanent)
    }),
    function("AbsURL", &[S], Kinds::BOOL, |_, a| match url::check(arg::text(a, 0)?) {
        Ok(true) => Ok(Datum::Bool(true)),
        Ok(false) => Err(CallError::permanent("URL is not absolute")),
        Err(message) => Err(CallError::permanent(message)),
    }),
];

fn link_local(address: &Address) -> bool {
    if address.v4 {
        address.octets()[..2] == [169, 254]
    } else {
        address.bytes[0] == 0xfe && address.bytes[1] & 0xc0 == 0x80
    }
}

fn list(bytes: &[u8]) -> Datum {
    Datum::list(bytes.iter().map(|byte| Datum::int(i64::from(*byte))).collect())
}

fn octets(address: &Address) -> Datum {
    list(address.octets())
}

fn address(args: &[Datum], at: usize) -> Result<Address, CallError> {
    match args.get(at) {
        Some(Datum::String(text)) => parse_address(text).map_err(CallError::permanent),
        Some(Datum::Bytes(bytes)) => {
            parse_address(&String::from_utf8_lossy(bytes)).map_err(CallError::permanent)
        }
        Some(Datum::List(items)) => {
            let mut bytes = Vec::new();
            for item in items.iter() {
                let Datum::Number(number) = item else {
                    return Err(unusable(item, "int"));
                };
                match number.to_i64().map(u8::try_from) {
                    Some(Ok(byte)) if number.is_int() => bytes.push(byte),
                    _ if !number.is_int() => return Err(unusable(item, "int")),
                    _ => {
                        return Err(CallError::permanent(format!(
                            "invalid IP byte value {number}"
                        )));
                    }
                }
            }
            Address::from_octets(&bytes)
                .ok_or_else(|| CallError::permanent(format!("invalid IP length {}", bytes.len())))
        }
        Some(other) => {
            Err(CallError::permanent(format!("invalid type {} for IP address", other.kind_name())))
        }
        None => Err(CallError::permanent("missing address")),
    }
}

fn unusable(datum: &Datum, wanted: &str) -> CallError {
    let (text, kind) = (datum.cue_text(), datum.kind_name());
    CallError::permanent(format!("cannot use value {text} (type {kind}) as {wanted}"))
}

fn prefix(args: &[Datum], at: usize) -> Result<(Address, u8), CallError> {
    let text = match args.get(at) {
        Some(Datum::String(text)) => text.to_string(),
        Some(Datum::Bytes(bytes)) => String::from_utf8_lossy(bytes).into_owned(),
        Some(other) => {
            let kind = other.kind_name();
            return Err(CallError::permanent(format!("invalid type {kind} for IP CIDR")));
        }
        None => String::new(),
    };
    parse_prefix(&text).map_err(CallError::permanent)
}

fn mask(address: &Address, bits: u8) -> u128 {
    let width = if address.v4 { 32u32 } else { 128 };
    let host = width - u32::from(bits).min(width);
    let all = if address.v4 { u128::from(u32::MAX) } else { u128::MAX };
    all.checked_shr(host)
        .map_or(0, |_| all & !(1u128.checked_shl(host).map_or(u128::MAX, |bit| bit - 1)))
}

fn moved(address: &Address, by: &BigInt) -> Result<Address, CallError> {
    let width = if address.v4 { 32 } else { 128 };
    let sum = BigInt::from(address.value()) + by;
    let out = |how: &str| {
        CallError::permanent(format!(
            "IP address arithmetic resulted in out-of-range address ({how})"
        ))
    };
    if sum.is_negative() {
        return Err(out("underflow"));
    }
    if sum.bits() > width {
        return Err(out("overflow"));
    }
    let value = if sum.is_zero() { 0 } else { u128::try_from(sum).unwrap_or(0) };
    let mut moved = address.with_value(value);
    moved.zone = String::new();
    Ok(moved)
}

fn split_host_port(_: &mut CallContext, args: &[Datum]) -> Outcome {
    let text = arg::text(args, 0)?;
    let wrong = |reason: &str| {
        let text =
            if text.is_empty() { reason.to_owned() } else { format!("address {text}: {reason}") };
        Err(CallError::permanent(text))
    };
    let Some(colon) = text.rfind(':') else { return wrong("missing port in address") };
    let host = if let Some(inner) = text.strip_prefix('[') {
        let Some(end) = text.find(']') else { return wrong("missing ']' in address") };
        if end + 1 == text.len() {
            return wrong("missing port in address");
        }
        if end + 1 != colon {
            let many = text.as_bytes()[end + 1] == b':';
            return wrong(if many {
                "too many colons in address"
            } else {
                "missing port in address"
            });
        }
        if inner.contains('[') {
            return wrong("unexpected '[' in address");
        }
        if text[end + 1..].contains(']') {
            return wrong("unexpected ']' in address");
        }
        &text[1..end]
    } else {
        let host = &text[..colon];
        if host.contains(':') {
            return wrong("too many colons in address");
        }
        if text.contains('[') {
            return wrong("unexpected '[' in address");
        }
        if text.contains(']') {
            return wrong("unexpected ']' in address");
        }
        host
    };
    Ok(Datum::list(vec![Datum::text(host), Datum::text(&text[colon + 1..])]))
}

fn join_host_port(_: &mut CallContext, args: &[Datum]) -> Outcome {
    let host = match args.first() {
        Some(Datum::String(text)) => text.to_string(),
        Some(Datum::Bytes(bytes)) => String::from_utf8_lossy(bytes).into_owned(),
        Some(list @ Datum::List(_)) => match address(args, 0) {
            Ok(address) => address.to_string(),
            Err(_) => {
                let text = list.cue_text().replace(',', ", ");
                return Err(CallError::permanent(format!("invalid host {text}")));
            }
        },
        Some(other) => return Err(unusable(other, "string").of_argument(0)),
        None => String::new(),
    };
    let port = match args.get(1) {
        Some(Datum::String(text)) => text.to_string(),
        Some(Datum::Bytes(bytes)) => String::from_utf8_lossy(bytes).into_owned(),
        Some(Datum::Number(number)) if number.is_int() => number.to_string(),
        Some(other) => return Err(unusable(other, "int").of_argument(1)),
        None => String::new(),
    };
    Ok(Datum::text(join(&host, &port)))
}

/// Whether the text is a fully qualified domain name; the last dot is optional.
fn is_host_name(text: &str) -> bool {
    let trimmed = text.strip_suffix('.').unwrap_or(text);
    let name = match trimmed.strip_suffix('.') {
        Some(rest) if !rest.is_empty() && !rest.ends_with('.') => rest,
        _ => trimmed,
    };
    if name.is_empty() || name.len() > 253 {
        return false;
    }
    name.split('.').all(|label| {
        let bytes = label.as_bytes();
        let known = bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-');
        let hyphens = label.starts_with('-') || label.ends_with('-');
        let reserved = bytes.len() > 3 && &bytes[2..4] == b"--";
        let encoded = label.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("xn--"));
        let fits = (1..=63).contains(&bytes.len()) && known && !hyphens;
        fits && (!reserved || (encoded && bytes.len() > 4))
    })
}
