//! Package `encoding/toml`.

use super::arguments as arg;
use super::call::{CallContext, CallError, Kinds, Member, Package, Parameter, function};
use super::datum::Datum;
use crate::encode::toml::{Order, decode, encode};

/// The package.
pub(super) const PACKAGE: Package = Package { path: "encoding/toml", members: MEMBERS, text: "" };

const MEMBERS: &[Member] = &[
    function("Marshal", &[Parameter::DATA], Kinds::STRING, |cx, a| {
        let datum = a.first().unwrap_or(&Datum::Null);
        if *datum == Datum::Null {
            return Err(CallError::permanent("toml: cannot encode a nil interface"));
        }
        let text = encode(datum, Order::Sorted).map_err(CallError::permanent)?;
        cx.spend(text.len())?;
        Ok(Datum::text(text))
    }),
    function("Unmarshal", &[Parameter::TEXT], Kinds::ANY, unmarshal),
];

fn unmarshal(cx: &mut CallContext, args: &[Datum]) -> Result<Datum, CallError> {
    let bytes = arg::bytes(args, 0)?;
    cx.spend(bytes.len().saturating_mul(4))?;
    let (datum, place) = decode(&String::from_utf8_lossy(bytes), cx.base)
        .map_err(|error| CallError::permanent(error.message).at(error.offset))?;
    cx.read = Some(("toml", place));
    Ok(datum)
}
