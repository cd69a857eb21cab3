//! Functions on texts.

use regex::Regex;

use super::printf::printf;
use super::{Result, at, count, text_only, texts};
use crate::template::Setting;
use crate::value::Value;

/// Characters that one call may make.
const LIMIT: usize = 8 << 20;

pub(super) fn call(name: &str, a: &[Value], setting: &Setting) -> Option<Result> {
    Some(match name {
        "trim" => text(a, 0, |it| it.trim().into()),
        "trimAll" => two(a, |cut, it| it.trim_matches(|c| cut.contains(c)).into()),
        "trimSuffix" => two(a, |cut, it| it.strip_suffix(cut).unwrap_or(it).into()),
        "trimPrefix" => two(a, |cut, it| it.strip_prefix(cut).unwrap_or(it).into()),
        "upper" => text(a, 0, str::to_uppercase),
        "lower" => text(a, 0, str::to_lowercase),
        "title" => text(a, 0, |it| words(it, |c| c.to_uppercase().collect())),
        "untitle" => text(a, 0, |it| words(it, |c| c.to_lowercase().collect())),
        "swapcase" => text(a, 0, |it| it.chars().flat_map(swapped).collect()),
        "nospace" => text(a, 0, |it| it.split_whitespace().collect()),
        "initials" => {
            text(a, 0, |it| it.split_whitespace().filter_map(|it| it.chars().next()).collect())
        }
        "camelcase" => text(a, 0, camel),
        "snakecase" => text(a, 0, |it| cased(it, '_')),
        "kebabcase" => text(a, 0, |it| cased(it, '-')),
        "repeat" => repeat(a, setting),
        "substr" => substring(a),
        "trunc" => truncated(a),
        "abbrev" => count(a, 0).and_then(|most| text(a, 1, |it| abbreviated(it, most))),
        "wrap" => count(a, 0).and_then(|width| text(a, 1, |it| wrapped(it, width, "\n"))),
        "wrapWith" => count(a, 0).and_then(|width| {
            let between = texts(a, 1)?;
            text(a, 2, |it| wrapped(it, width, &between))
        }),
        "contains" => two_bool(a, |part, it| it.contains(part)),
        "hasPrefix" => two_bool(a, |part, it| it.starts_with(part)),
        "hasSuffix" => two_bool(a, |part, it| it.ends_with(part)),
        "quote" => Ok(Value::text(joined(a, |it| format!("{:?}", Quoted(it))))),
        "squote" => Ok(Value::text(joined(a, |it| format!("'{it}'")))),
        "cat" => Ok(Value::text(joined(a, str::to_owned))),
        "indent" => {
            count(a, 0).and_then(|by| texts(a, 1).and_then(|it| indented(&it, by, setting)))
        }
        "nindent" => count(a, 0).and_then(|by| {
            let it = texts(a, 1)?;
            Ok(Value::text(format!("\n{}", indented(&it, by, setting)?.shown())))
        }),
        "replace" => texts(a, 0).and_then(|old| {
            let new = texts(a, 1)?;
            let made = texts(a, 2)?.replace(&old, &new);
            setting.spend(made.len())?;
            Ok(Value::text(made))
        }),
        "plural" => texts(a, 0).and_then(|one| {
            let many = texts(a, 1)?;
            Ok(Value::text(if at(a, 2)?.int() == 1 { one } else { many }))
        }),
        "toString" => texts(a, 0).map(Value::text),
        "split" | "splitn" => parts(name, a),
        "print" => Ok(Value::text(printed(a))),
        "println" => {
            let all: Vec<String> = a.iter().map(Value::shown).collect();
            Ok(Value::text(format!("{}\n", all.join(" "))))
        }
        "printf" => texts(a, 0).and_then(|form| {
            let made = printf(&form, a.get(1..).unwrap_or_default())?;
            setting.spend(made.len())?;
            Ok(Value::text(made))
        }),
        "html" => Ok(Value::text(escaped(&printed(a)))),
        "urlquery" => Ok(Value::text(query(&printed(a)))),
        "regexMatch" | "mustRegexMatch" => {
            with_pattern(a, |pattern, rest| Ok(Value::Bool(pattern.is_match(&texts(rest, 0)?))))
        }
        "regexFind" | "mustRegexFind" => with_pattern(a, |pattern, rest| {
            let it = texts(rest, 0)?;
            Ok(Value::text(pattern.find(&it).map_or("", |it| it.as_str())))
        }),
        "regexFindAll" | "mustRegexFindAll" => with_pattern(a, |pattern, rest| {
            let most = most(at(rest, 1)?);
            let it = texts(rest, 0)?;
            Ok(Value::list(
                pattern.find_iter(&it).take(most).map(|it| Value::text(it.as_str())).collect(),
            ))
        }),
        "regexReplaceAll" | "mustRegexReplaceAll" => with_pattern(a, |pattern, rest| {
            let with = braced(&texts(rest, 1)?);
            Ok(Value::text(pattern.replace_all(&texts(rest, 0)?, with.as_str())))
        }),
        "regexReplaceAllLiteral" | "mustRegexReplaceAllLiteral" => {
            with_pattern(a, |pattern, rest| {
                let with = texts(rest, 1)?;
                Ok(Value::text(pattern.replace_all(&texts(rest, 0)?, regex::NoExpand(&with))))
            })
        }
        "regexSplit" | "mustRegexSplit" => with_pattern(a, |pattern, rest| {
            let it = texts(rest, 0)?;
            let most = most(at(rest, 1)?);
            let all: Vec<Value> = match most {
                usize::MAX => pattern.split(&it).map(Value::text).collect(),
                most => pattern.splitn(&it, most).map(Value::text).collect(),
            };
            Ok(Value::list(all))
        }),
        "regexQuoteMeta" => text(a, 0, regex::escape),
        "randAlphaNum" | "randAlpha" | "randNumeric" | "randAscii" => drawn(name, a, setting),
        "uuidv4" => {
            let (high, low) = (setting.draw(), setting.draw());
            Ok(Value::text(format!(
                "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
                high >> 32,
                high >> 16 & 0xffff,
                high & 0xfff,
                low >> 48 & 0x3fff | 0x8000,
                low & 0xffff_ffff_ffff
            )))
        }
        _ => return None,
    })
}

