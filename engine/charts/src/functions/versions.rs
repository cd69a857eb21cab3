//! Semantic versions and what they must satisfy.

use std::cmp::Ordering;

use super::{Result, texts};
use crate::value::{Members, Value};

pub(super) fn call(name: &str, a: &[Value]) -> Option<Result> {
    Some(match name {
        "semver" => texts(a, 0).and_then(|it| {
            let version = Version::parse(&it).ok_or("invalid semantic version")?;
            let number = |it: u64| Value::Int(i64::try_from(it).unwrap_or(i64::MAX));
            Ok(Value::dict(Members::from([
                ("Major".to_owned(), number(version.parts[0])),
                ("Minor".to_owned(), number(version.parts[1])),
                ("Patch".to_owned(), number(version.parts[2])),
                ("Prerelease".to_owned(), Value::text(&version.pre)),
                ("Metadata".to_owned(), Value::text(&version.build)),
                ("Original".to_owned(), Value::text(it)),
            ])))
        }),
        "semverCompare" => texts(a, 0).and_then(|wanted| {
            let it = texts(a, 1)?;
            let version = Version::parse(&it).ok_or("invalid semantic version")?;
            Ok(Value::Bool(satisfies(&version, &wanted)?))
        }),
        _ => return None,
    })
}

/// A version; parts that are not written are zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Version {
    pub(crate) parts: [u64; 3],
    /// How many parts were written.
    written: usize,
    pub(crate) pre: String,
    build: String,
}

impl Version {
    /// `v1.2.3-rc.1+build`
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let text = text.strip_prefix(['v', 'V']).unwrap_or(text);
        let (text, build) = text.split_once('+').unwrap_or((text, ""));
        let (text, pre) = text.split_once('-').unwrap_or((text, ""));
        let mut parts = [0; 3];
        let mut written = 0;
        for part in text.split('.') {
            *parts.get_mut(written)? = part.parse().ok()?;
            written += 1;
        }
        Some(Self { parts, written, pre: pre.into(), build: build.into() })
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        self.parts.cmp(&other.parts).then_with(|| match (self.pre.as_str(), other.pre.as_str()) {
            (a, b) if a == b => Ordering::Equal,
            ("", _) => Ordering::Greater,
            (_, "") => Ordering::Less,
            (a, b) => {
                let parts = a.split('.').zip(b.split('.'));
                let order = parts.map(|(a, b)| match (a.parse::<u64>(), b.parse::<u64>()) {
                    (Ok(a), Ok(b)) => a.cmp(&b),
                    (Ok(_), Err(_)) => Ordering::Less,
                    (Err(_), Ok(_)) => Ordering::Greater,
                    (Err(_), Err(_)) => a.cmp(b),
                });
                let differs = { order }.find(|it| it.is_ne());
                differs.unwrap_or_else(|| a.split('.').count().cmp(&b.split('.').count()))
            }
        })
    }
}

