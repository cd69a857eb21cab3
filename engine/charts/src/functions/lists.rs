//! Functions on lists.

use super::{Result, at, count, texts};
use crate::template::Setting;
use crate::value::Value;

/// Items that one call may make.
const LIMIT: usize = 100_000;

pub(super) fn call(name: &str, a: &[Value], setting: &Setting) -> Option<Result> {
    let name = match name.strip_prefix("must") {
        Some(rest) if rest.starts_with(char::is_uppercase) => {
            &format!("{}{}", rest[..1].to_lowercase(), &rest[1..])
        }
        _ => name,
    };
    Some(match name {
        "list" | "tuple" => Ok(Value::list(a.to_vec())),
        "first" => list(a, 0).map(|it| it.first().cloned().unwrap_or_default()),
        "last" => list(a, 0).map(|it| it.last().cloned().unwrap_or_default()),
        "rest" => list(a, 0).map(|it| Value::list(it.iter().skip(1).cloned().collect())),
        "initial" => list(a, 0).map(|it| Value::list(it[..it.len().saturating_sub(1)].to_vec())),
        "append" | "push" => list(a, 0).and_then(|it| {
            let added = at(a, 1)?.clone();
            made(it.iter().cloned().chain([added]).collect(), setting)
        }),
        "prepend" => list(a, 0).and_then(|it| {
            let added = at(a, 1)?.clone();
            made([added].into_iter().chain(it.iter().cloned()).collect(), setting)
        }),
        "concat" => {
            let all: std::result::Result<Vec<&[Value]>, String> =
                (0..a.len()).map(|index| list(a, index)).collect();
            all.and_then(|all| made(all.concat(), setting))
        }
        "reverse" => list(a, 0).map(|it| Value::list(it.iter().rev().cloned().collect())),
        "uniq" => list(a, 0).and_then(|it| unique(it, setting)),
        "without" => list(a, 0).map(|it| {
            let without = a.get(1..).unwrap_or_default();
            let kept = it.iter().filter(|it| !without.iter().any(|out| out.same(it)));
            Value::list(kept.cloned().collect())
        }),
        "has" => match a.get(1) {
            Some(Value::Nil) => Ok(Value::Bool(false)),
            _ => list(a, 1)
                .map(|it| Value::Bool(it.iter().any(|it| a.first().is_some_and(|a| a.same(it))))),
        },
        "compact" => {
            list(a, 0).map(|it| Value::list(it.iter().filter(|it| it.is_true()).cloned().collect()))
        }
        "slice" => slice(a),
        "chunk" => count(a, 0).and_then(|size| {
            let chunks = list(a, 1)?.chunks(size.max(1));
            Ok(Value::list(chunks.map(|it| Value::list(it.to_vec())).collect()))
        }),
        "until" => {
            at(a, 0).and_then(|it| steps(0, it.int(), if it.int() < 0 { -1 } else { 1 }, setting))
        }
        "untilStep" => at(a, 2).and_then(|step| steps(a[0].int(), a[1].int(), step.int(), setting)),
        "seq" => sequence(a, setting),
        "sortAlpha" => list(a, 0).map(|it| {
            let mut all: Vec<String> = it.iter().map(Value::shown).collect();
            all.sort();
            Value::list(all.iter().map(Value::text).collect())
        }),
        "join" => texts(a, 0).and_then(|between| {
            let all: Vec<String> = match at(a, 1)? {
                Value::List(items) => {
                    items.iter().filter(|it| !matches!(it, Value::Nil)).map(Value::shown).collect()
                }
                other => vec![other.shown()],
            };
            Ok(Value::text(all.join(&between)))
        }),
        "splitList" => texts(a, 0).and_then(|between| {
            let it = texts(a, 1)?;
            Ok(Value::list(it.split(&between).map(Value::text).collect()))
        }),
        "toStrings" => Ok(Value::list(match a.first() {
            Some(Value::List(items)) => items.iter().map(|it| Value::text(it.shown())).collect(),
            Some(other) => vec![Value::text(other.shown())],
            None => Vec::new(),
        })),
        _ => return None,
    })
}

fn made(items: Vec<Value>, setting: &Setting) -> Result {
    setting.spend(items.len())?;
    if items.len() > LIMIT {
        return Err("the list is too long".into());
    }
    Ok(Value::list(items))
}

fn list(a: &[Value], index: usize) -> std::result::Result<&[Value], String> {
    match at(a, index)? {
        Value::List(items) => Ok(items),
        Value::Nil => Ok(&[]),
        other => Err(format!("cannot use {} as a list", other.type_name())),
    }
}

fn unique(items: &[Value], setting: &Setting) -> Result {
    let mut kept: Vec<Value> = Vec::new();
    for it in items {
        setting.spend(kept.len() + 1)?;
        if !kept.iter().any(|other| other.same(it)) {
            kept.push(it.clone());
        }
    }
    Ok(Value::list(kept))
}

/// Of a list, or of a text.
fn slice(a: &[Value]) -> Result {
    let bounds = |length: usize| -> std::result::Result<(usize, usize), String> {
        let start = if a.len() > 1 { count(a, 1)? } else { 0 };
        let end = if a.len() > 2 { count(a, 2)? } else { length };
        if start > end || end > length {
            return Err(format!("index out of range: {end}"));
        }
        Ok((start, end))
    };
    match at(a, 0)? {
        Value::Text(it) => {
            let (start, end) = bounds(it.len())?;
            it.get(start..end).map(Value::text).ok_or_else(|| "cuts a character".into())
        }
        _ => {
            let items = list(a, 0)?;
            let (start, end) = bounds(items.len())?;
            Ok(Value::list(items[start..end].to_vec()))
        }
    }
}

fn steps(start: i64, end: i64, step: i64, setting: &Setting) -> Result {
    let mut all = Vec::new();
    let mut at = start;
    if step == 0 || (step > 0) != (end > start) {
        return Ok(Value::list(all));
    }
    while if step > 0 { at < end } else { at > end } {
        if all.len() > LIMIT {
            return Err("the list is too long".into());
        }
        all.push(Value::Int(at));
        let Some(next) = at.checked_add(step) else { break };
        at = next;
    }
    made(all, setting)
}

/// `seq` prints its numbers.
fn sequence(a: &[Value], setting: &Setting) -> Result {
    let numbers: Vec<i64> = a.iter().map(Value::int).collect();
    let (start, step, end) = match numbers.as_slice() {
        [end] => (1, if *end < 1 { -1 } else { 1 }, *end),
        [start, end] => (*start, if end < start { -1 } else { 1 }, *end),
        [start, step, end] => (*start, *step, *end),
        _ => return Ok(Value::text("")),
    };
    let past = end.saturating_add(step.signum());
    let all = steps(start, past, step, setting)?;
    let all: Vec<String> = all.items().iter().map(Value::shown).collect();
    Ok(Value::text(all.join(" ")))
}
