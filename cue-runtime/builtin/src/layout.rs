//! Go's time layouts: `Mon Jan 2 15:04:05 MST 2006` names the parts of a time by example.

use std::ops::RangeInclusive;

use super::calendar::{Moment, days_from_civil, days_in, is_leap};
use super::quoting::time_quote;

/// The layout times are written in.
pub(super) const RFC3339_NANO: &str = "2006-01-02T15:04:05.999999999Z07:00";

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const DAYS: [&str; 7] =
    ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Zone {
    Hours,
    Minutes,
    ColonMinutes,
    Seconds,
    ColonSeconds,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Element {
    LongMonth,
    Month,
    NumMonth,
    ZeroMonth,
    LongWeekday,
    Weekday,
    Day,
    UnderDay,
    ZeroDay,
    UnderYearDay,
    ZeroYearDay,
    Hour,
    Hour12,
    ZeroHour12,
    Minute,
    ZeroMinute,
    Second,
    ZeroSecond,
    LongYear,
    Year,
    UpperPm,
    LowerPm,
    Abbreviation,
    /// `-07:00`
    Offset(Zone),
    /// `Z07:00`
    Iso(Zone),
    /// `.000`
    FractionFixed(usize),
    /// `.999`
    FractionTrimmed(usize),
}

const ZONES: [(&str, Zone); 5] = [
    ("070000", Zone::Seconds),
    ("07:00:00", Zone::ColonSeconds),
    ("0700", Zone::Minutes),
    ("07:00", Zone::ColonMinutes),
    ("07", Zone::Hours),
];

/// Splits a layout at its first element: text before, element, its length, text after.
fn next_element(layout: &str) -> (&str, Option<(Element, &str)>, &str) {
    let bytes = layout.as_bytes();
    for at in 0..bytes.len() {
        if !layout.is_char_boundary(at) {
            continue;
        }
        let rest = &layout[at..];
        let lower_after =
            |length: usize| rest.as_bytes().get(length).is_some_and(u8::is_ascii_lowercase);
        let second = rest.as_bytes().get(1).copied();
        let found = match bytes[at] {
            b'J' if rest.starts_with("January") => Some((Element::LongMonth, 7)),
            b'J' if rest.starts_with("Jan") && !lower_after(3) => Some((Element::Month, 3)),
            b'M' if rest.starts_with("Monday") => Some((Element::LongWeekday, 6)),
            b'M' if rest.starts_with("Mon") && !lower_after(3) => Some((Element::Weekday, 3)),
            b'M' if rest.starts_with("MST") => Some((Element::Abbreviation, 3)),
            b'0' => match second {
                Some(b'1') => Some((Element::ZeroMonth, 2)),
                Some(b'2') => Some((Element::ZeroDay, 2)),
                Some(b'3') => Some((Element::ZeroHour12, 2)),
                Some(b'4') => Some((Element::ZeroMinute, 2)),
                Some(b'5') => Some((Element::ZeroSecond, 2)),
                Some(b'6') => Some((Element::Year, 2)),
                _ if rest.starts_with("002") => Some((Element::ZeroYearDay, 3)),
                _ => None,
            },
            b'1' if second == Some(b'5') => Some((Element::Hour, 2)),
            b'1' => Some((Element::NumMonth, 1)),
            b'2' if rest.starts_with("2006") => Some((Element::LongYear, 4)),
            b'2' => Some((Element::Day, 1)),
            b'_' if rest.starts_with("_2006") => {
                return (&layout[..at + 1], Some((Element::LongYear, &rest[1..5])), &rest[5..]);
            }
            b'_' if second == Some(b'2') => Some((Element::UnderDay, 2)),
            b'_' if rest.starts_with("__2") => Some((Element::UnderYearDay, 3)),
            b'3' => Some((Element::Hour12, 1)),
            b'4' => Some((Element::Minute, 1)),
            b'5' => Some((Element::Second, 1)),
            b'P' if second == Some(b'M') => Some((Element::UpperPm, 2)),
            b'p' if second == Some(b'm') => Some((Element::LowerPm, 2)),
            sign @ (b'-' | b'Z') => {
                ZONES.iter().find(|(text, _)| rest[1..].starts_with(text)).map(|(text, zone)| {
                    let element =
                        if sign == b'Z' { Element::Iso(*zone) } else { Element::Offset(*zone) };
                    (element, text.len() + 1)
                })
            }
            b'.' | b',' => match second {
                Some(digit @ (b'0' | b'9')) => {
                    let count = rest.bytes().skip(1).take_while(|byte| *byte == digit).count();
                    let digit_follows =
                        rest.as_bytes().get(count + 1).is_some_and(u8::is_ascii_digit);
                    let element = if digit == b'0' {
                        Element::FractionFixed(count)
                    } else {
                        Element::FractionTrimmed(count)
                    };
                    (!digit_follows).then_some((element, count + 1))
                }
                _ => None,
            },
            _ => None,
        };
        if let Some((element, length)) = found {
            return (&layout[..at], Some((element, &rest[..length])), &rest[length..]);
        }
    }
    (layout, None, "")
}

/// A time as the layout says.
pub(super) fn format(layout: &str, moment: &Moment) -> String {
    let civil = moment.civil();
    let mut out = String::new();
    let mut rest = layout;
    loop {
        let (prefix, element, suffix) = next_element(rest);
        out.push_str(prefix);
        let Some((element, text)) = element else { return out };
        rest = suffix;
        let month = MONTHS[(civil.month as usize + 11) % 12];
        let weekday = DAYS[civil.weekday];
        let twelve = if civil.hour.is_multiple_of(12) { 12 } else { civil.hour % 12 };
        let year_day = days_from_civil(civil.year, i64::from(civil.month), i64::from(civil.day))
            - days_from_civil(civil.year, 1, 1)
            + 1;
        let piece = match element {
            Element::LongMonth => month.to_owned(),
            Element::Month => month[..3].to_owned(),
            Element::NumMonth => civil.month.to_string(),
            Element::ZeroMonth => format!("{:02}", civil.month),
            Element::LongWeekday => weekday.to_owned(),
            Element::Weekday => weekday[..3].to_owned(),
            Element::Day => civil.day.to_string(),
            Element::UnderDay => format!("{:2}", civil.day),
            Element::ZeroDay => format!("{:02}", civil.day),
            Element::UnderYearDay => format!("{year_day:3}"),
            Element::ZeroYearDay => format!("{year_day:03}"),
            Element::Hour => format!("{:02}", civil.hour),
            Element::Hour12 => twelve.to_string(),
            Element::ZeroHour12 => format!("{twelve:02}"),
            Element::Minute => civil.minute.to_string(),
            Element::ZeroMinute => format!("{:02}", civil.minute),
            Element::Second => civil.second.to_string(),
            Element::ZeroSecond => format!("{:02}", civil.second),
            Element::LongYear if civil.year < 0 => format!("-{:04}", -civil.year),
            Element::LongYear => format!("{:04}", civil.year),
            Element::Year => format!("{:02}", (civil.year % 100).abs()),
            Element::UpperPm => if civil.hour >= 12 { "PM" } else { "AM" }.to_owned(),
            Element::LowerPm => if civil.hour >= 12 { "pm" } else { "am" }.to_owned(),
            Element::Abbreviation if moment.offset == 0 => "UTC".to_owned(),
            Element::Abbreviation => {
                let minutes = moment.offset.abs() / 60;
                let sign = if moment.offset < 0 { '-' } else { '+' };
                format!("{sign}{:02}{:02}", minutes / 60, minutes % 60)
            }
            Element::Iso(_) if moment.offset == 0 => "Z".to_owned(),
            Element::Iso(zone) | Element::Offset(zone) => offset(moment.offset, zone),
            Element::FractionFixed(digits) => {
                let all =
                    format!("{:09}{}", moment.nanoseconds, "0".repeat(digits.saturating_sub(9)));
                format!("{}{}", &text[..1], &all[..digits])
            }
            Element::FractionTrimmed(digits) => {
                let all = format!("{:09}", moment.nanoseconds);
                let digits = all[..digits.min(9)].trim_end_matches('0');
                if digits.is_empty() { String::new() } else { format!("{}{digits}", &text[..1]) }
            }
        };
        out.push_str(&piece);
    }
}

fn offset(seconds: i32, zone: Zone) -> String {
    let sign = if seconds < 0 { '-' } else { '+' };
    let size = seconds.abs();
    let (hours, minutes, rest) = (size / 3600, size / 60 % 60, size % 60);
    match zone {
        Zone::Hours => format!("{sign}{hours:02}"),
        Zone::Minutes => format!("{sign}{hours:02}{minutes:02}"),
        Zone::ColonMinutes => format!("{sign}{hours:02}:{minutes:02}"),
        Zone::Seconds => format!("{sign}{hours:02}{minutes:02}{rest:02}"),
        Zone::ColonSeconds => format!("{sign}{hours:02}:{minutes:02}:{rest:02}"),
    }
}

/// Why an element could not be read.
enum Failure {
    Bad,
    Range(&'static str),
}

#[derive(Default)]
struct Read {
    year: i64,
    month: Option<i64>,
    day: Option<i64>,
    year_day: Option<i64>,
    hour: i64,
    minute: i64,
    second: i64,
    nanoseconds: u32,
    pm: Option<bool>,
    offset: Option<i32>,
}

/// Reads a time; the error is Go's text.
pub(super) fn parse(layout: &str, text: &str) -> Result<Moment, String> {
    let quote = time_quote;
    let cannot = |rest: &str, element: &str| {
        format!(
            "parsing time {} as {}: cannot parse {} as {}",
            quote(text),
            quote(layout),
            quote(rest),
            quote(element)
        )
    };
    let wrong = |reason: &str| format!("parsing time {}: {reason}", quote(text));
    let mut read = Read::default();
    let mut value = text;
    let mut rest = layout;
    loop {
        let (prefix, element, suffix) = next_element(rest);
        value = skip(value, prefix).map_err(|value| cannot(value, prefix))?;
        let Some((element, spelled)) = element else {
            if !value.is_empty() {
                return Err(wrong(&format!("extra text: {}", quote(value))));
            }
            break;
        };
        rest = suffix;
        match take(element, value, suffix, &mut read) {
            Ok(after) => value = after,
            Err(Failure::Bad) => return Err(cannot(value, spelled)),
            Err(Failure::Range(part)) => return Err(wrong(&format!("{part} out of range"))),
        }
    }
    match read.pm {
        Some(true) if read.hour < 12 => read.hour += 12,
        Some(false) if read.hour == 12 => read.hour = 0,
        _ => {}
    }
    if let Some(year_day) = read.year_day {
        let length = if is_leap(read.year) { 366 } else { 365 };
        if year_day < 1 || year_day > length {
            return Err(wrong("day-of-year out of range"));
        }
        let mut month = 1;
        let mut day = year_day;
        while day > days_in(month, read.year) {
            day -= days_in(month, read.year);
            month += 1;
        }
        if read.month.is_some_and(|it| it != month) {
            return Err(wrong("day-of-year does not match month"));
        }
        if read.day.is_some_and(|it| it != day) {
            return Err(wrong("day-of-year does not match day"));
        }
        read.month = Some(month);
        read.day = Some(day);
    }
    let (month, day) = (read.month.unwrap_or(1), read.day.unwrap_or(1));
    if day < 1 || day > days_in(month, read.year) {
        return Err(wrong("day out of range"));
    }
    let days = days_from_civil(read.year, month, day);
    let offset = read.offset.unwrap_or(0);
    let seconds = days * 86_400 + read.hour * 3600 + read.minute * 60 + read.second;
    Ok(Moment { seconds: seconds - i64::from(offset), nanoseconds: read.nanoseconds, offset })
}

/// Matches literal text; a space stands for any number of them.
fn skip<'v>(value: &'v str, prefix: &str) -> Result<&'v str, &'v str> {
    let mut value = value;
    let mut prefix = prefix;
    while let Some(c) = prefix.chars().next() {
        if c == ' ' {
            if !value.is_empty() && !value.starts_with(' ') {
                return Err(value);
            }
            prefix = prefix.trim_start_matches(' ');
            value = value.trim_start_matches(' ');
            continue;
        }
        value = value.strip_prefix(c).ok_or(value)?;
        prefix = &prefix[c.len_utf8()..];
    }
    Ok(value)
}

/// Takes what an element of a layout stands for; gives what is left of the text.
fn take<'v>(
    element: Element,
    value: &'v str,
    suffix: &str,
    read: &mut Read,
) -> Result<&'v str, Failure> {
    let bad = || Failure::Bad;
    match element {
        Element::Year
        | Element::LongYear
        | Element::Month
        | Element::LongMonth
        | Element::NumMonth
        | Element::ZeroMonth
        | Element::Weekday
        | Element::LongWeekday
        | Element::Day
        | Element::UnderDay
        | Element::ZeroDay
        | Element::UnderYearDay
        | Element::ZeroYearDay => take_date(element, value, read),
        Element::Hour => two_digits(value, 1, 0..=23, "hour", &mut read.hour),
        Element::Hour12 => two_digits(value, 1, 0..=12, "hour", &mut read.hour),
        Element::ZeroHour12 => two_digits(value, 2, 0..=12, "hour", &mut read.hour),
        Element::Minute => two_digits(value, 1, 0..=59, "minute", &mut read.minute),
        Element::ZeroMinute => two_digits(value, 2, 0..=59, "minute", &mut read.minute),
        Element::Second | Element::ZeroSecond => {
            let least = 1 + usize::from(element == Element::ZeroSecond);
            let value = two_digits(value, least, 0..=59, "second", &mut read.second)?;
            // A fraction is taken even if the layout has none.
            let own = matches!(
                next_element(suffix).1,
                Some((Element::FractionFixed(_) | Element::FractionTrimmed(_), _))
            );
            Ok(if own { value } else { take_fraction(value, read) })
        }
        Element::UpperPm | Element::LowerPm => {
            let word = value.get(..2).ok_or_else(bad)?;
            read.pm = match (word, element) {
                ("PM", Element::UpperPm) | ("pm", Element::LowerPm) => Some(true),
                ("AM", Element::UpperPm) | ("am", Element::LowerPm) => Some(false),
                _ => return Err(bad()),
            };
            Ok(&value[2..])
        }
        Element::Iso(_) if value.starts_with('Z') => {
            read.offset = Some(0);
            Ok(&value[1..])
        }
        Element::Iso(zone) | Element::Offset(zone) => zone_offset(zone, value, read),
        Element::Abbreviation => {
            if let Some(after) = value.strip_prefix("UTC") {
                read.offset = Some(0);
                return Ok(after);
            }
            let length = abbreviation(value).ok_or_else(bad)?;
            Ok(&value[length..])
        }
        Element::FractionFixed(count) => {
            let digits = value.get(1..1 + count).ok_or_else(bad)?;
            if !value.starts_with(['.', ',']) || !digits.bytes().all(|it| it.is_ascii_digit()) {
                return Err(bad());
            }
            read.nanoseconds = fraction_of(digits);
            Ok(&value[1 + count..])
        }
        Element::FractionTrimmed(_) => Ok(take_fraction(value, read)),
    }
}