fn text(a: &[Value], index: usize, change: impl FnOnce(&str) -> String) -> Result {
    texts(a, index).map(|it| Value::text(change(&it)))
}

fn two(a: &[Value], change: impl FnOnce(&str, &str) -> String) -> Result {
    Ok(Value::text(change(&texts(a, 0)?, &texts(a, 1)?)))
}

fn two_bool(a: &[Value], judge: impl FnOnce(&str, &str) -> bool) -> Result {
    Ok(Value::Bool(judge(&text_only(a, 0)?, &text_only(a, 1)?)))
}

/// All that are something, with a blank between.
fn joined(a: &[Value], each: impl Fn(&str) -> String) -> String {
    let there = a.iter().filter(|it| !matches!(it, Value::Nil));
    there.map(|it| each(&it.shown())).collect::<Vec<_>>().join(" ")
}

/// Go's `%q`.
pub(super) struct Quoted<'a>(pub(super) &'a str);

impl std::fmt::Debug for Quoted<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("\"")?;
        for c in self.0.chars() {
            match c {
                '"' => f.write_str("\\\"")?,
                '\\' => f.write_str("\\\\")?,
                '\n' => f.write_str("\\n")?,
                '\t' => f.write_str("\\t")?,
                '\r' => f.write_str("\\r")?,
                c if u32::from(c) < 0x20 || c == '\x7f' => write!(f, "\\x{:02x}", u32::from(c))?,
                c => std::fmt::Write::write_char(f, c)?,
            }
        }
        f.write_str("\"")
    }
}

fn printed(a: &[Value]) -> String {
    let mut out = String::new();
    for (index, it) in a.iter().enumerate() {
        let is_text = |it: &Value| matches!(it, Value::Text(_));
        if index > 0 && !is_text(it) && !is_text(&a[index - 1]) {
            out.push(' ');
        }
        out.push_str(&it.shown());
    }
    out
}

fn indented(it: &str, by: usize, setting: &Setting) -> Result {
    let lines = it.split('\n').count();
    setting.spend(by.saturating_mul(lines).saturating_add(it.len()))?;
    let pad = " ".repeat(by);
    Ok(Value::text(format!("{pad}{}", it.replace('\n', &format!("\n{pad}")))))
}

fn repeat(a: &[Value], setting: &Setting) -> Result {
    let (times, it) = (count(a, 0)?, texts(a, 1)?);
    let length = it.len().saturating_mul(times);
    setting.spend(length)?;
    if length > LIMIT {
        return Err("the text is too long".into());
    }
    Ok(Value::text(it.repeat(times)))
}

fn words(it: &str, change: impl Fn(char) -> String) -> String {
    let mut out = String::with_capacity(it.len());
    let mut start = true;
    for c in it.chars() {
        if start {
            out.push_str(&change(c))
        } else {
            out.push(c)
        }
        start = c.is_whitespace() || c == '-' && start;
    }
    out
}

fn swapped(c: char) -> Vec<char> {
    if c.is_uppercase() { c.to_lowercase().collect() } else { c.to_uppercase().collect() }
}

