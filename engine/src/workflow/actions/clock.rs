//! Dates to seconds since 1970 and back, in the forms of Go's layouts.

use chrono::{DateTime, Utc};
use serde_json::json;

use super::golayout::{format, parse};
use super::{Asked, Done, Trouble};

/// RFC 3339.
const USUAL: &str = "2006-01-02T15:04:05Z07:00";

fn layout<'a>(asked: &'a Asked<'_>) -> &'a str {
    match asked.text("layout") {
        "" => USUAL,
        given => given,
    }
}

pub(super) fn timestamp(asked: &Asked<'_>) -> Result<Done, Trouble> {
    let date = asked.text("date");
    if date.is_empty() {
        return Err("empty date to convert".into());
    }
    let parsed = parse(layout(asked), date)?;
    Ok(Done::Returns(json!({"timestamp": parsed.timestamp()})))
}

pub(super) fn date(asked: &Asked<'_>) -> Result<Done, Trouble> {
    let seconds = asked.params["timestamp"].as_i64();
    let seconds = seconds.ok_or("empty timestamp to convert")?;
    let at = DateTime::<Utc>::from_timestamp(seconds, 0)
        .ok_or_else(|| format!("{seconds} is no time"))?;
    Ok(Done::Returns(json!({"date": format(layout(asked), at)})))
}
