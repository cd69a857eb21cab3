//! Package `strings`. Indices are byte offsets, letters are mapped one to one.

use std::sync::Arc;

use super::arguments as arg;
use super::call::{CallContext, CallError, Kinds, Member, Package, Parameter, function};
use super::datum::Datum;

type Outcome = Result<Datum, CallError>;

const S: Parameter = Parameter::STRING;
const B: Parameter = Parameter::TEXT;
const I: Parameter = Parameter::INT;

/// The package.
pub(super) const PACKAGE: Package = Package { path: "strings", members: MEMBERS, text: "" };

const MEMBERS: &[Member] = &[
    function("ByteAt", &[B, I], Kinds::INT, byte_at),
    function("ByteSlice", &[B, I, I], Kinds::TEXT, byte_slice),
    function("Runes", &[S], Kinds::LIST, runes),
    function("Repeat", &[S, I], Kinds::STRING, repeat),
    function("MinRunes", &[S, I], Kinds::BOOL, |_, a| {
        Ok(Datum::Bool(count_runes(a)? >= arg::int(a, 1)?))
    }),
    function("MaxRunes", &[S, I], Kinds::BOOL, |_, a| {
        Ok(Datum::Bool(count_runes(a)? <= arg::int(a, 1)?))
    }),
    function("ToTitle", &[S], Kinds::STRING, |cx, a| words(cx, a, title)),
    function("ToCamel", &[S], Kinds::STRING, |cx, a| words(cx, a, lower)),
    function("SliceRunes", &[S, I, I], Kinds::STRING, slice_runes),
    function("Compare", &[S, S], Kinds::INT, |_, a| {
        Ok(Datum::int(arg::text(a, 0)?.cmp(arg::text(a, 1)?) as i64))
    }),
    function("Count", &[S, S], Kinds::INT, count),
    function("Contains", &[S, S], Kinds::BOOL, |_, a| {
        Ok(Datum::Bool(arg::text(a, 0)?.contains(arg::text(a, 1)?)))
    }),
    function("ContainsAny", &[S, S], Kinds::BOOL, |_, a| {
        let chars = arg::text(a, 1)?;
        Ok(Datum::Bool(arg::text(a, 0)?.contains(|c| chars.contains(c))))
    }),
    function("LastIndex", &[S, S], Kinds::INT, |_, a| {
        Ok(offset(arg::text(a, 0)?.rfind(arg::text(a, 1)?)))
    }),
    function("IndexAny", &[S, S], Kinds::INT, |_, a| {
        let chars = arg::text(a, 1)?;
        Ok(offset(arg::text(a, 0)?.find(|c| chars.contains(c))))
    }),
    function("LastIndexAny", &[S, S], Kinds::INT, |_, a| {
        let chars = arg::text(a, 1)?;
        Ok(offset(arg::text(a, 0)?.rfind(|c| chars.contains(c))))
    }),
    function("SplitN", &[S, S, I], Kinds::LIST, |cx, a| split(cx, a, Some(2), Keep::Parts)),
    function("SplitAfterN", &[S, S, I], Kinds::LIST, |cx, a| {
        split(cx, a, Some(2), Keep::Separators)
    }),
    function("Split", &[S, S], Kinds::LIST, |cx, a| split(cx, a, None, Keep::Parts)),
    function("SplitAfter", &[S, S], Kinds::LIST, |cx, a| split(cx, a, None, Keep::Separators)),
    function("Fields", &[S], Kinds::LIST, fields),
    function("Join", &[Parameter::STRINGS, S], Kinds::STRING, join),
    function("HasPrefix", &[S, S], Kinds::BOOL, |_, a| {
        Ok(Datum::Bool(arg::text(a, 0)?.starts_with(arg::text(a, 1)?)))
    }),
    function("HasSuffix", &[S, S], Kinds::BOOL, |_, a| {
        Ok(Datum::Bool(arg::text(a, 0)?.ends_with(arg::text(a, 1)?)))
    }),
    function("ToUpper", &[S], Kinds::STRING, |cx, a| each(cx, a, upper)),
    function("ToLower", &[S], Kinds::STRING, |cx, a| each(cx, a, lower)),
    function("Trim", &[S, S], Kinds::STRING, |cx, a| {
        let set = arg::text(a, 1)?;
        piece(cx, arg::text(a, 0)?.trim_matches(|c| set.contains(c)))
    }),
    function("TrimLeft", &[S, S], Kinds::STRING, |cx, a| {
        let set = arg::text(a, 1)?;
        piece(cx, arg::text(a, 0)?.trim_start_matches(|c| set.contains(c)))
    }),
    function("TrimRight", &[S, S], Kinds::STRING, |cx, a| {
        let set = arg::text(a, 1)?;
        piece(cx, arg::text(a, 0)?.trim_end_matches(|c| set.contains(c)))
    }),
    function("TrimSpace", &[S], Kinds::STRING, |cx, a| piece(cx, arg::text(a, 0)?.trim())),
    function("TrimPrefix", &[S, S], Kinds::STRING, |cx, a| {
        let text = arg::text(a, 0)?;
        piece(cx, text.strip_prefix(arg::text(a, 1)?).unwrap_or(text))
    }),
    function("TrimSuffix", &[S, S], Kinds::STRING, |cx, a| {
        let text = arg::text(a, 0)?;
        piece(cx, text.strip_suffix(arg::text(a, 1)?).unwrap_or(text))
    }),
    function("Replace", &[S, S, S, I], Kinds::STRING, replace),
    function("Index", &[S, S], Kinds::INT, |_, a| {
        Ok(offset(arg::text(a, 0)?.find(arg::text(a, 1)?)))
    }),
];

