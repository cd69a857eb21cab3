//! Package `encoding/csv`.

use std::sync::Arc;

use super::arguments as arg;
use super::call::{CallContext, CallError, Kinds, Member, Package, Parameter, function};
use super::datum::Datum;
use crate::encode::json::{Layout, encode as to_json};

type Outcome = Result<Datum, CallError>;

/// The package.
pub(super) const PACKAGE: Package = Package { path: "encoding/csv", members: MEMBERS, text: "" };

const MEMBERS: &[Member] = &[
    function("Encode", &[Parameter::DATA.wants(Kinds::LIST, "")], Kinds::STRING, encode),
    function("Decode", &[Parameter::TEXT], Kinds::LIST, decode),
];

fn encode(cx: &mut CallContext, args: &[Datum]) -> Outcome {
    let Some(Datum::List(rows)) = args.first() else { return Err(arg::not_a_list(args)) };
    let mut out = String::new();
    for row in rows.iter() {
        let Datum::List(cells) = row else {
            return Err(arg::not_a_list(std::slice::from_ref(row)));
        };
        for (at, cell) in cells.iter().enumerate() {
            if at > 0 {
                out.push(',');
            }
            let text: Arc<str> = match cell {
                Datum::String(text) => text.whole(),
                other => to_json(other, Layout::Compact).into(),
            };
            cx.spend(text.len().saturating_mul(2) + 3)?;
            let quoted = !text.is_empty()
                && (&*text == "\\."
                    || text.contains([',', '"', '\r', '\n'])
                    || text.starts_with(char::is_whitespace));
            if quoted {
                out.push('"');
                out.push_str(&text.replace('"', "\"\""));
                out.push('"');
            } else {
                out.push_str(&text);
            }
        }
        out.push('\n');
    }
    Ok(Datum::text(out))
}

/// Where a record began and where reading stands; lines and columns from 1.
struct Place {
    record: usize,
    line: usize,
}

fn failure(place: &Place, column: usize, reason: &str) -> CallError {
    let (record, line) = (place.record, place.line);
    CallError::permanent(if record == line {
        format!("parse error on line {line}, column {column}: {reason}")
    } else {
        format!("record on line {record}; parse error on line {line}, column {column}: {reason}")
    })
}

fn decode(cx: &mut CallContext, args: &[Datum]) -> Outcome {
    let bytes = arg::bytes(args, 0)?;
    cx.spend(bytes.len().saturating_mul(4))?;
    let text = crate::datum::valid_text(bytes);
    let mut lines = text.split_inclusive('\n').enumerate();
    let mut rows = Vec::new();
    let mut width = None;
    while let Some((number, line)) = lines.next() {
        let mut line = normal(line);
        if line == "\n" || line.is_empty() {
            continue;
        }
        let mut place = Place { record: number + 1, line: number + 1 };
        let mut cells: Vec<Datum> = Vec::new();
        let mut at = 0;
        loop {
            if !line[at..].starts_with('"') {
                let rest = &line[at..];
                let end = rest.find(',').unwrap_or_else(|| rest.trim_end_matches('\n').len());
                let field = &rest[..end];
                if let Some(quote) = field.find('"') {
                    return Err(failure(&place, at + quote + 1, "bare \" in non-quoted-field"));
                }
                cells.push(Datum::text(field));
                at += end;
            } else {
                let mut field = String::new();
                at += 1;
                loop {
                    let rest = &line[at..];
                    if let Some(quote) = rest.find('"') {
                        field.push_str(&rest[..quote]);
                        at += quote + 1;
                        let after = &line[at..];
                        if after.starts_with('"') {
                            field.push('"');
                            at += 1;
                        } else if after.starts_with(',') || after == "\n" || after.is_empty() {
                            break;
                        } else {
                            let reason = "extraneous or missing \" in quoted-field";
                            return Err(failure(&place, at, reason));
                        }
                    } else {
                        field.push_str(rest);
                        match lines.next() {
                            Some((number, next)) => {
                                line = normal(next);
                                at = 0;
                                place.line = number + 1;
                            }
                            None => {
                                let reason = "extraneous or missing \" in quoted-field";
                                let column = line.trim_end_matches('\n').len() + 1;
                                return Err(failure(&place, column, reason));
                            }
                        }
                    }
                }
                cells.push(Datum::text(field));
            }
            if line[at..].starts_with(',') {
                at += 1;
                continue;
            }
            break;
        }
        if *width.get_or_insert(cells.len()) != cells.len() {
            let record = place.record;
            return Err(CallError::permanent(format!(
                "record on line {record}: wrong number of fields"
            )));
        }
        rows.push(Datum::list(cells));
    }
    Ok(Datum::list(rows))
}

/// A line with `\n` at its end instead of `\r\n`.
fn normal(line: &str) -> String {
    match line.strip_suffix("\r\n") {
        Some(body) => format!("{body}\n"),
        None => line.strip_suffix('\r').unwrap_or(line).to_owned(),
    }
}
