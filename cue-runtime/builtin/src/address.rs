//! IP addresses and prefixes: Go's `netip` syntax, errors and text.

use std::fmt;

use super::quoting::{Plain, go_quote};

/// An address of either family; IPv4 is kept mapped, in the last four bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Address {
    pub(super) bytes: [u8; 16],
    pub(super) v4: bool,
    pub(super) zone: String,
}

const MAPPED: [u8; 12] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];

impl Address {
    /// Of 4 or 16 bytes.
    pub(super) fn from_octets(octets: &[u8]) -> Option<Address> {
        let mut bytes = [0; 16];
        let v4 = octets.len() == 4;
        if v4 {
            bytes[..12].copy_from_slice(&MAPPED);
            bytes[12..].copy_from_slice(octets);
        } else if octets.len() == 16 {
            bytes.copy_from_slice(octets);
        } else {
            return None;
        }
        Some(Address { bytes, v4, zone: String::new() })
    }

    /// Its 4 or 16 bytes.
    pub(super) fn octets(&self) -> &[u8] {
        if self.v4 { &self.bytes[12..] } else { &self.bytes }
    }

    /// As a number of 32 or 128 bits.
    pub(super) fn value(&self) -> u128 {
        let all = u128::from_be_bytes(self.bytes);
        if self.v4 { all & 0xffff_ffff } else { all }
    }

    /// The same family with another number.
    pub(super) fn with_value(&self, value: u128) -> Address {
        let mut bytes = value.to_be_bytes();
        if self.v4 {
            bytes[..12].copy_from_slice(&MAPPED);
        }
        Address { bytes, v4: self.v4, zone: self.zone.clone() }
    }

    /// An IPv4 address written as IPv6 becomes IPv4.
    pub(super) fn unmapped(&self) -> Address {
        let v4 = self.v4 || self.bytes[..12] == MAPPED;
        Address { v4, ..self.clone() }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let b = &self.bytes;
        let zone = |f: &mut fmt::Formatter<'_>| match self.zone.as_str() {
            "" => Ok(()),
            zone => write!(f, "%{zone}"),
        };
        if self.v4 {
            return write!(f, "{}.{}.{}.{}", b[12], b[13], b[14], b[15]);
        }
        if b[..12] == MAPPED {
            write!(f, "::ffff:{}.{}.{}.{}", b[12], b[13], b[14], b[15])?;
            return zone(f);
        }
        let groups: Vec<u16> =
            b.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]])).collect();
        // The longest run of two zeros or more, the first of equals.
        let (mut best, mut length) = (8, 1);
        let mut at = 0;
        while at < 8 {
            let run = groups[at..].iter().take_while(|group| **group == 0).count();
            if run > length {
                (best, length) = (at, run);
            }
            at += run.max(1);
        }
        let hex = |groups: &[u16]| {
            groups.iter().map(|group| format!("{group:x}")).collect::<Vec<_>>().join(":")
        };
        if best < 8 {
            write!(f, "{}::{}", hex(&groups[..best]), hex(&groups[best + length..]))?;
        } else {
            f.write_str(&hex(&groups))?;
        }
        zone(f)
    }
}

/// `host:port`, with brackets where the host has colons.
pub(super) fn join(host: &str, port: &str) -> String {
    if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
}

type Reason<'a> = (&'static str, &'a str);

/// Reads an address; the error is Go's text.
pub(super) fn parse_address(text: &str) -> Result<Address, String> {
    let quote = |text: &str| go_quote(text, '"', Plain::Print);
    let outcome = match text.find(['.', ':', '%']).map(|at| text.as_bytes()[at]) {
        Some(b'.') => parse_v4(text).map(|octets| Address::from_octets(&octets)),
        Some(b':') => parse_v6(text).map(Some),
        Some(_) => Err(("missing IPv6 address", "")),
        None => Err(("unable to parse IP", "")),
    };
    match outcome {
        Ok(Some(address)) => Ok(address),
        Ok(None) => Err(format!("ParseAddr({}): unable to parse IP", quote(text))),
        Err((reason, "")) => Err(format!("ParseAddr({}): {reason}", quote(text))),
        Err((reason, rest)) => {
            Err(format!("ParseAddr({}): {reason} (at {})", quote(text), quote(rest)))
        }
    }
}

