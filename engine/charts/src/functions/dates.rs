//! Functions on times. `now` is given, so that a chart renders the same every time.

use chrono::{DateTime, Datelike, Timelike, Utc};

use super::{Result, at, texts};
use crate::value::Value;

pub(super) fn call(name: &str, a: &[Value], now: DateTime<Utc>) -> Option<Result> {
    let time = |index: usize| at(a, index).map(|it| read(it, now));
    Some(match name {
        "now" => Ok(Value::Time(now)),
        "date" | "dateInZone" | "date_in_zone" => {
            texts(a, 0).and_then(|form| Ok(Value::text(layout(time(1)?, &form))))
        }
        "htmlDate" => time(0).map(|it| Value::text(layout(it, "2006-01-02"))),
        "unixEpoch" => time(0).map(|it| Value::text(it.timestamp().to_string())),
        "dateModify" | "date_modify" | "mustDateModify" => texts(a, 0).and_then(|by| {
            let seconds = seconds(&by).ok_or_else(|| format!("invalid duration {by:?}"))?;
            let moved = chrono::Duration::try_seconds(seconds)
                .and_then(|by| time(1).ok()?.checked_add_signed(by));
            moved.map(Value::Time).ok_or_else(|| "the time is beyond all times".into())
        }),
        "ago" => time(0).map(|it| Value::text(spoken((now - it).num_seconds()))),
        "duration" => at(a, 0).map(|it| Value::text(spoken(it.int()))),
        "toDate" | "mustToDate" => texts(a, 1).and_then(|it| {
            let read = DateTime::parse_from_rfc3339(&it).map(|it| it.to_utc());
            let day = || {
                let day = chrono::NaiveDate::parse_from_str(&it, "%Y-%m-%d").ok()?;
                Some(day.and_hms_opt(0, 0, 0)?.and_utc())
            };
            let read = read.ok().or_else(day);
            read.map(Value::Time).ok_or_else(|| format!("{it:?} is no date"))
        }),
        _ => return None,
    })
}

fn read(value: &Value, now: DateTime<Utc>) -> DateTime<Utc> {
    match value {
        Value::Time(it) => *it,
        Value::Int(_) | Value::Float(_) => DateTime::from_timestamp(value.int(), 0).unwrap_or(now),
        _ => now,
    }
}

/// `-1h30m` in seconds.
fn seconds(text: &str) -> Option<i64> {
    let (sign, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let mut total = 0i64;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit())?;
        let number: i64 = rest[..end].parse().ok()?;
        rest = &rest[end..];
        let unit = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        let factor = match &rest[..unit] {
            "s" => 1,
            "m" => 60,
            "h" => 3600,
            _ => return None,
        };
        total = total.checked_add(number.checked_mul(factor)?)?;
        rest = &rest[unit..];
    }
    Some(sign * total)
}

fn spoken(seconds: i64) -> String {
    let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match (hours, minutes) {
        (0, 0) => format!("{rest}s"),
        (0, _) => format!("{minutes}m{rest}s"),
        _ => format!("{hours}h{minutes}m{rest}s"),
    }
}

/// A time in Go's way to write a form.
pub(super) fn layout(at: DateTime<Utc>, form: &str) -> String {
    const PARTS: [&str; 20] = [
        "January", "Jan", "Monday", "Mon", "MST", "2006", "Z07:00", "-07:00", "-0700", "01", "02",
        "03", "04", "05", "06", "15", "PM", "_2", "1", "2",
    ];
    let mut out = String::new();
    let mut rest = form;
    'next: while let Some(first) = rest.chars().next() {
        for part in PARTS {
            let Some(after) = rest.strip_prefix(part) else { continue };
            let text = match part {
                "January" => at.format("%B").to_string(),
                "Jan" => at.format("%b").to_string(),
                "Monday" => at.format("%A").to_string(),
                "Mon" => at.format("%a").to_string(),
                "MST" => "UTC".into(),
                "2006" => format!("{:04}", at.year()),
                "Z07:00" => "Z".into(),
                "-07:00" => "+00:00".into(),
                "-0700" => "+0000".into(),
                "01" => format!("{:02}", at.month()),
                "02" => format!("{:02}", at.day()),
                "03" => format!("{:02}", at.hour12().1),
                "04" => format!("{:02}", at.minute()),
                "05" => format!("{:02}", at.second()),
                "06" => format!("{:02}", at.year() % 100),
                "15" => format!("{:02}", at.hour()),
                "PM" => if at.hour() < 12 { "AM" } else { "PM" }.into(),
                "_2" => format!("{:2}", at.day()),
                "1" => at.month().to_string(),
                _ => at.day().to_string(),
            };
            out.push_str(&text);
            rest = after;
            continue 'next;
        }
        out.push(first);
        rest = &rest[first.len_utf8()..];
    }
    out
}
