//! How scalars of a file of data are spelled in CUE: numbers as the file has them.

use cue_eval::builtin::Datum;
use cue_eval::evaluation::print_json;
use cue_eval::number::Number;
use cue_syntax::ast::ExprKind;

use crate::located::Lines;
use crate::written::multiline;

/// A file and where its lines begin.
pub(crate) struct Spelling<'a> {
    pub(crate) file: &'a [u8],
    pub(crate) lines: Lines,
}

impl<'a> Spelling<'a> {
    /// A scalar on one line.
    pub(crate) fn scalar(&self, datum: &Datum, offset: u32) -> String {
        match datum {
            Datum::Bytes(_) => datum.literal(),
            Datum::Number(number) => {
                self.number(number, offset).unwrap_or_else(|| print_json(datum))
            }
            Datum::String(text) => match self.text(text, offset) {
                Some(own) if stays(own) => own.to_owned(),
                Some(_) if text.contains('\n') => {
                    let mut lines = String::new();
                    multiline(text, "", &mut lines);
                    lines
                }
                Some(_) => datum.literal(),
                None => print_json(datum),
            },
            other => print_json(other),
        }
    }

    /// A text with escapes as JSON has it.
    fn text(&self, text: &str, offset: u32) -> Option<&'a str> {
        let own = string_at(self.file, offset);
        let parsed = Some(own).filter(|it| it.contains('\\')).map(cue_syntax::parse_expr)?;
        matches!(parsed.ok()?.kind, ExprKind::String(it) if *it == *text).then_some(own)
    }

    /// A number as it is in the file; none where something else stands there, a tag say.
    fn number(&self, number: &Number, offset: u32) -> Option<String> {
        let rest = self.file.get(offset as usize..)?;
        let inside = |it: &u8| it.is_ascii_alphanumeric() || b"+-._".contains(it);
        let length = rest.iter().position(|it| !inside(it)).unwrap_or(rest.len());
        let text = std::str::from_utf8(rest.get(..length)?).ok()?;
        // Octal numbers of YAML 1.1.
        let octal = text.len() > 1 && text.starts_with('0') && text.bytes().all(is_digit_or_line);
        let text = if octal { format!("0o{}", text.get(1..)?) } else { text.to_owned() };
        let same = Number::parse_signed(&text).is_ok_and(|it| it == *number);
        (same && text.starts_with(|it: char| it.is_ascii_digit() || "+-.".contains(it)))
            .then_some(text)
    }
}

fn is_digit_or_line(byte: u8) -> bool {
    byte.is_ascii_digit() || byte == b'_'
}

/// Whether a string of a JSON file stays as it is written there: short ones do (O-93).
pub(crate) fn stays(written: &str) -> bool {
    written.len() <= 10
}

/// A string in double quotes as a file has it; empty where there is none.
pub(crate) fn string_at(file: &[u8], offset: u32) -> &str {
    let text = file.get(offset as usize..).unwrap_or_default();
    let mut escaped = false;
    let end = text.iter().skip(1).position(|it| {
        let ends = *it == b'"' && !escaped;
        escaped = *it == b'\\' && !escaped;
        ends
    });
    let text = end.and_then(|it| text.get(..it + 2)).filter(|it| it.starts_with(b"\""));
    std::str::from_utf8(text.unwrap_or_default()).unwrap_or_default()
}

/// A text in quotes.
pub(crate) fn quoted(text: &str) -> String {
    print_json(&Datum::text(text))
}