fn parse_v4(text: &str) -> Result<[u8; 4], Reason<'_>> {
    let mut octets = [0u8; 4];
    let mut position = 0;
    let mut value = 0u32;
    let mut digits = 0;
    let bytes = text.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'0'..=b'9' => {
                if digits == 1 && value == 0 {
                    return Err(("IPv4 field has octet with leading zero", ""));
                }
                value = value * 10 + u32::from(byte - b'0');
                digits += 1;
                if value > 255 {
                    return Err(("IPv4 field has value >255", ""));
                }
            }
            b'.' => {
                if at == 0 || at + 1 == bytes.len() || bytes[at - 1] == b'.' {
                    return Err(("IPv4 field must have at least one digit", &text[at..]));
                }
                if position == 3 {
                    return Err(("IPv4 address too long", ""));
                }
                octets[position] = value as u8;
                position += 1;
                value = 0;
                digits = 0;
            }
            _ => return Err(("unexpected character", text.get(at..).unwrap_or(""))),
        }
    }
    if position < 3 {
        return Err(("IPv4 address too short", ""));
    }
    octets[3] = value as u8;
    Ok(octets)
}

fn parse_v6(text: &str) -> Result<Address, Reason<'_>> {
    let (mut rest, zone) = match text.split_once('%') {
        Some((_, "")) => return Err(("zone must be a non-empty string", "")),
        Some((rest, zone)) => (rest, zone),
        None => (text, ""),
    };
    let mut bytes = [0u8; 16];
    let mut ellipsis = None;
    let mut at = 0;
    if let Some(after) = rest.strip_prefix("::") {
        ellipsis = Some(0);
        rest = after;
        if rest.is_empty() {
            return Ok(Address { bytes, v4: false, zone: zone.to_owned() });
        }
    }
    while at < 16 {
        let digits = rest.bytes().take_while(u8::is_ascii_hexdigit).count();
        if digits > 4 {
            return Err(("each group must have 4 or less digits", rest));
        }
        if digits == 0 {
            return Err(("each colon-separated field must have at least one digit", rest));
        }
        if rest.as_bytes().get(digits) == Some(&b'.') {
            if ellipsis.is_none() && at != 12 {
                return Err((
                    "embedded IPv4 address must replace the final 2 fields of the address",
                    rest,
                ));
            }
            if at + 4 > 16 {
                return Err((
                    "too many hex fields to fit an embedded IPv4 at the end of the address",
                    rest,
                ));
            }
            let octets = parse_v4(rest)?;
            bytes[at..at + 4].copy_from_slice(&octets);
            at += 4;
            rest = "";
            break;
        }
        let group = u16::from_str_radix(&rest[..digits], 16).unwrap_or(0);
        bytes[at..at + 2].copy_from_slice(&group.to_be_bytes());
        at += 2;
        rest = &rest[digits..];
        if rest.is_empty() {
            break;
        }
        if !rest.starts_with(':') {
            return Err(("unexpected character, want colon", rest));
        }
        if rest.len() == 1 {
            return Err(("colon must be followed by more characters", rest));
        }
        rest = &rest[1..];
        if let Some(after) = rest.strip_prefix(':') {
            if ellipsis.is_some() {
                return Err(("multiple :: in address", rest));
            }
            ellipsis = Some(at);
            rest = after;
            if rest.is_empty() {
                break;
            }
        }
    }
    if !rest.is_empty() {
        return Err(("trailing garbage after address", rest));
    }
    if at < 16 {
        let Some(start) = ellipsis else { return Err(("address string too short", "")) };
        bytes.copy_within(start..at, 16 - (at - start));
        bytes[start..16 - (at - start)].fill(0);
    } else if ellipsis.is_some() {
        return Err(("the :: must expand to at least one field of zeros", ""));
    }
    Ok(Address { bytes, v4: false, zone: zone.to_owned() })
}

/// Reads `address/bits`.
pub(super) fn parse_prefix(text: &str) -> Result<(Address, u8), String> {
    let wrong = |reason: String| {
        format!("netip.ParsePrefix({}): {reason}", go_quote(text, '"', Plain::Print))
    };
    let Some(slash) = text.rfind('/') else { return Err(wrong("no '/'".to_owned())) };
    let address = parse_address(&text[..slash]).map_err(wrong)?;
    if !address.zone.is_empty() {
        return Err(wrong("IPv6 zones cannot be present in a prefix".to_owned()));
    }
    let digits = &text[slash + 1..];
    let bad = digits.is_empty()
        || !digits.bytes().all(|byte| byte.is_ascii_digit())
        || (digits.len() > 1 && digits.starts_with('0'));
    if bad {
        let quoted = go_quote(digits, '"', Plain::Print);
        return Err(wrong(format!("bad bits after slash: {quoted}")));
    }
    let limit = if address.v4 { 32 } else { 128 };
    match digits.parse::<u8>() {
        Ok(bits) if bits <= limit => Ok((address, bits)),
        _ => Err(wrong("prefix length out of range".to_owned())),
    }
}
