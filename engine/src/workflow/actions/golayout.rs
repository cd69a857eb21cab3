//! Go's layouts: a date's form written as the reference time `Mon Jan 2 15:04:05 MST 2006` in it.

use chrono::{DateTime, Datelike, Duration, NaiveDate, Timelike, Utc};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Year,
    ShortYear,
    Month,
    MonthPadded,
    MonthName,
    MonthShort,
    Day,
    DayPadded,
    DaySpaced,
    YearDay,
    Weekday,
    WeekdayShort,
    Hour24,
    Hour12,
    Hour12Padded,
    Minute,
    MinutePadded,
    Second,
    SecondPadded,
    UpperHalf,
    LowerHalf,
    ZoneName,
    Zone(Offset),
    /// Digits of the second; whether zeros at the end are left out.
    Fraction {
        digits: usize,
        short: bool,
    },
}

/// How an offset is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Offset {
    /// UTC is `Z`.
    z: bool,
    colon: bool,
    minutes: bool,
}

use Part::*;

/// Longest first where one begins like another.
const PARTS: [(&str, Part); 32] = [
    ("January", MonthName),
    ("Monday", Weekday),
    ("2006", Year),
    ("Z07:00", Zone(Offset { z: true, colon: true, minutes: true })),
    ("-07:00", Zone(Offset { z: false, colon: true, minutes: true })),
    ("Z0700", Zone(Offset { z: true, colon: false, minutes: true })),
    ("-0700", Zone(Offset { z: false, colon: false, minutes: true })),
    ("Z07", Zone(Offset { z: true, colon: false, minutes: false })),
    ("-07", Zone(Offset { z: false, colon: false, minutes: false })),
    ("Jan", MonthShort),
    ("Mon", WeekdayShort),
    ("MST", ZoneName),
    ("002", YearDay),
    ("__2", YearDay),
    ("_2", DaySpaced),
    ("01", MonthPadded),
    ("02", DayPadded),
    ("03", Hour12Padded),
    ("04", MinutePadded),
    ("05", SecondPadded),
    ("06", ShortYear),
    ("15", Hour24),
    ("PM", UpperHalf),
    ("pm", LowerHalf),
    ("1", Month),
    ("2", Day),
    ("3", Hour12),
    ("4", Minute),
    ("5", Second),
    // Fractions are found by their own rule; these two are their shortest forms.
    (".0", Fraction { digits: 1, short: false }),
    (".9", Fraction { digits: 1, short: true }),
    (",0", Fraction { digits: 1, short: false }),
];

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

enum Piece<'a> {
    Text(&'a str),
    Part(Part),
}

/// The next part of a layout, or the text before it, and the rest.
fn next(layout: &str) -> Option<(Piece<'_>, &str)> {
    if layout.is_empty() {
        return None;
    }
    let mut end = 0;
    for (at, _) in layout.char_indices() {
        if let Some((part, length)) = part_at(&layout[at..]) {
            if at > 0 {
                return Some((Piece::Text(&layout[..at]), &layout[at..]));
            }
            return Some((Piece::Part(part), &layout[length..]));
        }
        end = at;
    }
    let _ = end;
    Some((Piece::Text(layout), ""))
}

fn part_at(text: &str) -> Option<(Part, usize)> {
    if let Some(rest) = text.strip_prefix(['.', ',']) {
        let digit = rest.chars().next().filter(|it| matches!(it, '0' | '9'))?;
        let digits = rest.chars().take_while(|it| *it == digit).count();
        // `.00` before another digit is a number of its own.
        if rest[digits..].starts_with(|it: char| it.is_ascii_digit()) {
            return None;
        }
        return Some((Fraction { digits, short: digit == '9' }, digits + 1));
    }
    let (name, part) = PARTS.iter().find(|(name, _)| text.starts_with(name))?;
    // "Month" and "Janet" are words.
    let word = matches!(part, MonthShort | WeekdayShort)
        && text[name.len()..].starts_with(|it: char| it.is_ascii_lowercase());
    (!word).then_some((*part, name.len()))
}