/// Whether a version is one of those wanted: `>=1.2 <2 || ~3.1`, `1.x`, `^1.2`, `1.2 - 1.4`.
///
/// # Errors
/// It is no constraint.
pub(crate) fn satisfies(version: &Version, wanted: &str) -> std::result::Result<bool, String> {
    let improper = || format!("improper constraint: {wanted}");
    for any in wanted.split("||") {
        let spread = any.replace(" - ", "\u{1}");
        let mut words: Vec<String> = Vec::new();
        for word in spread.split([',', ' ']).filter(|it| !it.is_empty()) {
            let alone = words.last().is_some_and(|it| it.chars().all(|c| "<>=!~^".contains(c)));
            match words.last_mut() {
                Some(last) if alone => last.push_str(word),
                _ => words.push(word.to_owned()),
            }
        }
        if words.is_empty() {
            return Err(improper());
        }
        let mut all = true;
        for word in &words {
            let holds = match word.split_once('\u{1}') {
                Some((from, to)) => {
                    let from = fits(version, &format!(">={from}")).ok_or_else(improper)?;
                    from && fits(version, &format!("<={to}")).ok_or_else(improper)?
                }
                None => fits(version, word).ok_or_else(improper)?,
            };
            all &= holds;
        }
        if all {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Which of these is the newest that is wanted; any that is out if nothing is said.
pub fn newest(known: &[String], wanted: &str) -> Option<usize> {
    // A version that is named as it is.
    if let Some(at) = known.iter().position(|it| it == wanted) {
        return Some(at);
    }
    let wanted = if wanted.is_empty() { "*" } else { wanted };
    let fitting = known.iter().enumerate().filter_map(|(at, it)| {
        let version = Version::parse(it)?;
        satisfies(&version, wanted).unwrap_or(false).then_some((version, at))
    });
    fitting.max_by(|a, b| a.0.cmp(&b.0)).map(|it| it.1)
}

fn fits(version: &Version, word: &str) -> Option<bool> {
    let split = word.find(|c| !"<>=!~^".contains(c)).unwrap_or(word.len());
    let (sign, text) = word.split_at(split);
    let text = text.strip_prefix('v').unwrap_or(text);
    if matches!(text, "*" | "x" | "X" | "") {
        return (sign.is_empty() || !text.is_empty()).then_some(version.pre.is_empty());
    }
    let (numbers, pre) = text.split_once('-').unwrap_or((text, ""));
    let kept: Vec<&str> =
        numbers.split('.').take_while(|it| !matches!(*it, "x" | "X" | "*")).collect();
    let mut bound = Version::parse(&kept.join("."))?;
    bound.pre = pre.split('+').next().unwrap_or_default().to_owned();
    // A version that is not out yet is only found by who asks for such.
    if !version.pre.is_empty() && bound.pre.is_empty() {
        return Some(false);
    }
    // What follows the last part that is written.
    let next = |at: usize| {
        let mut next = bound.clone();
        next.parts[at] += 1;
        next.parts[at + 1..].fill(0);
        next.pre = String::new();
        next
    };
    let last = bound.written.saturating_sub(1);
    let whole = bound.written == 3;
    let below = |end: &Version| version.parts < end.parts;
    Some(match sign {
        "" | "=" | "==" if whole => {
            *version == Version { build: version.build.clone(), written: version.written, ..bound }
        }
        "" | "=" | "==" => *version >= bound && below(&next(last)),
        "!=" if whole => version.cmp(&bound).is_ne(),
        "!=" => !(*version >= bound && below(&next(last))),
        ">" if whole => *version > bound,
        ">" => version.parts >= next(last).parts,
        ">=" | "=>" => *version >= bound,
        "<" => *version < bound,
        "<=" | "=<" if whole => *version <= bound,
        "<=" | "=<" => below(&next(last)),
        "~" | "~>" => *version >= bound && below(&next(last.min(1))),
        "^" => {
            let first = bound.parts.iter().position(|it| *it > 0).unwrap_or(last);
            *version >= bound && below(&next(first.min(last)))
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_by_constraints() {
        for (wanted, version, holds) in [
            (">=1.19-0", "1.31.2-gke.1", true),
            (">=1.19-0", "v1.18.9", false),
            (">= 1.21.0", "1.21.0", true),
            ("<1.22", "1.22.0", false),
            ("^1.2.3", "1.9.0", true),
            ("^0.2.3", "0.3.0", false),
            ("~1.2.3", "1.2.9", true),
            ("~1.2", "1.3.0", false),
            ("~1", "1.9.0", true),
            ("1.2.x", "1.2.7", true),
            ("1.2 - 1.4", "1.4.9", true),
            ("<1 || >=3, <4", "3.5.0", true),
            ("!=1.2.3", "1.2.3", false),
            (">1.2", "1.2.9", false),
            ("*", "0.0.1", true),
            (">=1.0.0", "2.0.0-rc.1", false),
        ] {
            let version = Version::parse(version).unwrap();
            assert_eq!(satisfies(&version, wanted), Ok(holds), "{wanted} {version:?}");
        }
        assert!(satisfies(&Version::parse("1.0.0").unwrap(), ">=one").is_err());
        assert!(Version::parse("1.0.0-rc.2") < Version::parse("1.0.0-rc.10"));
        assert!(Version::parse("1.0.0-rc.2") < Version::parse("1.0.0"));
    }
}
