//! Numbers of many digits as they are written: most are compared with others and printed, for which their
//! text does; the digits are read when something is computed with them.

use std::cmp::Ordering;
use std::ops::Deref;
use std::sync::OnceLock;

use super::{Form, NumberKind, Parts, digits};

/// The decimal digits of a number that is not zero, the first of them not 0.
#[derive(Clone, Debug)]
pub(super) struct Written {
    pub(super) kind: NumberKind,
    pub(super) negative: bool,
    pub(super) digits: Box<str>,
    pub(super) exponent: i32,
}

impl Written {
    /// Exponent of the first digit.
    pub(super) fn adjusted(&self) -> i64 {
        i64::from(self.exponent) + self.digits.len() as i64 - 1
    }

    fn parts(&self) -> Parts {
        Parts {
            kind: self.kind,
            form: Form::Finite,
            negative: self.negative,
            coefficient: digits::read(self.digits.as_bytes()).unwrap_or_default(),
            exponent: self.exponent,
        }
    }

    /// Order of the magnitudes of two with the first digit in the same place.
    pub(super) fn compare_digits(&self, other: &Self) -> Ordering {
        let stripped = |it: &Self| it.digits.trim_end_matches('0').len();
        let (one, two) = (stripped(self), stripped(other));
        self.digits[..one].cmp(&other.digits[..two])
    }
}

/// A number with more to it than `i64` holds; dereferences to its parts.
#[derive(Clone, Debug)]
pub(super) enum Wide {
    Parts(Parts),
    /// As it is written, and its parts once they were asked for.
    Text(Written, OnceLock<Parts>),
}

impl Wide {
    pub(super) fn of_text(written: Written) -> Self {
        Wide::Text(written, OnceLock::new())
    }

    /// As it is written, if it was not computed.
    pub(super) fn written(&self) -> Option<&Written> {
        match self {
            Wide::Parts(_) => None,
            Wide::Text(written, _) => Some(written),
        }
    }
}

impl Deref for Wide {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        match self {
            Wide::Parts(parts) => parts,
            Wide::Text(written, parts) => parts.get_or_init(|| written.parts()),
        }
    }
}

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;

    use super::super::Number;
    use super::*;

    fn n(text: &str) -> Number {
        Number::parse_signed(text).unwrap()
    }

    /// The same number without its text.
    fn read(number: &Number) -> Number {
        Number::build(number.parts())
    }

    #[test]
    fn what_is_seen_of_the_text_is_what_its_digits_say() {
        let many = "7".repeat(2_000);
        let more = format!("{many}1");
        let long = [
            many.clone(),
            more.clone(),
            format!("-{many}"),
            format!("-{more}"),
            format!("{}8", &many[1..]),
            format!("{many}.50"),
            format!("{many}.5"),
            format!("0.{many}"),
            format!("0.000{many}e-7"),
            format!("{many}e-2000"),
            format!("{many}e5"),
        ];
        let short = ["0", "-0.0", "7", "-7", "0.5", "9223372036854775808", "1e3000", "-1e-9"];
        let all: Vec<Number> = long.iter().map(|it| n(it)).chain(short.map(n)).collect();
        for one in &all {
            let known = read(one);
            assert_eq!(one.to_string(), known.to_string());
            assert_eq!(one.cue_text(), known.cue_text());
            assert_eq!(
                (one.kind(), one.is_zero(), one.is_negative(), one.is_finite()),
                (known.kind(), known.is_zero(), known.is_negative(), known.is_finite())
            );
            assert_eq!(one.neg().to_string(), known.neg().to_string());
            for two in &all {
                let want = known.compare(&read(two));
                assert_eq!((one.compare(two), known.compare(two)), (want, want), "{one} {two}");
            }
        }
    }

    #[test]
    fn digits_are_read_for_computing() {
        let nine = n(&"9".repeat(1_500));
        let ten = nine.add(&Number::int(1)).unwrap();
        assert_eq!(ten.parts().adjusted(), 1_500);
        let text = nine.to_string();
        assert_eq!(nine.parts().coefficient, text.parse::<BigUint>().unwrap());
        assert_eq!(
            Number::parse_decimal(&format!("-{text}"), NumberKind::Float).unwrap().kind(),
            NumberKind::Float
        );
    }
}
