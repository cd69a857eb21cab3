//! How long to wait before a failed or waiting step is tried again (kubevela-observed.md 4).

use chrono::Duration;

/// Seconds before the next attempt, by the attempts made so far; later ones wait for the last.
const SECONDS: [i64; 12] = [1, 1, 1, 1, 1, 1, 3, 6, 12, 25, 51, 60];

/// Attempts of a failing step before the run ends, unless configured otherwise.
pub const RETRIES: u32 = 10;

/// The wait after `attempts` attempts.
pub fn delay(attempts: u32) -> Duration {
    let index = usize::try_from(attempts.saturating_sub(1)).unwrap_or(usize::MAX);
    Duration::seconds(SECONDS.get(index).copied().unwrap_or(60))
}

/// Parses Go's form of durations: `1h5m`, `300ms`, `-5s`.
pub fn parse_duration(text: &str) -> Option<Duration> {
    let (negative, mut rest) = match text.trim().strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.trim()),
    };
    if rest == "0" {
        return Some(Duration::zero());
    }
    let mut total = 0f64;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let number: f64 = rest[..digits].parse().ok()?;
        rest = &rest[digits..];
        let unit = rest.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(rest.len());
        total += number
            * match &rest[..unit] {
                "h" => 3600.0,
                "m" => 60.0,
                "s" => 1.0,
                "ms" => 1e-3,
                "us" | "µs" => 1e-6,
                "ns" => 1e-9,
                _ => return None,
            };
        rest = &rest[unit..];
    }
    // Go counts nanoseconds in 64 bits: more is no duration.
    if !total.is_finite() || total >= 9.2e9 {
        return None;
    }
    let millis = (total * 1000.0) as i64;
    Some(Duration::milliseconds(if negative { -millis } else { millis }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_recorded_schedule() {
        let seconds: Vec<i64> = (1..=13).map(|it| delay(it).num_seconds()).collect();
        assert_eq!(seconds, [1, 1, 1, 1, 1, 1, 3, 6, 12, 25, 51, 60, 60]);
    }

    #[test]
    fn go_durations() {
        assert_eq!(parse_duration("1h5m"), Some(Duration::seconds(3900)));
        assert_eq!(parse_duration("1.5s"), Some(Duration::milliseconds(1500)));
        assert_eq!(parse_duration("-5s"), Some(Duration::seconds(-5)));
        assert_eq!(parse_duration("1d"), None);
        assert_eq!(parse_duration("9999999999h"), None);
        assert_eq!(parse_duration(""), None);
    }
}