fn camel(it: &str) -> String {
    let parts = it.split(['_', '-', ' ']).filter(|it| !it.is_empty());
    parts.map(|it| words(it, |c| c.to_uppercase().collect())).collect()
}

fn cased(it: &str, between: char) -> String {
    let mut out = String::with_capacity(it.len() + 4);
    let mut before = ' ';
    for c in it.chars() {
        if matches!(c, '_' | '-' | ' ') {
            out.push(between);
        } else {
            if c.is_uppercase() && (before.is_lowercase() || before.is_ascii_digit()) {
                out.push(between);
            }
            out.extend(c.to_lowercase());
        }
        before = c;
    }
    out
}

fn substring(a: &[Value]) -> Result {
    let (start, end, it) = (at(a, 0)?.int(), at(a, 1)?.int(), texts(a, 2)?);
    let chars: Vec<char> = it.chars().collect();
    let length = i64::try_from(chars.len()).unwrap_or(i64::MAX);
    let start = start.clamp(0, length);
    let end = if end < 0 || end > length { length } else { end };
    let part = chars.iter().skip(usize::try_from(start).unwrap_or(0));
    Ok(Value::text(part.take(usize::try_from(end - start).unwrap_or(0)).collect::<String>()))
}

fn truncated(a: &[Value]) -> Result {
    let (most, it) = (at(a, 0)?.int(), texts(a, 1)?);
    let chars: Vec<char> = it.chars().collect();
    let keep = usize::try_from(most.unsigned_abs()).unwrap_or(usize::MAX).min(chars.len());
    let kept = if most < 0 { &chars[chars.len() - keep..] } else { &chars[..keep] };
    Ok(Value::text(kept.iter().collect::<String>()))
}

fn abbreviated(it: &str, most: usize) -> String {
    if most < 4 || it.chars().count() <= most {
        return it.to_owned();
    }
    let kept: String = it.chars().take(most - 3).collect();
    format!("{kept}...")
}

fn wrapped(it: &str, width: usize, between: &str) -> String {
    let mut out = String::new();
    let mut length = 0;
    for (index, word) in it.split_whitespace().enumerate() {
        let size = word.chars().count();
        if index > 0 {
            let fits = length + 1 + size <= width;
            out.push_str(if fits { " " } else { between });
            length = if fits { length + 1 } else { 0 };
        }
        out.push_str(word);
        length += size;
    }
    out
}

/// `split` gives a dict of `_0`, `_1` and so on.
fn parts(name: &str, a: &[Value]) -> Result {
    let between = texts(a, 0)?;
    let parts: Vec<String> = if name == "splitn" {
        let (most, it) = (count(a, 1)?, texts(a, 2)?);
        it.splitn(most.max(1), &between).map(str::to_owned).collect()
    } else {
        texts(a, 1)?.split(&between).map(str::to_owned).collect()
    };
    let named = parts.iter().enumerate().map(|(index, it)| (format!("_{index}"), Value::text(it)));
    Ok(Value::dict(named.collect()))
}

fn escaped(it: &str) -> String {
    it.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&#34;")
        .replace('\'', "&#39;")
}

pub(super) fn query(it: &str) -> String {
    let mut out = String::new();
    for byte in it.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                out.push(char::from(byte));
            }
            b' ' => out.push('+'),
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

fn with_pattern(a: &[Value], then: impl FnOnce(&Regex, &[Value]) -> Result) -> Result {
    let text = texts(a, 0)?;
    let pattern = regex::RegexBuilder::new(&text).size_limit(1 << 20).build();
    let pattern = pattern.map_err(|_| format!("error parsing regexp: `{text}`"))?;
    then(&pattern, a.get(1..).unwrap_or_default())
}

fn most(count: &Value) -> usize {
    usize::try_from(count.int()).unwrap_or(usize::MAX)
}

/// `$1x` is the group `1x` for us and for Go alike; `${1}` is what both mean.
fn braced(with: &str) -> String {
    with.to_owned()
}

fn drawn(name: &str, a: &[Value], setting: &Setting) -> Result {
    let count = count(a, 0)?;
    setting.spend(count.saturating_mul(16))?;
    let (letters, digits) = ("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789");
    let ascii: String = (' '..='~').collect();
    let of = match name {
        "randAlpha" => letters.to_owned(),
        "randNumeric" => digits.to_owned(),
        "randAscii" => ascii,
        _ => format!("{letters}{digits}"),
    };
    let of: Vec<char> = of.chars().collect();
    let size = u64::try_from(of.len()).unwrap_or(1).max(1);
    let pick = |_| of.get(usize::try_from(setting.draw() % size).unwrap_or(0)).copied();
    Ok(Value::text((0..count).filter_map(pick).collect::<String>()))
}
