//! Functions on dicts, on anything, and those that stop a chart.

use std::rc::Rc;

use super::{Result, at, texts};
use crate::value::{Members, Value};

pub(super) fn call(name: &str, a: &[Value]) -> Option<Result> {
    let name = match name {
        "mustMerge" => "merge",
        "mustMergeOverwrite" => "mergeOverwrite",
        "mustDeepCopy" => "deepCopy",
        other => other,
    };
    Some(match name {
        "dict" => dict(a),
        "get" => key(a).map(|(dict, key)| dict.member(&key).unwrap_or_else(|| Value::text(""))),
        "hasKey" => key(a).map(|(dict, key)| Value::Bool(dict.member(&key).is_some())),
        "set" => set(a),
        "unset" => key(a).map(|(dict, key)| {
            if let Value::Dict(members) = &dict {
                members.borrow_mut().remove(&key);
            }
            dict
        }),
        "pluck" => texts(a, 0)
            .map(|key| Value::list(a[1..].iter().filter_map(|it| it.member(&key)).collect())),
        "dig" => dig(a),
        "keys" => {
            a.iter().map(members).collect::<std::result::Result<Vec<_>, _>>().map(|all| {
                Value::list(all.iter().flat_map(|it| it.keys().map(Value::text)).collect())
            })
        }
        "values" => at(a, 0).and_then(members).map(|it| Value::list(it.into_values().collect())),
        "pick" => chosen(a, |named| named),
        "omit" => chosen(a, |named| !named),
        "merge" => merged(a, Wins::First),
        "mergeOverwrite" => merged(a, Wins::Last),
        "deepCopy" => at(a, 0).map(Value::copied),
        "deepEqual" => at(a, 1).map(|it| Value::Bool(a[0].same(it))),
        "default" => match (a.first(), a.get(1)) {
            (Some(_), Some(given)) if given.is_true() => Ok(given.clone()),
            (Some(default), _) => Ok(default.clone()),
            (None, _) => Err("wrong number of args for default".into()),
        },
        "empty" => at(a, 0).map(|it| Value::Bool(!it.is_true())),
        "coalesce" => Ok(a.iter().find(|it| it.is_true()).cloned().unwrap_or_default()),
        "all" => Ok(Value::Bool(a.iter().all(Value::is_true))),
        "any" => Ok(Value::Bool(a.iter().any(Value::is_true))),
        "ternary" => at(a, 2).map(|it| a[usize::from(!it.is_true())].clone()),
        "not" => at(a, 0).map(|it| Value::Bool(!it.is_true())),
        "eq" => at(a, 1).and_then(|_| {
            for other in &a[1..] {
                if a[0].equals(other)? {
                    return Ok(Value::Bool(true));
                }
            }
            Ok(Value::Bool(false))
        }),
        "ne" => at(a, 1).and_then(|it| Ok(Value::Bool(!a[0].equals(it)?))),
        "lt" => at(a, 1).and_then(|it| Ok(Value::Bool(a[0].compares(it)?.is_lt()))),
        "le" => at(a, 1).and_then(|it| Ok(Value::Bool(a[0].compares(it)?.is_le()))),
        "gt" => at(a, 1).and_then(|it| Ok(Value::Bool(a[0].compares(it)?.is_gt()))),
        "ge" => at(a, 1).and_then(|it| Ok(Value::Bool(a[0].compares(it)?.is_ge()))),
        "len" => at(a, 0).and_then(length),
        "index" => at(a, 0).and_then(|it| a[1..].iter().try_fold(it.clone(), index)),
        "kindOf" => at(a, 0).map(|it| Value::text(it.kind())),
        "kindIs" => texts(a, 0).and_then(|kind| Ok(Value::Bool(at(a, 1)?.kind() == kind))),
        "typeOf" => at(a, 0).map(|it| Value::text(it.type_name())),
        "typeIs" => texts(a, 0).and_then(|kind| Ok(Value::Bool(at(a, 1)?.type_name() == kind))),
        "typeIsLike" => texts(a, 0).and_then(|kind| {
            Ok(Value::Bool(at(a, 1)?.type_name() == kind.trim_start_matches('*')))
        }),
        "required" => texts(a, 0).and_then(|why| match a.get(1) {
            Some(Value::Nil) | None => Err(why),
            Some(Value::Text(it)) if it.is_empty() => Err(why),
            Some(given) => Ok(given.clone()),
        }),
        "fail" => Err(a.first().map(Value::shown).unwrap_or_default()),
        // Nothing is asked of a cluster: what is rendered is the same everywhere.
        "lookup" => Ok(Value::dict(Members::new())),
        "getHostByName" => Ok(Value::text("")),
        _ => return None,
    })
}

