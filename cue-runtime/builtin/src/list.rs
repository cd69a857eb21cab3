//! Package `list`. Elements that are only moved stay live values of the evaluator.

use super::arguments as arg;
use super::call::{
    CallContext, CallError, Constant, Kinds, Member, Package, Parameter, Special, constant,
    function, special,
};
use super::datum::Datum;
use super::math::failed;
use super::strings::checked_count;
use crate::number::Number;

type Outcome = Result<Datum, CallError>;

const L: Parameter = Parameter::LIVE;
const I: Parameter = Parameter::INT;
const N: Parameter = Parameter::NUMBER;
const NUMBERS: Parameter = Parameter::NUMBERS;

/// The package.
pub(super) const PACKAGE: Package = Package { path: "list", members: MEMBERS, text: TEXT };

const TEXT: &str = "{
\tComparer: {
\t\tT:    _
\t\tx:    T
\t\ty:    T
\t\tless: bool
\t}
\tAscending: {
\t\tComparer
\t\tT:    number | string
\t\tx:    T
\t\ty:    T
\t\tless: x < y
\t}
\tDescending: {
\t\tComparer
\t\tT:    number | string
\t\tx:    T
\t\ty:    T
\t\tless: x > y
\t}
}";

const MEMBERS: &[Member] = &[
    function("Drop", &[L, I], Kinds::LIST, |cx, a| {
        let (items, n) = (arg::list(a, 0)?, at_least_zero(arg::int(a, 1)?)?);
        copy(cx, items.get(n..).unwrap_or(&[]))
    }),
    function("FlattenN", &[Parameter::LIVE_TREE, I], Kinds::LIST, flatten),
    function("Repeat", &[L, I], Kinds::LIST, repeat),
    function("Concat", &[Parameter::LIVE_LISTS], Kinds::LIST, concat),
    function("Take", &[L, I], Kinds::LIST, |cx, a| {
        let (items, n) = (arg::list(a, 0)?, at_least_zero(arg::int(a, 1)?)?);
        copy(cx, items.get(..n).unwrap_or(items))
    }),
    function("Slice", &[L, I, I], Kinds::LIST, slice),
    function("Reverse", &[L], Kinds::LIST, |cx, a| {
        let mut items = arg::list(a, 0)?.to_vec();
        items.reverse();
        copy(cx, &items)
    }),
    special("MinItems", &[L, I], Kinds::BOOL, Special::MinItems),
    special("MaxItems", &[L, I], Kinds::BOOL, Special::MaxItems),
    special("UniqueItems", &[L], Kinds::BOOL, Special::UniqueItems),
    special("Contains", &[Parameter::WHOLE, Parameter::ANY_WHOLE], Kinds::BOOL, Special::Contains),
    special("MatchN", &[L, Parameter::COUNT, Parameter::SCHEMA], Kinds::BOOL, Special::MatchN),
    function("Avg", &[NUMBERS], Kinds::NUMBER, |_, a| {
        let numbers = not_empty(arg::numbers(a, 0)?)?;
        let count = Number::int(numbers.len() as i64);
        let sum = fold(&numbers, Number::int(0), Number::add)?;
        Ok(Datum::Number(sum.quo_plain(&count).map_err(failed)?.settled()))
    }),
    function("Max", &[NUMBERS], Kinds::NUMBER, |_, a| {
        let numbers = not_empty(arg::numbers(a, 0)?)?;
        let first = numbers[0];
        let found = numbers.iter().fold(first, |a, b| if b.compare(a).is_gt() { b } else { a });
        Ok(Datum::Number(found.settled()))
    }),
    function("Min", &[NUMBERS], Kinds::NUMBER, |_, a| {
        let numbers = not_empty(arg::numbers(a, 0)?)?;
        let first = numbers[0];
        let found = numbers.iter().fold(first, |a, b| if b.compare(a).is_lt() { b } else { a });
        Ok(Datum::Number(found.settled()))
    }),
    function("Product", &[NUMBERS], Kinds::NUMBER, |_, a| {
        let product = fold(&arg::numbers(a, 0)?, Number::int(1), Number::mul)?;
        Ok(Datum::Number(product.settled()))
    }),
    function("Range", &[N, N, N], Kinds::LIST, range),
    function("Sum", &[NUMBERS], Kinds::NUMBER, |_, a| {
        let sum = fold(&arg::numbers(a, 0)?, Number::int(0), Number::add)?;
        Ok(Datum::Number(sum.settled()))
    }),
    special("Sort", &[L, Parameter::ANY_WHOLE], Kinds::LIST, Special::Sort),
    special("SortStable", &[L, Parameter::ANY_WHOLE], Kinds::LIST, Special::Sort),
    function("SortStrings", &[Parameter::STRINGS], Kinds::LIST, |cx, a| {
        let mut strings = arg::strings(a, 0)?;
        cue_sort::by(&mut strings, Ord::cmp);
        cx.spend(strings.len().saturating_mul(32))?;
        Ok(Datum::list(strings.into_iter().map(Datum::text).collect()))
    }),
    special("IsSorted", &[L, Parameter::ANY_WHOLE], Kinds::BOOL, Special::IsSorted),
    function("IsSortedStrings", &[Parameter::STRINGS], Kinds::BOOL, |_, a| {
        Ok(Datum::Bool(arg::strings(a, 0)?.is_sorted()))
    }),
    constant("Comparer", Constant::Cue),
    constant("Ascending", Constant::Cue),
    constant("Descending", Constant::Cue),
];

