//! Package `math/bits`: two's complement on integers of any size.

use num_bigint::BigInt;
use num_traits::{Signed, Zero};

use super::arguments as arg;
use super::call::{CallContext, CallError, Kinds, Member, Package, Parameter, function};
use super::datum::Datum;
use crate::number::Number;

type Outcome = Result<Datum, CallError>;

const I: Parameter = Parameter::INT;

/// The package.
pub(super) const PACKAGE: Package = Package { path: "math/bits", members: MEMBERS, text: "" };

const MEMBERS: &[Member] = &[
    function("Lsh", &[I, I], Kinds::INT, |cx, a| {
        let (value, by) = (arg::integer(a, 0)?, arg::unsigned(a, 1)?);
        let by = usize::try_from(by).unwrap_or(usize::MAX);
        // Printing it takes the square of that.
        cx.spend(by.saturating_mul(16))?;
        Ok(int(value << by))
    }),
    function("Rsh", &[I, I], Kinds::INT, |_, a| {
        let (value, by) = (arg::integer(a, 0)?, arg::unsigned(a, 1)?);
        if by > value.bits() {
            return Ok(Datum::int(if value.is_negative() { -1 } else { 0 }));
        }
        Ok(int(value >> by))
    }),
    function("At", &[I, I], Kinds::INT, |_, a| {
        let (value, at) = (arg::integer(a, 0)?, arg::unsigned(a, 1)?);
        if at > i32::MAX as u64 {
            return Err(CallError::permanent("bit index too large"));
        }
        Ok(Datum::int(i64::from(value.bit(at))))
    }),
    function("Set", &[I, I, I], Kinds::INT, set),
    function("And", &[I, I], Kinds::INT, |_, a| Ok(int(arg::integer(a, 0)? & arg::integer(a, 1)?))),
    function("Or", &[I, I], Kinds::INT, |_, a| Ok(int(arg::integer(a, 0)? | arg::integer(a, 1)?))),
    function("Xor", &[I, I], Kinds::INT, |_, a| Ok(int(arg::integer(a, 0)? ^ arg::integer(a, 1)?))),
    function("Clear", &[I, I], Kinds::INT, |_, a| {
        Ok(int(arg::integer(a, 0)? & !arg::integer(a, 1)?))
    }),
    function("OnesCount", &[I], Kinds::INT, |_, a| {
        let value = arg::integer(a, 0)?;
        let ones: u32 = value.magnitude().iter_u64_digits().map(u64::count_ones).sum();
        Ok(Datum::int(i64::from(ones)))
    }),
    function("Len", &[I], Kinds::INT, |_, a| {
        let value = arg::integer(a, 0)?;
        Ok(Datum::int(if value.is_zero() { 0 } else { value.bits() as i64 }))
    }),
];

fn int(value: BigInt) -> Datum {
    Datum::Number(Number::big(&value))
}

fn set(cx: &mut CallContext, args: &[Datum]) -> Outcome {
    let mut value = arg::integer(args, 0)?;
    let at = u64::try_from(arg::int(args, 1)?)
        .map_err(|_| CallError::permanent("negative bit index"))?;
    let bit = match arg::unsigned(args, 2)? {
        0 => false,
        1 => true,
        _ => return Err(CallError::permanent("set bit is not 0 or 1")),
    };
    cx.spend(usize::try_from(at / 8).unwrap_or(usize::MAX))?;
    value.set_bit(at, bit);
    Ok(int(value))
}
