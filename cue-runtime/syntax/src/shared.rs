//! Names and short literals that come again, as one text.

use std::sync::Arc;

/// How many are remembered, each where its hash says.
const SLOTS: usize = 256;

/// Longer ones seldom come again.
const LONGEST: usize = 32;

/// The texts that came last.
#[derive(Default)]
pub(crate) struct Shared(Vec<Option<Arc<str>>>);

impl Shared {
    /// The text, shared with what came before.
    pub(crate) fn text(&mut self, text: &str) -> Arc<str> {
        if text.len() > LONGEST {
            return text.into();
        }
        if self.0.is_empty() {
            self.0.resize(SLOTS, None);
        }
        // FNV-1a, folded.
        let hash = text
            .bytes()
            .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
        let slot = &mut self.0[(hash ^ hash >> 16) as usize % SLOTS];
        match slot {
            Some(known) if **known == *text => known.clone(),
            _ => slot.insert(text.into()).clone(),
        }
    }
}
