//! Package `time`: RFC 3339 strings and durations. There is no now.

use super::arguments as arg;
use super::calendar::Moment;
use super::call::{CallError, Constant, Kinds, Member, Package, Parameter, constant, function};
use super::datum::Datum;
use super::layout::{RFC3339_NANO, format, parse};
use super::quoting::{Plain, go_quote, time_quote};

const S: Parameter = Parameter::STRING;
const I: Parameter = Parameter::INT;

/// The package.
pub(super) const PACKAGE: Package = Package { path: "time", members: MEMBERS, text: "" };

const MEMBERS: &[Member] = &[
    constant("Nanosecond", Constant::Int(1)),
    constant("Microsecond", Constant::Int(1_000)),
    constant("Millisecond", Constant::Int(1_000_000)),
    constant("Second", Constant::Int(1_000_000_000)),
    constant("Minute", Constant::Int(60_000_000_000)),
    constant("Hour", Constant::Int(3_600_000_000_000)),
    function("Duration", &[S], Kinds::BOOL, |_, a| {
        parse_duration(arg::text(a, 0)?).map(|_| Datum::Bool(true))
    }),
    function("FormatDuration", &[I], Kinds::STRING, |_, a| {
        Ok(Datum::text(format_duration(arg::int(a, 0)?)))
    }),
    function("ParseDuration", &[S], Kinds::INT, |_, a| {
        parse_duration(arg::text(a, 0)?).map(Datum::int)
    }),
    constant("ANSIC", Constant::String("Mon Jan _2 15:04:05 2006")),
    constant("UnixDate", Constant::String("Mon Jan _2 15:04:05 MST 2006")),
    constant("RubyDate", Constant::String("Mon Jan 02 15:04:05 -0700 2006")),
    constant("RFC822", Constant::String("02 Jan 06 15:04 MST")),
    constant("RFC822Z", Constant::String("02 Jan 06 15:04 -0700")),
    constant("RFC850", Constant::String("Monday, 02-Jan-06 15:04:05 MST")),
    constant("RFC1123", Constant::String("Mon, 02 Jan 2006 15:04:05 MST")),
    constant("RFC1123Z", Constant::String("Mon, 02 Jan 2006 15:04:05 -0700")),
    constant("RFC3339", Constant::String("2006-01-02T15:04:05Z07:00")),
    constant("RFC3339Nano", Constant::String(RFC3339_NANO)),
    constant("RFC3339Date", Constant::String("2006-01-02")),
    constant("Kitchen", Constant::String("3:04PM")),
    constant("Kitchen24", Constant::String("15:04")),
    constant("January", Constant::Int(1)),
    constant("February", Constant::Int(2)),
    constant("March", Constant::Int(3)),
    constant("April", Constant::Int(4)),
    constant("May", Constant::Int(5)),
    constant("June", Constant::Int(6)),
    constant("July", Constant::Int(7)),
    constant("August", Constant::Int(8)),
    constant("September", Constant::Int(9)),
    constant("October", Constant::Int(10)),
    constant("November", Constant::Int(11)),
    constant("December", Constant::Int(12)),
    constant("Sunday", Constant::Int(0)),
    constant("Monday", Constant::Int(1)),
    constant("Tuesday", Constant::Int(2)),
    constant("Wednesday", Constant::Int(3)),
    constant("Thursday", Constant::Int(4)),
    constant("Friday", Constant::Int(5)),
    constant("Saturday", Constant::Int(6)),
    function("Time", &[S], Kinds::BOOL, |_, a| {
        let text = arg::text(a, 0)?;
        parse(RFC3339_NANO, text).map(|_| Datum::Bool(true)).map_err(|_| invalid(text))
    }),
    function("Format", &[S, S], Kinds::BOOL, |_, a| {
        let (text, layout) = (arg::text(a, 0)?, arg::text(a, 1)?);
        parse(layout, text).map(|_| Datum::Bool(true)).map_err(|_| invalid(text))
    }),
    function("FormatString", &[S, S], Kinds::STRING, |cx, a| {
        let layout = arg::text(a, 0)?;
        let text = format(layout, &moment(a, 1)?);
        cx.spend(text.len())?;
        Ok(Datum::text(text))
    }),
    function("Parse", &[S, S], Kinds::STRING, |_, a| {
        let parsed = parse(arg::text(a, 0)?, arg::text(a, 1)?).map_err(CallError::permanent)?;
        Ok(utc(parsed))
    }),
    function("Unix", &[I, I], Kinds::STRING, |_, a| {
        let (seconds, nanoseconds) = (arg::int(a, 0)?, arg::int(a, 1)?);
        let carried = nanoseconds.div_euclid(1_000_000_000);
        Ok(utc(Moment {
            seconds: seconds.wrapping_add(carried),
            nanoseconds: nanoseconds.rem_euclid(1_000_000_000) as u32,
            offset: 0,
        }))
    }),
    function("ToUnix", &[S], Kinds::INT, |_, a| Ok(Datum::int(moment(a, 0)?.seconds))),
    function("ToUnixNano", &[S], Kinds::INT, |_, a| {
        let moment = moment(a, 0)?;
        let nanoseconds = moment.seconds.wrapping_mul(1_000_000_000);
        Ok(Datum::int(nanoseconds.wrapping_add(i64::from(moment.nanoseconds))))
    }),
    function("Split", &[S], Kinds::STRUCT, |_, a| {
        let moment = moment(a, 0)?;
        let civil = moment.civil();
        let field = |name: &str, value: u32| (name.into(), Datum::int(i64::from(value)));
        Ok(Datum::fields(vec![
            ("year".into(), Datum::int(civil.year)),
            field("month", civil.month),
            field("day", civil.day),
            field("hour", civil.hour),
            field("minute", civil.minute),
            field("second", civil.second),
            field("nanosecond", moment.nanoseconds),
        ]))
    }),
];