/// The time in UTC, written like the layout.
pub(super) fn format(layout: &str, at: DateTime<Utc>) -> String {
    let mut out = String::new();
    let mut rest = layout;
    let half = if at.hour() < 12 { "AM" } else { "PM" };
    let hour12 = (at.hour() + 11) % 12 + 1;
    let month = MONTHS[at.month0() as usize % 12];
    let day = DAYS[at.weekday().num_days_from_sunday() as usize % 7];
    while let Some((piece, tail)) = next(rest) {
        rest = tail;
        let part = match piece {
            Piece::Text(text) => {
                out.push_str(text);
                continue;
            }
            Piece::Part(part) => part,
        };
        out += &match part {
            Year => format!("{:04}", at.year()),
            ShortYear => format!("{:02}", at.year().rem_euclid(100)),
            Month => at.month().to_string(),
            MonthPadded => format!("{:02}", at.month()),
            MonthName => month.into(),
            MonthShort => month[..3].into(),
            Day => at.day().to_string(),
            DayPadded => format!("{:02}", at.day()),
            DaySpaced => format!("{:2}", at.day()),
            YearDay => format!("{:03}", at.ordinal()),
            Weekday => day.into(),
            WeekdayShort => day[..3].into(),
            Hour24 => format!("{:02}", at.hour()),
            Hour12 => hour12.to_string(),
            Hour12Padded => format!("{hour12:02}"),
            Minute => at.minute().to_string(),
            MinutePadded => format!("{:02}", at.minute()),
            Second => at.second().to_string(),
            SecondPadded => format!("{:02}", at.second()),
            UpperHalf => half.into(),
            LowerHalf => half.to_lowercase(),
            ZoneName => "UTC".into(),
            Zone(Offset { z: true, .. }) => "Z".into(),
            Zone(Offset { colon: true, .. }) => "+00:00".into(),
            Zone(Offset { minutes: true, .. }) => "+0000".into(),
            Zone(_) => "+00".into(),
            Fraction { digits, short } => {
                let text = format!("{:09}", at.nanosecond());
                let text = &text[..digits.min(9)];
                let text = if short { text.trim_end_matches('0') } else { text };
                if text.is_empty() { String::new() } else { format!(".{text}") }
            }
        };
    }
    out
}

/// Reads a date that is written like the layout; without a zone it is UTC.
///
/// # Errors
/// Where the two differ, in Go's words.
pub(super) fn parse(layout: &str, date: &str) -> Result<DateTime<Utc>, String> {
    let mut found = Found::default();
    let (mut rest, mut text) = (layout, date);
    while let Some((piece, tail)) = next(rest) {
        let taken = match piece {
            Piece::Text(words) => text.strip_prefix(words),
            Piece::Part(part) => found.take(part, text),
        };
        let Some(left) = taken else {
            let piece = &rest[..rest.len() - tail.len()];
            return Err(format!(
                "parsing time {date:?} as {layout:?}: cannot parse {text:?} as {piece:?}"
            ));
        };
        text = left;
        // Digits of the second may stand in the date though the layout has none.
        if matches!(piece, Piece::Part(Second | SecondPadded)) && !begins_with_fraction(tail) {
            if let Some(left) = found.fraction(text) {
                text = left;
            }
        }
        rest = tail;
    }
    if !text.is_empty() {
        return Err(format!("parsing time {date:?}: extra text: {text:?}"));
    }
    found.time().ok_or_else(|| format!("parsing time {date:?}: out of range"))
}

fn begins_with_fraction(layout: &str) -> bool {
    matches!(next(layout), Some((Piece::Part(Fraction { .. }), _)))
}

/// What was read of a date so far.
struct Found {
    year: i32,
    month: u32,
    day: u32,
    year_day: Option<u32>,
    hour: u32,
    afternoon: Option<bool>,
    minute: u32,
    second: u32,
    nanos: u32,
    offset: i64,
}

impl Default for Found {
    fn default() -> Self {
        Self {
            year: 0,
            month: 1,
            day: 1,
            year_day: None,
            hour: 0,
            afternoon: None,
            minute: 0,
            second: 0,
            nanos: 0,
            offset: 0,
        }
    }
}

