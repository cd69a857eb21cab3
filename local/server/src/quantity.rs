//! Amounts such as `500m` and `1Gi`, written as Kubernetes writes them.

/// Suffixes by thousands, from the smallest.
const DECIMAL: [&str; 10] = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
/// Suffixes by 1024.
const BINARY: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

/// Nanos: every amount is a whole number of these.
const SCALE: i128 = 1_000_000_000;
/// One, in nanos.
pub const ONE: i128 = SCALE;

/// The amount in nanos.
#[must_use]
pub fn nanos(text: &str) -> Option<i128> {
    let canonical = canonical(text)?;
    let digits = canonical.find(|c: char| !(c.is_ascii_digit() || "+-.".contains(c)));
    let (number, suffix) = canonical.split_at(digits.unwrap_or(canonical.len()));
    let whole = decimal(number)?;
    if let Some(power) = BINARY.iter().position(|one| *one == suffix) {
        return whole.checked_mul(1_i128.checked_shl(u32::try_from(power).ok()? * 10)?);
    }
    if let Some(power) = DECIMAL.iter().position(|one| *one == suffix) {
        return match power {
            0..3 => Some(whole / 1000_i128.pow(u32::try_from(3 - power).ok()?)),
            _ => whole.checked_mul(1000_i128.pow(u32::try_from(power - 3).ok()?)),
        };
    }
    let exponent: u32 = suffix.strip_prefix('e')?.parse().ok()?;
    whole.checked_mul(10_i128.checked_pow(exponent)?)
}

/// An amount in nanos as a text.
#[must_use]
pub fn text(nanos: i128) -> String {
    match nanos % SCALE {
        0 if (nanos / SCALE).abs() >= 1024 && (nanos / SCALE) % 1024 == 0 => binary(nanos / SCALE),
        _ => thousands(nanos),
    }
}

/// The canonical text of an amount, rounded up to a thousandth; `None` if it is none.
#[must_use]
pub fn canonical(text: &str) -> Option<String> {
    let digits = text.find(|c: char| !(c.is_ascii_digit() || "+-.".contains(c)));
    let (number, suffix) = text.split_at(digits.unwrap_or(text.len()));
    let nanos = decimal(number)?;
    if let Some(power) = BINARY.iter().position(|one| *one == suffix).filter(|power| *power > 0) {
        let amount = nanos.checked_mul(1_i128.checked_shl(u32::try_from(power).ok()? * 10)?)?;
        let whole = up(amount, SCALE) / SCALE;
        return Some(if amount % SCALE == 0 && whole.abs() >= 1024 {
            binary(whole)
        } else {
            thousands(up(amount, SCALE / 1000))
        });
    }
    if let Some(power) = DECIMAL.iter().position(|one| *one == suffix) {
        let amount = match power {
            0..3 => nanos / 1000_i128.pow(u32::try_from(3 - power).ok()?),
            _ => nanos.checked_mul(1000_i128.pow(u32::try_from(power - 3).ok()?))?,
        };
        // What is below a nano still counts.
        let lost = power < 3 && amount == 0 && nanos != 0;
        let amount = if lost { nanos.signum() } else { amount };
        return Some(thousands(up(amount, SCALE / 1000)));
    }
    let exponent: i32 = suffix.strip_prefix(['e', 'E'])?.parse().ok()?;
    let amount = match u32::try_from(exponent) {
        Ok(power) => nanos.checked_mul(10_i128.checked_pow(power)?)?,
        Err(_) => nanos / 10_i128.checked_pow(exponent.unsigned_abs())?,
    };
    exponential(up(amount, SCALE / 1000))
}

// Away from zero, to a multiple.
fn up(amount: i128, step: i128) -> i128 {
    match amount % step {
        0 => amount,
        rest => amount - rest + step * rest.signum(),
    }
}

fn decimal(text: &str) -> Option<i128> {
    let (sign, text) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if (whole.is_empty() && part.is_empty()) || !digits(whole) || !digits(part) {
        return None;
    }
    let whole: i128 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let mut nanos: String = part.chars().chain(std::iter::repeat('0')).take(9).collect();
    if nanos.is_empty() {
        nanos.push('0');
    }
    let rest = part.get(9..).unwrap_or_default().bytes().any(|byte| byte != b'0');
    let nanos: i128 = nanos.parse().ok()?;
    Some(sign * (whole.checked_mul(SCALE)? + nanos + i128::from(rest)))
}

fn binary(mut whole: i128) -> String {
    let mut power = 0;
    while whole % 1024 == 0 && whole != 0 && power + 1 < BINARY.len() {
        whole /= 1024;
        power += 1;
    }
    format!("{whole}{}", BINARY.get(power).copied().unwrap_or_default())
}

fn thousands(mut nanos: i128) -> String {
    if nanos == 0 {
        return "0".to_owned();
    }
    let mut power = 0;
    while nanos % 1000 == 0 && power + 1 < DECIMAL.len() {
        nanos /= 1000;
        power += 1;
    }
    format!("{nanos}{}", DECIMAL.get(power).copied().unwrap_or_default())
}

fn exponential(mut nanos: i128) -> Option<String> {
    if nanos == 0 {
        return Some("0".to_owned());
    }
    let mut power = -9;
    while nanos % 1000 == 0 {
        nanos /= 1000;
        power += 3;
    }
    Some(if power == 0 { nanos.to_string() } else { format!("{nanos}e{power}") })
}

#[cfg(test)]
mod tests {
    use super::canonical;

    #[test]
    fn amounts_are_written_in_one_way() {
        for (text, wanted) in [
            ("0.1", Some("100m")),
            ("1000m", Some("1")),
            ("0.5Gi", Some("512Mi")),
            ("1024Ki", Some("1Mi")),
            ("1023Ki", Some("1023Ki")),
            ("1500M", Some("1500M")),
            ("1e3", Some("1e3")),
            ("12E6", Some("12e6")),
            ("134217728", Some("134217728")),
            ("0.0001", Some("1m")),
            ("1n", Some("1m")),
            ("-2", Some("-2")),
            ("0", Some("0")),
            ("0Gi", Some("0")),
            ("1Zi", None),
            ("x", None),
            ("", None),
            ("99999999999999999999999999999999999999999999999999E", None),
        ] {
            assert_eq!(canonical(text).as_deref(), wanted, "{text}");
        }
    }
}
