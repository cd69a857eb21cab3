//! Comparing plain data: equality, order, kinds.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::sync::Arc;

use cue_map::Map;
use cue_syntax::ast::Compare;
use smallvec::SmallVec;

use crate::builtin::{Datum, Kinds, Pattern};

/// As many fields are found fastest by looking at each.
const FEW: usize = 8;

/// Kinds a value has.
pub(crate) fn kinds(datum: &Datum) -> Kinds {
    match datum {
        Datum::Null => Kinds::NULL,
        Datum::Bool(_) => Kinds::BOOL,
        Datum::Number(number) if number.is_int() => Kinds::INT,
        Datum::Number(_) => Kinds::FLOAT,
        Datum::String(_) => Kinds::STRING,
        Datum::Bytes(_) => Kinds::BYTES,
        Datum::List(_) => Kinds::LIST,
        Datum::Struct(_) => Kinds::STRUCT,
        Datum::Function(_) => Kinds::FUNC,
        Datum::Live(_) => Kinds::ANY,
    }
}

/// Whether two scalars unify: same kind, same value.
pub(crate) fn same(left: &Datum, right: &Datum) -> bool {
    kinds(left) == kinds(right) && equal(left, right)
}

/// `==`: numbers by value; structs and lists by members, each of the same kind (S-56).
pub(crate) fn equal(left: &Datum, right: &Datum) -> bool {
    match (left, right) {
        (Datum::Null, Datum::Null) => true,
        (Datum::Bool(left), Datum::Bool(right)) => left == right,
        (Datum::Number(left), Datum::Number(right)) => left.compare(right) == Ordering::Equal,
        (Datum::String(left), Datum::String(right)) => left == right,
        (Datum::Bytes(left), Datum::Bytes(right)) => left == right,
        (Datum::List(left), Datum::List(right)) => {
            left.len() == right.len()
                && left.iter().zip(right.iter()).all(|(left, right)| same(left, right))
        }
        (Datum::Struct(left), Datum::Struct(right)) => {
            left.len() == right.len() && equal_fields(left, right)
        }
        (Datum::Function(left), Datum::Function(right)) => left == right,
        _ => false,
    }
}

/// Whether each field of the one has an equal of its name in the other.
fn equal_fields(left: &[(Arc<str>, Datum)], right: &[(Arc<str>, Datum)]) -> bool {
    // Most often they stand in one order.
    if left.iter().zip(right).all(|((name, _), (other, _))| name == other) {
        return left.iter().zip(right).all(|((_, value), (_, it))| same(value, it));
    }
    if left.len() <= FEW {
        return left
            .iter()
            .all(|(name, value)| right.iter().any(|(other, it)| other == name && same(value, it)));
    }
    let mut places: Map<&str, SmallVec<[&Datum; 1]>> = Map::default();
    for (name, value) in right {
        places.entry(name).or_default().push(value);
    }
    left.iter().all(|(name, value)| {
        places.get(&**name).is_some_and(|all| all.iter().any(|it| same(value, it)))
    })
}

/// The order of two numbers, strings or bytes.
pub(crate) fn order(left: &Datum, right: &Datum) -> Option<Ordering> {
    Some(match (left, right) {
        (Datum::Number(left), Datum::Number(right)) => left.compare(right),
        (Datum::String(left), Datum::String(right)) => left.as_bytes().cmp(right.as_bytes()),
        (Datum::Bytes(left), Datum::Bytes(right)) => left.cmp(right),
        _ => return None,
    })
}

/// Whether a comparison holds; `None` if the kinds cannot be compared so.
pub(crate) fn holds(compare: Compare, left: &Datum, right: &Datum) -> Option<bool> {
    let order = |wanted: fn(Ordering) -> bool| order(left, right).map(wanted);
    match compare {
        Compare::Equal => Some(equal(left, right)),
        Compare::NotEqual => Some(!equal(left, right)),
        Compare::Less => order(Ordering::is_lt),
        Compare::LessEqual => order(Ordering::is_le),
        Compare::Greater => order(Ordering::is_gt),
        Compare::GreaterEqual => order(Ordering::is_ge),
        // Bytes may be the pattern, not what is matched (S-57).
        Compare::Match | Compare::NotMatch => {
            let Datum::String(left) = left else { return None };
            let found = Pattern::kept(&text(right)?).ok()?.is_match(left);
            Some(found == (compare == Compare::Match))
        }
    }
}

/// A string, or bytes as one.
fn text(datum: &Datum) -> Option<Cow<'_, str>> {
    match datum {
        Datum::String(text) => Some(Cow::Borrowed(&**text)),
        Datum::Bytes(bytes) => Some(crate::builtin::valid_text(bytes)),
        _ => None,
    }
}

/// How the error of a pattern that is none begins.
pub(crate) const BAD_PATTERN: &str = "invalid regexp: ";

/// What is wrong with the pattern of a match.
pub(crate) fn bad_pattern(compare: Compare, pattern: &Datum) -> Option<String> {
    if !matches!(compare, Compare::Match | Compare::NotMatch) {
        return None;
    }
    Pattern::new(&text(pattern)?).err().map(|it| format!("{BAD_PATTERN}{it}"))
}

/// Whether it compares by order.
pub(crate) fn is_order(compare: Compare) -> bool {
    matches!(compare, Compare::Less | Compare::LessEqual | Compare::Greater | Compare::GreaterEqual)
}