fn out_of_range() -> CallError {
    CallError::permanent("index out of range")
}

fn piece(cx: &mut CallContext, text: &str) -> Outcome {
    cx.spend(text.len())?;
    Ok(Datum::text(text))
}

fn offset(found: Option<usize>) -> Datum {
    found.map_or(Datum::int(-1), Datum::count)
}

fn count_runes(args: &[Datum]) -> Result<i64, CallError> {
    Ok(arg::text(args, 0)?.chars().count() as i64)
}

fn byte_at(_: &mut CallContext, args: &[Datum]) -> Outcome {
    let bytes = arg::bytes(args, 0)?;
    let at = usize::try_from(arg::int(args, 1)?).map_err(|_| out_of_range())?;
    bytes.get(at).map(|byte| Datum::int(i64::from(*byte))).ok_or_else(out_of_range)
}

fn byte_slice(cx: &mut CallContext, args: &[Datum]) -> Outcome {
    let bytes = arg::bytes(args, 0)?;
    let bound = |at| usize::try_from(arg::int(args, at)?).map_err(|_| out_of_range());
    let slice = bytes.get(bound(1)?..bound(2)?).ok_or_else(out_of_range)?;
    cx.spend(slice.len())?;
    Ok(Datum::bytes(slice))
}

fn runes(cx: &mut CallContext, args: &[Datum]) -> Outcome {
    let text = arg::text(args, 0)?;
    cx.spend(text.len().saturating_mul(16))?;
    Ok(Datum::list(text.chars().map(|c| Datum::int(i64::from(u32::from(c)))).collect()))
}

fn slice_runes(cx: &mut CallContext, args: &[Datum]) -> Outcome {
    let text = arg::text(args, 0)?;
    let (start, end) = (arg::int(args, 1)?, arg::int(args, 2)?);
    let (start, end) = match (usize::try_from(start), usize::try_from(end)) {
        (Ok(start), Ok(end)) if start <= end => (start, end),
        _ => return Err(out_of_range()),
    };
    let place = |runes: usize| {
        text.char_indices()
            .map(|(at, _)| at)
            .chain(std::iter::once(text.len()))
            .nth(runes)
            .ok_or_else(out_of_range)
    };
    piece(cx, &text[place(start)?..place(end)?])
}

fn count(_: &mut CallContext, args: &[Datum]) -> Outcome {
    let (text, part) = (arg::text(args, 0)?, arg::text(args, 1)?);
    if part.is_empty() {
        return Ok(Datum::count(text.chars().count() + 1));
    }
    Ok(Datum::count(text.matches(part).count()))
}

fn words(cx: &mut CallContext, args: &[Datum], map: fn(char) -> char) -> Outcome {
    let text = arg::text(args, 0)?;
    cx.spend(text.len())?;
    let mut after_space = true;
    let mapped: String = text
        .chars()
        .map(|c| {
            let first = std::mem::replace(&mut after_space, c.is_whitespace());
            if first { map(c) } else { c }
        })
        .collect();
    Ok(Datum::text(mapped))
}

fn each(cx: &mut CallContext, args: &[Datum], map: fn(char) -> char) -> Outcome {
    let text = arg::text(args, 0)?;
    cx.spend(text.len())?;
    Ok(Datum::text(text.chars().map(map).collect::<String>()))
}

fn fields(cx: &mut CallContext, args: &[Datum]) -> Outcome {
    let text = arg::text(args, 0)?;
    cx.spend(text.len().saturating_mul(4))?;
    Ok(Datum::list(text.split_whitespace().map(Datum::text).collect()))
}

