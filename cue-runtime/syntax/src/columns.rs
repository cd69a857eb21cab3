//! The stop pass: cells of neighbouring lines in columns (rule 6.6).

/// A piece of output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Item {
    /// Text; newlines and tabs in it mean nothing here.
    Text(Box<str>),
    /// A column stop of indentation.
    Hard,
    /// A column stop between cells.
    Soft,
    /// A line break.
    Break,
    /// A line break that ends all columns.
    Cut,
}

#[derive(Default)]
struct Cell {
    text: String,
    width: usize,
    hard: bool,
}

/// Most cells of a line; columns nest.
const CELLS: usize = 1_000;

/// The text of `items`.
pub(crate) fn align(items: &[Item]) -> String {
    let mut out = String::new();
    let mut block: Vec<Vec<Cell>> = vec![vec![Cell::default()]];
    for item in items {
        let Some(line) = block.last_mut() else { break };
        let full = line.len() > CELLS;
        match item {
            Item::Soft if full => {
                if let Some(cell) = line.last_mut() {
                    cell.text.push(' ');
                    cell.width += 1;
                }
            }
            Item::Text(text) => {
                if let Some(cell) = line.last_mut() {
                    cell.text.push_str(text);
                    cell.width += text.chars().count();
                }
            }
            Item::Hard | Item::Soft => {
                if let Some(cell) = line.last_mut() {
                    cell.hard = *item == Item::Hard;
                }
                line.push(Cell::default());
            }
            Item::Break | Item::Cut => {
                if *item == Item::Cut || line.len() == 1 {
                    format(&block, &mut Vec::new(), &mut out);
                    block.clear();
                }
                block.push(vec![Cell::default()]);
            }
        }
    }
    format(&block, &mut Vec::new(), &mut out);
    out
}

fn format(lines: &[Vec<Cell>], widths: &mut Vec<usize>, out: &mut String) {
    let column = widths.len();
    let has = |line: &Vec<Cell>| column + 1 < line.len();
    let mut from = 0;
    let mut at = 0;
    while at < lines.len() {
        if !has(&lines[at]) {
            at += 1;
            continue;
        }
        write(&lines[from..at], widths, out);
        from = at;
        let mut width = 0;
        let mut visible = false;
        while at < lines.len() && has(&lines[at]) {
            let cell = &lines[at][column];
            width = width.max(cell.width + 1);
            visible |= cell.width > 0 || cell.hard;
            at += 1;
        }
        widths.push(if visible { width } else { 0 });
        format(&lines[from..at], widths, out);
        widths.pop();
        from = at;
    }
    write(&lines[from..], widths, out);
}

fn write(lines: &[Vec<Cell>], widths: &[usize], out: &mut String) {
    for line in lines {
        let mut leading = true;
        for (cell, width) in line.iter().zip(widths.iter().map(Some).chain(std::iter::repeat(None)))
        {
            out.push_str(&cell.text);
            leading &= cell.text.is_empty();
            let Some(&width) = width else { continue };
            if leading {
                out.extend(std::iter::repeat_n('\t', width.div_ceil(8)));
            } else {
                out.extend(std::iter::repeat_n(' ', width.saturating_sub(cell.width)));
            }
        }
        out.push('\n');
    }
}
