//! Go's verbs, as far as charts use them.

use super::text::Quoted;
use crate::value::Value;

/// Widths and precisions at most.
const WIDTH: usize = 10_000;

#[derive(Default)]
struct Form {
    minus: bool,
    plus: bool,
    zero: bool,
    sharp: bool,
    width: usize,
    precision: Option<usize>,
}

/// A text made of a form and values.
pub(super) fn printf(form: &str, values: &[Value]) -> Result<String, String> {
    let mut out = String::new();
    let mut values = values.iter();
    let mut chars = form.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let mut form = Form::default();
        while let Some(flag) = chars.next_if(|it| matches!(it, '-' | '+' | '0' | '#' | ' ')) {
            match flag {
                '-' => form.minus = true,
                '+' => form.plus = true,
                '0' => form.zero = true,
                '#' => form.sharp = true,
                _ => {}
            }
        }
        form.width = digits(&mut chars, &mut values)?.unwrap_or(0);
        if chars.next_if_eq(&'.').is_some() {
            form.precision = Some(digits(&mut chars, &mut values)?.unwrap_or(0));
        }
        let Some(verb) = chars.next() else {
            out.push_str("%!(NOVERB)");
            break;
        };
        if verb == '%' {
            out.push('%');
            continue;
        }
        let Some(value) = values.next() else {
            out.push_str(&format!("%!{verb}(MISSING)"));
            continue;
        };
        let text = one(verb, &form, value);
        let missing = form.width.saturating_sub(text.chars().count());
        if form.minus {
            out.push_str(&text);
            out.push_str(&" ".repeat(missing));
        } else if form.zero && value.number().is_some() {
            let (sign, rest) = match text.strip_prefix(['-', '+']) {
                Some(rest) => text.split_at(text.len() - rest.len()),
                None => ("", text.as_str()),
            };
            out.push_str(&format!("{sign}{}{rest}", "0".repeat(missing)));
        } else {
            out.push_str(&" ".repeat(missing));
            out.push_str(&text);
        }
    }
    let extra: Vec<String> =
        values.map(|it| format!("{}={}", it.type_name(), it.shown())).collect();
    if !extra.is_empty() {
        out.push_str(&format!("%!(EXTRA {})", extra.join(", ")));
    }
    Ok(out)
}

fn digits<'v>(
    chars: &mut std::iter::Peekable<std::str::Chars<'_>>,
    values: &mut impl Iterator<Item = &'v Value>,
) -> Result<Option<usize>, String> {
    if chars.next_if_eq(&'*').is_some() {
        let width = values.next().map_or(0, Value::int);
        return Ok(usize::try_from(width).ok().map(|it| it.min(WIDTH)));
    }
    let mut text = String::new();
    while let Some(digit) = chars.next_if(char::is_ascii_digit) {
        text.push(digit);
    }
    if text.is_empty() {
        return Ok(None);
    }
    match text.parse::<usize>() {
        Ok(width) if width <= WIDTH => Ok(Some(width)),
        _ => Err(format!("width {text} is too large")),
    }
}

fn one(verb: char, form: &Form, value: &Value) -> String {
    let cut = |text: String| match form.precision {
        Some(most) => text.chars().take(most).collect(),
        None => text,
    };
    let wrong = || match value {
        Value::Nil => format!("%!{verb}(<nil>)"),
        other => format!("%!{verb}({}={})", other.type_name(), other.shown()),
    };
    match (verb, value) {
        ('v', Value::Nil) => "<nil>".into(),
        ('s', Value::Nil) => "%!s(<nil>)".into(),
        ('v', Value::Text(it)) if form.sharp => format!("{:?}", Quoted(it)),
        ('v', other) => signed(form, other.shown()),
        ('s', Value::Int(_) | Value::Float(_) | Value::Bool(_)) => wrong(),
        ('s', other) => cut(other.shown()),
        ('q', Value::Text(it)) => format!("{:?}", Quoted(&cut(it.to_string()))),
        ('q', other) => format!("{:?}", Quoted(&other.shown())),
        // Numbers of values files are floats; charts print them as whole numbers all the same.
        ('d', Value::Int(_) | Value::Float(_)) => signed(form, value.int().to_string()),
        ('t', Value::Bool(it)) => it.to_string(),
        ('x', Value::Int(_) | Value::Float(_)) => format!("{:x}", value.int()),
        ('X', Value::Int(_) | Value::Float(_)) => format!("{:X}", value.int()),
        ('o', Value::Int(_) | Value::Float(_)) => format!("{:o}", value.int()),
        ('b', Value::Int(_) | Value::Float(_)) => format!("{:b}", value.int()),
        ('c', Value::Int(it)) => {
            u32::try_from(*it).ok().and_then(char::from_u32).map(String::from).unwrap_or_default()
        }
        ('x', Value::Text(it)) => it.bytes().map(|it| format!("{it:02x}")).collect(),
        ('f' | 'F', Value::Int(_) | Value::Float(_)) => {
            signed(form, format!("{:.*}", form.precision.unwrap_or(6), value.float()))
        }
        ('g', Value::Int(_) | Value::Float(_)) => signed(form, crate::value::float(value.float())),
        ('T', other) => other.type_name().into(),
        _ => wrong(),
    }
}

fn signed(form: &Form, text: String) -> String {
    if form.plus && text.starts_with(|it: char| it.is_ascii_digit()) {
        format!("+{text}")
    } else {
        text
    }
}
