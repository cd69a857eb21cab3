//! Values as Go's `fmt` prints them.

use std::fmt::Write;
use std::iter::Peekable;
use std::str::Chars;

use super::call::{CallContext, CallError};
use super::datum::Datum;
use super::floats::{Width, format_float};
use super::quoting::{Plain, go_quote};

/// Go reads a digit of a width or a precision up to this number; more than ten times as much it never is.
const LARGEST: usize = 1_000_000;

/// Go's `Sprintf` for what a template can hold.
pub(super) fn printf(
    cx: &mut CallContext,
    format: &str,
    values: &[Datum],
) -> Result<String, CallError> {
    let mut out = String::new();
    let mut rest = format.chars().peekable();
    let mut next = 0;
    while let Some(c) = rest.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let mut flags = String::new();
        while let Some(flag) = rest.next_if(|c| "+-# 0".contains(*c)) {
            flags.push(flag);
        }
        let width = number(&mut rest);
        let mut precision = None;
        if rest.next_if_eq(&'.').is_some() {
            precision = Some(number(&mut rest));
        }
        cx.spend(width + precision.unwrap_or(0))?;
        let Some(verb) = rest.next() else {
            out.push_str("%!(NOVERB)");
            break;
        };
        if verb == '%' {
            out.push('%');
            continue;
        }
        let Some(value) = values.get(next) else {
            let _ = write!(out, "%!{verb}(MISSING)");
            continue;
        };
        next += 1;
        let text = verbed(verb, &flags, precision, value);
        let length = text.chars().count();
        let padding = width.saturating_sub(length);
        let numeric = matches!(value, Datum::Number(_));
        if flags.contains('-') {
            out.push_str(&text);
            out.extend(std::iter::repeat_n(' ', padding));
        } else if flags.contains('0') && numeric {
            let sign = usize::from(text.starts_with(['-', '+']));
            out.push_str(&text[..sign]);
            out.extend(std::iter::repeat_n('0', padding));
            out.push_str(&text[sign..]);
        } else {
            out.extend(std::iter::repeat_n(' ', padding));
            out.push_str(&text);
        }
    }
    if next < values.len() {
        let extra: Vec<String> =
            values[next..].iter().map(|it| format!("{}={}", type_name(it), shown(it))).collect();
        let _ = write!(out, "%!(EXTRA {})", extra.join(", "));
    }
    Ok(out)
}

/// The digits that come next as a number. Where it is too large nothing that follows counts.
fn number(rest: &mut Peekable<Chars<'_>>) -> usize {
    let mut number = 0;
    while let Some(digit) = rest.peek().and_then(|c| c.to_digit(10)) {
        if number > LARGEST {
            rest.by_ref().for_each(drop);
            return 0;
        }
        number = number * 10 + digit as usize;
        rest.next();
    }
    number
}