/// What is an element of a date.
fn take_date<'v>(element: Element, value: &'v str, read: &mut Read) -> Result<&'v str, Failure> {
    match element {
        Element::Year => {
            let (year, value) = fixed(value, 2)?;
            read.year = if year >= 69 { year + 1900 } else { year + 2000 };
            Ok(value)
        }
        Element::LongYear => {
            let (year, value) = fixed(value, 4)?;
            read.year = year;
            Ok(value)
        }
        Element::Month | Element::LongMonth => {
            let length = if element == Element::Month { 3 } else { usize::MAX };
            let (at, value) = name(&MONTHS, length, value)?;
            read.month = Some(at as i64 + 1);
            Ok(value)
        }
        Element::NumMonth | Element::ZeroMonth => {
            let least = 1 + usize::from(element == Element::ZeroMonth);
            let mut month = 0;
            let value = two_digits(value, least, 1..=12, "month", &mut month)?;
            read.month = Some(month);
            Ok(value)
        }
        Element::Weekday => name(&DAYS, 3, value).map(|it| it.1),
        Element::LongWeekday => name(&DAYS, usize::MAX, value).map(|it| it.1),
        Element::UnderYearDay | Element::ZeroYearDay => {
            let mut value = value;
            if element == Element::UnderYearDay {
                for _ in 0..2 {
                    value = value.strip_prefix(' ').unwrap_or(value);
                }
            }
            let count = value.bytes().take(3).take_while(u8::is_ascii_digit).count();
            if count == 0 || (element == Element::ZeroYearDay && count < 3) {
                return Err(Failure::Bad);
            }
            read.year_day = value[..count].parse().ok();
            Ok(&value[count..])
        }
        _ => {
            let value = match element {
                Element::UnderDay => value.strip_prefix(' ').unwrap_or(value),
                _ => value,
            };
            let (day, value) = number(value, 1 + usize::from(element == Element::ZeroDay))?;
            read.day = Some(day);
            Ok(value)
        }
    }
}

