//! From byte offsets to lines and columns.

/// Where lines start.
#[derive(Clone, Debug, Default)]
pub struct LineIndex {
    starts: Vec<u32>,
}

impl LineIndex {
    /// Of a text. A newline at the very end begins no line (rule 1.1).
    pub fn new(text: &str) -> Self {
        let bytes = text.as_bytes();
        // Two passes, of which the first is a few bytes at a time, are faster than a list that grows.
        let lines = bytes.iter().filter(|it| **it == b'\n').count();
        let mut starts = Vec::with_capacity(lines + 1);
        starts.push(0);
        let mut at = 0;
        for _ in 0..lines {
            at += bytes[at..].iter().position(|it| *it == b'\n').unwrap_or(0) + 1;
            if at < bytes.len() {
                starts.push(at as u32);
            }
        }
        Self { starts }
    }

    /// Line of a byte, from 1.
    pub fn line(&self, offset: u32) -> u32 {
        self.starts.partition_point(|start| *start <= offset).max(1) as u32
    }

    /// The byte at a line and column, both from 1; none if there is no such line.
    pub fn offset(&self, line: u32, column: u32) -> Option<u32> {
        let start = self.starts.get((line as usize).checked_sub(1)?)?;
        Some(start + column.checked_sub(1)?)
    }

    /// Line and column of a byte, both from 1, the column in bytes.
    pub fn at(&self, offset: u32) -> (u32, u32) {
        let line = self.line(offset);
        let start = self.starts.get(line as usize - 1).copied().unwrap_or(0);
        (line, offset.saturating_sub(start) + 1)
    }
}
