//! Package `text/tabwriter`: columns of cells that end with a tab, padded with spaces.

use super::call::{CallContext, CallError, Kinds, Member, Package, Parameter, function};
use super::datum::Datum;

type Outcome = Result<Datum, CallError>;

/// The package.
pub(super) const PACKAGE: Package = Package { path: "text/tabwriter", members: MEMBERS, text: "" };

const MEMBERS: &[Member] = &[function("Write", &[Parameter::DATA], Kinds::STRING, write)];

fn write(cx: &mut CallContext, args: &[Datum]) -> Outcome {
    let piece = |datum: &Datum| match datum {
        Datum::String(text) => Some(text.to_string()),
        Datum::Bytes(bytes) => Some(crate::datum::valid_text(bytes).into_owned()),
        _ => None,
    };
    let text = match args.first() {
        Some(Datum::List(items)) => {
            let mut text = String::new();
            for item in items.iter() {
                let Some(line) = piece(item) else {
                    return Err(CallError::permanent(format!(
                        "cannot use value {} (type {}) as (string|bytes)",
                        item.cue_text(),
                        item.kind_name()
                    )));
                };
                text.push_str(&line);
                text.push('\n');
            }
            text
        }
        Some(other) => match piece(other) {
            Some(text) => text,
            None => {
                return Err(CallError::permanent(format!(
                    "tabwriter.Write: unsupported type {}",
                    other.kind_name()
                )));
            }
        },
        None => String::new(),
    };
    cx.spend(text.len())?;
    let mut out = String::new();
    for block in text.split_inclusive('\u{c}') {
        aligned(cx, block, &mut out)?;
    }
    Ok(Datum::text(out))
}

/// Aligns lines up to a form feed.
fn aligned(cx: &mut CallContext, block: &str, out: &mut String) -> Result<(), CallError> {
    let lines: Vec<Vec<&str>> = block
        .split_inclusive(['\n', '\u{c}'])
        .map(|line| line.trim_end_matches(['\n', '\u{c}']).split(['\t', '\u{b}']).collect())
        .collect();
    // Width of each terminated cell: that of its column, a run of lines that have it.
    let mut widths: Vec<Vec<usize>> =
        lines.iter().map(|cells| vec![0; cells.len().saturating_sub(1)]).collect();
    let columns = widths.iter().map(Vec::len).max().unwrap_or(0);
    for column in 0..columns {
        let mut line = 0;
        while line < lines.len() {
            let start = line;
            let mut width = 0;
            while line < lines.len() && column < widths[line].len() {
                width = width.max(lines[line][column].chars().count() + 1);
                line += 1;
            }
            for row in &mut widths[start..line] {
                row[column] = width;
            }
            line += usize::from(start == line);
        }
    }
    let ends = block.split_inclusive(['\n', '\u{c}']).map(|line| line.ends_with(['\n', '\u{c}']));
    for ((cells, widths), ended) in lines.iter().zip(&widths).zip(ends) {
        for (at, cell) in cells.iter().enumerate() {
            out.push_str(cell);
            if let Some(width) = widths.get(at) {
                let padding = width - cell.chars().count();
                cx.spend(padding)?;
                out.extend(std::iter::repeat_n(' ', padding));
            }
        }
        if ended {
            out.push('\n');
        }
    }
    Ok(())
}
