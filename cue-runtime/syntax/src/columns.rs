//! The stop pass: cells of neighbouring lines in columns (rule 6.6).

use std::ops::Range;

/// What is printed: texts one behind the other, and what is between them.
#[derive(Debug, Default)]
pub(crate) struct Output {
    texts: String,
    items: Vec<Item>,
}

/// A piece of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Item {
    /// So many more bytes of the texts; newlines and tabs in them mean nothing here.
    Text(usize),
    /// A column stop of indentation.
    Hard,
    /// A column stop between cells.
    Soft,
    /// A line break.
    Break,
    /// A line break that ends all columns.
    Cut,
}

impl Output {
    pub(crate) fn text(&mut self, text: &str) {
        self.texts.push_str(text);
        self.items.push(Item::Text(text.len()));
    }

    pub(crate) fn push(&mut self, item: Item) {
        self.items.push(item);
    }

    /// The text of all that was printed; `tab` is how wide a tab is.
    pub(crate) fn aligned(&self, tab: usize) -> String {
        let mut out = String::with_capacity(self.texts.len() + self.items.len());
        let mut block = Block { tab, ..Block::default() };
        block.begin_line();
        let mut rest = &self.texts[..];
        for item in &self.items {
            match item {
                Item::Text(length) => {
                    let (text, more) = rest.split_at(*length);
                    rest = more;
                    block.add(text);
                }
                Item::Soft if block.is_full() => block.add(" "),
                Item::Hard | Item::Soft => block.stop(*item),
                Item::Break | Item::Cut => {
                    if *item == Item::Cut || block.last_line().len() == 1 {
                        block.format(0..block.lines.len(), &mut Vec::new(), &mut out);
                        block.clear();
                    }
                    block.begin_line();
                }
            }
        }
        block.format(0..block.lines.len(), &mut Vec::new(), &mut out);
        out
    }
}

#[derive(Default)]
struct Cell {
    /// Where it ends in the texts: the one before it ends where it begins.
    end: usize,
    width: usize,
    hard: bool,
}

/// Lines that may have columns in common.
#[derive(Default)]
struct Block {
    texts: String,
    cells: Vec<Cell>,
    /// How wide a tab is.
    tab: usize,
    /// Where each line begins among the cells.
    lines: Vec<usize>,
}

/// Most cells of a line; columns nest.
const CELLS: usize = 1_000;

impl Block {
    fn begin_line(&mut self) {
        self.lines.push(self.cells.len());
        self.begin_cell();
    }

    fn begin_cell(&mut self) {
        self.cells.push(Cell { end: self.texts.len(), ..Cell::default() });
    }

    fn clear(&mut self) {
        self.texts.clear();
        self.cells.clear();
        self.lines.clear();
    }

    /// More text in the last cell.
    fn add(&mut self, text: &str) {
        self.texts.push_str(text);
        if let Some(cell) = self.cells.last_mut() {
            cell.end = self.texts.len();
            cell.width += text.chars().count();
        }
    }

    /// Ends the last cell.
    fn stop(&mut self, by: Item) {
        if let Some(cell) = self.cells.last_mut() {
            cell.hard = by == Item::Hard;
        }
        self.begin_cell();
    }

    /// The places of the cells of a line.
    fn line(&self, at: usize) -> Range<usize> {
        self.lines[at]..self.lines.get(at + 1).copied().unwrap_or(self.cells.len())
    }

    fn last_line(&self) -> Range<usize> {
        self.lines.last().map_or(0..0, |from| *from..self.cells.len())
    }

    fn is_full(&self) -> bool {
        self.last_line().len() > CELLS
    }

    /// Whether a line has a cell in a column that ends it.
    fn has(&self, line: usize, column: usize) -> bool {
        column + 1 < self.line(line).len()
    }

    fn format(&self, lines: Range<usize>, widths: &mut Vec<usize>, out: &mut String) {
        let column = widths.len();
        let mut from = lines.start;
        let mut at = from;
        while at < lines.end {
            if !self.has(at, column) {
                at += 1;
                continue;
            }
            self.write(from..at, widths, out);
            from = at;
            let mut width = 0;
            let mut visible = false;
            while at < lines.end && self.has(at, column) {
                let cell = &self.cells[self.lines[at] + column];
                width = width.max(cell.width + 1);
                visible |= cell.width > 0 || cell.hard;
                at += 1;
            }
            widths.push(if visible { width } else { 0 });
            self.format(from..at, widths, out);
            widths.pop();
            from = at;
        }
        self.write(from..lines.end, widths, out);
    }

    fn write(&self, lines: Range<usize>, widths: &[usize], out: &mut String) {
        for line in lines {
            let mut leading = true;
            let cells = self.line(line);
            let mut from = cells.start.checked_sub(1).map_or(0, |before| self.cells[before].end);
            for (place, cell) in self.cells[cells].iter().enumerate() {
                let text = &self.texts[from..cell.end];
                from = cell.end;
                out.push_str(text);
                leading &= text.is_empty();
                let Some(width) = widths.get(place) else { continue };
                let (fill, count) = match leading {
                    true => ('\t', width.div_ceil(self.tab)),
                    false => (' ', width.saturating_sub(cell.width)),
                };
                out.extend(std::iter::repeat_n(fill, count));
            }
            out.push('\n');
        }
    }
}
