//! Values as text and back: JSON, YAML, base64, digests, addresses, paths.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256, Sha512};

use super::{Result, at, texts};
use crate::value::{Members, Value};
use crate::yaml;

pub(super) fn call(name: &str, a: &[Value]) -> Option<Result> {
    Some(match name {
        "toJson" | "mustToJson" | "toRawJson" | "mustToRawJson" => at(a, 0).map(|it| {
            let text = sorted(it).to_string();
            // Go's writer escapes what could end a script.
            let text = match name.contains("Raw") {
                true => text,
                false => {
                    text.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
                }
            };
            Value::text(text)
        }),
        "toPrettyJson" | "mustToPrettyJson" => at(a, 0)
            .map(|it| Value::text(serde_json::to_string_pretty(&sorted(it)).unwrap_or_default())),
        "fromJson" => {
            texts(a, 0).map(|it| read(serde_json::from_str(&it).map_err(|it| it.to_string())))
        }
        "mustFromJson" => texts(a, 0).and_then(|it| {
            let data: serde_json::Value = serde_json::from_str(&it).map_err(|it| it.to_string())?;
            Ok(Value::of(&data))
        }),
        "fromJsonArray" => {
            texts(a, 0).map(|it| read_list(serde_json::from_str(&it).map_err(|it| it.to_string())))
        }
        "toYaml" | "mustToYaml" | "toYamlPretty" => {
            at(a, 0).map(|it| Value::text(yaml::text(&it.plain()).trim_end_matches('\n')))
        }
        "fromYaml" => {
            texts(a, 0).map(|it| read(serde_yaml::from_str(&it).map_err(|it| it.to_string())))
        }
        "fromYamlArray" => {
            texts(a, 0).map(|it| read_list(serde_yaml::from_str(&it).map_err(|it| it.to_string())))
        }
        "b64enc" => texts(a, 0).map(|it| Value::text(STANDARD.encode(it))),
        "b64dec" => texts(a, 0).map(|it| match STANDARD.decode(it.trim()) {
            Ok(bytes) => Value::text(String::from_utf8_lossy(&bytes)),
            Err(error) => Value::text(error.to_string()),
        }),
        "b32enc" => texts(a, 0).map(|it| Value::text(base32(it.as_bytes()))),
        "sha256sum" => texts(a, 0).map(|it| Value::text(hex(&Sha256::digest(it.as_bytes())))),
        "sha512sum" => texts(a, 0).map(|it| Value::text(hex(&Sha512::digest(it.as_bytes())))),
        "adler32sum" => texts(a, 0).map(|it| Value::text(adler(it.as_bytes()).to_string())),
        "base" | "osBase" => texts(a, 0).map(|it| {
            let path = it.trim_end_matches('/');
            Value::text(match path.rsplit_once('/') {
                Some((_, last)) => last,
                None if path.is_empty() && !it.is_empty() => "/",
                None if path.is_empty() => ".",
                None => path,
            })
        }),
        "dir" | "osDir" => texts(a, 0).map(|it| {
            Value::text(match it.rsplit_once('/') {
                Some(("", _)) => "/",
                Some((folder, _)) => folder,
                None => ".",
            })
        }),
        "ext" | "osExt" => texts(a, 0).map(|it| {
            let last = it.rsplit('/').next().unwrap_or_default();
            Value::text(last.rfind('.').map_or("", |at| &last[at..]))
        }),
        "clean" | "osClean" => texts(a, 0).map(|it| Value::text(clean(&it))),
        "isAbs" | "osIsAbs" => texts(a, 0).map(|it| Value::Bool(it.starts_with('/'))),
        "urlParse" => texts(a, 0).map(|it| parse_url(&it)),
        "urlJoin" => at(a, 0).map(join_url),
        _ => return None,
    })
}

fn sorted(value: &Value) -> serde_json::Value {
    let mut plain = value.plain();
    plain.sort_all_objects();
    plain
}

/// What cannot be read is told as a member of the result.
fn read(data: std::result::Result<serde_json::Value, String>) -> Value {
    match data {
        Ok(data @ serde_json::Value::Object(_)) => Value::of(&data),
        Ok(serde_json::Value::Null) => Value::dict(Members::new()),
        Ok(_) => told("cannot unmarshal into a dict"),
        Err(error) => told(&error),
    }
}

fn told(error: &str) -> Value {
    Value::dict(Members::from([("Error".to_owned(), Value::text(error))]))
}

fn read_list(data: std::result::Result<serde_json::Value, String>) -> Value {
    match data {
        Ok(data @ serde_json::Value::Array(_)) => Value::of(&data),
        Ok(serde_json::Value::Null) => Value::list(Vec::new()),
        Ok(_) => Value::list(vec![Value::text("cannot unmarshal into a list")]),
        Err(error) => Value::list(vec![Value::text(error)]),
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|it| format!("{it:02x}")).collect()
}

fn adler(bytes: &[u8]) -> u32 {
    let (mut a, mut b) = (1u32, 0u32);
    for byte in bytes {
        a = (a + u32::from(*byte)) % 65_521;
        b = (b + a) % 65_521;
    }
    b << 16 | a
}

fn base32(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    let mut out = String::new();
    for chunk in bytes.chunks(5) {
        let mut all = [0u8; 8];
        all[3..3 + chunk.len()].copy_from_slice(chunk);
        let bits = u64::from_be_bytes(all);
        let count = (chunk.len() * 8).div_ceil(5);
        for index in 0..8 {
            let at = usize::try_from(bits >> (35 - 5 * index) & 31).unwrap_or(0);
            out.push(if index < count { char::from(LETTERS[at]) } else { '=' });
        }
    }
    out
}

/// Without `.`, `..` and empty parts, as far as that goes.
pub(crate) fn clean(path: &str) -> String {
    let rooted = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|it| *it != "..") => {
                parts.pop();
            }
            ".." if rooted => {}
            other => parts.push(other),
        }
    }
    match (rooted, parts.is_empty()) {
        (true, _) => format!("/{}", parts.join("/")),
        (false, true) => ".".into(),
        (false, false) => parts.join("/"),
    }
}

fn parse_url(text: &str) -> Value {
    let (scheme, rest) = text.split_once("://").unwrap_or(("", text));
    let (rest, fragment) = rest.split_once('#').unwrap_or((rest, ""));
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (authority, path) = match rest.find('/') {
        Some(at) if !scheme.is_empty() => rest.split_at(at),
        None if !scheme.is_empty() => (rest, ""),
        _ => ("", rest),
    };
    let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
    let hostname = host.rsplit_once(':').map_or(host, |it| it.0);
    let parts = [
        ("scheme", scheme),
        ("host", host),
        ("hostname", hostname),
        ("path", path),
        ("query", query),
        ("fragment", fragment),
        ("userinfo", user),
        ("opaque", ""),
    ];
    Value::dict(parts.map(|(key, it)| (key.to_owned(), Value::text(it))).into_iter().collect())
}

fn join_url(of: &Value) -> Value {
    let part = |key: &str| of.member(key).map(|it| it.shown()).unwrap_or_default();
    let mut out = String::new();
    if !part("scheme").is_empty() {
        out = format!("{}://", part("scheme"));
    }
    if !part("userinfo").is_empty() {
        out.push_str(&format!("{}@", part("userinfo")));
    }
    out.push_str(&part("host"));
    out.push_str(&part("path"));
    for (mark, key) in [('?', "query"), ('#', "fragment")] {
        if !part(key).is_empty() {
            out.push(mark);
            out.push_str(&part(key));
        }
    }
    Value::text(out)
}