/// What of a split text is kept.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keep {
    Parts,
    /// With the separator at their ends.
    Separators,
}

/// Splits; `limit` is the argument that has the largest number of parts.
fn split(cx: &mut CallContext, args: &[Datum], limit: Option<usize>, keep: Keep) -> Outcome {
    let (text, separator) = (arg::text(args, 0)?, arg::text(args, 1)?);
    let limit = match limit {
        Some(at) => arg::int(args, at)?,
        None => -1,
    };
    if limit == 0 {
        return Ok(Datum::list(Vec::new()));
    }
    let most = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut parts: Vec<&str> = Vec::new();
    let mut rest = text;
    if separator.is_empty() {
        while parts.len() + 1 < most
            && let Some(c) = rest.chars().next()
        {
            parts.push(&rest[..c.len_utf8()]);
            rest = &rest[c.len_utf8()..];
        }
        if !rest.is_empty() {
            parts.push(rest);
        }
    } else {
        while parts.len() + 1 < most
            && let Some(at) = rest.find(separator)
        {
            let end = at + separator.len();
            parts.push(&rest[..if keep == Keep::Separators { end } else { at }]);
            rest = &rest[end..];
        }
        parts.push(rest);
    }
    cx.spend(text.len().saturating_add(parts.len().saturating_mul(32)))?;
    Ok(Datum::list(parts.into_iter().map(Datum::text).collect()))
}

fn join(cx: &mut CallContext, args: &[Datum]) -> Outcome {
    let parts = arg::strings(args, 0)?;
    let separator = arg::text(args, 1)?;
    let own: usize = parts.iter().map(|part| part.len()).sum();
    cx.spend(own.saturating_add(separator.len().saturating_mul(parts.len())))?;
    Ok(Datum::text(parts.join(separator)))
}

fn repeat(cx: &mut CallContext, args: &[Datum]) -> Outcome {
    let text = arg::text(args, 0)?;
    let count = checked_count(arg::int(args, 1)?)?;
    cx.spend(text.len().saturating_mul(count))?;
    Ok(Datum::text(text.repeat(count)))
}

/// The count of `strings.Repeat` and `list.Repeat`.
pub(super) fn checked_count(count: i64) -> Result<usize, CallError> {
    if count > 1_000_000 {
        return Err(CallError::permanent(format!("count {count} exceeds limit of 1000000")));
    }
    usize::try_from(count).map_err(|_| CallError::permanent("negative count"))
}

fn replace(cx: &mut CallContext, args: &[Datum]) -> Outcome {
    let text = arg::shared(args, 0)?;
    let (old, new) = (arg::text(args, 1)?, arg::text(args, 2)?);
    let most = usize::try_from(arg::int(args, 3)?).unwrap_or(usize::MAX);
    if old == new || most == 0 {
        return Ok(Datum::text(text));
    }
    let found = if old.is_empty() { text.chars().count() + 1 } else { text.matches(old).count() };
    let grown = found.min(most).saturating_mul(new.len());
    cx.spend(text.len().saturating_add(grown))?;
    let replaced: Arc<str> = text.replacen(old, new, most).into();
    Ok(Datum::text(replaced))
}

/// Upper case of one character that is one character, else the character itself.
pub(super) fn upper(c: char) -> char {
    let mut mapped = c.to_uppercase();
    match (mapped.next(), mapped.next()) {
        (Some(one), None) => one,
        _ => match c {
            // Greek with iota below: the only ones with both a simple and a longer mapping.
            '\u{1f80}'..='\u{1f87}' | '\u{1f90}'..='\u{1f97}' | '\u{1fa0}'..='\u{1fa7}' => {
                char::from_u32(c as u32 + 8).unwrap_or(c)
            }
            '\u{1fb3}' | '\u{1fc3}' | '\u{1ff3}' => char::from_u32(c as u32 + 9).unwrap_or(c),
            _ => c,
        },
    }
}

/// Lower case of one character.
pub(super) fn lower(c: char) -> char {
    if c == 'İ' {
        return 'i';
    }
    c.to_lowercase().next().unwrap_or(c)
}

/// Title case of one character.
pub(super) fn title(c: char) -> char {
    match c {
        '\u{1c4}'..='\u{1c6}' => '\u{1c5}',
        '\u{1c7}'..='\u{1c9}' => '\u{1c8}',
        '\u{1ca}'..='\u{1cc}' => '\u{1cb}',
        '\u{1f1}'..='\u{1f3}' => '\u{1f2}',
        '\u{10d0}'..='\u{10fa}' | '\u{10fd}'..='\u{10ff}' => c,
        _ => upper(c),
    }
}
