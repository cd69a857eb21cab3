//! Texts of cells: ages, lists, labels.

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

pub(super) fn time(value: &Value) -> Option<DateTime<Utc>> {
    DateTime::parse_from_rfc3339(value.as_str()?).ok().map(|time| time.with_timezone(&Utc))
}

/// An age as kubectl writes it.
#[must_use]
pub fn duration(seconds: i64) -> String {
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    let with = |big: i64, name: &str, small: i64, other: &str| {
        if small == 0 { format!("{big}{name}") } else { format!("{big}{name}{small}{other}") }
    };
    match seconds {
        ..-1 => "<invalid>".to_owned(),
        -1 => "0s".to_owned(),
        0..120 => format!("{seconds}s"),
        120..600 => with(minutes, "m", seconds % 60, "s"),
        600..10_800 => format!("{minutes}m"),
        10_800..28_800 => with(hours, "h", minutes % 60, "m"),
        28_800..172_800 => format!("{hours}h"),
        172_800..691_200 => with(days, "d", hours % 24, "h"),
        691_200..63_072_000 => format!("{days}d"),
        63_072_000..252_288_000 => with(days / 365, "y", days % 365, "d"),
        _ => format!("{}y", days / 365),
    }
}

pub(super) fn age(value: &Value) -> Value {
    match time(value) {
        Some(then) => json!(duration((Utc::now() - then).num_seconds())),
        None => json!("<unknown>"),
    }
}

pub(super) fn or_none(text: String) -> Value {
    json!(if text.is_empty() { "<none>".to_owned() } else { text })
}

pub(super) fn pairs(map: &Value) -> Value {
    let mut all: Vec<String> = map
        .as_object()
        .into_iter()
        .flatten()
        .map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default()))
        .collect();
    all.sort();
    or_none(all.join(","))
}

pub(super) fn selector(selector: &Value) -> Value {
    let mut all: Vec<String> = Vec::new();
    for (key, value) in selector["matchLabels"].as_object().into_iter().flatten() {
        all.push(format!("{key}={}", value.as_str().unwrap_or_default()));
    }
    for one in selector["matchExpressions"].as_array().into_iter().flatten() {
        let key = one["key"].as_str().unwrap_or_default();
        let values: Vec<&str> =
            one["values"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        all.push(match one["operator"].as_str() {
            Some("In") => format!("{key} in ({})", values.join(",")),
            Some("NotIn") => format!("{key} notin ({})", values.join(",")),
            Some("Exists") => key.to_owned(),
            _ => format!("!{key}"),
        });
    }
    all.sort();
    or_none(all.join(","))
}

pub(super) fn joined(spec: &Value, field: &str) -> Value {
    let all = spec["containers"].as_array().into_iter().flatten();
    let all: Vec<&str> = all.filter_map(|one| one[field].as_str()).collect();
    json!(all.join(","))
}

pub(super) fn text(value: &Value, otherwise: &str) -> Value {
    match value {
        Value::String(text) if !text.is_empty() => json!(text),
        Value::Number(number) => json!(number.to_string()),
        _ => json!(otherwise),
    }
}

pub(super) fn count(value: &Value) -> i64 {
    value.as_i64().unwrap_or(0)
}

/// The first `most` of a row, and how many more there are.
pub(super) fn first_of(all: &[impl AsRef<str>], most: usize, separator: &str) -> String {
    let first: Vec<&str> = all.iter().take(most).map(AsRef::as_ref).collect();
    let shown = first.join(separator);
    match all.len().saturating_sub(most) {
        0 => shown,
        more => format!("{shown} + {more} more..."),
    }
}

/// What is referred to by its kind and name.
pub(super) fn reference(to: &Value) -> String {
    let part = |key: &str| to[key].as_str().unwrap_or_default();
    format!("{}/{}", part("kind"), part("name"))
}
