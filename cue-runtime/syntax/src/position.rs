//! From byte offsets to lines and columns.

/// Where lines start.
#[derive(Clone, Debug)]
pub struct LineIndex {
    starts: Vec<u32>,
}

impl LineIndex {
    /// Of a text.
    pub fn new(text: &str) -> Self {
        let ends = text.bytes().enumerate().filter(|it| it.1 == b'\n').map(|it| it.0 as u32 + 1);
        Self { starts: std::iter::once(0).chain(ends).collect() }
    }

    /// Line and column of a byte, both from 1, the column in bytes.
    pub fn at(&self, offset: u32) -> (u32, u32) {
        let line = self.starts.partition_point(|start| *start <= offset).max(1);
        (line as u32, offset - self.starts[line - 1] + 1)
    }
}