fn dict(a: &[Value]) -> Result {
    let mut members = Members::new();
    for pair in a.chunks(2) {
        members.insert(pair[0].shown(), pair.get(1).cloned().unwrap_or_else(|| Value::text("")));
    }
    Ok(Value::dict(members))
}

fn members(of: &Value) -> std::result::Result<Members, String> {
    match of {
        Value::Dict(members) => Ok(members.borrow().clone()),
        Value::Nil => Ok(Members::new()),
        other => Err(format!(
            "wrong type for value; expected map[string]interface {{}}; got {}",
            other.type_name()
        )),
    }
}

/// A dict and a key.
fn key(a: &[Value]) -> std::result::Result<(Value, String), String> {
    let key = texts(a, 1)?;
    match &a[0] {
        Value::Dict(_) => Ok((a[0].clone(), key)),
        Value::Nil => Ok((Value::dict(Members::new()), key)),
        other => members(other).map(|_| (other.clone(), key)),
    }
}

fn set(a: &[Value]) -> Result {
    let (dict, key) = key(a)?;
    let value = at(a, 2)?;
    if let Value::Dict(members) = &dict {
        if value.holds(members) {
            return Err("a dict cannot hold itself".into());
        }
        members.borrow_mut().insert(key, value.clone());
    }
    Ok(dict)
}

/// `dig "a" "b" default dict`
fn dig(a: &[Value]) -> Result {
    let [keys @ .., default, dict] = a else {
        return Err("dig needs keys, a default and a dict".into());
    };
    let mut value = dict.clone();
    for key in keys {
        match value.member(&key.shown()) {
            Some(next) => value = next,
            None => return Ok(default.clone()),
        }
    }
    Ok(value)
}

fn chosen(a: &[Value], keep: fn(bool) -> bool) -> Result {
    let all = at(a, 0).and_then(members)?;
    let named: Vec<String> = a[1..].iter().map(Value::shown).collect();
    Ok(Value::dict(all.into_iter().filter(|(key, _)| keep(named.contains(key))).collect()))
}

/// Whose value it is that both have.
#[derive(Clone, Copy, PartialEq)]
enum Wins {
    First,
    Last,
}

/// Into the first one, which is changed in place.
fn merged(a: &[Value], wins: Wins) -> Result {
    let first = at(a, 0)?;
    members(first)?;
    for other in &a[1..] {
        members(other)?;
        lay(first, other, wins, 0)?;
    }
    Ok(first.clone())
}

fn lay(onto: &Value, from: &Value, wins: Wins, depth: usize) -> std::result::Result<(), String> {
    let (Value::Dict(own), Value::Dict(other)) = (onto, from) else { return Ok(()) };
    if Rc::ptr_eq(own, other) {
        return Ok(());
    }
    if depth > 100 {
        return Err("dicts nest too deeply".into());
    }
    let pairs: Vec<(String, Value)> =
        other.borrow().iter().map(|(key, it)| (key.clone(), it.clone())).collect();
    for (key, value) in pairs {
        let known = own.borrow().get(&key).cloned();
        match known {
            Some(known @ Value::Dict(_)) if matches!(value, Value::Dict(_)) => {
                lay(&known, &value, wins, depth + 1)?;
            }
            // What says nothing gives way, and takes no place (mergo).
            Some(known) if known.is_true() && (wins == Wins::First || !value.is_true()) => {}
            _ => {
                if value.holds(own) {
                    return Err("a dict cannot hold itself".into());
                }
                own.borrow_mut().insert(key, value.copied());
            }
        }
    }
    Ok(())
}

fn length(of: &Value) -> Result {
    let length = match of {
        Value::Text(it) => it.len(),
        Value::List(it) => it.len(),
        Value::Dict(it) => it.borrow().len(),
        Value::Files(it) => it.all().count(),
        Value::Nil => return Err("len of nil pointer".into()),
        other => return Err(format!("len of type {}", other.type_name())),
    };
    Ok(Value::Int(i64::try_from(length).unwrap_or(i64::MAX)))
}

fn index(of: Value, key: &Value) -> Result {
    match &of {
        Value::Dict(_) => Ok(of.member(&key.shown()).unwrap_or_default()),
        Value::List(items) => {
            let found = usize::try_from(key.int()).ok().and_then(|at| items.get(at)).cloned();
            found.ok_or_else(|| format!("error calling index: index out of range: {}", key.int()))
        }
        Value::Text(text) => {
            let found = usize::try_from(key.int()).ok().and_then(|at| text.as_bytes().get(at));
            let found = found.map(|it| Value::Int(i64::from(*it)));
            found.ok_or_else(|| format!("error calling index: index out of range: {}", key.int()))
        }
        Value::Nil => Err("error calling index: index of untyped nil".into()),
        other => Err(format!("can't index item of type {}", other.type_name())),
    }
}
