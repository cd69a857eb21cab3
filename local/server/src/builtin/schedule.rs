//! Schedules of CronJobs, refused in the words of the reference's parser.

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/// Bounds of a field and the names its numbers have.
struct Bounds(u64, u64, &'static [&'static str]);

const FIELDS: [Bounds; 5] = [
    Bounds(0, 59, &[]),
    Bounds(0, 23, &[]),
    Bounds(1, 31, &[]),
    Bounds(1, 12, &MONTHS),
    Bounds(0, 6, &DAYS),
];

/// What is wrong with a schedule.
pub(super) fn error(schedule: &str) -> Option<String> {
    if schedule.starts_with('@') {
        return descriptor(schedule);
    }
    let fields: Vec<&str> = schedule.split_whitespace().collect();
    if fields.len() != FIELDS.len() {
        return Some(format!(
            "expected exactly 5 fields, found {}: [{}]",
            fields.len(),
            fields.join(" ")
        ));
    }
    let mut ranges = fields.iter().zip(&FIELDS).flat_map(|(field, bounds)| {
        field.split(',').filter(|it| !it.is_empty()).map(move |range| (range, bounds))
    });
    ranges.find_map(|(range, bounds)| range_error(range, bounds).err())
}

fn descriptor(schedule: &str) -> Option<String> {
    let known = ["yearly", "annually", "monthly", "weekly", "daily", "midnight", "hourly"];
    if let Some(length) = schedule.strip_prefix("@every ") {
        let why = duration_error(length)?;
        return Some(format!("failed to parse duration {schedule}: {why}"));
    }
    let name = schedule.strip_prefix('@').unwrap_or_default();
    (!known.contains(&name)).then(|| format!("unrecognized descriptor: {schedule}"))
}

fn range_error(text: &str, bounds: &Bounds) -> Result<(), String> {
    let parts: Vec<&str> = text.split('/').collect();
    let ends: Vec<&str> = parts.first().unwrap_or(&"").split('-').collect();
    let first = ends.first().copied().unwrap_or_default();
    let (start, mut end) = match ends.as_slice() {
        ["*" | "?", ..] => (bounds.0, bounds.1),
        [_] => {
            let start = number_or_name(first, bounds.2)?;
            (start, start)
        }
        [_, last] => (number_or_name(first, bounds.2)?, number_or_name(last, bounds.2)?),
        _ => return Err(format!("too many hyphens: {text}")),
    };
    let step = match parts.as_slice() {
        [_] => 1,
        [_, step] => {
            if ends.len() == 1 {
                end = bounds.1;
            }
            number(step)?
        }
        _ => return Err(format!("too many slashes: {text}")),
    };
    let Bounds(least, most, _) = bounds;
    if start < *least {
        Err(format!("beginning of range ({start}) below minimum ({least}): {text}"))
    } else if end > *most {
        Err(format!("end of range ({end}) above maximum ({most}): {text}"))
    } else if start > end {
        Err(format!("beginning of range ({start}) beyond end of range ({end}): {text}"))
    } else if step == 0 {
        Err(format!("step of range should be a positive number: {text}"))
    } else {
        Ok(())
    }
}

fn number_or_name(text: &str, names: &[&str]) -> Result<u64, String> {
    match names.iter().position(|name| text.eq_ignore_ascii_case(name)) {
        // The bounds are checked with the number that the name stands for; any valid one will do.
        Some(index) => Ok(u64::try_from(index).unwrap_or(0) + u64::from(names.len() == 12)),
        None => number(text),
    }
}

fn number(text: &str) -> Result<u64, String> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|it| it.is_ascii_digit()) {
        let why = format!("strconv.Atoi: parsing {}: invalid syntax", format_args!("{text:?}"));
        return Err(format!("failed to parse int from {text}: {why}"));
    }
    match text.parse::<i64>() {
        Err(_) => Err(format!(
            "failed to parse int from {text}: strconv.Atoi: parsing \"{text}\": value out of range"
        )),
        Ok(number) if number < 0 => Err(format!("negative number ({number}) not allowed: {text}")),
        Ok(number) => Ok(number.unsigned_abs()),
    }
}

// What is wrong with a duration of Go: numbers with units, one after the other.
fn duration_error(text: &str) -> Option<String> {
    let shown = format!("{text:?}");
    let mut rest = text.strip_prefix(['+', '-']).unwrap_or(text);
    if rest == "0" {
        return None;
    }
    if rest.is_empty() {
        return Some(format!("time: invalid duration {shown}"));
    }
    while !rest.is_empty() {
        let digit = |c: char| c.is_ascii_digit() || c == '.';
        let after = rest.trim_start_matches(digit);
        let amount = rest.strip_suffix(after).unwrap_or_default();
        if !amount.contains(|c: char| c.is_ascii_digit()) || amount.matches('.').count() > 1 {
            return Some(format!("time: invalid duration {shown}"));
        }
        let next = after.find(digit).unwrap_or(after.len());
        let (unit, remaining) = after.split_at(next);
        if unit.is_empty() {
            return Some(format!("time: missing unit in duration {shown}"));
        }
        if !["ns", "us", "µs", "μs", "ms", "s", "m", "h"].contains(&unit) {
            let unit = format!("{unit:?}");
            return Some(format!("time: unknown unit {unit} in duration {shown}"));
        }
        rest = remaining;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::error;

    #[test]
    fn schedules_are_refused_in_the_words_of_the_reference() {
        for good in [
            "* * * * *",
            "*/5 1-3,7 1 JAN sun",
            "@daily",
            "@every 1h30m",
            "? * * * 0-6/2",
            "5/10 * * * *",
        ] {
            assert_eq!(error(good), None, "{good}");
        }
        for (wrong, why) in [
            ("* * * *", "expected exactly 5 fields, found 4: [* * * *]"),
            ("61 * * * *", "end of range (61) above maximum (59): 61"),
            ("* * 0 * *", "beginning of range (0) below minimum (1): 0"),
            ("5-1 * * * *", "beginning of range (5) beyond end of range (1): 5-1"),
            ("*/0 * * * *", "step of range should be a positive number: */0"),
            ("1-2-3 * * * *", "too many hyphens: 1-2-3"),
            ("1/2/3 * * * *", "too many slashes: 1/2/3"),
            (
                "x * * * *",
                "failed to parse int from x: strconv.Atoi: parsing \"x\": invalid syntax",
            ),
            ("@foo", "unrecognized descriptor: @foo"),
            (
                "@every 1x",
                "failed to parse duration @every 1x: time: unknown unit \"x\" in duration \"1x\"",
            ),
            ("@every 1", "failed to parse duration @every 1: time: missing unit in duration \"1\""),
            ("@every x", "failed to parse duration @every x: time: invalid duration \"x\""),
        ] {
            assert_eq!(error(wrong).as_deref(), Some(why), "{wrong}");
        }
    }
}
