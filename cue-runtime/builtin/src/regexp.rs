//! Package `regexp`.

use std::rc::Rc;
use std::sync::Arc;

use super::arguments as arg;
use super::call::{CallContext, CallError, Kinds, Member, Package, Parameter, function};
use super::datum::Datum;
use super::matcher::Found;
use super::pattern::Pattern;

type Outcome = Result<Datum, CallError>;

const S: Parameter = Parameter::STRING;
const I: Parameter = Parameter::INT;

/// The package.
pub(super) const PACKAGE: Package = Package { path: "regexp", members: MEMBERS, text: "" };

const MEMBERS: &[Member] = &[
    function("Find", &[S, S], Kinds::STRING, |cx, a| {
        let text = arg::text(a, 1)?;
        let found = compile(a)?.first(text).and_then(|it| it.get(0)).ok_or_else(no_match)?;
        cx.spend(found.len())?;
        Ok(Datum::text(found))
    }),
    function("FindAll", &[S, S, I], Kinds::LIST, |cx, a| {
        let all = find_all(cx, a)?;
        Ok(Datum::list(all.iter().map(|it| group(it, 0)).collect()))
    }),
    function("FindAllNamedSubmatch", &[S, S, I], Kinds::LIST, |cx, a| {
        let pattern = compile(a)?;
        let all = find_all(cx, a)?;
        Ok(Datum::list(all.iter().map(|it| named(&pattern, it)).collect()))
    }),
    function("FindAllSubmatch", &[S, S, I], Kinds::LIST, |cx, a| {
        let all = find_all(cx, a)?;
        Ok(Datum::list(all.iter().map(groups).collect()))
    }),
    function("FindNamedSubmatch", &[S, S], Kinds::STRUCT, |cx, a| {
        let pattern = compile(a)?;
        let text = arg::text(a, 1)?;
        cx.spend(text.len())?;
        let found = pattern.first(text).ok_or_else(no_match)?;
        Ok(named(&pattern, &found))
    }),
    function("FindSubmatch", &[S, S], Kinds::LIST, |cx, a| {
        let text = arg::text(a, 1)?;
        cx.spend(text.len())?;
        let found = compile(a)?.first(text).ok_or_else(no_match)?;
        Ok(groups(&found))
    }),
    function("ReplaceAll", &[S, S, S], Kinds::STRING, |cx, a| {
        let pattern = compile(a)?;
        let template = arg::text(a, 2)?;
        replace_all(cx, a, &pattern, |found, out| expand(&pattern, template, found, out))
    }),
    function("ReplaceAllLiteral", &[S, S, S], Kinds::STRING, |cx, a| {
        let pattern = compile(a)?;
        let text = arg::text(a, 2)?;
        replace_all(cx, a, &pattern, |_, out| out.push_str(text))
    }),
    function("Valid", &[S], Kinds::BOOL, |_, a| {
        compile(a)?;
        Ok(Datum::Bool(true))
    }),
    function("Match", &[S, S], Kinds::BOOL, |_, a| {
        let pattern = compile(a)?;
        Ok(Datum::Bool(pattern.is_match(arg::text(a, 1)?)))
    }),
    function("QuoteMeta", &[S], Kinds::STRING, |cx, a| {
        let text = arg::text(a, 0)?;
        cx.spend(text.len().saturating_mul(2))?;
        let mut out = String::with_capacity(text.len());
        for c in text.chars() {
            if "\\.+*?()|[]{}^$".contains(c) {
                out.push('\\');
            }
            out.push(c);
        }
        Ok(Datum::text(out))
    }),
];

fn compile(args: &[Datum]) -> Result<Rc<Pattern>, CallError> {
    Pattern::kept(arg::text(args, 0)?).map_err(CallError::permanent)
}

fn no_match() -> CallError {
    CallError::permanent("no match")
}

fn group(found: &Found<'_>, at: usize) -> Datum {
    Datum::text(found.get(at).unwrap_or_default())
}

fn groups(found: &Found<'_>) -> Datum {
    Datum::list((0..found.len()).map(|at| group(found, at)).collect())
}

fn named(pattern: &Pattern, found: &Found<'_>) -> Datum {
    let mut fields: Vec<(Arc<str>, Datum)> = Vec::new();
    for (at, name) in pattern.names.iter().enumerate().filter(|(_, name)| !name.is_empty()) {
        let value = group(found, at);
        match fields.iter_mut().find(|it| *it.0 == **name) {
            Some(known) => known.1 = value,
            None => fields.push((name.as_str().into(), value)),
        }
    }
    cue_sort::by(&mut fields, |a, b| a.0.cmp(&b.0));
    Datum::fields(fields)
}

fn find_all<'t>(cx: &mut CallContext, args: &'t [Datum]) -> Result<Vec<Found<'t>>, CallError> {
    let pattern = compile(args)?;
    let text = arg::text(args, 1)?;
    let most = usize::try_from(arg::int(args, 2)?).unwrap_or(usize::MAX);
    let mut all = Vec::new();
    for found in pattern.all(text).take(most) {
        cx.spend(found.len().saturating_mul(32))?;
        all.push(found);
    }
    if all.is_empty() { Err(no_match()) } else { Ok(all) }
}

fn replace_all(
    cx: &mut CallContext,
    args: &[Datum],
    pattern: &Pattern,
    mut put: impl FnMut(&Found<'_>, &mut String),
) -> Outcome {
    let text = arg::text(args, 1)?;
    let mut out = String::new();
    let mut done = 0;
    for found in pattern.all(text) {
        let Some(whole) = found.range(0) else { continue };
        let before = out.len();
        out.push_str(&text[done..whole.start]);
        put(&found, &mut out);
        cx.spend(out.len() - before)?;
        done = whole.end;
    }
    out.push_str(&text[done..]);
    cx.spend(text.len() - done)?;
    Ok(Datum::text(out))
}

/// Go's `Expand`: `$1`, `${name}`, `$$`; what is malformed stays.
fn expand(pattern: &Pattern, template: &str, found: &Found<'_>, out: &mut String) {
    let mut rest = template;
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('$') {
            out.push('$');
            rest = after;
            continue;
        }
        let (body, braced) = match rest.strip_prefix('{') {
            Some(body) => (body, true),
            None => (rest, false),
        };
        let length = body.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(body.len());
        let (name, after) = body.split_at(length);
        let after = match (braced, after.strip_prefix('}')) {
            _ if name.is_empty() => None,
            (false, _) => Some(after),
            (true, after) => after,
        };
        let Some(after) = after else {
            out.push('$');
            continue;
        };
        rest = after;
        let number = name.bytes().all(|byte| byte.is_ascii_digit())
            && (name.len() == 1 || !name.starts_with('0'));
        let group = if number {
            name.parse().ok().and_then(|at: usize| found.get(at))
        } else {
            pattern
                .names
                .iter()
                .enumerate()
                .filter(|(_, known)| *known == name)
                .find_map(|(at, _)| found.get(at))
        };
        out.push_str(group.unwrap_or_default());
    }
    out.push_str(rest);
}
