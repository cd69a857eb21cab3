//! Functions on numbers.

use super::{Result, at};
use crate::value::Value;

pub(super) fn call(name: &str, a: &[Value]) -> Option<Result> {
    let int = |index: usize| at(a, index).map(Value::int);
    let ints = |start: i64, each: fn(i64, i64) -> i64| {
        Ok(Value::Int(a.iter().map(Value::int).fold(start, each)))
    };
    let from_first = |each: fn(i64, i64) -> Option<i64>| {
        let first = int(0)?;
        let made = a[1..].iter().map(Value::int).try_fold(first, each);
        made.map(Value::Int).ok_or_else(|| "division by zero".to_owned())
    };
    let floats = |each: fn(f64, f64) -> f64| {
        let first = at(a, 0)?.float();
        Ok(Value::Float(a[1..].iter().map(Value::float).fold(first, each)))
    };
    Some(match name {
        "int" | "int64" => int(0).map(Value::Int),
        "float64" => at(a, 0).map(|it| Value::Float(it.float())),
        "atoi" => at(a, 0).map(|it| Value::Int(it.shown().parse().unwrap_or(0))),
        "toDecimal" => {
            at(a, 0).map(|it| Value::Int(i64::from_str_radix(&it.shown(), 8).unwrap_or(0)))
        }
        "add" => ints(0, i64::wrapping_add),
        "mul" => ints(1, i64::wrapping_mul),
        "add1" => int(0).map(|it| Value::Int(it.wrapping_add(1))),
        "sub" => from_first(|a, b| Some(a.wrapping_sub(b))),
        "div" => from_first(i64::checked_div),
        "mod" => from_first(i64::checked_rem),
        "max" | "biggest" => from_first(|a, b| Some(a.max(b))),
        "min" => from_first(|a, b| Some(a.min(b))),
        "addf" => floats(|a, b| a + b),
        "subf" => floats(|a, b| a - b),
        "mulf" => floats(|a, b| a * b),
        "divf" => floats(|a, b| a / b),
        "maxf" => floats(f64::max),
        "minf" => floats(f64::min),
        "add1f" => at(a, 0).map(|it| Value::Float(it.float() + 1.0)),
        "floor" => at(a, 0).map(|it| Value::Float(it.float().floor())),
        "ceil" => at(a, 0).map(|it| Value::Float(it.float().ceil())),
        "round" => at(a, 1).map(|digits| {
            let scale = 10f64.powi(i32::try_from(digits.int()).unwrap_or(0).clamp(-15, 15));
            Value::Float((a[0].float() * scale).round() / scale)
        }),
        "randInt" => Err("numbers are not drawn here".into()),
        _ => return None,
    })
}
