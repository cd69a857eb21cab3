//! URLs: Go's escaping and the checks of `url.Parse`.

use std::fmt::Write;

use super::quoting::{Plain, go_quote};

/// Where in a URL text stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Path,
    Query,
}

/// Percent-encodes all but what may stand in the part.
pub(super) fn escape(text: &str, part: Part) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        let plain = byte.is_ascii_alphanumeric()
            || b"-_.~".contains(&byte)
            || (part == Part::Path && b"$&+=:@".contains(&byte));
        if plain {
            out.push(char::from(byte));
        } else if byte == b' ' && part == Part::Query {
            out.push('+');
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

fn bad_escape(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(&text[..text.len().min(3)]);
    format!("invalid URL escape {}", go_quote(&text, '"', Plain::Print))
}

/// Decodes percent signs, and `+` in queries.
pub(super) fn unescape(text: &str, part: Part) -> Result<String, String> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'%' => {
                out.push(escaped(&bytes[at..]).ok_or_else(|| bad_escape(&bytes[at..]))?);
                at += 3;
                continue;
            }
            b'+' if part == Part::Query => out.push(b' '),
            _ => out.push(*byte),
        }
        at += 1;
    }
    Ok(String::from_utf8_lossy(&out).into_owned())
}

fn escaped(text: &[u8]) -> Option<u8> {
    let digit = |at: usize| text.get(at).and_then(|byte| char::from(*byte).to_digit(16));
    Some((digit(1)? * 16 + digit(2)?) as u8)
}

fn escapes_fit(text: &str) -> Result<(), String> {
    let bytes = text.as_bytes();
    for at in 0..bytes.len() {
        if bytes[at] == b'%' && escaped(&bytes[at..]).is_none() {
            return Err(bad_escape(&bytes[at..]));
        }
    }
    Ok(())
}

/// Whether the text is a URL, and if so whether it has a scheme.
pub fn check(text: &str) -> Result<bool, String> {
    let wrong = |reason: String| format!("parse {}: {reason}", go_quote(text, '"', Plain::Print));
    let (body, fragment) = match text.split_once('#') {
        Some((body, fragment)) => (body, fragment),
        None => (text, ""),
    };
    let absolute = check_body(body)
        .map_err(|reason| format!("parse {}: {reason}", go_quote(body, '"', Plain::Print)))?;
    escapes_fit(fragment).map_err(wrong)?;
    Ok(absolute)
}

fn check_body(text: &str) -> Result<bool, String> {
    if text.bytes().any(|byte| byte < 0x20 || byte == 0x7f) {
        return Err("net/url: invalid control character in URL".to_owned());
    }
    if text == "*" {
        return Ok(false);
    }
    let (scheme, rest) = scheme(text)?;
    let rest = rest.split_once('?').map_or(rest, |it| it.0);
    let absolute = !scheme.is_empty();
    if !rest.starts_with('/') {
        if absolute {
            return Ok(true);
        }
        let segment = rest.split('/').next().unwrap_or("");
        if segment.contains(':') {
            return Err("first path segment in URL cannot contain colon".to_owned());
        }
    }
    let mut path = rest;
    if let Some(after) = rest.strip_prefix("//")
        && (absolute || !rest.starts_with("///"))
    {
        let (authority, after) = match after.find('/') {
            Some(at) => after.split_at(at),
            None => (after, ""),
        };
        check_authority(authority)?;
        path = after;
    }
    escapes_fit(path)?;
    Ok(absolute)
}

fn scheme(text: &str) -> Result<(&str, &str), String> {
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if at > 0 => {}
            b':' if at == 0 => return Err("missing protocol scheme".to_owned()),
            b':' => return Ok((&text[..at], &text[at + 1..])),
            _ => return Ok(("", text)),
        }
    }
    Ok(("", text))
}

fn check_authority(authority: &str) -> Result<(), String> {
    let (user, host) = match authority.rfind('@') {
        Some(at) => (Some(&authority[..at]), &authority[at + 1..]),
        None => (None, authority),
    };
    check_host(host)?;
    let Some(user) = user else { return Ok(()) };
    let known = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(&byte);
    if !user.bytes().all(known) {
        return Err("net/url: invalid userinfo".to_owned());
    }
    escapes_fit(user)
}

fn check_host(host: &str) -> Result<(), String> {
    let port = |text: &str| {
        let digits = text.strip_prefix(':').unwrap_or("x");
        if text.is_empty() || digits.bytes().all(|byte| byte.is_ascii_digit()) {
            Ok(())
        } else {
            Err(format!("invalid port {} after host", go_quote(text, '"', Plain::Print)))
        }
    };
    let name = if host.starts_with('[') {
        let Some(end) = host.rfind(']') else { return Err("missing ']' in host".to_owned()) };
        port(&host[end + 1..])?;
        match host[..end].split_once("%25") {
            Some((name, zone)) => {
                escapes_fit(zone)?;
                name
            }
            None => &host[..end],
        }
    } else {
        if let Some(colon) = host.rfind(':') {
            port(&host[colon..])?;
        }
        host
    };
    let bytes = name.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        if *byte == b'%' {
            match escaped(&bytes[at..]) {
                // Only bytes that are not ASCII may be escaped in a host.
                Some(value) if value >= 0x80 => at += 3,
                _ => return Err(bad_escape(&bytes[at..])),
            }
            continue;
        }
        let fits = *byte >= 0x80
            || byte.is_ascii_alphanumeric()
            || b"-_.~!$&'()*+,;=:[]<>\"".contains(byte);
        if !fits {
            let quoted = go_quote(&char::from(*byte).to_string(), '"', Plain::Print);
            return Err(format!("invalid character {quoted} in host name"));
        }
        at += 1;
    }
    Ok(())
}