/// A number of `least` to two digits that has to be within a range; what it is of, if it is not.
fn two_digits<'v>(
    value: &'v str,
    least: usize,
    range: RangeInclusive<i64>,
    of: &'static str,
    to: &mut i64,
) -> Result<&'v str, Failure> {
    let (number, value) = number(value, least)?;
    if !range.contains(&number) {
        return Err(Failure::Range(of));
    }
    *to = number;
    Ok(value)
}

/// The fraction of a second, if there is one.
fn take_fraction<'v>(value: &'v str, read: &mut Read) -> &'v str {
    let Some(rest) = value.strip_prefix(['.', ',']) else { return value };
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 {
        return value;
    }
    read.nanoseconds = fraction_of(&rest[..digits]);
    &rest[digits..]
}

fn fraction_of(digits: &str) -> u32 {
    let nine: String = digits.chars().chain(std::iter::repeat('0')).take(9).collect();
    nine.parse().unwrap_or(0)
}

fn fixed(value: &str, count: usize) -> Result<(i64, &str), Failure> {
    let digits = value.get(..count).ok_or(Failure::Bad)?;
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Failure::Bad);
    }
    Ok((digits.parse().map_err(|_| Failure::Bad)?, &value[count..]))
}

/// `least` to two digits.
fn number(value: &str, least: usize) -> Result<(i64, &str), Failure> {
    let count = value.bytes().take(2).take_while(u8::is_ascii_digit).count();
    if count < least {
        return Err(Failure::Bad);
    }
    Ok((value[..count].parse().map_err(|_| Failure::Bad)?, &value[count..]))
}

