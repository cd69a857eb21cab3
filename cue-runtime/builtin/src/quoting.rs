//! How text is put in quotes: Go's `strconv.Quote`, CUE's one-line literals, labels.

use std::fmt::Write;
use std::sync::OnceLock;

use crate::unicode::categories;

/// Which characters stay as they are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Plain {
    /// Those of Go's `IsPrint`.
    Print,
    /// Printable ASCII.
    Ascii,
    /// Those of Go's `IsGraphic`.
    Graphic,
}

fn contains(ranges: &[(u32, u32)], rune: u32) -> bool {
    let at = ranges.partition_point(|range| range.1 < rune);
    ranges.get(at).is_some_and(|range| range.0 <= rune)
}

/// Go's `unicode.IsPrint`: letters, marks, numbers, punctuation, symbols and the space.
pub(crate) fn is_print(rune: u32) -> bool {
    static PRINT: OnceLock<Vec<(u32, u32)>> = OnceLock::new();
    match rune {
        0x20..=0x7e => true,
        0..=0xa0 => false,
        _ => contains(PRINT.get_or_init(|| categories(&["L", "M", "N", "P", "S"])), rune),
    }
}

/// Go's `unicode.IsGraphic`: printable, or a space of Unicode.
pub(crate) fn is_graphic(rune: u32) -> bool {
    static SPACE: OnceLock<Vec<(u32, u32)>> = OnceLock::new();
    is_print(rune) || contains(SPACE.get_or_init(|| categories(&["Zs"])), rune)
}

/// Go's quoting with `quote` around.
pub(crate) fn go_quote(text: &str, quote: char, plain: Plain) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push(quote);
    for c in text.chars() {
        go_escape(&mut out, c, quote, plain);
    }
    out.push(quote);
    out
}

/// A text between quotes as Go's package time has it: what is not ASCII is told byte by byte.
pub(crate) fn time_quote(text: &str) -> String {
    let mut out = String::from('"');
    for byte in text.bytes() {
        match byte {
            b' '..=0x7f => {
                if matches!(byte, b'"' | b'\\') {
                    out.push('\\');
                }
                out.push(char::from(byte));
            }
            _ => {
                let _ = write!(out, "\\x{byte:02x}");
            }
        }
    }
    out.push('"');
    out
}

fn go_escape(out: &mut String, c: char, quote: char, plain: Plain) {
    if c == quote || c == '\\' {
        out.push('\\');
        out.push(c);
        return;
    }
    let rune = c as u32;
    let stays = match plain {
        Plain::Ascii => rune < 0x7f && is_print(rune),
        Plain::Print => is_print(rune),
        Plain::Graphic => is_graphic(rune),
    };
    if stays {
        out.push(c);
        return;
    }
    let short = match c {
        '\u{7}' => "\\a",
        '\u{8}' => "\\b",
        '\u{c}' => "\\f",
        '\n' => "\\n",
        '\r' => "\\r",
        '\t' => "\\t",
        '\u{b}' => "\\v",
        _ => "",
    };
    let written = match rune {
        _ if !short.is_empty() => {
            out.push_str(short);
            Ok(())
        }
        0..0x20 | 0x7f => write!(out, "\\x{rune:02x}"),
        0..0x1_0000 => write!(out, "\\u{rune:04x}"),
        _ => write!(out, "\\U{rune:08x}"),
    };
    debug_assert!(written.is_ok());
}

/// A string as a CUE literal on one line.
pub(crate) fn cue_string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        cue_escape(&mut out, c, '"');
    }
    out.push('"');
    out
}

/// Bytes as a CUE literal on one line.
pub(crate) fn cue_bytes(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() + 2);
    out.push('\'');
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            let rune = c as u32;
            let short = matches!(c, '\u{7}'..='\r');
            if rune < 0x20 && !short {
                let _ = write!(out, "\\x{rune:02x}");
            } else {
                cue_escape(&mut out, c, '\'');
            }
        }
        for byte in chunk.invalid() {
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
    out.push('\'');
    out
}

fn cue_escape(out: &mut String, c: char, quote: char) {
    match c {
        '\u{7}' => out.push_str("\\a"),
        '\u{8}' => out.push_str("\\b"),
        '\u{c}' => out.push_str("\\f"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\u{b}' => out.push_str("\\v"),
        '\\' => out.push_str("\\\\"),
        _ if c == quote => {
            out.push('\\');
            out.push(c);
        }
        _ if is_print(c as u32) => out.push(c),
        _ if (c as u32) < 0x1_0000 => {
            let _ = write!(out, "\\u{:04x}", c as u32);
        }
        _ => {
            let _ = write!(out, "\\U{:08x}", c as u32);
        }
    }
}

/// A regular label: quoted unless it is an identifier.
pub(crate) fn label(text: &str) -> String {
    let mut chars = text.chars();
    let starts = chars.next().is_some_and(|c| c.is_alphabetic() || c == '$');
    if starts && chars.all(|c| c.is_alphanumeric() || c == '_' || c == '$') {
        return text.to_owned();
    }
    cue_string(text)
}
