//! Numbers that a file of data has and CUE has not, told by the fields they are in.

use std::collections::BTreeMap;

use cue_eval::builtin::Datum;
use cue_session::Diagnostic;

use crate::diagnostic;
use crate::filetype::is_name;
use crate::located::Lines;
use crate::spelled::quoted;

/// Numbers by their offsets, and what is wrong with them; in the value they are null.
pub(crate) type Refused = BTreeMap<u32, String>;

/// What is wrong with the numbers of a value whose parts stand at places that count from 1.
pub(crate) fn told(
    value: &(Datum, u32),
    refused: &Refused,
    file: &str,
    lines: &Lines,
) -> Vec<Diagnostic> {
    let mut found: Vec<(u32, &str, String)> = Vec::new();
    let mut work = vec![(&value.0, value.1, String::new())];
    while let Some((datum, place, path)) = work.pop() {
        match datum {
            Datum::Null => {
                let offset = place.wrapping_sub(1);
                found.extend(refused.get(&offset).map(|it| (offset, it.as_str(), path)));
            }
            // The path does not say which element.
            Datum::List(items) => {
                for (index, item) in items.iter().enumerate() {
                    work.push((item, items.place(index).unwrap_or_default(), path.clone()));
                }
            }
            Datum::Struct(fields) => {
                for (index, (label, field)) in fields.iter().enumerate() {
                    let place = fields.place(index).unwrap_or_default().1;
                    let label = if is_name(label) { label.to_string() } else { quoted(label) };
                    let dot = if path.is_empty() { "" } else { "." };
                    work.push((field, place, format!("{path}{dot}{label}")));
                }
            }
            _ => {}
        }
    }
    found.sort_by_key(|it| it.0);
    let told = |(offset, message, path): (u32, &str, String)| {
        let (line, column) = lines.at(offset);
        Diagnostic { path, ..diagnostic(message, Some((file, line, column))) }
    };
    found.into_iter().map(told).collect()
}