fn name<'v>(names: &[&str], length: usize, value: &'v str) -> Result<(usize, &'v str), Failure> {
    for (at, name) in names.iter().enumerate() {
        let name = &name[..length.min(name.len())];
        if value.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name)) {
            return Ok((at, &value[name.len()..]));
        }
    }
    Err(Failure::Bad)
}

fn zone_offset<'v>(zone: Zone, value: &'v str, read: &mut Read) -> Result<&'v str, Failure> {
    let (places, length): (&[usize], usize) = match zone {
        Zone::Hours => (&[1], 3),
        Zone::Minutes => (&[1, 3], 5),
        Zone::ColonMinutes => (&[1, 4], 6),
        Zone::Seconds => (&[1, 3, 5], 7),
        Zone::ColonSeconds => (&[1, 4, 7], 9),
    };
    let text = value.get(..length).ok_or(Failure::Bad)?;
    let colons = zone == Zone::ColonMinutes || zone == Zone::ColonSeconds;
    if colons && places[1..].iter().any(|place| text.as_bytes()[place - 1] != b':') {
        return Err(Failure::Bad);
    }
    let mut parts = [0i32; 3];
    for (part, place) in parts.iter_mut().zip(places) {
        let digits = text.get(*place..place + 2).ok_or(Failure::Bad)?;
        *part = number(digits, 2)?.0 as i32;
    }
    for (part, limit, name) in [
        (parts[0], 24, "time zone offset hour"),
        (parts[1], 60, "time zone offset minute"),
        (parts[2], 60, "time zone offset second"),
    ] {
        if part > limit {
            return Err(Failure::Range(name));
        }
    }
    let size = (parts[0] * 60 + parts[1]) * 60 + parts[2];
    read.offset = Some(match text.as_bytes()[0] {
        b'+' => size,
        b'-' => -size,
        _ => return Err(Failure::Bad),
    });
    Ok(&value[length..])
}

/// Length of a time zone name.
fn abbreviation(value: &str) -> Option<usize> {
    if value.len() < 3 {
        return None;
    }
    if value.starts_with("ChST") || value.starts_with("MeST") {
        return Some(4);
    }
    if let Some(rest) = value.strip_prefix("GMT") {
        return Some(3 + signed_hours(rest));
    }
    if value.starts_with(['+', '-']) {
        return Some(signed_hours(value)).filter(|length| *length > 0);
    }
    let upper = value.bytes().take(6).take_while(u8::is_ascii_uppercase).count();
    let bytes = value.as_bytes();
    match upper {
        3 => Some(3),
        4 if bytes[3] == b'T' || value.starts_with("WITA") => Some(4),
        5 if bytes[4] == b'T' => Some(5),
        _ => None,
    }
}

fn signed_hours(value: &str) -> usize {
    if !value.starts_with(['+', '-']) {
        return 0;
    }
    let digits = value[1..].bytes().take_while(u8::is_ascii_digit).count();
    match value[1..1 + digits].parse::<u32>() {
        Ok(hours) if hours <= 23 => 1 + digits,
        _ => 0,
    }
}