fn verbed(verb: char, flags: &str, precision: Option<usize>, value: &Datum) -> String {
    let plus = |text: String| {
        if flags.contains('+') && !text.starts_with('-') { format!("+{text}") } else { text }
    };
    let wrong = || match value {
        Datum::Null | Datum::Function(_) | Datum::Live(_) => format!("%!{verb}(<nil>)"),
        _ => format!("%!{verb}({}={})", type_name(value), shown(value)),
    };
    match (verb, value) {
        ('v', Datum::Live(_)) => "<nil>".to_owned(),
        ('v', Datum::Number(_)) => plus(shown(value)),
        ('v', _) => shown(value),
        ('T', _) => type_name(value).to_owned(),
        ('t', Datum::Bool(value)) => value.to_string(),
        ('s', Datum::String(text)) => match precision {
            Some(precision) => text.chars().take(precision).collect(),
            None => text.to_string(),
        },
        ('s', Datum::Bytes(bytes)) => crate::datum::valid_text(bytes).into_owned(),
        ('q', Datum::String(text)) => go_quote(text, '"', Plain::Print),
        ('x' | 'X', Datum::String(text)) => {
            let hex = super::hex::encode(text.as_bytes());
            if verb == 'X' { hex.to_uppercase() } else { hex }
        }
        ('x' | 'X', Datum::Bytes(bytes)) => {
            let hex = super::hex::encode(bytes);
            if verb == 'X' { hex.to_uppercase() } else { hex }
        }
        ('d' | 'b' | 'o' | 'x' | 'X' | 'c' | 'q' | 'U', Datum::Number(number))
            if number.is_int() =>
        {
            let Some(whole) = number.to_bigint() else { return wrong() };
            let c = number
                .to_i64()
                .and_then(|code| u32::try_from(code).ok())
                .and_then(char::from_u32)
                .unwrap_or('\u{fffd}');
            let sharp = |prefix: &str, text: String| {
                if flags.contains('#') { format!("{prefix}{text}") } else { text }
            };
            match verb {
                'd' => plus(whole.to_string()),
                'b' => plus(sharp("0b", whole.to_str_radix(2))),
                'o' => plus(sharp("0", whole.to_str_radix(8))),
                'x' => plus(sharp("0x", whole.to_str_radix(16))),
                'X' => plus(sharp("0X", whole.to_str_radix(16).to_uppercase())),
                'c' => c.to_string(),
                'q' => super::quote_rune(c),
                _ => format!("U+{:04X}", c as u32),
            }
        }
        ('e' | 'E' | 'f' | 'g' | 'G', Datum::Number(number)) if !number.is_int() => {
            let precision = precision.or(if matches!(verb, 'g' | 'G') { None } else { Some(6) });
            plus(format_float(number.to_f64(), verb as u8, precision, Width::Double))
        }
        ('d' | 's' | 'x' | 'q', Datum::List(items))
            if !items.iter().any(|it| matches!(it, Datum::List(_))) =>
        {
            let all: Vec<String> =
                items.iter().map(|it| verbed(verb, flags, precision, it)).collect();
            format!("[{}]", all.join(" "))
        }
        _ => wrong(),
    }
}

/// `%T`
pub(super) fn type_name(datum: &Datum) -> &'static str {
    match datum {
        Datum::Null | Datum::Function(_) | Datum::Live(_) => "<nil>",
        Datum::Bool(_) => "bool",
        Datum::Number(number) if number.is_int() => "int64",
        Datum::Number(_) => "float64",
        Datum::String(_) => "string",
        Datum::Bytes(_) => "[]uint8",
        Datum::List(_) => "[]interface {}",
        Datum::Struct(_) => "map[string]interface {}",
    }
}

/// Fields by name.
pub(super) fn sorted(datum: &Datum) -> Vec<(&str, &Datum)> {
    let Datum::Struct(fields) = datum else { return Vec::new() };
    let mut members: Vec<(&str, &Datum)> = fields.iter().map(|(k, v)| (&**k, v)).collect();
    cue_sort::by(&mut members, |one, other| one.0.cmp(other.0));
    members
}

/// `%v`
pub(super) fn shown(datum: &Datum) -> String {
    let mut out = String::new();
    show(datum, &mut out);
    out
}

fn show(datum: &Datum, out: &mut String) {
    match datum {
        Datum::Null => out.push_str("<nil>"),
        Datum::Function(_) | Datum::Live(_) => out.push_str("<no value>"),
        Datum::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Datum::Number(number) => match number.to_bigint() {
            Some(whole) if number.is_int() => out.push_str(&whole.to_string()),
            _ => out.push_str(&format_float(number.to_f64(), b'g', None, Width::Double)),
        },
        Datum::String(text) => out.push_str(text),
        Datum::Bytes(bytes) => {
            let all: Vec<String> = bytes.iter().map(u8::to_string).collect();
            out.extend(["[", &all.join(" "), "]"]);
        }
        Datum::List(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                out.push_str(if at > 0 { " " } else { "" });
                show(item, out);
            }
            out.push(']');
        }
        Datum::Struct(_) => {
            out.push_str("map[");
            for (at, (label, value)) in sorted(datum).into_iter().enumerate() {
                out.extend([if at > 0 { " " } else { "" }, label, ":"]);
                show(value, out);
            }
            out.push(']');
        }
    }
}