fn at_least_zero(n: i64) -> Result<usize, CallError> {
    // More than this platform counts is more than any list has.
    if n < 0 {
        return Err(CallError::permanent("negative index"));
    }
    Ok(usize::try_from(n).unwrap_or(usize::MAX))
}

fn copy(cx: &mut CallContext, items: &[Datum]) -> Outcome {
    cx.spend(items.len().saturating_mul(16))?;
    Ok(Datum::list(items.to_vec()))
}

fn not_empty(numbers: Vec<&Number>) -> Result<Vec<&Number>, CallError> {
    if numbers.is_empty() { Err(CallError::permanent("empty list")) } else { Ok(numbers) }
}

fn fold(
    numbers: &[&Number],
    start: Number,
    step: fn(&Number, &Number) -> Result<Number, crate::number::ArithmeticError>,
) -> Result<Number, CallError> {
    let mut total = start;
    for number in numbers {
        total = step(&total, number).and_then(|it| it.rounded()).map_err(failed)?;
    }
    Ok(total)
}

fn slice(cx: &mut CallContext, args: &[Datum]) -> Outcome {
    let items = arg::list(args, 0)?;
    let (i, j) = (arg::int(args, 1)?, arg::int(args, 2)?);
    let start = at_least_zero(i)?;
    if i > j {
        return Err(CallError::permanent(format!("invalid index: {i} > {j}")));
    }
    let end = usize::try_from(j).unwrap_or(usize::MAX);
    match items.get(start..end) {
        Some(part) => copy(cx, part),
        None => Err(CallError::permanent("slice bounds out of range")),
    }
}

fn concat(cx: &mut CallContext, args: &[Datum]) -> Outcome {
    let mut out = Vec::new();
    for inner in arg::list(args, 0)? {
        let Datum::List(items) = inner else {
            return Err(arg::not_a_list(std::slice::from_ref(inner)));
        };
        cx.spend(items.len().saturating_mul(16))?;
        out.extend_from_slice(items);
    }
    Ok(Datum::list(out))
}

fn flatten(cx: &mut CallContext, args: &[Datum]) -> Outcome {
    let Some(Datum::List(items)) = args.first() else { return Err(arg::not_a_list(args)) };
    let depth = arg::int(args, 1)?;
    let depth = usize::try_from(depth).unwrap_or(usize::MAX);
    let mut out = Vec::new();
    let mut work: Vec<(&Datum, usize)> = items.iter().rev().map(|it| (it, depth)).collect();
    while let Some((datum, depth)) = work.pop() {
        match datum {
            Datum::List(inner) if depth > 0 => {
                work.extend(inner.iter().rev().map(|it| (it, depth - 1)));
            }
            _ => {
                cx.spend(16)?;
                out.push(datum.clone());
            }
        }
    }
    Ok(Datum::list(out))
}

fn repeat(cx: &mut CallContext, args: &[Datum]) -> Outcome {
    let items = arg::list(args, 0)?;
    let count = checked_count(arg::int(args, 1)?)?;
    cx.spend(items.len().saturating_mul(count).saturating_mul(16))?;
    Ok(Datum::list(items.iter().cycle().take(items.len() * count).cloned().collect()))
}

fn range(cx: &mut CallContext, args: &[Datum]) -> Outcome {
    let (start, limit, step) =
        (arg::number(args, 0)?, arg::number(args, 1)?, arg::number(args, 2)?);
    if step.is_zero() {
        return Err(CallError::permanent("step must be non zero"));
    }
    let rising = !step.is_negative();
    if rising && start.compare(limit).is_gt() {
        return Err(CallError::permanent("end must be greater than start when step is positive"));
    }
    if !rising && start.compare(limit).is_lt() {
        return Err(CallError::permanent("end must be less than start when step is negative"));
    }
    let mut out = Vec::new();
    let mut next = start.clone();
    while if rising { next.compare(limit).is_lt() } else { next.compare(limit).is_gt() } {
        cx.spend(64)?;
        out.push(Datum::Number(next.settled()));
        let sum = next.add(step).map_err(failed)?;
        if sum.compare(&next).is_eq() {
            return Err(CallError::permanent("step too small"));
        }
        next = sum;
    }
    Ok(Datum::list(out))
}