fn invalid(text: &str) -> CallError {
    CallError::permanent(format!("invalid time {}", go_quote(text, '"', Plain::Print)))
}

fn moment(args: &[Datum], at: usize) -> Result<Moment, CallError> {
    parse(RFC3339_NANO, arg::text(args, at)?).map_err(CallError::permanent)
}

fn utc(moment: Moment) -> Datum {
    Datum::text(format(RFC3339_NANO, &Moment { offset: 0, ..moment }))
}

const UNITS: &[(&str, u64)] = &[
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

fn parse_duration(text: &str) -> Result<i64, CallError> {
    let quoted = time_quote(text);
    let invalid = || CallError::permanent(format!("time: invalid duration {quoted}"));
    let (negative, mut rest) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    if rest == "0" {
        return Ok(0);
    }
    if rest.is_empty() {
        return Err(invalid());
    }
    const LIMIT: u128 = 1 << 63;
    let mut total: u128 = 0;
    while !rest.is_empty() {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let whole: u128 = match digits {
            0 => 0,
            _ => {
                rest[..digits].parse::<u128>().ok().filter(|it| *it <= LIMIT).ok_or_else(invalid)?
            }
        };
        rest = &rest[digits..];
        let mut fraction = "";
        if let Some(after) = rest.strip_prefix('.') {
            let count = after.bytes().take_while(u8::is_ascii_digit).count();
            if count == 0 && digits == 0 {
                return Err(invalid());
            }
            fraction = &after[..count];
            rest = &after[count..];
        } else if digits == 0 {
            return Err(invalid());
        }
        let length = rest.find(|c: char| c == '.' || c.is_ascii_digit()).unwrap_or(rest.len());
        if length == 0 {
            return Err(CallError::permanent(format!("time: missing unit in duration {quoted}")));
        }
        let (name, after) = rest.split_at(length);
        let Some((_, unit)) = UNITS.iter().find(|it| it.0 == name) else {
            let name = time_quote(name);
            return Err(CallError::permanent(format!(
                "time: unknown unit {name} in duration {quoted}"
            )));
        };
        rest = after;
        let unit = u128::from(*unit);
        let short = &fraction[..fraction.len().min(18)];
        let part = match short.parse::<u128>() {
            Ok(value) => value * unit / 10u128.pow(short.len() as u32),
            Err(_) => 0,
        };
        total += whole * unit + part;
        if total > LIMIT {
            return Err(invalid());
        }
    }
    if negative {
        return Ok((-(total as i128)) as i64);
    }
    i64::try_from(total).map_err(|_| invalid())
}

fn format_duration(nanoseconds: i64) -> String {
    let sign = if nanoseconds < 0 { "-" } else { "" };
    let size = nanoseconds.unsigned_abs();
    let fraction = |value: u64, digits: u32| {
        let scale = 10u64.pow(digits);
        let rest = format!("{:0width$}", value % scale, width = digits as usize);
        let rest = rest.trim_end_matches('0');
        let point = if rest.is_empty() { "" } else { "." };
        format!("{}{point}{rest}", value / scale)
    };
    match size {
        0 => "0s".to_owned(),
        1..1_000 => format!("{sign}{size}ns"),
        1_000..1_000_000 => format!("{sign}{}µs", fraction(size, 3)),
        1_000_000..1_000_000_000 => format!("{sign}{}ms", fraction(size, 6)),
        _ => {
            let minutes = size / 60_000_000_000;
            let seconds = fraction(size % 60_000_000_000, 9);
            match (minutes / 60, minutes % 60) {
                (0, 0) => format!("{sign}{seconds}s"),
                (0, minutes) => format!("{sign}{minutes}m{seconds}s"),
                (hours, minutes) => format!("{sign}{hours}h{minutes}m{seconds}s"),
            }
        }
    }
}
