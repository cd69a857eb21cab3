//! How long to wait before a failed or waiting step is tried again (W-53, kubevela-observed.md 4).

use chrono::Duration;

/// Attempts of a failing step before the run ends, unless configured otherwise.
pub const RETRIES: u32 = 10;

/// Longest distances between two looks at a workflow, in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caps {
    /// While steps wait: `--max-workflow-wait-backoff-time`.
    pub wait: i64,
    /// While a step has failed: `--max-workflow-failed-backoff-time`.
    pub failed: i64,
}

/// What a run waits after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    /// Steps that wait for something, none of them failed.
    Wait,
    /// A failed step.
    Failure,
}

impl Default for Caps {
    fn default() -> Self {
        Self { wait: 60, failed: 300 }
    }
}

impl Caps {
    /// Seconds before the next look, by the counters of all steps and steps in groups. Counters that
    /// count nothing yet do not matter.
    pub fn seconds(self, counters: impl IntoIterator<Item = i64>, after: After) -> i64 {
        let least = counters.into_iter().filter(|it| *it > 0).min().unwrap_or(0);
        let cap = match after {
            After::Wait => self.wait,
            After::Failure => self.failed,
        };
        // 0.05 x 2^counter, cut to whole seconds.
        match (1_i64 << least.min(15)) / 20 {
            0 => 1,
            time => time.min(cap),
        }
    }

    /// The wait after `attempts` attempts of one step.
    pub fn delay(self, attempts: u32, after: After) -> Duration {
        Duration::seconds(self.seconds([i64::from(attempts) - 1], after).max(1))
    }
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

    /// W-36, W-37, W-38, W-40, W-41.
    #[test]
    fn the_recorded_schedule() {
        let seconds = |after| -> Vec<i64> {
            (0..=17).map(|it| Caps::default().delay(it, after).num_seconds()).collect()
        };
        assert_eq!(
            seconds(After::Wait),
            [1, 1, 1, 1, 1, 1, 1, 3, 6, 12, 25, 51, 60, 60, 60, 60, 60, 60]
        );
        assert_eq!(
            seconds(After::Failure),
            [1, 1, 1, 1, 1, 1, 1, 3, 6, 12, 25, 51, 102, 204, 300, 300, 300, 300]
        );
    }

    /// W-38, W-39: caps are settings.
    #[test]
    fn the_most_impatient_step_decides() {
        let caps = Caps { wait: 20, failed: 40 };
        assert_eq!(caps.seconds([12, 8, 9], After::Wait), 12);
        assert_eq!(caps.seconds([0, 9, -999], After::Wait), 20);
        assert_eq!(caps.seconds([10], After::Failure), 40);
        assert_eq!(caps.seconds([i64::MAX], After::Failure), 40);
        assert_eq!(caps.seconds([], After::Failure), 1);
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