/// Between so many digits at the start, and the rest.
fn digits(text: &str, least: usize, most: usize) -> Option<(u32, &str)> {
    let count = text.bytes().take(most).take_while(u8::is_ascii_digit).count();
    if count < least {
        return None;
    }
    Some((text[..count].parse().ok()?, &text[count..]))
}

/// How a name is written.
#[derive(Clone, Copy)]
enum Form {
    Whole,
    Short,
}

/// Which of `names` the text begins with, whole or cut to three letters.
fn name<'t>(text: &'t str, names: &[&str], form: Form) -> Option<(u32, &'t str)> {
    names.iter().zip(0..).find_map(|(name, index)| {
        let name = match form {
            Form::Whole => name,
            Form::Short => &name[..3],
        };
        let head = text.get(..name.len())?;
        head.eq_ignore_ascii_case(name).then(|| (index, &text[name.len()..]))
    })
}

impl Found {
    fn take<'t>(&mut self, part: Part, text: &'t str) -> Option<&'t str> {
        let set = |to: &mut u32, from: Option<(u32, &'t str)>| {
            from.map(|(value, rest)| {
                *to = value;
                rest
            })
        };
        match part {
            Year => {
                let (value, rest) = digits(text, 4, 4)?;
                self.year = i32::try_from(value).ok()?;
                Some(rest)
            }
            ShortYear => {
                let (value, rest) = digits(text, 2, 2)?;
                self.year = i32::try_from(value).ok()? + if value >= 69 { 1900 } else { 2000 };
                Some(rest)
            }
            Month => set(&mut self.month, digits(text, 1, 2)),
            MonthPadded => set(&mut self.month, digits(text, 2, 2)),
            MonthName => {
                set(&mut self.month, name(text, &MONTHS, Form::Whole).map(|it| (it.0 + 1, it.1)))
            }
            MonthShort => {
                set(&mut self.month, name(text, &MONTHS, Form::Short).map(|it| (it.0 + 1, it.1)))
            }
            Day => set(&mut self.day, digits(text, 1, 2)),
            DayPadded => set(&mut self.day, digits(text, 2, 2)),
            DaySpaced => set(&mut self.day, digits(text.strip_prefix(' ').unwrap_or(text), 1, 2)),
            YearDay => {
                let (value, rest) = digits(text.trim_start_matches(' '), 1, 3)?;
                self.year_day = Some(value);
                Some(rest)
            }
            Weekday => name(text, &DAYS, Form::Whole).map(|it| it.1),
            WeekdayShort => name(text, &DAYS, Form::Short).map(|it| it.1),
            Hour24 => set(&mut self.hour, digits(text, 2, 2)),
            Hour12 => set(&mut self.hour, digits(text, 1, 2)),
            Hour12Padded => set(&mut self.hour, digits(text, 2, 2)),
            Minute => set(&mut self.minute, digits(text, 1, 2)),
            MinutePadded => set(&mut self.minute, digits(text, 2, 2)),
            Second => set(&mut self.second, digits(text, 1, 2)),
            SecondPadded => set(&mut self.second, digits(text, 2, 2)),
            UpperHalf | LowerHalf => {
                let (index, rest) = name_of_half(text)?;
                self.afternoon = Some(index == 1);
                Some(rest)
            }
            ZoneName => {
                let length = text.bytes().take(5).take_while(u8::is_ascii_uppercase).count();
                (length >= 3).then(|| &text[length..])
            }
            Zone(offset) => self.zone(text, offset),
            Fraction { short, .. } => match self.fraction(text) {
                Some(rest) => Some(rest),
                None => short.then_some(text),
            },
        }
    }

    fn zone<'t>(&mut self, text: &'t str, form: Offset) -> Option<&'t str> {
        if let (true, Some(rest)) = (form.z, text.strip_prefix('Z')) {
            return Some(rest);
        }
        let (sign, rest) = match text.strip_prefix('-') {
            Some(rest) => (-1, rest),
            None => (1, text.strip_prefix('+')?),
        };
        let (hours, mut rest) = digits(rest, 2, 2)?;
        let mut offset = i64::from(hours) * 3600;
        if form.minutes {
            if form.colon {
                rest = rest.strip_prefix(':')?;
            }
            let (more, left) = digits(rest, 2, 2)?;
            offset += i64::from(more) * 60;
            rest = left;
        }
        self.offset = sign * offset;
        Some(rest)
    }

    fn fraction<'t>(&mut self, text: &'t str) -> Option<&'t str> {
        let rest = text.strip_prefix(['.', ','])?;
        let count = rest.bytes().take_while(u8::is_ascii_digit).count();
        if count == 0 {
            return None;
        }
        let kept = &rest[..count.min(9)];
        self.nanos = format!("{kept:0<9}").parse().ok()?;
        Some(&rest[count..])
    }

    fn time(&self) -> Option<DateTime<Utc>> {
        let hour = match self.afternoon {
            Some(_) if self.hour > 12 => return None,
            Some(true) if self.hour < 12 => self.hour + 12,
            Some(false) if self.hour == 12 => 0,
            _ => self.hour,
        };
        let date = match self.year_day {
            Some(day) => NaiveDate::from_yo_opt(self.year, day)?,
            None => NaiveDate::from_ymd_opt(self.year, self.month, self.day)?,
        };
        let time = date.and_hms_nano_opt(hour, self.minute, self.second, self.nanos)?;
        time.and_utc().checked_sub_signed(Duration::seconds(self.offset))
    }
}

