//! Many decimal digits to a number: by halves, so that twice as many take far less than four times as long.

use num_bigint::BigUint;

/// As many are read one after another.
pub(super) const FEW: usize = 1_024;

/// The number that decimal digits are; `None` where there is another character or none at all.
pub(super) fn read(digits: &[u8]) -> Option<BigUint> {
    if digits.len() <= FEW {
        return BigUint::parse_bytes(digits, 10);
    }
    // The parts from the last to the first; each of a step stands for the same power of ten.
    let mut parts: Vec<BigUint> =
        digits.rchunks(FEW).map(|it| BigUint::parse_bytes(it, 10)).collect::<Option<_>>()?;
    let mut power = BigUint::from(10_u32).pow(FEW as u32);
    while parts.len() > 1 {
        let mut pairs = Vec::with_capacity(parts.len().div_ceil(2));
        let mut rest = parts.into_iter();
        while let Some(low) = rest.next() {
            pairs.push(match rest.next() {
                Some(high) => high * &power + low,
                None => low,
            });
        }
        parts = pairs;
        if parts.len() > 1 {
            power = &power * &power;
        }
    }
    parts.pop()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_give_what_all_at_once_gives() {
        for length in [1, FEW - 1, FEW, FEW + 1, 2 * FEW, 3 * FEW + 7, 5 * FEW] {
            let digits: Vec<u8> = (0..length).map(|it| b'0' + (it * 7 % 10) as u8).collect();
            assert_eq!(read(&digits), BigUint::parse_bytes(&digits, 10), "{length}");
        }
        let mut wrong = vec![b'1'; 3 * FEW];
        wrong[5] = b'x';
        assert_eq!((read(&wrong), read(b"")), (None, None));
    }
}
