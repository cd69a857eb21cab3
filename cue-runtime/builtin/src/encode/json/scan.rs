//! How much of a text is written in JSON as it is: eight bytes are looked at at once, since most texts have nothing else.

/// What ends it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Ends {
    /// Quotes, backslashes and control characters.
    Read,
    /// The first byte of line and paragraph separators, too.
    Written,
    /// And what means something in HTML.
    WrittenForHtml,
}

impl Ends {
    #[inline]
    fn has(self, byte: u8) -> bool {
        match byte {
            ..b' ' | b'"' | b'\\' => true,
            0xe2 => self != Self::Read,
            b'<' | b'>' | b'&' => self == Self::WrittenForHtml,
            _ => false,
        }
    }

    /// The high bit of the first such byte of a word, if there is one; bits above it mean nothing.
    #[inline]
    fn first_in(self, word: u64) -> u64 {
        let is = |byte: u8| {
            let differs = word ^ every(byte);
            differs.wrapping_sub(every(1)) & !differs
        };
        let control = word.wrapping_sub(every(b' ')) & !word;
        let mut found = control | is(b'"') | is(b'\\');
        if self != Self::Read {
            found |= is(0xe2);
        }
        if self == Self::WrittenForHtml {
            found |= is(b'<') | is(b'>') | is(b'&');
        }
        found & every(0x80)
    }
}

/// A word of one byte.
const fn every(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// How many bytes come before the first that ends it.
#[inline]
pub(super) fn plain(bytes: &[u8], ends: Ends) -> usize {
    let found = |at: usize| {
        let word = bytes.get(at..at + 8)?.try_into().ok()?;
        Some(ends.first_in(u64::from_le_bytes(word)))
    };
    let mut at = 0;
    while let Some(first) = found(at) {
        if first != 0 {
            return at + first.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    // What is left is the end of a word that begins with what was seen, if there are so many.
    match bytes.len().checked_sub(8) {
        Some(last) => match found(last) {
            None | Some(0) => bytes.len(),
            Some(first) => last + first.trailing_zeros() as usize / 8,
        },
        None => bytes.iter().position(|it| ends.has(*it)).unwrap_or(bytes.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_say_what_bytes_say() {
        let others = [0_u8, 1, 0x1f, b' ', b'!', b'a', 0x7f, 0x80, 0xa2, 0xe1, 0xe3, 0xff];
        for ends in [Ends::Read, Ends::Written, Ends::WrittenForHtml] {
            for length in 0..20 {
                for at in 0..length {
                    for byte in 0..=255 {
                        for beside in others {
                            let mut all = vec![b'x'; length];
                            all[at] = byte;
                            all[(at + 1) % length] = beside;
                            let first = all.iter().position(|it| ends.has(*it)).unwrap_or(length);
                            assert_eq!(plain(&all, ends), first, "{all:?}");
                        }
                    }
                }
            }
        }
    }
}