fn name_of_half(text: &str) -> Option<(u32, &str)> {
    let head = text.get(..2)?;
    let index = ["AM", "PM"].iter().position(|it| head.eq_ignore_ascii_case(it))?;
    Some((u32::try_from(index).ok()?, &text[2..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Layout, date, seconds since 1970; the expectations are Go's.
    const BOTH: [(&str, &str, i64); 9] = [
        ("2006-01-02T15:04:05Z07:00", "2021-11-08T09:32:14Z", 1_636_363_934),
        ("Mon, 02 Jan 2006 15:04:05 -0700", "Mon, 08 Nov 2021 09:32:14 +0000", 1_636_363_934),
        ("Monday, 02-Jan-06 15:04:05 MST", "Monday, 08-Nov-21 09:32:14 UTC", 1_636_363_934),
        ("Mon Jan _2 15:04:05 2006", "Mon Nov  8 09:32:14 2021", 1_636_363_934),
        ("January 2, 2006 at 3:04:05pm", "November 8, 2021 at 9:32:14am", 1_636_363_934),
        ("02/01/2006", "08/11/2021", 1_636_329_600),
        ("3:04PM 2006-1-2", "12:05AM 2021-3-4", 1_614_816_300),
        ("2006 002", "2021 312", 1_636_329_600),
        ("20060102150405", "20211108093214", 1_636_363_934),
    ];

    #[test]
    fn both_ways() {
        for (layout, date, seconds) in BOTH {
            assert_eq!(parse(layout, date).map(|it| it.timestamp()), Ok(seconds), "{layout}");
            let at = DateTime::from_timestamp(seconds, 0).expect("a time");
            assert_eq!(format(layout, at), date, "{layout}");
        }
    }

    #[test]
    fn zones_and_fractions_are_read() {
        let seconds = |layout, date| parse(layout, date).map(|it| it.timestamp_millis());
        let usual = "2006-01-02T15:04:05Z07:00";
        assert_eq!(seconds(usual, "2021-11-08T10:32:14+01:00"), Ok(1_636_363_934_000));
        assert_eq!(seconds(usual, "2021-11-08T09:32:14.25Z"), Ok(1_636_363_934_250));
        assert_eq!(seconds("15:04:05.000 2006-01-02", "00:00:01.500 1970-01-01"), Ok(1_500));
        assert!(seconds(usual, "2021-11-08").is_err());
        assert!(seconds(usual, "2021-13-08T09:32:14Z").is_err());
        assert!(seconds("2006", "2021 more").is_err());
        assert!(seconds("Jan", "äöü").is_err());
    }
}
