//! Numbers as keywords have them: as floats of 64 bits, in as few digits as tell one from another.

use cue_builtin::shortest;

use crate::generate::item::Item;

/// A number, given as JSON, if there is a float for it.
pub(super) fn float(json: &str) -> Option<String> {
    let number: f64 = json.parse().ok()?;
    number.is_finite().then(|| shortest(number))
}

/// Types of numbers that have bounds, their type in a schema, and these.
const RANGES: [(&str, &str, &str, &str); 14] = [
    ("uint", "integer", "0", ""),
    ("uint8", "integer", "0", "255"),
    ("uint16", "integer", "0", "65535"),
    ("uint32", "integer", "0", "4294967295"),
    ("uint64", "integer", "0", "18446744073709551615"),
    ("uint128", "integer", "0", "340282366920938463463374607431768211455"),
    ("int8", "integer", "-128", "127"),
    ("int16", "integer", "-32768", "32767"),
    ("int32", "integer", "-2147483648", "2147483647"),
    ("int64", "integer", "-9223372036854775808", "9223372036854775807"),
    (
        "int128",
        "integer",
        "-170141183460469231731687303715884105728",
        "170141183460469231731687303715884105727",
    ),
    ("rune", "integer", "0", "1114111"),
    (
        "float32",
        "number",
        "-3.40282346638528859811704183484516925440e+38",
        "3.40282346638528859811704183484516925440e+38",
    ),
    (
        "float64",
        "number",
        "-1.797693134862315708145274237317043567981e+308",
        "1.797693134862315708145274237317043567981e+308",
    ),
];

/// A type whose numbers have bounds.
pub(super) fn range(name: &str) -> Option<Item> {
    let (_, kind, least, most) = RANGES.iter().find(|it| it.0 == name)?;
    let bound = |keyword, limit: &str| {
        Some(Item::all_of([Item::Keyword(keyword, float(limit)?), Item::of_type("number")]))
    };
    let bounds = [bound("minimum", least), bound("maximum", most)];
    Some(Item::all_of(std::iter::once(Item::of_type(kind)).chain(bounds.into_iter().flatten())))
}

#[cfg(test)]
mod tests {
    use super::float;

    #[test]
    fn floats_have_as_few_digits_as_they_need() {
        for (json, wanted) in [
            ("5", Some("5")),
            ("1.50", Some("1.5")),
            ("1000000", Some("1e+06")),
            ("123456", Some("123456")),
            ("1234567", Some("1.234567e+06")),
            ("-0.00001", Some("-1e-05")),
            ("0.0001", Some("0.0001")),
            ("1e400", None),
        ] {
            assert_eq!(float(json).as_deref(), wanted, "{json}");
        }
    }
}
